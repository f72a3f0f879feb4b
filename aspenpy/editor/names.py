"""Names: where each name of a file stands, what it is, and from where to where it holds.

It needs words only, so that it knows a file that is being typed as well as one that is complete. Names are found piece
by piece, and those of a piece are kept under its text.
"""

from __future__ import annotations

import re
from functools import lru_cache

from aspenpy.editor.pieces import MOST_FILES_KEPT, MOST_KEPT, pieces
from aspenpy.expr.functions import FUNCTIONS
from aspenpy.language import vocabulary
from aspenpy.language.tables import tables
from aspenpy.language.tokens import words
from aspenpy.language.vocabulary import KEYWORDS, LIST, PARTS, REQUIREMENTS, SI_CONSTANTS, STATEMENTS
from aspenpy.record import NamedTuple

VALUE, DATA, ENUM, MEMBER = vocabulary.PARAMETER, vocabulary.DATA, vocabulary.ENUM, vocabulary.ENUM_MEMBER
KERNEL, MODEL, TRAIT = vocabulary.KERNEL, vocabulary.MODEL, vocabulary.TRAIT
PROPERTY, RESOURCE, TYPE, FUNCTION = vocabulary.PROPERTY, vocabulary.RESOURCE, vocabulary.TYPE, vocabulary.FUNCTION
COUNTER, ARGUMENT, COMPONENT, SHAPE = "counter", "argument", "component", "shape"
"""What a name is: by the vocabulary, or where no keyword declares it."""

VALUES = (VALUE, MEMBER, COUNTER, ARGUMENT, DATA, PROPERTY)
"""What a name in an expression may be; of an argument in a call also data."""

DECLARED = {word.lower(): row.declares for word, row in KEYWORDS.items() if row.declares} | {"sample": COUNTER}
"""What the name behind a keyword is that declares it."""


class TextWord(NamedTuple):
    """A word of a text: the terminal, which of a keyword is `KEYWORD`, its characters, and where it begins."""

    kind: str
    text: str
    start: int


class Name(NamedTuple):
    """A name at its place. `within` is what stands before the last dot (`fft3d`); `scope` is from where to where a
    declaration holds, None for the whole model; `component` is the one around a property or resource. A name behind
    `like` holds for what stands in the braces of that component."""

    name: str
    kind: str
    start: int
    declares: bool = False
    scope: tuple[int, int] | None = None
    within: str = ""
    component: str = ""

    @property
    def end(self) -> int:
        return self.start + len(self.name)


class File(NamedTuple):
    """A file named by an `include` or an `import`: as it is written, its place, and the model that is imported."""

    path: str
    start: int
    end: int
    model: str


class NameIndex(NamedTuple):
    """All names of a file in the order of the text, and the files it names."""

    names: list[Name]
    files: list[File]


@lru_cache(MOST_FILES_KEPT)
def names_of(text: str) -> NameIndex:
    """The names of a file."""
    parts = [_names_from(piece, start) for start, piece in pieces(text)]
    return NameIndex([name for part in parts for name in part.names], [file for part in parts for file in part.files])


@lru_cache(MOST_KEPT)
def _names_from(text: str, start: int) -> NameIndex:
    """The names of a piece that begins there."""
    names, files = names_in(text)
    placed = [
        name._replace(start=name.start + start, scope=name.scope and (name.scope[0] + start, name.scope[1] + start))
        for name in names
    ]
    return NameIndex(placed, [file._replace(start=file.start + start, end=file.end + start) for file in files])


@lru_cache(MOST_KEPT)
def words_in(text: str) -> tuple[TextWord, ...]:
    """The words of a piece, comments too."""
    keywords = tables().keywords
    found = []
    for match in words(text):
        kind = str(match.lastgroup)
        word = match[kind]
        is_keyword = kind == "NAME" and word in keywords
        found.append(TextWord("KEYWORD" if is_keyword else kind, word, match.end() - len(word)))
    return tuple(found)


@lru_cache(MOST_KEPT)
def names_in(text: str) -> NameIndex:
    """The names of a piece, counted from its beginning."""
    return NameReader(text).read()


class _Frame:
    """An open bracket: what stands in it, the first word of the item that is read in it, and the place of a kernel or
    loop that it is the block of. `listed` says whether traits, overrides or the like are listed at this depth; `held`
    are the declarations that hold until the bracket is closed, `waiting` those for the block that is opened next."""

    def __init__(self, kind: str, start: int, header: str = "") -> None:
        self.kind, self.start, self.header = kind, start, header
        self.listed = ""
        self.parts: list[str] = []
        self.component = ""
        self.waiting: list[int] = []
        self.held: list[int] = []


class NameReader:
    """Reads the words of a piece once, with the brackets that are open."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.words = [word for word in words_in(text) if word.kind != "COMMENT"]
        self.frames = [_Frame(STATEMENTS, 0)]
        self.names: list[Name] = []
        self.files: list[File] = []
        self.item: list[int] = []  # declarations whose scope ends with the item

    def read(self) -> NameIndex:
        """The names of the text, and the files that it names."""
        for index, word in enumerate(self.words):
            if word.kind == "KEYWORD":
                self._keyword(word)
            elif word.kind == "NAME":
                self._name(index, word)
            elif word.kind in ("LPAR", "LSQB", "LBRACE"):
                self._open_bracket(index, word)
            elif word.kind in ("RPAR", "RSQB", "RBRACE"):
                self._close_bracket(word)
            elif word.kind == "INCLUDE":
                path = word.text.removeprefix("include").strip()
                end = word.start + len(word.text)
                self.files.append(File(path.strip('"'), end - len(path), end, model=""))
            elif (
                word.kind == "STRING" and self.frames[-1].header == "import" and self._word_at(index, -1).text == "from"
            ):
                model = self._word_at(index, -2).text
                self.files.append(File(word.text[1:-1], word.start, word.start + len(word.text), model))
        self._end_scopes(self.item, len(self.text))
        return NameIndex(self.names, self.files)

    def _word_at(self, index: int, by: int) -> TextWord:
        return self.words[index + by] if 0 <= index + by < len(self.words) else TextWord("", "", len(self.text))

    def _end_scopes(self, indices: list[int], end: int) -> None:
        for index in indices:
            name = self.names[index]
            if name.scope is not None:
                self.names[index] = name._replace(scope=(name.scope[0], end))

    # -- brackets and keywords -------------------------------------------------------------------

    def _open_bracket(self, index: int, word: TextWord) -> None:
        frame = self.frames[-1]
        if word.kind != "LBRACE":
            kind = "group"
        elif frame.kind in ("group", LIST) or self._word_at(index, -1).kind == "EQUAL":
            kind = LIST
        elif (
            self._word_at(index, -1).kind == "NAME"
            and self._word_at(index, -2).kind in ("NAME", "LIKE")
            and not frame.header
        ):
            kind = PARTS
        else:
            row = KEYWORDS.get(frame.header.upper())
            kind = row.holds if row else STATEMENTS
        inner = _Frame(kind, word.start, frame.header if kind in ("group", LIST) else "")
        named = index - 2 if self._word_at(index, -2).kind == "LIKE" else index
        inner.component = self._word_at(named, -1).text if kind == PARTS else frame.component
        inner.listed = "in" if frame.listed else ""
        if word.kind == "LBRACE":
            inner.held, frame.waiting = frame.waiting, []
        self.frames.append(inner)

    def _close_bracket(self, word: TextWord) -> None:
        if len(self.frames) > 1:
            frame = self.frames.pop()
            self._end_scopes(frame.held, word.start + 1)
            if frame.kind == PARTS:
                self._end_scopes(self.item, word.start)
                self.item = []
        if word.kind == "RBRACE" and self.frames[-1].kind != LIST:
            self._begin("")

    def _begin(self, header: str) -> None:
        frame = self.frames[-1]
        frame.header, frame.listed, frame.parts = header, "", []

    def _keyword(self, word: TextWord) -> None:
        row, frame = KEYWORDS.get(word.text.upper()), self.frames[-1]
        if frame.kind == PARTS:
            self._end_scopes(self.item, word.start) if row and row.begins else None
            self.item = [] if row and row.begins else self.item
        if row is not None and row.begins and word.text not in SI_CONSTANTS and frame.kind != "group":
            self._begin(word.text)
        elif word.text == "else":
            self._begin("else")
        elif word.text in ("as", "with") and frame.kind != "group":
            frame.listed = word.text

    # -- names -----------------------------------------------------------------------------------

    def _name(self, index: int, word: TextWord) -> None:
        name = self._read(index, word)
        if name is not None:
            self.names.append(name)

    def _read(self, index: int, word: TextWord) -> Name | None:
        before, after, frame = self._word_at(index, -1), self._word_at(index, 1), self.frames[-1]
        if before.kind == "KEYWORD" and (name := self._behind_keyword(word, before.text, after)) is not None:
            return name
        if before.kind == "DOT" or after.kind == "DOT":
            return self._read_dotted_part(index, word)
        if before.kind == "INSTEAD_OF":
            return Name(word.text, COMPONENT, word.start)
        if before.kind == "LIKE":
            like = self._word_at(index, -2).text
            return Name(word.text, COMPONENT, word.start, scope=self._pend(word), component=like)
        if frame.kind == "group":
            return self._in_group(index, word)
        if frame.listed and before.text in ("as", "with", ","):
            return self._read_list_item(word, after)
        members = self._kind_of_members(frame.header) if frame.kind == LIST else ""
        if members == MEMBER or (members and after.kind == "LSQB"):
            return Name(word.text, members, word.start, members == MEMBER, self._scope_of_kernel())
        if frame.kind == REQUIREMENTS and after.kind == "LSQB":
            self._begin("requirement")
            return Name(word.text, RESOURCE, word.start)
        if frame.kind == PARTS and frame.header in ("", "part"):
            return self._part(word, frame)
        if frame.kind == PARTS and frame.header in ("property", "resource", "static", "dynamic"):
            self._begin("part")
            return self._part(word, frame)
        if frame.kind == PARTS:  # `conflict a, b`, and the part behind it
            if before.text == ",":
                return Name(word.text, RESOURCE, word.start)
            self._begin("part")
            return self._part(word, frame)
        if frame.kind == STATEMENTS and after.kind == "NAME" and self._word_at(index, 2).kind in ("LBRACE", "LIKE"):
            self._begin("")
            return Name(word.text, TYPE, word.start)
        if before.kind == "NAME" and after.kind in ("LBRACE", "LIKE"):
            return Name(word.text, COMPONENT, word.start, declares=True)
        return self._value(word, after)

    def _kind_of_members(self, header: str) -> str:
        row = KEYWORDS.get(header.upper())
        return row.members if row is not None else ""

    def _value(self, word: TextWord, after: TextWord) -> Name:
        is_function = after.kind == "LPAR" and word.text in FUNCTIONS
        return Name(word.text, FUNCTION if is_function else VALUE, word.start)

    def _behind_keyword(self, word: TextWord, keyword: str, after: TextWord) -> Name | None:
        frame = self.frames[-1]
        if keyword in ("param", "data") and frame.kind == "group":
            return self._read_declaration(word, ARGUMENT if keyword == "param" else DATA, self._pend(word))
        if keyword in ("iterate", "map", "of"):
            return self._read_declaration(word, COUNTER, self._pend(word)) if after.kind == "LSQB" else None
        if keyword == "property":
            frame.held.append(len(self.names))
            scope = (frame.start, len(self.text))
            return Name(word.text, PROPERTY, word.start, declares=True, scope=scope, component=frame.component)
        if keyword == "resource":
            return Name(word.text, RESOURCE, word.start, declares=True, component=frame.component)
        if keyword == "import":
            return Name(word.text, MODEL, word.start)
        if keyword in DECLARED:
            return Name(word.text, DECLARED[keyword], word.start, declares=True, scope=self._scope_of_kernel())
        if keyword == "call" and after.kind != "DOT":
            return Name(word.text, KERNEL, word.start)
        if keyword == "conflict":
            return Name(word.text, RESOURCE, word.start)
        if keyword in ("to", "from"):
            return self._value(word, after) if frame.header == "sample" else Name(word.text, DATA, word.start)
        if keyword == "in" and frame.header == "data":
            return Name(word.text, COMPONENT, word.start)
        if keyword == "in" and frame.header == "param" and after.kind in ("KEYWORD", "RBRACE", "", "NAME", "INCLUDE"):
            return Name(word.text, ENUM, word.start)
        return None

    def _read_declaration(self, word: TextWord, kind: str, scope: tuple[int, int] | None) -> Name:
        return Name(word.text, kind, word.start, declares=True, scope=scope)

    def _pend(self, word: TextWord) -> tuple[int, int]:
        """The scope of what is declared before the block that it holds in."""
        frame = next(frame for frame in reversed(self.frames) if frame.kind != "group")
        frame.waiting.append(len(self.names))
        return word.start, len(self.text)

    def _scope_of_kernel(self) -> tuple[int, int] | None:
        """Scope of a declaration inside a kernel; None outside. It ends with the piece, which ends with the kernel."""
        inside = any(frame.kind not in ("group", LIST) for frame in self.frames[1:])
        first = self.words[0]
        return (first.start, len(self.text)) if inside and first.text == "kernel" else None

    def _read_dotted_part(self, index: int, word: TextWord) -> Name:
        """One part of `fft3d.n`: a model, or what is in it."""
        within = ""
        step = index
        while self._word_at(step, -1).kind == "DOT" and self._word_at(step, -2).kind == "NAME":
            step -= 2
            within = f"{self._word_at(step, 0).text}.{within}"
        last = self._word_at(index, 1).kind != "DOT"
        called = self._word_at(step, -1).text == "call"
        kind = (KERNEL if called else VALUE) if last else MODEL
        return Name(word.text, kind, word.start, within=within.rstrip("."))

    def _in_group(self, index: int, word: TextWord) -> Name:
        """The name of a word in brackets: the argument of a resource or of one of its traits, the counter of a `nest`,
        or a value."""
        before, after, frame = self._word_at(index, -1), self._word_at(index, 1), self.frames[-1]
        outer = self.frames[-2]
        alone = before.kind == "LPAR" and after.kind == "RPAR" and frame.kind == "group"
        if alone and outer.kind == PARTS and (outer.listed or self._word_at(index, -3).text == "resource"):
            self.item.append(len(self.names))
            return self._read_declaration(word, ARGUMENT, (word.start, len(self.text)))
        if after.text == "in" and outer.listed and frame.kind == "group":
            frame.held.append(len(self.names))
            return self._read_declaration(word, COUNTER, (frame.start, len(self.text)))
        return self._value(word, after)

    def _read_list_item(self, word: TextWord, after: TextWord) -> Name:
        """A trait, the shape of data, or a parameter of an imported model."""
        header = self.frames[-1].header
        if header == "import":
            return Name(word.text, VALUE, word.start, within=self._imported_model())
        if header == "data":
            return Name(word.text, SHAPE, word.start)
        declares = header == "resource"
        return Name(word.text, TRAIT, word.start, declares, component=self.frames[-1].component)

    def _imported_model(self) -> str:
        models = [name.name for name in self.names if name.kind == MODEL]
        return models[-1] if models else ""

    def _part(self, word: TextWord, frame: _Frame) -> Name:
        """Type and name of a part in turn."""
        if len(frame.parts) == 2:
            frame.parts = []
        frame.parts.append(word.text)
        frame.header = "part"
        self._end_scopes(self.item, word.start)
        self.item = []
        return Name(word.text, TYPE if len(frame.parts) == 1 else COMPONENT, word.start)


def name_at(names: list[Name], offset: int) -> Name | None:
    """The name that an offset is in or just behind."""
    behind = None
    for name in names:
        if name.start <= offset < name.end:
            return name
        if name.end == offset:
            behind = name
    return behind


PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def may_be_named(name: str) -> bool:
    """Whether it is a name, and no keyword."""
    return PLAIN_NAME.fullmatch(name) is not None and name not in tables().keywords
