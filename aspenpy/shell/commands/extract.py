"""Commands that make models of programs: `extract` from their source, `incore` from the assembly of a loop, `import`
from a network's graph."""

from __future__ import annotations

import os
import shlex

from aspenpy.answers.incore import incore
from aspenpy.assembly.compiling import NATIVE, Recipe, find_compiler
from aspenpy.assembly.mca import find_simulator
from aspenpy.extract.compile_options import level_of_flags, program_of_command, read_compile_options
from aspenpy.extract.device_functions import warp_option
from aspenpy.extract.exported_program import read_graph
from aspenpy.extract.extraction import extract
from aspenpy.extract.model_runs import ProgramRun
from aspenpy.extract.records import CUDA
from aspenpy.language.diagnostics import Diagnostic, fail
from aspenpy.language.files import require_writable, write_whole
from aspenpy.language.source import Span
from aspenpy.shell.failure import CommandError
from aspenpy.shell.operands import axes_of
from aspenpy.shell.option import Arguments, Examples, choice, command, flag, option, repeatable_option
from aspenpy.shell.options import ALL_FORMATS, OUTPUT
from aspenpy.shell.output import DEFAULT_FORMAT, complain_in_lines, deliver, emit, report, report_written, show_source
from aspenpy.shell.study_options import COMPILER, FLAGS, LEVEL, LINK, OVER, RUN
from aspenpy.sweeps.grid import axis_values

MOST_SHOWN = 30
"""Warnings that are shown."""

EXAMPLES: Examples = (
    (
        "the model of a loop",
        "printf 'void f(int n, double *x) { for (int i = 0; i < n; i++) x[i] *= 2; }' > f.c; "
        "aspenpy extract f.c --as source",
    ),
    (
        "into a file, with loads and stores of a loop that is vectorised",
        "echo 'double x[100]; void g(void) { for (int i = 0; i < 100; i++) x[i] += 1; }' > g.c; "
        "aspenpy extract g.c --as o3 -o g.aspen",
    ),
    (
        "how often a loop passes that the source does not say, counted in three runs",
        "printf '#include <stdlib.h>\\nint main(int c, char **v) { int n = atoi(v[1]); while (n > 1) n /= 2; "
        "return 0; }\\n' > h.c; aspenpy extract h.c --as source --integers --run './a.out {n}' --over n=16,256,4096",
    ),
)

OPTIONS = (
    option(
        "sources",
        "FILE",
        "files of C, C++ or Fortran, a folder of them, or compile_commands.json, whose flags each file has",
        nargs="+",
    ),
    OUTPUT.adapt(": the model (default: it is shown)"),
    LEVEL.adapt(
        " (default: as the program is compiled, by --compile, compile_commands.json, the program of --run (-g), or "
        "with -O2, where gcc and llvm-mca are installed; else source)"
    ),
    repeatable_option(
        "--function",
        "NAME",
        "models this function and what it calls (default: main, or all); may be repeated",
        dest="functions",
    ),
    *FLAGS,
    option(
        "--compile",
        "COMMAND",
        "the compiler and its options, such as 'gcc -O3 -march=native': takes the program as built, with the cycles "
        "of its loops by llvm-mca where that is installed",
    ),
    option(
        "--processor",
        "NAME",
        "compiles for another processor, and takes its cycles: a name that the compiler knows behind -march, and LLVM "
        "behind -mcpu, such as skylake-avx512 (default: that of this host)",
    ),
    option("--std", "NAME", "the standard, such as c99 or c++20"),
    choice("--warp", ("32", "64"), "threads of a warp (default: 64 for .hip and --offload-arch=gfx9..., else 32)"),
    flag("--chains", "adds chains of operations that wait for each other; not every machine has a resource for them"),
    flag("--integers", "adds operations on whole numbers as the resource intops"),
    RUN.adapt("; how often its lines ran is filled in"),
    OVER.adapt(", with --run: counts are fitted over these sizes; a NAME without braces in the command is a macro"),
    flag("--single-run", "with --run: makes no runs at smaller sizes of the command beside the one that is asked for"),
    LINK.adapt("; with --run"),
    COMPILER.adapt("; with --run"),
    choice(
        "--counts",
        ("gcov", "lackey"),
        "with --run: lines counted by gcov (the default), or by Valgrind from each instruction, which is slow",
        default="gcov",
    ),
    flag("--allow-failure", "with --run: counts runs that end with an error, too"),
    ALL_FORMATS,
)


def _read_runs(arguments: Arguments) -> ProgramRun | None:
    """The command that the user gave, at the sizes of --over."""
    if arguments.run is None:
        for name in ("over", "links", "compiler", "allow_failure", "single_run"):
            if getattr(arguments, name):
                raise CommandError(f"--{name.rstrip('s').replace('_', '-')} belongs to --run COMMAND")
        return None
    over, links = list_sizes(arguments), tuple(f"-l{name}" for name in arguments.links)
    return ProgramRun(
        arguments.run,
        over,
        links,
        compiler=arguments.compiler,
        counts=arguments.counts,
        allow_failure=arguments.allow_failure,
        smaller=not arguments.single_run,
    )


def list_sizes(arguments: Arguments) -> dict[str, list[float]]:
    """The sizes of --over, whole numbers unless they are `:real`."""
    over = {}
    for axis in axes_of(arguments.over).values():
        whole = axis if axis.whole is not None or axis.items else axis.replace(whole=True)
        over[axis.name] = [float(value) for value in axis_values(whole, _refuse_expression, lambda name: None)]
    return over


def _refuse_expression(span: Span) -> float:
    fail("bad-axis", f"`{span.text()}` is no number", span, hint="write NAME=LOW..HIGH:log:5 or NAME=1,2,4")


def _find_usual_recipe(source: str, run: str | None) -> Recipe | None:
    if os.path.splitext(source)[1] in CUDA:
        return None  # what a device does is not in what gcc compiles
    program = program_of_command(run)
    stated = read_compile_options(source, program)
    usual = Recipe(stated.options or ("-O2",))
    missing = [] if find_simulator() is not None else ["llvm-mca"]
    missing += [] if find_compiler(usual, source) is not None else [usual.command(source)[0]]
    if missing:
        message = f"the program is taken as its source says it: {' and '.join(missing)} not installed"
        report([Diagnostic("level", message, hint="--as names a level", severity="note")])
    elif program and stated.said_by.endswith(program):
        message = f"extracted with --as {stated.level}: {stated.said_by}"
        report([Diagnostic("level", message, hint="--compile names others", severity="note")])
    return None if missing else usual


def _read_recipe(arguments: Arguments) -> Recipe | None:
    """The compilation of the program: as the user says; else as compile_commands.json or the program of --run does, or
    with -O2, where a compiler and llvm-mca are installed and no level is named."""
    if arguments.compile is None and arguments.processor is None:
        return _find_usual_recipe(arguments.sources[0], arguments.run) if arguments.level is None else None
    command = arguments.compile or "gcc -O2"
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise CommandError(f"--compile {command!r} is no command: {str(error).lower()}") from None
    if not words:
        raise CommandError("--compile: there is no command, such as 'gcc -O3'")
    return Recipe(tuple(words[1:]), words[0], arguments.processor or NATIVE)


@command("extract", "programs", "Write the model of a program in C, C++, CUDA or Fortran", OPTIONS, EXAMPLES)
def run_extract(arguments: Arguments) -> int:
    if arguments.output is not None:
        require_writable(arguments.output)
    flags = (
        *(f"-I{folder}" for folder in arguments.folders),
        *(f"-D{macro}" for macro in arguments.macros),
        *([f"-std={arguments.std}"] if arguments.std else []),
        *([warp_option(int(arguments.warp))] if arguments.warp else []),
    )
    recipe = _read_recipe(arguments)
    extraction = extract(
        arguments.sources,
        level=arguments.level or level_of_flags(() if recipe is None else recipe.options) or "source",
        functions=tuple(arguments.functions),
        flags=flags,
        chains=arguments.chains,
        integers=arguments.integers,
        run=_read_runs(arguments),
        recipe=recipe,
    )
    if arguments.output is not None:
        write_whole(arguments.output, extraction.text)
    if arguments.format != DEFAULT_FORMAT:
        return deliver(extraction.report(), arguments)
    report(extraction.diagnostics[:MOST_SHOWN])
    if len(extraction.diagnostics) > MOST_SHOWN:
        complain_in_lines(f"and {len(extraction.diagnostics) - MOST_SHOWN} more; --format json has all")
    if arguments.output is None:
        show_source(extraction.text)
    else:
        report_written(arguments.output)
        if extraction.reconciliation is not None:
            emit(extraction.reconciliation.summary())
        if extraction.left():
            emit(f"open parameters: {extraction.summary()}")
    return 0


LOOP = r".L1:\n vaddsd %%xmm1, %%xmm0, %%xmm0\n jne .L1\n"


@command(
    "incore",
    "programs",
    "Measure a compiled loop with OSACA: cycles by port and by dependence, as a requirement",
    options=(
        option("assembly", "FILE", "assembly of x86 or AArch64, as `gcc -O3 -S` writes it; - is standard input"),
        option(
            "--arch",
            "NAME",
            "the core: snb ivb hsw bdw skx csx icl icx spr, zen1 to zen4, tx2 n1 a64fx tsv110 a72 m1 v2. The numbers "
            "are those of OSACA, a program of its own under the AGPL-3.0 that pip install 'aspenpy[incore]' brings",
            required=True,
        ),
        option("--lines", "FIRST-LAST", "the lines of the loop (default: those between OSACA's marks)"),
        OUTPUT.adapt(": the loop as an application, its flops by class, and its cycles as a chain"),
        ALL_FORMATS,
    ),
    examples=(
        ("additions that wait for each other", f"printf '{LOOP}' | aspenpy incore - --arch skx"),
        (
            "some lines of assembly, as an application",
            f"printf '{LOOP}' | aspenpy incore - --arch zen3 --lines 1-3 -o sum.aspen",
        ),
    ),
)
def run_incore(arguments: Arguments) -> int:
    output = arguments.output
    if output is not None:
        require_writable(output)
    loop = incore(arguments.assembly, arguments.arch, arguments.lines)
    status = deliver(loop.report(), arguments)
    if output is None:
        return status
    write_whole(output, loop.to_aspen())
    if arguments.format == "table":
        report_written(output, before="\n")
    return status


GRAPH = (
    '<ir_version: 8, opset_import: ["" : 17]> layer (float[n,64] x, float[64,10] w) => (float[n,10] y) '
    "{ h = MatMul(x, w) y = Relu(h) }"
)


@command(
    "import",
    "programs",
    "Write the model of a network in ONNX, or exported from PyTorch: a kernel for each operator",
    options=(
        option("network", "FILE", "a network in ONNX, its text (- reads it), or one of torch.export (.pt2)"),
        OUTPUT.adapt(": the model (default: it is shown)"),
    ),
    examples=(
        ("the model of a layer", f"echo '{GRAPH}' | aspenpy import -"),
        ("into a file", f"echo '{GRAPH}' | aspenpy import - -o layer.aspen"),
    ),
)
def run_import(arguments: Arguments) -> int:
    if arguments.output is not None:
        require_writable(arguments.output)
    network = read_graph(arguments.network)
    report(network.diagnostics)
    if arguments.output is None:
        show_source(network.text)
        return 0
    write_whole(arguments.output, network.text)
    report_written(arguments.output)
    emit(f"{network.operators} operators; parameters that the file leaves open: {', '.join(network.open) or 'none'}")
    return 0
