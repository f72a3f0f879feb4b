"""Operators of C one by one: the value that each gives, by Python's own arithmetic, and the operations it counts as."""

from __future__ import annotations

import math
import re
from collections import Counter
from pathlib import Path

import pytest

from aspenpy.extract.extraction import extract

pytest.importorskip("clang.cindex", reason="C is read by libclang: pip install 'aspenpy[extract]'")

HEAD = "#include <math.h>\n#include <stddef.h>\n"


def model(text: str, folder: Path) -> str:
    (folder / "program.c").write_text(HEAD + text, encoding="utf-8")
    return extract(folder / "program.c").text


def counts(text: str) -> Counter[str]:
    """Amounts of plain numbers, by class and precision; loads and stores by array."""
    found: Counter[str] = Counter()
    for amount, name in re.findall(r"flops \[(\d+)\] as (.*)", text):
        found[name] += int(amount)
    for kind, amount, array in re.findall(r"(loads|stores) \[(\d+)\] of size \[\d+\] (?:from|to) (\w+)", text):
        found[f"{kind} {array}"] += int(amount)
    return +found


BOUNDS = {
    "n + 3": lambda n: n + 3,
    "n - 3": lambda n: n - 3,
    "n * 3": lambda n: n * 3,
    "n / 4": lambda n: n // 4,
    "n % 4": lambda n: n % 4,
    "n << 2": lambda n: 4 * n,
    "n >> 2": lambda n: n // 4,
    "n << 0": lambda n: n,
    "-(3 - n)": lambda n: n - 3,
    "n > 9 ? n : 9": lambda n: max(n, 9),
    "n <= 9 ? 9 : n": lambda n: max(n, 9),
    "n < m ? n : m": lambda n: min(n, 50),
    "n >= m ? m : n": lambda n: min(n, 50),
    "n <= m ? m : n": lambda n: max(n, 50),
    "(long)n": lambda n: n,
}


@pytest.mark.parametrize("bound", BOUNDS)
def test_value_of_an_operator(bound: str, tmp_path: Path) -> None:
    text = model(f"void f(int n, int m, double *x) {{ for (int i = 0; i < ({bound}); i++) x[i] *= 3; }}", tmp_path)
    (formula,) = re.findall(r"flops \[(.*)\] as multiply", text)
    names = {"floor": math.floor, "ceil": math.ceil, "min": min, "max": max, "m": 50}
    for n in (9, 10, 11, 12, 49, 50, 51, 60):
        assert eval(formula.replace("^", "**"), names, {"n": n}) == BOUNDS[bound](n), (formula, n)


@pytest.mark.parametrize(
    ("bound", "value"),
    [
        ("2 + 3*4", 14), ("(2 + 3)*4", 20), ("20 - 5 - 3", 12), ("20/3*2", 12), ("20 % 7*2", 12), ("1 << 2 + 1", 8),
        ("7 >> 1", 3), ("3 < 4", 1), ("4 < 4", 0), ("4 <= 4", 1), ("5 <= 4", 0), ("4 > 4", 0), ("5 > 4", 1),
        ("4 >= 4", 1), ("3 >= 4", 0), ("3 == 3", 1), ("3 == 4", 0), ("3 != 3", 0), ("3 != 4", 1), ("!0", 1), ("!7", 0),
        ("1.5 < 2.5", 1), ("2.5 < 2.5", 0), ("2.5 <= 2.5", 1), ("-(-7)", 7), ("2 - -3", 5), ("sizeof(double)", 8),
        ("1 << 30", 1 << 30), ("(1 << 3) >> 3", 1),
    ],
)  # fmt: skip
def test_value_of_constants(bound: str, value: int, tmp_path: Path) -> None:
    found = counts(model(f"void f(double *x) {{ for (int i = 0; i < ({bound}); i++) x[i] *= 3; }}", tmp_path))
    assert found["multiply, dp"] == value


@pytest.mark.parametrize("bound", ["n/0", "n % 0", "1 << 70", "n & 3", "n | 3", "n ^ 3", "~n"])
def test_operators_without_a_value(bound: str, tmp_path: Path) -> None:
    text = model(f"void f(int n, double *x) {{ for (int i = 0; i < ({bound}); i++) x[i] *= 3; }}", tmp_path)
    assert "flops [f_i_passes] as multiply" in text


@pytest.mark.parametrize(
    ("condition", "runs"),
    [
        ("x == 0", False), ("x != 0", True), ("!x", False), ("x", True), ("0 == x", False), ("0 != x", True),
        ("x == NULL", False), ("x != NULL", True), ("x == (double *)0", False), ("x + 1 == 0", False),
        ("(void *)x != NULL", True), ("x == (double *)8", None), ("x != (double *)8", None), ("x == a", None),
    ],
)  # fmt: skip
def test_memory_of_the_program_is_not_null(condition: str, runs: bool | None, tmp_path: Path) -> None:
    """Nobody knows whether it lies at an address that is another one's."""
    text = model(f"void f(double *a, double *y) {{ double x[4]; if ({condition}) y[0] = a[0]*a[1]; }}", tmp_path)
    amounts = re.findall(r"flops \[(.*)\] as multiply", text)
    assert ("f_branch" in amounts[0]) if runs is None else (amounts == ["1"] * runs)


READS_A, READS_BOTH = {"loads a": 1}, {"loads a": 1, "loads b": 1}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("a[0] + b[0]", {"add, dp": 1, **READS_BOTH}),
        ("a[0] - b[0]", {"add, dp": 1, **READS_BOTH}),
        ("a[0]*b[0]", {"multiply, dp": 1, **READS_BOTH}),
        ("a[0]/b[0]", {"divide, dp": 1, **READS_BOTH}),
        ("a[0]*a[0] - b[0]*b[0]", {"multiply, dp": 2, "add, dp": 1, **READS_BOTH}),
        ("a[0] < b[0]", {"compare, dp": 1, "convert, dp": 1, **READS_BOTH}),
        ("a[0] >= b[0] ? a[0] : b[0]", {"compare, dp": 1, **READS_BOTH}),
        ("fmax(a[0], b[0])", {"compare, dp": 1, **READS_BOTH}),
        ("fabs(a[0]) + sqrt(b[0])", {"square_root, dp": 1, "add, dp": 1, **READS_BOTH}),
        ("-a[0]", READS_A),
        ("+a[0]", READS_A),
        ("1*a[0]", READS_A),
        ("-1*a[0]", READS_A),
        ("a[0]*-1.0", READS_A),
        ("2*a[0]", {"add, dp": 1, **READS_A}),
        ("3*a[0]", {"multiply, dp": 1, **READS_A}),
        ("-3*a[0]", {"multiply, dp": 1, **READS_A}),
        ("a[0] + -3", {"add, dp": 1, **READS_A}),
        ("3.0 + 4.0", {}),
        ("n", {"convert, dp": 1}),
        ("n + a[0]", {"convert, dp": 1, "add, dp": 1, **READS_A}),
        ("(int)a[0]", {"convert, dp": 2, **READS_A}),
        ("(float)a[0]", {"convert, sp": 1, "convert, dp": 1, **READS_A}),
        ("s[0]", {"convert, dp": 1, "loads s": 1}),
        ("s[0]*s[1]", {"multiply, sp": 1, "convert, dp": 1, "loads s": 2}),
        ("s[0]*a[0]", {"convert, dp": 1, "multiply, dp": 1, "loads s": 1, **READS_A}),
    ],
)
def test_operations_of_an_expression(value: str, expected: dict[str, int], tmp_path: Path) -> None:
    """What the language says is computed; compilers change a sign without arithmetic, and fold constants."""
    text = model(f"void f(double *a, double *b, float *s, double *y, int n) {{ y[0] = {value}; }}", tmp_path)
    assert counts(text) == {**expected, "stores y": 1}


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("y[0] += b[0];", {"add, dp": 1, "loads b": 1}),
        ("y[0] -= b[0];", {"add, dp": 1, "loads b": 1}),
        ("y[0] *= b[0];", {"multiply, dp": 1, "loads b": 1}),
        ("y[0] /= b[0];", {"divide, dp": 1, "loads b": 1}),
        ("y[0] *= 1;", {}),
        ("y[0] *= 2;", {"add, dp": 1}),
        ("y[0] += n;", {"convert, dp": 1, "add, dp": 1}),
        ("y[0] += 3;", {"add, dp": 1}),
        ("y[0]++;", {"add, dp": 1}),
        ("--y[0];", {"add, dp": 1}),
    ],
)
def test_operations_of_an_assignment(statement: str, expected: dict[str, int], tmp_path: Path) -> None:
    text = model(f"void f(double *b, double *y, int n) {{ {statement} }}", tmp_path)
    assert counts(text) == {**expected, "loads y": 1, "stores y": 1}


def test_operations_of_a_narrow_assignment(tmp_path: Path) -> None:
    """C computes in the wider type: there, the operation, and back."""
    text = model("void f(float *y, double *b) { y[0] += b[0]; }", tmp_path)
    assert counts(text) == {
        "convert, dp": 2, "add, dp": 1, "loads y": 1, "loads b": 1, "stores y": 1,
    }  # fmt: skip
