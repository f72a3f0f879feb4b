"""Loops of Kokkos and SYCL are those of their twins with directives, and what is not read of them is told."""

import re
from pathlib import Path

import pytest

from aspenpy.extract.extraction import Extraction, extract
from aspenpy.language.diagnostics import AspenError

ARRAYS = """
#include <stdlib.h>
int main() {
  const int n = 4096;
  double *x = (double *)malloc(n*n*sizeof(double)), *y = (double *)malloc(n*n*sizeof(double));
  LOOP
}
"""

KOKKOS = """
#include <Kokkos_Core.hpp>
int main(int argc, char **argv) {
  Kokkos::initialize(argc, argv);
  const int n = 4096;
  Kokkos::View<double *> x("x", n*n), y("y", n*n);
  Kokkos::View<double **> a("a", n, n), b("b", n, n);
  double sum = 0;
  LOOP
  Kokkos::fence();
  Kokkos::finalize();
}
"""

SYCL = """
#include <sycl/sycl.hpp>
int main() {
  const int n = 4096;
  sycl::queue q{sycl::gpu_selector_v};
  double *x = sycl::malloc_device<double>(n*n, q), *y = sycl::malloc_shared<double>(n*n, q);
  LOOP
  q.wait();
}
"""


def extracted(text: str, loop: str, folder: Path) -> Extraction:
    (folder / "program.cpp").write_text(text.replace("LOOP", loop), encoding="utf-8")
    return extract(folder / "program.cpp", level="source")


def launches(text: str) -> list[str]:
    """What each block of each launch does, without the names of the data."""
    found = re.findall(r"^( *)execute (\[.*?)^\1}", text, re.MULTILINE | re.DOTALL)
    return [re.sub(r"(from|to) \w+|main_registers\w*", "", body) for _, body in found]


ONE = """
#pragma omp target teams distribute parallel for%s
  for (int i = 0; i < n*n; i++) %s"""

TWO = """
#pragma omp target teams distribute parallel for collapse(2)
  for (int j = 1; j < n - 1; j++)
    for (int i = 1; i < n - 1; i++)
      y[i + n*j] = x[i - 1 + n*j] + x[i + 1 + n*j] + x[i + n*(j - 1)] + x[i + n*(j + 1)];"""

SUM = "double sum = 0;" + ONE % (" reduction(+: sum)", "sum += x[i]*y[i];")

AXPY = "y[i] += 2.0*x[i];"

KOKKOS_LOOPS = {
    "range": ('Kokkos::parallel_for("axpy", n*n, KOKKOS_LAMBDA(const int i) { y(i) += 2.0*x(i); });', ONE % ("", AXPY)),
    "policy": (
        "Kokkos::RangePolicy<> all(0, n*n); Kokkos::parallel_for(all, [=](int i) { y[i] += 2.0*x[i]; });",
        ONE % ("", AXPY),
    ),
    "stencil": (
        """Kokkos::parallel_for("stencil", Kokkos::MDRangePolicy<Kokkos::Rank<2>>({1, 1}, {n - 1, n - 1}),
        KOKKOS_LAMBDA(int i, int j) { b(i, j) = a(i - 1, j) + a(i + 1, j) + a(i, j - 1) + a(i, j + 1); });""",
        TWO,
    ),
    "sum": (
        """Kokkos::parallel_reduce("dot", Kokkos::RangePolicy<>(0, x.extent(0)),
        KOKKOS_LAMBDA(int i, double &part) { part += x(i)*y(i); }, sum);""",
        SUM,
    ),
}


@pytest.mark.parametrize("name", KOKKOS_LOOPS)
def test_kokkos(name: str, tmp_path: Path) -> None:
    loop, twin = KOKKOS_LOOPS[name]
    found = launches(extracted(KOKKOS, loop, tmp_path).text)
    assert len(found) == 1
    assert found == launches(extracted(ARRAYS, twin, tmp_path).text)


SYCL_LOOPS = {
    "range": ("q.parallel_for(sycl::range<1>(n*n), [=](sycl::id<1> i) { y[i] += 2.0*x[i]; });", ONE % ("", AXPY)),
    "group": (
        """q.submit([&](sycl::handler &h) {
          h.parallel_for<class axpy>(sycl::nd_range<1>(n*n, 256), [=](sycl::nd_item<1> item) {
            int i = item.get_global_id(0);
            y[i] += 2.0*x[i];
          });
        });""",
        ONE % (" thread_limit(256)", AXPY),
    ),
    "plane": (
        """q.parallel_for(sycl::range<2>(n, n), [=](sycl::item<2> at) {
          y[at.get_id(1) + n*at[0]] = x[at[1] + n*at[0]];
        });""",
        """
#pragma omp target teams distribute parallel for collapse(2)
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) y[i + n*j] = x[i + n*j];""",
    ),
}


@pytest.mark.parametrize("name", SYCL_LOOPS)
def test_sycl(name: str, tmp_path: Path) -> None:
    loop, twin = SYCL_LOOPS[name]
    found = launches(extracted(SYCL, loop, tmp_path).text)
    assert len(found) == 1
    assert found == launches(extracted(ARRAYS, twin, tmp_path).text)


def test_a_place_that_is_no_thread_is_not_taken_for_one(tmp_path: Path) -> None:
    """A word that all threads read, at a place which nothing of the lambda says."""
    loop = "sycl::id<1> first = 3; q.parallel_for(sycl::range<1>(n*n), [=](sycl::id<1> i) { y[i] += x[first[0]]; });"
    text = extracted(SYCL, loop, tmp_path).text
    assert "from x as random" in text
    assert "stores [128] of size [8] to y as nest(8, 128)" in text


def test_copies(tmp_path: Path) -> None:
    of_sycl = extracted(SYCL, "static double host[4096]; q.memcpy(x, host, sizeof(host)).wait();", tmp_path)
    assert "intracomm [32768]" in of_sycl.text
    of_kokkos = extracted(KOKKOS, "Kokkos::deep_copy(b, a);", tmp_path)
    assert re.search(r"stores \[.*\] of size \[\d+\] to b", of_kokkos.text)


@pytest.mark.parametrize(
    ("text", "loop", "words"),
    [
        (KOKKOS, 'Kokkos::parallel_for("a", Kokkos::TeamPolicy<>(n, 32), [=](int i) {});', "TeamPolicy"),
        (SYCL, "sycl::buffer<double, 1> all(x, n);", "buffer"),
    ],
)
def test_what_is_not_read_is_refused_with_what_is(text: str, loop: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(AspenError) as caught:
        extracted(text, loop, tmp_path)
    first = caught.value.diagnostics[0]
    assert words in first.message
    assert first.span is not None
    assert "over ranges, views, and memory by pointers" in (first.hint or "")


def test_bodies_that_are_no_lambdas_are_told(tmp_path: Path) -> None:
    functor = "struct Twice { void operator()(int) const {} }; Kokkos::parallel_for(n, Twice());"
    found = extracted(KOKKOS, functor, tmp_path)
    assert "the body of this loop is no lambda" in " ".join(each.message for each in found.diagnostics)


@pytest.mark.parametrize(
    ("scope", "text"),
    [("namespace mine", KOKKOS), ("namespace mine", SYCL), ("struct Kokkos", SYCL), ("struct sycl", KOKKOS)],
)
def test_loops_of_others_are_no_launches(scope: str, text: str, tmp_path: Path) -> None:
    """Neither a function of that name in another namespace, nor one of a class that is called as a library is, in
    headers that are none of the user's."""
    static = "static" if scope.startswith("struct") else ""
    own = f"{scope} {{ template <typename F> {static} void parallel_for(int n, F f) {{ f(n - 1); }}"
    own += f" {static} void *memcpy(double *to, double *from, int size) {{ to[size] = from[size]; return to; }} }};"
    (tmp_path / "own.hpp").write_text("#pragma GCC system_header\n" + own, encoding="utf-8")
    name = scope.split()[1]
    loop = f"double z[8]; {name}::parallel_for(n, [](int i) {{ }}); {name}::memcpy(z, z, 8);"
    found = extracted('#include "own.hpp"' + text, loop, tmp_path).text
    assert launches(found) == []
    assert "intracomm" not in found
