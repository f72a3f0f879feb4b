"""OpenMP and COMPASS's pragmas above loops and branches; what renaming and reformatting a source leaves alone."""

import re
from pathlib import Path

import pytest

import aspenpy
from aspenpy.extract.extraction import extract
from tests.extract.modelled import PROGRAMS
from tests.thorough import thorough

pytest.importorskip("clang.cindex", reason="C is read by libclang: pip install 'aspenpy[extract]'")

LOOPS = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) y[i*m + j] *= 2.5;"


@pytest.mark.parametrize(
    ("pragma", "lines"),
    [
        ("omp parallel for", ("execute [threads] {", "y as nest(8, m, 8*m, n/threads)", "[m*n/threads] as multiply")),
        ("omp for schedule(static, 4)", ("execute [threads] {",)),
        ("omp taskloop", ("execute [threads] {",)),
        ("omp parallel for simd", ("execute [threads] {", "as multiply, dp, simd")),
        ("omp simd", ("execute {", "[m*n] as multiply, dp, simd")),
        ("omp parallel for reduction(+: s, t)", ("// combined over threads: s, t",)),
        ("omp target teams distribute parallel for", ("execute [ceil(n/128)] {", "flops [m*n/ceil(n/128)] as dp")),
        ("omp target teams loop collapse(2)", ("execute [ceil(m*n/128)] {", "flops [m*n/ceil(m*n/128)] as dp, simd")),
        ("acc parallel loop collapse(2)", ("execute [ceil(m*n/128)] {",)),
        ("omp critical", ("execute {",)),
        ("unroll", ("execute {",)),
    ],
)  # fmt: skip
def test_loops_below_pragmas_are_parallel(pragma: str, lines: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(
        f"void f(int n, int m, double *restrict y) {{\n#pragma {pragma}\n{LOOPS} }}", encoding="utf-8"
    )
    text = extract(tmp_path / "a.c").text
    assert [line for line in lines if line not in text] == []


TRIANGLE = """
void f(int n, double *restrict y) {{
  #pragma omp {pragma}
  for (int i = 0; i < n; i++) for (int j = {start}; j < n; j++) y[j] *= 2.5;
}}"""
CORES = """
machine cores {{ node box }}
node box {{ socket cpu }}
socket cpu {{ property rank core [{cores}] one }}
core one {{ resource flops(n) [n/mega] resource loads(n) [n/tera] resource stores(n) [n/tera] }}
"""


@pytest.mark.parametrize(
    ("pragma", "head"),
    [
        ("parallel for", "execute [1] of i [n] of size [n - i] static {"),
        ("parallel for schedule(static)", "execute [1] of i [n] of size [n - i] static {"),
        ("for schedule(nonmonotonic: dynamic, 4)", "execute [1] of i [n] of size [n - i] dynamic {"),
        ("parallel for schedule(guided)", "execute [1] of i [n] of size [n - i] dynamic {"),
        ("parallel for schedule(static, 1)", "execute [threads] {"),
        ("parallel for schedule(runtime)", "execute [threads] {"),
        ("target teams distribute parallel for", "execute [ceil(n/128)] {"),
    ],
)
def test_passes_of_a_triangle_are_unequal_parts(pragma: str, head: str, tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(TRIANGLE.format(pragma=pragma, start="i"), encoding="utf-8")
    assert head in extract(tmp_path / "a.c").text
    (tmp_path / "a.c").write_text(TRIANGLE.format(pragma=pragma, start="0"), encoding="utf-8")
    assert " of size [n" not in extract(tmp_path / "a.c").text


ROWS = """
void f(int n, double A[restrict n][n], double x[restrict n], double y[restrict n], double t[restrict n], int at[n]) {{
  {pragma}
  for (int i = 0; i < n; i++) {{ for (int j = 0; j < n; j++) y[i] += A[i][j]*x[j]; {more} y[i] += t[at[i]]; }}
}}"""


@pytest.mark.parametrize(
    ("pragma", "more", "shared"),
    [
        ("#pragma omp parallel for", "", {"x", "t"}),
        ("#pragma omp parallel for", "x[i] = 0;", {"t"}),
        ("#pragma omp target teams distribute parallel for", "", {"x", "t"}),
        ("", "", set()),
    ],
)
def test_threads_share_what_all_load_and_none_stores(pragma: str, more: str, shared: set[str], tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(ROWS.format(pragma=pragma, more=more), encoding="utf-8")
    lines = extract(tmp_path / "a.c").text.splitlines()
    assert {line.split(" from ")[1].split()[0] for line in lines if line.endswith(", shared")} == shared


@pytest.mark.parametrize("start", ["i", "n - 1 - i"])
@pytest.mark.parametrize(("schedule", "threads"), [("static", 2), ("static", 3), ("static", 7), ("dynamic", 2)])
def test_the_slowest_thread_of_a_triangle_decides(start: str, schedule: str, threads: int, tmp_path: Path) -> None:
    """Blocks of as many rows each, by which the widest takes (n + ... + n/2 + 1) of (n + ... + 1) on two threads: three
    quarters; or rows that threads take as they become free."""
    pragma, rows = f"parallel for schedule({schedule})", 840
    (tmp_path / "a.c").write_text(TRIANGLE.format(pragma=pragma, start=start), encoding="utf-8")
    app = aspenpy.parse(extract(tmp_path / "a.c").text)
    alone, together = (
        aspenpy.predict(app, aspenpy.parse(CORES.format(cores=cores)), set={"n": rows}).runtime
        for cores in (1, threads)
    )
    widths = [rows - row if start == "i" else row + 1 for row in range(rows)]
    block = rows // threads
    slowest = max(sum(widths[thread * block :][:block]) for thread in range(threads))
    expected = sum(widths) / slowest if schedule == "static" else threads
    assert alone / together == pytest.approx(expected, rel=1e-9)
    assert (alone, sum(widths)) == (sum(widths) / 1e6, rows * (rows + 1) / 2)


def test_compass_says_how_often(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(
        """
void f(int *q, double *x) {
  #pragma aspen control loop(40)
  while (q[0]) { q[0] = q[1]; x[3] += 1.5; }
  #pragma aspen control if probability(0.125)
  if (x[2] > 4.5) x[2] /= 3.5;
}""",
        encoding="utf-8",
    )
    text = extract(tmp_path / "a.c").text
    assert "param f_loop_passes = 40 " in text
    assert "param f_branch = 0.125 " in text


def test_a_probability_is_that_of_the_condition_as_it_is_written(tmp_path: Path) -> None:
    """`a <= b` is the opposite of `a > b`, which the parameter may stand for: then it is one less the probability."""
    (tmp_path / "a.c").write_text(
        """
void f(double *x) {
  #pragma aspen control if probability(0.125)
  if (x[2] <= 4.5) x[2] /= 3.5;
}""",
        encoding="utf-8",
    )
    text = extract(tmp_path / "a.c").text
    assert "param f_branch = 0.875 " in text
    assert "flops [1 - f_branch] as divide" in text


# -- names and layout ------------------------------------------------------------------------------

_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|/\*.*?\*/|//[^\n]*|^[ \t]*#[^\n]*|[A-Za-z_]\w*|\.?\d[\w.]*|\s+|.', re.S | re.M)
KEPT = set(
    "auto break case char const continue default do double else enum extern float for if inline int long register "
    "restrict return short signed sizeof static struct switch typedef union unsigned void volatile while main calloc "
    "malloc free powf sqrt sqrtf exp expf fabs size_t define ifndef ifdef endif".split()
)


def renamed(text: str) -> str:
    """With other names, one space where white space was, and no comments."""
    found = []
    for token in _TOKEN.findall(text):
        if token.startswith(("/*", "//")):
            found.append(" ")
        elif token.lstrip().startswith("#"):
            plain = re.sub(r"//.*|/\*.*?\*/", "", token)
            inner = plain if "include" in plain else re.sub(r"[A-Za-z_]\w*", lambda word: _other(word[0]), plain)
            found.append(f"\n{inner.strip()}\n")
        elif token.isspace():
            found.append(" ")
        else:
            found.append(_other(token) if re.match(r"[A-Za-z_]", token) else token)
    return "".join(found)


def _other(word: str) -> str:
    return word if word in KEPT else f"z_{word}"


def without_names(text: str) -> list[str]:
    """The lines of a model with its names as they were, without comments."""
    plain = (re.sub(r"\s*//.*", "", line).strip() for line in text.splitlines())
    return [re.sub(r"\bz_(\w)", r"\1", re.sub(r"\b(\w+?)_\b", r"\1", line)) for line in plain if line]


@pytest.mark.parametrize(
    "name",
    [
        name if name in ("gemm", "lu", "deriche") else pytest.param(name, marks=thorough)
        for name in sorted(path.stem for path in PROGRAMS.glob("*.c"))
    ],
)
def test_renaming_and_reformatting_changes_nothing_but_names(name: str, tmp_path: Path) -> None:
    source = (PROGRAMS / f"{name}.c").read_text(encoding="utf-8")
    (tmp_path / "a.c").write_text(source, encoding="utf-8")
    before = extract(tmp_path / "a.c").text
    (tmp_path / "a.c").write_text(renamed(source), encoding="utf-8")
    assert without_names(extract(tmp_path / "a.c").text) == without_names(before)


COLLAPSED = """
void f(int n, int m, double A[restrict n][m]) {{
  #pragma omp target teams distribute parallel for {clause}
  for (int i = 0; i < n; i++) {{ {inside} }}
}}"""
ROW = "for (int j = 0; j < m; j++) A[i][j] *= 3;"


@pytest.mark.parametrize(
    ("clause", "inside", "head"),
    [
        ("", ROW, "execute [ceil(n/128)] {"),
        ("collapse(1)", ROW, "execute [ceil(n/128)] {"),
        ("collapse(2)", ROW, "execute [ceil(m*n/128)] {"),
        ("collapse(2)", f"{ROW} {ROW}", "execute [threads] "),  # the specification has one loop in each
        ("collapse(2)", "A[i][0] *= 3;", "execute [threads] "),
        ("collapse(2)", "for (int j = 0; j < i; j++) A[i][j] *= 3;", "execute [threads] "),
    ],
)
def test_passes_of_collapsed_loops_are_parts(clause: str, inside: str, head: str, tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(COLLAPSED.format(clause=clause, inside=inside), encoding="utf-8")
    assert head in extract(tmp_path / "a.c").text
