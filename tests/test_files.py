"""Reading files, includes, and what a model may not read."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from aspenpy.language import files
from aspenpy.language.diagnostics import AspenError, Diagnostic
from aspenpy.language.files import Reader, grammar_path, models_folder, require_writable, write_whole
from aspenpy.language.nodes import Application, Chain, Name, Number, Parameter
from aspenpy.language.opening import MAXIMUM_SIZE
from aspenpy.language.parser import parse_file
from aspenpy.language.source import Source, Span
from aspenpy.models.library import find_source


def write(folder: Path, **texts: str) -> None:
    """Writes files; `sub__x` is `sub/x.aspen`."""
    for name, text in texts.items():
        path = folder / f"{name.replace('__', '/')}.aspen"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")


def refusal(path: Path, reader: Reader | None = None) -> Diagnostic:
    reader = reader or Reader()
    with pytest.raises(AspenError) as error:
        parse_file(reader.read(path), reader)
    (diagnostic,) = error.value.diagnostics
    return diagnostic


def parameters(path: Path, reader: Reader | None = None) -> dict[str, str]:
    """The parameters of an application with the text of their values."""
    reader = reader or Reader()
    tree = parse_file(reader.read(path), reader)
    assert isinstance(tree, Application)
    found = [each for each in tree.declarations if isinstance(each, Parameter)]
    return {each.name: each.value.span.text() for each in found if each.value.span is not None}


MODEL = "model t {{ {} kernel main {{ call k }} }}"


# -- the folders of the project --------------------------------------------------------------------


def test_the_grammar_and_the_library_are_found() -> None:
    assert Path(grammar_path()).is_file()
    assert Path(models_folder(), "apps").is_dir()
    assert Path(models_folder(), "machines").is_dir()


def test_an_installed_package_has_its_own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "package" / "data" / "models").mkdir(parents=True)
    (tmp_path / "models").mkdir()
    monkeypatch.setattr(files, "_PACKAGE", tmp_path / "package")
    assert models_folder() == str(tmp_path / "package" / "data" / "models")
    (tmp_path / "package" / "data" / "models").rmdir()
    assert models_folder() == str(tmp_path / "models")


# -- one file --------------------------------------------------------------------------------------


def test_a_file_is_read_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "a.aspen"
    path.write_bytes("\ufeffcafé\r\n".encode())
    source = Reader().read(path)
    assert (source.text, source.name, source.path) == ("café\r\n", str(path), str(path.resolve()))


@pytest.mark.parametrize(
    ("content", "code", "message"),
    [
        (b"caf\xe9\n", "not-utf-8", "is not UTF-8: byte 3 (line 1) is 0xe9"),
        (b"one\ntwo\n\xff", "not-utf-8", "is not UTF-8: byte 8 (line 3) is 0xff"),
        ("a".encode("utf-16"), "not-utf-8", "is not UTF-8 but UTF-16"),
        (b"model\0", "not-text", "is not a text: byte 5 is 0"),
    ],
)
def test_what_is_no_text_is_refused(tmp_path: Path, content: bytes, code: str, message: str) -> None:
    path = tmp_path / "a.aspen"
    path.write_bytes(content)
    diagnostic = refusal(path)
    assert (diagnostic.code, diagnostic.message) == (code, f"`{path}` {message}")


def test_a_missing_file_is_told_with_a_likely_one(tmp_path: Path) -> None:
    write(tmp_path, haswell="")
    diagnostic = refusal(tmp_path / "hasswell.aspen")
    assert (diagnostic.code, diagnostic.hint) == ("file-not-found", f"did you mean `{tmp_path / 'haswell.aspen'}`?")


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path).code == "not-a-file"
    assert refusal(Path("/dev/zero")).code == "not-a-file"
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert refusal(tmp_path / "file" / "a.aspen").code in ("file-not-readable", "file-not-found")
    assert refusal(tmp_path / ("a" * 300)).code == "file-not-readable"
    assert refusal(tmp_path / "a\0b").code == "file-not-readable"


def test_a_huge_file_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "huge.aspen"
    with path.open("wb") as file:
        file.truncate(100 * 2**20)
    assert refusal(path).message == f"`{path}` is too large: a file has at most 8 MiB"


def test_a_loop_of_links_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    assert refusal(tmp_path / "a").code == "file-not-readable"


# -- includes --------------------------------------------------------------------------------------


def test_an_include_stands_for_the_tokens_of_its_file(tmp_path: Path) -> None:
    write(tmp_path, a=MODEL.format("param a = 1 + include sub/value.aspen"), sub__value="n*41")
    tree = parse_file(Reader().read(tmp_path / "a.aspen"), Reader())
    product = Chain(Name("n"), (("*", Number(41, "41")),))
    assert tree.declarations == (Parameter("a", Chain(Number(1, "1"), (("+", product),))),)


def test_includes_are_looked_up_beside_the_including_file_then_beside_the_model(tmp_path: Path) -> None:
    write(
        tmp_path,
        a=MODEL.format("include sub/one.aspen"),
        sub__one="include two.aspen include three.aspen",
        sub__two="param two = 22",
        two="param two = 2",
        three="param three = 3",
    )
    assert parameters(tmp_path / "a.aspen") == {"two": "22", "three": "3"}


def test_includes_are_looked_up_in_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = tmp_path / "library"
    write(tmp_path, a=MODEL.format("include core.aspen include parts/cores/core.aspen include whole.aspen"))
    for folder, text in (("parts/cores", "param core = 1"), (".", "param whole = 2")):
        (library / "machines" / folder).mkdir(parents=True, exist_ok=True)
        name = "core" if "core" in text else "whole"
        (library / "machines" / folder / f"{name}.aspen").write_text(text, encoding="utf-8")
    monkeypatch.setattr(files, "models_folder", lambda: str(library))
    assert parameters(tmp_path / "a.aspen") == {"core": "1", "whole": "2"}


def test_places_in_the_library_are_told_without_the_way_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = tmp_path / "library" / "machines" / "parts"
    parts.mkdir(parents=True)
    (parts / "core.aspen").write_text("\n  param = 1", encoding="utf-8")
    write(tmp_path, a=MODEL.format("include core.aspen"))
    monkeypatch.setattr(files, "models_folder", lambda: str(tmp_path / "library"))
    diagnostic = refusal(tmp_path / "a.aspen")
    assert "--> machines/parts/core.aspen:2:9 in the library\n" in str(diagnostic)
    assert diagnostic.to_json()["file"] == f"{parts}/core.aspen"


@pytest.mark.parametrize(
    ("asked", "hint"),
    [
        ("sub", "did you mean `sub.aspen`?"),  # where `sub` is a folder
        ("sab.aspen", "did you mean `sub.aspen`?"),
        ("sub/noes.aspen", "did you mean `sub/nodes.aspen`?"),
        ("../sub/noes.aspen", "searched beside `a.aspen` and in the library"),
    ],
)
def test_a_file_that_is_not_there_is_told_with_those_that_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: str, hint: str
) -> None:
    write(tmp_path, a=MODEL.format(f"include {asked}"), sub="param k = 1", sub__nodes="param n = 1")
    monkeypatch.chdir(tmp_path)
    assert refusal(Path("a.aspen")).hint == hint


def test_a_path_that_the_user_gave_is_told_as_it_was_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, a=MODEL.format("param = 1"))
    monkeypatch.setattr(files, "models_folder", lambda: str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert "--> a.aspen:1:" in str(refusal(Path("a.aspen")))
    assert "in the library" not in str(refusal(Path("a.aspen")))


def test_a_name_in_quotes_may_hold_spaces(tmp_path: Path) -> None:
    write(tmp_path, a=MODEL.format('include "b c.aspen"param d = 4'))
    (tmp_path / "b c.aspen").write_text("param c = 3", encoding="utf-8")
    assert parameters(tmp_path / "a.aspen") == {"c": "3", "d": "4"}


def test_an_include_in_a_comment_is_none(tmp_path: Path) -> None:
    write(tmp_path, a=MODEL.format("// include nowhere.aspen\n param a = 1"))
    assert parameters(tmp_path / "a.aspen") == {"a": "1"}


def test_a_file_may_be_included_twice(tmp_path: Path) -> None:
    write(tmp_path, a=MODEL.format("include b.aspen include b.aspen"), b="param b = 1")
    tree = parse_file(Reader().read(tmp_path / "a.aspen"), Reader())
    assert isinstance(tree, Application)
    assert [str(each.span) for each in tree.declarations] == [f"{tmp_path}/b.aspen:1:1"] * 2


def test_a_mistake_in_an_included_file_is_told_there(tmp_path: Path) -> None:
    write(tmp_path, a=MODEL.format("include b.aspen"), b="\n  param = 1")
    diagnostic = refusal(tmp_path / "a.aspen")
    assert str(diagnostic.span) == f"{tmp_path}/b.aspen:2:9"


def test_an_include_that_fails_is_told_at_the_include(tmp_path: Path) -> None:
    write(tmp_path, a=MODEL.format("\n  include b.aspen"), b="include nowhere.aspen")
    assert str(refusal(tmp_path / "a.aspen").span) == f"{tmp_path}/b.aspen:1:1"
    (tmp_path / "nowhere.aspen").write_bytes(b"\xff")
    assert (refusal(tmp_path / "a.aspen").code, str(refusal(tmp_path / "a.aspen").span)) == (
        "not-utf-8",
        f"{tmp_path}/b.aspen:1:1",
    )


def test_a_cycle_of_includes_is_told_with_its_path(tmp_path: Path) -> None:
    write(tmp_path, a="include b.aspen", b="include sub/c.aspen", sub__c="include ../sub/../a.aspen")
    diagnostic = refusal(tmp_path / "a.aspen")
    assert diagnostic.code == "include-cycle"
    assert [part.rsplit("/", 1)[-1] for part in diagnostic.message.split("`")[1::2]] == [
        *("a.aspen", "b.aspen", "c.aspen", "a.aspen"),
    ]


def test_includes_that_grow_without_end_are_refused(tmp_path: Path) -> None:
    write(tmp_path, a="include l0.aspen", **{f"l{i}": f"include l{i + 1}.aspen " * 2 for i in range(40)}, l40="")
    assert refusal(tmp_path / "a.aspen").code == "too-large"


def test_a_text_that_grows_too_large_by_includes_is_refused(tmp_path: Path) -> None:
    write(tmp_path, a="include b.aspen " * 20, b="// " + "x" * 2**19)
    assert refusal(tmp_path / "a.aspen").message == "the model is too large: it has more than 8 MiB"
    with pytest.raises(AspenError, match="too large"):
        parse_file(Source(" " * (MAXIMUM_SIZE + 1)))


def test_a_text_includes_from_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, b="param b = 1")
    monkeypatch.chdir(tmp_path)
    tree = parse_file(Source(MODEL.format("include b.aspen")), Reader())
    assert isinstance(tree, Application)
    assert len(tree.declarations) == 1


# -- outside ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["../secret.aspen", "link.aspen", "folder/secret.aspen", "{absolute}"])
def test_files_outside_the_folder_of_the_model_are_refused(tmp_path: Path, name: str) -> None:
    write(tmp_path, secret="param secret = 1")
    inside = tmp_path / "inside"
    write(tmp_path, inside__a=MODEL.format(f"include {name}".format(absolute=tmp_path / "secret.aspen")))
    (inside / "link.aspen").symlink_to(tmp_path / "secret.aspen")
    (inside / "folder").symlink_to(tmp_path)
    diagnostic = refusal(inside / "a.aspen")
    assert diagnostic.code == "outside"
    assert parameters(inside / "a.aspen", Reader(allow_outside=True)) == {"secret": "1"}


def test_links_that_stay_inside_are_followed(tmp_path: Path) -> None:
    write(tmp_path, a=MODEL.format("include link.aspen"), sub__b="param b = 1")
    (tmp_path / "link.aspen").symlink_to(tmp_path / "sub" / "b.aspen")
    assert parameters(tmp_path / "a.aspen") == {"b": "1"}


def test_a_file_of_a_subfolder_may_reach_up_to_the_folder_of_the_model(tmp_path: Path) -> None:
    write(tmp_path, a=MODEL.format("include sub/b.aspen"), sub__b="include ../c.aspen", c="param c = 1")
    assert parameters(tmp_path / "a.aspen") == {"c": "1"}


# -- imports ---------------------------------------------------------------------------------------


def test_imports_are_looked_up_beside_the_importing_file_then_beside_the_model_then_in_the_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, a="top", sub__b="middle", sub__c="beside", c="above", d="above")
    (tmp_path / "library" / "apps").mkdir(parents=True)
    (tmp_path / "library" / "apps" / "e.aspen").write_text("library", encoding="utf-8")
    monkeypatch.setattr(files, "models_folder", lambda: str(tmp_path / "library"))
    reader = Reader()
    top, middle = reader.read(tmp_path / "a.aspen"), reader.read(tmp_path / "sub" / "b.aspen")
    found = [reader.import_(f"{name}.aspen", middle, top).text for name in "cde"]
    assert found == ["beside", "above", "library"]
    with pytest.raises(AspenError) as error:
        reader.import_("f.aspen", middle, top, Span(middle, 0, 6))
    assert str(error.value).startswith("error: file not found: `f.aspen`\n")


# -- writing ---------------------------------------------------------------------------------------


def test_new_file_has_the_usual_mode(tmp_path: Path) -> None:
    write_whole(tmp_path / "new", "text\n")
    (tmp_path / "usual").write_text("text\n", encoding="utf-8")
    assert (tmp_path / "new").read_text(encoding="utf-8") == "text\n"
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "usual").stat().st_mode
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new", "usual"]


def test_old_file_keeps_its_mode_and_its_links(tmp_path: Path) -> None:
    (tmp_path / "old").write_text("old", encoding="utf-8")
    (tmp_path / "old").chmod(0o640)
    (tmp_path / "link").symlink_to("old")
    write_whole(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "old").read_text(encoding="utf-8") == "new"
    assert (tmp_path / "old").stat().st_mode & 0o7777 == 0o640


def test_what_fails_leaves_the_old_file(tmp_path: Path) -> None:
    (tmp_path / "old").write_text("old", encoding="utf-8")
    with pytest.raises(AspenError, match="surrogates not allowed"):
        write_whole(tmp_path / "old", "\ud800")
    assert [path.read_text(encoding="utf-8") for path in tmp_path.iterdir()] == ["old"]


def test_device_is_written_to() -> None:
    write_whole("/dev/null", "text")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (".", "is a directory"),
        ("none/file", "no such file or directory"),
        ("old/file", "not a directory"),
        ("x" * 300, "file name too long"),
        ("a\0b", "embedded null byte"),
    ],
)
def test_unwritable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, reason: str) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old").write_text("old", encoding="utf-8")
    said = re.escape(f"cannot write `{name}`: {reason}".replace("\0", "\\x00"))
    with pytest.raises(AspenError, match=said):
        require_writable(name)
    with pytest.raises(AspenError, match=said):
        write_whole(name, "text")


def test_name_too_long_for_a_file() -> None:
    with pytest.raises(AspenError) as error:
        find_source("machines", "m" * 5000)
    assert error.value.diagnostics[0].code == "unknown-machine"


@pytest.mark.skipif(not os.path.exists("/dev/fd"), reason="a pipe has no name here")
def test_a_pipe_is_written_to() -> None:
    """As `-o /dev/stdout` before `|` is."""
    reading, writing = os.pipe()
    try:
        files.require_writable(f"/dev/fd/{writing}")
        files.write_whole(f"/dev/fd/{writing}", "n,runtime\n")
        assert os.read(reading, 100) == b"n,runtime\n"
    finally:
        os.close(reading)
        os.close(writing)
