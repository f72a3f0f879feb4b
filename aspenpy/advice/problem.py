"""Problem: how an application's ranks follow the cores of a machine while its problem stays as it is."""

from __future__ import annotations

from aspenpy.advice.configurable import configurable
from aspenpy.answers.case import Case
from aspenpy.answers.peaks import value_of
from aspenpy.answers.prediction import Prediction
from aspenpy.answers.scope import Setting
from aspenpy.cost.interconnect import concrete, interconnect_of
from aspenpy.cost.ranks import binding_of
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import AspenError
from aspenpy.models.application.total import Amount, of_kind
from aspenpy.models.machine.model import OWNER, Machine
from aspenpy.record import Record
from aspenpy.studies.explore.scaling import RANKS

PROBLEMS = (("nx", "ny", "nz"), ("edge_elements",) * 3, ("rows",))
"""Parameters of the library's applications whose product is the size of the problem."""


WORK = ("flops", "loads", "stores")  # what a larger problem has more of


class Problem(Record):
    """What a run of an application on more cores needs to know: the parameter of its number of `ranks` (None where it
    has none, or it is set), the parameters whose product is the `size` of its problem, and whether that is the problem
    of one rank, so that all of it grows with the ranks. Then the whole problem is that of so many `holders`: the ranks
    of one node of the machine as its model states it, whatever is set or varied of the hardware."""

    ranks: str | None
    size: tuple[str, ...]
    per_rank: bool
    holders: int = 1


def problem_of(case: Case, size: tuple[str, ...] = ()) -> Problem:
    """By the names that applications of the library have; whether the work grows with the ranks is tried."""
    parameters = case.application.parameters
    ranks = next((name for name in RANKS if name in parameters and _is_free(case, name)), None)
    known = size or next((names for names in PROBLEMS if all(name in parameters for name in names)), ())
    per_rank = ranks is not None and _grows(case, ranks)
    return Problem(ranks, known, per_rank, _holders(case) if per_rank else 1)


def one_node(machine: Machine, socket: str | None) -> dict[str, Setting]:
    """The setting that leaves one node of a configurable machine; none where its network is for so many nodes only, or
    where its number of nodes cannot be changed."""
    nodes = configurable(machine, socket).parameter("nodes")
    if nodes is None:
        return {}
    alone = {**machine.definitions, graph.symbol(nodes.sets, OWNER): graph.ONE}
    for place in machine.places(socket):
        if place.component.type == "interconnect" and "topology" in place.component.properties:
            try:
                concrete(machine, interconnect_of(machine, place, socket), alone)
            except AspenError:
                return {}
    return {nodes.sets: 1}


def _holders(case: Case) -> int:
    """The ranks of one node of the machine as its model states it."""
    machine = configurable(case.required_machine, case.socket).machine
    if machine.first_core(case.socket) is None:
        return 1
    _, places = _places(case.changed(machine=machine))
    alone = {graph.symbol(name, OWNER): graph.ONE for name in one_node(machine, case.socket)}
    return int(value_of(places, {**machine.definitions, **alone}))


def _places(case: Case) -> tuple[Case, Expr]:
    """The places for ranks, each a core where nobody says, and the case with that."""
    machine = case.required_machine
    binding = binding_of(machine, case.socket, case.ranks)
    if binding is None:
        case = case.changed(ranks_on="core")
        binding = binding_of(machine, case.socket, case.ranks)
    return case, graph.ONE if binding is None else binding.places


def _is_free(case: Case, name: str) -> bool:
    """Whether it is a number that nobody set."""
    return name not in case.set and not graph.free_symbols(case.application.parameters[name].value)


FEW, MANY = 8, 64  # ranks: cubes, and powers of two


def _grows(case: Case, ranks: str) -> bool:
    """Whether more ranks ask for more flops (bytes, where there are none) in all: nearer to as many times as there are
    ranks than to the same."""
    amounts = []
    for count in (FEW, MANY):
        prediction = Prediction(case.with_set({ranks: count}))
        totals = {key.resource: worth for key, worth in of_kind(Amount, prediction.tree.totals).items()}
        name = next((name for name in WORK if name in totals), None)
        if name is None:
            return False
        try:
            amounts.append(float(prediction.scope.values([totals[name]], prediction.seed)[0]))
        except AspenError:
            return False
    return amounts[1] ** 2 > amounts[0] ** 2 * MANY / FEW


def on_all_places(case: Case, problem: Problem) -> Case:
    """A rank in each place that the machine has for one (a core, where nobody says), however many these are, with the
    whole problem as large as it is where nothing is varied."""
    if problem.ranks is None or case.required_machine.first_core(case.socket) is None:
        return case
    case, places = _places(case)
    if problem.per_rank and problem.size:
        here = Prediction(case)
        sizes = here.scope.values([here.scope.symbol(name) for name in problem.size], case.seed)
        share = graph.power(graph.div(problem.holders, places), graph.div(graph.ONE, len(problem.size)))
        case = case.with_set(
            {name: graph.mul(graph.number(size), share) for name, size in zip(problem.size, sizes, strict=True)}
        )
    return case.with_set({problem.ranks: places})
