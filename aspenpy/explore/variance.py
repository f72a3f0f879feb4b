"""Variance: which share of a metric's variance each variable causes (Sobol), and how far single steps move it (Morris).

Both are SALib's; models are run here, all points at once.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import combinations
from typing import Any

import numpy

from aspenpy.answers.metrics import find_metric
from aspenpy.answers.scope import DEFAULT_SEED
from aspenpy.engine.arrays import Floats
from aspenpy.explore.space import Evaluator, Skipped, Space, fewer_note, most_affordable
from aspenpy.expr.draws import generator_seed
from aspenpy.language.diagnostics import fail
from aspenpy.record import Record
from aspenpy.tables.result import Result

LEVELS = 4  # of Morris's grid

MOST_RUNS = 10**8

CONFIDENCE = 0.95

FEWEST_SAMPLES = 8  # where the command cannot afford those that are taken else
FEWEST = 2  # samples, or trajectories, all of whose runs have a value


class Index(Record):
    """Sobol's indices of one variable, which is in `unit`: shares of the variance, `first` by itself, `total` with all
    interactions; the halves of their 95 % confidence intervals."""

    parameter: str
    unit: str
    first: float
    first_confidence: float
    total: float
    total_confidence: float


class Interaction(Record):
    """The share of the variance that two variables cause only together."""

    parameters: tuple[str, str]
    second: float
    second_confidence: float


class Sobol(Record, Result):
    """Indices, the largest total first, over `runs` runs of the model; the metric's mean and variance over them.
    `skipped` are runs without a value; with them the rest of their samples is left out."""

    metric: str
    runs: int
    mean: float
    variance: float
    indices: tuple[Index, ...] = ()
    interactions: tuple[Interaction, ...] = ()
    skipped: Skipped | None = None
    subject: str = ""
    note: str = ""

    @property
    def leaders(self) -> tuple[str, ...]:
        """The first, and those whose intervals of the total overlap with its: they may be first as well."""
        return _leaders([(item.parameter, item.total, item.total_confidence) for item in self.indices])


class Elementary(Record):
    """Morris's elementary effects of one variable over its whole range, in the metric's unit: their mean, the mean of
    their magnitudes with half of its 95 % confidence interval, and their deviation."""

    parameter: str
    mean: float
    magnitude: float
    confidence: float
    deviation: float


class Morris(Record, Result):
    """Effects, the largest magnitude first, over `runs` runs of the model. `skipped` are runs without a value; with
    them the rest of their trajectories is left out."""

    metric: str
    runs: int
    effects: tuple[Elementary, ...]
    skipped: Skipped | None = None
    subject: str = ""

    @property
    def leaders(self) -> tuple[str, ...]:
        """The first, and those whose intervals overlap with its: they may be first as well."""
        return _leaders([(item.parameter, item.magnitude, item.confidence) for item in self.effects])


def _leaders(rows: Sequence[tuple[str, float, float]]) -> tuple[str, ...]:
    """Names of (name, value, half of its interval), the largest first."""
    if not rows or not rows[0][1]:
        return ()
    _, first, half = rows[0]
    return tuple(name for name, value, own in rows if value and value + own >= first - half)


SAMPLES = 1024  # a power of two
FEW_VARIABLES = 14
"""Most variables with which that many samples are 16,384 runs at most."""


def sobol(
    space: Space,
    *,
    metric_name: str = "runtime",
    samples: int | None = None,
    pairs: bool = False,
    seed: int = DEFAULT_SEED,
) -> Sobol:
    """Variance-based indices with Saltelli's sampling (2002), each variable evenly distributed over its values.

    Runs `samples * (d + 2)` models for d variables, `samples * (2*d + 2)` with `pairs`; 1024 samples unless told, or
    512 of more than 14 variables, or as few as the command can afford. Raises AspenError.
    """
    usual = SAMPLES if len(space.variables) <= FEW_VARIABLES else SAMPLES // 2
    wanted = usual if samples is None else samples
    _refuse(wanted, space, 2 * len(space.variables) + 2)
    _require_power_of_two(wanted)
    from SALib.analyze import sobol as analysis
    from SALib.sample import sobol as sampling

    problem = _salib_problem(space)

    def places_of(count: int) -> Floats:
        return numpy.asarray(sampling.sample(problem, count, calc_second_order=pairs, seed=generator_seed(seed)))

    evaluate = space.evaluator([find_metric(metric_name).expr], missing=True)
    if samples is None:
        halves = [wanted >> step for step in range(wanted.bit_length()) if wanted >> step >= FEWEST_SAMPLES]
        samples = most_affordable(halves, evaluate, lambda count: _points_at(space, places_of(count)))
    places = places_of(samples)
    together = len(space.variables) * (2 if pairs else 1) + 2
    results, _, skipped = _evaluate_places(space, evaluate, places, metric_name, together)
    mean, variance = float(results.mean()), float(results.var())
    note = "" if samples == wanted else fewer_note(f"{samples:,} samples", wanted)
    found = Sobol(metric_name, len(results), mean, variance=variance, skipped=skipped, note=note)
    if variance <= (1e-12 * mean) ** 2:
        nothing = (0.0, 0.0, 0.0, 0.0)  # there is no variance to share
        flat = tuple(Index(item.name, space.unit(item), *nothing) for item in space.variables)
        return found.replace(variance=0.0, indices=flat)
    options = {"num_resamples": 100 if samples <= 1 << 14 else 20, "conf_level": CONFIDENCE}
    with warnings.catch_warnings(), numpy.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        indices = analysis.analyze(problem, results, calc_second_order=pairs, seed=generator_seed(seed), **options)
    together_only = _interactions(problem["names"], indices) if pairs else ()
    return found.replace(indices=_order_indices(space, indices), interactions=together_only)


def _require_power_of_two(samples: int) -> None:
    if samples & (samples - 1):
        message = f"{samples:,} is not a power of two, which Sobol's sequence needs to be uniform"
        fail("bad-samples", message, hint=f"take {1 << samples.bit_length():,}")


def _order_indices(space: Space, indices: Any) -> tuple[Index, ...]:
    """SALib's indices of each variable, the largest total first."""
    names, units = (item.name for item in space.variables), map(space.unit, space.variables)
    rows = zip(names, units, indices["S1"], indices["S1_conf"], indices["ST"], indices["ST_conf"], strict=True)
    unsorted = (Index(name, unit, *map(float, values)) for name, unit, *values in rows)
    return tuple(sorted(unsorted, key=lambda item: -item.total))


def _interactions(names: list[str], indices: Any) -> tuple[Interaction, ...]:
    unsorted = (
        Interaction((names[i], names[j]), float(indices["S2"][i, j]), float(indices["S2_conf"][i, j]))
        for i, j in combinations(range(len(names)), 2)
    )
    return tuple(sorted(unsorted, key=lambda item: -item.second))


def morris(space: Space, *, metric_name: str = "runtime", samples: int = 100, seed: int = DEFAULT_SEED) -> Morris:
    """Elementary effects (Morris 1991; magnitudes after Campolongo et al. 2007) along `samples` trajectories over a
    grid of 4 levels: `samples * (d + 1)` runs for d variables. Raises AspenError."""
    _refuse(samples, space, len(space.variables) + 1)
    from SALib.analyze import morris as analysis
    from SALib.sample import morris as sampling

    problem = _salib_problem(space)
    places = sampling.sample(problem, samples, num_levels=LEVELS, seed=generator_seed(seed))
    evaluate = space.evaluator([find_metric(metric_name).expr], missing=True)
    results, kept, skipped = _evaluate_places(space, evaluate, places, metric_name, len(space.variables) + 1)
    places = places[kept]
    options = {"num_levels": LEVELS, "conf_level": CONFIDENCE, "seed": generator_seed(seed)}
    effects = analysis.analyze(problem, places, results, **options)
    rows = zip(*(effects[name] for name in ("names", "mu", "mu_star", "mu_star_conf", "sigma")), strict=True)
    ordered = sorted((Elementary(str(name), *map(float, values)) for name, *values in rows), key=lambda e: -e.magnitude)
    return Morris(metric_name, len(results), tuple(ordered), skipped)


def _refuse(samples: int, space: Space, times: int) -> None:
    if find_spec("SALib") is None:
        fail("missing-salib", "the methods `sobol` and `morris` need SALib: pip install 'aspenpy[sensitivity]'")
    if samples < 2:
        fail("bad-samples", f"at least 2 samples are needed, not {samples}")
    if samples * times > MOST_RUNS:
        message = f"{samples * times:,} runs of the model are more than {MOST_RUNS:,}"
        fail("too-long", message, hint="take fewer samples")


def _salib_problem(space: Space) -> dict[str, Any]:
    """SALib varies the unit cube; `Variable.values_at` makes values of it, whole ones and choices included."""
    names = [item.name for item in space.variables]
    return {"num_vars": len(names), "names": names, "bounds": [[0.0, 1.0]] * len(names)}


def _points_at(space: Space, places: Floats) -> Floats:
    """The points of a space at places in the unit cube."""
    return numpy.column_stack([item.values_at(places[:, index]) for index, item in enumerate(space.variables)])


def _evaluate_places(
    space: Space, evaluate: Evaluator, places: Floats, metric_name: str, together: int
) -> tuple[Floats, Any, Skipped | None]:
    """The metric at the places that are kept, a mask of these, and what was skipped. Places are compared in groups of
    `together`: one without a value takes its whole group with it."""
    points = _points_at(space, places)
    values: Floats = evaluate(points)[0]
    skipped = space.note_skipped(find_metric(metric_name).expr, points, values)
    whole = ~numpy.isnan(values).reshape(-1, together).any(axis=1)
    if skipped is not None and whole.sum() < FEWEST:
        message = f"{skipped.count:,} of {skipped.total:,} runs have no value, so that nothing can be compared"
        fail("no-value", message, hint=f"vary what has a value; the first: {skipped.reason}")
    kept = numpy.repeat(whole, together)
    return values[kept], kept, skipped
