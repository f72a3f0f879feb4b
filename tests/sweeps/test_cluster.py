"""Sweeps on a Dask cluster of two processes."""

import random
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from time import sleep

import numpy
import pytest

from aspenpy.allowance import separate_allowance
from aspenpy.answers.case import Case
from aspenpy.language.diagnostics import AspenError
from aspenpy.sweeps import run as run_module
from aspenpy.sweeps.grid import make_study
from aspenpy.sweeps.run import StudyRun, connect
from tests.thorough import THOROUGH, slow
from tests.tiny import application, codes, machine

APP = application("execute { flops [n*k/m] }", "param n = 5 param k = 2 param m = 1")

pytestmark = [
    slow,
    pytest.mark.skipif(find_spec("distributed") is None, reason="the extra `dask` is not installed"),
    pytest.mark.filterwarnings("ignore::Warning"),  # Dask's own, of sockets that it closes late
]


KILLS = 20 if THOROUGH else 3
"""Workers that are killed in one run; 20 take a minute and a half of two busy cores."""

STRETCHES = 30 + 10 * KILLS

ROOT = Path(__file__).parents[2]


class Cluster:
    """A scheduler, and workers in processes that may be killed at any moment, also while they start."""

    def __init__(self, scheduler):
        self.address = scheduler.scheduler_address
        self.workers = [self.started(), self.started()]

    def started(self):
        command = [sys.executable, "-m", "distributed.cli.dask_worker", self.address, "--no-nanny", "--nthreads", "1"]
        return subprocess.Popen([*command, "--no-dashboard"], cwd=ROOT, stderr=subprocess.DEVNULL)

    def kill(self, number):
        """Kills a worker; another one is started."""
        self.workers[number].kill()
        self.workers[number].wait()
        self.workers[number] = self.started()


@pytest.fixture(scope="module")
def cluster():
    from distributed import LocalCluster  # which takes half a second

    with LocalCluster(n_workers=0, dashboard_address=None) as scheduler:
        found = Cluster(scheduler)
        try:
            yield found
        finally:
            for worker in found.workers:
                worker.kill()
                worker.wait()


@pytest.fixture
def client(cluster):
    from distributed import Client

    with Client(cluster.address, set_as_default=False) as found:
        found.wait_for_workers(2)
        yield found


def test_a_worker_that_cannot_compute(client, monkeypatch):
    """What is wrong is told, not tried for ever."""
    monkeypatch.setattr(run_module, "STRETCH", 1)
    running = StudyRun(make_study(Case(APP, machine()), {"n": numpy.linspace(1, 2, 4)}), "numpy", client=client)
    running.work = running.work._replace(backend="none such")
    with pytest.raises(AspenError, match="could not compute a part of the sweep: 'none such'"):
        list(running.stretches())


def test_a_worker_may_spend_what_is_left_to_the_command(client):
    loops = "iterate i [n] { if (mod(i, 7) < 3) { execute { flops [1] } } }"
    study = make_study(Case(application(loops, "param n = 5"), machine()), {"n": numpy.linspace(1000, 2000, 100)})
    for operations in (1e5, 1e9):
        with separate_allowance(operations):
            running = StudyRun(study, "numpy", client=client)
            if operations == 1e9:
                assert sum(stretch.values.shape[1] for stretch in running.stretches()) == 100
            else:
                with pytest.raises(AspenError, match="the points take too long"):
                    list(running.stretches())


def test_a_result_lost_after_completion_is_computed_again(cluster, client, monkeypatch):
    monkeypatch.setattr(run_module, "STRETCH", 1)
    n = numpy.linspace(1, 2, 4 << 15)
    stretches = StudyRun(make_study(Case(APP, machine()), {"n": n}), "numpy", client=client).stretches()
    starts = [next(stretches).start]
    while any(client.processing().values()):
        sleep(0.01)
    cluster.kill(0)
    cluster.kill(1)  # all results, and what they were made from
    starts += [stretch.start for stretch in stretches]
    assert sorted(starts) == [number << 15 for number in range(4)]


def test_workers_killed_at_random_moments(cluster, client, monkeypatch):
    """Every stretch comes once, with its values."""
    monkeypatch.setattr(run_module, "STRETCH", 1)
    draw = random.Random(7)
    moments = set(draw.sample(range(STRETCHES - 10), KILLS))
    n = numpy.linspace(1, 2, STRETCHES << 15)
    starts = []
    for stretch in StudyRun(make_study(Case(APP, machine()), {"n": n}), "numpy", client=client).stretches():
        here = slice(stretch.start, stretch.start + stretch.values.shape[1])
        numpy.testing.assert_allclose(stretch.values[0], 2 * n[here], rtol=1e-15)
        if len(starts) in moments:
            sleep(draw.random() * 0.05)  # for the workers: some have a result ready, some compute, some start
            cluster.kill(draw.randrange(2))
        starts.append(stretch.start)
    assert sorted(starts) == [number << 15 for number in range(STRETCHES)]


def forgotten(client, monkeypatch, share, patience):
    """The client forgets so many of the stretches that it asks for, as where it hears of a failure before the loss."""
    submit, asked = client.submit, []

    def submitted(function, *arguments, **options):
        future = submit(function, *arguments, **options)
        if function is run_module._stretch_on_worker:
            asked.append(arguments[2])
            if share(len(asked)):
                while future.status == "pending":
                    sleep(0.01)
                future._state.lose()
        return future

    monkeypatch.setattr(client, "submit", submitted)
    monkeypatch.setattr(run_module, "PATIENCE", patience)
    monkeypatch.setattr(run_module, "STRETCH", 1)
    return asked


def test_a_part_of_which_nothing_is_heard_is_asked_for_again(client, monkeypatch):
    asked = forgotten(client, monkeypatch, lambda count: count == 2, 3)  # seconds, for the others' results
    n = numpy.linspace(1, 2, 4 << 15)
    stretches = list(StudyRun(make_study(Case(APP, machine()), {"n": n}), "numpy", client=client).stretches())
    assert sorted(stretch.start for stretch in stretches) == [number << 15 for number in range(4)]
    assert asked[4:] == [1]


def test_a_part_of_which_nothing_is_ever_heard(client, monkeypatch):
    asked = forgotten(client, monkeypatch, lambda count: True, 0.3)
    running = StudyRun(make_study(Case(APP, machine()), {"n": numpy.linspace(1, 2, 4)}), "numpy", client=client)
    with pytest.raises(AspenError, match="could not compute a part of the sweep: it was lost, again and again"):
        list(running.stretches())
    assert asked == 4 * [0]  # once, and three times again


def test_no_scheduler(monkeypatch):
    monkeypatch.setattr("aspenpy.sweeps.run.SECONDS", 0.3)
    with pytest.raises(AspenError, match="no Dask scheduler answers at `tcp://") as error:
        connect("tcp://127.0.0.1:9")
    assert codes(error.value) == ["no-scheduler"]
