"""Forms of Fortran that the programs of `fortran/` lack: operations counted by hand."""

from pathlib import Path

import pytest

import aspenpy
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
        (
            "",
            "x(2:6) = [y(1:3), x(6:7)]*3",
            [
                *("loads [3] of size [8] from y as stream", "stores [3] of size [8] to constructed as stream"),
                *("loads [2] of size [8] from x as stream", "stores [2] of size [8] to constructed as stream"),
                *("loads [5] of size [8] from constructed as stream", "flops [5] as multiply, dp"),
            ],
        ),
        ("", "x(1) = maxval(y)\nx(2) = minval(a)", ["flops [n] as compare, dp", "flops [n^2] as compare, dp"]),
        ("", "x(1) = product(y)", ["flops [n] as multiply, dp"]),
        ("", "i = count(x > 0)", ["flops [n] as compare, dp"]),
        ("", "if (any(x > 3)) y = y*3", ["[f_share*n] as compare, dp", "[f_branch]", "flops [n] as multiply, dp"]),
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
        ("integer :: m\n", "read(*, *) m\ndo i = 1, m\n x(i) = x(i)*3\nend do", ["flops [m] as multiply, dp", "`m`"]),
        ("real(8), parameter :: w(3) = [1, 2, 3]\n", "do j = 1, 3\n x = x + w(j)*y\nenddo", ["[3*n] as multiply"]),
        ("", "a(2, :) = 3*x(n:1:-1)", ["flops [n] as multiply, dp", "from x as nest(-8, n)", "to a as nest(8*n, n)"]),
        ("", "x(k) = y(k)*3", ["flops [n] as multiply, dp", "from y as random", "to x as random"]),
        ("", "x(1) = a(1, 2, 3)", ["a reference with 3 subscripts to an array of rank 2 is not understood"]),
        ("", "write(*, *) x, (y(i), i = 1, n)\nx = x*3", ["flops [n] as multiply, dp"]),
    ],
)  # fmt: skip
def test_forms_of_statements(declarations: str, body: str, requests: list[str], tmp_path: Path) -> None:
    text = model(subroutine(body, declarations), tmp_path)
    said = text + " ".join(map(str, extract(tmp_path / "program.f90", level="source").diagnostics))
    assert [request for request in requests if request not in said] == []


@pytest.mark.parametrize(
    ("constant", "passes"),
    [
        ("2**5", 32),
        ("2**0", 1),
        ("7*3 - 2**2", 17),
        ("17/5", 3),
        ("-(-17/5)", 3),  # cut towards 0
        ("nint(2.5d0)", 3),
        ("-nint(-2.5d0)", 3),
        ("nint(2.4d0)", 2),
        ("floor(2.7d0)", 2),
        ("-floor(-2.5d0)", 3),
        ("ceiling(2.2d0)", 3),
        ("-ceiling(-2.2d0)", 2),
        ("int(2.9d0)", 2),
        ("int(4*atan(1d0))", 3),
        ("nint(sqrt(50d0))", 7),
    ],
)
def test_named_constants_are_computed(constant: str, passes: int, tmp_path: Path) -> None:
    head = f"  integer, parameter :: m = {constant}\n"
    (tmp_path / "model.aspen").write_text(
        model(subroutine("do i = 1, m\n x(i) = x(i)*3\nend do", head), tmp_path), encoding="utf-8"
    )
    app = aspenpy.load_application(tmp_path / "model.aspen")
    assert aspenpy.count(app, "flops") == passes


def test_constants_of_functions_cost_nothing(tmp_path: Path) -> None:
    """As in `pi = 4*atan(1d0)`; a function that has no value there stays a call."""
    head = "  real(8), parameter :: pi = 4*atan(1d0), q = sqrt(2d0)*exp(1d0)\n"
    text = model(subroutine("x = x*pi + q", head), tmp_path)
    assert "flops [n] as multiply, dp" in text
    assert "flops [n] as add, dp" in text
    assert "_flops" not in text
    assert "log_flops" in model(subroutine("x = x*w", "  real(8), parameter :: w = log(-1d0)\n"), tmp_path)


@pytest.mark.parametrize(
    ("statement", "requests"),
    [
        ("z = z/w", ["[3*n] as divide", "[3*n] as multiply", "[3*n] as add"]),  # Smith (1962): a ratio, then both parts
        ("z = z**2", ["[4*n] as multiply", "[2*n] as add"]),
        ("z = conjg(z)*w + x", ["[4*n] as multiply", "[4*n] as add"]),
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
    (tmp_path / "body.inc").write_text("x = x*WIDE(3)\n", encoding="utf-8")
    text = (
        "#define WIDE(a) real(a, 8)\n#define TWICE 2\nsubroutine s(n, x)\nreal(8) :: x(n)\n"
        '#include "body.inc"\n#if TWICE == 2 && !defined(OTHER)\nx = x/3\n#elif TWICE\n'
        "x = x + 3\n#else\nx = x + 4\n#endif\n"
        "include 'more.inc'\nend\n"
    )
    (tmp_path / "more.inc").write_text("x = x - 1\n", encoding="utf-8")
    found = model(text, tmp_path, "p.F90")
    for request in ("flops [n] as multiply, dp", "flops [n] as divide, dp", "flops [n] as add, dp"):
        assert request in found
    assert "+ 3" not in found
    assert "+ 4" not in found


@pytest.mark.parametrize(
    ("text", "requests"),
    [
        (
            "subroutine s(n, x)\ndimension x(n)\ndouble precision x\nintent(inout) x\nx = x*3\nend\n",
            ["flops [n] as multiply, dp"],
        ),
        (
            "subroutine s(n, x)\ninteger, intent(in) :: n\nreal(8), dimension(n), intent(inout) :: x\n"
            "logical, parameter :: fast = .true.\ncharacter(len=8) :: name = 'abc'\nif (fast) x = x*3\n"
            "if (.not. fast) x = x/3\nend\n",
            ["flops [n] as multiply, dp"],
        ),
        (
            "subroutine s(n, x)\nreal(8) :: x(n)\nnamelist /sizes/ m\nm = 5\nread(*, nml=sizes)\ndo i = 1, m\n"
            " x(i) = x(i)*3\nend do\nend\n",
            ["] as multiply, dp"],
        ),
        (
            "module t\n type base\n  real(8) :: a, b\n end type\n type, extends(base) :: wide\n  real(8) :: c(10)\n"
            " end type\ncontains\nsubroutine s(n, w)\n type(wide) :: w(n)\n integer :: i\n do i = 1, n\n"
            "  w(i)%a = w(i)%b*w(i)%c(3)\n end do\nend subroutine\nend module\n",
            ["flops [n] as multiply, dp", "loads [2*n] of size [8] from w as nest(96, n)"],  # 12 words of 8 bytes
        ),
        (
            "module t\n type base\n  real(8) :: a, b\n end type\ncontains\nsubroutine s(n, w)\n type(base) :: w(n)\n"
            " w%a = w%b*3\n w(1) = base(1d0, 2d0)\nend subroutine\nend module\n",
            ["flops [n] as multiply, dp", "from w as nest(16, n)", "stores [1] of size [16] to w"],
        ),
        (
            "module t\ncontains\nfunction mixed(x) result(y)\n real(8), intent(in) :: x(:)\n real(8) :: y(size(x))\n"
            " y = 2.5d0*x + x/3\nend function\nsubroutine s(n, x)\n real(8) :: x(n)\n x = mixed(x)\nend subroutine\n"
            "end module\n",
            ["as multiply, dp", "as divide, dp", "loads [n] of size [8] from mixed as stream"],
        ),
        (
            "subroutine s(n, x)\ninterface\n subroutine other(m, z)\n  integer :: m\n  real(8) :: z(m)\n"
            " end subroutine\nend interface\nexternal more\nreal(8) :: x(n)\nreal(8), external :: f\n"
            "call other(n, x)\ncall more(x)\nx(1) = f(2d0)*3\nend\n",
            ["// call other", "// call more", "// call f", "flops [1] as multiply, dp"],
        ),
    ],
)
def test_forms_of_declarations(text: str, requests: list[str], tmp_path: Path) -> None:
    found = model(text, tmp_path)
    assert [request for request in requests if request not in found] == []
    assert "divide" in " ".join(requests) or "divide" not in found
    assert "[5] as" not in found  # what a namelist brings is not known


@pytest.mark.parametrize(
    ("declarations", "body", "lines"),
    [
        ("", "x = sign(x, y)*3", ["x3", "loads x", "loads y", "stores x"]),
        ("", "x = dim(x, y)", ["add", "compare", "loads x", "loads y", "stores x"]),  # max(x - y, 0)
        ("", "x = mod(k, 7)", ["convert", "loads k", "stores x"]),
        ("", "x = iand(k, 3) + ior(k, 4)", ["convert", "loads k", "stores x"]),
        ("", "x = modulo(x, 7d0)", ["flops [fmod_flops*n] as dp", "loads x", "stores x"]),
        (
            "real(4) :: s(n)\n",
            "x = dprod(s, s)",
            ["convert", "x3", "loads [n] of size [4] from s as stream", "stores x"],
        ),
        (
            "",
            "x(1) = maxval(x, mask=y > 0)",
            [
                "flops [f_branch*n + n] as compare, dp",
                *("loads y", "loads [f_branch*n] of size [8] from x as stream", "stores [1] of size [8] to x"),
            ],
        ),
        (
            "",
            "x = real(k, 4)*2.0",
            ["flops [n] as convert, sp", "flops [n] as add, sp", "convert", "loads k", "stores x"],  # s + s
        ),
        ("", "x = dble(k)*3", ["convert", "x3", "loads k", "stores x"]),
        ("", "y = floor(x)", ["flops [2*n] as convert, dp", "loads x", "stores y"]),
        ("", "x = x*epsilon(x)", ["x3", "loads x", "stores x"]),
        ("", "x = x*huge(1d0) + tiny(x)", ["x3", "add", "loads x", "stores x"]),
        (
            "",
            "x = matmul(a, y)",  # for each column its element times the column, added to x
            [
                *("stores x", "flops [n^2] as multiply, dp", "flops [n^2] as add, dp"),
                "loads [n] of size [8] from y as nest(0, 1, 8, n)",
                "loads [n^2] of size [8] from x as nest(8, n, 0, n)",
                "loads [n^2] of size [8] from a as nest(8, n, 8*n, n)",
                "stores [n^2] of size [8] to x as nest(8, n, 0, n)",
            ],
        ),
        (
            "",
            "x = matmul(y, a)",  # for each column its product with y
            [
                *("stores x", "flops [n^2] as multiply, dp", "flops [n^2] as add, dp"),
                "loads [n] of size [8] from x as nest(0, 1, 8, n)",
                "loads [n^2] of size [8] from y as nest(8, n, 0, n)",
                "loads [n^2] of size [8] from a as nest(8, n, 8*n, n)",
                "stores [n] of size [8] to x as nest(0, 1, 8, n)",
            ],
        ),
        (
            "",
            "forall (i = 1:n)\n x(i) = x(i)*3\n y(i) = y(i)/3\nend forall",
            ["x3", "divide", "loads x", "stores x", "loads y", "stores y"],
        ),
        (
            "",
            "forall (i = 1:n, x(i) > 0) x(i) = x(i)*3",
            [
                *("compare", "flops [f_branch*n] as multiply, dp", "loads x"),
                "stores [f_branch*n] of size [8] to x as stream",
            ],
        ),
        ("", "x = x**0.5", ["flops [n*pow_flops] as dp", "loads x", "stores x"]),
        ("", "x = x**(-2)", ["x3", "divide", "loads x", "stores x"]),
        ("", "x = x**5", ["flops [3*n] as multiply, dp", "loads x", "stores x"]),  # 2, 4, 5
        ("", "x = x**7", ["flops [4*n] as multiply, dp", "loads x", "stores x"]),  # 2, 3, 4, 7
        ("", "x = x**32", ["flops [5*n] as multiply, dp", "loads x", "stores x"]),
        ("", "x = x**33", ["flops [n*pow_flops] as dp", "loads x", "stores x"]),
        ("", "x = 2d0**k", ["flops [n*pow_flops] as dp", "loads k", "stores x"]),
        ("", "x = -y\ny = +x*3", ["loads y", "stores x", "x3", "loads x", "stores y"]),
        (
            "real(8), allocatable :: t(:), u(:)\n",
            "allocate(t(n), u(0:n))\nt = 1\nu = 3*u\ncall move_alloc(t, u)\nu = u/3",
            [
                *("stores [n] of size [8] to t as stream", "flops [n + 1] as multiply, dp"),
                *("loads [n + 1] of size [8] from u as stream", "stores [n + 1] of size [8] to u as stream"),
                *("divide", "loads [n] of size [8] from t as stream", "stores [n] of size [8] to t as stream"),
            ],
        ),
    ],
)
def test_all_that_a_statement_asks_for(declarations: str, body: str, lines: list[str], tmp_path: Path) -> None:
    """`loads x` stands for those of all n words, `x3` for n products and another name for n operations."""
    short = {"x3": "flops [n] as multiply, dp"}
    short |= {name: f"flops [n] as {name}, dp" for name in ("add", "divide", "compare", "convert")}
    for name, size in (("x", 8), ("y", 8), ("k", 4)):
        short |= {f"loads {name}": f"loads [n] of size [{size}] from {name} as stream"}
        short |= {f"stores {name}": f"stores [n] of size [{size}] to {name} as stream"}
    text = model(subroutine(body, declarations), tmp_path)
    kernel = text[text.index("kernel f {") : text.index("kernel main")].splitlines()
    asked = [line.partition("//")[0].strip() for line in kernel]
    assert [line for line in asked if line.startswith(("flops", "loads", "stores"))] == [
        short.get(line, line) for line in lines
    ]


@pytest.mark.parametrize(
    ("constant", "passes"),
    [
        *(("selected_int_kind(2)", 1), ("selected_int_kind(3)", 2), ("selected_int_kind(4)", 2)),
        *(("selected_int_kind(5)", 4), ("selected_int_kind(9)", 4), ("selected_int_kind(10)", 8)),
        *(("selected_int_kind(r=18)", 8), ("selected_real_kind(6)", 4), ("selected_real_kind(7)", 8)),
        *(("selected_real_kind(p=15)", 8), ("kind(1.0)", 4), ("kind(1d0)", 8), ("kind(1)", 4)),
    ],
)
def test_kinds_have_as_many_bytes_as_their_digits_need(constant: str, passes: int, tmp_path: Path) -> None:
    """Digits that all numbers of so many bytes have: 127, 32767, 2147483647; 24 and 53 bits of a fraction."""
    head = f"  integer, parameter :: m = {constant}\n"
    (tmp_path / "model.aspen").write_text(
        model(subroutine("do i = 1, m\n x(i) = x(i)*3\nend do", head), tmp_path), encoding="utf-8"
    )
    assert aspenpy.count(aspenpy.load_application(tmp_path / "model.aspen"), "flops") == passes


TYPED = {
    "f": "      double precision function f(y)\n      double precision y\n      f = y*y*y + 1d0\n      end\n",
    "g": "      double precision function g(y)\n      double precision y\n      g = y/7d0\n      end\n",
}
"""Functions of Fortran 77: two products and a sum, and a quotient."""


def in_fixed_form(declarations: str, body: str, heads: str = "x, n", functions: str = "fg") -> str:
    lines = [f"subroutine s({heads})", "integer n, i", "double precision x(n)", *declarations.splitlines()]
    lines += ["do 10 i = 1, n", *body.splitlines(), "10    continue", "end"]
    text = "".join(f"{'' if line.startswith('10 ') else ' ' * 6}{line}\n" for line in lines)
    return text + "".join(TYPED[name] for name in functions)


@pytest.mark.parametrize(
    ("declarations", "body", "requests"),
    [
        # x = x/3 + f: one quotient and one sum of its own
        ("double precision f", "x(i) = x(i)/3d0 + f(x(i))", ("[2*n] as mul", "[2*n] as add", "[n] as divide")),
        ("double precision f\nexternal f", "x(i) = f(x(i))", ("[2*n] as multiply, dp", "[n] as add, dp")),
        ("external f\ndouble precision f", "x(i) = f(x(i))", ("[2*n] as multiply, dp", "[n] as add, dp")),
        ("implicit double precision (f)", "x(i) = f(x(i))", ("[2*n] as multiply, dp", "[n] as add, dp")),
        # g(f(x)): what f has and a quotient
        ("double precision f, g", "x(i) = g(f(x(i)))", ("[2*n] as mul", "[n] as add", "[n] as divide")),
        ("double precision dsqrt, dabs", "x(i) = dsqrt(dabs(x(i)))", ("flops [n] as square_root, dp",)),
        ("double precision q, a\nq(a) = a*a*a*a + 5d0", "x(i) = q(x(i) - 3d0)", ("[3*n] as mul", "[2*n] as add")),
        ("double precision q, r, a\nq(a) = a/3d0\nr(a) = q(a)*7d0", "x(i) = r(x(i))", ("[n] as div", "[n] as mul")),
    ],
)
def test_functions_that_have_nothing_but_a_type(
    declarations: str, body: str, requests: tuple[str, ...], tmp_path: Path
) -> None:
    lines = declarations.splitlines()
    lines.sort(key=lambda line: 0 if line.startswith("implicit") else 2 if "=" in line else 1)
    text = model(in_fixed_form("\n".join(lines), body), tmp_path, "program.f")
    kernel = text.partition("kernel s")[2].partition("kernel ")[0].replace("flops [2*n] as", "[2*n] as")
    assert not [request for request in requests if request not in kernel], kernel


def test_a_text_is_no_function(tmp_path: Path) -> None:
    text = model(in_fixed_form("character*8 c", "if (c(i:i) .eq. 'x') x(i) = x(i)*3d0"), tmp_path, "program.f")
    assert "c_flops" not in text


CALLER = """program p
  implicit none
  external f{others}
  double precision x(100), f
  integer i
  do i = 1, 100
    x(i) = i
  end do
  call s(x, 100, f)
  {again}
  print *, x(1)
end program
"""


def test_a_formal_that_is_called_means_the_function_that_calls_pass(tmp_path: Path) -> None:
    text = in_fixed_form("double precision w", "x(i) = w(x(i))", "x, n, w")
    (tmp_path / "main.f90").write_text(CALLER.format(others="", again=""), encoding="utf-8")
    (tmp_path / "s.f").write_text(text, encoding="utf-8")
    one = extract([tmp_path / "main.f90", tmp_path / "s.f"], level="source").text
    assert "flops [2*n] as multiply, dp" in one
    assert "w_flops" not in one
    (tmp_path / "main.f90").write_text(
        CALLER.format(others=", g\n  double precision g", again="call s(x, 100, g)"), encoding="utf-8"
    )
    two = extract([tmp_path / "main.f90", tmp_path / "s.f"], level="source").text
    assert "flops [2*f_part*n] as multiply, dp" in two
    assert "flops [n - f_part*n] as divide, dp" in two


def test_a_procedure_by_its_interface_is_passed_on(tmp_path: Path) -> None:
    text = """module m
contains
subroutine outer(op, x)
  procedure(square) :: op
  real(8), intent(inout) :: x(:)
  call inner(op, x)
end subroutine
subroutine inner(op, x)
  interface
    real(8) function op(y)
      real(8), intent(in) :: y
    end function
  end interface
  real(8), intent(inout) :: x(:)
  integer :: i
  do i = 1, size(x)
    x(i) = op(x(i))/3
  end do
end subroutine
real(8) function square(y)
  real(8), intent(in) :: y
  square = y*y
end function
end module
program p
  use m
  real(8) :: x(64)
  x = 2
  call outer(square, x)
  print *, x(1)
end program
"""
    (tmp_path / "model.aspen").write_text(model(text, tmp_path), encoding="utf-8")
    assert aspenpy.count(aspenpy.load_application(tmp_path / "model.aspen"), "flops") == 64 * (1 + 1)


@pytest.mark.parametrize(
    ("by_name", "by_place"),
    [
        ("x(1) = sum(array=y)", "x(1) = sum(y)"),
        ("x = sum(mask=a > 0, dim=1, array=a)", "x = sum(a, 1, a > 0)"),
        ("x(1) = dot_product(vector_b=y, vector_a=x)", "x(1) = dot_product(x, y)"),
        ("x = matmul(matrix_b=y, matrix_a=a)", "x = matmul(a, y)"),
        ("x = 3*matmul(matrix_b=y, matrix_a=a)", "x = 3*matmul(a, y)"),
        ("a = transpose(matrix=a)*3", "a = transpose(a)*3"),
        ("a = reshape(shape=[n, n], source=x)*3", "a = reshape(x, [n, n])*3"),
        ("a = spread(ncopies=n, dim=2, source=x)*3", "a = spread(x, 2, n)*3"),
        ("x = merge(mask=x > 0, fsource=y, tsource=x*3)", "x = merge(x*3, y, x > 0)"),
        ("x = atan2(x=x, y=y(1))", "x = atan2(y(1), x)"),
        ("x = mod(p=7, a=k)", "x = mod(k, 7)"),
        ("x = sign(b=y, a=x/3)", "x = sign(x/3, y)"),
        ("x = sqrt(x=y)", "x = sqrt(y)"),
        ("x = real(kind=4, a=k)*2.0", "x = real(k, 4)*2.0"),
        ("do i = lbound(dim=1, array=x), ubound(array=a, dim=2)\n x(i) = 3*x(i)\nend do", "x = 3*x"),
        ("do i = 1, size(dim=2, array=a)\n x(i) = 3*x(i)\nend do", "x = 3*x"),
        ("x = x*kind(x=1d0)", "x = x*8"),
        ("x = x*selected_real_kind(p=15)", "x = x*8"),
    ],
)
def test_arguments_by_name_are_those_by_place(by_name: str, by_place: str, tmp_path: Path) -> None:
    def requests(body: str) -> list[str]:
        lines = model(subroutine(body), tmp_path).splitlines()
        return [line.strip() for line in lines if line.strip().startswith(("flops", "loads", "stores"))]

    assert requests(by_name) == requests(by_place) != []


@pytest.mark.parametrize(
    "body",
    [
        *("x = a", "a = x", "x = x + a", "x = a(:, 1:3)*3", "where (a > 0) x = 3*x", "x = merge(x, a, x > 0)"),
        *("x = sum(a, 1, x > 0)", "x(1) = sum(x, mask=a > 0)", "x = matmul(x, y)", "a = matmul(a, x)"),
        *("x(1) = dot_product(x, a)", "if (x(1) > 0) x = a", "do i = 1, n\n x = a\nend do"),
    ],
)
def test_arrays_of_different_ranks_are_named(body: str, tmp_path: Path) -> None:
    """No compiler takes them: what follows is counted all the same."""
    text = model(subroutine(f"{body}\ny = y/3"), tmp_path)
    assert "flops [n] as divide, dp" in text
    said = [one.message for one in extract(tmp_path / "program.f90", level="source").diagnostics]
    assert "an operation on arrays of different ranks is not understood: not counted" in said


GENERIC = """module t
 interface area
  module procedure plain, two, wide, named
 end interface
 type a
  real(8) :: v
 end type
 type b
  real(8) :: v, w
 end type
contains
subroutine plain(z)
 real(8) :: z
 z = z*3
end subroutine
subroutine two(z, w)
 real(8) :: z, w
 z = z + w
end subroutine
subroutine wide(z)
 type(b) :: z
 z%v = z%w/3
end subroutine
subroutine named(z)
 type(a) :: z
 z%v = sqrt(z%v)
end subroutine
subroutine s(n, x, p, q)
 integer :: n
 real(8) :: x(n)
 type(a) :: p
 type(b) :: q
 CALL
end subroutine
end module
"""


@pytest.mark.parametrize(
    ("call", "flops"),
    [
        *(("x(1)", "multiply"), ("x(1), x(2)", "add"), ("q", "divide"), ("p", "square_root")),
        *(("x", ""), ("x(1), x(2), x(3)", ""), ("p, q", "")),
    ],
)
def test_a_generic_name_is_the_procedure_whose_arguments_fit(call: str, flops: str, tmp_path: Path) -> None:
    text = model(GENERIC.replace("CALL", f"call area({call})"), tmp_path)
    kernel = text.partition("kernel s {")[2].partition("kernel main")[0]
    assert [line.strip() for line in kernel.splitlines() if "flops" in line] == (
        [f"flops [1] as {flops}, dp"] if flops else []
    )
    said = [one.message for one in extract(tmp_path / "program.f90", level="source").diagnostics]
    assert ("which procedure `area` calls is not understood: not counted" in said) is not bool(flops)


@pytest.mark.parametrize(
    ("text", "requests"),
    [
        (  # the result of a function without a declaration has the type of its first letter
            "function g(t)\n real(8) :: t\n g = t*3\nend function\nsubroutine f(n, x)\n integer :: n, i\n"
            " real(8) :: x(n)\n external g\n do i = 1, n\n  x(i) = g(x(i))\n end do\nend subroutine\n",
            ["flops [n] as multiply, dp", "flops [n] as convert, sp", "flops [n] as convert, dp"],
        ),
        (
            "subroutine f(n, x, g)\n integer :: n, i\n real(8) :: x(n)\n real(8), external :: g\n do i = 1, n\n"
            "  x(i) = g(x(i))*3\n end do\nend subroutine\n",
            ["flops [g_flops*n] as dp", "flops [n] as multiply, dp"],
        ),
        (
            "subroutine f(n, x)\n integer :: n, i\n real(8) :: x(n)\n type q\n  real(8) :: a, b\n end type\n"
            " type(q) :: w(n)\n do i = 1, n\n  w(i) = q(b=x(i)/3, a=x(i)*3)\n end do\n x(1) = w(1)%b\nend subroutine\n",
            [
                *("flops [n] as divide, dp", "flops [n] as multiply, dp"),
                *("stores [n] of size [16] to w as stream", "loads [1] of size [8] from w"),
            ],
        ),
        (  # a pointer of 8 bytes before three words: a cell has 32
            "module t\n type cell\n  type(cell), pointer :: next\n  real(8) :: v(3)\n end type\ncontains\n"
            "subroutine f(n, c, x)\n integer :: n, i\n type(cell) :: c(n)\n real(8) :: x(n)\n do i = 1, n\n"
            "  c(i)%next%v(2) = x(i)/3\n end do\nend subroutine\nend module\n",
            [
                *("flops [n] as divide, dp", "loads [n] of size [8] from c as nest(32, n)"),
                "stores [n] of size [8] to next as random",
            ],
        ),
        ("subroutine f(n, z)\n complex(8) :: z(n)\n z = 3d0*z\nend\n", ["[4*n] as multiply", "[2*n] as add"]),
        ("subroutine f(n, z)\n complex(8) :: z(n)\n z = z + 3d0\nend\n", ["flops [2*n] as add, dp"]),
        (
            "subroutine f(n, z)\n complex(8) :: z(n)\n z = z/3d0\nend\n",
            ["[2*n] as multiply", "[2*n] as add", "[2*n] as divide"],
        ),
        ("subroutine f(n, z)\n complex(8) :: z(n)\n z = z*(5d0, 3d0)\nend\n", ["[4*n] as multiply", "[2*n] as add"]),
        ("subroutine f(n, z)\n complex(8) :: z(n)\n z = -z\nend\n", ["loads [2*n] of size [8] from z"]),
        ("subroutine f(z)\n complex(8) :: z(9)\n write(*, *) 'z', z(4)\nend\n", ["loads [2] of size [8] from z"]),
        ("subroutine f(n, x)\n integer, parameter :: m = 5\n real(8) :: x(n)\n x = x*(3**m - 242)\nend\n", []),
        (
            "subroutine f(n, k)\n integer :: k(n)\n k = 2**k\nend\n",
            ["flops [ipow_flops*n]", "loads [n] of size [4] from k"],
        ),
    ],
)
def test_all_requests_of_procedures(text: str, requests: list[str], tmp_path: Path) -> None:
    found = model(text, tmp_path)
    assert [request for request in requests if request not in found] == []
    counted = [line.strip() for line in found.splitlines() if line.strip().startswith("flops")]
    assert len(counted) == len([each for each in requests if each.startswith(("flops", "["))]), counted


TYPES = """module shapes
  private
  public :: field
  type :: field
    real(8), allocatable :: v(:, :)
    integer :: rows = 0
  contains
    procedure, public :: make, scale => grow, &
      & largest  ! one that goes on
    procedure, nopass :: halve
    generic :: change => scale
  end type
contains
  subroutine make(self, n)
    class(field), intent(inout) :: self
    integer, intent(in) :: n
    self%rows = n
    allocate(self%v(-1:n, n))
    self%v = 1
  end subroutine
  subroutine grow(self, by)
    class(field), intent(inout) :: self
    real(8), intent(in) :: by
    integer i, j
    do j = 1, self%rows
      do i = 0, self%rows - 1
        self%v(i, j) = by*self%v(i, j) + by
      end do
    end do
  end subroutine
  real(8) function largest(self)
    class(field), intent(in) :: self
    largest = maxval(self%v)
  end function
  real(8) function halve(x)
    real(8), intent(in) :: x
    halve = x/3
  end function
end module
"""

OBJECTS = """program p
  use shapes, only: field
  type(field) :: a, b
  character(9) :: w
  integer :: n
  real(8) :: s
  call get_command_argument(1, w); read (w, *) n
  call a%make(n); call b%make(2*n)
  call a%scale(2d0); call b%change(3d0)
  s = a%largest() + b%halve(4d0)
  print *, s
end program
"""


def test_procedures_of_types_of_another_module(tmp_path: Path) -> None:
    """Names that `only` leaves out, lists of bindings, `nopass` and `generic`."""
    (tmp_path / "shapes.f90").write_text(TYPES, encoding="utf-8")
    (tmp_path / "main.f90").write_text(OBJECTS, encoding="utf-8")
    found = extract(tmp_path)
    assert "not understood" not in "".join(item.message for item in found.diagnostics)
    (tmp_path / "p.aspen").write_text(found.text, encoding="utf-8")
    app = aspenpy.load_application(tmp_path / "p.aspen")
    calls = {name: found.text.count(f"call {name}") for name in ("make", "grow", "largest")}
    assert calls == {"make": 2, "grow": 2, "largest": 1}
    assert float(aspenpy.count(app, "flops", traits=("divide",))) == 1


@pytest.mark.parametrize(
    ("body", "sums"),
    [
        ("x(1) = (p%a + 1)*x(1) + (p%a + 1)*x(2)", "2"),
        ("x(1) = (1 + p%a)*x(1) + (p%a + 1)*x(2)", "2"),
        ("x(1) = (p%a + 1)*x(1) + (p%b + 1)*x(2)", "3"),
        ("x(1) = (p%a + 1)*x(1)\nx(2) = (p%a + 1)*x(2)", "1"),
        ("x(1) = (p%a + 1)*x(1)\np%a = x(3)\nx(2) = (p%a + 1)*x(2)", "2"),
        ("x(1) = (p%a + 1)*x(1)\ny(2) = g(x)\nx(2) = (p%a + 1)*x(2)", "2"),
        ("x(1) = (q(k(1))%a + 1)*x(1) + (q(k(1))%a + 1)*x(2)", "2"),
        ("x(1) = (q(k(1))%a + 1)*x(1) + (q(k(2))%a + 1)*x(2)", "3"),
        ("x(1) = (q(int(g(x)))%a + 1)*x(1) + (q(int(g(x)))%a + 1)*x(2)", "3"),
        ("do i = 1, n\n x(i) = (q(i)%a + 1)*x(i)\n y(i) = (q(i)%a + 1)*y(i)\nend do", "n"),
    ],
)
def test_equal_values_of_components_are_computed_once(body: str, sums: str, tmp_path: Path) -> None:
    """Each `+ 1` that nothing between changes, and the sum of two products; a function elsewhere may change all."""
    head = (
        "type cell\n real(8) :: a, b\nend type\nreal(8) :: x(n), y(n)\nreal(8), external :: g\ntype(cell) :: p, q(n)\n"
    )
    text = f"subroutine f(n, x, y, p, q, k)\ninteger :: n, i, k(n)\n{head}{body}\nend subroutine\n"
    added = [
        line.partition("[")[2].partition("]")[0] for line in model(text, tmp_path).splitlines() if "as add" in line
    ]
    assert " + ".join(added) == sums


@pytest.mark.parametrize(
    ("body", "is_named"),
    [
        ("i = 0\n10 i = i + 1\nif (x(i) > 3) goto 30\nif (i < n) goto 10\ny(1) = y(1)/3\n30 x(1) = x(1)*3", True),
        ("i = 0\n10 i = i + 1\nif (x(i) > 3) goto 30\nif (i < n) goto 10\n30 x(1) = x(1)*3", False),
        ("do i = 1, n\n if (x(i) > 3) goto 30\nend do\ny(1) = y(1)/3\n30 x(1) = x(1)*3", True),
        ("do i = 1, n\n if (x(i) > 3) goto 30\nend do\n30 x(1) = x(1)*3", False),
    ],
)
def test_a_jump_out_of_a_loop_that_skips_more_is_named(body: str, is_named: bool, tmp_path: Path) -> None:
    text = model(subroutine(body), tmp_path)
    said = [one.message for one in extract(tmp_path / "program.f90", level="source").diagnostics]
    assert ("a jump by `goto`: what it skips behind the loops that it leaves is counted" in said) is is_named
    assert any("f_i_share" in message for message in said)
    assert ("flops [1] as divide, dp" in text) is is_named
    assert "flops [1] as multiply, dp" in text


def test_a_function_gives_no_named_constant(tmp_path: Path) -> None:
    """A compiler refuses it: procedures are known when all is declared."""
    text = "program p\n integer, parameter :: n = twice(8)\n integer :: i\n real :: x(100)\n"
    text += " do i = 1, n\n  x(i) = x(i) + 1.0\n end do\ncontains\n integer function twice(k)\n"
    text += "  integer, intent(in) :: k\n  twice = 2*k\n end function\nend program\n"
    (tmp_path / "p.f90").write_text(text, encoding="utf-8")
    found = extract(tmp_path / "p.f90")
    assert "a call in a declaration is not understood: not counted" in [item.message for item in found.diagnostics]
    assert "flops [main_i_passes] as add, sp" in found.text


def test_macros_with_arguments_are_what_they_stand_for(tmp_path: Path) -> None:
    """As `gfortran -cpp` has them: pasted words, arguments in brackets, macros in macros, lines that go on."""
    text = """#define PASTE(a, b) a/**/b
#define WIDE(n) (2*(n))
#define LENGTH 8
#define ALL WIDE(LENGTH)
#define FUSED(x, y) \\
  x*y + \\
  WIDE(x)
#if ALL == 16 && \\
    defined(LENGTH)
subroutine PASTE(sc, ale)(x)
#else
subroutine wrong(x)
#endif
  real(8), intent(inout) :: x(ALL)
  integer :: i
  do i = 1, ALL
    x(i) = FUSED(x(i), max(x(i), x(1))) + __LINE__
  end do
end subroutine
"""
    plain = """subroutine scale(x)
  real(8), intent(inout) :: x((2*(8)))
  integer :: i
  do i = 1, (2*(8))
    x(i) = x(i)*max(x(i), x(1)) + (2*(x(i))) + 17
  end do
end subroutine
"""
    found, by_hand = model(text, tmp_path, "a.f90"), model(plain, tmp_path, "b.f90")
    kernel = "kernel scale"
    assert "flops [48] as add, dp" in found or "flops [32] as add, dp" in found

    def requests(text: str) -> list[str]:
        return [line.strip() for line in text.partition(kernel)[2].splitlines() if "[" in line and "//" not in line]

    assert requests(found) == requests(by_hand)


def test_the_mark_of_free_form_behind_fixed_form_is_none(tmp_path: Path) -> None:
    line = "      call t(x, n,".ljust(72)
    text = f"      subroutine s(n, x)\n      real*8 x(n)\n{line}&\n     &  3)\n      x(1) = x(2)*3\n      end\n"
    assert "flops [1] as multiply, dp" in model(text, tmp_path, "a.f")


def test_labels_that_are_assigned_end_no_program(tmp_path: Path) -> None:
    """The jump is named with its line, all else is counted."""
    text = """      subroutine s(n, x)
      real*8 x(n)
      assign 20 to next
      if (n .gt. 9) assign 30 to next
      do 10 i = 1, n
   10 x(i) = x(i)*3
      go to next, (20, 30)
   20 x(1) = x(1)/3
   30 continue
      end
"""
    (tmp_path / "a.f").write_text(text, encoding="utf-8")
    found = extract(tmp_path / "a.f", level="source")
    assert "flops [n] as multiply, dp" in found.text
    told = [each.span.position().line for each in found.diagnostics if each.code == "not-counted" and each.span]
    assert told == [7]


@pytest.mark.parametrize(
    "declared",
    ["real(8) function square(x)\n real(8), intent(in) :: x", "function square(x) result(y)\n real(8) :: x, y"],
)
def test_functions_that_an_interface_declares_have_a_type(declared: str, tmp_path: Path) -> None:
    """A product of two calls, and calls that stand alone in what is printed: four calls and a product."""
    (tmp_path / "program.f90").write_text(
        f"program p\n implicit none\n interface\n  {declared}\n  end function\n end interface\n real(8) :: a\n a = 2\n"
        " print *, square(a)*square(a + 0), square(a)\n write (*, *) square(a)\nend program\n"
        "real(8) function square(x)\n real(8), intent(in) :: x\n square = x*x\nend function\n",
        encoding="utf-8",
    )
    (tmp_path / "model.aspen").write_text(extract(tmp_path / "program.f90", level="source").text, encoding="utf-8")
    counted = aspenpy.count(aspenpy.load_application(tmp_path / "model.aspen"), "flops", traits=("multiply",))
    assert float(counted) == 5


def test_functions_of_text_are_no_work_of_floating_point(tmp_path: Path) -> None:
    """Their own work is left out, as that of functions of strings in C; what stands beside them counts."""
    terms = "iachar(word(3:3))*0.5d0 + scan(word, ' ;') - verify(word, 'ab') + index(word, 'c')"
    declarations = "character(len=20) :: word\nreal(8) :: total\n"
    text = subroutine(f"do i = 1, n\n total = total + {terms}\nend do", declarations)
    found = model(text, tmp_path)
    assert "_flops" not in found
    assert "flops [n] as multiply, dp" in found
    assert "flops [4*n] as add, dp" in found
