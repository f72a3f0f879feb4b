"""Problem: how an application's ranks follow the cores of a machine while its problem stays as it is."""

from __future__ import annotations

from math import ceil, log
from typing import NoReturn

from aspenpy.advice.configurable import make_configurable
from aspenpy.answers.case import Case
from aspenpy.answers.peaks import value_of
from aspenpy.answers.prediction import Prediction
from aspenpy.answers.scope import Setting
from aspenpy.cost.interconnect import interconnect_of, topology_in_numbers
from aspenpy.cost.ranks import place_ranks
from aspenpy.explore.problem_size import Growth, WorkFormulas, is_brick, shares_of_ranks, sizes_per_rank
from aspenpy.explore.scaling import RANKS
from aspenpy.expr import graph
from aspenpy.expr.counts import CountRule
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import AspenError, fail
from aspenpy.models.machine.model import OWNER, Machine
from aspenpy.record import Record
from aspenpy.sweeps.declarations import rank_counts

PROBLEMS = (("nx", "ny", "nz"), ("rows",))
"""Parameters whose product is the size of a problem, where no parameter is declared `per rank`."""


class ApplicationProblem(Record):
    """An application's problem, for runs on more cores: the parameter of its number of `ranks` (None where it has none,
    or it is set), the parameters whose product is the `size` of its problem, and whether that is the problem of one
    rank, so that all of it grows with the ranks. Then the whole problem is that of `holders` ranks: the ranks of one
    node of the machine as its model states it, whatever is set or varied of the hardware. Of the places of a machine as
    many hold a rank as the program accepts (`accepted`; None where it takes any number)."""

    ranks: str | None
    size: tuple[str, ...]
    per_rank: bool
    holders: int = 1
    accepted: CountRule | None = None

    def ranks_on(self, places: Expr) -> Expr:
        """The number of ranks on `places` places."""
        return places if self.accepted is None else self.accepted.largest_up_to(places)


def problem_of(case: Case, size: tuple[str, ...] = ()) -> ApplicationProblem:
    """The `size` that the user names, else what the model declares `per rank`, else by names that are usual. Raises
    AspenError where the flops or bytes of all ranks do not stay (on 1, 8 and 64 of them) when the ranks change: what
    asks for more work could not be compared with what asks for less."""
    parameters = case.application.parameters
    declared = () if size else sizes_per_rank(case.application)
    usual = next((names for names in PROBLEMS if all(name in parameters for name in names)), ())
    known = size or declared or usual
    ranks = next((name for name in RANKS if name in parameters and _is_free(case, name)), None)
    if ranks is None:
        return ApplicationProblem(None, known, False)
    accepted = rank_counts(Prediction(case), ranks)
    work = WorkFormulas(case, ranks, known)
    known = work.product_of(known) if declared else known
    fixed = work.growth()
    if not fixed.grows_with_ranks:
        if not (fixed.is_constant or fixed.is_of_one_rank):
            _refuse(work, fixed, ())
        return ApplicationProblem(ranks, known, False, accepted=accepted)
    grown = work.growth(known)
    if not grown.is_constant:
        _refuse(work, grown, known)
    holders = _holders(case)
    if accepted is not None:
        holders = accepted.largest_below(holders) or 1
    return ApplicationProblem(ranks, known, True, holders, accepted)


def _refuse(work: WorkFormulas, growth: Growth, size: tuple[str, ...]) -> NoReturn:
    """Refuses the case, and proposes the `--problem` that would keep the work of all ranks."""
    amounts = {name: amounts for name, amounts in (("flops", growth.flops), ("bytes", growth.bytes)) if amounts}
    changes = {(name, index): abs(log(each[index])) for name, each in amounts.items() for index in range(len(each))}
    name, worst = max(changes, key=changes.__getitem__)
    of_size = f" with `{'*'.join(size)}` as the size of a rank's part" if size else ""
    message = (
        f"the problem of `{work.case.application.name}` does not stay when the ranks change{of_size}: on "
        f"{growth.ranks[worst]} ranks all {name} are {amounts[name][worst]:.3g} times those on {growth.ranks[0]}"
    )
    span = work.case.application.parameters[work.ranks].span
    kept = WorkFormulas(
        work.case, work.ranks
    ).sizes_that_keep_it()  # without what is derived, such as `rows` of an edge
    wanted = [f"`--problem {','.join(names)}`" for names in kept if names != size][:3]
    hint = "name the parameters that are the size of one rank's problem: `per rank` in the model, or --problem NAME,..."
    if wanted:
        hint += f"; the work stays with {' or '.join(wanted)}"
    hint += f"; or set the ranks, --set {work.ranks}=N"
    fail("problem-grows", message, span, hint=hint)


def one_node(machine: Machine, socket: str | None) -> dict[str, Setting]:
    """The setting that leaves one node of a configurable machine; none where its network fixes the number of nodes, or
    where its number of nodes cannot be changed."""
    nodes = make_configurable(machine, socket).parameter("nodes")
    if nodes is None:
        return {}
    alone = {**machine.definitions, graph.symbol(nodes.sets, OWNER): graph.ONE}
    for place in machine.places(socket):
        if place.component.type == "interconnect" and "topology" in place.component.properties:
            try:
                topology_in_numbers(machine, interconnect_of(machine, place, socket), alone)
            except AspenError:
                return {}
    return {nodes.sets: 1}


def fewest_nodes(case: Case) -> dict[str, Setting]:
    """The setting of one node, or of as many as the ranks need where their number is set."""
    machine = case.required_machine
    one = one_node(machine, case.socket)
    if case.placement.nodes is not None:
        return dict.fromkeys(one, case.placement.nodes)
    name = next((name for name in RANKS if name in case.application.parameters and name in case.set), None)
    if name is None or not one or machine.first_core(case.socket) is None:
        return one
    _, places = places_for_ranks(case)
    alone = {graph.symbol(sets, OWNER): graph.ONE for sets in one}
    held = int(value_of(places, {**machine.definitions, **alone}))
    scope = Prediction(case).scope
    ranks = float(scope.values([scope.symbol(name)], case.seed)[0])
    return dict.fromkeys(one, max(1, ceil(ranks / held)))


def _holders(case: Case) -> int:
    """The ranks of one node of the machine as its model states it."""
    machine = make_configurable(case.required_machine, case.socket).machine
    if machine.first_core(case.socket) is None:
        return 1
    _, places = places_for_ranks(case.changed(machine=machine))
    alone = {graph.symbol(name, OWNER): graph.ONE for name in one_node(machine, case.socket)}
    return int(value_of(places, {**machine.definitions, **alone}))


def places_for_ranks(case: Case) -> tuple[Case, Expr]:
    """The places for ranks, each a core where nobody says, and the case with that."""
    machine = case.required_machine
    placement = place_ranks(machine, case.socket, case.placement)
    if placement is None:
        case = case.changed(bind="core")
        placement = place_ranks(machine, case.socket, case.placement)
    return case, graph.ONE if placement is None else placement.places


def _is_free(case: Case, name: str) -> bool:
    """Whether a parameter is a number that nobody set."""
    return name not in case.set and not graph.free_symbols(case.application.parameters[name].value)


def on_all_places(case: Case, problem: ApplicationProblem) -> Case:
    """A rank in each place that the machine has for one (a core, where nobody says), however many these are, or in as
    many as the program accepts, with the whole problem as large as it is where nothing is varied."""
    if problem.ranks is None or case.required_machine.first_core(case.socket) is None:
        return case
    case, places = places_for_ranks(case)
    places = problem.ranks_on(places)
    if problem.per_rank and problem.size:
        here = Prediction(case)
        sizes = here.scope.values([here.scope.symbol(name) for name in problem.size], case.seed)
        brick = is_brick(case.application, problem.size)
        shares = shares_of_ranks(problem.size, graph.number(problem.holders), places, brick=brick)
        each = zip(problem.size, sizes, shares, strict=True)
        case = case.with_set({name: graph.mul(graph.number(size), share) for name, size, share in each})
    return case.with_set({problem.ranks: places})
