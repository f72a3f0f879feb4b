"""Texts of machine models beside the model: the header a machine is listed under, comments that give the sources of
numbers, and skeletons to begin with (`skeletons/KIND.aspen`)."""

from __future__ import annotations

import os
import re
from collections.abc import Container, Iterator
from typing import Literal, get_args

from aspenpy.language import nodes
from aspenpy.language.source import Source, Span
from aspenpy.models.machine.model import Machine
from aspenpy.record import Record


class NumberOrigin(Record):
    """A number as it was written, at its place, what the comment beside it says, and how the number is `known` by it.

    That is the comment behind it on its line, else the one right above it, else the one above its component.
    """

    name: str
    written: str
    comment: str
    span: Span
    known: str = "published"


STANDINGS = ("measured", "published", "derived", "assumed")
"""How numbers are known."""

_TOLD = (
    ("assumed", re.compile(r"\bassum|\brecalled", re.IGNORECASE)),
    (
        "measured",
        re.compile(
            r"\bmeasured|\bfit|\bseen in use|\bextrapolated|\battains?\b|\bstream\b|\btriad|bench|kerncraft|likwid"
            r"|osu_|cuBLAS|rocBLAS|PyTorch|\breached\b",
            re.IGNORECASE,
        ),
    ),
    ("derived", re.compile(r"\bderived|\bsee above|\bless the\b|\bthe rest\b|[0-9] [x/] [0-9]|\bhalf of|\bpart of")),
)
"""Words of a comment by which a number is known so; without any of them it is published."""

_OF_RANGE = re.compile(r"the (lower|upper) end assumed", re.IGNORECASE)
"""What a comment says of the range of a number, and not of the number."""


def standing_of(comment: str) -> str:
    """The standing of a number by its comment: one of `STANDINGS`. The word that a comment or a part of it begins with
    decides, else words that only such comments have."""
    about_value = _OF_RANGE.sub("", comment)
    for part in about_value.split("; "):
        word = part.partition(":")[0].strip()
        if word in STANDINGS:
            return word
    return next((standing for standing, words in _TOLD if words.search(about_value)), "published")


def provenance(machine: Machine, names: Container[str] | None = None) -> list[NumberOrigin]:
    """The numbers that have a comment, all or those of some names: parameters, then by component quantities,
    properties and powers."""
    origins = []
    for name, expression, span, component in _walk_numbers(machine):
        if expression.span is None or span is None or (names is not None and name not in names):
            continue
        own = comment_at(span)
        comment = own or (_comment_above(component) if component else "")
        if comment:
            known = standing_of(own or _part_about(name, comment))
            origins.append(NumberOrigin(name, " ".join(expression.span.text().split()), comment, span, known))
    return origins


_ALSO = {"associativity": "ways", "cacheline": "line"}


def _part_about(name: str, comment: str) -> str:
    """The part of a component's comment that is about one of its numbers, else the part that it begins with."""
    words = name.rpartition(".")[2].split("_")
    parts = re.split(r"[;.] ", comment)
    fitting = (part for part in parts if any(_ALSO.get(word, word) in part.lower() for word in words))
    return next(fitting, parts[0])


def comment_at(span: Span) -> str:
    """The comment behind a thing on its line, else the one right above it; empty where there is none."""
    return _comment_behind(span) or _comment_above(span)


def _walk_numbers(machine: Machine) -> Iterator[tuple[str, nodes.Expression, Span | None, Span | None]]:
    """Name, expression, place, and the place of the component around it."""
    for parameter in machine.declared.values():
        yield parameter.name, parameter.value, parameter.span, None
    for component in {node.name: node for node in machine.node.components}.values():
        for item in component.items:
            if isinstance(item, nodes.Part) and item.quantity is not None:
                yield f"{component.name}.{item.name}", item.quantity, item.span, component.span
            elif isinstance(item, nodes.Property) and item.value is not None:
                yield f"{component.name}.{item.name}", item.value, item.span, component.span
            elif isinstance(item, nodes.PowerDraw):
                yield f"{component.name}.{item.kind} power", item.watts, item.span, component.span


def _comment_behind(span: Span) -> str:
    source, _, end = span.resolve()
    stop = source.text.find("\n", end)
    rest = source.text[end : len(source.text) if stop < 0 else stop]
    return rest.partition("//")[2].strip()


def _comment_above(span: Span) -> str:
    """The comment lines right above the line that a thing begins on. Those that a file begins with are about it."""
    source, start, _ = span.resolve()
    lines: list[str] = []
    for line in _walk_upwards(source, start):
        if not line.startswith("//"):
            break
        lines.append(line.removeprefix("//").strip())
    else:
        return ""
    return " ".join(reversed(lines)).strip()


def _walk_upwards(source: Source, start: int) -> Iterator[str]:
    """The lines above, from the nearest on."""
    end = source.text.rfind("\n", 0, start)
    while end > 0:
        begin = source.text.rfind("\n", 0, end) + 1
        yield source.text[begin:end].strip()
        end = begin - 1


_LINE = re.compile(r"// *+(kind|vendor|year): *+(.*\S)")


class Header(Record):
    """Header that a machine is listed under; None for a field that its file does not state."""

    kind: str | None
    vendor: str | None
    year: int | None


def read_header(text: str) -> Header:
    """The header of a file's text: the comment lines that it begins with."""
    facts: dict[str, str] = {}
    for line in text.splitlines():
        if not line.startswith("//"):
            break
        match = _LINE.fullmatch(line.rstrip())
        if match:
            facts.setdefault(match[1], match[2])
    year = facts.get("year", "")
    return Header(facts.get("kind"), facts.get("vendor"), int(year) if re.fullmatch(r"[0-9]{1,4}", year) else None)


Kind = Literal["cpu", "gpu", "cluster"]
KINDS: tuple[Kind, ...] = get_args(Kind)

TEMPLATES = os.path.join(os.path.dirname(__file__), "skeletons")


def skeleton(name: str, kind: Kind = "cpu") -> str:
    """The text of a machine model of that name, which must be an identifier of the language."""
    return _read_template(f"{kind}.aspen").replace("NAME", name)


def read_skeleton(file: str) -> str:
    """The text of a file of `skeletons/`."""
    from pathlib import Path  # a prediction reads comments of machines, and no skeleton

    return Path(TEMPLATES, file).read_text(encoding="utf-8")


def _read_template(file: str) -> str:
    return re.sub(r"^include (.*)\n", lambda line: _read_template(line[1]), read_skeleton(file), flags=re.MULTILINE)
