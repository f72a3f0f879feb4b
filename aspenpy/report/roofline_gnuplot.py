"""A Roofline as a script for gnuplot (5 or later), data included."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from aspenpy.answers.roofline import Roofline
from aspenpy.answers.roofline_points import Point
from aspenpy.report.roofline import heading
from aspenpy.report.roofline_picture import (
    COLOURS,
    levels,
    named_levels,
    roofs_of,
    shown_levels,
    shown_points,
    slopes,
    window,
)

OF_MEMORY = "linecolor rgb 'black' linewidth 2"
OF_CACHES = tuple(f"linecolor rgb '#888888' linewidth 2 dashtype {dashes}" for dashes in (2, 4, 5))
OF_SHEETS = "linecolor rgb 'black' linewidth 1 dashtype 3"
"""How the roofs of memories, of caches, and of data sheets where memories attain less, are drawn."""

LEVEL_MARKS = (9, 5, 11, 13, 15)  # types of filled points: triangle, square, triangle, diamond, pentagon

HEAD = """\
# {heading}. Draw it: gnuplot {script}
set terminal svg size 1000,620 noenhanced font "sans,12"
set output {picture}
set title {title}
set logscale xy
set xrange [{seen.left:.6g}:{seen.right:.6g}]
set yrange [{seen.bottom:.6g}:{seen.top:.6g}]
set xlabel "operational intensity (flop/B)"
set ylabel "flop/s"
set format y "%.0s %cflop/s"
set key outside right top
set grid
least(a, b) = a < b ? a : b
"""


def script(roofline: Roofline, path: str) -> str:
    """The text of the file `path`; it draws an SVG beside the folder it is run in, under the same name."""
    points = shown_points(roofline)
    roofs = roofs_of(roofline)
    seen = window(roofs, points)
    lines = levels(roofs.compute)
    fastest = max((memory.rate for memory in roofs.bandwidths), default=None)
    picture = quote(Path(path).with_suffix(".svg").name)
    title = heading(roofline)
    parts = [HEAD.format(heading=title, script=Path(path).name, picture=picture, title=quote(title), seen=seen)]
    if points:
        parts.append("# flop/B, predicted flop/s, flop/s of the roof of what runs, number, name\n$points << END\n")
        parts += [
            f'{point.place:.10g} {point.predicted:.10g} {point.attainable:.10g} {number} "{point.name}"\n'
            for number, point in enumerate(points, 1)
        ]
        parts.append("END\n")
    parts += group_by_level(points)
    curves = [
        f"{_roof(level.rate, fastest)} title {quote(level.text)} linecolor rgb {quote(COLOURS[level.precision])}"
        for level in reversed(lines)
    ]
    highest = lines[-1].rate
    memories = {memory.rate for memory in roofs.memory}
    curves += [
        f"{_roof(highest, rate)} title {quote(names)} {OF_MEMORY if rate in memories else OF_CACHES[number % 3]}"
        for number, (rate, names) in enumerate(slopes(roofs, roofline).items())
    ]
    sheets = dict.fromkeys(memory.peak for memory in roofs.memory if memory.peak is not None)
    curves += [f"{_roof(highest, peak)} title 'data sheet' {OF_SHEETS}" for peak in sheets]
    if points:
        curves += [
            "$points using 1:3 with points pointtype 6 linecolor rgb 'black' title 'roof of what runs'",
            "$points using 1:2 with points pointtype 7 linecolor rgb 'black' title 'predicted'",
            "$points using 1:2:4 with labels offset 0,-0.8 font ',9' notitle",
            *_level_marks(named_levels(points)),
            *(f"NaN with dots title {quote(f'{number}  {point.name}')}" for number, point in enumerate(points, 1)),
        ]
    return "".join(parts) + "plot " + ", \\\n     ".join(curves) + "\n"


def group_by_level(points: Sequence[Point]) -> list[str]:
    """The marks of each point at the levels of memory, between empty lines."""
    stretches = [
        "".join(
            f'{level.intensity:.10g} {point.predicted:.10g} {point.levels.index(level)} "{level.level}"\n'
            for level in shown_levels(point)
        )
        for point in points
    ]
    written = "\n\n".join(filter(None, stretches))
    return [f"# flop/B, predicted flop/s, number and name of the level\n$levels << END\n{written}END\n"] * bool(written)


def _level_marks(names: Sequence[str]) -> list[str]:
    """A mark a level, and the line that joins those of a point."""
    if not names:
        return []
    marks = [
        f"$levels using ($3 == {number} ? $1 : NaN):2 with points pointtype {LEVEL_MARKS[number % len(LEVEL_MARKS)]}"
        f" linecolor rgb 'black' title {quote(f'at {name}')}"
        for number, name in enumerate(names)
    ]
    return ["$levels using 1:2 with lines linecolor rgb 'black' notitle", *marks]


def _roof(rate: float, bandwidth: float | None) -> str:
    return f"{rate:.10g}" if bandwidth is None else f"least({rate:.10g}, {bandwidth:.10g}*x)"


def quote(text: str) -> str:
    """Between single quotes, in which gnuplot knows no escape but the quote twice."""
    return "'" + text.replace("'", "''") + "'"
