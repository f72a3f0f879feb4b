"""Traces of Lackey, the tool of Valgrind that writes every reference of a program.

`valgrind --tool=lackey --trace-mem=yes`: `I addr,size`, and ` L`, ` S` and ` M` for loads, stores and both; addresses
in hexadecimal, sizes in decimal. What Valgrind says besides begins with `==` or `--`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from aspenpy.traces.digits import decimal, hexadecimal, words
from aspenpy.traces.references import INSTRUCTION, LOAD, STORE, References
from aspenpy.traces.text import Lines, are_possible, require_possible

if TYPE_CHECKING:
    from numpy.typing import NDArray

LINE = re.compile(rb"\s*([ILSM])\s+([0-9a-fA-F]{1,16}),(\d{1,5})\s*")
REMARK = re.compile(rb"(==|--|\*\*)\d*(==|--|\*\*)")
PREFIXES = {b"I  ": INSTRUCTION, b" L ": LOAD, b" S ": STORE, b" M ": LOAD}
MODIFY = b" M "
WIDTH = 3

_NOTHING = References(np.empty(0, np.uint64), np.empty(0, np.int64), np.empty(0, np.uint8))


def quick(lines: Lines, kinds: frozenset[int]) -> References | None:
    """All references, or None if a line is not regular. Of kinds that are not wanted the letters are looked at."""
    commas = np.flatnonzero(lines.text == ord(","))
    if len(commas) != len(lines.ends) or (lines.ends - lines.starts).min() < WIDTH:
        return None
    prefixes = words(lines.text, lines.starts + WIDTH) & np.uint64(0xFFFFFF)
    wanted = np.zeros(len(prefixes), np.bool_)
    known = 0
    for prefix, kind in PREFIXES.items():
        having = prefixes == np.uint64(int.from_bytes(prefix, "big"))
        known += int(np.count_nonzero(having))
        if kind in kinds or (prefix == MODIFY and STORE in kinds):
            wanted |= having
    if known != len(prefixes):
        return None
    chosen = np.flatnonzero(wanted)
    if not len(chosen):
        return _NOTHING
    commas = commas[chosen]
    starts = lines.starts[chosen]
    if (commas < starts + WIDTH).any() or (commas >= lines.ends[chosen]).any():  # two in one line, none in another
        return None
    addresses = hexadecimal(lines.text, starts + WIDTH, commas)
    sizes = decimal(lines.text, commas + 1, lines.ends[chosen])
    if addresses is None or sizes is None or not are_possible(addresses, sizes):
        return None
    return _in_order(addresses, sizes, prefixes[chosen], kinds)


def _in_order(
    addresses: NDArray[np.uint64], sizes: NDArray[np.int64], prefixes: NDArray[np.uint64], kinds: frozenset[int]
) -> References:
    """A modification is a load, then a store."""
    letters = (prefixes >> np.uint64(8)).astype(np.uint8)
    labels = np.full(len(letters), LOAD, np.uint8)
    labels[letters == ord("S")] = STORE
    labels[letters == ord(" ")] = INSTRUCTION
    both = letters == ord("M")
    if not both.any():
        return References(addresses, sizes, labels)
    if LOAD not in kinds or STORE not in kinds:
        labels[both] = LOAD if LOAD in kinds else STORE
        return References(addresses, sizes, labels)
    owner = np.repeat(np.arange(len(letters)), both + 1)
    labels = labels[owner]
    labels[1:][owner[1:] == owner[:-1]] = STORE
    return References(addresses[owner], sizes[owner], labels)


def tidy(line: bytes) -> bytes | None:
    """The regular form of a reference, None for a remark. ValueError for anything else."""
    if REMARK.match(line):
        return None
    matched = LINE.fullmatch(line)
    if not matched:
        raise ValueError(
            "Lackey writes ` L 1ffe8fe3a0,8`; keep what the program prints out of it: valgrind --log-file=FILE"
        )
    letter, address, size = matched.groups()
    require_possible(int(address, 16), int(size))
    return (b"I  " if letter == b"I" else b" %b " % letter) + b"%b,%b\n" % (address, size)
