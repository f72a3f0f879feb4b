"""Progress: a line on a terminal that says how far a long command is, and goes when it is done."""

from __future__ import annotations

import sys
from time import monotonic
from types import TracebackType

from aspenpy.cli.output import is_terminal

EVERY = 0.2
"""Seconds between two lines."""

CLEAR = "\r\x1b[K"


class Progress:
    """Shows what it is told on standard error, if that is a terminal, and clears it at the end."""

    def __init__(self) -> None:
        self._shown = is_terminal(sys.stderr)
        self._began = self._last = monotonic()

    def tell(self, done: int, total: int | None, references: int) -> None:
        """Bytes read, bytes in all where they are known, and references so far."""
        now = monotonic()
        if not self._shown or now - self._last < EVERY:
            return
        self._last = now
        part = f"{100 * done / total:.0f} %, " if total else ""
        rate = references / (now - self._began) / 1e6
        sys.stderr.write(f"{CLEAR}{part}{references / 1e6:.1f} M references, {rate:.1f} M a second")
        sys.stderr.flush()

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown:
            sys.stderr.write(CLEAR)
            sys.stderr.flush()
