"""`aspenpy fit`: calibrate parameters to measurements."""

from __future__ import annotations

from aspenpy.language.files import require_writable, write_whole
from aspenpy.report.fit import draw, percent
from aspenpy.shell.commands.fmt import standard_input
from aspenpy.shell.entry import case_of_arguments
from aspenpy.shell.option import Arguments, Examples, choice, machine, option, pairs, picture, repeated, words
from aspenpy.shell.options import ALL_FORMATS, MODEL, SEED, SETTINGS
from aspenpy.shell.output import answer
from aspenpy.shell.progress import Progress
from aspenpy.studies.empirical.fit import fit
from aspenpy.studies.empirical.measurements import METRIC_DIMENSIONS

EXAMPLES: Examples = (
    (
        "idle power of a processor from watts at three clocks",
        r"printf 'platinum_8360y_clock [GHz],power [W]\n1.2,188\n1.6,204\n2,224\n' | aspenpy fit stream -"
        " --machine xeon_platinum_8360y --metric power --vary platinum_8360y_idle,platinum_8360y_core_switched",
    ),
    (
        "how many repetitions explain two counts of bytes",
        r"printf 'n,bytes [GB]\n1e6,1.55\n2e6,3.25\n' | aspenpy fit stream - --vary repetitions",
    ),
    (
        "the same from runtimes, a whole number of them, and the model with it in a file",
        r"printf 'n,runtime [ms]\n1e6,62\n4e6,251\n'"
        " | aspenpy fit stream - --machine simple --vary repetitions:whole -o fitted.aspen",
    ),
)

OPTIONS = (
    MODEL,
    option(
        "data",
        "DATA",
        "measurements, a CSV file, or - for standard input: columns `runtime`, `runtime [ms]` or a resource (`flops`), "
        "`machine`, `socket`, and parameters",
    ),
    machine(required=False, why="; where no column `machine` says which"),
    *SETTINGS,
    option(
        "--vary",
        "NAME,...",
        "parameters to fit, of the application or the machine, with :whole behind those of whole values only (default: "
        "the application's that have a range and that the measurements determine)",
    ),
    repeated(
        "--column",
        "NAME=HEADER",
        "takes a column by another name, such as 'runtime [ms]=time/ms', and leaves out all that are not taken; may be "
        "repeated",
        dest="columns",
    ),
    choice(
        "--metric",
        METRIC_DIMENSIONS,
        "fits the column of that name, such as `power [W]`, as `energy` predicts it (default: runtime and amounts)",
    ),
    option("--confidence", "C", "of intervals (default: 0.95)", type=float, default=0.95),
    option(
        "-o --output",
        "FILE",
        "also writes the model with the fitted values in place: the application, or the machine where all are its",
    ),
    picture("the errors"),
    ALL_FORMATS,
    SEED,
)


def run(arguments: Arguments) -> int:
    case = case_of_arguments(arguments)
    varied = [name.partition(":whole") for name in words(arguments.vary)]
    for path in (arguments.output, arguments.picture):
        if path:
            require_writable(path)
    with Progress() as progress:
        fitted = fit(
            case,
            standard_input() if arguments.data == "-" else arguments.data,
            vary=[name + rest for name, _, rest in varied],
            integer=[name for name, whole, rest in varied if whole and not rest],
            metric=arguments.metric,
            columns=pairs("--column", "NAME=HEADER, such as n=size", arguments.columns),
            confidence=arguments.confidence,
            allow_outside=arguments.allow_outside,
            watch=lambda error: progress.say(f"fitting: root mean square of the errors {percent(error)}"),
        )
    if arguments.output:
        write_whole(arguments.output, fitted.to_aspen(arguments.output, allow_outside=arguments.allow_outside))
    return answer(fitted.report(), arguments, lambda: draw(fitted))
