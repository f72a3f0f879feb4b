"""The devices that take the least energy or time for what all of them ran (Umar 2018, Algorithm 1)."""

from __future__ import annotations

from collections.abc import Sequence

from aspenpy.language.diagnostics import fail
from aspenpy.learn.measurements.columns import groups, members, numbers
from aspenpy.learn.measurements.sheet import Sheet
from aspenpy.record import Record


class Listed(Record):
    """A device, the energy (J) and time (s) that it takes for what every device ran, and whether it is on the list."""

    device: str
    energy: float
    time: float
    chosen: bool


def short_list(sheet: Sheet, by: str) -> tuple[Listed, ...]:
    """The devices, by the means over all codes and inputs that ran on each of them (Algorithm 1)."""
    if "device" not in sheet.names or len({str(row["device"].value) for row in sheet.rows}) < 2:
        return ()
    measured = numbers(sheet, "energy", blank=True), numbers(sheet, "runtime", blank=True)
    devices = members(groups(sheet, ("device",)))
    codes = groups(sheet, ("application", "region", "input"))
    common = set.intersection(*({codes[place] for place in places} for places in devices.values()))
    if not common:
        hint = "a short list compares the same code and input; --option shortlist=all learns all devices"
        fail("nothing-common", "no code ran on all devices", sheet.span, hint=hint)
    sums = {}
    for key, places in devices.items():
        shared = [place for place in places if codes[place] in common]
        parts = members([codes[place] for place in shared]).values()
        sums["".join(key)] = tuple(
            float(sum(values[[shared[part] for part in group]].mean() for group in parts)) for values in measured
        )
    chosen = {
        "energy": [min(sums, key=lambda device: sums[device][0])],
        "time": [min(sums, key=lambda device: sums[device][1])],
        "both": [one for one in sums if not any(_beats(other, sums[one]) for other in sums.values())],
        "all": list(sums),
    }[by]
    return tuple(Listed(name, energy, time, name in chosen) for name, (energy, time) in sums.items())


def _beats(one: Sequence[float], other: Sequence[float]) -> bool:
    return all(a <= b for a, b in zip(one, other, strict=True)) and tuple(one) != tuple(other)
