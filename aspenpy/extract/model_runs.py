"""Runs of the program that a model is made of: they fill its parameters, and its lines are reconciled with them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from aspenpy.assembly.compiling import Recipe
from aspenpy.expr.node import Expr
from aspenpy.extract import records as r
from aspenpy.extract import values as v
from aspenpy.extract.costs import FunctionCosts
from aspenpy.extract.counted_fortran import list_masks
from aspenpy.extract.counted_units import RunCounts
from aspenpy.extract.effects import walk_records
from aspenpy.extract.execution import Build, Tool, parse_command
from aspenpy.extract.fit import FitTerm, fit_mean, fit_measured
from aspenpy.extract.hole_values import (
    ROOTS,
    Filling,
    Over,
    count_pointer_calls,
    list_total_terms,
    measure_points,
)
from aspenpy.extract.library_time import SampledRun, list_timed, sample_program, warn_missing
from aspenpy.extract.paths import line_of
from aspenpy.extract.reconcile import Reconciliation, find_causes, list_counted_spans, reconcile
from aspenpy.extract.replay import Replay
from aspenpy.extract.scope import NOT_TIMED, TimedLines
from aspenpy.extract.text import Writer
from aspenpy.extract.units import TranslationUnit
from aspenpy.language.diagnostics import Diagnostic
from aspenpy.language.source import Span
from aspenpy.record import Record

NO_SIZES: Over = {}


class ProgramRun(Record):
    """A command that runs the program, such as `./a.out {n}`, and the values of each name in braces; names that it
    does not mention are macros. `links` are options of the linker, `compiler` one of GCC's; `allow_failure` counts runs
    that end with an error. `smaller` makes runs at smaller sizes of the command beside the one that is asked for, where
    there is no `over`."""

    command: str
    over: Over = NO_SIZES
    links: tuple[str, ...] = ()
    compiler: str | None = None
    counts: Tool = "gcov"
    allow_failure: bool = False
    smaller: bool = False

    @property
    def through_last(self) -> bool:
        """Whether formulas have what the last run counted at its sizes."""
        return self.smaller and not self.over


class ModelRuns:
    """Counts of runs in the parameters of a model: `writer` names those."""

    def __init__(self, program: r.Program, writer: Writer, run: ProgramRun) -> None:
        self.program, self.writer, self.run = program, writer, run
        self.names = writer.names

    @staticmethod
    def find_varied(points: Sequence[RunCounts]) -> frozenset[str]:
        """The sizes of which runs have several values."""
        return frozenset(name for name in points[-1].sizes if len({point.sizes[name] for point in points}) > 1)

    def measure(
        self, units: tuple[TranslationUnit, ...], parts: Sequence[r.Program], tested: Sequence[Span]
    ) -> list[RunCounts]:
        """Runs the program, and records what parameters stand for and the outcomes of conditions."""
        self.writer.write_declarations()  # which name what sizes depend on
        run = self.run
        nodes = [node for function in self.program.functions for node in walk_records(function.body)]
        parallel = any(isinstance(node, r.Call) and node.name.startswith("omp_") for node in nodes)
        build = Build(units, run.links, run.compiler, parallel, run.counts)
        holes = (self.names.holes[symbol] for symbol in self._find_read_values())
        spans = dict.fromkeys(hole.span for hole in holes if hole.span is not None)
        spans |= dict.fromkeys(list_masks(nodes))
        pointers = dict.fromkeys(array.span for array in self.writer.data.values())
        wanted = [span for span in pointers if span is not None and span not in spans]
        command = parse_command(run.command)
        points = measure_points(
            build,
            parts,
            command,
            run.over,
            recorded=tuple(spans),
            pointers=wanted,
            touched=tuple(self.names.wandering),
            tested=tested,
            read=self._find_read_places() if run.through_last else None,
            allow_failure=run.allow_failure,
        )
        return [count_pointer_calls(self.program, point) for point in points]

    def fit_holes(self, points: list[RunCounts], profiles: Mapping[str, FunctionCosts]) -> Filling:
        """Fits the parameters of functions to what was counted, and keeps the formulas in them."""
        self.writer.write_declarations()
        holes = self.names.holes
        filling = Filling(
            self.program,
            holes,
            self.writer.resolve_value,
            points,
            self._find_read_values(),
            extents=self.names.extents,
            through_last=self.run.through_last,
        )
        for profile in profiles.values():
            filling.find_sites(profile.items)
        for symbol, fit in filling.fit_holes().items():
            holes[symbol] = holes[symbol].replace(fit=fit)
        return filling

    def sample(
        self, units: tuple[TranslationUnit, ...], recipe: Recipe | None, points: Sequence[RunCounts]
    ) -> tuple[list[tuple[RunCounts, SampledRun]], TimedLines]:
        """Times the program as the recipe builds it at the sizes of the runs. Returns the lines, too."""
        if recipe is None:
            return [], NOT_TIMED
        run = self.run
        files = {span.source.path or span.source.name for function in self.program.functions if (span := function.span)}
        command = parse_command(run.command)
        found = (
            (
                point,
                sample_program(
                    units, recipe, run.links, command, point.sizes, files=files, allow_failure=run.allow_failure
                ),
            )
            for point in points
        )
        sampled = [(point, times) for point, times in found if times is not None]
        return sampled, list_timed([times for _, times in sampled], self.names.library_calls)

    def fit_libraries(
        self,
        sampled: Sequence[tuple[RunCounts, SampledRun]],
        filling: Filling,
        profiles: Mapping[str, FunctionCosts],
        order: Sequence[str],
        roots: Collection[r.Function],
    ) -> list[Diagnostic]:
        """Fits the cycles of calls of libraries: those of their line in a run over the calls of the model there.
        Returns warnings of those that the model does not reach."""
        values: dict[Expr, list[tuple[Mapping[str, float], float, float]]] = {}
        warnings: list[Diagnostic] = []
        for point, times in sampled:
            known = filling.find_known(point)
            replay = Replay(profiles, self.names.holes, self.writer.resolve_value, known, frozenset(filling.sites))
            tally = replay.run(order[::-1], [root.key for root in roots])
            for line, symbol in self.names.library_cycles.items():
                if symbol not in self.names.holes:
                    continue
                path, _, number = line.rpartition(":")
                time = times.libraries.get((path, int(number)))
                if time is not None and tally.libraries.get(line):
                    values.setdefault(symbol, []).append(
                        (point.sizes, time.seconds / times.cycle, tally.libraries[line])
                    )
            reached = [line for line, calls in tally.libraries.items() if calls]
            reached += (f"{path}:{line}" for path, line in map(line_of, self.names.compared))
            warnings = warn_missing(times, reached)
        holes = self.names.holes
        for symbol, measured in values.items():
            cycles = [(sizes, total / calls) for sizes, total, calls in measured]
            holes[symbol] = holes[symbol].replace(fit=fit_measured(cycles))
        return warnings

    def fit_recursions(
        self,
        points: list[RunCounts],
        filling: Filling,
        profiles: Mapping[str, FunctionCosts],
        order: Sequence[str],
        roots: Collection[r.Function],
    ) -> None:
        """Fits how often functions that call themselves run for each call from outside: their entries in a run over
        the calls of the model. A function is behind its callers, on whose runs its calls depend."""
        holes, recursions = self.names.holes, self.names.recursions
        terms = list_total_terms(points[0].sizes)
        means = [*terms, *(FitTerm(size, root) for root in ROOTS for size in points[0].sizes)]
        for key in [key for key in order[::-1] if key in recursions.values()]:
            measured: list[tuple[Mapping[str, float], float, float]] = []
            for point in points:
                known = filling.find_known(point)
                replay = Replay(profiles, holes, self.writer.resolve_value, known, frozenset(filling.sites))
                calls = replay.run(order[::-1], [root.key for root in roots]).functions.get(key)
                if calls and key in point.entered:
                    measured.append((point.sizes, point.entered[key], calls))
            for symbol in [symbol for symbol, other in recursions.items() if other == key and measured]:
                holes[symbol] = holes[symbol].replace(fit=fit_mean(measured, means, terms))

    def reconcile_lines(
        self,
        point: RunCounts,
        filling: Filling,
        profiles: Mapping[str, FunctionCosts],
        order: Sequence[str],
        roots: Collection[r.Function],
    ) -> tuple[Reconciliation, frozenset[Span]]:
        """Compares each line with a run. Returns that, and the loops and conditions that differ, with all of functions
        that have no formulas. `order` are the keys of functions, those that are called first."""
        known = filling.find_known(point)
        replay = Replay(profiles, self.names.holes, self.writer.resolve_value, known, frozenset(filling.sites))
        tally = replay.run(order[::-1], [root.key for root in roots])
        recursive = self.names.recursions.values()
        failed = [
            function
            for function in self.program.functions
            if function.name in self.names.uncounted or function.key in recursive
        ]
        causes = find_causes(tally, point) | list_counted_spans(failed, point)
        return reconcile(tally, point, self.program.functions), causes

    def find_same_blocks(self, point: RunCounts) -> dict[Span, Span]:
        """Expressions whose pointers have pointed into the blocks of another, by their spans: of one whose bytes the
        source says, if there is one."""
        arrays = sorted(self.writer.data.values(), key=lambda array: array.volume is None)
        spans = dict.fromkeys(array.span for array in arrays if array.span in point.pointed)
        same: dict[Span, Span] = {}
        for place, span in enumerate(spans):
            for other in list(spans)[:place]:
                if span is None or other is None or other in same:
                    continue
                if point.pointed[span].has_blocks_of(point.pointed[other]):
                    same[span] = other
                    break
        return same

    def _find_read_places(self) -> dict[str, Span]:
        """Places at which the program reads the values of parameters, by the names of these."""
        read = set().union(*map(v.symbols, (self.names.parameters.get(each, v.ZERO) for each in self.names.inputs)))
        holes = (hole for symbol, hole in self.names.holes.items() if symbol in read)
        return {hole.name: hole.span for hole in holes if hole.span is not None}

    def _find_read_values(self) -> set[Expr]:
        """The parameters for values that the program reads or computes, and for parts of expressions that hold."""
        read = self.names.outcomes.union(*map(v.symbols, self.names.parameters.values()))
        return read & self.names.holes.keys()
