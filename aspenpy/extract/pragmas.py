"""Pragmas of a source: OpenMP's and OpenACC's make loops parallel; COMPASS's (Lee, Meredith and Vetter, "COMPASS: A
Framework for Automated Performance Modeling and Prediction", ICS 2015) give passes of loops and shares of branches that
the source does not say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from aspenpy.record import Record

_CLAUSE = re.compile(r"(?<!\w)(\w++)\s*+\(((?:[^()]|\([^()]*\))*+)\)")
_WORKS = frozenset("for distribute loop taskloop do".split())
_OFFLOADS = frozenset("target acc".split())


class Directive(Record):
    """A pragma: the words before its clauses, and its clauses."""

    words: tuple[str, ...]
    clauses: tuple[tuple[str, str], ...]

    @property
    def is_parallel(self) -> bool:
        """Whether the passes of the loop below run side by side."""
        return self.words[:1] in (("omp",), ("acc",)) and bool(_WORKS & {*self.words})

    @property
    def is_offloaded(self) -> bool:
        """Whether the loop below runs on a device, as many passes at once as there are."""
        return self.is_parallel and bool(_OFFLOADS & {*self.words})

    @property
    def schedule(self) -> Literal["static", "dynamic"] | None:
        """How threads share the passes of a loop: in one block each, as GCC and Clang do unless told otherwise, or as
        they become free; None for what deals them out in another way."""
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


def parse_directives(pragmas: tuple[str, ...]) -> Iterator[Directive]:
    for pragma in pragmas:
        clauses = tuple((name, text.strip()) for name, text in _CLAUSE.findall(pragma))
        yield Directive(tuple(re.findall(r"\w+", _CLAUSE.sub(" ", pragma))), clauses)


def parallel_directive(pragmas: tuple[str, ...]) -> Directive | None:
    """The pragma that makes a loop parallel."""
    return next((found for found in parse_directives(pragmas) if found.is_parallel), None)


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
