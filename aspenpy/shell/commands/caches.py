"""Commands about caches: `traffic` predicts what goes through them, `rdd` reads it out of an address trace."""

from __future__ import annotations

import re
from pathlib import Path

from aspenpy.answers.prediction import predict
from aspenpy.answers.traffic import Traffic
from aspenpy.language.diagnostics import warning
from aspenpy.language.files import STANDARD_OUTPUT, require_writable
from aspenpy.report.traffic import draw_reuse, draw_traffic, report_reuse
from aspenpy.shell.failure import CommandError
from aspenpy.shell.operands import case_of_arguments
from aspenpy.shell.option import Arguments, choice, command, flag, option, repeatable_option
from aspenpy.shell.options import (
    ALL_FORMATS,
    MODEL,
    OUTPUT,
    OUTSIDE,
    PICTURE,
    RANKS,
    RESULTS,
    SEED,
    SOCKET,
    VALUES,
    machine,
)
from aspenpy.shell.output import deliver, report, report_written, save
from aspenpy.shell.progress import report_bytes_read
from aspenpy.traces.distances import ReuseDistances
from aspenpy.traces.measure import reuse_distances

ADDRESS = r"0[xX][0-9a-fA-F]+|\d{1,20}"
RANGE = re.compile(rf"([A-Za-z_]\w*)=({ADDRESS})-({ADDRESS})", re.ASCII)


@command(
    "rdd",
    "programs",
    "Compute reuse-distance histograms from an address trace",
    options=(
        option("trace", "TRACE", "an address trace, also compressed by gzip; - is standard input"),
        OUTPUT.adapt(': a CSV file for a model\'s `rdd("FILE")`'),
        option("--line", "BYTES", "the size of a cache line (default: 64)", type=int, default=64),
        choice("--trace-format", ("lackey", "binary", "dinero"), "of the trace (default: what it looks like)"),
        option("--kinds", "KINDS", "which references take part (default: loads,stores)"),
        option("--count", "KINDS", "which of these are counted (default: all)"),
        repeatable_option(
            "--region",
            "NAME=LOW-HIGH",
            "also counts those to the bytes from LOW up to HIGH, such as A=0x1000-0x2000; may be repeated",
            dest="ranges",
        ),
        option("--sampling-rate", "RATE", "looks at a part of the lines only, such as 0.01", type=float),
        choice("--bins", ("exact", "log"), "rows of the CSV file (default: exact)", default="exact"),
        ALL_FORMATS,
        PICTURE.adapt(": the histograms"),
    ),
    examples=(
        (
            "three references to two lines, in the format of Lackey",
            r"printf ' L 10,8\n S 80,8\n L 18,8\n' | aspenpy rdd -",
        ),
        ("in the format of Dinero, into a file for a model", r"printf '0 10\n1 80\n0 18\n' | aspenpy rdd - -o rdd.csv"),
        ("of one data structure", r"printf ' L 10,8\n S 80,8\n L 18,8\n' | aspenpy rdd - --region A=0x0-0x40"),
    ),
)
def run_rdd(arguments: Arguments) -> int:
    ranges = _read_ranges(arguments.ranges)
    files = _name_files(arguments.output, ranges)
    for path in files.values():
        require_writable(path)
    distances = reuse_distances(
        arguments.trace,
        line=arguments.line,
        trace_format=arguments.trace_format,
        kinds=_split_words(arguments.kinds),
        count=_split_words(arguments.count),
        ranges=ranges,
        sample=arguments.sampling_rate,
        progress=report_bytes_read,
    )
    written = [
        _write_part(part, files[name], arguments.bins)
        for name, part in {part.name: part for part in (distances, *distances.ranges.values())}.items()
        if name in files
    ]
    deliver(report_reuse(distances), arguments)
    for index, path in enumerate(path for path in written if path and arguments.format == "table"):
        report_written(path, before="" if index else "\n")
    if arguments.picture:
        save(arguments.picture, lambda: draw_reuse(distances))
    return 0


def _write_part(part: ReuseDistances, path: Path | str, bins: str) -> Path | str | None:
    """Writes the histogram of a part and returns where; None, with a message, if it holds nothing."""
    if not part.references:
        where = f"the range `{part.name}`" if part.name else f"`{part.source}`"
        report([warning("no-references", f"no reference to {where} is counted: `{path}` is not written")])
        return None
    part.write(path, "log" if bins == "log" else "exact")
    return path


def _name_files(output: str | None, ranges: dict[str, tuple[int, int]]) -> dict[str | None, Path | str]:
    """The file for the whole trace and, with its name in front of the suffix, that for each range."""
    if output is None:
        return {}
    if output == STANDARD_OUTPUT:
        if ranges:
            raise CommandError("--region: each range is a file of its own, and -o - is standard output")
        return {None: output}
    path = Path(output)
    return {None: path, **{name: path.with_name(f"{path.stem}.{name}{path.suffix}") for name in ranges}}


def _read_ranges(texts: list[str]) -> dict[str, tuple[int, int]]:
    ranges: dict[str, tuple[int, int]] = {}
    for text in texts:
        matched = RANGE.fullmatch(text)
        if matched is None:
            raise CommandError(f"--region: expected NAME=LOW-HIGH, such as A=0x1000-0x2000, not `{text}`")
        name, low, high = matched.groups()
        if name in ranges:
            raise CommandError(f"--region: there are two ranges `{name}`")
        ranges[name] = _read_address(low), _read_address(high)
    return ranges


def _read_address(text: str) -> int:
    return int(text, 16 if text[:2].lower() == "0x" else 10)


def _split_words(text: str | None) -> list[str] | None:
    return None if text is None else [word.strip() for word in text.split(",")]


@command(
    "traffic",
    "predict",
    "Predict traffic between caches and memory, and hit rates by access",
    options=(
        MODEL,
        machine(required=True),
        SOCKET,
        *VALUES,
        *RANKS,
        OUTSIDE,
        *RESULTS,
        PICTURE.adapt(": the bytes of each level"),
        SEED,
        flag("--simulate", "makes all references one by one in caches with sets and ways (wants a C compiler)"),
    ),
    examples=(
        ("hits and misses of a matrix product", "aspenpy traffic cache_mm_reg --machine cachegrind"),
        ("of one that fits into the first cache", "aspenpy traffic cache_mm_reg --machine haswell --set n=50"),
        (
            "near an edge of a cache: with both sides",
            "aspenpy traffic cache_transpose --machine cachegrind --set n=171",
        ),
        (
            "counted reference by reference",
            "aspenpy traffic cache_transpose --machine cachegrind --set n=171 --simulate",
        ),
        ("for a program", "aspenpy traffic cache_mm_reg --machine cachegrind --set n=160 --format json"),
    ),
)
def run_traffic(arguments: Arguments) -> int:
    traffic = Traffic(predict(case_of_arguments(arguments)), arguments.simulate or None)
    return deliver(traffic.report(), arguments, lambda: draw_traffic(traffic))
