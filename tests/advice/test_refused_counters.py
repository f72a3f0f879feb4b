"""Counters that `aspenpy advise significance` refuses, or leaves out, each with exactly the report in the text file of
its name.

`pytest --update-pictures` writes the reports anew; whoever does that reads the difference: is each enough to mend the
line or the file?
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Runner, models, run

__all__ = ["models", "run"]

HERE = Path(__file__).parent / "rejected"
HEAD = "application,runtime [s],energy [J],instructions,cycles,L3,idle\n"
RUNS = [f"lulesh,{10 + row},{900 - row},{1000 + row**2},{500 + 7 * row % 5},{20 * row % 7},3\n" for row in range(1, 9)]

CASES: dict[str, tuple[str, tuple[str, ...]]] = {
    "all_constant": ("runtime,a,b\n" + "".join(f"{row},3,4\n" for row in range(1, 7)), ()),
    "other_application": (HEAD + "".join(RUNS).replace("lulesh", "hpl"), ()),
    "constant_columns": (HEAD + "".join(RUNS), ("--use", "idle,instructions")),
    "too_few_samples": (HEAD + "".join(RUNS[:3]), ()),
    "no_runtime": (HEAD.replace("runtime [s]", "waiting") + "".join(RUNS), ()),
    "no_counter": (HEAD + "".join(RUNS), ("--use", "instrutions")),
    "no_rows": (HEAD + "".join(RUNS), ("--where", "runtime > 100")),
    "not_significant": (
        "runtime,a,b\n" + "".join(f"{10 + row % 2},{row // 2 % 2},{row // 4}\n" for row in range(8)),
        (),
    ),
    "not_fuzzy": (HEAD + "".join(RUNS), ("--fuzziness", "1")),
    "use_of_nothing": ("", ("--use", "cycles")),
}
"""What stands in the file, and more of the line."""


@pytest.mark.parametrize("name", CASES)
def test_report_is_as_pictured(
    name: str, run: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, update_pictures: bool
) -> None:
    text, rest = CASES[name]
    monkeypatch.chdir(tmp_path)
    Path("counters.csv").write_text(text, encoding="utf-8")
    data = ("--counters", "counters.csv") if text else ()
    outcome = run("advise", "significance", "lulesh", "--machine", "haswell", *data, *rest)
    picture = HERE / f"{name}.txt"
    if update_pictures:
        picture.write_text(outcome.err, encoding="utf-8")
    assert outcome.status == 2
    assert outcome.err == picture.read_text(encoding="utf-8")
    assert len(outcome.err.split("\n")) < 10
