"""Arrays: the data structures that the array arguments of kernels stand for, and those that a run touches."""

from __future__ import annotations

from aspenpy.models.application import flow
from aspenpy.models.application.total import blocks_in, callees_first, calls_in

ArrayArguments = dict[str, dict[str, dict[str, None]]]
"""By kernel, which data structures each of its array arguments stands for over all calls."""


def array_arguments(entry: flow.Kernel) -> ArrayArguments:
    """Those of an entry kernel and all that it calls."""
    order = callees_first(entry)
    arrays: ArrayArguments = {kernel.name: {} for kernel in order}
    for kernel in reversed(order):
        known = arrays[kernel.name]
        for call in calls_in(kernel.body):
            for formal, actual in call.arrays:
                arrays[call.kernel.name].setdefault(formal, {}).update(known.get(actual, {actual: None}))
    return arrays


def touched_data(entry: flow.Kernel, resources: tuple[str, ...]) -> frozenset[str] | None:
    """The data structures that requirements of some resources name in an entry kernel and all that it calls; None
    where one of them names none: it may touch any."""
    arguments = array_arguments(entry)
    touched: set[str] = set()
    for kernel in callees_first(entry):
        for need in (need for block in blocks_in(kernel.body) for need in block.requirements):
            if need.resource not in resources:
                continue
            if need.target is None:
                return None
            looked_up = (argument for trait in need.traits if trait.name == "gather" for argument in trait.arguments)
            for name in (need.target, *(table for table in looked_up if isinstance(table, str))):
                touched.update(arguments[kernel.name].get(name, (name,)))
    return frozenset(touched)
