"""Prepared: a metric of a prediction as a fast function of some parameters."""

from __future__ import annotations

from aspenpy.answers.evaluation import Evaluation
from aspenpy.engine.python import PreparedExpressions
from aspenpy.expr.evaluate import EvaluationError
from aspenpy.language.diagnostics import fail, suggest_nearest


class Prepared:
    """A metric of a prediction as a function of the parameters in `free`, positionally or by name.

    Arithmetic is in floating point, as in a sweep; the value agrees with `predict` to 1e-12 away from the steps of
    `ceil` and `floor`. Raises AspenError where the metric has no value.
    """

    def __init__(self, prediction: Evaluation, free: tuple[str, ...], metric: str = "runtime") -> None:
        self.prediction = prediction
        self.free = free
        self.metric = metric
        symbols = [prediction.scope.symbol(name) for name in free]
        self._compiled = PreparedExpressions([prediction.formula(metric, free)], symbols, prediction.seed)

    def __call__(self, *values: float, **named: float) -> float:
        try:
            value: float = self._compiled(*(self._order_arguments(values, named) if named else values))[0]
            return value
        except EvaluationError:
            with self.prediction.scope.locate_failures():
                raise
        except (TypeError, ValueError):
            self._refuse_wrong_arguments(values, named)
            raise

    def _order_arguments(self, values: tuple[float, ...], named: dict[str, float]) -> tuple[float, ...]:
        self._refuse_wrong_arguments(values, named)
        return (*values, *(named[name] for name in self.free[len(values) :]))

    def _refuse_wrong_arguments(self, values: tuple[float, ...], named: dict[str, float]) -> None:
        for name in named:
            if name not in self.free:
                fail("unknown-parameter", f"`{name}` was not left free", hint=suggest_nearest(name, self.free))
        missing = [name for name in self.free[len(values) :] if name not in named]
        if missing or len(values) + len(named) > len(self.free):
            fail("wrong-arguments", f"values are needed for {', '.join(self.free)}")
