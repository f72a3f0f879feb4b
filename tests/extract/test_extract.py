"""What is extracted from small programs, against counts by hand; what is refused, and where; random programs."""

import importlib
import json
import shutil
import subprocess
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest

import aspenpy
import aspenpy.extract
from aspenpy.answers.checks.files import check_file
from aspenpy.extract.extraction import extract
from aspenpy.extract.scope import Names
from aspenpy.language.diagnostics import AspenError
from aspenpy.language.files import Reader
from aspenpy.shell.main import main
from tests.extract.random_c import Program
from tests.extract.random_cc import Program as ProgramInCc
from tests.extract.random_nests import Nests, counting, extracted
from tests.thorough import some

pytest.importorskip("clang.cindex", reason="C is read by libclang: pip install 'aspenpy[extract]'")


def model(text: str, folder: Path, name: str = "program.c", **options: object) -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return extract(folder / name, **options).text  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("loop", "flops"),
    [
        ("for (int i = 0; i < n; i++) x[i] *= 3;", "n"),
        ("for (int i = n - 1; i >= 0; i -= 1) x[i] *= 3;", "n"),
        ("for (int i = 0; i <= n; i += 4) x[i] *= 3;", "ceil((n + 1)/4)"),
        ("for (int i = 0; i < n; i++) for (int j = i; j < n; j++) x[j] *= 3;", "(n^2 + n)/2"),
        ("for (int t = 0; t < n; t += 8) for (int i = t; i < (t + 8 < n ? t + 8 : n); i++) x[i] *= 3;", "n"),
        ("for (int i = 0; i < n; i++) if (i != 2) x[i] *= 3;", "n - 1"),
        ("int k = 0; while (k < n) { x[k] *= 3; k += 1; }", "n"),
        ("for (double *p = x; p != x + n; ++p) *p *= 3;", "n"),
        (
            "for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) for (int k = j; k < i; k++) x[k] *= 3;",
            "(n^3 - n)/6",
        ),
    ],
)
def test_passes_of_a_loop(loop: str, flops: str, tmp_path: Path) -> None:
    assert f"flops [{flops}] as multiply, dp" in model(f"void f(int n, double *x) {{ {loop} }}", tmp_path)


@pytest.mark.parametrize(
    ("body", "request_"),
    [
        ("for (int i = 0; i < n; i++) y[i] = x[i];", "loads [n] of size [8] from x as stream"),
        ("for (int i = 0; i < n; i++) y[0] += x[8*i];", "loads [n] of size [8] from x as nest(64, n)"),
        ("for (int i = 0; i < n; i++) y[i] = x[k[i]];", "loads [n] of size [8] from x as random"),
        ("for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++) y[i*n + j] = x[i*n + j] + x[i*n + j + 1]"
         " + x[i*n + j - 1] + x[(i + 1)*n + j] + x[(i - 1)*n + j];",
         "loads [5*n^2 - 20*n + 20] of size [8] from x as stencil(5, n - 2, n - 2)"),
        ("memset(y, 0, n*sizeof(double));", "stores [n] of size [8] to y as stream"),
        # An array whose length is known when it runs: the size of all of it, and of its rows.
        ("double a[n + 1]; memset(y, 0, sizeof a);", "stores [n + 1] of size [8] to y as stream"),
        ("double a[5][n]; memset(y, 0, sizeof a[0]);", "stores [n] of size [8] to y as stream"),
        ("float a[n][4][n]; memset(y, 0, sizeof(a));", "stores [2*n^2] of size [8] to y as stream"),
    ],
)  # fmt: skip
def test_patterns_of_accesses(body: str, request_: str, tmp_path: Path) -> None:
    text = model(f"#include <string.h>\nvoid f(int n, double *x, double *y, int *k) {{ {body} }}", tmp_path)
    assert request_ in text


def test_what_may_overlap_is_told_and_stays_in_memory(tmp_path: Path) -> None:
    text = "void f(int n, double *s, double *x) { for (int i = 0; i < n; i++) *s += x[i]; }"
    (tmp_path / "sum.c").write_text(text, encoding="utf-8")
    source, o3 = (extract(tmp_path / "sum.c", level=level) for level in ("source", "o3"))
    for found in (source, o3):
        assert "stores [n] of size [8] to s" in found.text
    assert [item.code for item in source.diagnostics if item.code == "aliasing"] == ["aliasing"]
    (tmp_path / "sum.c").write_text(text.replace("*s,", "*restrict s,"), encoding="utf-8")
    apart = extract(tmp_path / "sum.c")
    assert "stores [n]" not in apart.text
    assert not [item for item in apart.diagnostics if item.code == "aliasing"]


@pytest.mark.parametrize(
    ("level", "loads"),
    [("source", "3*n"), ("o2", "n - 2"), ("o3", "2*n")],  # three words a pass, one, and two vectors of two
)
def test_values_stay_in_registers_from_pass_to_pass(level: str, loads: str, tmp_path: Path) -> None:
    text = "double x[900], y[900]; void f(int n) { for (int i = 1; i < n - 1; i++) y[i] = x[i - 1] + x[i] + x[i + 1]; }"
    assert f"loads [{loads}" in model(text, tmp_path, level=level)


def test_names_of_the_source_are_those_of_the_model(tmp_path: Path) -> None:
    text = "#define ROWS 12 // rows\nenum { COLUMNS = 7 };\ndouble a[ROWS][COLUMNS];\n"
    text += "void scale(int n) { for (int i = 0; i < n; i++) for (int j = 0; j < COLUMNS; j++) a[i][j] *= 3; }\n"
    found = model(text + "int main(void) { scale(ROWS); return 0; }", tmp_path)
    assert "param ROWS = 12  // program.c:1: rows" in found
    assert "data a as Matrix(ROWS, COLUMNS, 8)" in found
    assert "flops [COLUMNS*ROWS] as multiply, dp" in found


@pytest.mark.parametrize(("body", "value"), [("0x1Fu", 31), ("017", 15), ("(10L)", 10), ("(1234)", 1234)])
def test_macros_are_numbers_in_any_base(body: str, value: int, tmp_path: Path) -> None:
    text = f"#define ROWS {body}\n#define ALL (ROWS)\ndouble x[ROWS];\n"
    text += "void f(void) { for (int i = 0; i < ALL; i++) x[i] *= 2; }"
    assert f"param ROWS = {value} " in model(text, tmp_path)


@pytest.mark.parametrize(("value", "named"), [(0, False), (1, False), (2, True), (3, True)])
def test_macros_from_two_on_are_parameters(value: int, named: bool, tmp_path: Path) -> None:
    """0 and 1 are switches more often than sizes."""
    text = f"#define UNROLL {value}\nvoid f(int n, double *x) {{ for (int i = 0; i < UNROLL; i++) x[i] *= 3; }}"
    found = model(text, tmp_path)
    assert (f"param UNROLL = {value} " in found) is named
    assert ("flops [UNROLL] as multiply, dp" in found) is named


@pytest.mark.parametrize("begin", ["x[i] = 0", "x[i] += 1"])
def test_sums_in_memory_wait_for_themselves_whatever_they_begin_with(begin: str, tmp_path: Path) -> None:
    text = "double x[9], A[9][9]; void f(int n) { for (int i = 0; i < n; i++) { "
    found = model(text + begin + "; for (int j = 0; j < n; j++) x[i] += A[i][j]; } }", tmp_path)
    assert "each pass waits for the one before: add of x, n^2 times" in found


@pytest.mark.parametrize(("level", "counted"), [("o2", True), ("o3", False)])
def test_loops_beside_a_chain_take_their_passes(level: str, counted: bool, tmp_path: Path) -> None:
    """A sum of n words, then n words that are stored: the loops run one after the other."""
    text = "double x[9], y[9], s; void f(int n) { for (int k = 0; k < n; k++) { double t = 0; "
    text += "for (int i = 0; i < n; i++) t += x[i]; for (int i = 0; i < n; i++) y[i] = t * x[i]; } }"
    found = model(text, tmp_path, level=level, chains=True)
    assert "chain [n^2] as add" in found
    assert ("chain [n^2] as integer" in found) == counted


def test_rows_of_a_sparse_matrix_follow_each_other(tmp_path: Path) -> None:
    text = "double y[50]; void f(const int *ptr, const double *a) { for (int i = 0; i < 50; i++) "
    found = model(text + "for (int k = ptr[i]; k < ptr[i + 1]; k++) y[i] += a[k]; }", tmp_path)
    assert "data ptr [204]" in found  # 51 numbers of 4 bytes
    assert "data a [400*ptr_difference]" in found  # 50 rows of 8 bytes each word
    assert "[50*ptr_difference] of size [8] from a as stream" in found


def test_rows_that_are_walked_again_are_no_new_data(tmp_path: Path) -> None:
    text = "void f(int n, double **a) { for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) "
    found = model(text + "for (int k = 0; k < j; k++) a[i][j] -= a[i][k] * a[j][k]; }", tmp_path)
    assert not [line for line in found.splitlines() if "data a" in line and "n^3" in line]  # n*n words at most


def test_enumerators_follow_what_they_are_made_of(tmp_path: Path) -> None:
    text = "#define N 40\nenum { ROWS = N, COLUMNS = 2 * (ROWS - 3) };\ndouble a[COLUMNS];\n"
    found = model(text + "int main(void) { for (int i = 0; i < COLUMNS; i++) a[i] = 1; return 0; }", tmp_path)
    assert "param N = 40" in found
    assert "param ROWS = N" in found
    assert "param COLUMNS = 2*ROWS - 6" in found


CPP = """
#include <vector>
template <typename T> inline T square(T x) { return x * x; }
class Grid {
public:
  int cells() const { return m_cells; }
  double& e(int i) { return m_e[i]; }
private:
  int m_cells;
  std::vector<double> m_e;
};
void update(Grid& grid) {
  #pragma omp parallel for
  for (int i = 0; i < grid.cells(); ++i)
    grid.e(i) = square(grid.e(i)) + 1.0;
}
"""


def test_classes_accessors_and_templates(tmp_path: Path) -> None:
    text = model(CPP, tmp_path, "grid.cpp")
    for line in (
        "execute [threads] {",
        "flops [m_cells/threads] as multiply, dp",
        "flops [m_cells/threads] as add, dp",
        "loads [m_cells/threads] of size [8] from m_e as stream",
        "stores [m_cells/threads] of size [8] to m_e as stream",
    ):
        assert line in text


@pytest.mark.parametrize(
    ("name", "text", "code", "place"),
    [
        ("a.c", "void f(int n) { for (int i = 0; i < n; i++ { }", "c-syntax", (1, 44)),
        ("a.c", "int x;\nhello world\n", "c-syntax", (2, 1)),
        ("a.c", "int x;\n", "no-functions", None),
        ("a.c", "int\0x;\n", "unreadable-source", None),
        ("a.txt", "int x;\n", "unknown-language", None),
    ],
)
def test_what_is_refused(name: str, text: str, code: str, place: tuple[int, int] | None, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(AspenError) as refused:
        extract(tmp_path / name)
    first = refused.value.diagnostics[0]
    assert first.code == code
    assert place is None or (first.span is not None and first.span.position() == place)


@pytest.mark.parametrize("place", range(7, len(CPP), some(1, 60)))
def test_truncated_programs_are_models_or_diagnostics(place: int, tmp_path: Path) -> None:
    for end in ("", "\n}\n", '"', "/*", "(", "#if 1\n"):
        (tmp_path / "a.cpp").write_text(CPP.replace("#include <vector>", "")[:place] + end, encoding="utf-8")
        with suppress(AspenError):
            extract(tmp_path / "a.cpp")


STANDARD = """
#include <algorithm>
#include <memory>
#include <numeric>
#include <vector>
double f(int n) {
  std::vector<double> v(n, 1.0);
  auto w = std::make_unique<double[]>(n);
  double sum = std::accumulate(v.begin(), v.end(), 0.0);
  auto scaled = [&sum](double x) { return x * sum; };
  std::transform(v.begin(), v.end(), v.begin(), scaled);
  for (std::vector<double>::const_iterator it = v.begin(); it != v.end(); ++it) sum += *it;
  for (auto& x : v) x /= sum;
  double& first = w[0];
  for (int i = 0; i < n; ++i) first += v.at(i);
  return sum;
}
"""


def test_containers_iterators_and_algorithms(tmp_path: Path) -> None:
    """Three sums and a product and a quotient of n elements each, and nothing left open but n."""
    (tmp_path / "a.cpp").write_text(STANDARD, encoding="utf-8")
    found = extract(tmp_path / "a.cpp")
    assert [hole.name for hole in found.holes] == ["n"]
    flops = [line.strip() for line in found.text.splitlines() if line.strip().startswith("flops")]
    assert sorted(flops) == sorted(
        ["flops [n] as add, dp"] * 3 + ["flops [n] as multiply, dp", "flops [n] as divide, dp"]
    )


SIZED = """
#include <vector>
struct Grid {
  std::vector<double> e;
  std::vector<int> index;
  explicit Grid(int edge) { e.resize(edge * edge); index.resize(edge); MORE }
};
void update(Grid& grid, int n) { for (int i = 0; i < n; ++i) grid.e[grid.index[i]] *= 0.5; }
int main(int argc, char** argv) {
  Grid* grid = new Grid(argc);
  for (int t = 0; t < 10; ++t) update(*grid, argc);
}
"""


@pytest.mark.parametrize(("more", "size"), [("", "as Array(argc^2, 8)"), ("e.push_back(1.0);", "[e_bytes]")])
def test_containers_have_the_size_that_they_are_given(more: str, size: str, tmp_path: Path) -> None:
    assert f"data e {size}" in model(SIZED.replace("MORE", more), tmp_path, "a.cpp")


@pytest.mark.parametrize(("case", "holes"), [("s = x[i];", ["n"]), ("s = 2 * x[i];", ["n", "f_case", "f_case_2"])])
def test_cases_that_only_move_data_need_no_parameter(case: str, holes: list[str], tmp_path: Path) -> None:
    text = "double at(const double* x, int i) { return x[i]; }\n"
    text += "void f(double* y, const double* x, const int* k, int n) {"
    text += f"for (int i = 0; i < n; i++) {{ double s; switch (k[i]) {{ case 0: {case} break; default: s = at(x, i); }}"
    (tmp_path / "a.c").write_text(f"{text} y[i] = s; }} }}", encoding="utf-8")
    found = [hole.name for hole in extract(tmp_path / "a.c", functions=["f"]).holes if "bytes" not in hole.name]
    assert sorted(found) == sorted(holes)


def test_a_missing_header_is_a_warning_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(
        '#include "nothere.h"\nvoid f(int n, double *x) { for (int i = 0; i < n; i++) x[i] *= 3; }\n', encoding="utf-8"
    )
    found = extract(tmp_path / "a.c")
    assert "flops [n] as multiply, dp" in found.text
    assert str(found.diagnostics[0]).splitlines()[0] == "warning: header not found: `nothere.h`"


def test_recursion_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("double f(double x) { return x < 1 ? x : f(x / 2) + f(x / 3); }", encoding="utf-8")
    assert "recursion" in {item.code for item in extract(tmp_path / "a.c").diagnostics}


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "a.c"
    source.write_text("void f(int n, double *x) { for (int i = 0; i < n; i++) x[i] *= 3; }", encoding="utf-8")
    assert main(["extract", str(source), "-o", str(tmp_path / "a.aspen")]) == 0
    assert aspenpy.load_application(tmp_path / "a.aspen").name == "a"
    capsys.readouterr()
    assert main(["extract", str(source), "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [parameter["parameter"] for parameter in told["parameters"]] == ["n"]


@pytest.mark.parametrize("seed", range(some(400, 6)))
def test_random_programs_are_models_that_pass_the_check(seed: int, tmp_path: Path) -> None:
    model_ = tmp_path / "a.aspen"
    model_.write_text(model(Program(seed).text(), tmp_path), encoding="utf-8")
    assert [item for item in check_file(model_, None, Reader(), socket=None) if item.severity == "error"] == []


SIZES = [(2, 5), (7, 4), (9, 9), (6, 13)]
LONGEST = 5
"""The seed of nests whose formulas take as long as all others together."""


def test_random_nests_run_as_often_as_is_extracted(tmp_path: Path) -> None:
    """Against the same loops, compiled and run."""
    compared = 0
    for seed in range(some(300, 8)):
        if seed == LONGEST and some(300, 8) < 300:
            continue
        text = Nests(seed).text()
        (tmp_path / "a.c").write_text(extracted(text), encoding="utf-8")
        (tmp_path / "count.c").write_text(counting(text, SIZES), encoding="utf-8")
        subprocess.run(["gcc", "-w", str(tmp_path / "count.c"), "-o", str(tmp_path / "count")], check=True)
        ran = subprocess.run([str(tmp_path / "count")], capture_output=True, text=True, check=True).stdout.split()
        found = extract(tmp_path / "a.c")
        names = {hole.name for hole in found.holes}
        if not names <= {"n", "m"} or "below 0" in found.text:
            continue  # conditions that need a parameter, and formulas that say where they hold
        (tmp_path / "a.aspen").write_text(found.text, encoding="utf-8")
        app = aspenpy.load_application(tmp_path / "a.aspen")
        for (n, m), times in zip(SIZES, ran, strict=True):
            given = {name: value for name, value in (("n", n), ("m", m)) if name in names}
            steps = aspenpy.trace(app, set=given, most=10**6, passes=10**6).steps
            assert sum(d.amount for step in steps for d in step.demands if d.resource == "flops") == int(times), text
            compared += 1
    assert compared > 3


@pytest.mark.skipif(not shutil.which("g++"), reason="compiles programs with GCC")
def test_random_programs_in_cc_compute_what_is_extracted(tmp_path: Path) -> None:
    """Against the same text, compiled with a class of numbers that counts."""
    source, compared = tmp_path / "a.cc", 0
    for seed in range(some(2000, 3)):
        source.write_text(ProgramInCc(seed).text(), encoding="utf-8")
        found = extract(source)
        names = {hole.name for hole in found.holes if not hole.name.endswith("_bytes")}
        if not names <= {"n", "m"} or "below 0" in found.text:
            continue  # containers of several sizes in one function
        subprocess.run(["g++", "-DCOUNTED", "-w", str(source), "-o", str(tmp_path / "a")], check=True)
        app = aspenpy.load_application(found.text)
        for n, m in SIZES[:2]:
            command = [str(tmp_path / "a"), str(n), str(m)]
            ran = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
            given = {name: value for name, value in (("n", n), ("m", m)) if name in names}
            total: Counter[str] = Counter()
            for step in aspenpy.trace(app, set=given, most=10**6, passes=10**6).steps:
                total.update({d.traits[0]: int(d.amount) for d in step.demands if d.resource == "flops"})
            assert [total[kind] for kind in ("add", "multiply", "divide")] == [*map(int, ran)], seed
            compared += 1
    assert compared > 1


def test_a_null_pointer_stands_for_data_of_its_own(tmp_path: Path) -> None:
    text = "void g(int n, double *x, int *done) { for (int i = 0; i < n; i++) x[i] += 1; if (done) *done = n; }\n"
    text += "void f(int n, double *x) { int d; g(n, x, 0); g(n, x, &d); }"
    written = tmp_path / "program.aspen"
    written.write_text(model(text, tmp_path), encoding="utf-8")
    assert not [item for item in aspenpy.check(written) if item.severity == "error"]


@pytest.mark.parametrize("same", [{"a": "a"}, {"a": "b", "b": "a"}])
def test_arrays_that_functions_exchange_keep_a_name(same: dict[str, str]) -> None:
    assert Names().find_canonical("a", same) in same


def test_packs_of_template_arguments_are_read(tmp_path: Path) -> None:
    text = "template <class... T> double first(double x, const T&... rest) { return 2.5 * x + sizeof...(rest); }\n"
    text += "int main() { return first(1.5, 2, 3.0) < 0; }"
    assert "flops [1] as multiply, dp" in model(text, tmp_path, "program.cpp")


def test_names_of_overloaded_functions_have_no_size(tmp_path: Path) -> None:
    text = "int s(int); double s(double);\ntemplate <class T> double g(T n, double *x) {\n"
    text += "for (int i = 0; i < 4; i++) x[i] += n[s]; return 1; }\nint main() { return 0; }"
    assert "model program" in model(text, tmp_path, "program.cpp")


def test_no_class_of_the_extraction_stands_on_a_tower_of_classes() -> None:
    """State has one owner: a class of the room has at most two ancestors that are in the room too."""
    for path in Path(aspenpy.extract.__file__).parent.glob("*.py"):
        module = importlib.import_module(f"aspenpy.extract.{path.stem}")
        for name, found in vars(module).items():
            if isinstance(found, type):
                own = [each for each in found.__mro__ if each.__module__.startswith("aspenpy.extract.")]
                assert len(own) <= 3, f"{name} is {', '.join(each.__name__ for each in own)}"


def test_words_of_the_source_do_not_make_a_number_of_passes_a_share(tmp_path: Path) -> None:
    """A loop's passes stay open, however little they decide and whatever its text says; only shares are guessed."""
    path = tmp_path / "words.c"
    path.write_text(
        """
int strcmp(const char *, const char *);
void f(int n, double *a, const char *p) {
  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[j] = a[j] / 3.0 + a[i] * 2.5;
  while (strcmp(p, "from 0 to 1")) { a[0] += 1.0; p++; }
}
""",
        encoding="utf-8",
    )
    (passes,) = (hole for hole in extract(str(path)).holes if hole.name.endswith("_passes"))
    assert "from 0 to 1" in str(passes.meaning)
    assert not passes.meaning.is_share
    assert passes.is_left()
