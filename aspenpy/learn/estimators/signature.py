"""Signatures of predictions: what an Aspen model says of an application, as the predictors of sensitivity to bandwidth
(equation 3 of Tiwari and others, 2014), and the slowdown that the model itself predicts."""

from __future__ import annotations

from typing import Any

from aspenpy.answers.prediction import Prediction, predict
from aspenpy.answers.traffic import Traffic
from aspenpy.language.diagnostics import AspenError, fail

WORD = 8  # bytes of an access where no pattern says how many there are
LINE = 64


def signature(prediction: Prediction, word: int = WORD) -> dict[str, float]:
    """Accesses that hit each cache or miss the last, loads, stores, integer operations and flops, each an instruction,
    and flops over accesses. Instructions are those that the model states: its accesses, flops and `intops`; it knows
    neither branches nor distances between definition and use, so these have no column."""
    amounts = {name: use.amount for name, use in prediction.resources.items()}
    flops, whole = _amount(amounts, "flops"), _amount(amounts, "intops")
    loads, stores = _amount(amounts, "loads") / word, _amount(amounts, "stores") / word
    missing = (loads + stores) * word / LINE
    hits: list[float] = [loads + stores - missing]
    levels = _levels(prediction)
    if levels and levels[0].reads + levels[0].writes:
        loads, stores = levels[0].reads, levels[0].writes
        misses = [level.read_misses + level.write_misses for level in levels]
        hits = [before - after for before, after in zip([loads + stores, *misses], misses, strict=False)]
        missing = misses[-1]
    instructions = loads + stores + flops + whole
    if not instructions:
        fail("no-instructions", f"{prediction.where}: the model states neither accesses nor operations")
    found = {f"d{place}m": hit / instructions for place, hit in enumerate((*hits, 0.0, 0.0)[:3], 1)}
    found |= {"dmm": missing / instructions, "loads": loads / instructions, "stores": stores / instructions}
    found |= {"int_ops": whole / instructions, "fops_ins": flops / instructions}
    return found | {"fprat": flops / (loads + stores) if loads + stores else 0.0}


def _amount(amounts: dict[str, float], name: str) -> float:
    """Of a resource, in whichever memory."""
    return sum(amount for key, amount in amounts.items() if key.rpartition(".")[2] == name)


def _levels(prediction: Prediction) -> tuple[Any, ...]:
    """Of the caches, innermost first; none where the machine has none."""
    try:
        return Traffic(prediction).totals
    except AspenError:
        return ()


def analytical_slowdown(prediction: Prediction, factor: float) -> float:
    """The runtime with the bandwidth of all memories times a factor, over that with all of it, by the Aspen model."""
    machine = prediction.machine
    memories = [
        item for item in machine.components.values() if item.type == "memory" and "bandwidth" in item.properties
    ]
    symbols = [item.properties["bandwidth"].symbol for item in memories]
    if not symbols:
        fail("no-bandwidth", f"no memory of {machine.name} states a bandwidth")
    values = prediction.scope.values(symbols, prediction.seed)
    changed = {f"{item.name}.bandwidth": float(value) * factor for item, value in zip(memories, values, strict=True)}
    slower = predict(prediction.case.changed(set={**prediction.case.set, **changed}))
    return float(slower.runtime / prediction.runtime)
