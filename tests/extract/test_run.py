"""Parameters that are filled by runs of the program, against counts by hand and against each other's way to count."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import aspenpy
from aspenpy.extract.execution import parse_command
from aspenpy.extract.extraction import Extraction, extract
from aspenpy.extract.fit import FitTerm, fit_formula
from aspenpy.extract.model_runs import ProgramRun
from aspenpy.language.diagnostics import AspenError
from aspenpy.models.library import parse
from tests.thorough import slow

pytest.importorskip("clang.cindex", reason="C is read by libclang: pip install 'aspenpy[extract]'")
pytestmark = pytest.mark.skipif(not shutil.which("gcc"), reason="compiles programs with GCC")

PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
#ifndef REPEATS
#define REPEATS 2
#endif
static double root(double a, int n) {
  double x = 0;
  int low = 0, high = n;
  while (low < high) { int mid = (low + high) / 2; if (mid < a) low = mid + 1; else high = mid; x += 0.5; }
  return x + low;
}
int main(int argc, char **argv) {
  int rows = atoi(argv[1]), k = 0, *start = malloc((rows + 1) * sizeof(int));
  double *x = malloc(rows * sizeof(double)), sum = 0;
  for (int i = 0; i <= rows; i++) start[i] = 3 * i;
  for (int i = 0; i < rows; i++) x[i] = i % 4 == 3;
  for (int i = 0; i < rows; i++)
    for (int j = start[i]; j < start[i + 1]; j++) sum += 1.5;
  for (int i = 0; i < rows; i++) if (i < 100 && x[i] > 0.5) sum *= 1.5;
  for (int i = 0; i < rows; i++) { if (x[i] > 2.0) break; if (x[i] < 0.5) { sum += x[i]; continue; } sum /= 3.0; }
  for (int i = 0; i < REPEATS; i++) while (x[k] < 0.5) k++;
  k = 0;
  while (1) { sum += x[k]; if (++k == rows / 2 || sum < 0) break; }
  do k--; while (x[k] < 0.5);
  for (int i = 0; i < rows; i++) sum += root(i, rows);
  printf("%g\\n", sum);
  return 0;
}
"""


def run(folder: Path, command: str, over: dict[str, list[float]], text: str = PROGRAM, **more: str) -> Extraction:
    (folder / "program.c").write_text(text, encoding="utf-8")
    return extract(folder / "program.c", run=ProgramRun(command, over, **more))  # type: ignore[arg-type]


def values(found: Extraction) -> dict[str, str]:
    return dict(re.findall(r"param (\w+) = ([^/]*?(?:/\w+)?)(?: counted at [^/]*)?  //", found.text))


BY_HAND = {
    "start_difference": "3",
    "main_branch": "0.25",  # of the hundred for which the first part holds
    "main_i_share": "1",
    "main_branch_2": "0",
    "main_branch_3": "0.75",
    "main_loop_passes": "0.5*rows",
    "main_x_passes": "1.5",
    "main_x_passes_2": "1",
    "rows": "6400",
}


def test_counts_become_formulas_in_the_sizes_of_the_command(tmp_path: Path) -> None:
    found = run(tmp_path, "./a.out {rows}", {"rows": [400, 1600, 6400]})
    filled = values(found)
    assert filled.items() >= BY_HAND.items()
    assert re.fullmatch(r"(1|0\.9\d+|1\.0\d+)\*log2\(rows\)( [+-] 0\.\d+)?", filled["root_low_passes"])
    assert not [item for item in found.diagnostics if item.code == "unknown"]
    assert "counted in 3 runs, within" in found.text


def test_sizes_that_only_the_command_knows_and_macros(tmp_path: Path) -> None:
    other = values(run(tmp_path, "./a.out {k}", {"k": [400, 800]}))
    assert other["rows"] == "k"
    assert other["k"] == "800"
    assert other["main_loop_passes"] == "0.5*k"
    repeated = values(run(tmp_path, "./a.out 512", {"REPEATS": [2, 4]}))
    assert repeated["rows"] == "512"
    assert repeated["main_x_passes"] == "3/REPEATS"


def test_loops_that_data_may_end_early_have_a_share(tmp_path: Path) -> None:
    text = """int main(int c, char **v) { double r = 1; int n = 20;
      for (int i = 0; i < n && r > 0.3; i++) r *= 0.5;
      return 0; }"""
    assert values(run(tmp_path, "./a.out", {}, text))["main_i_share"] == "0.1"  # two of twenty


def test_jumps_behind_a_known_condition_are_counted_once(tmp_path: Path) -> None:
    text = """int main(void) { double s = 1;
      for (int j = 0; j < 10; ++j) { if (j > 2) break; s *= 2.5; }
      return s < 0; }"""
    assert "flops [3] as multiply, dp" in run(tmp_path, "./a.out", {}, text).text


def test_a_poor_fit_is_told(tmp_path: Path) -> None:
    text = """#include <stdlib.h>
    int main(int c, char **v) { int n = atoi(v[1]), k = n % 7 ? 3 : 40; double s = 1;
      while (k > 0) { k -= 1 + (s > 1e30); s *= 1.5; }
      return 0; }"""
    found = run(tmp_path, "./a.out {n}", {"n": [7, 9, 14, 20, 30]}, text)
    (told,) = [item for item in found.diagnostics if item.code == "poor-fit"]
    assert "fits what was counted within" in told.message


ROWS = """#include <stdlib.h>
typedef struct { int n, *ptr, *degree; } Graph;
static double all(const Graph *g) {
  double s = 0;
  for (int i = 0; i < g->n; i++) for (int k = g->ptr[i]; k < g->ptr[i + 1]; k++) s += 1.5;
  return s;
}
static double odd(const Graph *g) {
  double s = 0;
  const int *ptr = g->ptr;
  for (int i = 1; i < g->n; i += 2) {
    const int end = ptr[i + 1];
    for (int k = ptr[i]; k < end; k++) s *= 1.5;
  }
  for (int i = 0; i < g->n; i++) {
    int d = g->degree[i];
    for (int k = 0; k < d; k++) s *= 1.5;
  }
  return s;
}
int main(int argc, char **argv) {
  Graph g = {atoi(argv[1]), malloc(8000), malloc(8000)};
  g.ptr[0] = 0;
  for (int i = 0; i < g.n; i++) { g.degree[i] = i % 5; g.ptr[i + 1] = g.ptr[i] + 2 + 4 * (i % 2); }
  return all(&g) + all(&g) + odd(&g) < 0;
}
"""


def test_loops_over_elements_of_one_array_share_their_mean(tmp_path: Path) -> None:
    same = ROWS.replace("int i = 1; i < g->n; i += 2", "int i = 0; i < g->n; i++")
    found = values(run(tmp_path, "./a.out {n}", {"n": [200, 400]}, same))
    assert not [name for name in found if name.endswith("_passes")]
    assert (found["ptr_difference"], found["degree_mean"]) == ("4", "2")


def test_loops_whose_means_differ_have_their_own(tmp_path: Path) -> None:
    found = values(run(tmp_path, "./a.out {n}", {"n": [200, 400]}, ROWS))
    assert (found["all_k_passes"], found["odd_k_passes"], found["degree_mean"]) == ("4", "6", "2")


CPP = """#include <vector>
#include <cstdlib>
double norm(const std::vector<double>& x) {
  double s = 0; for (auto v : x) if (v > 0.5) s += v * v; return s; }
int main(int argc, char** argv) {
  std::vector<double> x(std::atoi(argv[1]));
  for (int i = 0; i < (int) x.size(); ++i) x[i] = (i % 8) / 8.0;
  return norm(x) < 0;
}
"""


@pytest.mark.skipif(not shutil.which("g++"), reason="compiles programs with GCC")
def test_loops_over_containers(tmp_path: Path) -> None:
    (tmp_path / "v.cpp").write_text(CPP, encoding="utf-8")
    found = values(extract(tmp_path / "v.cpp", run=ProgramRun("./a.out {n}", {"n": [80, 800]})))
    assert found["n"] == "800"
    assert found["norm_branch"] == "0.375"  # three of eight


@slow
@pytest.mark.skipif(not shutil.which("valgrind"), reason="counts instructions with Valgrind")
def test_lackey_counts_as_gcov_does(tmp_path: Path) -> None:
    ways = [run(tmp_path, "./a.out 40", {}, counts=counts).text for counts in ("gcov", "lackey")]
    assert ways[0] == ways[1]


FIXED = "#define N 5\nint main(void) { double x = 0; for (int i = 0; i < N; i++) x += 1; return 0; }"


@pytest.mark.parametrize(
    ("command", "over", "text", "message"),
    [
        ("./a.out {n}", {}, PROGRAM, "the command of --run uses {n}, but `n` has no values"),
        ("./a.out 'x", {}, PROGRAM, "`./a.out 'x` is no command: no closing quotation"),
        ("", {}, PROGRAM, "--run: there is no command"),
        ("./a.out", {"N": [5, 6]}, FIXED, "program.c` defines `N` whatever --over says"),
        ("./a.out", {}, FIXED.replace("return 0", "return 3"), "program` ended with status 3"),
        ("./a.out", {}, "void f(int n); int main(void) { f(3); return 0; }", "undefined reference to `f'"),
        ("true ./b.out", {}, FIXED, "has not run the program to its end: gcov has no counts"),
        ("nowhere-such ./b.out", {}, FIXED, "`nowhere-such` cannot be run: No such file or directory"),
    ],
)  # fmt: skip
def test_what_cannot_be_run(
    command: str, over: dict[str, list[float]], text: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(AspenError) as refused:
        run(tmp_path, command, over, text)
    assert message in refused.value.diagnostics[0].message


def test_no_shell_sees_a_command(tmp_path: Path) -> None:
    found = values(run(tmp_path, f"./a.out 400 ; touch {tmp_path}/made $(touch {tmp_path}/made)", {}))
    assert found["rows"] == "400"
    assert not (tmp_path / "made").exists()


def test_the_program_is_the_first_local_word() -> None:
    command = parse_command("mpirun -n {ranks} ./a.out {n} ./b")
    assert command.fill_in({"n": 8, "ranks": 2.0}, ["/built"]) == ["mpirun", "-n", "2", "/built", "8", "./b"]
    assert parse_command("solver {n}").fill_in({"n": 0.5}, ["/built"]) == ["/built", "0.5"]


@pytest.mark.parametrize(
    ("law", "text"),
    [
        (lambda n: 7.0, "7"),
        (lambda n: 0.5 * n, "0.5*n"),
        (lambda n: 2 * n * n - 3000, "2*n^2 - 3000"),
        (lambda n: 1 - 52 / n, "1 - 52/n"),
    ],
)
def test_fits_find_the_law_of_exact_counts(law: object, text: str) -> None:
    points = [({"n": n}, law(n)) for n in (100, 200, 400, 800)]  # type: ignore[operator]
    terms = [FitTerm("n", exponent) for exponent in (-1, 1, 2)]
    assert str(fit_formula(points, terms)) == text


LEVELS = """#include <stdlib.h>
typedef struct { int n; double *u; } Level;
static void sweep(Level *level) {
  int wide = level->n + 1;
  for (int y = 0; y < level->n; y++)
    for (int x = 0; x < level->n; x++) level->u[y * wide + x] += 1;
}
int main(int argc, char **argv) {
  Level levels[3];
  for (int i = 0; i < 3; i++) {
    levels[i].n = atoi(argv[1 + i]);
    levels[i].u = calloc((levels[i].n + 1) * (levels[i].n + 1), sizeof(double));
  }
  for (int i = 0; i < 3; i++) sweep(&levels[i]);
  return levels[0].u[0] > 5;
}
"""


def test_rows_of_ever_other_lengths_have_whole_strides(tmp_path: Path) -> None:
    """The mean of 50, 80 and 121 is no whole number."""
    (tmp_path / "levels.c").write_text(LEVELS, encoding="utf-8")
    found = extract(tmp_path / "levels.c", run=ProgramRun("./a.out 50 80 121"))
    (tmp_path / "levels.aspen").write_text(found.text, encoding="utf-8")
    application = aspenpy.load_application(tmp_path / "levels.aspen")
    assert float(aspenpy.predict(application, aspenpy.load_machine("haswell")).runtime) > 0
    loads = float(aspenpy.count(application, "loads"))
    assert loads == pytest.approx(8 * (50**2 + 80**2 + 121**2), rel=0.05)


def test_members_that_a_macro_names_are_recorded_each(tmp_path: Path) -> None:
    """Rows have n + 2 words and planes 3 (n + 2): the index as a whole, of which the macro is, is none of them."""
    text = (
        "#include <stdlib.h>\n"
        "struct grid { int n, pitch, plane; double *u; };\n"
        "#define AT(g, i, j, k) ((k) * (g)->plane + (j) * (g)->pitch + (i))\n"
        "#define CELLS(g, i, j) for (int j = 0; j < 3; j++) for (int i = 0; i < (g)->n; i++)\n"
        "static struct grid *make(int n) { struct grid *g = malloc(sizeof *g); g->n = n; g->pitch = n + 2;\n"
        "  g->plane = 3 * g->pitch; g->u = calloc(5 * g->plane, 8); return g; }\n"
        "void sweep(struct grid *g) {\n"
        "  for (int k = 0; k < 5; k++) CELLS(g, i, j) g->u[AT(g, i, j, k)] += 1.5; }\n"
        "int main(int argc, char **argv) { struct grid *list[2] = {make(atoi(argv[1])), make(atoi(argv[1]))};\n"
        "  for (int k = 0; k < 4; k++) sweep(list[k % 2]); return 0; }\n"
    )
    (tmp_path / "p.c").write_text(text, encoding="utf-8")
    found = extract(tmp_path / "p.c", run=ProgramRun("./a.out {n}", {"n": [10.0, 20.0, 40.0]}))
    fits = {hole.name: str(hole.fit) for hole in found.holes if hole.fit is not None}
    assert fits["pitch"] == "n + 2"
    assert fits["plane"] == "3*n + 6"
    (tmp_path / "p.aspen").write_text(found.text, encoding="utf-8")
    assert float(aspenpy.count(aspenpy.load_application(tmp_path / "p.aspen"), "flops", set={"n": 80})) == 4 * 15 * 80


RAGGED = """#include <cstdlib>
#include <vector>
static long pairs(const std::vector<std::vector<int>> &bins, int side) {
  long found = 0;
  for (int i = 0; i < side; i++)
    for (int p : bins[i])
      for (int u = i > 0 ? i - 1 : 0; u <= i + 1 && u < side; u++)
        for (int q : bins[u]) found += q > p;
  return found;
}
int main(int argc, char **argv) {
  int side = atoi(argv[1]), count = atoi(argv[2]);
  std::vector<std::vector<int>> bins(side);
  for (int i = 0; i < count; i++) bins[(i * 7L + i / 3) % side].push_back(i);
  return pairs(bins, side) < 0;
}
"""


def test_a_loop_around_one_over_a_container_has_its_passes(tmp_path: Path) -> None:
    """Rows of ever other lengths; the passes of the loop over neighbours are those of its step."""
    side, count = 100, 1031
    (tmp_path / "ragged.cpp").write_text(RAGGED, encoding="utf-8")
    found = extract(tmp_path / "ragged.cpp", run=ProgramRun(f"./a.out {side} {count}"))
    lengths = [0] * side
    for i in range(count):
        lengths[(7 * i + i // 3) % side] += 1
    passes = sum(length * (2 if i in (0, side - 1) else 3) for i, length in enumerate(lengths)) / count
    assert float(values(found)["pairs_u_passes"]) == pytest.approx(passes, rel=1e-3)
    assert not found.left()
    (tmp_path / "ragged.aspen").write_text(found.text, encoding="utf-8")
    prediction = aspenpy.predict(aspenpy.load_application(tmp_path / "ragged.aspen"), aspenpy.load_machine("haswell"))
    assert float(prediction.runtime) > 0


SORTING = """#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>
struct Item { double key; int id; };
static long compared;
static int by_key(const void *a, const void *b) {
  compared++;
  double p = ((const Item *)a)->key, q = ((const Item *)b)->key;
  return p < q ? -1 : p > q;
}
int main(int argc, char **argv) {
  int n = atoi(argv[1]), rounds = atoi(argv[2]);
  Item *items = (Item *)malloc(n * sizeof(Item));
  std::vector<int> order(n);
  long found = 0, steps = 0;
  for (int t = 0; t < rounds; t++) {
    for (int i = 0; i < n; i++) { items[i].key = (i * 7919L + t) % n; items[i].id = i; }
    qsort(items, n, sizeof(Item), by_key);
    for (int i = 0; i < n; i++) order[i] = i;
    std::sort(order.begin(), order.end(), [&](int a, int b) { steps++; return items[a].id < items[b].id; });
    for (int i = 0; i < n; i++) found += items[order[i]].id == i;
  }
  std::printf("%ld %ld %ld\\n", found, compared, steps);
  return 0;
}
"""


def test_comparators_are_called_as_often_as_a_library_compares(tmp_path: Path) -> None:
    """The program counts the calls itself."""
    (tmp_path / "sorting.cpp").write_text(SORTING, encoding="utf-8")
    subprocess.run(["g++", "-O1", str(tmp_path / "sorting.cpp"), "-o", str(tmp_path / "a.out")], check=True)
    said = subprocess.run([tmp_path / "a.out", "1000", "3"], check=True, capture_output=True, text=True).stdout
    by_qsort, by_sort = (int(word) / 3 for word in said.split()[1:])
    found = extract(tmp_path / "sorting.cpp", run=ProgramRun("./a.out 1000 3"))
    counted = values(found)
    assert float(counted["qsort_comparisons"]) == pytest.approx(by_qsort, rel=1e-3)
    assert float(counted["sort_comparisons"]) == pytest.approx(by_sort, rel=1e-3)
    said = {item.message.partition(":")[0] for item in found.diagnostics if item.code == "comparisons-only"}
    assert said == {f"of `{name}` only the comparisons are counted" for name in ("qsort", "sort")}
    assert not found.left()
    application = parse(found.text, "sorting")
    compares = float(aspenpy.count(application, "flops", traits=["compare"]))
    assert compares == pytest.approx(2 * 3 * by_qsort, rel=1e-3)  # `p < q`, and `p > q`, by all of them


def test_a_loop_that_begins_a_function_has_its_passes(tmp_path: Path) -> None:
    """By hand: 7 passes in each of 100 calls. GCC counts the passes at the head of the function, too."""
    (tmp_path / "program.c").write_text(
        "#include <stdio.h>\n#include <stdlib.h>\nstatic double total;\n"
        "static void walk(const int *next, int at) {\n  for (;;) {\n    total += 0.5;\n    if (next[at] < 0) return;\n"
        "    at = next[at];\n  }\n}\n"
        "int main(int argc, char **argv) {\n  int n = atoi(argv[1]), next[7];\n"
        "  for (int i = 0; i < 7; i++) next[i] = i < 6 ? i + 1 : -1;\n"
        '  for (int i = 0; i < n; i++) walk(next, 0);\n  printf("%g\\n", total);\n}\n',
        encoding="utf-8",
    )
    found = extract(tmp_path / "program.c", run=ProgramRun("./program 100"))
    assert "param walk_loop_passes = 7" in found.text
    assert float(aspenpy.count(aspenpy.parse(found.text), "flops")) == pytest.approx(700)
