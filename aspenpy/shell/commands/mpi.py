"""`aspenpy mpi`: generate an MPI program in C that sends the application's messages."""

from __future__ import annotations

from aspenpy.generate.mpi import Skeleton
from aspenpy.language.files import require_writable, write_whole
from aspenpy.shell.entry import case_of_arguments
from aspenpy.shell.failure import CommandError
from aspenpy.shell.option import Arguments, Examples, choice
from aspenpy.shell.options import MODEL, OUTPUT, SEED, SETTINGS, machine
from aspenpy.shell.output import emit, report
from aspenpy.tables.numbers import count, counted

EXAMPLES: Examples = (
    ("the messages of CoMD, in C", "aspenpy mpi comd"),
    ("into a file: mpicc -std=c99 jacobi.c -o jacobi -lm", "aspenpy mpi jacobi --output jacobi.c"),
    (
        "that waits where it would compute, as long as on a machine",
        "aspenpy mpi comd --machine haswell --compute spin --output comd.c",
    ),
)

OPTIONS = (
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
    OUTPUT.here(": the program (default: it is shown)"),
    SEED,
)


def run(arguments: Arguments) -> int:
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
    sent = counted(messages, "message")
    emit(f"{arguments.output} is written; in the model it sends {sent}, {count(volume)} bytes")
    return 0
