"""Cells, shown results and reports in IPython."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.cli.conftest import AXPY, CLUSTER

IPython = pytest.importorskip("IPython", reason="the extra `notebook` is not installed")


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> Iterator[Any]:
    """A shell with the extension in it and both models."""
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)  # of another environment IPython would warn
    found = InteractiveShell(config=Config({"HistoryManager": {"enabled": False}}))
    found.run_line_magic("load_ext", "aspenpy")
    found.run_cell(f"%%aspen\n{AXPY}", store_history=False)
    found.run_cell(f"%%aspen machine\n{CLUSTER}", store_history=False)
    yield found
    InteractiveShell.clear_instance()


def html(shell: Any, expression: str) -> str:
    """What a notebook shows for an expression."""
    data, _ = shell.display_formatter.format(shell.ev(expression))
    return str(data["text/html"])


def test_cells_become_variables(shell: Any) -> None:
    assert shell.ev("axpy.name") == "axpy"
    assert shell.ev("machine.name") == "Cluster"
    assert shell.ev("__import__('aspenpy').predict(axpy, machine).runtime") == pytest.approx(15e-6, rel=1e-12)


def test_what_is_known_is_shown_as_tables(shell: Any) -> None:
    shell.run_cell("import aspenpy; from aspenpy.explore.comparison import Comparison")
    made = (
        "axpy",
        "machine",
        "aspenpy.Counts(axpy)",
        "aspenpy.Footprint(axpy)",
        "aspenpy.parallelism(axpy)",
        "aspenpy.profile(axpy, machine)",
        "aspenpy.predict(axpy, machine).explain()",
        "aspenpy.roofline(machine, [axpy])",
        "aspenpy.traffic(axpy, aspenpy.load_machine('haswell'))",
        "Comparison([aspenpy.Case(axpy, machine), aspenpy.Case(axpy, aspenpy.load_machine('simple'))])",
    )
    for expression in made:
        assert html(shell, expression).startswith("<div>\n<p><b>"), expression
    assert "<table>" in html(shell, "aspenpy.Session(axpy, machine)('show runtime')")


def test_a_mistake_is_a_report(shell: Any, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    outcome = shell.run_cell("%%aspen\nmodel m {\n  kernel main { execute { flops [2*n } }\n}")
    assert not outcome.success
    said = capsys.readouterr()
    assert said.out.startswith("error: expected `]`")
    assert "<cell>:3:" in said.out
    assert "Traceback" not in said.out + said.err
    outcome = shell.run_cell("import aspenpy; aspenpy.predict(axpy, machine, set={'m': 3})")
    assert not outcome.success
    said = capsys.readouterr()
    assert said.out.startswith("error: unknown parameter `m`")
    assert "Traceback" not in said.out + said.err


def test_a_name_that_is_none(shell: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert not shell.run_cell("%%aspen my model\nmodel m {}").success
    assert "expected the name of a variable" in capsys.readouterr().out


def test_nothing_is_left_behind(shell: Any, capsys: pytest.CaptureFixture[str]) -> None:
    shell.run_line_magic("unload_ext", "aspenpy")
    assert "aspen" not in shell.magics_manager.magics["cell"]
    shell.run_cell("import aspenpy; aspenpy.predict(axpy, machine, set={'m': 3})")
    assert "Traceback" in capsys.readouterr().out
