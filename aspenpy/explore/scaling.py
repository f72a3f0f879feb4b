"""Scaling: one application on more and more ranks of a machine: how long it takes, what of that is communication, and
where more ranks no longer help.

With P ranks, and P0 the fewest asked for, the efficiency of strong scaling is T(P0) P0 / (T(P) P): the problem stays as
it is. Of weak scaling, where it grows with the ranks, it is T(P0) / T(P). T is the time under the power cap of the
socket, where the machine states one that can hold. Times are closed forms of P, so that 8 million ranks take no longer
to predict than 8.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import islice, repeat
from typing import Literal, Unpack

from aspenpy.allowance import one_allowance
from aspenpy.answers.case import Case, CaseOptions, split_options
from aspenpy.answers.energy.options import EnergyOptions
from aspenpy.answers.energy.totals import energy_totals
from aspenpy.answers.energy.waiting import waiting_of_run
from aspenpy.answers.evaluation import MESSAGES, Bottleneck, component_paths, seconds_on_paths
from aspenpy.answers.expected_error import ExpectedError, class_of, combine_classes
from aspenpy.answers.prediction import Prediction, predict
from aspenpy.cost.cost import Bound
from aspenpy.cost.noise import seconds_lost
from aspenpy.cost.prices import conflict_groups
from aspenpy.explore.communication import communication_of
from aspenpy.explore.problem_size import Growth, WorkFormulas, is_brick, sizes_per_rank
from aspenpy.explore.rank_search import RankSearch, batch_size, find_growths
from aspenpy.expr import graph
from aspenpy.expr.arithmetic import factor_evenly
from aspenpy.expr.counts import ARGUMENTS, RULES, CountRule, read_counts
from aspenpy.expr.evaluate import EvaluationError
from aspenpy.expr.failures import TooMuchWork
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import AspenError, Diagnostic, fail, warning
from aspenpy.models.application.model import Application
from aspenpy.models.application.total import of_kind, sum_terms
from aspenpy.models.machine.model import Machine
from aspenpy.models.model import Parameter, count_warning, range_warning
from aspenpy.record import Record
from aspenpy.sweeps.declarations import rank_counts
from aspenpy.sweeps.points import Floats, Formulas, warn_of_cap
from aspenpy.tables.numbers import count_of
from aspenpy.tables.result import Result

Mode = Literal["strong", "weak"]

RANKS = ("ranks", "P")  # parameters that say how many ranks there are, where none is named
PROBLEMS = (("nx", "ny", "nz"),)  # parameters whose product is the size of a problem, where none are named


class ScalingPoint(Record):
    """One number of ranks: `time` in seconds without power caps, of which `communication` would vanish if messages took
    no time; `capped_runtime` is under them, None where the cap cannot hold; `calls` are those
    that talk, the longest first, in seconds. `growth` is by how much the problem has to grow for the efficiency asked
    for; None where it was not asked for, or is never reached. `energy` is in joules, None where it was not asked for.
    `bottleneck` is what bounds the run for longest, None where it takes no time. `lost` are the seconds in which ranks
    wait for the slowest of them, None where neither their work varies nor the machine states noise. `expected` is the
    error to expect of the time."""

    ranks: int
    time: float
    capped_runtime: float | None
    speedup: float
    efficiency: float
    communication: float
    calls: tuple[tuple[str, float], ...]
    growth: float | None
    energy: float | None = None
    bottleneck: Bottleneck | None = None
    lost: float | None = None
    expected: ExpectedError | None = None

    @property
    def lost_share(self) -> float | None:
        """Share of the time in which ranks wait for the slowest of them, 0 to 1."""
        return None if self.lost is None else self.lost / self.time if self.time else 0.0

    @property
    def seconds(self) -> float:
        """Seconds under the power cap; without it where it cannot hold."""
        return self.time if self.capped_runtime is None else self.capped_runtime

    @property
    def share(self) -> float:
        """Share of communication in the time, 0 to 1."""
        return self.communication / self.time if self.time else 0.0


class _Parts(Record):
    """Formulas of the runtime, of the seconds for which it waits for its power cap, of what is communication, of each
    of the `calls`, of the seconds in which each of the resources in `bounds` bounds the run, of those that messages
    take on each of the `paths`, and perhaps of the energy and of what waits for the slowest."""

    formulas: Formulas
    calls: tuple[str, ...]
    bounds: tuple[str, ...]
    paths: tuple[str, ...]


class Scaling(Result):
    """An application over the numbers of `ranks`. Raises AspenError for parameters that it does not have, and where a
    number of ranks has no runtime, such as one beyond the machine's cores."""

    def __init__(
        self,
        case: Case,
        ranks: Sequence[int],
        mode: Mode = "strong",
        *,
        parameter: str | None = None,
        problem: Sequence[str] = (),
        isoefficiency: float | None = None,
        energy: EnergyOptions | None = None,
        per_rank: bool = False,
        counts: str | None = None,
    ) -> None:
        app = case.application
        self.mode = mode
        self.ranks = tuple(sorted(dict.fromkeys(ranks)))
        if not self.ranks or self.ranks[0] < 1:
            fail("bad-ranks", "a number of ranks is 1 or more", app.node.name_span)
        self.parameter = parameter or _require_parameter(app, RANKS, "the number of ranks", "--parameter")
        declared = sizes_per_rank(app)
        work = WorkFormulas(case, self.parameter, problem) if self.parameter in app.parameters else None
        self.grown = work.growth() if work is not None else Growth((1,), (), ())
        # Sizes are those of one rank where the work of all grows with the ranks; else the model divides them itself.
        own = bool(declared) and not problem and self.grown.grows_with_ranks
        self.per_rank = per_rank or own or (bool(problem) and {*problem} <= {*declared})
        needed = mode == "weak" or isoefficiency is not None or per_rank  # these let the problem grow
        if own and work is not None:
            self.problem = work.product_of(declared)
        else:
            self.problem = tuple(problem) or (_sizes_that_grow_together(app) if needed else ())
        self.isoefficiency = isoefficiency
        self.energy = energy
        case = case.with_set({self.parameter: self.ranks[0]})
        if self.parameter in app.parameters and graph.free_symbols(app.parameters[self.parameter].value):
            _refuse_derived(Prediction(case), self.parameter)
        self.prediction: Prediction = predict(case)
        scope = self.prediction.scope
        sizes = scope.values([scope.symbol(name) for name in self.problem], self.prediction.seed)
        self._sizes = tuple(map(float, sizes))
        own_rule = rank_counts(self.prediction, self.parameter)
        if own_rule is not None and own_rule.rule == "at_most":
            if mode == "weak":  # a limit by the size of the problem, which grows
                own_rule = None
            elif self.ranks[0] in own_rule:
                self.ranks = tuple(dict.fromkeys(min(each, own_rule.argument) for each in self.ranks))
        asked = None if counts is None else require_counts(counts)
        self.counts = tuple(dict.fromkeys(each for each in (own_rule, asked) if each is not None))  # once where alike
        self._own_rule = own_rule
        self._is_cut = self.per_rank and mode == "strong" and is_brick(app, self.problem)

    @cached_property
    def _waited(self) -> Expr:
        """Seconds by which the power cap of its socket makes the run longer; 0 where none is stated or can hold."""
        holds = self.prediction.stated_cap is not None and self.prediction.capped_runtime is not None
        return waiting_of_run(self.prediction.tree) if holds else graph.ZERO

    @cached_property
    def _parts(self) -> _Parts:
        """The runtime and what it consists of, as functions of the ranks and the problem."""
        tree = self.prediction.tree
        shares = communication_of(tree)
        waits: dict[str, list[Expr]] = {}
        for key, seconds in of_kind(Bound, tree.kernel_totals).items():
            waits.setdefault(key.resource, []).append(seconds)
        joules = [] if self.energy is None else [energy_totals(tree, self.energy).energy]
        on_paths: dict[str, list[Expr]] = {}
        for path, seconds in seconds_on_paths(tree).items():
            on_paths.setdefault(path.path, []).append(seconds)
        kinds = shares.calls, *({name: sum_terms(parts) for name, parts in each.items()} for each in (waits, on_paths))
        exprs = [expr for kind in kinds for expr in kind.values()]
        slowest = [sum_terms(found.values())] if (found := seconds_lost(tree)) else []
        return _Parts(
            self._prepare_formulas([shares.runtime, self._waited, shares.waited, *exprs, *joules, *slowest]),
            *map(tuple, kinds),
        )

    @cached_property
    def _runtime(self) -> Formulas:
        """The formula of the runtime under the power cap alone, for searches."""
        return self._prepare_formulas([graph.add(self.prediction.tree.runtime, self._waited)])

    def _prepare_formulas(self, exprs: Sequence[Expr]) -> Formulas:
        scope, free = self.prediction.scope, (self.parameter, *self.problem)
        return Formulas(scope.formulas(exprs, free), [scope.symbol(name) for name in free], self.prediction.seed)

    def _evaluate_at(self, formulas: Formulas, ranks: Sequence[int], growth: Sequence[float] = ()) -> Floats:
        """The values on all numbers of ranks at once: one row per formula. `growth` is the factor of the problem's size
        on each. Raises AspenError for the first number of ranks that has none."""
        import numpy

        rows = [
            (each, *self.sizes_at(each, larger)) for each, larger in zip(ranks, growth or repeat(1.0), strict=False)
        ]
        with self.prediction.scope.locate_failures():
            try:
                return formulas(numpy.array(rows, dtype=float))
            except TooMuchWork:  # none of the numbers is to blame
                raise
            except EvaluationError:  # of all points together: the first that fails alone is told, where its model fails
                for each, *sizes in rows:
                    try:
                        formulas(numpy.array([[each, *sizes]], dtype=float))
                    except EvaluationError as error:
                        raise self._describe_failure(int(each), sizes, error) from None
                raise

    def _describe_failure(self, ranks: int, sizes: Sequence[float], error: EvaluationError) -> AspenError:
        """The error of a prediction on `ranks` ranks, which names that number."""
        prediction, where = self._predict_at(ranks, sizes), f"on {count_of(ranks, 'rank')}"
        try:
            prediction.scope.values([prediction.tree.runtime], prediction.seed)
            with prediction.scope.locate_failures():
                raise error
        except AspenError as found:
            return AspenError(*(item.with_circumstance(where) for item in found.diagnostics))

    def _times(self, ranks: Sequence[int], growth: Sequence[float] = ()) -> Floats:
        """Seconds on each number of ranks."""
        times: Floats = self._evaluate_at(self._runtime, ranks, growth)[0]
        return times

    def sizes_at(self, ranks: int, growth: float = 1.0) -> list[float]:
        """The parameters of a problem that is `growth` times as large, grown with the ranks in weak scaling; of that of
        one rank where the parameters are."""
        if self.mode == "weak":
            growth *= ranks / self.ranks[0]
        if self.per_rank:
            growth *= self.ranks[0] / ranks
        each = growth ** (1 / len(self.problem)) if self.problem else 1.0
        if self._is_cut:  # edges shrink by the sides of the ranks' grid, all alike only where the number is a cube
            grids = zip(*(factor_evenly(count, len(self._sizes)) for count in (self.ranks[0], ranks)), strict=True)
            each *= (ranks / self.ranks[0]) ** (1 / len(self._sizes))
            return [size * each * fewer / more for size, (fewer, more) in zip(self._sizes, grids, strict=True)]
        return [size * each for size in self._sizes]

    def ranks_with_runtime(self, ranks: Sequence[int]) -> list[int]:
        """The numbers of ranks on which the run has a runtime."""
        import numpy

        rows = numpy.array([(each, *self.sizes_at(each)) for each in ranks], dtype=float)
        return [each for each, time in zip(ranks, self._runtime(rows, missing=True)[0], strict=True) if time == time]

    def _predict_at(self, ranks: int, sizes: Sequence[float]) -> Prediction:
        """The prediction of a run on `ranks` ranks."""
        problem = dict(zip(self.problem, sizes, strict=True))
        return Prediction(self.prediction.case.with_set({**problem, self.parameter: ranks}))

    def _efficiencies(self, ranks: Sequence[int], growth: Sequence[float]) -> list[float]:
        """Efficiencies, where the problem is as many times larger on each number of ranks as on the fewest."""
        times = self._times([self.ranks[0]] * len(ranks) + [*ranks], [*growth, *growth])
        pairs = zip(ranks, times[: len(ranks)], times[len(ranks) :], strict=True)
        return [self._efficiency(each, float(first), float(here)) for each, first, here in pairs]

    def _efficiency(self, ranks: int, first: float, here: float) -> float:
        """Efficiency, from the seconds on `ranks` ranks and on the fewest."""
        work = 1 if self.mode == "weak" else self.ranks[0] / ranks
        return first * work / here if here else 1.0

    @cached_property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Warnings of the models, and what goes with the values once, with the numbers of ranks that it is so on."""
        of_values = (*self.prediction.warnings_of_values, *self.prediction.cap_warnings)
        refused, declared = (
            self._warn_of_refusals(),
            self.prediction.application.parameters[self.parameter].node.name_span,
        )
        base = [
            item
            for item in self.prediction.diagnostics
            if item not in of_values and not (item.code == "refused-count" and item.span == declared)
        ]
        if self.mode == "strong" and not self.per_rank and self.grown.grows_with_ranks:
            base.append(_warn_of_growing(self.prediction.application, self.parameter, self.grown))
        by_code: dict[str, list[tuple[int, Diagnostic]]] = {}
        for ranks in self.ranks:
            warnings = self._predict_at(ranks, self.sizes_at(ranks)).warnings_of_values
            for item in (*self._sizes_outside(ranks), *warnings):
                by_code.setdefault(f"{item.code} {item.span}", []).append((ranks, item))
        return (*base, *refused, *(self._merge_warnings(told) for told in by_code.values()), *self._cap_warnings())

    def _warn_of_refusals(self) -> list[Diagnostic]:
        """A warning where the program refuses some of the numbers of ranks."""
        if self._own_rule is None:
            return []
        parameter, rule = self.prediction.application.parameters[self.parameter], self._own_rule
        warnings = [(ranks, count_warning(parameter, rule, ranks)) for ranks in self.ranks]
        refused = [(ranks, item) for ranks, item in warnings if item is not None]
        return [self._merge_warnings(refused)] if refused else []

    def _cap_warnings(self) -> list[Diagnostic]:
        """A warning where a power cap makes the run longer on some of the numbers of ranks."""
        names = (self.parameter, *self.problem)
        rows = [(each, *self.sizes_at(each)) for each in self.ranks]
        labels = [count_of(each, "rank") for each in self.ranks]
        symbols = [self.prediction.scope.symbol(name) for name in names]
        return warn_of_cap(self.prediction, symbols, rows, labels, names)

    def _merge_warnings(self, told: list[tuple[int, Diagnostic]]) -> Diagnostic:
        (first, item), (last, _) = told[0], told[-1]
        if len(self.ranks) == 1:
            return item
        so = f"{first:,} to {last:,} ranks, {len(told)} of {len(self.ranks)} points" if told[1:] else f"{first:,} ranks"
        return item.replace(message=f"{item.message} (on {so})")

    @cached_property
    def points(self) -> tuple[ScalingPoint, ...]:
        """Runtime in seconds, speedup and efficiency at each number of ranks, in the order of `ranks`."""
        growths: Sequence[float | None] = [None] * len(self.ranks)
        if self.isoefficiency is not None:
            growths = find_growths(self.ranks, self.isoefficiency, self._efficiencies)
        return self._points(self.ranks, growths)

    def _points(self, ranks: Sequence[int], growths: Sequence[float | None]) -> tuple[ScalingPoint, ...]:
        """Points at some numbers of ranks, from one evaluation."""
        columns = self._evaluate_at(self._parts.formulas, [self.ranks[0], *ranks]).T.tolist()
        first = sum(columns[0][:2])
        return tuple(
            self._point(each, first, column, growth)
            for each, column, growth in zip(ranks, columns[1:], growths, strict=True)
        )

    def _point(self, ranks: int, first: float, values: Sequence[float], growth: float | None) -> ScalingPoint:
        """The point of a number of ranks, from the values of all parts and the seconds on the fewest ranks."""
        time, longer, waited, *rest = values
        left = iter(rest)
        named, waits, on_paths = (
            dict(zip(names, islice(left, len(names)), strict=True))
            for names in (self._parts.calls, self._parts.bounds, self._parts.paths)
        )
        energy = next(left, None) if self.energy is not None else None
        lost = next(left, None)
        efficiency = self._efficiency(ranks, first, time + longer)
        calls = sorted(named.items(), key=lambda call: -call[1])
        talking = tuple((name, seconds) for name, seconds in calls if seconds > 0)
        speedup = efficiency * ranks / self.ranks[0]
        bottleneck = self._bottleneck(waits, on_paths, time)
        expected = self._expected_error(waits)
        return ScalingPoint(
            ranks,
            time,
            capped_runtime=None if self.prediction.capped_runtime is None else time + longer,
            speedup=speedup,
            efficiency=efficiency,
            communication=waited,
            calls=talking,
            growth=growth,
            energy=energy,
            bottleneck=bottleneck,
            lost=lost,
            expected=expected,
        )

    def _expected_error(self, bounds: Mapping[str, float]) -> ExpectedError:
        """The error to expect of a time, given the seconds for which each resource bounds it."""
        seconds: dict[str, float] = {}
        for resource, wait in bounds.items():
            name = self._classes[resource]
            seconds[name] = seconds.get(name, 0.0) + wait
        return combine_classes(seconds)

    @cached_property
    def _classes(self) -> dict[str, str]:
        """Classes of the resources that may bound the run, for the error to expect."""
        return {resource: class_of(self.prediction, resource) for resource in self._parts.bounds}

    def _bottleneck(self, bounds: Mapping[str, float], paths: Mapping[str, float], time: float) -> Bottleneck | None:
        """The resource that bounds the run for longest, with those that cannot overlap with it; of messages the path on
        which they are longest."""
        waits = {name: wait for name, wait in bounds.items() if wait > 0}
        if not waits:
            return None
        groups = conflict_groups(dict.fromkeys(waits, graph.ZERO), self.prediction.tree.conflicts)
        longest = max((group.resources for group in groups), key=lambda names: sum(waits[name] for name in names))
        name, seconds = max(longest, key=waits.__getitem__), sum(waits[name] for name in longest)
        component = self.prediction.component_of(name)
        if name == MESSAGES and any(paths.values()):
            component = component_paths(self.prediction.tree)[max(paths, key=paths.__getitem__)]
        return Bottleneck(name, component, seconds, seconds / time, longest)

    @cached_property
    def _ranges(self) -> list[tuple[Parameter, Sequence[object]]]:
        """The sizes of the problem that declare a range, with its ends."""
        parameters = (self.prediction.application.parameters.get(name) for name in dict.fromkeys(self.problem))
        scope, seed = self.prediction.scope, self.prediction.seed
        return [
            (each, scope.values([each.low, each.high], seed)) for each in parameters if each and each.low and each.high
        ]

    def _sizes_outside(self, ranks: int) -> list[Diagnostic]:
        """A warning for each size that is outside of its range on `ranks` ranks, though not on the fewest."""
        sizes = dict(zip(self.problem, self.sizes_at(ranks), strict=True))
        given = dict(zip(self.problem, self._sizes, strict=True))
        warnings = (range_warning(each, sizes[each.name], *ends) for each, ends in self._ranges if sizes != given)
        return [item for item in warnings if item is not None and item.code == "outside-range"]

    def is_within_ranges(self, ranks: int) -> bool:
        """Whether the sizes of the problem on `ranks` ranks are within the ranges that the model declares."""
        return not self._sizes_outside(ranks)

    @cached_property
    def fastest(self) -> ScalingPoint | None:
        """The number of ranks, between the fewest and the most on which the sizes are within their ranges, that takes
        the least time; of equals the fewest. None where all of them are refused: by the program, or by the counts that
        are asked for."""
        before = self._runtime.operations
        self._times(self.ranks[-1:])
        at_once = batch_size(self._runtime.operations - before)
        search = RankSearch(self._times, self.counts, self.ranks[0], self._last_searched, at_once)
        best = search.find_fastest(self.ranks, [point.seconds for point in self.points])
        known = next((point for point in self.points if point.ranks == best), None)
        return known if known is not None or best is None else self._points([best], [None])[0]

    @cached_property
    def _last_searched(self) -> int:
        """The most ranks of those listed on which the problem is one that the model describes."""
        return next((ranks for ranks in reversed(self.ranks) if self.is_within_ranges(ranks)), self.ranks[-1])

    @property
    def gets_slower(self) -> bool:
        """Whether there is a number of ranks from which on more of them take longer."""
        best = self.fastest
        return best is not None and best.ranks < self.ranks[-1] and self.points[-1].seconds > best.seconds

    @cached_property
    def calls(self) -> tuple[str, ...]:
        """The calls that talk, the longest on the most ranks first."""
        return tuple(name for name, _ in self.points[-1].calls)


class ScalingOptions(CaseOptions, total=False):
    """Options of `scaling` besides the ranks."""

    parameter: str | None
    problem: Sequence[str]
    isoefficiency: float | None
    energy: EnergyOptions | None
    per_rank: bool
    counts: str | None


@one_allowance
def scale(
    app: Application | Case,
    machine: Machine | None = None,
    ranks: Sequence[int] = (),
    mode: Mode = "strong",
    **options: Unpack[ScalingOptions],
) -> Scaling:
    """One application on more and more ranks, or a `Case`: `scale(app, machine, [1, 2, 4])`, `scale(case,
    ranks=[1, 2, 4])`. The other options are those of `Case`.

    `mode` is `strong` (the problem stays as it is) or `weak` (it grows with the ranks). `parameter` is the number of
    ranks in the model, `problem` the parameters whose product is the size of the problem, which grows with the ranks in
    weak scaling; `per_rank` states that they are the problem of one rank. `counts` is a rule for the numbers of ranks
    among which the fastest is looked for, `"cube"` or `"power_of(2)"`, beside the model's own.
    `isoefficiency` (0 to 1) adds by how much the problem has to grow for that efficiency, `energy` the joules, counted
    by its options.

    :returns: seconds, efficiency and, if asked for, joules at each number of ranks
    :raises AspenError: for numbers of ranks without a runtime, such as one above the cores of the machine
    """
    case, own = split_options(app, machine, options)
    return Scaling(case, ranks, mode, **own)


def require_counts(text: str) -> CountRule:
    """A rule as the language has it. Raises AspenError for another."""
    count_rule = read_counts(text)
    if count_rule is None:
        known = ", ".join(f"{name}(n)" if name in ARGUMENTS else name for name in RULES)
        fail("unknown-counts", f"unknown rule for numbers of ranks: `{text}`", hint=f"there are {known}")
    return count_rule


def _refuse_derived(prediction: Prediction, name: str) -> None:
    """A number of ranks that the model derives from what it also uses elsewhere, such as the edges of a grid: set by
    itself, it would not be their product any more."""
    scope, derived = prediction.scope, prediction.application.parameters[name]
    behind = scope.needed([derived.value])
    used = scope.used_parameters([prediction.tree.runtime])
    broken = [f"`{scope.display_name(symbol)}`" for symbol in used if symbol in behind]
    if broken:
        those = f"{', '.join(broken[:-1])} and {broken[-1]}" if len(broken) > 1 else broken[0]
        message = f"`{name}` cannot be set by itself: the model derives it from {those}, which would stay as they are"
        hint = f"scale one of those: --parameter NAME, others with --set; or let the model derive them from `{name}`"
        fail("derived-parameter", message, derived.span, hint=hint)


def _warn_of_growing(app: Application, name: str, grown: Growth) -> Diagnostic:
    """A warning where strong scaling was requested of a model whose problem grows with the ranks."""
    message = (
        f"this is no strong scaling: on {grown.ranks[-1]} ranks the work of all is {grown.of_work[-1]:.3g} times that "
        f"on {grown.ranks[0]}"
    )
    hint = "if sizes are those of one rank, say so: `per rank` in the model, or --problem NAME,... with --per-rank"
    return warning("work-grows", message, app.parameters[name].span, hint=hint)


def _require_parameter(app: Application, names: Sequence[str], what: str, option: str) -> str:
    for name in names:
        if name in app.parameters:
            return name
    listed = f": it has {', '.join(list(app.parameters)[:8])}" if app.parameters else ""
    hint = f"say which one it is with {option}{listed}"
    fail("no-such-parameter", f"application `{app.name}` has no `{names[0]}` for {what}", app.node.name_span, hint=hint)


def _sizes_that_grow_together(app: Application) -> tuple[str, ...]:
    for names in PROBLEMS:
        if all(name in app.parameters for name in names):
            return names
    hint = "name the parameters whose product it is: --problem n, or --problem n,n,n for a cube of the edge n"
    message = f"cannot tell the problem size of `{app.name}` from its parameters"
    fail("no-such-parameter", message, app.node.name_span, hint=hint)
