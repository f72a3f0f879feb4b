"""Pointers that loops exchange, and structures that functions hand on: each array is one array of the model, under its
own name, wherever a pointer to it went."""

import re
from pathlib import Path

import pytest

from aspenpy.extract.extraction import extract

pytest.importorskip("clang.cindex", reason="C is read by libclang: pip install 'aspenpy[extract]'")

SWEEP = """
#include <stdlib.h>
typedef struct { double *u, *v; int n; } grid;
static void sweep(grid *g, int passes) {
  for (int t = 0; t < passes; t++) {
    for (int i = 1; i < g->n - 1; i++) g->v[i] = 0.5 * (g->u[i - 1] + g->u[i + 1]);
    double *old = g->u; g->u = g->v; g->v = old;
  }
}
static double norm(grid *g) {
  double s = 0;
  for (int i = 0; i < g->n; i++) s += g->u[i] * g->v[i];
  return s;
}
"""
STACK = "double solve(int n, int passes) { grid g; g.n = n; g.u = malloc(8 * n); g.v = malloc(8 * n); "
"""A structure of a function that nothing calls: its arguments are parameters of the model."""


def text_of(folder: Path, source: str) -> str:
    (folder / "program.c").write_text(source, encoding="utf-8")
    return extract(folder / "program.c").text


def data_of(text: str) -> dict[str, str]:
    return dict(re.findall(r"data (\w+) \[(.*?)\]", text))


def test_pointers_that_a_loop_exchanges_point_at_the_same_two_arrays(tmp_path: Path) -> None:
    text = text_of(
        tmp_path,
        "#include <stdlib.h>\nvoid step(int n, int passes) {\n"
        "  double *u = malloc(8 * n), *v = malloc(8 * n);\n"
        "  for (int t = 0; t < passes; t++) {\n"
        "    for (int i = 1; i < n - 1; i++) v[i] = u[i - 1] + u[i + 1];\n"
        "    double *old = u; u = v; v = old;\n  }\n}\n",
    )
    assert data_of(text) == {"u": "8*n", "v": "8*n"}
    assert "from u as nest(8, n - 2, 0, passes)" in text
    assert "to v as nest(8, n - 2, 0, passes)" in text


def test_members_that_a_called_function_exchanges(tmp_path: Path) -> None:
    """`n`, `u` and `v` are known in both kernels, before the exchange and after it."""
    text = text_of(tmp_path, SWEEP + STACK + "sweep(&g, passes); return norm(&g); }")
    assert data_of(text) == {"g": "24", "u": "8*n", "v": "8*n"}
    assert re.findall(r"param (\w+) = .*// unknown: (.*?) \(", text) == [
        ("n", "argument `n` of solve"),
        ("passes", "argument `passes` of solve"),
    ]
    assert "from u as nest(8, n - 2, 0, passes)" in text
    assert "loads [n] of size [8] from u as stream" in text


@pytest.mark.parametrize(
    ("names", "told"),
    [
        ("f", "argument `n` of f"),
        ("fg", "argument `n` of f and of g"),
        ("fghk", "argument `n` of f and of g and others"),
    ],
)
def test_an_argument_of_several_functions_names_them(tmp_path: Path, names: str, told: str) -> None:
    loop = "void {}(int n, double *x) {{ for (int i = 0; i < n; i++) x[i] += 1; }}\n"
    text = text_of(tmp_path, "".join(map(loop.format, names)))
    assert re.findall(r"param (\w+) = .*// unknown: (.*?) \(", text) == [("n", told)]


def test_members_that_functions_exchange_in_the_loop_of_another(tmp_path: Path) -> None:
    text = text_of(
        tmp_path, SWEEP + STACK + "double r = 0; while (r < 1) { sweep(&g, passes); r = norm(&g); } return r; }"
    )
    assert data_of(text) == {"g": "24", "u": "8*n", "v": "8*n"}


def test_structures_of_functions_that_stand_in_place_of_their_calls(tmp_path: Path) -> None:
    solve = (STACK + "sweep(&g, passes); return norm(&g); }").replace("double solve", "static double solve")
    text = text_of(tmp_path, SWEEP + solve + "\nint main(void) { return solve(500, 7) > 0; }\n")
    assert data_of(text) == {"g": "24", "u": "4000", "v": "4000"}
    assert "from u as nest(8, 498, 0, passes)" in text


MAKE = """
#include <stdlib.h>
typedef struct { int n; double *x; } vector;
static vector make(int m) {
  vector v;
  v.n = m * m;
  v.x = malloc(8 * v.n);
  for (int i = 0; i < v.n; i++) v.x[i] = i;
  return v;
}
static double total(const vector *v) {
  double s = 0;
  for (int i = 0; i < v->n; i++) s += v->x[i];
  return s;
}
"""


@pytest.mark.parametrize("copy", ["vector a = make(m);", "vector a; a = make(m);", "vector b = make(m); vector a = b;"])
def test_structures_that_functions_return_keep_their_members(tmp_path: Path, copy: str) -> None:
    text = text_of(tmp_path, MAKE + f"double run(int m) {{ {copy} return total(&a); }}")
    assert data_of(text) == {"a": "16", "x": "8*m^2"}
    assert re.findall(r"param (\w+) = .*// unknown", text) == ["m"]
    assert "loads [m^2] of size [8] from x as stream" in text


def test_members_of_another_structure_are_not_those_of_the_first(tmp_path: Path) -> None:
    """The second structure is made anew after it was copied from the first."""
    text = text_of(
        tmp_path, MAKE + "double run(int m) { vector a = make(m); vector b = a; b = make(7); return total(&b); }"
    )
    assert "loads [49] of size [8] from" in text


def test_three_pointers_take_turns(tmp_path: Path) -> None:
    text = text_of(
        tmp_path,
        "#include <stdlib.h>\nvoid step(int n, int passes) {\n"
        "  double *a = malloc(8 * n), *b = malloc(8 * n), *c = malloc(8 * n);\n"
        "  for (int t = 0; t < passes; t++) {\n"
        "    for (int i = 0; i < n; i++) c[i] = 2 * b[i] - a[i];\n"
        "    double *old = a; a = b; b = c; c = old;\n  }\n}\n",
    )
    assert data_of(text) == {"a": "8*n", "b": "8*n", "c": "8*n"}


@pytest.mark.parametrize("change", ["u = malloc(8 * n);", "u = u + n;", "if (v[0] > 1) u = other;"])
def test_pointers_that_leave_their_arrays_are_not_held(tmp_path: Path, change: str) -> None:
    """Each pass has memory of its own, the next part of the array, or one of two arrays that the data choose."""
    text = text_of(
        tmp_path,
        "#include <stdlib.h>\nvoid step(int n, int passes, double *other) {\n"
        "  double *u = malloc(8 * n * passes), *v = malloc(8 * n);\n"
        "  for (int t = 0; t < passes; t++) {\n"
        f"    for (int i = 0; i < n; i++) v[i] = u[i];\n    {change}\n  }}\n}}\n",
    )
    assert "from u as nest(8, n, 0, passes)" not in text


FUNCTIONS = """#include <stdlib.h>
typedef double (*op_t)(double);
static double twice(double x) { return 3 * x; }
static double third(double x) { return x / 3; }
struct op { const char *name; op_t op; };
struct methods { op_t one; op_t two; };
struct config { int n; struct methods methods; op_t op; };
double x[1000];
"""


@pytest.mark.parametrize(
    ("before", "within", "called"),
    [
        ("static op_t ops[] = {third, twice};", "ops[k & 1](x[i])", 2),
        ("static op_t ops[2][2] = {{twice}, {[1] = twice}};", "ops[k & 1][i & 1](x[i])", 1),
        ("static const struct op ops[] = {{\"a\", twice}, {.op = third, .name = \"b\"}};", "ops[k & 1].op(x[i])", 2),
        ("static struct config c = {1, {twice, third}, twice};", "c.methods.two(x[i])", 1),
        ("static const struct op ops[] = {{\"a\", twice}, {\"b\", third}};\n"
         "static struct config c = {.op = third};", "(c.op = ops[k & 1].op, c.op(x[i]))", 2),
        ("static op_t pick(int k) { return k ? twice : third; }", "pick(k)(x[i])", 2),
        ("static op_t pick(int k) { if (k) return &twice; return twice; }", "pick(k)(x[i])", 1),
    ],
)  # fmt: skip
def test_functions_in_tables_and_those_that_functions_return(
    before: str, within: str, called: int, tmp_path: Path
) -> None:
    """1,000 calls of a product, of a quotient or of either; none is lost or of another function."""
    body = f"int main(int k, char **v) {{ for (int i = 0; i < 1000; i++) x[i] = {within}; return 0; }}\n"
    (tmp_path / "p.c").write_text(f"{FUNCTIONS}{before}\n{body}", encoding="utf-8")
    found = extract(tmp_path / "p.c")
    text = found.text
    assert not [hole.name for hole in found.holes if hole.name.endswith("_flops")]
    assert ("as multiply" in text) + ("as divide" in text) == called


def test_a_pointer_that_nothing_is_known_of_is_a_parameter(tmp_path: Path) -> None:
    body = "op_t many[4];\nint main(void) { op_t f; for (int i = 0; i < 1000; i++) x[i] = (f = many[i & 3])(x[i]); }\n"
    (tmp_path / "p.c").write_text(FUNCTIONS + body, encoding="utf-8")
    assert [hole.name for hole in extract(tmp_path / "p.c").left()] == ["pointer_flops"]


ROWS = """
#include <stdlib.h>
double ***pool(int n) {
  double ***c = malloc(n * sizeof *c), **r = malloc(n * n * sizeof *r), *p = malloc(n * n * n * sizeof *p);
  for (int i = 0; i < n; i++) { c[i] = r + i * n; for (int j = 0; j < n; j++) c[i][j] = p + (i * n + j) * n; }
  return c;
}
double ***apart(int n) {
  double ***c = malloc(n * sizeof *c);
  for (int i = 0; i < n; i++) {
    c[i] = malloc(n * sizeof **c); for (int j = 0; j < n; j++) c[i][j] = malloc(n * sizeof(double));
  }
  return c;
}
double solve(int n) {
  double ***b = ROWS(n), s = 0;
  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++) s += b[i][j][k];
  return s;
}
"""


@pytest.mark.parametrize("rows", ["pool", "apart"])
def test_a_cube_of_pointers_has_the_bytes_of_its_blocks(rows: str, tmp_path: Path) -> None:
    """n pointers to n * n pointers to n^3 reals: one block for all passes of a loop, or one for each."""
    sizes = data_of(text_of(tmp_path, ROWS.replace("ROWS", rows)))
    assert (sizes["b"], sizes["b_2"]) == ("8*n^2", "8*n^3"), sizes


def test_rows_of_one_block_do_not_multiply_it(tmp_path: Path) -> None:
    """The bytes behind rows of one block are those of the block, whatever the number of rows."""
    source = """
#include <stdlib.h>
typedef struct { double **vals; int rows; } matrix;
double solve(int n) {
  matrix a; a.rows = n * n; a.vals = malloc(a.rows * sizeof(double *)); double *v = malloc(27 * n * n * sizeof(double));
  for (int i = 0; i < a.rows; i++) a.vals[i] = v + 27 * i;
  double s = 0;
  for (int i = 0; i < a.rows; i++) for (int j = 0; j < 27; j++) s += a.vals[i][j];
  return s;
}
"""
    sizes = data_of(text_of(tmp_path, source))
    assert sorted(sizes.values()) == ["216*n^2", "8*n^2"], sizes
