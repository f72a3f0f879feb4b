"""CosThrottling: runtime under a throttled memory, the piecewise form of COS for Blue Gene/Q (Li, León, Cameron, HPDC
2017, section 4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from aspenpy.language.diagnostics import fail
from aspenpy.studies.empirical.columns import groups, numbers
from aspenpy.studies.empirical.sheet import Sheet
from aspenpy.studies.learnt.bases import WHAT_RAN, bases, keys_problem, members
from aspenpy.studies.learnt.model import Constant, LearntModel
from aspenpy.tables.table import Column, Table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LEAST_POINTS = 3
"""Throttled and unthrottled points of a series from which an inflection can be told."""

EQUATION_11 = {
    "alpha": "idle cycles, times misses per instruction",
    "c1": "idle cycles",
    "beta": "s per idle cycle and miss",
    "c2": "s per idle cycle",
}


class CosThrottling(LearntModel):
    """The runtime with so many idle cycles between memory accesses, from that without any on the same threads: T = t0
    up to an inflection a = alpha L2M/INST + c1, and above it a line of slope b = beta L2M + c2 (equations 10 and 11).

    `form`
        `continuous`, t0 + b (fm - a), or `literal`, t0 + b fm, which jumps by b a at the inflection (D22).
    """

    kind = "cos-throttling"
    about = "runtime under idle cycles between memory accesses (COS for Blue Gene/Q)"
    needs = ("idle_cycles", "llc_misses", "instructions")
    defaults: ClassVar[Mapping[str, Any]] = {"form": "continuous"}
    choices: ClassVar[Mapping[str, tuple[str, ...]]] = {"form": ("continuous", "literal")}
    form: str

    def learn(self, sheet: Sheet) -> dict[str, Any]:
        import numpy as np

        idle, misses, density = self._counters(sheet)
        extra = self.measured(sheet) - self.measured(sheet)[self._bases(sheet)]
        keys = groups(sheet, WHAT_RAN)
        inflections: dict[tuple[str, ...], list[tuple[float, float, float, float]]] = {}
        for places in members(groups(sheet, (*WHAT_RAN, "threads"))).values():
            found = self._series(idle[places], extra[places])
            if found is not None:
                first = places[0]
                inflections.setdefault(keys[first], []).append((density[first], misses[first], *found))
        learnt = []
        for key in dict.fromkeys(keys):
            if key not in inflections:
                hint = "each number of threads needs some points without and some with a slowdown"
                fail(
                    "too-few-rows", f"{' '.join(key) or 'the code'}: no series has an inflection", sheet.span, hint=hint
                )
            per_instruction, per_code, at, slopes = np.array(inflections[key]).T
            learnt.append([list(key), [*_line(per_instruction, at), *_line(per_code, slopes)]])
        return {"alike": [name for name in WHAT_RAN if name in sheet.names], "codes": learnt}

    def state_shape(self) -> Any:
        return {"alike": [str], "codes": [([str], (float,) * len(EQUATION_11))]}

    def state_problem(self) -> str | None:
        return keys_problem(self.state["alike"], self.state["codes"])

    def values(self, sheet: Sheet) -> NDArray[np.float64]:
        import numpy as np

        idle, misses, density = self._counters(sheet)
        codes = {tuple(key): held for key, held in self.state["codes"]}
        keys = groups(sheet, self.state["alike"])
        for key in dict.fromkeys(keys):
            if key not in codes:
                fail("not-learnt", f"the model has not learnt {' '.join(key)}", sheet.span)
        alpha, constant, beta, start = np.array([codes[key] for key in keys]).T
        at, slope = alpha * density + constant, beta * misses + start
        beyond = idle if self.form == "literal" else idle - at
        found: NDArray[np.float64] = self.known(sheet)[self._bases(sheet)] + np.where(idle > at, slope * beyond, 0.0)
        return found

    def given(self, sheet: Sheet) -> Sequence[int]:
        return sorted({int(place) for place in self._bases(sheet)})

    def uses(self, sheet: Sheet) -> Iterable[str]:
        return self.needs

    def findings(self) -> tuple[Table, ...]:
        columns = (*map(Column, self.state["alike"]), *(Column(name, "ratio") for name in EQUATION_11))
        rows = tuple((*key, *held) for key, held in self.state["codes"])
        return (Table(columns, rows, title="equation 11", key="coefficients"),)

    def constants(self) -> tuple[Constant, ...]:
        return tuple(
            Constant((*key, name), value, about)
            for key, held in self.state["codes"]
            for (name, about), value in zip(EQUATION_11.items(), held, strict=True)
        )

    def _counters(self, sheet: Sheet) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        misses = numbers(sheet, "llc_misses")
        return numbers(sheet, "idle_cycles"), misses, misses / numbers(sheet, "instructions")

    def _bases(self, sheet: Sheet) -> NDArray[np.int64]:
        return bases(sheet, "idle_cycles", (*WHAT_RAN, "threads"), "lowest")

    def _series(self, idle: NDArray[np.float64], extra: NDArray[np.float64]) -> tuple[float, float] | None:
        """The inflection and the slope with the least squares of a series; None where there is no slowdown to tell."""
        import numpy as np

        best: tuple[float, float, float] | None = None
        for at in np.unique(idle)[:-1]:
            beyond = np.where(idle > at, idle if self.form == "literal" else idle - at, 0.0)
            if np.count_nonzero(beyond) < LEAST_POINTS:
                break
            slope = float(beyond @ extra / (beyond @ beyond))
            left = extra - slope * beyond
            squares = float(left @ left)
            if best is None or squares < best[0]:
                best = squares, float(at), slope
        return None if best is None else best[1:]


def _line(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[float, float]:
    """Slope and constant of a regression line; of points above each other their mean."""
    centred = x - x.mean()
    squares = float(centred @ centred)
    slope = float(centred @ y) / squares if squares > 1e-18 * float(x @ x) else 0.0
    return slope, float(y.mean() - slope * x.mean())
