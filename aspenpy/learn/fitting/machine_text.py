"""Machine texts: a machine with other values for some parameters, everything else as it was written. Files that it
includes are left as includes, unless a value stands in them."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping

from aspenpy.expr.evaluate import evaluate
from aspenpy.language.diagnostics import fail
from aspenpy.language.files import Reader
from aspenpy.language.source import Source, Span
from aspenpy.learn.fitting.rewriting import Change, write_value
from aspenpy.models.machine.load import load
from aspenpy.models.machine.model import Machine

INCLUDE = re.compile(r'^[ \t]*include[ \t]+(?:"(?P<quoted>[^"\n]+)"|(?P<plain>\S+))[ \t]*(?://[^\n]*)?$', re.MULTILINE)


def rewrite_machine(machine: Machine, values: Mapping[str, float], path: str, *, allow_outside: bool = False) -> str:
    """The text of the machine's file with these values, read back before it is returned; `path` says where it will lie.
    A value keeps its unit. Raises AspenError where a value cannot be placed, or the text would not load from there."""
    place = machine.root.name_span
    assert place is not None, machine
    changes: dict[str, list[Change]] = {}
    for name, value in values.items():
        node = machine.declared.get(name)
        if node is None or node.value.span is None:
            fail("not-rewritten", f"`{name}` is not a parameter of machine `{machine.name}`")
        span = node.value.span.resolve()
        changes.setdefault(source_key(span.source), []).append((span, write_value(value, node)))
    reader, top = Reader(allow_outside=allow_outside), place.resolve().source
    text = apply_changes(top, top, changes, reader, frozenset()) or top.text
    made = load(Source(text, path, os.path.realpath(path)), Reader(allow_outside=allow_outside))
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
    own = list(changes.get(source_key(source), ()))
    for found in INCLUDE.finditer(source.text):
        inner = reader.include(found["quoted"] or found["plain"], source, top)
        if source_key(inner) in above:
            continue
        text = apply_changes(inner, top, changes, reader, above | {source_key(source)})
        if text is not None:
            own.append((Span(source, found.start(), found.end()), text.rstrip("\n")))
    if not own:
        return None
    text = source.text
    for span, new in sorted(own, key=lambda change: change[0].start, reverse=True):
        text = text[: span.start] + new + text[span.end :]
    return text
