"""Sheet: one program over one grid, block by block.

What depends on some of the dimensions only is computed once for all of them, and the blocks take their part of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy

from aspenpy.sweeps.arrays import Careful, Doubt, Fast, Floats, Known, Order, Reasons
from aspenpy.sweeps.program import Program

Slices = tuple[slice, ...]

Kernel = Callable[[Sequence[Floats]], list[Floats]]
"""A compiled program: contiguous columns of the inputs in, a column for each root out; raises `Doubt`."""

LARGEST_SHARED = 1 << 21
"""Places over which an operation is computed once for all blocks."""

LEAST_SHARING = 16
"""Times that a value is used again, below which it is computed in each block."""


class Sheet:
    """`columns` has for each input of the program its dimension and its values along it."""

    def __init__(
        self,
        program: Program,
        shape: Sequence[int],
        columns: Sequence[tuple[int, Floats]],
        kernel: Kernel | None = None,
        most_bytes: int = 1 << 28,
    ) -> None:
        self.program, self.shape, self.kernel = program, tuple(shape), kernel
        self.inputs = [_along(dimension, values, len(self.shape)) for dimension, values in columns]
        self._dimensions = [dimension for dimension, _ in columns]
        self._most_bytes = most_bytes
        self._fast, self._careful = Fast(program), Careful(program)
        self._given = {
            place: program.ops[place].payload for place in program.straight if program.ops[place].kind == "input"
        }
        self._share()

    # -- what blocks share -----------------------------------------------------------------------

    def _share(self) -> None:
        """Computes what all blocks take a part of: the operations at the edge between few dimensions and many."""
        shared = self._shared_places()
        rest = [place for place in self.program.straight if place not in shared and place not in self._given]
        edge = [place for place in shared if place in self.program.roots or any(self._uses(rest, place))]
        self._rest = Order(self.program, rest, self.program.roots)
        self._all = Order(self.program, [p for p in self.program.straight if p not in self._given], self.program.roots)
        self.shared = Known(self._inputs(tuple(slice(None) for _ in self.shape)))
        order = Order(self.program, [place for place in self.program.straight if place in shared], edge)
        start = dict(self.shared.values)
        try:
            self._fast.compute(order, self.shared)
        except Doubt:
            self.shared = Known(start)
            self._careful.compute(order, self.shared)

    def _uses(self, rest: Sequence[int], place: int) -> list[bool]:
        return [place in self.program.ops[user].args for user in rest]

    def _shared_places(self) -> set[int]:
        if self.kernel is not None:
            return set()
        total = prod(self.shape)
        found = set[int]()
        for place in self.program.straight:
            op = self.program.ops[place]
            size = prod(self.shape[dimension] for dimension in self._over(op.mask))
            small = size <= LARGEST_SHARED and size * LEAST_SHARING <= total
            if op.kind != "input" and small and all(arg in found or arg in self._given for arg in op.args):
                found.add(place)
        return found

    def _over(self, mask: int) -> set[int]:
        """The dimensions that a mask of inputs depends on."""
        return {dimension for place, dimension in enumerate(self._dimensions) if mask >> place & 1}

    # -- blocks ----------------------------------------------------------------------------------

    def block(self, slices: Slices) -> tuple[list[Floats], Reasons | None]:
        """The values of each root over a block of the grid, NaN where there is none, and the reasons; None where all
        is fine. Arrays have the block's shape."""
        shape = tuple(len(range(*part.indices(size))) for part, size in zip(slices, self.shape, strict=True))
        try:
            if self.kernel is not None:
                return self._compiled(slices, shape), None
            return self._fastly(slices, shape), None
        except Doubt:
            return self._carefully(slices, shape)

    def _compiled(self, slices: Slices, shape: tuple[int, ...]) -> list[Floats]:
        assert self.kernel is not None
        columns = [_column(_cut(values, slices), shape) for values in self.inputs]
        return [values.reshape(shape) for values in self.kernel(columns)]

    def _fastly(self, slices: Slices, shape: tuple[int, ...]) -> list[Floats]:
        known = self._part(slices)
        if known.reasons:
            raise Doubt
        self._fast.compute(self._rest, known)
        found = [numpy.broadcast_to(known.values[root], shape) for root in self.program.roots]
        if not all(numpy.isfinite(values).all() for values in found):
            raise Doubt
        return found

    def _carefully(self, slices: Slices, shape: tuple[int, ...]) -> tuple[list[Floats], Reasons | None]:
        known = self._part(slices)
        self._careful.compute(self._rest if self.kernel is None else self._all, known)
        reasons = numpy.zeros(shape, dtype=numpy.uint8)
        for root in self.program.roots:
            failed = known.reasons.get(root)
            if failed is not None:
                reasons = numpy.where(reasons != 0, reasons, failed).astype(numpy.uint8)
        found = []
        for root in self.program.roots:
            failed = known.reasons.get(root, 0)
            found.append(numpy.where(numpy.broadcast_to(failed, shape), numpy.nan, known.values[root]))
        return found, reasons if reasons.any() else None

    def _part(self, slices: Slices) -> Known:
        """What the block is given: its part of the inputs and of what is shared."""
        values = {place: _cut(value, slices) for place, value in self.shared.values.items()}
        reasons = {place: _cut(reason, slices) for place, reason in self.shared.reasons.items()}
        return Known(values, {place: reason for place, reason in reasons.items() if numpy.any(reason)})

    def _inputs(self, slices: Slices) -> dict[int, Any]:
        return {place: _cut(self.inputs[number], slices) for place, number in self._given.items()}


def _along(dimension: int, values: Floats, dimensions: int) -> Floats:
    """Values along one of so many dimensions."""
    shape = [1] * dimensions
    shape[dimension] = len(values)
    return numpy.ascontiguousarray(values, dtype=numpy.float64).reshape(shape)


def _cut(value: Any, slices: Slices) -> Any:
    """A block's part of a value, which has one place in the dimensions that it does not depend on."""
    if isinstance(value, tuple):
        return tuple(_cut(element, slices) for element in value)
    if not isinstance(value, numpy.ndarray) or value.ndim == 0:
        return value
    return value[tuple(part if size > 1 else slice(None) for part, size in zip(slices, value.shape, strict=True))]


def _column(values: Floats, shape: tuple[int, ...]) -> Floats:
    return numpy.ascontiguousarray(numpy.broadcast_to(values, shape)).reshape(-1)


# -- how a grid is cut -----------------------------------------------------------------------------


class Blocks:
    """A grid in blocks of at most so many points, in the order of its points (the last dimension is the fastest)."""

    def __init__(self, shape: Sequence[int], most: int) -> None:
        self.shape = tuple(shape)
        behind = [prod(self.shape[place + 1 :]) for place in range(len(self.shape))]
        self._cut = next((place for place, size in enumerate(behind) if size <= most), 0)
        self._rows = max(1, most // behind[self._cut])
        self._behind = behind[self._cut]
        self._stretches = -(-self.shape[self._cut] // self._rows)
        self.count = prod(self.shape[: self._cut]) * self._stretches

    def __getitem__(self, number: int) -> tuple[int, Slices]:
        """The number of the block's first point, and its place."""
        outer, inner = divmod(number, self._stretches)
        first = inner * self._rows
        rows = min(self._rows, self.shape[self._cut] - first)
        start = (outer * self.shape[self._cut] + first) * self._behind
        slices = [slice(first, first + rows), *(slice(None) for _ in self.shape[self._cut + 1 :])]
        for size in reversed(self.shape[: self._cut]):
            outer, index = divmod(outer, size)
            slices.insert(0, slice(index, index + 1))
        return start, tuple(slices)
