"""Problem size: which parameters of an application are sizes of the problem of one rank, and whether the work of all
ranks stays where these shrink as the ranks become more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from math import isnan, log2
from numbers import Real

from aspenpy.answers.case import Case
from aspenpy.answers.evaluation import amount_of
from aspenpy.answers.prediction import Prediction
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.models.application.model import Application
from aspenpy.models.application.total import ResourceTotal, of_kind
from aspenpy.record import Record
from aspenpy.sweeps.points import Formulas

RANK_COUNTS = (1, 8, 64)  # cubes and powers of two, on which work is compared
STAYS = 1.5
"""Times by which all flops may differ between these: each rank's own part of vectors and halos, 1.34 in the NPB CG of
class A. Bytes may grow with the square root of the ranks, as those of Cannon's matrix product do."""

LARGER = 2.0  # times its value, from where on a size shows by which power of it the work grows


class Growth(Record):
    """The flops and bytes of all `ranks` together, in times of those on the fewest of them; empty where there are none.
    Numbers of ranks on which they have no value are left out."""

    ranks: tuple[int, ...]
    flops: tuple[float, ...]
    bytes: tuple[float, ...]

    @property
    def times(self) -> list[float]:
        """The ranks in times of the fewest."""
        return [count / self.ranks[0] for count in self.ranks]

    @property
    def of_work(self) -> tuple[float, ...]:
        """Growth of the flops, or of the bytes where there are no flops."""
        return self.flops or self.bytes

    @property
    def is_constant(self) -> bool:
        """Whether the whole problem stays the same on all numbers of ranks."""
        roots = [STAYS * times ** (0.5 if self.flops else 0) for times in self.times]
        return all(1 / STAYS <= each <= STAYS for each in self.of_work) and all(
            1 / most <= each <= most for each, most in zip(self.bytes, roots, strict=False)
        )

    @property
    def grows_with_ranks(self) -> bool:
        """Whether the work grows by more than the square root of the number of ranks."""
        return any(each**2 > times for each, times in zip(self.of_work, self.times, strict=False) if times > 1)

    @property
    def is_of_one_rank(self) -> bool:
        """Whether the model counts what one rank does of a problem that stays."""
        return all(1 / STAYS <= each * times <= STAYS for each, times in zip(self.of_work, self.times, strict=False))


def sizes_per_rank(application: Application) -> tuple[str, ...]:
    """The parameters that the model declares `per rank`; those of imported models that it derives from them not."""
    parameters = application.parameters.values()
    return tuple(item.name for item in parameters if item.node.per_rank and not graph.free_symbols(item.value))


def is_brick(application: Application, names: Sequence[str]) -> bool:
    """Whether sizes are the edges of a rank's brick: the two or three that the model declares `per rank`, in its order,
    along the dimensions of the grid of ranks. The whole of them is cut as the grid has factors."""
    return len(names) in (2, 3) and tuple(names) == sizes_per_rank(application)


def shares_of_ranks(names: Sequence[str], fewer: Expr, more: Expr, *, brick: bool) -> list[Expr]:
    """The share that is left of each size of a rank's problem where more ranks share the whole one: of a brick by the
    factors of their grids (`MPI_Dims_create`), else as much of each, a name that stands there twice counting twice."""
    if not brick:
        return [graph.power(graph.div(fewer, more), graph.div(graph.ONE, len(names)))] * len(names)
    grids = [[graph.apply("grid", ranks, len(names), axis) for axis in range(len(names))] for ranks in (fewer, more)]
    return [graph.div(*pair) for pair in zip(*grids, strict=True)]


class WorkFormulas:
    """The flops and bytes of all ranks of a case, as functions of its parameters that are plain numbers and of some
    `sizes` that need not be; `ranks` is the one that says how many ranks there are."""

    def __init__(self, case: Case, ranks: str, sizes: Sequence[str] = ()) -> None:
        self.case, self.ranks = case.with_set({ranks: 1}), ranks
        self.prediction = Prediction(self.case)
        scope = self.prediction.scope
        numbers = (item for item in case.application.parameters.values() if item.name != ranks)
        symbols = {item.name: scope.symbol(item.name) for item in numbers if item.node.rank == 0}
        values = {name: scope.definitions.get(symbol) for name, symbol in symbols.items()}
        plain = [name for name, value in values.items() if value is not None and not graph.free_symbols(value)]
        names = list(dict.fromkeys([*plain, *sizes]))
        known = scope.values([scope.symbol(name) for name in names], case.seed)
        self.values = {name: float(value) for name, value in zip(names, known, strict=True) if isinstance(value, Real)}

    @cached_property
    def _formulas(self) -> Formulas:
        amounts = {key.resource: worth for key, worth in of_kind(ResourceTotal, self.prediction.tree.totals).items()}
        flops = amounts.get("flops", graph.ZERO)
        free = (self.ranks, *self.values)
        scope = self.prediction.scope
        exprs = scope.formulas([flops, amount_of({**amounts}, "bytes")], free)
        return Formulas(exprs, [scope.symbol(name) for name in free], self.case.seed)

    def evaluate(self, ranks: int, sizes: Mapping[str, float]) -> tuple[float, float]:
        """Flops and bytes; nan where there are none."""
        import numpy

        row = [float(ranks), *{**self.values, **sizes}.values()]
        flops, moved = self._formulas(numpy.array([row]), missing=True)[:, 0]
        return float(flops), float(moved)

    def growth(self, sizes: Sequence[str] = ()) -> Growth:
        """The growth of the work from one rank on, where the product of some sizes shrinks as the ranks become more; a
        name that stands there twice counts twice."""
        found = {
            ranks: self.evaluate(ranks, {name: self.values[name] * ranks ** (-1 / len(sizes)) for name in sizes})
            for ranks in RANK_COUNTS
        }
        known = {ranks: pair for ranks, pair in found.items() if not any(map(isnan, pair))}
        flops, moved = (_as_multiples([pair[index] for pair in known.values()]) for index in (0, 1))
        return Growth(tuple(known), flops, moved)

    def product_of(self, names: Sequence[str]) -> tuple[str, ...]:
        """The names as often as the work of one rank grows with each: an edge three times where it does with its cube.
        As they are where it does not grow with them."""
        return tuple(names) * max(1, self._power(names) // len(names))

    def _power(self, names: Sequence[str]) -> int:
        """The exponent with which the work of one rank grows when all these parameters grow together (towards large
        values); 0 where one rank has no work."""
        less, more = (
            self.evaluate(1, {name: self.values[name] * larger for name in names}) for larger in (LARGER, 2 * LARGER)
        )
        index = 0 if less[0] else 1
        return round(log2(more[index] / less[index])) if less[index] > 0 and more[index] > 0 else 0

    def sizes_that_keep_it(self) -> list[tuple[str, ...]]:
        """Single parameters, as often as the work grows with each, whose shrinking keeps the work of all ranks: those
        of the highest power first."""
        grown_with = [name for name, value in self.values.items() if value > 0 and self._power([name]) > 0]
        products = [self.product_of([name]) for name in grown_with]
        kept = [names for names in products if self.growth(names).is_constant]
        return sorted(kept, key=len, reverse=True)


def _as_multiples(amounts: Sequence[float]) -> tuple[float, ...]:
    """Amounts as multiples of the first; empty where the first is 0."""
    return tuple(each / amounts[0] for each in amounts) if amounts and amounts[0] else ()
