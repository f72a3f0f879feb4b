"""The laws that values keep, the errors of evaluation, why a point of a sweep has no value, and the operations that
loops without a closed form take of an allowance."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from aspenpy.allowance import Allowance, allowance
from aspenpy.expr.arithmetic import DomainError, Number, format_number
from aspenpy.expr.node import Expr
from aspenpy.record import Record


class IntervalLaw(Record):
    """An interval, so that a straight line that obeys it at two points obeys it between them.

    `low` is the least value, excluded if `open`; None is no bound. `reason` is a template over the offending value,
    `hint` says what to do. Every back end writes the law from `tests`.
    """

    reason: str
    low: int | None = 0
    high: float | None = None
    open: bool = False
    hint: str | None = None

    @property
    def tests(self) -> tuple[tuple[str, float], ...]:
        """The comparisons that must hold, as (operator, bound) with the value on the left."""
        below = () if self.low is None else ((">" if self.open else ">=", self.low),)
        return below if self.high is None else (*below, ("<=", self.high))

    @property
    def from_zero(self) -> bool:
        """Whether every value from 0 on obeys it."""
        return self.high is None and not self.open

    def is_obeyed_by(self, value: Any) -> Any:
        """Whether a number, or each one of a NumPy array, obeys the condition."""
        obeyed = True if self.low is None else value > self.low if self.open else value >= self.low
        return obeyed if self.high is None else obeyed & (value <= self.high)

    def describe_violation(self, value: Number) -> str:
        """The message for a value that breaks the law."""
        return self.reason.format(format_number(value))


PROBABILITY_SLACK = 1e-12  # tolerance for rounding: ten times 0.1 in floating point is accepted as 1

LAWS: dict[str, IntervalLaw] = {
    "count": IntervalLaw("a loop cannot run {} times: the count must not be negative"),
    "amount": IntervalLaw("an amount cannot be {}: it must not be negative"),
    "size": IntervalLaw(
        "a size cannot be {}: it must not be negative",
        hint="where a difference may fall below zero, write `max(0, ...)`",
    ),
    "parallelism": IntervalLaw("a block cannot run in {} parallel instances: the parallelism must not be negative"),
    "width": IntervalLaw("the width of a block cannot be {}: it must be positive", open=True),
    "quantity": IntervalLaw("the number of a component cannot be {}: it must be positive", open=True),
    "part": IntervalLaw("a mixture cannot have {} operations of a class: it must be positive", open=True),
    "power": IntervalLaw("a power cannot be {} W: it must not be negative"),
    "design_power": IntervalLaw("the dynamic power cannot be {} W: the design power must not be below the idle power"),
    "energy": IntervalLaw("an energy cannot be {} J: it must not be negative"),
    "clock": IntervalLaw("a clock cannot be {} Hz: it must be positive", open=True),
    "efficiency": IntervalLaw("an efficiency of {} is not above 0 and at most 1", high=1.0, open=True),
    "bandwidth_share": IntervalLaw("a part of the bandwidth of {} is not above 0 and at most 1", high=1.0, open=True),
    "probability": IntervalLaw("a probability of {} is not between 0 and 1", high=1 + PROBABILITY_SLACK),
    "probabilities": IntervalLaw(
        "the probabilities add up to {}, which is more than 1", low=None, high=1 + PROBABILITY_SLACK
    ),
}


class EvaluationError(Exception):
    """`node` has no value, for `reason`; `payload` is that of a `failure` node. The reason may be an object that is
    dear to print: at most points of a search nobody asks for it."""

    def __init__(self, node: Expr, reason: object, payload: Any = None) -> None:
        super().__init__(reason)
        self.node = node
        self.payload = payload

    @property
    def reason(self) -> str:
        return str(self)

    @property
    def hint(self) -> str | None:
        """Advice about a value that breaks a law."""
        return LAWS[self.node.payload].hint if self.node.kind == "checked" else None

    def __reduce__(self) -> tuple[Any, ...]:
        return EvaluationError, (self.node, self.reason, self.payload)


class TooMuchWork(EvaluationError):
    """`node` is not evaluated because the command has no operations left for it, whatever value it may have."""

    @property
    def hint(self) -> str:
        return "fewer points take less: vary fewer parameters, or between fewer values, such as --vary n=100,200,400"


class NoOperationsLeft(DomainError):
    """The error of spent operations before the node at which it happened is known."""


# -- operations that loops without a closed form take ----------------------------------------------


OF_A_PASS = 10
"""Operations of a pass beside those of its body: its lane and its counter are looked up, its value is added."""

OF_AN_INNER_PASS = 8
"""Operations of a pass within a pass besides: what the pass around it knows is looked up, its doubts are kept apart."""

SLOW = 6
"""Operations that a remainder, a power or a function such as a logarithm counts as."""

OF_AN_ARRAY = 10_000
"""Operations that computing a node as an array takes at least, however few elements it has: a rule, its doubts and its
accuracy are some dozen calls of NumPy, 20 us (formulas of 100 to 3,000 nodes at one point took 20 to 40 us a node)."""

_QUICK = frozenset({"max", "min", "abs", "ceil", "floor", "round"})


def count_pass_operations(body: Iterable[Expr], inner: bool = False) -> int:
    """Operations of one pass of a loop whose body computes these nodes; `inner`: of a loop within a loop."""
    return OF_A_PASS + inner * OF_AN_INNER_PASS + sum(SLOW if is_slow(node) else 1 for node in body)


def count_chunks(nodes: int, elements: int, at_once: int) -> int:
    """Operations of nodes computed as arrays of `at_once` elements, beside those of the elements: what arrays of
    few elements take more."""
    chunks, rest = divmod(elements, at_once)
    return nodes * (chunks * max(0, OF_AN_ARRAY - at_once) + (max(0, OF_AN_ARRAY - rest) if rest else 0))


def is_slow(node: Expr) -> bool:
    """Whether NumPy computes it element by element instead of several at once."""
    return node.kind in ("power", "draw", "stream", "index") or (node.kind == "apply" and node.payload not in _QUICK)


def spend_operations(allowance: Allowance, operations: float) -> None:
    """Spends operations of the command; raises NoOperationsLeft where fewer are left."""
    if not allowance.spend(operations):
        raise NoOperationsLeft(
            f"the {allowance.operations:,.0f} operations that one command may spend are used up by loops that have to "
            "be added pass by pass, lines of caches that are counted, or values that rounding leaves in doubt"
        )


def spend(operations: float) -> None:
    """Spends operations of the running command; raises NoOperationsLeft where fewer are left."""
    spend_operations(allowance(), operations)


# -- why a point of a sweep has no value -----------------------------------------------------------


FINE, DIVISION, OVERFLOW, DOMAIN, CONSTRAINT, UNDEFINED = range(6)
"""Codes, one for each point; a point with a value is `FINE`."""

REASONS = {
    FINE: "fine",
    DIVISION: "division by zero",
    OVERFLOW: "overflow",
    DOMAIN: "outside the domain of a function",
    CONSTRAINT: "a constraint of the model is violated",
    UNDEFINED: "the models give no value there",
}
"""Reasons in words, by their codes."""
