"""Whole programs of Fortran with modules, run and held against instructions that ran.

`fortran_whole.json` is what callgrind and a disassembly count of each whole run (gfortran 12, `-O1`), without the
instructions of libraries. `column` was written with the others, and its model was looked at last.
"""

import json
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest

import aspenpy
from aspenpy.assembly.compiling import Recipe
from aspenpy.extract.extraction import Extraction, extract
from aspenpy.extract.model_runs import ProgramRun

pytest.importorskip("fparser", reason="Fortran is read by fparser: pip install 'aspenpy[fortran]'")

WHOLE = Path(__file__).parent / "whole_fortran"
STORED = json.loads((Path(__file__).parent / "fortran_whole.json").read_text(encoding="utf-8"))

needs_gfortran = pytest.mark.skipif(
    shutil.which("gfortran") is None or shutil.which("gcov") is None, reason="counted programs need gfortran and gcov"
)


def total(found: Extraction, folder: Path) -> Counter[str]:
    """Operations by class and precision, loads and stores of a whole run of a model."""
    (folder / "model.aspen").write_text(re.sub(r" of size \[\d+\]", "", found.text), encoding="utf-8")
    counts: Counter[str] = Counter()
    for step in aspenpy.trace(aspenpy.load_application(folder / "model.aspen"), most=10**6, passes=10**6).steps:
        for demand in step.demands:
            kind = " ".join(demand.traits) if demand.resource == "flops" else demand.resource[:-1]
            counts["convert" if "convert" in kind else kind] += round(demand.amount)
    return counts


@needs_gfortran
@pytest.mark.parametrize("name", STORED)
def test_whole_programs_do_what_the_instructions_do(name: str, tmp_path: Path) -> None:
    found = extract(WHOLE / name, level="o1", run=ProgramRun("./a.out"))
    assert not found.left()
    assert found.reconciliation is not None
    assert not found.reconciliation.lines_far_off()
    counts = total(found, tmp_path)
    for kind, ran in STORED[name].items():
        assert counts[kind] == pytest.approx(ran, rel=0.05, abs=10), kind


@needs_gfortran
@pytest.mark.skipif(shutil.which("llvm-mca") is None, reason="cycles are those of llvm-mca")
def test_compiled_loops_have_modules_in_any_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = shutil.copytree(WHOLE / "blocks", tmp_path / "blocks")
    monkeypatch.chdir(folder)
    before = sorted(path.name for path in folder.iterdir())
    text = extract(".", level="o2", recipe=Recipe(("-O2",), "gfortran")).text
    assert "// compiled by gfortran -O2; cycles of" in text
    assert sorted(path.name for path in folder.iterdir()) == before


def test_a_folder_its_files_and_its_commands_give_one_model(tmp_path: Path) -> None:
    folder = shutil.copytree(WHOLE / "blocks", tmp_path / "blocks")
    text = extract(folder).text
    assert extract(sorted(folder.glob("*.[fF]90"))).text == text
    listed = [
        {"directory": str(folder), "file": file.name, "command": f"gfortran -O1 -DN=11 -J. -c {file.name}"}
        for file in sorted(folder.glob("*.[fF]90"))
    ]
    (folder / "compile_commands.json").write_text(json.dumps(listed), encoding="utf-8")
    assert extract(folder).text == text


@pytest.mark.parametrize(("options", "request_"), [
    ("", "flops [40] as multiply, sp"),
    ("-fdefault-real-8", "flops [40] as multiply, dp"),
    ("-cpp -DWIDE -ffree-form -fdefault-integer-8", "stores [40] of size [8] to k"),
])  # fmt: skip
def test_options_of_the_compiler_say_what_a_program_means(options: str, request_: str, tmp_path: Path) -> None:
    text = "subroutine s(x, k)\nreal x(40)\ninteger k(40)\n"
    text += "#ifdef WIDE\nk = 3\n#else\nx = x*3.0\n#endif\nend\n" if "-cpp" in options else "x = x*3.0\nend\n"
    name = "s.f" if "free" in options else "s.f90"
    (tmp_path / name).write_text(text, encoding="utf-8")
    command = {"directory": str(tmp_path), "file": name, "command": f"gfortran {options} -c {name}"}
    (tmp_path / "compile_commands.json").write_text(json.dumps([command]), encoding="utf-8")
    assert request_ in extract(tmp_path).text
