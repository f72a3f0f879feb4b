"""The tables of the grammar, their cache, and the words for terminals."""

from __future__ import annotations

import marshal
import os
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aspenpy.language import tables as module
from aspenpy.language.builder import Builder
from aspenpy.language.dimensions import UNITS
from aspenpy.language.files import grammar_path
from aspenpy.language.source import Source
from aspenpy.language.tables import COLLECT, PASS_ON, Tables, cache_folder, load_or_compute_tables, tables
from aspenpy.language.tokens import word_pattern
from aspenpy.language.vocabulary import DECLARATION, TERMINALS, keywords_that_begin, word_for, word_for_all

GRAMMAR = Path(grammar_path()).read_text(encoding="utf-8")


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The grammars for which tables were computed, not read, in this test; what they are is not computed again."""
    computed: list[str] = []
    ready = tables()

    def make(grammar: str) -> Tables:
        computed.append(grammar)
        return ready

    monkeypatch.setattr(module, "compute_tables", make)
    return computed


# -- rules and words -------------------------------------------------------------------------------


def test_every_rule_has_its_method_in_the_builder() -> None:
    builder = Builder(Source(""), [])
    handlers = {rule.handler for rule in tables().rules} - {PASS_ON, COLLECT}
    assert len(handlers) > 50
    assert [handler for handler in sorted(handlers) if not callable(getattr(builder, handler, None))] == []


def test_every_method_of_the_builder_belongs_to_a_rule() -> None:
    handlers = {rule.handler for rule in tables().rules}
    assert [name for name in dir(Builder) if not name.startswith("_") and name not in handlers] == []


def test_every_terminal_has_its_word() -> None:
    terminals = {name for row in tables().actions for name in row if name.isupper()} | set(word_pattern().groupindex)
    keywords = {terminal: word for word, terminal in tables().keywords.items() if word != "include"}
    assert terminals - set(keywords) == set(TERMINALS)
    assert {word_for(terminal) for terminal in keywords} == {f"`{word}`" for word in keywords.values()}


def test_words_for_what_is_expected() -> None:
    assert word_for_all(frozenset({"RSQB"})) == "`]`"
    assert word_for_all(frozenset({"RSQB", "PLUS", "MINUS", "LSQB", "DOT"})) == "`]`"
    assert word_for_all(frozenset({"NUMBER", "QUANTITY", "NAME", "MINUS", "LPAR", "KILO", "RPAR"})) == "a value or `)`"
    assert word_for_all(keywords_that_begin(DECLARATION) | {"KERNEL"}) == "a declaration or `kernel`"
    assert word_for_all(frozenset({"PLUS"})) == "`+`"


def test_the_grammar_knows_exactly_the_units() -> None:
    assert {unit for unit in UNITS if word_pattern().fullmatch(f"1 {unit}/{unit}")} == set(UNITS)


@given(st.text("KMGTPEiunpmkBflopsegsJWHzh", min_size=1, max_size=6))
def test_the_grammar_knows_no_other_units(word: str) -> None:
    match = word_pattern().match(f"1 {word}")
    assert match is not None
    assert (match.lastgroup == "QUANTITY") == (word in UNITS)


# -- the cache -------------------------------------------------------------------------------------


def test_tables_are_kept_and_read_again(tmp_path: Path, made: list[str]) -> None:
    first = load_or_compute_tables(GRAMMAR, tmp_path)
    assert load_or_compute_tables(GRAMMAR, tmp_path) == first
    assert made == [GRAMMAR]
    assert len(list(tmp_path.iterdir())) == 1


def test_tables_of_another_grammar_are_others(tmp_path: Path, made: list[str]) -> None:
    load_or_compute_tables(GRAMMAR, tmp_path)
    load_or_compute_tables(GRAMMAR + "// changed\n", tmp_path)
    assert len(made) == 2


@pytest.mark.parametrize("damage", [b"", b"abc", b"\0" * 100_000])
def test_a_damaged_cache_is_made_anew(tmp_path: Path, made: list[str], damage: bytes) -> None:
    first = load_or_compute_tables(GRAMMAR, tmp_path)
    (file,) = tmp_path.iterdir()
    file.write_bytes(damage)
    assert load_or_compute_tables(GRAMMAR, tmp_path) == first
    assert load_or_compute_tables(GRAMMAR, tmp_path) == first
    assert len(made) == 2


def test_a_single_wrong_byte_is_noticed(tmp_path: Path, made: list[str]) -> None:
    load_or_compute_tables(GRAMMAR, tmp_path)
    (file,) = tmp_path.iterdir()
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    load_or_compute_tables(GRAMMAR, tmp_path)
    assert len(made) == 2


def _field(name: str, value: Any) -> Callable[[Any], Any]:
    return lambda kept: {**kept, name: value}


def _first_rule(place: int, value: Any) -> Callable[[Any], Any]:
    """Changes one field of the first rule: symbol, length, handler or arrangement."""

    def change(kept: Any) -> Any:
        first = list(kept["rules"][0])
        first[place] = value
        return {**kept, "rules": [tuple(first), *kept["rules"][1:]]}

    return change


@pytest.mark.parametrize(
    "change",
    [
        lambda kept: 5,
        lambda kept: {"made_from": kept["made_from"]},
        lambda kept: {**kept, "more": 1},
        _field("rules", []),
        _field("rules", [("file", 1)]),
        _field("rules", None),
        _first_rule(0, 7),
        _first_rule(2, 7),
        _field("actions", [{"NAME": "x"}]),
        _field("actions", [{"NAME": 10**6}]),
        lambda kept: {**kept, "actions": [{**kept["actions"][0], "NAME": 10**6}, *kept["actions"][1:]]},
        lambda kept: {**kept, "actions": [{**kept["actions"][0], "NAME": -(10**6)}, *kept["actions"][1:]]},
        _field("actions", 7),
        _field("first_state", {}),
        _field("first_state", {"file": 0}),
        _field("pattern", "("),
        _field("pattern", 3),
        _field("keywords", ["param"]),
        _field("keywords", {"param": 1}),
    ],
)
def test_wrong_content_with_the_right_checksum_is_made_anew(
    tmp_path: Path, made: list[str], change: Callable[[Any], Any]
) -> None:
    first = load_or_compute_tables(GRAMMAR, tmp_path)
    [file] = tmp_path.iterdir()
    content = marshal.dumps(change(marshal.loads(file.read_bytes()[4:])))
    file.write_bytes(zlib.crc32(content).to_bytes(4, "big") + content)
    assert load_or_compute_tables(GRAMMAR, tmp_path) == first
    assert len(made) == 2
    assert load_or_compute_tables(GRAMMAR, tmp_path) == first
    assert len(made) == 2


def test_a_folder_that_cannot_be_written_is_no_obstacle(tmp_path: Path, made: list[str]) -> None:
    assert load_or_compute_tables(GRAMMAR, tmp_path / "missing").rules
    assert load_or_compute_tables(GRAMMAR, None).rules
    assert len(made) == 2


def test_the_cache_folder_belongs_to_the_user_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert cache_folder() == str(tmp_path / "cache" / "aspenpy")
    assert (tmp_path / "cache" / "aspenpy").stat().st_mode & 0o777 == 0o700
    for mode in (0o720, 0o702, 0o777):
        (tmp_path / "cache" / "aspenpy").chmod(mode)
        assert cache_folder() is None
    (tmp_path / "cache" / "aspenpy").chmod(0o755)
    assert cache_folder() is not None
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    assert cache_folder() is None


def test_no_cache_folder_where_none_can_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert cache_folder() is None


def test_several_programs_may_fill_the_cache_at_once(tmp_path: Path) -> None:
    program = (
        "import sys\nfrom aspenpy.language.parser import parse_expression\n"
        "print(parse_expression('1 + 2'), 'lark' in sys.modules)"
    )
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}

    def start() -> subprocess.Popen[str]:
        return subprocess.Popen([sys.executable, "-c", program], env=environment, stdout=subprocess.PIPE, text=True)

    told = [process.communicate()[0] for process in [start() for _ in range(4)]]
    assert {line.rsplit(" ", 1)[0] for line in told} == {
        "Chain(first=Number(value=1, spelling='1', unit=None), rest=(('+', Number(value=2, spelling='2', unit=None)),))"
    }
    assert len(list((tmp_path / "aspenpy").iterdir())) == 1
    assert start().communicate()[0].endswith(" False\n")  # from the cache: lark is not even imported
