"""Leading Loads: the runtime at other core clocks from one run and one counter (Rountree and others, IGCC 2011), and
the models that it is compared with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from aspenpy.language.diagnostics import fail
from aspenpy.learn.estimators.model import Constant, LearntModel
from aspenpy.learn.measurements.columns import WHAT_RAN, find_base_rows, read_numbers, require_columns
from aspenpy.learn.measurements.sheet import MeasurementSheet
from aspenpy.tables.table import Column, Table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

COUNTED = {"leading-loads": "leading_load_cycles", "stall": "stall_cycles"}
"""Models without training, and the cycles that each takes for the time of the bus (figure 1)."""

COUNTERS = {"I": "instructions", "M": "llc_misses", "X": "bus_accesses", "R": "read_cycles", "C": "cycles"}
"""Letters of Table I: bus accesses, and cycles with one outstanding read at least."""

REGRESSIONS: Mapping[str, tuple[str, str]] = {
    "I/C": ("I", "C"),
    "I/M": ("I", "M"),
    "M/C": ("M", "C"),
    "X/C": ("X", "C"),
    "R/C": ("R", "C"),
    "(I,M)/C": ("IM", "C"),
    "(X,C)/I": ("XC", "I"),
    "(I,M,X)/C": ("IMX", "C"),
    "RMI": ("RMI", "C"),
}
"""The regressions of Table I, and that of Table II: counters, each divided by another."""


class LeadingLoads(LearntModel):
    """The runtime at a core clock f', from the run at the highest clock f that was measured.

    `rival`
        `leading-loads` takes the cycles of leading loads for the time T_bus that no clock changes, `stall` stalled
        cycles: T(f') = T_bus + f/f' (T - T_bus) (figure 1, with the ratio as in section II: D20). The names of Table I
        learn that share by regression: T(f')/T = f/f' + (1 - f/f')(a0 + a1 x1 + ...), which at one f' is the paper's
        T(f')/T = a0 + a1 x1 + ... with the other coefficients.
    """

    kind = "leading-loads"
    about = "runtime under other core clocks, from one run (Leading Loads and its rivals)"
    needs = ("core_frequency",)
    defaults: ClassVar[Mapping[str, Any]] = {"rival": "leading-loads"}
    choices: ClassVar[Mapping[str, tuple[str, ...]]] = {"rival": (*COUNTED, *REGRESSIONS)}
    rival: str

    def learn(self, sheet: MeasurementSheet) -> dict[str, Any]:
        import numpy as np

        if self.rival in COUNTED:
            require_columns(sheet, [COUNTED[self.rival]], f"`{self.rival}`")
            return {}
        indices = self._find_base_runs(sheet)
        ratio, runtimes = self._clock_ratios(sheet, indices), self.measured_target(sheet)
        asked = [index for index in range(len(sheet.rows)) if indices[index] != index]
        matrix = (self._counter_ratios(sheet)[indices] * (1 - ratio)[:, None])[asked]
        if len(asked) < matrix.shape[1]:
            fail("too-few-rows", f"{len(asked)} rows at other clocks cannot teach {matrix.shape[1]} coefficients")
        wanted = (runtimes / runtimes[indices] - ratio)[asked]
        scales = np.abs(matrix).max(axis=0)
        solution = np.linalg.lstsq(matrix / np.where(scales, scales, 1), wanted, rcond=1e-12)[0]
        return {"coefficients": [float(value) for value in solution / np.where(scales, scales, 1)]}

    def state_shape(self) -> Any:
        if self.rival in COUNTED:
            return {}
        return {"coefficients": (float,) * (1 + len(REGRESSIONS[self.rival][0]))}

    def values(self, sheet: MeasurementSheet) -> NDArray[np.float64]:
        import numpy as np

        indices = self._find_base_runs(sheet)
        ratio, runtime = self._clock_ratios(sheet, indices), self.known_target(sheet)[indices]
        if self.rival in COUNTED:
            name = COUNTED[self.rival]
            require_columns(sheet, [name], f"`{self.rival}`")
            bus = (read_numbers(sheet, name) / read_numbers(sheet, "core_frequency"))[indices]
            beyond = np.flatnonzero(bus > runtime * (1 + 1e-9))
            if beyond.size:
                cell = sheet.rows[int(indices[beyond[0]])][name]
                fail("too-many-cycles", f"`{name}` is more than all cycles of the run", cell.span, parents=cell.parents)
            counted: NDArray[np.float64] = bus + ratio * (runtime - bus)
            return counted
        share = self._counter_ratios(sheet)[indices] @ np.array(self.state["coefficients"])
        learnt: NDArray[np.float64] = runtime * (ratio + (1 - ratio) * share)
        return learnt

    def columns_used(self, sheet: MeasurementSheet) -> Iterable[str]:
        return ("core_frequency",) if self.rival not in COUNTED else ()

    def findings(self) -> tuple[Table, ...]:
        if self.rival in COUNTED:
            return ()
        above, below = REGRESSIONS[self.rival]
        names = ("1", *(f"{letter}/{below}" for letter in above))
        columns = (Column("of"), Column("coefficient", "ratio"))
        return (Table(columns, tuple(zip(names, self.state["coefficients"], strict=True)), key="coefficients"),)

    def constants(self) -> tuple[Constant, ...]:
        if self.rival in COUNTED:
            return ()
        above, below = REGRESSIONS[self.rival]
        names = ("constant", *(f"{COUNTERS[letter]} per {COUNTERS[below]}" for letter in above))
        about = "of the share of the runtime that no clock changes"
        return tuple(
            Constant((name,), value, about) for name, value in zip(names, self.state["coefficients"], strict=True)
        )

    # -- what is measured ------------------------------------------------------------------------

    def _find_base_runs(self, sheet: MeasurementSheet) -> NDArray[np.int64]:
        return find_base_rows(sheet, "core_frequency", (*WHAT_RAN, "threads", "memory_frequency"), "highest")

    def _clock_ratios(self, sheet: MeasurementSheet, indices: NDArray[np.int64]) -> NDArray[np.float64]:
        clocks = read_numbers(sheet, "core_frequency")
        ratio: NDArray[np.float64] = clocks[indices] / clocks
        return ratio

    def _counter_ratios(self, sheet: MeasurementSheet) -> NDArray[np.float64]:
        import numpy as np

        above, below = REGRESSIONS[self.rival]
        require_columns(sheet, [COUNTERS[letter] for letter in above + below], f"`{self.rival}`")
        rows = read_numbers(sheet, COUNTERS[below])
        if not rows.all():
            fail(
                "zero-counter",
                f"`{COUNTERS[below]}` is zero in some rows, and `{self.rival}` divides by it",
                sheet.span,
            )
        return np.array([1 + 0 * rows, *(read_numbers(sheet, COUNTERS[letter]) / rows for letter in above)]).T
