"""The problem that stays while cores vary: proven by the work of all ranks, else refused."""

from __future__ import annotations

import pytest

from aspenpy.advice.design_space import DesignSpace
from aspenpy.advice.problem import problem_of
from aspenpy.answers.case import Case
from aspenpy.language.diagnostics import AspenError
from aspenpy.models.library import load_application, load_machine, parse
from tests.scaling.test_per_rank import MACHINE, cube


def test_a_derived_parameter_called_rows_is_not_the_problem_of_hpcg() -> None:
    """All nonzeros are (3*104*R^(1/3) - 2)^3 for R ranks with an edge of 104: the edge shrinks with R^(1/3)."""
    case = Case(load_application("hpcg"), load_machine("haswell"))
    found = problem_of(case)
    assert (found.size, found.per_rank) == (("local_x", "local_y", "local_z"), True)
    space = DesignSpace(case, ["cores=1,8,18"])
    times = {item.objective: item for item in space.near_optimal}
    assert times["runtime"].configuration.named["cores"] != 1  # the same grid cannot be the fastest on one core


@pytest.mark.parametrize("size", [("rows",), ("local_x", "local_x"), ("local_x", "local_x", "local_y", "local_y")])
def test_a_size_that_does_not_keep_the_work_is_refused(size: tuple[str, ...]) -> None:
    with pytest.raises(AspenError, match="does not stay when the ranks change") as raised:
        problem_of(Case(load_application("hpcg"), load_machine("haswell")), size)
    hint = raised.value.diagnostics[0].hint
    assert hint is not None
    assert "the work stays with `--problem local_x`" in hint


def test_what_grows_is_named() -> None:
    """Each rank reads all weights, so that bytes grow where flops stay."""
    with pytest.raises(AspenError, match="on 64 ranks all bytes are") as raised:
        problem_of(Case(load_application("diffusion_step"), load_machine("haswell")))
    assert str(raised.value.diagnostics[0].hint).endswith("; or set the ranks, --set ranks=N")


def test_a_problem_of_each_rank_that_nobody_names_is_refused() -> None:
    case = Case(parse(cube(False)), parse(MACHINE))
    with pytest.raises(AspenError, match="on 64 ranks all flops are 64 times those on 1") as raised:
        problem_of(case)
    assert "--problem edge,edge,edge" in (raised.value.diagnostics[0].hint or "")
    assert problem_of(case, ("edge",) * 3).per_rank


@pytest.mark.parametrize("work", ["1e9/ranks", "1e9"])
def test_work_that_stays_or_is_of_one_rank_needs_no_size(work: str) -> None:
    """A model may count what all ranks do, or what one rank does of a problem that is shared."""
    every = "[ranks]" if "/" in work else ""
    app = parse(f"model m {{ param ranks = 1 kernel main {{ execute {every} {{ flops [{work}] }} }} }}")
    assert not problem_of(Case(app, parse(MACHINE))).per_rank
    one = parse("model m { param ranks = 1 kernel main { execute { flops [1e9/ranks] } } }")
    assert not problem_of(Case(one, parse(MACHINE))).per_rank
