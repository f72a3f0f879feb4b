"""Commands that generate what runs elsewhere: `mpi` a program in C, `page` a page for a browser."""

from __future__ import annotations

from aspenpy.generate.mpi import Skeleton
from aspenpy.language.files import require_writable, write_whole
from aspenpy.page.what_if import WhatIf
from aspenpy.shell.failure import CommandError
from aspenpy.shell.operands import case_of_arguments, machines_of
from aspenpy.shell.option import Arguments, choice, command, split_words
from aspenpy.shell.options import MODEL, OUTPUT, OUTSIDE, PAR, RANKS, SEED, SETTINGS, SOCKETS, VALUES, machine, machines
from aspenpy.shell.output import emit, report, report_written
from aspenpy.shell.study_options import FREE
from aspenpy.tables.numbers import count_of, format_count


@command(
    "mpi",
    "programs",
    "Generate an MPI program in C that sends the application's messages",
    options=(
        MODEL,
        machine(required=False, why=", for the names that the application leaves to it, and for --compute spin"),
        *SETTINGS,
        choice(
            "--compute",
            ("comment", "spin"),
            "what becomes of all that sends nothing: comments, or also waiting as long as it takes on the machine "
            "(default: comment)",
            default="comment",
        ),
        OUTPUT.adapt(": the program (default: it is shown)"),
        SEED,
    ),
    examples=(
        ("the messages of CoMD, in C", "aspenpy mpi comd"),
        ("into a file: mpicc -std=c99 jacobi.c -o jacobi -lm", "aspenpy mpi jacobi --output jacobi.c"),
        (
            "that waits where it would compute, as long as on a machine",
            "aspenpy mpi comd --machine haswell --compute spin --output comd.c",
        ),
    ),
)
def run_mpi(arguments: Arguments) -> int:
    spin = arguments.compute == "spin"
    if spin and not arguments.machine:
        raise CommandError("--compute spin needs a machine (--machine M): it says how long to wait")
    if arguments.output is not None:
        require_writable(arguments.output)
    skeleton = Skeleton(case_of_arguments(arguments), spin=spin)
    code = skeleton.code
    report(skeleton.diagnostics)
    if arguments.output is None:
        emit(code, end="")
        return 0
    write_whole(arguments.output, code)
    messages, volume = skeleton.totals
    sent = count_of(messages, "message")
    report_written(arguments.output, f"; in the model it sends {sent}, {format_count(volume)} bytes")
    return 0


@command(
    "page",
    "compare",
    "Write a page with sliders for a browser: runtime, energy, roofline and curves; works offline",
    options=(
        MODEL,
        machines(required=True, why=", up to four"),
        SOCKETS,
        *VALUES,
        FREE.adapt(
            ", each with a slider (default: the numbers that the runtime depends on, of the application and of each "
            "machine)"
        ),
        PAR,
        *RANKS,
        OUTPUT.adapt(": the page (default: what_if.html)", default="what_if.html"),
        OUTSIDE,
        SEED,
    ),
    examples=(
        ("sliders for all parameters", "aspenpy page stream --machine haswell -o what_if.html"),
        ("two machines side by side", "aspenpy page comd --machine haswell,cori_haswell -o comd.html"),
        (
            "some parameters only, the machine's clock among them",
            "aspenpy page comd --machine haswell --free nx,steps,haswell_clock -o comd.html",
        ),
        ("one machine twice, to change the second", "aspenpy page stream --machine haswell,haswell -o upgrade.html"),
    ),
)
def run_page(arguments: Arguments) -> int:
    require_writable(arguments.output)
    case = case_of_arguments(arguments)
    cases = [case.changed(machine=machine, socket=socket) for machine, socket in machines_of(arguments)]
    page = WhatIf(cases, split_words(arguments.free))
    report([*page.diagnostics, *filter(None, [page.too_large])])
    write_whole(arguments.output, page.html)
    report_written(arguments.output, f": {page.title}, {count_of(len(page.inputs), 'parameter')}")
    return 0
