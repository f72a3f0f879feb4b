"""The level of optimisation of a program: from compile commands, and from what GCC writes into it."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from aspenpy.extract.compile_options import program_of_command, read_compile_options

UNKNOWN = ("o2", "neither compile_commands.json nor the program states its options")


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("a.c").write_text("int main(void) { return 0; }\n", encoding="utf-8")
    return "a.c"


def level_and_origin(source: str, program: str = "") -> tuple[str, str]:
    found = read_compile_options(source, program)
    return found.level, found.said_by


@pytest.mark.parametrize(
    ("command", "level"),
    [
        ("gcc -O3 -c a.c", "o3"),
        ("gcc -O3 -fno-tree-vectorize -c a.c", "o2"),
        ("gcc -O3 -O0 -c a.c", "source"),
        ("gcc -O -c 'a.c'", "o1"),
        ("clang -Ofast a.c", "o3"),
    ],
)
def test_compile_commands_say_it(command: str, level: str, source: str, tmp_path: Path) -> None:
    Path("build").mkdir()
    entries = [{"directory": "/", "file": "b.c", "command": "gcc -O1"}]
    entries.append({"directory": str(tmp_path), "file": "a.c", "command": command})
    Path("build/compile_commands.json").write_text(json.dumps(entries), encoding="utf-8")
    assert level_and_origin(source) == (level, "build/compile_commands.json")


@pytest.mark.parametrize("text", ["", "{", "[1]", '[{"file": "a.c"}]', '[{"directory": ".", "file": "a.c"}]', "{}"])
def test_what_is_no_database_says_nothing(text: str, source: str) -> None:
    Path("compile_commands.json").write_text(text, encoding="utf-8")
    assert level_and_origin(source, "./missing") == UNKNOWN


@pytest.mark.skipif(shutil.which("gcc") is None, reason="wants gcc")
def test_programs_with_symbols_say_it(source: str) -> None:
    for flags, expected in (("-g", ("o3", "GCC's options in ./a.out")), ("-s", UNKNOWN)):
        subprocess.run(["gcc", "-O3", flags, source], check=True)
        assert level_and_origin(source, "./a.out") == expected


@pytest.mark.skipif(shutil.which("gfortran") is None, reason="wants gfortran")
def test_programs_in_fortran_say_it(source: str) -> None:
    Path("a.f90").write_text("end\n", encoding="utf-8")
    subprocess.run(["gfortran", "-O3", "-g", "a.f90"], check=True)
    assert level_and_origin(source, "./a.out") == ("o3", "GCC's options in ./a.out")


@pytest.mark.parametrize(
    ("command", "program"),
    [
        ("./a.out 5", "./a.out"),
        ("mpirun -n 4 ./b {n}", "./b"),
        ("cg 'a", ""),
        (None, ""),
        ("./a{n} 3", ""),
        ("cg", "cg"),
    ],
)
def test_the_program_of_a_command(command: str | None, program: str) -> None:
    assert program_of_command(command) == program


def test_options_that_do_more_than_change_code_are_left_out(tmp_path: Path) -> None:
    command = "gcc -O3 -march=native -fplugin=evil.so -wrapper evil -ffast-math -o evil -c a.c"
    (tmp_path / "a.c").write_text("int f(void) { return 1; }\n", encoding="utf-8")
    entry = {"directory": str(tmp_path), "file": "a.c", "command": command}
    (tmp_path / "compile_commands.json").write_text(json.dumps([entry]), encoding="utf-8")
    found = read_compile_options(str(tmp_path / "a.c"))
    assert found.options == ("-O3", "-march=native", "-ffast-math")
