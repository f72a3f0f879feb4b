"""The server through the protocol, by a client that knows nothing of it. One server process serves the whole file."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pygls", reason="the extra `lsp` is not installed")

from tests.editor.client import Client, File

SIZES = "param n = 1000 in 1 .. 1e9  // cells of a rank\n"

INNER = "model inner {\n  param k = 4\n  kernel main { execute { flops [k] } }\n}\n"

MODEL = """\
model outer {
  include sizes.aspen
  import inner from "inner.aspen" with k = 2*n
  param word = 8 B
  param bytes = n*word  // 😀 what a rank has
  data field [bytes]

  kernel sweep(param passes) {
    iterate step [passes] {
      execute [n] "update" {
        flops [2*step] as dp
        loads [word] from field
      }
    }
  }

  kernel main {
    call sweep(10)
    call inner.main
  }
}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models").resolve()
    for name, text in (("sizes", SIZES), ("inner", INNER), ("outer", MODEL)):
        (folder / f"{name}.aspen").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[Client]:
    client = Client(folder, "--machine", "simple")
    yield client
    assert client.stop() == 0


@pytest.fixture(scope="module")
def file(client: Client, folder: Path) -> File:
    """The model, understood: its values are known."""
    file = File(client, folder / "outer.aspen")
    assert file.diagnostics() == []  # of the syntax
    assert [found["message"] for found in file.diagnostics()] == []  # of the whole check
    return file


def labels(file: File, mark: str, by: int = 0) -> list[str]:
    return [item["label"] for item in file.ask("completion", mark, by)["items"]]


def places(found: list[dict[str, Any]]) -> list[tuple[str, int, int]]:
    return [
        (Path(item["uri"]).name, item["range"]["start"]["line"], item["range"]["start"]["character"]) for item in found
    ]


# -- what is wrong ---------------------------------------------------------------------------------


def test_diagnostics_are_those_of_check(client: Client, folder: Path) -> None:
    """With the places and the hint that `aspenpy check` has, and a fix from the hint."""
    file = File(
        client, folder / "new.aspen", "model t {\n  param cells = 3\n  kernel main { execute { flops [cels] } }\n}\n"
    )
    (found, *_) = file.diagnostics(lambda found: len(found) == 2)
    assert (found["code"], found["severity"]) == ("unknown-name", 1)
    assert found["message"] == "unknown name `cels`\nhint: did you mean `cells`?"
    assert file.part(found["range"]) == "cels"
    (action,) = file.ask("codeAction", range=found["range"], context={"diagnostics": [found]})
    assert action["title"] == "Change to `cells`"
    (edit,) = action["edit"]["changes"][file.uri]
    assert "flops [cells]" in file.edited([edit])


def test_a_broken_file_keeps_its_last_good_meaning(client: Client, folder: Path) -> None:
    file = File(client, folder / "typed.aspen", MODEL)
    file.diagnostics(), file.diagnostics()
    file.type("n*word", "n*word + ")
    (found,) = file.diagnostics()
    assert found["message"].startswith("expected a value behind `+`, found the keyword `data`")
    assert file.diagnostics(lambda found: len(found) == 1) == [found]  # the whole check says the same
    assert "**8000**" in file.ask("hover", "bytes")["contents"]["value"]
    assert {"n", "word", "bytes", "max", "kilo"} < set(labels(file, "n*word + ", len("n*word + ")))
    file.type("n*word + ", "n*word")
    assert file.diagnostics() == []


def test_a_mistake_in_an_included_file_stands_at_the_include(client: Client, folder: Path) -> None:
    (folder / "bad.aspen").write_text("param n = = 3\n", encoding="utf-8")
    file = File(client, folder / "user.aspen", MODEL.replace("sizes.aspen", "bad.aspen"))
    (found,) = file.diagnostics(lambda found: len(found) == 1)
    assert file.part(found["range"]) == "bad.aspen"
    assert places([item["location"] for item in found["relatedInformation"]])[0][0] == "bad.aspen"


# -- what is told ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mark", "by", "told"),
    [
        ("bytes", 0, ("param bytes = n*word", "**8000**", "😀 what a rank has")),  # 1000 * 8 B
        ("*word", 1, ("param word = 8 B", "**8 B**")),
        ("n*word", 0, ("param n = 1000 in 1 .. 1e9", "**1000**, within 1 .. 1e9", "cells of a rank", "sizes.aspen")),
        ("field", 0, ("data field [bytes]", "**8 kB**")),
        ("step]", 0, ("iterate step",)),
        ("flops", 0, ("counted in flop", "resource flops(")),
        ("8 B", 0, ("8 B",)),
        ("sweep(10", 0, ("kernel sweep(param passes)", "on simple")),
    ],
)
def test_hover(file: File, mark: str, by: int, told: tuple[str, ...]) -> None:
    value = file.ask("hover", mark, by)["contents"]["value"]
    assert all(part in value for part in told), value


def test_values_and_times_between_the_lines(file: File) -> None:
    whole = {"start": file.at("model"), "end": file.at("call inner.main")}
    hints = file.ask("inlayHint", range=whole)
    assert [(hint["position"]["line"], hint["label"]) for hint in hints] == [(4, " = 8000"), (5, " = 8 kB")]
    titles = [lens["command"]["title"] for lens in file.ask("codeLens")]
    # Pass s of 0 to 9: 1000 cells of 2 s flops in double precision take s us on 4 cores of 1 Gflop/s at half the rate,
    # their 8 kB take 0.8 us at 10 GB/s: 0.8 us + 45 us. The 2000 flops of the other model take 2 us on one core.
    assert titles[0].startswith("45.8 us (95.8 %) on simple")
    assert titles[1] == "95.8 % of the runtime, 45.8 us on simple"
    assert titles[2].startswith("47.8 us (100.0 %)")


@pytest.mark.parametrize(
    ("mark", "by", "some", "none"),
    [
        ("flops [2", 0, {"flops", "loads", "stores", "messages"}, {"kernel"}),
        ("dp\n", 0, {"dp", "simd", "fma"}, {"n"}),
        ("8 B", 2, {"kB", "KiB", "GB/s"[:2], "flop"}, {"n"}),
        ("step]", 0, {"step", "passes", "n", "word", "sqrt", "giga"}, {"sweep"}),
        ("sweep(10", 0, {"sweep", "main", "inner"}, {"n"}),
        ("inner.main", 6, {"main"}, {"sweep"}),
        ("field\n", 0, {"field"}, {"n"}),
        ("execute", 0, {"execute", "iterate", "call"}, {"kernel"}),
    ],
)
def test_completion(file: File, mark: str, by: int, some: set[str], none: set[str]) -> None:
    found = set(labels(file, mark, by))
    assert some <= found
    assert not none & found


# -- names -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mark", "by", "place"),
    [
        ("n*word", 0, ("sizes.aspen", 0, 6)),
        ("sizes.aspen", 3, ("sizes.aspen", 0, 0)),
        ("k = 2", 0, ("inner.aspen", 1, 8)),
        ("inner.main", 6, ("inner.aspen", 2, 9)),
        ("step]", 0, ("outer.aspen", 8, 12)),
        ("passes] {", 0, ("outer.aspen", 7, 21)),
        ("field\n", 0, ("outer.aspen", 5, 7)),
    ],
)
def test_definition(file: File, mark: str, by: int, place: tuple[str, int, int]) -> None:
    assert places([file.ask("definition", mark, by)]) == [place]


def test_references_across_files(file: File) -> None:
    found = places(file.ask("references", "n*word", context={"includeDeclaration": True}))
    lines = [(2, "n\n"), (4, "n*word"), (9, "n]")]
    text = file.text.split("\n")
    of_outer = [("outer.aspen", line, f"{text[line]}\n".index(mark)) for line, mark in lines]
    assert {("sizes.aspen", 0, 6), *of_outer} <= set(found)
    assert {name for name, *_ in found} <= {"sizes.aspen", "outer.aspen", "typed.aspen"}  # the open ones


def test_rename_across_files(file: File, client: Client) -> None:
    edits = file.ask("rename", "k = 2", newName="count")["changes"]
    assert {Path(uri).name: len(found) for uri, found in edits.items()}["inner.aspen"] == 2
    assert "with count = 2*n" in file.edited(edits[file.uri])
    at = {"textDocument": {"uri": file.uri}, "position": file.at("k = 2")}
    for new, why in (("kernel", "is not a name"), ("a b", "is not a name"), ("", "is not a name")):
        assert why in client.answer("textDocument/rename", **at, newName=new)["error"]["message"]
    at["position"] = file.at("word = 8")
    assert "declared already" in client.answer("textDocument/rename", **at, newName="bytes")["error"]["message"]
    at["position"] = file.at("dp\n")
    assert "outside of this model" in client.answer("textDocument/prepareRename", **at)["error"]["message"]


# -- the whole file --------------------------------------------------------------------------------


def test_symbols_and_folds(file: File) -> None:
    (model,) = file.ask("documentSymbol")
    assert model["name"] == "outer"
    assert [item["name"] for item in model["children"]] == ["word", "bytes", "field", "sweep", "main"]
    assert [(fold["startLine"], fold["endLine"]) for fold in file.ask("foldingRange")] == [
        (0, 19), (9, 11), (8, 12), (7, 13), (16, 18),
    ]  # fmt: skip


def test_an_outline_reaches_from_declarations_to_their_ends(file: File) -> None:
    """A kernel to its closing brace, a parameter to the end of its line with the comment there."""
    lines = MODEL.splitlines()
    (model,) = file.ask("documentSymbol")

    def ends(item: dict[str, Any]) -> tuple[str, int, int, int, int]:
        start, end = item["range"]["start"], item["range"]["end"]
        return item["name"], start["line"], start["character"], end["line"], end["character"]

    assert ends(model) == ("outer", 0, 6, 20, 1)
    assert [ends(item) for item in model["children"]] == [
        ("word", 3, 8, 3, len("  param word = 8 B")),
        ("bytes", 4, 8, 4, len(lines[4].encode("utf-16-le")) // 2),
        ("field", 5, 7, 5, len("  data field [bytes]")),
        ("sweep", 7, 2, 14, 3),
        ("main", 16, 2, 19, 3),
    ]
    for item in (model, *model["children"]):
        name = item["selectionRange"]
        place = slice(name["start"]["character"], name["end"]["character"])
        assert lines[name["start"]["line"]][place] == item["name"]
        assert name["start"]["line"] == name["end"]["line"]


def test_formatting_is_that_of_fmt(client: Client, folder: Path) -> None:
    untidy = MODEL.replace("  param word", "     param   word").replace("call sweep(10)", "call   sweep( 10 )")
    file = File(client, folder / "untidy.aspen", untidy)
    edits = file.ask("formatting", options={"tabSize": 8, "insertSpaces": False})
    assert file.edited(edits) == MODEL
    assert len(edits) == 2  # line by line


def test_colours_are_those_of_the_words(file: File, client: Client) -> None:
    types = client.server["capabilities"]["semanticTokensProvider"]["legend"]["tokenTypes"]
    data = file.ask("semanticTokens/full")["data"]
    line = column = 0
    found = {}
    for step, begin, length, kind, _ in zip(*(data[part::5] for part in range(5)), strict=True):
        line, column = line + step, begin if step else column + begin
        place = {"start": {"line": line, "character": column}, "end": {"line": line, "character": column + length}}
        found[file.part(place)] = types[kind]
    wanted = {
        "model": "keyword",
        "flops": "property",
        "dp": "decorator",
        "sweep": "function",
        "8": "number",
        "B": "type",
    }
    assert wanted.items() <= found.items()
    assert found["// 😀 what a rank has"] == "comment"


def test_colours_of_a_part_are_those_of_its_words(file: File) -> None:
    """A range has the words that begin within it, its first and its last character included."""
    lines = file.text.split("\n")

    def words(data: list[int]) -> list[tuple[int, int, int, int]]:
        line = column = 0
        found = []
        for step, begin, length, kind, _ in zip(*(data[part::5] for part in range(5)), strict=True):
            line, column = line + step, begin if step else column + begin
            found.append((line, column, length, kind))
        return found

    whole = words(file.ask("semanticTokens/full")["data"])
    for start, end in (((3, 8), (9, 6)), ((3, 9), (9, 5)), ((0, 0), (0, 0)), ((0, 0), (20, len(lines[20])))):
        place = {name: {"line": line, "character": at} for name, (line, at) in (("start", start), ("end", end))}
        part = words(file.ask("semanticTokens/range", range=place)["data"])
        assert part == [word for word in whole if start <= word[:2] <= end]
    assert (3, 8) in {word[:2] for word in whole}
    assert (9, 6) in {word[:2] for word in whole}


def test_the_same_name_is_highlighted_in_the_file(file: File) -> None:
    """`n` where it is read, and no other name that is written alike; nothing where no name is."""
    found = file.ask("documentHighlight", "n*word")
    assert [file.part(item["range"]) for item in found] == ["n", "n", "n"]
    places = [(item["range"]["start"]["line"], item["range"]["start"]["character"]) for item in found]
    lines = file.text.split("\n")
    assert sorted(places) == [
        (2, lines[2].index("*n") + 1),
        (4, lines[4].index("n*word")),
        (9, lines[9].index("[n]") + 1),
    ]
    assert [item["range"]["start"]["line"] for item in file.ask("documentHighlight", "word = 8")] == [3, 4, 11]
    assert file.ask("documentHighlight", "{\n  include") is None


def test_what_can_be_renamed_is_the_name(file: File) -> None:
    assert file.part(file.ask("prepareRename", "word = 8")) == "word"
    assert file.part(file.ask("prepareRename", "sweep(10)", 3)) == "sweep"


def test_a_file_that_closes_has_no_diagnostics(client: Client, folder: Path) -> None:
    file = File(client, folder / "closing.aspen", "model closing {\n  param n = = 3\n}\n")
    assert file.diagnostics(lambda found: len(found) == 1)
    client.notify("textDocument/didClose", textDocument={"uri": file.uri})
    found = client._next(
        lambda message: (
            message.get("method") == "textDocument/publishDiagnostics"
            and message["params"]["uri"] == file.uri
            and not message["params"]["diagnostics"]
        )
    )
    assert found["params"]["diagnostics"] == []
    at = {"textDocument": {"uri": file.uri}, "position": {"line": 1, "character": 8}}
    assert client.request("textDocument/hover", **at) is None


def test_an_editor_may_send_the_whole_text(client: Client, folder: Path) -> None:
    file = File(
        client, folder / "replaced.aspen", "model first { param a = 2 kernel main { execute { flops [a] } } }\n"
    )
    file.diagnostics()
    file.replace("model second {\n  param b = 3\n  kernel main { execute { flops [b] } }\n}\n")
    (model,) = file.ask("documentSymbol")
    assert model["name"] == "second"
    assert [item["name"] for item in model["children"]] == ["b", "main"]


# -- what may go wrong -----------------------------------------------------------------------------


def test_what_is_not_open_or_no_file(client: Client, folder: Path) -> None:
    nowhere = {"textDocument": {"uri": "file:///nowhere.aspen"}, "position": {"line": 0, "character": 0}}
    assert client.request("textDocument/hover", **nowhere) is None
    assert client.request("textDocument/hover", **{**nowhere, "textDocument": {"uri": "nonsense"}}) is None
    client.notify("textDocument/didChange", textDocument={"uri": "x:y", "version": 2}, contentChanges=[{"text": "a"}])
    client.notify("textDocument/didClose", textDocument={"uri": "x:y"})
    text = f"model t {{\n  include {folder}/sizes.aspen\n  kernel main {{ execute {{ flops [n] }} }}\n}}\n"
    for number, uri in enumerate(("untitled:Untitled-1", "https://example.org/a%2Fb.aspen", "file:", "%00")):
        unsaved = File(client, folder / f"{number}.aspen", text, uri)
        (found,) = unsaved.diagnostics(lambda found: len(found) == 1)
        assert found["code"] == "outside", uri


STRANGE = ["", "\ufeff", "\0", "{" * 5000, '"', "model", "// " + "x" * 2_000_000, "\r\r\n\u2028 param"]


@pytest.mark.parametrize("number", range(len(STRANGE)))
def test_any_text_is_answered(client: Client, folder: Path, number: int) -> None:
    file = File(client, folder / "any.aspen", STRANGE[number], f"untitled:any{number}")
    nowhere = ({"line": 10**9, "character": 10**9}, {"line": 0, "character": 2**31 - 1}, {"line": 0, "character": 0})
    for position in nowhere:
        for method in ("hover", "completion", "definition"):
            file.ask(method, position=position)
    for method in ("documentSymbol", "foldingRange", "semanticTokens/full", "codeLens"):
        file.ask(method)
    change = {"range": {"start": nowhere[0], "end": nowhere[2]}, "text": "param n = 1\n"}
    file._change([change])
    file.ask("formatting", options={"tabSize": 2, "insertSpaces": True})


def test_positions_count_units_of_utf_16(file: File) -> None:
    """The comment behind the parameter has a character of two units before its words."""
    place = {"start": file.at("what a rank"), "end": file.at("what a rank", 4)}
    assert place["start"]["character"] == file.text.splitlines()[4].index("what a rank") + 1
    file.type("what a rank", "that a rank")
    file.diagnostics()
    assert file.ask("hover", "bytes")["contents"]["value"].count("😀 that a rank has") == 1
    file.type("that a rank", "what a rank")


@pytest.mark.parametrize(
    ("options", "machine"), [({"machine": "haswell"}, "haswell"), ({"machine": ""}, None), (None, None)]
)
def test_an_editor_may_name_the_machine_when_it_starts(folder: Path, options: object, machine: str | None) -> None:
    client = Client(folder, options=options)
    file = File(client, folder / "inner.aspen")
    file.diagnostics()
    titles = [lens["command"]["title"] for lens in file.ask("codeLens")]
    while machine and not any(machine in title for title in titles):
        client._next(lambda message: message.get("method") == "textDocument/publishDiagnostics")
        titles = [lens["command"]["title"] for lens in file.ask("codeLens")]
    assert any("haswell" in title for title in titles) is (machine is not None)
    assert client.stop() == 0


def test_another_machine_and_one_that_is_none(client: Client, file: File) -> None:
    client.notify("workspace/didChangeConfiguration", settings={"aspen": {"machine": "haswell"}})
    file.diagnostics(), file.diagnostics(lambda found: found == [])
    while not any("haswell" in lens["command"]["title"] for lens in file.ask("codeLens")):
        client._next(lambda message: message.get("method") == "textDocument/publishDiagnostics")
    client.notify("workspace/didChangeConfiguration", settings={"aspen": {"machine": "no_such"}})
    shown = client._next(lambda message: message.get("method") == "window/showMessage")
    assert "no_such" in shown["params"]["message"]
    assert "haswell" in client.request("workspace/executeCommand", command="aspen.machines")
