"""The commands: pages, objects and rows for the models of `tests/cli/conftest.py`, and what is refused.

One pass of axpy takes 1.2 us (its loads and stores, which conflict), ten of them 12 us, the message 3 us.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from aspenpy.answers import paths
from tests.cli.conftest import Runner
from tests.thorough import slow, some

ON = ("axpy.aspen", "--machine", "cluster.aspen")


def said(run: Runner, *arguments: str) -> str:
    outcome = run(*arguments)
    assert (outcome.status, outcome.err) == (0, "")
    return outcome.out


def told(run: Runner, *arguments: str) -> Any:
    return json.loads(said(run, *arguments, "--format", "json"))


# -- profile ---------------------------------------------------------------------------------------

PROFILE = """\
axpy on Cluster: main takes 15 us

 share  cumulative  exclusive  inclusive  calls  exclusive/call  inclusive/call  bound by  kernel
──────  ──────────  ─────────  ─────────  ─────  ──────────────  ──────────────  ────────  ──────
80.0 %      80.0 %      12 us      12 us     10          1.2 us          1.2 us  loads     axpy
20.0 %     100.0 %       3 us      15 us      1            3 us           15 us  messages  main

main
       calls   time  of runtime  kernel
       ─────  ─────  ──────────  ─────────────────
  all      1  15 us     100.0 %  main
  own      1   3 us      20.0 %  in its own blocks
  to      10  12 us      80.0 %  axpy

axpy
        calls   time  of runtime  kernel
        ─────  ─────  ──────────  ─────────────────
  from     10  12 us      80.0 %  main
  all      10  12 us      80.0 %  axpy
  own      10  12 us      80.0 %  in its own blocks
"""


def test_profile(run: Runner) -> None:
    assert said(run, "profile", *ON, "--graph") == PROFILE
    assert said(run, "profile", *ON) == PROFILE[: PROFILE.index("\nmain\n")]


def test_profile_as_data(run: Runner) -> None:
    found = told(run, "profile", *ON)
    assert found["runtime"] == {"value": pytest.approx(15e-6), "unit": "s"}
    assert found["calls"] == [
        {"caller": "main", "callee": "axpy", "arguments": [], "calls": 10, "time": pytest.approx(12e-6)}
    ]
    rows = [line.split(",") for line in said(run, "profile", *ON, "--graph", "--format", "csv").splitlines()]
    head = "kind caller kernel arguments calls inclusive inclusive_unit exclusive exclusive_unit share bound_by"
    assert rows[0] == head.split()
    assert [row[6:9:2] for row in rows[1:]] == [["s", "s"], ["s", "s"], ["s", ""]]
    assert [row[:3] for row in rows[1:]] == [["kernel", "", "main"], ["kernel", "", "axpy"], ["call", "main", "axpy"]]


def test_speedscope(run: Runner) -> None:
    """What the file format asks for: frames by number, a weight a sample, times that add up."""
    found = json.loads(said(run, "profile", *ON, "--format", "speedscope"))
    assert found["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    assert found["shared"] == {"frames": [{"name": "main"}, {"name": "axpy"}]}
    (profile,) = found["profiles"]
    assert (profile["type"], profile["unit"], profile["startValue"]) == ("sampled", "seconds", 0)
    assert profile["samples"] == [[0], [0, 1]]
    assert profile["weights"] == pytest.approx([3e-6, 12e-6])
    assert profile["endValue"] == sum(profile["weights"])


def test_arguments_tell_calls_apart(run: Runner, models: Path) -> None:
    (models / "calls.aspen").write_text(
        "model calls { param n = 4 kernel main { call work(n/2, 1) call work(n, 1) call work(n/2, 1) }"
        " kernel work(param m, param k) { execute { loads [m*k*1e9] } } }",
        encoding="utf-8",
    )
    found = told(run, "profile", "calls.aspen", "--machine", "cluster.aspen")
    assert [(arc["arguments"], arc["calls"], arc["time"]) for arc in found["calls"]] == [
        (["n/2", "1"], 2, pytest.approx(0.4)),
        (["n", "1"], 1, pytest.approx(0.4)),
    ]
    alone = ("--kernel", "work", "--set", "m=5", "--set", "k=2")
    assert "work takes 1 s" in said(run, "profile", "calls.aspen", "--machine", "cluster.aspen", *alone)


def test_branches_that_overlap(run: Runner, models: Path) -> None:
    """1 s of loads beside 3 s of messages take 3 s; each branch counts for its share of the 4 s in turn."""
    (models / "both.aspen").write_text(
        'model both { kernel main { par "overlap" { call near call far } }'
        " kernel near { execute { loads [10e9] } } kernel far { execute { messages [3e9] } } }",
        encoding="utf-8",
    )
    found = told(run, "profile", "both.aspen", "--machine", "cluster.aspen")
    assert found["runtime"]["value"] == pytest.approx(3, rel=1e-5)
    assert [arc["time"] for arc in found["calls"]] == pytest.approx([3 / 4, 9 / 4], rel=1e-5)
    flames = json.loads(said(run, "profile", "both.aspen", "--machine", "cluster.aspen", "--format", "speedscope"))
    assert sorted(flames["profiles"][0]["weights"]) == pytest.approx([3 / 4, 9 / 4], rel=1e-5)


def test_kernels_that_take_no_time(run: Runner, models: Path) -> None:
    (models / "nothing.aspen").write_text("model nothing { kernel main { execute { flops [0] } } }", encoding="utf-8")
    assert "main takes 0 s" in said(run, "profile", "nothing.aspen", "--machine", "cluster.aspen", "--graph")


# -- pictures --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("suffix", "begins"), [(".svg", b"<?xml"), (".png", b"\x89PNG"), (".pdf", b"%PDF")])
def test_picture(run: Runner, models: Path, suffix: str, begins: bytes) -> None:
    pytest.importorskip("matplotlib", reason="the extra `plot` is not installed")
    said(run, "profile", *ON, "--picture", f"calls{suffix}")
    drawn = (models / f"calls{suffix}").read_bytes()
    assert drawn.startswith(begins)
    if suffix == ".svg":
        assert all(text in drawn for text in (b"80.0 %, own 80.0 %", b"10\xc3\x97", b"axpy on Cluster: 15 us"))


def test_a_picture_is_the_same_each_time(run: Runner, models: Path) -> None:
    pytest.importorskip("matplotlib", reason="the extra `plot` is not installed")
    for name in ("first.svg", "second.svg"):
        said(run, "profile", *ON, "--picture", name)
    assert (models / "first.svg").read_bytes() == (models / "second.svg").read_bytes()


def test_pictures_that_cannot_be_drawn(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = run("profile", *ON, "--picture", "calls.jpeg")
    message = "aspenpy: cannot draw `calls.jpeg`: the name of a picture ends with .svg, .png, .pdf\n"
    assert (outcome.status, outcome.err) == (2, message)
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    outcome = run("profile", *ON, "--picture", "calls.svg")
    assert outcome.err == "aspenpy: a picture needs matplotlib: pip install 'aspenpy[plot]'\n"


def test_picture_in_a_folder_that_is_not_there(run: Runner) -> None:
    pytest.importorskip("matplotlib", reason="the extra `plot` is not installed")
    outcome = run("profile", *ON, "--picture", "none/calls.svg")
    assert (outcome.status, outcome.err) == (2, "error: cannot write `none/calls.svg`: no such file or directory\n")


# -- count -----------------------------------------------------------------------------------------

COUNT = """\
axpy: what main asks for; 0.0833 flop/B

resource     amount
────────  ─────────
flops      20 kflop
loads     160 kB
stores     80 kB
messages    1 kB
bytes     240 kB

in their own blocks
  kernel  calls     flops   loads  stores  messages   bytes  flop/B
  ──────  ─────  ────────  ──────  ──────  ────────  ──────  ──────
  main        1                                1 kB
  axpy       10  20 kflop  160 kB   80 kB            240 kB  0.0833
"""

SOLVED = """\
axpy: main asks for 1e6 flop (flops) at n = 50000

Tried: n from 1 to 1e6, the range it declares; all real numbers.
"""

NOT_SOLVED = """\
axpy: main asks for 999999 flop (flops) at no whole n

comes closest
      n  flops [flop]  next n  flops [flop]
  ─────  ────────────  ──────  ────────────
  49999       999,980   50000     1,000,000

Tried: n from 1 to 1e6, the range it declares; whole numbers only.
"""


def test_count(run: Runner) -> None:
    assert said(run, "count", "axpy.aspen") == COUNT
    one = said(run, "count", "axpy.aspen", "--resource", "flops", "--traits", "dp")
    assert one.startswith("axpy: main asks for 20 kflop (flops as dp)\n")
    assert told(run, "count", "axpy.aspen", "--traits", "sp")["resources"]["flops"]["amount"] == 0


def test_count_as_data(run: Runner) -> None:
    found = told(run, "count", "axpy.aspen", "--set", "n=10^18")
    assert found["resources"]["loads"] == {"amount": 160 * 10**18, "unit": "B"}
    assert found["kernels"][1]["inclusive"]["bytes"] == 240 * 10**18
    assert found["intensity"] == pytest.approx(2 / 24)
    rows = said(run, "count", "axpy.aspen", "--resource", "flops", "--format", "csv")
    assert rows.splitlines() == [
        "kernel,resource,calls,inclusive,exclusive,unit",
        "main,flops,1,20000,0,flop",
        "axpy,flops,10,20000,20000,flop",
    ]


def test_solve(run: Runner) -> None:
    assert said(run, "count", "axpy.aspen", "--solve", "n", "--target", "1e6") == SOLVED
    whole = ("count", "axpy.aspen", "--solve", "n:whole", "--target", "999999")
    assert said(run, *whole) == NOT_SOLVED
    searched = ("count", "axpy.aspen", "--solve", "n=1..10^6:whole", "--target", "999999")
    found = told(run, *searched, "--resource", "bytes")
    assert found["leaps"] == [{"before": 4166, "amount_before": 999840, "behind": 4167, "amount_behind": 1000080}]
    met = said(run, "count", "axpy.aspen", "--solve", "n", "--target", "20*50", "--format", "csv")
    assert met == "parameter,from,to,resource,amount,unit\nn,50,50,flops,1000,flop\n"


OUT_OF_REACH = """\
error: no `n` from 1 to 1,000,000 makes `main` ask for 1e+30 flops
 --> axpy.aspen:3:9
3 |   param n = 1000 in 1 .. 1000000
  |         ^
  = hint: at the ends of that range it asks for 20 and 20,000,000; search another range
"""


@pytest.mark.parametrize(
    ("arguments", "report"),
    [
        (("--solve", "n", "--target", "1e30"), OUT_OF_REACH),
        (("--solve", "n"), "aspenpy: --solve and --target belong together: --solve n --target 1e12\n"),
        (
            ("--solve", "n=1..5:log", "--target", "5"),
            """\
error: `n=1..5:log` is no range to look for solutions in
 --> <--solve>:1:1
1 | n=1..5:log
  | ^^^^^^^^^^
  = hint: write NAME, NAME=LOW..HIGH or NAME=LOW..HIGH:whole
""",
        ),
        (("--resource", "flop"), "error: the kernel requests no `flop`\n  = hint: did you mean `flops`?\n"),
    ],
)
def test_count_refused(run: Runner, arguments: tuple[str, ...], report: str) -> None:
    assert run("count", "axpy.aspen", *arguments) == (2, "", report)


# -- memory ----------------------------------------------------------------------------------------

MEMORY = """\
axpy: main touches 8 kB

memory    Cluster/Node/Processor/Memory, 2 in all
capacity  not stated (property capacity)

kernel           inclusive  exclusive  own data
───────────────  ─────────  ─────────  ────────
main                  8 kB       0 B
axpy                  8 kB       8 kB  x
  "y = a*x + y"       8 kB       8 kB  x

data  size  loaded  stored
────  ────  ──────  ──────
x     8 kB  160 kB     0 B
"""

ARRAYS = """
model arrays {
  param n = 100
  data a [n]
  data b [10*n]
  data never [1000*n]
  kernel main {
    call copy(a, b)
    iterate i [4] { call copy(b, b)  call scratch(i) }
    if (n > 1000) { execute { loads [1] from never } }
    execute { loads [1] from a  stores [2] to ghost }
  }
  kernel copy(data x, data y) { execute { loads [n] from x  stores [n] to y } }
  kernel scratch(param m) { data heap [m*n] execute "fill" { stores [m*n] to heap } }
}
"""


def test_memory(run: Runner) -> None:
    assert said(run, "memory", *ON) == MEMORY


def test_arrays_of_calls_are_the_callers(run: Runner, models: Path) -> None:
    """copy touches a and b; the largest heap is that of the last pass, 3 n."""
    (models / "arrays.aspen").write_text(ARRAYS, encoding="utf-8")
    outcome = run("memory", "arrays.aspen", "--format", "json")
    found = json.loads(outcome.out)
    sizes = {use["name"]: (use["size"], use["loads"], use["stores"]) for use in found["data"]}
    assert sizes == {
        "a": (100, 101, 0),
        "b": (1000, 400, 500),
        "scratch.heap": (300, 0, 600),
        "ghost": (None, 0, 2),
    }
    regions = {(use["kernel"], *use["labels"]): (use["inclusive"], use["exclusive"]) for use in found["regions"]}
    assert regions == {
        ("main",): (1400, 100),
        ("copy",): (1100, 1100),
        ("scratch",): (300, 300),
        ("scratch", "fill"): (300, 300),
    }
    assert [item["code"] for item in found["diagnostics"]] == ["unknown-size"]


@pytest.mark.parametrize(("capacity", "fits"), [("1 kB", False), ("4 kB", True)])
def test_memory_against_capacity(run: Runner, models: Path, capacity: str, fits: bool) -> None:
    """Two memories hold 8 kB with 4 kB each."""
    text = (
        (models / "cluster.aspen")
        .read_text(encoding="utf-8")
        .replace("\nmemory Memory {", f"\nmemory Memory {{\n  property capacity [{capacity}]")
    )
    (models / "cluster.aspen").write_text(text, encoding="utf-8")
    outcome = run("memory", *ON, "--format", "json")
    found = json.loads(outcome.out)
    assert found["memory"]["fits"] is fits
    assert [item["code"] for item in found["diagnostics"]] == ([] if fits else ["exceeds-memory"])


# -- parallelism -----------------------------------------------------------------------------------

NESTED = """
model nested {
  kernel main {
    map i [10] {
      iterate j [i] {
        if (j < 3 and i != 9) { call work(i) }
      }
    }
  }
  kernel work(param m) { map [2] { execute [m*m + 1] { flops [1] } } }
}
"""


def test_parallelism(run: Runner, models: Path) -> None:
    """The last pass that gets there, i = 8, has 65 instances, in 2 passes of the inner map, in 10 of the outer one."""
    (models / "nested.aspen").write_text(NESTED, encoding="utf-8")
    (block,) = told(run, "parallelism", "nested.aspen")["blocks"]
    assert (block["path"], block["instances"], block["maps"]) == (["main", "work"], 65, 20)
    assert block["together"] == 65 * 20
    reached = [(i, j) for i in range(9) for j in range(min(i, 3))]
    assert block["executions"] == 2 * len(reached)
    assert block["mean"] == pytest.approx(20 * sum(i * i + 1 for i, _ in reached) / len(reached))


def test_parallelism_as_text(run: Runner) -> None:
    page = said(run, "parallelism", "axpy.aspen")
    assert page.startswith("axpy: main has up to 1,000 instances at once\n")
    assert '│   └── "y = a*x + y"      1,000     1     1,000                10\n' in page
    rows = said(run, "parallelism", "axpy.aspen", "--format", "csv").splitlines()
    assert rows[1] == "main/axpy,y = a*x + y,1000,1,1,1000,1000.0,10"


# -- trace -----------------------------------------------------------------------------------------

TRACE = """\
axpy on Cluster: what main does

begins    takes  step                                            asks for
──────  ───────  ──────────────────────────────────────────────  ──────────────────────────────────────────────
  0 s     15 us  main()
  0 s     12 us    iterate, 10 passes
  0 s    1.2 us      pass 1
  0 s    1.2 us        axpy()
  0 s    1.2 us          block "y = a*x + y" in 1,000 instances  flops 2 kflop, loads 16 kB from x, stores 8 kB
1.2 us  10.8 us      ... 9 more passes
 12 us     3 us    block                                         messages 1 kB

2 of 11 executions of blocks; --most shows more steps, --passes more passes of each loop.
"""


def test_trace(run: Runner) -> None:
    assert said(run, "trace", *ON, "--passes", "1") == TRACE


def test_trace_is_bounded(run: Runner) -> None:
    page = said(run, "trace", "axpy.aspen", "--most", "4")
    assert [line.rstrip() for line in page.splitlines()[4:8]] == [
        "main()",
        "  iterate, 10 passes",
        "    pass 1",
        "      axpy()",
    ]
    said_last = "The first 4 steps, with 0 of 11 executions of blocks; --most shows more steps, --passes more"
    assert said_last in page


def test_trace_of_choices(run: Runner, models: Path) -> None:
    (models / "ways.aspen").write_text(
        "model ways { kernel main { iterate i [2] {"
        " if (i == 1) { call work(i) } else { execute { flops [7] } }"
        " probability { [0.25] { execute { loads [4] } } } } par { execute { flops [1] } call work(5) } }"
        " kernel work(param m) { execute { flops [m] } } }",
        encoding="utf-8",
    )
    steps = told(run, "trace", "ways.aspen")["steps"]
    assert [(step["kind"], step["depth"], step["values"]) for step in steps] == [
        ("call", 0, {}),
        ("loop", 1, {"count": 2}),
        ("pass", 2, {"i": 0}),
        ("block", 3, {"instances": 1}),
        ("case", 3, {"probability": 0.25}),
        ("block", 4, {"instances": 1}),
        ("case", 3, {"probability": 0.75}),
        ("pass", 2, {"i": 1}),
        ("call", 3, {"m": 1}),
        ("block", 4, {"instances": 1}),
        ("case", 3, {"probability": 0.25}),
        ("block", 4, {"instances": 1}),
        ("case", 3, {"probability": 0.75}),
        ("par", 1, {}),
        ("block", 2, {"instances": 1}),
        ("call", 2, {"m": 5}),
        ("block", 3, {"instances": 1}),
    ]
    assert [step["demands"][0]["amount"] for step in steps if step["kind"] == "block"] == [7, 4, 1, 4, 1, 5]


def test_parallelism_that_is_drawn(run: Runner, models: Path) -> None:
    (models / "drawn.aspen").write_text(
        "model drawn { kernel main { iterate i [20000] {"
        " sample s from uniform(1, 3) execute [s] { flops [1] } } execute [2] { flops [1] } } }",
        encoding="utf-8",
    )
    assert said(run, "parallelism", "drawn.aspen").startswith("drawn: main has 2 instances or more at once\n")
    drawn, fixed = told(run, "parallelism", "drawn.aspen")["blocks"]
    assert (drawn["together"], fixed["together"]) == (None, 2)
    assert drawn["mean"] == pytest.approx(2, abs=0.05)


# -- more call paths than can be told apart --------------------------------------------------------


def layers(count: int) -> str:
    """Two kernels a layer, each of which calls both of the next: 2^count paths."""
    inner = " ".join(f"kernel {name}{i} {{ call a{i + 1} call b{i + 1} }}" for i in range(count) for name in "ab")
    last = f"kernel a{count} {{ execute {{ flops [1] }} }} kernel b{count} {{ execute {{ loads [1] from d }} }}"
    return f"model layers {{ data d [8] kernel main {{ call a0 call b0 }} {inner} {last} }}"


@slow
def test_too_many_paths(run: Runner, models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "MOST_VISITS", some(paths.MOST_VISITS, 2_000))
    (models / "layers.aspen").write_text(layers(24), encoding="utf-8")
    on = ("layers.aspen", "--machine", "cluster.aspen")
    assert told(run, "count", "layers.aspen")["kernels"][-1]["calls"] == 2**24
    assert told(run, "profile", *on)["kernels"][-1]["calls"] == 2**24
    assert len(told(run, "trace", *on, "--most", "50")["steps"]) == 50
    for command in (("profile", *on, "--format", "speedscope"), ("memory", *on), ("parallelism", *on)):
        outcome = run(*command)
        assert outcome.status == 2
        assert "too many paths" in outcome.err


# -- what is refused everywhere --------------------------------------------------------------------


@pytest.mark.parametrize("command", ["profile", "memory", "trace"])
def test_unknown_socket(run: Runner, command: str) -> None:
    outcome = run(command, *ON, "--socket", "Procesor")
    assert outcome.status == 2
    assert outcome.err.startswith("error: machine `Cluster` has no socket `Procesor`\n --> cluster.aspen:4:9\n")
    assert outcome.err.endswith("= hint: did you mean `Processor`?\n")


@pytest.mark.parametrize("command", ["profile", "count", "memory", "parallelism", "trace"])
def test_unknown_kernel_and_parameter(run: Runner, command: str) -> None:
    outcome = run(command, *ON, "--kernel", "mian")
    assert (outcome.status, outcome.err) == (2, "error: unknown kernel `mian`\n  = hint: did you mean `main`?\n")
    outcome = run(command, *ON, "--set", "nn=3")
    assert outcome.status == 2
    assert outcome.err.startswith("error: unknown parameter `nn`\n")


# -- amounts beyond floating point -----------------------------------------------------------------


def test_an_amount_beyond_floating_point_is_refused_at_its_requirement(run: Runner, tmp_path: Path) -> None:
    """4 (10^200)^2 flops; JSON has them digit by digit."""
    model = tmp_path / "big.aspen"
    model.write_text("model big {\n  kernel main { execute [4] { flops [(1e200)^2] as dp } }\n}\n", encoding="utf-8")
    outcome = run("count", str(model))
    assert outcome.status == 2
    assert "the amount of `flops` is too large for a floating-point number" in outcome.err
    assert f"{model}:2:" in outcome.err
    assert told(run, "count", str(model))["resources"]["flops"]["amount"] == 4 * 10**400
