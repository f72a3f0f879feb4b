"""Progress: a bar with the rate and the time left, for who watches a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from aspenpy.shell.output import is_terminal

Seen = Callable[[int], None]  # is told how many more are done


@contextmanager
def progress(total: int, what: str) -> Iterator[Seen]:
    """On a terminal, a bar on standard error until all is done; anywhere else, nothing."""
    if not is_terminal(sys.stderr):
        yield lambda count: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn(what),
        BarColumn(),
        TextColumn("{task.percentage:.0f} %"),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=total, rate="")

        def seen(count: int) -> None:
            speed = bar.tasks[0].speed
            bar.update(task, advance=count, rate=f"{speed / 1e6:.1f} M points/s" if speed else "")

        yield seen
