"""Documents as one HTML page that needs no network: no scripts, styles and pictures inside. Text is escaped."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape
from typing import Any

from aspenpy.tables.document import (
    Block,
    Code,
    Document,
    Link,
    Listing,
    Picture,
    Points,
    Section,
    Sentence,
    Sheet,
    Span,
)

STYLE = """
:root { color-scheme: light dark; --text: #1c1e21; --page: #fff; --line: #d9dce1; --soft: #f3f4f6; --link: #1a4fa0;
  --faint: #555; --mark: #fff3c4; }
@media (prefers-color-scheme: dark) { :root { --text: #e3e5e8; --page: #16181b; --line: #3a3f46; --soft: #23272c;
  --link: #8db8ff; --faint: #a8adb5; --mark: #4a4115; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--text); background: var(--page); max-width: 60rem;
  margin: 2rem auto; padding: 0 1.5rem; }
h1 { font-size: 1.7rem; line-height: 1.25; margin-bottom: 1rem; overflow-wrap: anywhere; }
h2 { font-size: 1.25rem; margin: 2.4rem 0 .6rem; border-bottom: 1px solid var(--line); padding-bottom: .2rem; }
h3, h4 { font-size: 1rem; margin: 1.4rem 0 .3rem; overflow-wrap: anywhere; }
nav { background: var(--soft); border-radius: 6px; padding: .6rem 1rem; font-size: .9rem; }
nav a { margin-right: 1.1em; white-space: nowrap; }
a { color: var(--link); text-decoration: none; } a:hover { text-decoration: underline; }
li { overflow-wrap: anywhere; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .88rem; margin: .6rem 0 1rem; font-variant-numeric: tabular-nums; }
th { text-align: left; border-bottom: 2px solid var(--faint); padding: .25rem .7rem .25rem 0; vertical-align: bottom; }
td { border-bottom: 1px solid var(--line); padding: .25rem .7rem .25rem 0; vertical-align: top; }
.n { text-align: right; white-space: nowrap; }
code { font: .88em ui-monospace, monospace; background: var(--soft); border-radius: 3px; padding: 0 .2em; }
pre { font: .85rem/1.4 ui-monospace, monospace; background: var(--soft); border-radius: 6px; padding: .7rem 1rem; }
pre { white-space: pre-wrap; } pre, code { overflow-wrap: anywhere; }
figure { margin: 1rem 0; } figcaption { font-size: .85rem; color: var(--faint); }
figure svg { max-width: 100%; height: auto; background: #fff; border-radius: 6px; }
:target { background: var(--mark); }
@media (max-width: 40rem) { body { padding: 0 .8rem; margin: 1rem auto; } td, th { padding-right: .5rem; }
  figure { overflow-x: auto; } figure svg { max-width: none; width: 40rem; } }
"""

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""Nothing is fetched and nothing runs, whatever a model's text holds."""


def as_page(document: Document) -> str:
    sections = [block for block in document.blocks if isinstance(block, Section) and block.level == 1]
    contents = "".join(f'<a href="#{escape(it.anchor)}">{escape(it.title)}</a> ' for it in sections)
    pictures = iter(range(len(document.blocks)))
    body = [_BLOCKS[type(block)](block, next(pictures)) for block in document.blocks]
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(document.title)}</title><style>{STYLE}</style></head><body>",
            f"<h1>{escape(document.title)}</h1>",
            f"<nav>{contents}</nav>",
            *body,
            "</body></html>",
            "",
        ]
    )


def _span(span: Span) -> str:
    if isinstance(span, Link):
        return f'<a href="#{escape(span.anchor)}">{escape(span.text)}</a>'
    if isinstance(span, Code):
        return f"<code>{escape(span.text)}</code>"
    return escape(span)


def _words(words: tuple[Span, ...]) -> str:
    return "".join(map(_span, words))


def _named(anchor: str) -> str:
    return f' id="{escape(anchor)}"' if anchor else ""


def _sheet(part: Sheet, number: int) -> str:
    def side(place: int) -> str:
        return ' class="n"' if place in part.numbers else ""

    head = "".join(f"<th{side(place)}>{escape(text)}</th>" for place, text in enumerate(part.heads))
    rows = [
        f"<tr>{''.join(f'<td{side(place)}>{_span(cell)}</td>' for place, cell in enumerate(row))}</tr>"
        for row in part.rows
    ]
    opening = f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>'
    return "\n".join([opening, *rows, "</tbody></table></div>"])


def _picture(part: Picture, number: int) -> str:
    """The names inside of an SVG are made its own: a page has several."""
    drawn = part.draw()
    svg = drawn[drawn.index("<svg") :]
    svg = re.sub(r'\bid="([^"]+)"', rf'id="p{number}-\1"', svg)
    svg = re.sub(r'href="#([^"]+)"', rf'href="#p{number}-\1"', svg)
    svg = re.sub(r"url\(#([^)]+)\)", rf"url(#p{number}-\1)", svg)
    return f"<figure>{svg}<figcaption>{escape(part.caption)}</figcaption></figure>"


_BLOCKS: dict[type[Block], Callable[[Any, int], str]] = {
    Section: lambda part, _: f"<h{part.level + 1}{_named(part.anchor)}>{escape(part.title)}</h{part.level + 1}>",
    Sentence: lambda part, _: f"<p{_named(part.anchor)}>{_words(part.words)}</p>",
    Points: lambda part, _: "<ul>" + "".join(f"<li>{_words(item)}</li>" for item in part.items) + "</ul>",
    Sheet: _sheet,
    Listing: lambda part, _: f"<pre>{escape(part.text)}</pre>",
    Picture: _picture,
}
