"""Documents: the files that an editor has open, with their lines, positions as the editor counts them, the last that
could be made of each, and what is wrong with them."""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from urllib.parse import quote, unquote, urlsplit

from aspenpy.editor.meaning import NOTHING, FileMeaning, FileStretch, Remark
from aspenpy.editor.pieces import syntax_errors
from aspenpy.editor.project import LARGEST, Project
from aspenpy.language.source import Span
from aspenpy.record import NamedTuple

_LINE_END = re.compile(r"\r\n|\r|\n")  # an editor's lines; Python's `splitlines` knows more of them

UNITS = {"utf-8": 1, "utf-16": 2, "utf-32": 4}
"""Bytes of a unit that columns are counted in."""


class DocumentText:
    """A text with the offsets at which its lines begin. `encoding` says what columns count: bytes of UTF-8, the units
    of 16 bits that the protocol has by default, or characters. A position that lies nowhere is moved to the nearest
    place: to the end of its line, to the end of the text, in front of a character that it cuts."""

    __slots__ = ("_ascii", "encoding", "starts", "text")

    def __init__(self, text: str, encoding: str = "utf-16") -> None:
        self.text, self.encoding = text, encoding
        self.starts = [0, *(match.end() for match in _LINE_END.finditer(text))]
        self._ascii = text.isascii()

    def offset(self, line: int, column: int) -> int:
        """The offset of a position, in characters from the beginning."""
        if line < 0 or column < 0:
            return 0 if line < 0 else self._start(line)
        start = self._start(line)
        if line >= len(self.starts):
            return start
        end = self.starts[line + 1] if line + 1 < len(self.starts) else len(self.text)
        while end > start and self.text[end - 1] in "\r\n":
            end -= 1
        if self._ascii or self.encoding == "utf-32":
            return min(start + column, end)
        return start + self._characters(self.text[start:end], column)

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, both from 0."""
        offset = max(0, min(offset, len(self.text)))
        line = bisect_right(self.starts, offset) - 1
        return line, self.columns(self.starts[line], offset)

    def columns(self, start: int, end: int) -> int:
        """The columns between two offsets of a line."""
        return end - start if self._ascii else self._columns(self.text[start:end])

    def replace_part(self, start: int, end: int, text: str) -> DocumentText:
        """The text with another one from one offset to another."""
        start, end = min(start, end), max(start, end)
        return DocumentText(self.text[:start] + text + self.text[end:], self.encoding)

    def _start(self, line: int) -> int:
        return self.starts[line] if line < len(self.starts) else len(self.text)

    def _columns(self, text: str) -> int:
        if self.encoding == "utf-32":
            return len(text)
        return (
            len(text.encode(f"{self.encoding}{'-le' if self.encoding == 'utf-16' else ''}", "surrogatepass"))
            // (UNITS[self.encoding])
        )

    def _characters(self, line: str, column: int) -> int:
        """Number of characters of a line before a column."""
        reached = 0
        for index, character in enumerate(line):
            reached += self._columns(character)
            if reached > column:
                return index
        return len(line)


def move_offset(offset: int, start: int, end: int, length: int) -> int | None:
    """The offset after the characters from `start` to `end` became `length` others; None if it was inside."""
    if offset <= start:
        return offset
    return offset + length - (end - start) if offset >= end else None


class Fix(NamedTuple):
    """A text in the place of another one."""

    title: str
    start: int
    end: int
    text: str


def syntax_remarks(path: str, text: str) -> list[Remark]:
    """The mistakes in the pieces of an application. Only pieces that changed are read again."""

    def place(span: Span | None, begin: int) -> FileStretch:
        return (
            FileStretch(path, begin, begin) if span is None else FileStretch(path, begin + span.start, begin + span.end)
        )

    return [
        Remark(
            place(error.span, begin),
            error.severity,
            error.code,
            message=error.message,
            hint=error.hint or "",
            related=tuple((place(item.span, begin), item.label) for item in error.related),
        )
        for begin, error in syntax_errors(text)
    ]


def move_remarks(remarks: list[Remark], path: str, start: int, end: int, length: int) -> list[Remark]:
    """Remarks after an edit of a file: moved with the text; what the edit touched is gone."""
    result = []
    for remark in remarks:
        place = _move_stretch(remark.place, path, start, end, length)
        if place is not None:
            related = ((_move_stretch(item, path, start, end, length), label) for item, label in remark.related)
            labelled = tuple((item, label) for item, label in related if item is not None)
            result.append(remark._replace(place=place, related=labelled))
    return result


def _move_stretch(place: FileStretch, path: str, start: int, end: int, length: int) -> FileStretch | None:
    if place.path != path:
        return place
    if place.end <= start:
        return place
    first, last = move_offset(place.start, start, end, length), move_offset(place.end, start, end, length)
    return None if first is None or last is None or place.start <= start else FileStretch(path, first, last)


# -- mending ---------------------------------------------------------------------------------------

_QUOTED = re.compile(r"`([^`]+)`")
_WRITE = re.compile(r"write `([^`]+)`(?: for a quarter)?\Z")
_ARRAY = re.compile(r"write `param (\w+(?:\[\])+) = ")


def fixes(remark: Remark, text: str) -> list[Fix]:
    """Fixes that the hint of a remark proposes, where they can be put in the place of what is wrong."""
    start, end = remark.place.start, remark.place.end
    wrong = text[start:end]
    if remark.hint.startswith("did you mean"):
        spelled = next((word for word in reversed(_QUOTED.findall(remark.message)) if word in wrong), wrong)
        place = re.search(rf"(?<!\w){re.escape(spelled)}(?!\w)", wrong)
        if place is None:
            return []
        first, last = start + place.start(), start + place.end()
        return [Fix(f"Change to `{word}`", first, last, word) for word in _QUOTED.findall(remark.hint)]
    array = _ARRAY.match(remark.hint)
    if array is not None:
        return [Fix(f"Change to `{array[1]}`", start, end, array[1])]
    write = _WRITE.match(remark.hint)
    if write is not None and "..." not in write[1] and f"`{wrong}`" in remark.message:
        return [Fix(f"Change to `{write[1]}`", start, end, write[1])]
    return []


def path_of(uri: str) -> str:
    """The file of a URI. What is in no file, such as a text that was never saved, is in a folder that does not exist,
    so that it includes nothing but the library."""
    parts = urlsplit(uri)
    path = unquote(parts.path)
    if parts.scheme != "file" or not path or "\0" in path:
        return os.path.join(os.devnull, quote(uri, safe=""))
    if os.name == "nt":
        path = path.lstrip("/")
    return os.path.realpath(path)


def uri_of(path: str) -> str:
    """The URI of a file."""
    return "file://" + quote(path if path.startswith("/") else "/" + path.replace(os.sep, "/"))


class OpenDocument:
    """An open file: its text as it is now, what it meant when it was last sound, and what is wrong with it."""

    def __init__(self, uri: str, text: DocumentText, version: int | None) -> None:
        self.uri, self.path = uri, path_of(uri)
        self.text, self.version = text, version
        self.meaning = NOTHING
        self.remarks: list[Remark] = []
        self.mistakes: list[Remark] = []
        self.changes = 0
        self._look()

    def replace_text(self, start: int, end: int, new: str) -> None:
        """Puts a text in the place of another one."""
        self.remarks = move_remarks(self.remarks, self.path, start, end, len(new))
        self.text = self.text.replace_part(start, end, new)

    def replace(self, new: str) -> None:
        """Another text for the whole file."""
        self.remarks = []
        self.text = DocumentText(new, self.text.encoding)

    def note_edit(self, version: int | None) -> None:
        """Takes notice of edits."""
        self.version = version
        self.changes += 1
        self._look()

    def take_meaning(self, meaning: FileMeaning) -> None:
        """Takes what the text means; of one that is broken nothing but the remarks, and the machine's offers."""
        live = {(mistake.place, mistake.message) for mistake in self.mistakes}
        self.remarks = [remark for remark in meaning.remarks if (remark.place, remark.message) not in live]
        if meaning.sound:
            self.meaning = meaning
        else:
            self.meaning = self.meaning._replace(offers=meaning.offers, machine_path=meaning.machine_path)

    @property
    def file_name(self) -> str:
        """The last part of its path."""
        return os.path.basename(self.path)

    @property
    def followed(self) -> bool:
        """Whether it is small enough to be followed while it is typed; of a larger one only `check` is shown."""
        return len(self.text.text) <= LARGEST

    def _look(self) -> None:
        self.mistakes = syntax_remarks(self.path, self.text.text) if self.followed else []

    def place_remarks(self, project: Project) -> list[Remark]:
        """Mistakes, each at a place in this file: a mistake in a file that it includes stands at the `include`."""
        return [self._place_remark(remark, project) for remark in self.all_remarks]

    @property
    def all_remarks(self) -> list[Remark]:
        """The mistakes that were found while typing, and what the last check found besides."""
        return [*self.mistakes, *self.remarks]

    def _place_remark(self, remark: Remark, project: Project) -> Remark:
        if remark.place.path == self.path:
            return remark
        where = FileStretch(self.path, 0, 0)
        for file in project.names(self.path).files:
            document = project.find_file(file, self.path)
            if document is not None and remark.place.path in project.closure(document):
                where = FileStretch(self.path, file.start, file.end)
                break
        return remark._replace(place=where, related=((remark.place, "here"), *remark.related))


class Workspace:
    """State of an editor: open files by URI, folders, the way positions are counted, and the chosen machine."""

    def __init__(self, machine: str | None = None) -> None:
        self.machine = machine
        self.encoding = "utf-16"
        self.folders: list[str] = []
        self.documents: dict[str, OpenDocument] = {}

    def unsaved_texts(self) -> dict[str, str]:
        """The texts of open files by path."""
        return {document.path: document.text.text for document in self.documents.values()}

    def project(self, document: OpenDocument | None = None) -> Project:
        """The files as they are now, and the machine that a document's times are for."""
        machine = document.meaning.machine_path if document is not None else None
        return Project(self.unsaved_texts(), self.folders, machine)

    def find_analysed(self, uri: str) -> OpenDocument | None:
        """The open file of a URI if it is small enough to be analysed while it is typed, else None."""
        document = self.documents.get(uri)
        return document if document is not None and document.followed else None

    def text(self, path: str) -> DocumentText:
        """The text of a file, open or not."""
        texts = [document.text for document in self.documents.values() if document.path == path]
        return texts[0] if texts else DocumentText(Project().text(path), self.encoding)

    def uri(self, path: str) -> str:
        """The URI of a file, as the editor spells it where it is open."""
        return next((document.uri for document in self.documents.values() if document.path == path), uri_of(path))
