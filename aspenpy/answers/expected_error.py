"""ExpectedError: the interval that holds nine of ten such cases, by class of what bounds a prediction.

Each class has the ratios of measured to predicted values of cases that were compared. The ends of its interval are
those of a prediction interval of a normal variable, the logarithm of the ratio: mean + t(n-1) s sqrt(1 + 1/n) with the
5 % and 95 % points of Student's t (Hahn and Meeker, Statistical Intervals, 1991, section 4.3). docs/trust.md says how
many of the cases that were left out each time lie inside. Nothing is claimed of classes that were compared with
nothing, among them kernels of accelerators, halos and messages from one rank to another.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import exp, hypot, log

from aspenpy.answers.evaluation import MESSAGES, Evaluation
from aspenpy.answers.occupancy import MANY_LANES
from aspenpy.answers.peaks import value_of
from aspenpy.cost.cost import CostTree
from aspenpy.cost.prices import MEMORY_RESOURCES
from aspenpy.cost.trait_names import SCATTERED
from aspenpy.cost.waiting import CHAIN
from aspenpy.cost.windows import is_window
from aspenpy.models.application import flow
from aspenpy.models.application.total import Leaf, Total, Totals, add_totals, of_kind
from aspenpy.record import Record

COVERAGE = 0.9
"""Part of such cases that lie in an interval."""

UNKNOWN_SHARE = 0.1
"""Share of the runtime in classes that were compared with nothing from which on no interval is claimed."""


class ErrorClass(Record):
    """The interval of measured over predicted in which nine of ten cases of a class lie: `count` cases in `groups`
    groups (kernels or systems), of which nobody saw `unseen` while the models were made."""

    name: str
    low: float
    high: float
    count: int
    groups: int
    unseen: int


ERROR_CLASSES: dict[str, ErrorClass] = {
    item.name: item
    for item in (
        ErrorClass("operations", 0.771, 2.226, 20, 9, 20),
        ErrorClass("caches", 0.762, 1.255, 16, 8, 16),
        ErrorClass("compiled loops", 0.868, 1.507, 33, 19, 6),
        ErrorClass("latency", 0.569, 2.948, 14, 5, 14),
        ErrorClass("branches", 0.276, 3.880, 8, 3, 8),
        ErrorClass("memory", 0.698, 1.234, 23, 16, 9),
        ErrorClass("collectives", 0.668, 2.091, 134, 14, 134),
        ErrorClass("watts", 0.853, 1.262, 31, 23, 31),
    )
}
"""Kernels of a Zen 4 on a machine that was probed, programs that cycles of their compiled loops bound on a Zen 5,
published bandwidths, collectives of MPI and NCCL, and watts of whole systems under Linpack. The kernels are of data in
caches: the host's memory was used by others."""

RESOURCE_CLASSES = {
    "flops": "operations",
    "intops": "operations",
    "instructions": "operations",
    "accesses": "caches",
    "chain": "latency",
    "tlb": "latency",
    "branches": "branches",
}
"""Classes of what a core waits for; what its memory and its caches serve has one by their type."""

IN_QUESTION = {"latency": "compiled loops", "memory": "latency"}
"""Classes of the parts of a class: chains that are cycles of compiled loops, and loads of memory whose order data
decide, since what bounds those is how long each waits and how many do at once."""

COMPARED_COLLECTIVES = frozenset({"allreduce", "allgather", "alltoall"})


DOUBTFUL = 1.75
"""Factor from which on an interval is doubtful: compiled loops alone are within 1.51, and those of which a quarter of
the time is wrong guesses or loads that wait for each other are not within this."""


class PartTime(Total):
    """Seconds that a kernel asks of a resource: those in question, cycles of compiled loops among chains and accesses
    in an order that data decide among loads and stores, or the others."""

    kernel: str
    resource: str
    is_in_question: bool


class _PartLeaf(Leaf):
    """The seconds of chains, loads and stores of a block, by whether they are in question."""

    def __init__(self, tree: CostTree) -> None:
        self.tree = tree

    def block(self, block: flow.Block, kernel: flow.Kernel) -> Totals:
        has_cycles = any(map(is_window, block.requirements))
        totals = []
        for cost in self.tree.blocks[block].requirements:
            resource, traits = cost.requirement.resource, cost.requirement.traits
            if resource == CHAIN:
                totals.append({PartTime(kernel.name, resource, has_cycles and not traits): cost.time})
            elif resource in MEMORY_RESOURCES:
                is_scattered = any(trait.name in SCATTERED for trait in traits)
                totals.append({PartTime(kernel.name, resource, is_scattered): cost.time})
        return add_totals(totals)


class ExpectedError(Record):
    """Factors between which a measured value lies of a predicted one in nine of ten such cases, None where too much of
    the runtime is `unknown`. Both name classes with their shares, the largest first."""

    low: float | None
    high: float | None
    classes: Mapping[str, float]
    unknown: Mapping[str, float]

    @property
    def is_doubtful(self) -> bool:
        """Whether a value may be far from the truth: one end of the interval, or none is known."""
        return self.low is None or self.high is None or max(self.high, 1 / self.low) > DOUBTFUL

    def around(self, value: float) -> tuple[float, float] | None:
        """The interval around a predicted value."""
        return None if self.low is None or self.high is None else (self.low * value, self.high * value)


def expected_error(evaluation: Evaluation) -> ExpectedError:
    """The error to expect of a runtime: factors of its classes, weighted with the seconds that each bounds, as if all
    classes were off to the same side at once, which makes the interval wider than that of independent errors."""
    seconds: dict[str, float] = {}
    parts_in_question = _parts_in_question(evaluation)
    for kernel, waits in evaluation.waits.items():
        for resource, time in ((resource, time) for resource, time in waits.items() if time):
            name = class_of(evaluation, resource, kernel)
            spent = time * parts_in_question.get((kernel, resource), 0.0) if name in IN_QUESTION else 0.0
            for part, each in ((IN_QUESTION.get(name, name), spent), (name, time - spent)):
                seconds[part] = seconds.get(part, 0.0) + each
    return combine_classes(seconds)


def _parts_in_question(evaluation: Evaluation) -> dict[tuple[str, str], float]:
    """The part of the time of each kernel's chains in which these are the cycles of compiled loops, and of its loads
    and stores in which data decide their order; nothing where that differs from call to call."""
    tree = evaluation.tree
    needs = [need for block in tree.blocks for need in block.requirements]
    if not any(is_window(need) or any(trait.name in SCATTERED for trait in need.traits) for need in needs):
        return {}
    formulas = of_kind(PartTime, tree.run_totals(_PartLeaf(tree)))
    values = evaluation.scope.values_if_known(list(formulas.values()), evaluation.seed)
    if values is None:
        return {}
    parts: dict[tuple[str, str], dict[bool, float]] = {}
    for key, value in zip(formulas, values, strict=True):
        parts.setdefault((key.kernel, key.resource), {})[key.is_in_question] = float(value)
    wholes = {place: sum(each.values()) for place, each in parts.items()}
    return {place: parts[place].get(True, 0.0) / whole for place, whole in wholes.items() if whole}


def combine_classes(seconds: Mapping[str, float]) -> ExpectedError:
    """The error to expect, given the seconds for which each class bounds a run."""
    total = sum(seconds.values())
    shares = {name: seconds[name] / total for name in sorted(seconds, key=lambda name: -seconds[name]) if seconds[name]}
    classes = {name: share for name, share in shares.items() if name in ERROR_CLASSES}
    unknown = {name: share for name, share in shares.items() if name not in classes}
    covered = sum(classes.values())
    if not classes or sum(unknown.values()) >= UNKNOWN_SHARE:
        return ExpectedError(None, None, classes, unknown)
    low, high = (
        sum(share * getattr(ERROR_CLASSES[name], end) for name, share in classes.items()) / covered
        for end in ("low", "high")
    )
    return ExpectedError(low, high, classes, unknown)


def with_watts(time: ExpectedError) -> ExpectedError:
    """The error to expect of an energy, a time and a power whose errors are independent: their logarithms add in the
    square."""
    if time.low is None or time.high is None:
        return time
    watts = ERROR_CLASSES["watts"]
    low = exp(-hypot(min(log(time.low), 0.0), log(watts.low)))
    high = exp(hypot(max(log(time.high), 0.0), log(watts.high)))
    return ExpectedError(low, high, time.classes, time.unknown)


def class_of(evaluation: Evaluation, resource: str, kernel: str | None = None) -> str:
    """The class of a resource that bounds a kernel, or the run; a name that is no class where it was compared with
    nothing. Bandwidths were compared where a memory states what it attains."""
    if resource == MESSAGES:
        return _class_of_messages(evaluation, kernel)
    if _is_on_accelerator(evaluation):
        return "kernels of accelerators"
    place = (evaluation.component_of(resource, kernel) or "").rpartition("/")[2]
    component = evaluation.machine.components.get(place)
    name = resource.rpartition(".")[2]
    if component is not None and component.type == "cache":
        return "caches"
    if component is not None and component.type == "memory" and name in MEMORY_RESOURCES:
        return "memory" if "attained_bandwidth" in component.properties else "memory of peak bandwidth"
    return RESOURCE_CLASSES.get(name, name)


def _class_of_messages(evaluation: Evaluation, kernel: str | None) -> str:
    """`collectives` where every exchange of the kernel is a collective with compared measurements, else messages."""
    names = {
        trait.name
        for _, _, cost in evaluation.tree.list_costs(kernel)
        if cost.requirement.resource == MESSAGES
        for trait in cost.traits or ()
    }
    return "collectives" if names and names <= COMPARED_COLLECTIVES else MESSAGES


def _is_on_accelerator(evaluation: Evaluation) -> bool:
    """Whether a run is on an accelerator, by the launch of its kernels or by the lanes of its cores."""
    components = [place.component for place in evaluation.machine.first_places(evaluation.socket)]
    if any(item.type == "socket" and "launch_latency" in item.properties for item in components):
        return True
    lanes = next((item.value("simd_width") for item in components if item.type == "core"), None)
    width = None if lanes is None else value_of(lanes, evaluation.machine.definitions)
    return width is not None and float(width) >= MANY_LANES
