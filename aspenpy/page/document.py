"""The file of a page: HTML with its style, its script and its data in it, and a policy that allows nothing else.

The policy (Content Security Policy Level 3, https://www.w3.org/TR/CSP3/) names the one style and the one script by
their hashes; everything else, the network above all, is refused. Text of models gets into the data alone, which is
JSON without any `<`, and from there into the page as text, never as HTML.
"""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

SCRIPTS = (
    "elements.js",
    "units.js",
    "typed.js",
    "state.js",
    "charts.js",
    "roofline.js",
    "kernels.js",
    "controls.js",
    "page.js",
)
"""In the order in which they use each other, within one function of strict JavaScript."""

_FOLDER = Path(__file__).with_name("files")


def document(title: str, facts: dict[str, Any], functions: str) -> str:
    """The whole file. `functions` declares `machines`."""
    style, own = _text("page.css"), "\n".join(map(_text, SCRIPTS))
    script = f'(function () {{\n"use strict";\n{functions}\n{own}\n}})();\n'
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; base-uri 'none'; form-action 'none'"
    )
    return _text("page.html").format(
        title=escape(title), policy=policy, style=style, script=script, data=_data(facts), version=facts["version"]
    )


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def _data(facts: dict[str, Any]) -> str:
    """JSON in which no character ends the element that it stands in."""
    text = json.dumps(facts, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


@cache
def _text(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8").rstrip("\n")
