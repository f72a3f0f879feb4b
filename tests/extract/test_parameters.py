"""Parameters that are left to a person: one for each thing that the source does not say, and none for what it says."""

import re
from collections import Counter
from pathlib import Path

import pytest

import aspenpy
from aspenpy.extract.extraction import Extraction, extract

pytest.importorskip("clang.cindex", reason="C is read by libclang: pip install 'aspenpy[extract]'")


def extracted(folder: Path, text: str, suffix: str = ".cc") -> Extraction:
    (folder / f"program{suffix}").write_text(text)
    return extract(folder / f"program{suffix}")


def parameters(found: Extraction) -> dict[str, str]:
    return dict(re.findall(r"param (\w+) = ([^/]*?)  //", found.text))


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
    assert "data f [400]" in found.text
    assert "data d [800]" in found.text
    model = aspenpy.load_application(found.text)
    counts: Counter[str] = Counter()
    for step in aspenpy.trace(model, most=10**4, passes=10**4).steps:
        for demand in step.demands:
            name = " ".join(demand.traits) if demand.resource == "flops" else demand.resource
            counts[name] += round(demand.amount)
    assert counts["multiply sp"] == 70 + 2 * 12
    assert counts["multiply dp"] == 70 + 5
    assert counts["add sp"] == 12 + 33 + 2
    assert counts["add dp"] == 0  # of whole numbers, the last sum
