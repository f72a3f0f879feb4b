"""What ends a command and is no fault of a model."""

from __future__ import annotations


class CommandError(Exception):
    """Something to say in one line: an output that cannot be written, an option that does not exist."""


class ClosedPipe(Exception):
    """Nobody reads the output any more, as behind `| head`."""
