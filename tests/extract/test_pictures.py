"""What is said of programs that are refused, or of which something is not counted: pictures of the messages.

`pytest --update-pictures` writes them anew; whoever does that reads the difference.
"""

from pathlib import Path

import pytest

from aspenpy.extract.extraction import extract
from aspenpy.language.diagnostics import AspenError

pytest.importorskip("clang.cindex", reason="C is read by libclang: pip install 'aspenpy[extract]'")

PROGRAMS = sorted(
    path
    for path in (Path(__file__).parent / "rejected").iterdir()
    if path.is_dir() or path.suffix in (".c", ".cpp", ".json", ".f90", ".F90")
)


@pytest.mark.parametrize("program", PROGRAMS, ids=[path.stem for path in PROGRAMS])
def test_messages_are_as_pictured(program: Path, monkeypatch: pytest.MonkeyPatch, update_pictures: bool) -> None:
    if program.suffix in (".f90", ".F90"):
        pytest.importorskip("fparser", reason="Fortran is read by fparser: pip install 'aspenpy[fortran]'")
    monkeypatch.chdir(program.parent)
    try:
        told = "\n\n".join(map(str, extract(program.name).diagnostics))
    except AspenError as refused:
        told = str(refused)
    picture = program.with_suffix(".txt")
    if update_pictures:
        picture.write_text(f"{told}\n", encoding="utf-8")
    assert f"{told}\n" == picture.read_text(encoding="utf-8")
