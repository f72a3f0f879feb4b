"""Programs of Fortran: counts against instructions that ran, forms of the language by hand, what is refused and where.

`fortran_counts.json` is what callgrind and a disassembly count of the programs in `fortran/` (gfortran 12, `-O1`,
N = 18).
"""

import json
import re
from contextlib import suppress
from pathlib import Path

import pytest

import aspenpy
from aspenpy.extract.extraction import extract
from aspenpy.language.diagnostics import AspenError
from aspenpy.shell.main import main
from tests.extract.modelled import counted

pytest.importorskip("fparser", reason="Fortran is read by fparser: pip install 'aspenpy[fortran]'")

PROGRAMS = sorted((Path(__file__).parent / "fortran").glob("*.F*"))
STORED = json.loads((Path(__file__).parent / "fortran_counts.json").read_text(encoding="utf-8"))

OTHERWISE = {
    ("jacobi_2d", "load"): "a function of the module is called, with its arguments in memory",
    ("nussinov", "load"): "the table is loaded again behind each comparison",
}
"""What gfortran does otherwise than the model by more than 5 %, and why."""


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_operations_and_accesses_are_those_of_the_instructions(path: Path, tmp_path: Path) -> None:
    model = counted(path, tmp_path, "source", "-DN=18", kernels=("kernel_", "kernel", "product"))
    ran = STORED[path.stem]
    for kind in ran.keys() | {kind for kind in model if kind in ("load", "store") or " dp" in kind or " sp" in kind}:
        is_near = model[kind] == pytest.approx(ran.get(kind, 0), rel=0.05)
        assert is_near != ((path.stem, kind) in OTHERWISE), (kind, model[kind], ran.get(kind))


def model(text: str, folder: Path, name: str = "program.f90", **options: object) -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return extract(folder / name, level="source", **options).text  # type: ignore[arg-type]


def subroutine(body: str, declarations: str = "") -> str:
    head = "subroutine f(n, x, y, a, k)\n  implicit none\n  integer, intent(in) :: n, k(n)\n"
    head += f"  real(8), intent(inout) :: x(n), y(n), a(n, n)\n  integer :: i, j\n{declarations}"
    return f"{head}{body}\nend subroutine\n"


@pytest.mark.parametrize(
    ("body", "request_"),
    [
        ("do i = 1, n\n x(i) = x(i)*3\nend do", "flops [n] as multiply, dp"),
        ("do i = n, 1, -1\n x(i) = x(i)*3\nend do", "flops [n] as multiply, dp"),
        ("do i = 0, n, 4\n x(i+1) = x(i+1)*3\nend do", "flops [ceil((n + 1)/4)] as multiply, dp"),
        ("do j = 1, n\n do i = j, n\n x(i) = x(i)*3\n end do\nend do", "flops [(n^2 + n)/2] as multiply, dp"),
        ("do i = 1, n\n if (i == 3) cycle\n x(i) = x(i)*3\nend do", "flops [n - 1] as multiply, dp"),
        ("do i = 1, n\n y(i) = x(i)\nend do", "loads [n] of size [8] from x as stream"),
        ("do i = 1, n\n y(i) = x(k(i))\nend do", "loads [n] of size [8] from x as random"),
        ("do j = 1, n\n do i = 1, n\n a(j, i) = 0\n end do\nend do", "to a as nest(8*n, n, 8, n)"),
        ("y = 2.5d0*x", "flops [n] as multiply, dp"),
        ("y(2:n-1) = x(1:n-2) + x(3:n)", "flops [n - 2] as add, dp"),
        ("a(:, 1) = x**3", "flops [2*n] as multiply, dp"),
        ("x(1) = sum(a)", "flops [n^2] as add, dp"),
        ("x = sum(a, dim=2)", "loads [n^2] of size [8] from a as nest(8*n, n, 8, n)"),
        ("x(1) = dot_product(x, y)", "flops [n] as multiply, dp"),
        ("a = matmul(a, a)", "flops [n^3] as multiply, dp"),
        ("a = transpose(a)", "loads [n^2] of size [8] from a as nest(8*n, n, 8, n)"),
        ("do concurrent (i = 1:n, j = 1:n, i /= j)\n a(i, j) = a(i, j)*3\nend do", "flops [n^2 - n] as multiply, dp"),
        ("associate (row => a(2, :))\n row = row*3\nend associate", "loads [n] of size [8] from a as nest(8*n, n)"),
        ("x(1:n:2) = 0", "to x as nest(16, "),
        ("i = 1\ndo while (i <= n)\n x(i) = x(i)*3\n i = i + 1\nend do", "flops [n] as multiply, dp"),
        ("i = 1\n10 x(i) = x(i)*3\ni = i + 1\nif (i <= n) goto 10", "flops [n] as multiply, dp"),
        ("do i = 1, n\n if (i == 3) goto 20\n x(i) = x(i)*3\n20 continue\nend do", "flops [n - 1] as multiply, dp"),
    ],
)  # fmt: skip
def test_forms_of_loops_and_arrays(body: str, request_: str, tmp_path: Path) -> None:
    assert request_ in model(subroutine(body), tmp_path)


def test_modules_types_generics_and_allocation_are_followed(tmp_path: Path) -> None:
    """By hand: 64 rows of 32 words that start at -1, each element multiplied, for three passes; 7 of a component."""
    (tmp_path / "kinds.f90").write_text(
        "module kinds\n use, intrinsic :: iso_fortran_env, only: rk => real64\nend module\n", encoding="utf-8"
    )
    (tmp_path / "field.f90").write_text(
        "module fields\n use kinds, only: wp => rk\n implicit none\n type field\n  real(wp), allocatable :: v(:, :)\n"
        "  real(wp) :: edge(7)\n contains\n  procedure :: scale => scale_field\n end type\n"
        " interface double\n  module procedure double_real, double_rank_one\n end interface\ncontains\n"
        " subroutine scale_field(self, by)\n  class(field), intent(inout) :: self\n  real(wp), intent(in) :: by\n"
        "  self%v = self%v*by\n end subroutine\n"
        " subroutine double_real(x)\n  real(wp), intent(inout) :: x\n  x = x/3\n end subroutine\n"
        " subroutine double_rank_one(x)\n  real(wp), intent(inout) :: x(:)\n  x = x*3\n end subroutine\nend module\n",
        encoding="utf-8",
    )
    (tmp_path / "main.f90").write_text(
        "program main\n use fields\n type(field) :: f\n integer :: t\n allocate(f%v(-1:30, 64))\n f%v = 1\n"
        " f%edge = 1\n do t = 1, 3\n  call f%scale(2.5d0)\n end do\n call double(f%edge)\nend program\n",
        encoding="utf-8",
    )
    found = extract(tmp_path, level="source")
    (tmp_path / "model.aspen").write_text(found.text, encoding="utf-8")
    app = aspenpy.load_application(tmp_path / "model.aspen")
    assert aspenpy.count(app, "flops") == 3 * 64 * 32 + 7
    assert not found.left()


def test_bounds_may_be_formals_that_are_declared_behind_them(tmp_path: Path) -> None:
    text = model(
        "subroutine s(a, n, m)\nimplicit none\nreal(8), intent(inout) :: a(n, m)\ninteger, intent(in) :: n, m\n"
        "a = a*3\nend\n",
        tmp_path,
    )
    assert "flops [m*n] as multiply, dp" in text
    assert "not understood" not in text


def test_select_type_has_the_components_of_each_case(tmp_path: Path) -> None:
    """By hand: two products of a circle, one of a box, none of others."""
    text = model(
        "module shapes\n type :: shape\n  integer :: name\n end type\n type, extends(shape) :: circle\n"
        "  real(8) :: radius\n"
        " end type\n type, extends(shape) :: box\n  real(8) :: a, b\n end type\ncontains\n real(8) function area(s)\n"
        "  class(shape), intent(in) :: s\n  select type (s)\n  type is (circle)\n   area = 3.14d0*s%radius*s%radius\n"
        "  class is (box)\n   area = s%a*s%b\n  class default\n   area = 0\n  end select\n end function\n"
        "end module\n",
        tmp_path,
    )
    assert "flops [2*area_case + area_case_2] as multiply, dp" in text


def test_implied_do_loops_are_loops(tmp_path: Path) -> None:
    """By hand: n products of one constructor, 4 of another in two levels, n of an output; n stores of an input."""
    text = model(
        subroutine(
            "x = [(2.5d0*i, i = 1, n)]\ny(1:5) = [1d0, ((x(i)*y(j), i = 1, 2), j = 1, 2)]\n"
            "print *, (x(i)*3, i = 1, n)\nread (*, *) (x(i), i = 1, n)\n"
        ),
        tmp_path,
    )
    assert "flops [n] as multiply, dp" in text
    assert "flops [4] as multiply, dp" in text
    assert text.count("flops [n] as multiply, dp") == 2


def test_absent_arrays_have_no_elements(tmp_path: Path) -> None:
    """By hand: 8 elements of the one array that is there, beside an absent one with a lower bound of its own."""
    (tmp_path / "p.f90").write_text(
        "module m\ncontains\n subroutine scale(x, w, t)\n  real(8), intent(inout) :: x(:)\n"
        "  real(8), intent(in), optional :: w(-3:, 0:)\n  real(8), intent(in), optional :: t(:)\n  integer :: i\n"
        "  do i = 1, size(x)\n   x(i) = x(i)*3\n  end do\n  if (present(w)) x(1) = x(1)/w(-3, 0)\n end subroutine\n"
        "end module\nprogram p\n use m\n real(8) :: x(8), t(3)\n x = 1\n t = 2\n call scale(x, t=t)\n"
        " call scale(x)\n print *, x(1)\nend program\n",
        encoding="utf-8",
    )
    found = extract(tmp_path / "p.f90", level="source")
    (tmp_path / "model.aspen").write_text(found.text, encoding="utf-8")
    app = aspenpy.load_application(tmp_path / "model.aspen")
    assert aspenpy.count(app, "flops") == pytest.approx(16, abs=2)


def test_each_bound_of_an_array_is_a_number_of_its_own(tmp_path: Path) -> None:
    """By hand: all of the first dimension, whatever its bounds, in 4 columns. One number stood for all bounds."""
    text = model(
        "module m\n real(8), allocatable :: a(:, :)\ncontains\n subroutine s(n)\n  integer, intent(in) :: n\n"
        "  allocate (a(0:n, 4))\n  a = 1\n end subroutine\n subroutine t()\n  integer :: i, j\n"
        "  do j = 1, 4\n   do i = lbound(a, 1), ubound(a, 1)\n    a(i, j) = a(i, j)*3\n   end do\n  end do\n"
        " end subroutine\nend module\n",
        tmp_path,
    )
    assert "flops [4*a_extent_1_2] as multiply, dp" in text
    assert re.findall(r"param (\w+) = (\d+)  // unknown: `(\w+)`", text) == [
        ("a_extent_1_2", "1000", "a_extent_1"),
        ("a_lower_2_2", "1", "a_lower_2"),  # Fortran's default
    ]


def test_both_languages_make_one_program(tmp_path: Path) -> None:
    pytest.importorskip("clang.cindex", reason="C is read by libclang: pip install 'aspenpy[extract]'")
    (tmp_path / "scale.f90").write_text(
        "subroutine scale(n, x) bind(c)\n use iso_c_binding\n integer(c_int), value :: n\n real(c_double) :: x(n)\n"
        " x = x*3\nend subroutine\nsubroutine old(n, x)\n real(8) :: x(n)\n x = x/3\nend subroutine\n",
        encoding="utf-8",
    )
    (tmp_path / "main.c").write_text(
        "double x[100]; void scale(int n, double *x); void old_(int *n, double *x);\n"
        "int main(void) { int n = 100; scale(n, x); old_(&n, x); return 0; }\n",
        encoding="utf-8",
    )
    text = extract([tmp_path / "main.c", tmp_path / "scale.f90"], level="source").text
    assert "call scale(100)" in text
    assert "call old(100)" in text
    assert "as divide, dp" in text


@pytest.mark.parametrize(("name", "text"), [
    ("p.f", "C     comment\n      SUBROUTINE S(N, X)\n      REAL*8 X(N)\n      DO 10 I = 1, N\n"
            "   10 X(I) = X(I) +\n     &  1.5D0\n      END\n"),
    ("p.F90", "#define WIDE\n#ifdef WIDE\n#define KIND_OF 8\n#else\n#define KIND_OF 4\n#endif\n"
              "subroutine s(n, x)\nreal(KIND_OF) :: x(n)\n#if defined(WIDE) && KIND_OF > 4\n"
              "x = x + 1.5d0\n#endif\nend\n"),
])  # fmt: skip
def test_fixed_form_and_the_preprocessor(name: str, text: str, tmp_path: Path) -> None:
    assert "flops [n] as add, dp" in model(text, tmp_path, name)


@pytest.mark.parametrize("level", [0, 1, 2, 3, 4])
def test_one_branch_of_the_preprocessor_is_taken(level: int, tmp_path: Path) -> None:
    """The first whose condition holds, by hand; a false one in front keeps none behind it from being taken."""
    text = model(
        f"#define LEVEL {level}\nsubroutine s(n, x)\nreal(8) :: x(n)\n"
        "#if LEVEL == 1\nx = x + 2d0\n#elif LEVEL == 2\nx = x*3d0\n#elif LEVEL >= 2\nx = x/5d0\n"
        "#else\nx = sqrt(x)\n#endif\nend\n",
        tmp_path,
        "p.F90",
    )
    taken = ["square_root", "add", "multiply", "divide", "divide"][level]
    assert re.findall(r"flops \[n\] as (\w+), dp", text) == [taken]


def test_complex_products_have_four_products_and_two_sums(tmp_path: Path) -> None:
    text = model("subroutine s(n, z, w)\ncomplex(8) :: z(n), w(n)\nz = z*w\nend\n", tmp_path)
    assert "flops [4*n] as multiply, dp" in text
    assert "flops [2*n] as add, dp" in text
    assert "loads [2*n] of size [8] from z" in text


def test_messages_and_threads(tmp_path: Path) -> None:
    text = model(
        "program p\nuse mpi\nreal(8) :: x(500), s\ninteger :: i, ierr\ncall MPI_Init(ierr)\ns = 0\n"
        "!$omp parallel do &\n!$omp reduction(+:s)\ndo i = 1, 500\ns = s + x(i)\nend do\n"
        "call mpi_allreduce(MPI_IN_PLACE, x, 500, mpi_double_precision, MPI_SUM, MPI_COMM_WORLD, ierr)\n"
        "end program\n",
        tmp_path,
    )
    assert "messages [4000] as allreduce" in text
    assert "execute [threads]" in text


def test_invariant_arithmetic_is_in_front_of_its_loop(tmp_path: Path) -> None:
    body = "do j = 1, n\n do i = 1, n\n a(i, j) = a(i, j) + x(j)*y(j)\n end do\nend do"
    assert "flops [n] as multiply, dp" in model(subroutine(body), tmp_path)


@pytest.mark.parametrize(("name", "text", "words"), [
    ("bad.f90", "subroutine s(x)\nreal x\nx = = 1\nend\n", "fparser does not read this as Fortran"),
    ("bad.f90", "program p\ncall f\nend program\n\0", "it has bytes of 0"),
    ("bad.f", "C\n      ASSIGN X TO NEXT\n      END\n", "fparser does not read this as Fortran"),
])  # fmt: skip
def test_what_is_no_fortran_is_refused_with_its_place(
    name: str, text: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert main(["extract", str(tmp_path / name)]) == 2
    said = capsys.readouterr().err
    assert words in said
    assert "\0" in text or re.search(r"bad\.f(90)?:[23]:", said)


def test_what_is_not_understood_is_named_with_its_line(tmp_path: Path) -> None:
    text = "subroutine s(n, x)\nreal(8) :: x(n)\ngoto (10, 20) n\n10 x = 1\n20 x = x*3\nend\n"
    (tmp_path / "p.f90").write_text(text, encoding="utf-8")
    found = extract(tmp_path / "p.f90", level="source")
    (said,) = (str(item) for item in found.diagnostics if item.code == "not-counted")
    assert "computed goto" in said
    assert "p.f90:3:1" in said


@pytest.mark.parametrize("path", PROGRAMS[::5], ids=lambda path: path.stem)
def test_truncated_programs_are_models_or_diagnostics(path: Path, tmp_path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for share in range(1, 12):
        (tmp_path / path.name).write_text(text[: len(text) * share // 12], encoding="utf-8")
        with suppress(AspenError):
            assert extract(tmp_path / path.name, level="source").text
