"""The page of the library's machines in numbers, made from the models: `python docs/machines_page.py` writes it anew,
with its picture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from aspenpy.answers.figures import Figures, figures_of
from aspenpy.language.dimensions import format_quantity
from aspenpy.models.library import find_source, library_names, load_machine
from aspenpy.models.machine.texts import STANDINGS, provenance, read_header
from aspenpy.tables.drawing import MARKED, MARKS, label_axis, set_title, use_shared_style

FILE = Path(__file__).parent / "models" / "machine_figures.md"
PICTURE = Path(__file__).parent / "pictures" / "machines.svg"
KINDS = {"cpu": "processors", "gpu": "accelerators", "system": "systems"}
START, END = "<!-- made from the models -->\n", "<!-- end -->\n"


class Row(NamedTuple):
    """A machine with its kind, the year of its first delivery, its figures, and how many numbers are known how."""

    name: str
    kind: str
    year: int
    figures: Figures
    known: Counter[str]


def rows() -> list[Row]:
    """The machines that can be bought or used, by kind, the newest first."""
    found = []
    for name in library_names("machines"):
        of = read_header(find_source("machines", name).text)
        if of.kind in KINDS and of.year is not None:
            machine = load_machine(name)
            known = Counter(origin.known for origin in provenance(machine))
            found.append(Row(name, of.kind, of.year, figures_of(machine), known))
    return sorted(found, key=lambda row: ([*KINDS].index(row.kind), -row.year, row.name))


def write_table(found: list[Row]) -> Iterator[str]:
    """The machines of each kind as a table."""
    for kind, title in KINDS.items():
        yield f"## {title.capitalize()}\n"
        yield f"| machine | year | double precision | bandwidth | full load | {' | '.join(STANDINGS)} |"
        yield "|---|---:|---:|---:|---:|---:|---:|---:|---:|"
        for row in found:
            if row.kind == kind:
                amounts = ((row.figures.flops, "flop/s"), (row.figures.bandwidth, "B/s"), (row.figures.watts, "W"))
                shown = (format_quantity(value, unit) if value else "" for value, unit in amounts)
                total = max(1, sum(row.known.values()))
                shares = (f"{row.known[standing] / total:.0%}" for standing in STANDINGS)
                yield f"| `{row.name}` | {row.year} | {' | '.join((*shown, *shares))} |"
        yield ""


def bytes_of_a_flop(row: Row) -> float:
    return (row.figures.bandwidth or 0) / (row.figures.flops or 1)


def watts_of_a_teraflop(row: Row) -> float:
    return 1e12 * (row.figures.watts or 0) / (row.figures.flops or 1)


PANELS = (
    ("Bandwidth of memory for each flop/s", "B", bytes_of_a_flop),
    ("Power for each Tflop/s, double precision", "W", watts_of_a_teraflop),
)
NAMED = {"a64fx", "xeon_max_9480", "h200", "mi300x", "epyc_9755", "gb300", "xeon_x5660"}
"""Machines that the picture names."""


@use_shared_style
def draw(found: list[Row], file: Path) -> None:
    """Both ratios of processors and accelerators by year."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.8), layout="constrained")
    for axes, (title, unit, ratio) in zip(figure.subplots(1, 2), PANELS, strict=True):
        draw_panel(axes, [row for row in found if row.kind != "system" and row.year >= 2010], ratio)
        label_axis(axes.yaxis, unit)
        set_title(axes, title)
    figure.savefig(file, metadata={"Date": None})


def draw_panel(axes: Any, found: list[Row], ratio: Any) -> None:
    for (kind, title), colour, mark in zip(KINDS.items(), MARKED, MARKS, strict=False):
        shown = [(row.year, ratio(row), row.name) for row in found if row.kind == kind and ratio(row) > 0]
        if shown:
            axes.scatter(*zip(*((x, y) for x, y, _ in shown), strict=True), s=14, c=colour, marker=mark, label=title)
        for x, y, name in shown:
            if name in NAMED:
                axes.annotate(name, (x, y), xytext=(4, 3), textcoords="offset points", fontsize=7)
    axes.set_yscale("log")
    axes.set_xlim(2009, 2029)  # names stand beside the last years
    axes.set_xticks(range(2010, 2026, 5))
    axes.legend(loc="lower left")


def page(text: str, found: list[Row]) -> str:
    """The page with the generated part anew."""
    before, _, rest = text.partition(START)
    after = rest.partition(END)[2]
    return before + START + "\n".join(write_table(found)) + END + after


if __name__ == "__main__":
    machines = rows()
    FILE.write_text(page(FILE.read_text(encoding="utf-8"), machines), encoding="utf-8")
    draw(machines, PICTURE)
