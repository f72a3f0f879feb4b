"""Numbers of options at the ends of what they may be: the last that is refused, the first that is accepted."""

from __future__ import annotations

from argparse import ArgumentTypeError
from pathlib import Path

import pytest

from aspenpy.shell.commands.ranks import ranks_in
from aspenpy.shell.commands.sweep import _parse_memory_size
from aspenpy.shell.failure import CommandError
from aspenpy.shell.main import main
from aspenpy.shell.option import positive
from tests.cli.conftest import AXPY, CLUSTER

POWERED = CLUSTER.replace("static power [10 W]", "static power [10 W]\n  dynamic power [120 W]")
ADVISE = "advise classify none --machine none --threshold"
COUNTED = "advise significance axpy.aspen --machine cluster.aspen --counters none"
THROTTLE = "advise throttle axpy.aspen --machine cluster.aspen"
LEARN = "empirical cos fit none --confidence"
MEASURE = "measure --least-runs 2 --most-runs 2"

ENDS = {
    ADVISE: (("0", "-1", "1.0000001", "nan"), ("1e-9", "1")),
    "advise configure none --machine none --levels": (("1",), ("2",)),
    f"{COUNTED} --fuzziness": (("1", "100.5", "nan"), ("1.0001", "100")),
    f"{COUNTED} --precision": (("0", "-1", "nan"), ("1e-9", "5")),
    f"{THROTTLE} --noise": (("1", "-0.1", "nan"), ("0", "0.999")),
    f"{THROTTLE} --pieces": (("0", "1001"), ("1", "1000")),
    "advise configure axpy.aspen --machine cluster.aspen --vary cores=1..4 --levels 2 --uncertain clock=": (
        ("1", "-0.1", "nan", "x"),
        (),
    ),
    LEARN: (("0", "1", "nan"), ("1e-9", "0.999999")),
    "fit axpy.aspen none --machine cluster.aspen --vary clock --confidence": (("0", "1"), ()),
    f"{MEASURE} --confidence": (("0", "1", "nan"), ("0.5", "0.999")),
    f"{MEASURE} --precision": (("0", "-1", "nan"), ("1e-9",)),
    "measure --least-runs 3 --most-runs": (("2",), ()),
    "energy axpy.aspen --machine cluster.aspen --cap": (("0", "-1W", "0W"), ()),
    "trace axpy.aspen --machine cluster.aspen --most": (("0", "-1", "1.5"), ("1",)),
    "trace axpy.aspen --machine cluster.aspen --passes": (("0",), ("1",)),
    "sweep axpy.aspen --machine cluster.aspen --over n=1,2 --memory-limit": (("0", "0.99", "1XB", "B"), ("1GiB",)),
    "eval axpy.aspen --machine cluster.aspen --samples": (("0", "-1"), ("1",)),
}
REFUSED = [pytest.param(line, value, id=f"{line} {value}") for line, (values, _) in ENDS.items() for value in values]
ACCEPTED = [pytest.param(line, value, id=f"{line} {value}") for line, (_, values) in ENDS.items() for value in values]


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("axpy.aspen").write_text(AXPY, encoding="utf-8")
    Path("cluster.aspen").write_text(POWERED, encoding="utf-8")


def said(line: str, value: str, capsys: pytest.CaptureFixture[str]) -> tuple[str, str]:
    """The option, and what the command says of the value that it is given."""
    words = line.split()
    option = next(word for word in reversed(words) if word.startswith("--"))
    words = [*words[:-1], words[-1] + value] if line.endswith("=") else [*words[:-1], f"{words[-1]}={value}"]
    main([*words, *(["--", "true"] if words[0] == "measure" else [])])
    return option, capsys.readouterr().err


@pytest.mark.parametrize(("line", "value"), REFUSED)
@pytest.mark.usefixtures("models")
def test_refused(line: str, value: str, capsys: pytest.CaptureFixture[str]) -> None:
    option, complaint = said(line, value, capsys)
    assert option in complaint or option.strip("-") in complaint


@pytest.mark.parametrize(("line", "value"), ACCEPTED)
@pytest.mark.usefixtures("models")
def test_accepted(line: str, value: str, capsys: pytest.CaptureFixture[str]) -> None:
    option, complaint = said(line, value, capsys)
    assert option not in complaint
    assert " none" in line or not complaint.startswith(("error", "aspenpy:"))


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1", 1), ("0", 0), ("-1", 0), ("", 0), ("1.0", 0), ("1e0", 1), ("1E2", 100), ("1.5e1", 15), ("1.55e1", 0),
        ("0e5", 0), ("1e-2", 0), ("1e6", 10**6), ("9" * 30, 10**30 - 1), ("9" * 31, 0), ("1e99", int(1e99)),
        ("1e100", 0), ("1.2.3e4", 0), ("e3", 0), ("²", 0),
    ],
)  # fmt: skip
def test_counts(text: str, number: int) -> None:
    if number:
        assert positive(text) == number
    else:
        with pytest.raises(ArgumentTypeError, match="expected a whole number from 1 on"):
            positive(text)


@pytest.mark.parametrize(
    ("text", "size"),
    [("1", 1), ("1B", 1), ("1.9", 1), ("0.99", 0), ("1 KiB", 1024), (".5KiB", 512), ("2.kB", 2000),
     ("-1", 0)],
)  # fmt: skip
def test_sizes(text: str, size: int) -> None:
    if size:
        assert _parse_memory_size(text) == size
    else:
        with pytest.raises(ArgumentTypeError, match="expected a size"):
            _parse_memory_size(text)


@pytest.mark.parametrize(
    ("text", "ranks"),
    [("1", [1]), ("1..1", [1]), ("1..8", [1, 2, 4, 8]), ("3..13", [3, 6, 12, 13]), ("1,8,6", [1, 8, 6]), ("2 ki", None)]
    + [(text, None) for text in ("0", "0..4", "1.5", "2..1", "", "1,", "-1", "1..x")],
)
def test_ranks(text: str, ranks: list[int] | None) -> None:
    if ranks is None:
        with pytest.raises(CommandError, match="--ranks"):
            ranks_in(text)
    else:
        assert list(ranks_in(text)) == ranks
