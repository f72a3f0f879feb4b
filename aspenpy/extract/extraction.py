"""Extraction: an application model from the text of a program in C or C++."""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from aspenpy.assembly.compiling import Recipe
from aspenpy.expr import graph
from aspenpy.expr.node import Expr
from aspenpy.expr.polynomial import atom_polynomial, constant_polynomial
from aspenpy.expr.printer import to_text
from aspenpy.extract import records as r
from aspenpy.extract import values as v
from aspenpy.extract.blocks import list_invocations
from aspenpy.extract.branches import find_never_returning
from aspenpy.extract.compiled import Code, add_cycles, read_code
from aspenpy.extract.costs import Hole, Invocation, Meaning, Profile
from aspenpy.extract.effects import (
    find_changes,
    find_effects,
    find_exposed_members,
    find_references,
    resolve_pointers,
    walk_records,
)
from aspenpy.extract.execution import Build, Tool, parse_command
from aspenpy.extract.fit import format_number
from aspenpy.extract.front_end import Reading, Text
from aspenpy.extract.hole_values import (
    BY_INFLUENCE,
    LITTLE,
    Filling,
    Influence,
    Over,
    Point,
    count_pointer_calls,
    measure_points,
)
from aspenpy.extract.linking import link_programs, separate_statics
from aspenpy.extract.naming import Kernel, Options, count_words, source_line
from aspenpy.extract.reconcile import Reconciliation, find_causes, list_counted_spans, reconcile, warn_far
from aspenpy.extract.registers import Level, Registers
from aspenpy.extract.replay import Replay
from aspenpy.extract.scope import SIZE, Names
from aspenpy.extract.state import Context, Facts, merge_contexts
from aspenpy.extract.text import NOTHING, Writer, write_macros
from aspenpy.extract.tree import read_program
from aspenpy.extract.units import TranslationUnit, find_units, is_source
from aspenpy.extract.values import TooLong, Value, to_expression
from aspenpy.extract.walk import Walker
from aspenpy.language.diagnostics import Diagnostic, drop_repeats, fail, suggest_instead, warning
from aspenpy.language.format import format_text
from aspenpy.language.source import Source, Span
from aspenpy.record import Record
from aspenpy.tables.result import Result

T = TypeVar("T")

MOST_WORDS = 550_000
"""Words and signs of kernels; the language allows 600,000 in a model."""

NO_SIZES: Over = {}

MOST_ROUNDS = 4
"""Models that are made at most, each with more lines from runs."""

POOR = 0.1
"""The relative error of a fit from which on a warning tells it."""

MAY_OVERLAP = "their values are loaded again after each store; `restrict` in the source says that they are apart"

STACK = 256 * 2**20
"""Bytes of stack for the walk, whose depth follows the nesting of the program."""


class Run(Record):
    """A command that runs the program, such as `./a.out {n}`, and the values of each name in braces; names that it
    does not mention are macros. `links` are options of the linker, `compiler` one of GCC's; `allow_failure` counts runs
    that end with an error."""

    command: str
    over: Over = NO_SIZES
    links: tuple[str, ...] = ()
    compiler: str | None = None
    counts: Tool = "gcov"
    allow_failure: bool = False


class Extraction(Record, Result):
    """The model of a program: its text, its parameters that the source does not say, the names of its kernels, and how
    its lines compare with a run."""

    name: str
    level: Level
    text: str
    holes: tuple[Hole, ...]
    kernels: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...] = ()
    reconciliation: Reconciliation | None = None

    def to_aspen(self) -> str:
        """The text of the model."""
        return self.text

    def left(self) -> tuple[Hole, ...]:
        """The parameters that neither the source nor runs nor a rule give a value."""
        return tuple(hole for hole in self.holes if hole.is_left())

    def summary(self) -> str:
        """How many of the parameters are left to a person, and which."""
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
    run: Run | None = None,
    recipe: Recipe | None = None,
) -> Extraction:
    """The application model of a program of C or C++ at `path`: a file, several, a folder, or compile_commands.json
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
    return _run_with_deep_stack(lambda: _extract_program(_read_sources(units, recipe), level, options, functions, run))


class _Sources(Record):
    """Data read of a program once: its units, their records, what was said of them, and its compiled loops."""

    units: tuple[TranslationUnit, ...]
    parts: tuple[r.Program, ...]
    diagnostics: tuple[Diagnostic, ...]
    recipe: Recipe | None
    code: Code | None


def _read_sources(units: tuple[TranslationUnit, ...], recipe: Recipe | None) -> _Sources:
    """Reads units and, with a recipe, their compiled loops; without those a warning says why."""
    parts, diagnostics = _read_units(units)
    found = None if recipe is None else read_code(units, recipe)
    if found is not None and not isinstance(found, Code):
        hint = "loops are priced by the rates and latencies of the machine"
        diagnostics.append(warning("not-compiled", f"no cycles of compiled loops: {found}", hint=hint))
        found = None
    return _Sources(units, tuple(parts), tuple(diagnostics), recipe, found)


def _extract_program(
    sources: _Sources, level: Level, options: Options, functions: tuple[str, ...], run: Run | None
) -> Extraction:
    """The model of a program. What a run says otherwise of a line than the model is taken from the run, the lines that
    others depend on first."""
    counted: frozenset[Span] = frozenset()
    points: list[Point] = []
    for _ in range(MOST_ROUNDS):
        one = _Extractor(sources, level, options, functions, run is not None, counted)
        kernels = one.write_kernels()
        if run is None:
            break
        points = points or one.measure(run)
        causes = one.fill_from_runs(points, run) - counted
        if not causes:
            break
        counted |= causes
    return one.make_extraction(kernels)


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
        has_run: bool,
        counted: frozenset[Span],
    ) -> None:
        self.units, self.parts, self.diagnostics = sources.units, sources.parts, list(sources.diagnostics)
        self.recipe, self.code = sources.recipe, sources.code
        self.reconciliation: Reconciliation | None = None
        self.program = resolve_pointers(link_programs(self.parts))
        self.path = _name_program(self.units, self.program)
        self.level, self.options, self.wanted = level, options, functions
        self.names = Names(has_run, counted)
        self.functions = {function.key: function for function in self.program.functions}
        self.macros = {
            macro.name: graph.symbol(self.names.make_unique(macro.name), SIZE) for macro in self.program.macros
        }
        made = {function.key: find_changes([function.body]) for function in self.program.functions}
        through = self.program.pointed
        self.calls = {
            key: change.calls.union(*(through.get(call, ()) for call in change.calls)) for key, change in made.items()
        }
        self.changed = {variable for change in made.values() for variable in change.variables}
        self.facts = self._gather_facts()
        self.writer = Writer(self.names, options)
        self.profiles: dict[str, Profile] = {}
        self.contexts: dict[str, list[Context]] = {}
        self.overlaps: dict[str, set[tuple[str, str]]] = {}
        self.sizes: dict[str, float] = {}

    def _gather_facts(self) -> Facts:
        """Facts that hold in all functions of the program."""
        references = find_references(self.functions)
        bodies = (function.body for function in self.program.functions)
        return Facts(
            self.program,
            self.macros,
            self.functions,
            dict(self._list_constants()),
            references,
            find_effects(self.functions),
            find_exposed_members(self.functions, references),
            find_never_returning(self.program),
            Counter(node.key for body in bodies for node in walk_records(body) if isinstance(node, r.Call)),
            {item.variable.key: item.span for item in self.program.globals},
            {
                (node.base.type.name, node.name): node.offset
                for function in self.program.functions
                for node in walk_records(function.body)
                if isinstance(node, r.Field)
            },
        )

    def write_kernels(self) -> list[Kernel]:
        """The kernels, with parameters for what the source does not say."""
        self.roots = self._find_roots()
        self.order = self._walk_functions(self.roots)
        kernels = self._write_kernels(self.roots, self.order)
        self._settle_minor_shares()
        return kernels

    def _walk_functions(self, roots: list[r.Function]) -> list[str]:
        """Walks what the roots reach, callers first, so that what they know at a call is known in the function. Returns
        the keys of functions that have kernels, those that are called first."""
        keys = {root.key for root in roots}
        for function in self._order_callers_first(roots):
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

    def _write_kernels(self, roots: list[r.Function], order: list[str]) -> list[Kernel]:
        """The kernels that something calls, and `main`."""
        keys = {root.key for root in roots}
        main = next((root.key for root in roots if root.name == "main"), None)
        written: list[Kernel] = []
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
            kernels.append(Kernel(self.names.make_unique("main"), (), ("kernel main {", *(calls or NOTHING), "}")))
        return kernels

    def make_extraction(self, kernels: list[Kernel]) -> Extraction:
        text = self._write_text(kernels)
        holes = tuple(self._list_holes())
        unknown = [_warn_unknown(hole) for hole in holes if hole.is_left()]
        unknown += [_warn_poor_fit(hole) for hole in holes if hole.fit is not None and hole.fit.error > POOR]
        found = [*self.diagnostics, *drop_repeats(self.names.diagnostics), *unknown, *self._report_overlaps()]
        found += warn_far(self.reconciliation) if self.reconciliation is not None else []
        name = os.path.splitext(os.path.basename(self.path))[0]
        names = tuple(kernel.name for kernel in kernels)
        return Extraction(name, self.level, text, holes, names, tuple(found), self.reconciliation)

    # -- functions ---------------------------------------------------------------------------------

    def _find_roots(self) -> list[r.Function]:
        """The functions to begin with: those that are wanted, else `main`, else those that no other calls."""
        functions = self.program.functions
        known = {function.name: function for function in functions}
        for name in self.wanted:
            if name not in known:
                hint = suggest_instead(name, known, "functions")
                fail("unknown-function", f"there is no function `{name}` in `{self.path}`", hint=hint)
        if self.wanted:
            return [known[name] for name in self.wanted]
        main = [function for function in functions if function.name == "main"]
        if main:
            return main
        called = {call for function in functions for call in self.calls[function.key] if call != function.key}
        roots = [function for function in functions if function.key not in called] or list(functions)
        if not roots:
            hint = "a model is made of what functions do"
            fail("no-functions", f"`{self.path}` has no function with a body", hint=hint)
        return [root for root in roots if not self._is_of_header(root)] or roots

    def _is_of_header(self, function: r.Function) -> bool:
        """Whether a function stands in a header that the file includes, where its own functions do not call it."""
        source = None if function.span is None else function.span.source
        return source is not None and source is not self.program.source and not is_source(source.name)

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

    def _order_callers_first(self, roots: list[r.Function]) -> list[r.Function]:
        """All functions that the roots reach, each behind those that call it; not so in a recursion."""
        calls = {key: sorted(called) for key, called in self.calls.items()}
        order: list[str] = []
        seen: set[str] = set()
        waiting = [(root.key, False) for root in roots]
        while waiting:
            key, is_done = waiting.pop()
            if is_done:
                order.append(key)
            elif key not in seen:
                seen.add(key)
                waiting.append((key, True))
                waiting += [(call, False) for call in calls[key] if call in calls and call not in seen]
        return [self.functions[key] for key in reversed(order)]

    def _profile_function(self, function: r.Function, is_root: bool = False) -> Profile:
        if function.key not in self.profiles:
            walker = Walker(self.names, self.facts, self.contexts)
            known = None if is_root else merge_contexts(self.contexts.get(function.key, []))
            try:
                profile = walker.profile(function, known)
            except TooLong:
                self.names.add_uncounted(function.name, function.span)
                profile = Profile(function.key, function.name, [], (), "", function.span)
            self.writer.same.update({own: array for array, own in walker.frame.inherited.items()})
            registers = Registers(self.names.arrays, self.level, frozenset(self.macros.values()))
            items = registers.remove_spared(profile.items)
            if self.code is not None:
                items = add_cycles(profile, items, self.code)
            self.overlaps[function.key] = registers.overlaps
            self.profiles[function.key] = profile.replace(items=items)
        return self.profiles[function.key]

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
        influence = Influence(self.profiles, holes, self._resolve_value)
        for symbol, hole in list(holes.items()):
            is_guess = hole.meaning.is_share and not hole.rule and symbol in self.writer.used
            if is_guess and influence.weigh(symbol) < LITTLE:
                holes[symbol] = hole.replace(meaning=hole.meaning.replace(doubt=""), rule=BY_INFLUENCE)

    # -- runs --------------------------------------------------------------------------------------

    def measure(self, run: Run) -> list[Point]:
        """Runs the program, and records what parameters stand for."""
        self.writer.write_declarations()  # which name what sizes depend on
        command = parse_command(run.command)
        nodes = (node for function in self.program.functions for node in walk_records(function.body))
        parallel = any(isinstance(node, r.Call) and node.name.startswith("omp_") for node in nodes)
        build = Build(self.units, run.links, run.compiler, parallel, run.counts)
        holes = (self.names.holes[symbol] for symbol in self._find_read_values())
        spans = dict.fromkeys(hole.span for hole in holes if hole.span is not None)
        points = measure_points(build, self.parts, command, run.over, tuple(spans), run.allow_failure)
        return [count_pointer_calls(self.program, point) for point in points]

    def _find_read_values(self) -> set[Expr]:
        """The parameters for values that the program reads or computes."""
        return set().union(*map(v.symbols, self.names.parameters.values())) & self.names.holes.keys()

    def fill_from_runs(self, points: list[Point], run: Run) -> frozenset[Span]:
        """Fits parameters to what was counted, and compares each line with the last run. Returns the loops and
        conditions that differ, and all of functions that have no formulas."""
        self.writer.write_declarations()
        holes = self.names.holes
        filling = Filling(self.program, holes, self._resolve_value, points, self._find_read_values())
        for profile in self.profiles.values():
            filling.find_sites(profile.items)
        for symbol, fit in filling.fit_holes().items():
            holes[symbol] = holes[symbol].replace(fit=fit)
        self.sizes = {name: float(values[-1]) for name, values in run.over.items()}
        point = points[-1]
        known = filling.find_known(point)
        replay = Replay(self.profiles, holes, self._resolve_value, known, frozenset(filling.sites))
        tally = replay.run(self.order[::-1], [root.key for root in self.roots])
        self.reconciliation = reconcile(tally, point, self.program.functions)
        failed = [function for function in self.program.functions if function.name in self.names.uncounted]
        return find_causes(tally, point) | list_counted_spans(failed, point)

    def _resolve_value(self, value: Value) -> Value:
        """A value in the parameters of the model, in place of what functions call them."""
        given = {symbol: known for symbol in v.symbols(value) if (known := self._resolve_symbol(symbol)) is not None}
        return v.substitute(value, given) if given else value

    def _resolve_symbol(self, symbol: Expr) -> Value | None:
        bound = self.writer.bound.get(symbol)
        return atom_polynomial(bound) if bound is not None else self.names.parameters.get(symbol)

    # -- the text ----------------------------------------------------------------------------------

    def _write_text(self, kernels: list[Kernel]) -> str:
        name = self.names.make_legal(os.path.splitext(os.path.basename(self.path))[0])
        lines = [f"// {os.path.basename(self.path)}, by aspenpy extract --as {self.level}"]
        if self.code is not None and self.recipe is not None:
            lines.append(f"// compiled by {' '.join(self.recipe.command(self.path))}; {self.code.describe()}")
        lines.append("")
        data = self.writer.write_declarations()
        parameters = [*write_macros(self.program, self.macros, self._symbols_in_formulas()), *self._write_parameters()]
        lines += [f"model {name} {{", *parameters, *([""] if parameters and data else []), *data]
        for kernel in kernels:
            lines += ["", *kernel.lines]
        lines.append("}")
        return format_text(Source("\n".join(lines) + "\n", f"<{self.path}>"))

    def _symbols_in_formulas(self) -> set[Expr]:
        """Symbols of the model's formulas, and of the values of its parameters."""
        values = (hole.value for symbol, hole in self.names.holes.items() if symbol in self.writer.used)
        return self.writer.used.union(*map(v.symbols, values))

    def _list_holes(self) -> Iterator[Hole]:
        """Parameters that some formula needs and whose value the source does not say."""
        return (hole for symbol, hole in self.names.holes.items() if symbol in self.writer.used and hole.meaning.text)

    def _write_parameters(self) -> Iterator[str]:
        used = {symbol: hole for symbol, hole in self.names.holes.items() if symbol in self.writer.used}
        yield from self._write_sizes(used)
        for hole in used.values():
            value, place = hole.text(), source_line(hole.span)
            if hole.name in self.sizes:
                value, comment = format_number(self.sizes[hole.name]), f"{hole.meaning.text}, of the command"
            elif hole.fit is not None:
                comment = _describe_fit(hole)
            elif hole.rule:
                comment = f"{hole.meaning}: {hole.rule}"
            else:
                comment = f"unknown: {hole.meaning}" if hole.meaning.text else ""
            yield f"param {hole.name} = {value}  // {comment}" + (f" ({place})" if comment and place else place)

    def _write_sizes(self, used: dict[Expr, Hole]) -> Iterator[str]:
        """Declares sizes of the command that a fitted formula needs and that the program has no name for."""
        named = {hole.name for hole in used.values()} | {macro.name for macro in self.program.macros}
        wanted = {name for hole in used.values() if hole.fit is not None for name in hole.fit.sizes()}
        for name, value in self.sizes.items():
            if name in wanted - named:
                yield f"param {name} = {format_number(value)}  // of the command"

    def _report_overlaps(self) -> Iterator[Diagnostic]:
        for key, pairs in self.overlaps.items():
            if pairs and key in self.writer.kernels:
                function = self.functions[key]
                listed = ", ".join(f"`{a}` and `{b}`" for a, b in sorted(pairs)[:4])
                message = f"in `{function.name}` may overlap: {listed}"
                yield warning("aliasing", message, function.span, hint=MAY_OVERLAP)


def _read_units(units: tuple[TranslationUnit, ...]) -> tuple[list[r.Program], list[Diagnostic]]:
    """The programs of translation units, with the diagnostics of reading them."""
    texts: dict[str, Text] = {}
    macros: dict[str, r.Macro] = {}
    found, diagnostics = [], list[Diagnostic]()
    for unit in units:
        program, said = read_program(Reading(unit.path, unit.flags, texts), macros)
        found.append(program)
        diagnostics += said
    return separate_statics(found), diagnostics


def _name_program(units: tuple[TranslationUnit, ...], program: r.Program) -> str:
    """The file that names a program: of several the one with `main`."""
    spans = (function.span for function in program.functions if function.name == "main")
    span = next((span for span in spans if span is not None), None)
    return units[0].path if span is None or len(units) == 1 else span.source.name


def _describe_fit(hole: Hole) -> str:
    """Meaning of a parameter that runs have filled, and how close the fit is."""
    assert hole.fit is not None
    runs = "1 run" if hole.fit.runs == 1 else f"{hole.fit.runs} runs, within {max(hole.fit.error * 100, 0.01):.2g} %"
    return f"{hole.meaning.text}: counted in {runs}"


def _warn_brief(function: r.Function) -> Diagnostic:
    message = f"the model is long: from `{function.name}` on loops are summed up by function, without arrays and order"
    return warning("too-large", message, function.span, hint="--function NAME models one function and what it calls")


def _warn_unknown(hole: Hole) -> Diagnostic:
    value = to_text(to_expression(hole.value))
    message = f"parameter `{hole.name}` stands for {hole.meaning}: {value} for the time being"
    return warning("unknown", message, hole.span, hint=f"--set {hole.name}=... gives it another value")


def _warn_poor_fit(hole: Hole) -> Diagnostic:
    assert hole.fit is not None
    message = f"parameter `{hole.name}` fits what was counted within {100 * hole.fit.error:.2g} % only: {hole.fit}"
    return warning("poor-fit", message, hole.span, hint="fewer or nearer sizes of --over have a formula of their own")
