"""Programs of several files: how they are linked, and what a run counts in macros, headers and included sources."""

import json
import re
import shutil
from pathlib import Path

import pytest

from aspenpy.extract.extraction import Extraction, extract
from aspenpy.extract.model_runs import ProgramRun
from aspenpy.language.diagnostics import AspenError
from tests.extract import callgrind, modelled

pytest.importorskip("clang.cindex", reason="C is read by libclang: pip install 'aspenpy[extract]'")

WHOLE = Path(__file__).parent / "whole"
COMPILES = pytest.mark.skipif(not shutil.which("gcc"), reason="compiles programs with GCC")


def values(found: Extraction) -> dict[str, str]:
    return dict(re.findall(r"param (\w+) = ([^/]*?(?:/\w+)?)(?: counted at [^/]*)?  //", found.text))


def test_functions_are_linked_by_name_and_static_ones_stay_apart() -> None:
    found = extract(WHOLE / "cg")
    assert {"number", "make_matrix", "multiply", "solve", "work", "add", "main"} <= set(found.kernels)
    assert not [hole.name for hole in found.holes if hole.name.endswith("_flops")]
    product = re.search(r"kernel work\(.*?\n  }", found.text, re.DOTALL)
    assert product is not None
    assert "as multiply" in product[0]  # of vectors; that of matrix.c stands in its place


def test_a_folder_its_files_and_its_database_give_one_model(tmp_path: Path) -> None:
    folder = shutil.copytree(WHOLE / "cg", tmp_path / "cg")
    files = sorted(folder.glob("*.c"))
    listed = [{"directory": str(folder), "file": file.name, "command": f"gcc -O2 -c {file.name}"} for file in files]
    (folder / "build").mkdir()
    text = extract(folder).text
    assert extract(files).text == text
    (folder / "build" / "compile_commands.json").write_text(json.dumps(listed), encoding="utf-8")
    assert extract(folder / "build" / "compile_commands.json").text == text
    assert extract(folder).text == text


def test_each_unit_has_its_own_flags(tmp_path: Path) -> None:
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "f.h").write_text("void f(double *x);\n", encoding="utf-8")
    (tmp_path / "f.c").write_text(
        '#include "f.h"\nvoid f(double *x) { for (int i = 0; i < N; i++) x[i] *= 2; }\n', encoding="utf-8"
    )
    (tmp_path / "main.c").write_text(
        '#include "f.h"\ndouble x[N];\nint main(void) { for (int i = 0; i < N; i++) x[i] = 1.5 * i; '
        "f(x); return 0; }\n",
        encoding="utf-8",
    )
    listed = [
        {"directory": str(tmp_path), "file": "f.c", "arguments": ["cc", "-Iinc", "-DN=30", "-c", "f.c"]},
        {"directory": str(tmp_path), "file": "main.c", "command": "cc -I inc -D N=50 -c main.c"},
    ]
    (tmp_path / "compile_commands.json").write_text(json.dumps(listed), encoding="utf-8")
    text = extract(tmp_path).text
    assert set(re.findall(r"flops \[(\w+)\] as (\w+), dp", text)) == {
        ("N", "add"),  # what is doubled is added
        ("50", "multiply"),
        ("50", "convert"),
    }


def test_files_of_one_name_have_static_functions_of_their_own(tmp_path: Path) -> None:
    for name, factor in (("one", 3), ("two", 5)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "part.c").write_text(
            f"static void all(double *x) {{ for (int i = 0; i < {factor}00; i++) x[i] *= 1.5; }}\n"
            f"void {name}(double *x) {{ all(x); }}\n",
            encoding="utf-8",
        )
    (tmp_path / "main.c").write_text(
        "void one(double *), two(double *);\ndouble x[500];\nint main(void) { one(x); two(x); return 0; }\n",
        encoding="utf-8",
    )
    assert sorted(re.findall(r"flops \[(\d+)\] as multiply", extract(tmp_path).text)) == ["300", "500"]


def test_libraries_without_source_are_named() -> None:
    found = extract(WHOLE / "cg" / "solve.c")
    assert "multiply_flops" in {hole.name for hole in found.left()}


def test_sources_that_others_include_are_compiled_once(tmp_path: Path) -> None:
    (tmp_path / "part.c").write_text("static double twice(double x) { return 2.5 * x; }\n", encoding="utf-8")
    (tmp_path / "all.c").write_text('#include "part.c"\nint main(void) { return twice(3) > 0; }\n', encoding="utf-8")
    assert extract(tmp_path).kernels == extract(tmp_path / "all.c").kernels


MACROS = """#include "loops.h"
START(st, 4)
int main(int argc, char **argv) {
  double x = 1;
  int n = atoi(argv[1]);
  TIMED(work, WHILE_ABOVE(x, 0.001) x *= 0.5);
  TWICE(x, n);
  do { x += 1.5; } while (0);
  if (times(n, &x) == 3) x += 1;
  ONCE(x);
  return x < 0;
}
"""
LOOPS = """#include <stdlib.h>
#define START(name, size) static double name[size];
#define TIMED(name, what) do { name: what; if (0) goto name; } while (0)
#define WHILE_ABOVE(x, low) while ((x) > (low))
#define TWICE(x, n) \\
  do { int k = n; while (k > 1) { k /= 2; x += 0.5; } while (k < 100) { k *= 3; x -= 0.5; } } while (0)
#define ONCE(x) do { if (x > 1e9) break; x *= 2; } while (0)
static inline int times(int n, double *x) {
  int found = 0;
  while (n > 3) { n /= 2; found++; *x += 0.25; }
  return found;
}
"""


@COMPILES
@pytest.mark.parametrize(
    "counts",
    ["gcov", pytest.param("lackey", marks=pytest.mark.skipif(not shutil.which("valgrind"), reason="needs Valgrind"))],
)
def test_macros_and_headers_are_counted(tmp_path: Path, counts: str) -> None:
    (tmp_path / "loops.h").write_text(LOOPS, encoding="utf-8")
    (tmp_path / "main.c").write_text(MACROS, encoding="utf-8")
    found = values(extract(tmp_path / "main.c", run=ProgramRun("./a.out 30", counts=counts)))  # type: ignore[arg-type]
    assert found["main_x_passes"] == "10"  # from 1 to 1/1024
    assert (found["main_k_passes"], found["main_k_passes_2"]) == ("4", "5")  # 30 to 1, and 1 to 243
    assert found["times_n_passes"] == "3"  # 30, 15, 7
    assert found["main_loop_share"] == "1"  # of the one pass of `do { } while (0)`
    assert "main_loop_passes" not in found


@COMPILES
def test_static_variables_begin_once() -> None:
    found = values(extract(WHOLE / "stencil", run=ProgramRun("./a.out -s 8 -i 5")))
    assert not [name for name in found if name.startswith("start_timer")]
    table = values(extract(WHOLE / "sort", run=ProgramRun("./a.out")))
    assert float(table["main_branch"]) == pytest.approx(1 / 1500, rel=1e-3)  # the first value fills a table


@COMPILES
def test_a_run_that_fails_is_refused_or_allowed(tmp_path: Path) -> None:
    (tmp_path / "ends.c").write_text(
        "int main(void) { double x = 9; while (x > 1) x /= 3; return 3; }\n", encoding="utf-8"
    )
    with pytest.raises(AspenError, match="ended with status 3"):
        extract(tmp_path / "ends.c", run=ProgramRun("./a.out"))
    assert values(extract(tmp_path / "ends.c", run=ProgramRun("./a.out", allow_failure=True)))["main_x_passes"] == "2"


COMMANDS = {"cg": "-s 8 -i 100", "stencil": "-s 20 -i 6", "sort": "700"}


@COMPILES
@pytest.mark.skipif(not shutil.which("valgrind"), reason="counts instructions with Valgrind")
@pytest.mark.parametrize("name", ["cg", "stencil"])
def test_operations_are_those_that_ran(name: str, tmp_path: Path) -> None:
    found = extract(WHOLE / name, run=ProgramRun(f"./a.out {COMMANDS[name]}"))
    files = sorted(map(str, (WHOLE / name).glob("*.c")))
    main = str(WHOLE / name / "main.c")
    others = [file for file in files if file != main]
    arguments = tuple(COMMANDS[name].split())
    ran = callgrind.counted(Path(main), tmp_path, "-O0", *others, function="main", arguments=arguments)
    (tmp_path / "model.aspen").write_text(found.text, encoding="utf-8")
    total = modelled.operations(tmp_path / "model.aspen")
    kinds = [kind for kind in ran if kind.endswith(" dp") and ran[kind] > 50]
    assert {kind: total[kind] for kind in kinds} == pytest.approx({kind: ran[kind] for kind in kinds}, rel=0.002)
    assert len(found.left()) <= 1


@COMPILES
def test_values_are_those_of_the_run() -> None:
    given = values(extract(WHOLE / "cg", run=ProgramRun("./a.out -s 6 -i 3")))
    assert (given["edge"], given["steps"]) == ("6", "3")
    assert given["total"] == str(7 * 6**3 - 6 * 6**2)  # entries of the matrix
    left_out = values(extract(WHOLE / "cg", run=ProgramRun("./a.out -s 6")))
    assert (left_out["edge"], left_out["steps"]) == ("6", "50")
    assert values(extract(WHOLE / "sort", run=ProgramRun("./a.out")))["n"] == "1500"
    assert values(extract(WHOLE / "sort", run=ProgramRun("./a.out 80")))["n"] == "80"
