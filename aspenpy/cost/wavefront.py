"""Wavefronts: blocks whose ranks work in turn, each on what its neighbours before it hand on.

    execute [x*y] "corner" {
      flops [angles*cells]  loads [16*angles*cells]
      messages [2*angles*face] as sweep(planes, x, y)
    }

The ranks of a grid begin at a corner. Each works in `stages` equal steps; in each it waits for a message from the rank
before it along every dimension, computes, and sends one to each rank behind it. A pipeline of devices is such a sweep
along one dimension, its stages are the micro-batches, and what fills it is the bubble.

With c the seconds of a step's work, h those of one of its messages, n_i ranks along dimension i, m of the dimensions
longer than one rank, and k_i of these up to the i-th, the last rank is done after

    s c + (s - 1) m h + sum (n_i - 1) (c + k_i h)

where a rank sends its messages one after the other and waits for them (Koch, Baker and Alcouffe 1992; Hoisie, Lubeck
and Wasserman, Int. J. High Performance Computing Applications 14(4), 2000, equations 1 to 4), and after

    c + (s - 1) max(c, m h) + sum (n_i - 1) (c + k_i h)

where messages go on while it computes, "asynchronous". Without messages that is (s + n - 1) c, as of GPipe (Huang et
al., NeurIPS 2019), whose bubble is (n - 1)/(s + n - 1).
"""

from __future__ import annotations

from aspenpy.cost.prices import AppliedTrait, RequirementCost
from aspenpy.cost.trait_names import SWEEP
from aspenpy.cost.value_mistakes import ValueMistake
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.expr.printer import to_text
from aspenpy.language.diagnostics import Diagnostic, fail, suggest_nearest
from aspenpy.models.application import flow
from aspenpy.record import Record

MOST_DIMENSIONS = 3
ASYNCHRONOUS = "asynchronous"
"""The word of a sweep whose messages go on while ranks compute."""

HINT = "its stages and the ranks along each dimension, as in `sweep(20, x, y)`"


class Sweep(Record):
    """A sweep of a block: its messages, `stages` and the `lengths` of its grid."""

    requirement: flow.Requirement
    trait: flow.Trait
    stages: Expr
    lengths: tuple[Expr, ...]
    asynchronous: bool

    @property
    def dimensions(self) -> Expr:
        """Dimensions along which a rank has a neighbour."""
        return graph.add(*(graph.if_else(graph.compare(">", length, 1), 1, 0) for length in self.lengths))

    @property
    def message(self) -> flow.Requirement:
        """One message of a stage: a part of the volume of a rank for each neighbour behind it."""
        each = graph.mul(self.stages, graph.apply("max", 1, self.dimensions))
        return self.requirement.replace(
            amount=graph.div(self.requirement.amount, each),
            traits=tuple(item for item in self.requirement.traits if item is not self.trait),
        )

    def cost_of_messages(self, one: RequirementCost) -> RequirementCost:
        """The cost of all messages of a rank, from that of one."""
        count = graph.mul(self.stages, self.dimensions)
        seconds = graph.mul(count, one.time)
        applied = AppliedTrait(SWEEP, self.trait.arguments, count, seconds)
        return one.replace(
            requirement=self.requirement,
            serial=seconds,
            alone=seconds,
            contention=graph.ZERO,
            traits=(*one.traits, applied),
        )

    def fill(self, computing: Expr, message: Expr) -> Expr:
        """Seconds until the last rank begins, where a rank computes so long in all and a message takes so long."""
        step, hops, sent = graph.div(computing, self.stages), [], graph.ZERO
        for length in self.lengths:
            sent = sent + graph.if_else(graph.compare(">", length, 1), 1, 0)
            hops.append((length - 1) * (step + sent * message))
        return graph.add(*hops)

    def seconds(self, computing: Expr, message: Expr) -> Expr:
        """Seconds until the last rank is done."""
        sending = graph.mul(self.dimensions, message)
        if self.asynchronous:
            step = graph.div(computing, self.stages)
            own = step + (self.stages - 1) * graph.apply("max", step, sending)
        else:
            own = computing + (self.stages - 1) * sending
        return own + self.fill(computing, message)


def sweep_of(block: flow.Block) -> Sweep | None:
    """The sweep that a block's messages say. Raises AspenError where that makes none."""
    for requirement in block.requirements:
        for trait in requirement.traits:
            if trait.name == SWEEP and requirement.resource == "messages":
                return _read_sweep(requirement, trait, block.parallelism)
    return None


def _read_sweep(requirement: flow.Requirement, trait: flow.Trait, ranks: Expr) -> Sweep:
    words = [argument for argument in trait.arguments if isinstance(argument, str)]
    for word in words:
        if word != ASYNCHRONOUS:
            hint = suggest_nearest(word, [ASYNCHRONOUS]) or f'the only one is "{ASYNCHRONOUS}"'
            fail("bad-exchange", f"unknown word `{word}` of a sweep", trait.span, hint=hint)
    numbers = [argument for argument in trait.arguments if isinstance(argument, Expr)]
    if not 2 <= len(numbers) <= MOST_DIMENSIONS + 1:
        message = f"a sweep has stages and 1 to {MOST_DIMENSIONS} dimensions"
        fail("bad-exchange", message, trait.span, hint=HINT)
    stages, *lengths = (_require_one(number, trait) for number in numbers)
    message = f"there are more ranks in the grid of `{SWEEP}` than in its block"
    mistake = graph.failure(Diagnostic("bad-exchange", message, trait.span, hint=HINT))
    fits = graph.compare("<=", graph.mul(*lengths), ranks)
    return Sweep(
        requirement, trait, graph.if_else(fits, stages, mistake), tuple(lengths), asynchronous=ASYNCHRONOUS in words
    )


def _require_one(number: Expr, trait: flow.Trait) -> Expr:
    """The number, or the mistake where it is below 1."""
    if number.kind == "number" and number.payload >= 1:
        return number
    message = f"`{to_text(number)}` must be 1 or more here"
    mistake = ValueMistake(code="bad-exchange", message=message, span=trait.span, hint=HINT, subject=number)
    return graph.if_else(graph.compare(">=", number, 1), number, graph.failure(mistake))
