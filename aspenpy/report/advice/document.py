"""Parts that sections of the document of advice share: the problem in words, formulas behind numbers, and pictures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from io import StringIO
from typing import Any

from aspenpy.advice.design_space import DesignSpace
from aspenpy.advice.problem import ApplicationProblem
from aspenpy.answers.case import Case
from aspenpy.answers.prediction import Prediction
from aspenpy.language.dimensions import format_quantity
from aspenpy.tables.document import Block, Link, Picture, Span, anchor_of
from aspenpy.tables.drawing import use_style
from aspenpy.tables.numbers import count_of

FORMULAS: dict[str, tuple[str, str]] = {
    "runtime": (
        "Runtime",
        "The times of the kernels below, each as often as it is called. In a block, what waits for different parts of "
        "the machine overlaps: the longest counts.",
    ),
    "share": (
        "Share",
        "The time in which the run waits for that part of the machine / the runtime. Of energy: the joules that go "
        "with it / the energy.",
    ),
    "energy": (
        "Energy",
        "Power that is there whatever happens times the runtime, and joules for each flop, byte and message: the terms "
        "stand below, each with its line.",
    ),
    "power": ("Power", "Energy / runtime."),
    "balance": (
        "From balance",
        "Flops a byte of memory traffic, divided by the peak over the bandwidth: above 1 flops take longer than bytes, "
        "below 1 bytes do (Williams, Waterman and Patterson, CACM 52(4), 2009).",
    ),
    "sensitivity": (
        "Sensitivity",
        "(most - least) / value where nothing is varied, while one component goes through its range and all else stays "
        "(Umar, dissertation, Virginia Tech, 2018, section 4.4.2).",
    ),
    "significance": (
        "Share of a component, by the model",
        "Its sensitivity / the sum of the sensitivities of all components that the machine model states.",
    ),
    "samples": (
        "Samples",
        "Half the 95 % confidence interval of the mean of repeated runs, by Student's t, in parts of the mean: the "
        "widest of all configurations. So many more runs make it narrow enough.",
    ),
    "counters": (
        "Share of a component, by counters",
        "Stepwise linear regression picks the significant counters; each has its part of the variance that they "
        "explain (Lindeman, Merenda and Gold, 1980), and a component the parts of its counters, as far as they belong "
        "to it. Between: 95 % of 200 draws of the runs.",
    ),
    "clusters": (
        "Clusters",
        "Fuzzy c-means: a counter belongs to several clusters, each in part, the more the closer it goes with it "
        "(Bezdek, 1981). Partition coefficient: Bezdek, 1981. Index: Xie and Beni, IEEE TPAMI 13(8), 1991.",
    ),
    "optimum": ("Best of all", "The least of all combinations of the values that were tried; each was tried."),
    "against": ("Than now", "(value - value where nothing is varied) / value where nothing is varied."),
    "edp": (
        "Energy-delay product",
        "Energy times runtime (Gonzalez and Horowitz, IEEE JSSC 31(9), 1996); with delay squared: energy times runtime "
        "squared.",
    ),
    "efficiency": (
        "Efficiency",
        "Of strong scaling: the time on one node / (nodes x the time on them). Of weak scaling: the time on one node / "
        "the time on all, with as much larger a problem. Worth it: the most nodes that are at least as efficient as "
        "the threshold says.",
    ),
    "knee": (
        "Knee",
        "Where the time is farthest below a line from the first to the last number of nodes (Satopää, Albrecht, Irwin "
        "and Raghavan, ICDCSW 2011). Fastest: the number of nodes with the least time.",
    ),
    "worth": (
        "One more unit",
        "(objective at the next bound that buys anything - objective now) / (that bound - the bound).",
    ),
    "interval": (
        "Interval",
        "From the 2.5 % to the 97.5 % quantile of 1,000 runs of the model in which each value is multiplied by a "
        "normally distributed factor around 1, and the model's runtime and power by factors whose logarithms are "
        "normally distributed around 0. Half of the errors of a normal distribution are at most 0.6745 standard "
        "deviations.",
    ),
    "restricted": ("Restricted", "The runtime with a part of what the machine has / the runtime with all of it."),
    "noise": (
        "Noise",
        "From the 2.5 % to the 97.5 % quantile of 1,000 runs of the model in which each component has lost a normally "
        "distributed part.",
    ),
}
"""Title and text of each formula, by anchor; the times of kernels have their own."""


def link_text(text: str, formula: str) -> Link:
    """Words that lead to a formula."""
    return Link(text, anchor_of("formula", formula))


def link_joules(value: float | None, formula: str) -> Span:
    """An energy that leads to its formula; nothing where the machine states no power."""
    return "" if value is None else link_text(format_quantity(value, "J"), formula)


def picture_of(draw: Callable[[Any], Any], result: Any, caption: str) -> list[Block]:
    """A picture of a result, drawn where the document is written as HTML; nothing without matplotlib."""
    from importlib.util import find_spec

    return [] if find_spec("matplotlib") is None else [Picture(lambda: _write_svg(draw, result), caption)]


def _write_svg(draw: Callable[[Any], Any], result: Any) -> str:
    text = StringIO()
    with use_style():
        draw(result).savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()


MOST_KERNELS = 20  # the longest, of which each requirement is explained

SAME = 1e-6  # relative: seconds that differ by less are equal


def _sizes(case: Case, problem: ApplicationProblem) -> dict[str, float]:
    scope = Prediction(case).scope
    names = tuple(dict.fromkeys(problem.size))
    return dict(zip(names, map(float, scope.values([scope.symbol(name) for name in names], case.seed)), strict=True))


def problem_note(cases: Sequence[Case], problem: ApplicationProblem) -> str:
    """Sentences on the problem of cases with the user's settings, which are those of several inputs, and on the numbers
    of ranks that the program accepts."""
    said = _problem_sentences(cases, problem)
    if problem.accepted is None:
        return said
    return f"{said} Of ranks the program accepts {problem.accepted.describe()} only: not every place has one."


def _problem_sentences(cases: Sequence[Case], problem: ApplicationProblem) -> str:
    if not problem.size:
        return "The problem stays, however many ranks there are."
    each = [_sizes(case, problem) for case in cases]
    sizes = ", ".join(f"`{name}` = {value:,.6g}" for name, value in each[0].items())
    if any(other != each[0] for other in each):
        sizes = f"{', '.join(f'`{name}`' for name in each[0])} of the input"
    if not problem.per_rank:
        return f"The problem is {sizes} in all, however many ranks share it."
    holders = count_of(problem.holders, "rank")
    more = " as the model of the machine states it" if problem.holders > 1 else ""
    root = "" if len(problem.size) == 1 else f"^(1/{len(problem.size)})"
    names = " and ".join(f"`{name}`" for name in each[0])
    return (
        f"The problem in all is that of one node{more}: {holders}, each with {sizes}. It stays: with R ranks {names} "
        f"of each is ({problem.holders:,}/R){root} times that."
    )


def cap_note(space: DesignSpace) -> list[str]:
    """A note on the effect of a socket's power cap on the runtime, where it is reached."""
    alone, capped = space.prediction.runtime, space.base.runtime
    if capped <= alone * (1 + SAME):
        return []
    return [
        f"The power cap of the socket is reached: the run takes {format_quantity(capped, 's', 4)} instead of "
        f"{format_quantity(alone, 's', 4)}, which it takes by `eval` and `scale`, in which no cap holds."
    ]


def problem_data(case: Case, problem: ApplicationProblem) -> dict[str, Any]:
    """The same for programs: sizes as the user's settings have them, for each of the `holders` ranks if `per_rank`."""
    accepted = None if problem.accepted is None else str(problem.accepted)
    sizes = {"size": _sizes(case, problem), "per_rank": problem.per_rank, "holders": problem.holders}
    return {**sizes, "accepted": accepted}
