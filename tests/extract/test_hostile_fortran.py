"""Programs of Fortran that are deep, long, old or strange: a model with what is not counted told, or a diagnostic."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from aspenpy.extract.extraction import extract
from aspenpy.language.diagnostics import AspenError, Diagnostic

pytest.importorskip("fparser", reason="Fortran is read by fparser: pip install 'aspenpy[fortran]'")


def procedure(body: str, declarations: str = "") -> str:
    return f"subroutine s(n, x, k)\ninteger n, k(n)\nreal(8) x(n)\n{declarations}{body}\nend\n"


MODELS = {
    "nest.f90": procedure("".join(f"do i{k} = 1, n\n" for k in range(20)) + "x(1) = x(1)*3\n" + "end do\n" * 20),
    "branches.f90": procedure("if (x(1) > 1) then\n" * 60 + "x(1) = 2\n" + "end if\n" * 60),
    "chain.f90": procedure(
        "if (x(1) > 1) then\nx(2) = 1\n" + "else if (x(1) > 2) then\nx(3) = x(3)*2\n" * 80 + "end if"
    ),
    "terms.f90": procedure("x(1) = x(1)" + " &\n + x(2)*x(3)" * 200),
    "long_line.f90": procedure("x(1) = " + "+".join(["x(2)"] * 400)),
    "same_names.f90": "subroutine do(if, then)\nreal(8) if(9), then(9)\ninteger end\nend = 3\n"
    "if(end) = then(end)*3\nend\n",
    "equivalence.f": "      SUBROUTINE S(X)\n      REAL*8 X(9), Y(9)\n      COMMON /A/ Y\n"
    "      EQUIVALENCE (Y(1), Z)\n"
    "      Z = 1\n      X(1) = Y(1)*3\n      END\n",
    "entries.f": "      SUBROUTINE S(X)\n      REAL*8 X(9)\n      X(1) = X(1)*3\n      ENTRY T(X)\n"
    "      X(2) = X(2)*3\n      END\n",
    "statement_function.f": "      SUBROUTINE S(X)\n      REAL*8 X(9), F, A\n      F(A) = A*A + 1\n"
    "      X(1) = F(X(2))\n      END\n",
    "columns.f": "      SUBROUTINE S(X)                                                   00000010\n"
    "      REAL*8 X(9)                                                       00000020\n"
    "      X(1) = X(1)*3                                                     00000030\n      END\n",
    "tabs.f": "\tSUBROUTINE S(X)\n\tREAL*8 X(9)\n\tX(1) = X(1)*\n\t1  3\n\tEND\n",
    "recursion.f90": "recursive subroutine s(n, x)\ninteger n\nreal(8) x\nx = x*3\n"
    "if (n > 0) call s(n - 1, x)\nend\n",
    "mutual.f90": "module a\nuse b\nreal(8) x\nend module\nmodule b\nuse a\nreal(8) y\nend module\n"
    "" + procedure("x = x*3"),
    "itself.f90": "module a\nuse a\nend module\n" + procedure("x = x*3"),
    "numbers.f90": procedure("x(1) = x(n/0)*1d999\ndo i = 1, 10, 0\nx(i) = 1\nend do\nx = x**99999999\n"
    " k = mod(n, 0)"),
    "bounds.f90": procedure("y = y*3", "real(8) y(5:1, -9:-9)\n"),
    "coarray.f90": "subroutine s(x)\nreal(8) :: x(9)\nreal(8), save :: y(9)[*]\ny(1)[2] = x(1)*3\nsync all\nend\n",
    "kinds.f90": "subroutine s(x)\nreal(selected_real_kind(999)) :: x(9)\nreal(kind=7) :: y\ny = x(1)*3\nend\n",
    "text.f90": "subroutine s(t)\ncharacter(*) t\ncharacter(9) u(3)\nu(1)(2:3) = t(1:2)//'a''b;!'\n"
    "write (u(2), '(a)') t\nend\n",
    "own_operators.f90": "module m\ntype t\nreal(8) v\nend type\ninterface operator(+)\n"
    "module procedure plus\nend interface\n"
    "contains\nfunction plus(a, b)\ntype(t), intent(in) :: a, b\ntype(t) plus\nplus%v = a%v + b%v\nend function\n"
    "subroutine s(a)\ntype(t) a\na = a + a\nend subroutine\nend module\n",
    "cpp.F90": "#if defined(A) || (B > 3\n#endif\n#else\n#elif 1\n#define F(x) x\n#if 1/0\n#endif\n"
    "" + procedure("x = x*3"),
    "not_utf8.f90": procedure("x = x*3 ! \udcff\udcfe"),
    "roots.f90": procedure(f"x(1) = {'sqrt('*300}x(2){')'*300}\nx(2) = {'abs('*300}x(2){')'*300}"),
    "indices.f90": procedure(f"x(1) = {'x('*300}1{')'*300}"),
    "many_branches.f90": procedure("if (x(1) > 1) then\n" * 400 + "x(1) = 2\n" + "end if\n" * 400),
    "calls.f90": procedure("if (k(1) == 0) then\ncall t(x)\n" + "".join(
        f"else if (k({n}) == 2) then\ncall t{n}(x)\n" for n in range(2, 90)) + "end if"),
    "no_name.F90": "#ifndef\n#ifdef\n#endif\n#endif\n#if\n#endif\n" + procedure("x = x*3"),
    "brackets.F90": f"#if {'(' * 2000}1{')' * 2000}\n#endif\n#if {'-' * 9000}1\n#endif\n" + procedure("x = x*3"),
    "whole_root.f90": procedure("x(1) = sqrt(y%z)\nx(2) = max(y%z, y%w)"),
    "empty.f90": "",
    "comments.f90": "! nothing\n\n! at all\n",
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_strange_programs_have_models_or_diagnostics(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(MODELS[name].encode("utf-8", "surrogateescape"))
    said: Sequence[Diagnostic] = ()
    try:
        text = extract(tmp_path / name).text
    except AspenError as refused:
        text, said = "", refused.diagnostics
    assert "kernel" in text or said[0].span is not None or said[0].hint


REFUSED = {
    "brackets.f90": procedure(f"x(1) = {'(' * 3000}x(2){')' * 3000}"),
    "unclosed.f90": procedure("do i = 1, n\nx(i) = 1"),
    "string.f90": procedure("print *, 'never ends"),
    "continued.f90": procedure("x(1) = 1 + &"),
    "c_text.f90": "void f(double *x) { x[0] *= 3; }\n",
    "number.f90": procedure(f"x({'9' * 5000}) = 1; x = ="),
    "itself.f90": "include 'itself.f90'\nend\n",
    "loops.f90": procedure("".join(f"do i{k} = 1, n\n" for k in range(33)) + "x(1) = 2\n" + "end do\n" * 33),
    "labels.f": "      SUBROUTINE S(N, X)\n      REAL*8 X(N)\n"
    + "".join(f"      DO 9 I{k} = 1, N\n" for k in range(300))
    + "    9 X(1) = 2\n      END\n",
    "powers.f90": procedure("x(1) = x(2)" + "**x(3)" * 3000),
    "macros.F90": "".join(f"#define A{k} A{k + 1} A{k + 1}\n" for k in range(40)) + procedure("x(1) = A0"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_fortran_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(REFUSED[name], encoding="utf-8")
    with pytest.raises(AspenError) as refused:
        extract(tmp_path / name)
    assert refused.value.diagnostics[0].span is not None


def test_arguments_that_are_absent_are_told(tmp_path: Path) -> None:
    (tmp_path / "a.f90").write_text(
        """subroutine a(n, x, y)
  integer :: n, i
  real :: x(n)
  real, optional :: y(n)
  if (present(y)) x(1) = y(1)
  return
  entry b(n, x)
  do i = 1, n
    x(i) = x(i)*3
  end do
end subroutine
program p
  interface
    subroutine a(n, x, y)
      integer :: n
      real :: x(n)
      real, optional :: y(n)
    end subroutine
  end interface
  real :: z(100)
  call a(100, z)
end program
""",
        encoding="utf-8",
    )
    told = [each for each in extract(tmp_path / "a.f90", level="source").diagnostics if each.code == "not-counted"]
    assert [each.span.position().line for each in told if each.span is not None] == [21]


def test_a_name_without_a_construct_ends_no_program(tmp_path: Path) -> None:
    (tmp_path / "a.f90").write_text("program a\n  integer :;: i\n  i = 1\nend program\n", encoding="utf-8")
    with pytest.raises(AspenError, match="fparser does not read this"):
        extract(tmp_path / "a.f90")
