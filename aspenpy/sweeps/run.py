"""Run: a study computed stretch by stretch, on all cores or by the workers of a Dask cluster that somebody else has
started.

Workers are sent formulas, axes and numbers of stretches, all of it data. What a worker was computing when it died, or
had computed and not handed over, is given to another one.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from itertools import islice
from pathlib import Path
from threading import Lock
from time import monotonic, sleep
from typing import Any, NoReturn

import numpy

from aspenpy.allowance import MEMORY, allowance
from aspenpy.engine.arrays import Floats
from aspenpy.engine.backends import Backend, choose_backend
from aspenpy.expr.failures import REASONS
from aspenpy.language.diagnostics import AspenError, Diagnostic, fail
from aspenpy.sweeps.study import Study
from aspenpy.sweeps.work import Stretch, Worker, WorkerTask, likely_ranges, lower_formulas

STRETCH = 1 << 20
"""Least points of a stretch, which is computed, kept and written as a whole; a smaller sweep is one stretch."""

HELD = 4
"""Times that the values of a stretch are in memory while it is computed and, with its axes, written."""
WORTH_PROCESSES = 4_000_000  # points from which on it pays to start processes


class StudyRun:
    """A study with the back end and the cores that it is computed with. `processes` lets it start some unasked, which
    in a program of a user would run that program again; a `client` of Dask, or the address of its scheduler, has its
    workers compute instead. Stretches that are computed at once take at most `memory` bytes, or are one."""

    def __init__(
        self,
        study: Study,
        backend: str = "auto",
        cores: int | None = None,
        *,
        processes: bool = True,
        client: Any = None,
        memory: int = MEMORY,
    ) -> None:
        box = likely_ranges(study.columns.values())
        programs = [lower_formulas(formulas, study.inputs, study.seed, box) for formulas in study.formulas]
        self.study = study
        self.backend: Backend = choose_backend(backend, programs, study.points_of_case, memory)
        columns = tuple(study.columns.values())
        spent = allowance()
        about = study.formulas, study.inputs, columns, study.grid, study.seed, self.backend.name
        self.work = WorkerTask(*about, STRETCH, spent.left)
        self.worker = Worker(self.work, spent)
        self.plan = self.worker.plan
        self.client = connect(client) if isinstance(client, str) else client
        self.waiting = max(1, memory // (HELD * STRETCH * (8 * len(study.metrics) + 1)))
        self.cores = self._cores(cores, processes)

    def _cores(self, asked: int | None, processes: bool) -> int:
        """The number of cores to use, at most one per stretch; processes are worth their start for large sweeps
        only."""
        if asked is not None and asked < 1:
            fail("bad-cores", f"a sweep needs at least 1 core, not {asked}")
        worth_it = self.backend.threads or (processes and self.study.points >= WORTH_PROCESSES)
        return min(asked or (available_cores() if worth_it else 1), self.plan.count, self.waiting)

    def stretches(
        self, numbers: Iterable[int] | None = None, *, fail_fast: bool = False, into: Floats | None = None
    ) -> Iterator[Stretch]:
        """The stretches of those numbers, or all, as they are ready; what is computed in this process has its values
        in their place `into` an array of all points. With `fail_fast`, the first point without a value raises what is
        wrong with it."""
        for stretch in self._compute_stretches(range(self.plan.count) if numbers is None else numbers, into):
            if fail_fast and stretch.reasons is not None:
                first = int(numpy.flatnonzero(stretch.reasons)[0])
                raise failure_at(self.study, stretch.start + first, int(stretch.reasons[first]))
            yield stretch

    def _compute_stretches(self, numbers: Iterable[int], into: Floats | None) -> Iterator[Stretch]:
        compute = self.worker.stretch if into is None else partial(self.worker.stretch, into=into)
        if self.client is not None:
            yield from compute_stretches(self.client, self.work, numbers)
        elif self.cores == 1:
            yield from map(compute, numbers)
        elif self.backend.threads:
            with ThreadPoolExecutor(self.cores) as pool:
                yield from _limit_in_flight(pool, compute, numbers, min(2 * self.cores, self.waiting))
        else:
            yield from self._compute_in_processes(numbers)

    def _compute_in_processes(self, numbers: Iterable[int]) -> Iterator[Stretch]:
        """The work travels in a file: Python waits for ever to give more than a pipe holds to a process that died
        while it started."""
        import pickle
        from multiprocessing import current_process, get_context
        from tempfile import NamedTemporaryFile

        with NamedTemporaryFile() as file:
            pickle.dump(self.work, file)
            file.flush()
            try:
                with ProcessPoolExecutor(self.cores, get_context("spawn"), _begin, (file.name,)) as pool:
                    yield from _limit_in_flight(pool, _compute_on_process, numbers, min(2 * self.cores, self.waiting))
            except RuntimeError as error:
                if not isinstance(error, BrokenProcessPool) and not getattr(current_process(), "_inheriting", False):
                    raise
                hint = 'a program that starts a sweep on several cores does so below `if __name__ == "__main__":`'
                fail("lost-process", "a process that computed a part of the sweep ended, or could not start", hint=hint)


def failure_at(study: Study, number: int, reason: int) -> AspenError:
    """The error at a point, with the place of the point."""
    where = "at " + ", ".join(f"{name} = {value}" for name, value in study.point(number).items())
    error = study.failure(number)
    diagnostics = error.diagnostics if error else (Diagnostic("no-value", f"{REASONS[reason]}, in floating point"),)
    return AspenError(*(item.with_circumstance(where) for item in diagnostics))


def available_cores() -> int:
    """Number of cores that this process may use."""
    import os

    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _limit_in_flight(
    pool: Executor, compute: Callable[[int], Stretch], numbers: Iterable[int], most: int
) -> Iterator[Stretch]:
    """Results as they come, with no more than `most` asked for or waiting."""
    from concurrent.futures import FIRST_COMPLETED, wait

    waiting: set[Future[Stretch]] = set()
    try:
        for number in numbers:
            if len(waiting) >= most:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in done)
            with _hold_interrupts():  # the first time starts all processes
                waiting.add(pool.submit(compute, number))
        while waiting:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in done)
    finally:
        for future in waiting:
            future.cancel()


# -- in other processes ----------------------------------------------------------------------------


@contextmanager
def _hold_interrupts() -> Iterator[None]:
    """Ctrl-C waits meanwhile, and in a process that is started here until it allows it: while Python imports modules,
    it would end with a traceback. The mask is for that process; here, a thread of a library may take the signal."""
    import signal
    from threading import current_thread, main_thread

    if not hasattr(signal, "pthread_sigmask"):  # as on Windows
        yield
        return
    arrived: list[int] = []
    handler = signal.getsignal(signal.SIGINT) if current_thread() is main_thread() else None
    if handler is not None:
        signal.signal(signal.SIGINT, lambda number, _: arrived.append(number))
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT,))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if handler is not None:
            signal.signal(signal.SIGINT, handler)
        if arrived:
            signal.raise_signal(signal.SIGINT)


_worker: list[Any] = []


def _begin(file: str) -> None:
    """Takes up the work that another process left in a file. From here on Ctrl-C ends this process quietly, too."""
    import pickle
    import signal

    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGINT,))
    _worker[:] = [Worker(pickle.loads(Path(file).read_bytes()))]


def _compute_on_process(number: int) -> Stretch:
    stretch: Stretch = _worker[0].stretch(number)
    return stretch


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


def compute_stretches(client: Any, work: WorkerTask, numbers: Iterable[int]) -> Iterator[Stretch]:
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
        future = client.submit(_stretch_on_worker, token, shared, number, pure=False, retries=RETRIES)
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


def _share_work(client: Any, work: WorkerTask) -> Any:
    """The data that all stretches need, as the result of a task: the scheduler has it made again when the workers that
    hold it die, which it could not do with data that it was given."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sending large graph")  # it is sent once
        return client.submit(_load_work, work, pure=False, retries=RETRIES)


def _give_up(error: BaseException) -> NoReturn:
    reason = (str(error) or type(error).__name__).splitlines()[0]
    fail("worker-failed", f"the workers of the cluster could not compute a part of the sweep: {reason}")


# -- on a worker -----------------------------------------------------------------------------------

_workers: dict[str, Worker] = {}
_lock = Lock()


def _load_work(work: WorkerTask) -> WorkerTask:
    return work


def _stretch_on_worker(token: str, work: WorkerTask, number: int) -> Stretch:
    """One stretch; what is prepared for a run serves all its stretches."""
    with _lock:
        if token not in _workers:
            _workers.clear()
            _workers[token] = Worker(work)
        worker = _workers[token]
    return worker.stretch(number)
