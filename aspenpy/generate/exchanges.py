"""Which MPI calls a `messages` requirement stands for: its traits say so."""

from __future__ import annotations

from typing import NoReturn

from aspenpy.cost.exchanges import ALL_PORTS, FACES, HALO, OPEN
from aspenpy.cost.network.halo import MOST_DIMENSIONS
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import Diagnostic, Related, fail, nearest, warning
from aspenpy.models.application import flow
from aspenpy.record import Record

MESSAGES = "messages"  # the resource that is sent


class Kind(Record):
    """A way to exchange: the helper in C that does it, and what the trait's argument is called, if it takes one."""

    helper: str
    argument: str | None


class Exchange(Record):
    """What one requirement sends. `arguments` are those of the helper: the trait's, if its kind takes one; of a halo
    the number of its dimensions, and the ranks along each or zeros."""

    kind: Kind
    arguments: tuple[Expr, ...]
    requirement: flow.Requirement

    def sent(self, instances: Expr) -> tuple[Expr, Expr]:
        """The messages and the bytes that so many instances send (a collective call counts as one message each). Of a
        halo, one instance has no neighbours, and there are none along a dimension of one rank."""
        share, messages = graph.ONE, graph.ONE
        if self.kind.helper == KINDS[HALO].helper:
            dimensions, *grid = self.arguments
            flat = graph.add(*(graph.if_else(graph.compare("==", length, 1), 1, 0) for length in grid))
            beside = graph.if_else(graph.compare("<=", instances, 1), 0, dimensions - flat)
            share, messages = beside / dimensions, 2 * beside
        return graph.mul(instances, messages), graph.mul(instances, self.requirement.amount, share)


KINDS: dict[str, Kind] = {
    "shift": Kind("aspen_shift", "the distance in the ring"),
    "halo": Kind("aspen_halo", "the number of dimensions"),
    "allreduce": Kind("aspen_allreduce", None),
    "reduce": Kind("aspen_reduce", None),
    "broadcast": Kind("aspen_broadcast", None),
    "allgather": Kind("aspen_allgather", None),
    "alltoall": Kind("aspen_alltoall", None),
    "barrier": Kind("aspen_barrier", None),
}
"""By the trait that asks for it; a requirement without any goes once around the ring, `shift(1)`."""


AMONG = {"allreduce": Kind("aspen_allreduce_among", "the number of ranks of a group")}
"""Those that may take place in groups of so many ranks, where the trait says how many."""


def exchange_of(requirement: flow.Requirement) -> Exchange:
    """How a requirement is sent. Raises AspenError if its traits contradict each other or lack an argument."""
    named = [trait for trait in requirement.traits if trait.name in KINDS]
    if len(named) > 1:
        message = f"`{named[0].name}` and `{named[1].name}` are two ways to send one message"
        fail("two-exchanges", message, named[1].span, related=(Related(named[0].span, "the other one"),))
    if not named:
        return Exchange(KINDS["shift"], (graph.ONE,), requirement)
    (trait,) = named
    kind = (AMONG if trait.arguments else KINDS).get(trait.name, KINDS[trait.name])
    if trait.name == HALO:
        _refuse_unequal(requirement)
        return Exchange(kind, _grid(trait, kind), requirement)
    if len(trait.arguments) != (kind.argument is not None):
        _refuse_arguments(trait, kind)
    arguments = tuple(argument for argument in trait.arguments if isinstance(argument, Expr))
    if len(arguments) != len(trait.arguments):
        _refuse_arguments(trait, kind)
    return Exchange(kind, arguments, requirement)


def _grid(trait: flow.Trait, kind: Kind) -> tuple[Expr, ...]:
    """How many dimensions a halo has, and the ranks along each, 0 where MPI is to find them. All its messages are
    under way at once in any case, so that "all_ports" changes nothing."""
    numbers = [argument for argument in trait.arguments if isinstance(argument, Expr)]
    words = [argument for argument in trait.arguments if isinstance(argument, str)]
    if not 1 <= len(numbers) <= MOST_DIMENSIONS or any(word != ALL_PORTS for word in words):
        _refuse_arguments(trait, kind)
    if len(numbers) == 1:
        return numbers[0], *[graph.ZERO] * MOST_DIMENSIONS
    return graph.number(len(numbers)), *numbers, *[graph.ZERO] * (MOST_DIMENSIONS - len(numbers))


def _refuse_unequal(requirement: flow.Requirement) -> None:
    """The helper in C sends equal faces round a ring."""
    for trait in requirement.traits:
        if trait.name == FACES or OPEN in trait.arguments:
            message = "a skeleton exchanges equal faces in a grid without ends"
            hint = "write a requirement for each dimension, `messages [2*face] as shift(distance)`, or leave it out"
            fail("trait-argument", message, trait.span, hint=hint)


def _refuse_arguments(trait: flow.Trait, kind: Kind) -> NoReturn:
    if kind.argument is None:
        fail("trait-argument", f"the trait `{trait.name}` takes no argument", trait.span)
    if trait.name == HALO:
        hint = "it takes the number of dimensions, `as halo(3)`, or the ranks along each, `as halo(x, y, z)`"
        fail("trait-argument", "the trait `halo` takes one to three numbers", trait.span, hint=hint)
    hint = f"its argument is {kind.argument}: `as {trait.name}(1)`"
    fail("trait-argument", f"the trait `{trait.name}` needs one number", trait.span, hint=hint)


def doubts(requirement: flow.Requirement) -> list[Diagnostic]:
    """Traits that look as if they were meant for one of the kinds."""
    return [
        warning("unknown-exchange", f"the trait `{trait.name}` names no MPI call", trait.span, hint=hint)
        for trait in requirement.traits
        if trait.name not in KINDS and (hint := nearest(trait.name, KINDS)) is not None
    ]
