"""The syntax tree: what was written, with names not yet resolved.

Each node carries the span it was written at (compared nodes ignore it) and keeps the user's spelling where a value was
computed from it. Sums and products are flat chains: one of ten thousand terms is no tree ten thousand deep.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

from aspenpy.language.source import Span
from aspenpy.record import Record

# -- expressions ---------------------------------------------------------------------------------


class Number(Record):
    """A literal. `value` is exact and in base units; `spelling` is the text of number and unit."""

    value: int | Fraction
    spelling: str
    unit: str | None = None
    span: Span | None = None


class Name(Record):
    """A name, dotted when it belongs to an imported model: `n`, `fft3d.n`. SI constants are names, too."""

    name: str
    span: Span | None = None


class Negation(Record):
    """`-operand`"""

    operand: Expression
    span: Span | None = None


class Chain(Record):
    """Terms joined by `+ -`, or factors by `* /`, in their order: a - b + c is `Chain(a, (("-", b), ("+", c)))`."""

    first: Expression
    rest: tuple[tuple[str, Expression], ...]
    span: Span | None = None


class Power(Record):
    """`base ^ exponent`"""

    base: Expression
    exponent: Expression
    span: Span | None = None


class Apply(Record):
    """A function of the table (`expr.functions`) applied: `max(a, b)`."""

    function: str
    arguments: tuple[Expression, ...]
    span: Span | None = None
    name_span: Span | None = None


class Index(Record):
    """`array[i]` or `table[i][j]`"""

    array: Name
    indices: tuple[Expression, ...]
    span: Span | None = None


class Array(Record):
    """`{a, b, c}`; a table is an array of arrays."""

    elements: tuple[Expression, ...]
    span: Span | None = None


class Comparison(Record):
    """`left operator right` with one of `== != < > <= >=`; only in conditions."""

    operator: str
    left: Expression
    right: Expression
    span: Span | None = None


class Junction(Record):
    """Conditions joined by `and` and `or`, one level, from left to right."""

    first: Condition
    rest: tuple[tuple[str, Condition], ...]
    span: Span | None = None


Expression = Number | Name | Negation | Chain | Power | Apply | Index | Array
Condition = Comparison | Junction

# -- declarations --------------------------------------------------------------------------------


class CountRule(Record):
    """`with cube`, `with power_of(2)`: the numbers that a program accepts, by a rule of `expr.counts`."""

    rule: str
    argument: Expression | None = None
    span: Span | None = None


class CountedSize(Record):
    """`n = 100` behind `counted at`: a parameter and the value that it had in the runs."""

    name: str
    value: Expression
    span: Span | None = None


class CountedAt(Record):
    """`counted at n = 100, m = 4`: the sizes of the runs that a value is from."""

    sizes: tuple[CountedSize, ...]
    span: Span | None = None


class Parameter(Record):
    """`param name = value`, with `in low .. high`, or `in member_of` (an enum); arrays have rank 1, tables rank 2.
    `per_rank` says that it is a size of the problem of one rank of the application, `counts` which numbers the program
    accepts, `counted_at` at which sizes the value was counted that does not follow them."""

    name: str
    value: Expression
    low: Expression | None = None
    high: Expression | None = None
    member_of: str | None = None
    rank: int = 0
    per_rank: bool = False
    counts: CountRule | None = None
    counted_at: CountedAt | None = None
    span: Span | None = None
    name_span: Span | None = None


class Enum(Record):
    """`enum name {members}`: the constants 0, 1, 2, ..."""

    name: str
    members: tuple[str, ...]
    span: Span | None = None
    name_span: Span | None = None


class Data(Record):
    """`data name [size] in memory` in bytes, or `data name as shape(factors) in memory` whose size is the product."""

    name: str
    size: Expression | None
    shape: str | None = None
    factors: tuple[Expression, ...] = ()
    memory: str | None = None
    span: Span | None = None
    name_span: Span | None = None
    memory_span: Span | None = None


class Override(Record):
    """`name = value` after `with` in an import."""

    name: str
    value: Expression
    span: Span | None = None
    name_span: Span | None = None


class Import(Record):
    """`import name from "path" with overrides`"""

    name: str
    path: str
    overrides: tuple[Override, ...] = ()
    span: Span | None = None
    name_span: Span | None = None
    path_span: Span | None = None


class Mixed(Record):
    """`operations [amount]`: the operations of a class, in proportion to the others of a mixture."""

    name: str
    amount: Expression
    span: Span | None = None
    name_span: Span | None = None


class Mixture(Record):
    """`mixture name {add [4], multiply [1]}`: classes of operations in proportion."""

    name: str
    parts: tuple[Mixed, ...]
    span: Span | None = None
    name_span: Span | None = None


Declaration = Parameter | Enum | Data | Import | Mixture

# -- kernels and statements ----------------------------------------------------------------------


class Formal(Record):
    """An argument a kernel declares."""

    kind: Literal["param", "data"]
    name: str
    span: Span | None = None


class Trait(Record):
    """`name` or `name(arguments)` after `as`. A string argument (a file) is a `Text`, a loop that names its counter
    `Counted`."""

    name: str
    arguments: tuple[Expression | Text | Counted, ...] = ()
    span: Span | None = None


class Text(Record):
    """A string in double quotes; `value` has its escapes resolved."""

    value: str
    span: Span | None = None


class Counted(Record):
    """`counter in low .. high` among the arguments of `nest`: a loop from `low` up to and with `high`."""

    counter: str
    low: Expression
    high: Expression
    span: Span | None = None


class Requirement(Record):
    """`resource [quantity] of size [size] to|from target as traits`"""

    resource: str
    quantity: Expression
    size: Expression | None = None
    direction: Literal["to", "from"] | None = None
    target: str | None = None
    traits: tuple[Trait, ...] = ()
    span: Span | None = None
    resource_span: Span | None = None
    target_span: Span | None = None


class Execute(Record):
    """`execute [parallelism] of counter [width] of size [size] schedule "label" { requirements }`"""

    parallelism: Expression | None
    label: str | None
    requirements: tuple[Requirement, ...]
    span: Span | None = None
    width: Expression | None = None
    counter: str | None = None
    size: Expression | None = None
    schedule: str | None = None


class Call(Record):
    """`call kernel(arguments)`"""

    kernel: str
    arguments: tuple[Expression, ...] = ()
    span: Span | None = None
    name_span: Span | None = None


class Sample(Record):
    """`sample name from distribution(arguments)`"""

    name: str
    distribution: str
    arguments: tuple[Expression, ...] = ()
    span: Span | None = None
    distribution_span: Span | None = None


class Group(Record):
    """`seq "label" { body }` or `par "label" { body }`"""

    mode: Literal["seq", "par"]
    label: str | None
    body: tuple[Statement, ...]
    span: Span | None = None


class Loop(Record):
    """`iterate counter [count] "label" { body }`, or the same with `map`"""

    mode: Literal["iterate", "map"]
    counter: str | None
    count: Expression
    label: str | None
    body: tuple[Statement, ...]
    span: Span | None = None


class If(Record):
    """`if (condition) { body } else if ... else { otherwise }`, the branches in order."""

    branches: tuple[tuple[Condition, tuple[Statement, ...]], ...]
    otherwise: tuple[Statement, ...] | None = None
    span: Span | None = None


class Case(Record):
    """`[value] { body }`"""

    value: Expression
    body: tuple[Statement, ...]
    span: Span | None = None


class Switch(Record):
    """`switch (subject) { cases else { otherwise } }`"""

    subject: Name
    cases: tuple[Case, ...]
    otherwise: tuple[Statement, ...] | None = None
    span: Span | None = None


class Probability(Record):
    """`probability { [p] { body } ... else { otherwise } }`"""

    cases: tuple[Case, ...]
    otherwise: tuple[Statement, ...] | None = None
    span: Span | None = None


Statement = Execute | Call | Sample | Group | Loop | If | Switch | Probability


class Kernel(Record):
    """`kernel name(formals) { declarations body }`"""

    name: str
    formals: tuple[Formal, ...]
    declarations: tuple[Declaration, ...]
    body: tuple[Statement, ...]
    span: Span | None = None
    name_span: Span | None = None


class Application(Record):
    """`model name { declarations kernels }`: a file with an application model."""

    name: str
    declarations: tuple[Declaration, ...]
    kernels: tuple[Kernel, ...]
    span: Span | None = None
    name_span: Span | None = None


# -- machines ------------------------------------------------------------------------------------


class Part(Record):
    """`type [quantity] name instead of replaced` inside a component: `quantity` of that component belong to each of
    this one, in the place of a part of the component that this one is like."""

    type: str
    quantity: Expression | None
    name: str
    replaced: str | None = None
    span: Span | None = None
    name_span: Span | None = None
    replaced_span: Span | None = None


class Property(Record):
    """`property name [value]`; without a value it is a flag."""

    name: str
    value: Expression | None = None
    span: Span | None = None
    name_span: Span | None = None


class ResourceTrait(Record):
    """`name(argument) [time]` after `with`: the time as an expression of `base` and the argument."""

    name: str
    argument: str | None
    time: Expression
    span: Span | None = None


class Resource(Record):
    """`resource name(argument) [time] with traits`: seconds that an amount takes on one component."""

    name: str
    argument: str
    time: Expression
    traits: tuple[ResourceTrait, ...] = ()
    span: Span | None = None
    name_span: Span | None = None


class Conflict(Record):
    """`conflict first, second`: the two resources cannot overlap."""

    first: str
    second: str
    span: Span | None = None


class PowerDraw(Record):
    """`static power [watts]` or `dynamic power [watts]`"""

    kind: Literal["static", "dynamic"]
    watts: Expression
    span: Span | None = None


Item = Part | Property | Resource | Conflict | PowerDraw


class Component(Record):
    """`type name like base { items }`: a base makes it a variant, which has all of that component but what its own
    items replace."""

    type: str
    name: str
    items: tuple[Item, ...]
    base: str | None = None
    span: Span | None = None
    type_span: Span | None = None
    name_span: Span | None = None
    base_span: Span | None = None


class Machine(Record):
    """A file with a machine model: parameters, enums and components in the order written."""

    declarations: tuple[Parameter | Enum, ...]
    components: tuple[Component, ...]
    span: Span | None = None
