"""The command as a whole: what it offers, and that every example it gives works as it stands."""

import contextlib
import io
import re
import shlex
import shutil
import subprocess
import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import get_args

import pytest

import aspenpy
from aspenpy.explore import problem
from aspenpy.shell.main import main
from aspenpy.shell.option import Command, Group
from aspenpy.shell.registry import GROUPS, commands_by_name
from tests.cli.conftest import ROOT, Runner
from tests.thorough import some


def help_of(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    with contextlib.suppress(SystemExit):
        main([*arguments, "--help"])
    return capsys.readouterr().out


def examples(text: str) -> list[str]:
    return re.findall(r"^  ((?:aspenpy|echo|printf) .*)$", text.partition("examples:\n")[2], re.M)


@cache
def lines_of_pages() -> set[str]:
    """Commands on pages of the documentation, where another test runs them and compares what they print."""
    pages = [path for path in (ROOT / "docs").rglob("*.md") if "_build" not in path.parts]
    return {line for page in pages for line in re.findall(r"^\$ (.*)$", page.read_text(encoding="utf-8"), re.M)}


PROGRAMS = {"incore": "osaca", "import": "check-model"}
"""What an extra brings that a command calls."""


@pytest.mark.parametrize("command", ["", *commands_by_name()])
def test_examples_work(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if command in PROGRAMS and shutil.which(PROGRAMS[command], path=str(Path(sys.executable).parent)) is None:
        pytest.skip(f"needs {PROGRAMS[command]} beside Python")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(problem, "STARTS", some(problem.STARTS, 1))
    found = examples(help_of([command] if command else [], capsys))
    assert len(found) >= 2
    found = [line for line in found if line not in lines_of_pages()]
    program = tmp_path / "aspenpy"
    program.write_text(
        f'#!/bin/sh\nexec "{sys.executable}" -c "from aspenpy.shell.main import main; raise SystemExit(main())" "$@"\n',
        encoding="utf-8",
    )
    program.chmod(0o755)
    for line in found:
        piped = re.fullmatch(r"((?:echo|printf) [^|]*) \| (aspenpy [^|<>]*)", line)
        if piped:
            fed = subprocess.run(["sh", "-c", piped[1]], check=True, stdout=subprocess.PIPE).stdout
            monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(fed), encoding="utf-8"))
        if piped or line.startswith("aspenpy "):
            assert main(shlex.split(piped[2] if piped else line)[1:]) == 0, line
            assert capsys.readouterr().out or piped, line  # `fmt --check` has nothing to say
        else:
            environment = {"PATH": f"{tmp_path}:/usr/bin:/bin", "PYTHONPATH": str(ROOT)}
            subprocess.run(["sh", "-c", line], env=environment, check=True, stdout=subprocess.DEVNULL)


def test_help_lists_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    text = help_of([], capsys)
    listed = text.partition(f"{GROUPS['predict']}:\n")[2].partition("\noptions, ")[0]
    assert re.findall(r"^  ([\w-]+) +\S", listed, re.M) == list(commands_by_name())
    assert text == help_of(["--help"], capsys)


def test_the_commands_that_are_listed_are_those_that_are_declared() -> None:
    declared = {
        item.name: (item.group, item.summary, module)
        for module in {entry.module for entry in commands_by_name().values()}
        for item in vars(import_module(f"aspenpy.shell.commands.{module}")).values()
        if isinstance(item, Command)
    }
    assert declared == {entry.name: (entry.group, entry.summary, entry.module) for entry in commands_by_name().values()}
    assert {*GROUPS} == {entry.group for entry in commands_by_name().values()} == {*get_args(Group)}


def test_version(run: Runner) -> None:
    assert run("--version") == run("-V") == (0, f"aspenpy {aspenpy.__version__}\n", "")


def test_help_of_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["help", "optimize"])
    assert capsys.readouterr().out == help_of(["optimise"], capsys)


@pytest.mark.parametrize(
    ("options", "environment", "colored"),
    [
        ((), {}, False),
        (("--color", "always"), {}, True),
        ((), {"FORCE_COLOR": "1"}, True),
        (("--color=never",), {"FORCE_COLOR": "1"}, False),
        (("--color", "auto"), {"FORCE_COLOR": "1"}, True),
    ],
)
def test_colours_as_asked(
    run: Runner, options: tuple[str, ...], environment: dict[str, str], colored: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.setenv(name, environment.get(name, ""))
    monkeypatch.setenv("TERM", "xterm")
    assert ("\x1b[" in run("list", *options, "apps").out) == colored
    assert "`red`" in run("list", "apps", "--color", "red").err


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("evl",), "aspenpy: there is no command `evl`; did you mean `eval`?\n"),
        (("frobnicate",), "aspenpy: there is no command `frobnicate`; `aspenpy --help` lists the commands\n"),
        (("--verbose",), "aspenpy: there is no option `--verbose`; `aspenpy --help` lists the commands\n"),
        (
            ("eval", "comd"),
            "aspenpy: --machine M is missing; `aspenpy eval --help` says what it takes\n",
        ),
        (("machine",), "aspenpy: ACTION and NAME are missing; `aspenpy machine --help` says what it takes\n"),
        (
            ("eval", "comd", "--machin", "simple", "--machine", "simple"),
            "there is no option `--machin`: did you mean `--machine`; `aspenpy eval --help` says what it takes\n",
        ),
        (
            ("compare", "comd", "--machines", "simple,haswell"),
            "there is no option `--machines`: did you mean `--machine`; `aspenpy compare --help` says what it takes\n",
        ),
        (
            ("eval", "comd", "--machine", "simple", "--param", "nx=8"),
            "there is no option `--param`: did you mean `--set`; `aspenpy eval --help` says what it takes\n",
        ),
        (
            ("eval", "comd", "simple", "--machine", "simple"),
            "there is no argument `simple` here; `aspenpy eval --help` says what it takes\n",
        ),
        (("eval", "comd", "--machine"), "--machine: a value is missing; `aspenpy eval --help` says what it takes\n"),
        (
            ("list", "app"),
            "KIND: expected apps, machines or networks, not `app`: did you mean `apps`; `aspenpy list --help` says "
            "what it takes\n",
        ),
    ],
)
def test_what_it_cannot_understand_is_said_in_one_line(run: Runner, arguments: tuple[str, ...], complaint: str) -> None:
    outcome = run(*arguments)
    assert (outcome.status, outcome.out) == (2, "")
    assert outcome.err.endswith(complaint)
    assert outcome.err.count("\n") == 1


@pytest.mark.parametrize("command", [("expr", "--metric", "flops"), ("memory",), ("trace",), ("mpi",)])
def test_a_socket_without_a_machine_is_refused(run: Runner, command: tuple[str, ...]) -> None:
    said = "aspenpy: --socket chooses among the sockets of a machine: --machine M says which\n"
    assert run(*command, "axpy.aspen", "--socket", "Processor") == (2, "", said)


def test_a_model_of_the_other_kind_is_told_apart(run: Runner) -> None:
    outcome = run("eval", "haswell", "--machine", "comd")
    assert outcome.err == (
        "error: `haswell` is a model of the library, but a machine and no application\n"
        "  = hint: `aspenpy list apps` shows the applications\n"
    )


@pytest.mark.parametrize("socket", [(), ("--socket", "nvidia_m2090")])
def test_several_machines_want_a_socket_each(run: Runner, socket: tuple[str, ...]) -> None:
    found = run("compare", "comd", "--machine", "keeneland,perlmutter_gpu,haswell", *socket)
    assert found.status == 2
    hint = "name one for each machine: --socket nvidia_m2090,nvidia_a100_40gb,intel_xeon_haswell"
    assert hint in found.err
