"""Containers, iterators and algorithms of C++: operations, loads and stores of each program by hand."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from aspenpy.extract.calls import MOVES
from aspenpy.extract.extraction import extract
from tests.extract import modelled

pytest.importorskip("clang.cindex", reason="C is read by libclang: pip install 'aspenpy[extract]'")

INCLUDED = ("algorithm", "deque", "functional", "memory", "numeric", "vector")
SUM = {"flops add": "n", "loads": "n"}
PROGRAMS = [
    ("return std::accumulate(v.begin(), v.end(), 0.0);", SUM),
    ("return std::accumulate(std::begin(v), std::end(v), 0.0);", SUM),
    ("return std::accumulate(v.begin(), v.begin() + 7, 0.0);", {"flops add": "7", "loads": "7"}),
    ("return std::accumulate(v.begin(), v.end(), 1.0, [](double a, double b) { return a * b; });",
     {"flops multiply": "n", "loads": "n"}),
    ("return std::inner_product(v.begin(), v.end(), w.begin(), 0.0);",
     {"flops multiply": "n", "flops add": "n", "loads": "n + n"}),
    ("std::for_each(v.begin(), v.end(), [](double& x) { x *= 3; }); return 0;",
     {"flops multiply": "n", "loads": "n", "stores": "n"}),
    ("std::fill(v.begin(), v.end(), 2.0); return 0;", {"stores": "n"}),
    ("std::copy(v.begin(), v.end(), w.begin()); return 0;", {"loads": "n", "stores": "n"}),
    ("std::transform(v.begin(), v.end(), w.begin(), [](double a) { return a / 3; }); return 0;",
     {"flops divide": "n", "loads": "n", "stores": "n"}),
    ("std::transform(v.begin(), v.end(), w.begin(), v.begin(), [](double a, double b) { return a / b; }); return 0;",
     {"flops divide": "n", "loads": "n + n", "stores": "n"}),
    ("for (auto it = v.begin(); it < v.end(); it += 2) s += *it; return s;",
     {"flops add": "ceil(8*n/16)", "loads": "ceil(8*n/16)"}),
    ("for (auto it = v.begin() + 2; it != v.end(); it++) s += *it; return s;",
     {"flops add": "n - 2", "loads": "n - 2"}),
    ("for (auto it = v.begin(); it - v.begin() < n; ++it) s += it[0]; return s;", SUM),
    ("auto it = v.end(); while (it != v.begin()) { --it; s += *it; } return s;", SUM),
    ("std::vector<double>::iterator it; it = v.begin(); for (; it != v.end(); ++it) s += *it; return s;", SUM),
    ("for (auto it = v.cbegin(); it != v.cend(); ++it) s -= *it; return s;", SUM),
    ("for (int i = 0; i < n; i++) s += v.back(); return s;", {"flops add": "n", "loads": "1"}),  # kept in a register
    ("for (int i = 0; i < n; i++) s += v.front(); return s;", {"flops add": "n", "loads": "1"}),
    ("for (std::size_t i = 0; i < v.size(); i++) s += v.at(i); return s;", SUM),
    ("double* p = v.data(); for (int i = 0; i < n; i++) s += p[i]; return s;", SUM),
    ("if (!v.empty()) for (double x : v) s += x; return s;", SUM),
    ("std::unique_ptr<double[]> p; p.reset(new double[n]); for (int i = 0; i < n; i++) p[i] = v[i] * 3; return 0;",
     {"flops multiply": "n", "loads": "n", "stores": "n"}),
    ("auto p = std::make_shared<double>(3.0); for (int i = 0; i < n; i++) s += v[i] * *p.get(); return s;",
     {"flops multiply": "n", "flops add": "n", "loads": "n + 1"}),
]  # fmt: skip


def source(body: str, folder: Path) -> Path:
    text = "".join(f"#include <{name}>\n" for name in INCLUDED)
    text += f"double f(int n, std::vector<double>& w) {{ double s = 0; std::vector<double> v(n, 1.0); {body} }}"
    (folder / "a.cpp").write_text(text, encoding="utf-8")
    return folder / "a.cpp"


@pytest.mark.parametrize(("body", "expected"), PROGRAMS, ids=[body for body, _ in PROGRAMS])
def test_operations_by_hand(body: str, expected: dict[str, str], tmp_path: Path) -> None:
    """The vector is filled first, with n stores."""
    expected = {**expected, "stores": " + ".join(filter(None, ("n", expected.get("stores"))))}
    found = extract(source(body, tmp_path))
    amounts: dict[str, list[str]] = {}
    for kind, amount, rest in re.findall(r"(flops|loads|stores) \[(.*)\] ?(.*)", found.text):
        amounts.setdefault(f"{kind} {rest[3:].split(',')[0]}" if kind == "flops" else kind, []).append(
            amount.partition("] of size")[0]
        )
    assert {name: Counter(each) for name, each in amounts.items()} == {
        name: Counter(text.split(" + ")) for name, text in expected.items()
    }
    assert [hole.name for hole in found.holes] in (["n"], [])


@pytest.mark.parametrize(
    "body",
    [
        "return std::accumulate(v.begin(), v.end(), 1.0, std::multiplies<double>());",
        "return std::inner_product(v.begin(), v.end(), w.begin(), s, std::plus<double>(), std::multiplies<double>());",
        "return std::inner_product(v.begin(), v.end(), w.begin(), 0.0, [](double a, double b) { return a + b; },"
        " [](double a, double b) { return a / b; });",
    ],
)
def test_operations_of_functions_that_are_not_read_stay_open(body: str, tmp_path: Path) -> None:
    """What they do with each pair is not known to be a product or a sum."""
    found = extract(source(body, tmp_path))
    assert any(hole.name.endswith("_flops") for hole in found.holes)
    assert "[n] as add" not in found.text


FIXED = """
#include <array>
std::array<double, 30> g;
struct S { double first; std::array<float, 30> m; };
double in_a_global() { double s = 0; for (int i = 0; i < 30; i++) s += g[i]; return s; }
double by_reference(const std::array<double, 30>& a) { double s = 0; for (double x : a) s += x; return s; }
float in_a_structure(S& q) { float s = 0; for (unsigned i = 0; i < q.m.size(); i++) s += q.m[i]; return s; }
double by_value(std::array<double, 30> b) { double s = 0; for (unsigned i = 0; i < b.size(); i++) s += b[i]; return s; }
double in_rows(std::array<std::array<double, 30>, 20>& c) {
  double s = 0;
  for (unsigned j = 0; j < c.size(); j++) for (double x : c[j]) s += x;
  return s;
}
"""


def test_the_size_of_an_array_is_that_of_its_type(tmp_path: Path) -> None:
    """Sizes in bytes and passes by hand: nothing is left open, and elements lie where those of C's arrays do."""
    file = tmp_path / "a.cpp"
    file.write_text(FIXED, encoding="utf-8")
    found = extract(file)
    assert not found.holes
    sizes = dict(re.findall(r"data (\w+) \[(\d+)\]", found.text))
    assert sizes == {"g": "240", "a": "240", "q": "128", "b": "240", "c": "4800"}
    assert re.findall(r"loads \[(\d+)\] of size \[(\d)\] from (\w) as (.*)", found.text) == [
        ("30", "8", "g", "stream"),
        ("30", "8", "a", "stream"),
        ("30", "4", "q", "stream"),
        ("30", "8", "b", "stream"),
        ("600", "8", "c", "nest(8, 30, 240, 20)"),
    ]


COMPLEX = """#include <complex>
#include <vector>
using C = std::complex<double>;
int main(int argc, char **argv) {
  std::vector<C> x(100), y(100);
  double s = 2.5 * argc;
  for (int i = 0; i < 100; i++) BODY;
  return s < 0;
}
"""


@pytest.mark.parametrize(
    ("body", "add", "multiply", "divide"),
    [
        ("y[i] = x[i] + y[i]", 2, 0, 0),
        ("y[i] -= x[i]", 2, 0, 0),
        ("y[i] *= s", 0, 2, 0),
        ("y[i] = x[i] / s", 0, 0, 2),
        ("y[i] = x[i] * y[i]", 2, 4, 0),  # (a c - b d) + i (a d + b c)
        ("y[i] = C(x[i].real() * s, std::imag(x[i]))", 0, 1, 0),
        ("s += std::norm(x[i] * std::conj(y[i]))", 4, 6, 0),
    ],
)
def test_complex_numbers(body: str, add: int, multiply: int, divide: int, tmp_path: Path) -> None:
    (tmp_path / "p.cpp").write_text(COMPLEX.replace("BODY", body), encoding="utf-8")
    found = extract(tmp_path / "p.cpp")
    assert not [hole.name for hole in found.holes if hole.name.endswith("_flops")]
    (tmp_path / "p.aspen").write_text(found.text, encoding="utf-8")
    ran = modelled.operations(tmp_path / "p.aspen")
    expected = {"add dp": 100 * add, "multiply dp": 100 * multiply + 1, "divide dp": 100 * divide}
    assert {kind: ran[kind] for kind in expected} == expected


COMPLEX_OF_C = """#include <complex.h>
void visit(int n, double complex *x, double complex *y, const float complex *z, double *s) {
  for (int i = 0; i < n; i++) BODY;
}
"""


@pytest.mark.parametrize(
    ("body", "adds", "multiplies"),
    [
        ("y[i] = x[i] + y[i]", ["2*n"], []),
        ("y[i] = -y[i] * x[i]", ["2*n"], ["4*n"]),
        ("y[i] *= s[i]", [], ["2*n"]),
        ("y[i] += s[i]", ["n"], []),
        ("y[i] = conj(x[i]) * y[i] + z[i]", ["4*n"], ["4*n"]),
        ("s[i] = creal(x[i])*creal(x[i]) + cimag(x[i])*cimag(x[i])", ["n"], ["2*n"]),
    ],
)
def test_complex_numbers_of_c(body: str, adds: list[str], multiplies: list[str], tmp_path: Path) -> None:
    """As those of C++; they were counted as nothing."""
    (tmp_path / "p.c").write_text(COMPLEX_OF_C.replace("BODY", body), encoding="utf-8")
    found = extract(tmp_path / "p.c", level="source")
    assert not [hole.name for hole in found.holes if hole.name.endswith("_flops")]
    assert re.findall(r"flops \[(\S+)\] as add, dp", found.text) == adds
    assert re.findall(r"flops \[(\S+)\] as multiply, dp", found.text) == multiplies


@pytest.mark.parametrize(("body", "accesses"), [
    ("std::vector<double> u; for (int i = 0; i < n; i++) u.push_back(v[i]); return u[0];",
     ["loads [36*n/25] of size [8]", "stores [36*n/25] of size [8]"]),
    ("std::vector<double> u; u.reserve(n); for (int i = 0; i < n; i++) u.push_back(v[i]); return u[0];", []),
    ("std::deque<double> u; for (int i = 0; i < n; i++) u.push_back(v[i]); return u[0];", []),
    ("std::vector<double> u; for (int t = 0; t < 9; t++) { u.clear(); for (int i = 0; i < n; i++) u.emplace_back(s); }"
     " return u[0];", []),
])  # fmt: skip
def test_vectors_without_room_move_their_elements(body: str, accesses: list[str], tmp_path: Path) -> None:
    text = extract(source(body, tmp_path)).text
    found = re.findall(r"(?:loads|stores) \[36\S*\] of size \[8\]", text)
    assert found == accesses
    assert re.search(r"stores \[(9\*)?n\] of size \[8\] to u", text)


COUNTED = """#include <cstdio>
#include <vector>
static long moves;
struct Item { double x; Item(double x) : x(x) {} Item(const Item &other) : x(other.x) { moves++; } };
int main() {
  double share = 0;
  for (int k = 0; k < 64; k++) {
    std::vector<Item> items;
    int n = 1024*__builtin_pow(2, k/64.);
    moves = 0;
    for (int i = 0; i < n; i++) items.emplace_back(i);
    share += moves/(64.*n);
  }
  printf("%.4f", share);
}
"""


@pytest.mark.skipif(shutil.which("g++") is None, reason="counted by a program that g++ compiles")
def test_the_moves_are_those_of_the_library(tmp_path: Path) -> None:
    """Sizes that are even on a scale of logarithms."""
    (tmp_path / "counted.cc").write_text(COUNTED, encoding="utf-8")
    subprocess.run(["g++", "counted.cc", "-o", "counted"], cwd=tmp_path, check=True)
    run = subprocess.run([tmp_path / "counted"], capture_output=True, text=True, check=True)
    assert float(run.stdout) == pytest.approx(float(MOVES), rel=0.02)


PARTS_OF_COMPLEX = [  # functions of the GNU C library that callgrind sees in each call, and operations by its text
    ("exp", ["exp", "sin", "cos"], {"multiply": 2}),
    ("sqrt", ["hypot"], {"add": 1, "multiply": 2, "divide": 1, "square_root": 1}),
    ("log", ["log", "hypot", "atan2"], {}),
    ("sin", ["sin", "cos", "sinh", "cosh"], {"multiply": 2}),
    ("abs", ["hypot"], {}),
    ("pow", ["log", "hypot", "atan2", "exp", "sin", "cos"], {"multiply": 6, "add": 2}),
]


@pytest.mark.parametrize("language", ["c", "cc", "f90"])
@pytest.mark.parametrize(("name", "functions", "operations"), PARTS_OF_COMPLEX)
def test_functions_of_complex_numbers_are_those_of_their_parts(
    name: str, functions: list[str], operations: dict[str, int], language: str, tmp_path: Path
) -> None:
    target = "s" if name == "abs" else "y"
    if language == "f90":
        pytest.importorskip("fparser", reason="Fortran is read by fparser: pip install 'aspenpy[fortran]'")
        value = "x**y" if name == "pow" else f"{name}(x)"
        text = f"subroutine f(n, x, y, s)\ncomplex(8) :: x(n), y(n)\nreal(8) :: s(n)\n{target} = {value}\nend\n"
    else:
        head, number, call = {
            "c": ("<complex.h>", "double complex", f"c{name}"),
            "cc": ("<complex>", "std::complex<double>", f"std::{name}"),
        }[language]
        value = f"{call}(x[i]{', y[i]' if name == 'pow' else ''})"
        text = f"#include {head}\nvoid f(int n, {number} *x, {number} *y, double *s) {{\n"
        text += f"  for (int i = 0; i < n; i++) {target}[i] = {value};\n}}\n"
    (tmp_path / f"p.{language}").write_text(text, encoding="utf-8")
    found = extract(tmp_path / f"p.{language}", level="source")
    assert sorted(re.findall(r"// call (\w+)", found.text)) == sorted(functions)
    counted = re.findall(r"flops \[(\d*)\*?n\] as (\w+), dp", found.text)
    assert {kind: int(times or 1) for times, kind in counted} == operations


@pytest.mark.parametrize(("body", "words"), [
    ("std::vector<float> u(2*n); return u[0];", ["n"]),
    ("std::vector<double> u; u.resize(n); u.resize(n); return u[0];", ["n"]),  # they are there
    ("std::vector<double> u; for (int i = 0; i < 9; i++) { u.resize(n); s += u[i]; } return s;", []),
    ("std::vector<double> u; u.assign(n, 1.0); u.assign(n, 2.0); return u[0];", ["n", "n"]),
])  # fmt: skip
def test_elements_are_stored_where_containers_get_their_size(body: str, words: list[str], tmp_path: Path) -> None:
    """Words of eight bytes by hand, beside those of the vector that all these programs fill."""
    text = extract(source(body, tmp_path)).text
    assert re.findall(r"stores \[(.*)\] of size \[8\]", text) == ["n", *words]
