"""How long macros make a file, against GCC's preprocessor, and files that are refused before libclang expands them."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from random import Random
from subprocess import CompletedProcess

import pytest

from aspenpy.extract import macro_expansion
from aspenpy.extract.macro_expansion import HeaderText, require_bounded_expansion
from aspenpy.language.diagnostics import AspenError
from aspenpy.language.source import Source

Run = Callable[..., CompletedProcess[str]]
DOUBLED = "".join(f"#define A{k} A{k + 1} A{k + 1}\n" for k in range(25)) + "#define A25 x[0] += 1;\n"
COPIED = "".join(f"#define F{k}(y) F{k + 1}(y y)\n" for k in range(25)) + "#define F25(y) y\n"


def refuse(name: str) -> HeaderText:
    raise AssertionError(f"no header is included: {name}")


def draw_macros(random: Random) -> str:
    """Macros of one parameter or none, each of which uses those defined before it, and a line that uses them all."""
    names: list[str] = []

    def draw_use(depth: int, argument: str) -> str:
        name = random.choice([*names, "x", argument])
        if name.startswith("F"):
            return f"{name}({draw_use(depth - 1, argument) if depth else argument})"
        return name

    lines = []
    for number in range(random.randint(1, 9)):
        name = random.choice("FA") + str(number)
        body = " ".join(draw_use(2, "y" if name[0] == "F" else "x") for _ in range(random.randint(0, 3)))
        lines.append(f"#define {name}{'(y)' * (name[0] == 'F')} {body} // of {name}(")
        names.append(name)
    return "\n".join([*lines, "int z = " + "; ".join(draw_use(3, "x") for _ in names), ""])


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
@pytest.mark.parametrize("seed", range(12))
def test_words_are_counted_as_gcc_expands_them(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    text = draw_macros(Random(f"macros {seed}"))
    done = subprocess.run(["gcc", "-E", "-P", "-xc", "-"], input=text, capture_output=True, text=True, check=True)
    words = len(re.findall(r"\w+|[^\w\s]", done.stdout))
    monkeypatch.setattr(macro_expansion, "MOST_GROWTH", 0)
    monkeypatch.setattr(macro_expansion, "MOST_TOKENS", words)
    require_bounded_expansion(Source(text, "a.c"), refuse)
    monkeypatch.setattr(macro_expansion, "MOST_TOKENS", words - 1)
    with pytest.raises(AspenError, match="with its macros and headers expanded"):
        require_bounded_expansion(Source(text, "a.c"), refuse)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.c", f"{DOUBLED}void f(double *x) {{ A0 }}\n"),
        ("a.cpp", f"{DOUBLED}void f(double *x) {{ A0 }}\n"),
        ("a.cu", f"{DOUBLED}__global__ void f(double *x) {{ A0 }}\n"),
        ("a.cpp", f"{COPIED}void f(double *x) {{ F0(x[0] += 1;) }}\n"),
        ("a.c", f"#define F(y) y y\nvoid f(double *x) {{ {'F(' * 25}x[0] += 1;{')' * 25} }}\n"),
        ("a.c", '#include "a.h"\nvoid f(double *x) { A0 }\n'),
        ("a.c", 'void f(double *x) {\n#include "h0.h"\n}\n'),
    ],
)
def test_macros_that_double_each_other_are_refused_where_they_are_used(
    name: str, text: str, run: Run, tmp_path: Path
) -> None:
    """Within the memory and time of `run`."""
    (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "a.h").write_text(DOUBLED, encoding="utf-8")
    for number in range(25):
        (tmp_path / f"h{number}.h").write_text(f'#include "h{number + 1}.h"\n' * 2, encoding="utf-8")
    (tmp_path / "h25.h").write_text("x[0] += 1;\n", encoding="utf-8")
    done = run("extract", name)
    assert done.returncode == 2
    assert f"error: with its macros and headers expanded, `{name}` has more than 50,000 words and signs" in done.stderr
    assert "^" in done.stderr


@pytest.mark.parametrize(
    "text",
    [
        "#define X X X\n#define F(x) F(F(x)) G\n#define G F(x)\nvoid f(double *x) { x[0] = 1; }\n",
        f"{DOUBLED}void f(double *x) {{ x[0] += 1; /* A0 */ }} // A0\n",
        "#define MAX(a, b) ((a) > (b) ? (a) : (b))\n"
        + "void f(double *x) { x[0] = MAX(x[1], MAX(x[2], MAX(x[3], x[4]))); }\n" * 1_000,
        "// MAX(\n" * 40 + "#define MAX(a) a a\nvoid f(double *x) { x[0] = 1; }\n",
    ],
)
def test_macros_that_no_code_uses_and_usual_ones_are_no_reason(text: str) -> None:
    require_bounded_expansion(Source(text, "a.c"), refuse)
