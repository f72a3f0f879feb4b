"""Comments and string constants of C."""

from __future__ import annotations

import re

WIDTH = 118  # characters of a line of comment, with its indentation


def comment(text: str, indent: str = "") -> list[str]:
    """The lines of a comment. What would end it, begin another or be a trigraph is taken apart."""
    import textwrap

    plain = re.sub(r"(?<=\*)(?=/)|(?<=/)(?=\*)|(?<=\?)(?=\?)", " ", " ".join(text.split()))
    lines = textwrap.wrap(
        plain, WIDTH - len(indent) - len("/*  */"), break_long_words=False, break_on_hyphens=False
    ) or [""]
    return [f"{indent}{'/*' if not index else '  '} {line}" for index, line in enumerate(lines[:-1])] + [
        f"{indent}{'/*' if len(lines) == 1 else '  '} {lines[-1]} */"
    ]


def string(text: str) -> str:
    """A string constant; everything but plain ASCII is written as the octal bytes of UTF-8."""
    return '"' + "".join(_character(code) for code in text.encode()) + '"'


def _character(code: int) -> str:
    letter = chr(code)
    if letter in '\\"?':
        return "\\" + letter
    return letter if 32 <= code < 127 else f"\\{code:03o}"
