"""Hardware: what a socket does at most for each joule, in flops by precision and SIMD, and in bytes.

Umar, dissertation 2018, figures 3.8 and 3.9: the peak over the watts at full load of the component that does it, idle
and dynamic. The idle power of the memory is not charged to flops, nor that of the processor to bytes; where a memory
declares no power of its own, as on the boards of accelerators, bytes are charged with that of the socket.
"""

from __future__ import annotations

from aspenpy.answers.ceilings import COMPUTE, Ceiling
from aspenpy.answers.energy.power import PowerTree
from aspenpy.answers.prediction import Prediction
from aspenpy.answers.roofline import Roofline
from aspenpy.cost.prices import Offer
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.record import Record


class HardwarePeak(Record):
    """A resource of one socket under some traits: the most of it a second (`unit` is `flop` or `B`), and the watts that
    `component` draws then."""

    resources: tuple[str, ...]
    traits: tuple[str, ...]
    unit: str
    rate: float
    component: str
    power: float

    @property
    def per_joule(self) -> float | None:
        """The amount that a joule is enough for; None where it draws nothing."""
        return self.rate / self.power if self.power else None


def hardware_peaks(prediction: Prediction) -> tuple[HardwarePeak, ...]:
    """The peaks of the socket that a prediction is for, with the machine's parameters as they are set there."""
    scope = prediction.scope
    overridden = [symbol for symbol in scope.overridden if symbol in prediction.machine.definitions]
    values = dict(zip(overridden, scope.values(overridden, prediction.seed), strict=True))
    settings = {symbol.name: value for symbol, value in values.items()}
    roofline = Roofline(prediction.machine, socket=prediction.socket, set=settings)
    power_tree = PowerTree(prediction.machine, prediction.socket, prediction.tree.origins)
    peaks = []
    for ceiling in (*roofline.compute, *roofline.memory):
        offer = power_tree.offers.get(ceiling.resources[0])
        if offer is not None and offer.place.path == ceiling.path:
            peaks.append(_make_peak(prediction, power_tree, ceiling, offer))
    return tuple(peaks)


def _make_peak(prediction: Prediction, power_tree: PowerTree, ceiling: Ceiling, offer: Offer) -> HardwarePeak:
    consumer = power_tree.find_consumer(offer)
    assert consumer is not None, ceiling.path
    power = power_tree.power(consumer)
    watts: list[Expr] = [expr for expr in (power.static, power.dynamic) if expr is not None]
    needed = [power_tree.in_one_socket(offer.place), graph.mul(power_tree.in_one_socket(consumer), graph.add(*watts))]
    number, drawn = (float(value) for value in prediction.scope.values(needed, prediction.seed))
    unit = "flop" if ceiling.resources == (COMPUTE,) else "B"
    return HardwarePeak(
        ceiling.resources,
        ceiling.traits,
        unit,
        rate=ceiling.one * number,
        component=consumer.component.name,
        power=drawn,
    )
