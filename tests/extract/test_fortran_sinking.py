"""Values of Fortran that one branch alone needs are computed in it: products and quotients by hand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.extract.test_fortran import model, subroutine

pytest.importorskip("fparser", reason="Fortran is read by fparser: pip install 'aspenpy[fortran]'")

P, Q = "f_branch", "f_branch_2"


@pytest.mark.parametrize(
    ("body", "products", "quotients"),
    [
        ("t = 3*x(1)\nif (y(1) > 0) y(2) = t", [P], []),
        ("t = 3*x(1)\nif (y(1) > 0) y(2) = t\ny(3) = t", ["1"], []),  # needed behind it, too
        ("t = 3*x(1)\nif (t > 0) y(2) = t", ["1"], []),  # in the condition
        ("t = 3*x(1)\nif (y(1) > 0) then\n y(2) = 1\nelse\n y(2) = t\nend if", [f"1 - {P}"], []),
        ("t = 3*x(1)\nif (y(1) > 0) then\n y(2) = t\nelse\n y(3) = t\nend if", ["1"], []),  # by both
        ("t = 3*x(1)\nif (y(1) > 0) then\n y(2) = t\n y(3) = t\nelse\n y(2) = 1\nend if", [P], []),  # twice by one
        ("t = 3*x(1)\ny(4) = x(2)/3\nif (y(1) > 0) y(2) = t", [P], ["1"]),  # past a statement
        ("t = 3*x(1)\ny(3) = 0\nif (y(1) > 0) y(2) = t", [P], []),  # arguments do not overlap
        ("t = 3*x(1)\nx(1) = 0\nif (y(1) > 0) y(2) = t", ["1"], []),  # what it consists of changes
        ("t = 3*u\nu = 0\nif (y(1) > u) y(2) = t", ["1"], []),
        ("t = 3*x(1)\ncall other(y)\nif (y(1) > 0) y(2) = t", ["1"], []),  # which may change anything
        ("t = 3*u\nif (y(1) > 0) y(2) = t", [P], []),
        ("t = 3*x(1)\nt = t/7\nif (y(1) > 0) y(2) = t", ["1"], ["1"]),  # no only value
        ("t = 3*x(1)\ns = t/7\nif (y(1) > 0) y(2) = s", [P], [P]),  # a value of a value
        ("t = 3*x(1)\ns = x(2)/7\nif (y(1) > 0) y(2) = t - s", [P], [P]),
        ("t = 3*x(1)\nif (y(1) > 0) y(2) = 0\nif (y(2) > 0) y(3) = t", [P], []),
        ("t = 3*sqrt(x(1))\nif (y(1) > 0) y(2) = t", [P], []),
        ("t = 3*g(x)\nif (y(1) > 0) y(2) = t", ["1"], []),  # a function elsewhere
        ("t = 3*x(1)\nselect case (k(1))\ncase (1)\n y(2) = t\nend select", ["1"], []),  # a branch of two ways alone
        ("do i = 1, n\n t = 3*x(i)\n if (y(i) > 0) x(i) = t\nend do", [f"{P}*n"], []),
        ("t = 3*x(1)\ndo i = 1, n\n if (y(i) > 0) y(i) = t\nend do", ["1"], []),  # not into a loop
        ("if (y(1) > 0) then\n t = 3*x(1)\n if (y(2) > 0) y(3) = t\nend if", [f"{P}*{Q}"], []),
        ("if (y(1) > 0) then\n y(3) = 1\nelse\n t = 3*x(1)\n if (y(2) > 0) y(3) = t\nend if", [f"{Q} - {P}*{Q}"], []),
    ],
)
def test_what_one_branch_needs_is_computed_there(
    body: str, products: list[str], quotients: list[str], tmp_path: Path
) -> None:
    head = "real(8) :: s, t, u\nreal(8), external :: g\n"
    text = model(subroutine(f"u = x(3)\n{body}", head), tmp_path)
    kernel = text.partition("kernel f")[2]
    found = {name: re.findall(rf"flops \[(.*)\] as {name}", kernel) for name in ("multiply", "divide")}
    assert found == {"multiply": products, "divide": quotients}, kernel
