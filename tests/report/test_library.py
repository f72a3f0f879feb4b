"""What models say of themselves in their first comment."""

import pytest

from aspenpy.language.source import Source
from aspenpy.report.listings import summary


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("// comd: molecular dynamics.\n//\n// More.\nmodel comd {}", "molecular dynamics."),
        ("// Two lines: of a\n// first paragraph\nmodel m {}", "Two lines: of a first paragraph"),
        ("model m {} // behind it", ""),
        ("", ""),
        ("//\n// late\n", ""),
    ],
)
def test_summary(text: str, said: str) -> None:
    assert summary(Source(text)) == said
