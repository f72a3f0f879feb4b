"""Allowance: the work and the memory that one command, or one call from Python, may spend."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

OPERATIONS = 1_500_000_000
"""Operations that one command may spend: some three seconds of one core, since an operation on an element of an array
takes about 2 ns. They are counted, not timed, so that the same question has the same answer on
a machine that is busy."""

INTERPRETED = 500
"""Operations that one interpreted operation, with exact numbers or on one element, counts as: it takes about 1 us."""

MEMORY = 1 << 30
"""Bytes of results that one command keeps unless it is told otherwise."""


class Allowance:
    """Operations that one command may still spend. `exceeded` is set once something was refused for lack of them: an
    answer given nevertheless is partial."""

    def __init__(self, operations: float = OPERATIONS) -> None:
        self.operations = operations
        self.spent = 0.0
        self.exceeded = False

    @property
    def left(self) -> float:
        """Operations that may still be spent."""
        return max(0.0, self.operations - self.spent)

    def spend(self, operations: float) -> bool:
        """Takes operations off the allowance. False where fewer are left, and for every later call."""
        if self.exceeded or operations > self.operations - self.spent:
            self.exceeded = True
            return False
        self.spent += operations
        return True


_current: ContextVar[Allowance | None] = ContextVar("allowance", default=None)


def allowance() -> Allowance:
    """The allowance of the running command; a separate one where no command asks."""
    return _current.get() or Allowance()


@contextmanager
def spending(allowance: Allowance) -> Iterator[Allowance]:
    """Makes all work inside spend this allowance, whatever runs around it and in whatever thread."""
    token = _current.set(allowance)
    try:
        yield allowance
    finally:
        _current.reset(token)


def separate_allowance(operations: float = OPERATIONS) -> AbstractContextManager[Allowance]:
    """A new allowance for what runs inside."""
    return spending(Allowance(operations))


@contextmanager
def part_of_allowance(share: float = 1.0) -> Iterator[Allowance]:
    """A share of what the command may still spend, for what runs inside: what that spends is taken off the whole, and
    what it exceeds is not."""
    given = allowance()
    with separate_allowance(share * given.left) as part:
        try:
            yield part
        finally:
            given.spend(part.spent)


def one_allowance(function: Callable[P, T]) -> Callable[P, T]:
    """The function, which spends the allowance of the command that calls it; called by itself it has one of its own."""

    @wraps(function)
    def limited(*args: P.args, **kwargs: P.kwargs) -> T:
        if _current.get() is not None:
            return function(*args, **kwargs)
        with separate_allowance():
            return function(*args, **kwargs)

    return limited
