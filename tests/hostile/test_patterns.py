"""Patterns of the package on input crafted against them: the time that each takes grows with the length of the input,
and not with its square or as a power of two.

For each part of a pattern that may repeat, the input is what leads there, what the part takes many times over, and
something on which the rest fails. The inputs follow from the pattern alone, so that new ones are tried as they come.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from re import _constants as sre  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import pytest

from tests.thorough import slow
from tests.timing import is_done_in, seconds_of

ROOT = Path(__file__).parents[2]
FOUND_BY_SEARCH = ("search", "findall", "finditer", "sub", "subn", "split")
LENGTHS = (8, 12, 16, 20, 24, 200, 2_000, 6_000, 16_000)
MOST_SECONDS = 0.1
"""Of one input: 16,000 steps take some milliseconds, their square a third of a second and more."""

SOON_DONE = MOST_SECONDS / 8**3
"""Seconds with 2,000 steps from which not even a cube leads to more than the most with 16,000."""

CHARACTERS = "a0 \t\n\r,.;:-_/\\\"'#*()[]{}<>=+ABGxé"
ENDS = ("", "\x01", "!", "\n\x01")

SHORT = {
    "aspenpy/editor/completion.py": "what stands before the cursor in a line",
    "aspenpy/editor/hints.py": "what stands before the cursor in a line",
    "aspenpy/editor/pieces.py": "a model of 8 MiB at most, whose texts end in their line",
    "aspenpy/extract/front_end.py": "the 2,000 characters in front of a declaration, and the 400 behind it",
}
"""Files with patterns whose time grows with the square of their input, and why that is short."""


# -- what patterns there are -----------------------------------------------------------------------


@cache
def patterns() -> dict[tuple[str, str, int], tuple[Any, bool]]:
    """By file, text and flags: whether it looks for a place, as `search` does, or begins at the start."""
    found: dict[tuple[str, str, int], tuple[Any, bool]] = {}
    named: dict[str, list[tuple[str, str, int]]] = {}
    files = [file for file in sorted((ROOT / "aspenpy").rglob("*.py")) if file.name != "__main__.py"]
    sources = {file.relative_to(ROOT).as_posix(): file.read_text(encoding="utf-8") for file in files}
    for file, text in sources.items():
        module = import_module(file.removesuffix(".py").replace("/", ".").removesuffix(".__init__"))
        for name, value in vars(module).items():
            if isinstance(value, re.Pattern) and re.search(rf"^{name}\b.*= re\.compile", text, re.MULTILINE):
                key = (file, _text(value.pattern), value.flags)
                found[key] = (value, False)
                named.setdefault(name, []).append(key)
        for node in ast.walk(ast.parse(text)):
            match node:
                case ast.Call(func=ast.Attribute(value=ast.Name("re"), attr=how), args=[ast.Constant(value), *_]) if (
                    how != ("compile")
                ):
                    flags = re.MULTILINE if "MULTILINE" in ast.unparse(node) else 0
                    found[file, _text(value), flags] = (re.compile(value, flags), how in FOUND_BY_SEARCH)
    looking = re.compile(rf"\b(\w+)\.(?:{'|'.join(FOUND_BY_SEARCH)})\(")
    for name in {name for text in sources.values() for name in looking.findall(text)}:
        for key in named.get(name, ()):
            found[key] = (found[key][0], True)
    return found


def _text(pattern: str | bytes) -> str:
    return pattern if isinstance(pattern, str) else pattern.decode("latin-1")


# -- input -----------------------------------------------------------------------------------------


def sample(parsed: Any, choice: int = 0) -> str:
    """A text that a parsed pattern takes, with one of its alternatives; what may be left out is."""
    return "".join(_sample(kind, value, choice) for kind, value in parsed)


def _sample(kind: Any, value: Any, choice: int) -> str:
    if kind is sre.LITERAL:
        return chr(value)
    if kind in (sre.NOT_LITERAL, sre.IN, sre.ANY):
        taken = [character for character in CHARACTERS if _takes(kind, value, character)]
        return taken[choice % len(taken)] if taken else _first(value)
    if kind is sre.BRANCH:
        return sample(value[1][choice % len(value[1])], choice)
    if kind in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
        return sample(value[2], choice) * min(value[0], 50)
    if kind is sre.SUBPATTERN:
        return sample(value[3], choice)
    return sample(value, choice) if kind is sre.ATOMIC_GROUP else ""


def _first(members: Any) -> str:
    return next((chr(part[0] if kind is sre.RANGE else part) for kind, part in members if kind is not sre.NEGATE), "")


CATEGORIES = {
    sre.CATEGORY_DIGIT: str.isdecimal,
    sre.CATEGORY_SPACE: str.isspace,
    sre.CATEGORY_WORD: lambda character: character.isalnum() or character == "_",
}


def _takes(kind: Any, value: Any, character: str) -> bool:
    if kind is sre.ANY:
        return character != "\n"
    if kind is sre.NOT_LITERAL:
        return ord(character) != value
    members = [item for item in value if item[0] is not sre.NEGATE]
    return any(_is_in(item, character) for item in members) is not any(item[0] is sre.NEGATE for item in value)


def _is_in(item: tuple[Any, Any], character: str) -> bool:
    kind, value = item
    if kind is sre.LITERAL:
        return ord(character) == value
    if kind is sre.RANGE:
        return bool(value[0] <= ord(character) <= value[1])
    if value in CATEGORIES:
        return bool(CATEGORIES[value](character))
    opposite = getattr(sre, str(value).replace("_NOT_", "_"))
    return not CATEGORIES[opposite](character)


def repeated(parsed: Any, before: str = "") -> Iterator[tuple[str, str]]:
    """Of each part that may repeat often, what leads there and what it takes once, in each way."""
    for kind, value in parsed:
        if kind in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
            if value[1] >= 100:
                taken = dict.fromkeys(sample(value[2], choice) for choice in range(len(CHARACTERS)))
                yield from ((before, part) for part in taken if part)
            yield from repeated(value[2], before)
        elif kind is sre.SUBPATTERN:
            yield from repeated(value[3], before)
        elif kind is sre.ATOMIC_GROUP:
            yield from repeated(value, before)
        elif kind is sre.BRANCH:
            for part in value[1]:
                yield from repeated(part, before)
        before += _sample(kind, value, 0)


def run(pattern: Any, text: Any, looks: bool) -> None:
    for _ in pattern.finditer(text) if looks else filter(None, [pattern.match(text)]):
        pass
    if not looks:
        pattern.fullmatch(text)


def slowest(pattern: Any, looks: bool) -> tuple[float, str]:
    """Seconds of the input on which a pattern takes longest, and what it is; ends where that is too long."""
    text = _text(pattern.pattern)
    worst = (0.0, "")
    for before, part in dict.fromkeys(repeated(parser.parse(text, pattern.flags & ~re.UNICODE))):
        for length in LENGTHS:
            took_longest = 0.0
            for end in ENDS:
                crafted: Any = before + part * (length // len(part) + 1) + end
                crafted = crafted if isinstance(pattern.pattern, str) else crafted.encode("latin-1", "replace")
                measure = partial(seconds_of, partial(run, pattern, crafted, looks))
                taken = measure()
                if taken > MOST_SECONDS and is_done_in(MOST_SECONDS, measure):
                    taken = MOST_SECONDS  # the machine was busy
                worst = max(worst, (taken, f"{before!r} + {part!r}*{length} + {end!r}"))
                if taken > MOST_SECONDS:
                    return worst
                took_longest = max(took_longest, taken)
            if length == 2_000 and took_longest < SOON_DONE:
                break
    return worst


# -- tests -----------------------------------------------------------------------------------------


@slow
def test_every_pattern_takes_a_time_that_grows_with_the_input() -> None:
    slow = []
    for (file, text, _), (pattern, looks) in patterns().items():
        if file in SHORT:  # one alone takes minutes on input longer than it ever gets
            continue
        seconds, crafted = slowest(pattern, looks)
        if seconds > MOST_SECONDS:
            slow.append(f"{file}: {text}\n    {seconds:.2g} s on {crafted}")
    assert not slow, "\n".join(slow)


@pytest.mark.parametrize(
    ("pattern", "looks", "is_slow"),
    [
        (r"(#.*\n|\s*\n)*x", False, True),  # which once hung on 28 blank lines
        (r"(a+)+b", False, True),
        (r"\s*$", True, True),
        (r"^(.*?)\s*\[", False, True),
        (r"(?:#.*\n|[^\S\n]*\n)*x", False, False),
        (r"\d+b", False, False),
    ],
)
def test_slow_patterns_are_found(pattern: str, looks: bool, is_slow: bool) -> None:
    assert (slowest(re.compile(pattern), looks)[0] > MOST_SECONDS) is is_slow
