"""History: the data structures that a run has touched when a block begins."""

from __future__ import annotations

from functools import reduce

from aspenpy.models.application import flow
from aspenpy.models.application.arrays import array_arguments
from aspenpy.models.application.total import blocks_in, callees_first, calls_in, inside

Names = frozenset[str | None]
"""Data structures by their full names; None for one that a requirement does not name, which may be any."""

NONE: Names = frozenset()


class History:
    """Which data structures requirements of some resources touch in an entry kernel and all that it calls."""

    def __init__(self, entry: flow.Kernel, resources: tuple[str, ...]) -> None:
        self._resources = resources
        self._arguments = array_arguments(entry)
        self._touched: dict[flow.Kernel, Names] = {}
        for kernel in callees_first(entry):
            self._touched[kernel] = self._by(kernel.body, kernel)
        self.all = self._touched[entry]
        self._before: dict[flow.Block, tuple[flow.Kernel, Names]] = {}
        self._entering = dict.fromkeys(self._touched, NONE)
        for kernel in reversed(self._touched):
            self._walk(kernel.body, kernel, self._entering[kernel])

    def kernel(self, block: flow.Block) -> flow.Kernel:
        """The one that a block stands in."""
        return self._before[block][0]

    def before(self, block: flow.Block) -> Names:
        """What was touched before a block, or is in a loop around it; over all calls of its kernel."""
        return self._before[block][1]

    def named(self, kernel: flow.Kernel, name: str) -> list[str]:
        """The data structures that a name of a kernel stands for: its array arguments, for one in each call."""
        return list(self._arguments[kernel.name].get(name, (name,)))

    def _by(self, node: flow.Flow, kernel: flow.Kernel) -> Names:
        """What a part of a kernel touches, calls included."""
        needs = (need for block in blocks_in(node) for need in block.requirements if need.resource in self._resources)
        own = {name for need in needs for name in self._of(need, kernel)}
        return frozenset(own).union(*(self._touched[call.kernel] for call in calls_in(node)))

    def _of(self, need: flow.Requirement, kernel: flow.Kernel) -> list[str | None]:
        if need.target is None:
            return [None]
        looked_up = (argument for trait in need.traits if trait.name == "gather" for argument in trait.arguments)
        names = (need.target, *(table for table in looked_up if isinstance(table, str)))
        return [full for name in names for full in self.named(kernel, name)]

    def _walk(self, node: flow.Flow, kernel: flow.Kernel, before: Names) -> Names:
        """Notes what was touched before each block of a part of a kernel; what was before behind it."""
        match node:
            case flow.Block():
                self._before[node] = kernel, before
                return _joined(before, self._by(node, kernel))
            case flow.Call():
                self._entering[node.kernel] = _joined(self._entering[node.kernel], before)
                return _joined(before, self._touched[node.kernel])
            case flow.Repeat():
                return self._walk(node.body, kernel, _joined(before, self._by(node.body, kernel)))
            case flow.Sequence() | flow.Parallel():
                for step in inside(node):
                    before = self._walk(step, kernel, before)
                return before
        return reduce(_joined, [self._walk(branch, kernel, before) for branch in inside(node)], before)


def _joined(first: Names, second: Names) -> Names:
    """Both; a set that has all already is kept, as thousands of blocks may share it."""
    return first if second <= first else first | second
