"""Calls: functions that stand in place of their calls, those with kernels of their own, and those of libraries."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Literal

from aspenpy.expr.polynomial import atom_polynomial, constant_polynomial
from aspenpy.extract import library_functions as k
from aspenpy.extract import records as r
from aspenpy.extract import values as v
from aspenpy.extract.costs import (
    LIBRARY,
    NEAR_TRIP,
    STEPS,
    WRONG,
    Alternative,
    Arithmetic,
    Array,
    Guard,
    Invocation,
    Item,
    Meaning,
    MemoryAccess,
    MessageStatement,
    Nest,
    PointerTarget,
)
from aspenpy.extract.device_copies import note_on_device
from aspenpy.extract.device_launches import BLOCK, GRID
from aspenpy.extract.effects import list_comparators, walk_records
from aspenpy.extract.evaluate import Evaluator
from aspenpy.extract.fortran_coarrays import IMAGES
from aspenpy.extract.library_functions import TYPE_BYTES, find_message
from aspenpy.extract.places import AssignmentTarget, container_owner, count_fixed_elements
from aspenpy.extract.scope import (
    NONE_COMPARED,
    NOTHING,
    Contents,
    DataKey,
    Known,
    Real,
    depends_on_data,
    is_default,
    is_equal,
)
from aspenpy.extract.searches import BEHIND_REAL, BEHIND_WHOLE, STEP, element_argument, is_search
from aspenpy.extract.sorts import compares_reals, element_of, list_sort_items
from aspenpy.extract.state import CallContext, Shared, WalkState, WalkTask, rename_array, source_text
from aspenpy.extract.values import ONE, ZERO, TooLong, Value

MOVES = Fraction(36, 25)
"""How often a vector that doubles its room moves each element, in the mean over sizes: 1/ln 2."""

MOST_INLINED = 12
"""How deep calls are followed into small functions."""

MOST_FOLLOWED = 300_000
"""Records that are walked to know what calls leave behind."""

LARGEST_INLINED = 400
"""Records of a function that is written in place of its calls."""

_PLACED = (r.Variable, r.Element, r.Field, r.Call, r.Conversion, r.Assignment)


class CallEvaluator(WalkTask):
    """Evaluates calls; `contexts` are those of the calls of functions that have kernels, by function."""

    def __init__(
        self,
        state: WalkState,
        evaluator: Evaluator,
        walk: Callable[[r.Statement], None],
        contexts: dict[str, list[CallContext]],
    ) -> None:
        super().__init__(state)
        self.evaluator, self.places, self.memory = evaluator, evaluator.places, evaluator.memory
        self.walk = walk
        self.contexts = contexts

    def call(self, node: r.Call) -> Known:
        if node.key in self.facts.never_return:
            return self.state.unknown_result(node)
        function = self.facts.functions.get(node.key)
        if function is not None:
            return self._enter(node, function)
        is_timed = self._add_library_time(node)
        if node.name in k.ALLOCATIONS:
            return self._allocate(node)
        if node.key.startswith("device "):
            return self._call_device(node)
        if node.key.startswith(k.COARRAY):
            return self._call_coarray(node)
        return self._call_library(node, is_timed)

    def _add_library_time(self, node: r.Call) -> bool:
        """Adds the cycles that a library took at a line, where a run was timed; copies are traffic instead."""
        if node.span is None or node.name in k.COPIES:
            return False
        found = self.names.find_library_cycles(node.span)
        if found is not None:
            self.out.append(Arithmetic(LIBRARY, found[0], 1, node.span, found[1]))
        return found is not None

    def _call_library(self, node: r.Call, is_timed: bool) -> Known:
        """Evaluates a call of a function without source, whose time may be known from a run."""
        if node.name.startswith("MPI_") and self._call_mpi(node):
            return None
        if node.name in k.SIZES and len(node.arguments) == 1:
            return self._container_size(node)
        if node.name in ("resize", "assign") and len(node.arguments) >= 2 and node.arguments[1].type.kind == "integer":
            return self._resize(node)
        is_whole = node.type.kind != "real" and [part.type.kind for part in node.arguments[:1]] == ["integer"]
        if node.name in k.EXTREMES and len(node.arguments) == 2 and is_whole:
            return v.extreme_of(
                k.EXTREMES[node.name], [self.evaluator.evaluate_integer(part) for part in node.arguments]
            )
        if node.name in k.GROWING and node.arguments and (grown := self.places.locate(node.arguments[0])) is not None:
            self._note_size(grown, None)
            self._append(node, grown)
        if node.name in ("reserve", "clear") and node.arguments:
            self._note_room(node)
        if node.name in k.COPIES and len(node.arguments) == 3:
            return self._copy_memory(node)
        if node.name == k.INPUT:
            return self._read_items(node)
        for part in node.arguments:  # what is handed on to be read has its value before as a default
            if isinstance(part, r.Address) and isinstance(part.operand, r.Variable):
                key = self.frame.aliases.get(part.operand.key, part.operand.key)
                if is_default(value := self.scope.values.get(key)):
                    self.names.lost[key] = value
        found = [self.evaluator.evaluate(part) for part in node.arguments]
        comparing = self._find_comparator(node) if self.names.counts_each else None
        if self.names.counts_each and is_search(node) and (searched := self._search(node, comparing, found)):
            return searched
        if comparing is not None or node.span in self.names.compared:
            return self._compare_repeatedly(node, comparing, found)
        if node.name in k.READING:
            return self._read_number(node)
        reals = [part for part in found if isinstance(part, Real)]
        kind = next((part.type for part in node.arguments if part.type.kind == "real"), node.type)
        if node.name in k.FREE:
            return reals[0] if reals else self.state.unknown_result(node)
        if node.name in k.SQUARE_ROOTS:
            of_reals = kind if kind.kind == "real" else r.Type("real", 8)  # of a name that is not understood
            self.state.add_arithmetic("square_root", of_reals, node.span)
            return Real({source: (*path, "square_root") for part in reals for source, path in part.paths.items()})
        if node.name in k.EXTREMES:
            self.state.add_arithmetic("compare" if kind.kind == "real" else "integer", kind, node.span)
            return NOTHING
        if node.name in k.PURE:
            if not is_timed:
                self.state.add_arithmetic(f"call {node.name}", kind, node.span)
            return NOTHING
        is_left_out = k.is_left_out(node.name, node.key)
        if not is_left_out and node.name and not is_timed:
            self.state.add_arithmetic(f"call {node.name}", kind, node.span)
        if not is_left_out or node.name in k.WRITING:
            self.memory.forget()
        self._forget_arguments(node)
        return self.state.unknown_result(node)

    def _read_number(self, node: r.Call) -> Known:
        """A whole number that the program reads: an unknown that stays the same."""
        self._forget_arguments(node)
        return self.names.make_input(source_text(node), node.span)

    def _read_items(self, node: r.Call) -> Known:
        """Stores values that the program reads to the arguments, and nowhere else; what they had before is a default of
        whole numbers."""
        for part in node.arguments:
            if isinstance(part, r.Address):
                with self.state.collect():
                    self._read_item(part.operand)
        return None

    def _read_item(self, node: r.Expression) -> None:
        there = self.places.locate(node)
        if there is None:
            return
        if there.place is not None and isinstance(node, r.Element):
            self.scope.forget_arrays({there.place.array})
        found: Known = NOTHING
        if there.type.kind == "integer":
            place = None if there.place is None else self.memory.add_access("load", there, node.span).place()
            before = self.scope.values.get(there.variable or "") if place is None else self.scope.memory.get(place)
            found = self.names.make_input(source_text(node), node.span)
            (symbol,) = v.symbols(found)
            self.names.inputs[symbol] = before if is_default(before) else None  # type: ignore[assignment]
        self.memory.store(there, found, node.span)

    def _call_mpi(self, node: r.Call) -> bool:
        """Evaluates a call of MPI; false where it is not one of MPI's that matter."""
        if node.name in ("MPI_Comm_size", "MPI_Comm_rank") and len(node.arguments) == 2:
            target = node.arguments[1].operand if isinstance(node.arguments[1], r.Address) else None
            if isinstance(target, r.Variable):
                key = self.frame.aliases.get(target.key, target.key)
                self.scope.values[key] = self.names.ranks() if "size" in node.name else self.names.rank()
            return True
        sent = find_message(node.name)
        if sent is None:
            self._forget_arguments(node)
            return True
        volume = ZERO
        if sent.count is not None and sent.type is not None and len(node.arguments) > max(sent.count, sent.type):
            text = source_text(node.arguments[sent.type])
            text = text.upper() if text.upper() in TYPE_BYTES else text  # Fortran takes any case
            if text in TYPE_BYTES:
                size = constant_polynomial(TYPE_BYTES[text])
            else:
                size = self.state.add_hole(
                    f"{text}_bytes", Meaning(f"bytes of `{text}`"), constant_polynomial(8), node.span, low=0
                )
            volume = v.multiply(self.evaluator.evaluate_integer(node.arguments[sent.count]), size)
            if depends_on_data(volume):
                volume = self.state.add_hole(
                    "bytes",
                    Meaning(f"bytes that `{source_text(node)}` sends"),
                    constant_polynomial(8),
                    node.span,
                    low=0,
                )
        self.out.append(MessageStatement(volume, sent.exchange, sent.note, node.span))
        self.memory.forget()
        if sent.exchange != "broadcast":  # all ranks are taken to have the value that the root has
            self._forget_arguments(node)
        return True

    def _call_coarray(self, node: r.Call) -> Known:
        """Evaluates a message of Fortran's coarrays, or the number of an image."""
        word = node.key.removeprefix(k.COARRAY).strip()
        if not node.arguments:
            return self.names.ranks() if node.name == IMAGES else v.add(self.names.rank(), ONE)
        volume = self.evaluator.evaluate_integer(node.arguments[0])
        if depends_on_data(volume):
            meaning = Meaning(f"bytes that `{source_text(node)}` sends")
            volume = self.state.add_hole("bytes", meaning, constant_polynomial(8), node.span, low=0)
        self.out.append(MessageStatement(volume, word, node.name, node.span))
        return None

    def _call_device(self, node: r.Call) -> Known:
        """Evaluates what the runtime of a device does: copies over the host's link, copies and settings of the device's
        own memory by all its threads, and barriers of a block, behind which memory is read again."""
        if node.key == "device barrier":
            self.out.append(MessageStatement(ZERO, note=node.name, span=node.span, resource="barrier"))
            return None
        if node.key == "device shuffle":
            self.out.append(Arithmetic(NEAR_TRIP, span=node.span))
            return None
        if node.key.startswith(("device tensor", "device special")):
            flops = self.evaluator.evaluate_integer(node.arguments[0])
            _, unit, precision = node.key.split()
            self.out.append(Arithmetic(unit, precision, span=node.span, times=flops))
            return None
        if node.key.startswith("device graph"):
            return None
        if node.key.startswith("device fragment"):
            self._move_fragment(node)
            return None
        to, source, size = node.arguments
        found = [self.evaluator.evaluate(to), self.evaluator.evaluate(source)]
        volume = self.evaluator.evaluate_integer(size)
        if depends_on_data(volume):
            meaning = Meaning(f"bytes that `{source_text(node)}` moves")
            volume = self.state.add_hole("bytes", meaning, constant_polynomial(8), node.span, low=0)
        self.scope.forget_arrays({place.array for place in found[:1] if isinstance(place, PointerTarget)})
        if node.key == "device transfer":
            self.out.append(MessageStatement(volume, note=node.name, span=node.span, resource="intracomm"))
            return None
        places = [("store", found[0]), *([("load", found[1])] if node.key == "device copy" else [])]
        self.out.append(self._sweep_on_device(places, volume, node))
        return None

    def _move_fragment(self, node: r.Call) -> None:
        """Counts the loads or stores of a fragment of a matrix: a line for each of the first threads of a warp. The
        hardware spreads lines over all threads; words and sectors are the same."""
        place = self.evaluator.evaluate(node.arguments[0])
        distance, lane = (self.evaluator.evaluate_integer(part) for part in node.arguments[1:3])
        lines, elements, size = (int(part.value or 0) for part in node.arguments[3:] if isinstance(part, r.Constant))
        if isinstance(place, PointerTarget):
            step = v.scale(distance, size)
            offset = None if place.offset is None else v.add(place.offset, v.multiply(lane, step))
            guard = Guard(v.subtract(constant_polynomial(lines - 1), lane))
            kind: Literal["load", "store"] = "store" if node.key.endswith("store") else "load"
            size *= elements
            self.out.append(MemoryAccess(kind, place.array, offset, size, span=node.span, guards=(guard,)))
            if kind == "store":
                self.scope.forget_arrays({place.array})

    def _sweep_on_device(self, places: list[tuple[str, Known]], volume: Value, node: r.Call) -> Nest:
        """A launch of blocks of 256 threads, each of which moves 16 bytes."""
        block, thread = self.names.make_counter("block"), self.names.make_counter("thread")
        offset = v.add(v.scale(atom_polynomial(block), 4096), v.scale(atom_polynomial(thread), 16))
        body: list[Item] = [
            MemoryAccess(
                "load" if kind == "load" else "store", place.array, v.add(place.offset, offset), size=16, span=node.span
            )
            for kind, place in places
            if isinstance(place, PointerTarget) and place.offset is not None
        ]
        threads = Nest(thread, (constant_polynomial(256),), body, pragmas=(f"{BLOCK} x",), span=node.span)
        return Nest(block, (v.scale(volume, Fraction(1, 4096)),), [threads], pragmas=(f"{GRID} x",), span=node.span)

    def _copy_memory(self, node: r.Call) -> Known:
        """Counts `memcpy` and `memset` as a loop over words of eight bytes."""
        to, source, size = node.arguments
        places = [self.evaluator.evaluate(to), self.evaluator.evaluate(source) if node.name != "memset" else None]
        counter = self.names.make_counter("word")
        body: list[Item] = []
        for kind, place in (("load", places[1]), ("store", places[0])):
            if isinstance(place, PointerTarget):
                offset = None if place.offset is None else v.add(place.offset, v.scale(atom_polynomial(counter), 8))
                body.append(
                    MemoryAccess("load" if kind == "load" else "store", place.array, offset, size=8, span=node.span)
                )
        words = v.ceil_quotient(self.evaluator.evaluate_integer(size), constant_polynomial(8))
        if depends_on_data(words):
            meaning = Meaning(f"bytes that `{source_text(node)}` moves")
            moved = self.state.add_hole(f"{node.name}_bytes", meaning, constant_polynomial(8), size.span, low=0)
            self.names.outcomes |= v.symbols(moved)
            words = v.scale(moved, Fraction(1, 8))
        self.out.append(Nest(counter, (words,), body, span=node.span))
        self.scope.forget_arrays({place.array for place in places[:1] if isinstance(place, PointerTarget)})
        return places[0]

    def _forget_arguments(self, node: r.Call) -> None:
        """Forgets variables whose address a function gets, since it may change them."""
        for part in node.arguments:
            if isinstance(part, r.Address) and isinstance(part.operand, r.Variable):
                key = self.frame.aliases.get(part.operand.key, part.operand.key)
                value = self.scope.values.get(key)
                if not isinstance(value, PointerTarget) or not value.refers:
                    self.scope.values.pop(key, None)

    def _container_size(self, node: r.Call) -> Known:
        """Number of elements of a container, the same symbol each time; that of `std::array` is known."""
        type = node.arguments[0].type
        fixed = count_fixed_elements(type.of if type.kind == "pointer" and type.of is not None else type)
        if fixed is not None:
            return constant_polynomial(fixed)
        there = self.places.locate(node.arguments[0])
        owner = container_owner(there) if there is not None else source_text(node)
        place = (f"{owner}.size", None)
        if place not in self.scope.memory:
            self.scope.memory[place] = self.state.make_unknown(f"{there.name if there else ''}_size", node.span, True)
            of = type.of.of if type.kind == "pointer" and type.of is not None else type.of
            if there is not None and of is not None and of.size:
                key = self.names.add_owner(there.place, f"{owner}[]")
                size = v.scale(self.scope.memory[place], of.size)  # type: ignore[arg-type]
                self.names.asked.setdefault(key, size)
        return self.scope.memory[place]

    def _resize(self, node: r.Call) -> Known:
        """Sets the number of elements of a container, and stores them: a `resize` in a loop, or to the size that the
        container has, is taken to find them there."""
        there = self.places.locate(node.arguments[0])
        size = self.evaluator.evaluate_integer(node.arguments[1])
        if there is not None:
            place, of = (f"{container_owner(there)}.size", None), there.type.of
            is_new = not self.active.nests and not is_equal(self.scope.memory.get(place), size)
            if of is not None and of.size and (is_new or node.name == "assign") and not depends_on_data(size):
                counter, array = self.names.make_counter("word"), self.places.add_elements(there, of, node.span)
                offset = v.scale(atom_polynomial(counter), 8)
                words = v.ceil_quotient(v.scale(size, of.size), constant_polynomial(8))
                body: list[Item] = [MemoryAccess("store", array.key, offset, size=8, span=node.span)]
                self.out.append(Nest(counter, (words,), body, span=node.span))
            self.scope.memory[place] = size
            self._note_size(there, size)
        return None

    def _append(self, node: r.Call, there: AssignmentTarget) -> None:
        """Stores an element behind those of a container, and moves all as often as a vector without room for it does:
        libstdc++ doubles, so that of n elements 2^ceil(log2 n) - 1 are moved together, 1/ln 2 times n in the mean."""
        of, is_vector = there.type.of, there.type.name.startswith("std::vector<")
        is_conditional = any(place.doubts or place.guards for place in self.active.exits)  # the places are not known
        if node.name not in k.APPENDING or of is None or not of.size or is_conditional:
            return
        array, passes = self.places.add_elements(there, of, node.span), self.active.nests[-1:]
        begin = v.scale(atom_polynomial(passes[0].counter), of.size) if passes else ZERO
        load, store = (MemoryAccess(kind, array.key, begin, size=of.size, span=node.span) for kind in ("load", "store"))
        if is_vector and container_owner(there) not in self.names.with_room:
            self.out.append(Alternative((), constant_polynomial(MOVES), [load, store], otherwise=[]))
        self.out.append(store)

    def _note_room(self, node: r.Call) -> None:
        """Notes a container that has room for what comes: it was reserved, or the elements that a pass before had."""
        there = self.places.locate(node.arguments[0])
        if there is not None and (node.name == "reserve" or self.active.nests):
            self.names.with_room.add(container_owner(there))

    def _note_size(self, there: AssignmentTarget, size: Value | None) -> None:
        """Notes how many elements the source gives a container; None where that varies."""
        is_constant = size is not None and not v.counters(size) and not depends_on_data(size)
        key = self.names.add_owner(there.place, f"{container_owner(there)}[]")
        self.names.held.setdefault(key, []).append(size if is_constant else None)

    def _allocate(self, node: r.Call) -> Known:
        sizes = [self.evaluator.evaluate_integer(part) for part in node.arguments if part.type.kind == "integer"]
        size: Value | None = None
        if node.name == "calloc" and len(sizes) == 2:
            size = v.multiply(sizes[0], sizes[1])
        elif sizes:
            size = sizes[-1]
        size = None if size is None or v.counters(size) else self._substitute_arguments(size)
        owner = self.stack.inlined[-1] if self.stack.inlined else self.frame.function.key if self.frame.function else ""
        key = f"heap@{owner}@{node.span.start if node.span else id(node)}" + "".join(
            f"@{place}" for place in self.stack.sites
        )
        array = self.names.add_array(
            Array(key, "allocated", "heap", word=8, extents=(None,), volume=size, alone=True, span=node.span)
        )
        self.names.allocated_in[array.key] = frozenset(nest.counter for nest in self.active.nests)
        return PointerTarget(array.key, ZERO)

    def _enter(self, node: r.Call, function: r.Function) -> Known:
        """Walks a small function in place of its call; others are invoked as kernels."""
        pairs = [
            self.bind_argument(part, formal) for part, formal in zip(node.arguments, function.formals, strict=False)
        ]
        found = [value for value, _ in pairs]
        is_counted = self.names.counts_each and node.key in self.facts.recursive
        if node.key in self.stack.inlined or (self.frame.function is not None and node.key == self.frame.function.key):
            if is_counted:
                return self.state.unknown_result(node)
            self.state.add_arithmetic(f"call {node.name}", node.type, node.span)
            self.state.report_uncounted(
                "recursion", f"`{node.name}` calls itself: how often is not in the source", node.span
            )
            return self.state.unknown_result(node)
        referred = {
            formal.key: name for formal, (_, name) in zip(function.formals, pairs, strict=False) if name is not None
        }
        if is_counted:
            return self._invoke_repeatedly(node, function, found, referred)
        is_small = function.in_place or can_inline(function, bool(self.active.changes))
        if not is_small and self.active.nests:
            is_small = self.facts.is_inlined(function, (node.span, self.active.nests[-1].span))
        if len(self.stack.inlined) >= MOST_INLINED or not is_small:
            return self._invoke(node, function, found, referred)
        return self._inline(node, function, found, referred)

    def _invoke(self, node: r.Call, function: r.Function, found: list[Known], referred: dict[str, str]) -> Known:
        """Calls a function that has a kernel; a second walk without costs finds what it changes."""
        values = tuple(None if isinstance(value, Real) else value for value in found)
        self.out.append(Invocation(node.key, values, node.span))
        caller = "" if self.frame.function is None else self.frame.function.key
        note_on_device(self.names, caller, function, found)
        if not self.stack.trials:
            self.contexts.setdefault(node.key, []).append(self._make_context(function, found))
        stored = self.facts.effects.get(node.key, frozenset())
        calls = {name[5:] for name in stored if name.startswith("call ")}
        changes_little = len(stored) == len(calls) and not calls & k.RESIZING
        if changes_little and node.type.kind in ("void", "real"):
            self.memory.forget_changed(frozenset(), frozenset({node.key}))
            self._forget_arguments(node)
            return self.state.unknown_result(node)
        return self._follow(node, function, found, referred)

    def _invoke_repeatedly(
        self, node: r.Call, function: r.Function, found: list[Known], referred: dict[str, str]
    ) -> Known:
        """Calls a function that calls itself as often as it runs for a call from outside, which a run says."""
        meaning = Meaning(f"runs of `{node.name}`, which calls itself, for each call from outside")
        times = self.names.add_hole(f"{node.name}_runs", meaning, ONE, function.span, low=0)
        self.names.recursions.update(dict.fromkeys(v.symbols(times), node.key))
        with self.state.collect() as inside:
            value = self._invoke(node, function, found, referred)
        self.out.append(Nest(self.names.make_counter("run"), (times,), inside))
        return value

    def _find_comparator(self, node: r.Call) -> r.Function | None:
        """The function of the program by which one of a library compares elements."""
        known = (self.facts.functions.get(key) for key in list_comparators(node))
        return next((function for function in known if function is not None and len(function.formals) == 2), None)

    def _sort(self, node: r.Call, function: r.Function | None, place: PointerTarget | None) -> Value | None:
        """Adds what a sort of a library does beside what its comparator does. Returns how often it compares; None where
        no run says that."""
        fitted = self.names.compared.get(node.span) if node.span is not None else None
        element = element_of(node) if fitted is not None else None
        if fitted is None or element is None or place is None:
            return None
        compared = Meaning(f"comparisons of `{node.name}`, each time")
        times = self.names.add_fitted(f"{node.name}_comparisons", compared, node.span, fitted.number)
        if function is None and element.kind == "real":
            self.out.append(Arithmetic("compare", "sp" if element.size == 4 else "dp", 1, node.span, times))
        guessed = Meaning(f"the part of the comparisons of `{node.name}` that is guessed wrongly", is_share=True)
        wrong = self.names.add_fitted(f"{node.name}_wrong_guesses", guessed, node.span, fitted.wrong)
        beside = list_sort_items(node.name, element, function, place.array, times, wrong)
        self.out.extend(item.replace(span=node.span) for item in beside)
        return times

    def _search(self, node: r.Call, function: r.Function | None, found: list[Known]) -> PointerTarget | Value | None:
        """Adds the steps of a binary search, which a run counts: in each one element of the array is loaded where the
        step before said, and compared. The result is a place in the array that data decide; None where no run has
        counted the steps, or the array is not known."""
        place = found[1 if node.name == "bsearch" else 0]
        element, times = element_of(node), ONE
        fitted = self.names.compared.get(node.span) if node.span is not None else None
        is_counted = fitted is not None or self.names.compared is NONE_COMPARED  # or will be, in the run to come
        if not isinstance(place, PointerTarget) or element is None or not element.size or not is_counted:
            return None
        if fitted is not None:
            meaning = Meaning(f"steps of `{node.name}`, each time")
            times = self.names.add_fitted(f"{node.name}_steps", meaning, node.span, fitted.number)
            meaning = Meaning(f"branches guessed wrongly in a step of `{node.name}`")
            wrong = v.multiply(times, self.names.add_fitted("wrong_guesses", meaning, node.span, fitted.wrong))
            self.out.append(Arithmetic(WRONG, place.array, 1, node.span, wrong))
            behind = BEHIND_REAL if compares_reals(function, element) else BEHIND_WHOLE
            self.out.append(Arithmetic(STEPS, "search", STEP, node.span, times))
            self.out.append(Arithmetic(STEPS, "search", behind, node.span, wrong))
        anywhere = place.replace(offset=None)
        inside: list[Item] = [MemoryAccess("load", place.array, None, element.size, indirect=True, span=node.span)]
        if function is not None:
            inside = self._compare_once(node, function, anywhere)
        self.out.append(Alternative((), times, inside, otherwise=[]))
        self._forget_arguments(node)
        where = self.state.make_unknown(source_text(node), node.span)
        return PointerTarget(place.array, v.scale(where, element.size)) if node.type.kind == "pointer" else where

    def _compare_once(self, node: r.Call, function: r.Function, element: PointerTarget) -> list[Item]:
        """Items of the comparator of a search with its key, which is in a register, and an element, in the order in
        which the search has them."""
        key, at = node.arguments[0 if node.name == "bsearch" else 2], element_argument(node) - 1
        call = r.Call(function.key, function.name, (key, key), node.type, node.span)
        with self.state.collect():  # a search loads its key once
            known = self.bind_argument(key, function.formals[1 - at])
        there = element.replace(refers=function.formals[at].type.is_reference)
        pairs = [(there, None) if place == at else known for place in (0, 1)]
        referred = {formal.key: name for formal, (_, name) in zip(function.formals, pairs, strict=True) if name}
        enter = self._inline if function.in_place or can_inline(function, with_loops=False) else self._invoke
        with self.state.collect() as inside:
            enter(call, function, [value for value, _ in pairs], referred)
        kept = known[0].array if isinstance(known[0], PointerTarget) and known[0].array != element.array else None
        return [item for item in inside if not (isinstance(item, MemoryAccess) and item.array == kept)]

    def _compare_repeatedly(self, node: r.Call, function: r.Function | None, found: list[Known]) -> Known:
        """Calls a function on elements anywhere in an array as often as a library compares them, which a run says."""
        array = next((place for place in found[::-1] if isinstance(place, PointerTarget)), None)
        place = None if array is None else array.replace(offset=None)
        times = self._sort(node, function, place)
        if times is None and function is not None:
            self.state.report_uncounted(
                "comparisons-only",
                f"of `{node.name}` only the comparisons are counted: moves of elements, and wrong guesses where they "
                "are in no order, may take several times as long",
                node.span,
            )
            meaning = Meaning(f"calls of `{function.name}` by `{node.name}`, each time")
            times = self.names.add_hole(f"{node.name}_comparisons", meaning, ONE, node.span, low=0)
            self.names.recursions.update(dict.fromkeys(v.symbols(times), function.key))
        if times is not None and function is not None:
            call = r.Call(function.key, function.name, node.arguments[:2], node.type, node.span)
            with self.state.collect() as inside:
                self._invoke(call, function, [place, place], {})
            self.out.append(Nest(self.names.make_counter("comparison"), (times,), inside))
        self.memory.forget()
        self._forget_arguments(node)
        return self.state.unknown_result(node)

    def _substitute_arguments(self, value: Value | None) -> Value | None:
        """A value with the function's arguments replaced by what its callers pass; None where it becomes too long."""
        try:
            return None if value is None else v.substitute(value, self.frame.given)
        except TooLong:
            return None

    def _make_context(self, function: r.Function, found: list[Known]) -> CallContext:
        """Context of a call, by the names that the called function shares with its caller."""
        given = {own: array for array, own in self.frame.inherited.items()}
        for formal, value in zip(function.formals, found, strict=False):
            is_whole = isinstance(value, PointerTarget) and value.offset is not None and not value.offset.terms
            if isinstance(value, PointerTarget) and is_whole and value.array in self.frame.arguments:
                given.setdefault(value.array, f"{formal.key}*")

        def outside(value: Known) -> Known:
            if isinstance(value, PointerTarget):
                return value.replace(
                    array=rename_array(value.array, given), offset=self._substitute_arguments(value.offset)
                )
            return value if isinstance(value, Real) else self._substitute_arguments(value)

        memory, offsets = Contents(), dict[DataKey, Value]()
        for place, value in self.scope.memory.items():
            if rename_array(place[0], self.frame.inherited) != place[0]:  # it is known by the function's own name
                continue
            other = (rename_array(place[0], given), place[1])
            memory[other] = outside(value)
            for known in (self.names.called, self.names.fields):
                if place in known:
                    known[other] = known[place]
            if place in self.scope.offsets:
                offsets[other] = self.scope.offsets[place]
        values = Shared(self.names.arrays, self.frame.arguments)
        return values.make_context(map(outside, found), memory, offsets, self._shared_in_memory())

    def _shared_in_memory(self) -> Shared:
        """Facts of a structure in a called function: the arguments of a function that nobody calls are parameters of
        the model, which all kernels know."""
        function = self.frame.function
        is_root = function is not None and not self.facts.call_sites.get(function.key)
        return Shared(self.names.arrays, () if is_root else self.frame.arguments)

    def _follow(self, node: r.Call, function: r.Function, found: list[Known], referred: dict[str, str]) -> Known:
        """Walks a called function without costs, for what it changes and returns."""
        size = sum(1 for _ in walk_records(function.body))
        if self.names.followed + size > MOST_FOLLOWED:
            self.memory.forget_changed(frozenset(), frozenset({node.key}))
            self._forget_arguments(node)
            return self.state.unknown_result(node)
        self.names.followed += size
        diagnostics = list(self.names.diagnostics)
        try:
            with self.state.collect(), self.stack.trial():
                return self._inline(node, function, found, referred)
        finally:
            self.names.diagnostics = diagnostics

    def bind_argument(self, part: r.Expression, formal: r.Variable) -> tuple[Known, str | None]:
        """Value of an argument, and the variable that a reference in a register refers to. A reference to memory is a
        place."""
        if isinstance(part, r.Address) and formal.type.kind in ("integer", "real"):
            part = part.operand  # C hands the address of a number to a procedure of Fortran, which only reads it
        is_object = formal.is_object and part.type.kind == "record"
        if not formal.type.is_reference and not is_object:
            return self.evaluator.evaluate(part), None
        referred = part.operand if isinstance(part, r.Address) and part.type.is_reference else part
        costs = len(self.out)
        there = self.places.locate(referred) if isinstance(referred, _PLACED) else None
        if there is None:
            del self.out[costs:]  # what a value that lies nowhere costs is counted below
        if there is not None and there.place is not None:
            return there.place.replace(refers=not is_object), None
        if there is not None and there.variable is not None:
            return self.scope.values.get(there.variable), there.variable
        found = self.evaluator.evaluate(part)
        return (found.replace(refers=True) if isinstance(found, PointerTarget) and not is_object else found), None

    def _inline(self, node: r.Call, function: r.Function, arguments: list[Known], referred: dict[str, str]) -> Known:
        this, aliases = self.frame.this, self.frame.aliases
        self.frame.aliases = {**aliases, **referred}
        for formal, value in zip(function.formals, arguments, strict=False):
            if formal.is_object:
                self.frame.this = value
                self.frame.aliases.pop("this", None)
                if formal.key in self.frame.aliases:
                    self.frame.aliases["this"] = self.frame.aliases[formal.key]
            elif formal.key in self.frame.aliases:
                continue
            elif value is None:
                self.scope.values.pop(formal.key, None)
            else:
                self.scope.values[formal.key] = value
        for formal in function.formals:  # whose extents may be formals behind them
            self.frame.shapes[formal.key] = self.places.extents(formal.type)
        self.stack.inlined.append(node.key)
        self.names.walked.add(node.key)
        is_only = self.facts.call_sites.get(node.key) == 1 and not function.in_place
        self.stack.sites += [] if is_only else [node.span.start if node.span else 0]
        self.stack.returned.append(None)
        around, self.active.exits = self.active.exits, []  # its jumps leave no loop of the caller
        try:
            self.walk(function.body)
        finally:
            self.active.exits = around
            found = self.stack.returned.pop()
            self.stack.inlined.pop()
            if not is_only:
                self.stack.sites.pop()
            self.frame.this, self.frame.aliases = this, aliases
        for formal in function.formals:
            self.scope.values.pop(formal.key, None)
        if found is None:
            return self.state.unknown_result(node)
        return found


def can_inline(function: r.Function, with_loops: bool) -> bool:
    """Whether a function's text may stand in place of a call: in a loop, with loops over a few passes; that of a launch
    never does."""
    if function.launch is not None:
        return False
    for count, part in enumerate(walk_records(function.body)):
        if count > LARGEST_INLINED or (isinstance(part, r.LoopStatement) and not (with_loops and _is_short(part))):
            return False
    return True


def _is_short(loop: r.LoopStatement) -> bool:
    """Whether the condition of a loop compares with a number that stands in the source."""
    condition = loop.condition
    return isinstance(condition, r.Operation) and any(
        isinstance(part, r.Constant) and part.macro is None for part in condition.operands
    )
