"""Notebooks as pages: their cells with the outputs that were saved, through the parser of the other pages."""

from __future__ import annotations

import json
from typing import Any

from docutils.nodes import document
from myst_parser.parsers.sphinx_ import MystParser
from sphinx.application import Sphinx


class NotebookParser(MystParser):
    """Reads the text of a notebook as that of a page."""

    supported = ("notebook",)

    def parse(self, inputstring: str, document: document) -> None:
        notebook = json.loads(inputstring)
        super().parse("\n\n".join(part for cell in notebook["cells"] for part in parts(cell)), document)


def parts(cell: dict[str, Any]) -> list[str]:
    """A cell as Markdown: its text, or its code with what it gave."""
    text = "".join(cell["source"])
    if cell["cell_type"] != "code":
        return [text]
    return [_code(text), *map(_output, cell["outputs"])]


def _code(text: str) -> str:
    """A cell's code; the model of one, which is no Python, under the line of its magic."""
    magic, _, model = text.partition("\n")
    if magic.startswith("%%"):
        return _fenced("{code-block} aspen", f":caption: '`{magic}`'\n\n{model}")
    return _fenced("ipython3" if magic.startswith("%") else "python", text)


def _output(output: dict[str, Any]) -> str:
    """The richest form that a page can show without the network: LaTeX would need a script from elsewhere."""
    data = output.get("data", {})
    if "text/html" in data:
        return _fenced("{raw} html", "".join(data["text/html"]))
    return _fenced("text", "".join(data.get("text/plain", output.get("text", ""))))


def _fenced(kind: str, text: str) -> str:
    return f"````{kind}\n{text}\n````"


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_source_suffix(".ipynb", "notebook")
    app.add_source_parser(NotebookParser)
    return {"parallel_read_safe": True}
