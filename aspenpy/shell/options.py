"""Options that several commands share, and what the arguments of a command may not be."""

from __future__ import annotations

from aspenpy.cost.ranks import DISTRIBUTIONS
from aspenpy.shell.failure import CommandError
from aspenpy.shell.option import Arguments, choice, flag, formats, option, pairs, positive, repeated, seed, words
from aspenpy.shell.pictures import require_drawable

MODEL = option("model", "MODEL", "an application: a file, or a name of `aspenpy list apps`")
SOCKET = option("--socket", "S", "the kind of socket to run on, where the machine has several")
SOCKETS = option(
    "--socket", "S,...", "their sockets: one for each machine, or several for a single machine", dest="sockets"
)
KERNEL = option("--kernel", "K", "the kernel to run (default: main)")
SET = repeated(
    "--set",
    "NAME=EXPR",
    "gives a parameter another value, a number or an expression such as 2*n; may be repeated",
    dest="settings",
)
PAR = choice(
    "--par",
    ("add", "overlap"),
    "whether the branches of `par` take their times one after the other or at once (default: add)",
    default="add",
)
RANKS = (
    option(
        "--ranks-on", "WHAT", "what each rank occupies: core, socket, node or a name (default: as the machine says)"
    ),
    option("--ranks-per-node", "N", "so many ranks on a node (default: as many as it has places for)", type=positive),
    choice(
        "--distribution",
        DISTRIBUTIONS,
        "how ranks go to nodes: filling one after the other, neighbours spread over all, or in turn (default: compact)",
    ),
)
OUTSIDE = flag("--allow-outside", "lets a model include and import files from outside of its folder")
SEED = seed()

VALUES = (KERNEL, SET)  # what to run, and with which values
SETTINGS = (SOCKET, *VALUES, PAR, *RANKS, OUTSIDE)  # what a prediction can be changed by
TABLE_OR_JSON, ALL_FORMATS = formats("table", "json"), formats("table", "json", "csv")


# -- what arguments may not be ---------------------------------------------------------------------


OF_A_MACHINE = {
    "socket": "--socket chooses among the sockets of a machine",
    "ranks_on": "--ranks-on says what of a machine a rank occupies",
    "ranks_per_node": "--ranks-per-node is said of the nodes of a machine",
    "distribution": "--distribution is over the nodes of a machine",
}
"""What an option that means nothing without a machine is about."""


def require_one_machine(arguments: Arguments) -> None:
    """Makes the machine of a command that takes one its name, or None where there is none."""
    given = getattr(arguments, "machine", None)
    if not isinstance(given, list):
        return
    names = machine_names(given)
    if len(names) > 1:
        raise CommandError(f"--machine: one is asked for, not {' and '.join(names)}; compare and sweep take several")
    arguments.machine = names[0] if names else None


def machine_names(given: list[str]) -> list[str]:
    """The machines that are given by commas, or one after the other."""
    names = [name for text in given for name in words(text)]
    if given and not names:
        raise CommandError("--machine: the name is empty")
    return names


def require_machine(arguments: Arguments) -> None:
    """Refuses what is said of a machine where none is given: it would be passed over."""
    if getattr(arguments, "machine", "") is not None:
        return
    elsewhere = hasattr(arguments, "over") or hasattr(arguments, "data")  # an axis or a column may name machines
    for name, about in OF_A_MACHINE.items():
        if getattr(arguments, name, None) is not None and (name == "socket" or not elsewhere):
            raise CommandError(f"{about}: --machine M says which")


def require_outputs(arguments: Arguments) -> None:
    """Refuses, before the work is done, a file that has no name, and a picture that could not be drawn."""
    for name in ("output", "picture"):
        if getattr(arguments, name, None) == "":
            raise CommandError(f"--{name}: the name of the file is empty")
    if getattr(arguments, "picture", None) is not None:
        require_drawable(arguments.picture)


def settings_of(arguments: Arguments) -> dict[str, str]:
    """The values of `--set` by name."""
    return pairs("--set", "NAME=EXPR, such as n=1000", arguments.settings)
