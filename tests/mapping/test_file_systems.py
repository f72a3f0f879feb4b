"""File systems: seconds of reading and writing, by hand."""

from __future__ import annotations

import pytest

import aspenpy
from aspenpy.tables.pages import render_text

MACHINE = """
machine cluster {{ node [8] one  file_system [4] scratch }}
node one {{ socket [1] processor }}
socket processor {{ core [16] unit  memory store {rank} }}
core unit {{ {core_rank} resource flops(number) [number/(1e9)] }}
memory store {{ resource loads(volume) [volume/(10e9)]  resource stores(volume) [volume/(10e9)] }}
file_system scratch {{
  property latency [10 ms]
  {client}
  resource read(volume) [latency + volume/(2 GB/s)]
  resource write(volume) [latency + volume/(1 GB/s)]
  conflict read, write
}}
"""


def seconds(blocks: str, client: str = "", bound: str = "") -> aspenpy.Prediction:
    application = aspenpy.parse(f"model files {{ kernel main {{ {blocks} }} }}")
    ranks = {"core": {"rank": "", "core_rank": "property rank"}, "socket": {"rank": "property rank", "core_rank": ""}}
    flags = ranks.get(bound, {"rank": "", "core_rank": ""})
    machine = aspenpy.parse(MACHINE.format(client=f"property client_bandwidth [{client}]" if client else "", **flags))
    assert isinstance(application, aspenpy.Application)
    assert isinstance(machine, aspenpy.Machine)
    return aspenpy.predict(application, machine)


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ("execute { write [1 GB] }", 0.01 + 1),  # one file lies on one server
        ("execute [4] { write [1 GB] }", 0.01 + 1),
        ("execute [9] { write [1 GB] }", 3 * (0.01 + 1)),  # nine files on four servers: one has three
        ("execute [9] { read [1 GB] }", 3 * (0.01 + 0.5)),
        ("execute [4] { read [1 GB] write [1 GB] }", 0.01 + 0.5 + 0.01 + 1),  # they conflict
        ("execute [4] { flops [5e9] write [1 GB] }", 5 / 1),  # what computes overlaps: 5e9 flops at 1e9 a second
        ("iterate [10] { execute [4] { flops [1e9] } execute [4] { write [2 GB] } }", 10 * (1 + 0.01 + 2)),
    ],
)
def test_files_are_dealt_out_over_servers(block: str, expected: float) -> None:
    assert seconds(block).runtime == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("bound", "ranks", "client", "expected"),
    [
        ("core", 9, "", 3 * 1.01),  # on the cores of one node; a server belongs to no node
        ("core", 9, "1 GB/s", 9 / 1),  # all nine GB leave through that node's port
        ("core", 128, "1 GB/s", 32 * 1.01),  # 16 on each of eight nodes: 16 s at a port, 32 files on a server
        ("socket", 8, "0.25 GB/s", 4.0),  # one on each node
        ("", 8, "0.25 GB/s", 4.0),  # bound to nothing, dealt out evenly over the nodes
        ("", 9, "0.25 GB/s", 8.0),
    ],
)
def test_what_a_node_sends_goes_through_its_port(bound: str, ranks: int, client: str, expected: float) -> None:
    block = f"execute [{ranks}] of [1] {{ write [1 GB] }}"
    assert seconds(block, client, bound).runtime == pytest.approx(expected, rel=1e-12)


def test_the_prediction_and_the_roofline_name_the_file_system() -> None:
    found = seconds("execute [4] { flops [1e9] loads [1e9] write [2 GB] }")
    assert found.bottleneck is not None
    assert (found.bottleneck.resource, found.component_of("write")) == ("write", "cluster/scratch")
    assert "write on the file system scratch (100.0 % of runtime)" in render_text(found.report().page)
    roof = aspenpy.roofline(found.machine, [found.application])
    assert [(item.component, item.rate, item.count) for item in roof.files] == [
        ("scratch", 8e9, 4),
        ("scratch", 4e9, 4),
    ]
    # 4e9 flops while 8 GB go to four servers of 1 GB/s: 2 s.
    assert roof.points[0].bound_by == ("write",)
    assert roof.points[0].attainable == pytest.approx(4e9 / 2)


def test_checkpoints_of_the_library_by_hand() -> None:
    """A square of 4096^2 doubles on 256 ranks, two nodes of Perlmutter: 512 KiB a rank. 128 of them leave a node at 25
    GB/s, and are written in one turn on 256 of 274 servers."""
    application, machine = aspenpy.load_application("jacobi_checkpoint"), aspenpy.load_machine("perlmutter_cpu")
    values = {"n": 4096, "ranks": 256, "iterations": 100, "checkpoint_interval": 10, "restarts": 1}
    server = 1e-3 + 2**19 / (5e12 / 274)
    node = 128 * 2**19 / 25e9
    for kernel, bytes_of_all in (("write_checkpoint", "write"), ("read_checkpoint", "read")):
        found = aspenpy.predict(application, machine, kernel=kernel, set=values)
        assert found.runtime == pytest.approx(max(server, node), rel=1e-12)
        assert aspenpy.count(application, bytes_of_all, kernel=kernel, set=values) == 4096**2 * 8
    whole = aspenpy.predict(application, machine, set=values).runtime
    between = aspenpy.predict(application, machine, kernel="jacobi.main", set={**values, "jacobi.iterations": 10})
    assert whole == pytest.approx(11 * max(server, node) + 10 * between.runtime, rel=1e-9)
