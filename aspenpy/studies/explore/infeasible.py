"""What is said where no point satisfies the constraints: a smallest set of them that contradict each other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NoReturn

import numpy

from aspenpy.answers.prediction import Prediction
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import fail
from aspenpy.studies.explore.constraint import Constraint
from aspenpy.studies.explore.problem import FEASIBLE, Candidate, Problem
from aspenpy.studies.explore.space import Space


def refuse_infeasible(space: Space, constraints: Sequence[Constraint]) -> NoReturn:
    """Names a smallest set of constraints that cannot be met together: one by itself if there is one."""
    for count in range(1, len(constraints) + 1):
        for chosen in combinations(constraints, count):
            nearest = _nearest(space, chosen)
            if nearest.violation > 0:
                _refuse(space, chosen, nearest)
    fail(
        "infeasible",
        "no point was found at which all constraints hold",
        hint="they may meet in a small region: name smaller ranges, or lists",
    )


def _nearest(space: Space, constraints: Sequence[Constraint]) -> Candidate:
    """The point at which the worst violation, in parts of the constraints' sides, is least."""

    def worst(prediction: Prediction) -> Expr:
        parts = [
            graph.div(
                graph.apply("abs", item.excess(prediction)) if item.equal else item.excess(prediction),
                graph.apply("max", item.scale(prediction), 1e-300),
            )
            for item in constraints
        ]
        return graph.apply("max", *parts) if len(parts) > 1 else parts[0]

    best = Problem(space, worst).best()
    return Candidate(best.row, best.value, best.value if best.value > FEASIBLE else 0.0)


def _refuse(space: Space, constraints: Sequence[Constraint], nearest: Candidate) -> NoReturn:
    row = numpy.array(nearest.row)[None, :]
    where = ", ".join(
        f"{item.name} = {item.shown(value)}" for item, value in zip(space.variables, nearest.row, strict=True)
    )
    names = " and ".join(f"`{item.text}`" for item in constraints)
    if len(constraints) == 1:
        item = constraints[0]
        left, right = space.evaluator([lambda p: item.sides(p)[0], lambda p: item.sides(p)[1]])(row)[:, 0]
        message = f"no point keeps to {names}: at best {left:.6g} stands against {right:.6g}, where {where}"
    else:
        message = (
            f"no point keeps to {names} at once, though to each alone or to fewer of them; nearest to it is {where}"
        )
    fail("infeasible", message, constraints[0].node.span, hint="loosen a bound, or widen what is varied")
