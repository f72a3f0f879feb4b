"""Cluster: the stretches of a run computed by the workers of a Dask cluster that somebody else has started.

Workers are sent formulas, axes and numbers of stretches, all of it data. What a worker was computing when it died,
or had computed and not handed over, is given to another one.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Iterator
from hashlib import sha256
from itertools import islice
from threading import Lock
from time import monotonic, sleep
from typing import Any, NoReturn

from aspenpy.language.diagnostics import AspenError, fail
from aspenpy.sweeps.work import Stretch, Work, Worker

SECONDS = 10  # for which a scheduler is waited for

PATIENCE = 10
"""Seconds without news after which the cluster is asked what it works at, or for which a result may travel."""

POLL = 0.002  # seconds between two looks at what is ready

PENDING = {"no-worker", "processing", "queued", "released", "waiting"}
"""States of a task that the scheduler is not done with."""

RETRIES = 3  # times that a stretch is tried again, after an error or after all its workers were killed
IN_FLIGHT = 4  # stretches for each thread of the cluster that are asked for at once


def connect(address: str) -> Any:
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


def compute_stretches(client: Any, work: Work, numbers: Iterable[int]) -> Iterator[Stretch]:
    """The stretches of those numbers, as they are ready; raises AspenError where the cluster gives up."""
    from concurrent.futures import CancelledError

    from distributed import KilledWorker

    waiting = iter(numbers)
    threads = sum(client.nthreads().values())
    if not threads:
        fail("no-workers", "the Dask cluster has no workers", hint="start some: dask worker ADDRESS")
    shared = _share_work(client, work)
    token = sha256(repr((work.formulas, work.grid, work.seed, work.backend, shared.key)).encode()).hexdigest()
    asked: dict[Any, tuple[int, int]] = {}

    def ask(number: int, again: int, reason: BaseException | None = None) -> None:
        nonlocal shared
        if reason is not None and (again > RETRIES or client.status != "running"):
            _give_up(reason)
        if shared.status in ("error", "cancelled", "lost"):
            shared = _share_work(client, work)
        future = client.submit(_stretch, token, shared, number, pure=False, retries=RETRIES)
        asked[future] = number, again

    for number in islice(waiting, IN_FLIGHT * threads):
        ask(number, 0)
    while asked:
        future = _wait_for_stretch(client, asked)
        if future is None:  # those were lost on the way, and what they need perhaps as well
            shared = _share_work(client, work)
            for number, again in [asked.pop(future) for future in list(asked)]:
                ask(number, again + 1, TimeoutError("it was lost, again and again"))
            continue
        number, again = asked.pop(future)
        try:
            stretch = future.result(timeout=PATIENCE)
        except (KilledWorker, CancelledError, TimeoutError) as error:  # workers were killed, perhaps by something else
            ask(number, again + 1, error)
            continue
        except AspenError:
            raise  # as in this process
        except Exception as error:
            _give_up(error)
        yield stretch
        for number in islice(waiting, 1):
            ask(number, 0)


def _wait_for_stretch(client: Any, asked: Collection[Any]) -> Any:
    """One that is computed or has failed; None where the scheduler is done with some of which the client does not know:
    it forgets the news of a failure where that of the loss of an earlier result comes later."""
    idle = 0
    while idle <= RETRIES:
        until = monotonic() + PATIENCE
        while monotonic() < until:
            for future in asked:
                if future.status in ("finished", "error", "cancelled"):
                    return future
            sleep(POLL)
        if client.status != "running":
            break
        if not client.nthreads():  # others may be on their way
            idle += 1
            continue
        idle = 0
        states = client.sync(client.scheduler.get_task_status, keys=[future.key for future in asked])
        if not PENDING.issuperset(states.values()):
            return None
    fail("no-workers", "all workers of the Dask cluster are gone", hint="start some: dask worker ADDRESS")


def _share_work(client: Any, work: Work) -> Any:
    """What all stretches need, as the result of a task: the scheduler has it made again when the workers that hold it
    die, which it could not do with data that it was given."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sending large graph")  # it is sent once
        return client.submit(_load_work, work, pure=False, retries=RETRIES)


def _give_up(error: BaseException) -> NoReturn:
    reason = (str(error) or type(error).__name__).splitlines()[0]
    fail("worker-failed", f"the workers of the cluster could not compute a part of the sweep: {reason}")


# -- on a worker -----------------------------------------------------------------------------------

_workers: dict[str, Worker] = {}
_lock = Lock()


def _load_work(work: Work) -> Work:
    return work


def _stretch(token: str, work: Work, number: int) -> Stretch:
    """One stretch; what is prepared for a run serves all its stretches."""
    with _lock:
        if token not in _workers:
            _workers.clear()
            _workers[token] = Worker(work)
        worker = _workers[token]
    return worker.stretch(number)
