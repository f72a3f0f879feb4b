"""Coarrays of Fortran: messages by their bytes, exchanges by their names, and what is left of the text."""

from pathlib import Path

import pytest

import aspenpy
from aspenpy.extract.extraction import Extraction, extract
from aspenpy.extract.fortran_coarrays import IMAGE, IMAGES, RemoteReference, read_coarrays

pytest.importorskip("fparser", reason="Fortran is read by fparser: pip install 'aspenpy[fortran]'")


def extracted(text: str, folder: Path) -> Extraction:
    (folder / "a.f90").write_text(text, encoding="utf-8")
    return extract(folder / "a.f90", level="source")


@pytest.mark.parametrize(
    ("text", "left", "references"),
    [
        ("a(0) = a(n)[me - 1]", "a(0) = a(n)", [("a(n)", False)]),
        ("x(1:n)[k] = y(:)", "x(1:n) = y(:)", [("x(1:n)", True)]),
        ("if (i > 1) s%b(i)[k] = 2", "if (i > 1) s%b(i) = 2", [("s%b(i)", True)]),
        ("if (flag[2] == 1) i = 1", "if (flag == 1) i = 1", [("flag", False)]),
        ("z = u(i)[k] + v[k]", "z = u(i) + v", [("u(i)", False), ("v", False)]),
        ("v = [1, 2, 3]", "v = [1, 2, 3]", []),
        ("v = f([1, x(2)[3]])", "v = f([1, x(2)])", [("x(2)", False)]),
        ("print *, 'a[1]', b[2] ! c[3]", "print *, 'a[1]', b ! c[3]", [("b", False)]),
        ("real :: a(0:n)[*], b[*]", "real :: a(0:n), b", []),
        ("real, allocatable :: x(:)[:]", "real, allocatable :: x(:)", []),
        ("real, codimension[*] :: y(n)", "real :: y(n)", []),
        ("allocate(x(n)[*])", "allocate(x(n))", []),
        ("  sync all", "  call sync_all_()", []),
        ("sync images(*)", "call sync_images_()", []),
        ("me = this_image()", f"me = {IMAGE}", []),
        ("n = 10/Num_Images()", f"n = 10/{IMAGES}", []),
        ("a(1 = b[", "a(1 = b[", []),
    ],
)
def test_the_text_that_is_left(text: str, left: str, references: list[tuple[str, bool]]) -> None:
    assert read_coarrays(text, is_comment=False) == (left, tuple(RemoteReference(*each) for each in references))
    assert read_coarrays(text, is_comment=True) == (text, ())


HALO = """program halo
  integer, parameter :: n = 1000
  real(8), allocatable :: a(:, :)[:]
  real(8) :: total
  integer :: me, np, i, j, t
  me = this_image()
  np = num_images()
  allocate(a(n, 0:n+1)[*])
  a = 1
  do t = 1, 10
    sync all
    a(:, 0) = a(:, n)[me - 1]
    a(1:5, 1)[me + 1] = a(1:5, n)
    do j = 1, n
      do i = 1, n
        a(i, j) = 0.5d0*(a(i, j-1) + a(i, j+1))
      end do
    end do
  end do
  total = sum(a(:, 1:n))
  call co_sum(total, result_image=1)
  call co_max(a(:, 1))
  call co_broadcast(total, 1)
end program
"""


def test_messages_and_exchanges(tmp_path: Path) -> None:
    found = extracted(HALO, tmp_path)
    model = aspenpy.parse(found.text)
    of_rank = 10 * (8000 + 40) + 8 + 8000 + 8
    assert float(aspenpy.count(model, "messages")) == of_rank
    assert float(aspenpy.count(model, "messages", set={"ranks": 4})) == 4 * of_rank
    for words in ("messages [0] as barrier", "as reduce  // co_sum", "as allreduce  // co_max", "as broadcast"):
        assert words in found.text
    assert float(aspenpy.count(model, "flops")) == 10 * 2 * 1000 * 1000 + 1000 * 1000
    assert not [each for each in found.diagnostics if each.code in ("not-counted", "fortran-syntax")]


def test_images_are_ranks(tmp_path: Path) -> None:
    text = """program parts
  integer :: i
  real(8) :: x(1000)
  do i = this_image(), 1000, num_images()
    x(i) = 2*x(i)
  end do
end program
"""
    model = aspenpy.parse(extracted(text, tmp_path).text)
    assert float(aspenpy.count(model, "flops", set={"ranks": 10, "rank": 3})) == 100


def test_references_that_are_not_counted_are_named(tmp_path: Path) -> None:
    text = """program odd
  integer :: flag[*], i
  i = 0
  if (flag[2] == 1) then
    i = 1
  end if
end program
"""
    (told,) = [each for each in extracted(text, tmp_path).diagnostics if each.code == "not-counted"]
    assert told.span is not None
    assert told.span.position().line == 4
