"""References: loads, stores and instructions of a program that ran, many at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

LOAD, STORE, INSTRUCTION = 0, 1, 2

KINDS = {"loads": LOAD, "stores": STORE, "instructions": INSTRUCTION}  # what references are, as an option names them

DATA = frozenset({LOAD, STORE})


class References(NamedTuple):
    """In the order of the program: first byte, number of bytes, kind. Where a trace does not tell sizes, a reference
    has one byte; where it does not tell kinds, there are none."""

    addresses: NDArray[np.uint64]
    sizes: NDArray[np.int64] | None = None
    kinds: NDArray[np.uint8] | None = None

    def split(self, shift: int, most: int) -> Iterator[References]:
        """The same in parts, of about so many lines at most."""
        if not len(self.addresses):
            return
        if self.sizes is None:
            cuts = np.arange(0, len(self.addresses), most)
        else:
            touched = np.cumsum(_count_lines(self.addresses, self.sizes, shift))
            cuts = np.searchsorted(touched, np.arange(0, touched[-1], most))
        for start, end in zip(cuts, [*cuts[1:], len(self.addresses)], strict=True):
            part = slice(start, end)
            sizes = None if self.sizes is None else self.sizes[part]
            yield References(self.addresses[part], sizes, None if self.kinds is None else self.kinds[part])

    def split_by_line(self, shift: int) -> References:
        """One reference for each line, of 2**shift bytes, that a reference touches: the first byte in it."""
        if self.sizes is None:
            return self
        lines = _count_lines(self.addresses, self.sizes, shift)
        if not (lines > 1).any():
            return self
        owner = np.repeat(np.arange(len(lines)), lines)
        number = np.arange(len(owner)) - np.repeat(np.cumsum(lines) - lines, lines)
        first = self.addresses >> np.uint64(shift)
        starts = (first[owner] + number.astype(np.uint64)) << np.uint64(shift)
        addresses = np.maximum(starts, self.addresses[owner])
        return References(addresses, None, None if self.kinds is None else self.kinds[owner])


def _count_lines(addresses: NDArray[np.uint64], sizes: NDArray[np.int64], shift: int) -> NDArray[np.int64]:
    last = addresses + (sizes - 1).astype(np.uint64)
    return ((last >> np.uint64(shift)) - (addresses >> np.uint64(shift))).astype(np.int64) + 1
