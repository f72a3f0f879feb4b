"""Scalability: strong and weak scaling of a configuration, and from where on more nodes gain nothing.

Step 4 of Prometheus (Umar, dissertation, Virginia Tech, 2018, sections 4.4.2 and 4.6.3).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate

from aspenpy.advice.alternatives import alternatives
from aspenpy.advice.configurable import Configurable, make_configurable
from aspenpy.advice.configuration import Configuration
from aspenpy.advice.problem import ApplicationProblem, on_all_places, places_for_ranks, problem_of
from aspenpy.answers.case import Case
from aspenpy.answers.energy.options import EnergyOptions
from aspenpy.answers.energy.totals import energy_totals
from aspenpy.answers.prediction import Prediction
from aspenpy.answers.scope import Setting
from aspenpy.explore.scaling import RANKS, Mode, Scaling, ScalingPoint
from aspenpy.expr import graph
from aspenpy.language.diagnostics import AspenError, fail
from aspenpy.record import Record
from aspenpy.tables.result import Result

MOST_NODES = 1024
ONE_BY_ONE = 64  # nodes up to which every number is looked at
IN_AN_OCTAVE = 16  # numbers of nodes that are looked at in each octave beyond
THRESHOLD = 0.5  # efficiency below which more nodes are not worth it


class Scalability(Record):
    """A configuration on more and more nodes, for one input (its `settings` in words). `points` are by nodes.

    `fastest` is the number of nodes with the least runtime, `knee` the one at which the curve of time over nodes, both
    from 0 to 1, is farthest below the line between its ends (Satopaa and others, ICDCSW 2011; None where it is not
    below), `worthwhile` the most nodes with an efficiency of at least the `threshold` (0 to 1); `turns` says whether
    more nodes than `fastest` take longer.
    """

    configuration: Configuration
    settings: str
    mode: Mode
    nodes: tuple[int, ...]
    points: tuple[ScalingPoint, ...]
    fastest: int
    knee: int | None
    threshold: float
    worthwhile: int
    turns: bool

    @property
    def turned_down(self) -> bool:
        """Whether some of the numbers of nodes that were looked at is too many: else `worthwhile` is where the search
        ends, and says nothing of more nodes."""
        return self.worthwhile < self.nodes[-1]


class Scaled(Result):
    """Configurations of the hardware components of a machine on its nodes, for several `inputs`, each the settings of
    an application by name; strong and weak. Raises AspenError where the machine has no network between nodes, or the
    application no free number of ranks."""

    def __init__(
        self,
        case: Case,
        configurations: Sequence[Configuration],
        inputs: Sequence[Mapping[str, Setting]] = ({},),
        *,
        most: int = MOST_NODES,
        threshold: float = THRESHOLD,
        size: tuple[str, ...] = (),
    ) -> None:
        self.case, self.inputs, self.threshold = case, tuple(inputs), threshold
        self.problem: ApplicationProblem = problem_of(case, size)
        self.machine: Configurable = make_configurable(case.required_machine, case.socket)
        self.most = most
        if self.problem.ranks is None:
            hint = f"the ranks follow the nodes: leave {' or '.join(f'`{name}`' for name in RANKS)} out of --set"
            if not {*RANKS} & {*case.application.parameters}:
                hint = f"it has no parameter {' or '.join(f'`{name}`' for name in RANKS)}"
            message = f"`{case.application.name}` has no number of ranks that is free"
            fail("no-free-ranks", message, case.application.node.name_span, hint=hint)
        root = case.required_machine.root
        kinds = {case.required_machine.components[part.component].type for part in root.parts}
        if "interconnect" not in kinds or self.machine.parameter("nodes") is None:
            message = f"`{root.name}` has no network between nodes, so that it cannot have more of them"
            fail("no-network", message, root.name_span, hint="name a cluster, or give the machine an interconnect")
        modes: tuple[Mode, ...] = ("strong", "weak") if self.problem.size else ("strong",)
        self.scalings = tuple(
            self._scale(configuration, settings, mode)
            for settings in self.inputs
            for configuration in configurations
            for mode in modes
        )

    def _configure(self, configuration: Configuration, settings: Mapping[str, Setting]) -> Case:
        """The case with the values and parts of a configuration."""
        machine = self.case.required_machine
        for component, name in configuration.parts.items():
            machine = alternatives(machine, self.case.socket, component, (name,))[0].machine
        machine = make_configurable(machine, self.case.socket).machine
        values: dict[str, Setting] = {}
        for name, value in configuration.values.items():
            parameter = self.machine.parameter(name)
            if parameter is not None:
                number = value / parameter.factor
                values[parameter.sets] = int(number) if number.is_integer() else number
        return self.case.changed(machine=machine).with_set({**values, **settings})

    def _scale(self, configuration: Configuration, settings: Mapping[str, Setting], mode: Mode) -> Scalability:
        case, places = self._on_nodes(self._configure(configuration, settings))
        scaling = Scaling(
            case,
            [self._ranks_on(places)],
            mode,
            parameter=self.problem.ranks,
            problem=self.problem.size,
            energy=_count_all_sockets(case),
            per_rank=self.problem.per_rank,
        )
        ranks = dict.fromkeys(self._ranks_on(places * nodes) for nodes in node_counts(self.most))
        scaling.ranks = tuple(scaling.ranks_with_runtime(list(ranks)))
        points = scaling.points
        nodes = tuple(-(-point.ranks // places) for point in points)
        times = [point.seconds for point in points]
        fastest = min(range(len(points)), key=times.__getitem__)
        return Scalability(
            configuration,
            ", ".join(f"{name} = {value}" for name, value in settings.items()),
            mode=mode,
            nodes=nodes,
            points=points,
            fastest=nodes[fastest],
            knee=knee(nodes, list(accumulate(times, min))),
            threshold=self.threshold,
            worthwhile=max(
                count for count, point in zip(nodes, points, strict=True) if point.efficiency >= self.threshold
            ),
            turns=times[-1] > times[fastest],
        )

    def _ranks_on(self, places: int) -> int:
        """The largest number of ranks that the program accepts on `places` places."""
        accepted = self.problem.accepted
        return places if accepted is None else accepted.largest_below(places) or places

    def _on_nodes(self, case: Case) -> tuple[Case, int]:
        """The case with as many nodes as its ranks need, and how many ranks a node takes; the problem in all is that of
        one node whatever ranks there are."""
        nodes = self.machine.parameter("nodes")
        if nodes is None or self.problem.ranks is None:
            raise AssertionError("refused before")
        case = case.with_set({nodes.sets: 1})
        one = on_all_places(case, self.problem)
        scope = Prediction(one).scope
        names = (self.problem.ranks, *(self.problem.size if self.problem.per_rank else ()))
        _, *sizes = scope.values([scope.symbol(name) for name in names], case.seed)
        places = max(1, round(float(scope.values([places_for_ranks(case)[1]], case.seed)[0])))
        ranks = case.application.parameters[self.problem.ranks].symbol
        needed = graph.apply("ceil", graph.div(ranks, graph.number(places)))
        return one.with_set({**dict(zip(names[1:], sizes, strict=True)), nodes.sets: needed}), places


def _count_all_sockets(case: Case) -> EnergyOptions | None:
    """Options that charge all sockets that have work; None where the machine states no power."""
    options = EnergyOptions(charged="cores_used")
    try:
        energy_totals(case.tree, options)
    except AspenError:
        return None
    return options


def node_counts(most: int) -> list[int]:
    """Numbers of nodes from 1 on: each of the first, then as many in each octave, and the last."""
    counts = set(range(1, min(most, ONE_BY_ONE) + 1)) | {most}
    octave = ONE_BY_ONE
    while octave < most:
        counts |= {octave * (IN_AN_OCTAVE + part) // IN_AN_OCTAVE for part in range(IN_AN_OCTAVE)}
        octave *= 2
    return sorted(count for count in counts if count <= most)


def knee(places: Sequence[int], heights: Sequence[float]) -> int | None:
    """The place at which a falling curve is farthest below the line between its ends; None where no point is below."""
    low, high = min(heights), max(heights)
    if len(places) < 3 or not heights[-1] < heights[0]:
        return None
    width = places[-1] - places[0]
    below = [
        1 - (place - places[0]) / width - (height - low) / (high - low)
        for place, height in zip(places, heights, strict=True)
    ]
    best = max(range(len(below)), key=below.__getitem__)
    return places[best] if below[best] > 0 else None
