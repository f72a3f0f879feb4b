"""Blocks of the library's applications say how far each rank can share its work out."""

import re
from pathlib import Path

import pytest

import aspenpy

APPLICATIONS = sorted(Path(__file__).parents[2].joinpath("models", "apps").glob("*.aspen"))
OF_RANKS = [path for path in APPLICATIONS if re.search(r"execute \[ranks\]", path.read_text(encoding="utf-8"))]
WITHOUT_FILES = [path for path in OF_RANKS if path.stem != "jacobi_checkpoint"]
"""`simple` keeps no files."""
ONE_CORE = ("micro_kernels",)
"""Whose instances are cores by their own word."""


@pytest.mark.parametrize("path", [path for path in OF_RANKS if path.stem not in ONE_CORE], ids=lambda path: path.stem)
def test_only_messages_and_serial_work_have_no_width(path: Path) -> None:
    blocks = re.findall(
        r"execute \[(?:ranks|grid_rows|grid_columns)\] (?!of)[^{]*\{([^}]*)\}", path.read_text(encoding="utf-8")
    )
    assert [block for block in blocks if "messages" not in block and "intracomm" not in block] == []  # or host links


@pytest.mark.parametrize("ranks", [1, 4])
@pytest.mark.parametrize("path", WITHOUT_FILES, ids=lambda path: path.stem)
def test_on_a_core_a_rank_takes_as_long_as_without_a_width(path: Path, ranks: int) -> None:
    app, machine = aspenpy.load_application(path.stem), aspenpy.load_machine("simple")
    values = {"ranks": ranks}
    without = aspenpy.predict(app, machine, set=values).runtime
    assert aspenpy.predict(app, machine, set=values, ranks_on="core").runtime == pytest.approx(without, rel=1e-12)


ATTAINED = {"epyc_9654": 0.814 * 460.8, "a100_80gb": 0.879 * 2040, "h100": 0.887 * 3350, "mi300x": 0.729 * 5300}
"""GB/s of triad: STREAM, BabelStream and gpu-benches over the data sheets' peaks."""


@pytest.mark.parametrize(
    ("name", "values", "tolerance"),
    [
        ("stream", {"n": 1e9}, 0.1),
        ("hpcg", {"local_x": 256, "local_y": 256, "local_z": 256}, 0.3),
        ("cg", {"class": "D"}, 0.3),
        ("lulesh", {"edge_elements": 200, "steps": 10}, 0.5),  # scalar arithmetic holds the processor back
    ],
)
def test_a_device_is_ahead_by_its_bandwidth(name: str, values: dict[str, float | str], tolerance: float) -> None:
    """One rank on all of each: in the order of attained bandwidth, and by its ratio."""
    app = aspenpy.load_application(name)
    seconds = {
        machine: aspenpy.predict(app, aspenpy.load_machine(machine), ranks_on="socket", set=values).runtime
        for machine in ATTAINED
    }
    assert sorted(seconds, key=seconds.__getitem__, reverse=True) == list(ATTAINED)
    for machine, bandwidth in ATTAINED.items():
        ahead = seconds["epyc_9654"] / seconds[machine]
        assert ahead == pytest.approx(bandwidth / ATTAINED["epyc_9654"], rel=tolerance)
