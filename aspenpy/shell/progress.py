"""Progress: a line or a bar on a terminal that says how far a long command is, and goes when it is done."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from types import TracebackType

from aspenpy.shell.output import is_terminal

PATIENCE = 1.0  # seconds after which the first line is shown
EVERY = 0.2  # seconds between two lines
CLEAR = "\r\x1b[K"


class Progress:
    """Shows what it is told on standard error, if that is a terminal, and clears it at the end."""

    def __init__(self) -> None:
        self._shown = is_terminal(sys.stderr)
        self._written = False
        self._began = monotonic()
        self._next = self._began + PATIENCE

    def say(self, text: str) -> None:
        """A line in the place of the last, if it is time for one."""
        if self._shown and monotonic() >= self._next:
            self._next = monotonic() + EVERY
            self._written = True
            sys.stderr.write(f"{CLEAR}{text}")
            sys.stderr.flush()

    def tell(self, done: int, total: int | None, references: int) -> None:
        """Bytes read, bytes in all where they are known, and references so far."""
        part = f"{100 * done / total:.0f} %, " if total else ""
        rate = references / max(monotonic() - self._began, 1e-9) / 1e6
        self.say(f"{part}{references / 1e6:.1f} M references, {rate:.1f} M a second")

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._written:
            sys.stderr.write(CLEAR)
            sys.stderr.flush()


Seen = Callable[[int], None]  # is told how many more are done


@contextmanager
def progress(total: int, what: str, rated: bool = True) -> Iterator[Seen]:
    """On a terminal, a bar on standard error until all is done, with its rate if that is `rated`; anywhere else,
    nothing."""
    if not is_terminal(sys.stderr):
        yield lambda count: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (
        TextColumn(what),
        BarColumn(),
        TextColumn("{task.percentage:.0f} %"),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    with Bars(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=total, rate="")

        def seen(count: int) -> None:
            speed = bar.tasks[0].speed
            bar.update(task, advance=count, rate=f"{speed / 1e6:.1f} M points/s" if speed and rated else "")

        yield seen
