"""Machines that stand apart from the library's of their kind and years."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from math import exp, log
from statistics import quantiles
from typing import NamedTuple

from aspenpy.answers.figures import Figures, figures_of
from aspenpy.language.diagnostics import Diagnostic, warning
from aspenpy.language.dimensions import format_quantity
from aspenpy.models.library import find_source, library_names, load_machine
from aspenpy.models.machine.model import Machine
from aspenpy.models.machine.texts import Header, read_header

YEARS = 3
"""Largest difference in years between machines that are compared."""

FEWEST = 8
"""Fewest machines of the same kind and years with which a machine is compared."""

FENCE = 3
"""Interquartile ranges beyond a quartile at which a value is far out (Tukey, Exploratory Data Analysis, 1977, section
2D), of logarithms, since these are ratios."""


class Balance(NamedTuple):
    """A ratio of two figures that does not grow with the size of a machine."""

    name: str
    unit: str
    ratio: Callable[[Figures], float]


BALANCES = (
    Balance("bandwidth of memory for each flop/s", "B", lambda of: (of.bandwidth or 0) / (of.flops or 0)),
    Balance("power for each Gflop/s", "W", lambda of: 1e9 * (of.watts or 0) / (of.flops or 0)),
    Balance("power for each GB/s of memory", "W", lambda of: 1e9 * (of.watts or 0) / (of.bandwidth or 0)),
    Balance("time to read its memory once", "s", lambda of: (of.capacity or 0) / (of.bandwidth or 0)),
)

KINDS = {"cpu": "processors", "gpu": "accelerators", "system": "systems"}
"""Kinds whose machines are alike, and what they are called."""


def check_outliers(machine: Machine, text: str) -> Iterator[Diagnostic]:
    """A warning for each balance that is far out among the library's machines of its kind and years; `text` is that of
    its file, whose header says both. Nothing is said of a machine without a header."""
    of = read_header(text)
    if of.kind not in KINDS or of.year is None:
        return
    own = list_balances(figures_of(machine))
    peers = [list_balances(_library_figures(name)) for name in _list_peers(of) if name != machine.name]
    for balance in BALANCES:
        known = [balances[balance.name] for balances in peers if balance.name in balances]
        if balance.name in own and len(known) >= FEWEST:
            low, _, high = quantiles(map(log, known), n=4)
            beyond = max(low - log(own[balance.name]), log(own[balance.name]) - high)
            if beyond > FENCE * (high - low):
                ratios = (own[balance.name], exp(low), exp(high))
                value, first, last = (format_quantity(ratio, balance.unit) for ratio in ratios)
                message = f"in `{machine.name}` the {balance.name} is {value}"
                years = f"{of.year - YEARS} to {of.year + YEARS}"
                hint = f"half of the library's {len(known)} {KINDS[of.kind]} of {years} have {first} to {last}"
                yield warning("outlier", message, machine.root.name_span, hint=hint)


def list_balances(figures: Figures) -> Mapping[str, float]:
    """The balances of a machine by name. A balance with a missing figure is left out."""
    balances = {}
    for balance in BALANCES:
        try:
            balances[balance.name] = balance.ratio(figures)
        except ZeroDivisionError:
            continue
    return {name: value for name, value in balances.items() if value > 0}


def _list_peers(of: Header) -> Iterator[str]:
    for name in library_names("machines"):
        other = read_header(find_source("machines", name).text)
        if other.kind == of.kind and other.year is not None and abs(other.year - (of.year or 0)) <= YEARS:
            yield name


@cache
def _library_figures(name: str) -> Figures:
    return figures_of(load_machine(name))
