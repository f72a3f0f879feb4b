"""Blocks as simulated caches play them: shapes of caches and extents of accesses, by arithmetic."""

from __future__ import annotations

from typing import Any

import pytest

from aspenpy import AspenError, traffic
from aspenpy.answers.played_blocks import _offsets as point_offsets
from aspenpy.answers.played_blocks import shape_of, sweep_side_by_side
from aspenpy.cost.caches.level import levels_of
from aspenpy.cost.caches.patterns import Stencil
from aspenpy.expr import graph
from aspenpy.traces.hierarchy import PACED, CacheShape
from tests.caches.programs import machine_of
from tests.caches.test_patterns import box, star
from tests.tiny import application, codes, machine


def shape(
    policy: str, *, sets: float = 8, room: float, added: float = 0, page: int = 4096, **changed: Any
) -> CacheShape:
    """Of a level with `room` for so many lines of 64 bytes in each set; `added` lines are in the level before."""
    where = machine(machine_of(("L1", 4096, 4), policy=policy))
    (level,) = levels_of(where, where.sockets[0])
    return shape_of(level.replace(**changed), [sets, room, 64, added, 2, 0], page)


@pytest.mark.parametrize(
    ("ways", "policy"),
    [(1, "plru"), (2, "plru"), (3, "lru"), (4, "plru"), (6, "lru"), (8, "plru"), (12, "lru"), (16, "plru"),
     (32, "plru"), (63, "lru"), (64, "plru"), (65, "lru"), (128, "lru")],
)  # fmt: skip
def test_a_tree_has_as_many_leaves_as_a_word_has_bits(ways: int, policy: str) -> None:
    """A power of two up to 64; other sets are ordered by use."""
    assert shape("plru", room=ways) == CacheShape(8, ways, 64, policy, together=2, reach=4096)


@pytest.mark.parametrize("policy", ["lru", "random"])
@pytest.mark.parametrize("ways", [3, 4, 128])
def test_other_policies_need_no_tree(ways: int, policy: str) -> None:
    assert shape(policy, room=ways).policy == policy


def test_bytes_of_a_page_are_the_reach_of_a_prefetcher_that_states_none() -> None:
    assert shape("lru", room=4, page=65536).reach == 65536
    assert shape("lru", room=4, page=65536, reach=graph.ONE).reach == 0  # as the values say


@pytest.mark.parametrize(
    ("sets", "room", "shape_of_part"),
    [
        (8, 4, (8, 4)),
        (8, 2.5, (7, 3)),  # 20 lines
        (8, 0.5, (4, 1)),  # 4 lines
        (8, 0.05, (1, 1)),  # one at least
        (2, 8, (2, 8)),
    ],
)
def test_a_part_of_a_shared_cache_has_as_many_lines(sets: float, room: float, shape_of_part: tuple[int, int]) -> None:
    found = shape("lru", sets=sets, room=room)
    assert (found.sets, found.ways) == shape_of_part


@pytest.mark.parametrize(("inclusion", "adds", "sets"), [("inclusive", False, 10), ("exclusive", True, 8)])
def test_lines_of_the_level_before_are_no_room_of_its_own(inclusion: str, adds: bool, sets: int) -> None:
    """Of 8 sets with room for 5 lines, one of which is in the level before: 4 ways, and without its 8 lines 8 sets."""
    found = shape("lru", room=5, added=8, inclusion=inclusion)
    assert (found.sets, found.ways, found.adds) == (sets, 4, adds)


def test_a_policy_that_no_simulation_knows_is_refused() -> None:
    text = machine_of(("L1", 4096, 4), policy="qlru")
    app = application("execute { loads [64] of size [8] from A as stream }", "data A [512]")
    with pytest.raises(AspenError) as caught:
        traffic(app, machine(text), simulate=True).totals  # noqa: B018
    assert codes(caught.value)


@pytest.mark.parametrize(
    ("sizes", "line", "counts"),
    [
        ({0: 64, 4096: 128}, 64, [1, 2]),
        ({0: 65, 4096: 127, 8192: 129}, 64, [2, 2, 3]),
        ({0: 0, 4096: 1}, 32, [1, 1]),
        ({64: 320}, 32, [10]),
    ],
)
def test_every_line_of_structures_is_loaded_once(sizes: dict[int, int], line: int, counts: list[int]) -> None:
    block = sweep_side_by_side(sizes, line)
    assert (block.low, block.high) == (((0, 0),), ((max(counts) - 1, 0),))
    for begin, count, access in zip(sizes, counts, block.accesses, strict=True):
        assert (access.kind, access.stores, access.bypasses) == (PACED, False, False)
        assert (access.base, access.word, access.stride, access.steps) == (begin, 1, line, (line,))
        assert (access.trips, access.count) == ((count,), count)


@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("radius", [1, 2, 3])
@pytest.mark.parametrize("kind", ["star", "hollow star", "box"])
def test_the_points_of_a_stencil(axes: int, radius: int, kind: str) -> None:
    """Each at its distance in a grid with a rim, none left out and none twice."""
    offsets = box(axes, radius) if kind == "box" else star(axes, radius)[kind != "star" :]
    strides = [8 * 100**axis for axis in range(axes)]
    places = [sum(part * stride for part, stride in zip(offset, strides, strict=True)) for offset in offsets]
    extents = tuple(graph.number(20) for _ in range(axes))
    pattern = Stencil(extents, radius, kind != "box", graph.number(8), kind == "hollow star")
    found, first = point_offsets(pattern, strides)
    assert found == tuple(sorted(places))
    assert first == radius * sum(strides)
    assert pattern.points == len(offsets)
