"""Cap: the clock that a power cap leaves.

A socket may declare `property power_cap [750 W]`. Energies have it wait (`headroom`), in closed form and so alike in
every command. Here the clock is lowered instead, as devices do, until no kernel draws more on average over its own
time, and the run is predicted anew at that clock. Power is taken to rise with the clock. Where the lowest clock is not
low enough, AEEM has no answer; with the other models the socket waits as well.
"""

from __future__ import annotations

from aspenpy.answers.energy.headroom import CAP
from aspenpy.answers.energy.options import DEFAULT, EnergyOptions
from aspenpy.answers.energy.power import PowerTree
from aspenpy.answers.energy.totals import energy_totals
from aspenpy.answers.prediction import Prediction
from aspenpy.expr import graph
from aspenpy.expr.evaluate import evaluate
from aspenpy.expr.graph import Expr
from aspenpy.language.diagnostics import fail
from aspenpy.language.dimensions import format_quantity
from aspenpy.models.application.total import Exclusive
from aspenpy.models.machine.model import Place
from aspenpy.record import Record

LOWEST = 1000  # a clock that has no range is not lowered below this part of what it is
PRECISION = 1e-12  # of the clock that is found, relative to it


class Capped(Record):
    """A prediction under the cap: at `clock` hertz, to which `parameter` is set, instead of `declared`. `power` is what
    the kernel that draws most draws then in one socket, in watts, `uncapped` before."""

    prediction: Prediction
    cap: float
    parameter: str
    declared: float
    clock: float
    uncapped: float
    power: float


def lower_clock_to_cap(prediction: Prediction, options: EnergyOptions = DEFAULT) -> Capped:
    """The prediction at the highest clock at which the socket's power cap holds, its own or that of the options. Raises
    AspenError where the socket declares no cap or its cores no clock, and with AEEM where no clock is low enough."""
    power_tree = PowerTree(prediction.machine, prediction.socket, prediction.tree.origins)
    socket = power_tree.central
    expr = power_tree.require_declared_property(CAP)[1] if options.cap is None else graph.to_expr(options.cap)
    parameter = _name_of_clock(power_tree)
    cap, declared = (float(value) for value in prediction.scope.values([expr, prediction.scope.symbol(parameter)]))
    powers = _Powers(prediction, options, power_tree, parameter)
    uncapped = powers.at(declared)
    lowest = _lowest_clock(prediction, parameter, declared)
    clock = declared if uncapped <= cap else _bisect_clock(powers, cap, lowest, declared, socket)
    if clock == declared:
        return Capped(prediction, cap, parameter, declared=declared, clock=declared, uncapped=uncapped, power=uncapped)
    slower = Prediction(prediction.case.with_set({parameter: clock}))
    return Capped(slower, cap, parameter, declared=declared, clock=clock, uncapped=uncapped, power=powers.at(clock))


class PowerByClock(Record):
    """The energy (J) and time (s) of each kernel in one socket, in the symbol of the clock that `parameter` sets, from
    the `lowest` clock to the `declared` one (Hz). The power of the kernel that draws most is the largest ratio."""

    parameter: str
    symbol: Expr
    kernels: tuple[tuple[Expr, Expr], ...]
    lowest: float
    declared: float


def power_by_clock(prediction: Prediction, options: EnergyOptions = DEFAULT) -> PowerByClock:
    """Power of the socket by clock, to be compared with a cap. Raises AspenError where the cores declare no clock."""
    power_tree = PowerTree(prediction.machine, prediction.socket, prediction.tree.origins)
    parameter, lowest, declared = clock_range(prediction)
    powers = _Powers(prediction, options, power_tree, parameter)
    return PowerByClock(parameter, powers.symbol, tuple(powers.pairs), lowest, declared)


def clock_range(prediction: Prediction) -> tuple[str, float, float]:
    """The name by which the cores' clock is set, its lowest value and the one it has. Raises AspenError where the cores
    declare no clock."""
    parameter = _name_of_clock(PowerTree(prediction.machine, prediction.socket, prediction.tree.origins))
    declared = float(prediction.scope.values([prediction.scope.symbol(parameter)])[0])
    return parameter, _lowest_clock(prediction, parameter, declared), declared


def _name_of_clock(power_tree: PowerTree) -> str:
    """The name by which the cores' clock is set: that of the parameter behind the property, if it is one."""
    core = power_tree.cores.component
    clock = core.properties.get("clock")
    if clock is None or clock.value is None:
        message = f"{core.type} `{core.name}` declares no clock that a power cap could lower"
        fail("no-clock", message, core.name_span, hint="write `property clock [2 GHz]` in it")
    behind = clock.value if clock.value.kind == "symbol" else clock.symbol
    return f"machine:{behind.name}"


class _Powers:
    """The power of one socket, by kernel, as a function of the clock."""

    def __init__(self, prediction: Prediction, options: EnergyOptions, power_tree: PowerTree, parameter: str) -> None:
        self.scope = prediction.scope
        self.seed = prediction.seed
        self.symbol = self.scope.symbol(parameter)
        totals = energy_totals(prediction.tree, options.replace(charged="socket", limited=False))
        self.waits = totals.options.law != "aeem"
        inside = {key for key, term in totals.terms.items() if self._is_under_cap(term.path, power_tree)}
        self.pairs: list[tuple[Expr, Expr]] = []
        for name, by_term in totals.by_kernel.items():
            energy = graph.add(*(joules for key, joules in by_term.items() if key in inside))
            time = prediction.tree.kernel_totals.get(Exclusive(name), graph.ZERO)
            energy, time = self.scope.formulas([energy, time], [parameter])
            self.pairs.append((energy, time))

    def _is_under_cap(self, path: tuple[str, ...], power_tree: PowerTree) -> bool:
        """Whether the cap holds for a component: in AEEM for all that stands in the socket."""
        above = power_tree.central.path
        return power_tree.feeds(path) if self.waits else path[: len(above)] == above

    def at(self, clock: float) -> float:
        """Watts of the kernel that draws most."""
        with self.scope.locate_failures():
            found = [
                tuple(float(evaluate(expr, {self.symbol: clock}, self.seed)) for expr in pair) for pair in self.pairs
            ]
        return max((energy / time for energy, time in found if time > 0), default=0.0)


def _bisect_clock(powers: _Powers, cap: float, low: float, declared: float, socket: Place) -> float:
    """Highest clock at which the cap holds, by bisection between one at which it does and one at which it does not."""
    high = declared
    if low >= high or powers.at(low) > cap:
        if powers.waits:
            return min(low, high)
        component = socket.component
        message = f"the power cap of socket `{component.name}` does not hold at any clock"
        hint = f"at {format_quantity(low, 'Hz')}, the lowest, a kernel consumes {format_quantity(powers.at(low), 'W')}"
        fail("no-clock", message, component.properties["power_cap"].span, hint=hint)
    while high - low > PRECISION * declared:
        middle = (low + high) / 2
        if powers.at(middle) <= cap:
            low = middle
        else:
            high = middle
    return low


def _lowest_clock(prediction: Prediction, parameter: str, declared: float) -> float:
    """The lower end of the parameter's range, if it has one."""
    name = parameter.removeprefix("machine:")
    low = next((item.low for item in prediction.machine.parameters if item.name == name), None)
    if low is None:
        return declared / LOWEST
    return float(prediction.scope.values([low], prediction.seed)[0])
