"""ACEE: energy as a linear model of counters (Umar, dissertation 2018, section 3.4.1)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from aspenpy.language.diagnostics import Diagnostic, fail
from aspenpy.language.dimensions import BYTES, JOULES, WATTS, parse_unit
from aspenpy.language.source import Span
from aspenpy.learn.estimators.model import Constant, LearntModel
from aspenpy.learn.estimators.regression import (
    Moments,
    SelectionStep,
    draw_folds,
    estimate_unseen_spread,
    rows_by_code,
    select_by_cross_validation,
    select_stepwise,
    variance_inflation,
)
from aspenpy.learn.estimators.training_rows import compare_devices, drop_rows_with_gaps, require_one_scale
from aspenpy.learn.measurements.columns import (
    KNOWN,
    evaluate_formula,
    find_columns,
    is_numeric,
    plain_unit,
    read_numbers,
    row_keys,
    rows_by_key,
)
from aspenpy.learn.measurements.conditions import number_in
from aspenpy.learn.measurements.read import require_library
from aspenpy.learn.measurements.sheet import Data, Heading, MeasurementSheet, count_noun
from aspenpy.tables.table import JSON, TEXT, Column, Table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LEAKING = re.compile(r"energy|power|joule|watt|rapl|\bedp\b", re.IGNORECASE)
"""Names of columns that hold the predicted quantity itself."""

AMOUNTS = ("instructions", "cycles", "memory_volume", "stall_cycles", "llc_misses", "bus_accesses", "read_cycles")
"""Columns that grow with the length of a run."""


class Acee(LearntModel):
    """Energy by stepwise regression on counters.

    `scale`
        `amount`, equation 3.1: energy = intercept + sum of coefficients times counters; `rate`: the same of power and
        counters a second, times the runtime, so that errors of long and short runs count alike.
    `predictors`
        columns or formulas of them, such as `cycles/runtime`; if left out all numeric columns that are no labels, a
        counter of unknown unit also by the second.
    `shortlist`
        devices to learn where there are several (Algorithm 1): that of the least `energy`, of the least `time`, `both`
        for those that none beats in both, or `all`. Each has a regression of its own.
    `direction`, `criterion`
        of the search: `forward`, `backward`, `both`, or `none` to keep all; by `p`, `aic` or `bic`, or by `cv`, the
        errors of codes that are left out of the training rows in turn (forward).
    """

    kind = "acee"
    about = "energy from counters by stepwise regression (ACEE)"
    target = "energy"
    defaults: ClassVar[Mapping[str, Any]] = {
        "scale": "rate",
        "shortlist": "energy",
        "predictors": (),
        "direction": "both",
        "criterion": "cv",
    }
    choices: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "scale": ("rate", "amount"),
        "shortlist": ("energy", "time", "both", "all"),
        "direction": ("both", "forward", "backward", "none"),
        "criterion": ("cv", "bic", "aic", "p"),
    }
    scale: str
    shortlist: str
    predictors: Sequence[str]
    direction: str
    criterion: str

    def sheet(self, data: Data, columns: Mapping[str, str] | None = None) -> MeasurementSheet:
        """The energy is power times runtime where only these were measured."""
        sheet = super().sheet(data, columns)
        if "energy" in sheet.names or not {"power", "runtime"} <= {*sheet.names}:
            return sheet
        energies = read_numbers(sheet, "power", blank=True) * read_numbers(sheet, "runtime", blank=True)
        rows = tuple(
            row | {"energy": row["power"]._replace(value=float(energy) if energy == energy else "")}
            for row, energy in zip(sheet.rows, energies, strict=True)
        )
        return sheet._replace(headings=(*sheet.headings, Heading("energy", None)), rows=rows)

    def select_rows(self, sheet: MeasurementSheet) -> MeasurementSheet:
        """Rows of the devices on the short list, without those in which a predictor is blank."""
        require_one_scale(sheet)
        listed = compare_devices(sheet, self.shortlist)
        kept = [item.device for item in listed if item.chosen]
        if len(kept) < len(listed):
            text = f"of {len(listed)} devices `{'`, `'.join(kept)}` is learnt, by {self.shortlist}"
            self._add_note(f"{text}; --option shortlist=all learns all")
            sheet = sheet.rows_at(index for index, row in enumerate(sheet.rows) if str(row["device"].value) in kept)
        named = [name for text in self.predictors for name in find_columns(text, sheet)]
        times = ["runtime"] if self.scale == "rate" and "runtime" in sheet.names else []
        sheet, rows_left = drop_rows_with_gaps(sheet, dict.fromkeys([*times, *named]), required=True)
        rest = (
            []
            if named
            else [name for name in sheet.names if not is_label(name) and not is_energy_or_power(sheet, name)]
        )
        sheet, others_left = drop_rows_with_gaps(sheet, rest, required=False)
        self.notes += rows_left + others_left
        return sheet

    def learn(self, sheet: MeasurementSheet) -> dict[str, Any]:
        devices = rows_by_key(row_keys(sheet, ("device",)))
        return {
            "devices": [["".join(key), self._learn_device(sheet.rows_at(indices))] for key, indices in devices.items()]
        }

    def _learn_device(self, sheet: MeasurementSheet) -> dict[str, Any]:
        """The regression of one device."""
        require_library("statsmodels", "a regression")
        candidates = self._check_predictors(sheet)
        names, matrix = list(candidates), stack_columns(candidates)
        target = self._scaled_target(sheet)
        if len(target) < len(names) + 2:
            taught = count_noun(len(names), "predictor")
            message = f"{count_noun(len(target), 'row')} cannot teach {taught} and an intercept"
            fail("too-few-rows", message, sheet.span, hint="measure more, or name fewer with --predictors")
        chosen, steps = self._choose_predictors(sheet, matrix, target)
        kept = [names[index] for index in chosen]
        return fit_least_squares(matrix[:, chosen], target) | {
            "predictors": kept,
            "vif": variance_inflation(matrix[:, chosen]) if chosen else [],
            "steps": [[step.entered, names[step.place], step.criterion] for step in steps],
            "held_out": self._estimate_unseen_spread(sheet, matrix, target),
        }

    def state_shape(self) -> Any:
        regression = {
            **{key: [float] for key in ("coefficients", "deviations", "p", "vif")},
            "inverse": [[float]],
            "variance": float,
            "freedom": int,
            "r_squared": float,
            "predictors": [str],
            "steps": [(bool, str, float)],
            "held_out": [float],
        }
        return {"devices": [(str, regression)]}

    def state_problem(self) -> str | None:
        if not self.state["devices"]:
            return "it has learnt no device"
        for device, held in self.state["devices"]:
            count = len(held["predictors"])
            lengths = [len(held[name]) - 1 for name in ("coefficients", "deviations", "p")]
            sides = [len(held["inverse"]) - 1, *(len(row) - 1 for row in held["inverse"])]
            spread = held["held_out"] or [0.0, 1.0, 1.0]
            wrong = {count, len(held["vif"]), *lengths, *sides} != {count} or len(spread) != 3
            if wrong or min(held["variance"], spread[0]) < 0 or held["freedom"] < 1 or min(spread[1:]) <= 0:
                return f"the numbers of its regression{f' on {device}' if device else ''} do not fit its predictors"
        return None

    def _choose_predictors(
        self, sheet: MeasurementSheet, matrix: NDArray[np.float64], target: NDArray[np.float64]
    ) -> tuple[list[int], list[SelectionStep]]:
        """Columns that the regression keeps, and the steps of the search; constant columns are never kept."""
        import numpy as np

        differ = np.flatnonzero(np.ptp(matrix, axis=0) > 1e-12 * np.abs(matrix).max(axis=0))
        if self.direction == "none":
            return differ.tolist(), []
        if self.criterion == "cv":
            chosen, steps = select_by_cross_validation(matrix[:, differ], target, draw_folds(sheet))
        else:
            chosen, steps = select_stepwise(Moments(matrix[:, differ], target), self.direction, self.criterion)
        indices = [step._replace(place=int(differ[step.place])) for step in steps]
        return [int(differ[index]) for index in chosen], indices

    def _estimate_unseen_spread(
        self, sheet: MeasurementSheet, matrix: NDArray[np.float64], target: NDArray[np.float64]
    ) -> list[float]:
        """`UnseenSpread` of codes that neither the search nor the regression saw; empty where rows are too few."""
        folds, codes = draw_folds(sheet), rows_by_code(sheet)
        codes = codes if len(codes) > 2 else [[index] for index in range(len(target))]

        def search(rest: Sequence[int]) -> list[int]:
            return self._choose_predictors(sheet.rows_at(rest), matrix[rest], target[rest])[0]

        unseen_spread = estimate_unseen_spread(matrix, target, folds, search, codes)
        return [] if unseen_spread is None else list(unseen_spread)

    def values(self, sheet: MeasurementSheet) -> NDArray[np.float64]:
        import numpy as np

        predicted = np.zeros(len(sheet.rows))
        for part, held, design in self._design_matrices(sheet):
            predicted[part] = design @ np.array(held["coefficients"])
        return predicted * self._scale_factor(sheet)

    def interval(self, sheet: MeasurementSheet, confidence: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Prediction intervals, y ± t s sqrt(1 + d x (X'X)^-1 x'): the wider of those of ordinary least squares (d = 1)
        and those of codes that were held out. The errors of a code are alike, and a search among many counters finds
        some that fit by chance; neither shows in the residuals of what was learnt from."""
        import numpy as np
        from scipy.stats import t

        half = np.zeros(len(sheet.rows))
        for part, held, design in self._design_matrices(sheet):
            spread = np.einsum("ij,jk,ik->i", design, np.array(held["inverse"]), design)
            known = [(held["variance"], held["freedom"], 1.0), *([held["held_out"]] if held["held_out"] else [])]
            half[part] = np.max(
                [t.ppf((1 + confidence) / 2, freedom) * np.sqrt(variance * (1 + effect * spread))
                 for variance, freedom, effect in known],
                axis=0,
            )  # fmt: skip
        middle, half = self.values(sheet), half * self._scale_factor(sheet)
        return middle - half, middle + half

    def columns_used(self, sheet: MeasurementSheet) -> Iterable[str]:
        texts = [text for _, held in self.state["devices"] for text in held["predictors"]]
        columns = [name for text in texts for name in find_columns(text, sheet)]
        return dict.fromkeys([*columns, *(["runtime"] if self.scale == "rate" else [])])

    def findings(self) -> tuple[Table, ...]:
        return tuple(part for device, held in self.state["devices"] for part in self._device_tables(device, held))

    def _device_tables(self, device: str, held: Mapping[str, Any]) -> tuple[Table, ...]:
        rows = list(zip(["1", *held["predictors"]], held["coefficients"], held["deviations"], held["p"], strict=True))
        inflation = [None, *held["vif"]]
        columns = (
            Column("predictor"),
            Column("coefficient", format_number, "right"),
            Column("deviation", format_number, "right"),
            Column("p", format_number, "right"),
            Column("VIF", "ratio", key="vif"),
        )
        per, on = "W" if self.scale == "rate" else "J", f" on {device}" if device else ""
        title = f"coefficients{on} ({per} per unit of the predictor), R² {held['r_squared']:.4f} in training"
        made = tuple((*row, vif) for row, vif in zip(rows, inflation, strict=True))
        steps = tuple(("enters" if entered else "leaves", name, value) for entered, name, value in held["steps"])
        by = Column(self.criterion, format_number, "right", key="criterion")
        heads, key = (Column("step"), Column("counter"), by), f"_{device}" if device else ""
        search = Table(heads, steps, title=f"search{on}", key=f"steps{key}", media=TEXT + JSON)
        return (Table(columns, made, title=title, key=f"coefficients{key}"), search)

    def constants(self) -> tuple[Constant, ...]:
        per = "W" if self.scale == "rate" else "J"
        return tuple(
            Constant(
                (device, "constant" if name == "1" else name), value, per if name == "1" else f"{per}, times {name}"
            )
            for device, held in self.state["devices"]
            for name, value in zip(["1", *held["predictors"]], held["coefficients"], strict=True)
        )

    def regression_residuals(
        self, sheet: MeasurementSheet
    ) -> list[tuple[str, Mapping[str, Any], NDArray[np.float64], NDArray[np.float64]]]:
        """Name, regression, design matrix and residuals of each device: what assumptions are checked on."""
        import numpy as np

        residuals, target = [], self._scaled_target(sheet)
        names = {id(held): device for device, held in self.state["devices"]}
        for part, held, design in self._design_matrices(sheet):
            left = target[part] - design @ np.array(held["coefficients"])
            residuals.append((names[id(held)], held, design, left))
        return residuals

    def _design_matrices(
        self, sheet: MeasurementSheet
    ) -> Iterator[tuple[list[int], Mapping[str, Any], NDArray[np.float64]]]:
        """Row numbers, regression and design matrix of each device."""
        import numpy as np

        learnt = dict(map(tuple, self.state["devices"]))
        for key, indices in rows_by_key(row_keys(sheet, ("device",))).items():
            device = "".join(key)
            if device not in learnt:
                hint = f"it has learnt {', '.join(learnt)}; --option shortlist=all learns all"
                fail("not-learnt", f"the model has not learnt the device {device}", sheet.span, hint=hint)
            part, held = sheet.rows_at(indices), learnt[device]
            columns = [evaluate_formula(text, part) for text in held["predictors"]]
            yield indices, held, np.array([np.ones(len(indices)), *columns]).T

    # -- predictors ------------------------------------------------------------------------------

    def _scale_factor(self, sheet: MeasurementSheet) -> NDArray[np.float64] | float:
        return read_numbers(sheet, "runtime") if self.scale == "rate" else 1.0

    def _scaled_target(self, sheet: MeasurementSheet) -> NDArray[np.float64]:
        scaled: NDArray[np.float64] = self.measured_target(sheet) / self._scale_factor(sheet)
        return scaled

    def _check_predictors(self, sheet: MeasurementSheet) -> dict[str, NDArray[np.float64]]:
        """Values of each predictor. A useless one is an error where it was named, and left out with a note
        otherwise."""
        import numpy as np

        candidates: dict[str, NDArray[np.float64]] = {}
        target = self._scaled_target(sheet)
        for text in self.predictors or self._list_predictors(sheet):
            if any(is_energy_or_power(sheet, name) for name in find_columns(text, sheet)):
                hint = "power and energy are not known before the run that they are predicted for"
                fail("leakage", f"`{text}` contains what is to be predicted", heading_span(sheet, text), hint=hint)
            values = evaluate_formula(text, sheet)
            why = None
            if np.ptp(values) <= 1e-12 * np.abs(values).max():
                why = "is constant"
            elif is_proportional(values, target):
                fail("leakage", f"`{text}` is the {self.target} under another name", heading_span(sheet, text))
            else:
                twin = next((name for name, known in candidates.items() if is_proportional(values, known)), None)
                why = None if twin is None else f"is `{twin}` under another name or in another unit"
            if why is None:
                candidates[text] = values
            elif self.predictors:
                fail("useless-predictor", f"`{text}` {why}, and cannot be a predictor", heading_span(sheet, text))
            else:
                self._add_note(f"`{text}` {why}: not a predictor")
        if not candidates:
            fail("no-predictors", "no column can be a predictor of the energy", sheet.span)
        return candidates

    def _list_predictors(self, sheet: MeasurementSheet) -> list[str]:
        """Predictors where none are named: numeric columns, amounts divided by the runtime where power is predicted."""
        predictors, by_second = list[str](), list[str]()
        for name in [name for name in sheet.names if not is_label(name) and not is_energy_or_power(sheet, name)]:
            if not is_numeric(sheet, name):
                blank = all(number_in(row[name]) is None for row in sheet.rows)
                self._add_note(f"`{name}` {'has no numbers' if blank else 'is text in some rows'}: not a predictor")
                continue
            if self.scale == "amount":
                predictors.append(name)
            elif name in AMOUNTS:
                predictors.append(f"{name}/runtime")
            elif name != "runtime":
                predictors.append(name)
                if name not in KNOWN and sheet.heading(name).unit is None and name.isidentifier():
                    by_second.append(f"{name}/runtime")  # it may be an amount as well as a rate
        if self.scale == "rate" and "core_frequency" in sheet.names:
            predictors += ["core_frequency^2", *(["threads*core_frequency^2"] if "threads" in sheet.names else [])]
        return predictors + by_second if len(sheet.rows) > 2 * len(predictors + by_second) else predictors

    def _add_note(self, text: str) -> None:
        self.notes += (Diagnostic("left-out", text, severity="note"),)


def is_label(name: str) -> bool:
    """Whether a column says what ran or where."""
    return name in KNOWN and KNOWN[name].text


def heading_span(sheet: MeasurementSheet, text: str) -> Span | None:
    """Span of a column's heading; of the first line for a formula."""
    try:
        return sheet.heading(text).span or sheet.span
    except KeyError:
        return sheet.span


def is_energy_or_power(sheet: MeasurementSheet, name: str) -> bool:
    """Whether a column is an energy or a power, which is what models of the energy are to predict."""
    heading = sheet.heading(name)
    unit = plain_unit(heading.unit)
    dimension = parse_unit(unit).dimension if unit else KNOWN[name].dimension if name in KNOWN else BYTES
    return dimension in (JOULES, WATTS) or LEAKING.search(f"{name} {heading.written}") is not None


def is_proportional(one: NDArray[np.float64], other: NDArray[np.float64]) -> bool:
    """Whether two columns are proportional."""
    import numpy as np

    scale = float(one @ other / (other @ other)) if other.any() else 0.0
    return bool(np.allclose(one, scale * other, rtol=1e-9, atol=0.0))


def stack_columns(candidates: Mapping[str, NDArray[np.float64]]) -> NDArray[np.float64]:
    import numpy as np

    return np.array(list(candidates.values())).T


def fit_least_squares(matrix: NDArray[np.float64], target: NDArray[np.float64]) -> dict[str, Any]:
    """Ordinary least squares with an intercept, of columns scaled to their size for the arithmetic."""
    import numpy as np
    from statsmodels.regression.linear_model import OLS

    design = np.column_stack([np.ones(len(target)), matrix])
    scales = np.abs(design).max(axis=0)
    fitted = OLS(target, design / scales).fit()
    inverse = np.asarray(fitted.normalized_cov_params) / np.outer(scales, scales)
    return {
        "coefficients": [float(value) for value in np.asarray(fitted.params) / scales],
        "deviations": [float(value) for value in np.asarray(fitted.bse) / scales],
        "p": [float(value) for value in fitted.pvalues],
        "inverse": inverse.tolist(),
        "variance": float(fitted.scale),
        "freedom": int(fitted.df_resid),
        "r_squared": float(fitted.rsquared),
    }


def format_number(value: float) -> str:
    return f"{value:.4g}"
