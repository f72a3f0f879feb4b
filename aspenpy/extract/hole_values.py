"""Values of parameters that the source does not say: from runs of the program, or because they decide little.

Passes of a `while`, shares of branches and of loops that are left early come straight from counts; a size that is read
follows from the passes of a loop that counts up to it. Over several sizes each becomes a formula in them.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from aspenpy.expr import graph
from aspenpy.expr.node import Expr
from aspenpy.expr.polynomial import constant_polynomial
from aspenpy.extract import records as r
from aspenpy.extract import values as v
from aspenpy.extract.blocks import nesting_depth
from aspenpy.extract.costs import (
    Alternative,
    Arithmetic,
    FunctionCosts,
    Guard,
    Hole,
    Invocation,
    Item,
    MemoryAccess,
    Nest,
    walk_items,
)
from aspenpy.extract.count import Counter, GuardedLoops, NoClosedForm
from aspenpy.extract.counted_units import RunCounts
from aspenpy.extract.effects import walk_records
from aspenpy.extract.execution import Build, Compiled, ProgramCommand, prepare_program
from aspenpy.extract.fit import (
    POOR,
    FitTerm,
    Formula,
    Point,
    fit_mean,
    fit_measured,
    fit_through_last,
    join_terms,
    join_values,
)
from aspenpy.extract.line_counts import ExecutionCount
from aspenpy.extract.locality import Site
from aspenpy.extract.replay import SymbolValues, count_operations
from aspenpy.extract.scope import BY_DEFAULT, CALL_ASSUMED
from aspenpy.extract.smaller_runs import LONGEST, SHORT, CommandSize, find_command_sizes, list_files, name_sizes
from aspenpy.extract.sorts import FittedComparisons
from aspenpy.extract.values import ONE, TooLong, Value
from aspenpy.language.diagnostics import AspenError, fail
from aspenpy.language.source import Span
from aspenpy.record import Record

MOST_RUNS = 1000

TOTALS = ((1, False), (2, False), (3, False), (1, True), (0, True), (2, True))
"""Powers of sizes that totals may have, with a logarithm or without."""

ROOTS = (Fraction(1, 2), Fraction(2, 3), Fraction(1, 3), Fraction(3, 2))
"""Powers of sizes that a program computes: edges of squares and cubes, and their sides."""

SCALING = ("*", "/", "<<", ">>")

Over = Mapping[str, Sequence[float]]

NO_EXTENTS: Mapping[Expr, bool] = {}


def list_total_terms(sizes: Collection[str]) -> list[FitTerm]:
    """Terms that totals may have, products of two sizes among them."""
    terms = [FitTerm(size, *power) for power in TOTALS for size in sizes]
    return terms + join_terms(terms)


class HoleSite(Record):
    """A site of a parameter: the span that is counted, the loops around it, conditions that are known there, and the
    loop whose share it is."""

    span: Span | None
    nests: tuple[Nest, ...]
    guards: tuple[Guard, ...] = ()
    nest: Nest | None = None


def fit_comparisons(points: Sequence[RunCounts], through_last: bool) -> dict[Span, FittedComparisons]:
    """Formulas for the comparisons of each call of a sort, and for the part that is guessed wrongly."""
    terms = list_total_terms(points[-1].sizes)
    found: dict[Span, FittedComparisons] = {}
    for span in points[-1].compared:
        ran = [(point.sizes, each) for point in points if (each := point.compared.get(span)) is not None]
        counted = [(sizes, each.number, each.calls) for sizes, each in ran]
        wrong = fit_measured(
            [(sizes, each.wrong / each.number if each.number else 0.0) for sizes, each in ran], through_last
        )

        def fit(kept: Sequence[Point]) -> Formula:
            return fit_mean(kept, terms, terms)

        found[span] = FittedComparisons(fit_through_last(counted, fit) if through_last else fit(counted), wrong)
    return found


def measure_points(
    build: Build,
    programs: Sequence[r.Program],
    command: ProgramCommand,
    over: Over,
    *,
    recorded: Sequence[Span] = (),
    pointers: Sequence[Span] = (),
    touched: Sequence[Site] = (),
    tested: Sequence[Span] = (),
    read: Mapping[str, Span] | None = None,
    allow_failure: bool = False,
) -> list[RunCounts]:
    """Runs the program of some units at all combinations of sizes, and records whole numbers, pointers, touches and
    tests. Sizes that the command does not mention are macros. Numbers of the command that parameters are `read` from
    are also made smaller; the run that was asked for comes last. Raises AspenError."""
    for name in command.names():
        if name not in over:
            hint = f"give its values, such as --over {name}=100..1000:log:5"
            fail("no-size", f"the command of --run uses {{{name}}}, but `{name}` has no values", hint=hint)
    grid = list(itertools.product(*over.values()))
    if len(grid) > MOST_RUNS:
        fail("too-long", f"--over asks for {len(grid):,} runs; at most {MOST_RUNS:,} are made")
    runs, before = [], {} if read is None else list_files()
    with prepare_program(build, programs, recorded, pointers, touched, tested) as compiled:
        for place, values in enumerate(grid):
            sizes = dict(zip(over, values, strict=True))
            macros = {name: value for name, value in sizes.items() if name not in command.names()}
            if macros or not place:
                compiled.compile(macros)
            runs.append(_count_run(compiled, command, sizes, allow_failure))
        if read is not None:
            written = next((name for name, status in list_files().items() if before.get(name) != status), "")
            if written:
                return [runs[-1].replace(written=written)]
            return _run_smaller(compiled, command, runs[-1], read, allow_failure)
    return runs


def _count_run(
    compiled: Compiled, command: ProgramCommand, sizes: Mapping[str, float], allow_failure: bool
) -> RunCounts:
    begin = time.monotonic()
    counts = compiled.count(command, sizes, allow_failure)
    seconds, words = time.monotonic() - begin, len(command.words) - command.program
    return counts.replace(sizes=sizes, words=words, seconds=seconds)


def _run_smaller_size(
    compiled: Compiled,
    command: ProgramCommand,
    run: RunCounts,
    size: CommandSize,
    sizes: Sequence[CommandSize],
    allow_failure: bool,
) -> list[RunCounts]:
    """Runs at smaller values of one size, the smallest first, as long as they take little time."""
    done: list[RunCounts] = []
    given = {each.name: float(each.value) for each in sizes}
    for value in size.list_smaller():
        if sum(each.seconds for each in done) > max(SHORT, LONGEST * run.seconds):
            break
        try:
            smaller = _count_run(compiled, command, {**given, size.name: float(value)}, allow_failure)
        except AspenError:
            return []
        if smaller.recorded.get(size.span) != value:
            return []
        done.append(smaller)
    return done


def _run_smaller(
    compiled: Compiled, command: ProgramCommand, run: RunCounts, read: Mapping[str, Span], allow_failure: bool
) -> list[RunCounts]:
    """Runs at smaller sizes, and the one that was asked for. A size of which one run fails, or whose parameter does not
    have the number of the command there, stays as it was."""
    sizes = find_command_sizes(command, read, run.recorded)
    named = name_sizes(command, sizes)
    found = {size.name: _run_smaller_size(compiled, named, run, size, sizes, allow_failure) for size in sizes}
    varied = [size for size in sizes if len(found[size.name]) > 1]
    given = {size.name: float(size.value) for size in varied}
    runs = [*(each for size in varied for each in found[size.name]), run]
    return [each.replace(sizes={name: each.sizes.get(name, given[name]) for name in given}) for each in runs]


def count_pointer_calls(program: r.Program, point: RunCounts) -> RunCounts:
    """The point with how often each of several functions was meant by calls through a pointer, by its span."""
    ran, spans = dict(point.ran), {function.key: function.span for function in program.functions}
    for keys in program.pointer_targets.values():
        counts = [point.entered.get(key) for key in keys]
        known = [count for count in counts if count is not None]
        for key, count in zip(keys, counts, strict=True) if len(keys) > 1 and len(known) == len(keys) else ():
            if (span := spans[key]) is not None and count is not None:
                ran[span] = ExecutionCount(sum(known), (count,))
    return point.replace(ran=ran)


class Filling:
    """Fills holes from runs. `resolved` gives the parameter of the model that a symbol of a function stands for."""

    def __init__(
        self,
        program: r.Program,
        holes: Mapping[Expr, Hole],
        resolved: Callable[[Value], Value],
        runs: list[RunCounts],
        read: Collection[Expr],
        extents: Mapping[Expr, bool] = NO_EXTENTS,
        *,
        through_last: bool = False,
    ) -> None:
        self.holes, self.resolved, self.runs = holes, resolved, runs
        self.through_last = through_last  # whether formulas have what the last run counted at its sizes
        self.read = read  # parameters for values that the program reads or computes
        self.extents = extents  # parameters for bytes of arrays, and whether those are rows that pointers vary over
        self.command_line = _find_command_line(program)
        self.macros = {graph.symbol(macro.name, "size"): macro.value for macro in program.macros}
        self.by_name = {hole.name: symbol for symbol, hole in holes.items()}
        self.sites: dict[Expr, list[HoleSite]] = {}
        self.loops: list[Nest] = []
        self.logarithmic = {span for function in program.functions for span in _find_halving_loops(function.body)}

    def find_sites(self, items: list[Item]) -> None:
        """Finds the places at which the parameters of a function stand."""
        for nests, item in _walk_nested(items, ()):
            if isinstance(item, Nest):
                self.loops.append(item)
                if item.share is not None:
                    self._add_site(item.share, HoleSite(item.span, nests, (), item))
                if len(item.bounds) == 1:
                    self._add_site(item.bounds[0], HoleSite(item.span, nests))
            elif isinstance(item, Alternative) and item.share is not None:
                self._add_site(item.share, HoleSite(item.span, nests, item.guards))

    def _add_site(self, value: Value, site: HoleSite) -> None:
        for symbol in v.symbols(value):
            hole = self.holes.get(symbol)
            if hole is not None and v.is_same(value, v.from_expression(symbol)):
                sites = self.sites.setdefault(symbol, [])
                if all(site.span != other.span for other in sites):  # a line is counted for all copies of a function
                    sites.append(site)

    def fit_holes(self) -> dict[Expr, Formula]:
        """A formula for each parameter that the runs give values of."""
        measured: dict[Expr, list[Point]] = {}
        for point in self.runs:
            known = self._find_sizes(point)
            for symbol, (passes, entries) in self._measure_values(point, known).items():
                measured.setdefault(symbol, []).append((point.sizes, passes, entries))
        return {symbol: self._fit_hole(symbol, values) for symbol, values in measured.items()}

    def _fit_hole(self, symbol: Expr, values: Sequence[Point]) -> Formula:
        terms, totals = self._list_terms(symbol), list_total_terms(self.runs[0].sizes)
        if not self.through_last:
            found = fit_mean(values, terms, totals)
            if found.error <= POOR or any(term.exponent >= 0 for term in terms):
                return found  # passes that no formula fits are told: beyond the runs nothing says how they go on
            return join_values([(sizes, total / entries) for sizes, total, entries in values]) or found
        return fit_through_last(values, lambda kept: fit_mean(kept, terms, totals))

    def find_known(self, point: RunCounts) -> dict[Expr, float]:
        """Values of the parameters at the sizes of a run: those of their formulas, and of macros."""
        known = {**self.macros, **{graph.symbol(name, "size"): size for name, size in point.sizes.items()}}
        for symbol, hole in self.holes.items():
            if hole.name in point.sizes:
                known[symbol] = point.sizes[hole.name]
            elif hole.fit is not None:
                known[symbol] = hole.fit.evaluate(point.sizes)
        return known

    # -- one run -----------------------------------------------------------------------------------

    def _find_sizes(self, point: RunCounts) -> dict[Expr, float]:
        """Sizes of the model in a run: those of the command, macros, and bounds that loops count up to."""
        known: dict[Expr, float] = dict(self.macros)
        for name, value in point.sizes.items():
            known[self.by_name.get(name, graph.symbol(name, "size"))] = value
        for symbol, hole in self.holes.items():
            if (recorded := self._find_recorded(symbol, hole, point)) is not None:
                known.setdefault(symbol, recorded)
        for _ in range(3):
            for nest in self.loops:
                ran = point.ran.get(nest.span) if nest.span is not None else None
                if ran is None or not ran.entered or len(nest.bounds) != 1:
                    continue
                size = self._solve_for_size(nest.bounds[0], ran.passes[0] / ran.entered, known)
                if size is not None:
                    known.setdefault(*size)
        return known

    def _find_recorded(self, symbol: Expr, hole: Hole, point: RunCounts) -> float | None:
        """Value of a parameter that was computed in a run; of what the run did not read, its default."""
        if hole.name in self.command_line:
            return self.command_line[hole.name] * point.words
        pointed = point.pointed.get(hole.span) if symbol in self.extents and hole.span is not None else None
        if pointed is not None:
            return pointed.total if self.extents[symbol] else pointed.mean
        if symbol not in self.read or hole.span is None:
            return None
        default = v.number(hole.value) if hole.rule == BY_DEFAULT else None
        return point.recorded.get(hole.span, None if default is None else float(default))

    def _solve_for_size(self, bound: Value, passes: float, known: Mapping[Expr, float]) -> tuple[Expr, float] | None:
        """The one unknown size in a loop's bound, and its value if the loop has `passes` passes. None of a bound that
        is a quotient by what was 0 in the run."""
        try:
            bound = self._substitute_sizes(self.resolved(bound), known)
        except TooLong:
            return None
        left = v.symbols(bound)
        if len(left) != 1 or (symbol := next(iter(left))) not in self.holes or symbol in self.sites:
            return None
        straight = v.linear_parts(bound, symbol)
        if straight is None:
            return None
        start, step = v.number(straight[0]), v.number(straight[1])
        return None if start is None or not step else (symbol, (passes - float(start)) / float(step))

    def _measure_values(self, point: RunCounts, known: dict[Expr, float]) -> dict[Expr, tuple[float, float]]:
        """Counts of each parameter in the run, and the number of which each is a part."""
        measured = {symbol: (value, 1.0) for symbol, value in known.items() if symbol in self.holes}
        for symbol, sites in self.sites.items():
            counted = [
                counts for site in sites if (counts := self._count_at_site(self.holes[symbol], site, point, known))
            ]
            if counted and (whole := sum(entered for _, entered in counted)):
                measured[symbol] = sum(passes for passes, _ in counted), whole
            elif all(_is_unreached(site, point) for site in sites):
                measured[symbol] = 0.0, 1.0
        return measured

    def _count_at_site(
        self, hole: Hole, site: HoleSite, point: RunCounts, known: Mapping[Expr, float]
    ) -> tuple[float, float] | None:
        """Number of times that a parameter's event happened at one of its sites, and that it could have."""
        ran = _find_count(point, site.span)
        if ran is None or not ran.entered or not (whole := self._count_possible(site, known)):
            return None
        return ran.passes[hole.meaning.case], ran.entered * whole

    def _count_possible(self, site: HoleSite, known: Mapping[Expr, float]) -> float | None:
        """Number that the measured quotient is a part of: passes that a loop could make, or times that known conditions
        hold."""
        if site.nest is None and not site.guards:
            return 1.0
        inner = site.nests if site.nest is None else (*site.nests, site.nest.replace(share=None))
        try:
            most = Counter().total(ONE, GuardedLoops(inner, site.guards))
            around = Counter().total(ONE, GuardedLoops(site.nests))
            values = [v.number(self._substitute_sizes(self.resolved(value), known)) for value in (most, around)]
        except (NoClosedForm, TooLong):
            return None
        return float(values[0] / values[1]) if values[0] is not None and values[1] else None

    @staticmethod
    def _substitute_sizes(value: Value, known: Mapping[Expr, float]) -> Value:
        return v.substitute(
            value, {symbol: constant_polynomial(known[symbol]) for symbol in v.symbols(value) & known.keys()}
        )

    # -- formulas ----------------------------------------------------------------------------------

    def _list_terms(self, symbol: Expr) -> list[FitTerm]:
        """Terms that a quantity may depend on. A share falls with a size at most. Passes grow with as many powers as
        loops are nested, or with the logarithm where a loop halves something."""
        sizes = list(self.runs[0].sizes)
        sites = self.sites.get(symbol)
        if not sites:
            exponents: tuple[int, ...] = (1, 2, 3)
            terms = [FitTerm(size, exponent) for exponent in exponents for size in sizes]
            return [*terms, *join_terms(terms), *(FitTerm(size, root) for root in ROOTS for size in sizes)]
        spans = {site.span for site in sites if site.nest is None}
        loops = [nest for nest in self.loops if nest.span in spans]
        if not loops:
            exponents = (-1,)
        elif any(nest.span in self.logarithmic for nest in loops):
            return [FitTerm(size, 0, True) for size in sizes]
        else:
            exponents = (*range(1, 1 + max(map(nesting_depth, loops))), -1)
        terms = [FitTerm(size, exponent) for exponent in exponents for size in sizes]
        if not loops:
            return terms
        more = [FitTerm(size, 0, True) for size in sizes if len(self.runs) > 2]
        return [
            *terms,
            *more,
            *join_terms(terms),
            *(FitTerm(size, root) for root in ROOTS if root < 1 for size in sizes),
        ]


def _find_count(point: RunCounts, span: Span | None) -> ExecutionCount | None:
    """The count of a run at a place, or the share of elements that it recorded there for a mask."""
    share = None if span is None else point.recorded.get(span)
    counted = None if span is None else point.ran.get(span)
    return ExecutionCount(1.0, (share,)) if counted is None and share is not None else counted


def _is_unreached(site: HoleSite, point: RunCounts) -> bool:
    """Whether a run has counted a place and did not come there."""
    ran = point.ran.get(site.span) if site.span is not None else None
    return ran is not None and not ran.entered


def _find_command_line(program: r.Program) -> dict[str, int]:
    """The parameters for `argc` and the bytes of `argv`, with what each word of the command adds to them."""
    main = next((function for function in program.functions if function.name == "main"), None)
    names = [formal.name for formal in main.formals] if main is not None else []
    return dict(zip([*names[:1], *(f"{name}_bytes" for name in names[1:2])], (1, 8), strict=False))


def _walk_nested(items: list[Item], nests: tuple[Nest, ...]) -> Iterator[tuple[tuple[Nest, ...], Item]]:
    """Items of a function, each with the loops around it."""
    for item in items:
        yield nests, item
        if isinstance(item, Nest):
            yield from _walk_nested(item.body, (*nests, item))
        elif isinstance(item, Alternative):
            yield from _walk_nested(item.then, nests)
            yield from _walk_nested(item.otherwise, nests)


def _find_halving_loops(body: r.Statement) -> Iterator[Span]:
    """Loops that double or halve a variable of their condition, as a bisection does."""
    for node in walk_records(body):
        if isinstance(node, r.LoopStatement) and node.condition is not None and node.span is not None:
            tested = {part.key for part in walk_records(node.condition) if isinstance(part, r.Variable)}
            inside = (part for side in (node.step, node.body) if side is not None for part in walk_records(side))
            if any(_is_halving(part, tested) for part in inside):
                yield node.span


def _is_halving(node: Any, tested: set[str]) -> bool:
    """Whether a record divides one of some variables or assigns it a multiple."""
    if isinstance(node, r.Assignment) and isinstance(node.target, r.Variable) and node.target.key in tested:
        factors = [node, *walk_records(node.value)]
        return any(isinstance(part, r.Assignment | r.Operation) and part.operator in SCALING for part in factors)
    divided = isinstance(node, r.Operation) and node.operator in ("/", ">>") and node.type.kind == "integer"
    return divided and any(isinstance(part, r.Variable) and part.key in tested for part in walk_records(node))


# -- influence -------------------------------------------------------------------------------------

LITTLE = 0.01
"""The part of a kernel's operations and bytes below which a share is no open parameter."""

BY_INFLUENCE = f"decides less than {100 * LITTLE:.0f} % of the operations and bytes of its kernel"
"""The rule for such shares."""

WEIGHTS = {"divide": 4.0, "square_root": 4.0}
"""How operations count against each other: as the Livermore kernels weigh them; others count once."""

Work = dict[str, float]
"""Operations by class, and bytes."""


class Influence:
    """Weighs what functions do, with what they call. `resolved` gives the parameters that a symbol stands for."""

    def __init__(
        self, profiles: Mapping[str, FunctionCosts], holes: Mapping[Expr, Hole], resolved: Callable[[Value], Value]
    ) -> None:
        self.profiles = profiles
        self.numbers = SymbolValues(holes, resolved, {})
        self.done: dict[str, Work] = {}
        self.shares: dict[Expr, dict[str, None]] = {}  # by parameter, the functions that have it as a share
        for key, profile in profiles.items():
            for item in walk_items(profile.items):
                if isinstance(item, Nest | Alternative) and item.share is not None:
                    for symbol in v.symbols(item.share):
                        self.shares.setdefault(symbol, {})[key] = None

    def weigh(self, symbol: Expr) -> float:
        """Largest part of any function's work that a parameter decides, from 0 to 1."""
        largest = 0.0
        for key in self.shares.get(symbol, ()):
            none, whole = self._work_at(key, symbol, 0), self._work_at(key, symbol, 1)
            for classes in ({"bytes"}, (none.keys() | whole.keys()) - {"bytes"}):
                pairs = [(none.get(name, 0.0), whole.get(name, 0.0), WEIGHTS.get(name, 1.0)) for name in classes]
                most = sum(max(low, high) * weight for low, high, weight in pairs)
                decided = sum(abs(high - low) * weight for low, high, weight in pairs)
                largest = max(largest, decided / most if most else 0.0)
        return largest

    def _work_at(self, key: str, symbol: Expr, value: float) -> Work:
        self.numbers.values, self.done = {symbol: value}, {}
        return self._work_of_function(key)

    # -- work --------------------------------------------------------------------------------------

    def _work_of_function(self, key: str) -> Work:
        if key not in self.done:
            self.done[key] = {}  # of a recursion, what it does once
            profile = self.profiles.get(key)
            self.done[key] = {"call": float(CALL_ASSUMED)} if profile is None else self._work_of_items(profile.items)
        return self.done[key]

    def _work_of_items(self, items: list[Item]) -> Work:
        return _add_work(*((self._work_of_item(item), 1.0) for item in items))

    def _work_of_item(self, item: Item) -> Work:
        if isinstance(item, MemoryAccess):
            return {"bytes": float(item.size)}
        if isinstance(item, Arithmetic):
            return {item.name: count_operations(item)}
        if isinstance(item, Invocation):
            return self._work_of_function(item.function)
        if isinstance(item, Nest):
            passes = max(0.0, min(map(self.numbers.evaluate, item.bounds)))
            self.numbers.values[item.counter] = (passes - 1) / 2
            share = 1.0 if item.share is None else self.numbers.evaluate(item.share)
            return _add_work((self._work_of_items(item.body), passes * share))
        if isinstance(item, Alternative):
            share = self._share_of_alternative(item)
            return _add_work((self._work_of_items(item.then), share), (self._work_of_items(item.otherwise), 1 - share))
        return {}

    def _share_of_alternative(self, item: Alternative) -> float:
        holds = all(map(self.numbers.holds, item.guards))
        return float(holds) * (1.0 if item.share is None else self.numbers.evaluate(item.share))


def _add_work(*parts: tuple[Work, float]) -> Work:
    total: Work = {}
    for work, factor in parts:
        for name, amount in work.items():
            total[name] = total.get(name, 0.0) + amount * factor
    return total
