"""What was measured and has no property of its own: remarks in the head of a machine."""

from __future__ import annotations

from collections.abc import Iterator

from aspenpy.probe.measured import cache_turn
from aspenpy.probe.number import Number
from aspenpy.probe.quantities import UNCERTAIN, Quantities
from aspenpy.probe.topology import Topology

OVERLAPPING = 0.5
"""The part of the shorter of two times that is hidden from which on levels are said to overlap."""


EACH_FINDS_ALL = 0.75
"""The part of what one core finds of a shared cache alone that each finds beside the others: from it on, all of it."""


def observations(found: Quantities, host: Topology) -> Iterator[str]:
    """Pages, overlap, outstanding lines, what cores find of a cache at once, and how much is uncertain."""
    yield from _pages(found)
    yield from _overlaps(found)
    yield from _under_way(found)
    yield from _describe_private_caches(found, host)
    uncertain = [name for name, item in found.items() if item.spread > UNCERTAIN]
    if uncertain:
        yield f"{len(uncertain)} of {len(found)} measurements spread by over {UNCERTAIN:.0%}: others use this host."


def _pages(found: Quantities) -> Iterator[str]:
    for level, name in (("second", "second cache"), ("third", "third cache"), ("memory", "memory")):
        values = [found.get(f"{level}{kind}_latency") for kind in ("", "_huge", "_small")]
        if None not in values:
            texts = [Number(item.value, "s", "").text for item in values if item is not None]
            yield f"Latency of the {name}: {texts[0]} with pages of the system, {texts[1]} huge, {texts[2]} of 4 KiB."


def _overlaps(found: Quantities) -> Iterator[str]:
    for level, name in (("second", "the second cache"), ("memory", "memory")):
        times = [found.get(f"overlap_{level}_{which}_latency") for which in ("far", "near", "both")]
        if None in times:
            continue
        far, near, both = (item.value for item in times if item is not None)
        hidden = (far + near - both) / min(far, near)
        verb = "overlap" if hidden > OVERLAPPING else "add to"
        share = max(0.0, min(1.0, hidden))
        yield f"Loads from {name} {verb} those from the first cache: {share:.0%} of the shorter time is hidden."


def _under_way(found: Quantities) -> Iterator[str]:
    for level, name in (("second", "second cache"), ("third", "third cache")):
        chains = [item.value for key, item in found.items() if key.startswith(f"{level}_chains_")]
        if chains and f"{level}_latency" in found:
            yield f"Lines of the {name} under way at once: {found[f'{level}_latency'].value / min(chains):.0f}."


def _describe_private_caches(found: Quantities, host: Topology) -> Iterator[str]:
    """A cache of which each core finds as much beside the others as alone: the system, or a host of which this one is a
    guest, keeps a part for each, and the capacity in the model is one part."""
    third, alone, together = host.cache(3), cache_turn(found, 2), cache_turn(found, 2, "ring_all_")
    if third is None or third.sharing < 2 or alone is None or together is None:
        return
    if together >= EACH_FINDS_ALL * alone:
        size = Number(round(together / 2**10) * 2**10, "B", "").text
        yield f"Cores that share the third cache find {size} of it each at once, as much as one alone."
