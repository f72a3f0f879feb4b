"""Level: one cache on the way from a core to its memory."""

from __future__ import annotations

from aspenpy.diagnostics import Diagnostic, fail, nearest
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.machine.model import Component, Machine, Place
from aspenpy.record import Record

POLICIES = ("lru", "plru", "random")
INCLUSIONS = ("inclusive", "exclusive", "victim")
WRITES = ("allocate", "no_allocate", "streaming")


class Level(Record):
    """A cache as one instance of a block sees it.

    `capacity` and `line` in bytes, `ways` a set, `bandwidth` in bytes/s and `latency` in seconds where the machine says
    them. A shared cache is divided by the instances that use it at once (`shares`).
    """

    place: Place
    capacity: Expr
    line: Expr
    ways: Expr
    policy: str
    inclusion: str
    writes: str
    bandwidth: Expr | None
    latency: Expr | None
    shares: Expr

    @property
    def name(self) -> str:
        return self.place.component.name

    @property
    def lines(self) -> Expr:
        """Lines that an instance finds room for."""
        return graph.div(self.capacity, graph.mul(self.line, self.shares))

    @property
    def sets(self) -> Expr:
        return graph.div(self.lines, self.ways)

    def shared_by(self, parallelism: Expr) -> Level:
        """The level when so many instances run: those that share one cache have a part of it each."""
        together = graph.apply("ceil", graph.div(parallelism, self.place.count))
        shared: Level = self.replace(shares=graph.apply("max", graph.ONE, together))
        return shared


def levels_of(machine: Machine, socket: str | None) -> tuple[Level, ...]:
    """The caches between a core and its memory, the nearest first: those of the core in the order written, then those
    further up the tree. With several kinds of cores the first counts, depth first."""
    places = list(machine.first_places(socket))
    cores = [place for place in places if place.component.type == "core"]
    core = cores[0].path if cores else ()
    caches = [place for place in places if place.component.type == "cache" and _serves(place, core)]
    return tuple(_level(place) for place in sorted(caches, key=lambda place: -len(place.path)))


def _serves(place: Place, core: tuple[str, ...]) -> bool:
    above = place.path[:-1]
    return not core or core[: len(above)] == above


def _level(place: Place) -> Level:
    component = place.component
    return Level(
        place,
        _needed(component, "capacity", "bytes, as in `property capacity [32 KiB]`"),
        _needed(component, "cacheline", "bytes, as in `property cacheline [64 B]`"),
        _needed(component, "associativity", "ways a set, as in `property associativity [8]`"),
        _word(component, "policy", POLICIES),
        _word(component, "inclusion", INCLUSIONS),
        _word(component, "writes", WRITES),
        _value(component, "bandwidth"),
        _value(component, "latency"),
        graph.ONE,
    )


def _value(component: Component, name: str) -> Expr | None:
    known = component.properties.get(name)
    return None if known is None or known.value is None else known.symbol


def _needed(component: Component, name: str, example: str) -> Expr:
    """A property that the model cannot do without: the mistake takes its place, and is told when it is needed."""
    value = _value(component, name)
    if value is not None:
        wrong = f"the `{name}` of the cache `{component.name}` is not above 0"
        refused = graph.failure(Diagnostic("incomplete-cache", wrong, component.properties[name].span))
        return graph.if_else(graph.compare(">", value, graph.ZERO), value, refused)
    message = f"the cache `{component.name}` has no `{name}`, which its hits depend on"
    return graph.failure(Diagnostic("incomplete-cache", message, component.name_span, hint=f"give it in {example}"))


def _word(component: Component, name: str, words: tuple[str, ...]) -> str:
    """A property that is one of a few words; the first where it is absent."""
    known = component.properties.get(name)
    if known is None or known.value is None:
        return words[0]
    written = known.value.payload[0] if known.value.kind == "symbol" else str(known.value)
    if written not in words:
        listed = ", ".join(f"`{word}`" for word in words)
        hint = nearest(written, words) or f"it is one of {listed}"
        fail("unknown-cache-property", f"a cache has no `{name}` called `{written}`", known.span, hint=hint)
    return written
