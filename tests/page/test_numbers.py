"""The numbers of a page: its JavaScript under Node.js against exact arithmetic, and against what the commands print."""

import json
import math
import random
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

import aspenpy
from aspenpy.answers.case import Case
from aspenpy.answers.prediction import predict
from aspenpy.expr.evaluate import EvaluationError, evaluate_many
from aspenpy.language.diagnostics import AspenError
from aspenpy.page.what_if import WhatIf
from tests.thorough import slow, thorough

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="no Node.js on this machine")


@cache
def what_if(application, *machines, free=()):
    app = aspenpy.load_application(application)
    return WhatIf([Case(app, aspenpy.load_machine(name)) for name in machines], free)


def run(folder, page, points, which="all"):
    """The values at points of the first machine, NaN where there is none, and milliseconds of one evaluation."""
    (folder / "points.json").write_text(json.dumps(points), encoding="utf-8")
    script = folder / "page.js"
    lines = [
        "const points = JSON.parse(require('fs').readFileSync(process.argv[2]));",
        f"const values = points.map(machines[0].{which});",
        "const begin = process.hrtime.bigint();",
        f"points.slice(0, 100).forEach(machines[0].{which});",
        "const milliseconds = Number(process.hrtime.bigint() - begin) / 1e6 / Math.min(100, points.length);",
        "console.log(JSON.stringify([values, milliseconds]));",
    ]
    script.write_text('"use strict";\n' + page.script + "\n".join(lines), encoding="utf-8")
    done = subprocess.run(["node", script, folder / "points.json"], check=True, capture_output=True, text=True)
    rows, milliseconds = json.loads(done.stdout)
    return [[math.nan if value is None else value for value in row] for row in rows], milliseconds


def drawn(item, draws):
    """A value of a slider: at random, evenly or in equal ratios."""
    part = draws.random()
    exact = item.low * (item.high / item.low) ** part if item.log else item.low + (item.high - item.low) * part
    return float(round(exact)) if item.whole else exact


CASES = {
    "lulesh on haswell": ("headline", (), 4),
    "comd on haswell": ("headline", ("nx", "steps", "haswell_clock", "ddr4_2133_bandwidth"), 100),
    "stream on haswell": ("all", ("n", "haswell_clock", "ddr4_2133_bandwidth"), 60),
    "cache_triad on epyc_7763": ("headline", ("n",), 60),
}
"""What is computed, from which parameters (all by default), and at how many points, of which `slow` tries 1,000: exact
arithmetic on a large model takes a tenth of a second for each."""


@needs_node
@pytest.mark.parametrize(
    ("case", "count"),
    [
        *((case, count) for case, (_, _, count) in CASES.items()),
        *(pytest.param(case, 1000, marks=thorough if "lulesh" in case else slow) for case in CASES),
    ],
)
def test_random_points_agree_with_exact_arithmetic(tmp_path, case, count):
    """To 1e-12, and where exact arithmetic has no value, the page has none."""
    which, free, _ = CASES[case]
    page = what_if(*case.split(" on "), free=free)
    inputs, draws, numbers = page.inputs_on(0), random.Random(case), page.machines[0].numbers
    points = [[drawn(item, draws) for item in inputs] for _ in range(count)]
    exprs = numbers.exprs if which == "all" else page.machines[0].headline
    formulas = numbers.prediction.scope.formulas(exprs, numbers.names)
    rows, _ = run(tmp_path, page, points, which)
    without = 0
    for point, row in zip(points, rows, strict=True):
        exact = [int(value) if value.is_integer() else value for value in point]
        try:
            values = evaluate_many(formulas, dict(zip(numbers.symbols, exact, strict=True)))
        except EvaluationError:
            assert any(map(math.isnan, row)), point
            without += 1
            continue
        assert row == pytest.approx([float(value) for value in values], rel=1e-12, abs=0), point
    assert without < count / 2 or not free


@needs_node
def test_an_evaluation_of_lulesh_is_fast(tmp_path):
    """All numbers for one position of the sliders: the page has 16 ms for that, for drawing and for a curve."""
    page = what_if("lulesh", "haswell")
    _, milliseconds = run(tmp_path, page, [[item.value for item in page.inputs_on(0)]] * 100)
    assert milliseconds < 8


@needs_node
@pytest.mark.parametrize("machine", ["haswell", pytest.param("frontera", marks=slow)])
def test_at_the_values_of_the_model_a_page_says_what_the_commands_say(tmp_path, machine):
    page = what_if("lulesh", machine)
    prediction = predict(aspenpy.load_application("lulesh"), aspenpy.load_machine(machine))
    ((row,), _) = run(tmp_path, page, [[item.value for item in page.inputs_on(0)]])
    facts = page.facts["machines"][0]
    assert row[facts["runtime"]["value"]] == pytest.approx(prediction.runtime, rel=1e-12)
    joules = aspenpy.energy(prediction.application, prediction.machine)
    assert row[facts["energy"]["value"]] == pytest.approx(joules.value, rel=1e-12)
    for use, kernel in zip(prediction.kernels, facts["kernels"], strict=True):
        times = [row[kernel[name]] for name in ("calls", "inclusive", "exclusive")]
        assert times == pytest.approx([use.calls, use.inclusive, use.exclusive], rel=1e-12)
    roofline = aspenpy.roofline(prediction.machine, [prediction.application])
    roofs = {roof["name"]: row[roof["all"]] for roof in facts["roofs"] if roof["kind"] == "memory"}
    assert sorted(roofs.values()) == pytest.approx(sorted(ceiling.rate for ceiling in roofline.bandwidths), rel=1e-12)
    top = max(ceiling.rate for ceiling in roofline.compute)
    assert max(row[roof["all"]] for roof in facts["roofs"] if roof["kind"] == "compute") == pytest.approx(
        top, rel=1e-12
    )


def test_free_parameters_with_ranges_and_units():
    page = what_if("lulesh", "haswell", free=("edge_elements", "haswell_clock", "real"))
    edge, real, clock = page.inputs
    assert (edge.value, edge.low, edge.high, edge.log, edge.whole, edge.unit) == (30, 2, 1000, True, True, "")
    assert (real.value, real.low, real.high, real.unit) == (8, 1, 800, "B")
    assert (clock.machine, clock.low, clock.high, clock.log, clock.unit) == (0, 1.2e9, 3.5e9, False, "Hz")
    assert edge.place.where == "apps/lulesh.aspen:18"
    assert "param edge_elements = 30" in edge.place.line


@pytest.mark.parametrize(("value", "ends"), [("0", (0, 10)), ("-3", (-6, 0)), ("0.5", (0.005, 50)), ("8", (1, 800))])
def test_a_number_without_a_range_can_be_moved_to_both_sides(tmp_path, value, ends):
    """From nothing to twice a negative number; by 100 around a positive one, if whole from 1 on."""
    text = f"model m {{ param s = {value} kernel main {{ execute {{ flops [10 + s] }} }} }}"
    (tmp_path / "m.aspen").write_text(text, encoding="utf-8")
    (found,) = what_if(str(tmp_path / "m.aspen"), "haswell", free=("s",)).inputs
    assert (found.low, found.high) == pytest.approx(ends)


def test_an_enum_is_a_list_of_its_members():
    (klass,) = what_if("cg", "haswell", free=("class",)).inputs
    assert klass.choices == ("S", "W", "A", "B", "C", "D", "E")
    assert (klass.value, klass.low, klass.high, klass.whole, klass.log) == (2, 0, 6, True, False)


@needs_node
@pytest.mark.parametrize(("micro_batch", "ranks"), [(1, 8), (2, 4)])
def test_the_memory_of_a_device_is_that_of_the_commands(tmp_path, micro_batch, ranks):
    """Each component of a rank's memory, and the capacity; the ranks of a device share it with nobody."""
    fixed = {**aspenpy.read_network("llama3_8b"), "sequence": 8192, "h100_boards": 8, "batch": 64}
    app, machine = aspenpy.load_application("transformer_training"), aspenpy.load_machine("h100")
    page = WhatIf([Case(app, machine, set={**fixed, "ranks": 8})], ("micro_batch", "ranks"))
    ((row,), _) = run(tmp_path, page, [[micro_batch, ranks]])
    facts = page.facts["machines"][0]["memory"]
    found = {part["name"]: row[part["size"]] for part in facts["data"]}
    use = aspenpy.memory(app, machine, set={**fixed, "micro_batch": micro_batch, "ranks": ranks})
    assert found == pytest.approx({name: float(item.size) / ranks for name, item in use.data.items()}, rel=1e-12)
    assert (facts["shared"], row[facts["capacity"]]) == (False, 80e9)
    assert sum(found.values()) == pytest.approx(float(use.capacity.fullest), rel=1e-12)


def test_no_memory_is_shown_without_sizes_or_capacity():
    app = aspenpy.parse("model m { param n = 8 data a [8*n] kernel main { execute { loads [8*n] from a } } }")
    stated = "memory d { %s resource loads(x) [x/1e9] }"
    rest = "machine h { socket [2] s } socket s { core [1] c memory d } core c { resource flops(x) [x] }"
    memories = []
    for capacity in ("", "property capacity [1 KiB]"):
        machine = aspenpy.parse(f"{rest} {stated % capacity}")
        memories.append(WhatIf([Case(app, machine)]).facts["machines"][0]["memory"])
    assert memories[0] is None
    assert memories[1]["shared"]
    assert [part["name"] for part in memories[1]["data"]] == ["a"]


@needs_node
def test_the_roof_of_what_runs_is_that_of_one_core(tmp_path):
    """One rank of LULESH: 1 of 128 cores at 3.5 GHz with 32 flops each, and 1 of 16 memories."""
    page = what_if("lulesh", "haswell")
    ((row,), _) = run(tmp_path, page, [[item.value for item in page.inputs_on(0)]])
    top = max(
        (roof for roof in page.facts["machines"][0]["roofs"] if roof["kind"] == "compute"),
        key=lambda roof: row[roof["all"]],
    )
    assert row[top["all"]] == pytest.approx(128 * row[top["used"]], rel=1e-12)
    (memory,) = (roof for roof in page.facts["machines"][0]["roofs"] if roof["name"] == "ddr4_2133")
    assert row[memory["used"]] == pytest.approx(68e9, rel=1e-12)


def test_a_file_too_large_for_a_mail_says_how_to_make_it_smaller(monkeypatch):
    page = what_if("stream", "haswell", "haswell", free=("n", "haswell_clock"))
    assert page.too_large is None
    monkeypatch.setattr("aspenpy.page.what_if.MOST_BYTES", 10_000)
    told = page.too_large
    assert "more than the 10 kB that mail takes easily" in told.message
    assert "fewer machines, or with --free fewer parameters" in told.hint


def test_each_machine_has_its_own_parameters():
    page = what_if("stream", "haswell", "haswell", free=("n", "haswell_clock"))
    assert [(item.name, item.machine) for item in page.inputs] == [
        ("n", None),
        ("haswell_clock", 0),
        ("haswell_clock", 1),
    ]
    assert [machine["inputs"] for machine in page.facts["machines"]] == [[0, 1], [0, 2]]


@pytest.mark.parametrize(
    ("free", "message"),
    [("edge_element", "unknown parameter `edge_element`"), ("part_sums", "`part_sums` is an array")],
)
def test_what_cannot_be_free(free, message):
    with pytest.raises(AspenError, match=message):
        what_if("lulesh", "haswell", free=(free,))


def test_the_sockets_of_one_machine_are_named_in_the_title():
    triad, keeneland = aspenpy.load_application("stream"), aspenpy.load_machine("keeneland")
    cases = [Case(triad, keeneland, socket=socket) for socket in ("intel_xeon_x5660", "nvidia_m2090")]
    page = WhatIf(cases, ["n"])
    assert page.title == "stream on keeneland/intel_xeon_x5660 and keeneland/nvidia_m2090"
    assert what_if("stream", "haswell", "haswell").title == "stream on haswell and haswell"


def test_the_component_without_power_is_named():
    machine = aspenpy.load_machine(
        "machine alone { node [2] box  interconnect [2] wire } node box { socket chip } "
        "socket chip { core lane  static power [1 W]  dynamic power [9 W] } core lane { resource flops(n) [n/giga] } "
        "interconnect wire { resource messages(n) [n/giga] }"
    )
    talk = aspenpy.load_application("model talk { kernel main { execute { flops [9] messages [9] } } }")
    (facts,) = WhatIf([Case(talk, machine)]).facts["machines"]
    assert facts["energy"] is None
    assert facts["powerless"] == "interconnect wire declares no dynamic power, so the energy is unknown"


TYPED = {
    ("2*128", ""): 256,
    ("512 KiB", ""): None,
    ("512 KiB", "B"): 512 * 1024,
    ("512KiB", "B"): 512 * 1024,
    ("3.5 G", "Hz"): 3.5e9,
    ("3.5GHz", "Hz"): 3.5e9,
    ("2*1.75 GHz", "Hz"): 3.5e9,
    ("25 GB/s", "B/s"): 25e9,
    ("-2^2", ""): -4,
    ("2^3^2", ""): 512,
    ("2^-1", ""): 0.5,
    ("7 - 2 - 1", ""): 4,
    ("(7 - 2)*3/2", ""): 7.5,
    ("2*nx", ""): 40,
    ("2*mega", ""): 2e6,
    ("max(3, 2^2) + ceil(1.5)", ""): 6,
    ("1e3", ""): 1000,
    ("512 KiB", "Hz"): None,
    ("3 apples", ""): None,
    ("2*", ""): None,
    ("2**8", ""): None,
    ("(1", ""): None,
    ("2 3", ""): None,
    ("nowhere", ""): None,
    ("alert(1)", ""): None,
    ("constructor", ""): None,
    ("", ""): None,
}
"""What is typed into a field whose parameter has a unit, and what it is by hand; None where it is refused."""


@needs_node
def test_expressions_and_units_are_read_as_typed(tmp_path):
    page = what_if("comd", "haswell")
    texts = [[text, unit] for text, unit in TYPED]
    files = Path(aspenpy.__file__).parent / "page" / "files"
    script = "\n".join((files / name).read_text(encoding="utf-8") for name in ("units.js", "typed.js"))
    values = [item.value for item in page.inputs]
    lines = f"""
    console.log(JSON.stringify({json.dumps(texts)}.map(([text, unit]) => typed(text, unit, {json.dumps(values)}))));"""
    (tmp_path / "typed.js").write_text(
        f'"use strict";\nconst facts = {json.dumps(page.facts)};\n{script}\n{lines}', encoding="utf-8"
    )
    done = subprocess.run(["node", tmp_path / "typed.js"], check=True, capture_output=True, text=True)
    found = dict(zip(TYPED, json.loads(done.stdout), strict=True))
    assert page.predictions[0].parameters["nx"].value == 20
    assert found == {key: value if value is None else pytest.approx(value) for key, value in TYPED.items()}
    application, machine = aspenpy.load_application("comd"), aspenpy.load_machine("haswell")
    for (text, unit), value in TYPED.items():  # as `--set` reads them
        if not unit and value is not None and value >= 1 and float(value).is_integer():
            assert float(predict(application, machine, set={"steps": text}).parameters["steps"].value) == value
        elif not unit and text and value is None:
            with pytest.raises(AspenError):
                predict(application, machine, set={"steps": text})


def test_a_widget_has_the_values_of_the_sliders():
    """As `set` takes them: the runtime is that of the case; of several machines names have a number in front."""
    pytest.importorskip("anywidget")
    widget = what_if("lulesh", "haswell", free=("edge_elements", "haswell_clock", "real")).widget()
    assert widget.values["haswell_clock"] == 3.5e9
    app, machine = aspenpy.load_application("lulesh"), aspenpy.load_machine("haswell")
    plain = aspenpy.predict(app, machine).runtime
    assert aspenpy.predict(app, machine, set=widget.values).runtime == pytest.approx(plain)
    assert "postMessage" in widget.page
    assert set(what_if("stream", "haswell", "haswell", free=("n", "haswell_clock")).widget().values) == {
        "n",
        "0:haswell_clock",
        "1:haswell_clock",
    }
