"""Runs of Fortran: what the counted program did is known by arithmetic, and models at sizes that were not run."""

import re
import shutil
from pathlib import Path

import pytest

import aspenpy
from aspenpy.extract.extraction import Extraction, extract
from aspenpy.extract.fortran_layout import FortranLayout
from aspenpy.extract.fortran_text import FortranText
from aspenpy.extract.model_runs import ProgramRun
from aspenpy.language.diagnostics import AspenError
from tests.extract import callgrind

pytest.importorskip("fparser", reason="Fortran is read by fparser: pip install 'aspenpy[fortran]'")
needs_gfortran = pytest.mark.skipif(
    shutil.which("gfortran") is None or shutil.which("gcov") is None, reason="counted programs need gfortran and gcov"
)

HEAD = "program p\nimplicit none\ninteger i, j, k, n\nreal(8) :: s\nreal(8), allocatable :: x(:)\ncharacter(9) :: w\n"
READ = "call get_command_argument(1, w)\nread (w, *) n\nallocate (x(n))\nx = 1\ns = 0\nk = 0\n"


def run_program(
    folder: Path, text: str, command: str = "./a.out {n}", name: str = "program.f90", **options: object
) -> Extraction:
    """The model of a program that reads `n`, run at three sizes."""
    (folder / name).write_text(text, encoding="utf-8")
    over = options.pop("over", {"n": [10.0, 20.0, 40.0]})
    return extract(folder / name, run=ProgramRun(command, over, **options))  # type: ignore[arg-type]


def flops_at(found: Extraction, folder: Path, n: int) -> float:
    (folder / "model.aspen").write_text(found.text, encoding="utf-8")
    return float(aspenpy.count(aspenpy.load_application(folder / "model.aspen"), "flops", set={"n": n}))


@needs_gfortran
@pytest.mark.parametrize(("body", "flops"), [
    ("i = 1\ndo while (i < 8*n)\n s = s + x(1)\n i = i + 2\nend do\n", 4 * 80),
    ("do i = 1, n\n if (mod(i, 5) == 0) s = s + x(i)\nend do\n", 16),
    ("do i = 1, n\n if (mod(i*i, 5) == 1) then\n  s = s + x(i)\n else if (mod(i*i, 5) == 4) then\n  s = s*x(i) + 1\n"
     " else\n  x(i) = s\n end if\nend do\n", 2 * 16 + 4 * 16),
    ("do i = 1, n\n select case (mod(i*i, 5))\n case (1)\n  s = s + x(i)\n case (4)\n  s = s*x(i) + 1\n end select\n"
     "end do\n",
     2 * 16 + 4 * 16),
    ("do i = 1, n; if (mod(i*i, 5) == 1) cycle; s = s + x(i); end do\n", 80 - 32),
    ("do i = 1, n\n if (maxval(x(1:2)) < 0) exit\n s = s + x(i)\nend do\n", 80*4),
    ("i = 0\n10 i = i + 1\ns = s + x(i)\nif (x(i) > i - n + 2) goto 10\n", 3 * 79),
    ("k = size(x)/4\ndo j = 1, 4\n do i = k, 1, -1\n  s = s + x(i)\n end do\nend do\n", 80),
    ("do i = 1, n\n if (mod(i*i, 5) == &\n  4) &\n  s = s + x(i)\nend do\n", 32),
    ("do 20 j = 1, 4\ndo 20 i = 1, n\nif (mod(i*i, 5) == 4) goto 20\ns = s + x(i)\n20 continue\n", 4 * 48),
])  # fmt: skip
def test_counts_fill_parameters(body: str, flops: float, tmp_path: Path) -> None:
    """Flops at n = 80 by hand: sizes of 10, 20 and 40 were run."""
    found = run_program(tmp_path, f"{HEAD}{READ}{body}print *, s, k\nend program\n")
    assert not found.left()
    assert found.reconciliation is not None
    assert not found.reconciliation.lines_far_off()
    assert flops_at(found, tmp_path, 80) == pytest.approx(flops, rel=0.07)


TENFOLD = """contains
  real(8) function tenfold(m)
    integer, intent(in) :: m
    integer l
    tenfold = 0
    do l = 1, 10
      tenfold = tenfold + x(m)
    end do
  end function
"""


@needs_gfortran
@pytest.mark.parametrize(("body", "calls"), [
    ("if (mod(i*i, 5) == 1 .and. tenfold(i) > 2) k = k + 1\n", 32),  # squares of the form 5*k + 1
    ("ok = mod(i, 4) == 0\n if (ok .and. tenfold(i) > 2) k = k + 1\n", 20),
    ("ok = mod(i, 4) == 0\n if (.not. ok .and. tenfold(i) > 2) k = k + 1\n", 60),
    ("ok = mod(i, 4) == 0\n if (.not. (ok .and. &  ! both\n   i > 0) .and. tenfold(i) > 2) k = k + 1\n", 60),
    ("j = i\n if (4*(mod(j, 5)) > (7) .and. tenfold(i) > 2) k = k + 1\n", 48),
    ("ok = mod(i, 4) == 0\n if (ok .and. (mod(i*i, 5) == 1 .or. tenfold(i) > 2)) k = k + 1\n", 12),
    ("j = mod(i, 3)\n if (j == 0) then\n  k = k + 1\n else if (mod(i*i, 5) == 0 .and. tenfold(i) > 2) then\n"
     "  k = k + 2\n elseif (j == 1 .or. tenfold(i) > 2) then\n  k = k + 3\n else\n  k = k + 4\n end if\n", 11 + 27),
    ("j = 0\n do while (j < mod(i, 5) .and. tenfold(j + 1) > 2)\n  j = j + 1\n end do\n", 160),
    ("ok = tenfold(i) > 2 .and. mod(i, 2) == 0\n", 80),
])  # fmt: skip
@pytest.mark.parametrize("form", ["f90", "f"])
def test_parts_of_conditions_that_call_run_as_often_as_in_a_run(
    body: str, calls: int, form: str, tmp_path: Path
) -> None:
    """Flops at n = 80: ten additions in each call, by hand, and a compare behind it."""
    text = f"{HEAD}logical ok\n{READ}do i = 1, n\n {body}end do\nprint *, s, k\n{TENFOLD}end program\n"
    if form == "f":
        text = re.sub("^(?!     &)", "      ", text.replace(" &  ! both\n ", "\n     &"), flags=re.MULTILINE)
    found = run_program(tmp_path, text, name=f"program.{form}", over={"n": [20.0, 40.0, 80.0]})
    assert not found.left()
    assert flops_at(found, tmp_path, 80) == pytest.approx(11 * calls, rel=0.07)


@needs_gfortran
@pytest.mark.parametrize(("body", "flops"), [
    ("where (mod(m, 5) == 0) x = x*3\n", 16),
    ("where (m > 10)\n x = x*3 + 1\nelsewhere (mod(m, 2) == 0)\n x = x/4\nelsewhere\n x = x + 1 + s\nend where\n",
     70*2 + 5 + 5*2),
    ("where (mod(m, 5) > 2)\n where (mod(m, 10) > 4) x = x*3\n where (mod(m, 10) > 8)\n  x = x/2\n elsewhere\n"
     "  x = x + 2 + s\n end where\nend where\n", 16 + 8 + 2*24),
    ("do j = 1, 4\n where (4*m <= n*j) x = x + 2\nend do\n", 20 + 40 + 60 + 80),
    ("s = sum(x, mask=m > 30)\n", 50),
    ("s = sum(x, .not. (mod(m, 5) == 0))\n", 64),
    ("s = product(x(:) + 1, m*(m + 1) > 30*31)\n", 2*50),
    ("j = 30\ns = maxval(x, m > j) + 1\n", 50 + 1),
    ("forall (i = 1:n, m(i) > 30) x(i) = x(i)*3\n", 50),
    ("forall (i = 1:n/4, j = 1:2, m(i)*j > 10)\n x(4*i + j - 4) = x(4*i + j - 4)*3\nend forall\n", 10 + 15),
    ("do concurrent (i = 1:n, m(i) > 30)\n x(i) = x(i)*3\n x(i) = x(i) + 1\nend do\n", 2*50),
])  # fmt: skip
def test_masks_hold_as_often_as_in_a_run(body: str, flops: float, tmp_path: Path) -> None:
    """Flops at n = 80 by hand, of which the numbers in `m` go from 1 to n."""
    declared = HEAD.replace("implicit none\n", "implicit none\ninteger, allocatable :: m(:)\n")
    filled = "allocate (m(n))\ndo i = 1, n\n m(i) = i\nend do\n"
    text = f"{declared}{READ}{filled}{body}print *, s, x(1)\nend program\n"
    found = run_program(tmp_path, text, over={"n": [40.0, 60.0, 80.0]})
    assert not found.left()
    assert flops_at(found, tmp_path, 80) == pytest.approx(flops, rel=0.01)


SEARCHES = """module searches
implicit none
contains
subroutine look(x, k)
  real(8), intent(in) :: x(:)
  integer, intent(inout) :: k
  integer :: i
  real(8) :: s
  do i = 1, 20
    s = i*size(x)/20
    BODY
  end do
end subroutine
end module
program p
use searches
implicit none
integer :: i, k, n
real(8), allocatable :: x(:)
character(9) :: w
call get_command_argument(1, w)
read (w, *) n
allocate (x(n))
x = [(i - 0.5d0, i = 1, n)]
k = 0
call look(x, k)
print *, k
end program
"""


@needs_gfortran
@pytest.mark.parametrize("body", [
    "if (any(x > s)) k = k + 1",
    "if (.not. all(x < s)) k = k + 1",
    "k = k + merge(1, 0, any(x(:) > s))",
])  # fmt: skip
def test_searches_look_as_far_as_in_a_run(body: str, tmp_path: Path) -> None:
    """Of n = 80 elements the first that decides is 4 i + 1, up to the last at all: 4 (1 + ... + 19) + 19 + 80."""
    found = run_program(tmp_path, SEARCHES.replace("BODY", body), over={"n": [20.0, 40.0, 100.0]})
    assert not found.left()
    once = sum(float(line.split("[")[1].split("]")[0]) for line in found.text.splitlines() if "flops [20]" in line)
    assert flops_at(found, tmp_path, 80) - once == pytest.approx(859 + 2 * 80, rel=0.01)  # x is made by 2 each


MASKED = """program p
  implicit none
  integer, parameter :: n = 1000
  real(8) :: x(n), y(n), z(n)
  integer :: m(n), i
  do i = 1, n
    m(i) = mod(i, 10)
    x(i) = i
    y(i) = 2*i
    z(i) = 1
  end do
  call kernel(x, y, z, m, n)
  print *, sum(x), sum(y), sum(z)
contains
  subroutine kernel(x, y, z, m, n)
    integer, intent(in) :: n
    real(8), intent(inout) :: x(n), y(n), z(n)
    integer, intent(in) :: m(n)
BODY
  end subroutine
end program
"""

CONSTRUCTS = {  # flops, bytes loaded and stored, by hand: 600 numbers hold in the first mask
    "several": (
        "where (m > 3)\n x = x*3\n y = y + 1\nelsewhere (x < 500)\n z = z*2\n x = x + y\n"
        "elsewhere\n y = y*5\nend where",
        600 + 600 + 199 + 199 + 201,
        4000 + 6 * 1000 + 600 * 16 + 8000 + 199 * 24 + 201 * 8,  # each of six loops loads a stored mask
        1000 + 2 * 1000 + 600 * 16 + 199 * 16 + 201 * 8,  # the second mask and what is left of it
    ),
    "two": (
        "where (m > 3)\n x = y*3\nelsewhere\n z = y + 1\nend where",
        600 + 400,
        4000 + 600 * 8 + 400 * 8,  # one loop for both
        600 * 8 + 400 * 8,
    ),
    "two_that_depend": (
        "where (m > 3)\n x = x*3\nelsewhere\n x = x + 1\nend where",
        600 + 400,
        4000 + 2 * 1000 + 600 * 8 + 400 * 8,
        1000 + 600 * 8 + 400 * 8,
    ),
    "nested": (
        "where (m > 3)\n where (y < 1000) x = x*3\n z = z + 1\nend where",
        300 + 600,  # six of ten of the numbers up to 499
        4000 + 8000 + 1000 + 2 * 1000 + 300 * 8 + 600 * 8,
        2 * 1000 + 300 * 8 + 600 * 8,
    ),
}


@needs_gfortran
@pytest.mark.skipif(not shutil.which("valgrind"), reason="needs Valgrind")
@pytest.mark.parametrize("name", CONSTRUCTS)
def test_masks_of_a_construct_are_computed_once(name: str, tmp_path: Path) -> None:
    body, *by_hand = CONSTRUCTS[name]
    text = MASKED.replace("BODY", body)
    found = run_program(tmp_path, text, "./a.out", "program.F90", over={})
    model = aspenpy.parse(found.text)
    said = [aspenpy.count(model, kind, kernel="kernel_") for kind in ("loads", "stores")]
    assert [float(amount) for amount in said] == pytest.approx(by_hand[1:], rel=1e-3)
    classes = [aspenpy.count(model, "flops", kernel="kernel_", traits=[kind]) for kind in ("add", "multiply")]
    assert float(sum(classes)) == pytest.approx(by_hand[0], rel=1e-3)
    counted = callgrind.counted(tmp_path / "program.F90", tmp_path, "-O1")
    assert counted["load bytes"] == pytest.approx(by_hand[1], rel=0.01)
    assert counted["store bytes"] == pytest.approx(by_hand[2], rel=0.01)


@needs_gfortran
def test_masks_of_old_programs_are_recorded(tmp_path: Path) -> None:
    """Of fixed form, in which what is recorded needs several lines; half of one fifth of the words are raised."""
    text = (
        "      PROGRAM P\n      REAL*8 LEVELS(1000), OTHERS(1000)\n      INTEGER PLACES(1000)\n"
        "      DO 10 I = 1, 1000\n   10 PLACES(I) = I\n      LEVELS = 1\n      OTHERS = 2\n"
        "      WHERE (MOD(PLACES(1:1000), 5) .EQ. 0 .AND.\n     &       LEVELS(1:1000) .LT. OTHERS(1:1000))\n"
        "      WHERE (MOD(PLACES, 2) .EQ. 0) OTHERS = OTHERS + LEVELS\n      END WHERE\n"
        "      PRINT *, OTHERS\n      END\n"
    )
    found = run_program(tmp_path, text, "./a.out", "program.f", over={})
    assert not found.left()
    model = aspenpy.parse(found.text)
    assert float(aspenpy.count(model, "flops", traits=["add"])) == pytest.approx(100)


@needs_gfortran
def test_a_jump_out_of_two_loops_is_reconciled(tmp_path: Path) -> None:
    """At n = 40 the product of both counters is 400 in row 10, at the last element."""
    loops = "outer: do j = 1, n\n do i = 1, n\n  if (i*j >= n*n/4) exit outer\n  s = s + x(i)\n end do\nend do outer\n"
    found = run_program(tmp_path, f"{HEAD}{READ}{loops}print *, s\nend program\n")
    assert found.reconciliation is not None
    assert not found.reconciliation.lines_far_off()
    assert flops_at(found, tmp_path, 40) == pytest.approx(399, rel=0.05)


@needs_gfortran
def test_whole_numbers_that_a_program_reads_are_recorded(tmp_path: Path) -> None:
    """By hand: 7 steps of a namelist, an element of a table, a default that nothing reads."""
    (tmp_path / "input.nml").write_text("&setup steps = 7 /\n", encoding="utf-8")
    (tmp_path / "settings.f90").write_text(
        "module settings\n integer :: n = 10, steps = 3, unread = 5\n integer, allocatable :: table(:)\n"
        " namelist /setup/ steps, unread\ncontains\n subroutine input\n  integer :: i\n  character(20) :: word\n"
        "  call get_command_argument(1, word)\n  read (word, *) n\n"
        f"  open (10, file='{tmp_path}/input.nml')\n  read (10, setup)\n"
        "  allocate (table(n))\n  do i = 1, n\n   table(i) = 2*i\n  end do\n end subroutine\nend module\n",
        encoding="utf-8",
    )
    (tmp_path / "main.f90").write_text(
        "program main\n use settings\n real(8), allocatable :: a(:)\n integer :: t, m\n call input\n m = table(n)\n"
        " allocate (a(m))\n a = 1\n do t = 1, steps*unread\n  a = a*3\n end do\n print *, a(1)\nend program\n",
        encoding="utf-8",
    )
    found = extract(tmp_path, run=ProgramRun("./a.out {n}", {"n": [10.0, 20.0]}))
    assert not found.left()
    assert flops_at(found, tmp_path, 50) == 7 * 5 * 100


@needs_gfortran
def test_sizes_of_the_preprocessor_and_failures(tmp_path: Path) -> None:
    text = (
        "#ifndef N\n#define N 10\n#endif\nprogram p\n real(8) :: x(N)\n integer :: i\n x = 1\n i = 1\n"
        " do while (i < 3*N)\n  x(1) = x(1)*3\n  i = i + 3\n end do\n print *, x(1)\n error stop 3\nend program\n"
    )
    over = {"N": [20.0, 40.0, 60.0]}
    with pytest.raises(AspenError, match="ended with status 3"):
        run_program(tmp_path, text, "./a.out", "p.F90", over=over)
    found = run_program(tmp_path, text, "./a.out", "p.F90", over=over, allow_failure=True)
    (tmp_path / "model.aspen").write_text(found.text, encoding="utf-8")
    assert aspenpy.count(aspenpy.load_application(tmp_path / "model.aspen"), "flops", set={"N": 90}) == 90
    with pytest.raises(AspenError, match="defines `N` whatever --over says"):
        run_program(tmp_path, text.replace("#ifndef N\n", "#ifdef X\n#else\n"), "./a.out", "p.F90", over=over)


@needs_gfortran
def test_both_languages_and_modules_in_any_order(tmp_path: Path) -> None:
    """By hand: a function of C that Fortran calls adds 4*n times, a module that is named last multiplies n times."""
    pytest.importorskip("clang.cindex", reason="C is read by libclang: pip install 'aspenpy[extract]'")
    (tmp_path / "a.f90").write_text(
        "program p\n use z, only: scale\n use iso_c_binding\n implicit none\n interface\n"
        "  subroutine add(n, x) bind(c)\n   import\n   integer(c_int), value :: n\n   real(c_double) :: x(*)\n"
        "  end subroutine\n end interface\n integer :: n\n real(8), allocatable :: x(:)\n character(20) :: word\n"
        " call get_command_argument(1, word)\n read (word, *) n\n allocate (x(n))\n x = 0\n"
        " call add(n, x)\n call scale(x)\n print *, sum(x(1:1))\nend program\n",
        encoding="utf-8",
    )
    (tmp_path / "b.c").write_text(
        "void add(int n, double *x) { int i = 0; while (x[0] < 4) { "
        "x[0] += 1; for (i = 1; i < n; i++) x[i] += 1; } }\n",
        encoding="utf-8",
    )
    (tmp_path / "z.f90").write_text(
        "module z\ncontains\n pure subroutine scale(x)\n  real(8), intent(inout) :: x(:)\n  integer :: i\n"
        "  do i = 1, size(x)\n   if (x(i) < 3) cycle\n   x(i) = x(i)*3\n  end do\n end subroutine\nend module\n",
        encoding="utf-8",
    )
    found = extract(tmp_path, run=ProgramRun("./a.out {n}", {"n": [10.0, 20.0, 40.0]}))
    assert not found.left()
    assert found.reconciliation is not None
    assert not found.reconciliation.lines_far_off()
    compared = 5 + 50
    assert flops_at(found, tmp_path, 50) == pytest.approx(4 * 50 + 50 + 1 + compared, abs=1)


@needs_gfortran
@pytest.mark.parametrize(("name", "text"), [
    ("fixed.f", "C     comment\n      PROGRAM P\n      IMPLICIT NONE\n      INTEGER I, J, K\n      REAL*8 X(99)\n"
                "      K = 0\n      DO 10 I = 1, 99\n   10 X(I) = I\n      DO 30 J = 1, 3\n      DO 20 I = 1, 99\n"
                "      IF (X(I) .LT. 33\n     &  .OR. X(I) .GT. 66) GO TO 20\n      IF (I .EQ. 50)\n     &  K = K +\n"
                "     &  1\n   20 CONTINUE\n   30 CONTINUE\n      PRINT *, K\n      END\n"),
    ("free.f90", "character(9) :: w = 'a;b!('\ninteger :: k = 0, j; real x\nx = 1\n"
                 "if (w == ';)') k = 1; if (x > 0) k = 3\n"
                 "!$omp parallel do collapse(2) &\n!$omp& private(x)\ndo i = 1, 3\n do j = 1, 3\n  x = i\n end do\n"
                 "end do\ndo concurrent (i = 1:3, j = 1:2)\n block\n  real :: z\n  z = i; if (z > 2) z = 1\n"
                 " end block\nend do\n"
                 "associate (y => x)\n y = 2\nend associate\nprint *, k, x\nend\n"),
    ("pure.f90", "module m\ncontains\n elemental real function f(x) result(y)\n  real, intent(in) :: x\n  y = x\n"
                 "  if (x > 2) y = 3\n end function\nend module\nprogram p\n use m\n implicit none\n real :: a(5) = 2\n"
                 " a = f(a)\n print *, a\nend program\n"),
])  # fmt: skip
def test_texts_with_marks_are_compiled_and_do_the_same(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    found = extract(tmp_path / name, run=ProgramRun("./a.out"))
    assert found.reconciliation is not None
    assert not found.reconciliation.lines_far_off()
    layout = FortranLayout(FortranText(str(tmp_path / name)))
    kept = [line for line in layout.write().splitlines() if "aspenpy" not in line]
    assert len(kept) >= len(text.splitlines())


def test_a_run_without_a_compiler_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(AspenError, match="needs the compiler `gfortran`, which is not installed"):
        run_program(tmp_path, "program p\nend program\n")


@needs_gfortran
def test_the_page_shows_what_a_run_prints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (Path(__file__).parents[2] / "docs" / "extract.md").read_text(encoding="utf-8")
    block = page[page.index("```text\n$ cat > search.f90") : page.index("Compiled loops (`--compile`) are")]
    lines = block.splitlines()
    text = "\n".join(line[2:] for line in lines if line.startswith("> ") and line != "> END")
    (tmp_path / "search.f90").write_text(text, encoding="utf-8")
    over = {"n": [float(2**power) for power in range(6, 13)]}
    found = extract(tmp_path / "search.f90", run=ProgramRun("./a.out {n}", over))
    params = [line for line in lines if line.startswith("  param")]
    assert params == [line for line in found.text.splitlines() if line.startswith("  param")]
    assert found.reconciliation is not None
    assert found.reconciliation.summary() in lines


@needs_gfortran
def test_components_are_recorded(tmp_path: Path) -> None:
    """Sizes of objects and extents of their arrays, also where two statements share a line: rows have n + 2 words."""
    text = """module m
  type :: grid
    integer :: nx = 0, ny = 0
  end type
  type :: field
    type(grid) :: on
    real(8), allocatable :: v(:, :)
  end type
contains
  subroutine make(self, on)
    type(field), intent(inout) :: self
    type(grid), intent(in) :: on
    self%on = on
    allocate(self%v(0:on%nx + 1, on%ny))
    self%v = 1
  end subroutine
  subroutine add(a, b)
    type(field), intent(inout) :: a, b
    integer :: i, j, nx, ny
    nx = a%on%nx; ny = b%on%ny
    do j = 1, ny
      do i = 1, nx
        a%v(i, j) = a%v(i, j) + b%v(i, j)
      end do
    end do
  end subroutine
end module
program p
  use m
  type(field) :: a, b, c
  type(grid) :: g
  integer :: n
  character(9) :: w
  call get_command_argument(1, w)
  read (w, *) n
  g%nx = n; g%ny = 2*n
  call make(a, g); call make(b, g); call make(c, g)
  call add(a, b); call add(c, b)
  print *, a%v(1, 1) + c%v(1, 1)
end program
"""
    found = run_program(tmp_path, text)
    assert flops_at(found, tmp_path, 80) == pytest.approx(2 * 80 * 160 + 1)
    (tmp_path / "model.aspen").write_text(found.text, encoding="utf-8")
    assert not [hole.name for hole in found.left() if not hole.name.endswith("_bytes")]
    fits = {str(hole.fit) for hole in found.holes}
    assert "n + 2" in fits
    assert fits <= {"n", "2*n", "n + 2"}


@needs_gfortran
def test_passes_of_several_indices_of_one_loop_are_counted(tmp_path: Path) -> None:
    """A loop over n columns of 2n rows whose bounds are variables of the procedure around has the product of both
    counted: each index has their geometric mean."""
    text = """module sweeps
contains
  subroutine double_all(x, columns)
    real(8), intent(inout) :: x(:, :)
    integer, intent(in) :: columns(:)
    integer :: m
    m = columns(1)
    call sweep()
  contains
    subroutine sweep()
      integer :: i, j
      do concurrent (j = 1:m, i = 1:2*m)
        x(i, j) = 2.0d0*x(i, j)
      end do
    end subroutine
  end subroutine
end module
program p
  use sweeps
  real(8), allocatable :: x(:, :)
  integer :: n
  character(9) :: w
  call get_command_argument(1, w)
  read (w, *) n
  allocate (x(2*n, n))
  x = 1
  call double_all(x, [n])
end program
"""
    found = run_program(tmp_path, text)
    assert flops_at(found, tmp_path, 40) == pytest.approx(2 * 40 * 40, rel=1e-3)
    assert not [message for message in found.diagnostics if message.code == "differs"]
