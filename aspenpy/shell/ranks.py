"""Numbers of ranks on the command line: `1..8M`, `1,8,64`."""

from __future__ import annotations

from aspenpy.explore.scaling import doublings
from aspenpy.language.axis import read_literal, split_ends
from aspenpy.language.source import Span, split_at_commas
from aspenpy.shell.failure import CommandError


def ranks_in(text: str) -> list[int]:
    """`1..8M` as 1, 2, 4 and so on to 8 million; `1,8,64` as it is."""
    first, last = split_ends(text, "--ranks")
    if last is None:
        return [_number(part, text) for part in split_at_commas(first)] or [_number(first, text)]
    low, high = _number(first, text), _number(last, text)
    if low > high:
        raise CommandError(f"--ranks: {text} has nothing in it")
    return doublings(low, high)


def _number(written: Span, text: str) -> int:
    number = read_literal(written)
    if number is None or not number.is_integer() or number < 1:
        raise CommandError(f"--ranks: expected whole numbers from 1 on, such as 1..8M or 1,8,64, not `{text}`")
    return int(number)
