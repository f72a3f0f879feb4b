"""What is known of memory behind a call: all of it, unless the called function may have stored to it."""

from pathlib import Path

import pytest

from aspenpy.extract.extraction import extract

pytest.importorskip("clang.cindex", reason="C is read by libclang: pip install 'aspenpy[extract]'")


@pytest.mark.parametrize(
    ("call", "is_known"),
    [
        ("", True),
        ('printf("%d", n);', True),
        ("fflush(0);", True),
        ("x[1] = sqrt(2.0);", True),
        ('sscanf("3", "%d", &n);', False),
        ("other();", False),
        ("other_of(&n);", False),
    ],
)
def test_a_global_number_behind_a_call(call: str, is_known: bool, tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text(
        "#include <stdio.h>\n#include <math.h>\nint n; double x[100]; void other(void); void other_of(int *);\n"
        f"void f(void) {{ n = 5; {call} for (int i = 0; i < n; i++) x[i] *= 3; }}\n",
        encoding="utf-8",
    )
    text = extract(tmp_path / "f.c", level="source").text
    assert ("flops [5] as multiply, dp" in text) == is_known
    assert ("as multiply, dp" in text) is True
