"""Options that several studies, measurements and tools share, each with one meaning."""

from __future__ import annotations

from aspenpy.answers.energy.options import CHOICES
from aspenpy.shell.option import Option, choice, flag, option, positive, repeatable_option

STEPS = ("classify", "significance", "configure", "scale", "decide", "throttle")
"""Steps of `aspenpy advise`."""

# -- which values, which quantities ----------------------------------------------------------------

OVER = repeatable_option(
    "--over", "AXIS", "goes over the values of a parameter: NAME=LOW..HIGH, NAME=LOW..HIGH:log:5 or NAME=1,2,4"
)
VARY = repeatable_option("--vary", "WHAT,...", "what varies; may be repeated")
FREE = option("--free", "NAME,...", "the parameters that stay free")
MINIMISE = repeatable_option("--minimise --minimize", "QUANTITY,...", "what to make as small as possible")
MAXIMISE = repeatable_option("--maximise --maximize", "QUANTITY,...", "what to make as large as possible")
BUDGET = repeatable_option("--budget", "LIMIT=QUANTITY,...", "what a run may take at most")
RANK_COUNTS = option("--ranks", "FIRST..LAST", "the numbers of ranks: 1..8M (twice as many each time) or 1,8,64")
PROBLEM = option("--problem", "NAME,...", "the parameters whose product is the size of the problem")
TRANSFER = flag(
    "--transfer",
    "the kernel's data are on the first device; on any other, the time to move them over its link is added",
)
LAW = choice(
    "--law",
    CHOICES["law"],
    "how energy is counted: `responding` to clocks, cores and traffic, where the machine states it; else `aeem`, the "
    "dissertation's equations 3.2 to 3.9; or the energy `roofline` (default: auto)",
    default="auto",
).adapt(former="--model")

# -- programs and measurements ---------------------------------------------------------------------

RUN = option(
    "--run", "COMMAND", "runs the compiled program, with {NAME} where the value of an axis goes; no shell reads it"
)
LEVEL = choice(
    "--as",
    ("source", "o1", "o2", "o3"),
    "which loads and stores count: source, o1: what nothing can have changed is in a register; o2: from pass "
    "to pass; o3: with loops vectorised",
    dest="level",
)
FLAGS = (
    repeatable_option("-I", "FOLDER", "where headers are; may be repeated", dest="folders"),
    repeatable_option("-D", "NAME=VALUE", "defines a macro; may be repeated", dest="macros"),
)
LINK = repeatable_option("--link", "NAME", "a library of the program, such as blas; may be repeated", dest="links")
COMPILER = option(
    "--compiler", "NAME", "the compiler that counts what runs: one of GCC's, such as mpicc (default: gcc or g++)"
)
COLUMN = repeatable_option(
    "--column",
    "NAME=HEADER",
    "takes a column by another name, such as 'runtime [ms]=time/ms', and leaves out all that are not taken; may be "
    "repeated",
    dest="columns",
)
CONFIDENCE = option("--confidence", "C", "of confidence intervals (default: 0.95)", type=float, default=0.95)
PRECISION = option(
    "--precision",
    "P",
    "half the confidence interval of a mean, relative to the mean (default: 0.05)",
    type=float,
    default=0.05,
)
LEARNT = option("--model", "FILE", "a model that `aspenpy empirical` has learnt and written")


def runs(least: int, most: int, former: tuple[str, str] = ("", "")) -> tuple[Option, Option]:
    """The least and the largest number of runs."""
    return (
        option("--least-runs", "N", "runs at least").adapt(
            f" (default: {least})", type=positive, default=least, former=former[0]
        ),
        option("--most-runs", "N", "runs at most").adapt(
            f" (default: {most})", type=positive, default=most, former=former[1]
        ),
    )


# -- how a command ends, and what it replaces ------------------------------------------------------

FAIL_FAST = flag("--fail-fast", "ends at the first error")
STRICT = flag("--strict", "fails if there is a warning")
REPLACE = flag("--replace", "writes the file anew where it is there already")
