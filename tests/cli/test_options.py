"""Command lines that are read without argparse say what argparse reads in them; it is the oracle here."""

import shlex
from importlib import import_module

import pytest

from aspenpy.shell.commands import COMMANDS
from aspenpy.shell.failure import CommandError
from aspenpy.shell.option import plain_arguments
from aspenpy.shell.parser import parser_of

LINES = [
    *(words[1:] for name in COMMANDS for _, line in import_module(f"aspenpy.shell.commands.{name}").EXAMPLES
      if (words := shlex.split(line, comments=True))[0] == "aspenpy" and "|" not in words),
    ["eval"],
    ["eval", "comd"],
    ["eval", "comd", "stream", "--machine", "haswell"],
    ["eval", "comd", "--machine"],
    ["eval", "comd", "--machine=haswell", "--set=n=1", "--set", "m=2", "--set=k=-1"],
    ["eval", "comd", "--machine", "haswell", "--set", "-n"],
    ["eval", "--machine", "haswell", "comd", "--allow-outside", "--seed", "7", "--par", "overlap"],
    ["eval", "comd", "--machine", "haswell", "--allow-outside=yes"],
    ["eval", "comd", "--machine", "haswell", "--seed", "x"],
    ["eval", "comd", "--machine", "haswell", "--seed", "-3"],
    ["eval", "comd", "--machine", "haswell", "--samples", "0"],
    ["eval", "comd", "--machine", "haswell", "--par", "both"],
    ["eval", "comd", "--mach", "haswell"],
    ["eval", "", "--machine", ""],
    ["eval", "--", "comd", "--machine", "haswell"],
    ["eval", "-", "--machine", "-"],
    ["sweep", "comd", "--machine", "haswell", "-o", "x.csv"],
    ["sweep", "comd", "--machine", "haswell", "-ox.csv"],
]  # fmt: skip


@pytest.mark.parametrize("line", LINES, ids=" ".join)
def test_a_plain_line_says_what_argparse_reads(line: list[str]) -> None:
    name, *words = line
    command = import_module(f"aspenpy.shell.commands.{name}")
    plain = plain_arguments(command.OPTIONS, words)
    try:
        whole = parser_of(name).parsed(words)
    except CommandError:
        assert plain is None
    else:
        assert plain is None or plain == whole


def test_the_commonest_lines_need_no_argparse() -> None:
    command = import_module("aspenpy.shell.commands.eval")
    assert plain_arguments(command.OPTIONS, ["comd", "--machine", "haswell", "--set", "nx=40"]) is not None
