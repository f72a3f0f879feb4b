"""Loops below OpenMP's `target` and OpenACC's directives are launches: as their twin in CUDA, and by hand."""

import re
from pathlib import Path

import pytest

import aspenpy
from aspenpy.extract.extraction import Extraction, extract
from aspenpy.extract.pragmas import list_mapped

pytest.importorskip("clang.cindex", reason="C is read by libclang: pip install 'aspenpy[extract]'")

FLOPS_AND_BYTES = ("flops", "loads", "stores", "intracomm")


def extracted(text: str, folder: Path, name: str) -> Extraction:
    (folder / name).write_text(text, encoding="utf-8")
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
        "intracomm": 3 * 8 * 1000 + 8 * 1000,
    })  # fmt: skip
    assert not [each for each in found.diagnostics if each.code == "not-counted"]


STEPS = """#define N 1000
void begin(double *x, double *y, int n) {
  for (int i = 0; i < n; i++) x[i] = 1.0/i;
#pragma ENTER
}
void step(double *restrict x, double *restrict y, int n) {
#pragma LOOP
  for (int i = 0; i < n; i++) y[i] = 2*x[i];
  for (int i = 0; i < n; i++) x[i] = 1.0/i;
#pragma UPDATE
}
void finish(double *x, double *y, int n) {
  for (int i = 0; i < n; i++) x[i] = 1.0/i;
#pragma EXIT
}
int main(void) {
  double *u = malloc(N*sizeof(double)), *w = malloc(N*sizeof(double));
  begin(u, w, N);
  for (int t = 0; t < 50; t++) step(u, w, N);
  finish(u, w, N);
}
"""


@pytest.mark.parametrize(
    ("enter", "loop", "update", "leave"),
    [
        (
            "omp target enter data map(to: x[0:n]) map(alloc: y[0:n])",
            "omp target teams distribute parallel for map(to: x[0:n]) map(from: y[0:n])",
            "omp target update to(x[0:n])",
            "omp target exit data map(from: y[0:n]) map(delete: x)",
        ),
        (
            "acc enter data copyin(x[0:n]) create(y[0:n])",
            "acc parallel loop present(x, y)",
            "acc update device(x[0:n])",
            "acc exit data copyout(y[0:n]) delete(x)",
        ),
        (
            "acc enter data pcopyin(x[0:n]) present_or_create(y[0:n])",
            "acc parallel loop copy(x[0:n]) copyout(y[0:n])",
            "acc update device(x[0:n])",
            "acc exit data copyout(y[0:n])",
        ),
    ],
)
def test_data_that_stay_are_copied_once(enter: str, loop: str, update: str, leave: str, tmp_path: Path) -> None:
    text = STEPS.replace("ENTER", enter).replace("LOOP", loop).replace("UPDATE", update).replace("EXIT", leave)
    found = extracted(text, tmp_path, "a.c")
    # in once, 50 times brought up to date, out once
    assert amounts(found)["intracomm"] == 8000 * (1 + 50 + 1)
    assert not [each for each in found.diagnostics if each.code in ("absent", "not-counted")]


def test_what_left_the_device_is_copied_again(tmp_path: Path) -> None:
    text = """double a[1000];
    int main(void) {
    #pragma acc enter data copyin(a)
    #pragma acc exit data delete(a)
    #pragma acc parallel loop copy(a)
      for (int i = 0; i < 1000; i++) a[i] = 1;
    #pragma acc update host(a[10:20])
    }"""
    assert amounts(extracted(text, tmp_path, "a.c"))["intracomm"] == 8000 * 3 + 160


def test_present_arrays_that_are_absent_are_named(tmp_path: Path) -> None:
    text = """double a[1000], b[1000];
    int main(void) {
    #pragma acc enter data create(a)
    #pragma acc parallel loop present(a, b)
      for (int i = 0; i < 1000; i++) a[i] = b[i];
    }"""
    found = extracted(text, tmp_path, "a.c")
    (told,) = [each for each in found.diagnostics if each.code == "absent"]
    assert told.message == "`b` is not on the device here"
    assert told.span is not None
    assert told.span.position().line == 5
    given = "void f(double *a) {\n#pragma acc parallel loop present(a)\nfor (int i = 0; i < 9; i++) a[i] = 1; }"
    assert not [each for each in extracted(given, tmp_path, "b.c").diagnostics if each.code == "absent"]


def test_regions_of_data_in_fortran(tmp_path: Path) -> None:
    pytest.importorskip("fparser", reason="Fortran is read by fparser: pip install 'aspenpy[fortran]'")
    text = """subroutine step(n, u, w)
  integer, intent(in) :: n
  real(8), intent(inout) :: u(n), w(n)
  integer :: i, t
  !$acc data copyin(u) copyout(w)
  do t = 1, 50
    !$acc parallel loop present(u, w)
    do i = 1, n
      w(i) = 2*u(i)
    end do
    !$acc update self(w(1:10))
  end do
  !$acc end data
end subroutine
program main
  real(8) :: a(1000), b(1000)
  integer :: i
  call random_number(a)
  !$omp target enter data map(to: a) map(alloc: b)
  !$omp target teams distribute parallel do map(to: a) map(from: b)
  do i = 1, 1000
    b(i) = a(i)
  end do
  !$omp target exit data map(from: b)
  call step(1000, a, b)
end program
"""
    found = extracted(text, tmp_path, "a.f90")
    # a in, b out; a stays, so that the region copies b alone, and each update ten words
    assert amounts(found)["intracomm"] == 8000 * 2 + 8000 + 50 * 80
    assert not [each for each in found.diagnostics if each.code in ("absent", "not-counted")]


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


COLLAPSED = """void f(int n, int m, TYPE *restrict a, const TYPE *restrict b) {
#pragma omp target teams distribute parallel for collapse(LEVELS)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < WIDTH; j++)
      INNER
}
"""


@pytest.mark.parametrize(
    ("levels", "width", "inner", "sizes", "blocks"),
    [
        (2, "m", "a[i*m + j] = 2*b[i*m + j];", {"n": 1000, "m": 8}, 63),  # ceil(8000/128); 1000 in rows of their own
        (2, "m", "a[i*m + j] = 2*b[i*m + j];", {"n": 10, "m": 1000}, 79),  # ceil(10000/128); 80 in rows
        (2, "m", "a[i*(m + 2) + j] = 2*b[i*(m + 2) + j];", {"n": 10, "m": 1000}, 79),
        (2, "32", "a[i*64 + j] = 2*b[i*64 + j];", {"n": 1001}, 251),  # ceil(32032/128)
        (3, "8", "for (int k = 0; k < 4; k++) a[(i*8 + j)*4 + k] = 2*b[(i*8 + j)*4 + k];", {"n": 1001}, 251),
        (3, "8", "for (int k = 0; k < 4; k++) a[(i*8 + j)*8 + k] = 2*b[(i*8 + j)*8 + k];", {"n": 1001}, 251),
        (3, "m", "for (int k = 0; k < 9; k++) a[(i*m + j)*16 + k] = 2*b[i*16 + k];", {"n": 30, "m": 50}, 106),
    ],
)
def test_collapsed_loops_fill_blocks_together(
    levels: int, width: str, inner: str, sizes: dict[str, int], blocks: int, tmp_path: Path
) -> None:
    text = COLLAPSED.replace("LEVELS", f"{levels}").replace("WIDTH", width).replace("INNER", inner)
    found = extracted(text.replace("TYPE", "double"), tmp_path, "a.c")
    app = aspenpy.parse(found.text)
    assert aspenpy.parallelism(app, set=sizes).most == blocks
    passes = sizes["n"] * sizes.get("m", int(width) if width.isdigit() else 1)
    passes *= 1 if levels == 2 else 4 if "k < 4" in inner else 9
    assert float(aspenpy.count(app, "flops", set=sizes)) == pytest.approx(passes)


def test_short_rows_are_loaded_together(tmp_path: Path) -> None:
    """A block of 128 threads has four rows of 32: four pieces 512 bytes apart, and of the transposed array four
    neighbours in each of 32 columns."""
    text = COLLAPSED.replace("LEVELS", "2").replace("WIDTH", "32").replace("TYPE", "double")
    found = extracted(text.replace("INNER", "a[j*4096 + i] = 2*b[i*64 + j];"), tmp_path, "a.c").text
    assert re.search(r"from b as nest\(8, \S+, 512, 4\)", found)
    assert re.search(r"to a as nest\(8, 4, 32768, \S+\)", found)


def test_sections_of_the_first_dimension_copy_whole_rows(tmp_path: Path) -> None:
    text = """double a[64][32][16];
int main(void) {
#pragma omp target teams distribute parallel for map(tofrom: a[0:40])
  for (int i = 0; i < 40; i++) a[i][0][0] *= 3;
}
"""
    assert amounts(extracted(text, tmp_path, "a.c"))["intracomm"] == 2 * 8 * 40 * 32 * 16
