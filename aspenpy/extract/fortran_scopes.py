"""Names of Fortran: types by kind, shapes of arrays, and what a name means in a program unit, a module or a block."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress

from aspenpy.extract import records as r
from aspenpy.extract.fortran_nodes import Syntax
from aspenpy.record import Record

INT = r.Type("integer", 4)
INDEX = r.Type("integer", 8)
VOID = r.Type("void")
OTHER = r.Type("other")

ISO_KINDS = {
    "real32": 4,
    "real64": 8,
    "real128": 16,
    "int8": 1,
    "int16": 2,
    "int32": 4,
    "int64": 8,
    "c_float": 4,
    "c_double": 8,
    "c_long_double": 16,
    "c_int": 4,
    "c_long": 8,
    "c_long_long": 8,
    "c_size_t": 8,
    "c_short": 2,
    "c_signed_char": 1,
    "c_int8_t": 1,
    "c_int16_t": 2,
    "c_int32_t": 4,
    "c_int64_t": 8,
    "c_char": 1,
    "c_bool": 1,
    "mpi_address_kind": 8,
    "mpi_offset_kind": 8,
}
"""Kinds that intrinsic modules name (ISO/IEC 1539-1:2018, sections 16.10.2, 18.2.2), in bytes as gfortran has them."""

DESCRIPTOR_BYTES, DIMENSION_BYTES, EXTENT_AT = 40, 24, 8
"""Bytes that gfortran keeps of an allocatable array beside its elements, those more for each dimension, and where in
these the extent is taken to lie (libgfortran.h, `GFC_FULL_ARRAY_DESCRIPTOR`: base, offset, type, span; then bounds)."""


def real_kind(digits: int) -> int:
    """Kind of the smallest real with `digits` decimal digits, as gfortran's `selected_real_kind` gives it."""
    return next((kind for kind, most in ((4, 6), (8, 15), (10, 18)) if digits <= most), 16)


def integer_kind(digits: int) -> int:
    """Kind of the smallest integer that holds 10^digits, as gfortran's `selected_int_kind` gives it."""
    return next((kind for kind, most in ((1, 2), (2, 4), (4, 9), (8, 18)) if digits <= most), 16)


class DimensionBounds(Record):
    """One dimension of an array: the lowest subscript, and the number of elements, None where nothing says it."""

    lower: r.Expression
    extent: r.Expression | None


def bound_variables(shape: Sequence[DimensionBounds]) -> list[r.Variable]:
    """The variables that hold the bounds of an array with a descriptor."""
    bounds = (bound for dimension in shape for bound in (dimension.lower, dimension.extent))
    return [bound for bound in bounds if isinstance(bound, r.Variable)]


class Entity(Record):
    """A variable, a named constant or a component. `expression` is the variable, or the value of the constant; the
    bounds of one that `has_descriptor` (allocatable, a pointer, of assumed shape) are variables of their own."""

    expression: r.Expression
    element: r.Type
    shape: tuple[DimensionBounds, ...] = ()
    has_descriptor: bool = False


class TypeComponent(Record):
    """A component of a derived type, `offset` bytes from its begin."""

    offset: int
    element: r.Type
    shape: tuple[DimensionBounds, ...]
    has_descriptor: bool


class BoundProcedure(Record):
    """A procedure of a type: what its name stands for, and whether calls hand on the object in front."""

    target: Signature | Generic
    takes_object: bool = True


class DerivedType(Record):
    """A derived type: its components, also those that it inherits, and its procedures, by name."""

    type: r.Type
    components: Mapping[str, TypeComponent]
    procedures: Mapping[str, BoundProcedure]


class Signature(Record):
    """A procedure as its calls see it. `modified` are the formals that it may change; one that `is_known` has its text
    among the files that are read. A `result` of rank 1 or more is stored through a formal in front of the others."""

    key: str
    name: str
    formals: tuple[tuple[str, Entity | None], ...] = ()
    modified: frozenset[str] = frozenset()
    result: Entity | None = None
    is_known: bool = True
    targets: frozenset[str] = frozenset()

    def takes_reference(self, name: str, entity: Entity) -> bool:
        """Whether a formal is a reference to a scalar: one that is changed, or a structure."""
        return not entity.shape and (name in self.modified or entity.element.kind == "record")


def external(name: str) -> Signature:
    """A procedure of another file, by the name that gfortran gives it there."""
    return Signature(f"c:@F@{name}_", name, is_known=False)


class StatementFunction(Record):
    """A function of one statement, `f(x) = x*x` in front of those that run: its formals, and fparser's tree of what it
    computes (ISO/IEC 1539-1:2018, section 15.6.4)."""

    formals: tuple[str, ...]
    result: Entity
    body: Syntax


class Generic(Record):
    """A name for several procedures, of which the types and ranks of the arguments choose one."""

    procedures: tuple[str | Signature, ...]


class View(Record):
    """An expression by its elements: `at` takes as many counters from 0 as there are `extents`, none
    for a scalar. `whole` is the array itself, where the expression is one."""

    element: r.Type
    extents: tuple[r.Expression, ...]
    at: Callable[[Sequence[r.Expression]], r.Expression]
    whole: Entity | None = None


Meaning = Entity | Signature | StatementFunction | Generic | DerivedType | View


def is_function(entity: Entity, arguments: Sequence[Syntax]) -> bool:
    """Whether a name that has nothing but a type is a function where it has arguments: no text, of which this would be
    a part."""
    is_text = entity.element.kind == "other" or any(type(part).__name__ == "Subscript_Triplet" for part in arguments)
    return not entity.shape and not is_text


class NameScope:
    """The meanings of names in a program unit, and in those around it. Names without a declaration are typed by their
    first letter, unless `implicit none` stands there."""

    def __init__(self, name: str, parent: NameScope | None = None, sizes: tuple[int, int] = (4, 4)) -> None:
        self.name, self.parent = name, parent
        self.names: dict[str, Meaning] = {}
        self.sizes: tuple[int, int] = sizes if parent is None else parent.sizes
        self.letters: dict[str, r.Type] = dict(parent.letters) if parent else dict(_implicit_types(*sizes))

    @property
    def real_size(self) -> int:
        """Bytes of a real without a kind."""
        return self.sizes[0]

    @property
    def integer_size(self) -> int:
        """Bytes of an integer without a kind."""
        return self.sizes[1]

    def find(self, name: str) -> Meaning | None:
        scope: NameScope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.parent
        return None

    def derived_type(self, name: str) -> DerivedType | None:
        entity = self.find(f"type {name}")
        return entity if isinstance(entity, DerivedType) else None


def _implicit_types(real_size: int, integer_size: int) -> Iterator[tuple[str, r.Type]]:
    for letter in "abcdefghijklmnopqrstuvwxyz":
        yield letter, r.Type("integer", integer_size) if letter in "ijklmn" else r.Type("real", real_size)


# -- expressions of whole numbers ------------------------------------------------------------------


def integer(value: int) -> r.Constant:
    return r.Constant(value, INT)


def constant_value(node: r.Expression | None) -> int | float | None:
    """Value of an expression of constants; None where it has none."""
    match node:
        case r.Constant(value=value):
            return value
        case r.Conversion(operand=operand):
            return constant_value(operand)
        case r.Operation(operator="neg", operands=(operand,)):
            value = constant_value(operand)
            return None if value is None else -value
        case r.Operation(operator=operator, operands=(left, right)):
            a, b = constant_value(left), constant_value(right)
            if a is None or b is None or operator not in "+-*/":
                return None
            if operator == "/":
                return None if b == 0 else _truncated_quotient(a, b)
            return a + b if operator == "+" else a - b if operator == "-" else a * b
        case r.Call(name=name, arguments=arguments) if name in COMPUTED:
            values = [constant_value(argument) for argument in arguments]
            with suppress(ValueError, OverflowError, TypeError):  # also of an argument without a value
                return COMPUTED[name](*values)
    return None


COMPUTED: Mapping[str, Callable[..., float]] = {
    name: getattr(math, name)
    for name in "sqrt exp log log10 sin cos tan asin acos atan atan2 sinh cosh tanh hypot pow".split()
}
"""Functions of constants that a compiler computes, as in `pi = 4*atan(1d0)`."""


def _truncated_quotient(a: float, b: float) -> float:
    """A quotient as Fortran has it: that of whole numbers is cut towards 0."""
    if not isinstance(a, int) or not isinstance(b, int):
        return a / b
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def add(left: r.Expression, right: r.Expression, operator: str = "+") -> r.Expression:
    """The sum or difference of whole numbers; one of plain numbers is computed, and 0 is left out."""
    plain = [part.value for part in (left, right) if isinstance(part, r.Constant) and part.macro is None]
    if len(plain) == 2 and isinstance(plain[0], int) and isinstance(plain[1], int):
        return integer(plain[0] + plain[1] if operator == "+" else plain[0] - plain[1])
    if isinstance(right, r.Constant) and right.value == 0 and right.macro is None:
        return left
    return r.Operation(operator, (left, right), INT)


def multiply(left: r.Expression, right: r.Expression) -> r.Expression:
    for one, other in ((left, right), (right, left)):
        if isinstance(one, r.Constant) and one.value == 1 and one.macro is None:
            return other
    return r.Operation("*", (left, right), INT)


def count_between(lower: r.Expression, upper: r.Expression, step: r.Expression | None = None) -> r.Expression:
    """The number of subscripts from `lower` to `upper`."""
    first = constant_value(lower)
    count = upper if first == 1 else add(add(upper, lower, "-"), integer(1))
    return count if step is None else r.Operation("/", (add(add(count, step), integer(1), "-"), step), INT)


# -- types of arrays -------------------------------------------------------------------------------


def array_type(element: r.Type, shape: Sequence[DimensionBounds], is_pointer: bool, restrict: bool = False) -> r.Type:
    """The type of an array, whose first subscript runs fastest: an array of arrays, the innermost that of the first.
    One that is reached by a pointer points at what its last subscript counts."""
    type = element
    for place, bounds in enumerate(shape):
        if is_pointer and place == len(shape) - 1:
            return r.Type("pointer", 8, type, restrict=restrict)
        count = constant_value(bounds.extent)
        size = type.size * count if isinstance(count, int) and count > 0 else 0
        type = r.Type("array", size, type, bounds.extent)
    return type


class RankMismatch(Exception):
    """An operation on arrays that have not as many dimensions, which no compiler takes."""


def index_array(
    base: r.Expression,
    shape: Sequence[DimensionBounds],
    subscripts: Sequence[r.Expression],
    firsts: Sequence[r.Expression | None],
) -> r.Expression:
    """An element of an array by its subscripts; `firsts` are the subscripts of the first elements, None for 0."""
    if len(subscripts) != len(firsts):
        raise RankMismatch
    element = base
    for subscript, first in zip(reversed(subscripts), reversed(firsts), strict=True):
        of = element.type.of
        assert of is not None, element.type
        is_zero = first is None or (isinstance(first, r.Constant) and first.value == 0 and first.macro is None)
        element = r.Element(element, subscript, of, span=base.span, first=None if is_zero else first)
    return element
