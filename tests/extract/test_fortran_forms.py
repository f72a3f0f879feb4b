"""Forms of Fortran that the programs of `fortran/` lack: operations counted by hand."""

from pathlib import Path

import pytest

from aspenpy.extract.extraction import extract
from tests.extract.test_fortran import model, subroutine

pytest.importorskip("fparser", reason="Fortran is read by fparser: pip install 'aspenpy[fortran]'")


@pytest.mark.parametrize(
    ("declarations", "body", "requests"),
    [
        ("", "where (x > 0) y = x*3", ["flops [n] as compare, dp", "flops [f_branch*n] as multiply, dp"]),
        (
            "",
            "where (x > 0)\n y = x*3\nelsewhere (x < -1)\n y = x/5\nelsewhere\n y = x + 2\nend where",
            [
                "flops [f_branch*n] as multiply, dp",
                "flops [f_branch_2*n - f_branch*f_branch_2*n] as divide, dp",
                "flops [f_branch*f_branch_2*n - f_branch*n - f_branch_2*n + n] as add, dp",  # (1 - a) (1 - b)
                "how often `x < -1` holds",
            ],
        ),
        (
            "",
            "where (x > 0)\n where (y > 2) y = x*3\n"
 " where (y < 7)\n  y = x/4\n elsewhere\n  y = x + 3\n end where\nend where",
            [
                "flops [f_branch*f_branch_2*n] as multiply, dp",
                "flops [f_branch*f_branch_3*n] as divide, dp",
                "flops [f_branch*n - f_branch*f_branch_3*n] as add, dp",
            ],
        ),
        ("", "block\n real(8) :: t(n)\n t = x*3\n y = t\nend block", ["flops [n] as multiply, dp", "from t as stream"]),
        (
            "integer, parameter :: by_default = 3\n",
            "do i = 1, n\n select case (i)\n case (by_default)\n  x(i) = x(i)*3\n end select\nend do",
            ["flops [f_case*n] as multiply, dp", "case 1 of `i`"],
        ),
        (
            "",
            "select case (k(1))\ncase (0)\n x = x*3\ncase (1, 2)\n x = x/3\ncase default\n x = x + 3\nend select",
            ["[f_case]", "[f_case_2]", "1/3", "flops [n] as multiply", "flops [n] as divide", "flops [n] as add"],
        ),
        ("real(8), pointer :: p(:)\n", "p => x(2:n-1)\np = p*3", ["flops [n - 2] as multiply, dp", "from x as stream"]),
        (
            "real(8), allocatable :: t(:)\n",
            "allocate(t(n), source=y)\nt = t*3\ndeallocate(t)",
            ["stores [n] of size [8] to t", "flops [n] as multiply, dp"],
        ),
        ("", "x(1:3) = [1d0, 2d0, 3d0]*y(1:3)", ["flops [3] as multiply, dp"]),
        ("", "x(1) = maxval(y)\nx(2) = minval(a)", ["flops [n] as compare, dp", "flops [n^2] as compare, dp"]),
        ("", "x(1) = product(y)", ["flops [n] as multiply, dp"]),
        ("", "i = count(x > 0)", ["flops [n] as compare, dp"]),
        ("", "if (any(x > 3)) y = y*3", ["flops [n] as compare, dp", "[f_branch]", "flops [n] as multiply, dp"]),
        ("", "x = merge(x, y, x > 0)*3", ["flops [n] as compare, dp", "flops [n] as multiply, dp"]),
        ("", "x = cshift(y, 2)*3", ["flops [n] as multiply, dp"]),
        ("", "a = spread(x, 2, n)*3", ["flops [n^2] as multiply, dp", "from x as nest(8, n, 0, n)"]),
        ("", "a = spread(x, 1, n)*3", ["flops [n^2] as multiply, dp", "loads [n] of size [8] from x"]),
        ("real(8) :: z(n*n)\n", "a = reshape(z, [n, n])*3", ["flops [n^2] as multiply, dp"]),
        ("", "do i = lbound(x, 1), ubound(x, 1)\n x(i) = x(i)*3\nend do", ["flops [n] as multiply, dp"]),
        ("real(8) :: z(0:n+1)\n", "do i = lbound(z, 1), ubound(z, 1)\n z(i) = z(i)*3\nenddo", ["flops [n + 2] as mul"]),
        ("", "do i = 1, size(a, 2)\n x(i) = x(i)/3\nend do", ["flops [n] as divide, dp"]),
        ("real(8) :: z(2:5, n)\n", "do i = 1, size(z)\n x(1) = x(1) + 3\nend do", ["flops [4*n] as add, dp"]),
        ("real(8) :: z(2:5, n)\n", "do i = 1, size(z, 1)\n x(i) = x(i)*3\nend do", ["flops [4] as multiply, dp"]),
        ("integer :: m\n", "read(*, *) m\ndo i = 1, m\n x(i) = x(i)*3\nend do", ["flops [f_i_passes] as multiply, dp"]),
        ("", "write(*, *) x, (y(i), i = 1, n)\nx = x*3", ["flops [n] as multiply, dp"]),
    ],
)  # fmt: skip
def test_forms_of_statements(declarations: str, body: str, requests: list[str], tmp_path: Path) -> None:
    text = model(subroutine(body, declarations), tmp_path)
    said = text + " ".join(map(str, extract(tmp_path / "program.f90", level="source").diagnostics))
    assert [request for request in requests if request not in said] == []


@pytest.mark.parametrize(
    ("statement", "requests"),
    [
        (
            "z = z/w",
            ["[6*n] as divide", "[4*n] as multiply", "[4*n] as add"],
        ),  # Smith (1962), by both parts and a ratio
        ("z = z**2", ["[4*n] as multiply", "[2*n] as add"]),
        ("z = conjg(z)*w + x", ["[4*n] as multiply", "[3*n] as add"]),
        ("x = abs(z)", ["[hypot_flops*n]"]),
        ("x = real(z) + aimag(w)", ["[n] as add", "loads [n] of size [8] from z as nest(16, n)"]),
        ("z = cmplx(x, 2*x, 8)", ["[n] as add", "stores [2*n] of size [8] to z"]),
        ("where (z == w) x = 3*x", ["[2*n] as compare"]),
    ],
)
def test_complex_numbers(statement: str, requests: list[str], tmp_path: Path) -> None:
    text = model(f"subroutine s(n, z, w, x)\ncomplex(8) :: z(n), w(n)\nreal(8) :: x(n)\n{statement}\nend\n", tmp_path)
    assert [request for request in requests if request not in text] == []


@pytest.mark.parametrize(
    ("change", "is_changed"),
    [
        ("m = 7", True),
        ("read(*, *) m", True),
        ("call other(m)", True),
        ("do m = 1, 3\n x(m) = 0\nend do", True),
        ("x(1) = m", False),
    ],
)
def test_a_formal_without_an_intent_is_changed_where_a_statement_says_so(
    change: str, is_changed: bool, tmp_path: Path
) -> None:
    """The caller's 5 passes are those of its own constant only where the procedure leaves it alone."""
    text = (
        "program p\n integer :: k, i\n real(8) :: x(100)\n k = 5\n call s(k, x)\n do i = 1, k\n  x(i) = x(i)/3\n"
        f" end do\nend program\nsubroutine s(m, x)\n integer :: m\n real(8) :: x(100)\n {change}\nend subroutine\n"
    )
    found = model(text, tmp_path)
    assert ("flops [5] as divide, dp" in found) is not is_changed


def test_included_lines_and_macros_with_arguments(tmp_path: Path) -> None:
    (tmp_path / "body.inc").write_text("x = x*WIDE(3)\n")
    text = (
        "#define WIDE(a) real(a, 8)\n#define TWICE 2\nsubroutine s(n, x)\nreal(8) :: x(n)\n"
        '#include "body.inc"\n#if TWICE == 2 && !defined(OTHER)\nx = x/3\n#elif TWICE\n'
        "x = x + 3\n#else\nx = x + 4\n#endif\n"
        "include 'more.inc'\nend\n"
    )
    (tmp_path / "more.inc").write_text("x = x - 1\n")
    found = model(text, tmp_path, "p.F90")
    for request in ("flops [n] as multiply, dp", "flops [n] as divide, dp", "flops [n] as add, dp"):
        assert request in found
    assert "+ 3" not in found
    assert "+ 4" not in found
