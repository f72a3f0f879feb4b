"""Which MPI calls a `messages` requirement stands for: its traits say so."""

from __future__ import annotations

from typing import NoReturn

from aspenpy.cost.halos import numbers_of
from aspenpy.cost.network.collectives import COLLECTIVES, MOST_DIMENSIONS, algorithms
from aspenpy.cost.network.mpi_choices import CALLED
from aspenpy.cost.trait_names import ALL_PORTS, FACES, HALO, OPEN, SWEEP, VARIES
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import Diagnostic, Related, fail, suggest_nearest, warning
from aspenpy.models.application import flow
from aspenpy.record import Record

MESSAGES = "messages"  # the resource that is sent


class ExchangeKind(Record):
    """A way to exchange: the helper in C that does it, and what the trait's argument is called, if it takes one."""

    helper: str
    argument: str | None


class HelperExchange(Record):
    """The exchange of one requirement. `arguments` are those of the helper: the trait's, if its kind takes one; of a
    halo the number of its dimensions, and the ranks along each or zeros; behind them, of one with ends or unlike faces,
    1 where there are ends, and the faces' proportions."""

    kind: ExchangeKind
    arguments: tuple[Expr, ...]
    requirement: flow.Requirement

    def count_sent(self, instances: Expr) -> tuple[Expr, Expr]:
        """The messages and the bytes that `instances` instances send (a collective call counts as one message each). Of
        a halo, one instance has no neighbours, and there are none along a dimension of one rank."""
        share, messages = graph.ONE, graph.ONE
        if self.kind is IN_PROPORTION:
            return self._amount_sent_by_faces(instances)
        if self.kind.helper == KINDS[HALO].helper:
            dimensions, *grid = self.arguments
            flat = graph.add(*(graph.if_else(graph.compare("==", length, 1), 1, 0) for length in grid))
            beside = graph.if_else(graph.compare("<=", instances, 1), 0, dimensions - flat)
            share, messages = beside / dimensions, 2 * beside
        return graph.mul(instances, messages), graph.mul(instances, self.requirement.amount, share)

    def _amount_sent_by_faces(self, instances: Expr) -> tuple[Expr, Expr]:
        """Messages and bytes through faces: of x ranks along a dimension, x send either way where it is a ring, x - 1
        where it has ends."""
        dimensions, *rest = self.arguments
        axes = range(int(dimensions.payload))
        ends, faces = rest[MOST_DIMENSIONS], rest[MOST_DIMENSIONS + 1 :]
        beside, sent = [], []
        for axis in axes:
            length = rest[axis] if rest[0] is not graph.ZERO else graph.apply("grid", instances, dimensions, axis)
            edge = 1 / length if ends is graph.ONE else graph.if_else(graph.compare("==", length, 1), 1, 0)
            beside.append(1 - edge)
            sent.append((1 - edge) * faces[axis])
        whole = graph.add(*(faces[axis] for axis in axes))
        some = graph.junction("and", graph.compare(">", instances, 1), graph.compare(">", whole, 0))
        messages = graph.if_else(some, 2 * graph.add(*beside), 0)
        share = graph.if_else(some, graph.add(*sent) / whole, 0)
        return instances * messages, graph.mul(instances, self.requirement.amount, share)


OF_GROUP = "the ranks of a group, and how far apart they are"

KINDS: dict[str, ExchangeKind] = {
    "shift": ExchangeKind("aspen_shift", "the distance in the ring"),
    "halo": ExchangeKind("aspen_halo", "the number of dimensions"),
    **{
        name: ExchangeKind(f"aspen_{name}", OF_GROUP)
        for name in ("allreduce", "reduce", "reduce_scatter", "broadcast", "allgather", "alltoall")
    },
    "barrier": ExchangeKind("aspen_barrier", None),
}
"""Exchanges by the trait that asks for them; a requirement without any goes once around the ring, `shift(1)`."""

IN_PROPORTION = ExchangeKind("aspen_faces", "the number of dimensions")
"""A halo with ends, or with faces that are not alike."""


def exchange_of(requirement: flow.Requirement) -> HelperExchange:
    """The helper that sends a requirement. Raises AspenError if its traits contradict each other or lack an
    argument."""
    named = [trait for trait in requirement.traits if trait.name in KINDS]
    if len(named) > 1:
        message = f"`{named[0].name}` and `{named[1].name}` are two ways to send one message"
        fail("two-exchanges", message, named[1].span, related=(Related(named[0].span, "the other one"),))
    if not named:
        return HelperExchange(KINDS["shift"], (graph.ONE,), requirement)
    trait = _without_algorithm(named[0])
    kind = KINDS[trait.name]
    if trait.name == HALO:
        faces = _faces(trait, requirement)
        return HelperExchange(IN_PROPORTION if faces else kind, (*_grid(trait, kind), *faces), requirement)
    arguments = tuple(argument for argument in trait.arguments if isinstance(argument, Expr))
    if kind.argument is OF_GROUP and len(arguments) == len(trait.arguments) <= 2:
        return HelperExchange(kind, (*(arguments or (graph.ZERO,)), graph.ONE)[:2], requirement)
    if not len(arguments) == len(trait.arguments) == (kind.argument is not None):
        _refuse_arguments(trait, kind)
    return HelperExchange(kind, arguments, requirement)


def _without_algorithm(trait: flow.Trait) -> flow.Trait:
    """A collective by an algorithm or a library that is named is one that MPI does by its own."""
    if trait.name not in COLLECTIVES:
        return trait
    numbers = numbers_of(trait)
    names = {*(each.name for each in algorithms(trait.name)), *CALLED}
    kept = [*numbers, *(each for each in trait.arguments if isinstance(each, str) and each not in names)]
    return trait.replace(arguments=tuple(kept))


def _grid(trait: flow.Trait, kind: ExchangeKind) -> tuple[Expr, ...]:
    """The number of dimensions of a halo, and the ranks along each, 0 where MPI is to find them. All its messages are
    under way at once in any case, so that "all_ports" changes nothing."""
    numbers = numbers_of(trait)
    words = [argument for argument in trait.arguments if isinstance(argument, str)]
    if not 1 <= len(numbers) <= MOST_DIMENSIONS or any(word not in (ALL_PORTS, OPEN) for word in words):
        _refuse_arguments(trait, kind)
    if len(numbers) == 1:
        return numbers[0], *[graph.ZERO] * MOST_DIMENSIONS
    return graph.number(len(numbers)), *numbers, *[graph.ZERO] * (MOST_DIMENSIONS - len(numbers))


def _faces(trait: flow.Trait, requirement: flow.Requirement) -> tuple[Expr, ...]:
    """Whether a halo has ends, and the proportions of its faces; nothing where it has none and they are alike."""
    stated = next((each for each in requirement.traits if each.name == FACES), None)
    if stated is None and OPEN not in trait.arguments:
        return ()
    numbers = numbers_of(trait)
    dimensions = graph.whole_number(numbers[0]) if len(numbers) == 1 else len(numbers)
    faces = [graph.ONE] * (dimensions or 0) if stated is None else numbers_of(stated)
    if dimensions is None or not 1 <= dimensions <= MOST_DIMENSIONS:
        hint = f"it has 1 to {MOST_DIMENSIONS}, as a number: `as halo(3)`, or the ranks along each, `as halo(x, y, z)`"
        fail("trait-argument", "the dimensions of a halo with ends or faces have to be known", trait.span, hint=hint)
    if stated is not None and len(faces) != dimensions:
        message = f"a halo in {dimensions} dimensions has {dimensions} faces, not {len(stated.arguments)}"
        fail("trait-argument", message, stated.span, hint="write the bytes of a face across each, `faces(a, b, c)`")
    ends = graph.ONE if OPEN in trait.arguments else graph.ZERO
    return ends, *faces, *[graph.ZERO] * (MOST_DIMENSIONS - len(faces))


def _refuse_arguments(trait: flow.Trait, kind: ExchangeKind) -> NoReturn:
    if kind.argument is None:
        fail("trait-argument", f"the trait `{trait.name}` takes no argument", trait.span)
    if trait.name == HALO:
        hint = "it takes the number of dimensions, `as halo(3)`, or the ranks along each, `as halo(x, y, z)`"
        fail("trait-argument", "the trait `halo` takes one to three numbers", trait.span, hint=hint)
    if kind.argument is OF_GROUP:
        hint = f"they are {kind.argument}: `as {trait.name}(8, 2)`"
        fail("trait-argument", f"the trait `{trait.name}` takes two numbers at most", trait.span, hint=hint)
    hint = f"its argument is {kind.argument}: `as {trait.name}(1)`"
    fail("trait-argument", f"the trait `{trait.name}` needs one number", trait.span, hint=hint)


def warn_of_doubtful_traits(requirement: flow.Requirement) -> list[Diagnostic]:
    """Warnings of traits that look as if they were meant for one of the kinds, and of sweeps in no order."""
    sweeps = [
        warning(
            "unknown-exchange",
            "the ranks of a `sweep` send all at once in this program",
            trait.span,
            hint="each sends its bytes to the next rank, whichever the grid",
        )
        for trait in requirement.traits
        if trait.name == SWEEP
    ]
    return sweeps + [
        warning("unknown-exchange", f"the trait `{trait.name}` names no MPI call", trait.span, hint=hint)
        for trait in requirement.traits
        if trait.name not in (*KINDS, SWEEP, VARIES) and (hint := suggest_nearest(trait.name, KINDS)) is not None
    ]
