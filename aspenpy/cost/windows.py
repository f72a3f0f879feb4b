"""Cycles of compiled loops, which stand beside the operations of a block:

    flops [2*n] as add, dp, simd
    chain [1.5*n] as window, znver4   // by the scheduling model of that processor

A core that states `property scheduling_model [znver4]` takes the cycles: operations by class, and chains of them, are
in these already. Divisions and square roots count beside them by the rates of the core's own divider. Any other core
takes the operations, and leaves the cycles out.
"""

from __future__ import annotations

from collections.abc import Sequence

from aspenpy.cost.operations import CLASSES, FLOPS, INTOPS, UNITS
from aspenpy.cost.waiting import CHAIN, LOAD
from aspenpy.models.application import flow
from aspenpy.models.machine.model import Place, word_of_property

WINDOW = "window"
"""The trait of cycles that hold for one scheduling model, whose name is a trait beside it."""

MODEL = "scheduling_model"
"""The property of a core: the name that LLVM has for the processor's model."""


def is_window(requirement: flow.Requirement) -> bool:
    return requirement.resource == CHAIN and any(trait.name == WINDOW for trait in requirement.traits)


def find_windows(requirements: Sequence[flow.Requirement], core: Place | None) -> tuple[flow.Requirement, ...]:
    """The cycles among some requirements that hold for a core, as chains of no class, which are cycles."""
    windows = [need for need in requirements if is_window(need)]
    model = word_of_property(core.component, MODEL) if windows and core is not None else None
    named = (need for need in windows if model in {trait.name for trait in need.traits})
    return tuple(need.replace(traits=()) for need in named)


def choose_in_core(
    requirements: tuple[flow.Requirement, ...], windows: tuple[flow.Requirement, ...]
) -> tuple[flow.Requirement, ...]:
    """The requirements of a block that a core prices: the cycles that hold for it in place of operations, else the
    operations."""
    if windows:
        return (*windows, *(need for need in requirements if not is_window(need) and not _is_in_window(need)))
    return tuple(need for need in requirements if not is_window(need))


def operations_in_windows(
    requirements: Sequence[flow.Requirement], core: Place | None, resource: str
) -> list[flow.Requirement]:
    """The operations of a resource that are not priced, since cycles that hold for the core contain them."""
    if not find_windows(requirements, core):
        return []
    return [need for need in requirements if need.resource == resource and _is_in_window(need)]


def _is_in_window(need: flow.Requirement) -> bool:
    """Whether cycles of a window contain an operation: those of a class but for the divider's, whole numbers, and
    chains of them."""
    names = {trait.name for trait in need.traits}
    if need.resource == CHAIN:
        return LOAD not in names
    return need.resource == INTOPS or (need.resource == FLOPS and not names.isdisjoint({*CLASSES} - {*UNITS}))
