"""Model: what applications and machines have in common: a syntax tree, and the parameters and enums it declares."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

from aspenpy.expr.graph import Expr
from aspenpy.language import nodes
from aspenpy.language.diagnostics import Diagnostic
from aspenpy.language.lower import Draw, Lowering, Origins, draw_sites, lower_guarded, site_in_text
from aspenpy.language.source import Span
from aspenpy.language.statements import declarations_by_name
from aspenpy.record import Record
from aspenpy.tables.result import Result


class Parameter(Record):
    """A global parameter under its full name (`n`, `fft3d.n`), with the range it declares."""

    name: str
    symbol: Expr
    value: Expr
    low: Expr | None
    high: Expr | None
    node: nodes.Parameter
    span: Span | None


def parameter(name: str, symbol: Expr, value: Expr, node: nodes.Parameter, lower: Lowering) -> Parameter:
    low, high = (None if end is None else lower_guarded(lower, end) for end in (node.low, node.high))
    return Parameter(name, symbol, value, low, high, node, node.span)


def enum_constants(enums: Iterable[nodes.Enum]) -> dict[str, int]:
    """The members of some enums: 0, 1, 2, ..."""
    return {member: value for enum in enums for value, member in enumerate(enum.members)}


class Model(Result):
    """A loaded model. Immutable; equal when the texts say the same."""

    node: nodes.Application | nodes.Machine

    def __init__(self, node: nodes.Application | nodes.Machine, warnings: tuple[Diagnostic, ...]) -> None:
        self.node, self.warnings = node, warnings
        self.origins: Origins = {}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Model) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash(self.node)

    def _identity(self) -> tuple[Any, ...]:
        return (self.node,)

    def to_aspen(self) -> str:
        """The model as Aspen text (imported models stay imports)."""
        return self._text

    @cached_property
    def _text(self) -> str:
        from aspenpy.language.printer import to_aspen

        return to_aspen(self.node)

    @cached_property
    def declared(self) -> dict[str, nodes.Parameter]:
        """Its own global parameters by name; of two with one name the later holds."""
        return declarations_by_name(nodes.Parameter, self.node.declarations)

    @cached_property
    def enums(self) -> dict[str, nodes.Enum]:
        return declarations_by_name(nodes.Enum, self.node.declarations)

    @cached_property
    def constants(self) -> dict[str, int]:
        """The members of its enums with their values."""
        return enum_constants(self.enums.values())

    def site_of_draw(self, node: Draw) -> str:
        """What tells a random draw from all others of the model, whatever their call and pass."""
        return self._draw_sites.get(id(node)) or site_in_text(node)

    @cached_property
    def _draw_sites(self) -> dict[int, str]:
        return draw_sites(self._scopes())

    def _scopes(self) -> dict[str, Any]:
        """The parts of its tree that number their draws apart, by name."""
        raise NotImplementedError
