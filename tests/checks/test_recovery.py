"""Syntax errors behind the first one, and none that the first one made."""

from pathlib import Path

import pytest

from aspenpy.answers.checks.files import check_file
from aspenpy.language.files import Reader

MODEL = """model several {{
  param n = 8
  {first}
  data a [n]
  kernel main {{
    execute {{
      {second}
      loads [8] from a
    }}
  }}
}}
"""


def told(tmp_path: Path, first: str, second: str) -> list[int]:
    """The lines of the errors."""
    path = tmp_path / "several.aspen"
    path.write_text(MODEL.format(first=first, second=second), encoding="utf-8")
    found = check_file(path, None, Reader())
    return [item.span.position().line for item in found if item.span is not None and item.severity == "error"]


@pytest.mark.parametrize(
    ("first", "second", "lines"),
    [
        ("param = 3", "flops [ 1 + ]", [3, 7]),
        ("param m = )", "flops [n] of size", [3]),  # the second goes on with the next line: nothing is sure there
        ("param m = 3 +", "flops [2 giga]", [4, 7]),  # met at the next line's first word, as it should be
        ("param m = 2 kilo", "flops [n]", [3]),
        ("param m = 2", "flops [n]", []),
    ],
)
def test_lines(tmp_path: Path, first: str, second: str, lines: list[int]) -> None:
    assert told(tmp_path, first, second)[: len(lines)] == lines
    assert len(told(tmp_path, first, second)) <= 2


def test_the_text_is_shown_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "several.aspen"
    path.write_text(
        "model t {\n  param = 1\n  param x = 2 giga\n  kernel main { execute { flops [x] } }\n}\n", encoding="utf-8"
    )
    first, second = (str(item) for item in check_file(path, None, Reader()))
    assert "2 |   param = 1" in first
    assert "3 |   param x = 2 giga" in second


def test_an_unclosed_block_is_one_mistake(tmp_path: Path) -> None:
    path = tmp_path / "several.aspen"
    path.write_text("model t {\n  param x = 2\n  kernel main { execute { flops [x] }\n", encoding="utf-8")
    assert len(check_file(path, None, Reader())) == 1
