"""Parameters that are a size of one rank's problem: declared in the model, followed by `scale`; work written out."""

from __future__ import annotations

import pytest

from aspenpy import build
from aspenpy.answers.case import Case
from aspenpy.answers.prediction import Prediction
from aspenpy.explore.comparison import compare
from aspenpy.explore.problem_size import WorkFormulas, sizes_per_rank
from aspenpy.explore.scaling import scale
from aspenpy.language.printer import to_aspen
from aspenpy.models.library import load_application, load_machine, parse
from aspenpy.page.inputs import inputs_of

CUBE = """model cube {{
  param edge = 40 in 2 .. 1000{declared}
  param steps = 5
  param ranks = 1
  param elements = edge^3
  kernel main {{ execute [ranks] {{ flops [steps*elements*1000] loads [steps*(edge + 1)^3] of size [8] }} }}
}}"""
MACHINE = """machine flat { node [1] box } node box { socket chip } socket chip { core [64] unit }
core unit { property rank resource flops(x) [x/1e9] resource loads(x) [x/1e15] }"""


def cube(declared: bool) -> str:
    return CUBE.format(declared=" per rank" if declared else "")


def test_work_of_all_ranks_by_hand() -> None:
    """On 1, 8 and 64 ranks with edges of 40, 20 and 10: 64,000 elements in all, and 41^3, 8*21^3, 64*11^3 nodes."""
    work = WorkFormulas(Case(parse(cube(True)), parse(MACHINE)), "ranks")
    assert sizes_per_rank(parse(cube(True))) == ("edge",)
    assert work.product_of(["edge"]) == ("edge", "edge", "edge")
    for ranks, edge in ((1, 40), (8, 20), (64, 10)):
        flops, moved = work.evaluate(ranks, {"edge": edge})
        assert flops == 5 * 64_000 * 1000
        assert moved == 5 * 8 * ranks * (edge + 1) ** 3
    grown = work.growth(("edge",) * 3)
    assert grown.flops == pytest.approx((1, 1, 1))
    assert grown.bytes == pytest.approx((1, 8 * 21**3 / 41**3, 64 * 11**3 / 41**3))
    assert grown.is_constant
    assert work.growth(["edge"]).flops == pytest.approx((1, 8 / 8**3, 64 / 64**3))
    assert not work.growth(["edge"]).is_constant
    assert work.growth().flops == pytest.approx((1, 8, 64))
    assert work.sizes_that_keep_it() == [("edge",) * 3, ("steps",)]


def test_strong_scaling_of_a_declared_size() -> None:
    """320 million flops at 1 Gflop/s, shared by the ranks; undeclared, each of them does all of it, and is told so."""
    machine = parse(MACHINE)
    declared = scale(parse(cube(True)), machine, [1, 8, 64])
    assert [point.time for point in declared.points] == pytest.approx([0.32, 0.04, 0.005])
    assert not [item for item in declared.diagnostics if item.code == "work-grows"]
    alone = scale(parse(cube(False)), machine, [1, 8, 64])
    assert [point.time for point in alone.points] == pytest.approx([0.32, 0.32, 0.32])
    told = [item for item in alone.diagnostics if item.code == "work-grows"]
    assert [item.message for item in told] == [
        "this is no strong scaling: on 64 ranks the work of all is 64 times that on 1"
    ]


def test_weak_scaling_of_a_declared_size_leaves_it() -> None:
    found = scale(parse(cube(True)), parse(MACHINE), [1, 8, 64], "weak")
    assert [point.time for point in found.points] == pytest.approx([0.32] * 3)
    assert [point.efficiency for point in found.points] == pytest.approx([1] * 3)


@pytest.mark.parametrize(
    ("name", "edges"),
    [
        ("lulesh", ("edge_elements",)),
        ("hpcg", ("local_x", "local_y", "local_z")),
        ("coevp", ("edge_elements",)),
    ],
)
def test_library_applications_say_what_is_per_rank(name: str, edges: tuple[str, ...]) -> None:
    """Their edges halve from 1 rank to 8: eight ranks are faster than one, as none was that had all of the problem."""
    app, machine = load_application(name), load_machine("frontera")
    assert sizes_per_rank(app) == edges
    found = scale(app, machine, [1, 8])
    assert found.problem == edges * (3 // len(edges))
    assert found.sizes_at(8) == pytest.approx([found.sizes_at(1)[0] / 2] * 3)
    assert found.fastest.ranks > 1


def test_a_size_that_the_user_divides_by_hand_is_left() -> None:
    """With an edge of 40/ranks^(1/3) the work stays already."""
    found = scale(parse(cube(True)), parse(MACHINE), [1, 8, 64], set={"edge": "40/ranks^(1/3)"})
    assert found.problem == ()
    assert [point.time for point in found.points] == pytest.approx([0.32, 0.04, 0.005])


def test_models_in_python_declare_it_too() -> None:
    node = build.param("edge", 30, low=2, high=1000, per_rank=True)
    assert to_aspen(node).strip() == "param edge = 30 in 2 .. 1000 per rank"


def test_models_in_python_declare_accepted_numbers() -> None:
    cubes, powers = build.param("ranks", 8, counts="cube"), build.param("ranks", 8, low=1, counts=("power_of", 2))
    assert to_aspen(cubes).strip() == "param ranks = 8 with cube"
    assert to_aspen(powers.replace(high=powers.low)).strip() == "param ranks = 8 in 1 .. 1 with power_of(2)"


def test_per_and_rank_are_still_names() -> None:
    app = parse("model m { param per = 2 param rank = 3*per kernel main { execute { flops [rank] } } }")
    assert set(app.parameters) == {"per", "rank"}


def test_pages_and_comparisons_say_which_sizes_are_per_rank() -> None:
    case = Case(load_application("hpcg"), load_machine("frontera"))
    named = ["local_x", "ranks"]
    assert [item.per_rank for item in inputs_of([Prediction(case)], named)] == [True, False]
    compared = compare(load_application("lulesh"), [load_machine("frontera"), load_machine("fugaku")])
    assert compared.report().data["per_rank"] == ["edge_elements"]
