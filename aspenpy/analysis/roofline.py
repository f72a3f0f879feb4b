"""Roofline: what a machine can do at most, by operational intensity, and where kernels stand below it.

After Williams, Waterman and Patterson, "Roofline: an insightful visual performance model", CACM 52(4), 2009: a kernel
of I flops a byte does no more than min(peak, I * bandwidth). Ceilings are idealised: the time of large amounts, in
which latencies drop out, over all components, none of which is idle.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from aspenpy.analysis.ceilings import COMPUTE, Ceiling, cache_ceilings, compute_ceilings, memory_ceilings
from aspenpy.analysis.peaks import Peak, peaks
from aspenpy.analysis.roofline_points import Point, points
from aspenpy.application.model import Application
from aspenpy.diagnostics import AspenError, fail, within_floats
from aspenpy.expr import graph
from aspenpy.machine.model import OWNER, Machine
from aspenpy.mapping.compute import choose_socket
from aspenpy.mapping.cost import CostTree
from aspenpy.mapping.mapper import map_application
from aspenpy.prediction import Prediction
from aspenpy.result import Result
from aspenpy.scope import DEFAULT_SEED, Setting


class Roofline(Result):
    """The ceilings of a machine, and applications below them. Raises AspenError where it offers no flops."""

    reported_by = "roofline"

    def __init__(
        self,
        machine: Machine,
        applications: Sequence[tuple[Application, str]] = (),
        *,
        socket: str | None = None,
        set: Mapping[str, Setting] | None = None,
        seed: int = DEFAULT_SEED,
        overlap: bool = False,
    ) -> None:
        self.machine = machine
        self.socket = choose_socket(machine, socket)
        settings = dict(set or {})
        trees = [
            map_application(application, machine, socket=self.socket, kernel=kernel, overlap=overlap)
            for application, kernel in applications
        ]
        self.settings = _of_machine(machine, settings, bool(trees))
        self.predictions = [Prediction(tree, known, seed) for tree, known in _shared_out(trees, settings)]
        if not self.compute:
            message = f"machine `{machine.name}` does no `{COMPUTE}` at a rate that it alone tells"
            fail("no-ceiling", message, machine.root.name_span, hint="a core offers `resource flops(n) [n/clock]`")

    @cached_property
    def _peaks(self) -> list[Peak]:
        return peaks(self.machine, self.socket, set=self.settings, everywhere=True)

    @cached_property
    def compute(self) -> tuple[Ceiling, ...]:
        """The ceilings of flops, each combination of traits."""
        return compute_ceilings(self._peaks)

    @cached_property
    def memory(self) -> tuple[Ceiling, ...]:
        """The bandwidths of memories. Loads and stores of one memory that take turns at the same rate are one
        ceiling."""
        return memory_ceilings(self._peaks, self.machine, self.socket)

    @cached_property
    def caches(self) -> tuple[Ceiling, ...]:
        """The bandwidths of the caches between a core and its memory, the nearest to the core first; those that do
        not say theirs have no ceiling."""
        return cache_ceilings(self.machine, self.socket, self.settings)

    @property
    def bandwidths(self) -> tuple[Ceiling, ...]:
        """All of them: caches, then memories."""
        return (*self.caches, *self.memory)

    @staticmethod
    def ridge(compute: Ceiling, memory: Ceiling) -> float:
        """The operational intensity, in flops a byte, from which on the memory is no longer what bounds."""
        return compute.rate / memory.rate

    @cached_property
    def points(self) -> tuple[Point, ...]:
        """Each application and behind it its kernels that do flops, the one that takes longest first."""
        return tuple(point for prediction in self.predictions for point in points(prediction))


@within_floats
def roofline(
    machine: Machine,
    apps: Iterable[Application] = (),
    *,
    socket: str | None = None,
    kernel: str = "main",
    set: Mapping[str, Setting] | None = None,
    seed: int = DEFAULT_SEED,
    overlap: bool = False,
) -> Roofline:
    """The ceilings of a machine, and `kernel` of each application below them; the arguments are those of `predict`.
    A setting holds for every model that has the name."""
    asked = [(app, kernel) for app in apps]
    return Roofline(machine, asked, socket=socket, set=set, seed=seed, overlap=overlap)


# -- settings --------------------------------------------------------------------------------------


def _of_machine(machine: Machine, settings: dict[str, Setting], has_applications: bool) -> dict[str, Setting]:
    """What is set of the machine; without an application everything is meant for it."""
    if not has_applications:
        return settings
    names = {name: graph.symbol(name.removeprefix("machine:"), OWNER) for name in settings}
    return {name: value for name, value in settings.items() if names[name] in machine.definitions}


def _shared_out(trees: Sequence[CostTree], settings: dict[str, Setting]) -> list[tuple[CostTree, dict[str, Setting]]]:
    """What is set of each application. What none of them has is an error, told for the first."""
    scopes = [Prediction(tree, {}).scope for tree in trees]
    known: list[dict[str, Setting]] = [{} for _ in trees]
    for name, value in settings.items():
        errors = []
        for scope, found in zip(scopes, known, strict=True):
            try:
                scope.symbol(name)
                found[name] = value
            except AspenError as error:
                errors.append(error)
                if error.diagnostics[0].code != "unknown-parameter":
                    raise
        if errors and len(errors) == len(trees):
            raise errors[0]
    return list(zip(trees, known, strict=True))
