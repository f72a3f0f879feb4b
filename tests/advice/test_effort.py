"""What all steps of advice on an application of the library cost: processor time and memory."""

import gc
import subprocess
import sys
import weakref

import numpy
import pytest

from aspenpy.advice.configurable import make_configurable
from aspenpy.answers.energy.totals import energy_totals
from aspenpy.answers.prediction import predict
from aspenpy.expr import graph
from aspenpy.models.library import load_application, load_machine
from aspenpy.sweeps.points import Points
from tests.thorough import HANGS
from tests.timing import is_done_in

SECONDS = 11.0  # of the processor: 2.5 times what it takes on two cores that are busy with other work
MEGABYTES = 300


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the most memory is in kilobytes on Linux")
def test_all_steps_for_a_large_application() -> None:
    """Measured in a process of its own, which starts a process that measures its only child."""
    measured = (
        "import resource, subprocess, sys\n"
        "subprocess.run([sys.executable, '-m', 'aspenpy', 'advise', 'lulesh', '--machine', 'haswell'], check=True,"
        " stdout=subprocess.DEVNULL)\n"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)"
    )

    def measure() -> float:
        run = subprocess.run(
            [sys.executable, "-c", measured], check=True, capture_output=True, text=True, timeout=HANGS
        )
        seconds, megabytes = map(float, run.stdout.split())
        assert megabytes < MEGABYTES
        return seconds

    assert is_done_in(SECONDS, measure)


def test_points_go_when_nobody_needs_them() -> None:
    """Their arrays are large: without the garbage collector, which looks for cycles late."""
    n = graph.symbol("n")
    gc.disable()
    try:
        points = Points([graph.mul(n, n)], {n: numpy.arange(10.0)}, 0)
        gone = weakref.ref(points)
        del points
        assert gone() is None
    finally:
        gc.enable()


def test_an_application_is_mapped_once_to_a_machine() -> None:
    """Steps of advice that ask for the same machine with parameters, and for its energy, have the same objects."""
    application, machine = load_application("comd"), load_machine("haswell")
    assert make_configurable(machine, None).machine is make_configurable(machine, None).machine
    trees = [predict(application, make_configurable(machine, None).machine).tree for _ in range(2)]
    assert trees[0] is trees[1]
    assert energy_totals(trees[0]) is energy_totals(trees[1])
