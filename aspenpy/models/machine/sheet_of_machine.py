"""The data sheet that a machine of the library without one would have: for sheets that are `like` it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from aspenpy.expr.evaluate import EvaluationError, evaluate_many
from aspenpy.expr.graph import Expr
from aspenpy.language.dimensions import format_quantity
from aspenpy.models.library import load_machine
from aspenpy.models.machine.model import Component, Machine

LANES = "simt"  # the flag of cores whose lanes have a part of the work each
PRECISIONS = ("dp", "sp", "tf32", "bf16", "fp16", "fp8", "fp4", "int8")
CACHE = {
    "capacity": ("capacity", "B"), "ways": ("associativity", ""), "line": ("cacheline", "B"),
    "sharing": ("sharing", ""), "latency": ("latency", "s"), "bandwidth": ("bandwidth", "B/s"),
    "core_bandwidth": ("core_bandwidth", "B/s"), "attained": ("attained_bandwidth", "B/s"),
    "prefetch": ("prefetch", ""), "sector": ("sector", "B"),
}  # fmt: skip
MEMORY = {
    "capacity": ("capacity", "B"), "bandwidth": ("bandwidth", "B/s"), "attained": ("attained_bandwidth", "B/s"),
    "channels": ("channels", ""),
}  # fmt: skip
OF_ONE = {"core_attained": ("core_bandwidth", "B/s"), "latency": ("latency", "s")}
SOCKET = {"watts": ("power_cap", "W"), "year": ("year", ""), "launch_latency": ("launch_latency", "s")}
CORE = {"clock": ("clock", "Hz"), "threads": ("threads", ""), "outstanding": ("outstanding", "")}
OF_PROCESSORS = {"vector_pipes": ("issue", ""), "page": ("page", "B")}
OF_LANES = {"lanes": ("simd_width", "")}
"""Fields of a sheet: the property that has each, and its unit."""


def write_amount(value: float, unit: str) -> str:
    """A quantity as sheets have it: of bytes without a prefix, since those of caches are of 1024."""
    return format_quantity(value, unit, 6) if unit not in ("", "B") else f"{value:.12g} {unit}".strip()


class _Values:
    """Numbers of a machine."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine

    def number(self, value: Expr | None) -> float | None:
        """A value at the machine's own settings; None where there is none."""
        try:
            return None if value is None else float(evaluate_many([value], None, 0, self.machine.definitions)[0])
        except EvaluationError:
            return None

    def fields(self, component: Component, of: Mapping[str, tuple[str, str]], several: float = 1) -> dict[str, str]:
        """Fields of a sheet that a component states, of `several` of it together."""
        found = {name: self.number(component.value(stated)) for name, (stated, _) in of.items()}
        return {name: write_amount(several * value, of[name][1]) for name, value in found.items() if value}

    def cycles(self, cache: Component, core: Component) -> dict[str, str]:
        """The latency of a cache in cycles, which stay where another clock is stated."""
        latency, clock = (self.number(value) for value in (cache.value("latency"), core.value("clock")))
        return {"latency": f"{latency * clock:.4g} cycles"} if latency and clock else {}

    def parts(self, component: Component, kind: str) -> Iterator[tuple[Component, float]]:
        """The parts of a component that are of a type, each with its number."""
        for part in component.parts:
            inside = self.machine.components[part.component]
            if inside.type == kind:
                yield inside, self.number(part.quantity) or 1


def table_of_machine(name: str, kind: str) -> dict[str, Any] | None:
    """The fields that a machine of the library states, as a sheet of its kind has them; None where it has not exactly
    one socket of that kind."""
    machine = load_machine(name)
    values = _Values(machine)
    sockets = [machine.components[socket] for socket in machine.sockets]
    cores = [(socket, *row) for socket in sockets for row in values.parts(socket, "core")]
    mine = [row for row in cores if (LANES in row[1].properties) == (kind == "accelerator")]
    if len(mine) != 1:
        return None
    socket, core, count = mine[0]
    table: dict[str, Any] = {"name": name, "cores": f"{count:g}"} | values.fields(socket, SOCKET)
    family = core.name
    while family in machine.bases:
        family = machine.bases[family]
    table |= {"core": family} if family != core.name else {}
    table |= values.fields(core, CORE | (OF_LANES if kind == "accelerator" else OF_PROCESSORS))
    table |= {"idle": write_amount(watts, "W")} if (watts := values.number(socket.power.get("static"))) else {}
    caches = [cache for around in (core, socket) for cache, _ in values.parts(around, "cache")]
    for level, cache in enumerate(sorted(caches, key=lambda cache: values.number(cache.value("capacity")) or 0), 1):
        table[f"l{level}"] = values.fields(cache, CACHE) | values.cycles(cache, core)
    for memory, several in list(values.parts(socket, "memory"))[:1]:
        words = [word for word in ("hbm", "ddr", "lpddr") if word in memory.properties]
        table["memory"] = values.fields(memory, MEMORY, several) | values.fields(memory, OF_ONE)
        table["memory"]["kind"] = words[0] if words else _kind_by_name(memory.name)
    if kind == "processor":
        return table | {"vector_bits": f"{32 * (values.number(core.value('simd_width')) or 1):g}"}
    return table | _peak_rates(values, core, count * (values.number(core.value("clock")) or 0))


def _kind_by_name(memory: str) -> str:
    found = re.match(r"(hbm|gddr|lpddr|ddr)", memory)
    return found[1] if found else "gddr"


def _peak_rates(values: _Values, core: Component, cycles: float) -> dict[str, Any]:
    """Peaks of lanes and matrix units and what products attain, of cores that have `cycles` a second together."""
    peak, tensor, attained = {}, {}, {}
    for name in PRECISIONS:
        if rate := values.number(core.value(f"fma_{name}_simd_rate")):
            peak[name] = write_amount(rate * cycles, "flop/s")
        if rate := values.number(core.value(f"tensor_{name}_rate")):
            tensor[name] = write_amount(rate * cycles, "flop/s")
            share = core.value(f"tensor_{name}_attained") or core.value("tensor_attained")
            if part := values.number(share):
                attained[name] = write_amount(part * rate * cycles, "flop/s")
    return {"peak": peak, "tensor": tensor, "gemm": attained}
