"""Loads and stores that registers spare, in straight-line code and over loops: how many are left by hand, as C's rules
of aliasing allow (C11, 6.5, 6.7.3.1)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from aspenpy.extract.extraction import extract

pytest.importorskip("clang.cindex", reason="C is read by libclang: pip install 'aspenpy[extract]'")

APART = "double *restrict x, double *restrict y, int *restrict k"
TOGETHER = "double *x, double *y, int *k"
OTHERS = "double *x, float *y, char *k"

STATEMENTS = [
    # parameters, statements, loads and stores of x and of y
    (APART, "y[0] = x[1]; y[2] = x[1];", {"loads x": 1, "stores y": 2}),
    (APART, "y[0] = x[1]; x[2] = 3; y[1] = x[1];", {"loads x": 1, "stores x": 1, "stores y": 2}),
    (APART, "y[0] = x[1]; x[1] = 3; y[1] = x[1];", {"loads x": 1, "stores x": 1, "stores y": 2}),
    (APART, "y[0] = x[1]; x[k[0]] = 3; y[1] = x[1];", {"loads x": 2, "stores x": 1, "stores y": 2, "loads k": 1}),
    (APART, "y[0] = x[k[0]]; x[1] = 3; y[1] = x[k[0]];", {"loads x": 2, "stores x": 1, "stores y": 2, "loads k": 1}),
    (APART, "y[0] = x[k[0]]; y[1] = x[k[0]];", {"loads x": 1, "stores y": 2, "loads k": 1}),
    (APART, "y[0] = x[n]; x[n + 1] = 3; y[1] = x[n];", {"loads x": 1, "stores x": 1, "stores y": 2}),
    (APART, "y[0] = x[n]; x[n] = 3; y[1] = x[n];", {"loads x": 1, "stores x": 1, "stores y": 2}),
    (APART, "y[0] = x[n]; x[2*n] = 3; y[1] = x[n];", {"loads x": 2, "stores x": 1, "stores y": 2}),
    (TOGETHER, "y[0] = x[1]; y[1] = x[1];", {"loads x": 2, "stores y": 2}),
    (TOGETHER, "double a = x[1], b = x[1]; y[1] = a + b;", {"loads x": 1, "stores y": 1}),
    (OTHERS, "y[0] = x[1]; y[1] = x[1];", {"loads x": 1, "stores y": 2}),
    (OTHERS, "double a = x[1]; k[0] = 1; y[0] = a + x[1];", {"loads x": 2, "stores y": 1, "stores k": 1}),
    (APART, "y[0] = 1; y[0] = 2;", {"stores y": 1}),
    (APART, "y[0] = 1; y[n] = 3; y[0] = 2;", {"stores y": 2}),
    (APART, "y[0] = 1; x[0] = y[n]; y[0] = 2;", {"stores y": 2, "loads y": 1, "stores x": 1}),
    (APART, "y[0] = 1; x[0] = y[1]; y[0] = 2;", {"stores y": 1, "loads y": 1, "stores x": 1}),
    (APART, "y[0] = 1; x[0] = y[0]; y[0] = 2;", {"stores y": 1, "stores x": 1}),
    (TOGETHER, "y[0] = 1; x[0] = x[1]; y[0] = 2;", {"stores y": 2, "loads x": 1, "stores x": 1}),
]

LOOPS = [
    # what a pass of `for (int i = 0; i < n; i++)` does; n passes
    (APART, "y[0] += x[i];", {"loads x": "n", "loads y": "1", "stores y": "1"}),
    (TOGETHER, "y[0] += x[i];", {"loads x": "n", "loads y": "n", "stores y": "n"}),
    (OTHERS, "y[0] += x[i];", {"loads x": "n", "loads y": "1", "stores y": "1"}),
    (APART, "y[i] = x[0] + x[n];", {"loads x": "2", "stores y": "n"}),
    (APART, "x[i] = x[0];", {"loads x": "n", "stores x": "n"}),
    (APART, "x[k[i]] += x[0];", {"loads x": "2*n", "stores x": "n", "loads k": "n"}),
    (APART, "y[i] = x[k[0]];", {"loads x": "1", "stores y": "n", "loads k": "1"}),
    (APART, "y[n + 1] = x[i];", {"loads x": "n", "stores y": "1"}),
    (TOGETHER, "y[n + 1] = x[i];", {"loads x": "n", "stores y": "n"}),
]


def accesses(parameters: str, body: str, folder: Path) -> dict[str, list[str]]:
    """Amounts of loads and stores of each array."""
    (folder / "a.c").write_text(f"void f(int n, {parameters}) {{ {body} }}", encoding="utf-8")
    found: dict[str, list[str]] = {}
    for line in extract(folder / "a.c", level="source").text.splitlines():
        if access := re.match(r" *(loads|stores) \[(.*?)\] of size \[\d\] (?:from|to) (\w+)", line):
            found.setdefault(f"{access[1]} {access[3]}", []).append(access[2])
    return found


@pytest.mark.parametrize(("parameters", "body", "expected"), STATEMENTS)
def test_statements(parameters: str, body: str, expected: dict[str, int], tmp_path: Path) -> None:
    found = {name: sum(map(int, amounts)) for name, amounts in accesses(parameters, body, tmp_path).items()}
    assert found == expected


@pytest.mark.parametrize(("parameters", "body", "expected"), LOOPS)
def test_loops(parameters: str, body: str, expected: dict[str, str], tmp_path: Path) -> None:
    def amount(parts: list[str], n: int) -> int:
        return sum(int(eval(part, {"n": n})) for part in parts)

    found = accesses(parameters, f"for (int i = 0; i < n; i++) {{ {body} }}", tmp_path)
    for n in (1000, 1001):
        assert {name: amount(parts, n) for name, parts in found.items()} == {
            name: amount([text], n) for name, text in expected.items()
        }
