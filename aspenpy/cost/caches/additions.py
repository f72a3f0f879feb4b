"""What adds to a pattern of access: where it makes no sense."""

from __future__ import annotations

from collections.abc import Mapping

from aspenpy.cost.caches.names import SHARED
from aspenpy.language.diagnostics import fail
from aspenpy.models.application import flow

OF_STORES = {
    "fresh": ("nothing was written to such pages that could be loaded", "name it at the store that comes first"),
    SHARED: ("lines that cores only load are in the caches of all", "name it at the store to them"),
}
"""What adds to the pattern of a store alone: why, and what to do."""

CONTRADICTIONS = {"warm": "has touched the data before", "streaming": "goes past the zeroes in the caches"}
"""What a store is not that is the first to touch its pages."""


def refuse_additions(requirement: flow.Requirement, traits: Mapping[str, flow.Trait]) -> None:
    """Refuses additions that loads do not have, or that contradict each other."""
    for name, (why, hint) in OF_STORES.items():
        if name in traits and requirement.resource != "stores":
            fail("not-a-store", f"`{name}` is of a store: {why}", traits[name].span, hint=hint)
    for name, why in CONTRADICTIONS.items() if "fresh" in traits else ():
        if name in traits:
            message = f"a `fresh` store is the first to touch its pages, and one that is `{name}` {why}"
            fail("contradiction", message, traits[name].span, hint="keep one of the two")
