"""Options of commands that take measured counters of an application."""

from __future__ import annotations

from aspenpy.advice.clusters import FUZZINESS
from aspenpy.advice.counter_evidence import CounterOptions
from aspenpy.language.files import measurements_path
from aspenpy.learn.measurements.measure import Target
from aspenpy.shell.failure import CommandError
from aspenpy.shell.option import Arguments, option, pairs, words
from aspenpy.shell.study_options import COLUMN, PRECISION

COUNTER_OPTIONS = (
    option(
        "--counters",
        "FILE",
        "significance and all steps: counters over several runs, in any form that `aspenpy measure --read` takes, with "
        "runtimes and, where they were measured, energies or powers",
    ),
    option("--where", "CONDITION", "of --counters: runs to use, such as 'threads <= 18' (default: all)"),
    option("--use", "NAME,...", "of --counters: columns to use (default: all that may be counters)"),
    COLUMN.here(" (of --counters)"),
    option(
        "--fuzziness",
        "M",
        f"of --counters: how far clusters overlap, above 1 (default: {FUZZINESS:g})",
        type=float,
        default=FUZZINESS,
    ),
    PRECISION.here(", that is narrow enough (of --counters)"),
)


def counting_of(arguments: Arguments) -> tuple[str | None, CounterOptions]:
    """The file of `--counters`, and how it is read."""
    if not 1 < arguments.fuzziness <= 100:
        raise CommandError(f"--fuzziness: expected a number above 1, not {arguments.fuzziness:g}")
    if not arguments.precision > 0:
        raise CommandError(f"--precision: expected a number above 0, not {arguments.precision:g}")
    if not arguments.counters:
        for name, given in (("where", arguments.where), ("use", arguments.use), ("column", arguments.columns)):
            if given:
                raise CommandError(f"--{name} chooses among --counters FILE")
        return None, CounterOptions(fuzziness=arguments.fuzziness)
    target = Target(precision=arguments.precision)
    columns = pairs("--column", "NAME=HEADER, such as runtime=time", arguments.columns)
    options = CounterOptions(tuple(words(arguments.use)), arguments.where, columns, arguments.fuzziness, target)
    return measurements_path(arguments.counters), options
