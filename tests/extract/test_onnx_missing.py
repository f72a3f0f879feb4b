"""Networks in ONNX where the extra `onnx` is not installed: what is missing, and whether it would help."""

import sys
from pathlib import Path

import pytest

from aspenpy import AspenError
from aspenpy.extract.exported_program import read_graph


@pytest.mark.parametrize(
    ("content", "is_network"), [(b"\x08\x07", True), (b"<ir_version: 7>", True), (b"a letter", False), (b"", False)]
)
def test_both_are_said(content: bytes, is_network: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(AspenError, match="which is not installed") as refused:
        read_graph(str(tmp_path / "file"))
    assert ("does not begin as a network in ONNX does" in str(refused.value)) != is_network
