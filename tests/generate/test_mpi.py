"""MPI skeletons: what the running program sends is what the model says, by arithmetic written out here."""

from __future__ import annotations

import re
import subprocess
from itertools import cycle, product
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import aspenpy
from aspenpy import Application, AspenError, Skeleton
from aspenpy.generate.mpi import mpi_helpers
from aspenpy.language.files import models_folder
from tests.generate.programs import Ran, Sent, built, needs_gcc, needs_mpi, ran, started
from tests.thorough import THOROUGH, examples
from tests.tiny import application, codes, machine

pytestmark = needs_gcc

APPLICATIONS = sorted(
    path.stem
    for path in Path(models_folder(), "apps").glob("*.aspen")
    if "messages [" in path.read_text(encoding="utf-8")
)


def sent(
    folder: Path, body: str, *arguments: str, processes: int = 0, declarations: str = "", kernels: str = ""
) -> Ran:
    """What the program of such an application sends; all three counts have to be one."""
    skeleton = Skeleton(application(body, declarations, kernels))
    run = ran(skeleton.code, folder, *arguments, processes=processes)
    assert run.own == run.below
    if not arguments:
        assert run.model == tuple(map(float, skeleton.totals))
    return run


# -- control flow ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "messages", "volume"),
    [
        ("execute { messages [1000] }", 1, 1000),
        ("execute [4] { messages [10] of size [8] }", 4, 4 * 80),
        ("execute [4] { messages [10] messages [20] flops [7] }", 8, 4 * 30),
        ('execute [4] of [100] "wide" { messages [10] flops [7] }', 4, 4 * 10),
        (
            "iterate [3] { execute [2] { messages [5] } map [4] { execute { messages [1] } } }",
            3 * (2 + 4),
            3 * (10 + 4),
        ),
        ("iterate i [4] { execute [i + 1] { messages [i*i] } }", 1 + 2 + 3 + 4, 2 * 1 + 3 * 4 + 4 * 9),
        ("iterate i [3] { iterate j [i] { execute { messages [10*i + j] } } }", 3, 10 + 20 + 21),
        ("iterate i [2.5] { execute { messages [i] } }", 3, 0 + 1 + 2),
        ("if (n > 5) { execute { messages [1] } } else { execute { messages [2] } }", 1, 1),
        ("if (n > 50) { execute { messages [1] } } else if (n == 10) { execute { messages [3] } }", 1, 3),
        ("switch (n) { [1] { execute { messages [1] } } [10] { execute { messages [4] } } }", 1, 4),
        ('par "both" { execute { messages [1] } seq { execute { messages [n] } } }', 2, 11),
        ("call k(3) call k(n)", 2, 6 + 20),
        ("execute { messages [lookup(values, sizes, 5)] }", 1, 15),
        ("execute { messages [table[1][0]] }", 1, 7),
        ("execute { messages [0] }", 1, 0),
    ],
)
def test_control_flow(tmp_path: Path, body: str, messages: int, volume: int) -> None:
    declarations = "param n = 10 param table[][] = {{5, 6}, {7, n}} param values[] = {10, 20} param sizes[] = {0, 10}"
    run = sent(tmp_path, body, declarations=declarations, kernels="kernel k(param m) { execute { messages [2*m] } }")
    assert run.own == run.model == Sent(messages, volume)


def test_rounding_is_made_up_for(tmp_path: Path) -> None:
    """Six loops of one pass and a half are nine passes; four messages of 2.25 bytes are nine bytes, by turns; half an
    instance is one every other time."""
    run = sent(tmp_path, "iterate [6] { iterate [3/2] { execute { messages [1] } } }")
    assert run.own == run.model == Sent(9, 9)
    run = sent(tmp_path, "iterate [4] { execute { messages [9/4] } }")
    assert run.own == run.model == Sent(4, 9)
    run = sent(tmp_path, "iterate [10] { execute [1/2] { messages [6] } }")
    assert run.own == run.model == Sent(5, 30)


def test_cases_come_as_often_as_they_are_probable(tmp_path: Path) -> None:
    """Of twelve, three times 100 bytes, twice 10, and 1 the other seven times."""
    cases = "[1/4] { execute { messages [100] } } [1/6] { execute { messages [10] } }"
    run = sent(tmp_path, f"iterate [12] {{ probability {{ {cases} else {{ execute {{ messages [1] }} }} }} }}")
    assert run.own == Sent(12, 3 * 100 + 2 * 10 + 7)
    assert run.model.bytes == pytest.approx(327, rel=1e-14)


@settings(max_examples=examples(5), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.integers(0, 40), min_size=4, max_size=4), st.integers(1, 5))
def test_counts_are_those_of_the_model(tmp_path: Path, numbers: list[int], passes: int) -> None:
    """The program's loops and the closed form that aspenpy has of them."""
    a, b, c, d = numbers
    body = f"iterate i [{passes}] {{ execute [i + {a}] {{ messages [{b}*i + {c}] }} if (i > {d}) {{ call k(i) }} }}"
    run = sent(tmp_path, body, kernels="kernel k(param m) { iterate [m] { execute { messages [m] } } }")
    assert run.own == run.model


# -- parameters ------------------------------------------------------------------------------------

SIZED = "param word = 8 param n = 10 in 1 .. 100 param doubled = 2*n"


@pytest.mark.parametrize(
    ("arguments", "volume"),
    [
        ((), 2 * 10 * 8),
        (("--n", "7"), 2 * 7 * 8),
        (("--n", "7", "--word", "4"), 2 * 7 * 4),
        (("--doubled", "1e3"), 8000),
    ],
)
def test_parameters_are_set(tmp_path: Path, arguments: tuple[str, ...], volume: int) -> None:
    run = sent(tmp_path, "execute { messages [doubled] of size [word] }", *arguments, declarations=SIZED)
    assert run.own == run.model == Sent(1, volume)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--m", "7"), "--m: there is no such parameter; --help lists those that matter here"),
        (("--n",), "--n: expected a number behind it"),
        (("--n", "7x"), "--n: expected a number behind it"),
        (("--n", "nan"), "--n: expected a number behind it"),
        (("--n", "-7"), "<text>:1: a count or a number of bytes is negative, too large, or has no value"),
        (("--n", "0"), "<text>:1: the condition cannot be decided: an expression in it has no value"),
        (("--n", "1e10"), "<text>:1: a message is longer than the 2147483647 bytes that MPI can count"),
    ],
)
def test_mistakes_of_who_runs_it(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    model = application("if (1/n < 2) { execute { messages [doubled] } }", SIZED)
    run = started(built(Skeleton(model).code, tmp_path), *arguments)
    assert (run.returncode, run.stderr.strip()) == (2, said)


def test_help(tmp_path: Path) -> None:
    model = application("execute { messages [doubled] }", SIZED)
    run = started(built(Skeleton(model).code, tmp_path), "--help")
    assert run.stdout.splitlines()[2:] == ["  --n  10, in 1 .. 100", "  --doubled  2*n"]


def test_settings_stay_settable(tmp_path: Path) -> None:
    model = application("execute { messages [doubled] }", SIZED)
    assert Skeleton(model, set={"n": "word + 1"}).totals == (1, 18)
    run = ran(Skeleton(model, set={"n": "word + 1"}).code, tmp_path, "--word", "3")
    assert run.own == Sent(1, 8)


NAMES = "errno NULL param index printf stdin main double EOF MPI_Send y0 select site passes t1 aspen_stop _x".split()


def test_names_that_c_has_taken(tmp_path: Path) -> None:
    """As parameters, arguments, counters and kernels; `param` itself is a word of both languages."""
    free = [name for name in NAMES if name != "param"]
    declarations = " ".join(f"param {name} = {place}" for place, name in enumerate(free))
    kernels = " ".join(f"kernel k{name}(param {name}) {{ execute {{ messages [{name}] }} }}" for name in free)
    calls = " ".join(f"call k{name}({name} + 1)" for name in free)
    loops = " ".join(f"iterate {name} [2] {{ execute {{ messages [{name}] }} }}" for name in free)
    run = sent(tmp_path, f"{calls} {loops}", declarations=declarations, kernels=kernels)
    count = len(free)
    assert run.own == Sent(3 * count, count * (count + 1) // 2 + count)


def test_labels_do_not_end_comments(tmp_path: Path) -> None:
    run = sent(tmp_path, 'execute "a */ b /* c ??/ d" { messages [3] } execute "/*/ end" { flops [1] }')
    assert run.own == Sent(1, 3)


def test_models_a_kernel_imports_for_itself(tmp_path: Path) -> None:
    """The arguments of the kernel decide the parameters of what it imports: 3 + 1, then 5 + 1 bytes."""
    (tmp_path / "inner.aspen").write_text(
        "model inner { param n = 1 param more = n + 1 kernel main { execute { messages [more] } } }", encoding="utf-8"
    )
    (tmp_path / "outer.aspen").write_text(
        'model outer { kernel k(param m) { import inner from "inner.aspen" with n = m call inner.main } '
        "kernel main { call k(3) call k(5) } }",
        encoding="utf-8",
    )
    skeleton = Skeleton(aspenpy.load_application(tmp_path / "outer.aspen"))
    run = ran(skeleton.code, tmp_path)
    assert run.own == run.below == run.model == Sent(2, 10)


# -- kinds of exchanges ----------------------------------------------------------------------------

KINDS = [
    ("", 1),
    ("as shift(2)", 1),
    ("as shift(-1)", 1),
    ("as halo(1)", 2),
    ("as halo(3)", 6),
    ("as halo(3, 4)", 4),
    ("as halo(2, 3, 2)", 6),
    ('as halo("all_ports", 2)', 4),
    ("as allreduce", 1),
    ("as reduce", 1),
    ("as broadcast", 1),
    ("as allgather", 1),
    ("as reduce_scatter", 1),
    ("as alltoall", 1),
    ('as allreduce("ring")', 1),
    ('as allreduce("mpi")', 1),
]


def exchanging(traits: str) -> str:
    """12 instances with 100 bytes each, three times."""
    return f"iterate [3] {{ execute [12] {{ messages [100] {traits} }} }}"


@pytest.mark.parametrize(("traits", "messages"), KINDS)
def test_kinds_in_one_process(tmp_path: Path, traits: str, messages: int) -> None:
    run = sent(tmp_path, exchanging(traits))
    assert run.own == run.model == Sent(3 * 12 * messages, 3 * 12 * 100)


@needs_mpi
@pytest.mark.parametrize("processes", [2, 3, 4])
def test_kinds_in_several_processes(tmp_path: Path, processes: int) -> None:
    """All kinds in one program: 14 instances fill up some rounds only in part. The grid of 7 x 2 x 1 has no neighbours
    along its last dimension: two messages fewer, and two thirds of the bytes."""
    grids = {"as halo(3, 4)": "as halo(2, 7)", "as halo(2, 3, 2)": "as halo(7, 1 + 1, 1)"}
    body = " ".join(exchanging(grids.get(traits, traits)).replace("[12]", "[14]") for traits, _ in KINDS)
    run = sent(tmp_path, body, processes=processes)
    assert run.processes == processes
    messages = sum(count for _, count in KINDS) - 2
    assert run.own == run.model == Sent(3 * 14 * messages, 3 * 14 * 100 * (len(KINDS) - 1) + 3 * 14 * 200 / 3)


@pytest.mark.parametrize("grid", [(3, 2), (2, 3), (3, 2, 4), (1, 4, 2)], ids=str)
def test_the_shape_of_a_grid(grid: tuple[int, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whom each process of a grid sends to: those one further along each dimension, around its ends, the last
    dimension the fastest; along a dimension of one rank, nobody."""
    places = [*product(*map(range, grid))]
    shape = ", ".join(map(str, grid))
    program = built(
        Skeleton(application(f"execute [{len(places)}] {{ messages [24] as halo({shape}) }}")).code, tmp_path
    )
    monkeypatch.setenv("STUB_SIZE", str(len(places)))
    for rank, place in enumerate(places):
        monkeypatch.setenv("STUB_RANK", str(rank))
        beside = [
            places.index((*place[:axis], (place[axis] + step) % grid[axis], *place[axis + 1 :]))
            for axis in range(len(grid))
            if grid[axis] > 1
            for step in (1, -1)
        ]
        run = started(program)
        assert sorted(map(int, re.findall(r"^to (\d+),", run.stderr, re.MULTILINE))) == sorted(beside)


@pytest.mark.parametrize("ends", [False, True], ids=["periodic", "open"])
@pytest.mark.parametrize("grid", [(4,), (3, 2), (2, 3), (3, 2, 3), (1, 4, 2)], ids=str)
def test_faces_of_a_grid(grid: tuple[int, ...], ends: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whom each process sends how much to: two faces of 10 times their proportion along each dimension, and nothing
    beyond the ends of a grid that has some, nor along a dimension of one rank. All together send what the model has."""
    places, own = [*product(*map(range, grid))], (5, 2, 1)[: len(grid)]
    shape = ", ".join([*(['"open"'] if ends else []), *(map(str, grid) if grid[1:] else "1")])
    asked = f"messages [{20 * sum(own)}] as halo({shape}), faces({', '.join(map(str, own))})"
    skeleton = Skeleton(application(f"execute [{len(places)}] {{ {asked} }}"))
    program = built(skeleton.code, tmp_path)
    monkeypatch.setenv("STUB_SIZE", str(len(places)))
    everything = []
    for rank, place in enumerate(places):
        monkeypatch.setenv("STUB_RANK", str(rank))
        beside = [
            (places.index((*place[:axis], (place[axis] + step) % length, *place[axis + 1 :])), 10 * face)
            for axis, (length, face) in enumerate(zip(grid, own, strict=True))
            if length > 1
            for step in (1, -1)
            if not ends or 0 <= place[axis] + step < length
        ]
        told = re.findall(r"^to (\d+), (\d+) bytes$", started(program).stderr, re.MULTILINE)
        assert sorted((int(to), int(size)) for to, size in told) == sorted(beside)
        everything += beside
    assert skeleton.totals == (len(everything), sum(size for _, size in everything))


@pytest.mark.parametrize("processes", [0, *(pytest.param(count, marks=needs_mpi) for count in (3, 12))])
def test_faces_by_turns(processes: int, tmp_path: Path) -> None:
    """Twelve instances in 3 x 4, of 30 and 10 bytes a face: 2 * 2 * 4 messages across and 2 * 3 * 3 along."""
    run = sent(tmp_path, 'execute [12] { messages [80] as halo("open", 3, 4), faces(3, 1) }', processes=processes)
    assert run.own == run.model == Sent(16 + 18, 16 * 30 + 18 * 10)


def test_faces_of_a_number_of_dimensions(tmp_path: Path) -> None:
    """Of a grid that MPI finds; here five in a row."""
    run = sent(tmp_path, 'execute [5] { messages [40] as halo("open", 1) }')
    assert run.own == run.model == Sent(2 * 4, 2 * 4 * 20)


@pytest.mark.parametrize(
    ("instances", "halo", "messages", "volume"),
    [
        (1, "halo(1)", 0, 0),
        (1, "halo(3)", 0, 0),
        (1, "halo(1, 1)", 0, 0),
        (2, "halo(1)", 2 * 2, 2 * 24),
        (3, "halo(3, 1)", 3 * 2, 3 * 12),  # half of the volume is for the other dimension
        (4, "halo(1, 4, 1)", 4 * 2, 4 * 8),
        (4, "halo(2, 2)", 4 * 4, 4 * 24),
        (4, "halo(n, m)", 4 * 2, 4 * 12),
    ],
)
@pytest.mark.parametrize("processes", [0, pytest.param(4, marks=needs_mpi)])
def test_who_has_no_neighbours(
    instances: int, halo: str, messages: int, volume: int, processes: int, tmp_path: Path
) -> None:
    body = f"execute [{instances}] {{ messages [24] as {halo} }}"
    run = sent(tmp_path, body, processes=processes, declarations="param n = 4 param m = 1")
    assert run.own == run.model == Sent(messages, volume)


@needs_mpi
def test_a_grid_that_is_flat_with_all_its_ranks(tmp_path: Path) -> None:
    """Three ranks have no grid of two dimensions: each sends to its two neighbours, and the model has four."""
    run = sent(tmp_path, "execute [3] { messages [24] as halo(2) }", processes=4)
    assert (run.own, run.model) == (Sent(3 * 2, 3 * 12), Sent(3 * 4, 3 * 24))


def test_a_grid_of_other_ranks(tmp_path: Path) -> None:
    skeleton = Skeleton(application("execute [12] { messages [24] as halo(3, 5) }"))
    run = started(built(skeleton.code, tmp_path))
    said = "<text>:1: the product of a halo's grid must be the number of ranks of its block"
    assert (run.returncode, run.stderr.strip()) == (2, said)


@pytest.mark.parametrize("processes", [0, pytest.param(3, marks=needs_mpi)])
def test_barriers(tmp_path: Path, processes: int) -> None:
    """Those of four instances in rounds of all processes, and one before the clock starts."""
    skeleton = Skeleton(application("execute [4] { messages [0] as barrier }"))
    run = ran(skeleton.code, tmp_path, processes=processes)
    assert run.own == run.model == Sent(4, 0)
    assert run.barriers == 4 + max(processes, 1)


@pytest.mark.parametrize("processes", [0, pytest.param(4, marks=needs_mpi)])
def test_a_sum_among_groups(tmp_path: Path, processes: int) -> None:
    """Pairs of eight instances: a call and 80 bytes from each."""
    skeleton = Skeleton(application("execute [8] { messages [80] as allreduce(2) }"))
    run = ran(skeleton.code, tmp_path, processes=processes)
    assert run.own == run.model == Sent(8, 640)


@needs_mpi
@pytest.mark.parametrize("trait", ["allreduce", "reduce", "reduce_scatter", "broadcast", "allgather", "alltoall"])
def test_groups_of_ranks_that_are_apart(tmp_path: Path, trait: str) -> None:
    """Of four ranks groups of two that are two apart, 0 with 2 and 1 with 3: a call of 80 bytes from each."""
    skeleton = Skeleton(application(f"execute [4] {{ messages [80] as {trait}(2, 2) }}"))
    run = ran(skeleton.code, tmp_path, processes=4)
    assert run.own == run.below == run.model == Sent(4, 320)


COLOURS = """
#include <limits.h>
#include <stdio.h>
typedef int MPI_Comm;
static struct { long long rank; } aspen_process;
static int aspen_dimensions(double value, int low, int high, const char *place)
{ return value >= low && value <= high && place ? (int)value : -1; }
static void aspen_check(int code, const char *place) { (void)code; (void)place; }
static int MPI_Comm_split(MPI_Comm group, int colour, int key, MPI_Comm *part) { *part = colour; return group + key; }
HELPER
int main(void)
{ for (; aspen_process.rank < 12; aspen_process.rank++) printf("%d ", aspen_among(99, AMONG, STEP, "")); }
"""


@pytest.mark.parametrize(
    ("among", "step", "groups"),
    [
        (3, 2, [[0, 2, 4], [1, 3, 5], [6, 8, 10], [7, 9, 11]]),
        (4, 1, [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]),
        (2, 6, [[0, 6], [1, 7], [2, 8], [3, 9], [4, 10], [5, 11]]),
        (0, 1, [[*range(12)]]),
    ],
)
def test_who_is_in_a_group(among: int, step: int, groups: list[list[int]], tmp_path: Path) -> None:
    """The groups that twelve ranks are split into, by their colours."""
    text = COLOURS.replace("HELPER", mpi_helpers()["aspen_among"])
    program = tmp_path / "colours.c"
    program.write_text(text.replace("AMONG", str(among)).replace("STEP", str(step)), encoding="utf-8")
    subprocess.run(["gcc", "-o", str(tmp_path / "colours"), str(program)], check=True)
    colours = subprocess.run([str(tmp_path / "colours")], capture_output=True, text=True, check=True).stdout.split()
    found: dict[str, list[int]] = {}
    for rank, colour in enumerate(colours):
        found.setdefault(colour, []).append(rank)
    assert [*found.values()] == groups


# -- the library -----------------------------------------------------------------------------------


SMALL = {
    "allreduce_training": {"ranks": 8, "tensor": 2, "hidden": 64, "layers": 2, "sequence": 64},
    "fft3d": {"ranks": 4, "n": 64},
    "fft1d": {"ranks": 8, "n": 2**16},
    "hpl": {"grid_rows": 2, "grid_columns": 2, "n": "8*block"},
    "matmul": {"ranks": 4},
    "transformer_training": {"ranks": 8, "tensor": 2, "layers": 2, "sequence": 64, "batch": 8},
}
"""As many ranks as the decomposition of an application takes, and little work."""


@pytest.mark.parametrize("name", APPLICATIONS if THOROUGH else APPLICATIONS[::3])
def test_library_is_built(name: str, tmp_path: Path) -> None:
    """Every application's program (by default every third one's) compiles, and sends what the model says as near as
    whole bytes and passes can."""
    code = Skeleton(aspenpy.load_application(name), set=SMALL.get(name, {"ranks": 8})).code
    run = ran(code, tmp_path, *(("--steps", "10") if "param.steps" in code else ()))
    # a barrier is a message to the model, and none below; one more stands before the clock starts
    assert run.own == Sent(run.below.messages + run.barriers - 1, run.below.bytes)
    assert run.own.messages == pytest.approx(run.model.messages, abs=1)
    assert run.own.bytes == pytest.approx(run.model.bytes, rel=1e-3)
    assert run.own.messages > 0


@needs_mpi
@pytest.mark.parametrize(("name", "processes"), [*zip(APPLICATIONS, cycle((2, 3, 4)))])
def test_library_on_real_ranks(name: str, processes: int, tmp_path: Path) -> None:
    """What the layer between the program and MPI has counted is what the model says, however many take turns."""
    code = Skeleton(aspenpy.load_application(name), set=SMALL.get(name, {"ranks": 8})).code
    run = ran(code, tmp_path, *(("--steps", "10") if "param.steps" in code else ()), processes=processes)
    assert run.processes == processes
    assert run.own == Sent(run.below.messages + run.barriers - processes, run.below.bytes)
    assert run.own.messages == pytest.approx(run.model.messages, abs=1)
    assert run.own.bytes == pytest.approx(run.model.bytes, rel=1e-3)


@needs_mpi
def test_jacobi_in_four_processes(tmp_path: Path) -> None:
    """100 iterations, 4 ranks, 4 sides of 500 numbers; 10 sums of one number, a message of each rank. Eight bytes
    each."""
    code = Skeleton(aspenpy.load_application("jacobi"), set={"ranks": 4}).code
    run = ran(code, tmp_path, processes=4)
    assert run.own == run.below == run.model == Sent(100 * 4 * 4 + 10 * 4, 8 * (100 * 4 * 4 * 500 + 10 * 4))


# -- waiting ---------------------------------------------------------------------------------------


def test_waiting_takes_as_long_as_the_model_says(tmp_path: Path) -> None:
    """0.05 s of flops before the message of a block, 4 times 0.01 s in a loop, 0.02 s in a kernel, 0.04 s of it
    twice: 0.15 s. The message of one byte waits for nobody."""
    kernels = "kernel quiet(param s) { execute { flops [s/100] } }"
    loops = "iterate [4] { call quiet(1) } call quiet(2) iterate [2] { call quiet(2) }"
    model = application(f"execute {{ flops [0.05] messages [1] }} {loops}", kernels=kernels)
    code = Skeleton(model, machine=machine(), spin=True).code
    run = ran(code, tmp_path)
    assert run.own == Sent(1, 1)
    assert 0.15 <= run.seconds < 0.25
    assert ran(Skeleton(model).code, tmp_path).seconds < 0.05


DEVICES = """
machine devices { node [2] box interconnect [2] net }
node box { socket [2] gpu }
socket gpu { property rank core [10] sm }
core sm { resource flops(n) [n] }
interconnect net { resource messages(n) [n/1e9] }
"""


def test_waiting_is_for_the_cores_that_a_rank_has(tmp_path: Path) -> None:
    """1 s of flops in ten parts on the ten cores of a device; on one core all of it."""
    model = application("execute [1] of [10] { flops [1] } execute [1] { messages [1] }")
    assert 0.1 <= ran(Skeleton(model, machine=machine(DEVICES), spin=True).code, tmp_path).seconds < 0.2
    on_cores = Skeleton(model, machine=machine(DEVICES), spin=True, ranks_on="core")
    assert 1 <= ran(on_cores.code, tmp_path).seconds < 1.2


# -- refused ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("execute { flops [1] }", "no-messages"),
        ("execute { messages [1] as reduce, allreduce }", "two-exchanges"),
        ("execute { messages [1] as halo }", "trait-argument"),
        ("execute { messages [1] as barrier(3) }", "trait-argument"),
        ("execute { messages [1] as allgather(2, 2, 2) }", "trait-argument"),
        ('execute { messages [1] as shift("far") }', "trait-argument"),
        ("execute { messages [1] as halo(2), faces(1) }", "trait-argument"),
        ('execute { messages [1] as halo("open", n) }', "trait-argument"),
        ("sample s from uniform(1, 2) execute { messages [s] }", "not-in-c"),
        ("execute { messages [unknown] }", "unknown-name"),
    ],
)
def test_refused(body: str, code: str) -> None:
    with pytest.raises(AspenError) as caught:
        _ = Skeleton(application(body)).code
    assert codes(caught.value) == [code]
    assert caught.value.diagnostics[0].span is not None


def test_waiting_needs_a_machine() -> None:
    with pytest.raises(AspenError, match="how long to wait only a machine can say"):
        Skeleton(application("execute { messages [1] }"), spin=True)


def test_a_trait_that_was_perhaps_meant() -> None:
    (doubt,) = Skeleton(application("execute { messages [1] as alreduce, dp }")).diagnostics
    assert (doubt.code, doubt.severity, doubt.hint) == (
        "unknown-exchange",
        "warning",
        "did you mean `allreduce` or `reduce`?",
    )


def test_a_machine_gives_names() -> None:
    """Names that nobody needs may be without a value: that of a block that sends nothing."""
    model = application("execute { messages [line] flops [unknown] }")
    assert isinstance(model, Application)
    lined = machine("param line = 64 " + "machine m { node n } node n { resource messages(x) [x] }")
    assert Skeleton(model, machine=lined).totals == (1, 64)
    assert "1.0, 64.0, 1.0" in Skeleton(model, machine=lined).code
