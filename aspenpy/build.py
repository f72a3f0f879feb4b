"""Building models in Python, without text::

    from aspenpy import build as b

    app = b.application(
        "axpy",
        b.param("n", 1_000_000, low=1, high=1e9),
        b.kernel("main", b.execute(b.requires("flops", "2*n"), b.requires("loads", "16*n"), parallelism="n")),
    )
    print(app.to_aspen())

Wherever a quantity is wanted, give a number, text in the language (`"2*n^3"`, `"25.6 GB/s"`) or a node of the
expression graph. Mistakes raise AspenError, as they do in a file.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Literal

from aspenpy.expr.graph import Expr
from aspenpy.expr.printer import to_text
from aspenpy.language import nodes
from aspenpy.language.diagnostics import fail
from aspenpy.language.parser import parse_condition, parse_expression, parse_file
from aspenpy.language.printer import to_aspen
from aspenpy.language.source import Source
from aspenpy.models.application.load import link_application as link_application
from aspenpy.models.application.model import Application
from aspenpy.models.machine.load import link_machine as link_machine
from aspenpy.models.machine.model import Machine

Quantity = int | float | Fraction | str | Expr


def expression(quantity: Quantity) -> nodes.Expression:
    """The syntax tree of a quantity."""
    if isinstance(quantity, Expr):
        return parse_expression(to_text(quantity))
    if isinstance(quantity, bool) or not isinstance(quantity, int | float | Fraction | str):
        fail("bad-value", f"{quantity!r} is not a quantity: give a number or text in the language")
    return parse_expression(quantity if isinstance(quantity, str) else _spell_number(quantity))


MOST_BITS = 13_000  # of a whole number: nearly the 4,000 digits that a literal may have


def _spell_number(value: float | Fraction) -> str:
    if isinstance(value, float):
        if not math.isfinite(value):
            fail("bad-value", f"a quantity is a finite number, not {value}")
        return repr(float(value))
    top, bottom = value.numerator, value.denominator
    if max(top.bit_length(), bottom.bit_length()) > MOST_BITS:
        fail("bad-value", "the number has too many digits")
    return str(top) if bottom == 1 else f"{top}/{bottom}"


def _optional(quantity: Quantity | None) -> nodes.Expression | None:
    return None if quantity is None else expression(quantity)


def _expressions(quantities: Sequence[Quantity]) -> tuple[nodes.Expression, ...]:
    return tuple(expression(quantity) for quantity in quantities)


# -- applications ----------------------------------------------------------------------------------


def application(name: str, *parts: nodes.Declaration | nodes.Kernel) -> Application:
    """`model name { declarations kernels }`"""
    kernels = tuple(part for part in parts if isinstance(part, nodes.Kernel))
    declarations = tuple(part for part in parts if not isinstance(part, nodes.Kernel))
    node = _reparse(nodes.Application(name, declarations, kernels))
    return link_application(node, Source("", f"<{name}>"), [])


def param(
    name: str,
    value: Any,
    *,
    low: Quantity | None = None,
    high: Quantity | None = None,
    member_of: str | None = None,
    per_rank: bool = False,
    counts: str | tuple[str, Quantity] | None = None,
    counted_at: Mapping[str, Quantity] | None = None,
) -> nodes.Parameter:
    """`param name = value`; a list is an array, a list of lists a table; `per_rank` as in the language, `counts`,
    `"cube"` or `("power_of", 2)`, and `counted_at`, the sizes of the runs that the value is from."""
    rank = 0
    inner = value
    while isinstance(inner, list | tuple):
        rank, inner = rank + 1, inner[0] if inner else 0
    rule, argument = (counts, None) if counts is None or isinstance(counts, str) else counts
    accepted = None if rule is None else nodes.CountRule(rule, _optional(argument))
    sizes = tuple(nodes.CountedSize(size, expression(at)) for size, at in (counted_at or {}).items())
    return nodes.Parameter(
        name,
        _array(value),
        _optional(low),
        high=_optional(high),
        member_of=member_of,
        rank=rank,
        per_rank=per_rank,
        counts=accepted,
        counted_at=nodes.CountedAt(sizes) if sizes else None,
    )


def _array(value: Any) -> nodes.Expression:
    if isinstance(value, list | tuple):
        return nodes.Array(tuple(_array(element) for element in value))
    return expression(value)


def enum(name: str, *members: str) -> nodes.Enum:
    """`enum name {members}`"""
    return nodes.Enum(name, members)


def data(
    name: str,
    size: Quantity | None = None,
    *,
    shape: str | None = None,
    factors: Sequence[Quantity] = (),
    memory: str | None = None,
) -> nodes.Data:
    """`data name [size] in memory` in bytes, or `data name as shape(factors) in memory`."""
    return nodes.Data(name, _optional(size), shape, _expressions(factors), memory)


def import_model(name: str, path: str, **overrides: Quantity) -> nodes.Import:
    """`import name from "path" with overrides`"""
    return nodes.Import(name, path, tuple(nodes.Override(key, expression(value)) for key, value in overrides.items()))


def mixture(name: str, **parts: Quantity) -> nodes.Mixture:
    """`mixture name {add [4], multiply [1]}`"""
    return nodes.Mixture(name, tuple(nodes.Mixed(key, expression(value)) for key, value in parts.items()))


def kernel(
    name: str, *parts: nodes.Declaration | nodes.Statement, formals: Sequence[str] = (), arrays: Sequence[str] = ()
) -> nodes.Kernel:
    """`kernel name(param formals, data arrays) { declarations body }`"""
    declared = tuple(part for part in parts if isinstance(part, nodes.Declaration))
    body = tuple(part for part in parts if not isinstance(part, nodes.Declaration))
    arguments = [nodes.Formal("param", item) for item in formals] + [nodes.Formal("data", item) for item in arrays]
    return nodes.Kernel(name, tuple(arguments), declared, body)


def execute(
    *requirements: nodes.Requirement,
    parallelism: Quantity | None = None,
    width: Quantity | None = None,
    label: str | None = None,
    counter: str | None = None,
    size: Quantity | None = None,
    schedule: str | None = None,
) -> nodes.Execute:
    """`execute [parallelism] of counter [width] of size [size] schedule "label" { requirements }`"""
    parts = _optional(width), counter, _optional(size), schedule
    return nodes.Execute(_optional(parallelism), label, requirements, None, *parts)


def requires(
    resource: str,
    quantity: Quantity,
    *,
    size: Quantity | None = None,
    to: str | None = None,
    from_: str | None = None,
    traits: Sequence[str | nodes.Trait] = (),
) -> nodes.Requirement:
    """`resource [quantity] of size [size] to|from array as traits`"""
    if to is not None and from_ is not None:
        fail("bad-value", f"`{resource}` goes either to an array or from one")
    direction: Literal["to", "from"] | None = "to" if to is not None else "from" if from_ is not None else None
    named = tuple(nodes.Trait(item) if isinstance(item, str) else item for item in traits)
    return nodes.Requirement(
        resource, expression(quantity), _optional(size), direction=direction, target=to or from_, traits=named
    )


def trait(name: str, *arguments: Quantity | nodes.Counted) -> nodes.Trait:
    """`name(arguments)` after `as`"""
    given = (item if isinstance(item, nodes.Counted) else expression(item) for item in arguments)
    return nodes.Trait(name, tuple(given))


def counted(counter: str, low: Quantity, high: Quantity) -> nodes.Counted:
    """`counter in low .. high`, a loop among the arguments of the trait `nest`"""
    return nodes.Counted(counter, expression(low), expression(high))


def call(name: str, *arguments: Quantity) -> nodes.Call:
    """`call name(arguments)`"""
    return nodes.Call(name, _expressions(arguments))


def sample(name: str, distribution: str, *arguments: Quantity) -> nodes.Sample:
    """`sample name from distribution(arguments)`"""
    return nodes.Sample(name, distribution, _expressions(arguments))


def iterate(
    count: Quantity, *body: nodes.Statement, counter: str | None = None, label: str | None = None
) -> nodes.Loop:
    """`iterate counter [count] { body }`"""
    return nodes.Loop("iterate", counter, expression(count), label, body)


def map_over(
    count: Quantity, *body: nodes.Statement, counter: str | None = None, label: str | None = None
) -> nodes.Loop:
    """`map counter [count] { body }`"""
    return nodes.Loop("map", counter, expression(count), label, body)


def seq(*body: nodes.Statement, label: str | None = None) -> nodes.Group:
    """`seq { body }`"""
    return nodes.Group("seq", label, body)


def par(*body: nodes.Statement, label: str | None = None) -> nodes.Group:
    """`par { body }`; with the label "overlap" the branches run at once, with "concurrent" each in its own order."""
    return nodes.Group("par", label, body)


def if_(condition: str, *body: nodes.Statement, otherwise: Sequence[nodes.Statement] | None = None) -> nodes.If:
    """`if (condition) { body } else { otherwise }`"""
    rest = None if otherwise is None else tuple(otherwise)
    return nodes.If(((parse_condition(condition), body),), rest)


def case(value: Quantity, *body: nodes.Statement) -> nodes.Case:
    """`[value] { body }` of a switch or a probability"""
    return nodes.Case(expression(value), body)


def switch(subject: str, *cases: nodes.Case, otherwise: Sequence[nodes.Statement] | None = None) -> nodes.Switch:
    """`switch (subject) { cases else { otherwise } }`"""
    return nodes.Switch(nodes.Name(subject), cases, None if otherwise is None else tuple(otherwise))


def probability(*cases: nodes.Case, otherwise: Sequence[nodes.Statement] | None = None) -> nodes.Probability:
    """`probability { cases else { otherwise } }`"""
    return nodes.Probability(cases, None if otherwise is None else tuple(otherwise))


# -- machines --------------------------------------------------------------------------------------


def machine(*parts: nodes.Parameter | nodes.Enum | nodes.Component) -> Machine:
    """A machine model: parameters, enums and components, one of them of type `machine`."""
    components = tuple(part for part in parts if isinstance(part, nodes.Component))
    declarations = tuple(part for part in parts if not isinstance(part, nodes.Component))
    return link_machine(_reparse(nodes.Machine(declarations, components)), [])


def component(type: str, name: str, *items: nodes.Item, like: str | None = None) -> nodes.Component:
    """`type name like base { items }`"""
    return nodes.Component(type, name, items, like)


def part(type: str, name: str, quantity: Quantity | None = None, *, instead_of: str | None = None) -> nodes.Part:
    """`type [quantity] name instead of part`"""
    return nodes.Part(type, _optional(quantity), name, instead_of)


def property_(name: str, value: Quantity | None = None) -> nodes.Property:
    """`property name [value]`"""
    return nodes.Property(name, _optional(value))


def resource(name: str, argument: str, time: Quantity, *traits: nodes.ResourceTrait) -> nodes.Resource:
    """`resource name(argument) [seconds] with traits`"""
    return nodes.Resource(name, argument, expression(time), traits)


def resource_trait(name: str, time: Quantity, *, argument: str | None = None) -> nodes.ResourceTrait:
    """`name(argument) [seconds]` after `with`; `base` is the time so far"""
    return nodes.ResourceTrait(name, argument, expression(time))


def conflict(first: str, second: str) -> nodes.Conflict:
    """`conflict first, second`"""
    return nodes.Conflict(first, second)


def power(kind: Literal["static", "dynamic"], watts: Quantity) -> nodes.PowerDraw:
    """`static power [watts]` or `dynamic power [watts]`"""
    return nodes.PowerDraw(kind, expression(watts))


def _reparse(node: Any) -> Any:
    """The tree as its text says it: what was built is held to the grammar, and every node has its place."""

    name = getattr(node, "name", "machine")
    read = parse_file(Source(to_aspen(node), f"<{name}>"))
    if read != node:
        fail("bad-value", "a name given to the builder is not an identifier")
    return read
