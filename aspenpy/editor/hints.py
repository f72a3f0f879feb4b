"""Hints: what is told of the word at a place, as Markdown, and between the words of a file: values of formulas, and
times of kernels and blocks."""

from __future__ import annotations

import os
import re
from itertools import pairwise

from aspenpy.editor import names
from aspenpy.editor.meaning import FileMeaning
from aspenpy.editor.names import DECLARED, Name, TextWord, name_at, names_of, words_in
from aspenpy.editor.pieces import pieces
from aspenpy.editor.project import NameLocation, Project
from aspenpy.expr.functions import FUNCTIONS
from aspenpy.language import nodes
from aspenpy.language.diagnostics import AspenError
from aspenpy.language.dimensions import parse_unit, unit_symbol
from aspenpy.language.files import models_folder
from aspenpy.language.parser import parse_expression
from aspenpy.language.source import Source, Span
from aspenpy.language.vocabulary import CONSTANT, KEYWORDS, LIST, Keyword
from aspenpy.models.machine.properties import describe_property
from aspenpy.models.machine.texts import comment_at
from aspenpy.record import NamedTuple
from aspenpy.tables.numbers import format_count, unit_of_resource

_OPERANDS = frozenset(("NAME", "NUMBER", "QUANTITY", "STRING", "RPAR", "RSQB", "RBRACE"))
"""What may end an item: a name behind one of them begins another."""

_LAST_WORD = re.compile(r"[A-Za-z_]\w*\Z")  # at the end of a text


def _end_of_item(code: list[TextWord], start: int) -> int:
    """End of the declaration whose name begins at an offset: before a block of statements or parts that it opens, or
    before the next item; of what is declared in brackets, with the name. `code` are the words without comments."""
    index = next((index for index, word in enumerate(code) if word.start == start), None)
    if index is None:
        return start
    depth, end, opened = 0, start + len(code[index].text), code[index - 1].text if index else ""
    for before, word in pairwise(code[index:]):
        if word.kind == "LBRACE" and not depth and _holds_statements(opened):
            return end
        depth += (word.kind in ("LBRACE", "LPAR", "LSQB")) - (word.kind in ("RBRACE", "RPAR", "RSQB"))
        row = KEYWORDS.get(word.text.upper()) if word.kind == "KEYWORD" else None
        follows = word.kind == "INCLUDE" or (word.kind == "NAME" and before.kind in _OPERANDS)
        if depth < 0 or (not depth and (_begins(row) or follows)):
            return end
        if opened not in DECLARED and "LIKE" not in (before.kind, word.kind):
            return end
        end = word.start + len(word.text)
    return end


def _holds_statements(keyword: str) -> bool:
    row = KEYWORDS.get(keyword.upper())
    return row is None or row.holds != LIST


def _begins(row: Keyword | None) -> bool:
    return row is not None and bool(row.begins) and row.begins != CONSTANT


def start_of(text: str, name: Name) -> int:
    """Begin of the keyword, or the type of the component, before a name."""
    before = text[max(0, name.start - 100) : name.start].rstrip()
    word = _LAST_WORD.search(before)
    return name.start if word is None else max(0, name.start - 100) + word.start()


def end_of(text: str, name: Name) -> int:
    """End of a declaration: before the next one, the block that it opens, or a word of another item."""
    part = next((part for part in pieces(text) if part.start <= name.start < part.start + len(part.text)), None)
    if part is None:
        return name.end
    words = [word for word in words_in(part.text) if word.kind != "COMMENT"]
    return part.start + _end_of_item(words, name.start - part.start)


LONGEST_SHOWN = 400  # characters of a declaration


class Hover(NamedTuple):
    """Text of a hover, and the word it is about."""

    markdown: str
    start: int
    end: int


def hover_at(project: Project, path: str, offset: int, meaning: FileMeaning) -> Hover | None:
    """The hover for the word at an offset; None where there is nothing to tell."""
    name = name_at(project.names(path).names, offset)
    if name is not None:
        parts = _of_name(project, path, name, meaning)
        return Hover("\n\n".join(parts), name.start, name.end) if parts else None
    start, piece = next(
        ((part.start, part.text) for part in pieces(project.text(path)) if _holds(part, offset)), (0, "")
    )
    for word in names.words_in(piece):
        if word.start <= offset - start < word.start + len(word.text):
            markdown = _of_word(word)
            return (
                None if markdown is None else Hover(markdown, start + word.start, start + word.start + len(word.text))
            )
    return None


def _holds(part: tuple[int, str], offset: int) -> bool:
    return part[0] <= offset < part[0] + len(part[1])


def _of_word(word: TextWord) -> str | None:
    """A quantity in base units."""
    if word.kind != "QUANTITY":
        return None
    try:
        number = parse_expression(word.text)
    except AspenError:
        return None
    if not isinstance(number, nodes.Number) or number.unit is None:
        return None
    return f"`{word.text}` is {format_count(number.value)} {unit_symbol(parse_unit(number.unit).dimension)}"


def _of_name(project: Project, path: str, name: Name, meaning: FileMeaning) -> list[str]:
    if name.kind == names.FUNCTION:
        return [f"function `{name.name}`, {FUNCTIONS[name.name].describe_arity()}"]
    if name.kind == names.RESOURCE and not name.declares:
        return _of_resource(name, meaning)
    place = project.declaration(path, name)
    if place is None:
        return []
    paragraphs = [f"```aspen\n{declaration_text(project.text(place.path), place.name)}\n```"]
    fact = meaning.known.get(full_name(path, name, place))
    if fact is not None and fact.value:
        paragraphs.append(f"**{fact.value}**" + (f", within {fact.range}" if fact.range else ""))
    if place.name.kind == names.KERNEL:
        paragraphs += [lens.whole for lens in meaning.lenses if lens.kernel == name.name and not name.within]
    if place.name.kind == names.PROPERTY:
        paragraphs += filter(None, [describe_property(name.name)])
    comment = _comment(project, place)
    if comment:
        paragraphs.append(_escape_markdown(comment))
    if place.path != path:
        paragraphs.append(f"*{_shorten_path(place.path)}*")
    return paragraphs


def full_name(path: str, name: Name, place: NameLocation) -> str:
    """Full name of a declaration as a model's values have it: `n`, `fft3d.n`, `core.clock`."""
    if place.name.kind == names.PROPERTY:
        return f"{place.name.component}.{name.name}"
    if place.name.scope is not None:
        return ""  # its value differs from call to call
    return f"{name.within}.{name.name}" if name.within else name.name


def _of_resource(name: Name, meaning: FileMeaning) -> list[str]:
    unit = unit_of_resource(name.name)
    paragraphs = [f"resource `{name.name}`" + (f", counted in {unit}" if unit else "")]
    offer = meaning.offers.get(name.name)
    if offer is not None:
        paragraphs.append(f"```aspen\n{offer.time}\n```")
        paragraphs.append(f"of `{offer.component}`")
    return paragraphs


def _comment(project: Project, place: NameLocation) -> str:
    """The comment beside a declaration, which says where its number is from."""
    source = Source(project.text(place.path), place.path, place.path)
    return comment_at(Span(source, place.name.start, end_of(source.text, place.name)))


def declaration_text(text: str, name: Name) -> str:
    """The declaration of a name without its block, as it is written."""
    start = start_of(text, name)
    whole = text[start : end_of(text, name)]
    return " ".join(whole.split()) if len(whole) <= LONGEST_SHOWN else f"{whole[:LONGEST_SHOWN]} ..."


def _escape_markdown(text: str) -> str:
    return "".join(f"\\{character}" if character in r"\`*_{}[]<>#|" else character for character in text)


def _shorten_path(path: str) -> str:
    """A path from the folder of the library, or its last part."""
    library = os.path.join(models_folder(), "")
    return f"{path.removeprefix(library)} of the library" if path.startswith(library) else os.path.basename(path)


class Note(NamedTuple):
    """A text at an offset."""

    offset: int
    text: str


def note_values(path: str, text: str, meaning: FileMeaning, start: int, end: int) -> list[Note]:
    """The values of parameters, properties and data that are written as formulas, behind them."""
    notes = []
    for name in names_of(text).names:
        if name.declares and start <= name.start <= end and name.kind in (names.VALUE, names.DATA, names.PROPERTY):
            fact = meaning.known.get(full_name(path, name, NameLocation(path, name)))
            if fact is not None and fact.computed:
                notes.append(Note(end_of(text, name), f" = {fact.value}"))
    return notes


def note_times(text: str, meaning: FileMeaning) -> list[Note]:
    """Times of kernels and their blocks on the chosen machine, above them. Blocks of a kernel that has more or fewer
    than when its times were found out have none."""
    notes = []
    by_kernel = {lens.kernel: lens for lens in meaning.lenses}
    for start, piece in pieces(text):
        words = words_in(piece)
        kernel = next((later for word, later in pairwise(words) if word.text == "kernel"), None)
        lens = by_kernel.get(kernel.text) if kernel is not None else None
        if lens is None or kernel is None:
            continue
        notes.append(Note(start + kernel.start, lens.whole))
        blocks = [word.start + start for word in words if word.kind == "KEYWORD" and word.text == "execute"]
        if len(blocks) == len(lens.blocks):
            notes += map(Note, blocks, lens.blocks)
    return notes
