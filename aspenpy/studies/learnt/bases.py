"""Base samples: the run that each run is compared with, alike in all but a clock."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from aspenpy.language.diagnostics import fail
from aspenpy.studies.empirical.columns import groups, numbers
from aspenpy.studies.empirical.sheet import Sheet

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WHAT_RAN = ("application", "region", "input", "device")
"""Columns that say what ran, and on what."""


def bases(sheet: Sheet, clock: str, alike: Sequence[str], end: Literal["lowest", "highest"]) -> NDArray[np.int64]:
    """For each row the place of its base sample: the row with the lowest or highest `clock` among those with a known
    runtime that have the same in the columns `alike`. Raises AspenError where there is none."""
    import numpy as np

    clocks = numbers(sheet, clock) * (1 if end == "lowest" else -1)
    known = np.isfinite(numbers(sheet, "runtime", blank=True))
    found = np.zeros(len(sheet.rows), dtype=np.int64)
    for key, places in members(groups(sheet, alike)).items():
        measured = [place for place in places if known[place]]
        if not measured:
            what = " ".join(key) or "the code"
            hint = f"its runtime at the {end} {clock} is what predictions start from"
            fail("no-base", f"{what} has no base sample: no runtime was measured", sheet.span, hint=hint)
        found[places] = min(measured, key=clocks.__getitem__)
    return found


def keys_problem(alike: Sequence[str], codes: Sequence[Sequence[Any]]) -> str | None:
    """Why what was learnt of some codes does not fit the columns that tell them apart; None where it does."""
    if not codes:
        return "it has learnt no code"
    return None if {len(key) for key, _ in codes} == {len(alike)} else "its codes do not fit its columns"


def members(keys: Sequence[tuple[str, ...]]) -> dict[tuple[str, ...], list[int]]:
    """The places of each key."""
    found: dict[tuple[str, ...], list[int]] = {}
    for place, key in enumerate(keys):
        found.setdefault(key, []).append(place)
    return found
