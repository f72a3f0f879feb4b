"""The records of a program of C, C++, CUDA or Fortran: what the front ends hand on, and all that the rest of this room
knows.

Parentheses and implicit conversions between types of one kind are gone, macros are resolved. Every node has the span
that it was written at; nodes are compared without it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from aspenpy.language.diagnostics import fail
from aspenpy.language.source import Source, Span
from aspenpy.record import Record

CPP = frozenset({".cc", ".cpp", ".cxx", ".c++", ".C", ".hpp", ".hh", ".hxx", ".H"})
C = frozenset({".c", ".h"})
"""How the names of files of C++ and of C end."""

CUDA = frozenset({".cu", ".hip", ".cuh"})
"""How the names of files of CUDA and HIP end."""

HEADER_FOLDER_OPTIONS = ("-I", "-isystem", "-iquote")
"""Options of compilers that name a folder of headers."""

FREE_FORM = frozenset({".f90", ".f95", ".f03", ".f08", ".F90", ".F95", ".F03", ".F08"})
FIXED_FORM = frozenset({".f", ".for", ".ftn", ".f77", ".F", ".FOR", ".FTN", ".F77"})
FORTRAN = FREE_FORM | FIXED_FORM
PREPROCESSED = frozenset(ending for ending in FORTRAN if ending[1].isupper())
"""How the names of files of Fortran end: in free form, in fixed form, all, and preprocessed."""

MOST_LOOPS = 32
"""Loops inside one another that have a model: as many as a nest of the language has."""

MOST_DEPTH = 200
"""Deepest nesting of expressions and statements that is read; what lies deeper is unknown. C promises 127 levels of
blocks and 63 of parentheses (ISO C17, 5.2.4.1)."""


def check_loops(depth: int, span: Span | None) -> None:
    """Raises AspenError where too many loops are inside one another."""
    if depth > MOST_LOOPS:
        hint = "put the inner ones into a function of their own"
        fail("too-deep", f"loops stand inside one another more than {MOST_LOOPS} deep", span, hint=hint)


# -- types -----------------------------------------------------------------------------------------

Scope = Literal["local", "formal", "global"]
Kind = Literal["integer", "real", "pointer", "array", "record", "void", "other"]


LAMBDA = "lambda at "
"""How the names of the types of lambdas begin."""


class Type(Record):
    """`size` is in bytes, 0 where it is unknown or varies; `of` is what a pointer points at and what an array holds.
    The `extent` of an array is an expression, None for `[]`. `name` is that of a record, `complex` for Fortran's
    complex numbers. A pointer that `is_reference` is a reference of C++, or an argument that Fortran passes by one."""

    kind: Kind
    size: int = 0
    of: Type | None = None
    extent: Expression | None = None
    name: str = ""
    restrict: bool = False
    is_reference: bool = False


# -- expressions -----------------------------------------------------------------------------------


class Constant(Record):
    """A literal; `macro` is the name by which the source calls it, where a macro or an enumerator does. `value`
    is None for a string literal."""

    value: int | float | None
    type: Type
    macro: str | None = None
    span: Span | None = None


class Variable(Record):
    """`key` tells variables of one name apart; `scope` says where it was declared. The type of one that
    `is_reference` is that of what it refers to; nothing changes one that `is_constant`."""

    key: str
    name: str
    type: Type
    scope: Scope = "local"
    is_reference: bool = False
    span: Span | None = None
    is_constant: bool = False

    @property
    def is_object(self) -> bool:
        """Whether it is the object of a method of C++; other languages have variables of that name."""
        return self.key == "this" or self.key.startswith("this@c:")


class Element(Record):
    """`base[index]`; `*p` is `p[0]`. The first element has the index `first`, 0 where none is given."""

    base: Expression
    index: Expression
    type: Type
    first: Expression | None = None
    span: Span | None = None


class Field(Record):
    """`base.name`, `offset` bytes into the structure; `p->name` is the field of `p[0]`."""

    base: Expression
    name: str
    offset: int
    type: Type
    span: Span | None = None


class Operation(Record):
    """Arithmetic, comparisons, logic; one operand for `neg`, `not` and `~`. `type` is that of the result."""

    operator: str
    operands: tuple[Expression, ...]
    type: Type
    span: Span | None = None


class Assignment(Record):
    """`target = value`, or `target += value` where the operator is `+`. The value of `i++`, which `is_postfix`, is
    that before. An `atomic` one has the word of its operation, such as `Add`."""

    operator: str
    target: Expression
    value: Expression
    type: Type
    is_postfix: bool = False
    span: Span | None = None
    atomic: str = ""


def assign(
    target: Expression, value: Expression, span: Span | None, *, operator: str = "", is_postfix: bool = False
) -> Assignment:
    """An assignment whose value has the type of its target, as in C."""
    return Assignment(operator, target, value, type=target.type, is_postfix=is_postfix, span=span)


class Conversion(Record):
    """A conversion to another kind of type, or another size of reals."""

    operand: Expression
    type: Type
    span: Span | None = None


class Selection(Record):
    """`condition ? chosen : otherwise`"""

    condition: Expression
    chosen: Expression
    otherwise: Expression
    type: Type
    span: Span | None = None


class Call(Record):
    """`function(arguments)`; a method's object is the first argument."""

    key: str
    name: str
    arguments: tuple[Expression, ...]
    type: Type
    span: Span | None = None


class Address(Record):
    """`&operand`"""

    operand: Expression
    type: Type
    span: Span | None = None


class Routine(Record):
    """The address of a function."""

    key: str
    name: str
    type: Type
    span: Span | None = None


class Several(Record):
    """Expressions one after the other, of which the last is the value: the comma, and what the front end has no word
    for (`known` is false)."""

    parts: tuple[Expression, ...]
    type: Type
    known: bool = True
    span: Span | None = None


Expression = (
    Constant
    | Variable
    | Element
    | Field
    | Operation
    | Assignment
    | Conversion
    | Selection
    | Call
    | Address
    | Routine
    | Several
)

# -- statements ------------------------------------------------------------------------------------


class Declaration(Record):
    """The declaration of a variable, perhaps with its first `value`; of a container also the number of its first
    `elements`."""

    variable: Variable
    value: Expression | None = None
    elements: int | None = None
    span: Span | None = None


class ExpressionStatement(Record):
    """`value;`"""

    value: Expression
    span: Span | None = None


class CompoundStatement(Record):
    """`{ statements }`; `pragmas` are those on the lines above that speak of a device."""

    statements: tuple[Statement, ...]
    span: Span | None = None
    pragmas: tuple[str, ...] = ()
    lengths: tuple[tuple[str, Expression], ...] = ()


class LoopStatement(Record):
    """`tested_first` is false for `do { } while`. `pragmas` are those on the lines above, without `#pragma`; `lengths`
    has the elements of arrays that they name as a whole, where the types of the arrays do not say them. The span is
    that of the head."""

    start: Statement | None
    condition: Expression | None
    step: Expression | None
    body: Statement
    tested_first: bool = True
    pragmas: tuple[str, ...] = ()
    comment: str = ""
    span: Span | None = None
    lengths: tuple[tuple[str, Expression], ...] = ()


class Branch(Record):
    """`if (condition) then else otherwise`; `pragmas` are those on the lines above, and `is_mask` is whether the
    condition is a mask of Fortran, whose span it then has. Under a `search`, `any` or `all`, are the elements of a mask
    that it looks at, up to the first that decides."""

    condition: Expression
    then: Statement
    otherwise: Statement | None = None
    pragmas: tuple[str, ...] = ()
    span: Span | None = None
    is_mask: bool = False
    search: str = ""


class Switch(Record):
    """The cases in order, those of one body together; `exhaustive` where there is a default."""

    subject: Expression
    cases: tuple[Statement, ...]
    exhaustive: bool = False
    span: Span | None = None


class Jump(Record):
    """`break`, `continue`, `return`, `goto`; one that `leaves` several loops goes to a place behind them, or on with a
    pass of one around them."""

    kind: Literal["break", "continue", "return", "goto"]
    value: Expression | None = None
    span: Span | None = None
    leaves: bool = False


class Unread(Record):
    """A statement that the front end has no word for."""

    what: str
    span: Span | None = None


Statement = Declaration | ExpressionStatement | CompoundStatement | LoopStatement | Branch | Switch | Jump | Unread

# -- programs --------------------------------------------------------------------------------------


class Function(Record):
    """`key` tells functions of one name apart; a method's first formal is its object. `span` is that of the name. What
    it returns `by_reference` is a place. One that stands `in_place` of its calls uses variables of its callers, as
    lambdas do, and functions that call a lambda which they are given. A `kernel` is what each thread of a device does;
    `launch` is where one is launched."""

    key: str
    name: str
    formals: tuple[Variable, ...]
    body: Statement
    comment: str = ""
    pragmas: tuple[str, ...] = ()
    by_reference: bool = False
    in_place: bool = False
    is_kernel: bool = False
    launch: Launch | None = None
    span: Span | None = None


class Launch(Record):
    """A launch of the function `kernel` on the threads of a device. Its call, under a `key` of its own, hands on the
    kernel's arguments and the `extents`: blocks of the grid and threads of a block along x, y and z, and the bytes of
    shared memory that the launch adds to those that the kernel declares. `warp` threads go through the text at once."""

    key: str
    kernel: str
    extents: tuple[Expression, ...]
    span: Span | None = None
    warp: int = 32


class Macro(Record):
    """A name for one number: a macro, an enumerator, or a constant. The `body` of an enumerator is what the source
    makes it of."""

    name: str
    value: int
    comment: str = ""
    body: Expression | None = None
    span: Span | None = None


NO_POINTERS: Mapping[str, tuple[str, ...]] = {}


class Program(Record):
    """The functions with bodies and the global variables of the files that a user wrote, with the
    `initialisations` of members of these. Of keys of functions, those in `never_return` are declared so,
    `pointer_targets` has those that calls through pointers may mean, `overriding` those of the methods that override a
    virtual one. Warps of the device have `warp` threads."""

    source: Source
    functions: tuple[Function, ...]
    globals: tuple[Declaration, ...]
    macros: tuple[Macro, ...]
    never_return: frozenset[str] = frozenset()
    pointer_targets: Mapping[str, tuple[str, ...]] = NO_POINTERS
    initialisations: tuple[Statement, ...] = ()
    overriding: Mapping[str, tuple[str, ...]] = NO_POINTERS
    launches: tuple[Launch, ...] = ()
    warp: int = 32
