"""A Network as a page and as JSON: its figures, messages against their size, collectives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from aspenpy.expr.arithmetic import Number
from aspenpy.network.topology import described
from aspenpy.present.numbers import Amount, amount, count, plain, quantity, seconds
from aspenpy.present.page import Page, Title
from aspenpy.present.table import Column, Table

if TYPE_CHECKING:
    from aspenpy.analysis.network import Collective, Network

FIGURES = (Column(""), Column("", wrapped=True))
BOUNDS = {"upper": "at most ", "lower": "at least ", None: ""}
MESSAGES = (
    Column("message", quantity("B"), "unit"),
    Column("time", seconds, "unit"),
    Column("to the farthest", seconds, "unit"),
    Column("rate", quantity("B/s"), "unit"),
)
COLLECTIVES = (
    Column("collective"),
    Column("size", quantity("B"), "unit"),
    Column("time", seconds, "unit"),
    Column("algorithm"),
)


def page(network: Network, collectives: Sequence[Collective] = (), ranks: int | None = None) -> Page:
    """The figures, one message by its size and, among so many ranks, collectives."""
    messages = Table(
        MESSAGES,
        tuple((item.size, item.time, item.farthest, item.rate) for item in network.messages()),
        title="one message, from a node to an average one",
    )
    pages = (Title(f"network of {network.machine.name}: {network.name}"), figures(network, ""), messages)
    if not collectives:
        return pages
    rows = tuple((item.name, item.size, item.time, item.algorithm) for item in collectives)
    return (*pages, Table(COLLECTIVES, rows, title=f"collectives among {count(ranks or 0)} ranks"))


def figures(network: Network, title: str = "network") -> Table:
    """What a designer compares networks by."""
    made = network.topology
    found = made.figures()
    parts = network.parts

    def told(name: str, value: str) -> str:
        return BOUNDS[made.bound(name)] + value

    links = found["links"] + found["terminal_links"]
    rows = [
        ("topology", described(made)),
        ("nodes", _places(network, int(found["nodes"]))),
        ("diameter", told("diameter", _counted(found["diameter"], "hop"))),
        ("average distance", told("average_distance", f"{float(found['average_distance']):.4g} hops")),
        (
            "bisection",
            told("bisection", f"{_counted(found['bisection'], 'link')}, {_rate(network.bisection_bandwidth)}"),
        ),
        ("links a node", f"{float(links / found['nodes']):.4g}"),
        ("ports of a router", count(found["radix"])),
        ("a port injects", _rate(parts["injection"])),
        ("a link takes", _rate(parts["link"])),
        ("latency", _latency(parts)),
    ]
    return Table(FIGURES, tuple(rows), title=title)


def _places(network: Network, places: int) -> str:
    return count(places) if places == network.nodes else f"{count(network.nodes)} of {count(places)}"


def _counted(number: Number, noun: str) -> str:
    return f"{count(number)} {noun}{'' if number == 1 else 's'}"


def _rate(value: float) -> str:
    return amount(Amount(value, "B/s"))


def _latency(parts: dict[str, float]) -> str:
    hop = f", and {seconds(parts['hop_latency'])} a hop" if parts["hop_latency"] else ""
    return f"{seconds(parts['latency'])}{hop}"


def as_json(network: Network, collectives: Sequence[Collective] = (), ranks: int | None = None) -> dict[str, Any]:
    """One object, numbers in base units."""
    return {
        "machine": network.machine.name,
        **figures_object(network),
        "messages": [
            {"size": item.size, "time": item.time, "farthest": item.farthest, "rate": item.rate}
            for item in network.messages()
        ],
        "ranks": ranks,
        "collectives": [
            {"name": item.name, "size": item.size, "time": item.time, "algorithm": item.algorithm}
            for item in collectives
        ],
    }


def figures_object(network: Network) -> dict[str, Any]:
    """What `aspenpy show` has, too."""
    made = network.topology
    return {
        "network": network.name,
        "topology": made.kind,
        "parameters": {name: _parameter(value) for name, value in made.parameters},
        "machine_nodes": network.nodes,
        "figures": {name: plain(value) for name, value in made.figures().items()},
        "bounds": dict(made.bounds),
        "links_per_node": float((made.figures()["links"] + made.figures()["terminal_links"]) / made.figures()["nodes"]),
        "bisection_bandwidth": network.bisection_bandwidth,
        **network.parts,
    }


def _parameter(value: Any) -> Any:
    from aspenpy.expr.evaluate import evaluate

    return [plain(evaluate(item)) for item in value] if isinstance(value, tuple) else plain(evaluate(value))
