"""`aspenpy extract`: write the application model of a program in C or C++."""

from __future__ import annotations

from pathlib import Path

from aspenpy.extract.extraction import extract
from aspenpy.shell.commands.fmt import replace
from aspenpy.shell.option import Arguments, Examples, choice, flag, option, repeated
from aspenpy.shell.options import TABLE_OR_JSON
from aspenpy.shell.output import answer, complain_in_lines, emit, report, show_source

MOST_SHOWN = 30
"""Warnings that are shown."""

EXAMPLES: Examples = (
    (
        "the model of a loop",
        "printf 'void f(int n, double *x) { for (int i = 0; i < n; i++) x[i] *= 2; }' > f.c; aspenpy extract f.c",
    ),
    (
        "into a file, with loads and stores as behind the checks of a vectorised loop",
        "echo 'double x[100]; void g(void) { for (int i = 0; i < 100; i++) x[i] += 1; }' > g.c; "
        "aspenpy extract g.c --level o3 -o g.aspen",
    ),
)

OPTIONS = (
    option("source", "FILE", "a file of C or C++, told apart by their names"),
    option("-o --output", "FILE", "where the model is written to (default: shown)"),
    choice(
        "--level",
        ("source", "o3"),
        "which loads and stores count: source: a value that nothing may have changed since is in a register; o3: the "
        "same, where different names are apart (default: source)",
        default="source",
    ),
    repeated(
        "--function",
        "NAME",
        "models this function and what it calls (default: main, or all); may be repeated",
        dest="functions",
    ),
    repeated("-I", "FOLDER", "where headers are; may be repeated", dest="folders"),
    repeated("-D", "NAME=VALUE", "defines a macro; may be repeated", dest="macros"),
    option("--std", "NAME", "the standard, such as c99 or c++20"),
    flag("--chains", "adds chains of operations that wait for each other; not every machine has a resource for them"),
    flag("--integers", "adds operations on whole numbers as the resource intops"),
    TABLE_OR_JSON,
)


def run(arguments: Arguments) -> int:
    flags = (
        *(f"-I{folder}" for folder in arguments.folders),
        *(f"-D{macro}" for macro in arguments.macros),
        *([f"-std={arguments.std}"] if arguments.std else []),
    )
    found = extract(
        arguments.source,
        level=arguments.level,
        functions=tuple(arguments.functions),
        flags=flags,
        chains=arguments.chains,
        integers=arguments.integers,
    )
    if arguments.output is not None:
        replace(Path(arguments.output), found.text)
    if arguments.format == "json":
        return answer(found.report(), arguments)
    report(found.diagnostics[:MOST_SHOWN])
    if len(found.diagnostics) > MOST_SHOWN:
        complain_in_lines(f"and {len(found.diagnostics) - MOST_SHOWN} more; --format json has all")
    if arguments.output is None:
        show_source(found.text)
    else:
        emit(f"{arguments.output} is written")
    return 0
