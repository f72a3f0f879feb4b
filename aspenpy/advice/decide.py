"""Decide: for each input of an application the configuration to run or to buy under a budget.

Step 5 of Prometheus (Umar, dissertation, Virginia Tech, 2018, section 4.6).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from aspenpy.advice.choices import ChoiceOptions, Choices
from aspenpy.advice.components import COMPONENTS
from aspenpy.advice.configuration import Objective
from aspenpy.advice.decision import Budget, Decision
from aspenpy.answers.case import Case
from aspenpy.answers.scope import Setting
from aspenpy.language.diagnostics import Diagnostic, drop_repeats, fail, warning
from aspenpy.language.dimensions import format_quantity
from aspenpy.record import Record
from aspenpy.tables.numbers import counted
from aspenpy.tables.result import Result


class Input(Record):
    """Settings of an application, by name, under a label that may be empty."""

    label: str
    settings: Mapping[str, Setting]

    @property
    def words(self) -> str:
        return ", ".join(f"{name} = {value}" for name, value in self.settings.items())

    @property
    def called(self) -> str:
        """The label, else the settings."""
        return self.label or self.words


AS_IT_IS = Input("", {})


class Decided(Result):
    """A decision for each input: the combination of nodes and hardware components with the least objective within the
    budget. Where there is none, the decision says so; `require_met` raises AspenError where no input has one."""

    def __init__(
        self,
        case: Case,
        budget: Budget,
        inputs: Sequence[Input] = (AS_IT_IS,),
        objective: Objective = "runtime",
        options: ChoiceOptions | None = None,
    ) -> None:
        self.case, self.budget, self.objective = case, budget, objective
        self.choices = tuple(Choices(case.with_set(item.settings), options or ChoiceOptions()) for item in inputs)
        self.decisions = tuple(
            decision(item, choices, objective, budget) for item, choices in zip(inputs, self.choices, strict=True)
        )

    def require_met(self) -> None:
        if all(item.unmet is not None for item in self.decisions):
            fail("budget-not-met", _unmet(self.decisions[0]), hint=_nearest(self.decisions[0]))

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Warnings of the predictions, and of inputs that cannot keep to the budget."""
        said = [item for choices in self.choices for item in choices.space.case.application.warnings]
        unmet = [item for item in self.decisions if item.unmet is not None]
        return tuple(
            drop_repeats([*said, *(warning("budget-not-met", _unmet(it), None, hint=_nearest(it)) for it in unmet)])
        )


def decision(item: Input, choices: Choices, objective: Objective, budget: Budget) -> Decision:
    """The best of the choices for an input."""
    kept = choices.within(budget)
    if not kept.any():
        reason, row = choices.unmet(budget)
        return Decision(item.label, item.words, objective, choices.choice(row), len(choices.points), unmet=reason)
    row = choices.best(objective, kept)
    value = float(choices.worth(objective)[row])
    bindings = choices.bindings(objective, budget, value)
    jointly = () if bindings else choices.jointly(objective, budget, value)
    return Decision(
        item.label,
        item.words,
        objective,
        choices.choice(row),
        len(choices.points),
        bindings,
        jointly,
        choices.front(kept),
    )


def _unmet(item: Decision) -> str:
    where = f"{item.label or item.settings}: " if item.label or item.settings else ""
    return f"{where}no configuration stays within the budget: {item.unmet}"


def _nearest(item: Decision) -> str:
    """Where the nearest is."""
    values = [
        f"{name} {value if isinstance(value, str) else format_quantity(value, COMPONENTS[name].unit, 4)}"
        for name, value in item.choice.configuration.named.items()
    ]
    return f"that is with {', '.join([counted(item.choice.nodes, 'node'), *values])}"
