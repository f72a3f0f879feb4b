"""Rewriting: the text of an application or a machine with other values for some parameters, all else as it was written.

Files that a machine includes are left as includes, unless a value stands in them.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Mapping
from fractions import Fraction
from pathlib import Path

from aspenpy.expr.arithmetic import aspen_numeral
from aspenpy.expr.evaluate import evaluate
from aspenpy.language import nodes
from aspenpy.language.diagnostics import AspenError, fail
from aspenpy.language.dimensions import parse_unit
from aspenpy.language.files import Reader
from aspenpy.language.source import Source, Span
from aspenpy.models.application.load import read_application as load_application
from aspenpy.models.application.model import Application
from aspenpy.models.machine.load import read_machine as load_machine
from aspenpy.models.machine.model import Machine

INCLUDE = re.compile(r'^[ \t]*include[ \t]+(?:"(?P<quoted>[^"\n]+)"|(?P<plain>\S+))[ \t]*(?://[^\n]*)?$', re.MULTILINE)

Change = tuple[Span, str]
"""Span to replace and its new text; an empty span marks an insertion."""


def rewrite_application(
    application: Application,
    values: Mapping[str, float],
    path: str | Path | None = None,
    *,
    origin: str = "",
    allow_outside: bool = False,
) -> str:
    """The text of the application's own file with these values of global parameters, read back before it is returned.

    Values of imported parameters become overrides of the import. A value keeps the unit that it had. `origin` is what
    the comment behind a value says from now on, such as `fitted to runs.csv`. `path` says where the text will lie, if
    not where it was. Raises AspenError where a value is written in another file, and where the model would not load
    from there.
    """
    span = application.node.name_span
    assert span is not None, application
    elsewhere = [name for name in values if name not in application.parameters]
    if elsewhere:
        message = f"`{elsewhere[0]}` is a parameter of a machine, and the application is written"
        settings = " ".join(f"--set {name}={value!r}" for name, value in values.items())
        fail("not-rewritten", message, hint=f"give the fitted values instead: {settings}")
    source = span.source
    changes = join_overrides([plan_change(application, source, name, value) for name, value in values.items()])
    text = splice(source.text, [*changes, *replace_comments(changes, origin)])
    named = (source.name, source.path) if path is None else (str(path), str(Path(path).resolve()))
    _require_values(Source(text, *named), values, allow_outside)
    return text


OF_SOURCE = re.compile(r"\d|assume|measure|publish|derive|sheet|fitted", re.IGNORECASE)
"""Words of a comment that says where a value comes from; others, such as `bytes`, say what it is, and stay."""


def replace_comments(changes: Iterable[Change], origin: str) -> list[Change]:
    """Changes of the comments behind changed values: where a value came from is no longer so, and `origin` is."""
    comments: dict[Span, str] = {}
    for span, _ in changes if origin else ():
        text = span.source.text
        end = text.find("\n", span.end)
        end = len(text) if end < 0 else end
        start = text.find("//", span.end, end)
        said = text[start:end].strip("/ \r") if start >= 0 else ""
        start = len(text[:end].rstrip()) if start < 0 else len(text[:start].rstrip())
        kept = said if said and not OF_SOURCE.search(said) else ""
        comments[Span(span.source, start, end)] = f"  // {kept}; {origin}" if kept else f"  // {origin}"
    return list(comments.items())


def splice(text: str, changes: Iterable[Change]) -> str:
    """The text with its changes, which do not overlap."""
    for span, new in sorted(changes, key=lambda change: change[0].start, reverse=True):
        text = text[: span.start] + new + text[span.end :]
    return text


def plan_change(application: Application, source: Source, name: str, value: float) -> Change:
    """The change of a text that gives a parameter a value: in its declaration or in the `with` of an import."""
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
    """The span, resolved. Raises AspenError where it is not in the model's own file."""
    assert span is not None, name
    place = span.resolve()
    if place.source is not source:
        hint = "the model's own file is written, not what it includes; move the parameter there"
        fail("not-rewritten", f"the value of `{name}` stands in `{place.source.name}`", span, hint=hint)
    return place


def join_overrides(changes: list[Change]) -> list[Change]:
    """Changes in which new overrides of one import share one `with`."""
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
    """Raises AspenError unless the text, read back, has these values."""
    try:
        application = load_application(source, Reader(allow_outside=allow_outside))
    except AspenError as error:
        said = f"while reading the fitted model back as `{source.name}`"
        raise AspenError(*(diagnostic.with_circumstance(said) for diagnostic in error.diagnostics)) from None
    for name, value in values.items():
        read = float(evaluate(application.parameters[name].value))
        if not math.isclose(read, value, rel_tol=1e-14):
            fail("not-rewritten", f"`{name}` would read {read!r} in the fitted model, not {value!r}")


# -- machines --------------------------------------------------------------------------------------


def rewrite_machine(
    machine: Machine, values: Mapping[str, float], path: str, *, origin: str = "", allow_outside: bool = False
) -> str:
    """The text of the machine's file with these values, read back before it is returned; `path` says where it will lie.
    A value keeps its unit; `origin` is what the comment behind it says. Raises AspenError where a value cannot be
    placed, or the text would not load from there."""
    where = machine.root.name_span
    assert where is not None, machine
    changes: dict[str, list[Change]] = {}
    for name, value in values.items():
        node = machine.declared.get(name)
        if node is None or node.value.span is None:
            fail("not-rewritten", f"`{name}` is not a parameter of machine `{machine.name}`")
        span = node.value.span.resolve()
        changes.setdefault(source_key(span.source), []).append((span, write_value(value, node)))
    changes = {key: [*edits, *replace_comments(edits, origin)] for key, edits in changes.items()}
    reader, top = Reader(allow_outside=allow_outside), where.resolve().source
    text = apply_changes(top, top, changes, reader, frozenset()) or top.text
    made = load_machine(Source(text, path, os.path.realpath(path)), Reader(allow_outside=allow_outside))
    for parameter in made.parameters:
        wanted = values.get(parameter.name)
        if wanted is not None and not math.isclose(float(evaluate(parameter.value)), wanted, rel_tol=1e-14):
            fail("not-rewritten", f"`{parameter.name}` is not where it could be replaced")
    return text


def source_key(source: Source) -> str:
    return source.path or source.name


def apply_changes(
    source: Source, top: Source, changes: Mapping[str, list[Change]], reader: Reader, above: frozenset[str]
) -> str | None:
    """The text with its changes, files with changes in the place of their includes; None where nothing changes."""
    edits = list(changes.get(source_key(source), ()))
    for include in INCLUDE.finditer(source.text):
        inner = reader.include(include["quoted"] or include["plain"], source, top)
        if source_key(inner) in above:
            continue
        text = apply_changes(inner, top, changes, reader, above | {source_key(source)})
        if text is not None:
            edits.append((Span(source, include.start(), include.end()), text.rstrip("\n")))
    return splice(source.text, edits) if edits else None
