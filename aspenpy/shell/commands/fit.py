"""The command `aspenpy fit`."""

from __future__ import annotations

import os

from aspenpy.language.files import require_writable, write_whole
from aspenpy.learn.fitting.fit import fit
from aspenpy.learn.fitting.measurements import METRIC_DIMENSIONS
from aspenpy.report.fit import draw, three_digits
from aspenpy.shell.failure import CommandError
from aspenpy.shell.operands import case_of_arguments, standard_input
from aspenpy.shell.option import Arguments, Examples, command, option, split_pairs, split_words
from aspenpy.shell.options import ALL_FORMATS, MAP, METRIC, MODEL, OUTPUT, PICTURE, PROFILE, SEED, SETTINGS, machine
from aspenpy.shell.output import deliver
from aspenpy.shell.progress import report_activity
from aspenpy.shell.study_options import COLUMN, CONFIDENCE, VARY

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
    (
        "a bandwidth from the times of two kernels in a profile",
        r"printf 'kernel,time [ms]\nloop,300\nscale,160\n' > times.csv; "
        "aspenpy fit stream --profile times.csv --machine simple --vary simple_bandwidth --map loop=triad",
    ),
)

OPTIONS = (
    MODEL,
    option(
        "data",
        "DATA",
        "measurements, a CSV file, or - for standard input: columns `runtime`, `runtime [ms]` or a resource (`flops`), "
        "`machine`, `socket`, and parameters; or --profile",
        nargs="?",
    ),
    PROFILE.adapt("; the times of its kernels are fitted"),
    MAP,
    machine(required=False, why="; where no column `machine` says which"),
    *SETTINGS,
    VARY.adapt(
        ": parameters to fit, of the application or the machine, with :whole behind those of whole values only "
        "(default: the application's that have a range and that the measurements determine)"
    ),
    COLUMN,
    METRIC.adapt("; here the column to fit, such as `power [W]` (default: runtime and amounts)"),
    CONFIDENCE,
    OUTPUT.adapt(": the model with the fitted values in place, the application, or the machine where all are its"),
    PICTURE.adapt(": the errors"),
    ALL_FORMATS,
    SEED,
)


@command("fit", "measure", "Calibrate parameters to measurements", OPTIONS, EXAMPLES)
def run_fit(arguments: Arguments) -> int:
    case = case_of_arguments(arguments)
    if arguments.metric not in (None, *METRIC_DIMENSIONS):
        raise CommandError(f"--metric: expected one of {', '.join(METRIC_DIMENSIONS)}, not `{arguments.metric}`")
    varied = [name.partition(":whole") for text in arguments.vary for name in split_words(text)]
    for path in (arguments.output, arguments.picture):
        if path:
            require_writable(path)
    if (arguments.data is None) == (arguments.profile is None):
        raise CommandError("fit takes DATA, or --profile FILE of a run")
    if arguments.profile is not None and not arguments.machine:
        raise CommandError("--profile is of a run on a machine: name it with --machine")
    if arguments.profile is not None and (arguments.metric or arguments.columns):
        raise CommandError("--profile has times alone: --metric and --column choose from DATA")
    if arguments.map and arguments.profile is None:
        raise CommandError("--map names the kernels of a --profile")
    regions = split_pairs("--map", "REGION=KERNEL, such as triad_loop=triad", arguments.map)
    fitted = fit(
        case,
        arguments.profile or (standard_input() if arguments.data == "-" else arguments.data),
        vary=[name + rest for name, _, rest in varied],
        integer=[name for name, whole, rest in varied if whole and not rest],
        metric=arguments.metric,
        columns=split_pairs("--column", "NAME=HEADER, such as n=size", arguments.columns),
        confidence=arguments.confidence,
        allow_outside=arguments.allow_outside,
        regions=None if arguments.profile is None else regions,
        watch=lambda error: report_activity(f"fitting: root mean square of the errors {three_digits(error)}"),
    )
    if arguments.output:
        data = "standard input" if arguments.data == "-" else os.path.basename(arguments.profile or arguments.data)
        text = fitted.to_aspen(arguments.output, data=data, allow_outside=arguments.allow_outside)
        write_whole(arguments.output, text)
    return deliver(fitted.report(), arguments, lambda: draw(fitted))
