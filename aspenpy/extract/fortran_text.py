"""Files of Fortran: their lines with includes and conditional sources resolved, and their statements by fparser.

fparser (BSD) reads Fortran 2003 and most of 2008, in free and in fixed form. It knows neither the C preprocessor, of
which `#if`, `#define` and `#include` are followed here, nor comments that direct a compiler (`!$omp`, `!$acc`), which
are read as text.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, partial
from typing import Any

from aspenpy.extract.fortran_coarrays import RemoteReference, read_coarrays
from aspenpy.extract.fortran_submodules import replace_separate_procedures
from aspenpy.extract.records import FIXED_FORM, PREPROCESSED
from aspenpy.language.diagnostics import Diagnostic, fail
from aspenpy.language.opening import read_whole_file
from aspenpy.language.source import Source, Span
from aspenpy.record import NamedTuple

MOST_INCLUDED = 16
"""How deeply files include each other."""

MOST_LINES = 400_000
"""Of a file with what it includes."""

MOST_LETTERS = 100_000
"""Of a line with what macros stand for."""

LONG, MOST_MATCHED = 5_000, 1_000_000
"""Characters of an expression from which on each try to read it counts, and the most in all of them, some 5 s: fparser
reads a chain of operators anew behind each of them."""

FIXED_COLUMNS = 72
"""Of a line in fixed form (Fortran 2018, 6.3.3.1)."""

_CONDITION_LINE = re.compile(r"\s*+#\s*+(\w++)\s*+(.*)")
_INCLUDE = re.compile(r"""\s*include\s*(["'])([^"'\0]+)\1\s*(?:!.*)?""", re.IGNORECASE)
_DIRECTIVE = re.compile(r"^[ \t]*+#[ \t]*+(?:if|ifdef|ifndef|define|include)\b", re.MULTILINE)
_DEFINITION = re.compile(r"(\w+)(\([^)]*\))?\s*(.*)")
_WORD = re.compile(r"'[^']*+'|\"[^\"]*+\"|[A-Za-z_]\w*+")
_PASTED = re.compile(r"(?:(?<!\s)\s++)?##\s*+|/\*.*?\*/")
"""What joins words in the body of a macro, also as `cpp -traditional` does it."""

_SENTINEL = re.compile(r"\s*[!cC*]\$(omp|acc|aspen)\b(&?)(.*)", re.IGNORECASE)
_TYPED_HEADER = re.compile(r"(\bdo\s++concurrent\s*+\()\s*+integer\s*+(?:\([^()]*+\)\s*+)?+::", re.IGNORECASE)
"""The type of the indices of `do concurrent`, which fparser does not read."""

_BINDINGS = re.compile(r"\s*+procedure\b[^:;]*+::", re.IGNORECASE)
_BINDING = re.compile(r"\w[^,;&]*+")

_ASSIGN = re.compile(r"^([^!'\"\n]*?)\bassign[ \t]+(\d+)[ \t]+to[ \t]+(\w+)", re.IGNORECASE | re.MULTILINE)
_ASSIGNED_JUMP = re.compile(
    r"^((?![cC*!])[^!'\"\n]*?\bgo[ \t]*to[ \t]*)([a-z]\w*)(?:[ \t]*+,?[ \t]*+\([\d ,]*\))?[ \t]*+(?=!|$)",
    re.IGNORECASE | re.MULTILINE,
)
"""Statements of Fortran 77 that Fortran 95 has deleted."""

_STRINGS = re.compile(r"'[^']*+'|\"[^\"]*+\"")
_FREE_COMMENT = re.compile(r"\s*+(?:!|$)")
_FIXED_COMMENT = re.compile(r"[cC*!dD]|\s*+(?:!|$)")
_FAILED_LINE = re.compile(r"at line (\d+)")


class FortranLine(NamedTuple):
    """A line as the compiler sees it, with its file and the offset at which it begins there. Statements behind `;`
    have lines of their own."""

    text: str
    source: Source
    start: int


@cache
def load_parser() -> Any:
    """fparser's parser of Fortran 2008, and the modules of its reader and its nodes."""
    try:
        from fparser.common import readfortran, sourceinfo
        from fparser.two import Fortran2003, utils
        from fparser.two.parser import ParserFactory
    except ImportError:
        fail("missing-fparser", "Fortran is read by fparser, which is not installed: pip install 'aspenpy[fortran]'")
    return ParserFactory().create(std="f2008"), readfortran, sourceinfo, Fortran2003, utils


def is_expression(text: str) -> bool:
    """Whether a text is an expression."""
    _, _, _, nodes, utils = load_parser()
    try:
        return nodes.Expr(text) is not None
    except utils.NoMatchError:
        return False


class _Lengthy(Exception):
    """Expressions of which fparser would take minutes."""


@contextmanager
def _remember_matches(utils: Any) -> Iterator[None]:
    """Lets fparser match each text with each class of nodes once: it tries some forty classes for a statement, and many
    levels of operators for each operand. Equal expressions share their nodes."""
    match = utils.Base.__new__
    matches: dict[tuple[Any, str], Any] = {}
    matched = 0

    def match_once(cls: Any, string: Any, parent_cls: Any = None, _deepcopy: bool = False) -> Any:
        if type(string) is not str or parent_cls is not None or _deepcopy:
            return match(cls, string, parent_cls, _deepcopy)
        nonlocal matched
        key = cls, string
        if key not in matches:
            if len(string) > LONG and (matched := matched + len(string)) > MOST_MATCHED:
                raise _Lengthy
            try:
                matches[key] = match(cls, string)
            except utils.NoMatchError as error:
                matches[key] = error.args
                raise
        known = matches[key]
        if isinstance(known, tuple):
            raise utils.NoMatchError(*known)
        return known

    utils.Base.__new__ = match_once
    try:
        yield
    finally:
        utils.Base.__new__ = match


class FortranText:
    """One file of Fortran, with what it includes: its statements as fparser's tree, and where each of them stands.
    `sizes` are the bytes of reals and integers without a kind."""

    def __init__(self, path: str, flags: Sequence[str] = ()) -> None:
        self.path = path
        is_fixed = os.path.splitext(path)[1] in FIXED_FORM
        self.is_fixed = "-ffixed-form" in flags or (is_fixed and "-ffree-form" not in flags)
        self.sizes = 8 if "-fdefault-real-8" in flags else 4, 8 if "-fdefault-integer-8" in flags else 4
        self.folders = [os.path.dirname(path) or ".", *(flag[2:] for flag in flags if flag.startswith("-I"))]
        given = (re.fullmatch(r"-D(\w+)(?:=(.*))?", flag, re.DOTALL) for flag in flags)
        self.macros = {match[1]: match[2] or "1" for match in given if match is not None}
        self.macro_formals: dict[str, list[str]] = {}  # of macros with arguments
        self.defined_again: set[str] = set()  # macros that the text gives other values than the flags
        self.diagnostics: list[Diagnostic] = []
        self._bindings = ""  # `procedure ::` of a list of names that goes on
        self.remote: dict[int, tuple[RemoteReference, ...]] = {}  # references to other images, by line
        self.separate: frozenset[int] = frozenset()  # lines of `module procedure` in submodules
        self._read = 0  # lines
        self.lines = list(self._expand(path, os.path.splitext(path)[1] in PREPROCESSED or "-cpp" in flags, 0))
        self.source = self.lines[0].source if self.lines else Source("", path, os.path.realpath(path))

    def parse(self) -> Any:
        """fparser's tree of the file. Raises AspenError at the first statement that is no Fortran."""
        parser, readfortran, sourceinfo, _, utils = load_parser()
        read = [read_coarrays(_parsed_text(line, self.is_fixed), self._is_comment(line.text)) for line in self.lines]
        self.remote = {number: found for number, (_, found) in enumerate(read, start=1) if found}
        text, self.separate = replace_separate_procedures(_replace_assigned("\n".join(text for text, _ in read)) + "\n")
        reader = readfortran.FortranStringReader(text, ignore_comments=True, process_directives=False)
        reader.set_format(sourceinfo.FortranFormat(not self.is_fixed, False))
        try:
            with _remember_matches(utils):
                return parser(reader)
        except (
            utils.FortranSyntaxError,
            utils.InternalSyntaxError,
            utils.InternalError,
            RecursionError,
            _Lengthy,
            SystemExit,
        ) as error:  # fparser's reader ends the process on a name without a construct
            match = _FAILED_LINE.search(str(error))
            line = int(match[1]) if match else min(max(1, reader.linecount), len(self.lines))
            if isinstance(error, RecursionError):
                fail("too-deep", "this is nested too deeply for fparser", self.span(line, line))
            if isinstance(error, _Lengthy):
                fail("too-long", "this is too long for fparser", self.span(line, line))
            hint = "it knows Fortran 77 to 2008; --function models others of a program without this file"
            return fail("fortran-syntax", "fparser does not read this as Fortran", self.span(line, line), hint=hint)

    def span(self, first: int, last: int) -> Span | None:
        """The span of some lines, counted from 1, without the white space around them."""
        if not 1 <= first <= len(self.lines):
            return None
        begin, end = self.lines[first - 1], self.lines[min(max(first, last), len(self.lines)) - 1]
        text, source = begin.text, begin.source
        start = begin.start + len(text) - len(text.lstrip())
        stop = end.start + len(end.text.rstrip()) if end.source is source else begin.start + len(text)
        return Span(source, start, max(start + 1, stop))

    def list_pragmas(self) -> Iterator[tuple[str, Span | None]]:
        """All directives with their lines."""
        for number, line in enumerate(self.lines, start=1):
            if match := _SENTINEL.match(line.text):
                yield f"{match[1].lower()} {match[3].strip('& ').lower()}", self.span(number, number)

    def pragmas_above(self, first: int) -> tuple[str, ...]:
        """The directives on the lines above one, with nothing but comments between."""
        pragmas: list[str] = []
        at = first - 2
        while at >= 0 and self.is_comment(at + 1):
            if match := _SENTINEL.match(self.lines[at].text):
                words = match[3].strip()
                is_continued = bool(match[2]) or words.startswith("&")
                text = f"{match[1].lower()} {words.strip('& ').lower()}"
                if pragmas and pragmas[0].startswith("&"):
                    text = f"{text} {pragmas.pop(0)[1:]}"
                pragmas.insert(0, f"&{text.partition(' ')[2]}" if is_continued else text)
            at -= 1
        return tuple(text for text in pragmas if not text.startswith("&"))

    def pragmas_below(self, last: int) -> tuple[str, ...]:
        """The directives on the lines below one, with nothing but comments between."""
        at = last + 1
        while at <= len(self.lines) and self.is_comment(at):
            at += 1
        return self.pragmas_above(at)

    def comment_above(self, first: int) -> str:
        """The text of the comment lines that end on the line above one, in at most 90 characters."""
        words: list[str] = []
        at = first - 2
        while at >= 0 and self.lines[at].text.strip() and self.is_comment(at + 1):
            if _SENTINEL.match(self.lines[at].text) is None:
                words.insert(0, self.lines[at].text.strip().lstrip("!cC*<> -=").strip())
            at -= 1
        text = " ".join(" ".join(words).split())
        return text if len(text) <= 90 else text[:87].rsplit(" ", 1)[0] + " ..."

    def is_comment(self, number: int) -> bool:
        """Whether a line, counted from 1, has nothing but white space and a comment."""
        return self._is_comment(self.lines[number - 1].text)

    def _is_comment(self, text: str) -> bool:
        return (_FIXED_COMMENT if self.is_fixed else _FREE_COMMENT).match(text) is not None

    # -- includes and the preprocessor -------------------------------------------------------------

    def _expand(self, path: str, is_preprocessed: bool, depth: int) -> Iterator[FortranLine]:
        """The lines of a file, those that conditions leave out empty, with those of the files that it includes."""
        data = read_whole_file(path)
        if b"\0" in data:
            fail("unreadable-source", f"`{path}` is not a text: it has bytes of 0")
        source = Source(data.decode("utf-8", "replace"), path, os.path.realpath(path))
        self._read += source.text.count("\n")
        if self._read > MOST_LINES:
            fail("too-large", f"`{self.path}` has more than {MOST_LINES:,} lines, with those that it includes")
        is_preprocessed = (
            is_preprocessed or _DIRECTIVE.search(source.text) is not None
        )  # builds run `cpp` on such files
        taken: list[str] = []  # for each `#if` around: `now`, `later` or `done`
        start, begun = 0, ""  # what goes on behind a backslash
        for whole in source.text.splitlines(keepends=True):
            line = FortranLine(whole.rstrip("\r\n"), source, start)
            start += len(whole)
            directive = _CONDITION_LINE.match(begun + line.text) if is_preprocessed else None
            included = _INCLUDE.fullmatch(line.text)
            if directive is not None and line.text.endswith("\\"):
                begun += line.text[:-1]
                yield line._replace(text="")
                continue
            begun = ""
            if directive is not None:
                yield line._replace(text="")
                name = self._direct(directive[1], directive[2].strip(), taken, line)
            elif any(state != "now" for state in taken):
                yield line._replace(text="")
                name = None
            elif included is not None:
                name = included[2]
            else:
                text = self._replace_macros(line.text, line) if is_preprocessed else line.text
                yield from self._split_statements(line._replace(text=text))
                continue
            if name is not None and all(state == "now" for state in taken):
                yield from self._include(name, is_preprocessed, depth, line)

    def _split_statements(self, line: FortranLine) -> Iterator[FortranLine]:
        """The statements of a line, each on a line of its own."""
        text, *_ = _STRINGS.sub(lambda match: "_" * len(match[0]), line.text).partition("!")
        if not self.is_fixed and (begin := self._begin_of_bindings(text)):
            yield from self._split_bindings(line, text, begin)
            return
        if ";" not in text or "'" in text or '"' in text or self._is_comment(line.text):
            yield line
            return
        first, *others = [match.span() for match in re.finditer("[^;]++", text)] or [(0, len(text))]
        begin = " " * 6 if self.is_fixed else ""
        yield line._replace(text=line.text[: first[1]])
        for start, end in others:
            if part := line.text[start:end].strip():
                at = line.text.index(part, start)
                yield FortranLine(f"{begin}{part}", line.source, line.start + at - len(begin))

    def _begin_of_bindings(self, text: str) -> str:
        """`procedure ::` of a list of names, of which fparser reads one alone; that of the line before where it is
        continued."""
        match = _BINDINGS.match(text)
        begin = match[0].strip() if match is not None and "," in text[match.end() :] else self._bindings
        if begin and text.strip():
            self._bindings = begin if text.rstrip().endswith("&") else ""
        return begin if text.strip() else ""

    def _split_bindings(self, line: FortranLine, text: str, begin: str) -> Iterator[FortranLine]:
        """The names of a list of procedures, each on a line of its own."""
        match = _BINDINGS.match(text)
        for name in _BINDING.finditer(text, 0 if match is None else match.end()):
            at = line.start + name.start() - len(begin) - 1
            yield FortranLine(f"{begin} {name[0].strip()}", line.source, at)

    def _include(self, name: str, is_preprocessed: bool, depth: int, line: FortranLine) -> Iterator[FortranLine]:
        where = Span(line.source, line.start, line.start + max(1, len(line.text)))
        if depth >= MOST_INCLUDED:
            fail("nested", f"files include each other more than {MOST_INCLUDED} deep", where)
        folders = (os.path.dirname(line.source.name), *self.folders)
        found = next((path for folder in folders if os.path.isfile(path := os.path.join(folder, name))), None)
        if found is not None:
            yield from self._expand(found, is_preprocessed, depth + 1)
        elif name.lower() not in ("mpif.h", "omp_lib.h"):
            hint = "give the folder with -I FOLDER; code that needs this one is left out"
            self.diagnostics.append(
                Diagnostic("missing-header", f"file not found: `{name}`", where, hint=hint, severity="warning")
            )
        if found is None and _INCLUDE.fullmatch(line.text):
            yield line  # for the compiler

    def _direct(self, word: str, rest: str, taken: list[str], line: FortranLine) -> str | None:
        """Follows a line of the preprocessor; returns the name of a file to include."""
        if word in ("if", "ifdef", "ifndef"):
            taken.append("now" if self._holds(word, rest, line) else "later")
        elif word == "elif" and taken:
            taken[-1] = "done" if taken[-1] != "later" else "now" if self._holds("if", rest, line) else "later"
        elif word == "else" and taken:
            taken[-1] = "now" if taken[-1] == "later" else "done"
        elif word == "endif" and taken:
            taken.pop()
        elif all(state == "now" for state in taken):
            if word == "define" and (match := _DEFINITION.match(rest)):
                self.defined_again |= {match[1]} & self.macros.keys()
                self.macros[match[1]] = _PASTED.sub("", match[3]) if match[2] is None else match[3]
                self.macro_formals.pop(match[1], None)
                if match[2] is not None:
                    self.macro_formals[match[1]] = [name.strip() for name in match[2].strip("()").split(",")]
            elif word == "undef":
                self.macros.pop(rest, None)
            elif word == "include":
                return rest.strip("\"<>' ")
        return None

    def _holds(self, word: str, rest: str, line: FortranLine) -> bool:
        if word in ("ifdef", "ifndef"):
            return ((rest.split(maxsplit=1) or [""])[0] in self.macros) == (word == "ifdef")
        text = re.sub(r"defined\s*(?:\(\s*(\w+)\s*\)|(\w+))", lambda m: str(int((m[1] or m[2]) in self.macros)), rest)
        text = re.sub(r"[A-Za-z_]\w*", "0", self._replace_macros(text, line))
        text = text.replace("&&", " and ").replace("||", " or ")
        text = re.sub(r"!(?!=)", " not ", text)
        try:
            return bool(_compute(ast.parse(text.strip(), mode="eval").body))
        except (SyntaxError, ValueError, RecursionError, MemoryError):  # of too many brackets and signs
            self._warn("this condition of the preprocessor is not understood: taken not to hold", line)
            return False

    def _warn(self, message: str, line: FortranLine) -> None:
        where = Span(line.source, line.start, line.start + max(1, len(line.text)))
        self.diagnostics.append(Diagnostic("preprocessor", message, where, severity="warning"))

    def _replace_macros(self, text: str, line: FortranLine, hidden: tuple[str, ...] = ()) -> str:
        """A text with the macros in it replaced, but for those that are being replaced."""
        if not self.macros and "__" not in text:
            return text
        result, at = "", 0
        while (match := _WORD.search(text, at)) is not None:
            result, at, name = result + text[at : match.start()], match.end(), match[0]
            body, formals = self.macros.get(name), self.macro_formals.get(name)
            if name == "__LINE__":
                body = str(Span(line.source, line.start, line.start + 1).position().line)
            elif name == "__FILE__":
                body = f'"{os.path.basename(line.source.name)}"'
            given = None if formals is None else _split_arguments(text, at)
            if body is None or name in hidden or (formals is not None and given is None):
                result += name
                continue
            if formals is not None and given is not None:
                values, at = given
                known = dict(zip(formals, (self._replace_macros(part, line, hidden) for part in values), strict=False))
                body = re.sub(r"#\s*(\w+)|\b(\w+)\b", partial(_replace_formal, known), _PASTED.sub("\0", body))
                body = body.replace("\0", "")
            result += self._replace_macros(body, line, (*hidden, name))
            if len(result) > MOST_LETTERS:
                where = Span(line.source, line.start, line.start + max(1, len(line.text)))
                fail("too-large", f"macros make more than {MOST_LETTERS:,} letters of this", where)
        return result + text[at:]


def _split_arguments(text: str, at: int) -> tuple[list[str], int] | None:
    """The arguments in the brackets that begin at a place, and the place behind them; None where none begin or end."""
    begin = at + len(text[at:]) - len(text[at:].lstrip())
    if not text.startswith("(", begin):
        return None
    parts, depth, start = list[str](), 0, begin + 1
    for match in re.compile(r"'[^']*+'|\"[^\"]*+\"|[(),]").finditer(text, begin):
        depth += (match[0] == "(") - (match[0] == ")")
        if (match[0] == "," and depth == 1) or depth == 0:
            parts.append(text[start : match.start()].strip())
            start = match.end()
        if depth == 0:
            return parts, start
    return None


def _replace_formal(known: Mapping[str, str], match: re.Match[str]) -> str:
    """The text in the body of a macro for a word, or for `#` and a word: the argument of that name."""
    if match[1] is not None:
        return f'"{known[match[1]]}"' if match[1] in known else match[0]
    return known.get(match[2], match[2])


def _replace_assigned(text: str) -> str:
    """A text with `x = 9` for `assign 9 to x`, and jumps to what was assigned as those by a number, of which fparser
    reads the latter alone."""
    labels: dict[str, list[str]] = {}
    for match in _ASSIGN.finditer(text):
        labels.setdefault(match[3].lower(), []).append(match[2])

    def jump(match: re.Match[str]) -> str:
        known = ",".join(dict.fromkeys(labels.get(match[2].lower(), ())))
        return f"{match[1]}({known}), {match[2]}" if known else match[0]

    return _ASSIGNED_JUMP.sub(jump, _ASSIGN.sub(r"\1\3 = \2", text)) if labels else text


def _parsed_text(line: FortranLine, is_fixed: bool) -> str:
    """A line as fparser reads it."""
    text = _TYPED_HEADER.sub(r"\1", line.text)
    if is_fixed and "\t" not in text and (end := text.rstrip()).endswith("&") and len(end) > FIXED_COLUMNS:
        text = text[:FIXED_COLUMNS]  # the mark of free form, where fixed form has ended
    return "" if _INCLUDE.fullmatch(line.text) else text


_OPERATORS: dict[type, Any] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Eq: lambda a, b: a == b,
    ast.NotEq: lambda a, b: a != b,
    ast.Lt: lambda a, b: a < b,
    ast.LtE: lambda a, b: a <= b,
    ast.Gt: lambda a, b: a > b,
    ast.GtE: lambda a, b: a >= b,
}


def _compute(node: ast.expr) -> int:
    """Value of a condition of the preprocessor. Raises ValueError for what it does not consist of."""
    match node:
        case ast.Constant(value=int(value)):
            return value
        case ast.BoolOp(op=operator, values=values):
            parts = [bool(_compute(value)) for value in values]
            return all(parts) if isinstance(operator, ast.And) else any(parts)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return not _compute(operand)
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _OPERATORS:
            return int(_OPERATORS[type(operator)](_compute(left), _compute(right)))
        case ast.Compare(left=left, ops=[operator], comparators=[right]) if type(operator) in _OPERATORS:
            return int(_OPERATORS[type(operator)](_compute(left), _compute(right)))
    raise ValueError(ast.dump(node))
