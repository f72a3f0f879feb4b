"""`aspenpy scale`: predict strong and weak scaling: efficiency, communication, the optimal number of ranks."""

from __future__ import annotations

from aspenpy.answers.energy.options import EnergyOptions
from aspenpy.explore.scaling import Scaling
from aspenpy.report.scaling import draw
from aspenpy.shell.entry import case_of_arguments
from aspenpy.shell.failure import CommandError
from aspenpy.shell.option import Arguments, Examples, flag, option, words
from aspenpy.shell.options import ALL_FORMATS, MODEL, PICTURE, SEED, SETTINGS, TABLES, machine
from aspenpy.shell.output import deliver
from aspenpy.shell.ranks import ranks_in
from aspenpy.shell.study_options import PROBLEM, RANK_COUNTS

EXAMPLES: Examples = (
    (
        "the same problem on more and more ranks",
        "aspenpy scale comd_scaling --machine exascale_homogeneous --ranks 1..8M",
    ),
    (
        "a problem that grows with them",
        "aspenpy scale comd_scaling --machine exascale_homogeneous --ranks 8..8M --weak --set nx=20",
    ),
    (
        "a rank on each core, dealt out to the nodes in turn",
        "aspenpy scale comd_scaling --machine exascale_homogeneous --ranks 1..64 --ranks-on core --distribution cyclic",
    ),
    (
        "how large must it be for 80 %?",
        "aspenpy scale comd_scaling --machine exascale_homogeneous --ranks 8,64,512 --isoefficiency 0.8",
    ),
)

OPTIONS = (
    MODEL,
    machine(required=True),
    RANK_COUNTS.here(required=True),
    flag("--strong", "the problem stays as it is (default)"),
    flag("--weak", "the problem grows with the ranks"),
    option("--parameter", "NAME", "the model's number of ranks (default: ranks, or P)"),
    PROBLEM.here(": n,n,n for n^3 (default: nx,ny,nz)"),
    flag("--per-rank", "the problem's parameters are those of one rank, as those that a model declares `per rank`"),
    option("--isoefficiency", "E", "also by how much the problem must grow for this efficiency", type=float),
    flag("--energy", "also the energy of all sockets that have work"),
    *SETTINGS,
    ALL_FORMATS,
    TABLES,
    PICTURE.here(": efficiencies and times by ranks"),
    SEED,
)


def run(arguments: Arguments) -> int:
    if arguments.strong and arguments.weak:
        raise CommandError("--strong and --weak exclude each other")
    wanted = arguments.isoefficiency
    if wanted is not None and not 0 < wanted <= 1:
        raise CommandError(f"--isoefficiency: an efficiency is above 0 and 1 at most, not {wanted:g}")
    scaling = Scaling(
        case_of_arguments(arguments),
        ranks_in(arguments.ranks),
        "weak" if arguments.weak else "strong",
        parameter=arguments.parameter,
        problem=words(arguments.problem),
        isoefficiency=wanted,
        energy=EnergyOptions(charged="cores_used") if arguments.energy else None,
        per_rank=arguments.per_rank,
    )
    return deliver(scaling.report(), arguments, lambda: draw(scaling))
