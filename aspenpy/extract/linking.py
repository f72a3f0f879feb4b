"""Linking: the programs of several translation units become one, whose functions and variables have one key each."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from aspenpy.extract import records as r
from aspenpy.language.diagnostics import fail
from aspenpy.record import Record

T = TypeVar("T")


def separate_statics(programs: Sequence[r.Program]) -> list[r.Program]:
    """Programs whose static functions and local variables have different keys: libclang tells them apart by the name of
    their file without its folder."""
    names = Counter(os.path.basename(program.source.name) for program in programs)
    return [
        _prefix_keys(program, f"c:{name}@", f"{program.source.path}:")
        if names[name := os.path.basename(program.source.name)] > 1
        else program
        for program in programs
    ]


def _prefix_keys(node: T, begin: str, prefix: str) -> T:
    """A record whose keys that begin in some way have a prefix, with all that it consists of."""

    def change(value: Any) -> Any:
        if isinstance(value, tuple):
            return value if hasattr(value, "_fields") else tuple(map(change, value))
        if isinstance(value, frozenset):
            return frozenset(map(change, value))
        if isinstance(value, str):
            return prefix + value if value.startswith(begin) else value
        return _prefix_keys(value, begin, prefix) if isinstance(value, Record) else value

    assert isinstance(node, Record)
    fields = {name: getattr(node, name) for name in node._fields if not name.endswith("span")}
    changed = {name: new for name, old in fields.items() if (new := change(old)) is not old}
    return node.replace(**changed) if changed else node


def link_programs(programs: Sequence[r.Program]) -> r.Program:
    """One program of all functions, of each key the first, and of all global variables, of each that with a value."""
    functions: dict[str, r.Function] = {}
    for program in programs:
        for function in program.functions:
            first = functions.setdefault(function.key, function)
            if first.span is not None and function.span is not None and first.span.source is not function.span.source:
                hint = f"also in `{first.span.source.name}`: name the files of one program"
                fail("defined-twice", f"`{function.name}` is defined in two files", function.span, hint=hint)
    variables: dict[str, r.Declaration] = {}
    for program in programs:
        for item in program.globals:
            if item.variable.key not in variables or variables[item.variable.key].value is None:
                variables[item.variable.key] = item
    initial = _unique((node for program in programs for node in program.initialisations), lambda node: node.span)
    return programs[0].replace(
        functions=tuple(functions.values()),
        globals=tuple(variables.values()),
        macros=tuple(_unique((macro for program in programs for macro in program.macros), lambda macro: macro.name)),
        never_return=frozenset().union(*(program.never_return for program in programs)),
        initialisations=tuple(initial),
        overriding=_join_lists(program.overriding for program in programs),
    )


def _join_lists(lists: Iterable[Mapping[str, tuple[str, ...]]]) -> dict[str, tuple[str, ...]]:
    joined: dict[str, tuple[str, ...]] = {}
    for part in lists:
        for key, keys in part.items():
            joined[key] = tuple(dict.fromkeys((*joined.get(key, ()), *keys)))
    return joined


def _unique(items: Any, key_of: Callable[[Any], Any]) -> list[Any]:
    unique: dict[Any, Any] = {}
    for item in items:
        unique.setdefault(key_of(item), item)
    return list(unique.values())
