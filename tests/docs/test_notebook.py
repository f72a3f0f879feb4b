"""The notebook of the documentation shows what its cells give."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.docs import numbers
from tests.docs.pictures import drawing
from tests.thorough import HANGS, slow

ROOT = Path(__file__).parents[2]
NOTEBOOK = ROOT / "docs" / "notebook.ipynb"
SVG = re.compile(r"<svg.*?</svg>", re.DOTALL)


@pytest.fixture
def executed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, Any]:
    """The notebook, run from its first cell to its last in a process of its own."""
    nbclient = pytest.importorskip("nbclient", reason="running notebooks needs nbclient, of the extra `dev`")
    pytest.importorskip("ipykernel", reason="running notebooks needs ipykernel, of the extra `dev`")
    pytest.importorskip("matplotlib", reason="the extra `plot` is not installed")
    import nbformat

    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    client = nbclient.NotebookClient(notebook, timeout=HANGS, kernel_name="python3", record_timing=False)
    client.execute(cwd=str(tmp_path))
    kept = {"nbformat": 4, "nbformat_minor": 5, "metadata": notebook.metadata} | {
        "metadata": {"kernelspec": notebook.metadata["kernelspec"], "language_info": {"name": "python"}}
    }
    return {"cells": [_plain(cell) for cell in notebook.cells], **kept}


def _plain(cell: Any) -> dict[str, Any]:
    """A cell as it is kept: texts in lines, as Jupyter writes them."""
    found = json.loads(json.dumps(cell))
    found["source"] = found["source"].splitlines(keepends=True)
    for output in found.get("outputs", []):
        if "text/html" in output.get("data", {}):
            del output["data"]["text/plain"]
        for kind, text in output.get("data", {}).items():
            output["data"][kind] = text.splitlines(keepends=True)
    return dict(found)


def outputs(notebook: dict[str, Any]) -> list[Any]:
    """What each cell gave, with the pictures set apart: two versions of matplotlib seldom write the same bytes."""
    return [[SVG.sub("<svg>", _html(output)) for output in cell.get("outputs", [])] for cell in notebook["cells"]]


def pictures(notebook: dict[str, Any]) -> list[str]:
    shown = [_html(output) for cell in notebook["cells"] for output in cell.get("outputs", [])]
    return [picture for text in shown for picture in SVG.findall(text)]


def _html(output: dict[str, Any]) -> str:
    data = output.get("data", {})
    return "".join(data.get("text/html", data.get("text/latex", data.get("text/plain", output.get("text", "")))))


@slow
def test_notebook(executed: dict[str, Any], update_pictures: bool) -> None:
    if update_pictures:
        NOTEBOOK.write_text(json.dumps(executed, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    kept = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    for fresh, old in zip(outputs(executed), outputs(kept), strict=True):
        for text, old_text in zip(fresh, old, strict=True):
            numbers.compare(text, old_text)
    assert len(pictures(executed)) == 1
    for fresh, old in zip(map(drawing, pictures(executed)), map(drawing, pictures(kept)), strict=True):
        assert fresh.texts == old.texts
        for after, before in zip(fresh.shapes, old.shapes, strict=True):
            assert after == pytest.approx(before, abs=0.1)


def test_no_traceback_and_no_path_is_kept() -> None:
    text = NOTEBOOK.read_text(encoding="utf-8")
    assert "Traceback" not in text
    assert "/home/" not in text
    assert str(ROOT) not in text
