"""The counts of an extracted model, from the steps of its trace: none of the code that summed them up."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import aspenpy
from aspenpy.extract.extraction import Extraction, Level, extract

PROGRAMS = Path(__file__).parent / "programs"


def counted(
    source: Path,
    folder: Path,
    level: Level,
    *flags: str,
    kernels: tuple[str, ...] = ("kernel_",),
    in_bytes: bool = False,
) -> Counter[str]:
    """Operations by `class precision`, `load` and `store` in words or bytes, of what some kernels do with all that they
    call."""
    text = extract(source, level=level, flags=flags).text
    model = folder / "model.aspen"
    model.write_text(text if in_bytes else re.sub(r" of size \[\d+\]", "", text), encoding="utf-8")
    steps = aspenpy.trace(aspenpy.load_application(model), most=10**6, passes=10**6).steps
    total: Counter[str] = Counter()
    inside: int | None = None
    for step in steps:
        if inside is not None and step.depth <= inside:
            inside = None
        if inside is None and step.kind == "call" and step.name in kernels:
            inside = step.depth
        for demand in step.demands if inside is not None else ():
            kind = " ".join(demand.traits) if demand.resource == "flops" else demand.resource[:-1]
            total["convert" if "convert" in kind else kind] += round(demand.amount)
    return total


def operations(model: Path) -> Counter[str]:
    """Operations by class and precision of a whole run of a model."""
    total: Counter[str] = Counter()
    for step in aspenpy.trace(aspenpy.load_application(model), most=10**6, passes=10**6).steps:
        for demand in step.demands:
            if demand.resource == "flops":
                kind = " ".join(demand.traits)
                total["convert" if "convert" in kind else kind] += float(demand.amount)  # type: ignore[assignment]
    return total


def find_value(found: Extraction, name: str) -> float:
    """The number of a parameter that a run has counted."""
    value = re.search(rf"param {name} = ([\d.e+-]+)(?: counted at.*)?  //", found.text)
    assert value is not None, found.text
    return float(value[1])
