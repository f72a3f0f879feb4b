"""Headline numbers of the pages, by hand: comparing a page with what the program prints sees change only."""

import re
import shlex
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest

import aspenpy

ROOT = Path(__file__).parents[2]

ATOM = 500 * (11 + 0.155 * 21)
"""Flops of an atom of CoMD: 27*4000/216 candidates of 11 each; 15.5 % of them are within the cutoff, 21 more each."""

STREAM = 10 * 1e7 * 8 * (2 + 2 + 3 + 3)
"""Bytes of ten passes over arrays of 1e7 doubles: copy and scale use two of them, add and triad three."""

PRODUCT = 2 * 1024**3
"""Flops of a product of matrices."""

A100 = 0.872 * 1560e9
"""Bytes a second that the memory of an A100 with 40 GB attains."""

HEADLINES = [
    # page, what it shows, application, machine, settings, kernel (None: all of it), by hand
    # a memory of 10 GB/s; 16 nodes with one of 68 GB/s each
    ("docs/tutorial.md", "800 ms", "stream", "simple", {}, None, STREAM / 10e9),
    (None, "118 ms", "stream", "haswell", {}, None, STREAM / 68e9),  # on one of its 16 nodes
    # 101 calls, 4000 atoms a core, 3.5 GHz, two flops a cycle in single precision, half as many in double
    ("docs/index.md", "823 ms", "comd", "haswell", {}, "lennard_jones_force", 101 * 4000 * ATOM / 3.5e9),
    # eight ranks on four cores take two rounds at 1 GHz, one flop a cycle in single precision
    (None, "11.5 s", "comd", "simple", {}, "lennard_jones_force", 101 * 2 * 4000 * ATOM / 0.5e9),
    # one core: 1 GHz, four lanes, fused, in double precision; 1.4 GHz with 1.5 flops a cycle
    ("docs/models/matmul.md", "537 ms", "matmul", "simple", {}, None, PRODUCT / (1e9 * 4 * 2 / 2)),
    ("docs/commands.md", "1.02 s", "matmul", "pentium_m", {}, None, PRODUCT / (1.4e9 * 1.5)),
    # a launch, and 10 million elements of 24 B in turns of 108
    ("docs/energy.md", "179 us", "stream", "a100_40gb", {"repetitions": 1}, "triad", 2.7e-6 + 92593 * 108 * 24 / A100),
]

UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "ps": 1e-12}


@pytest.mark.parametrize(
    ("page", "shown", "app", "machine", "values", "kernel", "seconds"),
    HEADLINES,
    ids=[f"{row[2]}-{row[3]}-{row[0]}" for row in HEADLINES],
)
def test_a_runtime(
    page: str | None, shown: str, app: str, machine: str, values: dict[str, float], kernel: str | None, seconds: float
) -> None:
    prediction = aspenpy.predict(aspenpy.load_application(app), aspenpy.load_machine(machine), set=values)
    rows = {row.name: float(row.exclusive) for row in prediction.kernels}
    assert (float(prediction.runtime) if kernel is None else rows[kernel]) == pytest.approx(seconds, rel=1e-9)
    number, unit = shown.split()
    assert f"{seconds / UNITS[unit]:.3g}" == number
    assert page is None or f" {shown}" in (ROOT / page).read_text(encoding="utf-8")


def test_a_triad_of_the_tour() -> None:
    # 24 B an element: 1e7 of them at 10 GB/s, 2e7 at 40 GB/s; 2^20 in the CSV of the page about commands.
    for page, shown, seconds in [
        ("docs/tour.md", "main takes 24 ms", 24e7 / 10e9),
        ("docs/tour.md", "runtime 12 ms", 24 * 2e7 / 40e9),
        ("docs/commands.md", "main,runtime,0.0025165824,s", 24 * 2**20 / 10e9),
    ]:
        assert shown in (ROOT / page).read_text(encoding="utf-8")
        number = float("".join(char for char in shown if char.isdigit() or char == "."))
        assert number * (1 if shown[-1] == "s" and "," in shown else 1e-3) == pytest.approx(seconds, rel=1e-12)


def test_the_energy_of_a_triad_on_an_a100() -> None:
    # 66.5 W for 179 us (a launch and 240 MB at 0.872 of 1560 GB/s), 20 Mflop in double precision of twice 5.2 pJ,
    # 240 MB of 118 pJ/B.
    joules = 66.5 * (2.7e-6 + 240e6 / A100) + 20e6 * 10.4e-12 + 240e6 * 118e-12
    assert f"{joules * 1e3:.3g} mJ" == "40.4 mJ"
    assert " 40.4 mJ" in (ROOT / "docs" / "energy.md").read_text(encoding="utf-8")


def test_the_energy_of_listing_3_2() -> None:
    # Umar's dissertation (2018) prints 25623.3 J for it.
    assert f"{25623.3 / 1e3:.3g} kJ" == "25.6 kJ"
    assert " 25.6 kJ" in (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")


def test_the_torus_of_fugaku() -> None:
    # 24 x 23 x 24 x 2 x 3 x 2: half of each way round is the farthest; a cut through the longest side crosses each of
    # the 23 * 24 * 12 rings twice.
    sides = (24, 23, 24, 2, 3, 2)
    text = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    assert f"diameter           {sum(side // 2 for side in sides)} hops" in text
    assert f"bisection          {2 * 23 * 24 * 2 * 3 * 2:,} links, {2 * 23 * 24 * 12 * 6.8e9 / 1e12:.1f} TB/s" in text


# -- crossovers ------------------------------------------------------------------------------------

CROSSING = re.compile(
    r"^ +(([\d,]+) \.\. ([\d,]+) +(\S+) +(\S+) +(\S+ \S+) and (\S+ \S+)  +(\S+ \S+) and (\S+ \S+))$", re.M
)
COMPARED = re.compile(r"^\$ (aspenpy compare .*(?:\n> .*)*)\n((?:(?!\$ |```).*\n)*)", re.M)

TRANSFERRED: dict[str, Callable[[dict[str, float]], float]] = {
    # three matrices of n * n doubles at 6 GB/s, and 15 us of the link
    "vt_e5_2637/nvidia_k20c": lambda at: 15e-6 + 3 * 8 * at["n"] ** 2 / 6e9,
    # two grids of n * n doubles, and 10 us of the link
    "desk_gpu/gpu": lambda at: 10e-6 + 2 * 8 * at["n"] ** 2 / at["link_bandwidth"],
}
"""Seconds in which the data come to a socket, by hand."""


def crossings_printed() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """The page, the command and the row of every crossover that is printed somewhere."""
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        for command, printed in COMPARED.findall(page.read_text(encoding="utf-8")):
            for row in CROSSING.findall(printed):
                yield str(page.relative_to(ROOT)), command.replace("\\\n> ", ""), row


CROSSINGS = [*crossings_printed()]


def seconds_by_itself(
    place: str, machines: dict[str, aspenpy.Machine], app: aspenpy.Application, transfer: bool, values: dict[str, float]
) -> float:
    """The runtime that `predict` gives, and what the transfer takes."""
    name, _, socket = place.partition("/")
    seconds = float(aspenpy.predict(app, machines[name], socket=socket or None, set=values).runtime)
    sizes = {"n": 2048, "link_bandwidth": 16e9} | values
    return seconds + (TRANSFERRED[place](sizes) if transfer and place in TRANSFERRED else 0)


@pytest.mark.parametrize(("page", "command", "row"), CROSSINGS, ids=[f"{page}-{row[1]}" for page, _, row in CROSSINGS])
def test_a_crossover(
    page: str, command: str, row: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On either side of it, each of both takes what the row says; the one is faster before, the other behind."""
    monkeypatch.chdir(tmp_path)
    words = shlex.split(command.partition("|")[0])
    settings = dict(word.split("=") for option, word in pairwise(words) if option == "--set")
    values = {key: float(text.removesuffix(" GB/s")) * (1e9 if "GB/s" in text else 1) for key, text in settings.items()}
    name = next(word for option, word in pairwise(words) if option == "--over").partition("=")[0]
    before = (ROOT / page).read_text(encoding="utf-8").partition(row[0])[0]
    for file, text in re.findall(r"^```aspen\n// file: (\S+)\n(.*?)^```$", before, re.M | re.S):
        Path(file).write_text(text, encoding="utf-8")
    app = aspenpy.load_application(words[2])
    named = next(word for option, word in pairwise(words) if option == "--machine").split(",")
    machines = {machine.name: machine for machine in map(aspenpy.load_machine, named)}
    low, high, first, second, *shown = row[1:]
    taken = [
        seconds_by_itself(place, machines, app, "--transfer" in words, values | {name: float(at.replace(",", ""))})
        for at in (low, high)
        for place in (first, second)
    ]
    assert taken == [pytest.approx(float(number) * UNITS[unit], rel=5e-3) for number, unit in map(str.split, shown)]
    assert taken[0] <= taken[1]
    assert taken[2] >= taken[3]


def test_all_crossovers_are_seen() -> None:
    pages = [path for path in (ROOT / "docs").rglob("*.md") if " and " in path.read_text(encoding="utf-8")]
    rows = [
        line
        for page in pages
        for line in page.read_text(encoding="utf-8").splitlines()
        if re.match(r"^ +[\d,.]+ \.\. .* and ", line)
    ]
    assert len(rows) == len(CROSSINGS) >= 6


COOKBOOK = {  # what a recipe shows, by hand
    # 100 sweeps of 24 B a point and 10 tests of 16 B, at 0.814 of 460.8 GB/s
    "procurement.md": ("jacobi      {:.3f} s", 512**3 * (100 * 24 + 10 * 16) / (0.814 * 460.8e9)),
    # three reads of a point, a fetch and a write-back
    "tuning.md": ("main moves {:.1f} GB to and from memory", 1152**3 * 40 / 1e9),
    # flops over the peak of four cores with four lanes, a multiply-add for two flops in double precision
    "teaching.md": ("product  {:.0f} ms", 2 * 1024**3 / 16e9 * 1e3),
    # the mean bandwidth that the bound takes, in the range of the samples
    "research.md": ("{:.4f}", (100 - (40 - 16 * 0.6) / 0.6) / 90),
}


@pytest.mark.parametrize("page", COOKBOOK)
def test_a_recipe(page: str) -> None:
    shown, value = COOKBOOK[page]
    assert shown.format(value) in (ROOT / "docs" / "cookbook" / page).read_text(encoding="utf-8")
