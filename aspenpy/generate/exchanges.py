"""Which MPI calls a `messages` requirement stands for: its traits say so."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from aspenpy.application import flow
from aspenpy.diagnostics import Diagnostic, Related, fail, nearest
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.record import Record

MESSAGES = "messages"
"""The resource that is sent."""


class Kind(Record):
    """A way to exchange: the helper in C that does it, what the trait's argument is called, if it takes one, and how
    many messages an instance sends (a collective call counts as one)."""

    helper: str
    argument: str | None
    messages: Callable[[Expr], Expr]


class Exchange(Record):
    """What one requirement sends. `argument` is that of the trait, if its kind takes one."""

    kind: Kind
    argument: Expr | None
    requirement: flow.Requirement

    @property
    def messages(self) -> Expr:
        """How many messages each instance sends."""
        return self.kind.messages(graph.ONE if self.argument is None else self.argument)


def _one(_: Expr) -> Expr:
    return graph.ONE


KINDS: dict[str, Kind] = {
    "shift": Kind("aspen_shift", "the distance in the ring", _one),
    "halo": Kind("aspen_halo", "the number of dimensions", lambda dimensions: graph.mul(2, dimensions)),
    "allreduce": Kind("aspen_allreduce", None, _one),
    "reduce": Kind("aspen_reduce", None, _one),
    "broadcast": Kind("aspen_broadcast", None, _one),
    "allgather": Kind("aspen_allgather", None, _one),
    "alltoall": Kind("aspen_alltoall", None, _one),
    "barrier": Kind("aspen_barrier", None, _one),
}
"""By the trait that asks for it; a requirement without any goes once around the ring, `shift(1)`."""


def exchange_of(requirement: flow.Requirement) -> Exchange:
    """How a requirement is sent. Raises AspenError if its traits contradict each other or lack an argument."""
    named = [trait for trait in requirement.traits if trait.name in KINDS]
    if len(named) > 1:
        message = f"`{named[0].name}` and `{named[1].name}` are two ways to send one message"
        fail("two-exchanges", message, named[1].span, related=(Related(named[0].span, "the other one"),))
    if not named:
        return Exchange(KINDS["shift"], graph.ONE, requirement)
    (trait,) = named
    kind = KINDS[trait.name]
    if len(trait.arguments) != (kind.argument is not None):
        _refuse_arguments(trait, kind)
    argument = trait.arguments[0] if trait.arguments else None
    if isinstance(argument, str):
        _refuse_arguments(trait, kind)
    return Exchange(kind, argument, requirement)


def _refuse_arguments(trait: flow.Trait, kind: Kind) -> NoReturn:
    if kind.argument is None:
        fail("trait-argument", f"the trait `{trait.name}` takes no argument", trait.span)
    hint = f"its argument is {kind.argument}: `as {trait.name}(1)`"
    fail("trait-argument", f"the trait `{trait.name}` needs one number", trait.span, hint=hint)


def doubts(requirement: flow.Requirement) -> list[Diagnostic]:
    """Traits that look as if they were meant for one of the kinds."""
    return [
        Diagnostic(
            "unknown-exchange", f"the trait `{trait.name}` names no MPI call", trait.span, hint=hint, severity="warning"
        )
        for trait in requirement.traits
        if trait.name not in KINDS and (hint := nearest(trait.name, KINDS)) is not None
    ]
