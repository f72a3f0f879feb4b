"""`aspenpy machine new --from` and `--template`: what is written, and what is said of sheets that are wrong."""

from pathlib import Path

import pytest

import aspenpy
from aspenpy.answers.peaks import value_of
from aspenpy.expr.evaluate import evaluate_many
from aspenpy.language.files import Reader
from aspenpy.language.source import Source
from aspenpy.models.machine.sheets import read_sheet, write_machine
from tests.cli.conftest import Runner, models, run

__all__ = ["models", "run"]

SHEET = """\
kind = "processor"
source = "the page"
name = "Board"
vendor = "Us"
year = 2024
cores = 8
vector_bits = 256
clock = "2 GHz // measured: us"
watts = "50 W"
[l1]
capacity = "32 KiB"
latency = "5 cycles"
[memory]
kind = "ddr5"
bandwidth = "80 GB/s // derived: 2 x 5000 MT/s x 8 B"
attained = "60 GB/s // measured: us"
"""


def test_a_model_from_a_sheet(run: Runner, models: Path) -> None:
    Path("board.toml").write_text(SHEET, encoding="utf-8")
    outcome = run("machine", "new", "board", "--from", "board.toml")
    assert outcome == (0, "board.aspen is written; `aspenpy show board.aspen` shows what is in it\n", "")
    assert run("machine", "check", "board.aspen", "--strict") == (0, "no errors, no warnings\n", "")
    assert run("fmt", "--check", "board.aspen").status == 0
    text = Path("board.aspen").read_text(encoding="utf-8")
    assert "property latency [5/board_clock]  // the page\n" in text
    assert "attained_bandwidth [60 GB/s*(bandwidth/(80 GB/s))]  // measured: us\n" in text
    found = aspenpy.roofline(aspenpy.load_machine(Path("board.aspen")))
    assert found.memory[0].rate == pytest.approx(60e9)
    peak = 8 * 2e9 * 2 * 8 * 2  # two pipes of 256 bits, single precision
    assert max(ceiling.rate for ceiling in found.compute) == pytest.approx(peak)


def test_a_template_is_a_sheet(run: Runner, models: Path) -> None:
    assert run("machine", "new", "--template", "accelerator", "-o", "b.toml").status == 0
    assert Path("b.toml").read_text(encoding="utf-8") == run("machine", "new", "--template", "accelerator").out
    assert run("machine", "new", "b", "--from", "b.toml").status == 0
    assert run("machine", "new", "--template", "accelerator", "-o", "b.toml").status == 2  # is there already


MISTAKES = {
    "cores = 8": ('cores = "many"', "`cores` is a number above zero: cores of a socket, not threads", "such as 96"),
    'watts = "50 W"': ('watts = "50 GHz"', "`watts` is a quantity in W: thermal design power", "such as 360 W"),
    "year = 2024": ("year = -5", "`year` is a number above zero: of its first delivery", "such as 2022"),
    'vendor = "Us"': (
        "vendor = 3.5.1",
        "this is no table in TOML: Expected newline or end of document after a stat",
        "",
    ),
    'name = "Board"': ('naem = "Board"', "a data sheet has no field `naem`", "did you mean `name`?"),
    'kind = "ddr5"': ("kind = 5", "`memory.kind` is a word: ddr, hbm or lpddr, with its generation", "such as ddr5"),
    'latency = "5 cycles"': ('latency = "5 GB"', "`l1.latency` is a quantity in s: of a load, in ns or cycles", "such"),
    'capacity = "32 KiB"': ("ways = 8", "the sheet has no `l1.capacity`: first data cache of a core", "write `capac"),
    'source = "the page"': (
        'core = "zen9"',
        "`core` cannot be `zen9`: the library's family of its cores",
        "did you mean `zen",
    ),
    'kind = "processor"': ('kind = "toaster"', "the sheet names no kind of machine that there is", 'write `kind = "'),
}


@pytest.mark.parametrize("written", ['""', '"   "', "true", '["Board"]', '"a\\tb"', '"// the page"', "1979-05-27"])
def test_what_is_no_text(run: Runner, models: Path, written: str) -> None:
    Path("board.toml").write_text(SHEET.replace('"Board"', written), encoding="utf-8")
    outcome = run("machine", "new", "board", "--from", "board.toml")
    assert outcome.status == 2
    assert outcome.err.startswith("error: `name` is a text: ")
    assert "= hint: such as " in outcome.err


@pytest.mark.parametrize(
    ("written", "name"), [("5", "5"), (f'"{"x" * 101}"', "x" * 100), (f'"{"y" * 100}"', "y" * 100)]
)
def test_what_is_a_text(run: Runner, models: Path, written: str, name: str) -> None:
    """A number is one; of a long one the first hundred letters count."""
    Path("board.toml").write_text(SHEET.replace('"Board"', written), encoding="utf-8")
    assert run("machine", "new", "board", "--from", "board.toml").status == 0
    assert f" {name}" in Path("board.aspen").read_text(encoding="utf-8")
    assert f" {name}{name[0]}" not in Path("board.aspen").read_text(encoding="utf-8")


@pytest.mark.parametrize("line", MISTAKES)
def test_what_is_wrong_with_a_sheet(run: Runner, models: Path, line: str) -> None:
    wrong, message, hint = MISTAKES[line]
    text = SHEET.replace(line, wrong, 1)
    Path("board.toml").write_text(text, encoding="utf-8")
    outcome = run("machine", "new", "board", "--from", "board.toml")
    assert outcome.status == 2
    assert outcome.err.startswith(f"error: {message}"), outcome.err
    assert f"= hint: {hint}" in outcome.err
    place = text[: text.index(wrong)].count("\n") + 1 if message[:9] != "the sheet" or "kind" in line else 10
    assert f"--> board.toml:{place}:" in outcome.err
    assert not Path("board.aspen").exists()


def test_a_source_may_say_how_a_number_is_known(run: Runner, models: Path) -> None:
    Path("board.toml").write_text(
        SHEET.replace('source = "the page"\n', "").replace("// measured: us", "// published: X"), encoding="utf-8"
    )
    assert run("machine", "new", "board", "--from", "board.toml").status == 0
    text = Path("board.aspen").read_text(encoding="utf-8")
    assert "property power_cap [50 W]  // assumed: the sheet names no source\n" in text
    assert "param board_clock = 2 GHz in 0.4*(2 GHz) .. 2 GHz  // X; assumed: the sheet has one clock\n" in text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("new", "b", "--from", "one", "--from", "two"), "`aspenpy machine new --from` takes one data sheet"),
        (("new", "b", "--from", "one", "--kind", "cpu"), "`aspenpy machine new --from` takes one data sheet"),
        (("new", "b", "--template", "processor"), "--template shows a data sheet, and takes --output alone"),
        (("check", "--template", "processor"), "--template belongs to `aspenpy machine new`"),
        (("check",), "`aspenpy machine check` takes files, folders or names"),
        (("new", "b", "--compare"), "--compare belongs to `aspenpy machine probe`"),
    ],
)
def test_refused(run: Runner, models: Path, arguments: tuple[str, ...], said: str) -> None:
    outcome = run("machine", *arguments)
    assert (outcome.status, outcome.out) == (2, "")
    assert outcome.err.startswith(f"aspenpy: {said}")


# -- as vendors' pages say it -----------------------------------------------------------------------

BOARD = """
kind = "accelerator"
source = "a data sheet"
name = "Board"
vendor = "NVIDIA"
year = YEAR
cores = 188
lanes = 128
clock = "2.6 GHz"
watts = "600 W"
[l2]
capacity = "128 MB"
[memory]
kind = "KIND"
capacity = "96 GB"
bandwidth = "1792 GB/s"
"""


@pytest.mark.parametrize(
    ("kind", "year", "part"), [("GDDR7", 2025, 64), ("gddr6", 2018, 32), ("HBM3", 2023, 2), ("lpddr5x", 2025, 2)]
)
def test_a_page_that_names_no_double_precision(run: Runner, models: Path, kind: str, year: int, part: int) -> None:
    """Of 2 x 188 x 128 x 2.6 GHz in single precision; capitals of a page are no other memory."""
    Path("board.toml").write_text(BOARD.replace("KIND", kind).replace("YEAR", str(year)), encoding="utf-8")
    assert run("machine", "new", "board", "--from", "board.toml").status == 0
    found = aspenpy.peaks(aspenpy.load_machine(Path("board.aspen")))
    most = max(peak.rate * peak.count for peak in found if peak.resource == "flops" and "dp" in peak.traits)
    assert most == pytest.approx(2 * 188 * 128 * 2.6e9 / part)
    assert ("property hbm" in Path("board.aspen").read_text(encoding="utf-8")) is kind.startswith("HBM")


CLUSTER = """
kind = "system"
source = "a user guide"
name = "Cluster"
vendor = "HPE"
year = 2024
nodes = 1152
node = "liquid_cooled_blade"
processor = "amd_mi300a"
processors = 4
ports = 4
[network]
topology = "dragonfly"
bandwidth = "200 Gbit/s"
"""


def test_bits_of_a_network_and_a_dragonfly_of_which_nothing_more_is_said(run: Runner, models: Path) -> None:
    """200 Gbit/s are 25 GB/s; 16 ports are four nodes of four ports, 32 switches a group, nine groups of 128 nodes."""
    Path("cluster9.toml").write_text(CLUSTER, encoding="utf-8")
    assert run("machine", "new", "cluster9", "--from", "cluster9.toml").status == 0
    assert run("machine", "check", "cluster9.aspen") == (0, "no errors, no warnings\n", "")
    machine = aspenpy.load_machine(Path("cluster9.aspen"))
    parameters = {key: value.payload for key, value in aspenpy.Network(machine).topology.parameters}
    assert [parameters[key] for key in ("nodes_per_router", "routers", "groups", "global_links")] == [4, 32, 9, 8]
    bandwidth = machine.components["cluster9_network"].value("bandwidth")
    assert bandwidth is not None
    assert value_of(bandwidth, machine.definitions) == 25e9


def test_threads_of_a_socket_are_none_of_a_core(run: Runner, models: Path) -> None:
    Path("board.toml").write_text(SHEET.replace("cores = 8", "cores = 8\nthreads = 16"), encoding="utf-8")
    assert run("machine", "new", "board", "--from", "board.toml").status == 0
    assert "the threads of core `board_core` is 16" in run("machine", "check", "board.aspen").out


def test_units_as_vendors_write_them(tmp_path: Path) -> None:
    """TFLOPS, TOPs, KB and MByte of caches (of 1024) and Byte."""
    sheet = tmp_path / "board.toml"
    sheet.write_text(
        'kind = "accelerator"\nname = "B"\nvendor = "V"\nyear = 2024\ncores = 10\nlanes = 64\nclock = "1 GHz"\n'
        'watts = "100 W"\n[tensor]\nfp16 = "184.6 TFLOPs"\nint8 = "184.6 TOPS"\n[l1]\ncapacity = "192 KB"\n'
        '[l2]\ncapacity = "8 MByte"\nbandwidth = "6 TByte/s"\n'
        '[memory]\nkind = "HBM2"\ncapacity = "32 GB"\nbandwidth = "1.23 TB/s"\n',
        encoding="utf-8",
    )
    text = write_machine(read_sheet(Reader().read(sheet), "board"), "board")
    for written in ("184.6 Tflop/s", "192 KiB", "8 MiB]", "6 TB/s"):
        assert written in text


def test_caches_links_and_prices(run: Runner, models: Path) -> None:
    """Caches are of 1024 in whatever unit a page has them; 20 GT/s are 40 GB/s; a price has a currency."""
    text = SHEET.replace('"32 KiB"', '"48 KB"') + '[l2]\ncapacity = "2 MB"\n[link]\nbandwidth = "20 GT/s // the page"\n'
    Path("board.toml").write_text(text, encoding="utf-8")
    assert run("machine", "new", "board", "--from", "board.toml").status == 0
    written = Path("board.aspen").read_text(encoding="utf-8")
    assert "property capacity [48 KiB]  // the page\n" in written
    assert "property capacity [2 MiB]  // MB of 1024; the page\n" in written
    assert "property bandwidth [2*20 GB/s]  // derived: 20 GT/s x 2 B; the page\n" in written
    Path("cluster9.toml").write_text(
        CLUSTER.replace("ports = 4", 'ports = 4\nhourly_price = "7.2 USD // 2024"'), encoding="utf-8"
    )
    assert run("machine", "new", "cluster9", "--from", "cluster9.toml").status == 0
    assert "property hourly_price [7.2]  // USD; 2024\n" in Path("cluster9.aspen").read_text(encoding="utf-8")


def test_a_price_is_of_the_chip_itself(run: Runner, models: Path) -> None:
    """A variant of a chip does not have the other's price."""
    sheet = SHEET.replace("cores = 8", 'cores = 8\nprice = "€900 // a shop"')
    Path("board.toml").write_text(sheet, encoding="utf-8")
    assert run("machine", "new", "board", "--from", "board.toml").status == 0
    assert "property list_price [900]  // €; a shop\n" in Path("board.aspen").read_text(encoding="utf-8")
    Path("other.toml").write_text(sheet.replace('price = "€900 // a shop"', 'like = "epyc_9755"'), encoding="utf-8")
    assert run("machine", "new", "other", "--from", "other.toml").status == 0
    assert "list_price" not in Path("other.aspen").read_text(encoding="utf-8")


def test_words_of_vendors_are_told(run: Runner, models: Path) -> None:
    Path("board.toml").write_text(SHEET.replace("cores = 8", 'cores = 8\nclock_turbo = "3 GHz"'), encoding="utf-8")
    assert "did you mean `clock_highest`?" in run("machine", "new", "board", "--from", "board.toml").err
    assert "front; `my_board` is one\n" in run("machine", "new", "my-board").err


# -- cores and neighbours ---------------------------------------------------------------------------

XEON = (
    SHEET.replace("vector_bits = 256", "sockets = 2")
    .replace('"Us"', '"Intel"')
    .replace('attained = "60 GB/s // measured: us"', "")
)


def test_a_processor_without_a_core_is_told(run: Runner, models: Path) -> None:
    """By the sheet's code name where it has one; the model is told of as well."""
    Path("xeon.toml").write_text(XEON.replace("cores = 8", 'cores = 8\nabout = "Emerald Rapids"'), encoding="utf-8")
    outcome = run("machine", "new", "xeon", "--from", "xeon.toml")
    assert outcome.status == 0
    assert outcome.err.startswith("warning: the sheet names no core: two pipes of 256 bits are assumed")
    assert 'hint: Emerald Rapids has `core = "golden_cove"`' in outcome.err
    found = run("machine", "check", "xeon.aspen", "--strict")
    assert found.status == 1
    assert "two pipes of 256 bits by assumption" in found.out
    assert "golden_cove (sapphire_rapids, emerald_rapids" in found.out


def write_correct_machine(run: Runner, name: str) -> str:
    """The text of the machine that is made of a sheet, which has nothing to warn of."""
    assert run("machine", "new", name, "--from", f"{name}.toml").status == 0
    assert run("machine", "check", f"{name}.aspen", "--strict").status == 0
    return Path(f"{name}.aspen").read_text(encoding="utf-8")


def test_a_code_name_is_a_core_and_has_neighbours(run: Runner, models: Path) -> None:
    """The Platinum 8592+ attains 276 of 358.4 GB/s, 0.77, and loads in 5 cycles; two sockets as the sheet says."""
    text = (
        XEON.replace("50 W", "350 W")
        .replace("cores = 8", 'cores = 64\ncore = "Emerald Rapids"')
        .replace("2024", "2023")
    )
    Path("xeon.toml").write_text(
        text.replace('latency = "5 cycles"', "") + '[l2]\ncapacity = "2 MiB"\n', encoding="utf-8"
    )
    assert run("machine", "new", "xeon", "--from", "xeon.toml") == (
        0,
        "xeon.aspen is written; `aspenpy show xeon.aspen` shows what is in it\n",
        "",
    )
    assert run("machine", "check", "xeon.aspen", "--strict").status == 0
    written = Path("xeon.aspen").read_text(encoding="utf-8")
    assert "core xeon_core like golden_cove {" in written
    assert "param xeon_sockets = 2 in 1 .. 2 " in written
    words = "  // assumed: as Intel Xeon Platinum 8592+ of the library\n"
    assert f"property latency [5/xeon_clock]{words}" in written
    assert f"property latency [16/xeon_clock]{words}" in written
    assert "property attained_bandwidth [0.77*80 GB/s*(bandwidth/(80 GB/s))]" in written


def test_a_processor_like_one_of_the_library(run: Runner, models: Path) -> None:
    sheet = 'kind = "processor"\nname = "Mine"\nlike = "xeon_platinum_8592plus"\ncores = 48\n'
    Path("mine.toml").write_text(sheet, encoding="utf-8")
    written = write_correct_machine(run, "mine")
    assert "core [48] mine_core" in written
    assert "property power_cap [350 W]  // assumed: as Intel Xeon Platinum 8592+ of the library\n" in written


def test_a_peak_in_single_precision_is_compared(run: Runner, models: Path) -> None:
    """2 x 188 x 128 x 2.6 GHz are 125.1 Tflop/s."""
    text = BOARD.replace("YEAR", "2025").replace("KIND", "gddr7").replace("[l2]", '[peak]\nsp = "RATE TFLOPS"\n[l2]')
    for rate, told in (("125", False), ("62.5", True)):
        Path("board.toml").write_text(text.replace("RATE", rate), encoding="utf-8")
        outcome = run("machine", "new", "board", "--from", "board.toml", "--replace")
        assert ("are 125.1 Tflop/s, and `peak.sp` is 62.5" in outcome.err) is told


def test_an_accelerator_has_neighbours(run: Runner, models: Path) -> None:
    """Latencies of the library's nearest board with the same cores, and its part of the bandwidth: 1832 of 2039."""
    text = BOARD.replace("YEAR", "2022").replace("KIND", "hbm2e").replace("lanes = 128", 'lanes = 128\ncore = "Hopper"')
    Path("board.toml").write_text(text.replace("cores = 188", "cores = 120\nboards = 2"), encoding="utf-8")
    written = write_correct_machine(run, "board")
    assert "core board_core like nvidia_sm_90 {" in written
    assert "param board_boards = 2 in 1 .. 2 " in written
    words = "  // assumed: as NVIDIA H100 PCIe of the library\n"
    assert f"property attained_bandwidth [0.9*1792 GB/s*(bandwidth/(1792 GB/s))]{words}" in written


def test_an_accelerator_like_one_of_the_library(run: Runner, models: Path) -> None:
    """A bin of the L40S: 269.15 of its 362 Tflop/s are 0.74."""
    sheet = 'kind = "accelerator"\nname = "Mine"\nlike = "l40s"\ncores = 100\n[tensor]\nbf16 = "250 Tflop/s"\n'
    Path("mine.toml").write_text(sheet, encoding="utf-8")
    written = write_correct_machine(run, "mine")
    words = "  // assumed: as NVIDIA L40S of the library\n"
    assert "core [100] mine_core" in written
    assert f"property tensor_attained [0.74*250 Tflop/s/(250 Tflop/s)]{words}" in written
    assert f"property power_cap [350 W]{words}" in written
    assert "mine_boards" not in written


@pytest.mark.parametrize(("nodes", "levels"), [(32, 1), (33, 2), (1024, 2), (1025, 3)])
def test_a_fat_tree_has_the_levels_that_its_nodes_need(run: Runner, models: Path, nodes: int, levels: int) -> None:
    """Switches of 64 ports, half of them down: 32 nodes on one, 32 x 32 below two levels."""
    Path("site.toml").write_text(
        'kind = "system"\nname = "Site"\nvendor = "Us"\nyear = 2024\nnode = "liquid_cooled_blade"\nports = 1\n'
        f'processor = "amd_epyc_7763"\nnodes = {nodes}\n',
        encoding="utf-8",
    )
    assert run("machine", "new", "site", "--from", "site.toml").status == 0
    assert f"property levels [{levels}]  // assumed: as few as join its nodes\n" in Path("site.aspen").read_text(
        encoding="utf-8"
    )


@pytest.mark.parametrize(
    ("field", "written", "meant"),
    [
        ("processor", "EPYC 7763", "amd_epyc_7763"),
        ("processor", "Intel Xeon Platinum 8592+", "intel_xeon_platinum_8592plus"),
        ("between", "sockets xgmi rome", "sockets_xgmi_rome"),
    ],
)
def test_names_are_those_of_vendors(field: str, written: str, meant: str) -> None:
    text = 'kind = "system"\nname = "S"\nvendor = "V"\nyear = 2022\nnodes = 4\nnode = "air_cooled_server"\nports = 1\n'
    text += "" if field == "processor" else 'processor = "amd_epyc_7763"\n'
    sheet = read_sheet(Source(text + f'{field} = "{written}"\n', "s.toml"), "mine")
    assert sheet.entries[field].text == meant


def test_a_clock_under_vectors_bounds_products(run: Runner, models: Path) -> None:
    """8 cores of two pipes of 256 bits at 2 GHz have 256 Gflop/s in doubles; at 1.5 GHz products attain 0.95 of 192."""
    Path("board.toml").write_text(
        SHEET.replace('watts = "50 W"', 'watts = "50 W"\nclock_vectors = "1.5 GHz"'), encoding="utf-8"
    )
    assert run("machine", "new", "board", "--from", "board.toml").status == 0
    app = aspenpy.parse("model m { kernel main { execute [8] { flops [1e9] as tensor, dp, simd, fmad } } }")
    found = aspenpy.predict(app, aspenpy.load_machine(Path("board.aspen")))
    assert found.runtime == pytest.approx(8e9 / (0.95 * 8 * 1.5e9 * 16))


UNLIKE = {
    "mi250x": "it has one socket of that kind, with its cores",  # dies have them
    "epyc_9654": "it has one socket of that kind, with its cores",
    "h101": "did you mean `h100`",
}


@pytest.mark.parametrize("name", UNLIKE)
def test_a_machine_of_another_kind_is_no_model(run: Runner, models: Path, name: str) -> None:
    Path("b.toml").write_text(
        f'kind = "accelerator"\nname = "B"\nvendor = "V"\nyear = 2024\nlike = "{name}"\n', encoding="utf-8"
    )
    outcome = run("machine", "new", "b", "--from", "b.toml")
    assert (outcome.status, outcome.out) == (2, "")
    assert f"`like` cannot be `{name}`" in outcome.err
    assert UNLIKE[name] in outcome.err


@pytest.mark.parametrize(
    ("kind", "name"), [("accelerator", "h100"), ("accelerator", "v100"), ("processor", "epyc_9654")]
)
def test_a_machine_without_a_sheet_is_a_model(run: Runner, models: Path, kind: str, name: str) -> None:
    """One that states nothing else has its peaks, memory and caches."""
    Path("b.toml").write_text(
        f'kind = "{kind}"\nname = "B"\nvendor = "V"\nyear = 2024\nlike = "{name}"\n', encoding="utf-8"
    )
    assert run("machine", "new", "b", "--from", "b.toml").status == 0
    assert run("machine", "check", "b.aspen", "--strict").status == 0
    mine, theirs = (aspenpy.roofline(aspenpy.load_machine(each)) for each in (Path("b.aspen"), name))
    assert mine.memory[0].rate == pytest.approx(theirs.memory[0].rate)
    rates = [{ceiling.traits: float(ceiling.rate) for ceiling in found.compute} for found in (mine, theirs)]
    assert rates[0] == pytest.approx(rates[1], rel=1e-4)
    assert capacities(Path("b.aspen")) == capacities(name)


def capacities(machine: str | Path) -> list[float]:
    """Bytes of the caches and memories."""
    loaded = aspenpy.load_machine(machine)
    stated = [component.properties.get("capacity") for component in loaded.components.values()]
    values = [item.value for item in stated if item is not None and item.value is not None]
    return sorted(float(value) for value in evaluate_many(values, None, 0, loaded.definitions))


def test_cores_of_no_family_say_what_to_write(run: Runner, models: Path) -> None:
    Path("board.toml").write_text(SHEET.replace("vector_bits = 256", 'core = "sierra_forest"'), encoding="utf-8")
    outcome = run("machine", "new", "board", "--from", "board.toml")
    assert outcome.status == 2
    assert "leave it out, and write vector_bits and vector_pipes" in outcome.err
    assert "nvidia" not in outcome.err
