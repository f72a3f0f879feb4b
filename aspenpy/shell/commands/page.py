"""`aspenpy page`: write a page for a browser on which a reader changes parameters and sees what follows."""

from __future__ import annotations

from aspenpy.language.files import require_writable, write_whole
from aspenpy.page.what_if import WhatIf
from aspenpy.shell.entry import case_of_arguments, machines_of
from aspenpy.shell.option import Arguments, Examples, words
from aspenpy.shell.options import MODEL, OUTPUT, OUTSIDE, PAR, RANKS, SEED, SOCKETS, VALUES, machines
from aspenpy.shell.output import emit, report
from aspenpy.shell.study_options import FREE
from aspenpy.tables.numbers import counted

EXAMPLES: Examples = (
    ("sliders for all parameters", "aspenpy page stream --machine haswell -o what_if.html"),
    ("two machines side by side", "aspenpy page comd --machine haswell,cori_haswell -o comd.html"),
    (
        "some parameters only, the machine's clock among them",
        "aspenpy page comd --machine haswell --free nx,steps,haswell_clock -o comd.html",
    ),
    ("one machine twice, to change the second", "aspenpy page stream --machine haswell,haswell -o upgrade.html"),
)

OPTIONS = (
    MODEL,
    machines(required=True, why=", up to four"),
    SOCKETS,
    *VALUES,
    FREE.here(
        ", each with a slider (default: the numbers that the runtime depends on, of the application and of each "
        "machine)"
    ),
    PAR,
    *RANKS,
    OUTPUT.here(": the page (default: what_if.html)", default="what_if.html"),
    OUTSIDE,
    SEED,
)


def run(arguments: Arguments) -> int:
    require_writable(arguments.output)
    case = case_of_arguments(arguments)
    cases = [case.changed(machine=machine, socket=socket) for machine, socket in machines_of(arguments)]
    page = WhatIf(cases, words(arguments.free))
    report([*page.diagnostics, *filter(None, [page.too_large])])
    write_whole(arguments.output, page.html)
    emit(f"{arguments.output} is written: {page.title}, {counted(len(page.inputs), 'parameter')}")
    return 0
