"""Properties that are one of a few words, such as `property topology [torus]`."""

from __future__ import annotations

from collections.abc import Collection

from aspenpy.language.diagnostics import require_known
from aspenpy.models.machine.model import Component

WORDS = frozenset({"topology", "placement", "policy", "inclusion", "writes", "affinity", "joins", "schedule"})
"""Their names: what stands in their brackets is no parameter."""


def word(component: Component, name: str) -> str | None:
    """The word of a property as it is written; None where there is no such property, or nothing in its brackets."""
    known = component.properties.get(name)
    if known is None or known.value is None:
        return None
    return str(known.value.payload[0]) if known.value.kind == "symbol" else str(known.value)


def one_of(component: Component, name: str, words: Collection[str], default: str) -> str:
    """A property that is one of some words. Raises AspenError, at the property, for any other."""
    written = word(component, name)
    if written is None:
        return default
    message = f"{component.type} `{component.name}`: unknown {name} `{written}`"
    require_known(written, words, f"unknown-{name}", message, component.properties[name].span)
    return written
