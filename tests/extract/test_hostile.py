"""Programs that are deep, long, old or strange: a model with what is not counted told, or a located diagnostic."""

from pathlib import Path

import pytest

import aspenpy
from aspenpy.extract.extraction import extract
from aspenpy.language.diagnostics import AspenError

pytest.importorskip("clang.cindex", reason="C is read by libclang: pip install 'aspenpy[extract]'")


def nest(depth: int) -> str:
    heads = "".join(f"for (int i{k} = 0; i{k} < n; i{k}++) " for k in range(depth))
    return f"void f(int n, double *x) {{ {heads}x[0] *= 3; }}"


def early(returns: int) -> str:
    body = " ".join(f"if (x[{k}] > 1) return {k}; x[{k}] *= 2;" for k in range(returns))
    return f"int f(double *x) {{ {body} return 0; }}"


MODELS = {
    "nest": nest(20),
    "early returns": early(150),
    "operands": f"double f(double x) {{ return {'+'.join(['x*x'] * 20_000)}; }}",
    "old": "double f(n, x) int n; double *x; { register i; for (i = 0; i < n; i++) x[i] *= 3; return g(x[0]); }",
    "bits": "struct s { unsigned a:3; int b:5; double c; } q[9]; void f(int n) { for (int i = 0; i < n; i++)"
    " { q[i].a = i; q[i].b += q[i].a; q[i].c *= 2; } }",
    "variadic": "#define FOR(i, n) for (int i = 0; i < (n); i++)\n#define DO(n, ...) FOR(i, n) { __VA_ARGS__; }\n"
    "void f(int n, double *x) { DO(n, x[i] *= 3, x[i] += 1) }",
    "goto": "void f(int n, double *x) { int i = 0; top: x[i] *= 2; if (++i < n) goto top; }",
    "device of Duff": "void f(int n, double *x) { switch (n % 4) { case 0: do { *x++ *= 2; case 3: *x++ *= 2; case 1:"
    " *x++ *= 2; } while ((n -= 4) > 0); } }",
    "statement expression": "#define MAX(a, b) ({ __typeof__(a) _a = (a), _b = (b); _a > _b ? _a : _b; })\n"
    "void f(int n, double *x) { for (int i = 0; i < MAX(n, 4); i++) x[i] = MAX(x[i], 2.0) * 3; }",
    "numbers": "void f(double *x, int n) { for (unsigned i = 0; i < 4294967295u; i++) x[i] += 1; x[1 << (1 << 30)] = 2;"
    " for (int i = 0; i < n % 0; i++) x[i / 0] = 1; for (int i = 0; i < n >> 100; i++) x[i] *= 1e99999; }",
}


@pytest.mark.parametrize("name", MODELS)
def test_strange_programs_have_models(name: str, tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(MODELS[name], encoding="utf-8")
    assert "kernel" in extract(tmp_path / "a.c").text


def test_as_many_loops_as_a_nest_has_are_priced(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(nest(32), encoding="utf-8")
    (tmp_path / "a.aspen").write_text(extract(tmp_path / "a.c").text, encoding="utf-8")
    application, machine = aspenpy.load_application(tmp_path / "a.aspen"), aspenpy.load_machine("haswell")
    found = aspenpy.predict(application, machine, set={"n": 2})
    assert found.resources["flops"].amount == 2**32


REFUSED = {
    "loops": nest(300),
    "one loop more than a nest of the language has": nest(33),
    "brackets": f"double f(double x) {{ return {'(' * 5000}x{')' * 5000}; }}",
    "blocks": f"void f(double *x) {{ {'{' * 5000}x[0] *= 3;{'}' * 5000} }}",
    "comment": "/* never ends\nvoid f(void) {}",
    "number": f"int n = {'9' * 5000}; void f(void) {{}}",
    "included in itself": '#include "a.c"\nvoid f(int n, double *x) { for (int i = 0; i < n; i++) x[i] *= 2; }',
    "json": '{"a": [1, 2, 3]}',
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_program_is_refused_with_its_place(name: str, tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(REFUSED[name], encoding="utf-8")
    with pytest.raises(AspenError) as refused:
        extract(tmp_path / "a.c")
    assert refused.value.diagnostics[0].span is not None


@pytest.mark.parametrize("name", ['"{}"', "<{}>"])
def test_lines_of_files_elsewhere_are_not_shown(name: str, tmp_path: Path) -> None:
    secret = tmp_path / "elsewhere" / "passwords"
    secret.parent.mkdir()
    secret.write_text("alice:xyzzy:1001\n", encoding="utf-8")
    source = tmp_path / "own" / "a.c"
    source.parent.mkdir()
    source.write_text(f"#include {name.format(secret)}\nint main(void) {{ return 0; }}\n", encoding="utf-8")
    with pytest.raises(AspenError) as refused:
        extract(source)
    assert "xyzzy" not in str(refused.value)
    assert "alice" not in str(refused.value)
    assert refused.value.diagnostics[0].span is not None
    assert refused.value.diagnostics[0].span.source.name == str(source)
    with pytest.raises(AspenError, match="xyzzy"):  # a folder that the user names
        extract(source, flags=("-I", str(secret.parent)))
