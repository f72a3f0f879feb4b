"""Parallelism: how many instances of each block could run at once, by call path."""

from __future__ import annotations

from typing import Any, Unpack

from aspenpy.answers.case import Case, CaseOptions, ResolvedCase, case_of
from aspenpy.answers.paths import Visit, largest_over_passes, visits_of_blocks
from aspenpy.answers.scope import Value
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import refuse_float_overflow
from aspenpy.language.source import Span
from aspenpy.models.application.model import Application
from aspenpy.models.machine.model import Machine
from aspenpy.record import Record
from aspenpy.tables.result import Result


class BlockParallelism(Record):
    """A block on one call path.

    `instances` is the parallelism of the block (`execute [P]`), `width` in how many parts each shares its work out (`of
    [W]`, 1 without), `maps` the passes of the `map` loops around it, which do not depend on each other, `together` the
    product of them: each the largest over the passes of the loops around (None
    where that cannot be told); `mean` is the mean of the product over all `executions` of the block in the run, the
    passes of maps counted.
    """

    path: tuple[str, ...]
    region: tuple[str, ...]
    label: str | None
    instances: Value | None
    width: Value | None
    maps: Value | None
    together: Value | None
    mean: float
    executions: Value
    span: Span | None


class Parallelism(Result):
    """The parallelism of every block that a run reaches. Branches that are not taken are left out.

    :returns: instances of each block that could run at once: whole numbers, or None where that cannot be told
    :raises AspenError: for unknown parameters
    """

    def __init__(self, app: Application | Case, machine: Machine | None = None, **options: Unpack[CaseOptions]) -> None:
        self.run = ResolvedCase(case_of(app, machine, options))
        self.application = self.run.application
        self.blocks = self._blocks()

    @property
    def kernel(self) -> str:
        """The kernel that was run."""
        return self.run.entry.name

    @property
    def wide(self) -> bool:
        """Whether instances of any block share their work out."""
        return any(block.width != 1 for block in self.blocks)

    @property
    def most(self) -> Value | None:
        """The most instances, or parts that they share their work out in, that could ever run at once."""
        return max((block.together for block in self.blocks if block.together is not None), default=None)

    @refuse_float_overflow
    def _blocks(self) -> tuple[BlockParallelism, ...]:
        met = list(visits_of_blocks(self.run.entry))
        factors = [
            (*visit.scene.bind([visit.block.parallelism, visit.block.width or graph.ONE]), _passes_of_maps(visit))
            for visit in met
        ]
        together = [graph.mul(*each) for each in factors]
        executions = [visit.sum_over_run(graph.ONE) for visit in met]
        totals = [visit.sum_over_run(worth) for visit, worth in zip(met, together, strict=True)]
        values = self.run.values([*executions, *totals]) if met else []
        blocks = []
        for index, visit in enumerate(met):
            times, total = values[index], values[index + len(met)]
            if times:
                instances, width, passes, most = self._largest([*factors[index], together[index]], visit)
                blocks.append(
                    BlockParallelism(
                        visit.scene.path,
                        visit.scene.region,
                        label=visit.block.label,
                        instances=instances,
                        width=width,
                        maps=passes,
                        together=most,
                        mean=float(total) / float(times),
                        executions=times,
                        span=visit.block.span,
                    )
                )
        return tuple(blocks)

    def _largest(self, exprs: list[Expr], visit: Visit) -> list[Any]:
        loops = [loop for loop in visit.scene.loops if loop.node.named]
        reached = [visit.scene.where_reached(expr) for expr in exprs]
        formulas = self.run.formulas([*reached, *(loop.count for loop in loops)])
        around = [(loop.node.counter, count) for loop, count in zip(loops, formulas[len(exprs) :], strict=True)]
        return [largest_over_passes(expr, around, self.run.case.seed) for expr in formulas[: len(exprs)]]


parallelism = Parallelism  # what `aspenpy parallelism` shows, under the command's name


def _passes_of_maps(visit: Visit) -> Expr:
    """The passes of the maps around a block. A counter takes whole values."""
    counts = [
        graph.apply("ceil", loop.count) if loop.node.named else loop.count
        for loop in visit.scene.loops
        if loop.node.mode == "map"
    ]
    return graph.mul(*counts)
