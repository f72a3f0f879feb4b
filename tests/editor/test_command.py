"""The command, and the process that checks models for it."""

from pathlib import Path

import pytest

from aspenpy.editor.meaning import MeaningRequest, MeaningWorker
from aspenpy.shell.main import main


def test_without_pygls(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("aspenpy.shell.commands.connections.find_spec", lambda name: None)
    assert main(["lsp"]) == 2
    assert "pip install 'aspenpy[lsp]'" in capsys.readouterr().err


def test_a_model_that_takes_too_long_is_given_up(tmp_path: Path) -> None:
    """And the next one is checked by a new process."""
    text = "model t {\n  param n = 2 in 1 .. 5\n  kernel main { execute { flops [n] } }\n}\n"
    question = MeaningRequest(str(tmp_path / "t.aspen"), text, {}, None)
    worker = MeaningWorker(longest=0.0)  # no process has begun by then
    try:
        assert worker.answer(question).trouble == "the model was not checked: it takes more than 0 s"
        worker.longest = 600.0
        meaning = worker.answer(question)
        assert (meaning.trouble, meaning.remarks, meaning.sound) == ("", (), True)
        assert (meaning.known["n"].value, meaning.known["n"].range) == ("2", "1 .. 5")
    finally:
        worker.stop()
