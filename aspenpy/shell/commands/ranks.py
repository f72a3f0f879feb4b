"""Commands about many ranks: `scale`, and `network` over which they send messages."""

from __future__ import annotations

from functools import partial

from aspenpy.advice.problem import places_for_ranks
from aspenpy.answers.case import Case
from aspenpy.answers.energy.options import EnergyOptions
from aspenpy.answers.network import Network
from aspenpy.answers.prediction import Prediction
from aspenpy.cost.network.collectives import COLLECTIVES
from aspenpy.cost.placement_options import MACHINES_OWN, PlacementOptions
from aspenpy.explore.rank_search import doublings
from aspenpy.explore.scaling import RANKS, Scaling, require_counts
from aspenpy.expr.counts import counts_accepted_by_all, nearest_of
from aspenpy.language.axis import read_literal, split_ends
from aspenpy.language.source import Span, split_at_commas
from aspenpy.models.library import load_machine
from aspenpy.report.network import draw_network
from aspenpy.report.scaling import draw_scaling
from aspenpy.shell.failure import CommandError
from aspenpy.shell.operands import case_of_arguments, placement_arguments
from aspenpy.shell.option import Arguments, command, flag, option, split_words
from aspenpy.shell.options import (
    MODEL,
    NO_INTERVAL,
    OUTSIDE,
    PICTURE,
    RESULTS,
    SEED,
    SET,
    SETTINGS,
    SOCKET,
    machine,
    settings_of,
)
from aspenpy.shell.options import RANKS as PLACEMENT
from aspenpy.shell.output import deliver
from aspenpy.shell.study_options import PROBLEM, RANK_COUNTS
from aspenpy.sweeps.declarations import rank_counts


def ranks_in(text: str) -> list[int]:
    """`1..8M` as 1, 2, 4 and so on to 8 million; `1,8,64` as it is."""
    first, last = split_ends(text, "--ranks")
    if last is None:
        return [_number(part, text) for part in split_at_commas(first)] or [_number(first, text)]
    low, high = _number(first, text), _number(last, text)
    if low > high:
        raise CommandError(f"--ranks: {text} has nothing in it")
    return doublings(low, high)


def _number(written: Span, text: str) -> int:
    number = read_literal(written)
    if number is None or not number.is_integer() or number < 1:
        raise CommandError(f"--ranks: expected whole numbers from 1 on, such as 1..8M or 1,8,64, not `{text}`")
    return int(number)


def _choose_rank_counts(text: str | None, case: Case, parameter: str | None, rule: str | None) -> list[int]:
    """The numbers of ranks of `--ranks`, by default from 1 to the places of the machine: of a range those nearest to
    its doublings that the program accepts and `--rank-counts` asks for."""
    prediction = Prediction(case)
    if text is None:
        places = prediction.scope.values([places_for_ranks(case)[1]], case.seed)[0]
        text = f"1..{int(places)}"
    listed = ranks_in(text)
    name = parameter or next((each for each in RANKS if each in case.application.parameters), "")
    own, asked = rank_counts(prediction, name), None if rule is None else require_counts(rule)
    rules = list(dict.fromkeys(each for each in (own, asked) if each is not None))
    if ".." in text:
        counts = nearest_of(counts_accepted_by_all(rules, listed[0], listed[-1]), listed) if rules else listed
        if not counts:
            among = " that are ".join(each.describe() for each in rules)
            raise CommandError(f"--ranks: there are no {among} in {text}")
        return counts
    for each in listed:
        if asked is not None and each not in asked:
            near = " or ".join(f"{other:,}" for other in asked.nearest_two(each))
            raise CommandError(f"--rank-counts: {each:,} is none of the {asked.describe()}; next to it: {near}")
    return listed


@command(
    "scale",
    "compare",
    "Predict strong and weak scaling: efficiency, communication, the optimal number of ranks",
    options=(
        MODEL,
        machine(required=True),
        RANK_COUNTS.adapt("; default: up to the places that the machine has for them"),
        flag("--strong", "the problem stays as it is (default)"),
        flag("--weak", "the problem grows with the ranks"),
        option("--parameter", "NAME", "the model's number of ranks (default: ranks, or P)"),
        PROBLEM.adapt(": n,n,n for n^3 (default: nx,ny,nz)"),
        flag("--per-rank", "the problem's parameters are those of one rank, as those that a model declares `per rank`"),
        option(
            "--rank-counts",
            "RULE",
            "only such numbers of ranks: cube, square, power_of(2), divisor_of(N), multiple_of(N), at_most(N), grid(8)",
        ),
        option("--isoefficiency", "E", "also by how much the problem must grow for this efficiency", type=float),
        flag("--energy", "also the energy of all sockets that have work"),
        *SETTINGS,
        NO_INTERVAL,
        *RESULTS,
        PICTURE.adapt(": efficiencies and times by ranks"),
        SEED,
    ),
    examples=(
        ("the same problem on more and more ranks", "aspenpy scale lulesh --machine frontera"),
        (
            "on a million and more",
            "aspenpy scale comd_scaling --machine exascale_homogeneous --ranks 1..8M",
        ),
        (
            "a problem that grows with them",
            "aspenpy scale comd_scaling --machine exascale_homogeneous --ranks 8..8M --weak --set nx=20",
        ),
        (
            "a rank on each core, dealt out to the nodes in turn",
            "aspenpy scale comd_scaling --machine exascale_homogeneous --ranks 1..64 --bind core --distribution cyclic",
        ),
        ("a program that takes cubes of ranks", "aspenpy scale lulesh --machine frontera --ranks 1..8192"),
        (
            "on whole nodes of 56 cores",
            "aspenpy scale comd_scaling --machine frontera --ranks 56..8192 --rank-counts 'multiple_of(56)'",
        ),
        (
            "how large must it be for 80 %?",
            "aspenpy scale comd_scaling --machine exascale_homogeneous --ranks 8,64,512 --isoefficiency 0.8",
        ),
    ),
)
def run_scale(arguments: Arguments) -> int:
    if arguments.strong and arguments.weak:
        raise CommandError("--strong and --weak exclude each other")
    wanted = arguments.isoefficiency
    if wanted is not None and not 0 < wanted <= 1:
        raise CommandError(f"--isoefficiency: an efficiency is above 0 and 1 at most, not {wanted:g}")
    case = case_of_arguments(arguments)
    points = _choose_rank_counts(arguments.ranks, case, arguments.parameter, arguments.rank_counts)
    scale = partial(
        Scaling,
        case,
        mode="weak" if arguments.weak else "strong",
        parameter=arguments.parameter,
        problem=split_words(arguments.problem),
        isoefficiency=wanted,
        energy=EnergyOptions(charged="cores_used") if arguments.energy else None,
        per_rank=arguments.per_rank,
        counts=arguments.rank_counts,
    )
    scaling = scale(ranks=points)
    described = [ranks for ranks in points if scaling.is_within_ranges(ranks)]
    if arguments.ranks is None and 0 < len(described) < len(points):  # as far as the model describes the problem
        scaling = scale(ranks=described)
    return deliver(scaling.report(interval=not arguments.no_interval), arguments, lambda: draw_scaling(scaling))


COLLECTIVE_SIZES = (8, 1000, 10**6)  # Bytes that collectives are shown for


@command(
    "network",
    "models",
    "Show a machine's network: topology, messages, collectives",
    options=(
        machine(required=True),
        SOCKET.adapt(": its ranks exchange messages, over links inside of nodes too"),
        RANK_COUNTS.adapt("; one of them: messages between their nodes, and what collectives among so many take"),
        SET,
        *PLACEMENT,
        *RESULTS,
        PICTURE.adapt(": time by size"),
        OUTSIDE,
    ),
    examples=(
        ("the topology, and one message by its size", "aspenpy network --machine bluegene_q"),
        (
            "the fastest algorithms of collectives among so many ranks",
            "aspenpy network --machine frontier --socket amd_mi250x --ranks 8192",
        ),
        (
            "of another design",
            "aspenpy network --machine frontier --socket amd_mi250x --ranks 64 --set slingshot_11_latency=1e-6",
        ),
        ("with four ranks on a node", "aspenpy network --machine perlmutter_cpu --ranks 512 --ranks-per-node 4"),
        ("for a program", "aspenpy network --machine bluegene_q --format json"),
    ),
)
def run_network(arguments: Arguments) -> int:
    ranks = None
    if arguments.ranks is not None:
        ranks, *more = ranks_in(arguments.ranks)
        if more:
            raise CommandError("--ranks: `network` takes one number of ranks; `scale` takes several")
    placement = PlacementOptions(**placement_arguments(arguments))
    if ranks is None and placement.replace(nodes=None, bind=None) != MACHINES_OWN:
        raise CommandError("without --ranks there are no ranks to place; --nodes alone says how far messages go")
    found = load_machine(arguments.machine, allow_outside=arguments.allow_outside)
    network = Network(found, settings_of(arguments), arguments.socket, placement)
    collectives = [
        network.collective(name, ranks, size)
        for name in COLLECTIVES
        for size in (COLLECTIVE_SIZES if name != "barrier" else (0,))
        if ranks is not None
    ]
    report = network.report(collectives=collectives, ranks=ranks)
    return deliver(report, arguments, lambda: draw_network(network, ranks))
