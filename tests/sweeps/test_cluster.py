"""Sweeps on a Dask cluster of two processes."""

import os
import signal

import numpy
import pytest

from aspenpy.diagnostics import AspenError
from aspenpy.sweeps import run as run_module
from aspenpy.sweeps.cluster import connected
from aspenpy.sweeps.grid import studied
from aspenpy.sweeps.run import Run
from tests.tiny import application, codes, machine

distributed = pytest.importorskip("distributed")

APP = application("execute { flops [n*k/m] }", "param n = 5 param k = 2 param m = 1")

pytestmark = pytest.mark.filterwarnings("ignore::Warning")
"""Dask's own, of sockets that it closes late."""


@pytest.fixture
def client():
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        distributed.Client(cluster, set_as_default=False) as found,
    ):
        yield found


def test_a_worker_killed_in_the_middle(client, monkeypatch):
    """Every stretch comes once, with its values."""
    monkeypatch.setattr(run_module, "STRETCH", 1)
    n = numpy.linspace(1, 2, 40 * (1 << 15))
    running = Run(studied(APP, machine(), {"n": n}), "numpy", client=client)
    found, starts = numpy.full(len(n), numpy.nan), []
    for stretch in running.stretches():
        starts.append(stretch.start)
        found[stretch.start : stretch.start + stretch.values.shape[1]] = stretch.values[0]
        if len(starts) == 5:
            os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
    assert sorted(starts) == [number << 15 for number in range(40)]
    numpy.testing.assert_allclose(found, 2 * n, rtol=1e-15)


def test_no_scheduler(monkeypatch):
    monkeypatch.setattr("aspenpy.sweeps.cluster.SECONDS", 0.3)
    with pytest.raises(AspenError, match="no Dask scheduler answers at `tcp://") as error:
        connected("tcp://127.0.0.1:9")
    assert codes(error.value) == ["no-scheduler"]
