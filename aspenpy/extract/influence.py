"""Influence: which part of what a kernel does a parameter decides, at the values that parameters have for the time
being. Counters of loops are taken at their middle, which is enough for that."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from aspenpy.expr.evaluate import evaluate
from aspenpy.expr.failures import EvaluationError
from aspenpy.expr.node import Expr
from aspenpy.expr.polynomial import atom
from aspenpy.extract import values as v
from aspenpy.extract.costs import Access, Arithmetic, Choice, Hole, Invocation, Item, Nest, Profile
from aspenpy.extract.scope import CALL_ASSUMED, SIZE_ASSUMED
from aspenpy.extract.values import Value

LITTLE = 0.01
"""The part of a kernel's operations and bytes below which a share is not left to a person."""

BY_INFLUENCE = f"decides less than {100 * LITTLE:.0f} % of the operations and bytes of its kernel"
"""The rule for such shares."""

WEIGHTS = {"divide": 4.0, "square_root": 4.0}
"""How operations count against each other: as the Livermore kernels weigh them; others count once."""

Work = dict[str, float]
"""Operations by class, and bytes."""


class Influence:
    """Weighs what functions do, with what they call. `resolved` gives the parameters that a symbol stands for."""

    def __init__(
        self, profiles: Mapping[str, Profile], holes: Mapping[Expr, Hole], resolved: Callable[[Value], Value]
    ) -> None:
        self.profiles, self.holes, self.resolved = profiles, holes, resolved
        self.known: dict[Expr, float] = {}
        self.done: dict[str, Work] = {}

    def of(self, symbol: Expr) -> float:
        """The largest part of any function's work that the parameter decides, between 0 and 1."""
        largest = 0.0
        for key, profile in self.profiles.items():
            if symbol in self._symbols(profile.items):
                none, whole = self._at(key, symbol, 0), self._at(key, symbol, 1)
                for classes in ({"bytes"}, (none.keys() | whole.keys()) - {"bytes"}):
                    pairs = [(none.get(name, 0.0), whole.get(name, 0.0), WEIGHTS.get(name, 1.0)) for name in classes]
                    most = sum(max(low, high) * weight for low, high, weight in pairs)
                    decided = sum(abs(high - low) * weight for low, high, weight in pairs)
                    largest = max(largest, decided / most if most else 0.0)
        return largest

    def _symbols(self, items: list[Item]) -> set[Expr]:
        found: set[Expr] = set()
        for item in items:
            if isinstance(item, Nest):
                found |= v.symbols(item.share) if item.share is not None else set()
                found |= self._symbols(item.body)
            elif isinstance(item, Choice):
                found |= v.symbols(item.share) if item.share is not None else set()
                found |= self._symbols(item.then) | self._symbols(item.otherwise)
        return found

    def _at(self, key: str, symbol: Expr, value: float) -> Work:
        self.known, self.done = {symbol: value}, {}
        return self._function(key)

    # -- work --------------------------------------------------------------------------------------

    def _function(self, key: str) -> Work:
        if key not in self.done:
            self.done[key] = {}  # of a recursion, what it does once
            profile = self.profiles.get(key)
            self.done[key] = {"call": float(CALL_ASSUMED)} if profile is None else self._work(profile.items)
        return self.done[key]

    def _work(self, items: list[Item]) -> Work:
        return _sum(*((self._item(item), 1.0) for item in items))

    def _item(self, item: Item) -> Work:
        if isinstance(item, Access):
            return {"bytes": float(item.size)}
        if isinstance(item, Arithmetic):
            times = CALL_ASSUMED if item.name.startswith("call ") else item.name != "integer"
            return {item.name: float(times * item.amount)}
        if isinstance(item, Invocation):
            return self._function(item.function)
        if isinstance(item, Nest):
            passes = max(0.0, min(map(self._number, item.bounds)))
            self.known[item.counter] = (passes - 1) / 2
            share = 1.0 if item.share is None else self._number(item.share)
            return _sum((self._work(item.body), passes * share))
        if isinstance(item, Choice):
            share = self._share(item)
            return _sum((self._work(item.then), share), (self._work(item.otherwise), 1 - share))
        return {}

    def _share(self, item: Choice) -> float:
        holds = all(
            self._number(guard.value) == 0 if guard.operator == "==" else self._number(guard.value) >= 0
            for guard in item.guards
        )
        return float(holds) * (1.0 if item.share is None else self._number(item.share))

    def _number(self, value: Value) -> float:
        """A formula as a number; what nothing is known of counts as a size does."""
        if (number := v.number(value)) is not None:
            return float(number)
        given = {symbol: Fraction(self._symbol(symbol)) for symbol in v.symbols(value)}
        try:
            return float(evaluate(v.expression(value), given))
        except (EvaluationError, OverflowError):
            return float(SIZE_ASSUMED)

    def _symbol(self, symbol: Expr) -> float:
        if symbol not in self.known:
            self.known[symbol] = SIZE_ASSUMED
            stands = self.resolved(atom(symbol))
            if not v.same(stands, atom(symbol)):
                self.known[symbol] = self._number(stands)
            elif symbol in self.holes:
                self.known[symbol] = self._number(self.holes[symbol].value)
        return self.known[symbol]


def _sum(*parts: tuple[Work, float]) -> Work:
    found: Work = {}
    for work, factor in parts:
        for name, amount in work.items():
            found[name] = found.get(name, 0.0) + amount * factor
    return found
