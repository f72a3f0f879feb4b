"""Operation: a step of a program (see `Program` for the kinds)."""

from __future__ import annotations

from typing import Any, NamedTuple


class Op(NamedTuple):
    """One operation. `args` are positions of earlier ones; `mask` has a bit for each input that it depends on,
    and for each counter of a loop around it."""

    kind: str
    args: tuple[int, ...] = ()
    payload: Any = None
    mask: int = 0


class Loop(NamedTuple):
    """The payload of a `sum`, whose args are the count and the operations outside of the loop that the body uses."""

    counter: int
    body: int
    inside: tuple[int, ...]


_ARRAYS = {"index": 1, "lookup": 2}


def arrays(op: Op) -> tuple[int, ...]:
    """The operands that must be arrays."""
    return op.args[: _ARRAYS.get(op.kind, 0)]
