"""The library's machines: peaks against published ones, parts that fit together, and a source for every number."""

import re
from collections.abc import Callable, Iterator
from functools import cache
from math import isclose
from pathlib import Path

import pytest

import aspenpy
from aspenpy.advice.alternatives import MEMORIES
from aspenpy.cost.caches.level import levels_of
from aspenpy.expr import graph
from aspenpy.expr.evaluate import evaluate_many
from aspenpy.expr.graph import Expr
from aspenpy.models.machine.model import Component
from aspenpy.models.machine.properties import WORDS
from tests.models.published_peaks import DEVICES, SYSTEMS, Published

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "models" / "machines"
MACHINES = sorted(path.stem for path in FOLDER.glob("*.aspen"))
PARTS = sorted((FOLDER / "parts").glob("*/*.aspen"))
PAGE = ROOT / "docs" / "models" / "machines.md"

ROUNDING = 6e-3
"""Published peaks have two digits or more: 7.8 for 7.83."""

MANY = 10**15
"""Parallel instances, so many that the last round of them, which may be half empty, does not show."""


@cache
def peak(machine: str, precision: str, socket: str | None = None, settings: tuple[tuple[str, str], ...] = ()) -> float:
    """Gflop/s of all cores of one kind of socket, or of all kinds together."""
    target = aspenpy.load_machine(machine)
    model = f"model ask {{ kernel main {{ execute [{MANY}] {{ flops [1e9] as {precision}, simd, fmad }} }} }}"
    ask = aspenpy.parse(model)
    assert isinstance(ask, aspenpy.Application)
    sockets = [socket] if socket else target.sockets
    return sum(MANY / aspenpy.predict(ask, target, socket=name, set=dict(settings)).runtime for name in sockets)


def value(machine: aspenpy.Machine, expr: Expr) -> float:
    return float(evaluate_many([expr], None, 0, machine.definitions)[0])


def values(machine: aspenpy.Machine, component: Component) -> dict[str, float]:
    """The values of a component's properties that are numbers."""
    return {
        item.name: value(machine, item.value)
        for item in component.properties.values()
        if item.value is not None and item.name not in WORDS
    }


# -- peaks -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "row", [*DEVICES, *SYSTEMS], ids=lambda row: "-".join((row.machine, *map("".join, row.settings)))
)
def test_peak_against_the_published_one(row: Published) -> None:
    assert peak(row.machine, "dp", row.socket, row.settings) / row.double == pytest.approx(row.ratio, rel=ROUNDING)
    if row.single is not None and row.machine != "h200":  # 67 is rounded up from 66.9, but 34 from 33.45
        assert peak(row.machine, "sp", row.socket, row.settings) == pytest.approx(row.single, rel=1.1e-2)


def test_most_machines_have_a_published_peak() -> None:
    assert len(MACHINES) >= 60
    assert len({row.machine for row in (*DEVICES, *SYSTEMS)}) >= 40


def number(gflops: float) -> str:
    return f"{gflops / 1e3:,.1f} T" if gflops >= 1e5 else f"{gflops:,.1f}" if gflops < 1e3 else f"{gflops / 1e3:,.3f} T"


def asked_with(row: Published) -> str:
    names = [f"`{name}={text}`" for name, text in row.settings]
    return ", ".join([f"`{row.machine}`", *([f"`{row.socket}`"] if row.socket else []), *names])


def cells(row: Published, precision: str, published: float | None) -> list[str]:
    computed = peak(row.machine, precision, row.socket, row.settings)
    if published is None:
        return [number(computed), "", ""]
    return [number(computed), number(published), f"{computed / published:.3f}"]


def table(rows: tuple[Published, ...], single: bool) -> Iterator[str]:
    heads = ["machine", "double", "published", "ratio", *(["single", "published", "ratio"] if single else []), "source"]
    yield "| " + " | ".join([*heads, "remark"]) + " |"
    yield "|---|" + "---:|" * (len(heads) - 2) + "---|---|"
    for row in rows:
        columns = [asked_with(row), *cells(row, "dp", row.double), *(cells(row, "sp", row.single) if single else [])]
        yield "| " + " | ".join([*columns, row.source, row.remark]) + " |"


def unpublished() -> Iterator[str]:
    """The machines that no peak was found for."""
    known = {row.machine for row in (*DEVICES, *SYSTEMS)}
    yield "| machine | socket | double | single |"
    yield "|---|---|---:|---:|"
    for name in MACHINES:
        if name not in known:
            for socket in aspenpy.load_machine(name).sockets:
                double, single = (number(peak(name, precision, socket)) for precision in ("dp", "sp"))
                yield f"| `{name}` | `{socket}` | {double} | {single} |"


TABLES: dict[str, Callable[[], Iterator[str]]] = {
    "devices": lambda: table(DEVICES, True),
    "systems": lambda: table(SYSTEMS, False),
    "unpublished": unpublished,
}


@pytest.mark.parametrize("name", TABLES)
def test_the_tables_of_the_page_are_current(name: str, request: pytest.FixtureRequest) -> None:
    text = PAGE.read_text(encoding="utf-8")
    pattern = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end of {name} -->)", re.DOTALL)
    fresh = pattern.sub(lambda found: "\n".join([found[1], *TABLES[name](), "", found[2]]), text)
    if request.config.getoption("--update-pictures"):
        PAGE.write_text(fresh, encoding="utf-8")
    else:
        assert pattern.search(text)
        assert fresh == text


# -- parts that fit together -----------------------------------------------------------------------


@pytest.mark.parametrize("name", MACHINES)
def test_the_peak_is_the_product_of_the_declared_properties(name: str) -> None:
    machine = aspenpy.load_machine(name)
    for socket in machine.sockets:
        core = next(place for place in machine.places(socket) if place.component.type == "core")
        declared = values(machine, core.component)
        product = declared["clock"] * declared["issue"] * declared["simd_width"] * declared["fma_gain"]
        assert peak(name, "sp", socket) * 1e9 == pytest.approx(value(machine, core.count) * product, rel=1e-6), socket


@pytest.mark.parametrize("name", MACHINES)
def test_caches_are_whole_and_shared_by_all_cores(name: str) -> None:
    machine = aspenpy.load_machine(name)
    for socket in machine.sockets:
        places = list(machine.places(socket))
        cores = next(value(machine, place.count) for place in places if place.component.type == "core")
        caches = [place for place in places if place.component.type == "cache"]
        assert caches or name == "simple"
        for place in caches:
            has = values(machine, place.component)
            sets = has["capacity"] / (has["associativity"] * has["cacheline"])
            assert sets == int(sets), socket
            assert value(machine, place.count) * has["sharing"] == cores, socket


@pytest.mark.parametrize("name", MACHINES)
def test_memories_are_no_faster_than_their_channels(name: str) -> None:
    machine = aspenpy.load_machine(name)
    for socket in machine.sockets:
        memories = [place.component for place in machine.places(socket) if place.component.type == "memory"]
        assert memories, socket
        for memory in memories:
            has = values(machine, memory)
            assert has["capacity"] >= 1e9, socket
            if "channels" in has:
                assert 0.98 <= has["bandwidth"] / (has["channels"] * has["channel_bandwidth"]) <= 1, socket


PRODUCT_PAGES = {
    "intel_xeon_e5_2620": 95, "intel_xeon_e5_2670": 115, "gordon_xeon_e5_2670": 115, "intel_xeon_e5_2637_v2": 130,
    "intel_xeon_e5_2637_v3": 135, "intel_xeon_e5_2623_v3": 105, "intel_xeon_e5_2698_v3": 135,
    "intel_xeon_platinum_8180": 205, "intel_xeon_platinum_8280": 205, "intel_xeon_platinum_8360y": 250,
    "intel_xeon_platinum_8380": 270, "intel_xeon_platinum_8470": 350, "intel_xeon_platinum_8480plus": 350,
    "intel_xeon_phi_7250": 215, "amd_epyc_7742": 225, "amd_epyc_7763": 280, "amd_epyc_9654": 360,
}  # fmt: skip
"""Watts, column TDP of github.com/felixsteinke/cpu-spec-dataset, dataset/intel-cpus.csv and amd-cpus.csv, which were
taken from the makers' product pages."""

TABULATED = {
    "intel_xeon_gold_6148": 150,  # github.com/GreenAlgorithms/green-algorithms-tool, data/latest/TDP_cpu.csv
    "intel_xeon_x5670": 95,  # github.com/mlco2/codecarbon, codecarbon/data/hardware/cpu_power.csv
}
"""Watts in tables of processors, of tools that estimate carbon."""

BOARDS = {
    "nvidia_k20c": 225, "nvidia_k20x": 235, "nvidia_k600": 41, "nvidia_p100": 300, "nvidia_a100_40gb": 400,
    "nvidia_a100_80gb": 400, "nvidia_h100": 700, "amd_mi210": 300, "amd_mi250x": 560, "amd_mi300x": 750,
    "nvidia_m2090": 250,  # techpowerup.com/gpu-specs/tesla-m2090.c1537
    "nvidia_m2070": 225,  # techpowerup.com/gpu-specs/tesla-m2070.c1535: "power draw rated at 225 W maximum"
}  # fmt: skip
"""Watts of boards and modules, TechPowerUp's list of GPUs."""

ELSEWHERE = {
    "nvidia_v100": 300,  # the SXM2 module: IBM, "Power Systems AC922 Intro", December 2017
    "ibm_power9": 250,  # the upper of two options, 190 and 250: the same
    "nvidia_h200": 700,  # NVIDIA's data sheet
    "amd_mi300a": 550,  # cooled by air, up to 760: chipsandcheese.com/p/sizing-up-mi300as-gpu
    "nvidia_grace": 500 / 2,  # of two chips: hardwaretimes.com, "The 144-core Superchip has a TDP of 500W"
    "intel_xeon_haswell": 135,  # as the file says, the watts of the E5-2637 v3 above
    "fujitsu_a64fx": 153.6,  # no design power is published: 118 kW over 768 nodes of the prototype, TOP500
}
"""Watts that were published in other places."""

DISSERTATION_POWER = {
    "intel_xeon_x5660": 10 + 80, "intel_xeon_e5_2620_as_modelled": 10 + 85, "nvidia_k20c_as_modelled": 29 + 196,
    "intel_xeon_e5_2637_as_modelled": 130,
}  # fmt: skip
"""Idle and dynamic watts of table 3.4 and listing 3.2 of Umar's dissertation (2018)."""

SHEETS = {
    "amd_epyc_9684x": 400,  # AMD's product pages, as above
    "intel_xeon_6980p": 500,  # hardwareluxx.de, "Intels Comeback: Granite Rapids"
    "intel_xeon_max_9480": 350, "intel_xeon_platinum_8592plus": 350,  # toUpperCase78/intel-processors
    "nvidia_grace_superchip": 500 / 2,  # of two chips: hardwaretimes.com
    "nvidia_h100_pcie": 350, "nvidia_h20": 400,  # NVIDIA, PB-11133-001; willitrunai.com
    "nvidia_b200": 1000, "nvidia_gb200": 1200, "nvidia_l40s": 350, "amd_mi325x": 1000, "amd_mi355x": 1400,
    "nvidia_rtx_4090": 450, "nvidia_rtx_5090": 575, "nvidia_l4": 72, "intel_max_1550": 600,
    "nvidia_gb300": 1400, "nvidia_h100_nvl": 400, "intel_gaudi_3": 900, "google_tpu_v4": 192,
    "intel_xeon_6787p": 350, "ampereone_a192_32x_socket": 350, "sophgo_sg2042": 120,  # see their sheets
    "raspberry_pi_4_socket": 6.3,  # at the wall under load, chipwired.com
}  # fmt: skip
"""Watts of processors and boards that data sheets describe; those of 2024 and later without a page beside them by
github.com/stas00/ml-engineering, compute/accelerator."""

SOCKET_POWER = SHEETS | PRODUCT_PAGES | TABULATED | BOARDS | ELSEWHERE | DISSERTATION_POWER

POWER_NOT_CHECKED = {
    "intel_xeon_e5_2637": "no page of the first of that name could be read",
    "intel_pentium_m": "22 W of Intel's page could not be read, other tables say 24 W: an upper bound",
    "amd_epyc_7a53": "AMD publishes none; assumed as that of the EPYC 7763",
    "ibm_bluegene_q": "IBM publishes none of the chip; that of its node is an upper bound",
    "amd_mi300a_cores": "published with its compute units only; a quarter of an EPYC 9654 is assumed",
    "amd_mi300a_units": "as `amd_mi300a`, but for its memory",
    **dict.fromkeys(
        (
            "amd_epyc_9755", "amd_epyc_9965", "ampere_altra_max_m128_30", "intel_xeon_max_9470c", "amd_epyc_7402",
            "intel_xeon_platinum_8358", "intel_xeon_platinum_8460y", "intel_xeon_platinum_8570", "amd_epyc_7543p",
            "intel_xeon_e5_2690_v3", "amd_opteron_6274", "nvidia_a100_64gb", "nvidia_h100_64gb",
        ),
        "recalled",
    ),
    **{
        f"apple_m{generation}_{part}": "Apple publishes none; those of its clusters are of others or assumed"
        for generation in (1, 2, 3, 4)
        for part in ("performance", "efficiency", "graphics")
    },
    "sunway_sw26010": "nobody publishes it; 15.4 MW of TaihuLight are an upper bound",
    **dict.fromkeys(("aws_graviton_3", "aws_graviton_4"), "AWS publishes none"),
    **dict.fromkeys(("google_tpu_v5e", "google_tpu_v5p", "google_tpu_v6e"), "Google publishes none"),
    "aws_trainium_2": "AWS publishes none",
    "raspberry_pi_5_socket": "12.7 W at the wall under Linpack: an upper bound",
    "nvidia_gh200": "NVIDIA publishes that of the superchip; as an H100",
    **dict.fromkeys(
        (
            "simple_socket", "discrete_multicore", "discrete_accelerator", "heterogeneous_wide",
            "heterogeneous_narrow", "exascale_chip", "integrated_multicore", "integrated_accelerator",
        ),
        "nobody builds it; the file assumes its watts",
    ),
}  # fmt: skip
"""Sockets of which no published watts were found, and why."""


def watts(machine: aspenpy.Machine, socket: str) -> tuple[float, float]:
    """Idle and dynamic ones."""
    power = machine.components[socket].power
    return value(machine, power["static"]), value(machine, power["dynamic"])


@pytest.mark.parametrize("name", MACHINES)
def test_idle_and_dynamic_power_add_up_to_the_published_one(name: str) -> None:
    machine = aspenpy.load_machine(name)
    for socket in [socket for socket in machine.sockets if socket in SOCKET_POWER]:
        idle, dynamic = watts(machine, socket)
        assert 0 < idle < idle + dynamic
        tolerance = 3e-3 if socket == "fujitsu_a64fx" else 1e-12  # 118 kW are rounded
        assert idle + dynamic == pytest.approx(SOCKET_POWER[socket], rel=tolerance), socket


@pytest.mark.parametrize(
    ("name", "socket", "most"),
    [
        ("bluegene_q", "ibm_bluegene_q", 7890e3 / 98304),  # a node of Sequoia under HPL, TOP500 of June 2012
        ("pentium_m", "intel_pentium_m", 24.5),  # of 1.6 GHz at the same voltage, felixsteinke/cpu-spec-dataset
        ("epyc_7a53", "amd_epyc_7a53", 22703e3 / 9408),  # a node of Frontier under HPL, TOP500 of June 2023
    ],
)
def test_power_that_is_not_published_is_below_a_published_bound(name: str, socket: str, most: float) -> None:
    idle, dynamic = watts(aspenpy.load_machine(name), socket)
    assert 0 < idle < idle + dynamic < most


def test_every_power_is_checked_or_there_is_a_reason() -> None:
    tables = (SHEETS, PRODUCT_PAGES, TABULATED, BOARDS, ELSEWHERE, DISSERTATION_POWER, POWER_NOT_CHECKED)
    listed = sorted(socket for table in tables for socket in table)
    sockets = {socket for name in MACHINES for socket in aspenpy.load_machine(name).sockets}
    assert listed == sorted(sockets - {"simulated_socket"})  # cachegrind's draws nothing


SYSTEM_WATTS = {
    "keeneland_kids": (99.5e3, 115 * (2 * 95 + 3 * 225)), "cori_knl": (1967.7e3, 9152 * 215),
    "trinity": (2540.2e3, 9408 * 2 * 135), "summit": (10598.4e3, 4608 * (2 * 250 + 6 * 300)),
    "frontera": (3283.3e3, 8008 * 2 * 205),
}  # fmt: skip


@pytest.mark.parametrize("name", SYSTEM_WATTS)
def test_design_power_of_all_sockets_of_a_system(name: str) -> None:
    machine = aspenpy.load_machine(name)
    sockets = [place for place in machine.places() if place.component.type == "socket"]
    watts = sum(
        value(machine, place.count) * value(machine, part)
        for place in sockets
        for part in place.component.power.values()
    )
    rounded, exact = SYSTEM_WATTS[name]
    assert watts == pytest.approx(exact, rel=1e-12)
    assert isclose(watts, rounded, rel_tol=1e-3)


# -- the Pentium M's five points (Ge and Cameron, IPDPS 2007, tables 2 and 6) -----------------------


@pytest.mark.parametrize(
    ("megahertz", "volts", "nanoseconds"),
    [(600, 0.956, 140), (800, 1.18, 140), (1000, 1.308, 110), (1200, 1.436, 110), (1400, 1.484, 110)],
)
def test_points_of_frequency_and_voltage(megahertz: int, volts: float, nanoseconds: float) -> None:
    machine = aspenpy.load_machine("pentium_m_cluster")
    clock = machine.lookup("pentium_m_clock")
    voltage = machine.lookup("pentium_m_voltage")
    latency = machine.lookup("ddr_pentium_m.latency")
    dynamic = machine.components["intel_pentium_m"].power["dynamic"]
    assert clock is not None
    assert voltage is not None
    assert latency is not None
    set_to = {**machine.definitions, clock: graph.number(megahertz * 10**6)}
    found = [float(item) for item in evaluate_many([voltage, latency, dynamic], None, 0, set_to)]
    watts = (22 - 2) * (volts / 1.484) ** 2 * megahertz / 1400  # proportional to voltage squared times clock
    assert found == pytest.approx([volts, nanoseconds * 1e-9, watts], rel=1e-12)


def test_packed_double_precision_of_the_pentium_m() -> None:
    # An addition a cycle and a multiplication every two: 1.5 flop at 1.4 GHz; single precision 4.
    assert peak("pentium_m", "dp") == pytest.approx(1.5 * 1.4, rel=1e-9)
    assert peak("pentium_m", "sp") == pytest.approx(4 * 1.4, rel=1e-9)


# -- what the files say of themselves --------------------------------------------------------------


@pytest.mark.parametrize("name", MACHINES)
def test_a_machine_says_what_it_is(name: str) -> None:
    lines = (FOLDER / f"{name}.aspen").read_text(encoding="utf-8").split("\n")
    header = dict(re.findall(r"^// (kind|vendor|year): (.+)$", "\n".join(lines[:8]), re.MULTILINE))
    assert lines[0].startswith(f"// {name}: ")
    assert lines[0].endswith(".")
    assert header["kind"] in ("cpu", "gpu", "system", "abstract", "teaching")
    if header["kind"] != "teaching":
        assert header["vendor"]
        assert 1990 < int(header["year"]) < 2030


def unsourced(text: str) -> Iterator[str]:
    """The lines of a part that hold a number and neither a comment nor one above their component."""
    before = ""
    covered = False
    for line in text.split("\n"):
        if line.endswith("{"):
            covered = before.startswith("//")
        numeric = re.search(r"\[[^\]]*(?<![\w.])\d", line.partition("//")[0]) if line.startswith("  ") else None
        item = line.lstrip().startswith(("property", "static", "dynamic", "core"))
        parameter = line.startswith("param") and "= lookup(" not in line
        if (
            ((item and numeric and not covered) or parameter)
            and "//" not in line
            and not before.lstrip().startswith("//")
        ):
            yield line
        if not (line.startswith("param") and before.startswith("//")):
            before = line


@pytest.mark.parametrize("name", MACHINES)
def test_every_cache_has_a_ceiling(name: str) -> None:
    """But those of a simulator, and of machines as others modelled them, which say nothing of time."""
    machine = aspenpy.load_machine(name)
    for socket in machine.sockets or (None,):
        ceilings = {ceiling.component for ceiling in aspenpy.roofline(machine, socket=socket).caches}
        levels = {level.name for level in levels_of(machine, socket)}
        assert {level for level in levels - ceilings if "as_modelled" not in level and name != "cachegrind"} == set()


@pytest.mark.parametrize(
    ("name", "level", "gigabytes"),
    [
        ("tesla_m2090", "m2090_l2", 384 * 0.65),
        ("tesla_k20x", "k20x_l2", 768 * 0.732),
        ("mi300x", "mi300x_l2", 8 * 2048 * 2.1),
        ("exascale_homogeneous", "exascale_l3", 78125 * 256 * 32 * 2.3),
    ],
)
def test_bandwidths_of_caches(name: str, level: str, gigabytes: float) -> None:
    """Bytes a cycle and the clock, of all of a machine."""
    ceilings = aspenpy.roofline(aspenpy.load_machine(name)).caches
    (found,) = (ceiling.rate for ceiling in ceilings if ceiling.component == level)
    assert found == pytest.approx(gigabytes * 1e9)


@pytest.mark.parametrize("path", PARTS, ids=lambda path: path.stem)
def test_every_number_of_a_part_has_a_source(path: Path) -> None:
    assert list(unsourced(path.read_text(encoding="utf-8"))) == []


def test_a_number_without_a_source_is_seen() -> None:
    lines = [
        "param clock = 1 GHz in 1 GHz .. 2 GHz",
        "",
        "cache one {",
        "  property ways [8]",
        "  property line [64 B]  // x",
    ]
    assert list(unsourced("\n".join([*lines, "}"]))) == [lines[0], lines[3]]


def test_every_part_is_in_use() -> None:
    included = {
        name
        for path in FOLDER.rglob("*.aspen")
        for name in re.findall(r"^include parts/(\S+)", path.read_text(encoding="utf-8"), re.M)
    }
    included |= {f"memories/{name}.aspen" for name in MEMORIES}  # what `advise` varies
    assert included == {path.relative_to(FOLDER / "parts").as_posix() for path in PARTS}


@pytest.mark.parametrize("name", MACHINES)
def test_products_on_lanes_attain_what_lanes_do(name: str) -> None:
    """The part of its peak that a unit for products attains is no part of a vector's: each accelerator states both."""
    for core in aspenpy.load_machine(name).components.values():
        if core.type == "core" and "simt" in core.properties:
            assert None not in (core.value("tensor_dp_attained"), core.value("tensor_sp_attained")), core.name
