"""The front end: libclang reads the files that a user wrote. This module and `tree*` are all that know of it.

The wheel `libclang` has no headers of its own: those of an installed GCC are looked for where it puts them, and no
program is run. OpenMP stays switched off, since libclang then shows the loops below its pragmas; the pragmas are read
as text.
"""

from __future__ import annotations

import ctypes
import os
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from copy import copy
from functools import cache, cached_property
from glob import glob
from pathlib import Path
from typing import Any

from aspenpy.extract import device_functions, portable_headers
from aspenpy.extract.library_functions import HEADER
from aspenpy.extract.macro_expansion import HeaderText, read_header, require_bounded_expansion
from aspenpy.extract.records import CPP, CUDA, FORTRAN, HEADER_FOLDER_OPTIONS, C
from aspenpy.language.diagnostics import AspenError, Diagnostic, Severity, fail
from aspenpy.language.opening import read_whole_file
from aspenpy.language.source import Source, Span

MOST_ERRORS = 8
"""Errors of a file that are shown."""

KEEP_GOING, MACROS = 0x200, 0x01
"""Options of `clang_parseTranslationUnit`: go on behind a header that is missing, and record macros."""

OLD = ("implicit-int", "implicit-function-declaration", "int-conversion", "incompatible-function-pointer-types")
"""What GCC up to 13 takes with a warning, and old programs have."""

_PRAGMA = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+((?:[^\\\n]|\\\r?\n|\\.)*)", re.MULTILINE)
_NOTHING = re.compile(
    r"(?:\s|//[^\n]*|/\*(?:[^*]|\*(?!/))*+\*/|(?<=\n)[ \t]*#[ \t]*pragma[ \t]+(?:[^\\\n]|\\\r?\n|\\.)*+)*+"
)
"""White space, comments and pragmas."""
_DEFINED = re.compile(r"(\w++)(\([^)]*\))?[ \t]*+((?:[^\\\n]|\\\r?\n|\\.)*+)")


@cache
def load_libclang() -> Any:
    """The Python binding of libclang, with functions that its version 18 does not declare."""
    os.environ.setdefault("LIBCLANG_NOTHREADS", "1")  # else it parses on 8 MiB of stack, and dies of deep nesting
    try:
        from clang import cindex
    except ImportError:
        hint = "the package `clang` brings another version: only one of the two can be there"
        fail(
            "missing-libclang",
            "C is read by libclang, which is not installed: pip install 'aspenpy[extract]'",
            hint=hint,
        )
    try:
        lib = cindex.conf.lib
    except cindex.LibclangError as error:
        fail("missing-libclang", f"libclang cannot be loaded: {str(error).splitlines()[0]}")
    for name in ("clang_getCursorBinaryOperatorKind", "clang_getCursorUnaryOperatorKind"):
        function = getattr(lib, name)
        function.argtypes, function.restype = [cindex.Cursor], ctypes.c_int
    unsigned = ctypes.POINTER(ctypes.c_uint)
    places = [cindex.SourceLocation, ctypes.POINTER(cindex.c_object_p), unsigned, unsigned, unsigned]
    lib.clang_getFileLocation.argtypes = places
    lib.clang_getExpansionLocation.argtypes = [cindex.SourceLocation, *[ctypes.c_void_p] * 4]
    lib.clang_getExpansionLocation.restype = None
    lib.clang_Cursor_Evaluate.argtypes, lib.clang_Cursor_Evaluate.restype = [cindex.Cursor], ctypes.c_void_p
    lib.clang_EvalResult_getKind.argtypes, lib.clang_EvalResult_getKind.restype = [ctypes.c_void_p], ctypes.c_int
    lib.clang_EvalResult_getAsLongLong.argtypes = [ctypes.c_void_p]
    lib.clang_EvalResult_getAsLongLong.restype = ctypes.c_longlong
    lib.clang_EvalResult_getAsDouble.argtypes = [ctypes.c_void_p]
    lib.clang_EvalResult_getAsDouble.restype = ctypes.c_double
    lib.clang_EvalResult_dispose.argtypes, lib.clang_EvalResult_dispose.restype = [ctypes.c_void_p], None
    return cindex


def evaluate_constant(cursor: Any) -> int | float | None:
    """Value of a constant expression, None where libclang cannot tell."""
    lib = load_libclang().conf.lib
    result = lib.clang_Cursor_Evaluate(cursor)
    if not result:
        return None
    kind = lib.clang_EvalResult_getKind(result)
    value = None
    if kind == 1:
        value = lib.clang_EvalResult_getAsLongLong(result)
    elif kind == 2:
        value = lib.clang_EvalResult_getAsDouble(result)
    lib.clang_EvalResult_dispose(result)
    return value


class SourceText:
    """One file of the user: its source, and the conversion of libclang's byte offsets to characters."""

    def __init__(self, name: str, data: bytes) -> None:
        self.source = Source(data.decode("utf-8", "replace"), name, os.path.realpath(name))
        self._continued = [] if data.isascii() else [at for at, byte in enumerate(data) if byte & 0xC0 == 0x80]
        self.pragmas = [(match.end(), _join_lines(match[1])) for match in _PRAGMA.finditer(self.source.text)]
        self._ends = [end for end, _ in self.pragmas]

    @cached_property
    def as_header(self) -> HeaderText:
        """The macros and words that the file brings where it is included."""
        return read_header(self.source.text)

    def list_pragmas(self, low: int = 0, high: int | None = None) -> Iterator[tuple[str, Span]]:
        """The pragmas between two offsets in bytes, with their places."""
        first = bisect_right(self._ends, self.character_offset(low))
        behind = len(self.pragmas) if high is None else bisect_right(self._ends, self.character_offset(high))
        for end, text in self.pragmas[first:behind]:
            start = self.source.text.rfind("#", 0, end)
            yield text, Span(self.source, start, end)

    def character_offset(self, offset: int) -> int:
        """Offset in characters of an offset in bytes; bytes that are no UTF-8 count as one character each."""
        return offset - bisect_right(self._continued, offset) if self._continued else offset

    def span(self, start: int, end: int) -> Span:
        return Span(self.source, self.character_offset(start), self.character_offset(end))

    def pragmas_above(self, offset: int) -> tuple[str, ...]:
        """Pragmas above an offset in characters, with nothing but white space and comments between."""
        pragmas: list[str] = []
        at = bisect_right(self._ends, offset) - 1
        while at >= 0:
            end, text = self.pragmas[at]
            if not _NOTHING.fullmatch(self.source.text, end, offset):
                break
            pragmas.insert(0, text)
            at -= 1
        return tuple(pragmas)

    def comment_above(self, offset: int) -> str:
        """The first sentence of the comment that ends on the line above, or behind it on the same line."""
        before = self.source.text[max(0, offset - 2000) : offset].rstrip(" \t")
        if not before.endswith("\n"):
            return ""
        before = _PRAGMA.sub("", before).rstrip()
        block = re.search(r"/\*+((?:[^*]|\*(?!/))*)\*/$", before)
        lines = re.search(r"((?:^[ \t]*//[^\n]*\n?)+)\Z", before, re.MULTILINE)
        text = block[1] if block else lines[1] if lines else ""
        words = " ".join(re.sub(r"^\s*(?://+!?<?|\*+)", "", line).strip() for line in text.splitlines())
        return _shorten_comment(words)

    def comment_behind(self, offset: int) -> str:
        """The comment that follows on the same line."""
        match = re.match(
            r"[^\n]*?(?://+!?<?|/\*+!?<?)[ \t]*([^\n]*?)[ \t]*(?:\*/)?[ \t]*(?=\n|\Z)",
            self.source.text[offset : offset + 400],
        )
        return _shorten_comment(match[1]) if match else ""


def _join_lines(text: str) -> str:
    return " ".join(re.sub(r"\\\r?\n", " ", text).split())


def _shorten_comment(words: str) -> str:
    """One line of at most 90 printable characters."""
    text = "".join(char if char.isprintable() else " " for char in words)
    text = " ".join(text.split())
    return text if len(text) <= 90 else text[:87].rsplit(" ", 1)[0] + " ..."


class ParsedUnit:
    """A translation unit that libclang has read, with the texts of the user's files in it; those of headers are
    `shared` by real path among the units of a program."""

    def __init__(self, path: str, options: tuple[str, ...] = (), shared: dict[str, SourceText] | None = None) -> None:
        self.path = path
        self.options = options
        self.shared: dict[str, SourceText] = {} if shared is None else shared
        self.texts: dict[str, SourceText] = {path: self._read_text(path)}
        self._files: dict[int | None, SourceText | None] = {}  # by libclang's address of a file
        require_bounded_expansion(self.text.source, self._read_header)
        self.unit = self._parse([])
        self.diagnostics: list[Diagnostic] = list(self._list_diagnostics())

    @property
    def is_cuda(self) -> bool:
        return os.path.splitext(self.path)[1] in CUDA

    @property
    def warp(self) -> int:
        """Threads of a warp, by the last option that says so."""
        said = [word for word in self.options if word in map(device_functions.warp_option, (32, 64))]
        if said:
            return 64 if said[-1] == device_functions.warp_option(64) else 32
        return device_functions.WARPS.get(os.path.splitext(self.path)[1], 32)

    def _parse(self, given: list[tuple[str, bytes]], *more: str) -> Any:
        """libclang's translation unit, with texts in place of files."""
        cindex = load_libclang()
        own = os.path.dirname(os.path.abspath(__file__))
        flags = [*_language_flags(self.path), "-ferror-limit=0", *more, *self.options, *_header_flags(self.path)]
        files = [(os.path.join(own, "mpi.h"), HEADER), *given]  # found where no other is
        files += ((os.path.join(own, name), text) for name, text in portable_headers.HEADERS.items())
        if self.is_cuda:
            texts = ((name, device_functions.HEADER) for name in device_functions.NAMES)
            files += ((os.path.join(own, "device", name), text) for name, text in texts)
            flags.append(device_functions.warp_option(self.warp))
            flags = ["-isystem", os.path.join(own, "device"), "-include", device_functions.NAMES[0], *flags]
        try:
            index = cindex.Index.create()
            arguments = [*flags, "-idirafter", own]
            return index.parse(self.path, args=arguments, unsaved_files=files, options=MACROS | KEEP_GOING)
        except cindex.TranslationUnitLoadError:
            return fail("unreadable-source", f"libclang cannot read `{self.path}`", hint="is it a file of C or C++?")

    def read_with(self, behind: str) -> ParsedUnit:
        """The unit with a text `behind` it, which may call whatever it likes; errors in that are left out."""
        other = copy(self)
        other._files = {}
        other.unit = other._parse([(self.path, _read_bytes(self.path) + behind.encode())], "-fno-access-control")
        return other

    @property
    def text(self) -> SourceText:
        return self.texts[self.path]

    def find_text(self, file: Any) -> SourceText | None:
        """The text of a file that the user wrote; None for others."""
        if file is None:
            return None
        name: str = file.name
        if name not in self.texts:
            try:
                self.texts[name] = self._read_text(name)
            except AspenError:
                return None
        return self.texts[name]

    def _read_text(self, name: str) -> SourceText:
        real = os.path.realpath(name)
        if real not in self.shared:
            self.shared[real] = SourceText(name, _read_bytes(name))
        return self.shared[real]

    def _read_header(self, name: str) -> HeaderText:
        """A header by its way from the folder of the unit. Raises AspenError."""
        return self._read_text(os.path.join(os.path.dirname(self.path), name)).as_header

    def span(self, cursor: Any) -> Span | None:
        """Span of a cursor, of a macro where it is used; None outside of the user's files."""
        lib = load_libclang().conf.lib
        extent = lib.clang_getCursorExtent(cursor)
        file, start, end = ctypes.c_void_p(), ctypes.c_uint(), ctypes.c_uint()
        location = lib.clang_getRangeStart(extent)
        lib.clang_getExpansionLocation(location, ctypes.byref(file), None, None, ctypes.byref(start))
        lib.clang_getExpansionLocation(lib.clang_getRangeEnd(extent), None, None, None, ctypes.byref(end))
        if file.value not in self._files:
            self._files[file.value] = self.find_text(location.file)
        text = self._files[file.value]
        return None if text is None else text.span(start.value, max(end.value, start.value + 1))

    def is_users(self, location: Any) -> bool:
        """Whether a place lies in the file itself or in a header that is not the system's."""
        return location.file is not None and not location.is_in_system_header

    def file_offset(self, location: Any) -> tuple[Any, int]:
        """File and offset at which something is written: in the argument of a macro there, in its body where the macro
        is used."""
        cindex = load_libclang()
        file, line, column, offset = cindex.c_object_p(), ctypes.c_uint(), ctypes.c_uint(), ctypes.c_uint()
        cindex.conf.lib.clang_getFileLocation(location, *map(ctypes.byref, (file, line, column, offset)))
        return (cindex.File(file) if file else None), offset.value

    @cached_property
    def macro_bodies(self) -> dict[str, str]:
        """Bodies of the user's macros by name, with those of the command line."""
        matches = (re.fullmatch(r"-D(\w++)=?(.*)", option, re.DOTALL) for option in self.options)
        given = {match[1]: match[2] for match in matches if match is not None}
        kind = load_libclang().CursorKind.MACRO_DEFINITION
        for cursor in self.unit.cursor.get_children():
            if cursor.kind is kind and self.is_users(cursor.location):
                start = cursor.extent.start
                text = self.find_text(start.file)
                match = text and _DEFINED.match(text.source.text, text.character_offset(start.offset))
                if match:
                    given[match[1]] = _join_lines(re.sub(r"/\*.*?\*/|//.*", " ", match[3]))
        return given

    def macro_span(self, name: str) -> Span | None:
        kind = load_libclang().CursorKind.MACRO_DEFINITION
        for cursor in self.unit.cursor.get_children():
            if cursor.kind is kind and cursor.spelling == name and self.is_users(cursor.location):
                return self.span(cursor)
        return None

    def _list_diagnostics(self) -> Iterator[Diagnostic]:
        """libclang's errors in the user's files; they are warnings where a header is missing, since the others follow
        from that."""
        said = [item for item in self.unit.diagnostics if item.severity >= 3 and not item.location.is_in_system_header]
        self._require_own_files(said)
        missing = [item for item in said if "file not found" in item.spelling]
        severity: Severity = "warning" if missing else "error"
        diagnostics = [
            self._make_diagnostic(item, severity) for item in (missing + [item for item in said if item not in missing])
        ]
        if diagnostics and not missing:
            raise AspenError(*diagnostics[:MOST_ERRORS])
        yield from diagnostics[:MOST_ERRORS]

    def _require_own_files(self, errors: Sequence[Any]) -> None:
        """Raises AspenError for errors in a file that lies in no folder of the user's: its lines and words are not
        shown, since a source may include any file."""
        own = [os.path.realpath(folder) for folder in (os.path.dirname(self.path) or ".", ".", *self._header_folders())]
        for name in dict.fromkeys(item.location.file.name for item in errors if item.location.file is not None):
            if not any(Path(os.path.realpath(name)).is_relative_to(folder) for folder in own):
                places = (include.location for include in self.unit.get_includes() if include.include.name == name)
                here = next(
                    (place for place in places if place.file is not None and place.file.name == self.path), None
                )
                span = None if here is None else self.text.span(here.offset, here.offset + len(name) + 2)
                hint = "its lines are not shown: it is in none of the folders of the sources; -I names more"
                fail("c-syntax", f"`{name}` is included, and is not correct {self._language}", span, hint=hint)

    @property
    def _language(self) -> str:
        suffix = os.path.splitext(self.path)[1]
        return "C" if suffix in C else "CUDA" if suffix in CUDA else "C++"

    def _header_folders(self) -> Iterator[str]:
        """The folders that options name, as `-I FOLDER` or `-IFOLDER`."""
        for option, following in zip(self.options, (*self.options, "")[1:], strict=True):
            for flag in HEADER_FOLDER_OPTIONS:
                if option.startswith(flag):
                    yield option.removeprefix(flag) or following

    def _make_diagnostic(self, item: Any, severity: Severity) -> Diagnostic:
        place, text = item.location, self.find_text(item.location.file)
        span = None
        if text is not None:
            word = re.match(r"\w+|", text.source.text[text.character_offset(place.offset) :])
            span = text.span(place.offset, place.offset + max(1, len(word[0]) if word else 1))
        missing = re.fullmatch(r"'(.*)' file not found", item.spelling)
        if missing is not None:
            hint = "give the folder of headers with -I FOLDER; code that needs this one is left out"
            return Diagnostic("missing-header", f"header not found: `{missing[1]}`", span, hint=hint, severity=severity)
        words = item.spelling.replace("'", "`")
        read = portable_headers.HINT if re.search(r"in namespace `(?:Kokkos|sycl)`", words) else None
        return Diagnostic("c-syntax", words, span, hint=read, severity=severity)


def _read_bytes(path: str) -> bytes:
    data = read_whole_file(path)
    if b"\0" in data:
        fail("unreadable-source", f"`{path}` is not a text: it has bytes of 0")
    return data


def _language_flags(path: str) -> list[str]:
    suffix = os.path.splitext(path)[1]
    if suffix in CPP:
        return ["-x", "c++", "-std=c++17"]
    if suffix in CUDA:  # neither a toolkit nor its library is looked for; the bodies of kernels are read all the same
        modes = ["--cuda-host-only", "-nocudainc", "-nocudalib", "-Wno-unknown-cuda-version"]
        return ["-x", "cuda", "-std=c++17", *modes]
    if suffix in C:
        return ["-x", "c", "-std=gnu11", *(f"-Wno-error={name}" for name in OLD)]
    suffixes = ", ".join(sorted(C | CPP | CUDA | FORTRAN, key=str.lower))
    message = f"`{path}` is neither C, C++, CUDA nor Fortran by its name"
    return fail("unknown-language", message, hint=f"their files end in {suffixes}")


def _header_flags(path: str) -> list[str]:
    """Flags for the header folders of an installed GCC, the newest of each kind, in GCC's order."""
    folders: list[str] = []
    if os.path.splitext(path)[1] in CPP | CUDA:
        newest = _find_newest("/usr/include/c++/*")
        folders += [*newest, *(name for new in newest for name in glob(f"/usr/include/*/c++/{os.path.basename(new)}"))]
    folders += [*_find_newest("/usr/lib/gcc/*/*/include"), "/usr/local/include", *glob("/usr/include/*-linux-gnu")]
    return [word for folder in (*folders, "/usr/include") for word in ("-isystem", folder)]


def _find_newest(pattern: str) -> list[str]:
    def version(folder: str) -> list[int]:
        return [int(number) for number in re.findall(r"\d+", folder)[-3:]]

    return sorted((folder for folder in glob(pattern) if re.search(r"/\d[\d.]*(/include)?$", folder)), key=version)[-1:]
