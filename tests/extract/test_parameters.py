"""Open parameters: one for each thing that the source does not say, and none for what it says."""

import re
from collections import Counter
from pathlib import Path

import pytest

import aspenpy
from aspenpy.extract.extraction import Extraction, extract

pytest.importorskip("clang.cindex", reason="C is read by libclang: pip install 'aspenpy[extract]'")


def extracted(folder: Path, text: str, suffix: str = ".cc") -> Extraction:
    (folder / f"program{suffix}").write_text(text, encoding="utf-8")
    return extract(folder / f"program{suffix}")


def parameters(found: Extraction) -> dict[str, str]:
    return dict(re.findall(r"param (\w+) = ([^/]*?)(?: counted at [^/]*)?  //", found.text))


GRID = """
#include <cstdlib>
#include <vector>
struct Grid {
  Grid(int edge) : m_cut(1e-9) {
    m_cells = edge * edge * edge;
    m_map = new int[m_cells];
    m_x.resize(m_cells);
    Number();
  }
  void Number() { for (int i = 0; i < cells(); ++i) m_map[i] = i; }
  int& cells() { return m_cells; }
  double& x(int i) { return m_x[i]; }
  double cut() const { return m_cut; }
  bool none() { return m_x.empty(); }
  const double m_cut;
  int m_cells;
  int* m_map;
  std::vector<double> m_x;
};
static void scale(Grid& grid, double* y) {
  for (int i = 0; i < grid.cells(); ++i) y[i] *= 2.5;       // what is stored here is no member
  for (int i = 0; i < grid.cells(); ++i) grid.m_map[i] = 0;
  if (!grid.none() && grid.cut() != 0.)
    for (int i = 0; i < grid.cells(); ++i) grid.x(i) *= y[grid.m_map[i]];
}
int main() {
  int n = atoi("9");
  Grid* grid = new Grid(n);
  double* y = new double[grid->cells()];
  for (int s = 0; s < 3; ++s) scale(*grid, y);
  return 0;
}
"""


def test_members_follow_from_what_they_were_set_to(tmp_path: Path) -> None:
    found = extracted(tmp_path, GRID)
    assert list(parameters(found)) == ["n"]
    assert "data m_map [4*n^3]" in found.text
    assert found.text.count("flops [n^3] as multiply, dp") == 2  # a call multiplies each of n*n*n words twice


TEMPLATES = """
#include <cstdlib>
#include <vector>
template <typename T> inline T square(const T& x) { return x * x; }
template <typename T> inline T smaller(T a, T b) { return a < b ? a : b; }
template <typename T> T* allocate(size_t count) { return static_cast<T*>(malloc(sizeof(T) * count)); }
template <typename T, int N> struct Small {
  T v[N];
  int n;
  Small() : n(N) {}
  T dot(const Small& o) const { T s = 0; for (int i = 0; i < N; i++) s += square(v[i]) * o.v[i]; return s; }
  void half() { for (int i = 0; i < n; i++) v[i] *= T(0.5); }
};
template <typename T> T total(const std::vector<T>& x) {
  T s = 0;
  for (size_t i = 0; i < x.size(); i++) s += x[i];
  return s;
}
int main() {
  float* f = allocate<float>(100);
  double* d = allocate<double>(100);
  for (int i = 0; i < smaller(100, 70); i++) { f[i] = square(f[i]); d[i] = square(d[i]); }
  Small<float, 12> a, b;
  Small<double, 5> c;
  float r = a.dot(b);
  c.half();
  std::vector<float> w(33);
  r += total(w);
  std::vector<int> u(44);
  r += total(u);
  return 0;
}
"""


def test_templates_are_read_with_the_types_of_their_calls(tmp_path: Path) -> None:
    found = extracted(tmp_path, TEMPLATES)
    assert not parameters(found)
    assert {"data f [400]", "data d [800]"} <= {line.strip().split("  ")[0] for line in found.text.splitlines()}
    counts = operations(found)
    assert counts["multiply sp"] == 70 + 2 * 12
    assert counts["multiply dp"] == 70 + 5
    assert counts["add sp"] == 12 + 33 + 2
    assert counts["add dp"] == 0  # of whole numbers, the last sum


INPUTS = """
#include <cstdio>
#include <cstdlib>
#include <cstring>
struct Options { int edge, steps; bool quiet; };
static Options parsed(int argc, char** argv) {
  Options o = {7, 3, false};
  if (argc > 1) o.edge = atoi(argv[1]);
  return o;
}
static void parse(int argc, char** argv, Options* o) {
  for (int i = 1; i < argc; i++)
    if (strcmp(argv[i], "-i") == 0) { o->steps = strtol(argv[i + 1], NULL, 10); i++; }
    else if (strcmp(argv[i], "-q") == 0) o->quiet = true;
}
int main(int argc, char** argv) {
  int n = 5, m = 8;
  if (argc > 1) n = atoi(argv[1]);
  if (argc > 2) sscanf(argv[2], "%d", &m);
  Options o = parsed(argc, argv), p;
  p.steps = 10;
  parse(argc, argv, &p);
  double* x = (double*) malloc(sizeof(double) * (n + m));
  for (int i = 0; i < n; i++) x[i] = x[i] * 2.5;
  for (int i = 0; i < m; i++) x[i] = x[i] / 2.5;
  for (int k = 0; k < p.steps; k++)
    for (int i = 0; i < o.edge; i++) x[i] = x[i] - 2.5;
  return 0;
}
"""


def test_what_is_read_is_one_parameter_with_the_default_of_the_source(tmp_path: Path) -> None:
    found = extracted(tmp_path, INPUTS)
    values = parameters(found)
    assert {name: values[name] for name in ("n", "edge", "steps")} == {"n": "5", "edge": "7", "steps": "10"}
    assert "8" in values.values()  # of m
    assert not {hole.name for hole in found.holes if hole.is_left()} & {"n", "edge", "steps", "m"}


COUNTED = """
struct State { int cycle; double time; double x[100]; };
static void advance(State& s) {
  if (s.cycle != 0) for (int i = 0; i < 100; i++) s.x[i] *= 2.5;
  s.time += 0.5;
  ++s.cycle;
}
static void smooth(State& s, double* y, int part) {
  int rep;
  if (part < 2) rep = 1;
  else rep = 3;
  for (int j = 0; j < rep; j++) for (int i = 0; i < 100; i++) y[i] /= s.x[i];
}
int main() {
  State s;
  double y[100];
  s.cycle = 0;
  s.time = 0.0;
  while (s.cycle < 7) {
    advance(s);
    for (int part = 0; part < 4; part++) smooth(s, y, part);
  }
  return 0;
}
"""


def test_members_are_counted_on_from_pass_to_pass(tmp_path: Path) -> None:
    found = extracted(tmp_path, COUNTED)
    assert not parameters(found)
    counts = operations(found)
    assert counts["multiply dp"] == 6 * 100  # not in the first of seven passes
    assert counts["divide dp"] == 7 * (1 + 1 + 3 + 3) * 100


BRANCHES = """
#include <cstdlib>
static void work(double* x, const double* d, int n) {
  for (int i = 0; i < n; i++) if (x[i] < 0.0) exit(1);
  for (int i = 0; i < n; i++) { if (d[i] > 0.5) x[i] = 0.0; else x[i] = x[i] * 2.5; }
  for (int i = 0; i < n; i++) if (d[i] <= 0.5) x[i] = x[i] / 2.5;
  for (int i = 0; i < n; i++) for (int j = 0; j < 100; j++) x[i] += d[j];
  if (x[0] > 3.0) x[0] = x[1] * x[2];
}
int main(int argc, char** argv) {
  int n = 50;
  if (argc > 1) n = atoi(argv[1]);
  double* x = new double[n];
  double* d = new double[n];
  work(x, d, n);
  return 0;
}
"""


def test_conditions_on_the_same_data_share_a_parameter(tmp_path: Path) -> None:
    found = extracted(tmp_path, BRANCHES)
    assert [hole.name for hole in found.holes if hole.is_left()] == ["work_branch"]
    little = {hole.name: hole.rule for hole in found.holes if hole.low == 0 and hole.rule}
    assert list(little.values()) == ["decides less than 1 % of the operations and bytes of its kernel"]
    assert "`x[i] < 0.0` is taken never to hold: else the program ends (program.cc:4)" in found.text
    counts = operations(found, work_branch="1/5")
    assert counts["divide dp"] == 50 * 4 / 5
    assert counts["multiply dp"] == pytest.approx(50 * 4 / 5, abs=1)


ROWS = """
typedef struct { int n; int *ptr, *col; double *val; } Csr;
typedef struct { int count; int *numneigh, **neigh; } List;
void spmv(const Csr *A, const double *x, double *y) {
  for (int i = 0; i < A->n; i++) for (int k = A->ptr[i]; k < A->ptr[i + 1]; k++) y[i] += A->val[k] * x[A->col[k]];
}
void diagonal(const Csr *A, double *d) {
  const int *start = A->ptr;
  for (int i = 0; i < A->n; i++) for (int k = start[i]; k < start[i + 1]; ++k) if (A->col[k] == i) d[i] = A->val[k];
}
void upper(const Csr *A, double *d) {
  for (int i = 0; i < A->n; i++) for (int k = A->ptr[i] + 1; k < A->ptr[i + 1]; ++k) d[i] += A->val[k];
}
void find(const Csr *A, int j, int *at) {
  for (int i = 0; i < A->n; i++) for (int k = A->ptr[i]; k < A->ptr[i + 1]; ++k) if (A->col[k] == j) { *at = k; break; }
}
void pairs(List *list, double *f) {
  for (int i = 0; i < list->count; i++) { int n = list->numneigh[i]; for (int k = 0; k < n; k++) f[i] += 0.5; }
  for (int i = 0; i < list->count; i++) for (int k = 0; k < list->numneigh[i]; k++) f[list->neigh[i][k]] *= 0.5;
}
"""


def test_loops_with_bounds_of_one_array_share_a_parameter(tmp_path: Path) -> None:
    found = extracted(tmp_path, ROWS, ".c")
    names = [hole.name for hole in found.holes if hole.is_left() and not hole.name.endswith("_bytes")]
    assert {"ptr_difference", "numneigh_mean", "A_n", "list_count"} <= set(names)
    passes = [name for name in names if name.endswith("_passes")]
    assert passes == ["ptr_passes", "find_k_passes"]  # one less than a row, and up to where something is found
    assert "mean of `A->ptr[i + 1] - A->ptr[i]`" in found.text
    assert "mean of `list->numneigh[i]`" in found.text
    counts = operations(found, ptr_difference=5, numneigh_mean=7, A_n=10, list_count=20)
    assert counts["multiply dp"] == 10 * 5 + 20 * 7


def operations(found: Extraction, **settings: object) -> Counter[str]:
    """Operations and words of a run, from the steps of its trace."""
    model = aspenpy.load_application(found.text)
    counts: Counter[str] = Counter()
    for step in aspenpy.trace(model, set=settings, most=10**4, passes=10**4).steps:
        for demand in step.demands:
            name = " ".join(demand.traits) if demand.resource == "flops" else demand.resource
            counts[name] += round(demand.amount)
    return counts


ENDING = """
#include <cstdio>
#include <cstdlib>
struct Error {
  [[noreturn]] void all(const char* file, int line, const char* text);
  __attribute__((noreturn)) static void one(const char* text);
};
static int length(const char* text) { int n = 0; while (text[n]) n++; return n; }
static const char* formatted(const char* text, int value) {
  static char out[80];
  for (int i = 0; i < length(text); i++) out[i] = text[i] == '%' ? '0' + value : text[i];
  return out;
}
static void fatal(const char* text) { if (length(text) > 80) printf("long"); printf("%s", text); exit(1); }
void check(Error* error, double* x, int n, int kind) {
  if (n < 3) error->all("file", 3, formatted("%", n));
  if (n > 1000000) { printf("%s", formatted("%", n)); Error::one("many"); }
  if (x[0] > 3.5) fatal(formatted("%", n));
  switch (kind) {
    case 0: for (int i = 0; i < n; i++) x[i] *= 2.5; break;
    default: fatal(formatted("%", kind));
  }
}
"""


def test_what_only_ends_the_program_is_not_modelled(tmp_path: Path) -> None:
    (tmp_path / "lists.h").write_text(
        "inline int others(int* p) { int n = 0; while (p[n]) n++; return n; }\n", encoding="utf-8"
    )
    found = extracted(tmp_path, '#include "lists.h"\n' + ENDING)
    assert list(found.kernels) == ["check", "main"]
    assert set(parameters(found)) == {"n"}
    assert operations(found, n=10)["multiply dp"] == 10


COPIES = """
struct Three { double v[3]; Three half() const { Three t; for (double& x : t.v) x *= 0.5; return t; } };
template <typename T> inline T square(const T& x) { return x * x; }
template <typename T> inline void by(double* y, int n, const T& f) { for (int i = 0; i < n; i++) y[i] /= f; }
int main() {
  Three a, b;
  double y[9], s = 1.5;
  b = a;
  a = b.half();
  by(y, 9, square(s));
  return 0;
}
"""


def test_copies_arguments_and_arrays_count_once(tmp_path: Path) -> None:
    found = extracted(tmp_path, COPIES)
    names = [name for name in parameters(found) if not name.endswith("_bytes")]
    assert not names  # a compiler's assignment is no call, and an array has its size
    counts = operations(found)
    assert (counts["multiply dp"], counts["divide dp"]) == (3 + 1, 9)


CONFIGURED = """#include <stdlib.h>
struct inner { int deep; };
struct config { int size, before; double weight; struct inner inner; };
static struct config config = {.size = 64, .before = 2};
struct config fixed = {32, 3, 0.1, {7}};
double x[4096];
int main(int argc, char **argv) {
  for (int k = 1; k < argc; k++) if (argv[k][0] == 'n') config.size = atoi(argv[k] + 1);
  for (int i = 0; i < config.before; i++) for (int j = 0; j < config.size; j++) x[j] += 1.5;
  for (int i = 0; i < fixed.before; i++) for (int j = 0; j < fixed.size; j++) x[j] *= 1.5;
  return 0;
}
"""


def test_members_begin_with_what_their_structure_is_given(tmp_path: Path) -> None:
    """2*64 additions by default and 3*32 products, which no size of 1,000 stands for."""
    (tmp_path / "p.c").write_text(CONFIGURED, encoding="utf-8")
    found = extract(tmp_path / "p.c")
    (tmp_path / "p.aspen").write_text(found.text, encoding="utf-8")
    app = aspenpy.load_application(tmp_path / "p.aspen")
    assert float(aspenpy.count(app, "flops", traits=("add",))) == 2 * 64
    assert float(aspenpy.count(app, "flops", traits=("multiply",))) == 3 * 32
    assert "size" in next(hole.name for hole in found.holes if hole.name.startswith("size"))


def test_what_cmake_built_below_a_folder_is_no_part_of_a_program(tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(CONFIGURED, encoding="utf-8")
    probe = tmp_path / "out" / "CMakeFiles" / "3.25" / "CompilerIdC"
    probe.mkdir(parents=True)
    (tmp_path / "out" / "CMakeCache.txt").write_text("", encoding="utf-8")
    (probe / "id.c").write_text("int main(void) { return 0; }\n", encoding="utf-8")
    assert extract(tmp_path).kernels == ("main",)


@pytest.mark.parametrize(("size", "flops"), [(1, "n"), (2, "PARTS*n"), (3, "PARTS*n")])
def test_a_macro_above_one_is_a_parameter(size: int, flops: str, tmp_path: Path) -> None:
    """A number that one defines to change it; one of 1 says that something is there."""
    text = f"#define PARTS {size}\nvoid f(int n, double *x) {{ for (int i = 0; i < n*PARTS; i++) x[i] *= 2.5; }}\n"
    found = extracted(tmp_path, text, ".c")
    assert f"flops [{flops}]" in found.text
    assert parameters(found).get("PARTS", "1").strip() == str(size)
