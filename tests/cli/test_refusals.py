"""Command lines that are refused, each with exactly the report in `refusals/reports.txt`.

`pytest --update-pictures` writes the reports anew; whoever does that reads the difference: is each report enough
for a user to mend the line?"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from aspenpy.shell.main import main

WITHOUT_EXTRA = re.compile(r"pip install '[^']++'")
"""What a refusal for a library that is not installed says."""

HERE = Path(__file__).parent / "refusals"
REPORTS = HERE / "reports.txt"
CASES = dict(re.findall(r"^\$ aspenpy (.*)\n((?:(?!\$ ).*\n)*)", REPORTS.read_text(encoding="utf-8"), re.MULTILINE))


@pytest.mark.parametrize("line", CASES)
def test_report_is_as_pictured(
    line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], update_pictures: bool
) -> None:
    monkeypatch.chdir(HERE)
    assert main(shlex.split(line)) == 2
    out, err = capsys.readouterr()
    assert out == ""
    if (missing := WITHOUT_EXTRA.search(err)) and missing[0] not in CASES[line]:
        pytest.skip(f"the line needs more than is installed: {missing[0]}")
    if update_pictures:
        CASES[line] = f"{err}\n"
        REPORTS.write_text("".join(f"$ aspenpy {asked}\n{report}" for asked, report in CASES.items()), encoding="utf-8")
    assert CASES[line] == f"{err}\n"
