"""Traces of the cache simulator Dinero (Edler and Hill).

The `din` of the cache simulator Dinero: a label (0 or `r` a load, 1 or `w` a store, 2 or `i` an instruction), an
address and, in the extended form, a size, both hexadecimal. Without a size, it is the line of the address.
"""

from __future__ import annotations

import re

import numpy as np

from aspenpy.traces.digits import hexadecimal
from aspenpy.traces.references import INSTRUCTION, LOAD, STORE, References
from aspenpy.traces.text import MOST_BYTES, Lines, are_possible, require_possible

LINE = re.compile(rb"\s*([012rwi])\s+(?:0[xX])?([0-9a-fA-F]{1,16})(?:\s+(?:0[xX])?([0-9a-fA-F]{1,5}))?\s*")
LABELS = {b"0": LOAD, b"r": LOAD, b"1": STORE, b"w": STORE, b"2": INSTRUCTION, b"i": INSTRUCTION}
DIGITS = {LOAD: b"0", STORE: b"1", INSTRUCTION: b"2"}


def quick(lines: Lines, kinds: frozenset[int]) -> References | None:
    """All references, or None if a line is not regular."""
    text, starts, ends = lines
    spaces = np.flatnonzero(text == ord(" "))
    fields = len(spaces) // len(ends)
    if fields not in (1, 2) or len(spaces) != fields * len(ends):
        return None
    if (spaces[::fields] != starts + 1).any():
        return None
    labels = text[starts] - np.uint8(ord("0"))
    stops = ends if fields == 1 else spaces[1::2]
    addresses = hexadecimal(text, starts + 2, stops)
    sizes = hexadecimal(text, stops + 1, ends) if fields == 2 else np.ones(len(ends), np.uint64)
    if labels.max() > INSTRUCTION or addresses is None or sizes is None or sizes.max() > MOST_BYTES:
        return None
    counts = sizes.astype(np.int64)
    if not are_possible(addresses, counts):
        return None
    wanted = np.isin(labels, list(kinds))
    return References(addresses[wanted], counts[wanted], labels[wanted])


def tidy(line: bytes) -> bytes:
    """The regular form of a reference. ValueError for anything else."""
    matched = LINE.fullmatch(line)
    if not matched:
        raise ValueError("Dinero's lines are `0 7ffe8fe3a0`: 0 for a load, 1 for a store, 2 for an instruction")
    label, address, size = matched.groups()
    require_possible(int(address, 16), int(size or b"1", 16))
    return b"%b %b %b\n" % (DIGITS[LABELS[label]], address, size or b"1")
