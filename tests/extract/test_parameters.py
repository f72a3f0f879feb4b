"""Parameters that are left to a person: one for each thing that the source does not say, and none for what it says."""

import re
from pathlib import Path

import pytest

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
