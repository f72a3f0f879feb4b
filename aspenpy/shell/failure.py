"""Ends of a command that are no fault of a model."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


SUCCESS, FAILURE = 0, 2  # exit statuses
INTERRUPTED, NOBODY_READS = 130, 141  # a shell's for programs that SIGINT and SIGPIPE end


class CommandError(Exception):
    """Something to say in one line: an output that cannot be written, an option that does not exist."""


class ClosedPipe(Exception):
    """Nobody reads the output any more, as behind `| head`."""


@contextmanager
def refuse_unwritable(path: str | Path) -> Iterator[None]:
    """Refuses a file that cannot be written."""
    try:
        yield
    except OSError as error:
        raise CommandError(f"cannot write `{path}`: {error.strerror}") from None
