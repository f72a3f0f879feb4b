"""Expression builder: makes the nodes of expressions and conditions, and knows the places of things.

Each public method bears the name of a rule (or of an alternative, behind its arrow in `grammar/aspen.lark`) and
takes what the rule matched: tokens, nodes already built, and None for each absent symbol of an optional part,
so that the same thing is always in the same place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from aspenpy.language import nodes
from aspenpy.language.diagnostics import fail
from aspenpy.language.literals import LiteralError, read_number, read_quantity
from aspenpy.language.source import Source, Span
from aspenpy.language.tokens import Token

Children = list[Any]

MAXIMUM_DEPTH = 100  # levels of an expression: what works on the tree may recurse, with several calls a level


class Piece:
    """What a rule gives that is no node of its own: a value, and where it was written."""

    __slots__ = ("end", "start", "value")

    def __init__(self, value: Any, start: int, end: int) -> None:
        self.value, self.start, self.end = value, start, end


_PLACED = (Token, Piece)  # what has its place in itself; a node has it in its span


class ExpressionBuilder:
    """Builds the expressions and conditions of one source."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._depths: dict[int, int] = {}  # of compound expressions, by identity: all of them are in the tree

    # -- places ----------------------------------------------------------------------------------

    def _span(self, first: Any, last: Any) -> Span:
        """From the beginning of one token, piece or node to the end of another."""
        start = first.start if isinstance(first, _PLACED) else first.span[1]
        return Span(self.source, start, last.end if isinstance(last, _PLACED) else last.span[2])

    def _whole(self, children: Children) -> Span:
        """From the first symbol of a rule to the last one that is there."""
        for last in reversed(children):
            if last is not None:
                return self._span(children[0], last)
        raise AssertionError("a rule that matched nothing")

    def _piece(self, value: Any, children: Children) -> Piece:
        _, start, end = self._whole(children)
        return Piece(value, start, end)

    def _at(self, token: Any) -> Span:
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
        return self._literal(children[0], lambda spelling: (read_number(spelling), None))

    def quantity(self, children: Children) -> nodes.Number:
        return self._literal(children[0], read_quantity)

    def _literal(self, token: Any, read: Callable[[str], tuple[int | Fraction, str | None]]) -> nodes.Number:
        span = Span(self.source, token.start, token.end)
        try:
            value, unit = read(token.value)
        except LiteralError as error:
            fail("number", str(error), span)
        return nodes.Number(value, token.value, unit, span)

    def constant(self, children: Children) -> nodes.Name:
        (token,) = children
        return nodes.Name(token.value, Span(self.source, token.start, token.end))

    name = constant

    def dotted(self, children: Children) -> nodes.Name:
        return nodes.Name("".join(token.value for token in children), self._span(children[0], children[-1]))

    def applied(self, children: Children) -> Any:
        function, _, pieces, closing = children
        arguments = values_of(pieces)
        span = self._span(function, closing)
        node = nodes.Apply(function.value, arguments, span, self._at(function))
        return self._require_depth(node, arguments)

    def indexed(self, children: Children) -> Any:
        array, *rest = children
        indices = tuple(rest[1::3])
        return self._require_depth(nodes.Index(array, indices, self._span(array, rest[-1])), indices)

    def arguments(self, children: Children) -> Piece:
        return self._piece(tuple(children[::2]), children)

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


def values_of(piece: Piece | None) -> tuple[Any, ...]:
    """The elements of an optional list."""
    return () if piece is None else piece.value
