"""COS: compute, overlap and stall time under other clocks and thread counts (Li, León, Cameron, HPDC 2017)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from aspenpy.language.diagnostics import Diagnostic, fail
from aspenpy.language.dimensions import format_quantity, unit_symbol
from aspenpy.learn.estimators.cos_trace import Stage
from aspenpy.learn.estimators.model import Constant, LearntModel
from aspenpy.learn.measurements.columns import (
    KNOWN,
    WHAT_RAN,
    find_base_rows,
    find_key_problem,
    read_numbers,
    require_columns,
    row_keys,
    rows_by_key,
)
from aspenpy.learn.measurements.sheet import MeasurementSheet, count_noun
from aspenpy.tables.table import Column, Table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


LINE = 64  # bytes of a cache line: misses where only the memory's volume was measured
SAME_CLOCK = 1e-3  # clocks that differ by less are one setting of it

TERMS = {"1": "constant", "1/fc": "cycles", "1/fm": "memory cycles"}
ABOUT = {
    "LLCM": "s per miss of the last cache",
    "TPI": "s, times the time of an instruction in s",
    "fc": "s per Hz of the core clock",
    "fm": "s per Hz of the memory clock",
    "1": "s",
    "1/fc": "cycles of the core",
    "1/fm": "cycles of the memory",
}
"""Units of the coefficients, by term."""


class Cos(LearntModel):
    """The runtime at a core clock f'c, from a base sample at the lowest core clock with the same threads and memory
    clock: T, its stall time Ts, last-level cache misses LLCM and time per instruction TPI.

    `form`
        `literal`, equation 9: (T - Ts) fc/f'c + a1 LLCM + a2 TPI + a3 f'c + a4 f'm; `stall`: (T - S) fc/f'c + S with a
        stall time S = a LLCM, which is exact at the base sample; `clocks`: a + b/f'c + c/f'm for each configuration of
        threads, without base samples, overlap being the part that goes with neither clock.
    `intercept`
        adds a constant to the literal form (D25: it was worse on data held out).
    """

    kind = "cos"
    about = "runtime under other core clocks, memory clocks and numbers of threads (COS)"
    needs = ("core_frequency",)
    defaults: ClassVar[Mapping[str, Any]] = {"form": "literal", "intercept": False}
    choices: ClassVar[Mapping[str, tuple[str, ...]]] = {"form": ("literal", "stall", "clocks")}
    form: str
    intercept: bool

    def learn(self, sheet: MeasurementSheet) -> dict[str, Any]:
        alike = (*WHAT_RAN, "threads") if self.form == "clocks" else WHAT_RAN
        keys = row_keys(sheet, alike)
        terms, rest = self._regression_terms(sheet)
        runtimes = self.measured_target(sheet)
        taught = {*range(len(sheet.rows))}.difference(self.base_rows(sheet))
        fitted = []
        for key, indices in rows_by_key(keys).items():
            used = [index for index in indices if index in taught]
            weights = 1 / runtimes[used] if self.form != "literal" else 1 + 0 * runtimes[used]
            label = dict(zip([name for name in alike if name in sheet.names], key, strict=True))
            fitted.append([list(key), self._solve_coefficients(terms, runtimes - rest, used, weights, label)])
        return {"alike": [name for name in alike if name in sheet.names], "terms": list(terms), "fitted": fitted}

    def state_shape(self) -> Any:
        return {"alike": [str], "terms": [str], "fitted": [([str], [float])]}

    def state_problem(self) -> str | None:
        terms = {"clocks": ("1", "1/fc", "1/fm"), "stall": ("LLCM",)}.get(self.form, ("LLCM", "TPI", "fc", "fm", "1"))
        if not {"1/fc"} & {*terms} <= {*self.state["terms"]} <= {*terms}:
            return f"`{', '.join(self.state['terms'])}` are not the terms of the form {self.form}"
        lengths = len(self.state["alike"]), len(self.state["terms"])
        if not self.state["fitted"] or any((len(key), len(held)) != lengths for key, held in self.state["fitted"]):
            return "its coefficients do not fit its terms"
        return None

    def values(self, sheet: MeasurementSheet) -> NDArray[np.float64]:
        import numpy as np

        terms, rest = self._regression_terms(sheet)
        if list(terms) != self.state["terms"]:
            learnt, here = ", ".join(self.state["terms"]), ", ".join(terms)
            fail("other-columns", f"the model learnt from the terms {learnt}, and the rows have {here}", sheet.span)
        matrix = np.array(list(terms.values())).T
        predicted: NDArray[np.float64] = rest + (matrix * self._coefficients(sheet)).sum(axis=1)
        return predicted

    def base_rows(self, sheet: MeasurementSheet) -> Sequence[int]:
        return () if self.form == "clocks" else super().base_rows(sheet)

    def columns_used(self, sheet: MeasurementSheet) -> Iterable[str]:
        return [name for name in ("core_frequency", "memory_frequency", "threads") if name in sheet.names]

    def findings(self) -> tuple[Table, ...]:
        names = [*self.state["alike"], *self.state["terms"]]
        columns = [Column(name) for name in self.state["alike"]]
        columns += [Column(name, "ratio", key=f"of {name}") for name in self.state["terms"]]
        rows = tuple((*key, *values) for key, values in self.state["fitted"])
        assert all(len(row) == len(names) for row in rows)
        return (Table(tuple(columns), rows, title="coefficients", key="coefficients"),)

    def constants(self) -> tuple[Constant, ...]:
        return tuple(
            Constant((*key, TERMS.get(term, term)), value, ABOUT[term])
            for key, values in self.state["fitted"]
            for term, value in zip(self.state["terms"], values, strict=True)
        )

    def core_clock_times(self, sheet: MeasurementSheet) -> NDArray[np.float64] | None:
        """The part of each prediction that goes with the core clock, [T'c + T'oc] of equation 7; None in the literal
        form where no stall time was measured, since then it is not known."""
        terms, rest = self._regression_terms(sheet)
        if self.form == "literal":
            return rest if {"stall_time", "stall_cycles"} & {*sheet.names} else None
        learnt = self._coefficients(sheet)
        if self.form == "clocks":
            times: NDArray[np.float64] = terms["1/fc"] * learnt[:, list(terms).index("1/fc")]
            return times
        base = self._find_base_runs(sheet)
        ratio = read_numbers(sheet, "core_frequency")[base] / read_numbers(sheet, "core_frequency")
        return rest - learnt[:, 0] * read_misses(sheet)[base] * ratio

    # -- terms -----------------------------------------------------------------------------------

    def _coefficients(self, sheet: MeasurementSheet) -> NDArray[np.float64]:
        """Learnt coefficients of each row's code, one row per row of the sheet."""
        import numpy as np

        require_columns(sheet, self.state["alike"], f"this `{self.kind}` model")
        learnt = {tuple(key): values for key, values in self.state["fitted"]}
        keys = row_keys(sheet, self.state["alike"])
        for key in dict.fromkeys(keys):
            if key not in learnt:
                what = ", ".join(f"{name} {value}" for name, value in zip(self.state["alike"], key, strict=True))
                fail(
                    "not-learnt", f"the model has not learnt {what}", sheet.span, hint="COS learns each code on its own"
                )
        return np.array([learnt[key] for key in keys])

    def _find_base_runs(self, sheet: MeasurementSheet) -> NDArray[np.int64]:
        return find_base_rows(sheet, "core_frequency", (*WHAT_RAN, "threads", "memory_frequency"), "lowest")

    def _regression_terms(self, sheet: MeasurementSheet) -> tuple[dict[str, NDArray[np.float64]], NDArray[np.float64]]:
        """Columns of the regression by term, and the part of the runtime without a coefficient (s)."""
        clocks = read_numbers(sheet, "core_frequency")
        memory = read_numbers(sheet, "memory_frequency") if "memory_frequency" in sheet.names else None
        if self.form == "clocks":
            terms = {"1": 1 + 0 * clocks, "1/fc": 1 / clocks}
            return terms | ({} if memory is None else {"1/fm": 1 / memory}), 0 * clocks
        base = self._find_base_runs(sheet)
        ratio, runtimes = clocks[base] / clocks, self.known_target(sheet)[base]
        misses = read_misses(sheet)[base]
        if self.form == "stall":
            return {"LLCM": misses * (1 - ratio)}, runtimes * ratio
        terms = {"LLCM": misses, "TPI": runtimes / read_numbers(sheet, "instructions")[base], "fc": clocks}
        terms |= {} if memory is None else {"fm": memory}
        terms |= {"1": 1 + 0 * clocks} if self.intercept else {}
        return terms, (runtimes - stall_times(sheet)[base]) * ratio

    def _solve_coefficients(
        self,
        terms: Mapping[str, NDArray[np.float64]],
        left: NDArray[np.float64],
        used: Sequence[int],
        weights: NDArray[np.float64],
        label: Mapping[str, str],
    ) -> list[float]:
        """Coefficients by least squares; in seconds in the literal form, relative to what was measured in others."""
        import numpy as np

        what = " ".join(label.values()) or "the model"
        if len(used) < len(terms):
            message = f"{what} has {count_noun(len(used), 'row')} to learn {len(terms)} coefficients from"
            hint = "base samples do not count: other core clocks, memory clocks or threads are needed"
            fail("too-few-rows", message, hint=hint)
        matrix = np.array([values[used] for values in terms.values()]).T * weights[:, None]
        scales = np.abs(matrix).max(axis=0)
        if not scales.all():
            zero = [name for name, scale in zip(terms, scales, strict=True) if not scale]
            fail("constant-counter", f"{what}: {', '.join(zero)} is zero in all rows")
        solution, _, rank, _ = np.linalg.lstsq(matrix / scales, left[used] * weights, rcond=1e-10)
        if rank < len(terms):
            text = f"{what}: the rows do not tell all of {', '.join(terms)} apart; the smallest coefficients are taken"
            self.notes += (Diagnostic("collinear", text, severity="note"),)
        return [float(value) for value in solution / scales]


MOST_TRACES = 16


def predict_stages(model: Cos, sheet: MeasurementSheet) -> dict[str, tuple[Stage, ...]]:
    """Predictions of the first code by configuration, spread over those that there are, in two stages of equation 7:
    what goes with the core clock, and what does not. None where the two are not known or are no parts of a whole."""
    first = next(iter(rows_by_key(row_keys(sheet, WHAT_RAN)).values()))
    part = sheet.rows_at(first)
    core, whole = model.core_clock_times(part), model.values(part)
    if core is None or (core < 0).any() or (core > whole).any():
        return {}
    names = [name for name in ("threads", "core_frequency", "memory_frequency") if name in part.names]
    units = [unit_symbol(KNOWN[name].dimension) for name in names]
    rows = list(zip(*(read_numbers(part, name) for name in names), core, whole, strict=True))
    made: dict[str, tuple[Stage, ...]] = {}
    for *values, computing, runtime in rows[:: -(-len(rows) // MOST_TRACES)]:
        settings = [f"{value:g} threads" if not unit else format_quantity(value, unit)
                for value, unit in zip(values, units, strict=True)]  # fmt: skip
        made[", ".join(settings)] = (Stage("compute", 0.0, computing), Stage("stall", computing, runtime))
    return made


def read_misses(sheet: MeasurementSheet) -> NDArray[np.float64]:
    """Misses of the last-level cache; from the volume of the memory where only that was measured."""
    if "llc_misses" in sheet.names:
        return read_numbers(sheet, "llc_misses")
    if "memory_volume" in sheet.names:
        return read_numbers(sheet, "memory_volume") / LINE
    hint = "give another column that name: --column 'llc_misses=HEADER'"
    fail("no-column", "`cos` needs a column `llc_misses` or `memory_volume`", sheet.span, hint=hint)


def stall_times(sheet: MeasurementSheet) -> NDArray[np.float64]:
    """Stall times in seconds; zero where not measured: all time then scales with the clock, and the terms of equation 8
    correct it."""
    if "stall_time" in sheet.names:
        return read_numbers(sheet, "stall_time")
    runtimes = read_numbers(sheet, "runtime", blank=True)
    if "stall_cycles" not in sheet.names:
        return 0 * runtimes
    cycles = "cycles" if "cycles" in sheet.names else None
    if cycles is None:
        return read_numbers(sheet, "stall_cycles") / read_numbers(sheet, "core_frequency")
    return runtimes * read_numbers(sheet, "stall_cycles") / read_numbers(sheet, cycles)


# CosThrottling: runtime under a throttled memory, the piecewise form of COS for Blue Gene/Q (Li, León, Cameron,
# HPDC 2017, section 4).


LEAST_POINTS = 3
"""Fewest throttled points of a series from which an inflection is fitted."""

EQUATION_11 = {
    "alpha": "idle cycles, times misses per instruction",
    "c1": "idle cycles",
    "beta": "s per idle cycle and miss",
    "c2": "s per idle cycle",
}


class CosThrottling(LearntModel):
    """The runtime with idle cycles between memory accesses, from that without any on the same threads: T = t0 up to an
    inflection a = alpha L2M/INST + c1, and above it a line of slope b = beta L2M + c2 (equations 10 and 11).

    `form`
        `continuous`, t0 + b (fm - a), or `literal`, t0 + b fm, which jumps by b a at the inflection (D22).
    """

    kind = "cos-throttling"
    about = "runtime under idle cycles between memory accesses (COS for Blue Gene/Q)"
    needs = ("idle_cycles", "llc_misses", "instructions")
    defaults: ClassVar[Mapping[str, Any]] = {"form": "continuous"}
    choices: ClassVar[Mapping[str, tuple[str, ...]]] = {"form": ("continuous", "literal")}
    form: str

    def learn(self, sheet: MeasurementSheet) -> dict[str, Any]:
        import numpy as np

        idle, misses, density = self._read_counters(sheet)
        extra = self.measured_target(sheet) - self.measured_target(sheet)[self._find_base_runs(sheet)]
        keys = row_keys(sheet, WHAT_RAN)
        inflections: dict[tuple[str, ...], list[tuple[float, float, float, float]]] = {}
        for indices in rows_by_key(row_keys(sheet, (*WHAT_RAN, "threads"))).values():
            inflection = self._fit_inflection(idle[indices], extra[indices])
            if inflection is not None:
                first = indices[0]
                inflections.setdefault(keys[first], []).append((density[first], misses[first], *inflection))
        learnt = []
        for key in dict.fromkeys(keys):
            if key not in inflections:
                hint = "each number of threads needs some points without and some with a slowdown"
                fail(
                    "too-few-rows", f"{' '.join(key) or 'the code'}: no series has an inflection", sheet.span, hint=hint
                )
            per_instruction, per_code, at, slopes = np.array(inflections[key]).T
            learnt.append([list(key), [*fit_line(per_instruction, at), *fit_line(per_code, slopes)]])
        return {"alike": [name for name in WHAT_RAN if name in sheet.names], "codes": learnt}

    def state_shape(self) -> Any:
        return {"alike": [str], "codes": [([str], (float,) * len(EQUATION_11))]}

    def state_problem(self) -> str | None:
        return find_key_problem(self.state["alike"], self.state["codes"])

    def values(self, sheet: MeasurementSheet) -> NDArray[np.float64]:
        import numpy as np

        idle, misses, density = self._read_counters(sheet)
        codes = {tuple(key): held for key, held in self.state["codes"]}
        keys = row_keys(sheet, self.state["alike"])
        for key in dict.fromkeys(keys):
            if key not in codes:
                fail("not-learnt", f"the model has not learnt {' '.join(key)}", sheet.span)
        alpha, constant, beta, start = np.array([codes[key] for key in keys]).T
        at, slope = alpha * density + constant, beta * misses + start
        beyond = idle if self.form == "literal" else idle - at
        predicted: NDArray[np.float64] = self.known_target(sheet)[self._find_base_runs(sheet)] + np.where(
            idle > at, slope * beyond, 0.0
        )
        return predicted

    def columns_used(self, sheet: MeasurementSheet) -> Iterable[str]:
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

    def _read_counters(
        self, sheet: MeasurementSheet
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        misses = read_numbers(sheet, "llc_misses")
        return read_numbers(sheet, "idle_cycles"), misses, misses / read_numbers(sheet, "instructions")

    def _find_base_runs(self, sheet: MeasurementSheet) -> NDArray[np.int64]:
        return find_base_rows(sheet, "idle_cycles", (*WHAT_RAN, "threads"), "lowest")

    def _fit_inflection(self, idle: NDArray[np.float64], extra: NDArray[np.float64]) -> tuple[float, float] | None:
        """Least-squares inflection and slope of a series; None where too few points are slowed down."""
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


def fit_line(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[float, float]:
    """Slope and constant of a regression line; slope 0 where all x are equal."""
    centred = x - x.mean()
    squares = float(centred @ centred)
    slope = float(centred @ y) / squares if squares > 1e-18 * float(x @ x) else 0.0
    return slope, float(y.mean() - slope * x.mean())
