"""Diagnostic: the one way aspenpy says that something is wrong, and the one place it is drawn.

Every stage raises `AspenError` with diagnostics, or collects them; the command line, the REPL,
notebooks and editors only render them.
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, Literal, NoReturn, ParamSpec, TypeVar

from aspenpy.language.source import Span
from aspenpy.record import Record

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

P = ParamSpec("P")
T = TypeVar("T")

Severity = Literal["error", "warning", "note"]

LONGEST_LINE_SHOWN = 120  # characters of a source line that are drawn around the caret; the rest becomes an ellipsis
LONGEST_CHAIN_SHOWN = 10  # names of a circular definition, or of kernels that call each other, that a message lists


class Related(Record):
    """Another place that belongs to a diagnostic, such as "first defined here"."""

    span: Span | None
    label: str


class Diagnostic(Record):
    """One thing that is wrong, or probably a mistake.

    `code` is a stable, hyphenated name for tools (`unknown-name`). `parents` are the circumstances,
    innermost first ("while mapping kernel `fft` onto socket `x5660`").
    """

    code: str
    message: str
    span: Span | None = None
    related: tuple[Related, ...] = ()
    hint: str | None = None
    parents: tuple[str, ...] = ()
    severity: Severity = "error"

    def with_circumstance(self, circumstance: str) -> Diagnostic:
        """The same diagnostic, told with one more circumstance around it."""
        return self.replace(parents=(*self.parents, circumstance))

    def to_json(self) -> dict[str, Any]:
        """An object for editors and scripts: `severity, code, message, file, line, column, end_line,
        end_column, hint, related, parents`; lines and columns count from 1, null where there is no place."""
        return {
            "severity": self.severity,
            "code": self.code,
            "message": self.message,
            **_place_as_json(self.span),
            "hint": self.hint,
            "related": [{"label": related.label, **_place_as_json(related.span)} for related in self.related],
            "parents": list(self.parents),
        }

    def __str__(self) -> str:
        return render([self])


class AspenError(Exception):
    """Raised for a user's mistake: `diagnostics` holds every one that was found, errors and warnings."""

    def __init__(self, *diagnostics: Diagnostic) -> None:
        super().__init__(*diagnostics)
        self.diagnostics: tuple[Diagnostic, ...] = diagnostics

    def __str__(self) -> str:
        return render(self.diagnostics)


def fail(
    code: str,
    message: str,
    span: Span | None = None,
    *,
    related: tuple[Related, ...] = (),
    hint: str | None = None,
    parents: tuple[str, ...] = (),
) -> NoReturn:
    """Raises `AspenError` with one error."""
    raise AspenError(Diagnostic(code, message, span, related=related, hint=hint, parents=parents))


def warning(
    code: str, message: str, span: Span | None = None, *, related: tuple[Related, ...] = (), hint: str | None = None
) -> Diagnostic:
    """A diagnostic of a probable mistake."""
    return Diagnostic(code, message, span, related, hint, severity="warning")


TOO_LARGE = "a value is too large for a floating-point number, which ends at 1.8e308"


def refuse_float_overflow(function: Callable[P, T]) -> Callable[P, T]:
    """The function, with an `AspenError` where it meets an exact number that is too large for a floating-point one."""

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return function(*args, **kwargs)
        except OverflowError:
            fail("too-large", TOO_LARGE)

    return call


def suggest_nearest(name: str, candidates: Iterable[str], spelled: Callable[[str], str] = str) -> str | None:
    """A "did you mean" hint with the closest candidates, each as it is to be spelled, or None when nothing comes
    close: those all but the same, and those that have the name in theirs (`k20x` is `tesla_k20x`), before others."""
    from difflib import get_close_matches

    known = sorted(set(candidates))
    lowered = {candidate.lower(): candidate for candidate in reversed(known)}
    word = name.lower()
    within = sorted((candidate for candidate in lowered if word in candidate), key=len)[:3] if len(word) > 2 else []
    alike = get_close_matches(word, lowered, n=3, cutoff=0.6)
    exact = get_close_matches(word, lowered, n=3, cutoff=0.85)
    close = [lowered[match] for match in dict.fromkeys([*exact, *within] if exact or within else alike)]
    if not close:
        return None
    return "did you mean " + " or ".join(f"`{candidate}`" for candidate in map(spelled, close)) + "?"


def require_known(
    name: str, known: Collection[str], code: str, message: str, span: Span | None = None, *, listed: str = "there are"
) -> None:
    """Refuses a name that is not among the known ones, with what is near it or else all that are `listed`."""
    if name not in known:
        fail(code, message, span, hint=suggest_nearest(name, known) or f"{listed} {', '.join(known)}")


MOST_LISTED = 12  # names that a hint lists where none of them comes close to the one that was given


def suggest_instead(name: str, known: Iterable[str], noun: str) -> str:
    """A hint for an unknown name: the nearest of the known names, or else their list. Of more than `MOST_LISTED` it
    shows `main`, which people look for, then the most similar, and counts the rest."""
    from difflib import SequenceMatcher

    names = list(dict.fromkeys(known))
    if not names:
        return f"there are no {noun}"
    close = suggest_nearest(name, names)
    if close is not None:
        return close
    if len(names) <= MOST_LISTED:
        return f"the {noun} are {', '.join(names)}"
    alike = {other: SequenceMatcher(None, name.lower(), other.lower()).ratio() for other in names}
    first = sorted(names, key=lambda other: (other != "main", -alike[other], names.index(other)))[:MOST_LISTED]
    return f"the {noun} are {', '.join(first)}, and {len(names) - MOST_LISTED} more"


def drop_repeats(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """The diagnostics in order, without repeats. Spans are left out of equality, so the same words about two places are
    told apart here."""
    places = ((item, None if item.span is None else item.span.resolve()) for item in diagnostics)
    return list({(item, place and (place.source.name, place.start)): item for item, place in places}.values())


def join_chain(names: Sequence[str]) -> str:
    """`a -> b -> c`, the middle of a long one left out."""
    if len(names) > LONGEST_CHAIN_SHOWN:
        left_out = len(names) - LONGEST_CHAIN_SHOWN
        names = [*names[: LONGEST_CHAIN_SHOWN - 2], f"... ({left_out:,} more)", *names[-2:]]
    return " -> ".join(names)


def render(diagnostics: Iterable[Diagnostic]) -> str:
    """The report in plain text, one paragraph a diagnostic; `tables.terminal` prints the same text in colour."""
    return "\n\n".join("\n".join(text for _, text in drawn_lines(diagnostic)) for diagnostic in diagnostics)


LineKind = Literal["error", "warning", "note", "place", "code", "caret", "hint"]


def drawn_lines(diagnostic: Diagnostic) -> list[tuple[LineKind, str]]:
    """The report line by line, each with the kind of line it is (what a terminal colours by)."""
    lines: list[tuple[LineKind, str]] = [
        (diagnostic.severity, f"{diagnostic.severity}: {_escape_invisible(diagnostic.message)}")
    ]
    if diagnostic.span is not None:
        lines += _draw_excerpt(diagnostic.span, "")
    for related in diagnostic.related:
        if related.span is None:
            lines.append(("note", f"  = note: {_escape_invisible(related.label)}"))
        else:
            lines += _draw_excerpt(related.span, _escape_invisible(related.label))
    lines += [("note", f"  = {parent}") for parent in diagnostic.parents]
    if diagnostic.hint is not None:
        lines.append(("hint", f"  = hint: {_escape_invisible(diagnostic.hint)}"))
    return lines


def _draw_excerpt(span: Span, label: str) -> list[tuple[LineKind, str]]:
    """File, line and column; the line itself; carets under the span, which end with the line."""
    source, start, end = span.resolve()
    line_number, column = span.position()
    line_start = start - (column - 1)
    line_end = source.text.find("\n", start)
    line = source.text[line_start : len(source.text) if line_end < 0 else line_end].rstrip("\r")
    first = min(column - 1, len(line))
    last = max(first + 1, min(end - line_start, len(line)))
    window = max(0, first - LONGEST_LINE_SHOWN // 2)
    cut = line[window : window + LONGEST_LINE_SHOWN]
    before, after = "..." if window else "", "..." if window + LONGEST_LINE_SHOWN < len(line) else ""
    indent = _terminal_width(before + _escape_invisible(cut[: first - window]))
    carets = max(1, _terminal_width(_escape_invisible(cut[first - window : last - window])))
    gutter = " " * len(str(line_number))
    return [
        ("place", f"{gutter}--> {span.place()}"),
        ("code", f"{line_number} | {before}{_escape_invisible(cut)}{after}".rstrip()),
        ("caret", f"{gutter} | {' ' * indent}{'^' * carets}{' ' + label if label else ''}"),
    ]


def _escape_invisible(text: str) -> str:
    """Tabs as one space; characters that would move the cursor or vanish as their escapes."""
    return "".join(
        " " if char == "\t" else char if char.isprintable() or char == "\n" else ascii(char)[1:-1] for char in text
    )


def _terminal_width(text: str) -> int:
    """Columns a terminal uses for the text."""
    import unicodedata

    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )


def _place_as_json(span: Span | None) -> dict[str, Any]:
    places = (None,) * 5 if span is None else (span.resolve().source.name, *span.position(), *span.end_position())
    return dict(zip(("file", "line", "column", "end_line", "end_column"), places, strict=True))
