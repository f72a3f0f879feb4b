"""Submodules and entries: operations counted by hand, and how often a run entered each."""

import json
import shutil
from pathlib import Path

import pytest

import aspenpy
from aspenpy.extract.extraction import Extraction, extract
from aspenpy.extract.model_runs import ProgramRun

pytest.importorskip("fparser", reason="Fortran is read by fparser: pip install 'aspenpy[fortran]'")

needs_gfortran = pytest.mark.skipif(
    shutil.which("gfortran") is None or shutil.which("gcov") is None, reason="counted programs need gfortran and gcov"
)

MODULE = """module vectors
  implicit none
  interface
    module subroutine scale(x, n)
      integer, intent(in) :: n
      real(8), intent(inout) :: x(n)
    end subroutine
    module function weigh(x) result(y)
      real(8), intent(in) :: x
      real(8) :: y
    end function
    module function total(x) result(y)
      real(8), intent(in) :: x(:)
      real(8) :: y
    end function
  end interface
end module
"""

OUTER = """submodule (vectors) outer
  integer :: shift = 3
contains
  module procedure scale
    integer :: i
    do i = 1, n
      x(i) = weigh(x(i))
    end do
  end procedure scale
  module function weigh(x) result(y)
    real(8), intent(in) :: x
    real(8) :: y
    y = 2.5d0*x
  end function
end submodule
"""

INNER = """submodule (vectors:outer) inner
contains
  module procedure total
    integer :: i
    y = 0
    do i = 1, size(x)
      if (x(i) > 1) y = y + shifted(x(i))
    end do
  end procedure
  pure real(8) function shifted(z)
    real(8), intent(in) :: z
    shifted = z/shift
  end function
end submodule
"""

MAIN = """program p
  use vectors
  real(8) :: z(100)
  integer :: i
  do i = 1, 100
    z(i) = 0.02d0*i
  end do
  call scale(z, 100)
  print *, total(z)
end program
"""

ENTRIES = """subroutine triple(x, n)
  integer n, i
  real x(n), y(n)
  do i = 1, n
    x(i) = x(i)*3
  end do
  return
  entry third(y, n)
  do i = 1, n
    if (i < 11) y(i) = y(i)/3
  end do
end subroutine
double precision function length(x, n)
  integer n, i
  double precision x(n), largest
  length = 0
  do i = 1, n
    length = length + x(i)*x(i)
  end do
  return
  entry largest(x, n)
  largest = 0
  do i = 1, n
    largest = max(largest, x(i))
  end do
end function
program p
  real :: x(50)
  double precision :: z(40), length, largest
  x = 2
  z = 1
  call triple(x, 50)
  call third(x, 50)
  call third(x, 50)
  print *, x(1), length(z, 40), largest(z, 40)
end program
"""


def flops(found: Extraction, folder: Path) -> dict[tuple[str, ...], float]:
    (folder / "found.aspen").write_text(found.text, encoding="utf-8")
    total: dict[tuple[str, ...], float] = {}
    for step in aspenpy.trace(aspenpy.load_application(folder / "found.aspen")).steps:
        for demand in step.demands:
            if demand.resource == "flops":
                total[demand.traits] = total.get(demand.traits, 0) + float(demand.amount)
    return total


@needs_gfortran
@pytest.mark.parametrize("is_one_file", [True, False])
def test_procedures_of_submodules_are_called(is_one_file: bool, tmp_path: Path) -> None:
    files = [MODULE, OUTER, INNER, MAIN]
    for place, text in enumerate(["".join(files)] if is_one_file else reversed(files)):
        (tmp_path / f"part_{place}.f90").write_text(text, encoding="utf-8")
    found = extract(tmp_path, level="o1", run=ProgramRun("./a.out"))
    assert not found.left()
    # 0.02 i, then times 2.5: above 1 from the 21st on
    expected = {("multiply", "dp"): 200, ("compare", "dp"): 100, ("add", "dp"): 80, ("divide", "dp"): 80}
    counted = flops(found, tmp_path)
    assert {kind: counted[kind] for kind in expected} == pytest.approx(expected)


@needs_gfortran
def test_entries_are_procedures(tmp_path: Path) -> None:
    (tmp_path / "p.f90").write_text(ENTRIES, encoding="utf-8")
    found = extract(tmp_path / "p.f90", level="o1", run=ProgramRun("./a.out"))
    assert not found.left()
    expected = {
        ("multiply", "sp"): 50, ("divide", "sp"): 2 * 10, ("multiply", "dp"): 40, ("add", "dp"): 40,
        ("compare", "dp"): 40,
    }  # fmt: skip
    assert flops(found, tmp_path) == pytest.approx(expected)


OBJECT = """module b
  type :: c
    integer :: n = 0
    real(8), allocatable :: x(:, :)
  end type
contains
  subroutine triple(this)
    class(c), intent(inout) :: this
    integer :: i
    do i = 1, this%n
      this%x(:, i) = this%x(:, i)*3
    end do
  end subroutine
end module
program p
  use b
  type(c) :: s
  s%n = 50
  allocate (s%x(3, 50))
  s%x = 1
  call triple(s)
end program
"""


def test_an_argument_called_this_is_like_others(tmp_path: Path) -> None:
    (tmp_path / "p.f90").write_text(OBJECT, encoding="utf-8")
    assert flops(extract(tmp_path / "p.f90", level="o1"), tmp_path) == {("multiply", "dp"): 150}


@needs_gfortran
@pytest.mark.parametrize(
    "declared", ["double precision f, t, x(40), y", "dimension x(40)\n  double precision f, t, x, y"]
)
def test_functions_of_one_statement_are_run(declared: str, tmp_path: Path) -> None:
    text = f"""program p
  {declared}
  integer i
  f(t) = t*t + 3
  x(1) = 1
  do i = 2, 40
    if (i > 20) x(i) = f(x(i - 1)/1000)
  end do
  y = x(40)
  print *, y
end program
"""
    (tmp_path / "p.f90").write_text(text, encoding="utf-8")
    found = extract(tmp_path / "p.f90", level="o1", run=ProgramRun("./a.out"))
    assert not found.left()
    assert flops(found, tmp_path) == {("multiply", "dp"): 20, ("add", "dp"): 20, ("divide", "dp"): 20}


def test_rings_of_submodules_end(tmp_path: Path) -> None:
    ring = "submodule (m:b) a\nend submodule\nsubmodule (m:a) b\nend submodule\nsubmodule (m:c) c\nend submodule\n"
    lost = "submodule (m) d\ncontains\n module procedure lost\n  x = 3\n end procedure\nend submodule\n"
    (tmp_path / "p.f90").write_text(f"module m\nend module\n{ring}{lost}program p\nend program\n", encoding="utf-8")
    assert "kernel main" in extract(tmp_path / "p.f90").text


def test_commands_name_modules_and_submodules(tmp_path: Path) -> None:
    for name, text in (("m", MODULE), ("o", OUTER), ("i", INNER), ("p", MAIN)):
        (tmp_path / f"{name}.f90").write_text(text, encoding="utf-8")
    listed = [
        {"directory": str(tmp_path), "file": f"{name}.f90", "command": f"gfortran -c {name}.f90"} for name in "poim"
    ]
    (tmp_path / "compile_commands.json").write_text(json.dumps(listed), encoding="utf-8")
    assert "call scale(100)" in extract(tmp_path).text
