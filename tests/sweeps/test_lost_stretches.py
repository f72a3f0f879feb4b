"""What a cluster loses and computes again, with a client that fails as it is told to: no process, no waiting."""

from concurrent.futures import CancelledError
from importlib.util import find_spec
from itertools import count
from types import SimpleNamespace

import numpy
import pytest

from aspenpy.answers.case import Case
from aspenpy.language.diagnostics import AspenError, fail
from aspenpy.sweeps import run as run_module
from aspenpy.sweeps.grid import make_study
from aspenpy.sweeps.run import RETRIES, StudyRun
from tests.tiny import application, codes, machine

pytestmark = pytest.mark.skipif(find_spec("distributed") is None, reason="the extra `dask` is not installed")

APP = application("execute { flops [2*n] }", "param n = 5")
STRETCHES = 12
LOST = "lost"


class Future:
    keys = count()

    def __init__(self, status, outcome):
        self.status, self.outcome, self.key = status, outcome, f"key {next(self.keys)}"

    def result(self, timeout=None):
        if isinstance(self.outcome, BaseException):
            raise self.outcome
        return self.outcome


class Client:
    """Has each stretch fail in the ways that `failures` lists for its number, one after the other, before it is
    computed. `shares` are the states of the work that all stretches need, the last for all further ones."""

    def __init__(self, failures=(), shares=("finished",), threads=1, state="erred"):
        self.failures = {number: list(ways) for number, ways in dict(failures).items()}
        self.shares, self.threads, self.state = list(shares), threads, state
        self.status = "running"
        self.scheduler = SimpleNamespace(get_task_status=None)
        self.asked = []
        self.shared = 0
        self.most = 0

    def nthreads(self):
        return {"worker": self.threads} if self.threads else {}

    def submit(self, function, *arguments, pure, retries):
        assert (pure, retries) == (False, RETRIES)
        if function is run_module._load_work:
            self.shared += 1
            self.work = function(*arguments)
            return Future(self.shares.pop(0) if len(self.shares) > 1 else self.shares[0], None)
        token, _, number = arguments
        self.asked.append(number)
        ways = self.failures.get(number)
        failure = ways.pop(0) if ways else None
        if failure == LOST:
            return Future("pending", None)
        return Future("error" if failure else "finished", failure or function(token, self.work, number))

    def sync(self, function, keys):
        self.most = max(self.most, len(keys))
        return dict.fromkeys(keys, self.state)


@pytest.fixture
def compute(monkeypatch):
    monkeypatch.setattr(run_module, "STRETCH", 1)
    monkeypatch.setattr(run_module, "PATIENCE", 0.001)
    n = numpy.linspace(1, 2, STRETCHES << 15)

    def stretches(client):
        """Numbers of stretches as they come, with right values."""
        found = []
        for stretch in StudyRun(make_study(Case(APP, machine()), {"n": n}), "numpy", client=client).stretches():
            here = slice(stretch.start, stretch.start + stretch.values.shape[1])
            numpy.testing.assert_allclose(stretch.values[0], 2 * n[here], rtol=1e-15)
            found.append(stretch.start >> 15)
        return found

    return stretches


def killed():
    from distributed import KilledWorker

    return KilledWorker("task", SimpleNamespace(address="tcp://nowhere"), 3)


@pytest.mark.parametrize("failure", [killed, CancelledError, TimeoutError], ids=["killed", "cancelled", "timeout"])
@pytest.mark.parametrize("times", [1, RETRIES])
def test_a_stretch_that_fails_is_asked_for_again(compute, failure, times):
    """The same one, as often as it may be; each comes once."""
    client = Client({5: [failure() for _ in range(times)], 7: [failure()]})
    assert sorted(compute(client)) == [*range(STRETCHES)]
    assert [client.asked.count(number) for number in range(STRETCHES)] == [
        {5: times + 1, 7: 2}.get(number, 1) for number in range(STRETCHES)
    ]


def test_a_stretch_that_always_fails_is_given_up(compute):
    client = Client({3: [killed() for _ in range(RETRIES + 1)]})
    with pytest.raises(AspenError) as caught:
        compute(client)
    assert codes(caught.value) == ["worker-failed"]
    assert client.asked.count(3) == RETRIES + 1


def test_a_client_that_is_closed_asks_for_nothing_more(compute):
    client = Client({3: [TimeoutError("gone")]})
    client.status = "closed"
    with pytest.raises(AspenError, match="could not compute a part of the sweep: gone"):
        compute(client)
    assert client.asked.count(3) == 1


@pytest.mark.parametrize(("error", "said"), [(ValueError("odd\nmore"), "odd"), (KeyError(), "KeyError")])
def test_an_error_of_a_worker_is_told_at_once(compute, error, said):
    client = Client({2: [error]})
    with pytest.raises(AspenError, match=f"a part of the sweep: {said}$"):
        compute(client)
    assert client.asked.count(2) == 1


def test_a_diagnostic_of_a_worker_is_that_of_this_process(compute):
    with pytest.raises(AspenError) as stated:
        fail("too-much-work", "it takes too long")
    with pytest.raises(AspenError) as caught:
        compute(Client({2: [stated.value]}))
    assert codes(caught.value) == ["too-much-work"]


@pytest.mark.parametrize("threads", [1, 2])
def test_lost_stretches_are_asked_for_again(compute, threads):
    """Of what the scheduler is done with and the client knows nothing; four for each thread are asked for at once."""
    client = Client({4: [LOST], 9: [LOST, LOST]}, threads=threads)
    assert sorted(compute(client)) == [*range(STRETCHES)]
    assert client.asked.count(9) == 3
    assert client.shared >= 2
    assert client.most <= 4 * threads


def test_what_the_scheduler_works_at_is_waited_for(compute):
    """Nothing is asked for again while it is processed; where it stays so until all workers are gone, that is told."""
    client = Client({0: [LOST]}, state="processing")
    asked = []

    def sync(function, keys):
        asked.append(keys)
        if len(asked) == 5:
            client.threads = 0
        return dict.fromkeys(keys, "processing")

    client.sync = sync
    with pytest.raises(AspenError) as caught:
        compute(client)
    assert codes(caught.value) == ["no-workers"]
    assert len(asked) == 5
    assert client.asked.count(0) == 1


def test_a_closed_client_waits_for_nothing(compute):
    client = Client({0: [LOST]})
    client.status = "closed"
    with pytest.raises(AspenError, match="all workers of the Dask cluster are gone"):
        compute(client)


def test_work_that_is_lost_is_shared_again(compute):
    """Before the next stretch is asked for."""
    client = Client(shares=["error", "cancelled", "lost", "finished"])
    assert sorted(compute(client)) == [*range(STRETCHES)]
    assert client.shared == 4
    assert len(client.asked) == STRETCHES


def test_a_cluster_without_workers_is_refused(compute):
    with pytest.raises(AspenError, match="has no workers"):
        compute(Client(threads=0))
