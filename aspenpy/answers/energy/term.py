"""Term: one summand of an energy, a rate in joules times an amount that adds up over a run; and the interface of a law,
which says which terms there are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Protocol

from aspenpy.cost.prices import BlockCost
from aspenpy.expr.graph import Expr
from aspenpy.language.source import Span
from aspenpy.models.application.total import Totals
from aspenpy.record import NamedTuple, Record

Cause = str
"""Why energy is consumed: `idle`, `active`, `messages`, `active cores`, `uncore`, `flops`, `bytes`, `constant`,
`conversion`, `idle partners`, `hosts`, `files`, or `flops` of a class such as `dp flops`."""

Unit = Literal["W", "J/flop", "J/B"]
"""Units of rates."""


class Key(NamedTuple):
    """Identity of a term: why energy is drawn, and by which kind of component."""

    cause: Cause
    component: str


class EnergyTerm(Record):
    """`rate` joules for each unit of an amount: watts for each second (`unit` is `W`), or joules a flop or a byte.

    `path` are the names from the machine down to the component. `equation` is where the term is from, the span where
    the machine says the rate. Terms that are `elapsed` go with the time of a run, whatever is done in it.
    """

    key: Key
    path: tuple[str, ...]
    rate: Expr
    unit: Unit
    equation: str
    elapsed: bool
    span: Span | None

    @property
    def amount_unit(self) -> str:
        """The unit of the amount that the rate is multiplied with."""
        return {"W": "s", "J/flop": "flop", "J/B": "B"}[self.unit]


class EnergyLaw(Protocol):
    """Which terms there are, and how much of each a block needs."""

    @property
    def terms(self) -> Mapping[Key, EnergyTerm]:
        """The terms by key."""
        ...

    def amounts(self, cost: BlockCost) -> Totals:
        """Amounts by the key of a term, in its unit, for one execution of the block by all its instances."""
        ...

    def waiting(self, cost: BlockCost) -> Expr:
        """Seconds by which a power cap makes the block longer."""
        ...
