"""Document: a report in sections, whose numbers link to where they are explained, as one HTML page or as Markdown."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from typing import Any

from aspenpy.record import Record
from aspenpy.tables.table import Paragraph, Report, Table


class Link(Record):
    """Words that lead to the place with an `anchor`."""

    text: str
    anchor: str


class Code(Record):
    """A command, a formula, or a line of a model."""

    text: str


Span = str | Link | Code
Words = tuple[Span, ...]


class Section(Record):
    """A heading; of the first `level` those that the contents list. One that is `folded` opens when it is asked for."""

    title: str
    anchor: str
    level: int = 1
    folded: bool = False


class Sentence(Record):
    """A paragraph; with an `anchor`, where links lead to."""

    words: Words
    anchor: str = ""


class BulletList(Record):
    """A list of sentences."""

    items: tuple[Words, ...]


class DocumentTable(Record):
    """A table: its heads, and rows of cells; columns whose place is in `numbers` stand on the right."""

    heads: tuple[str, ...]
    rows: tuple[tuple[Span, ...], ...]
    numbers: frozenset[int] = frozenset()


class Listing(Record):
    """Lines as they are typed or printed."""

    text: str


class Picture(Record):
    """A picture: the function that draws it as SVG, where it is wanted, and what it shows."""

    draw: Callable[[], str]
    caption: str


Block = Section | Sentence | BulletList | DocumentTable | Listing | Picture


class Document(Record):
    """A title and what stands below it."""

    title: str
    blocks: tuple[Block, ...]


def anchor_of(kind: str, name: str) -> str:
    """An anchor of letters, digits and dashes alone."""
    plain = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in name)
    return f"{kind}-{plain}"


def make_sheet(heads: Sequence[str], rows: Sequence[Sequence[Span]], numbers: Sequence[int] = ()) -> DocumentTable:
    return DocumentTable(tuple(heads), tuple(map(tuple, rows)), frozenset(numbers))


def document_of(report: Report, pictures: Sequence[Picture]) -> Document:
    """A report as a document: its pictures, its tables each under its title, and its diagnostics."""
    blocks: list[Block] = [*pictures]
    for number, part in enumerate(report.page):
        if isinstance(part, Paragraph):
            blocks.append(Sentence((part.text,)))
        if not isinstance(part, Table):
            continue
        if part.title:
            blocks.append(Section(part.title, anchor_of("table", f"{number} {part.title}")))
        numbers = [index for index, column in enumerate(part.columns) if column.side != "left"]
        blocks.append(make_sheet([column.header for column in part.columns], part.texts(), numbers))
    if report.diagnostics:
        blocks.append(Section("Warnings", "warnings"))
        blocks.append(BulletList(tuple((item.message,) for item in report.diagnostics)))
    return Document(report.headline, tuple(blocks))


def linked_anchors(blocks: Sequence[Block]) -> set[str]:
    """The anchors to which words of the blocks lead."""
    spans: list[Span] = []
    for block in blocks:
        words = block.items if isinstance(block, BulletList) else block.rows if isinstance(block, DocumentTable) else ()
        spans += [span for row in words for span in row]
        spans += block.words if isinstance(block, Sentence) else ()
    return {span.anchor for span in spans if isinstance(span, Link)}


Writers = Mapping[type[Block], Callable[[Any, int], str]]
"""Writers of a markup by type of block; each is given the number of the block in the document."""


def _write_blocks(document: Document, writers: Writers) -> list[str]:
    return [writers[type(block)](block, number) for number, block in enumerate(document.blocks)]


# -- HTML: one page that needs no network ----------------------------------------------------------


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
a { color: var(--link); text-underline-offset: .15em; }
nav a { margin-right: 1.1em; display: inline-block; text-decoration: none; } a:hover { text-decoration: underline; }
li { overflow-wrap: anywhere; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .88rem; margin: .6rem 0 1rem; font-variant-numeric: tabular-nums; }
th { text-align: left; border-bottom: 2px solid var(--faint); padding: .25rem .7rem .25rem 0; vertical-align: bottom; }
td { border-bottom: 1px solid var(--line); padding: .25rem .7rem .25rem 0; vertical-align: top; }
td:has(code) { min-width: 14rem; } summary { cursor: pointer; } summary h2 { display: inline-block; width: 94%; }
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


def write_html(document: Document) -> str:
    """The document as a page that needs no other file and runs no script."""
    sections = [block for block in document.blocks if isinstance(block, Section) and block.level == 1]
    contents = "".join(f'<a href="#{escape(it.anchor)}">{escape(it.title)}</a> ' for it in sections)
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(document.title)}</title><style>{STYLE}</style></head><body><main>",
            f"<h1>{escape(document.title)}</h1>",
            f"<nav>{contents}</nav>",
            *_fold(document, _write_blocks(document, HTML)),
            "</main></body></html>",
            "",
        ]
    )


def _fold(document: Document, written: Sequence[str]) -> Iterator[str]:
    """The blocks, those below a folded section inside of `details`, which browsers open where a link leads into it."""
    is_open = False
    for block, text in zip(document.blocks, written, strict=True):
        starts = isinstance(block, Section) and block.level == 1
        if starts and is_open:
            yield "</details>"
        is_open = block.folded if isinstance(block, Section) and starts else is_open
        yield f"<details><summary>{text}</summary>" if starts and is_open else text
    if is_open:
        yield "</details>"


def _write_html_span(span: Span) -> str:
    if isinstance(span, Link):
        return f'<a href="#{escape(span.anchor)}">{escape(span.text)}</a>'
    if isinstance(span, Code):
        return f"<code>{escape(span.text)}</code>"
    return escape(span)


def _write_html_words(words: tuple[Span, ...]) -> str:
    return "".join(map(_write_html_span, words))


def _write_html_anchor(anchor: str) -> str:
    return f' id="{escape(anchor)}"' if anchor else ""


def _write_html_sheet(part: DocumentTable, number: int) -> str:
    def side(index: int) -> str:
        return ' class="n"' if index in part.numbers else ""

    kinds = ["th" if text else "td" for text in part.heads]  # a heading without words is none to a screen reader
    heads = zip(kinds, part.heads, strict=True)
    head = "".join(f"<{kind}{side(index)}>{escape(text)}</{kind}>" for index, (kind, text) in enumerate(heads))
    rows = [
        f"<tr>{''.join(f'<td{side(index)}>{_write_html_span(cell)}</td>' for index, cell in enumerate(row))}</tr>"
        for row in part.rows
    ]
    opening = f'<div class="scroll" tabindex="0"><table><thead><tr>{head}</tr></thead><tbody>'
    return "\n".join([opening, *rows, "</tbody></table></div>"])


def _write_html_picture(part: Picture, number: int) -> str:
    """The names inside of an SVG are made its own: a page has several."""
    drawn = part.draw()
    svg = drawn[drawn.index("<svg") :]
    svg = re.sub(r'\bid="([^"]+)"', rf'id="p{number}-\1"', svg)
    svg = re.sub(r'href="#([^"]+)"', rf'href="#p{number}-\1"', svg)
    svg = re.sub(r"url\(#([^)]+)\)", rf"url(#p{number}-\1)", svg)
    return f'<figure tabindex="0">{svg}<figcaption>{escape(part.caption)}</figcaption></figure>'


HTML: Writers = {
    Section: lambda part, _: (
        f"<h{part.level + 1}{_write_html_anchor(part.anchor)}>{escape(part.title)}</h{part.level + 1}>"
    ),
    Sentence: lambda part, _: f"<p{_write_html_anchor(part.anchor)}>{_write_html_words(part.words)}</p>",
    BulletList: lambda part, _: (
        "<ul>" + "".join(f"<li>{_write_html_words(item)}</li>" for item in part.items) + "</ul>"
    ),
    DocumentTable: _write_html_sheet,
    Listing: lambda part, _: f"<pre>{escape(part.text)}</pre>",
    Picture: _write_html_picture,
}

# -- Markdown: pictures are left out, since their tables say the same ------------------------------

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~!&])")


def write_markdown(document: Document) -> str:
    parts = [f"# {escape_markdown(document.title)}", *_write_blocks(document, MARKDOWN)]
    return "\n\n".join(part for part in parts if part) + "\n"


def escape_markdown(text: str) -> str:
    """Text in which nothing is markup."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def _write_markdown_span(span: Span) -> str:
    if isinstance(span, Link):
        return f"[{escape_markdown(span.text)}](#{span.anchor})"
    if isinstance(span, Code):
        return _write_markdown_code(span.text)
    return escape_markdown(span)


def _write_markdown_code(text: str) -> str:
    """The text between more backticks than it has in a row."""
    line = " ".join(text.split()).replace("|", "\\|")
    longest = max(map(len, re.findall("`+", line)), default=0)
    fence = "`" * (longest + 1)
    return f"{fence}{line}{fence}" if not longest else f"{fence} {line} {fence}"


def _write_markdown_words(words: tuple[Span, ...]) -> str:
    return "".join(
        _write_markdown_span(span) if isinstance(span, Link | Code) else _write_markdown_text(span) for span in words
    )


def _write_markdown_text(text: str) -> str:
    """The text between other spans, where spaces at the ends count."""
    return _SPECIAL.sub(r"\\\1", re.sub(r"\s+", " ", text))


def _write_markdown_anchor(anchor: str) -> str:
    return f'<a id="{anchor}"></a>' if anchor else ""


def _write_markdown_sheet(part: DocumentTable) -> str:
    sides = ["--:" if index in part.numbers else ":--" for index in range(len(part.heads))]
    lines = [
        [escape_markdown(head) for head in part.heads],
        sides,
        *([_write_markdown_span(cell) for cell in row] for row in part.rows),
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _write_markdown_listing(part: Listing) -> str:
    longest = max(map(len, re.findall("`+", part.text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{part.text}\n{fence}"


MARKDOWN: Writers = {
    Section: lambda part, _: (
        f"{'#' * (part.level + 1)} {_write_markdown_anchor(part.anchor)}{escape_markdown(part.title)}"
    ),
    Sentence: lambda part, _: _write_markdown_anchor(part.anchor) + _write_markdown_words(part.words),
    BulletList: lambda part, _: "\n".join(f"* {_write_markdown_words(item)}" for item in part.items),
    DocumentTable: lambda part, _: _write_markdown_sheet(part),
    Listing: lambda part, _: _write_markdown_listing(part),
    Picture: lambda part, _: "",
}
