"""Command lines that are read without argparse say what argparse reads in them; it is the oracle here."""

import re
import shlex
from collections.abc import Iterable, Iterator

import pytest

from aspenpy.shell.failure import CommandError
from aspenpy.shell.main import main
from aspenpy.shell.option import OneOf, Option, plain_arguments
from aspenpy.shell.parser import Parser
from aspenpy.shell.registry import commands_by_name, load_command

LINES = [
    *(words[1:] for name in commands_by_name() for _, line in load_command(name).examples
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
    command = load_command(name)
    plain = plain_arguments(command.options, words)
    try:
        whole = Parser(load_command(name)).parse_words(words)
    except CommandError:
        assert plain is None
    else:
        assert plain is None or plain == whole


def test_the_commonest_lines_need_no_argparse() -> None:
    command = load_command("eval")
    assert plain_arguments(command.options, ["comd", "--machine", "haswell", "--set", "nx=40"]) is not None


def flat(options: Iterable[Option | OneOf]) -> Iterator[Option]:
    for item in options:
        yield from item.options if isinstance(item, OneOf) else (item,)


NUMBERS = {
    "advise --levels": 10, "advise --most-nodes": 1024, "advise --threshold": 0.5, "advise --fuzziness": 2.0,
    "advise --precision": 0.05, "advise --groups": 2, "advise --pieces": 10, "advise --noise": 0.05,
    "trace --most": 200, "trace --passes": 2, "validate --precision": 0.05, "validate --least-runs": 5,
    "validate --most-runs": 20, "rdd --line": 64, "fit --confidence": 0.95, "empirical --confidence": 0.95,
    "measure --precision": 0.05, "measure --confidence": 0.95, "measure --least-runs": 5, "measure --most-runs": 50,
}  # fmt: skip
"""Defaults that users and the documentation count on, besides the seed."""


def test_defaults_are_those_of_the_help() -> None:
    """What argparse gives where a line says nothing, what the help says of it, and numbers as they are promised."""
    found = {}
    for name in commands_by_name():
        for item in flat(load_command(name).options):
            default, said = item.more.get("default"), re.search(r"\(default: ([^);]*)\)", item.help)
            if said and isinstance(default, int | float) and not isinstance(default, bool):
                assert float(said[1]) == default, (name, item.names)
                found[f"{name} {item.names[0]}"] = default
            elif said and isinstance(default, str) and " " not in said[1]:
                assert said[1] == default, (name, item.names)
            if default is not None and "choices" in item.more and item.more.get("action") != "append":
                assert default in item.more["choices"], (name, item.names)
    assert {found.pop(name) for name in [*found] if name.endswith("--seed")} == {20120910}
    assert found == NUMBERS


EXAMPLES_OF_TYPES = {
    "float": ("0.5", "0.7"),
    "_read_amounts": ("1.0,1.2", "0.5"),
    "_read_counts": ("1,2", "4"),
}


@pytest.mark.parametrize("name", commands_by_name())
def test_one_value_is_taken_once(name: str) -> None:
    """Every option of every command that takes one value: the second is refused, whichever form it has, and both are
    named."""
    command = load_command(name)
    for item in flat(command.options):
        longest = item.names[-1]
        if not longest.startswith("-") or item.is_flag or item.more.keys() & {"action", "nargs", "const"}:
            continue
        texts = EXAMPLES_OF_TYPES.get(getattr(item.more.get("type"), "__name__", ""), ("3", "4"))
        first, second = (*item.more.get("choices", texts), *item.more.get("choices", texts))[:2]
        for words in ([longest, first, longest, second], [f"{item.names[0]}={first}", longest, second]):
            assert plain_arguments(command.options, words) is None
            with pytest.raises(CommandError, match=re.escape(f"expected one value, not `{first}` and `{second}`")):
                Parser(command).parse_words(words)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("eval comd --machine haswell --seed 1 --seed 2", "--seed: expected one value, not `1` and `2`"),
        ("eval comd --machine haswell --seed 0 --seed 0", "--seed: expected one value, not `0` and `0`"),
        (
            "eval comd --machine haswell --bind core --bind=socket",
            "--bind: expected one value, not `core` and `socket`",
        ),
        ("eval comd --machine haswell --set atoms=1 --set atoms=2", "--set atoms: expected one value, not `1` and `2`"),
        ("eval comd --machine haswell --color always --color=never", "--color: expected one value, not `always` and"),
        ("energy comd --machine haswell -o a --output b", "-o/--output: expected one value, not `a` and `b`"),
    ],
)
def test_two_values_at_the_shell(line: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(shlex.split(line)) == 2
    assert message in capsys.readouterr().err


def test_flags_may_be_repeated() -> None:
    command = load_command("eval")
    words = ["comd", "--machine", "haswell", "--allow-outside", "--allow-outside"]
    assert plain_arguments(command.options, words) == Parser(command).parse_words(words)
