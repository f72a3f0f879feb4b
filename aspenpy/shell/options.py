"""Options that several commands share, each with one meaning, and what the arguments of a command may not be."""

from __future__ import annotations

from aspenpy.answers.scope import DEFAULT_SEED
from aspenpy.cost.kinds_of_cores import SCHEDULES
from aspenpy.cost.placement_options import THREADS
from aspenpy.language.files import STANDARD_OUTPUT, require_writable
from aspenpy.shell.failure import CommandError
from aspenpy.shell.option import (
    Arguments,
    Option,
    choice,
    flag,
    option,
    positive,
    repeatable_option,
    split_pairs,
    split_words,
)
from aspenpy.shell.output import require_drawable
from aspenpy.tables.formats import FORMATS

# -- which models ----------------------------------------------------------------------------------

MODEL = option("model", "MODEL", "an application: a file, or a name of `aspenpy list apps`")
MACHINE = repeatable_option("--machine", "M", "a machine: a file, or a name of `aspenpy list machines`")
SEVERAL = "; several by commas, or repeated"
OUTSIDE = flag("--allow-outside", "lets a model include and import files from outside of its folder")


def machine(*, required: bool, why: str = "") -> Option:
    """The one machine of a command; `machines` are those of a command that takes several."""
    return MACHINE.adapt(why, required=required)


def machines(*, required: bool, why: str = "") -> Option:
    return MACHINE.adapt(f"{SEVERAL}{why}", required=required, dest="machines")


# -- what to run, and how --------------------------------------------------------------------------

SOCKET = option("--socket", "S", "the kind of socket to run on, where the machine has several")
SOCKETS = SOCKET.adapt("; by commas, one for each machine, or several of a single machine", dest="sockets")
KERNEL = option("--kernel", "K", "the kernel to run (default: main)")
SET = repeatable_option(
    "--set",
    "NAME=EXPR",
    "gives a parameter another value, a number or an expression such as 2*n; may be repeated",
    dest="settings",
)
NETWORK = option(
    "--with",
    "NETWORK",
    "the parameters of a network, for transformer_training and transformer_serving: a name, such as llama3_405b, or a "
    "config.json of Hugging Face; --set comes after it",
    dest="network",
)
PAR = choice(
    "--par",
    ("add", "overlap"),
    "whether the branches of `par` take their times one after the other or at once (default: add)",
    default="add",
)
RANKS = (
    option(
        "--bind",
        "WHAT",
        "what each rank occupies: core, numa, socket, device, node or a name (default: as the machine says)",
        former="--ranks-on",
    ),
    option("--nodes", "N", "run on N nodes (default: as many as the ranks need)", type=positive),
    option("--ranks-per-node", "N", "N ranks on a node (default: as many as it has places for)", type=positive),
    option("--ranks-per-socket", "N", "N ranks on a socket", type=positive),
    option("--ranks-per-device", "N", "N ranks share a device", type=positive),
    option("--cores-per-rank", "N", "N cores for each rank", type=positive),
    option(
        "--distribution",
        "NODES[:SOCKETS]",
        "how ranks are dealt out to nodes, sockets and NUMA domains, as Slurm has it: block, cyclic or plane=SIZE, "
        "then :block or :cyclic; compact fills a node before the next, scatter uses all nodes; "
        "with ,reorder each node has a brick of a grid of ranks (default: compact)",
    ),
    choice(
        "--threads", THREADS, "the threads of a rank fill one NUMA domain before the next, or spread (default: spread)"
    ),
    option("--domains", "N", "divide each socket into N NUMA domains (sub-NUMA clustering)", type=positive),
    option("--threads-per-core", "N", "N hardware threads of each core work (default: 1)", type=positive),
    choice(
        "--schedule",
        SCHEDULES,
        "the parts of a rank's work go to its cores in equal numbers, or as cores become free (default: as the models "
        "say)",
    ),
)
SEED = option("--seed", "N", f"the seed of random draws (default: {DEFAULT_SEED})", type=int, default=DEFAULT_SEED)

VALUES = (KERNEL, NETWORK, SET)  # what to run, and with which values
SETTINGS = (SOCKET, *VALUES, PAR, *RANKS, OUTSIDE)  # what a prediction can be changed by

METRIC = option(
    "--metric", "NAME", "runtime, capped_runtime, energy, power, edp, ed2p, or the amount of a resource such as flops"
)
SAMPLES = option("--samples", "N", "the number of random draws", type=positive)

# -- what is written -------------------------------------------------------------------------------


def formats(*more: str, of: str = "", default: str | None = "table") -> Option:
    """The formats of results, and `more` that only one command has."""
    return choice("--format", (*FORMATS, *more), "how results are written (default: table)", default=default).adapt(of)


ALL_FORMATS = formats()
SUFFIXES = {form.suffix.lstrip("."): form.name for form in FORMATS.values() if form.suffix}
PICTURE = option("--picture", "FILE", "also draws a picture, an .svg, .png or .pdf file")
MEASURED = option("--measured", "FILE", "compares with measurements of this run")
MAP = repeatable_option(
    "--map", "REGION=KERNEL", "the kernel of a measured region that has another name; may be repeated"
)
PROFILE = option(
    "--profile",
    "FILE",
    "a profile of a run instead: gprof, perf report, LIKWID, Caliper, TAU, ncu, nsys, rocprof, or a table of kernels "
    "and times",
)
REPORT = repeatable_option("--report", "FILE", "also a report")
OUTPUT = option("-o --output", "FILE", "the file to write")
TABLES = OUTPUT.adapt(
    f": the results, in the format of --format or of its name ({', '.join(f'.{suffix}' for suffix in SUFFIXES)}) "
    "(default: they are shown)",
    dest="results",
)

NO_INTERVAL = flag("--no-interval", "leave out the interval in which nine of ten such cases lie")
RESULTS = (ALL_FORMATS, TABLES)  # how results are written, and where to

# -- what arguments may not be ---------------------------------------------------------------------

OF_A_MACHINE = {
    "socket": "--socket chooses among the sockets of a machine",
    **{item.destination: f"{item.names[0]} is said of a machine" for item in RANKS},
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
    """The machines named by `--machine`, which may be repeated or hold names separated by commas."""
    names = [name for text in given for name in split_words(text)]
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
    """Refuses, before the work is done, a file that has no name or could not be written, and a picture that could not
    be drawn; results are written in the format that the name of their file has."""
    for name, spelled in (("output", "output"), ("results", "output"), ("picture", "picture")):
        if getattr(arguments, name, None) == "":
            raise CommandError(f"--{spelled}: the name of the file is empty")
    if getattr(arguments, "results", None) is not None:
        require_writable(arguments.results)
        arguments.format = _format_for_file(arguments.results, arguments.format)
        if arguments.results == STANDARD_OUTPUT:
            arguments.results = None
    if getattr(arguments, "picture", None) is not None:
        require_drawable(arguments.picture)


def _format_for_file(path: str, asked: str) -> str:
    """The format in which results are written to a file of that name."""
    suffix = path.lower().rpartition(".")[2]
    form = SUFFIXES.get(suffix)
    if form is None and suffix in OTHER_SUFFIXES:
        known = ", ".join(f".{known}" for known in SUFFIXES)
        raise CommandError(f"--output {path}: results are written as {known} or as a table in text, not as .{suffix}")
    if form in (None, asked) or asked not in FORMATS:
        return asked
    if asked != "table":
        raise CommandError(f"--format {asked}: the name `{path}` is one of {suffix.upper()}")
    return str(form)


OTHER_SUFFIXES = "xlsx xls ods parquet nc yaml yml html pdf svg png".split()
"""Files that no text of a table is expected in."""


def settings_of(arguments: Arguments) -> dict[str, str]:
    """The values of `--with` and `--set` by name."""
    values: dict[str, str] = {}
    if getattr(arguments, "network", None) is not None:
        from aspenpy.models.networks import read_network

        values = {name: str(value) for name, value in read_network(arguments.network).items()}
    return values | split_pairs("--set", "NAME=EXPR, such as n=1000", arguments.settings)
