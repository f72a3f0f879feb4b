"""Mixtures of operations: arithmetic by hand on a made-up core at 1 GHz."""

from __future__ import annotations

from pathlib import Path

import pytest

import aspenpy
from aspenpy import build, count, load_application, predict
from aspenpy.expr.evaluate import evaluate_many
from aspenpy.language.format import format_text
from aspenpy.language.source import Source
from aspenpy.models.application import flow
from tests.tiny import application, machine

MACHINE = """
machine m { node n }
node n { socket s }
socket s { core [4] c }
core c {
  property clock [1e9] property issue [1]
  property add_dp_simd_rate [8] property multiply_dp_simd_rate [4] property divide_dp_rate [1/5]
  resource flops(x) [x/(clock*issue)] with dp [base*2], simd [base/8]
}
"""
STENCIL = "mixture stencil {add [4], multiply [1]}"


def seconds(body: str, declarations: str = STENCIL, **asked: str) -> float:
    return float(predict(application(body, declarations), machine(MACHINE), set=asked).runtime)


def test_each_class_takes_its_rate() -> None:
    found = seconds("execute { flops [5e6] as stencil, dp, simd }")
    assert found == pytest.approx((4e6 / 8 + 1e6 / 4) / 1e9, rel=1e-12)


def test_parts_may_depend_on_parameters() -> None:
    declared = "param adds = 4 mixture stencil {add [2*adds], multiply [1]}"
    found = seconds("execute { flops [7e6] as stencil, dp, simd }", declared, adds="3")
    assert found == pytest.approx((6e6 / 8 + 1e6 / 4) / 1e9, rel=1e-12)


def test_sizes_and_instances_are_kept() -> None:
    found = seconds("execute [8] { flops [5e5] of size [10] as simd, dp, stencil }")
    assert found == pytest.approx(2 * (4e6 / 8 + 1e6 / 4) / 1e9, rel=1e-12)


def test_a_kernel_may_have_its_own() -> None:
    kernels = "kernel own(param k) { mixture stencil {add [k], divide [1]} execute { flops [6e6] as stencil, dp } }"
    app = application("call own(2)", STENCIL, kernels)
    # additions without SIMD have no rate here and cost what others do, 2 cycles, beside the divider
    assert float(predict(app, machine(MACHINE)).runtime) == pytest.approx(max(4e6 * 2, 2e6 * 5) / 1e9, rel=1e-12)


def test_an_imported_model_uses_its_own(tmp_path: Path) -> None:
    (tmp_path / "library.aspen").write_text(
        f"model library {{ {STENCIL} kernel main {{ execute {{ flops [5e6] as stencil, dp, simd }} }} }}",
        encoding="utf-8",
    )
    (tmp_path / "user.aspen").write_text(
        'model user { import library from "library.aspen" mixture stencil {multiply [1]}\n'
        "  kernel main { call library.main execute { flops [4e6] as stencil, dp, simd } } }",
        encoding="utf-8",
    )
    found = predict(load_application(tmp_path / "user.aspen"), machine(MACHINE)).runtime
    assert float(found) == pytest.approx((4e6 / 8 + 1e6 / 4 + 4e6 / 4) / 1e9, rel=1e-12)


def test_counts_are_those_of_the_whole() -> None:
    app = application("execute [3] { flops [5e6] as stencil }", STENCIL)
    assert float(count(app, "flops")) == pytest.approx(15e6)


def test_the_text_survives_formatter_and_printer() -> None:
    declared, kernel = (
        "  mixture stencil {add [2*n], multiply [v[1]]}\n",
        "  kernel main {\n    execute { flops [1] }\n  }\n",
    )
    text = f"model m {{\n{declared}\n{kernel}}}\n"
    laid_out = format_text(Source(text, "m.aspen"))
    assert laid_out == text
    model = aspenpy.parse(text)
    assert aspenpy.parse(model.to_aspen()) == model


def test_a_model_made_in_python() -> None:
    made = build.application(
        "m",
        build.mixture("stencil", add=4, multiply=1),
        build.kernel("main", build.execute(build.requires("flops", 5e6, traits=["stencil"]))),
    )
    block = made.flow().body
    assert isinstance(block, flow.Block)
    assert [need.traits[0].name for need in block.requirements] == ["add", "multiply"]
    assert [float(evaluate_many([need.amount])[0]) for need in block.requirements] == [4e6, 1e6]


def test_a_name_defined_twice_is_told() -> None:
    app = application("execute { flops [1] as stencil }", f"{STENCIL} mixture stencil {{add [1]}}")
    assert [warning.code for warning in app.warnings] == ["redefined"]
