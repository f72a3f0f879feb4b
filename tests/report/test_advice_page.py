"""The report of advice: well-formed, complete in itself, its links lead somewhere, and a model's text stays text."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from aspenpy.shell.main import main

HOSTILE = "</td><script>alert(1)</script>&<img src=x onerror=alert(1)>`|$x_"
APPLICATION = f"""model work {{
  param n = 1e9
  kernel main {{
    execute [8] "{HOSTILE}" {{ flops [n] as dp  loads [n] }}
  }}
}}"""
VOID = {"meta", "br", "img", "link"}


class Page(HTMLParser):
    """The tags, identifiers and links of a page; refuses tags that do not nest."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.text = ""
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.open += [] if tag in VOID else [tag]
        for name, value in attrs:
            assert not name.startswith("on")
            self.ids += [value or ""] if name == "id" else []
            self.links += [value or ""] if name in ("href", "xlink:href", "src") else []

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The report of a model with hostile text, in both forms."""
    folder = tmp_path_factory.mktemp("advice")
    (folder / "work.aspen").write_text(APPLICATION)
    found = {}
    for name in ("report.html", "report.md"):
        line = ["advise", str(folder / "work.aspen"), "--machine", "haswell", "--vary", "clock,memory_bandwidth"]
        assert main([*line, "-o", str(folder / name)]) == 0
        found[name] = (folder / name).read_text()
    return found


def test_the_page_is_one_file_without_scripts(written: dict[str, str]) -> None:
    page = Page(written["report.html"])
    assert "script" not in page.tags
    assert "img" not in page.tags
    assert HOSTILE in " ".join(page.text.split())
    assert all(link.startswith(("#", "data:image/png;base64,")) for link in page.links)


def test_links_lead_to_places_that_are_there_once(written: dict[str, str]) -> None:
    page = Page(written["report.html"])
    assert len(page.ids) == len({*page.ids})
    assert {link.removeprefix("#") for link in page.links if link.startswith("#")} <= {*page.ids}


def test_links_of_markdown_lead_somewhere(written: dict[str, str]) -> None:
    text = written["report.md"]
    targets = {*re.findall(r'<a id="([^"]+)"></a>', text)}
    assert {*re.findall(r"\]\(#([^)]+)\)", text)} <= targets
    outside = re.sub(r"(`+).*?\1", "", re.sub(r"```.*?```", "", text, flags=re.DOTALL))
    assert re.findall(r"(?<!\\)<(?!a id=|/a>)", outside) == []


def test_the_command_in_it_makes_it_again(written: dict[str, str], tmp_path: Path) -> None:
    import shlex

    line = shlex.split(written["report.md"].rpartition("```\naspenpy ")[2].partition("\n")[0])
    assert main([*line[:-1], str(tmp_path / "again.md")]) == 0
    again = (tmp_path / "again.md").read_text()
    assert again.partition("The same again")[0] == written["report.md"].partition("The same again")[0]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-o", "report.docx"], "cannot write `report.docx`: the name of a report ends with .html, .md"),
        (["-o", "nowhere/report.md"], "nowhere"),
        (["-o", "report.md", "--uncertain", "clock=2"], "--uncertain: expected a number from 0 to below 1, not `2`"),
        (["-o", "report.md", "--error", "-1"], "--error: expected a number from 0 on, not -1"),
        (["--budget", "energy=2 W"], "--budget: expected joules"),
        (["--budget", "heat=2"], "--budget: expected energy, power, time, money, not `heat`"),
    ],
)
def test_refusals(capsys: pytest.CaptureFixture[str], words: list[str], message: str) -> None:
    assert main(["advise", "stream", "--machine", "haswell", *words]) == 2
    assert message in capsys.readouterr().err
