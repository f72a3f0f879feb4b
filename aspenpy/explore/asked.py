"""Asked: an optimisation as a user writes it, in texts, behind one function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from aspenpy.allowance import one_allowance
from aspenpy.answers.case import Case, CaseOptions, case_of
from aspenpy.answers.scope import DEFAULT_SEED
from aspenpy.explore.constraint import constraints, objective, split_constraints
from aspenpy.explore.optimise import Goal, Optimum
from aspenpy.explore.optimise import optimise as optimised
from aspenpy.explore.pareto import Front, pareto
from aspenpy.explore.space import Space, Varied, make_space
from aspenpy.language.diagnostics import fail
from aspenpy.models.application.model import Application
from aspenpy.models.machine.model import Machine

Texts = str | Sequence[str]  # one text, in which commas separate, or several


def goals_of(minimise: Texts, maximise: Texts) -> list[Goal]:
    """What is to be least, then what is to be greatest."""
    goals = [
        Goal(objective(part), greatest)
        for texts, greatest in ((minimise, False), (maximise, True))
        for text in ([texts] if isinstance(texts, str) else texts)
        for part in (split_constraints(text) if text.strip() else [])
    ]
    if not goals:
        fail("no-objective", "no quantity to minimise or maximise", hint="name a quantity, such as runtime")
    return goals


def search_goals(space: Space, goals: Sequence[Goal], subject_to: Texts, seed: int = DEFAULT_SEED) -> Optimum | Front:
    """The optimum of one goal, the Pareto front of several."""
    held = constraints([subject_to] if isinstance(subject_to, str) else subject_to)
    return optimised(space, goals[0], held) if len(goals) == 1 else pareto(space, goals, held, seed=seed)


@one_allowance
def optimise(
    app: Application | Case,
    machine: Machine | None = None,
    *,
    minimise: Texts = (),
    maximise: Texts = (),
    subject_to: Texts = (),
    vary: Varied,
    **options: Unpack[CaseOptions],
) -> Optimum | Front:
    """Minimise or maximise a quantity under constraints: `optimise(app, machine, minimise="runtime",
    subject_to="cost <= 1000", vary=["clock", "cores=1..16"])`. Several quantities, in `minimise` and `maximise`, have a
    Pareto front.

    A quantity is an expression of metrics (`runtime`, resources, properties summed over the machine) and parameters.
    `vary` is that of `sensitivity`; the options are those of `Case`.

    :returns: the optimum of one quantity (its value in the unit of the quantity, the parameters, what binds), or
        the Pareto front of several
    :raises AspenError: where no point satisfies the constraints, naming them; for quantities and parameters that are
        unknown
    """
    case = case_of(app, machine, options)
    return search_goals(make_space(case, vary), goals_of(minimise, maximise), subject_to, case.seed)
