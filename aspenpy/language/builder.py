"""Builder: makes the nodes of the tree as the parser recognises the rules of the grammar.

Each public method bears the name of the rule of `grammar/aspen.lark` whose node it makes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

from aspenpy.expr.counts import ARGUMENTS, RULES
from aspenpy.language import nodes
from aspenpy.language.diagnostics import Diagnostic, fail, suggest_nearest, warning
from aspenpy.language.source import Source, Span
from aspenpy.language.tokens import LiteralError, Token, read_number, read_quantity, read_string

# -- expressions and conditions --------------------------------------------------------------------


Children = list[Any]

MAXIMUM_DEPTH = 100  # levels of an expression: what works on the tree may recurse, with several calls a level


class RuleValue:
    """Value of a rule that makes no node of its own, and where it was written."""

    __slots__ = ("end", "start", "value")

    def __init__(self, value: Any, start: int, end: int) -> None:
        self.value, self.start, self.end = value, start, end


_PLACED = (Token, RuleValue)  # what has its place in itself; a node has it in its span


class ExpressionBuilder:
    """Builds the expressions and conditions of one source."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._depths: dict[int, int] = {}  # of compound expressions, by identity: all of them are in the tree

    # -- places ----------------------------------------------------------------------------------

    def _span(self, first: Any, last: Any) -> Span:
        """The span from the beginning of one token, piece or node to the end of another."""
        start = first.start if isinstance(first, _PLACED) else first.span[1]
        return Span(self.source, start, last.end if isinstance(last, _PLACED) else last.span[2])

    def _span_of_all(self, children: Children) -> Span:
        """The span from the first symbol of a rule to the last one that is there."""
        for last in reversed(children):
            if last is not None:
                return self._span(children[0], last)
        raise AssertionError("a rule that matched nothing")

    def _make_piece(self, value: Any, children: Children) -> RuleValue:
        _, start, end = self._span_of_all(children)
        return RuleValue(value, start, end)

    def _span_of(self, token: Any) -> Span:
        return Span(self.source, token.start, token.end)

    # -- conditions ------------------------------------------------------------------------------

    def comparison(self, children: Children) -> Any:
        left, operator, right = children
        return self._require_depth(
            nodes.Comparison(operator.value, left, right, self._span(left, right)), (left, right)
        )

    def junction(self, children: Children) -> Any:
        span = self._span(children[0], children[-1])
        return self._require_depth(nodes.Junction(children[0], _pair_operators(children), span), children[::2])

    # -- expressions -----------------------------------------------------------------------------

    def _require_depth(self, node: Any, operands: Sequence[Any]) -> Any:
        """The node, if the tree does not become too deep with it."""
        depths = self._depths
        depth = 1 + max([depths.get(id(operand), 0) for operand in operands], default=0)
        if depth > MAXIMUM_DEPTH:
            message = f"this expression is nested more than {MAXIMUM_DEPTH} levels deep"
            fail("nesting", message, node.span, hint="give parts of it names of their own with `param`")
        depths[id(node)] = depth
        return node

    def chain(self, children: Children) -> Any:
        span = self._span(children[0], children[-1])
        return self._require_depth(nodes.Chain(children[0], _pair_operators(children), span), children[::2])

    def negation(self, children: Children) -> Any:
        minus, operand = children
        return self._require_depth(nodes.Negation(operand, self._span(minus, operand)), (operand,))

    def raised(self, children: Children) -> Any:
        base, _, exponent = children
        return self._require_depth(nodes.Power(base, exponent, self._span(base, exponent)), (base, exponent))

    def number(self, children: Children) -> nodes.Number:
        return self._read_literal(children[0], lambda spelling: (read_number(spelling), None))

    def quantity(self, children: Children) -> nodes.Number:
        return self._read_literal(children[0], read_quantity)

    def _read_literal(self, token: Any, read: Callable[[str], tuple[int | Fraction, str | None]]) -> nodes.Number:
        span = Span(self.source, token.start, token.end)
        try:
            value, unit = read(token.value)
        except LiteralError as error:
            fail("number", str(error), span)
        return nodes.Number(value, token.value, unit, span)

    def constant(self, children: Children) -> nodes.Name:
        (token,) = children
        return nodes.Name(token.value, Span(self.source, token.start, token.end))

    name = schedule = constant

    def dotted(self, children: Children) -> nodes.Name:
        return nodes.Name("".join(token.value for token in children), self._span(children[0], children[-1]))

    def applied(self, children: Children) -> Any:
        function, _, pieces, closing = children
        arguments = values_of(pieces)
        span = self._span(function, closing)
        node = nodes.Apply(function.value, arguments, span, self._span_of(function))
        return self._require_depth(node, arguments)

    def indexed(self, children: Children) -> Any:
        array, *rest = children
        indices = tuple(rest[1::3])
        return self._require_depth(nodes.Index(array, indices, self._span(array, rest[-1])), indices)

    def arguments(self, children: Children) -> RuleValue:
        return self._make_piece(tuple(children[::2]), children)

    def parenthesised(self, children: Children) -> Any:
        """The same expression or condition; its place takes in the parentheses."""
        opening, inner, closing = children
        node = inner.replace(span=self._span(opening, closing))
        depth = self._depths.pop(id(inner), 0)
        if depth:
            self._depths[id(node)] = depth
        return node


def _pair_operators(children: Children) -> tuple[tuple[str, Any], ...]:
    """The operators of a chain with the operands behind them."""
    return tuple((operator.value, operand) for operator, operand in zip(children[1::2], children[2::2], strict=True))


def value_of(piece: Any) -> Any:
    """The value of an optional token or piece."""
    return None if piece is None else piece.value


def values_of(piece: RuleValue | None) -> tuple[Any, ...]:
    """The elements of an optional list."""
    return () if piece is None else piece.value


class Builder(ExpressionBuilder):
    """Builds the tree of one source; `warnings` receives what is accepted but should be written otherwise."""

    def __init__(self, source: Source, warnings: list[Diagnostic]) -> None:
        super().__init__(source)
        self.warnings = warnings

    # -- files -----------------------------------------------------------------------------------

    def file(self, children: Children) -> Any:
        return children[0]

    def value(self, children: Children) -> Any:
        return children[0]

    def application(self, children: Children) -> nodes.Application:
        _, name, _, *members, _ = children
        first_kernel = next(index for index, member in enumerate(members) if type(member) is nodes.Kernel)
        declarations, kernels = tuple(members[:first_kernel]), tuple(members[first_kernel:])
        return nodes.Application(name.value, declarations, kernels, self._span_of_all(children), self._span_of(name))

    def machine(self, children: Children) -> nodes.Machine:
        components = tuple(child for child in children if type(child) is nodes.Component)
        declarations = tuple(child for child in children if type(child) is not nodes.Component)
        _refuse_of_applications(declarations, "a machine model")
        return nodes.Machine(declarations, components, self._span_of_all(children))

    # -- declarations ----------------------------------------------------------------------------

    def parameter(self, children: Children) -> nodes.Parameter:
        _, name, _, value, *limits, per_rank, counts, counted = children
        low, high = limits[1::2] or (None, None)
        span, per = self._span_of_all(children), per_rank is not None
        return nodes.Parameter(
            name.value,
            value,
            low,
            high,
            per_rank=per,
            counts=counts,
            counted_at=counted,
            span=span,
            name_span=self._span_of(name),
        )

    parameter_in_range = parameter

    def counted_at(self, children: Children) -> nodes.CountedAt:
        return nodes.CountedAt(tuple(children[1::2]), self._span_of_all(children))

    def size(self, children: Children) -> nodes.CountedSize:
        name, _, value = children
        return nodes.CountedSize(name.value, value, self._span_of_all(children))

    def counts(self, children: Children) -> nodes.CountRule:
        _, rule, *brackets = children
        argument = brackets[1] if brackets and brackets[0] is not None else None
        if rule.value not in RULES:
            hint = suggest_nearest(rule.value, RULES) or f"there are {', '.join(RULES)}"
            fail("unknown-counts", f"unknown rule of numbers `{rule.value}`", self._span_of(rule), hint=hint)
        if (argument is None) == (rule.value in ARGUMENTS):
            wanted = ARGUMENTS.get(rule.value)
            message = f"`{rule.value}` takes {'no argument' if wanted is None else 'an argument, ' + wanted}"
            example = rule.value if wanted is None else f"{rule.value}(2)"
            fail("unknown-counts", message, self._span_of_all(children), hint=f"write `with {example}`")
        return nodes.CountRule(rule.value, argument, self._span_of_all(children))

    def parameter_in_enum(self, children: Children) -> nodes.Parameter:
        _, name, _, value, _, enum = children
        return nodes.Parameter(
            name.value, value, member_of=enum.value, span=self._span_of_all(children), name_span=self._span_of(name)
        )

    def parameter_array(self, children: Children) -> nodes.Parameter:
        return self._parameter_per_rank(children, 1)

    def parameter_table(self, children: Children) -> nodes.Parameter:
        return self._parameter_per_rank(children, 2)

    def parameter_unmarked(self, children: Children) -> nodes.Parameter:
        name, rank = children[1], _array_rank(children[-1])
        message = f"`param {name.value} = {{...}}` is an older spelling of an array"
        self._warn_of_older_form(message, name, f"write `param {name.value}{'[]' * rank} = {{...}}`")
        return self._parameter_per_rank(children, rank)

    def _parameter_per_rank(self, children: Children, rank: int) -> nodes.Parameter:
        name, value = children[1], children[-1]
        if _array_rank(value) != rank:
            message, hint = _RANKS[rank]
            fail("array-rank", message.format(name.value), value.span, hint=hint)
        return nodes.Parameter(
            name.value, value, rank=rank, span=self._span_of_all(children), name_span=self._span_of(name)
        )

    def _warn_of_older_form(self, message: str, token: Any, hint: str) -> None:
        self.warnings.append(warning("older-spelling", message, self._span_of(token), hint=hint))

    def array(self, children: Children) -> nodes.Array:
        return nodes.Array(tuple(children[1:-1:2]) if children[1] else (), self._span_of_all(children))

    def table(self, children: Children) -> nodes.Array:
        return nodes.Array(tuple(children[1:-1:2]), self._span_of_all(children))

    row = table

    def enum(self, children: Children) -> nodes.Enum:
        _, name, _, *members, _ = children
        words = tuple(member.value for member in members[::2])
        return nodes.Enum(name.value, words, self._span_of_all(children), self._span_of(name))

    def data_sized(self, children: Children) -> nodes.Data:
        _, name, _, size, _, _, memory = children
        return self._data(children, name, size, shape=None, factors=(), memory=memory)

    def data_shaped(self, children: Children) -> nodes.Data:
        _, name, _, shape, _, factors, _, _, memory = children
        return self._data(children, name, None, shape.value, values_of(factors), memory)

    def _data(self, children: Children, name: Any, size: Any, shape: Any, factors: Any, memory: Any) -> nodes.Data:
        return nodes.Data(
            name.value,
            size,
            shape,
            factors=factors,
            memory=value_of(memory),
            span=self._span_of_all(children),
            name_span=self._span_of(name),
            memory_span=None if memory is None else self._span_of(memory),
        )

    def imported(self, children: Children) -> nodes.Import:
        _, name, _, path, overrides = children
        spans = self._span_of_all(children), self._span_of(name), self._span_of(path)
        return nodes.Import(name.value, read_string(path.value), values_of(overrides), *spans)

    def overrides(self, children: Children) -> RuleValue:
        return self._make_piece(tuple(children[1::2]), children)

    traits = resource_traits = overrides

    def override(self, children: Children) -> nodes.Override:
        name, _, value = children
        return nodes.Override(name.value, value, self._span(name, value), self._span_of(name))

    def mixture(self, children: Children) -> nodes.Mixture:
        _, name, _, *parts, _ = children
        return nodes.Mixture(name.value, tuple(parts[::2]), self._span_of_all(children), self._span_of(name))

    def mixed(self, children: Children) -> nodes.Mixed:
        name, _, amount, _ = children
        return nodes.Mixed(name.value, amount, self._span_of_all(children), self._span_of(name))

    # -- kernels and statements ------------------------------------------------------------------

    def kernel(self, children: Children) -> nodes.Kernel:
        _, name, formals, _, *members, _ = children
        count = sum(isinstance(member, nodes.Declaration) for member in members)
        declarations, body = tuple(members[:count]), tuple(members[count:])
        _refuse_of_applications(declarations, "a kernel")
        return nodes.Kernel(
            name.value,
            values_of(formals),
            declarations,
            body=body,
            span=self._span_of_all(children),
            name_span=self._span_of(name),
        )

    def formals(self, children: Children) -> RuleValue:
        return self._make_piece(tuple(children[1:-1:2]) if children[1] else (), children)

    def formal(self, children: Children) -> nodes.Formal:
        kind, name = children
        return nodes.Formal(kind.value, name.value, self._span(kind, name))

    def block(self, children: Children) -> RuleValue:
        return self._make_piece(tuple(children[1:-1]), children)

    def label(self, children: Children) -> RuleValue:
        (token,) = children
        if token.type == "STRING":
            return RuleValue(read_string(token.value), token.start, token.end)
        message = f"the label `{token.value}` without quotes is an older spelling"
        self._warn_of_older_form(message, token, f'write `"{token.value}"`')
        return RuleValue(token.value, token.start, token.end)

    def execute(self, children: Children) -> nodes.Execute:
        _, _, parallelism, _, parts, label, _, *requirements, _ = children
        width, counter, size, schedule = parts or (None, None, None, None)
        span = self._span_of_all(children)
        return nodes.Execute(
            parallelism,
            value_of(label),
            tuple(requirements),
            span=span,
            width=width,
            counter=value_of(counter),
            size=size,
            schedule=value_of(schedule),
        )

    def parts(self, children: Children) -> Any:
        """The width, the counter, the size and the schedule."""
        _, counter, _, width, _, _, _, _, size, _, schedule = children
        return width, counter, size, schedule

    def requirement(self, children: Children) -> nodes.Requirement:
        resource, _, quantity, _, _, _, _, size, _, direction, target, traits = children
        return nodes.Requirement(
            resource.value,
            quantity,
            size,
            direction=value_of(direction),
            target=value_of(target),
            traits=values_of(traits),
            span=self._span_of_all(children),
            resource_span=self._span_of(resource),
            target_span=None if target is None else self._span_of(target),
        )

    def trait(self, children: Children) -> nodes.Trait:
        name, _, *arguments, _ = children
        return nodes.Trait(name.value, tuple(arguments[::2]) if arguments[0] else (), self._span_of_all(children))

    def counted(self, children: Children) -> nodes.Counted:
        name, _, low, _, high = children
        return nodes.Counted(name.value, low, high, self._span_of_all(children))

    def text(self, children: Children) -> nodes.Text:
        (token,) = children
        return nodes.Text(read_string(token.value), self._span_of(token))

    def call(self, children: Children) -> nodes.Call:
        _, kernel, _, arguments, _ = children
        return nodes.Call(kernel.name, values_of(arguments), self._span_of_all(children), kernel.span)

    def sample(self, children: Children) -> nodes.Sample:
        _, name, _, distribution, _, arguments, _ = children
        spans = self._span_of_all(children), self._span_of(distribution)
        return nodes.Sample(name.value, distribution.value, values_of(arguments), *spans)

    def group(self, children: Children) -> nodes.Group:
        mode, label, body = children
        return nodes.Group(mode.value, value_of(label), body.value, self._span(mode, body))

    def loop(self, children: Children) -> nodes.Loop:
        mode, counter, _, count, _, label, body = children
        return nodes.Loop(
            mode.value, value_of(counter), count, label=value_of(label), body=body.value, span=self._span(mode, body)
        )

    def choice(self, children: Children) -> nodes.If:
        _, _, condition, _, body, *others, otherwise = children
        branches = ((condition, body.value), *(other.value for other in others))
        return nodes.If(branches, value_of(otherwise), self._span_of_all(children))

    def else_if(self, children: Children) -> RuleValue:
        _, _, _, condition, _, body = children
        return self._make_piece((condition, body.value), children)

    def otherwise(self, children: Children) -> RuleValue:
        return self._make_piece(children[1].value, children)

    def switch(self, children: Children) -> nodes.Switch:
        _, _, subject, _, _, *cases, otherwise, _ = children
        return nodes.Switch(subject, tuple(cases), value_of(otherwise), self._span_of_all(children))

    def probability(self, children: Children) -> nodes.Probability:
        _, _, *cases, otherwise, _ = children
        return nodes.Probability(tuple(cases), value_of(otherwise), self._span_of_all(children))

    def case(self, children: Children) -> nodes.Case:
        _, value, _, body = children
        return nodes.Case(value, body.value, self._span_of_all(children))

    # -- machines --------------------------------------------------------------------------------

    def component(self, children: Children) -> nodes.Component:
        type_name, name, _, base, _, *items, _ = children
        spans = self._span_of_all(children), self._span_of(type_name), self._span_of(name), base and self._span_of(base)
        return nodes.Component(type_name.value, name.value, tuple(items), value_of(base), *spans)

    def part(self, children: Children) -> nodes.Part:
        type_name, _, quantity, _, name, _, replaced = children
        spans = self._span_of_all(children), self._span_of(name), replaced and self._span_of(replaced)
        return nodes.Part(type_name.value, quantity, name.value, value_of(replaced), *spans)

    def property(self, children: Children) -> nodes.Property:
        _, name, _, value, _ = children
        return nodes.Property(name.value, value, self._span_of_all(children), self._span_of(name))

    def resource(self, children: Children) -> nodes.Resource:
        _, name, _, argument, _, _, time, _, traits = children
        spans = self._span_of_all(children), self._span_of(name)
        return nodes.Resource(name.value, argument.value, time, values_of(traits), *spans)

    def resource_trait(self, children: Children) -> nodes.ResourceTrait:
        name, _, argument, _, _, time, _ = children
        return nodes.ResourceTrait(name.value, value_of(argument), time, self._span_of_all(children))

    def conflict(self, children: Children) -> nodes.Conflict:
        _, first, _, second = children
        return nodes.Conflict(first.value, second.value, self._span_of_all(children))

    def power(self, children: Children) -> nodes.PowerDraw:
        kind, _, _, watts, _ = children
        return nodes.PowerDraw(kind.value, watts, self._span_of_all(children))


def _refuse_of_applications(declarations: Iterable[Any], where: str) -> None:
    """Refuses `per rank` and `counted at` outside of the parameters of a whole application, since only these are sizes
    of a problem."""
    for item in declarations:
        if type(item) is nodes.Parameter and item.per_rank:
            message = f"`{item.name}` is a parameter of {where}, which has no problem of one rank"
            fail("per-rank", message, item.span, hint="leave `per rank` out")
        if type(item) is nodes.Parameter and item.counted_at is not None:
            message = f"`{item.name}` is a parameter of {where}, which no program is run for"
            fail("counted-at", message, item.span, hint="leave `counted at` out")


_RANKS = {
    1: ("`{}[]` is an array, this is a table", "write `[][]` for a table, or one row only"),
    2: ("`{}[][]` is a table, this is an array", "a table is an array of rows: `{{1, 2}, {3, 4}}`"),
}


def _array_rank(array: nodes.Array) -> int:
    """2 for a table, which has arrays for its elements."""
    return 2 if array.elements and type(array.elements[0]) is nodes.Array else 1
