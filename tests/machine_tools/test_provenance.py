"""Where the numbers of a machine are from."""

import json
from pathlib import Path

import pytest

from aspenpy.models.machine.texts import provenance, standing_of
from tests.cli.conftest import Runner, models, run
from tests.tiny import machine

__all__ = ["models", "run"]

TEXT = """\
// m: a machine.
param a = 1  // the data sheet

// A book,
// page 3.
param b = 2

param c = 3
machine M {
  node [4] N  // counted
}

// Of the component.
node N {
  property bulk [a + b]
  property line [64 B]  // measured
  static power [2 W]
}
"""


def test_comments_behind_above_and_of_the_component() -> None:
    found = [(item.name, item.written, item.comment, item.span.position().line) for item in provenance(machine(TEXT))]
    assert found == [
        ("a", "1", "the data sheet", 2),
        ("b", "2", "A book, page 3.", 6),
        ("M.N", "4", "counted", 10),
        ("N.bulk", "a + b", "Of the component.", 15),
        ("N.line", "64 B", "measured", 16),
        ("N.static power", "2 W", "Of the component.", 17),
    ]


def test_what_a_file_begins_with_is_about_the_file() -> None:
    assert provenance(machine("// m: a machine.\nparam a = 1\nmachine M { node N }\nnode N { static power [a] }")) == []


def test_show(run: Runner, models: Path) -> None:
    (models / "about.aspen").write_text(TEXT, encoding="utf-8")
    shown = run("show", "about.aspen").out
    rows = [line.split() for line in shown[shown.index("\nsources\n") :].splitlines()[4:]]
    assert rows[1] == ["b", "2", "published", "about.aspen:6", "A", "book,", "page", "3."]
    assert rows[3] == ["N.bulk", "a", "+", "b", "published", "about.aspen:15", "Of", "the", "component."]
    assert shown.endswith("\n\nof 6 numbers 1 measured, 5 published\n")
    found = json.loads(run("show", "about.aspen", "--format", "json").out)["sources"]
    place = {"file": "about.aspen", "line": 2, "comment": "the data sheet"}
    assert found[0] == {"name": "a", "written": "1", "known": "published", **place}


@pytest.mark.parametrize(
    ("comment", "known"),
    [
        ("NVIDIA's data sheet", "published"),
        ("measured: two sockets, Chips and Cheese", "measured"),
        ("STREAM triad, 307 GB/s at least", "measured"),
        ("published: STREAM triad that the vendor expects", "published"),
        ("derived: 12 channels x 4.8 GT/s x 8 B", "derived"),
        ("12 x 4800 MT/s x 8 B", "derived"),
        ("thermal design power, less the idle power", "derived"),
        ("recalled", "assumed"),
        ("of the node; assumed: as the last one, which was measured", "assumed"),
        ("58.3 Tflop/s, cuBLAS", "measured"),
    ],
)
def test_how_a_number_is_known(comment: str, known: str) -> None:
    assert standing_of(comment) == known


def test_each_number_has_its_part_of_the_comment_of_a_component() -> None:
    above = "// Capacity: the data sheet; ways and line: assumed; bandwidth: gpu-benches.\n"
    values = {"capacity": "1 KiB", "associativity": "2", "cacheline": "64 B", "bandwidth": "1 GB/s"}
    inside = "".join(f"  property {name} [{value}]\n" for name, value in values.items())
    found = provenance(machine(f"machine M {{ cache c }}\n{above}cache c {{\n{inside}}}"))
    assert [item.known for item in found] == ["published", "assumed", "assumed", "measured"]


def test_a_comment_is_said_once(run: Runner, models: Path) -> None:
    numbers = "  property capacity [1 GB]\n  property latency [1 us]\n"
    text = f"machine M {{ memory D }}\n// Both: a book.\nmemory D {{\n{numbers}}}\n"
    (models / "once.aspen").write_text(text, encoding="utf-8")
    *_, first, second, _, _ = run("show", "once.aspen").out.splitlines()
    assert first.split()[-3:] == ["Both:", "a", "book."]
    assert second.split()[-2:] == ["as", "above"]


def test_included_files_are_named(run: Runner) -> None:
    found = json.loads(run("show", "haswell", "--format", "json").out)["sources"]
    (clock,) = (item for item in found if item["name"] == "haswell_clock")
    path = Path(clock["file"])
    assert path.name == "intel_xeon_haswell.aspen"
    assert "haswell_clock = 3.5 GHz" in path.read_text(encoding="utf-8").splitlines()[clock["line"] - 1]
