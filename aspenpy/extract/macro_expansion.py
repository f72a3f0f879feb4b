"""The length of a text of C with its macros and headers expanded. libclang expands them without a limit of its own:
twenty-five that each name the next one twice are a minute and gigabytes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from aspenpy.language.diagnostics import AspenError, fail
from aspenpy.language.source import Source, Span

MOST_TOKENS, MOST_GROWTH = 50_000, 20
"""Words and signs that a file may have with its macros and headers expanded, and as many times those that are written,
where these are more: ten thousand statements are extracted in some five seconds."""

MANY = 1e9
"""What is counted no further."""

MOST_HEADERS = 1_000

_DIRECTIVE = re.compile(r"^[ \t]*+#(?:[^\\\n]|\\\r?\n|\\.)*+", re.MULTILINE)
_DEFINITION = re.compile(r"[ \t]*+#[ \t]*+define[ \t]++(\w++)(\([^()\n]*+\))?")
_HEADER = re.compile(r'[ \t]*+#[ \t]*+include[ \t]*+"([^"\n]++)"')
_GUARD = re.compile(
    r"^[ \t]*+#[ \t]*+(?:pragma[ \t]++once|ifndef[ \t]++(\w++)\s++#[ \t]*+define[ \t]++\1)\b", re.MULTILINE
)
_COMMENT = re.compile(r"//[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/")
_TOKEN = re.compile(r'\w++|"(?:[^"\\\n]|\\.)*+"?|[^\w\s]')


class MacroDefinition(NamedTuple):
    parameters: frozenset[str] | None
    body: Sequence[str]


class Expansion(NamedTuple):
    """A use of a macro, expanded: `tokens` of its own, and its longest argument `copies` times, without the parentheses
    around that where it `takes_arguments`."""

    tokens: float
    copies: float
    takes_arguments: bool


UNCHANGED = Expansion(1.0, 1.0, False)
"""Of a word that is no macro, and of a macro within its own expansion."""


class HeaderText(NamedTuple):
    """The headers and macros of a text that others include, and its own words where it may be included repeatedly."""

    headers: Sequence[str]
    macros: Sequence[tuple[str, MacroDefinition]]
    words: Sequence[str]


def require_bounded_expansion(source: Source, read_header: Callable[[str], HeaderText]) -> None:
    """Refuses a file that macros of its own, or of headers beside it, make too long. Raises AspenError."""
    words = list(_TOKEN.finditer(_read_code(source.text)))
    waiting, macros = _read_directives(source.text)
    seen = set(waiting)
    while waiting:
        name = waiting.pop()
        try:
            header = read_header(name)
        except AspenError:
            continue  # libclang tells of it
        macros += [*header.macros, (f'"{name}"', MacroDefinition(None, header.words))]
        waiting += set(header.headers) - seen if len(seen) < MOST_HEADERS else ()
        seen.update(header.headers)
    written = len(words) + sum(len(macro.body) for _, macro in macros)
    most, total = max(MOST_TOKENS, MOST_GROWTH * written), 0.0
    expanded = count_tokens([word[0] for word in words], find_expansions(macros))
    for word, tokens in zip(words, expanded, strict=True):
        total += tokens
        if total > most:
            message = f"with its macros and headers expanded, `{source.name}` has more than {most:,} words and signs"
            fail("too-large", message, Span(source, word.start(), word.end()))


def count_tokens(
    words: Sequence[str], expansions: Mapping[str, Expansion], parameters: frozenset[str] = frozenset()
) -> Iterator[float]:
    """Tokens that each word of a text becomes, those in arguments of a macro as often as it copies them."""
    around, before = [(1.0, False)], UNCHANGED
    for word in words:
        copies, of_macro = around[-1]
        expansion = UNCHANGED if word in parameters else expansions.get(word, UNCHANGED)
        if word == "(":
            of_macro = before.takes_arguments
            around.append((min(copies * before.copies, MANY), of_macro))
        elif word == ")" and len(around) > 1:
            around.pop()
            copies = around[-1][0]
        yield 0.0 if of_macro and word in "()" else min(copies * expansion.tokens, MANY)
        before = expansion


def find_expansions(macros: Sequence[tuple[str, MacroDefinition]]) -> dict[str, Expansion]:
    """The expansion of each name by the longest of its definitions: which of them holds at a use is not followed."""
    definitions: dict[str, list[MacroDefinition]] = {}
    for name, macro in macros:
        definitions.setdefault(name, []).append(macro)
    found: dict[str, Expansion] = {}
    begun: set[str] = set()
    waiting = list(definitions)
    while waiting:
        name = waiting[-1]
        used = {word for macro in definitions[name] for word in macro.body if word in definitions}
        if name not in begun and (missing := used - begun):
            waiting += missing
        elif name not in found:
            expansions = [_expand_once(macro, found) for macro in definitions[name]]
            found[name] = Expansion(*map(max, zip(*expansions, strict=True)))
        else:
            waiting.pop()
        begun.add(name)
    return found


def _expand_once(macro: MacroDefinition, expansions: Mapping[str, Expansion]) -> Expansion:
    parameters = macro.parameters or frozenset()
    tokens, copies = 0.0, dict.fromkeys(parameters, 0.0)
    for word, count in zip(macro.body, count_tokens(macro.body, expansions, parameters), strict=True):
        if word in copies:
            copies[word] += count
        else:
            tokens += count
    if macro.parameters is None:
        return (expansions.get(macro.body[-1], UNCHANGED) if macro.body else UNCHANGED)._replace(
            tokens=min(tokens, MANY)
        )
    return Expansion(min(tokens, MANY), max(copies.values(), default=1.0), True)


def read_header(text: str) -> HeaderText:
    """The parts of a text that others include. One with a guard has no words, since it is read once."""
    guard = _GUARD.search(text)
    is_guarded = guard is not None and not (guard[1] and re.search(rf"#[ \t]*undef[ \t]+{guard[1]}\b", text))
    return HeaderText(*_read_directives(text), () if is_guarded else _TOKEN.findall(_read_code(text)))


def _read_directives(text: str) -> tuple[list[str], list[tuple[str, MacroDefinition]]]:
    """The headers that a text includes, and the macros that it defines."""
    headers, macros = [], []
    for directive in _DIRECTIVE.findall(text):
        if header := _HEADER.match(directive):
            headers.append(header[1])
        if match := _DEFINITION.match(directive):
            named = ("__VA_ARGS__" if name == "..." else name for name in re.findall(r"\w+|\.\.\.", match[2] or ""))
            body = _TOKEN.findall(_COMMENT.sub("", directive[match.end() :]))
            macros.append((match[1], MacroDefinition(frozenset(named) if match[2] else None, body)))
    return headers, macros


def _read_code(text: str) -> str:
    """A text without its comments and directives, but the names of headers, each in its place."""
    return _DIRECTIVE.sub(_blank_directive, _COMMENT.sub(lambda match: " " * len(match[0]), text))


def _blank_directive(match: re.Match[str]) -> str:
    header = _HEADER.match(match[0])
    return (match[0][header.start(1) - 1 :] if header else "").rjust(len(match[0]))
