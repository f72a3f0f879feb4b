"""Systems of processors and accelerators of one's own: by the files of machines, or by their sheets."""

from pathlib import Path

import pytest

import aspenpy
from aspenpy.language.source import Source
from aspenpy.models.machine.sheets import _parse_toml
from tests.cli.conftest import Runner, models, run

__all__ = ["models", "run"]

XEON = """\
kind = "processor"
source = "the page"
name = "Xeon"
vendor = "Intel"
year = 2023
cores = 32
core = "golden_cove"
clock = "2.5 GHz"
watts = "250 W"
[l1]
capacity = "48 KiB"
[memory]
kind = "ddr5"
bandwidth = "332.8 GB/s"
[link]
count = 3
bandwidth = "40 GB/s"
"""

BOARD = """\
kind = "accelerator"
source = "the page"
name = "A10"
vendor = "NVIDIA"
year = 2021
cores = 72
lanes = 128
clock = "1.695 GHz"
watts = "150 W"
boards = 4
[l2]
capacity = "6 MiB"
[memory]
kind = "gddr6"
capacity = "24 GB"
bandwidth = "600 GB/s"
"""

SYSTEM = """\
kind = "system"
source = "us"
name = "Server"
vendor = "Us"
year = 2024
nodes = 1
node = "air_cooled_server"
processor = "xeon.toml // the page"
processors = 2
accelerator = "a10.toml"
ports = 1
"""


@pytest.fixture
def parts(run: Runner, models: Path) -> None:
    """A processor and an accelerator, each as a sheet and as the machine that it gives."""
    for name, sheet in (("xeon", XEON), ("a10", BOARD)):
        Path(f"{name}.toml").write_text(sheet, encoding="utf-8")
        assert run("machine", "new", name, "--from", f"{name}.toml").status == 0


def peak(path: str, socket: str) -> float:
    """Flop/s of all sockets of a kind in double precision."""
    found = aspenpy.peaks(aspenpy.load_machine(Path(path)))
    core = socket.rpartition("_")[2] + "_core"
    return max(float(row.of_all or 0) for row in found if row.path[-1] == core and "dp" in row.traits)


@pytest.mark.parametrize("ending", ["toml", "aspen"])
@pytest.mark.parametrize("between", ["", 'between = "xeon_between_sockets"\n'])
def test_a_system_of_parts_of_ones_own(run: Runner, models: Path, parts: None, ending: str, between: str) -> None:
    """2 x 32 cores x 2.5 GHz x 32 flops are 5.12 Tflop/s, 72 x 128 x 1.695 GHz x 2 / 64 are 488 Gflop/s."""
    Path("server.toml").write_text(SYSTEM.replace(".toml", f".{ending}") + between, encoding="utf-8")
    assert run("machine", "new", "server", "--from", "server.toml").status == 0
    assert run("machine", "check", "server.aspen", "--strict") == (0, "no errors, no warnings\n", "")
    assert peak("server.aspen", "intel_xeon") == pytest.approx(5.12e12)
    assert peak("server.aspen", "nvidia_a10") == pytest.approx(72 * 128 * 1.695e9 * 2 / 64)
    text = Path("server.aspen").read_text(encoding="utf-8")
    assert "interconnect xeon_between_sockets\n" in text
    assert ("include xeon.aspen\n" in text) is (ending == "aspen")


def test_a_part_of_another_folder(run: Runner, models: Path, parts: None) -> None:
    Path("inner").mkdir()
    Path("server.toml").write_text(SYSTEM.replace(".toml", ".aspen"), encoding="utf-8")
    outcome = run("machine", "new", "server", "--from", "server.toml", "-o", "inner/server.aspen")
    assert outcome.status == 2
    assert "`xeon.aspen` lies outside of the folder that the model is written to" in outcome.err
    for name in ("xeon.aspen", "a10.aspen", "server.toml"):
        Path("inner", name).write_text(Path(name).read_text(encoding="utf-8"), encoding="utf-8")
    assert run("machine", "new", "server", "--from", "inner/server.toml").status == 0
    assert "include inner/xeon.aspen\n" in Path("server.aspen").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("wrong", "message", "hint"),
    [
        ("intel_my_xeon", "`processor` cannot be `intel_my_xeon`", '`processor = "FILE.aspen"`'),
        ("server.toml", "`server.toml` is the sheet of a system, and no part of one", ""),
        ("nowhere.aspen", "file not found: `nowhere.aspen`", ""),
        ("empty.aspen", "`empty.aspen` has no socket, and a part of a system is one", ""),
    ],
)
def test_what_is_no_part(run: Runner, models: Path, parts: None, wrong: str, message: str, hint: str) -> None:
    Path("empty.aspen").write_text("machine m { node n } node n { static power [1 W] }", encoding="utf-8")
    Path("server.toml").write_text(SYSTEM.replace("xeon.toml", wrong), encoding="utf-8")
    outcome = run("machine", "new", "server", "--from", "server.toml")
    assert outcome.status == 2
    assert message in outcome.err
    assert hint in outcome.err
    assert "nvidia" not in outcome.err  # an accelerator is no processor


def test_a_node_includes_machines_for_their_parts(run: Runner, models: Path, parts: None) -> None:
    Path("host.aspen").write_text(
        "include xeon.aspen\ninclude a10.aspen\nmachine host { node host_node }\n"
        "node host_node { socket [2] intel_xeon socket nvidia_a10 interconnect xeon_between_sockets }\n",
        encoding="utf-8",
    )
    assert run("machine", "check", "host.aspen", "--strict") == (0, "no errors, no warnings\n", "")
    assert aspenpy.load_machine(Path("host.aspen")).name == "host"
    assert peak("host.aspen", "intel_xeon") == pytest.approx(5.12e12)


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [("cores = = 2", 1, 9), ("a = 1\ncores = = 2\n", 2, 9), ("a = 1\n\n[x\nb = 2", 3, 3), ("a = 1\nb = [1,\n", 3, 1),
     ("a = 'é'\nb = ?", 2, 5), ('name = "no end', 1, 15)],
)  # fmt: skip
def test_a_mistake_in_a_table_has_its_place(text: str, line: int, column: int) -> None:
    with pytest.raises(aspenpy.AspenError) as refused:
        _parse_toml(Source(text))
    span = refused.value.diagnostics[0].span
    assert span is not None
    assert (span.position().line, span.position().column) == (line, column)
