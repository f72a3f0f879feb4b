"""Advise: all steps of Prometheus for an application on a machine, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar, Unpack

from aspenpy.advice.classification import Classification, Classified
from aspenpy.advice.configurable import make_configurable
from aspenpy.advice.configuration import Budget, ComponentRange, Configuration, NearOptimal, Objective, Outcome
from aspenpy.advice.counter_evidence import CounterOptions
from aspenpy.advice.decide import AS_IT_IS as AS_GIVEN
from aspenpy.advice.decide import ApplicationInput, ChoiceOptions, Decided
from aspenpy.advice.design_space import LEVELS, DesignSpace
from aspenpy.advice.problem import fewest_nodes, on_all_places, problem_of
from aspenpy.advice.ranges import EVERY
from aspenpy.advice.scalability import MOST_NODES, THRESHOLD, Scalability, Scaled
from aspenpy.advice.significance import LeftOut, Significance
from aspenpy.advice.significant import Significant
from aspenpy.advice.system_ranges import SystemRange
from aspenpy.advice.throttled import Throttled
from aspenpy.advice.uncertain import Uncertain
from aspenpy.allowance import one_allowance, part_of_allowance
from aspenpy.answers.case import Case, CaseOptions, case_of
from aspenpy.answers.energy.options import DEFAULT, EnergyOptions
from aspenpy.explore.sensitivity import Effects
from aspenpy.expr.failures import EvaluationError
from aspenpy.language.diagnostics import AspenError
from aspenpy.learn.measurements.sheet import Data
from aspenpy.models.application.model import Application
from aspenpy.models.machine.model import Machine
from aspenpy.record import Record
from aspenpy.tables.result import Result

MOST_DECIDED = 3  # components of which all combinations with all numbers of nodes are tried
OF_A_STEP = 0.4  # of the operations that the command has left, what a step may take that can be left out
OF_SO_MANY_NODES = "wrong-network-size"  # the code of a network whose shape is for one number of nodes


Step = TypeVar("Step")


class Advice(Result):
    """The results of all steps, in their order: `case` is what was asked; a step that was left out is None, and among
    the `unaffordable` where it takes more operations than the command has left."""

    def __init__(
        self,
        case: Case,
        *,
        classified: Classified,
        significant: Significant,
        uncertain: Uncertain,
        scaled: Scaled | None,
        decided: Decided | None,
        throttled: Throttled,
        unaffordable: Sequence[str] = (),
    ) -> None:
        self.case, self.classified, self.significant, self.uncertain = case, classified, significant, uncertain
        self.scaled, self.decided, self.throttled = scaled, decided, throttled
        self.unaffordable = tuple(unaffordable)

    @property
    def space(self) -> DesignSpace:
        """Step 3."""
        return self.uncertain.space

    @property
    def base(self) -> Outcome:
        """The run's time and energy where nothing varies."""
        return self.space.base

    @property
    def classifications(self) -> tuple[Classification, ...]:
        """The whole application first, then its kernels, the longest first."""
        return self.classified.classifications

    @property
    def significances(self) -> tuple[Significance, ...]:
        """Shares of the components, by counters where there are any, then by the model."""
        return self.significant.significances

    @property
    def ranges(self) -> tuple[ComponentRange, ...]:
        """The hardware components that vary, with the ends of their ranges in the units of the components."""
        return self.space.ranges

    @property
    def runtime_effects(self) -> Effects:
        """Normalised sensitivities of the runtime, alone and in pairs."""
        return self.space.runtime_effects

    @property
    def energy_effects(self) -> Effects | None:
        """Normalised sensitivities of the energy; None where the machine states no power."""
        return self.space.energy_effects

    @property
    def near_optimal(self) -> tuple[NearOptimal, ...]:
        """The range of each component over the configurations that are nearly the best."""
        return self.space.near_optimal

    @property
    def scalings(self) -> tuple[Scalability, ...]:
        """Runtime and efficiency over the number of nodes, strong and weak; empty where that step was left out."""
        return () if self.scaled is None else self.scaled.scalings


class AdviceOptions(Record):
    """Options of all steps: the hardware components that are `wanted` (the significant ones, if none; `EVERY` are all),
    ranges of the system, `levels` of each, the way energy is counted, the parameters of the problem."""

    wanted: tuple[str, ...] = ()
    system: tuple[SystemRange, ...] = ()
    levels: int = LEVELS
    energy: EnergyOptions = DEFAULT
    size: tuple[str, ...] = ()
    inputs: tuple[ApplicationInput, ...] = (AS_GIVEN,)
    nodes: int = MOST_NODES
    threshold: float = THRESHOLD
    budget: Budget = Budget()
    objective: Objective = "runtime"
    price: float | None = None
    deviations: Mapping[str, float] | None = None
    error: float | None = None
    counters: Data | None = None
    counting: CounterOptions = CounterOptions()


AS_IT_IS = AdviceOptions()

Watch = Callable[[str], None]  # gets the name of each step as it begins


def on_one_node(case: Case, options: AdviceOptions) -> Case:
    """The case on one node of its machine, or on as many as hold its ranks where these are set; as it is where the
    number of nodes is set or varied, or its network fixes it."""
    machine = make_configurable(case.required_machine, case.socket)
    nodes = machine.parameter("nodes")
    names = {text.partition("=")[0] for text in options.wanted}
    whole = case.changed(machine=machine.machine)
    if nodes is None or nodes.sets in case.set or "nodes" in names:
        return whole
    return whole.with_set(fewest_nodes(whole))


def classify_case(case: Case, options: AdviceOptions) -> Classified:
    """Step 1."""
    problem = problem_of(case, options.size)
    filled = on_all_places(on_one_node(case, options), problem)
    names = {*case.application.parameters, *(item.name for item in case.required_machine.parameters)}
    chosen = [name for name in filled.set if name in names and name not in case.set]
    try:
        return Classified(filled, options.energy, chosen)
    except AspenError as error:
        if not chosen:
            raise
        within = f"while filling `{filled.required_machine.name}` with ranks ({', '.join(chosen)} chosen)"
        hint = "set the ranks, `--set ranks=...`, or give a larger problem"
        parts = (item.replace(parents=(within, *item.parents), hint=item.hint or hint) for item in error.diagnostics)
        raise AspenError(*parts) from None


def _make_space(
    case: Case, options: AdviceOptions, wanted: tuple[str, ...], left_out: tuple[LeftOut, ...] = ()
) -> DesignSpace:
    return DesignSpace(
        on_one_node(case, options),
        wanted,
        options.system,
        levels=options.levels,
        options=options.energy,
        size=options.size,
        left_out=left_out,
    )


def significant_of(case: Case, options: AdviceOptions) -> Significant:
    """Step 2, by the model of a design space and by counters where there are any."""
    space = _make_space(case, options, options.wanted)
    return Significant(space, options.counters, options.counting)


def space_of(case: Case, options: AdviceOptions, significant: Significant | None = None) -> DesignSpace:
    """Step 3: the significant components (section 4.3.3 of the dissertation) where none are named."""
    significance = significant or significant_of(case, options)
    if options.wanted or not significance.left_out:
        return significance.space
    left_out = {item.component for item in significance.left_out}
    kept = tuple(item.component for item in significance.space.ranges if item.component not in left_out)
    return _make_space(case, options, kept, significance.left_out)


def best_of(space: DesignSpace) -> tuple[Configuration, ...]:
    """The machine as it is, then the configurations nearest to the best runtime and the best energy."""
    configurations = [Configuration({}), *(item.configuration for item in space.near_optimal[:2])]
    return tuple({tuple(item.named.items()): item for item in configurations}.values())


def scale_case(case: Case, configurations: Sequence[Configuration], options: AdviceOptions) -> Scaled:
    """Step 4, of configurations of a node."""
    return Scaled(
        case,
        configurations,
        [item.settings for item in options.inputs],
        most=options.nodes,
        threshold=options.threshold,
        size=options.size,
    )


def decide_case(case: Case, options: AdviceOptions) -> Decided:
    """Step 5."""
    chosen = options.wanted, options.system, options.levels, options.nodes, options.energy, options.size
    if problem_of(case, options.size).ranks is None:  # set ranks need so many nodes, and no more
        case = on_one_node(case, options)
    within = ChoiceOptions(*chosen, options.price)
    return Decided(case, options.budget, options.inputs, options.objective, within)


def advise_case(case: Case, options: AdviceOptions = AS_IT_IS, watch: Watch = lambda step: None) -> Advice:
    """Classifies an application on one node, tries components alone and in pairs, and scales the best configurations;
    scaling is left out where there is no network between nodes. Scaling and deciding are left out, too, where they take
    more operations than the other steps leave."""
    watch("which components matter")
    significant = significant_of(case, options)
    space = space_of(case, options, significant)
    watch("the best configuration of a node")
    best, classified = best_of(space), classify_case(case, options)
    watch("what restrictions cost, and how certain that is")
    throttled = Throttled(on_one_node(case, options), options.energy)
    uncertain = Uncertain(space, options.deviations, options.error)
    scaled, deciding, unaffordable = None, options, list[str]()
    try:
        watch("the best configurations on more nodes")
        scaled = _take_affordable("scale", lambda: scale_case(case, best, options), unaffordable)
    except AspenError as error:
        if error.diagnostics[0].code not in ("no-network", "no-free-ranks", OF_SO_MANY_NODES):
            raise
        if error.diagnostics[0].code == "no-network":
            deciding = options.replace(nodes=1)
    watch("what to run under a budget")
    decided = _take_affordable("decide", lambda: _decide_with_few(case, deciding), unaffordable)
    return Advice(
        case,
        classified=classified,
        significant=significant,
        uncertain=uncertain,
        scaled=scaled,
        decided=decided,
        throttled=throttled,
        unaffordable=unaffordable,
    )


def _take_affordable(name: str, step: Callable[[], Step], unaffordable: list[str]) -> Step | None:
    """The result of a step, or None and its name among the unaffordable."""
    with part_of_allowance(OF_A_STEP) as tried:
        try:
            return step()
        except (AspenError, EvaluationError):
            if not tried.exceeded:
                raise
            unaffordable.append(name)
            return None


def _decide_with_few(case: Case, options: AdviceOptions) -> Decided | None:
    """The decision over the components that are wanted, if they are few enough to try in all combinations, else over
    nodes, clock and cores. None where the network is for one number of nodes."""
    few = 0 < len(options.wanted) <= MOST_DECIDED and options.wanted != EVERY
    try:
        return decide_case(case, options if few else options.replace(wanted=()))
    except AspenError as error:
        if error.diagnostics[0].code != OF_SO_MANY_NODES:
            raise
        return None


@one_allowance
def advise(
    app: Application | Case,
    machine: Machine | None = None,
    *,
    advice: AdviceOptions = AS_IT_IS,
    **options: Unpack[CaseOptions],
) -> Advice:
    """Advice on a run: its bounds, the hardware components that matter, and the configurations that are nearly the
    best.

    `advice` says which components are `wanted` and what else the steps take; the other options are those of `Case`.

    :returns: the results of all steps: seconds, joules and watts by component and configuration
    :raises AspenError: for a component, level or budget that cannot be, and where the run has no runtime
    """
    return advise_case(case_of(app, machine, options), advice)
