"""Hover: what is told of the word at a place, as Markdown."""

from __future__ import annotations

import os

from aspenpy.editor import names
from aspenpy.editor.items import end_of, start_of
from aspenpy.editor.meaning import Meaning
from aspenpy.editor.names import Name, Word, name_at
from aspenpy.editor.pieces import pieces
from aspenpy.editor.project import Place, Project
from aspenpy.expr.functions import FUNCTIONS
from aspenpy.language import nodes
from aspenpy.language.diagnostics import AspenError
from aspenpy.language.dimensions import parse_unit, unit_symbol
from aspenpy.language.files import models_folder
from aspenpy.language.parser import parse_expression
from aspenpy.language.source import Source, Span
from aspenpy.models.machine.texts import comment_at
from aspenpy.record import NamedTuple
from aspenpy.tables.numbers import count, unit_of_resource

LONGEST_SHOWN = 400  # characters of a declaration


class Hover(NamedTuple):
    """What is told, and the word it is about."""

    markdown: str
    start: int
    end: int


def hover(project: Project, path: str, offset: int, meaning: Meaning) -> Hover | None:
    """What is told of the word at an offset; None where there is nothing to tell."""
    name = name_at(project.names(path).names, offset)
    if name is not None:
        parts = _of_name(project, path, name, meaning)
        return Hover("\n\n".join(parts), name.start, name.end) if parts else None
    start, piece = next(
        ((part.start, part.text) for part in pieces(project.text(path)) if _holds(part, offset)), (0, "")
    )
    for word in names.words_in(piece):
        if word.start <= offset - start < word.start + len(word.text):
            told = _of_word(word)
            return None if told is None else Hover(told, start + word.start, start + word.start + len(word.text))
    return None


def _holds(part: tuple[int, str], offset: int) -> bool:
    return part[0] <= offset < part[0] + len(part[1])


def _of_word(word: Word) -> str | None:
    """A quantity in base units."""
    if word.kind != "QUANTITY":
        return None
    try:
        number = parse_expression(word.text)
    except AspenError:
        return None
    if not isinstance(number, nodes.Number) or number.unit is None:
        return None
    return f"`{word.text}` is {count(number.value)} {unit_symbol(parse_unit(number.unit).dimension)}"


def _of_name(project: Project, path: str, name: Name, meaning: Meaning) -> list[str]:
    if name.kind == names.FUNCTION:
        return [f"function `{name.name}`, {FUNCTIONS[name.name].arity()}"]
    if name.kind == names.RESOURCE and not name.declares:
        return _of_resource(name, meaning)
    place = project.declaration(path, name)
    if place is None:
        return []
    told = [f"```aspen\n{declaration_text(project.text(place.path), place.name)}\n```"]
    known = meaning.known.get(full_name(path, name, place))
    if known is not None and known.value:
        told.append(f"**{known.value}**" + (f", within {known.range}" if known.range else ""))
    if place.name.kind == names.KERNEL:
        told += [lens.whole for lens in meaning.lenses if lens.kernel == name.name and not name.within]
    comment = _comment(project, place)
    if comment:
        told.append(_escape_markdown(comment))
    if place.path != path:
        told.append(f"*{_shorten_path(place.path)}*")
    return told


def full_name(path: str, name: Name, place: Place) -> str:
    """What the values of a model call the name: `n`, `fft3d.n`, `core.clock`."""
    if place.name.kind == names.PROPERTY:
        return f"{place.name.component}.{name.name}"
    if place.name.scope is not None:
        return ""  # its value differs from call to call
    return f"{name.within}.{name.name}" if name.within else name.name


def _of_resource(name: Name, meaning: Meaning) -> list[str]:
    unit = unit_of_resource(name.name)
    told = [f"resource `{name.name}`" + (f", counted in {unit}" if unit else "")]
    offer = meaning.offers.get(name.name)
    if offer is not None:
        told.append(f"```aspen\n{offer.time}\n```")
        told.append(f"of `{offer.component}`")
    return told


def _comment(project: Project, place: Place) -> str:
    """What the comment beside a declaration says: where its number is from."""
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
