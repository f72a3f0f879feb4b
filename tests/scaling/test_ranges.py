"""Strong scaling ends where the model does: sizes of a rank outside of their declared range are told, and never called
the fastest."""

import pytest

import aspenpy
from aspenpy.answers.case import Case
from aspenpy.explore.scaling import Scaling
from aspenpy.shell.main import main


@pytest.fixture
def scaling():
    case = Case(aspenpy.load_application("lulesh"), aspenpy.load_machine("frontera"))
    return Scaling(case, [1, 8, 64, 512, 4096, 32768])


def test_an_edge_of_30_is_cut_to_2_by_15_cubed(scaling):
    assert scaling.is_within_ranges(15**3)
    assert not scaling.is_within_ranges(16**3)


def test_sizes_outside_their_range_are_told_with_the_ranks(scaling):
    (told,) = [item for item in scaling.diagnostics if item.code == "outside-range"]
    assert told.message.endswith("(on 4,096 to 32,768 ranks, 2 of 6 points)")


def test_the_fastest_is_one_that_the_model_describes(scaling):
    times = {point.ranks: point.time for point in scaling.points}
    assert times[4096] < times[512]
    assert scaling.fastest.ranks == 512


def test_without_ranks_it_goes_to_the_places_or_the_end_of_the_range(capsys):
    assert main(["scale", "lulesh", "--machine", "frontera", "--format", "csv"]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert int(last.split(",")[0]) == 13**3  # the cube next to 2,048, the last doubling of 1 below 15^3
    assert main(["scale", "hpcg", "--machine", "epyc_9654", "--format", "csv"]) == 0
    assert int(capsys.readouterr().out.splitlines()[-1].split(",")[0]) == 96  # cores
