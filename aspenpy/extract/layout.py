"""Layout: a source laid out so that what is counted stands on lines of its own.

gcov counts lines. Line breaks are added where statements, conditions and the parts of a `for` begin and end; to the
compiler they are white space.
"""

from __future__ import annotations

import itertools
import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import Any

from aspenpy.extract import records as r
from aspenpy.extract.assigned import every
from aspenpy.language.source import Source, Span

_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\\\n]|\\\r?\n|\\.)*\n?", re.MULTILINE)


class Layout:
    """The text with the breaks, and the line at which each place of the source then stands."""

    def __init__(self, program: r.Program) -> None:
        self.source = program.source
        found = {place for function in program.functions for place in self._places(function)}
        fixed = [match.span() for match in _DIRECTIVE.finditer(self.source.text)]
        starts = [start for start, _ in fixed]

        def is_free(offset: int) -> bool:
            at = bisect_right(starts, offset) - 1
            return at < 0 or offset >= fixed[at][1]

        self.breaks = sorted(filter(is_free, found))
        self._lines = [match.start() for match in re.finditer("\n", self.source.text)]

    def _places(self, function: r.Function) -> Iterator[int]:
        for node in every(function.body):
            for span in _alone(node):
                if span is not None and span.source is self.source:
                    yield from (span.start, span.end)

    def text(self) -> str:
        edges = [0, *self.breaks, len(self.source.text)]
        return "\n".join(self.source.text[start:end] for start, end in itertools.pairwise(edges))

    def line(self, source: Source, offset: int) -> int:
        """The line, from 1 on, of a place in the source; in other files, where it stands there."""
        if source is not self.source:
            return source.text.count("\n", 0, offset) + 1
        return bisect_right(self._lines, offset - 1) + bisect_right(self.breaks, offset) + 1


def _alone(node: Any) -> Iterator[Span | None]:
    """What is to stand alone of a statement."""
    if isinstance(node, r.Evaluation | r.Declaration | r.Jump | r.Loop):
        yield node.span
    if isinstance(node, r.Loop):
        yield from (part.span for part in (node.condition, node.step) if part is not None)
    elif isinstance(node, r.Branch | r.Switch):
        yield node.span
