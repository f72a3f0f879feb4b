"""Random input that knows the grammar: models from the rules of `aspen.lark` or from the words of library models with a
few changed, command lines from the options that commands declare, traces and tables of measurements."""

from __future__ import annotations

import gzip
from argparse import Action, _StoreTrueAction, _SubParsersAction
from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from random import Random

from lark import Lark
from lark.grammar import NonTerminal, Rule, Symbol

from aspenpy.language.files import grammar_path, models_folder
from aspenpy.language.tokens import words
from aspenpy.language.vocabulary import PHRASES
from aspenpy.shell.parser import Parser
from aspenpy.shell.registry import commands_by_name, load_command

NUMBERS = (
    "0 1 2 3 7 -1 0.5 1/3 1e3 1e6 1e18 1e308 1e-308 1e-320 9007199254740993 18446744073709551616 2^64 -0.0 1e400 .5 007"
).split()
"""Where rounding, 64-bit integers and floating point end."""

NAMES = (
    "n m x main flops loads stores messages intracomm mod max lookup cdf sqrt sets_touched lru_hits random_misses "
    "share_kept lines_with_room gcd floor uniform normal stream stencil blocked halo random"
).split()
DEEPEST = 8


# -- models ----------------------------------------------------------------------------------------


@cache
def _rules() -> dict[Symbol, list[Rule]]:
    found = defaultdict(list)
    starts = ["file", "expression", "value", "condition"]
    for rule in Lark(
        Path(grammar_path()).read_text(encoding="utf-8"), start=starts, parser="lalr", lexer="basic"
    ).rules:
        found[rule.origin].append(rule)
    return found


@cache
def _literals() -> dict[str, str]:
    """The words of terminals that have one spelling."""
    grammar = Lark(
        Path(grammar_path()).read_text(encoding="utf-8"),
        start=["file", "expression", "value", "condition"],
        parser="lalr",
    )
    return {item.name: item.pattern.value for item in grammar.terminals if item.pattern.type == "str"}


@cache
def _heights() -> dict[Symbol, int]:
    """The least depth of a tree below each rule."""
    found: dict[Symbol, int] = {}
    changed = True
    while changed:
        changed = False
        for symbol, rules in _rules().items():
            known = [_height(rule, found) for rule in rules if all(_is_known(part, found) for part in rule.expansion)]
            if known and min(known) < found.get(symbol, 1_000):
                found[symbol] = min(known)
                changed = True
    return found


def _is_known(part: Symbol, found: dict[Symbol, int]) -> bool:
    return not isinstance(part, NonTerminal) or part in found


def _height(rule: Rule, found: dict[Symbol, int]) -> int:
    return 1 + max((found[part] for part in rule.expansion if isinstance(part, NonTerminal)), default=0)


def from_grammar(random: Random, start: str = "file", deepest: int = 25, names: Sequence[str] = NAMES) -> str:
    """A text that the grammar accepts, but for what it says of names."""
    pending: list[tuple[Symbol, int]] = [(NonTerminal(start), deepest)]
    text: list[str] = []
    while pending:
        symbol, left = pending.pop()
        if not isinstance(symbol, NonTerminal):
            text.append(_word(random, symbol.name, names))
            continue
        rules = _rules()[symbol]
        allowed = [rule for rule in rules if _height(rule, _heights()) <= left]
        rule = random.choice(allowed or [min(rules, key=lambda rule: _height(rule, _heights()))])
        pending += [(part, left - 1) for part in reversed(rule.expansion)]
    return " ".join(text)


def _word(random: Random, terminal: str, names: Sequence[str]) -> str:
    if terminal == "NAME":
        return random.choice(names)
    if terminal == "NUMBER":
        return random.choice([number for number in NUMBERS if number[0] != "-" and "/" not in number])
    if terminal == "QUANTITY":
        return random.choice("1 B,2 GB/s,3 ms,4 flop,1e30 J,0 s,5 W,64KiB".split(","))
    patterns = {"STRING": '"t"', "COMPARISON": "<", "RANGE": "..", **PHRASES}
    return patterns.get(terminal) or _literals()[terminal]


@cache
def library(folder: str) -> tuple[str, ...]:
    """The texts of the library's models that are short enough to be tried many times."""
    texts = (path.read_text(encoding="utf-8") for path in sorted(Path(models_folder(), folder).glob("*.aspen")))
    return tuple(text for text in texts if len(text) < 8_000)


def mutated(random: Random, text: str) -> str:
    """A model with a few of its words changed, left out, repeated, exchanged or replaced by an expression."""
    spelt = [match[match.lastgroup or 0] for match in words(text)]
    spelt = [word for word in spelt if not word.startswith("//")]
    names = [*NAMES, *[word for word in spelt if word.isidentifier()]]
    for _ in range(random.choice((1, 1, 1, 2, 5))):
        place, other = random.randrange(len(spelt)), random.randrange(len(spelt))
        change = random.randrange(12)
        if change == 0:
            del spelt[place]
        elif change == 1:
            spelt.insert(place, spelt[other])
        elif change == 2:
            spelt[place], spelt[other] = spelt[other], spelt[place]
        elif change == 3:
            spelt[place] = random.choice((*NUMBERS, *NAMES))
        elif change == 4:
            spelt[place:place] = spelt[other : other + random.randrange(30)]
        else:
            numbers = [number for number, word in enumerate(spelt) if word[0].isdigit()] or [place]
            spelt[random.choice(numbers)] = (
                f"({from_grammar(random, 'expression', random.randrange(4, DEEPEST + 4), names)})"
            )
        spelt = spelt or ["model"]
    return " ".join(spelt)


def model(random: Random, folder: str) -> str:
    """An application or a machine, as the folder of the library says."""
    return from_grammar(random) if random.random() < 0.2 else mutated(random, random.choice(library(folder)))


# -- command lines ---------------------------------------------------------------------------------

VALUES = (
    "simple haswell comd matmul stream main n n=1 n=1e400 n=n n=-1 n=1..10 n=1..10:log n=1,2,3 n=0..0:lin:0 :: , = "
    "runtime energy flops loads json csv 0 1 -1 2 1.5 nan inf 1e308 99999999999999999999 x.svg x.txt . a/b"
).split()
LEFT_OUT = ("repl", "fmt", "help", "measure")
"""Commands that ask, write what they read, or run what they are given."""


@cache
def _actions(command: str) -> tuple[Action, ...]:
    return tuple(
        action for action in Parser(load_command(command))._actions if not isinstance(action, _SubParsersAction)
    )


def line(random: Random) -> list[str]:
    """A command line: most of the arguments a command must have, and some of its options."""
    command = random.choice([name for name in commands_by_name() if name not in LEFT_OUT])
    found = [command]
    for action in _actions(command):
        wanted = action.required or not action.option_strings
        if random.random() > (0.95 if wanted else 0.15):
            continue
        found += random.sample(action.option_strings, 1) if action.option_strings else []
        if action.nargs != 0 and not isinstance(action, _StoreTrueAction):
            found.append(_value(random, action))
    return found


def _value(random: Random, action: Action) -> str:
    usual = {"model": ("matmul", "stream"), "app": ("matmul",), "machine": ("simple", "haswell"), "kernel": ("main",)}
    if action.choices and random.random() < 0.9:
        return str(random.choice(list(action.choices)))
    if action.dest in usual and random.random() < 0.9:
        return random.choice(usual[action.dest])
    return random.choice(VALUES)


# -- traces and measurements -----------------------------------------------------------------------


def trace(random: Random) -> bytes:
    """Some lines of a trace, regular and not, perhaps compressed or cut off."""
    makers = (
        lambda: f" {random.choice('LSM')} {random.getrandbits(40):x},{random.choice((1, 4, 8, 64))}",
        lambda: f"I  {random.getrandbits(30):x},4",
        lambda: f"{random.randrange(3)} {random.getrandbits(random.choice((4, 40, 64))):x}",
        lambda: f"{random.choice('rwi')} 0x{random.getrandbits(40):x} {random.randrange(10):x}",
        lambda: random.choice(
            ("", ",", " L ,", "==1== hello", " L 0,0", " L ffffffffffffffff,9", "0", "0  0", "\0", "é,")
        ),
    )
    usual = random.choice(makers)
    lines = [(usual if random.random() < 0.8 else random.choice(makers))() for _ in range(random.randrange(12))]
    content = random.choice(("\n", "\n", "\r\n")).join(lines).encode() + random.choice((b"", b"\n"))
    if random.random() < 0.15:
        content = random.randbytes(random.randrange(64))
    if random.random() < 0.15:
        content = gzip.compress(content)
        content = content[: random.choice((None, None, -1, 12, 3))]
    return content


def table(random: Random) -> str:
    """A table of measurements for `MEASURED`."""
    headings = ["n", "runtime", "runtime [ms]", "flops", "machine", "socket", "m", "", "n", "loads [GB]", "energy"]
    columns = [
        "n",
        random.choice(("runtime", "runtime", "flops", "runtime [ms]", *headings)),
        *random.sample(headings, random.random() < 0.2),
    ]
    cells = [*NUMBERS, "simple", "haswell", "", "nan", "inf", "1,5", '"1"', '"', "1e9999", "é", "1" * 5_000, "10 ms"]
    usual = [*random.sample(cells, random.choice((0, 0, 1, 3))), "1", "2", "3", "1e-9", "2e99", "3e-99"]
    rows = [[random.choice(usual) for _ in columns] for _ in range(random.randrange(1, 8))]
    mark = random.choice(",,,;\t")
    return random.choice(("\n", "\r\n", "\n\n")).join(mark.join(row) for row in [columns, *rows])


MEASURED = """model lin {
  param n = 4 in 0 .. 1e9
  param m = 1 in 0 .. 10
  param c = 1 in 0 .. 1e300
  kernel main { execute { flops [c*n + ceil(m)] loads [n] } }
}
"""


def written(path: Path, content: str | bytes) -> str:
    """The path of a new file, as a word of a command line."""
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(path)
