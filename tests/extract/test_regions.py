"""Loops below OpenMP's `target` and OpenACC's directives are launches: as their twin in CUDA, and by hand."""

from pathlib import Path

import pytest

import aspenpy
from aspenpy.extract.extraction import Extraction, extract
from aspenpy.extract.pragmas import list_mapped

pytest.importorskip("clang.cindex", reason="C is read by libclang: pip install 'aspenpy[extract]'")

FLOPS_AND_BYTES = ("flops", "loads", "stores", "intracomm")


def extracted(text: str, folder: Path, name: str) -> Extraction:
    (folder / name).write_text(text)
    return extract(folder / name, level="source")


def amounts(found: Extraction, **sizes: float) -> dict[str, float]:
    model = aspenpy.parse(found.text)
    return {
        name: float(aspenpy.count(model, name, set=sizes)) if name in found.text else 0.0 for name in FLOPS_AND_BYTES
    }


TWIN = """__global__ void step(double *w, const double *u) {
  int i = blockIdx.x*128 + threadIdx.x, j = blockIdx.y;
  if (i < 1022) w[(j + 1)*1024 + i + 1] = 0.25*(u[(j + 1)*1024 + i] + u[(j + 1)*1024 + i + 2]
    + u[j*1024 + i + 1] + u[(j + 2)*1024 + i + 1]);
}
int main() {
  double *u, *w, *h;
  cudaMalloc(&u, 8 << 20); cudaMalloc(&w, 8 << 20);
  cudaMemcpy(u, h, 8 << 20, cudaMemcpyHostToDevice);
  step<<<dim3((1022 + 127)/128, 1022), 128>>>(w, u);
  cudaMemcpy(h, w, 8 << 20, cudaMemcpyDeviceToHost);
}
"""
STENCIL = """double u[1024*1024], w[1024*1024];
int main(void) {
#pragma DIRECTIVE
  for (int j = 1; j < 1023; j++)
    for (int i = 1; i < 1023; i++)
      w[j*1024 + i] = 0.25*(u[j*1024 + i - 1] + u[j*1024 + i + 1] + u[(j - 1)*1024 + i] + u[(j + 1)*1024 + i]);
}
"""
COLUMNS = """program main
  real(8) :: u(1024, 1024), w(1024, 1024)
  integer :: i, j
  !$DIRECTIVE
  do j = 2, 1023
    do i = 2, 1023
      w(i, j) = 0.25d0*(u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1))
    end do
  end do
end program
"""


@pytest.mark.parametrize(
    ("text", "name", "directive"),
    [
        (STENCIL, "a.c", "omp target teams distribute parallel for collapse(2) map(to: u) map(from: w)"),
        (STENCIL, "a.cc", "omp target teams loop collapse(2) map(to: u[0:1024*1024]) map(always, from: w[:1 << 20])"),
        (STENCIL, "a.c", "acc parallel loop collapse(2) copyin(u) copyout(w[0:1024*1024])"),
        (COLUMNS, "a.f90", "omp target teams distribute parallel do collapse(2) map(to: u) map(from: w(:, :))"),
        (COLUMNS, "a.f90", "acc parallel loop collapse(2) copyin(u(1:1024, 1:1024)) copyout(w)"),
    ],
)
def test_regions_are_as_their_twin(text: str, name: str, directive: str, tmp_path: Path) -> None:
    if name.endswith("f90"):
        pytest.importorskip("fparser", reason="Fortran is read by fparser: pip install 'aspenpy[fortran]'")
    found = extracted(text.replace("DIRECTIVE", directive.replace("1 << 20", "1048576")), tmp_path, name)
    twin = extracted(TWIN, tmp_path, "twin.cu")
    counted, inner = amounts(found), 1022 * 1022
    assert counted["flops"] == pytest.approx(4 * inner)
    assert counted["intracomm"] == 2 * 8 * 1024 * 1024
    assert counted == pytest.approx(amounts(twin))
    (launch,) = found.launches
    assert launch.threads == 128
    assumed = [each for each in found.diagnostics if "128 are assumed" in each.message]
    assert len(assumed) == 1
    for machine in ("a100_40gb", "mi210"):
        times = [
            aspenpy.predict(aspenpy.parse(each.text), aspenpy.load_machine(machine)).runtime for each in (found, twin)
        ]
        assert times[0] == pytest.approx(times[1], rel=0.02)


ROWS = """void f(int n, int m, double *restrict a, const double *restrict b) {
#pragma DIRECTIVE
  for (int i = 0; i < n; i++) INNER
}
"""


@pytest.mark.parametrize(
    ("directive", "inner", "blocks", "threads"),
    [
        ("omp target teams distribute parallel for thread_limit(64)", "a[i] += b[i];", "ceil(n/64)", 64),
        ("acc parallel loop vector_length(256)", "a[i] += b[i];", "ceil(n/256)", 256),
        ("acc kernels", "a[i] += b[i];", "ceil(n/128)", 128),
        (
            "omp target teams distribute",
            "{\n#pragma omp parallel for\nfor (int j = 0; j < m; j++) a[i*m + j] += b[j]; }",
            "n*ceil(m/128)",
            128,
        ),
        (
            "acc parallel loop gang",
            "{\n#pragma acc loop vector\nfor (int j = 0; j < m; j++) a[i*m + j] += b[j]; }",
            "n*ceil(m/128)",
            128,
        ),
        (
            "acc parallel loop",
            "{\n#pragma acc loop seq\nfor (int j = 0; j < m; j++) a[i*m + j] += b[j]; }",
            "ceil(n/128)",
            128,
        ),
    ],
)
def test_blocks_and_threads_of_directives(
    directive: str, inner: str, blocks: str, threads: int, tmp_path: Path
) -> None:
    found = extracted(ROWS.replace("DIRECTIVE", directive).replace("INNER", inner), tmp_path, "a.c")
    assert f"execute [{blocks}] {{" in found.text
    assert [launch.threads for launch in found.launches] == [threads]


def test_what_is_on_the_device_is_not_copied_again(tmp_path: Path) -> None:
    text = """void f(int n, double *restrict a, double *restrict b) {
    #pragma omp target data map(tofrom: a[0:n]) map(to: b[0:n])
      {
        for (int t = 0; t < 50; t++) {
    #pragma omp target teams distribute parallel for map(to: b[0:n]) map(tofrom: a[0:n])
          for (int i = 0; i < n; i++) a[i] += 2*b[i];
        }
    #pragma omp target
        {
    #pragma omp teams distribute parallel for
          for (int i = 0; i < n; i++) b[i] *= 2;
        }
      }
    #pragma omp target update from(a[0:n])
    }"""
    found = extracted(text, tmp_path, "a.c")
    assert amounts(found, n=1000) == pytest.approx({
        "flops": 50 * 2 * 1000 + 1000, "loads": 50 * 16 * 1000 + 8 * 1000, "stores": 51 * 8 * 1000,
        "intracomm": 3 * 8 * 1000,
    })  # fmt: skip
    told = [each for each in found.diagnostics if each.code == "not-counted"]
    assert [each.span.position().line for each in told if each.span is not None] == [14]


def test_copies_that_are_not_known_are_told(tmp_path: Path) -> None:
    text = ROWS.replace("DIRECTIVE", "omp target teams distribute parallel for map(to: b) map(from: a[0:f(n)])")
    found = extracted(text.replace("INNER", "a[i] = b[i];"), tmp_path, "a.c")
    told = [each.message for each in found.diagnostics if each.code == "not-counted"]
    assert told == [f"the bytes of `{name}` are not known: its copies are not counted" for name in ("b", "a[0:f(n)]")]


def test_loops_that_are_too_involved_for_a_grid_keep_their_parts(tmp_path: Path) -> None:
    inner = "for (int j = i; j < n; j++) a[j] += b[j];"
    found = extracted(ROWS.replace("DIRECTIVE", "omp target loop collapse(2)").replace("INNER", inner), tmp_path, "a.c")
    assert found.launches == ()
    assert '"target" {' in found.text or "execute [" in found.text


@pytest.mark.parametrize(
    ("pragma", "fortran", "expected"),
    [
        ("omp target map(to: a[0:n], b[:m*k]) map(c)", False, [
            ("a", ("n",), True, False), ("b", ("m*k",), True, False), ("c", (), True, True)
        ]),
        ("omp target map(always, from: a[2:n][0:m])", False, [("a", ("n", "m"), False, True)]),
        ("omp target map(alloc: a[0:n])", False, [("a", ("n",), False, False)]),
        ("omp target map(a[0:n])", False, [("a", ("n",), True, True)]),
        ("acc parallel loop copyin(a(1:n, 2)) copy(b)", True, [
            ("a", ("(n) - (1) + 1", "1"), True, False), ("b", (), True, True)
        ]),
        ("omp parallel for map(to: a)", False, []),
    ],
)  # fmt: skip
def test_clauses_that_copy(pragma: str, fortran: bool, expected: list[object]) -> None:
    found = list_mapped((pragma,), fortran)
    assert [(each.name, each.sections, each.is_input, each.is_output) for each in found] == expected
