"""Models that learnt from measurements as reports: what they learnt, how well they predict, what they assume."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import cycle
from types import MappingProxyType
from typing import Any

from aspenpy.language.dimensions import JOULES, SECONDS, Dimension, format_quantity, unit_symbol
from aspenpy.learn.estimators.cos_trace import THROTTLING_PLANS, Kind, Stage, TrainingPlan, sum_stages
from aspenpy.learn.estimators.model import LearntModel
from aspenpy.learn.estimators.speedup import PowerAwareSpeedup
from aspenpy.learn.estimators.validation import Assumption, ErrorSummary, Predicted, PredictionErrors
from aspenpy.learn.measurements.sheet import count_noun
from aspenpy.report.fit import signed_percent
from aspenpy.report.speedup import draw_surface
from aspenpy.tables.drawing import (
    BLACK,
    BLUE,
    EDGE,
    FILLS,
    LONGEST_TITLE,
    MARKED,
    MARKS,
    PALE,
    SKY,
    VERMILION,
    drop_middle,
    label_axis,
    set_title,
    use_shared_style,
)
from aspenpy.tables.numbers import format_count
from aspenpy.tables.registry import register_report
from aspenpy.tables.table import CSV, DATA, JSON, TEXT, Column, Paragraph, Report, Table, make_facts, make_table

# -- traces of COS ---------------------------------------------------------------------------------


FILL_OF: Mapping[Kind, dict[str, Any]] = {"compute": FILLS[0], "overlap": FILLS[2], "stall": FILLS[4]}
SIGNS: Mapping[Kind, str] = {"compute": "Tc", "overlap": "To", "stall": "Ts"}


def describe_stages(stages: Sequence[Stage]) -> str:
    """`T = Tc(1) + To(1) + Ts(1)`, as equations 2 and 4 to 6 are written."""
    seen: dict[str, int] = {}
    parts = []
    for stage in stages:
        seen[stage.kind] = seen.get(stage.kind, 0) + 1
        parts.append(f"{SIGNS[stage.kind]}({seen[stage.kind]})")
    return "T = " + " + ".join(parts)


def report_stages(traces: Mapping[str, Sequence[Stage]]) -> Report:
    """Traces in words with the seconds of their three kinds, and all stages for programs."""
    kinds = tuple(Column(f"{kind} ({sign})", unit="s", key=kind) for kind, sign in SIGNS.items())
    columns = (Column("run"), Column("stages", "count"), *kinds, Column("trace", wrapped=True))
    rows = tuple(
        (name, len(stages), *(sum_stages(stages, kind) for kind in SIGNS), describe_stages(stages))
        for name, stages in traces.items()
    )
    heads = (Column("run"), Column("stage"), Column("begin", unit="s"), Column("end", unit="s"))
    every = tuple((name, *stage) for name, stages in traces.items() for stage in stages)
    stages = Table(heads, every, key="stages", media=JSON + CSV)
    parts = (Table(columns, rows, key="traces", media=TEXT + JSON), stages)
    return Report("cos_stages/1", f"cos: {count_noun(len(rows), 'trace')}", {}, parts)


@use_shared_style
def draw(traces: Mapping[str, Sequence[Stage]]) -> Any:
    """A matplotlib figure: a row of coloured stages for each trace, such as one for each clock (figure 3)."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 1.2 + 0.5 * len(traces)), layout="constrained")
    axes = figure.add_subplot()
    draw_traces(axes, traces, {kind: f"{kind} ({sign})" for kind, sign in SIGNS.items()})
    set_title(axes, "COS traces")
    return figure


def draw_traces(axes: Any, traces: Mapping[str, Sequence[Stage]], legend: Mapping[Kind, str]) -> None:
    """A row for each trace, its kinds of stages named in the legend, its length behind it."""
    for index, stages in enumerate(traces.values()):
        for stage in stages:
            axes.barh(-index, stage.end - stage.begin, left=stage.begin, **EDGE, **FILL_OF[stage.kind])
        end = max(stage.end for stage in stages)
        axes.annotate(f" {format_quantity(end, 's')}", (end, -index), va="center")
    axes.set_yticks([-index for index in range(len(traces))], list(traces))
    axes.margins(x=0.18)
    axes.grid(visible=False, axis="y")
    axes.set_xlim(left=0)
    label_axis(axes.xaxis, "s")
    axes.set_xlabel("time")
    handles = [axes.barh(0, 0, label=label, **EDGE, **FILL_OF[kind]) for kind, label in legend.items()]
    beside = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.2 if len(traces) < 8 else -0.12), "ncols": 3}
    axes.legend(handles=handles, **beside)


# -- training plans of COS -------------------------------------------------------------------------


COUNTS = ("training", "space", "tests")


def report_plan(plan: TrainingPlan) -> Report:
    """Counts, and the configurations to measure, by threads and memory clock."""
    counts = len(plan.training), len(plan.space), plan.tests
    heading = f"cos: {counts[0]} of {counts[1]} configurations to measure, {counts[2]} to predict"
    memory, threads = Column("memory clock", unit="Hz", key="memory_frequency"), Column("threads", "count")
    core = Column("core clock", unit="Hz", key="core_frequency")
    lowest = {(memory_clock, count): clock for clock, memory_clock, count in reversed(plan.training)}
    groups = Counter((memory_clock, count) for _, memory_clock, count in plan.training)
    summed = tuple(
        (count, clock or None, number, lowest[clock, count])
        for (clock, count), number in sorted(groups.items(), key=lambda item: (item[0][1], item[0][0]))
    )
    columns = (threads, memory, Column("core clocks", "count"), Column("from", unit="Hz"))
    shown = Table(columns, summed, title="to measure", media=TEXT, sparse=True)
    rows = tuple((clock, memory_clock or None, count) for clock, memory_clock, count in plan.training)
    every = Table((core, memory, threads), rows, key="configurations", media=JSON + CSV)
    return Report("cos_plan/1", heading, dict(zip(COUNTS, counts, strict=True)), (shown, every))


def report_throttling_plan() -> Report:
    """Table 3 of the paper of COS: the throttling plan."""
    columns = (
        Column("of"),
        Column("idle cycles", key="idle_cycles"),
        Column("threads"),
        Column("configurations", "count"),
    )
    rows = tuple(
        (plan.of, _format_ends(plan.idle_cycles), _format_ends(plan.threads), plan.configurations)
        for plan in THROTTLING_PLANS
    )
    heading = "cos-throttling: configurations to measure on Blue Gene/Q"
    return Report(
        "bandwidth_plan/1", heading, {}, (Table(columns, rows, title="Table 3 of Li and others (2017)", key="plans"),)
    )


def _format_ends(values: range) -> str:
    steps = f" by {values.step}" if values.step > 1 else ""
    return f"{values[0]} to {values[-1]}{steps}"


MOST_SHOWN = 12  # predictions in a page: those with the largest errors
TARGETS: dict[str, Dimension] = {"runtime": SECONDS, "energy": JOULES}

ERRORS = (
    Column("", key="of", get=lambda pair: pair[0]),
    Column("n", "count", get=lambda pair: pair[1].n),
    Column("mean", lambda value: f"{value:.2f} %", "right", get=lambda pair: pair[1].mean_error_percent),
    Column("median", lambda value: f"{value:.2f} %", "right", get=lambda pair: pair[1].median_error_percent),
    Column("deviation", lambda value: f"{value:.2f} %", "right", get=lambda pair: pair[1].std_error_percent),
    Column("worst", lambda value: f"{value:.2f} %", "right", get=lambda pair: pair[1].max_error_percent),
)

ASSUMED = (
    Column("device", get=lambda item: item.device or None),
    Column("assumption", key="name"),
    Column("test"),
    Column("statistic", lambda value: f"{value:.4g}", "right"),
    Column("p", lambda value: f"{value:.3g}", "right"),
    Column("holds", lambda value: "yes" if value else "no"),
    Column("which means", key="meaning", wrapped=True),
)

NOTHING = {"n": 0} | dict.fromkeys(ErrorSummary._fields[1:])


def report_validation(found: PredictionErrors, assumed: tuple[Assumption, ...] = (), whole: bool = False) -> Report:
    """The report of a validation: errors first; with `whole` what was learnt and assumed, too."""
    unit = unit_symbol(TARGETS[found.model.target])
    data = {
        **_fields(found.model),
        "train": NOTHING if found.train is None else found.train.to_json(),
        "test": NOTHING if found.test is None else found.test.to_json(),
        "given": found.given,
        "inside_interval": share_inside(found),
    }
    summaries = [
        (name, errors) for name, errors in (("train", found.train), ("test", found.test)) if errors is not None
    ]
    groups = make_table(ERRORS, found.groups, title=f"left out in turn, by {found.split.leave_out}", media=TEXT)
    parts = [
        make_table(ERRORS, summaries, title="relative errors", media=TEXT),
        *list_notes(found),
        groups,
        _groups_table(found),
    ]
    parts += _error_tables(found, unit)
    if whole:
        parts += [
            *found.model.findings(),
            make_table(ASSUMED, assumed, "assumptions", title="assumptions", sparse=True),
        ]
    return Report("learnt_validation/1", heading(found.model), data, tuple(parts), found.diagnostics)


def report_model(model: LearntModel) -> Report:
    """The options of a model and what it learnt."""
    parts = (make_facts(_list_settings(model)), *(model.findings() if model.training is not None else ()))
    return Report("learnt_model/1", heading(model), _fields(model), parts)


register_report(PredictionErrors, report_validation)
register_report(LearntModel, report_model)


def heading(model: LearntModel) -> str:
    """`cos: runtime, learnt from 20 rows`."""
    rows = model.training.rows if model.training is not None else 0
    return f"{model.kind}: {model.target}, learnt from {format_count(rows)} rows"


def _fields(model: LearntModel) -> dict[str, Any]:
    return {
        "model": model.kind,
        "target": model.target,
        "unit": unit_symbol(TARGETS[model.target]),
        "options": {
            name: list(value) if isinstance(value, tuple) else value for name, value in _options_of_model(model).items()
        },
    }


def share_inside(errors: PredictionErrors) -> float | None:
    """The share of what was held out that lies in its prediction interval."""
    asked = [row for row in errors.rows if row.is_measured and not row.trained and row.interval is not None]
    if not asked:
        return None
    return sum(low <= row.measured <= high for row in asked if row.interval for low, high in [row.interval]) / len(
        asked
    )


def _options_of_model(model: LearntModel) -> dict[str, Any]:
    return {name: value for name, value in model.get_params().items() if value not in ((), None)}


def _list_settings(model: LearntModel) -> list[tuple[str, str]]:
    options = ", ".join(
        f"{name} {value}" for name, value in _options_of_model(model).items() if not isinstance(value, tuple)
    )
    return [("options", options)] if options else []


def list_notes(errors: PredictionErrors) -> list[Paragraph | Table]:
    notes = _list_settings(errors.model)
    if errors.given:
        notes.append(
            ("given", f"{format_count(errors.given)} of the rows are what predictions start from, and are not tested")
        )
    if (share := share_inside(errors)) is not None:
        wanted = f"{100 * errors.confidence:g} %"
        notes.append(("intervals", f"{100 * share:.1f} % of what was held out lies in its {wanted} interval"))
    return [make_facts(notes)] if notes else []


def _groups_table(found: PredictionErrors) -> Table:
    columns = tuple(map(Column, ("value", *ErrorSummary._fields)))
    rows = tuple((value, *errors.to_json().values()) for value, errors in found.groups)
    return Table(columns, rows, key="left_out", media=JSON)


def _label_column(name: str) -> Column:
    return Column(name, get=lambda row: dict(row.labels).get(name))


def _error_tables(errors: PredictionErrors, unit: str) -> list[Table]:
    """The largest errors of what was held out, or else of what was learnt; for programs all."""
    asked = [row for row in errors.rows if not row.trained] or list(errors.rows)
    worst = sorted(asked, key=lambda row: -abs(row.error) if row.is_measured else 0.0)[:MOST_SHOWN]
    title = (
        f"the {len(worst)} largest errors, of {format_count(len(asked))}" if len(worst) < len(asked) else "predictions"
    )
    names = list(dict.fromkeys(name for row in errors.rows for name, _ in row.labels))
    labels = [_label_column(name) for name in names]
    numbers = (
        Column("measured", unit=unit, get=lambda row: row.measured if row.is_measured else None),
        Column("predicted", unit=unit),
        Column("from", unit=unit, key="low", get=lambda row: row.interval and row.interval[0]),
        Column("to", unit=unit, key="high", get=lambda row: row.interval and row.interval[1]),
        Column("error", signed_percent, "right", get=lambda row: row.error if row.is_measured else None),
    )
    row, trained = Column("row", align="right"), Column("trained", media=DATA)
    shown = make_table((row, *labels, *numbers), worst, title=title, sparse=True, media=TEXT)
    every = (row, *labels, *numbers, trained)
    return [shown, make_table(every, errors.rows, "predictions", media=JSON + CSV)]


# -- as pictures -----------------------------------------------------------------------------------

MOST_GROUPS, MOST_SURFACES = 7, 4
Traces = Mapping[str, Sequence[Stage]]
PARTS: Mapping[Kind, str] = {"compute": "with the core clock (Tc + Toc)", "stall": "not (Tos + Ts)"}
"""The two parts of equation 7 of COS."""
FEW_DECADES = 50  # the largest over the smallest, below which an axis has more marks than its powers of ten


@use_shared_style
def draw_validation(errors: PredictionErrors, residuals: Any = None, traces: Traces = MappingProxyType({})) -> Any:
    """A matplotlib figure: predicted against measured, errors, errors by what was left out or ran; with the residuals
    of a regression their quantiles against those of a normal distribution; of power-aware speedup its surfaces; of COS
    the two parts of each prediction."""
    from matplotlib.figure import Figure

    surfaces = errors.model.surfaces()[:MOST_SURFACES] if isinstance(errors.model, PowerAwareSpeedup) else ()
    panels = (3 if residuals is None else 4) + len(surfaces) + bool(traces)
    figure = Figure(figsize=(4.6 * panels, 4.4), layout="constrained")
    figure.suptitle(drop_middle(heading(errors.model), LONGEST_TITLE), x=0.02, ha="left")
    unit = unit_symbol(TARGETS[errors.model.target])
    first, second, third = (figure.add_subplot(1, panels, number) for number in (1, 2, 3))
    draw_against(first, errors, unit)
    for trained, mark, colour in ((True, "o", SKY), (False, "D", VERMILION)):
        here = [row for row in errors.rows if row.trained is trained]
        label = "learnt from" if trained else "held out"
        if here:
            second.plot(
                [row.measured for row in here],
                [100 * row.error for row in here],
                mark,
                color=colour,
                label=label,
                markersize=4,
            )
    set_title(second, "relative residuals")
    second.set_xscale("log")
    label_axis(second.xaxis, unit)
    second.axhline(0, color=BLACK, linewidth=1)
    second.set_xlabel(f"{errors.model.target}, measured")
    second.set_ylabel("(predicted - measured)/measured (%)")
    label_axis(second.yaxis)
    second.legend()
    draw_groups(third, errors)
    if residuals is not None:
        of_power = errors.model.get_params().get("scale") == "rate"
        draw_quantiles(figure.add_subplot(1, panels, 4), residuals, "W" if of_power else "J")
    for number, (what, spots) in enumerate(surfaces, 4):
        draw_surface(figure, figure.add_subplot(1, panels, number), spots, what)
    if traces:
        last = figure.add_subplot(1, panels, panels)
        draw_traces(last, traces, PARTS)
        set_title(
            last,
            f"COS, {next(iter(_names_of_groups(errors)))}"
            if len(_names_of_groups(errors)) < MOST_GROUPS
            else "COS, the first code",
        )
    return figure


def draw_against(axes: Any, errors: PredictionErrors, unit: str) -> None:
    """Draws predictions over measurements, in one colour for each group of rows."""
    values = [value for row in errors.rows if row.is_measured for value in (row.measured, row.predicted) if value > 0]
    ends = [min(values), max(values)]
    axes.plot(ends, ends, color=PALE, linewidth=1)
    for name, colour, mark in zip(_names_of_groups(errors), cycle(MARKED), cycle(MARKS), strict=False):
        here = [row for row in errors.rows if _name_of_row(row) == name]
        axes.plot(
            [row.measured for row in here],
            [row.predicted for row in here],
            mark,
            color=colour,
            label=drop_middle(name),
            markersize=4,
        )
    axes.set(xscale="log", yscale="log")
    for axis in (axes.xaxis, axes.yaxis):
        label_axis(axis, unit)
    axes.set_xlabel("measured")
    axes.set_ylabel("predicted")
    set_title(axes, "predicted against measured")
    if 1 < len(_names_of_groups(errors)) <= MOST_GROUPS:
        axes.legend()


def draw_groups(axes: Any, found: PredictionErrors) -> None:
    known = [row for row in found.rows if row.is_measured]
    asked = [row for row in known if not row.trained] or known
    names = list(dict.fromkeys(map(_name_of_row, asked)))
    errors = [[100 * abs(row.error) for row in asked if _name_of_row(row) == name] for name in names]
    axes.boxplot(
        errors,
        orientation="horizontal",
        tick_labels=names,
        showfliers=True,
        flierprops={"markersize": 3},
        medianprops={"color": VERMILION},
    )
    label_axis(axes.xaxis)
    axes.set_xlabel("relative error (%)")
    set_title(axes, "by configuration")


def draw_quantiles(axes: Any, residuals: Any, unit: str) -> None:
    from scipy.stats import probplot

    (theory, ordered), (slope, start, _) = probplot(residuals)
    axes.plot(theory, ordered, ".", color=BLUE)
    axes.plot(theory, slope * theory + start, color=PALE, linewidth=1)
    axes.set_xlabel("normal quantiles")
    axes.set_ylabel(f"residuals ({unit})")
    set_title(axes, "QQ plot")


def _names_of_groups(errors: PredictionErrors) -> list[str]:
    return list(dict.fromkeys(map(_name_of_row, errors.rows)))


def _name_of_row(row: Predicted) -> str:
    """The code that ran, or its number of threads where one code ran."""
    labels = dict(row.labels)
    what = [str(labels[name]) for name in ("application", "region") if name in labels]
    return " ".join(what) or (f"{labels['threads']} threads" if "threads" in labels else "all")
