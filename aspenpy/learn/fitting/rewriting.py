"""Rewriting: the text of a model with other values for some parameters, everything else as it was written."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

from aspenpy.expr.evaluate import evaluate
from aspenpy.expr.numerals import aspen_numeral
from aspenpy.language import nodes
from aspenpy.language.diagnostics import AspenError, fail
from aspenpy.language.dimensions import parse_unit
from aspenpy.language.files import Reader
from aspenpy.language.source import Source, Span
from aspenpy.models.application.load import load
from aspenpy.models.application.model import Application

Change = tuple[Span, str]
"""What is replaced, and by what; an empty span is where something is put in."""


def rewrite_application(
    application: Application,
    values: Mapping[str, float],
    path: str | Path | None = None,
    *,
    allow_outside: bool = False,
) -> str:
    """The text of the application's own file with these values of global parameters, read back before it is returned.

    Values of imported parameters become overrides of the import. A value keeps the unit that it had. `path` says where
    the text will lie, if not where it was. Raises AspenError where a value is written in another file, and where the
    model would not load from there.
    """
    place = application.node.name_span
    assert place is not None, application
    elsewhere = [name for name in values if name not in application.parameters]
    if elsewhere:
        message = f"`{elsewhere[0]}` is a parameter of a machine, and the application is written"
        settings = " ".join(f"--set {name}={value!r}" for name, value in values.items())
        fail("not-rewritten", message, hint=f"give the fitted values instead: {settings}")
    source = place.source
    changes = join_overrides([plan_change(application, source, name, value) for name, value in values.items()])
    text = source.text
    for span, new in sorted(changes, key=lambda change: change[0].start, reverse=True):
        text = text[: span.start] + new + text[span.end :]
    named = (source.name, source.path) if path is None else (str(path), str(Path(path).resolve()))
    _require_values(Source(text, *named), values, allow_outside)
    return text


def plan_change(application: Application, source: Source, name: str, value: float) -> Change:
    model, _, inner = name.rpartition(".")
    node = application.parameters[name].node
    if not model:
        return require_own_file(node.value.span, source, name), write_value(value, node)
    if model not in application.imports or application.imports[model].prefix != f"{model}.":
        hint = "import that model directly, or fit it on its own"
        fail("not-rewritten", f"`{name}` cannot be set from here: its model is not imported by this one", hint=hint)
    imports = [item for item in application.node.declarations if isinstance(item, nodes.Import)]
    imported = [item for item in imports if item.name == model][-1]
    given = [override for override in imported.overrides if override.name == inner]
    if given:
        return require_own_file(given[-1].value.span, source, name), write_value(value, node)
    end = require_own_file(imported.span, source, name).end
    joint = ", " if imported.overrides else " with "
    return Span(source, end, end), f"{joint}{inner} = {write_value(value, node)}"


def require_own_file(span: Span | None, source: Source, name: str) -> Span:
    """A place in the model's own file."""
    assert span is not None, name
    place = span.resolve()
    if place.source is not source:
        hint = "the model's own file is written, not what it includes; move the parameter there"
        fail("not-rewritten", f"the value of `{name}` stands in `{place.source.name}`", span, hint=hint)
    return place


def join_overrides(changes: list[Change]) -> list[Change]:
    """Several new overrides of one import share one `with`."""
    texts: dict[Span, str] = {}
    for span, text in changes:
        texts[span] = texts[span] + text.replace(" with ", ", ", 1) if span in texts else text
    return list(texts.items())


def write_value(value: float, node: nodes.Parameter) -> str:
    """A numeral with the digits of the float, in the unit that the value or its range is written with."""
    parts = (node.value, node.low, node.high)
    unit = next((part.unit for part in parts if isinstance(part, nodes.Number) and part.unit), None)
    scaled = Fraction(repr(float(abs(value)))) / (1 if unit is None else parse_unit(unit).size)
    numeral = aspen_numeral(scaled)[0]
    if "/" in numeral:  # a unit such as GiB, in which the value has no short decimal
        numeral = aspen_numeral(float(scaled))[0]
    return ("-" if value < 0 else "") + numeral + (f" {unit}" if unit else "")


def _require_values(source: Source, values: Mapping[str, float], allow_outside: bool) -> None:
    """Reads the text back."""
    try:
        application = load(source, Reader(allow_outside=allow_outside))
    except AspenError as error:
        said = f"while reading the fitted model back as `{source.name}`"
        raise AspenError(*(diagnostic.within(said) for diagnostic in error.diagnostics)) from None
    for name, value in values.items():
        read = float(evaluate(application.parameters[name].value))
        if not math.isclose(read, value, rel_tol=1e-14):
            fail("not-rewritten", f"`{name}` would read {read!r} in the fitted model, not {value!r}")
