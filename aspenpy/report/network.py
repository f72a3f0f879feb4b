"""A Network as a report: its figures, messages against their size, collectives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aspenpy.answers.network import Collective, Network
from aspenpy.cost.network.topology import describe_topology
from aspenpy.expr.evaluate import evaluate
from aspenpy.tables.drawing import STYLES, label_axis, set_title, use_shared_style
from aspenpy.tables.numbers import count_of, format_count, make_formatter, seconds
from aspenpy.tables.registry import register_report
from aspenpy.tables.table import Column, Report, Table, make_facts, make_table

BOUNDS = {"upper": "at most ", "lower": "at least ", None: ""}
PLACED = ("nodes", "of_node", "sockets", "of_socket", "each", "distribution")
UNITS = {
    "bisection_bandwidth": "B/s",
    **dict.fromkeys(("latency", "hop_latency", "gap"), "s"),
    **dict.fromkeys(("injection", "link"), "B/s"),
}
MESSAGES = (
    Column("message", unit="B", key="size"),
    Column("time", unit="s"),
    Column("to the farthest", unit="s", key="farthest"),
    Column("rate", unit="B/s"),
)
COLLECTIVES = (
    Column("collective", key="name"),
    Column("size", unit="B"),
    Column("time", unit="s"),
    Column("lower bound by", key="lower_bound"),
    Column("algorithm"),
)


def report_network(network: Network, collectives: Sequence[Collective] = (), ranks: int | None = None) -> Report:
    """The figures, one message by its size and collectives among `ranks` ranks."""
    placed = None if ranks is None else network.placement(ranks)
    data = {
        "machine": network.machine.name,
        "socket": network.socket,
        **figures_object(network),
        "ranks": ranks,
        "placement": placed and {name: getattr(placed, name) for name in PLACED},
    }
    among = "" if placed is None else f" of {count_of(placed.nodes, 'node')}"
    parts = (
        figures(network, ""),
        make_facts([] if placed is None else [("ranks", str(placed))]),
        make_table(
            MESSAGES,
            network.messages(ranks=ranks) if placed is None or placed.nodes > 1 else (),  # none leaves the node
            "messages",
            title=f"one message, from a node to an average one{among}",
        ),
        make_table(
            COLLECTIVES, collectives, "collectives", title=f"collectives among {format_count(ranks or 0)} ranks"
        ),
    )
    return Report(
        "network/1",
        f"network of {network.machine.name}: {network.name}",
        data,
        parts,
        tuple(network.machine.warnings),
        units=UNITS,
    )


register_report(Network, report_network)


def figures(network: Network, title: str = "network") -> Table:
    """The figures by which a designer compares networks."""
    made, parts = network.topology, network.parts
    numbers = made.figures()

    def add_bound(name: str, value: str) -> str:
        return BOUNDS[made.bound(name)] + value

    hop = f", and {seconds(parts['hop_latency'])} a hop" if parts["hop_latency"] else ""
    whole = int(numbers["nodes"])
    of_all = f", of all {format_count(whole)} places" if network.nodes < whole else ""
    halves = f"{count_of(numbers['bisection'], 'link')}, {_rate(network.bisection_bandwidth)}{of_all}"
    rows = [
        ("topology", describe_topology(made)),
        ("nodes", _describe_places(network, whole)),
        ("diameter", add_bound("diameter", count_of(numbers["diameter"], "hop"))),
        ("average distance", add_bound("average_distance", f"{float(numbers['average_distance']):.4g} hops")),
        ("bisection", add_bound("bisection", halves)),
        ("links a node", f"{_count_links(network):.4g}"),
        ("ports of a router", format_count(numbers["radix"])),
        ("a port injects", _rate(parts["injection"])),
        ("a link takes", _rate(parts["link"])),
        ("latency", f"{seconds(parts['latency'])}{hop}"),
    ]
    return make_facts(rows, title)


def _count_links(network: Network) -> float:
    numbers = network.topology.figures()
    return float((numbers["links"] + numbers["terminal_links"]) / numbers["nodes"])


def _describe_places(network: Network, places: int) -> str:
    return (
        format_count(places) if places == network.nodes else f"{format_count(network.nodes)} of {format_count(places)}"
    )


_rate = make_formatter("B/s")


def figures_object(network: Network) -> dict[str, Any]:
    """The figures of `aspenpy show`, as an object."""
    made = network.topology
    return {
        "network": network.name,
        "topology": made.kind,
        "parameters": {name: _parameter_value(value) for name, value in made.parameters},
        "machine_nodes": network.nodes,
        "figures": dict(made.figures()),
        "bounds": dict(made.bounds),
        "links_per_node": _count_links(network),
        "bisection_bandwidth": network.bisection_bandwidth,
        **network.parts,
    }


def _parameter_value(value: Any) -> Any:
    return [evaluate(item) for item in value] if isinstance(value, tuple) else evaluate(value)


# -- as a picture ----------------------------------------------------------------------------------


SIZES = tuple(2 ** (power / 2) for power in range(47))  # bytes, from 1 B to 8 MiB


@use_shared_style
def draw_network(network: Network, ranks: int | None = None) -> Any:
    """A matplotlib figure: the time of a message and its bytes a second over its size, all logarithmic."""
    from matplotlib.figure import Figure

    messages = network.messages(SIZES, ranks)
    figure = Figure(figsize=(7, 6), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    above.set(xscale="log", yscale="log", xlim=(SIZES[0], SIZES[-1]), ylabel="time")
    set_title(above, f"one message on {network.machine.name}")
    lines = [("to an average node", [item.time for item in messages])]
    if messages[0].farthest > messages[0].time:
        lines.append(("to the farthest", [item.farthest for item in messages]))
    for (text, times), line in zip(lines, STYLES, strict=False):
        above.plot(SIZES, times, label=text, **line)
    if len(lines) > 1:
        above.legend(loc="upper left")
    below.set(yscale="log", xlabel="size", ylabel="rate")
    below.plot(SIZES, [item.rate for item in messages], label="to an average node", **STYLES[0])
    for axis, unit in ((above.xaxis, "B"), (above.yaxis, "s"), (below.yaxis, "B/s")):
        label_axis(axis, unit)
    return figure
