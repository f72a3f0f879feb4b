"""Ranks that occupy something of a machine: against arithmetic by hand."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aspenpy
from aspenpy import AspenError
from aspenpy.answers.energy.account import predict_energy
from aspenpy.answers.energy.options import Charged, EnergyOptions
from tests.tiny import application
from tests.tiny import machine as machine_of

MACHINE = """
param boards = 4
machine g { node [2] gnode }
node gnode { socket [boards] gpu }
socket gpu { property rank core [100] sm memory hbm static power [50] }
core sm {
  resource flops(n) [n/1e9]
  dynamic power [3]
}
memory hbm {
  resource loads(b) [b/1e12]
}
"""

APPLICATION = """
model w {
  param width = 1000
  param ranks = 4
  kernel main { execute [ranks] of [width] "work" { DEMAND } }
}
"""


@pytest.fixture
def machine(tmp_path: Path) -> aspenpy.Machine:
    (tmp_path / "g.aspen").write_text(MACHINE, encoding="utf-8")
    return aspenpy.load_machine(tmp_path / "g.aspen")


def runtime(tmp_path: Path, machine: aspenpy.Machine, demand: str, **options: object) -> float:
    (tmp_path / "w.aspen").write_text(APPLICATION.replace("DEMAND", demand), encoding="utf-8")
    return aspenpy.predict(aspenpy.load_application(tmp_path / "w.aspen"), machine, **options).runtime  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("ranks", "width", "seconds"),
    [
        (1, 1, 1.0),  # one of 100 cores has 1e9 flops to do
        (1, 50, 1 / 50),
        (1, 100, 1 / 100),
        (1, 150, 2 / 150),  # in two turns, of which the second is half full
        (8, 1000, 10 / 1000),
    ],
)
def test_a_rank_shares_its_work_out(
    tmp_path: Path, machine: aspenpy.Machine, ranks: int, width: int, seconds: float
) -> None:
    time = runtime(tmp_path, machine, "flops [1e9]", set={"ranks": ranks, "width": width})
    assert time == pytest.approx(seconds, rel=1e-14)


@pytest.mark.parametrize("ranks", [1, 8])
def test_each_rank_has_the_memory_of_its_device(tmp_path: Path, machine: aspenpy.Machine, ranks: int) -> None:
    assert runtime(tmp_path, machine, "loads [1e12]", set={"ranks": ranks}) == pytest.approx(1.0, rel=1e-14)


@pytest.mark.parametrize(
    ("options", "seconds"),
    [
        ({"ranks_on": "core"}, 1.0),
        ({"ranks_on": "gpu"}, 0.01),
        ({"ranks_on": "node", "set": {"ranks": 2}}, 1 / (1000 / 3)),  # 400 cores: three turns of 1000 parts
        ({"ranks_per_node": 2}, 0.01),
    ],
)
def test_what_a_rank_occupies_can_be_asked_for(
    tmp_path: Path, machine: aspenpy.Machine, options: dict[str, object], seconds: float
) -> None:
    assert runtime(tmp_path, machine, "flops [1e9]", **options) == pytest.approx(seconds, rel=1e-14)


@pytest.mark.parametrize(
    ("distribution", "share"),
    [("compact", 3), ("scatter", 1), ("cyclic", 1), ("block", 1)],  # of three ranks on eight devices, two memories
)
def test_ranks_fill_a_node_before_the_next(tmp_path: Path, distribution: str, share: int) -> None:
    text = MACHINE.replace("node gnode { socket [boards] gpu }", "node gnode { socket [boards] gpu memory hbm }")
    text = text.replace("core [100] sm memory hbm", "core [100] sm")
    (tmp_path / "shared.aspen").write_text(text, encoding="utf-8")
    machine = aspenpy.load_machine(tmp_path / "shared.aspen")
    ranks = 3 if distribution == "compact" else 2
    nodes = 2 if distribution in ("cyclic", "block") else None
    time = runtime(tmp_path, machine, "loads [1e12]", set={"ranks": ranks}, distribution=distribution, nodes=nodes)
    assert time == pytest.approx(share, rel=1e-14)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"set": {"ranks": 9}}, "9 ranks, and `g` has places for 8"),
        ({"ranks_per_node": 5}, "5 ranks on a node, and it has places for 4"),
        ({"ranks_per_node": 1}, "4 ranks, and `g` has places for 2"),
        ({"ranks_per_node": 0}, "`ranks_per_node` is a whole number from 1 on, not 0"),
        ({"ranks_on": "hbm"}, "no `hbm` with cores"),
        ({"ranks_on": "sokcet"}, "did you mean `socket`?"),
        ({"distribution": "compcat"}, "did you mean `compact`?"),
        ({"set": {"width": 0}}, "it must be positive"),
    ],
)
def test_what_is_refused(tmp_path: Path, machine: aspenpy.Machine, options: dict[str, object], says: str) -> None:
    with pytest.raises(AspenError, match=says.replace("?", r"\?")):
        runtime(tmp_path, machine, "flops [1e9]", **options)


@pytest.mark.parametrize(
    ("ranks", "width", "charged", "options", "joules"),
    [
        (2, 100, "cores_used", {}, 0.01 * (2 * 50 + 200 * 3)),
        (2, 50, "cores_used", {}, 0.02 * (2 * 50 + 100 * 3)),  # half of the cores of each device
        (2, 150, "cores_used", {}, 2 / 150 * (2 * 50 + 150 * 3)),  # 75 of each at work on average
        (2, 100, "machine", {}, 0.01 * (8 * 50 + 200 * 3)),
        (2, 100, "socket", {}, 0.01 * (50 + 100 * 3)),
        (8, 100, "cores_used", {}, 0.01 * (8 * 50 + 800 * 3)),
        (3, 1, "cores_used", {"ranks_on": "core"}, 1 * (50 + 3 * 3)),  # three cores of one device
        (3, 1, "cores_used", {"ranks_on": "core", "distribution": "scatter"}, 1 * (3 * 50 + 3 * 3)),
        (101, 1, "cores_used", {"ranks_on": "core"}, 1 * (2 * 50 + 101 * 3)),
        (1, 400, "cores_used", {"ranks_on": "node"}, 0.0025 * (4 * 50 + 400 * 3)),
        (1, 100, "cores_used", {"ranks_on": "node"}, 0.01 * (4 * 50 + 100 * 3)),  # the node is the rank's
    ],
)
def test_energy_is_that_of_what_ranks_occupy(
    tmp_path: Path,
    machine: aspenpy.Machine,
    ranks: int,
    width: int,
    charged: Charged,
    options: dict[str, str],
    joules: float,
) -> None:
    (tmp_path / "w.aspen").write_text(APPLICATION.replace("DEMAND", "flops [1e9]"), encoding="utf-8")
    app = aspenpy.load_application(tmp_path / "w.aspen")
    case = aspenpy.Case(app, machine, set={"ranks": ranks, "width": width}, **options)  # type: ignore[arg-type]
    energy = predict_energy(case, options=EnergyOptions(charged=charged))
    assert energy.value == pytest.approx(joules, rel=1e-12)


@pytest.mark.parametrize(
    ("core", "demand", "seconds"),
    [
        ("", "flops [1e9] as dp", 2 / 100),
        ("property simt", "flops [1e9] as dp", 2 / 100 / 4),  # a part for each of four lanes
        ("property simt", "flops [1e9] as dp, simd", 2 / 100 / 4),  # and not twice
    ],
)
def test_lanes_have_a_part_of_the_work_each(tmp_path: Path, core: str, demand: str, seconds: float) -> None:
    lanes = "resource flops(n) [n/1e9] with dp [base*2], simd [base/4]"
    (tmp_path / "g.aspen").write_text(MACHINE.replace("resource flops(n) [n/1e9]", f"{core} {lanes}"), encoding="utf-8")
    machine = aspenpy.load_machine(tmp_path / "g.aspen")
    assert runtime(tmp_path, machine, demand, set={"ranks": 1}) == pytest.approx(seconds, rel=1e-14)


def test_a_message_does_not_wait_for_lines_in_flight(tmp_path: Path) -> None:
    """A link with a latency and a bandwidth is no memory: few lines outstanding in a core do not slow it down."""
    cable = "interconnect cable { property latency [1e-6] property bandwidth [1e9] resource messages(b) [b/1e9] }"
    text = MACHINE.replace("machine g {", "machine g { interconnect [8] cable ") + cable
    (tmp_path / "g.aspen").write_text(
        text.replace("core sm {", "core sm { property outstanding [10] cache lines ")
        + "cache lines { property capacity [1024] property cacheline [64] property associativity [2] }",
        encoding="utf-8",
    )
    machine = aspenpy.load_machine(tmp_path / "g.aspen")
    assert runtime(tmp_path, machine, "messages [1e9]", set={"ranks": 8}) == pytest.approx(1.0, rel=1e-14)


def dealt_out(ranks: int, nodes: int, of_a_node: int, distribution: str) -> list[int]:
    """How many of the ranks are on each node."""
    if distribution == "compact":
        return [min(of_a_node, max(0, ranks - node * of_a_node)) for node in range(nodes)]
    return [len(range(node, ranks, nodes)) for node in range(nodes)]


def fullest(on_nodes: list[int], of_a_node: int, shares: int, distribution: str) -> int:
    """The most ranks on one of the components of a node that each serve `shares` of its `of_a_node` places."""
    components = of_a_node // shares
    if distribution == "compact":
        return max(min(shares, ranks) for ranks in on_nodes)
    return max(len(range(0, ranks, components)) for ranks in on_nodes)


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from(["node", "socket", "core"]),
    st.tuples(st.integers(1, 3), st.integers(1, 4), st.integers(1, 8)),
    st.integers(1, 20),
    st.sampled_from(["compact", "scatter", "cyclic"]),
    st.sampled_from(["node", "socket"]),
    st.data(),
)
def test_ranks_played_through(
    unit: str, counts: tuple[int, int, int], width: int, distribution: str, memory: str, data: st.DataObject
) -> None:
    """Parts dealt out to the cores of a rank, ranks to the memories of nodes, one by one."""
    nodes, sockets, cores = counts
    of_a_node = {"node": 1, "socket": sockets, "core": sockets * cores}[unit]
    ranks = data.draw(st.integers(0, nodes * of_a_node))
    of_rank = sockets * cores // of_a_node
    parts = max(len(range(core, width, of_rank)) for core in range(of_rank))
    flops = parts * 6 / width if ranks else 0

    memories = sockets if memory == "socket" else 1  # of a node
    on_nodes = dealt_out(ranks, nodes, of_a_node, distribution)
    if memories >= of_a_node:  # a rank has them to itself, and draws on no more than it has cores at work
        loads = 35 / min(memories // of_a_node, width / parts) if ranks else 0
    else:
        loads = 35 * fullest(on_nodes, of_a_node, of_a_node // memories, distribution)

    where = {"node": ("memory ram", ""), "socket": ("", "memory ram")}[memory]
    machine = machine_of(
        f"machine m {{ node [{nodes}] n }} node n {{ socket [{sockets}] s {where[0]} }}"
        f"socket s {{ core [{cores}] c {where[1]} }} core c {{ resource flops(x) [x] }}"
        "memory ram { resource loads(x) [x] }"
    )
    body = f"execute [{ranks}] of [{width}] {{ flops [6] loads [35] }}"
    asked = nodes if distribution == "cyclic" else None
    found = aspenpy.predict(application(body), machine, ranks_on=unit, distribution=distribution, nodes=asked)
    times = [found.resources[name].time for name in ("flops", "loads")]
    assert times == pytest.approx([flops, loads], rel=1e-12)
    assert found.runtime == pytest.approx(max(flops, loads), rel=1e-12)
