"""The problem that all steps of advice share, in words: its size in all, and what of it a rank has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aspenpy.advice.design_space import DesignSpace
from aspenpy.advice.problem import Problem
from aspenpy.answers.case import Case
from aspenpy.answers.prediction import Prediction
from aspenpy.language.dimensions import format_quantity
from aspenpy.tables.numbers import count_of

SAME = 1e-6  # relative: seconds that differ by less are equal


def _sizes(case: Case, problem: Problem) -> dict[str, float]:
    scope = Prediction(case).scope
    names = tuple(dict.fromkeys(problem.size))
    return dict(zip(names, map(float, scope.values([scope.symbol(name) for name in names], case.seed)), strict=True))


def problem_note(cases: Sequence[Case], problem: Problem) -> str:
    """Sentences on the problem of cases with the user's settings, which are those of several inputs, and on the numbers
    of ranks that the program accepts."""
    said = _problem_sentences(cases, problem)
    if problem.accepted is None:
        return said
    return f"{said} Of ranks the program accepts {problem.accepted.describe()} only: not every place has one."


def _problem_sentences(cases: Sequence[Case], problem: Problem) -> str:
    if not problem.size:
        return "The problem stays, however many ranks there are."
    each = [_sizes(case, problem) for case in cases]
    sizes = ", ".join(f"`{name}` = {value:,.6g}" for name, value in each[0].items())
    if any(other != each[0] for other in each):
        sizes = f"{', '.join(f'`{name}`' for name in each[0])} of the input"
    if not problem.per_rank:
        return f"The problem is {sizes} in all, however many ranks share it."
    holders = count_of(problem.holders, "rank")
    more = " as the model of the machine states it" if problem.holders > 1 else ""
    root = "" if len(problem.size) == 1 else f"^(1/{len(problem.size)})"
    names = " and ".join(f"`{name}`" for name in each[0])
    return (
        f"The problem in all is that of one node{more}: {holders}, each with {sizes}. It stays: with R ranks {names} "
        f"of each is ({problem.holders:,}/R){root} times that."
    )


def cap_note(space: DesignSpace) -> list[str]:
    """What the power cap of a socket makes of the runtime, where it is reached."""
    alone, capped = space.prediction.runtime, space.base.runtime
    if capped <= alone * (1 + SAME):
        return []
    return [
        f"The power cap of the socket is reached: the run takes {format_quantity(capped, 's', 4)} instead of "
        f"{format_quantity(alone, 's', 4)}, which it takes by `eval` and `scale`, in which no cap holds."
    ]


def problem_data(case: Case, problem: Problem) -> dict[str, Any]:
    """The same for programs: sizes as the user's settings have them, for each of so many `holders` if `per_rank`."""
    accepted = None if problem.accepted is None else str(problem.accepted)
    sizes = {"size": _sizes(case, problem), "per_rank": problem.per_rank, "holders": problem.holders}
    return {**sizes, "accepted": accepted}
