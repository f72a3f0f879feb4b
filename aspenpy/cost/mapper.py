"""Maps an application onto a machine: the price of every block that the entry kernel reaches."""

from __future__ import annotations

from aspenpy.cost.compute import price_block
from aspenpy.cost.cost import CostTree
from aspenpy.cost.memory import Hierarchy
from aspenpy.cost.noise import add_noise, noise_on
from aspenpy.cost.placement_options import MACHINES_OWN, PlacementOptions
from aspenpy.cost.residence import Residence
from aspenpy.cost.target import rank_counts, target_of
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import AspenError, Diagnostic, drop_repeats, fail
from aspenpy.language.lower import Origins
from aspenpy.language.source import pause_collection
from aspenpy.models.application import flow
from aspenpy.models.application.model import Application
from aspenpy.models.application.total import blocks_in, callees_first
from aspenpy.models.machine.model import OWNER, Machine

MOST_BLOCKS = 20_000
"""Mapped, evaluated and told by kernel in some four seconds."""


def map_application(
    application: Application,
    machine: Machine,
    *,
    socket: str | None = None,
    kernel: str = "main",
    overlap: bool = False,
    ranks: PlacementOptions = MACHINES_OWN,
) -> CostTree:
    """The cost tree of a kernel on a machine. With `overlap`, the branches of every `par` run at once."""
    with pause_collection():
        entry = application.flow(kernel)
        definitions = all_definitions(application, machine, entry)
        reached = [(block, item) for item in callees_first(entry) for block in blocks_in(item.body)]
        counts = rank_counts(block for block, _ in reached)
        asked = [need for block, _ in reached for need in block.requirements]
        where = target_of(machine, socket, ranks, counts, one=application.is_in_library and not counts, asked=asked)
        hierarchy = Hierarchy(machine, where.socket, application, entry, definitions=definitions)
        origins = all_origins(application, machine)
        residence = Residence(application, entry, where)
        if len(reached) > MOST_BLOCKS:
            message = f"`{kernel}` of `{application.name}` reaches {len(reached):,} blocks, more than {MOST_BLOCKS:,}"
            hint = "write what repeats once, with `iterate`, `map` or `kernel`"
            fail("too-many-blocks", message, reached[MOST_BLOCKS][0].span, hint=hint)
        blocks = {block: price_block(block, residence.target_of(item), hierarchy, origins) for block, item in reached}
        tree = CostTree(
            application, entry, blocks, overlap=overlap, definitions=definitions, origins=origins, residence=residence
        )
        if noise_on(tree) is None:
            return tree
        noisy, definitions = add_noise(tree)
        return CostTree(
            application, entry, noisy, overlap=overlap, definitions=definitions, origins=origins, residence=residence
        )


def warnings_of(
    application: Application, machine: Machine | None, socket: str | None = None, kernel: str = "main"
) -> list[Diagnostic]:
    """Warnings of the models: of the mapping to a socket, else those that hold on each that there is."""
    own = drop_repeats([*application.warnings, *(machine.warnings if machine is not None else ())])
    if machine is None:
        return own
    warnings: list[list[Diagnostic]] = []
    for name in [socket] if socket is not None else machine.sockets or (None,):
        try:
            warnings.append(list(map_application(application, machine, socket=name, kernel=kernel).warnings))
        except AspenError:
            continue  # what cannot be mapped is an error of its own where it is needed
    if not warnings:
        return own
    return [warning for warning in warnings[0] if all(warning in others for others in warnings)]


def all_origins(application: Application, machine: Machine | None = None) -> Origins:
    """Places in the text of the nodes of both models, and of all that the application imports. Call `all_definitions`
    first: what was not yet lowered has no place."""
    origins: Origins = {} if machine is None else dict(machine.origins)
    _ = application.data  # lowers the sizes
    for model in application.models():
        origins |= all_origins(model)
    return origins | application.origins


def all_definitions(application: Application, machine: Machine | None, entry: flow.Kernel | None) -> dict[Expr, Expr]:
    """The definitions of the symbols of both models.

    A name that the application leaves open is the machine's, if it has it; an argument of the entry
    kernel that nobody binds is the global of that name.
    """
    definitions = {parameter.symbol: parameter.value for parameter in application.parameters.values()}
    if machine is not None:
        definitions |= machine.definitions
        for model in application.all_models():
            for name in machine.declared:
                definitions.setdefault(graph.symbol(model.prefix + name), graph.symbol(name, OWNER))
    for kernel in callees_first(entry) if entry is not None else ():
        definitions |= dict(kernel.overrides)
    for formal in entry.formals if entry is not None else ():
        name = formal.name
        definitions.setdefault(formal, application.lookup(name) or graph.symbol(name))
    return definitions
