"""BandwidthSensitivity: how much slower code is under less memory bandwidth, by boosted trees over what it does
(Tiwari, Gamst, Laurenzano, Schulz, Carrington, Euro-Par 2014: "Modeling the Impact of Reduced Memory Bandwidth")."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from aspenpy.answers.prediction import Prediction, predict
from aspenpy.answers.traffic import Traffic
from aspenpy.language.diagnostics import AspenError, Diagnostic, fail
from aspenpy.learn.estimators.model import LearntModel
from aspenpy.learn.estimators.trees import FOREST, Boosting, forest_problem, grow_trees, search_settings, sum_trees
from aspenpy.learn.measurements.columns import (
    KNOWN,
    WHAT_RAN,
    find_base_rows,
    is_numeric,
    read_numbers,
    require_columns,
    row_keys,
)
from aspenpy.learn.measurements.sheet import MeasurementSheet, count_noun
from aspenpy.tables.table import Column, Table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


PREDICTORS = (
    "d1m", "d2m", "d3m", "dmm", "loads", "stores", "int_ops", "branch_ops", "fprat", "fops_ins", "int_dud", "fp_dud",
)  # fmt: skip
"""Predictors of equation 3 besides the memory clock: accesses an instruction that hit the caches or miss the last,
loads, stores, integer and branch operations an instruction, flops over memory operations and an instruction, def-use
distances."""

LEAST_ROWS = 2
CLOCKS = ("memory_frequency", "core_frequency")
GRID = {"trees": (200, 400, 800), "depth": (3, 5), "rate": (0.02, 0.1)}


class BandwidthSensitivity(LearntModel):
    """log(T/T_base) of equation 3, T_base being the run at the highest clocks with the same threads, by trees over
    what was counted in that run and the clocks asked for.

    `trees`, `depth`, `rate`, `subsample`
        of the boosting (the paper's are 800 and 5; it does not tell the rate: D30).
    `search`
        chooses the first three by cross-validation with ten folds, each split from a third of the predictors.
    `predictors`
        columns; the twelve of equation 3 if left out, or all numeric ones where there are none of those.
    """

    kind = "bandwidth"
    about = "slowdown under less memory bandwidth, by boosted trees"
    needs = ("memory_frequency",)
    defaults: ClassVar[Mapping[str, Any]] = {
        "trees": 800,
        "depth": 5,
        "rate": 0.1,
        "subsample": 0.5,
        "search": False,
        "predictors": (),
    }
    trees: int
    depth: int
    rate: float
    subsample: float
    search: bool
    predictors: Sequence[str]

    def learn(self, sheet: MeasurementSheet) -> dict[str, Any]:
        import numpy as np

        names = list(self.predictors) or self._list_predictors(sheet)
        asked = np.setdiff1d(np.arange(len(sheet.rows)), self.base_rows(sheet))
        if len(asked) < LEAST_ROWS:
            hint = "each code needs a run at the highest memory clock, and others below it"
            message = f"{count_noun(len(asked), 'run')} at lower clocks cannot teach trees, {LEAST_ROWS} at least can"
            fail("too-few-rows", message, sheet.span, hint=hint)
        matrix = self._matrix(sheet, names)[asked]
        runtimes = self.measured_target(sheet)
        target = np.log(runtimes / runtimes[self._find_base_runs(sheet)])[asked]
        boosting, tried = Boosting(self.trees, self.depth, self.rate, self.subsample), []
        if self.search:
            validations = search_settings(matrix, target, GRID, self.subsample, self.watch)
            boosting = validations[0].boosting
            tried = [
                [one.boosting.trees, one.boosting.depth, one.boosting.learning_rate, one.percent] for one in validations
            ]
        chosen = {"trees": boosting.trees, "depth": boosting.depth, "rate": boosting.learning_rate}
        clocks = [name for name in CLOCKS if name in sheet.names]
        learnt = {"predictors": names, "clocks": clocks, "tried": tried, "chosen": chosen}
        return grow_trees(boosting, matrix, target) | learnt

    def state_shape(self) -> Any:
        return FOREST | {
            "predictors": [str],
            "clocks": [str],
            "tried": [(int, int, float, float)],
            "chosen": {"trees": int, "depth": int, "rate": float},
        }

    def state_problem(self) -> str | None:
        if not {*self.state["clocks"]} <= {*CLOCKS}:
            return f"`{', '.join(self.state['clocks'])}` are not clocks"
        return forest_problem(self.state, len(self.state["predictors"]) + len(self.state["clocks"]))

    def values(self, sheet: MeasurementSheet) -> NDArray[np.float64]:
        base = self._find_base_runs(sheet)
        runtimes = self.known_target(sheet)[base]
        predicted: NDArray[np.float64] = runtimes * self.slowdowns(sheet)
        predicted[base] = runtimes[base]
        return predicted

    def slowdowns(self, sheet: MeasurementSheet) -> NDArray[np.float64]:
        """Predicted runtime of each row over that of its base run."""
        import numpy as np

        if (here := [name for name in CLOCKS if name in sheet.names]) != self.state["clocks"]:
            learnt = ", ".join(self.state["clocks"])
            fail("other-columns", f"the model learnt from the clocks {learnt}, and the rows have {', '.join(here)}")
        factors: NDArray[np.float64] = np.exp(sum_trees(self.state, self._matrix(sheet, self.state["predictors"])))
        return factors

    def columns_used(self, sheet: MeasurementSheet) -> Iterable[str]:
        return [name for name in CLOCKS if name in sheet.names]

    def findings(self) -> tuple[Table, ...]:
        held = self.state
        names = [*held["predictors"], *held["clocks"]]
        parts = sorted(zip(held["importances"], names, strict=False), reverse=True)[:13]
        rows = tuple((name, part) for part, name in parts)
        chosen = held["chosen"]
        title = f"what matters, in {chosen['trees']} trees of depth {chosen['depth']} at rate {chosen['rate']:g}"
        made = [Table((Column("predictor"), Column("share", "share")), rows, title=title, key="importances")]
        if held["tried"]:
            heads = (Column("trees"), Column("depth"), Column("rate"), Column("error", format_percent, "right"))
            made.append(Table(heads, tuple(map(tuple, held["tried"])), title="ten folds", key="cross_validation"))
        return tuple(made)

    # -- rows ------------------------------------------------------------------------------------

    def _find_base_runs(self, sheet: MeasurementSheet) -> NDArray[np.int64]:
        """Base run of each row: highest memory clock first, then highest core clock, with the same threads."""
        import numpy as np

        alike = (*WHAT_RAN, "threads")
        rows = find_base_rows(sheet, "memory_frequency", alike, "highest")
        if "core_frequency" not in sheet.names:
            return rows
        memory = read_numbers(sheet, "memory_frequency")
        top = [index for index, base in enumerate(rows) if memory[index] == memory[base]]
        fastest = find_base_rows(sheet.rows_at(top), "core_frequency", alike, "highest")
        indices = dict(zip(row_keys(sheet.rows_at(top), alike), fastest, strict=True))
        return np.array([top[indices[key]] for key in row_keys(sheet, alike)])

    def _matrix(self, sheet: MeasurementSheet, names: Sequence[str]) -> NDArray[np.float64]:
        """Counters of the base run and clocks of each row, one column per predictor."""
        import numpy as np

        base = self._find_base_runs(sheet)
        clocks = [read_numbers(sheet, name) for name in CLOCKS if name in sheet.names]
        return np.array([*(read_numbers(sheet, name)[base] for name in names), *clocks]).T

    def _list_predictors(self, sheet: MeasurementSheet) -> list[str]:
        named = [name for name in PREDICTORS if name in sheet.names]
        if named:
            return named
        predictors = []
        for name in sheet.names:
            column = KNOWN.get(name)
            time_or_energy = name in (*CLOCKS, "runtime", "energy", "power", "dram_energy", "dram_power", "threads")
            if time_or_energy or (column is not None and column.text):
                continue
            if is_numeric(sheet, name):
                predictors.append(name)
            else:
                text = f"`{name}` is not a column of numbers: not a predictor"
                self.notes += (Diagnostic("left-out", text, severity="note"),)
        if not predictors:
            fail("no-predictors", "no column describes the code", sheet.span, hint="columns such as d1m, dmm, loads")
        return predictors


class ApplicationTime(NamedTuple):
    """An application, or an algorithm, at a memory clock (Hz): seconds of all phases, and whether none is faster."""

    application: str
    clock: float
    time: float
    is_fastest: bool


def choose_applications(model: BandwidthSensitivity, sheet: MeasurementSheet) -> tuple[ApplicationTime, ...]:
    """Predicted times by application, the sums of their phases (the column `region`), at each memory clock (section
    3.3): which algorithm is the fastest there?"""
    require_columns(sheet, ["application"], "a choice")
    times: dict[tuple[str, float], float] = {}
    clocks = read_numbers(sheet, "memory_frequency")
    for (name,), clock, time in zip(row_keys(sheet, ["application"]), clocks, model.predict(sheet), strict=True):
        times[name, float(clock)] = times.get((name, float(clock)), 0.0) + float(time)
    least = {clock: min(time for (_, at), time in times.items() if at == clock) for _, clock in times}
    return tuple(ApplicationTime(name, clock, time, time == least[clock]) for (name, clock), time in times.items())


def format_percent(value: float) -> str:
    return f"{value:.2f} %"


# Signatures of predictions: what an Aspen model says of an application, as the predictors of sensitivity to
# bandwidth (equation 3 of Tiwari and others, 2014), and the slowdown that the model itself predicts.


WORD = 8  # bytes of an access where no pattern says how many there are
LINE = 64


def bandwidth_predictors(prediction: Prediction, word: int = WORD) -> dict[str, float]:
    """Accesses that hit each cache or miss the last, loads, stores, integer operations and flops, each an instruction,
    and flops over accesses. Instructions are those that the model states: its accesses, flops and `intops`; it knows
    neither branches nor distances between definition and use, so these have no column."""
    amounts = {name: use.amount for name, use in prediction.resources.items()}
    flops, whole = sum_over_memories(amounts, "flops"), sum_over_memories(amounts, "intops")
    loads, stores = sum_over_memories(amounts, "loads") / word, sum_over_memories(amounts, "stores") / word
    missing = (loads + stores) * word / LINE
    hits: list[float] = [loads + stores - missing]
    levels = cache_levels(prediction)
    if levels and levels[0].reads + levels[0].writes:
        loads, stores = levels[0].reads, levels[0].writes
        misses = [level.read_misses + level.write_misses for level in levels]
        hits = [before - after for before, after in zip([loads + stores, *misses], misses, strict=False)]
        missing = misses[-1]
    instructions = loads + stores + flops + whole
    if not instructions:
        fail("no-instructions", f"{prediction.where}: the model states neither accesses nor operations")
    predictors = {f"d{index}m": hit / instructions for index, hit in enumerate((*hits, 0.0, 0.0)[:3], 1)}
    predictors |= {"dmm": missing / instructions, "loads": loads / instructions, "stores": stores / instructions}
    predictors |= {"int_ops": whole / instructions, "fops_ins": flops / instructions}
    return predictors | {"fprat": flops / (loads + stores) if loads + stores else 0.0}


def sum_over_memories(amounts: dict[str, float], name: str) -> float:
    """Amount of a resource over all memories."""
    return sum(amount for key, amount in amounts.items() if key.rpartition(".")[2] == name)


def cache_levels(prediction: Prediction) -> tuple[Any, ...]:
    """Traffic of the cache levels, innermost first; empty where the machine has none."""
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
