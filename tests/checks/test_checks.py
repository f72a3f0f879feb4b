"""What the checks leave alone, and which files they look at; what they find is pictured in `tests/rejected/check`."""

from pathlib import Path

import pytest

import aspenpy
from aspenpy.answers.checks.applications import check_application
from aspenpy.answers.checks.files import check_file
from aspenpy.answers.checks.machines import check_machine
from aspenpy.answers.counting import Counts
from aspenpy.language.diagnostics import AspenError, Diagnostic
from aspenpy.language.files import Reader, models_folder
from tests.tiny import SECONDS, application, machine

WORK = "execute { flops [n] }"


def found(diagnostics: list[Diagnostic]) -> list[str]:
    return [item.code for item in diagnostics]


def check_paths(paths: list[Path]) -> list[Diagnostic]:
    """What is found in files, and in those of folders, where parts for others to include are none."""
    files = [(file, path.is_dir()) for path in paths for file in (sorted(path.rglob("*.aspen")) or [path])]
    return [item for file, walked in files for item in check_file(file, None, Reader(), part_allowed=walked)]


@pytest.mark.parametrize(
    ("body", "declarations", "kernels"),
    [
        (WORK, "param n = 1", ""),
        # used by another parameter, a range, an array, a data size, a trait, a condition, a count, an argument
        (WORK, "param m = 1 param n = m", ""),
        (WORK, "param m = 9 param n = 1 in 0 .. m", ""),
        ("execute { flops [t[0]] }", "param n = 1 param t[] = {n}", ""),
        ("execute { loads [1] from a }", "param n = 1 data a [n]", ""),
        ("execute { flops [1] as stride(n) }", "param n = 1", ""),
        (f"if (n > 0) {{ {WORK} }}", "param n = 1", ""),
        ("iterate [n] { execute { flops [1] } }", "param n = 1", ""),
        ("call k(n)", "param n = 1", "kernel k(param m) { execute { flops [m] } }"),
        ("call k(a)", "data a [8]", "kernel k(data b) { execute { loads [8] from b } }"),
        # a parameter that is a member of its enum because of another parameter
        ("execute { flops [s] }", "enum e { x, y } param q = 1 param s = q in e", ""),
        # a branch that is not taken may be wrong, and a name may be the user's to choose
        ("if (n > 0) { execute { flops [1/n] } }", "param n = 0", ""),
    ],
)
def test_nothing_is_found_where_nothing_is_wrong(body: str, declarations: str, kernels: str) -> None:
    assert found(check_application(application(body, declarations, kernels))) == []


@pytest.mark.parametrize(
    ("access", "severities"),
    [
        ("loads [800] from a as stencil(5, -10, 10)", ["error"]),
        ("loads [800] from a as gather(-5)", ["error"]),
        ("loads [800] from a as stride(8), reuse(0.5)", ["error"]),
        ("loads [800] from a as blocked(0)", ["error"]),
        # a value that is set may be another one where it matters
        ("loads [800] from a as blocked(q)", ["warning"]),
        # five accesses a point of 10 by 10 are 4000 B a sweep
        ("loads [3200] from a as stencil(5, 10, 10)", ["warning"]),
        ("loads [8000] from a as stencil(5, 10, 10)", []),
        # a machine may have traits of such names
        ("loads [800] from a as stride(8, 2)", []),
        ("loads [800] as random", []),
        ("loads [800] from a as blocked(64)", []),
    ],
)
def test_patterns_are_judged_without_a_machine(access: str, severities: list[str]) -> None:
    app = application(f"execute {{ {access} flops [q + 1] }}", "param q = 0 data a [800]")
    assert [item.severity for item in check_application(app)] == severities


@pytest.mark.parametrize(
    ("body", "severities"),
    [
        ("execute { loads [1] of size [0-8] }", ["error"]),
        ("execute { loads [1] of size [q - 8] }", ["error"]),
        ("execute [0-2] { flops [1] }", ["error"]),
        ("if (q > 7) { execute { loads [1] of size [0-8] } }", ["warning"]),
        ("execute { flops [1] to unused }", []),
    ],
)
def test_values_of_no_sense_are_found_without_a_machine(body: str, severities: list[str]) -> None:
    """`aspenpy count` refuses what is an error here; no run with these parameters comes to the others."""
    app = application(body, "param q = 3")
    told = [item for item in check_application(app) if item.code == "no-value"]
    assert [item.severity for item in told] == severities
    if severities == ["error"]:
        with pytest.raises(AspenError) as caught:
            _ = Counts(app).amounts
        assert [*caught.value.diagnostics] == told


def test_counts_warn_of_data_of_less_than_no_size() -> None:
    app = application("execute { loads [8] from a }", "param n = 4 data a [n - 5] data b [8]")
    (found,) = Counts(app).diagnostics
    assert (found.severity, found.message) == ("warning", "a size cannot be -1: it must not be negative")


def test_a_name_of_the_machine_is_no_mistake() -> None:
    app = application("execute { flops [8*clock] }")
    assert found(check_application(app)) == ["unknown-name"]
    text = "param clock = 2 machine m { socket cpu } socket cpu { resource flops(n) [n / clock] }"
    assert found(check_application(app, machine(text))) == []


def test_a_machine_without_mistakes_has_none() -> None:
    assert found(check_machine(machine(SECONDS))) == []


def test_a_circular_machine_is_found() -> None:
    text = (
        "param a = b param b = a machine m { node x } node x { property p [q] property q [p] resource flops(n) [n*a] }"
    )
    assert found(check_machine(machine(text))) == ["circular-definition", "circular-definition"]


def test_everything_in_the_library_passes() -> None:
    assert [str(item) for item in check_paths([Path(models_folder())]) if item.severity == "error"] == []


def test_folders_are_searched_and_parts_in_them_are_no_machines(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "app.aspen").write_text(
        "model a { param idle = 1 kernel main { execute { flops [1] } } }", encoding="utf-8"
    )
    (inner / "part.aspen").write_text("socket cpu { resource flops(n) [n] }", encoding="utf-8")
    (inner / "notes.txt").write_text("not a model", encoding="utf-8")
    assert found(check_paths([tmp_path])) == ["unused-parameter"]
    # asked for by its name, a file is held to be a whole model
    assert found(check_paths([inner / "part.aspen"])) == ["no-machine"]


def test_a_file_that_cannot_be_read_does_not_hide_the_others(tmp_path: Path) -> None:
    (tmp_path / "a.aspen").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "b.aspen").write_text(
        "model b { param idle = 1 kernel main { execute { flops [1] } } }", encoding="utf-8"
    )
    (tmp_path / "c.aspen").write_text("model c {", encoding="utf-8")
    severities = [(item.severity, item.span is not None) for item in check_paths([tmp_path, tmp_path / "none.aspen"])]
    assert [severity for severity, _ in severities] == ["error", "warning", "error", "error"]


def test_an_argument_used_only_by_an_override_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("part.aspen").write_text("model part { param n = 1 kernel main { execute { flops [n] } } }", encoding="utf-8")
    Path("whole.aspen").write_text(
        """model whole {
        param k = 3
        kernel work(param m) { import part from "part.aspen" with n = m call part.main }
        kernel main { import part from "part.aspen" with n = k call part.main call work(k) }
    }""",
        encoding="utf-8",
    )
    assert found(check_application(aspenpy.load_application("whole.aspen"))) == []


# -- check and eval --------------------------------------------------------------------------------

UNREACHED = "kernel other {{ {} }}"


@pytest.mark.parametrize(
    ("body", "declarations", "kernels"),
    [
        (WORK, "param n = 1", ""),
        (WORK, "param n = 1 param bad = 1/0", ""),
        (WORK, "param n = 1/0", ""),
        (WORK, "param n = 1", UNREACHED.format("execute { warp [3] }")),
        ("call other()", "", UNREACHED.format("execute { warp [3] }")),
        ("if (n > 1) { execute { warp [3] } } " + WORK, "param n = 1", ""),
        ("if (n > 1) { execute { warp [3] } } " + WORK, "param n = 2", ""),
        (WORK, "param n = 1", UNREACHED.format("execute { flops [zz] }")),
        ("execute { flops [zz] }", "", ""),
        (WORK, "param n = 1", UNREACHED.format("call nobody()")),
        ("call nobody()", "", ""),
        ("execute { loads [8] from a }", "data a [8] in nowhere", ""),
        ("iterate [n] { execute { flops [1] } }", "param n = -1", ""),
    ],
)
def test_check_and_prediction_agree_on_what_is_an_error(body: str, declarations: str, kernels: str) -> None:
    app, where = application(body, declarations, kernels), machine(SECONDS)
    try:
        aspenpy.predict(app, where)
        runs = True
    except aspenpy.AspenError:
        runs = False
    errors = [item for item in check_application(app, where) if item.severity == "error"]
    assert bool(errors) is not runs


def test_the_socket_decides_what_is_offered() -> None:
    text = """machine m { node box } node box { socket a socket b }
        socket a { resource flops(n) [n] } socket b { resource flops(n) [n] resource warp(n) [n] }"""
    app = application("execute { warp [1] }")
    assert found(check_application(app, machine(text), "a")) == ["no-such-resource"]
    assert found(check_application(app, machine(text), "b")) == []
    assert found(check_application(app, machine(text))) == []


def test_a_mistake_in_a_kernel_hides_no_other() -> None:
    """Calls of nobody, unknown functions, names, data and traits in one file: each is told once."""
    app = application(
        "call nobody() execute { flops [foo(1) + bar(1)] loads [zz] from nothing } execute { flops [baz(2)] as turbo }",
        "param spare = 1",
        "kernel two(param q) { call main() execute { flops [q*qux(1)] stores [1] to nowhere } }",
    )
    codes = found(check_application(app, machine(SECONDS)))
    assert sorted(codes) == sorted(
        ["unknown-kernel", *["unknown-function"] * 3, "unknown-name", *["unknown-data"] * 2, "unused-parameter"]
    )
    app = application(
        "call two(1, 2) execute { flops [foo(n)] }",
        "param n = 1 param spare = 2",
        "kernel two(param q) { execute { flops [q] } }",
    )
    messages = [item.message for item in check_application(app)]
    assert "parameter `spare` is never used" in messages
    assert "parameter `n` is never used" not in messages


def test_a_file_of_parameters_alone_may_have_more_than_a_machine_uses(tmp_path: Path) -> None:
    (tmp_path / "shares.aspen").write_text("param used = 1 W\nparam spare = 2 W\n", encoding="utf-8")
    text = "include shares.aspen\nparam forgotten = 3\nmachine m { socket s }\nsocket s { static power [used] }\n"
    (tmp_path / "m.aspen").write_text(text, encoding="utf-8")
    messages = [each.message for each in check_machine(aspenpy.load_machine(tmp_path / "m.aspen"))]
    assert [message for message in messages if "never used" in message] == ["parameter `forgotten` is never used"]
