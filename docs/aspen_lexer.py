"""Colours for models on the pages of the documentation."""

import re
from pathlib import Path
from typing import ClassVar

from pygments.lexer import RegexLexer, words
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Whitespace
from sphinx.application import Sphinx

GRAMMAR = Path(__file__).parents[1] / "grammar" / "aspen.lark"

KEYWORDS = sorted({"include", *re.findall(r'"([a-z]+)"', re.sub(r"//.*", "", GRAMMAR.read_text()))})
"""The words the grammar has in double quotes, and `include`, which the grammar never sees."""


class AspenLexer(RegexLexer):
    name = "Aspen"
    aliases: ClassVar = ["aspen"]
    tokens: ClassVar = {
        "root": [
            (r"\s+", Whitespace),
            (r"//[^\n]*", Comment.Single),
            (r'"[^"]*"', String),
            (words(KEYWORDS, prefix=r"\b", suffix=r"\b"), Keyword),
            (r"(\d+\.?(?!\.)\d*|\.\d+)([eE][+-]?\d+)?", Number),
            (r"[A-Za-z_]\w*", Name),
            (r"\.\.|[-+*/^]|[<>=!]=?", Operator),
            (r"[\[\](){},.]", Punctuation),
        ]
    }


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_lexer("aspen", AspenLexer)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
