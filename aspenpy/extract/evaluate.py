"""Expressions: their values, as far as whole numbers and pointers go, and what it costs to compute them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from aspenpy.expr.node import Expr
from aspenpy.expr.polynomial import atom, constant
from aspenpy.extract import records as r
from aspenpy.extract import values as v
from aspenpy.extract.assigned import Changes
from aspenpy.extract.costs import Access, Arithmetic, Array, Choice, Guard, Hold, Item, Place
from aspenpy.extract.scope import NOTHING, Known, Names, Real, Scope, joined
from aspenpy.extract.values import ONE, ZERO, TooLong, Value
from aspenpy.language.diagnostics import warning
from aspenpy.language.source import Span
from aspenpy.record import Record

CLASSES = {"+": "add", "-": "add", "*": "multiply", "/": "divide"}

COMPARISONS = frozenset({"<", ">", "<=", ">=", "==", "!="})

FREE = frozenset({"fabs", "fabsf", "abs", "labs", "copysign", "__builtin_expect", "move", "forward"})
"""Functions that cost no arithmetic."""

SQUARE_ROOTS = frozenset({"sqrt", "sqrtf"})

EXTREMES = {"min": "min", "max": "max", "fmin": "min", "fmax": "max", "fminf": "min", "fmaxf": "max"}

ALLOCATIONS = frozenset({"malloc", "calloc", "aligned_alloc", "realloc", "_mm_malloc", "alloca", "__builtin_alloca"})

IGNORED = frozenset({
    *"free printf fprintf puts putchar fputs fflush fclose fopen exit abort assert __assert_fail perror".split(),
    *"time clock gettimeofday clock_gettime omp_get_wtime srand posix_memalign".split(),
    *"atoi atol atof strtol strtoul strtod strcmp strlen strncmp sscanf scanf fscanf fgets getenv".split(),
    *"sprintf snprintf".split(),
    *"resize reserve push_back emplace_back clear begin end swap fill assign iota generate endl flush".split(),
    *"operator<< operator>> operator delete".split(),
    *"omp_get_thread_num omp_get_num_threads omp_get_max_threads omp_set_num_threads".split(),
})  # fmt: skip
"""Functions whose own work is left out; what they may change is forgotten."""

PURE = frozenset({
    *"exp expf exp2 log logf log2 log10 pow powf sin sinf cos cosf tan tanf asin acos atan".split(),
    *"atan2 sinh cosh tanh cbrt hypot floor ceil round trunc rint fmod erf tgamma expm1 log1p floorf ceilf".split(),
})  # fmt: skip
"""Functions of a mathematical library that touch no memory of the program."""


COPIES = frozenset({"memcpy", "memmove", "memset"})

KNOWN = PURE | FREE | SQUARE_ROOTS | IGNORED | EXTREMES.keys()
"""Functions that store to none of the program's whole numbers."""


class Target(Record):
    """What an expression may be assigned to: a variable in a register, or memory. `shape` are the extents of what is
    there."""

    variable: str | None
    place: Place | None
    type: r.Type
    shape: tuple[Value | None, ...] = ()
    name: str = ""
    path: tuple[str, ...] = ()


class Evaluator:
    """Evaluates expressions at one point of a function, and appends their costs to `out`."""

    def __init__(self, names: Names, program: r.Program) -> None:
        self.names = names
        self.program = program
        self.scope = Scope()
        self.out: list[Item] = []
        self.shapes: dict[str, tuple[Value | None, ...]] = {}
        self.this: Known = None
        self.loops: list[tuple[Expr, Changes]] = []
        self.ignored: set[str] = set()
        self.fixed: Mapping[str, Value] = {}  # the values of global constants
        self.effects: Mapping[str, frozenset[str]] = {}
        self.declared = {item.variable.key: item.span for item in program.globals}
        self._rules: dict[type, Callable[[Any], Known]] = {
            r.Constant: self._constant,
            r.Variable: self._loaded,
            r.Element: self._loaded,
            r.Field: self._loaded,
            r.Operation: self._operation,
            r.Assignment: self._assignment,
            r.Conversion: self._conversion,
            r.Selection: self._selection,
            r.Call: self._given_back,
            r.Address: lambda node: self._pointed(node.operand),
            r.Several: self._several,
        }

    def value(self, node: r.Expression) -> Known:
        """Evaluates an expression; what cannot be expressed is unknown."""
        try:
            return self._rules[type(node)](node)
        except TooLong:
            return self.unknown("value", node.span)

    def unknown(self, text: str, span: Span | None, steady: bool = False) -> Value:
        """A value that nothing is known of; a steady one is the same in all passes of the loops under way."""
        return self.names.unknown(text, span, () if steady else tuple(counter for counter, _ in self.loops))

    def whole(self, node: r.Expression) -> Value:
        """The value of an expression of whole numbers."""
        found = self.value(node)
        return self.unknown(self.text(node), node.span) if found is None or isinstance(found, Place | Real) else found

    def text(self, node: r.Expression) -> str:
        """What the source calls it."""
        return " ".join(node.span.text().split())[:60] if node.span is not None else "value"

    def _given_back(self, node: r.Call) -> Known:
        """The value that a call gives; what it returns by reference is loaded."""
        found = self.call(node)
        if isinstance(found, Place) and node.type.kind in ("real", "integer"):
            return self._read(Target(None, found, node.type, (), self._name(node)), node)
        return found

    def call(self, node: r.Call) -> Known:
        raise NotImplementedError

    # -- sizes -------------------------------------------------------------------------------------

    def extents(self, type: r.Type) -> tuple[Value | None, ...]:
        """Of an array, the outermost first; of a pointer, those of what it points at."""
        found: list[Value | None] = []
        inner: r.Type | None = type.of if type.kind == "pointer" else type
        while inner is not None and inner.kind == "array":
            found.append(None if inner.extent is None else self._quietly(inner.extent))
            inner = inner.of
        return tuple(found)

    def _quietly(self, node: r.Expression) -> Value:
        """A value that is computed elsewhere."""
        out, self.out = self.out, []
        try:
            return self.whole(node)
        finally:
            self.out = out

    @staticmethod
    def word(type: r.Type) -> r.Type:
        """What the innermost elements are."""
        while type.kind == "array" and type.of is not None:
            type = type.of
        return type

    # -- places ------------------------------------------------------------------------------------

    def target(self, node: r.Expression) -> Target | None:
        """Where an expression lies; the loads of pointers on the way are costs."""
        if isinstance(node, r.Variable):
            return self._variable(node)
        if isinstance(node, r.Element):
            return self._element(node)
        if isinstance(node, r.Field):
            return self._field(node)
        if isinstance(node, r.Conversion):
            return self.target(node.operand)
        if isinstance(node, r.Assignment):
            self.value(node)
            return self.target(node.target)
        found = self.call(node) if isinstance(node, r.Call) else self.value(node)
        return Target(None, found, node.type.of or node.type) if isinstance(found, Place) else None

    def _variable(self, node: r.Variable) -> Target:
        type, key = node.type, node.key
        shape = self.shapes.get(key)
        if shape is None:
            shape = self.shapes[key] = self.extents(type)
        if node.name == "this":
            return Target("this", None, type)
        if type.name == "&" and type.kind == "pointer":
            pointed = self.scope.values.get(key)
            if isinstance(pointed, Place):
                return Target(None, pointed, type.of or type, shape, node.name)
            return Target(key, None, type.of or type, shape, node.name)
        if type.kind == "array" and isinstance(pointed := self.scope.values.get(key), Place):
            return Target(None, pointed, type, shape, node.name)
        if type.kind == "array" or node.scope == "global" or (type.kind == "record" and type.of is not None):
            word = self.word(type)
            hold: Hold = "global" if node.scope == "global" else "local"
            array = self.names.array(
                key,
                node.name,
                hold,
                word.size or 8,
                shape,
                _volume(type, shape, word),
                True,
                self.declared.get(key, node.span),
            )
            return Target(None, Place(array.key, ZERO), type, shape, node.name)
        return Target(key, None, type, shape, node.name)

    def _element(self, node: r.Element) -> Target | None:
        base, index = node.base, node.index
        path: tuple[str, ...] = ()
        if base.type.kind == "pointer" and base.type.name != "&":
            pointer = self.value(base)
            root = self._root(base)
            shape = self.shapes.get(root, ()) if root and isinstance(base, r.Variable) else ()
            of = base.type.of or node.type
        else:
            there = self.target(base)
            if there is None:
                return None
            if there.type.kind == "record" and there.type.of is not None:
                return self._contained(there, node)
            if (
                there.place is None and there.variable is not None and there.type.kind == "pointer"
            ) or there.type.kind == "pointer":
                pointer, shape, of = self.value(base), (), there.type.of or node.type
            else:
                pointer, shape, of = there.place, there.shape[1:], there.type.of or node.type
            path = there.path
        at = self.whole(index)
        name = self._name(base)
        if not isinstance(pointer, Place):
            pointer = Place(self._table(base, of).key, None)
        offset = None
        if pointer.offset is not None:
            offset = self._further(pointer.offset, at, of, shape)
        return Target(None, Place(pointer.array, offset), of, shape, name, path)

    def _further(self, offset: Value, at: Value, of: r.Type, shape: tuple[Value | None, ...]) -> Value | None:
        """So many elements further on; None where that is unknown."""
        try:
            size = self._size(of, shape)
            return None if size is None else v.plus(offset, v.times(at, size))
        except TooLong:
            return None

    def _contained(self, there: Target, node: r.Element) -> Target:
        """An element of a container of the standard library: its data are an array of their own."""
        of = there.type.of or node.type
        owner = self._owner(there)
        array = self.names.array(
            self.names.contained(there.place, f"{owner}[]"),
            there.name or "elements",
            "heap",
            of.size or 8,
            (None,),
            None,
            True,
            node.span,
        )
        at = self.whole(node.index)
        return Target(None, Place(array.key, v.scaled(at, of.size or 8)), of, (), there.name)

    def _owner(self, there: Target) -> str:
        if there.place is None:
            return there.variable or there.name
        offset = v.whole(there.place.offset) if there.place.offset is not None else None
        return f"{there.place.array}+{offset if offset is not None else '?'}:{there.name}"

    def _field(self, node: r.Field) -> Target | None:
        there = self.target(node.base)
        if there is None:
            return None
        type = node.type
        shape = self.extents(type) if type.kind == "array" else ()
        if there.place is None:
            return Target(f"{there.variable}.{node.name}", None, type, shape, node.name)
        offset = None if there.place.offset is None else v.plus(there.place.offset, constant(node.offset))
        return Target(None, Place(there.place.array, offset), type, shape, node.name, (*there.path, node.name))

    def _size(self, type: r.Type, shape: tuple[Value | None, ...]) -> Value | None:
        """Bytes of one element whose own extents are the shape."""
        if type.kind != "array":
            return constant(type.size or 8)
        size = constant(self.word(type).size or 8)
        for extent in shape if shape else self.extents(type):
            if extent is None:
                return None
            size = v.times(size, extent)
        return size

    def _root(self, node: r.Expression) -> str | None:
        while isinstance(node, r.Element | r.Field):
            node = node.base
        return node.key if isinstance(node, r.Variable) else None

    def _name(self, node: r.Expression) -> str:
        while isinstance(node, r.Element | r.Conversion):
            node = node.base if isinstance(node, r.Element) else node.operand
        return node.name if isinstance(node, r.Variable | r.Field) else "memory"

    def _table(self, node: r.Expression, of: r.Type) -> Array:
        """The array that an unknown pointer points into: one for each name by which the source calls it."""
        name = self._name(node)
        key = f"?{self._root(node)}.{name}"
        return self.names.array(key, name, "formal", self.word(of).size or 8, (None,), None, False, node.span)

    def _pointed(self, node: r.Expression) -> Known:
        """The address of something; what lies in a register moves to memory, and is not known from there on."""
        there = self.target(node)
        if there is None:
            return None
        if there.place is not None:
            return there.place
        name = there.variable or ""
        self.scope.values.pop(name, None)
        size = there.type.size or 8
        array = self.names.array(f"{name}&", there.name or "local", "local", size, (), constant(size), True, node.span)
        return Place(array.key, ZERO)

    # -- loads and stores --------------------------------------------------------------------------

    def _loaded(self, node: r.Expression) -> Known:
        if isinstance(node, r.Variable) and node.name == "this":
            return self.this
        there = self.target(node)
        if there is None:
            return self._unknown(node)
        if there.type.kind == "array":
            return there.place
        if there.place is None:
            return self._register(there, node)
        if (
            isinstance(node, r.Variable)
            and node.type.kind == "integer"
            and (fixed := self.fixed.get(node.key)) is not None
        ):
            return fixed
        return self._read(there, node)

    def _register(self, there: Target, node: r.Expression) -> Known:
        name = there.variable or ""
        found = self.scope.values.get(name)
        if found is None:
            found = NOTHING if there.type.kind == "real" else self._unknown(node)
            if there.type.kind == "pointer":
                of = there.type.of or there.type
                found = Place(
                    self.names.array(
                        f"?{name}", there.name, "formal", self.word(of).size or 8, (None,), None, False, node.span
                    ).key,
                    ZERO,
                )
            self.scope.values[name] = found
        return found

    def _unknown(self, node: r.Expression) -> Known:
        if node.type.kind == "real":
            return NOTHING
        if node.type.kind == "integer":
            return self.unknown(self.text(node), node.span)
        return None

    def _read(self, there: Target, node: r.Expression) -> Known:
        """A load, and what it gives: what was stored there, or something unknown with the same name each time."""
        assert there.place is not None
        type, array, offset = there.type, there.place.array, there.place.offset
        if type.kind == "record":
            return None
        access = self._access("load", there, node.span)
        place = access.place()
        known = self.scope.memory.get(place) if offset is not None else None
        if type.kind == "real":
            return known if isinstance(known, Real) else Real({("load", place): ()})
        if known is not None:
            return known
        if type.kind == "pointer":
            of = type.of or type
            constant_place = offset is not None and not v.counters(offset)
            entry = f"{array}->{there.name if not constant_place else self.text(node)}"
            inner = self.names.array(
                entry, there.name or "memory", "formal", self.word(of).size or 8, (None,), None, False, node.span
            )
            row = None if offset is None else self.names.unknown(self.text(node), node.span, tuple(v.counters(offset)))
            found: Known = Place(inner.key, ZERO if constant_place else row)
        elif type.kind == "integer":
            steady = self._is_steady(array, there.name, offset)
            found = self.unknown(self.text(node), node.span, steady)
            if steady:
                (symbol,) = v.symbols(found)
                self.names.origins[symbol] = place
        else:
            return None
        if offset is not None:
            self.scope.memory[place] = found
        return found

    def _is_steady(self, array: str, name: str, offset: Value | None) -> bool:
        """Whether a place holds the same whole number in all passes of the loops under way: its address stays, and
        nothing in them stores to what is called so."""
        if offset is None or v.counters(offset) or any(self.names.varying.get(symbol) for symbol in v.symbols(offset)):
            return False
        names = {name, self.names.arrays[array].name, "*"}
        return not any(names & changed.stored or self._may_store(changed, names) for _, changed in self.loops)

    def _may_store(self, changed: Changes, names: set[str]) -> bool:
        """Whether the calls in a loop may store to what is called so: those of functions at hand by their text, those
        of others unless they are known."""
        for call in changed.calls - KNOWN:
            stored = self.effects.get(call)
            if (
                stored is None
                or names & stored
                or any(name[5:] not in KNOWN for name in stored if name.startswith("call "))
            ):
                return True
        return False

    def _access(self, kind: Literal["load", "store"], there: Target, span: Span | None) -> Access:
        assert there.place is not None
        offset = there.place.offset
        size = there.type.size or 8
        precision = {8: "dp", 4: "sp"}.get(size, "") if there.type.kind == "real" else ""
        indirect = offset is not None and any(symbol.payload[1] == "unknown" for symbol in v.symbols(offset))
        access = Access(
            kind, there.place.array, offset, size, precision, indirect or offset is None, span, (), there.path
        )
        if access.array not in self.ignored:
            self.out.append(access)
        if offset is not None:
            self.scope.offsets[access.place()] = offset
        return access

    def store(self, there: Target | None, value: Known, span: Span | None) -> None:
        if there is None:
            self.scope.forget()
            return
        if there.place is None:
            self.scope.values[there.variable or ""] = value
            return
        access = self._access("store", there, span)
        place = access.place()
        array = self.names.arrays[access.array]
        for other in list(self.scope.memory):
            if other != place and (other[0] == access.array or not (array.alone or self.names.arrays[other[0]].alone)):
                distance = None
                if other[0] == access.array and access.offset is not None and other in self.scope.offsets:
                    distance = v.distance(access.offset, self.scope.offsets[other])
                if not distance:
                    del self.scope.memory[other]
        if access.offset is not None:
            self.scope.memory[place] = value

    # -- the kinds of expressions ------------------------------------------------------------------

    def _constant(self, node: r.Constant) -> Known:
        if node.macro is not None and isinstance(node.value, int) and node.value > 1:
            return atom(self.macro(node.macro))
        if node.type.kind == "real":
            return NOTHING
        return constant(int(node.value)) if node.value is not None else None

    def macro(self, name: str) -> Any:
        raise NotImplementedError

    def _several(self, node: r.Several) -> Known:
        found: Known = None
        for part in node.parts:
            found = self.value(part)
        if node.type.kind == "real" and not isinstance(found, Real):
            return NOTHING
        if node.known:
            return found
        self.uncounted("not-counted", "an expression that is not understood: only its parts are counted", node.span)
        return self._unknown(node)

    def uncounted(self, code: str, message: str, span: Span | None) -> None:
        """Says that something is left out."""
        self.names.diagnostics.append(warning(code, message, span))

    def _conversion(self, node: r.Conversion) -> Known:
        found = self.value(node.operand)
        to, of = node.type, node.operand.type
        if to.kind == "real":
            if of.kind in ("real", "integer") and not isinstance(node.operand, r.Constant):
                self._arithmetic("convert", to, node.span)
            return joined([found], "convert") if isinstance(found, Real) else NOTHING
        if of.kind == "real" and to.kind == "integer":
            self._arithmetic("convert", of, node.span)
            return self.unknown(self.text(node.operand), node.span)
        return found

    def _arithmetic(self, name: str, type: r.Type, span: Span | None) -> None:
        precision = {8: "dp", 4: "sp"}.get(type.size, "dp") if type.kind == "real" else ""
        self.out.append(Arithmetic(name, precision, 1, span))

    def _operation(self, node: r.Operation) -> Known:
        if node.operator in ("&&", "||"):
            return self._junction(node)
        operands = [self.value(operand) for operand in node.operands]
        types = [operand.type for operand in node.operands]
        real = next((type for type in types if type.kind == "real"), None)
        if real is not None or node.type.kind == "real":
            return self._real(node, operands, real or node.type)
        if any(isinstance(operand, Place) for operand in operands):
            return self._moved(node, operands)
        if all(isinstance(part, r.Constant) and part.macro is None for part in node.operands):
            pass
        elif node.operator != "not":
            self._arithmetic("integer", node.type, node.span)
        numbers = [
            self.unknown(self.text(part), part.span) if value is None or isinstance(value, Place | Real) else value
            for value, part in zip(operands, node.operands, strict=True)
        ]
        found = self._computed(node.operator, numbers)
        return found if found is not None else self.unknown(self.text(node), node.span)

    def _real(self, node: r.Operation, operands: list[Known], type: r.Type) -> Known:
        constants = all(isinstance(operand, r.Constant) for operand in node.operands)
        parts = [operand if isinstance(operand, Real) else NOTHING for operand in operands]
        if node.operator in COMPARISONS:
            self._arithmetic("compare", type, node.span)
            return self.unknown(self.text(node), node.span)
        name = CLASSES.get(node.operator)
        if name == "multiply":
            name = _multiplied(node.operands)
        if constants or name is None or node.operator == "neg":
            return joined(parts)
        self._arithmetic(name, type, node.span)
        return joined(parts, name)

    def _moved(self, node: r.Operation, operands: list[Known]) -> Known:
        """Arithmetic on pointers."""
        left, right = (*operands, None)[:2]
        types = [operand.type for operand in node.operands]
        if isinstance(left, Place) and isinstance(right, Place):
            if (
                node.operator == "-"
                and left.array == right.array
                and left.offset is not None
                and right.offset is not None
            ):
                of = types[0].of.size if types[0].of else 1
                return v.quotient(v.minus(left.offset, right.offset), constant(of or 1))
            return None
        if node.operator == "+" and isinstance(right, Place):
            left, right, types = right, left, types[::-1]
        if (
            isinstance(left, Place)
            and node.operator in ("+", "-")
            and right is not None
            and not isinstance(right, Place | Real)
        ):
            root = self._root(node.operands[0]) or ""
            size = self._size(types[0].of or types[0], self.shapes.get(root, ()))
            if left.offset is None or size is None:
                return Place(left.array, None)
            step = v.times(right, size)
            return Place(left.array, v.plus(left.offset, step if node.operator == "+" else -step))
        return left if isinstance(left, Place) else None

    def _computed(self, operator: str, numbers: list[Value]) -> Value | None:
        if operator == "neg":
            return -numbers[0]
        if len(numbers) != 2:
            return None
        a, b = numbers
        if operator == "+":
            return v.plus(a, b)
        if operator == "-":
            return v.minus(a, b)
        if operator == "*":
            return v.times(a, b)
        if operator == "/":
            return v.floor_of(a, b) if v.number(b) != 0 else None
        if operator == "%":
            return v.remainder(a, b) if v.number(b) != 0 else None
        shift = v.whole(b)
        if operator == "<<" and shift is not None and 0 <= shift < 63:
            return v.scaled(a, 2**shift)
        if operator == ">>" and shift is not None and 0 <= shift < 63:
            return v.floor_of(a, constant(2**shift))
        return None

    def _junction(self, node: r.Operation) -> Known:
        """`a && b`: the second is computed where the first does not decide."""
        first, second = node.operands
        self.value(first)
        held, self.out = self.out, []
        self.value(second)
        inner, self.out = self.out, held
        self.out += inner
        return self.unknown(self.text(node), node.span)

    def _selection(self, node: r.Selection) -> Known:
        extreme = self._extreme(node)
        if extreme is not None:
            return extreme
        self.value(node.condition)
        found = [self.value(node.chosen), self.value(node.otherwise)]
        if node.type.kind == "real":
            return joined([part for part in found if isinstance(part, Real)])
        return self._unknown(node)

    def _extreme(self, node: r.Selection) -> Value | None:
        """`a < b ? a : b` of whole numbers is a minimum."""
        condition = node.condition
        if (
            node.type.kind != "integer"
            or not isinstance(condition, r.Operation)
            or condition.operator not in ("<", "<=", ">", ">=")
        ):
            return None
        if any(part.type.kind != "integer" for part in condition.operands):
            return None
        sides = [self._quietly(part) for part in (*condition.operands, node.chosen, node.otherwise)]
        straight = v.same(sides[0], sides[2]) and v.same(sides[1], sides[3])
        crossed = v.same(sides[0], sides[3]) and v.same(sides[1], sides[2])
        if not straight and not crossed:
            return None
        self.value(condition)
        less = condition.operator[0] == "<"
        return v.extreme("min" if less == straight else "max", sides[:2])

    def _assignment(self, node: r.Assignment) -> Known:
        target, type = node.target, node.type
        if not node.operator and type.kind == "record":
            return self._copied(node)
        if not node.operator:
            value = self.value(node.value)
            if type.kind == "real" and not isinstance(value, Real):
                value = NOTHING
            there = self.target(target)
            self.named(value, target)
            self.store(there, value, node.span)
            return value
        before = self.value(target)
        wide = node.value.type if node.value.type.kind == "real" and node.value.type.size > type.size else type
        if type.kind == "real" and wide is not type:
            self._arithmetic("convert", wide, node.span)
        operation = r.Operation(node.operator, (target, node.value), wide, node.span)
        amount = self.value(node.value)
        if type.kind == "real" and node.value.type.kind == "integer" and not isinstance(node.value, r.Constant):
            self._arithmetic("convert", type, node.span)
        after = self._updated(operation, before, amount)
        if wide is not type and type.kind == "real":
            self._arithmetic("convert", wide, node.span)
        held, self.out = self.out, []
        there = self.target(target)
        self.out = held
        self.store(there, after, node.span)
        return before if node.before else after

    def _copied(self, node: r.Assignment) -> Known:
        """A structure assigned to another one."""
        source, there = self.target(node.value), self.target(node.target)
        if source is not None and source.place is not None:
            self._access("load", source, node.span)
        self.store(there, None, node.span)
        return None

    def _updated(self, node: r.Operation, before: Known, amount: Known) -> Known:
        if node.type.kind == "real":
            return self._real(node, [before, amount], node.type)
        if isinstance(before, Place):
            return self._moved(node, [before, amount])
        self._arithmetic("integer", node.type, node.span)
        if before is None or amount is None or isinstance(before, Real) or isinstance(amount, Real | Place):
            return self._unknown(node)
        found = self._computed(node.operator, [before, amount])
        return found if found is not None else self._unknown(node)

    def named(self, value: Known, target: r.Expression) -> None:
        """What the source calls a value or memory from now on."""

    # -- conditions --------------------------------------------------------------------------------

    def condition(self, node: r.Expression) -> tuple[tuple[Guard, ...], bool, bool]:
        """Evaluates a condition. Gives guards that hold where it does, whether they say all of it, and whether the
        condition is that they do not all hold."""
        if isinstance(node, r.Operation) and node.operator == "not":
            guards, whole, negated = self.condition(node.operands[0])
            return (guards, True, not negated) if whole else ((), False, False)
        if isinstance(node, r.Operation) and node.operator in ("&&", "||"):
            return self._both(node)
        if (
            isinstance(node, r.Operation)
            and node.operator in COMPARISONS
            and all(part.type.kind == "integer" for part in node.operands)
        ):
            left, right = map(self.whole, node.operands)
            self._arithmetic("integer", node.type, node.span)
            return _guard(node.operator, v.minus(left, right))
        self.value(node)
        return (), False, False

    def _both(self, node: r.Operation) -> tuple[tuple[Guard, ...], bool, bool]:
        first, whole, negated = self.condition(node.operands[0])
        held, self.out = self.out, []
        second, second_whole, second_negated = self.condition(node.operands[1])
        inner, self.out = self.out, held
        decided = whole and first and negated != (node.operator == "&&")
        if inner and decided:
            self.out.append(Choice(first, None, *((inner, []) if not negated else ([], inner))))
        else:
            self.out += inner
        if node.operator == "||":
            first, negated = _negated(first, negated)
            second, second_negated = _negated(second, second_negated)
        usable = [
            guards
            for guards, is_whole, is_negated in ((first, whole, negated), (second, second_whole, second_negated))
            if is_whole and not is_negated
        ]
        guards = tuple(guard for part in usable for guard in part)
        complete = len(usable) == 2
        if node.operator == "||":
            return (guards, True, True) if complete else ((), False, False)
        return guards, complete, False


def _multiplied(operands: tuple[r.Expression, ...]) -> str | None:
    """What a product is computed by: compilers add what is doubled, and leave alone what is multiplied by 1 or -1."""
    factors = [part.value for part in operands if isinstance(part, r.Constant) and part.value is not None]
    if any(abs(factor) == 1 for factor in factors):
        return None
    return "add" if 2 in factors else "multiply"


def _negated(guards: tuple[Guard, ...], negated: bool) -> tuple[tuple[Guard, ...], bool]:
    """The opposite, as guards where one guard says it."""
    if len(guards) == 1 and guards[0].operator == ">=" and not negated:
        return (Guard(v.minus(-guards[0].value, ONE)),), False
    return guards, not negated


def _guard(operator: str, difference: Value) -> tuple[tuple[Guard, ...], bool, bool]:
    """The guard of `difference operator 0`."""
    if any(symbol.payload[1] == "unknown" for symbol in v.symbols(difference)):
        return (), False, False
    if operator in ("==", "!="):
        return (Guard(difference, "=="),), True, operator == "!="
    if operator[0] == "<":
        difference = -difference
    return (Guard(difference if operator.endswith("=") else v.minus(difference, ONE)),), True, False


def _volume(type: r.Type, shape: tuple[Value | None, ...], word: r.Type) -> Value | None:
    if type.kind != "array":
        return constant(type.size) if type.size else None
    volume = constant(word.size or 8)
    for extent in shape:
        if extent is None:
            return None
        volume = v.times(volume, extent)
    return volume
