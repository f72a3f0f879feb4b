"""The text of a model: formulas in the source's symbols, one kernel for a function, comments that say where things are
from."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction

from aspenpy.expr import graph
from aspenpy.expr.node import Expr
from aspenpy.expr.polynomial import Monomial, atom_polynomial, constant_polynomial
from aspenpy.expr.printer import ASPEN, TooLarge, write_fragments
from aspenpy.extract import records as r
from aspenpy.extract import values as v
from aspenpy.extract.blocks import (
    COUNTED,
    BlockAccess,
    BlockAmounts,
    BlockSummary,
    OperationCount,
    average_roundings,
    has_calls,
    nesting_depth,
)
from aspenpy.extract.costs import (
    BEHIND,
    BESIDE,
    COMPARED_WRONG,
    CUT,
    CYCLES,
    FIRST,
    LIBRARY,
    LINKS,
    MOVED,
    NO_WORK,
    RESTARTED,
    ROWS,
    STEPS,
    THREADS,
    WAITING,
    WRONG,
    Alternative,
    Array,
    FunctionCosts,
    Invocation,
    Item,
    Meaning,
    MessageStatement,
    Nest,
    PointerTarget,
    called_function,
    walk_items,
)
from aspenpy.extract.count import NoClosedForm
from aspenpy.extract.device import is_grid
from aspenpy.extract.device_regions import region_key
from aspenpy.extract.device_text import LaunchText
from aspenpy.extract.fit import fit_measured
from aspenpy.extract.locality import LINE, LITTLE, PARTS, SCATTERED, Handover, Locality, find_locality
from aspenpy.extract.lookups import split_chain
from aspenpy.extract.naming import Formal, KernelText, ModelBindings, Naming, count_words, source_line, write_comments
from aspenpy.extract.patterns import Request, group_requests
from aspenpy.extract.pragmas import parallel_directive, parse_directives
from aspenpy.extract.triangles import CounterRange, Trips
from aspenpy.extract.values import ONE, ZERO, TooLong, Value
from aspenpy.language.source import Span
from aspenpy.language.tokens import MAXIMUM_BLOCKS

ScatteredLoads = dict[str, tuple[Value, bool]]
"""Loads of an array that jump: how many these are, and whether they lead anywhere in it."""

OF_SORT = "of a library's sort"
"""The comment on operations of sorts beside what compares."""

LOADED = 4
"""Cycles in which the first cache brings what is compared behind a wrong guess."""

MOST_LETTERS = 1500
"""Letters of a line; a function with longer ones takes its loops and conditions from the counts of a run."""

MOST_BRACES = MAXIMUM_BLOCKS - 8
"""Braces around statements of a kernel: those of the model, of a block and of what it has stand beside them."""

STACK = 4096
"""Bytes that stand for a program's stack: a page, which any first cache holds."""

OF_COMPILED = "of the compiled program alone: the stack, constants, loads again"
"""The comment on such accesses."""

MOVING = 512
"""Bytes within which accesses that move along meet their words: a few lines, which any first cache holds."""

NOTHING = ["execute { flops [0] }"]
"""What stands where the language wants a statement and the program has nothing that counts."""


class Writer(ModelBindings):
    """Writes the kernels of a program, those that are called first."""

    def write_declarations(self) -> list[str]:
        """The data of the model, each with its size."""
        body = Body(self, FunctionCosts("", "", [], formals=()), True)
        found = []
        for key, array in self.data.items():
            comment = source_line(array.span)
            if array.volume is None and (elements := self.count_elements(array)) is not None:
                array = array.replace(volume=v.scale(elements, array.word), extents=(elements,))
            stated = array.volume or self._find_pointed_bytes(key)
            array = array.replace(volume=stated or self._find_reach(key) or self._find_asked_bytes(key))
            try:
                size = body.write_size(array)
            except TooLarge:
                size = body.write_size(array.replace(volume=None))
            found.append(f"data {self.names.shared[key]} {size}{f'  // {comment}' if comment else ''}")
        return found

    def write_kernel(
        self, profile: FunctionCosts, items: list[Item], is_root: bool, name: str | None = None
    ) -> KernelText:
        """The kernel of a function. The arguments of a root are parameters and data of the model."""
        body = Body(self, profile, is_root)
        try:
            lines = body.write_statements(items, ())
        except (NoClosedForm, TooLong, TooLarge):
            uncounted = self.names.add_uncounted(profile.name, profile.span)
            lines = [f"execute {{ flops [{body.write_formula(uncounted)}] }}"]
        if self.names.counts_each and any(len(line) > MOST_LETTERS and not line.startswith("//") for line in lines):
            self.names.uncounted.append(profile.name)  # each evaluation would take longer than the counts are worth
        kernel = body.finish_kernel(name or self.names.make_unique(profile.name), lines or NOTHING)
        if lines:
            self.kernels[profile.key] = kernel
        return kernel


class Body(Naming):
    """The statements of one kernel."""

    # -- statements --------------------------------------------------------------------------------

    def write_statements(self, items: list[Item], around: tuple[Nest, ...]) -> list[str]:
        lines: list[str] = []
        waiting: list[Item] = []
        for item in items:
            if self.writer.is_brief and isinstance(item, Nest) and self._is_plain(item):
                waiting.append(item)
            elif isinstance(item, Nest | Invocation | MessageStatement) or (
                isinstance(item, Alternative) and (nesting_depth(item) or has_calls([item]))
            ):
                lines += self._write_plain(waiting)
                waiting = []
                lines += self._write_statement(item, around)
            else:
                waiting.append(item)
        return lines + self._write_plain(waiting)

    def _write_plain(self, items: list[Item]) -> list[str]:
        """Writes code outside of loops; in a brief text, loops too."""
        if not any(isinstance(item, Nest) for item in items):
            return self._write_block(items, None) if items else []
        try:
            return self._write_block(items, None)
        except (NoClosedForm, TooLong, TooLarge):
            return [line for item in items for line in self._write_apart(item)]

    def _write_apart(self, item: Item) -> list[str]:
        return self._write_statement(item, ()) if isinstance(item, Nest) else self._write_plain([item])

    def _is_plain(self, nest: Nest) -> bool:
        return not is_grid(nest) and self._is_block(nest) and not is_parallel(nest)

    def _write_statement(self, item: Item, around: tuple[Nest, ...]) -> list[str]:
        if isinstance(item, Invocation):
            return self._write_call(item)
        if isinstance(item, MessageStatement):
            return self._write_exchange(item)
        if isinstance(item, Alternative):
            return self._write_alternative(item, around)
        assert isinstance(item, Nest)
        if is_grid(item):
            facts = self.writer.launches.get(region_key(self.profile.key, item))
            return LaunchText(self, item, facts or self.writer.launches.get(self.profile.key)).write()
        if self._is_block(item):
            for nest in (item, average_roundings(item)):
                try:
                    if nest is not None:
                        return self._guard_block(nest, self._write_block([nest], nest))
                except (NoClosedForm, TooLong):
                    pass
        return self._write_loop(item, around)

    def _guard_block(self, nest: Nest, lines: list[str]) -> list[str]:
        """A block in a loop of the model, under the condition that its loops make passes."""
        empty = [
            bound
            for bound in nest.bounds
            if v.counters(bound) and not self.counter.assume_nonnegative(v.subtract(bound, ONE), (), ())
        ]
        if not lines or not empty:
            return lines
        return [f"if ({' and '.join(f'{self.write_formula(bound)} > 0' for bound in empty)}) {{", *lines, "}"]

    def _is_block(self, nest: Nest) -> bool:
        """Whether a nest becomes one block, in which its data stay in the caches."""
        if has_calls(nest.body) or any(map(is_grid, list_nests(nest.body))):
            return False
        if not is_parallel(nest) and any(is_parallel(inner) for inner in list_nests(nest.body)):
            return False
        inside = [item for item in nest.body if isinstance(item, Nest | Alternative) and nesting_depth(item)]
        deep = [item for item in inside if nesting_depth(item) > 1]
        if len(deep) > 1:
            return any(_has_dependence(item, nest.counter) for item in inside)
        return True

    def _write_inside(self, items: list[Item], around: tuple[Nest, ...], braces: int, span: Span | None) -> list[str]:
        """Statements inside of `braces` more; where the language does not nest as deep, a parameter stands for them."""
        if items and self.braces + braces > MOST_BRACES:
            return [f"execute {{ flops [{self.write_formula(self.names.add_uncounted(self.profile.name, span))}] }}"]
        self.braces += braces
        lines = self.write_statements(items, around)
        self.braces -= braces
        return lines

    def _write_loop(self, nest: Nest, around: tuple[Nest, ...]) -> list[str]:
        """A loop of the model."""
        self.counter.around.append(nest)
        inner = self._write_inside(nest.body, (*around, nest), 1, nest.span)
        self.counter.around.pop()
        if not inner:
            return []
        passes = v.extreme_of("min", nest.bounds)
        if not self.counter.assume_nonnegative(passes, around, ()):
            passes = v.extreme_of("max", (ZERO, passes))
        if nest.share is not None:
            passes = v.multiply(passes, nest.share)
        count = self.write_formula(passes)
        counter = f" {self.symbols[nest.counter]}" if nest.counter in self.counters else ""
        return [*write_comments(nest.comment, nest.span), f"iterate{counter} [{count}] {{", *inner, "}"]

    def _write_alternative(self, item: Alternative, around: tuple[Nest, ...]) -> list[str]:
        braces = 1 if item.share is None else 2
        then, otherwise = (self._write_inside(side, around, braces, item.span) for side in (item.then, item.otherwise))
        if not then and not otherwise:
            return []
        if item.share is not None:
            if not item.share.terms:
                return otherwise
            then = then or NOTHING
            share = self.write_formula(item.share)
            lines = ["probability {", f"[{share}] {{", *then, "}"]
            return [*lines, *(["else {", *otherwise, "}"] if otherwise else []), "}"]
        if not item.guards:
            return [*then, *otherwise]
        condition = " and ".join(f"{self.write_formula(guard.value)} {guard.operator} 0" for guard in item.guards)
        tail = ["else {", *otherwise, "}"] if otherwise else []
        return [f"if ({condition}) {{", *(then or NOTHING), "}", *tail]

    def _write_call(self, item: Invocation) -> list[str]:
        kernel = self.writer.kernels.get(item.function)
        if kernel is None:
            return []
        arguments = []
        for formal in kernel.formals:
            given = item.arguments[formal.position] if formal.position < len(item.arguments) else None
            if formal.kind == "data":
                arguments.append(self._find_data_argument(given, kernel, formal))
            else:
                arguments.append(self.write_formula(self._find_value_argument(given, kernel, formal, item.span)))
        return [f"call {kernel.name}({', '.join(arguments)})" if arguments else f"call {kernel.name}"]

    def _find_data_argument(self, given: Value | PointerTarget | None, kernel: KernelText, formal: Formal) -> str:
        """Name of an array that is passed; one of its own for a null or unknown pointer."""
        if isinstance(given, PointerTarget):
            return self.name_array(given.array)
        name = f"{kernel.name}_{formal.name}"
        return self.name_shared_array(
            Array(f"{kernel.name}.{formal.name}", name, "formal", word=8, extents=(), volume=formal.volume)
        )

    def _find_value_argument(
        self, given: Value | PointerTarget | None, kernel: KernelText, formal: Formal, span: Span | None
    ) -> Value:
        if given is not None and not isinstance(given, PointerTarget):
            return given
        meaning = Meaning(f"argument `{formal.name}` of {kernel.name}")
        return self.names.add_hole(f"{kernel.name}_{formal.name}", meaning, constant_polynomial(100), span, low=1)

    def _write_exchange(self, item: MessageStatement) -> list[str]:
        """Statement of a message; all ranks take part."""
        if item.resource != "messages":
            amount = self.write_formula(item.volume)
            note = f"  // {item.note}" if item.note else ""
            return [*write_comments("", item.span), f"execute {{ {item.resource} [{amount}]{note}", "}"]
        way = f"messages [{self.write_formula(item.volume)}]" + (f" as {item.exchange}" if item.exchange else "")
        note = f"  // {item.note}" if item.note else ""
        head = f"execute [{self.write_formula(self.names.ranks())}] {{"
        return [*write_comments("", item.span), head, way + note, "}"]

    # -- blocks ------------------------------------------------------------------------------------

    def _write_block(self, items: list[Item], nest: Nest | None) -> list[str]:
        unequal = "" if nest is None else self._write_unequal_parts(nest)
        parts = () if nest is None or unequal else self._find_parallel_parts(nest)
        amounts = BlockSummary(self.counter, self.names, bool(parts)).sum_amounts(items)
        simd = any(found.is_simd for inner in list_nests(items) for found in parse_directives(inner.pragmas))
        ahead: list[str] = []
        lines = self._write_requirements(amounts, parts, ", simd" if simd else "", ahead)
        first = ["execute {", *ahead, "}"] if ahead else []
        if not lines:
            return first
        offloaded = nest is not None and any(found.is_offloaded for found in parse_directives(nest.pragmas))
        label = ' "target"' if offloaded else ""
        head = f"execute [{self.write_formula(_multiply_parts(parts))}]{label} {{" if parts else f"execute{unequal} {{"
        comments = write_comments(nest.comment, nest.span) if nest is not None else []
        remarks = [*self._write_reductions(nest), *self._write_remarks(amounts)] if not self.writer.is_brief else []
        self.writer.words += count_words(lines)
        if self.writer.has_launches:
            head, lines = f"if ({self.write_formula(self.find_host_work())} > 0) {{", [head, *lines, "}"]
        return [*first, *comments, *remarks, head, *lines, "}"]

    def find_host_work(self) -> Value:
        """The parameter that says whether the host's own work counts, in a program that launches kernels."""
        meaning = Meaning("whether the work of the host counts too, on the socket of the kernels")
        return self.names.add_hole("host_work", meaning, ZERO, span=None, low=0, rule="it is left out at 0")

    def _write_unequal_parts(self, nest: Nest) -> str:
        """The passes of a parallel loop as parts of one rank's work, which its cores share by the loop's schedule;
        nothing where all passes do the same."""
        found = parallel_directive(nest.pragmas)
        # The language deals out the passes of one loop: a size in terms of several counters cannot be written.
        is_plain = len(nest.bounds) == 1 and nest.share is None
        if found is None or not is_plain or found.is_offloaded or found.schedule is None or found.collapsed_loops > 1:
            return ""
        try:
            size = self._measure_pass(nest)
        except NoClosedForm:
            return ""
        if not v.has_symbol(size, nest.counter):
            return ""
        written = self.write_formula(size)
        counter, passes = self.symbols[nest.counter], self.write_formula(nest.bounds[0])
        return f" [1] of {counter} [{passes}] of size [{written}] {found.schedule}"

    def _measure_pass(self, nest: Nest) -> Value:
        """The flops of a pass in terms of its counter, or the words that it moves where it computes nothing."""
        self.counter.around.append(nest)  # sums in a pass may go up to the counter of this loop
        try:
            amounts = BlockSummary(self.counter, self.names, True).sum_amounts(nest.body)
        finally:
            self.counter.around.pop()
        done = [each.amount for each in amounts.operations if each.name not in NO_WORK]
        return v.add(*(done or [access.words for access in amounts.accesses]))

    def _find_parallel_parts(self, nest: Nest) -> tuple[Value, ...]:
        """Numbers of parallel parts of a loop, the outermost first: threads, or on a device the passes of all collapsed
        loops."""
        found = parallel_directive(nest.pragmas)
        if found is None:
            return ()
        passes: list[Value] = []
        inner = nest
        for depth in range(found.collapsed_loops if found.is_offloaded else 0):
            inside = [item for item in inner.body if isinstance(item, Nest)]
            if (
                len(inner.bounds) != 1
                or v.counters(inner.bounds[0])
                or (depth + 1 < found.collapsed_loops and len(inside) != 1)
            ):
                return (self.find_threads(),)
            passes.append(inner.bounds[0])
            inner = inside[0] if inside else inner
        return tuple(passes) or (self.find_threads(),)

    @staticmethod
    def _write_reductions(nest: Nest | None) -> list[str]:
        found = parallel_directive(nest.pragmas) if nest is not None else None
        return [f"// combined over threads: {', '.join(found.reductions)}"] if found and found.reductions else []

    def find_threads(self) -> Value:
        if self.writer.threads is None:
            self.writer.threads = self.names.add_hole("threads", Meaning(THREADS), ONE, span=None, low=1)
        return self.writer.threads

    def _write_requirements(
        self, amounts: BlockAmounts, parts: tuple[Value, ...], simd: str, ahead: list[str]
    ) -> list[str]:
        """The requirements of a block; the loads that have to be there before it begins go to `ahead`."""

        def share_of(value: Value) -> str:
            return self.write_formula(v.ratio(value, _multiply_parts(parts)) if parts else value)

        lines: list[str] = []
        waiting: list[OperationCount] = []
        called: list[Value] = []
        sorting: list[str] = []
        scattered: ScatteredLoads = {}
        for done in (done for done in amounts.operations if done.name not in (FIRST, LINKS, ROWS)):
            if done.name == CYCLES:
                lines.append(f"chain [{share_of(done.amount)}] as window, {done.precision}")
            elif done.name in (WAITING, RESTARTED, CUT, BEHIND):
                waiting.append(done)
            elif done.name in BESIDE.values():
                lines.append(f"{done.name.split()[0]} [{share_of(done.amount)}] {self._write_stack(done)}")
            elif done.name == WRONG:
                data = f" from {self.name_array(done.precision)}" if done.precision else ""
                lines.append(f"branches [{share_of(done.amount)}]{data} as mispredicted(1)")
            elif done.name in (COMPARED_WRONG, STEPS, *MOVED.values()):
                sorting.append(self._write_library_work(done, share_of(done.amount)))
            elif done.name == LIBRARY:
                called.append(done.amount)
            elif done.name == "integer":
                lines += [f"intops [{share_of(done.amount)}]"] if self.writer.options.integers else []
            elif function := called_function(done.name):
                each = self.names.find_library_flops(function)
                trait = f" as {done.precision}" if done.precision else ""
                lines.append(f"flops [{share_of(v.multiply(done.amount, each))}]{trait}  // {done.name}")
            else:
                wide = "" if "simd" in done.precision else simd
                lines.append(f"flops [{share_of(done.amount)}] as {done.name}, {done.precision}{wide}")
        ahead += sorting
        ahead += (
            [f"chain [{share_of(v.add(*called))}] as integer  // of libraries, as timed in a run"] if called else []
        )
        for chain in amounts.chains if self.writer.options.chains else ():
            if chain.classes == COUNTED and self.writer.options.in_vectors:
                continue
            for name in dict.fromkeys(chain.classes):
                times = chain.classes.count(name)
                lines.append(f"chain [{share_of(v.scale(chain.passes, times))}] as {name}")
        if self.writer.is_brief:
            return lines + self._write_bytes(amounts, share_of)
        for access in amounts.accesses:
            if access.pattern is None or not access.pattern.anywhere:
                self.writer.add_reach(self.names.find_canonical(access.array, self.writer.same), access.reach)
        stored = {access.array for access in amounts.accesses if access.kind != "load"}
        self.names.wandering.update(_list_handovers(amounts.accesses))
        of_threads = bool(parts) and parts == (self.writer.threads,)
        for request in group_requests(amounts.accesses, amounts.depth):
            plain = self._write_words(request, 1, share_of)
            if request.spans:
                self.names.wandering.add(request.spans)
            if request.is_unordered and (measured := self._write_measured(request, plain, share_of, scattered)):
                lines += measured
                continue
            way = self._write_words(request, request.run, share_of)
            trait = self._write_pattern(request, _arguments_of_part(request, parts))
            if v.number(request.reuse) != 1:
                trait += f", reuse({self.write_formula(request.reuse)})"
            if of_threads and request.array not in stored and _stays_in_outermost_loop(request):
                trait += ", shared"
            lines.append(f"{way} as {trait}" if trait else way)
        for done in waiting:
            jumps, _ = scattered.get(done.precision, (ZERO, False))
            words = done.amount
            if jumps.terms:  # fields of a node share a line: whichever jumps first brings it, and the next node waits
                words = v.extreme_of("min", (words, jumps))
            elif done.name == BEHIND:  # between two wrong guesses such loads are on their way at once
                continue
            for part in split_chain(done, words, amounts):
                restarts = f", restarts({self.write_formula(part.operations)})" if part.operations is not None else ""
                lines.append(f"chain [{share_of(part.words)}] from {self.name_array(done.precision)} as load{restarts}")
        awaited = {done.precision for done in waiting} | {
            done.precision for done in amounts.operations if done.name == WRONG
        }
        ahead += self._write_first(amounts, scattered, awaited) if not parts else []
        return lines

    def _write_words(self, request: Request, run: int, share_of: Callable[[Value], str]) -> str:
        """Number, size and array of the words of a request, with `run` words that follow each other as one."""
        runs = share_of(v.scale(request.words, Fraction(1, run)))
        way = "from" if request.kind == "load" else "to"
        return f"{request.kind}s [{runs}] of size [{request.size * run}] {way} {self.name_array(request.array)}"

    def _write_first(self, amounts: BlockAmounts, scattered: ScatteredLoads, awaited: set[str]) -> Iterator[str]:
        """The first load of each step of indirection, at most as many as jump: the others of its block wait for it.
        An array for whose loads each pass waits, or a wrong guess, has them in its block."""
        written = set[frozenset[tuple[Monomial, Fraction]]]()
        for done in amounts.operations:
            jumps, is_anywhere = scattered.get(done.precision, (ZERO, False))
            step = v.value_key(done.amount)
            if done.name == FIRST and is_anywhere and done.precision not in awaited and step not in written:
                written.add(step)
                words = self.write_formula(v.extreme_of("min", (ONE, jumps)))
                yield f"chain [{words}] from {self.name_array(done.precision)} as load"

    def _write_stack(self, done: OperationCount) -> str:
        """Size, array and pattern of words that only the compiled code loads or stores: all count as on the stack."""
        stack = self.name_shared_array(Array("the stack", "stack", "local", word=8, volume=v.scale(ONE, STACK)))
        way = "from" if done.name == BESIDE["load"] else "to"
        return f"of size [{done.precision}] {way} {stack} as rd(0), warm  // {OF_COMPILED}"

    def _write_library_work(self, done: OperationCount, amount: str) -> str:
        """The requirement of a library's sort or search beside its comparisons; what a sort moves it has just
        compared."""
        if done.name == STEPS:
            return f"intops [{amount}]  // of a library's {done.precision}"
        if done.name == COMPARED_WRONG:
            kind = f"{done.precision}, " if done.precision else ""
            return f"branches [{amount}] as {kind}mispredicted(1), behind({LOADED})  // {OF_SORT}"
        size, reach, array = done.precision.split(" ", 2)
        way = "from" if done.name == MOVED["load"] else "to"
        known = self.names.arrays.get(array) if reach == "swept" else None
        elements = self.writer.count_elements(known) if known is not None else None
        trait = "rd(0), warm"
        if elements is not None:
            passes = v.extreme_of("max", (ONE, v.ratio(done.amount, elements)))
            trait = f"nest({size}, {self.write_formula(elements)}, 0, {self.write_formula(passes)})"
        return f"{done.name.split()[0]} [{amount}] of size [{size}] {way} {self.name_array(array)} as {trait}"

    def _write_measured(
        self, request: Request, way: str, share_of: Callable[[Value], str], scattered: ScatteredLoads
    ) -> list[str]:
        """Requirements of accesses whose order the source does not say, by their locality in runs: those that move
        along, those that come back to lines of some time ago, and those that jump. None without runs."""
        counts = [(sizes, touched.get(request.spans)) for sizes, touched in self.names.touched]
        runs = [(sizes, find_locality(found, request.size)) for sizes, found in counts if found is not None]
        if not runs:
            return []
        name = self.name_array(request.array)

        def measure(of: Callable[[Locality], float], wanted: str, meaning: str, is_share: bool = False) -> Value:
            fit = fit_measured([(sizes, of(locality)) for sizes, locality in runs], self.names.pinned)
            stands_for = Meaning(f"{meaning} of `{name}`", is_share=is_share)
            return self.names.add_fitted(f"{name}_{wanted}", stands_for, request.spans[0], fit)

        head, tail = way[: way.index("[")], way[way.index("]") + 1 :]

        def write(words: Value, trait: str) -> str:
            return f"{head}[{share_of(words)}]{tail} as {trait}"

        lines, left = list[str](), request.words
        if max(found.jumps for _, found in runs) >= LITTLE:
            words = request.words
            if min(found.jumps for _, found in runs) < SCATTERED:
                meaning = "the part of the accesses that jump,"
                words = v.multiply(words, measure(lambda found: found.jumps, "jumps", meaning, is_share=True))
            left = v.subtract(left, words)
            if request.kind == "load":
                others, _ = scattered.get(request.array, (ZERO, False))
                scattered[request.array] = v.add(others, words), all(found.anywhere for _, found in runs)
            if all(found.anywhere for _, found in runs):
                lines.append(write(words, "random"))
            else:
                for part in range(PARTS):
                    meaning = f"bytes before jumps come back, part {part + 1} of {PARTS},"
                    distance = measure(lambda found: found.tables[part], "distance", meaning)  # noqa: B023 (called at once)
                    each = f"gather(max({request.size}, {self.write_formula(distance)}))"
                    lines.append(write(v.scale(words, Fraction(1, PARTS)), each))
        if max(found.far for _, found in runs) >= LITTLE and left.terms:
            meaning = "the part of the accesses without a jump that come back late,"
            share = measure(lambda found: found.late_share, "far", meaning, is_share=True)
            words = v.multiply(left, share)
            left = v.subtract(left, words)
            window = measure(lambda found: found.window, "window", "bytes between two touches of those,")
            lines.append(write(words, f"gather(max({request.size}, {self.write_formula(window)}))"))
        if left.terms:
            lines.append(write(left, self._write_moving(request.size, [found.reuse for _, found in runs], measure)))
        return lines

    def _write_moving(self, size: int, reuse: list[float], measure: Callable[..., Value]) -> str:
        """The pattern of accesses that move along, and meet each word so often."""
        if all(0.8 <= each <= 1.25 for each in reuse):
            return "stream"
        often = self.write_formula(
            measure(lambda found: max(found.reuse, size / LINE), "reuse", "how often words are met,")
        )
        if max(reuse) < 1:
            return f"stride(ceil({size}/max({size}/{LINE}, {often})))"  # a formula may fall to 0 at other sizes
        return f"blocked({MOVING}), reuse(max(1, {often}))"

    def _write_pattern(self, request: Request, arguments: tuple[Trips, ...]) -> str:
        """A pattern with its arguments. Means of rows are no whole numbers, as strides are: rows of a mean length that
        follow each other are one walk, and other such strides are rounded up."""
        if request.trait != "nest":
            texts = self.write_trips(arguments)
        else:
            arguments = _join_rows(arguments, self._has_mean)
            by_words = not isinstance(arguments[0], CounterRange) and v.number(arguments[0]) == request.size
            if len(arguments) == 2 and len(request.arguments) > 2 and by_words:
                return "stream"
            arguments = (*arguments, *(ZERO, ONE) * ((len(request.arguments) - len(arguments)) // 2))
            texts = self.write_trips(arguments)
            means = [place % 2 == 0 and self._has_mean(part) for place, part in enumerate(arguments)]
            texts = [f"ceil({text})" if mean else text for text, mean in zip(texts, means, strict=True)]
            texts[-1] = self._limit_trips(request, arguments) or texts[-1]
        return f"{request.trait}({', '.join(texts)})" if texts else request.trait

    def _limit_trips(self, request: Request, arguments: tuple[Trips, ...]) -> str | None:
        """Trips of the outermost loop of a nest whose product may exceed the words, as where only some of the accesses
        that share it depend on a condition: as many as the words allow."""
        passes = [part for part in arguments[1::2] if not isinstance(part, CounterRange)]
        if len(passes) < len(arguments) // 2 or not any(map(self._has_mean, (*passes, request.words))):
            return None
        inner = _multiply_parts(tuple(passes[:-1]))
        spare = v.subtract(request.words, v.multiply(inner, passes[-1]))
        if all(coefficient >= 0 for coefficient in spare.terms.values()):
            return None
        most, words, rest = map(self.write_formula, (passes[-1], request.words, inner))
        return f"max(1e-9, min({most}, ({words})/max(1, {rest})))"

    def _has_mean(self, value: Trips) -> bool:
        """Whether a formula has a parameter that counts give, and not a size, or a size with ever other values."""
        symbols = () if isinstance(value, CounterRange) else v.symbols(self.writer.resolve_value(value))
        holes = [self.names.holes[symbol] for symbol in symbols if symbol in self.names.holes]
        return any(hole.low == 0 or hole.span in self.names.means for hole in holes)

    @staticmethod
    def _write_bytes(amounts: BlockAmounts, shared: Callable[[Value], str]) -> list[str]:
        """Bytes loaded and stored, without arrays."""
        moved: dict[str, Value] = {}
        for access in amounts.accesses:
            moved[access.kind] = v.add(moved.get(access.kind, ZERO), v.scale(access.words, access.size))
        return [f"{kind}s [{shared(amount)}]" for kind, amount in moved.items()]

    def _write_remarks(self, amounts: BlockAmounts) -> list[str]:
        """Comments on what the model does not count."""
        found = []
        integers = [done for done in amounts.operations if done.name == "integer"]
        if integers and not self.writer.options.integers:
            found.append(f"// integer operations: {self.write_formula(integers[0].amount)}")
        chains = (chain for chain in amounts.chains if chain.classes != COUNTED)
        for chain in chains if not self.writer.options.chains else ():
            chained = f"{', '.join(chain.classes)} of {chain.subject}"
            found.append(f"// each pass waits for the one before: {chained}, {self.write_formula(chain.passes)} times")
        return found


def _multiply_parts(parts: tuple[Value, ...]) -> Value:
    product = ONE
    for part in parts:
        product = v.multiply(product, part)
    return product


def _arguments_of_part(request: Request, parts: tuple[Value, ...]) -> tuple[Trips, ...]:
    """The arguments of a pattern for one instance, where its loops are parted, the outermost first."""
    arguments = list(request.arguments)
    step = 2 if request.trait == "nest" else 1
    for place, part in zip(range(len(arguments) - 1, 0, -step), parts, strict=False):
        passes = arguments[place]
        assert not isinstance(passes, CounterRange)
        arguments[place] = v.ratio(passes, part)
    return tuple(arguments)


def _list_handovers(accesses: Sequence[BlockAccess]) -> Iterator[Handover]:
    """Loads and stores of a block to one array, of which data decide some of the places."""
    unordered = {
        one.array for one in accesses if one.pattern is None or one.pattern.anywhere or not one.pattern.in_order
    }
    for array in sorted(unordered):
        stores = [span for one in accesses if one.array == array and one.kind == "store" for span in one.spans]
        for one in accesses:
            if one.array == array and one.kind == "load" and one.spans and stores:
                yield Handover(one.spans, tuple(dict.fromkeys(stores)))


def _stays_in_outermost_loop(request: Request) -> bool:
    """Whether all passes of the outermost loop touch the same: it does not move the request, or any place is as
    likely."""
    if request.trait != "nest":
        return request.trait == "random"
    stride = request.arguments[-2]
    return not isinstance(stride, CounterRange) and v.number(stride) == 0


def _join_rows(arguments: tuple[Trips, ...], has_mean: Callable[[Trips], bool]) -> tuple[Trips, ...]:
    """Strides and passes of a nest in which rows of a mean length that follow each other are one row."""
    found = list(arguments)
    place = 0
    while place + 3 < len(found):
        stride, passes, outer, times = found[place : place + 4]
        ranges = any(isinstance(part, CounterRange) for part in (stride, passes, outer, times))
        if ranges or not has_mean(outer) or not v.is_same(v.multiply(stride, passes), outer):  # type: ignore[arg-type]
            place += 2
        else:
            found[place : place + 4] = [stride, v.multiply(passes, times)]  # type: ignore[arg-type]
    return tuple(found)


def is_parallel(nest: Nest) -> bool:
    return parallel_directive(nest.pragmas) is not None


def list_nests(items: Iterable[Item]) -> Iterable[Nest]:
    return (item for item in walk_items(items) if isinstance(item, Nest))


def _has_dependence(item: Item, counter: Expr) -> bool:
    """Whether the passes of the loops in an item depend on a counter."""
    return any(v.has_symbol(bound, counter) for nest in list_nests([item]) for bound in nest.bounds)


# -- parameters for macros, enumerators and constants ----------------------------------------------


def write_macros(program: r.Program, symbols: Mapping[str, Expr], used: Collection[Expr]) -> Iterator[str]:
    """Declares the parameters for the macros that a model uses, and for those in their definitions."""
    made: dict[str, Expr] = {}
    wanted = {macro.name for macro in program.macros if symbols[macro.name] in used}
    while wanted:
        for macro in program.macros:
            if macro.name in wanted:
                made[macro.name] = _macro_value(macro, symbols)
        needed = {symbol for value in made.values() for symbol in graph.free_symbols(value)}
        wanted = {macro.name for macro in program.macros if symbols[macro.name] in needed} - made.keys()
    names = {symbol: str(symbol.payload[0]) for symbol in symbols.values()}
    for macro in program.macros:
        if macro.name in made:
            value = "".join(write_fragments(made[macro.name], ASPEN, names))
            yield f"param {names[symbols[macro.name]]} = {value}  // {_describe_macro(program, macro)}"


def _describe_macro(program: r.Program, macro: r.Macro) -> str:
    line = f":{macro.span.position().line}" if macro.span else ""
    name = macro.span.source.name if macro.span else program.source.name
    return os.path.basename(name) + line + (f": {macro.comment}" if macro.comment else "")


def _macro_value(macro: r.Macro, symbols: Mapping[str, Expr]) -> Expr:
    """Formula of an enumerator in other names; the number of all other macros."""
    found = _enumerator_value(macro.body, symbols)
    return graph.number(macro.value) if found is None else v.to_expression(found)


def _enumerator_value(body: r.Expression | None, symbols: Mapping[str, Expr]) -> Value | None:
    """Sum, difference or product of names and whole numbers; None for anything else."""
    if isinstance(body, r.Conversion):
        return _enumerator_value(body.operand, symbols)
    if isinstance(body, r.Constant) and isinstance(body.value, int):
        return (
            constant_polynomial(body.value) if body.macro not in symbols else atom_polynomial(symbols[str(body.macro)])
        )
    if not isinstance(body, r.Operation) or len(body.operands) != 2 or body.operator not in ("+", "-", "*"):
        return None
    left, right = (_enumerator_value(part, symbols) for part in body.operands)
    if left is None or right is None:
        return None
    if body.operator == "*":
        return v.multiply(left, right)
    return v.add(left, right if body.operator == "+" else -right)
