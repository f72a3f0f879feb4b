"""Models with many of one thing take a time that grows with their number alone."""

from __future__ import annotations

import gc
from pathlib import Path
from time import process_time

import pytest

import aspenpy
from aspenpy.expr import series
from aspenpy.learn.measurements import sheet
from aspenpy.models.application import total
from tests.thorough import some
from tests.tiny import SECONDS, both, predict

WORK = "execute { flops [n] }"


def kernels(count: int) -> str:
    calls = " ".join(f"call k{place}" for place in range(count))
    return f"kernel main {{ {calls} }} " + " ".join(f"kernel k{place} {{ {WORK} }}" for place in range(count))


def loops(count: int) -> str:
    """Loops without a closed form, so that their counters stay."""
    found = (f"iterate i [3] {{ execute {{ flops [max(i, {place})] }} }}" for place in range(count))
    return f"kernel main {{ {' '.join(found)} }}"


def traits(count: int) -> str:
    return f"kernel main {{ execute {{ flops [n] as {', '.join(f't{place}' for place in range(count))} }} }}"


def seconds(body: str) -> float:
    app, machine = both(f"model many {{ param n = 1 {body} }}", SECONDS)
    gc.disable()  # it would go through all that the other tests of the process keep
    try:
        start = process_time()
        found = aspenpy.predict(app, machine)
        assert found.to_json()
        assert len(found.diagnostics) <= 100
        return process_time() - start
    finally:
        gc.enable()


@pytest.mark.parametrize("many", [kernels, loops, traits])
def test_ten_times_as_many_take_no_more_than_some_ten_times_as_long(many: object) -> None:
    """A hundred times as long would be quadratic."""
    assert callable(many)
    few = some(300, 100)
    least = max(0.005, min(seconds(many(few)) for _ in range(3)))
    assert any(seconds(many(10 * few)) < 30 * least for _ in range(3))


def test_a_body_that_is_too_long_for_a_closed_form_is_added(monkeypatch: pytest.MonkeyPatch) -> None:
    """0 + 1 + ... + 9 of i, and as many of its squares."""
    monkeypatch.setattr(series, "MOST_INSIDE", 2)
    body = "iterate i [10] { execute { flops [n*i + n*i^2] } }"
    found = predict(body, "param n = 3")
    assert any(node.kind == "sum" for node in aspenpy.expr.graph.topological_order(found.tree.runtime))
    assert found.runtime == 3 * (45 + 285)


def test_calls_that_multiply_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """2^40 calls, each with another argument."""
    monkeypatch.setattr(total, "MOST_REBUILT", 5_000)
    inner = (f"kernel k{n}(param x) {{ call k{n + 1}(x + 1) call k{n + 1}(2*x) }}" for n in range(40))
    leaf = "kernel k40(param x) { execute { flops [ceil(x/3)] } }"
    app, machine = both(f"model many {{ kernel main {{ call k0(1) }} {' '.join(inner)} {leaf} }}", SECONDS)
    with pytest.raises(aspenpy.AspenError, match="ever different arguments"):
        aspenpy.predict(app, machine)


def test_equal_arguments_are_put_into_a_kernel_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundred calls with the same argument, ceil(7*n/3) flops each, and one with another."""
    calls = " ".join(["call k(7*n)"] * 100)
    kernel = "kernel k(param x) { execute { flops [ceil(x/3)] } }"
    text = f"model many {{ param n = 5 kernel main {{ {calls} call k(n) }} {kernel} }}"
    app, machine = both(text, SECONDS)
    alone = aspenpy.predict(app, machine).runtime
    assert alone == 100 * 12 + 2
    monkeypatch.setattr(total, "MOST_REBUILT", 100)
    assert aspenpy.predict(app, machine).runtime == alone


def test_so_many_rows_of_measurements_are_read_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sheet, "MOST_ROWS", 3)
    app, machine = both(
        "model one { param n = 1 param k = 1 in 0 .. 9 kernel main { execute { flops [k*n] } } }", SECONDS
    )
    rows = [{"n": n, "runtime": 2.0 * n} for n in (1, 2, 3, 4)]
    (found,) = aspenpy.fit(app, rows[:3], machine, vary=["k"]).parameters
    assert found.value == pytest.approx(2)
    with pytest.raises(aspenpy.AspenError, match="more than 3 rows"):
        aspenpy.fit(app, rows, machine, vary=["k"])


def test_a_model_of_more_blocks_than_are_mapped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aspenpy.cost.mapper.MOST_BLOCKS", 3)
    (tmp_path / "a.aspen").write_text(
        f"model a {{ kernel main {{ {'execute { flops [1] } ' * 4} }} }}", encoding="utf-8"
    )
    application, machine = aspenpy.load_application(tmp_path / "a.aspen"), aspenpy.load_machine("simple")
    with pytest.raises(aspenpy.AspenError, match="`main` of `a` reaches 4 blocks, more than 3"):
        _ = aspenpy.predict(application, machine)
    assert aspenpy.count(application, "flops") == 4  # counting needs no map
