"""Parsing keeps the garbage collector from new nodes, and costs as much in a process that froze its heap."""

import gc
import time
from collections.abc import Iterator

import pytest

from aspenpy.language.parser import parse_value

OBJECTS = 300_000


@pytest.fixture
def heap() -> Iterator[list[list[int]]]:
    yield [[number] for number in range(OBJECTS)]
    gc.unfreeze()


def seconds() -> float:
    """Processor time of the quickest of a few parses."""

    def once() -> float:
        begun = time.process_time()
        parse_value("2*n + 1")
        return time.process_time() - begun

    return min(once() for _ in range(20))


def test_a_frozen_heap_does_not_slow_down_parsing(heap: list[list[int]]) -> None:
    """To count so many objects takes several times longer than to parse a line."""
    before = seconds()
    gc.freeze()
    assert len(heap) == OBJECTS
    assert seconds() < 5 * before


def test_what_others_froze_stays_frozen(heap: list[list[int]]) -> None:
    gc.freeze()
    parse_value("{" + ", ".join(f"{number} + n" for number in range(2_000)) + "}")
    assert gc.get_freeze_count() >= len(heap)
    assert gc.isenabled()
