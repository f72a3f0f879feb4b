"""Progress: a line on a terminal that says what a long command does and how far it is, until the command ends."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TextIO

from aspenpy.shell.output import before_writing, is_watched

PATIENCE = 1.0  # seconds after which the line is shown
EVERY = 0.2  # seconds between two redrawings of the line
CLEAR = "\r\x1b[K"
TURNS = "|/-\\"
WIDTH = 20  # characters of the bar
LONGEST = 79  # characters of the line, which must not wrap: it could not be cleared then


class Progress:
    """The report of a command on its progress, drawn on a terminal by a thread of its own, so that it turns while the
    command is within a long step. `done` is the part that is done, None where nobody knows."""

    def __init__(self, stream: TextIO, text: str) -> None:
        from threading import Event, RLock, Thread  # a millisecond that only a terminal costs

        self.stream, self.text = stream, text
        self.done: float | None = None
        self._began = monotonic()
        self._drawn = False
        self._turn = 0
        self._lock, self._over = RLock(), Event()
        self._thread = Thread(target=self._draw_until_over, daemon=True)
        self._thread.start()

    def line(self) -> str:
        """The bar or the turning stroke, what is being done, and for how long."""
        self._turn += 1
        part = self.done
        if part is None:
            head = TURNS[self._turn % len(TURNS)]
        else:
            head = f"[{'#' * int(part * WIDTH):<{WIDTH}}] {100 * part:.0f} %"
        tail = f", {monotonic() - self._began:.0f} s"
        return f"{head} {self.text}"[: LONGEST - len(tail)] + tail

    def _draw_until_over(self) -> None:
        wait = PATIENCE
        while not self._over.wait(wait):
            wait = EVERY
            with self._lock:
                if not self._over.is_set():
                    self._write(f"{CLEAR}{self.line()}")
                    self._drawn = True

    def clear(self) -> None:
        """Makes room for what the command writes; the line comes back if the command goes on."""
        with self._lock:
            if self._drawn:
                self._drawn = False
                self._write(CLEAR)

    def _write(self, text: str) -> None:
        try:
            self.stream.write(text)
            self.stream.flush()
        except OSError:  # the terminal was closed: nobody watches any more
            self._over.set()

    def close(self) -> None:
        """Ends the thread, and clears the line."""
        self._over.set()
        self._thread.join()
        self.clear()


_shown: list[Progress] = []  # the lines of commands that run, the innermost last


@contextmanager
def progress(text: str) -> Iterator[None]:
    """Shows on a terminal that the command is at work once it takes long; anywhere else, nothing."""
    if not is_watched(sys.stderr):
        yield
        return
    shown = Progress(sys.stderr, text)
    _shown.append(shown)
    try:
        with before_writing(shown.clear):
            yield
    finally:
        _shown.remove(shown)
        shown.close()


def report_activity(text: str, done: float | None = None) -> None:
    """Reports what the command does now, and which part of it is done where that is known."""
    for shown in _shown[-1:]:
        shown.text, shown.done = text, None if done is None else min(max(done, 0.0), 1.0)


def report_count(total: int, text: str) -> Callable[[int], None]:
    """A function to call with how many more of the total are done; it shows all that are done, and their rate."""
    began, done = monotonic(), 0

    def count_done(count: int) -> None:
        nonlocal done
        done += count
        rate = done / max(monotonic() - began, 1e-9)
        report_activity(f"{text}, {done:,} of {total:,}, {rate:,.0f} a second", done / total if total else 1.0)

    return count_done


def report_bytes_read(done: int, total: int | None, references: int) -> None:
    """Shows how far a trace is read: `done` of `total` bytes, where the total is known, and the references so far."""
    report_activity(f"{references / 1e6:.1f} M references", done / total if total else None)
