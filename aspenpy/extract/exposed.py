"""Members of structures whose address a program takes.

A pointer may point at these alone: to all others only what names them stores (field-sensitive analysis with addresses
taken; Andersen, "Program analysis and specialization for the C programming language", DIKU 1994, section 4).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from aspenpy.extract import records as r
from aspenpy.extract.assigned import every, names


def exposed(functions: Mapping[str, Any], references: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """Names of members whose address is taken, or that a reference other than a function's result refers to;
    `references` are the names of what functions return references to."""
    found: set[str] = set()
    for function in functions.values():
        for node in every(function.body):
            for part in _referred(node, functions):
                found |= {name[1:] for name in names(part, references) if name.startswith("=")}
    return frozenset(found)


def _referred(node: Any, functions: Mapping[str, Any]) -> Iterator[r.Expression]:
    """The expressions whose places are handed on."""
    if isinstance(node, r.Address):
        yield node.operand
    elif isinstance(node, r.Declaration) and node.value is not None and node.variable.type.name == "&":
        yield node.value
    elif isinstance(node, r.Call):
        called = functions.get(node.key)
        for place, part in enumerate(node.arguments):
            formal = called.formals[place] if called is not None and place < len(called.formals) else None
            if (isinstance(part, r.Call) and formal is not None and formal.type.name == "&") or (
                isinstance(part, r.Field) and part.type.kind == "array"
            ):
                yield part
