"""The control flow of an application with its demands: what runs how often, and what it asks for.

Names are resolved: leaves are nodes of the expression graph. The tree knows no machine; counts,
times, energy and traffic are all totals over it (`application.total`), which differ only in what
a block is worth.
"""

from __future__ import annotations

from typing import Literal

from aspenpy.expr.graph import Expr
from aspenpy.language.source import Span
from aspenpy.record import Record

Schedule = Literal["static", "dynamic"]
"""How parts go to cores: as many to each, in blocks, or one after the other as cores become free."""


class Node(Record):
    """A node of the control flow. Two nodes are equal only when they are the same node: two equal
    blocks written in two places are two blocks."""

    __eq__ = object.__eq__
    __hash__ = object.__hash__


class Counted(Record):
    """A loop of a `nest` that names its counter, from `low` up to and with `high`."""

    counter: Expr
    low: Expr
    high: Expr


Argument = Expr | str | Counted


class Trait(Record):
    """A trait of a requirement: `simd`, `stride(8)`. A file name stays a string."""

    name: str
    arguments: tuple[Argument, ...] = ()
    span: Span | None = None


class Requirement(Node):
    """The amount that each parallel instance of a block asks of one resource. `amount` is quantity times size, in the
    resource's unit (flops, bytes, messages, ...)."""

    resource: str
    quantity: Expr
    size: Expr | None
    amount: Expr
    direction: Literal["to", "from"] | None
    target: str | None
    traits: tuple[Trait, ...]
    span: Span | None
    resource_span: Span | None = None
    target_span: Span | None = None


class Block(Node):
    """An `execute` block: requirements that overlap, in `parallelism` parallel instances. Where each of them is a rank
    that can share its work out (`execute [ranks] of [width]`), `width` is in how many parts; None where it is not.
    Parts that are not equal have `sizes`: their counter, and the size of the one with that number."""

    label: str | None
    parallelism: Expr
    requirements: tuple[Requirement, ...]
    span: Span | None
    width: Expr | None = None
    sizes: tuple[Expr, Expr] | None = None
    schedule: Schedule | None = None


class Sequence(Node):
    """Steps one after the other."""

    steps: tuple[Flow, ...]
    span: Span | None


class Repeat(Node):
    """`iterate` or `map`: the body `count` times. With `named`, the body sees the counter's values 0, 1, ...
    below the count; without, a count may be a fraction."""

    mode: Literal["iterate", "map"]
    counter: Expr
    named: bool
    count: Expr
    body: Flow
    label: str | None
    span: Span | None


class Choice(Node):
    """`if` and `switch`: the first branch whose condition holds."""

    branches: tuple[tuple[Expr, Flow], ...]
    otherwise: Flow
    span: Span | None


class Expectation(Node):
    """`probability`: each case with its probability; they add up to 1."""

    cases: tuple[tuple[Expr, Flow], ...]
    span: Span | None


class Parallel(Node):
    """`par`: branches whose times add, as in the reference, or, by their label, run at once: as one block ("overlap"),
    or each in the order of its own blocks ("concurrent")."""

    branches: tuple[Flow, ...]
    label: str | None
    span: Span | None


class Call(Node):
    """A call: `arguments` bind the callee's formal symbols, `arrays` its data arguments."""

    kernel: Kernel
    arguments: tuple[tuple[Expr, Expr], ...]
    arrays: tuple[tuple[str, str], ...]
    span: Span | None


Flow = Block | Sequence | Repeat | Choice | Expectation | Parallel | Call


class Kernel(Node):
    """A kernel: its full name (`fft3d.main`), the symbols of its arguments, and what it does.

    `context` is the symbol that a call binds to tell its random draws from those of other calls. `overrides` are
    the parameters of models that the kernel imports itself, with what it sets them to; `computed` are those among
    them, and among what depends on them, that its arguments decide, in terms of the arguments.
    """

    name: str
    formals: tuple[Expr, ...]
    arrays: tuple[str, ...]
    body: Flow
    context: Expr
    span: Span | None
    name_span: Span | None
    overrides: tuple[tuple[Expr, Expr], ...] = ()
    computed: tuple[tuple[Expr, Expr], ...] = ()


NOTHING = Sequence((), None)  # the flow that does nothing: an `else` that is not there
