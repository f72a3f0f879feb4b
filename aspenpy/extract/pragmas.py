"""Pragmas of a source: OpenMP's and OpenACC's make loops parallel; COMPASS's (Lee, Meredith and Vetter, "COMPASS: A
Framework for Automated Performance Modeling and Prediction", ICS 2015) give passes of loops and shares of branches that
the source does not say."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Literal

from aspenpy.language.diagnostics import Diagnostic, warning
from aspenpy.language.source import Span
from aspenpy.record import Record

_CLAUSE = re.compile(r"(?<!\w)(\w++)\s*+\(((?:[^()]|\([^()]*\))*+)\)")
_WORKS = frozenset("for distribute loop taskloop do kernels".split())
_OFFLOADS = frozenset("target acc".split())


class Directive(Record):
    """A pragma: the words before its clauses, and its clauses."""

    words: tuple[str, ...]
    clauses: tuple[tuple[str, str], ...]

    @property
    def is_parallel(self) -> bool:
        """Whether the passes of the loop below run side by side."""
        return self.words[:1] in (("omp",), ("acc",)) and bool(_WORKS & {*self.words}) and "end" not in self.words

    @property
    def is_offloaded(self) -> bool:
        """Whether the loop below runs on a device, as many passes at once as there are."""
        return self.is_parallel and bool(_OFFLOADS & {*self.words})

    @property
    def is_device(self) -> bool:
        """Whether the directive speaks of a device."""
        return self.words[:1] in (("omp",), ("acc",)) and bool(_OFFLOADS & {*self.words}) and "end" not in self.words

    @property
    def is_sequential(self) -> bool:
        """Whether each thread makes all passes of the loop below, as OpenACC's `seq` says."""
        return "seq" in self.words

    @property
    def schedule(self) -> Literal["static", "dynamic"] | None:
        """Schedule of a loop's passes over threads: in one block each, the default of GCC and Clang, or as threads
        become free; None for any other schedule."""
        if self.words[:1] != ("omp",) or not {"for", "do"} & {*self.words}:
            return None
        kind, comma, _ = dict(self.clauses).get("schedule", "static").rpartition(":")[2].partition(",")
        if kind.strip() == "static":
            return None if comma else "static"
        return "dynamic" if kind.strip() in ("dynamic", "guided") else None

    @property
    def is_simd(self) -> bool:
        return "simd" in self.words

    @property
    def collapsed_loops(self) -> int:
        """Number of nested loops that the pragma combines."""
        text = dict(self.clauses).get("collapse", "")
        return int(text) if text.isdigit() and int(text) else 1

    @property
    def reductions(self) -> tuple[str, ...]:
        """Variables that each thread has a copy of, combined behind the loop."""
        lists = (text.partition(":")[2] for name, text in self.clauses if name == "reduction")
        return tuple(name.strip() for text in lists for name in text.split(","))


def is_atomic(pragmas: tuple[str, ...]) -> bool:
    """Whether a directive makes the update below it atomic."""
    return any(re.match(r"(?:omp|acc)\s+atomic\b", pragma.strip(), re.IGNORECASE) for pragma in pragmas)


def parse_directives(pragmas: tuple[str, ...]) -> Iterator[Directive]:
    for pragma in pragmas:
        clauses = tuple((name, text.strip()) for name, text in _CLAUSE.findall(pragma))
        yield Directive(tuple(re.findall(r"\w+", _CLAUSE.sub(" ", pragma))), clauses)


def parallel_directive(pragmas: tuple[str, ...]) -> Directive | None:
    """The pragma that makes a loop parallel."""
    return next((item for item in parse_directives(pragmas) if item.is_parallel), None)


def is_offloaded(pragmas: tuple[str, ...]) -> bool:
    """Whether directives above a loop make a launch of it."""
    return parallel_directive(pragmas) is not None and any(item.is_device for item in parse_directives(pragmas))


KERNELS, TARGET = "acc kernels", "omp target"
"""Pragmas of loops in an offloaded block: OpenACC's `kernels` shares out those without directives, too."""


def select_device(pragmas: tuple[str, ...]) -> Iterator[str]:
    """Pragmas that speak of a device."""
    found = (pragma for pragma in pragmas if any(item.is_device for item in parse_directives((pragma,))))
    return (pragma for pragma in found if not find_transfer(pragma, is_fortran=False))


def offloading_pragma(pragmas: tuple[str, ...]) -> str:
    """The pragma of the loops in a block below others; nothing where the block runs on the host."""
    words = [{*item.words} for item in parse_directives(pragmas) if not {"data", "host_data"} & {*item.words}]
    return "" if not words else KERNELS if any("kernels" in each for each in words) else TARGET


Transfer = Literal["enter", "exit", "update", "begin", "end", ""]


def find_transfer(pragma: str, is_fortran: bool) -> Transfer:
    """The way in which a directive that stands alone moves data, which enter the device, leave it or are brought up to
    date; in Fortran those that begin and end a region of data stand alone, too. Empty for others."""
    (directive,) = parse_directives((pragma,))
    words = {*directive.words}
    if directive.words[:1] not in (("omp",), ("acc",)) or not _OFFLOADS & words:
        return ""
    if is_fortran and "data" in words and not {"enter", "exit"} & words:
        return "end" if "end" in words else "begin"
    return next((name for name in ("enter", "exit", "update") if name in words), "")


def drop_transfers(pragmas: tuple[str, ...], *, is_fortran: bool = True) -> tuple[str, ...]:
    """Pragmas without those that stand alone."""
    return tuple(pragma for pragma in pragmas if not find_transfer(pragma, is_fortran))


def warn_uncounted(pragmas: Iterable[tuple[str, Span | None]]) -> Iterator[Diagnostic]:
    """Warnings of copies at the begin of the program, or of a function, which declarations ask for."""
    for pragma, span in pragmas:
        for item in parse_directives((pragma,)):
            if item.is_device and "declare" in item.words and any(name in _CLAUSES for name, _ in item.clauses):
                message = f"the copies of `{' '.join(item.words)}` are not counted"
                yield warning("not-counted", message, span, hint="those of directives above statements are")


def read_aspen_control(pragmas: tuple[str, ...], what: Literal["loop", "probability"]) -> float | None:
    """Reads COMPASS's `aspen control`: `loop` passes, or the `probability` of a branch."""
    for pragma in pragmas:
        words = re.match(r"aspen\s+control\b(.*)", pragma)
        number = words and re.search(rf"\b{what}\s*\(\s*([0-9.eE+-]+)\s*\)", words[1])
        if number:
            try:
                return float(number[1])
            except ValueError:
                continue
    return None


# -- copies ----------------------------------------------------------------------------------------

_TO = frozenset("to tofrom copyin copy device".split())
_FROM = frozenset("from tofrom copyout copy host self".split())
_CLAUSES = frozenset("map copy copyin copyout create present delete detach".split())
_UPDATES = frozenset("to from host self device".split())


class Mapped(Record):
    """An array of a clause: its name, the elements along its sections as text, none for the whole array, and which ways
    it is copied."""

    name: str
    sections: tuple[str, ...]
    is_input: bool
    is_output: bool
    text: str
    clause: str = ""


def list_mapped(pragmas: tuple[str, ...], is_fortran: bool) -> Iterator[Mapped]:
    """Arrays that `map`, `copy`, `copyin`, `copyout` and their like name (OpenMP 5.2, 5.8.3; OpenACC 3.3, 2.7)."""
    for directive in parse_directives(pragmas):
        if directive.is_device:
            known = _UPDATES if "update" in directive.words else _CLAUSES
            for name, text in directive.clauses:
                plain = re.sub("^(?:p|present_or_)(?=copy|create)", "", name)
                if plain in known:
                    yield from _read_clause(plain, text, is_fortran)


def _read_clause(name: str, text: str, is_fortran: bool) -> Iterator[Mapped]:
    kind, listed = name, text
    if name == "map":
        before, *behind = _split_outside(text, ":")
        words = re.findall(r"\w+", before)
        kind, listed = (words[-1], text[len(before) + 1 :]) if behind and words else ("tofrom", text)
    for item in _split_outside(listed, ","):
        variable, groups = _split_groups(item)
        sections = [part for group in groups for part in (_split_outside(group, ",") if is_fortran else [group])]
        lengths = tuple(_find_length(section, is_fortran) for section in sections)
        yield Mapped(variable, lengths, kind in _TO, kind in _FROM, text=item.strip(), clause=kind)


def _split_outside(text: str, sign: str) -> list[str]:
    """The parts of a text between signs that stand outside of brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "([") - (letter in ")]")
        if letter == sign and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def _split_groups(text: str) -> tuple[str, list[str]]:
    """The text before the first bracket, and the texts in each pair of outer ones."""
    before, groups, depth = "", list[str](), 0
    for letter in text.strip():
        if letter in "([":
            depth += 1
            if depth == 1:
                groups.append("")
                continue
        elif letter in ")]":
            depth -= 1
            if depth == 0:
                continue
        if depth:
            groups[-1:] = [each + letter for each in groups[-1:]]
        elif not groups:
            before += letter
    return before.strip(), groups


def _find_length(section: str, is_fortran: bool) -> str:
    """The number of elements of a section, as text: `low:length` in C, `low:high` in Fortran."""
    low, colon, second = section.partition(":")
    if not colon:
        return "1"
    if not is_fortran:
        return second.strip()
    return f"({second}) - ({low}) + 1" if low.strip() and second.strip() else ""
