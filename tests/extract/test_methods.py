"""Virtual methods, methods of class templates in other files, and functions that templates are given."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from aspenpy.extract.extraction import Extraction, extract
from aspenpy.extract.model_runs import ProgramRun
from tests.extract import modelled

pytest.importorskip("clang.cindex", reason="C is read by libclang: pip install 'aspenpy[extract]'")

COMPILES = pytest.mark.skipif(not shutil.which("g++"), reason="compiles programs with GCC")


def operations(found: Extraction, folder: Path) -> dict[str, float]:
    """Operations by class and precision."""
    (folder / "model.aspen").write_text(found.text, encoding="utf-8")
    return modelled.operations(folder / "model.aspen")


HEADER = """#pragma once
template <class T> struct Work {
  virtual ~Work() {}
  virtual void scale(T f) = 0;
  virtual T dot() = 0;
};
template <class T> struct Plain : Work<T> {
  int n; T *a;
  Plain(int n);
  void scale(T f) override;
  T dot() override;
};
"""

METHODS = """#include "work.h"
template <class T> Plain<T>::Plain(int n) : n(n) { a = new T[n]; for (int i = 0; i < n; i++) a[i] = T(1) / (i + 1); }
template <class T> void Plain<T>::scale(T f) { for (int i = 0; i < n; i++) a[i] *= f; }
template <class T> T Plain<T>::dot() { T s = 0; for (int i = 0; i < n; i++) s += a[i] * a[i]; return s; }
template struct Plain<float>;
template struct Plain<double>;
"""

PROGRAM = """#include "work.h"
int main() {
  Work<double> *work = new Plain<double>(50);
  work->scale(3.5);
  for (int k = 0; k < 4; k++) work->scale(work->dot());
  return 0;
}
"""


def test_virtual_methods_of_a_class_template_in_another_file(tmp_path: Path) -> None:
    for name, text in (("work.h", HEADER), ("work.cpp", METHODS), ("main.cpp", PROGRAM)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert operations(extract(tmp_path), tmp_path) == {
        "divide dp": 50,
        "convert": 50,
        "multiply dp": 50 + 4 * 100,
        "add dp": 4 * 50,
    }


SHAPES = """#include <cstdlib>
struct Shape { virtual double area(const double *x, int n) const { return 0; } };
struct Sum : Shape { double area(const double *x, int n) const override {
  double s = 0; for (int i = 0; i < n; i++) s += x[i]; return s; } };
struct Norm : Shape { double area(const double *x, int n) const override {
  double s = 1; for (int i = 0; i < n; i++) s *= x[i]; return s; } };
double x[100];
int main(int argc, char **argv) {
  Shape *all[8];
  for (int k = 0; k < 8; k++) { if (k % 4) all[k] = new Sum; else all[k] = new Norm; }
  double s = 0;
  for (int k = 0; k < 8; k++) s += all[k]->area(x, 100);
  return s > 1;
}
"""


@COMPILES
def test_a_run_says_which_methods_virtual_calls_mean(tmp_path: Path) -> None:
    (tmp_path / "shapes.cpp").write_text(SHAPES, encoding="utf-8")
    text = extract(tmp_path / "shapes.cpp", run=ProgramRun("./a.out")).text
    assert "param area_part = 0.75 " in text  # 6 of 8 calls are of `Sum`
    assert {"flops [n] as add, dp", "flops [n] as multiply, dp"} <= {line.strip() for line in text.splitlines()}
    alone = extract(tmp_path / "shapes.cpp")
    assert "area_part" in {hole.name for hole in alone.left()}


FUNCTORS = """#include <vector>
#include <algorithm>
template <typename F> void each(int n, F f) { for (int i = 0; i < n; i++) f(i); }
template <typename F> struct Run { F f; void operator()(int n) const { for (int i = 0; i < n; i++) f(i); } };
struct Axpy { double a; double *x, *y; void operator()(int i) const { y[i] += a * x[i]; } };
template <typename T> struct Times { T by; void apply(T *x, int n) const { for (int i = 0; i < n; i++) x[i] *= by; } };
template <typename Op, typename T> void use(const Op &op, T *x, int n) { op.apply(x, n); }
double x[200], y[200];
int main() {
  each(30, [&](int i) { x[i] = y[i] / 3.0; });
  each(50, Axpy{2.5, x, y});
  auto g = [](int i) { x[i] = x[i] - 1.5; };
  Run<decltype(g)> run{g};
  run(70);
  use(Times<double>{3.5}, y, 110);
  return 0;
}
"""


def test_functions_that_templates_are_given(tmp_path: Path) -> None:
    (tmp_path / "functors.cpp").write_text(FUNCTORS, encoding="utf-8")
    found = extract(tmp_path / "functors.cpp")
    assert operations(found, tmp_path) == {"divide dp": 30, "multiply dp": 50 + 110, "add dp": 50 + 70}


SIZES = """#include <vector>
#include <numeric>
#include <cstdlib>
static std::vector<double> read(int n) { std::vector<double> a; while (n-- > 0) a.push_back(n); return a; }
template <typename T> T sum(const std::vector<T> &a) {
  return std::accumulate(a.begin(), a.end(), T{}, [](T s, T v) { return s + v * v; });
}
int main(int argc, char **argv) { auto a = read(atoi(argv[1])); return sum(a) < 0; }
"""


@COMPILES
def test_sizes_of_containers_behind_iterators_are_those_of_a_run(tmp_path: Path) -> None:
    (tmp_path / "sizes.cpp").write_text(SIZES, encoding="utf-8")
    found = extract(tmp_path / "sizes.cpp", run=ProgramRun("./a.out 60"))
    assert operations(found, tmp_path)["multiply dp"] == 60


def test_a_constructor_that_takes_an_object_of_another_class_is_called(tmp_path: Path) -> None:
    """1,000 products in it, and none in that of the copy, which is the original."""
    text = (
        "struct Mesh { double p[1000]; };\n"
        "class Rows { public: explicit Rows(const Mesh &m) { for (int i = 0; i < 1000; i++) v[i] = 3 * m.p[i]; }\n"
        "  double v[1000]; };\n"
        "int main() { Mesh mesh; Rows rows(mesh); Rows copy(rows); return copy.v[0] > 1; }\n"
    )
    (tmp_path / "p.cpp").write_text(text, encoding="utf-8")
    assert operations(extract(tmp_path / "p.cpp"), tmp_path)["multiply dp"] == 1000


def test_a_container_has_the_bytes_of_the_size_that_is_asked_for(tmp_path: Path) -> None:
    """Places that the data choose do not say how far they reach, and the elements have 24 bytes."""
    text = (
        "#include <vector>\nstruct Cell { double x, y; int next; };\nstruct Mesh { std::vector<Cell> cells; };\n"
        "double walk(const Mesh &mesh) { double s = 0; int at = 0;\n"
        "  for (std::size_t i = 0; i < mesh.cells.size(); i++) { s += mesh.cells[at].x; at = mesh.cells[at].next; }\n"
        "  return s; }\n"
        "int main(int n, char **) { Mesh mesh; for (int i = 0; i < 10 * n; i++) mesh.cells.push_back({1, 2, i / 2});\n"
        "  return walk(mesh) < 0; }\n"
    )
    (tmp_path / "p.cpp").write_text(text, encoding="utf-8")
    found = extract(tmp_path / "p.cpp")
    assert "data cells [240*n]" in found.text  # of 10 n that are pushed
    assert not [hole.name for hole in found.holes if hole.name.endswith("_bytes")]
