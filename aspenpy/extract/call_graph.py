"""The call graph of a program: the functions that a model begins with, and the order of those that they reach."""

from __future__ import annotations

from collections.abc import Mapping, Set
from functools import cached_property

from aspenpy.extract import records as r
from aspenpy.extract.effects import Changes, find_changes
from aspenpy.extract.units import is_source
from aspenpy.language.diagnostics import fail, suggest_instead


class CallGraph:
    """Functions of a program by key, and the keys of those that each calls, by name or through a pointer."""

    def __init__(self, program: r.Program) -> None:
        self.program = program
        self.functions = {function.key: function for function in program.functions}

    @cached_property
    def changes(self) -> Mapping[str, Changes]:
        """Variables that each function changes, and functions that it calls by name."""
        return {key: find_changes([function.body]) for key, function in self.functions.items()}

    @cached_property
    def calls(self) -> Mapping[str, Set[str]]:
        pointed = self.program.pointer_targets
        return {
            key: change.calls.union(*(pointed.get(call, ()) for call in change.calls))
            for key, change in self.changes.items()
        }

    def find_roots(self, wanted: tuple[str, ...], path: str) -> list[r.Function]:
        """The functions to begin with: those that are wanted, else `main`, else those that no other calls."""
        functions = self.program.functions
        by_name = {function.name: function for function in functions}
        for name in wanted:
            if name not in by_name:
                hint = suggest_instead(name, by_name, "functions")
                fail("unknown-function", f"there is no function `{name}` in `{path}`", hint=hint)
        if wanted:
            return [by_name[name] for name in wanted]
        main = [function for function in functions if function.name == "main"]
        if main:
            return main
        called = {call for function in functions for call in self.calls[function.key] if call != function.key}
        roots = [function for function in functions if function.key not in called] or list(functions)
        if not roots:
            hint = "a model is made of what functions do"
            fail("no-functions", f"`{path}` has no function with a body", hint=hint)
        return [root for root in roots if not self._is_of_header(root)] or roots

    def _is_of_header(self, function: r.Function) -> bool:
        """Whether a function stands in a header that the file includes, where its own functions do not call it."""
        source = None if function.span is None else function.span.source
        return source is not None and source is not self.program.source and not is_source(source.name)

    def order_callers_first(self, roots: list[r.Function]) -> list[r.Function]:
        """All functions that the roots reach, each behind those that call it; not so in a recursion."""
        calls = {key: sorted(called) for key, called in self.calls.items()}
        order: list[str] = []
        seen: set[str] = set()
        waiting = [(root.key, False) for root in roots]
        while waiting:
            key, is_done = waiting.pop()
            if is_done:
                order.append(key)
            elif key not in seen:
                seen.add(key)
                waiting.append((key, True))
                waiting += [(call, False) for call in calls[key] if call in calls and call not in seen]
        return [self.functions[key] for key in reversed(order)]
