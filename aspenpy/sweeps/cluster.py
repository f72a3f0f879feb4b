"""Cluster: the stretches of a run computed by the workers of a Dask cluster that somebody else has started.

Workers are sent formulas, axes and numbers of stretches, all of it data. What a worker was computing when it died is
given to another one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import sha256
from itertools import islice
from threading import Lock
from typing import Any

from aspenpy.diagnostics import fail
from aspenpy.sweeps.run import Stretch, Work, Worker

SECONDS = 10
"""For which a scheduler is waited for."""

RETRIES = 3
"""Times that a stretch is tried again."""

IN_FLIGHT = 4
"""Stretches for each thread of the cluster that are asked for at once."""


def connected(address: str) -> Any:
    """A client of the scheduler at an address such as `tcp://node7:8786`; raises AspenError."""
    try:
        from distributed import Client
    except ImportError:
        fail("missing-dask", "a cluster needs Dask: pip install 'aspenpy[dask]'")
    try:
        return Client(address, timeout=SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        hint = "the address is the one that `dask scheduler` prints"
        fail("no-scheduler", f"no Dask scheduler answers at `{address}`: {reason}", hint=hint)


def computed(client: Any, work: Work, numbers: Iterable[int]) -> Iterator[Stretch]:
    """The stretches of those numbers, as they are ready; raises AspenError where the cluster gives up."""
    from distributed import as_completed

    waiting = iter(numbers)
    threads = sum(client.nthreads().values())
    if not threads:
        fail("no-workers", "the Dask cluster has no workers", hint="start some: dask worker ADDRESS")
    [shared] = client.scatter([work], broadcast=True)
    token = sha256(repr((work.formulas, work.grid, work.seed, work.backend, shared.key)).encode()).hexdigest()

    def ask(number: int) -> Any:
        return client.submit(_stretch, token, shared, number, pure=False, retries=RETRIES)

    first = [ask(number) for number in islice(waiting, IN_FLIGHT * threads)]
    asked = as_completed(first, loop=client.loop)
    for future in asked:
        if future.status != "finished":
            reason = str(future.exception()).splitlines()[0]
            fail("worker-failed", f"the workers of the cluster could not compute a part of the sweep: {reason}")
        yield future.result()
        for number in islice(waiting, 1):
            asked.add(ask(number))


# -- on a worker -----------------------------------------------------------------------------------

_workers: dict[str, Worker] = {}
_lock = Lock()


def _stretch(token: str, work: Work, number: int) -> Stretch:
    """One stretch; what is prepared for a run serves all its stretches."""
    with _lock:
        if token not in _workers:
            _workers.clear()
            _workers[token] = Worker(work)
        worker = _workers[token]
    return worker.stretch(number)
