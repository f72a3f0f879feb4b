"""Extraction: an application model from the text of a program in C, C++ or Fortran."""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache
from typing import TypeVar

from aspenpy.assembly.compiling import Recipe
from aspenpy.expr import graph
from aspenpy.expr.node import Expr
from aspenpy.expr.polynomial import atom_polynomial, constant_polynomial
from aspenpy.expr.printer import to_text
from aspenpy.extract import records as r
from aspenpy.extract.blocks import list_invocations
from aspenpy.extract.branches import find_never_returning
from aspenpy.extract.call_graph import CallGraph
from aspenpy.extract.calls import LARGEST_INLINED
from aspenpy.extract.compiled import CompiledLoops, read_code
from aspenpy.extract.costs import Alternative, FunctionCosts, Hole, Invocation, Item, Meaning, Nest, walk_items
from aspenpy.extract.counted_units import RunCounts
from aspenpy.extract.device import DeviceKernel
from aspenpy.extract.device_functions import INT
from aspenpy.extract.device_launches import expand_launches
from aspenpy.extract.device_regions import Regions, has_regions, region_key
from aspenpy.extract.effects import (
    find_effects,
    find_exposed_members,
    find_references,
    list_comparators,
    resolve_pointers,
    walk_records,
)
from aspenpy.extract.fit import POOR, fit_measured
from aspenpy.extract.fortran import read_fortran
from aspenpy.extract.fortran_text import FortranText
from aspenpy.extract.front_end import ParsedUnit, SourceText
from aspenpy.extract.hole_values import BY_INFLUENCE, LITTLE, Influence, fit_comparisons
from aspenpy.extract.library_time import SampledRun, add_hidden_calls
from aspenpy.extract.linking import link_programs, separate_statics
from aspenpy.extract.lookups import warn_in_turn
from aspenpy.extract.loop_cycles import add_cycles
from aspenpy.extract.model_runs import ModelRuns, ProgramRun
from aspenpy.extract.model_text import ModelText
from aspenpy.extract.naming import KernelText, Options, count_words
from aspenpy.extract.outcomes import ConditionTest, MeasuredGuesses, WrongGuesses, find_rates, list_tests
from aspenpy.extract.paths import line_of
from aspenpy.extract.reconcile import Reconciliation, warn_far, warn_unmodelled
from aspenpy.extract.registers import Level, Registers
from aspenpy.extract.round_trips import RoundTrips, add_instructions, add_meetings, find_launch_bounds, may_overlap
from aspenpy.extract.scope import NONE_COMPARED, NONE_SAME, NOT_TIMED, SIZE, MeasuredTouches, Names, TimedLines
from aspenpy.extract.searches import is_search
from aspenpy.extract.smaller_runs import note_smaller_runs
from aspenpy.extract.sorts import FittedComparisons, find_comparator
from aspenpy.extract.state import CallContext, Facts, merge_contexts
from aspenpy.extract.text import NOTHING, Writer
from aspenpy.extract.tree import read_program
from aspenpy.extract.units import TranslationUnit, find_units
from aspenpy.extract.values import TooLong, Value, to_expression
from aspenpy.extract.walk import Walker
from aspenpy.extract.warps import LaunchFacts, check_launch, measure_launch
from aspenpy.language.diagnostics import Diagnostic, drop_repeats, fail, warning
from aspenpy.language.source import Span
from aspenpy.record import Record
from aspenpy.tables.result import Result

T = TypeVar("T")

MOST_WORDS = 550_000
"""Words and signs of kernels; the language allows 600,000 in a model."""

MOST_ROUNDS = 4
"""Models that are made at most, each with more lines from runs."""

MAY_OVERLAP = "their values are loaded again after each store; `restrict` in the source says that they are apart"

STACK = 256 * 2**20
"""Bytes of stack for the walk, whose depth follows the nesting of the program."""


class Extraction(Record, Result):
    """The model of a program: its text, its parameters that the source does not say, the names of its kernels, how
    its lines compare with a run, and what warps ask for in the launches of a device."""

    name: str
    level: Level
    text: str
    holes: tuple[Hole, ...]
    kernels: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...] = ()
    reconciliation: Reconciliation | None = None
    launches: tuple[LaunchFacts, ...] = ()

    def to_aspen(self) -> str:
        """The text of the model."""
        return self.text

    def left(self) -> tuple[Hole, ...]:
        """The parameters that neither the source nor runs nor a rule give a value."""
        return tuple(hole for hole in self.holes if hole.is_left())

    def summary(self) -> str:
        """The number of open parameters, and their names."""
        names = ", ".join(hole.name for hole in self.left())
        return f"{len(self.left())} of {len(self.holes)} parameters" + (f": {names}" if names else "")


def extract(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    level: Level = "source",
    functions: tuple[str, ...] = (),
    flags: tuple[str, ...] = (),
    chains: bool = False,
    integers: bool = False,
    run: ProgramRun | None = None,
    recipe: Recipe | None = None,
) -> Extraction:
    """The application model of a program of C, C++ or Fortran at `path`: files, a folder, or compile_commands.json
    with the flags of each file. Functions are linked by their names; static ones stay apart.

    `level` says which loads and stores count: those of the source, as a compiler leaves them that keeps values in
    registers (`source`, `o1`), also from pass to pass (`o2`), with loops vectorised (`o3`). `functions` are those to
    model, with what they call; without, `main`, or else all that no other calls. `flags` go to the preprocessor: `-I`,
    `-D`, `-U`, `-std`. `chains` adds operations that wait for each other, `integers` those on whole numbers. `run`
    compiles and runs the program, and fills parameters that the source does not say with what was counted. `recipe`
    compiles it, and adds the cycles of its loops as compiled.

    :returns: an `Extraction`: the text of the model, and the parameters that the source does not say.
    :raises AspenError: where the file cannot be read or compiled, or the command of `run` fails.
    """
    options = Options(chains, integers, level == "o3")
    paths = [path] if isinstance(path, str | os.PathLike) else path
    units = find_units([os.fspath(one) for one in paths], flags)
    if run is not None and (cuda := next((unit.path for unit in units if unit.is_cuda), None)) is not None:
        hint = "without a run the model has parameters for what the source does not say"
        fail("not-counted", f"a run counts programs of C and C++ only: `{cuda}` is CUDA", hint=hint)
    return _run_with_deep_stack(lambda: _extract_program(_read_sources(units, recipe), level, options, functions, run))


class _Sources(Record):
    """Data read of a program once: its units, their records, what was said of them, and its compiled loops."""

    units: tuple[TranslationUnit, ...]
    parts: tuple[r.Program, ...]
    diagnostics: tuple[Diagnostic, ...]
    recipe: Recipe | None
    code: CompiledLoops | None


def _read_sources(units: tuple[TranslationUnit, ...], recipe: Recipe | None) -> _Sources:
    """Reads units and, with a recipe, their compiled loops; without those a warning says why."""
    parts, diagnostics = _read_units(units)
    found = None if recipe is None else read_code(units, recipe)
    if found is not None and not isinstance(found, CompiledLoops):
        hint = "loops are priced by the rates and latencies of the machine"
        diagnostics.append(warning("not-compiled", f"no cycles of compiled loops: {found}", hint=hint))
        found = None
    elif recipe is not None and (unknown := recipe.warn_unknown_target(units[0].path)):
        hint = "vectors and instructions that this processor has are not in the cycles; a newer compiler may know it"
        diagnostics.append(warning("not-compiled", unknown, hint=hint))
    return _Sources(units, tuple(parts), tuple(diagnostics), recipe, found)


class MeasuredProgram(Record):
    """Facts of a program that runs say, beside the counts in their `points`: see `Names`."""

    points: list[RunCounts]
    sampled: Sequence[tuple[RunCounts, SampledRun]] = ()
    timed: TimedLines = NOT_TIMED
    same_blocks: Mapping[Span, Span] = NONE_SAME
    means: frozenset[Span] = frozenset()
    touched: MeasuredTouches = ()
    guessed: MeasuredGuesses = ()
    compared: Mapping[Span, FittedComparisons] = NONE_COMPARED


def _measure_program(one: _Extractor, runs: ModelRuns, sources: _Sources, pinned: bool) -> MeasuredProgram:
    """Runs a program, and times it."""
    tests = one.list_tested()
    points = runs.measure(sources.units, sources.parts, tuple(tests))
    sampled, timed = runs.sample(sources.units, sources.recipe, points[-1:] if pinned else points)
    return MeasuredProgram(
        points=points,
        sampled=sampled,
        timed=timed,
        same_blocks=runs.find_same_blocks(points[-1]),
        means=frozenset(span for point in points for span, mean in point.recorded.items() if mean % 1),
        touched=tuple((point.sizes, point.touched) for point in points),
        guessed=tuple((point.sizes, find_rates(point.guessed, point.ran, tests)) for point in points),
        compared=fit_comparisons(points, pinned),
    )


def _extract_program(
    sources: _Sources, level: Level, options: Options, functions: tuple[str, ...], run: ProgramRun | None
) -> Extraction:
    """The model of a program. What a run says otherwise of a line than the model is taken from the run, the lines that
    others depend on first."""
    counted: frozenset[Span] = frozenset()
    means: frozenset[Span] = frozenset()
    found = MeasuredProgram([])
    pinned = run is not None and run.through_last
    for _ in range(MOST_ROUNDS):
        names = Names(
            run is not None,
            counted,
            same_blocks=found.same_blocks,
            touched=found.touched,
            guessed=found.guessed,
            compared=found.compared,
            means=means | found.means,
            timed=found.timed,
            pinned=pinned,
        )
        _restart_code(sources.code, names, found.points)
        one = _Extractor(sources, level, options, functions, names, with_cycles=run is None or bool(found.points))
        kernels = one.write_kernels()
        if run is None:
            return one.make_extraction(kernels, {}, None)
        runs = ModelRuns(one.program, one.writer, run)
        found = found if found.points else _measure_program(one, runs, sources, pinned)
        points = found.points
        filling = runs.fit_holes(points, one.profiles)
        means |= {hole.span for hole in names.holes.values() if hole.span and hole.fit and not hole.fit.is_whole}
        runs.fit_recursions(points, filling, one.profiles, one.order, one.roots)
        missing = runs.fit_libraries(found.sampled, filling, one.profiles, one.order, one.roots)
        reconciliation, causes = runs.reconcile_lines(points[-1], filling, one.profiles, one.order, one.roots)
        if causes <= counted and one.names.same_blocks == found.same_blocks and one.names.touched is found.touched:
            break
        counted |= causes
    one.diagnostics += note_smaller_runs([each.sizes for each in points], points[-1].written) if pinned else []
    if not functions:
        one.diagnostics += missing + warn_unmodelled(one.program.functions, one.names.walked, points[-1])
    return one.make_extraction(kernels, points[-1].sizes, reconciliation, runs.find_varied(points))


def _restart_code(code: CompiledLoops | None, names: Names, points: Sequence[RunCounts]) -> None:
    """Has compiled loops priced anew, as they ran."""
    if code is not None:
        runs = [(point.ran, point.guessed) for point in points]

        def add_cycles(span: Span, cycles: Sequence[tuple[int, float]]) -> Value:
            meaning = Meaning(f"cycles of a pass of `{span.text()[:60]}`, as it went")
            return _add_measured(names, "cycles", meaning, span, [(points[run].sizes, each) for run, each in cycles])

        code.restart(runs, names.arrays, points[-1].touched if points else {}, add_cycles)


def _add_measured(
    names: Names, name: str, meaning: Meaning, span: Span, values: Sequence[tuple[Mapping[str, float], float]]
) -> Value:
    """A parameter for what runs of some sizes say."""
    return names.add_fitted(name, meaning, span, fit_measured(values, names.pinned))


def _run_with_deep_stack(work: Callable[[], T]) -> T:
    """Runs with a stack for nesting that C allows and Python's limit of recursion does not."""
    found: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            found.append(work())
        except BaseException as error:
            failed.append(error)

    limit, size, collects = sys.getrecursionlimit(), threading.stack_size(STACK), gc.isenabled()
    sys.setrecursionlimit(20_000)
    gc.disable()  # a program's records stay until the end: to look through them is a fifth of the time
    try:
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    finally:
        sys.setrecursionlimit(limit)
        threading.stack_size(size)
        if collects:
            gc.enable()
    if failed:
        raise failed[0]
    return found[0]


class _Extractor:
    def __init__(
        self,
        sources: _Sources,
        level: Level,
        options: Options,
        functions: tuple[str, ...],
        names: Names,
        with_cycles: bool,
    ) -> None:
        self.diagnostics = list(sources.diagnostics)
        self.recipe, self.code, self.with_cycles = sources.recipe, sources.code, with_cycles
        self.program = resolve_pointers(link_programs(sources.parts))
        self.path = _name_program(sources.units, self.program)
        self.level, self.options, self.wanted = level, options, functions
        self.names = names
        self.call_graph = CallGraph(self.program)
        self.functions = self.call_graph.functions
        self.macros = {
            macro.name: graph.symbol(self.names.make_unique(macro.name), SIZE) for macro in self.program.macros
        }
        self.changed = {variable for change in self.call_graph.changes.values() for variable in change.variables}
        self.facts = self._gather_facts()
        self.writer = Writer(self.names, options)
        self.launches = self.writer.launches
        self.writer.has_launches = any(
            function.launch is not None or has_regions(function.body) for function in self.program.functions
        )
        self.profiles: dict[str, FunctionCosts] = {}
        self.contexts: dict[str, list[CallContext]] = {}
        self.overlaps: dict[str, set[tuple[str, str]]] = {}
        self.guessed_tests = self._list_guessed()

    def _gather_facts(self) -> Facts:
        """Facts that hold in all functions of the program."""
        references = find_references(self.functions)
        bodies = (function.body for function in self.program.functions)
        return Facts(
            self.program,
            self.macros,
            functions=self.functions,
            constants=dict(self._list_constants()),
            references=references,
            effects=find_effects(self.functions),
            exposed=find_exposed_members(self.functions, references),
            never_return=find_never_returning(self.program),
            call_sites=Counter(node.key for body in bodies for node in walk_records(body) if isinstance(node, r.Call)),
            global_spans={item.variable.key: item.span for item in self.program.globals},
            member_offsets={
                (node.base.type.name, node.name): node.offset
                for function in self.program.functions
                for node in walk_records(function.body)
                if isinstance(node, r.Field)
            },
            recursive=frozenset(key for key, called in self.call_graph.calls.items() if key in called),
            is_inlined=cache(self._is_inlined),
        )

    def _is_inlined(self, function: r.Function, places: tuple[Span | None, ...]) -> bool:
        """Whether the compiled program has the loops of a function that is small, none in another, in a loop around a
        call of it at some places."""
        inside = list(walk_records(function.body))
        loops = [part for part in inside if isinstance(part, r.LoopStatement)]
        in_loops = (part for loop in loops for part in walk_records(loop.body))
        if len(inside) > LARGEST_INLINED or any(isinstance(part, r.LoopStatement) for part in in_loops):
            return False  # passes of so much work hardly overlap, and are a kernel to whoever reads the model
        heads = [line_of(loop.span) for loop in loops if loop.span is not None]
        called = {line_of(place) for place in places if place is not None}
        return self.code is not None and self.code.is_inlined(heads, called)

    def write_kernels(self) -> list[KernelText]:
        """The kernels, with parameters for what the source does not say."""
        self.roots = self.call_graph.find_roots(self.wanted, self.path)
        self.order = self._walk_functions(self.roots)
        kernels = self._write_kernels(self.roots, self.order)
        self._settle_minor_shares()
        return kernels

    def _walk_functions(self, roots: list[r.Function]) -> list[str]:
        """Walks what the roots reach, callers first, so that what they know at a call is known in the function. Returns
        the keys of functions that have kernels, those that are called first."""
        keys = {root.key for root in roots}
        for function in self.call_graph.order_callers_first(roots):
            if function.key in keys or function.key in self.contexts:
                self._profile_function(function, function.key in keys)
        self.writer.set_roots(map(self._profile_function, roots))
        order = self._order_called_first(roots)
        calls: dict[str, list[Invocation]] = {}
        for caller in order:
            for call in list_invocations(self.profiles[caller].items):
                calls.setdefault(call.function, []).append(call)
        for key in reversed(order):
            if key not in keys and key in calls:
                self.writer.bind_arguments(self.profiles[key], calls[key])
        return order

    def _write_kernels(self, roots: list[r.Function], order: list[str]) -> list[KernelText]:
        """The kernels that something calls, and `main`."""
        keys = {root.key for root in roots}
        main = next((root.key for root in roots if root.name == "main"), None)
        written: list[KernelText] = []
        words, was_brief = 0, False
        for key in order:
            function, profile = self.functions[key], self.profiles[key]
            kernel = self.writer.write_kernel(profile, profile.items, key in keys, "main" if key == main else None)
            written.append(kernel)
            words += count_words(kernel.lines)
            if self.writer.is_brief and not was_brief:
                was_brief = True
                self.diagnostics.append(_warn_brief(function))
            if words > MOST_WORDS:
                message = f"the program is too large for one model, at `{function.name}`"
                fail("too-large", message, function.span, hint="--function NAME models one function and what it calls")
        called = {id(kernel) for kernel in self.writer.kernels.values()}
        kernels = [kernel for kernel in written if id(kernel) in called or kernel.name == "main"]
        if main is None:
            calls = [
                f"call {self.writer.kernels[key].name}"
                for key in dict.fromkeys(root.key for root in roots)
                if key in self.writer.kernels
            ]
            kernels.append(KernelText(self.names.make_unique("main"), (), ("kernel main {", *(calls or NOTHING), "}")))
        return kernels

    def make_extraction(
        self,
        kernels: list[KernelText],
        sizes: Mapping[str, float],
        reconciliation: Reconciliation | None,
        varied: Collection[str] = (),
    ) -> Extraction:
        """The model with its parameters. `sizes` are those of the last run, which `reconciliation` compares it with;
        the runs differ in those that `varied`."""
        text = ModelText(self.program, self.writer, self.macros, sizes, varied)
        holes = text.list_holes()
        unknown = [warn_unknown(hole) for hole in holes if hole.is_left()]
        unknown += [_warn_poor_fit(hole) for hole in holes if hole.fit is not None and hole.fit.error > POOR]
        found = [*self.diagnostics, *drop_repeats(self.names.diagnostics), *unknown, *self._report_overlaps()]
        found += warn_far(reconciliation) if reconciliation is not None else []
        found += map(warn_in_turn, dict.fromkeys(self.code.in_turn)) if self.code is not None else []
        origins = [f"by aspenpy extract --as {self.level}"]
        if self.code is not None and self.recipe is not None:
            origins.append(f"compiled by {' '.join(self.recipe.command(self.path))}; {self.code.describe()}")
        written = text.write(self.path, origins, kernels)
        name = os.path.splitext(os.path.basename(self.path))[0]
        names = tuple(kernel.name for kernel in kernels)
        launches = tuple(self.writer.launches.values())
        return Extraction(
            name,
            self.level,
            written,
            holes,
            names,
            diagnostics=tuple(found),
            reconciliation=reconciliation,
            launches=launches,
        )

    # -- functions ---------------------------------------------------------------------------------

    def _order_called_first(self, roots: list[r.Function]) -> list[str]:
        """Keys of the functions that have kernels of their own, those that are called before those that call."""
        order: list[str] = []
        seen: set[str] = set()

        def visit(function: r.Function) -> None:
            seen.add(function.key)
            for call in list_invocations(self._profile_function(function).items):
                if call.function in self.functions and call.function not in seen:
                    visit(self.functions[call.function])
            order.append(function.key)

        for root in roots:
            if root.key not in seen:
                visit(root)
        return order

    def _profile_function(self, function: r.Function, is_root: bool = False) -> FunctionCosts:
        if function.key not in self.profiles:
            self.names.walked.add(function.key)
            walker = Walker(self.names, self.facts, self.contexts)
            known = None if is_root else merge_contexts(self.contexts.get(function.key, []))
            try:
                profile = walker.profile(function, known)
            except TooLong:
                self.names.add_uncounted(function.name, function.span)
                profile = FunctionCosts(function.key, function.name, [], formals=(), comment="", span=function.span)
            self.writer.same.update({own: array for array, own in walker.frame.inherited.items()})
            registers = Registers(self.names.arrays, self.level, frozenset(self.macros.values()))
            regions = Regions(self.names.make_counter)
            if function.launch is None:
                items = registers.remove_spared(regions.take_out(profile.items))
            else:
                device = DeviceKernel(profile.items, walker.frame.given, self._number_macros())
                asked = profile.formals[-1] if function.launch.extents else None
                dynamic = atom_polynomial(asked) if isinstance(asked, Expr) else None
                items = self._arrange_launch(function, device, registers, function.launch, dynamic)
            items = add_hidden_calls(items, self.names, self.names.timed.hidden)
            if self.code is not None and self.with_cycles:
                items = add_cycles(profile, items, self.code)
                shown = {item.span for item in walk_items(items) if isinstance(item, Nest | Alternative)}
                apart = {test.span: test.span for test in self.guessed_tests if not test.is_statement}
                hidden = (test for test in self.guessed_tests if test.is_branch and test.span not in shown)
                apart |= {test.condition: test.span for test in hidden}
                of_loops = {test.span: test.condition for test in self.guessed_tests if not test.is_branch}
                items = WrongGuesses(self._find_rate, self.names.find_sources, apart, of_loops).add_to(items)
            items = regions.put_back(items, lambda nest, assumed: self._arrange_region(function, nest, assumed))
            self.overlaps[function.key] = registers.overlaps
            self.profiles[function.key] = profile.replace(items=items)
        return self.profiles[function.key]

    def _arrange_launch(
        self, function: r.Function, device: DeviceKernel, registers: Registers, launch: r.Launch, dynamic: Value | None
    ) -> list[Item]:
        """The items of a launch, of whose warps the facts are noted by its key."""
        arrays = self.names.arrays
        far, near = RoundTrips(arrays, may_overlap(function)), RoundTrips(arrays, may_overlap=True, is_near=True)
        items = device.arrange(
            registers.remove_spared, lambda items: add_meetings(near.add(far.add(add_instructions(items, arrays))))
        )
        bounds = find_launch_bounds(function.pragmas, self.program.macros)
        named = self._number_macros()
        items, facts = measure_launch(device, items, self.names.arrays, launch, dynamic=dynamic, named=named)
        facts = facts.replace(name=function.name, span=launch.span or function.span, bounds=bounds)
        self.launches[launch.key] = facts
        self.diagnostics += check_launch(launch, facts)
        return items

    def _number_macros(self) -> dict[Expr, Value]:
        """The numbers that named sizes have in the source."""
        macros = {macro.name: macro.value for macro in self.program.macros}
        return {symbol: constant_polynomial(macros[name]) for name, symbol in self.macros.items() if name in macros}

    def _arrange_region(self, function: r.Function, nest: Nest, is_assumed: bool) -> list[Item]:
        """The launch that a loop of the host is whose directive offloads it."""
        extents = () if is_assumed else (r.Constant(1, INT),)
        launch = r.Launch(region_key(function.key, nest), function.key, extents, nest.span, self.program.warp)
        registers = Registers(self.names.arrays, "source", frozenset(self.macros.values()))
        return self._arrange_launch(
            function, DeviceKernel([nest], {}, self._number_macros()), registers, launch, dynamic=None
        )

    def list_tested(self) -> dict[Span, Span]:
        """Parts of conditions that are jumps in the compiled program, with what they are parts of: a condition as a
        whole where it has fewer jumps than parts; inside an expression the first parts, as many as there are jumps.
        Outcomes of comparators stand for the tests in those of searches."""
        found: dict[Span, Span] = {}
        comparing = {key for call in self._list_calls() if is_search(call) for key in list_comparators(call)}
        functions = (function for function in self.program.functions if function.key not in comparing)
        for test in (test for function in functions for test in list_tests(function)):
            jumps = self.code.count_jumps(test.condition) if self.code is not None else 0
            is_whole = test.is_statement and 0 < jumps < len(test.parts)
            found |= dict.fromkeys((test.condition,) if is_whole else test.parts[:jumps], test.span)
        calls = self._list_calls() if self.code is not None else ()
        return found | {call.span: call.span for call in calls if call.span and find_comparator(call) is not None}

    def _list_calls(self) -> Iterator[r.Call]:
        nodes = (node for function in self.program.functions for node in walk_records(function.body))
        return (node for node in nodes if isinstance(node, r.Call))

    def _list_guessed(self) -> tuple[ConditionTest, ...]:
        """The tests at which branches were guessed wrongly."""
        known = {span for _, rates in self.names.guessed for span in rates}
        tests = (test for function in self.program.functions for test in list_tests(function))
        return tuple(test for test in tests if test.span in known)

    def _find_rate(self, span: Span) -> Value | None:
        """Wrong guesses each time that a condition is tested or a loop entered: a parameter that runs say."""
        rates = [(sizes, rates.get(span, 0.0)) for sizes, rates in self.names.guessed]
        if not any(rate for _, rate in rates):
            return None
        meaning = Meaning(f"branches guessed wrongly each time at `{span.text()[:60]}`")
        return _add_measured(self.names, "wrong_guesses", meaning, span, rates)

    def _list_constants(self) -> Iterator[tuple[str, Value]]:
        """Global variables of whole numbers that nothing assigns to; those above 1 are parameters of the model."""
        for item in self.program.globals:
            variable, value = item.variable, item.value
            if variable.type.kind != "integer" or variable.key in self.changed:
                continue
            if isinstance(value, r.Constant) and isinstance(value.value, int):
                known = constant_polynomial(value.value)
                is_name = value.value > 1
                yield (
                    variable.key,
                    self.names.add_hole(variable.name, Meaning(""), known, variable.span) if is_name else known,
                )

    def _settle_minor_shares(self) -> None:
        """Keeps the guessed value of shares that decide little."""
        holes = self.names.holes
        influence = Influence(self.profiles, holes, self.writer.resolve_value)
        for symbol, hole in list(holes.items()):
            is_guess = hole.meaning.is_share and not hole.rule and symbol in self.writer.used
            if is_guess and influence.weigh(symbol) < LITTLE:
                holes[symbol] = hole.replace(meaning=hole.meaning.replace(doubt=""), rule=BY_INFLUENCE)

    def _report_overlaps(self) -> Iterator[Diagnostic]:
        for key, pairs in self.overlaps.items():
            if pairs and key in self.writer.kernels:
                function = self.functions[key]
                listed = ", ".join(f"`{a}` and `{b}`" for a, b in sorted(pairs)[:4])
                message = f"in `{function.name}` may overlap: {listed}"
                yield warning("aliasing", message, function.span, hint=MAY_OVERLAP)


def _read_units(units: tuple[TranslationUnit, ...]) -> tuple[list[r.Program], list[Diagnostic]]:
    """The programs of translation units, with the diagnostics of reading them."""
    texts: dict[str, SourceText] = {}
    macros: dict[str, r.Macro] = {}
    found, diagnostics = dict[str, r.Program](), list[Diagnostic]()
    for unit in units:
        if not unit.is_fortran:
            found[unit.path], said = read_program(ParsedUnit(unit.path, unit.flags, texts), macros)
            diagnostics += said
    if fortran := [FortranText(unit.path, unit.flags) for unit in units if unit.is_fortran]:
        programs, said = read_fortran(fortran, macros)  # together: they use each other's modules
        found |= {text.path: program for text, program in zip(fortran, programs, strict=True)}
        diagnostics += said
    return separate_statics(expand_launches([found[unit.path] for unit in units])), diagnostics


def _name_program(units: tuple[TranslationUnit, ...], program: r.Program) -> str:
    """The file that names a program: of several the one with `main`."""
    spans = (function.span for function in program.functions if function.name == "main")
    span = next((span for span in spans if span is not None), None)
    return units[0].path if span is None or len(units) == 1 else span.source.name


def _warn_brief(function: r.Function) -> Diagnostic:
    message = f"the model is long: from `{function.name}` on loops are summed up by function, without arrays and order"
    return warning("too-large", message, function.span, hint="--function NAME models one function and what it calls")


def warn_unknown(hole: Hole) -> Diagnostic:
    """The warning of a parameter that has no known value."""
    value = to_text(to_expression(hole.value))
    message = f"parameter `{hole.name}` stands for {hole.meaning}: {value} for the time being"
    return warning("unknown", message, hole.span, hint=f"--set {hole.name}=... gives it another value")


def _warn_poor_fit(hole: Hole) -> Diagnostic:
    assert hole.fit is not None
    message = f"parameter `{hole.name}` fits what was counted within {100 * hole.fit.error:.2g} % only: {hole.fit}"
    return warning("poor-fit", message, hole.span, hint="fewer or nearer sizes of --over have a formula of their own")
