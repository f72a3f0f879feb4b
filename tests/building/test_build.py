"""Models made in Python say what the same models say in text."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import Phase, given, settings

import aspenpy
from aspenpy import Application, AspenError, Machine
from aspenpy import build as b
from aspenpy.expr import graph
from aspenpy.language import nodes
from tests.random_models import applications, machines
from tests.thorough import examples
from tests.tiny import codes

TEXT = """
model axpy {
  param n = 1000 in 1 .. 1e9
  enum modes { plain, fused }
  param mode = fused in modes
  param sizes[] = { 1, 2.5, n }
  param table[][] = { {1, 2}, {3, 4} }
  data x [8*n]
  data y as Array(n, 8) in hbm
  kernel work(param q, data d) {
    param twice = 2*q
    execute { flops [twice] loads [8] from d }
  }
  kernel main {
    execute [n] "axpy" {
      flops [2*n] as simd, stride(8)
      loads [n^2] as nest(8, j in 0 .. i, 0, i in 0 .. n)
      loads [n] of size [8] from x
      stores [8*n] to y
    }
    call work(5, x)
    iterate [n/2] { execute { stores [1] } }
    map i [3] "over i" { seq { execute { flops [i] } } }
    par "overlap" { execute { flops [1] } execute { loads [1] } }
    if (n > 3 and mode == fused) { execute { flops [1] } } else { execute { flops [2] } }
    switch (mode) { [plain] { execute { flops [3] } } else { execute { flops [4] } } }
    probability { [0.25] { execute { flops [5] } } [1/3] { execute { flops [6] } } }
    sample u from uniform(1, 2)
    execute { flops [u] }
  }
}
"""


def axpy() -> Application:
    flops = {number: b.execute(b.requires("flops", number)) for number in range(1, 7)}
    return b.application(
        "axpy",
        b.param("n", 1000, low=1, high="1e9"),
        b.enum("modes", "plain", "fused"),
        b.param("mode", "fused", member_of="modes"),
        b.param("sizes", [1, 2.5, "n"]),
        b.param("table", [[1, 2], (3, 4)]),
        b.data("x", "8*n"),
        b.data("y", shape="Array", factors=["n", 8], memory="hbm"),
        b.kernel(
            "work",
            b.param("twice", 2 * graph.symbol("q")),
            b.execute(b.requires("flops", "twice"), b.requires("loads", 8, from_="d")),
            formals=["q"],
            arrays=["d"],
        ),
        b.kernel(
            "main",
            b.execute(
                b.requires("flops", "2*n", traits=["simd", b.trait("stride", 8)]),
                b.requires(
                    "loads", "n^2", traits=[b.trait("nest", 8, b.counted("j", 0, "i"), 0, b.counted("i", 0, "n"))]
                ),
                b.requires("loads", "n", size=8, from_="x"),
                b.requires("stores", "8*n", to="y"),
                parallelism="n",
                label="axpy",
            ),
            b.call("work", 5, "x"),
            b.iterate("n/2", b.execute(b.requires("stores", 1))),
            b.map_over(3, b.seq(b.execute(b.requires("flops", "i"))), counter="i", label="over i"),
            b.par(flops[1], b.execute(b.requires("loads", 1)), label="overlap"),
            b.if_("n > 3 and mode == fused", flops[1], otherwise=[flops[2]]),
            b.switch("mode", b.case("plain", flops[3]), otherwise=[flops[4]]),
            b.probability(b.case(0.25, flops[5]), b.case(Fraction(1, 3), flops[6])),
            b.sample("u", "uniform", 1, 2),
            b.execute(b.requires("flops", "u")),
        ),
    )


MACHINE = """
param clock = 2
enum gears { slow, quick }
machine m { node [2] box }
node box { socket cpu memory ram }
socket cpu {
  property width [4*clock]
  property quiet
  resource flops(n) [n / width] with simd [base / 2], stride(k) [base * k]
  static power [90]
  dynamic power [10*clock]
}
memory ram { resource loads(n) [n / 100] resource stores(n) [n / 100] conflict loads, stores }
"""


def machine() -> Machine:
    return b.machine(
        b.param("clock", 2),
        b.enum("gears", "slow", "quick"),
        b.component("machine", "m", b.part("node", "box", 2)),
        b.component("node", "box", b.part("socket", "cpu"), b.part("memory", "ram")),
        b.component(
            "socket",
            "cpu",
            b.property_("width", "4*clock"),
            b.property_("quiet"),
            b.resource(
                "flops",
                "n",
                "n / width",
                b.resource_trait("simd", "base / 2"),
                b.resource_trait("stride", "base * k", argument="k"),
            ),
            b.power("static", 90),
            b.power("dynamic", "10*clock"),
        ),
        b.component(
            "memory",
            "ram",
            b.resource("loads", "n", "n / 100"),
            b.resource("stores", "n", "n / 100"),
            b.conflict("loads", "stores"),
        ),
    )


def test_an_application_built_is_the_one_written() -> None:
    assert axpy() == aspenpy.parse(TEXT)


def test_a_machine_built_is_the_one_written() -> None:
    assert machine() == aspenpy.parse(MACHINE)


def test_what_is_built_can_be_predicted() -> None:
    written_app, written_machine = aspenpy.parse(TEXT), aspenpy.parse(MACHINE)
    assert isinstance(written_app, Application)
    assert isinstance(written_machine, Machine)
    # draws are numbered by where they stand in the text, so the sample is left out of the comparison
    changes = {"n": 50}
    expected = aspenpy.predict(written_app, written_machine, kernel="work", set={**changes, "q": 3}).runtime
    assert aspenpy.predict(axpy(), machine(), kernel="work", set={**changes, "q": 3}).runtime == expected == 6 / 8


def test_text_made_from_a_model_is_that_model() -> None:
    for model in (axpy(), machine()):
        assert aspenpy.parse(model.to_aspen()) == model


@settings(max_examples=examples(15), phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(applications(), machines())
def test_text_made_from_any_model_is_that_model(app_text: str, machine_text: str) -> None:
    for model in (aspenpy.parse(app_text), aspenpy.parse(machine_text)):
        assert aspenpy.parse(model.to_aspen()) == model


def test_an_import_is_found_from_the_working_folder(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "part.aspen").write_text(
        "model part { param n = 1 kernel main { execute { flops [n] } } }", encoding="utf-8"
    )
    app = b.application(
        "whole", b.import_model("part", "part.aspen", n="2*k"), b.param("k", 3), b.kernel("main", b.call("part.main"))
    )
    assert aspenpy.count(app, "flops") == 6


MAIN = b.kernel("main", b.execute(b.requires("flops", "n")))


@pytest.mark.parametrize(
    ("build", "code"),
    [
        (lambda: b.application("a", b.param("size", 1), MAIN), "syntax"),
        (lambda: b.application("a", b.param("n = 1 param m", 2), MAIN), "bad-value"),
        (lambda: b.application("a", b.kernel("main", b.execute(b.requires("flops [1] loads", 2)))), "bad-value"),
        (lambda: b.application("a"), "syntax"),
        (lambda: b.application("a", b.kernel("main", b.call("work", 1, "}"))), "syntax"),
        (lambda: b.param("n", ""), "syntax"),
        (lambda: b.param("n", "1 param m = 2"), "syntax"),
        (lambda: b.param("n", True), "bad-value"),
        (lambda: b.param("n", None), "bad-value"),
        (lambda: b.param("n", float("nan")), "bad-value"),
        (lambda: b.param("n", float("-inf")), "bad-value"),
        (lambda: b.param("n", 10**5000), "bad-value"),
        (lambda: b.param("n", Fraction(1, 10**5000)), "bad-value"),
        (lambda: b.requires("loads", 1, to="a", from_="b"), "bad-value"),
        (lambda: b.machine(b.component("machine", "m", b.part("node", "x"))), "unknown-component"),
        (lambda: b.machine(b.component("node", "x", b.property_("p", 1))), "no-machine"),
    ],
)
def test_a_mistake_is_told_as_in_a_file(build: Callable[[], nodes.Parameter], code: str) -> None:
    with pytest.raises(AspenError) as refusal:
        build()
    assert codes(refusal.value) == [code]


def test_labels_and_paths_may_hold_anything() -> None:
    label = 'a "quoted" \\ label'
    app = b.application("a", b.kernel("main", b.execute(b.requires("flops", 1), label=label)))
    assert [item.label for item in app.kernels["main"].body if isinstance(item, nodes.Execute)] == [label]


@pytest.mark.parametrize(
    ("quantity", "value"),
    [
        *((number, float(number)) for number in (0, 7, -3, 2.5, -1e-9, 1e308, Fraction(-2, 3))),
        ("2*k + 1", 13),
        (graph.symbol("k") / 3, 2),
    ],
)
def test_a_quantity_keeps_its_value(quantity: Any, value: float) -> None:
    asked = b.requires("flops", "n" if value >= 0 else "0 - n")  # no amount is negative
    app = b.application("a", b.param("k", 6), b.param("n", quantity), b.kernel("main", b.execute(asked)))
    assert aspenpy.count(app, "flops") == pytest.approx(abs(value), rel=1e-15)
