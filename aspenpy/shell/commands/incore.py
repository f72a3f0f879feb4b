"""`aspenpy incore`: what a compiled loop takes in a core, by OSACA."""

from __future__ import annotations

from aspenpy.answers.incore import incore
from aspenpy.language.files import require_writable, write_whole
from aspenpy.shell.option import Arguments, Examples, option
from aspenpy.shell.options import ALL_FORMATS, OUTPUT
from aspenpy.shell.output import deliver, emit

LOOP = r".L1:\n vaddsd %%xmm1, %%xmm0, %%xmm0\n jne .L1\n"

EXAMPLES: Examples = (
    ("additions that wait for each other", f"printf '{LOOP}' | aspenpy incore - --arch skx"),
    (
        "some lines of assembly, as an application",
        f"printf '{LOOP}' | aspenpy incore - --arch zen3 --lines 1-3 -o sum.aspen",
    ),
)

OPTIONS = (
    option("assembly", "FILE", "assembly of x86 or AArch64, as `gcc -O3 -S` writes it; - is standard input"),
    option(
        "--arch",
        "NAME",
        "the core: snb ivb hsw bdw skx csx icl icx spr, zen1 to zen4, tx2 n1 a64fx tsv110 a72 m1 v2. The numbers are "
        "those of OSACA, a program of its own under the AGPL-3.0 that pip install 'aspenpy[incore]' brings",
        required=True,
    ),
    option("--lines", "FIRST-LAST", "the lines of the loop (default: those between OSACA's marks)"),
    OUTPUT.here(": the loop as an application, its flops by class, and its cycles as a chain"),
    ALL_FORMATS,
)


def run(arguments: Arguments) -> int:
    output = arguments.output
    if output is not None:
        require_writable(output)
    loop = incore(arguments.assembly, arguments.arch, arguments.lines)
    status = deliver(loop.report(), arguments)
    if output is None:
        return status
    write_whole(output, loop.to_aspen())
    if arguments.format == "table":
        emit(f"\n{output} is written")
    return status
