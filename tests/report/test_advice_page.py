"""The report of advice: well-formed, complete in itself, its links lead somewhere, and a model's text stays text."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy
import pytest

from aspenpy.advice.advise import AdviceOptions, advise_case
from aspenpy.advice.configuration import COMPONENTS
from aspenpy.answers.case import Case, case_of
from aspenpy.language.dimensions import format_quantity
from aspenpy.models.application.model import Application
from aspenpy.models.library import load_application, load_machine, parse
from aspenpy.report.advice import advice as report
from aspenpy.report.advice.document import picture_of
from aspenpy.shell.advice_options import DOCUMENTS, command_line
from aspenpy.shell.main import main
from aspenpy.tables.document import Section
from aspenpy.tables.numbers import format_ratio, format_share, seconds

HOSTILE = "</td><script>alert(1)</script>&<img src=x onerror=alert(1)>`|$x_"
APPLICATION = f"""model work {{
  param n = 1e9
  kernel main {{
    execute [8] "{HOSTILE}" {{ flops [n] as dp  loads [n] }}
  }}
}}"""
VOID = {"meta", "br", "img", "link"}


class Page(HTMLParser):
    """The tags, identifiers and links of a page; refuses tags that do not nest. `cells` are those of tables: whether
    they hold numbers, their links, and the words outside of links; `said` are such words of sentences and lists, by the
    section that they stand in."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.linked: list[str] = []
        self.cells: list[tuple[str, bool, list[str], str]] = []
        self.said: list[tuple[str, str]] = []
        self.section = ""
        self.text = ""
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.open += [] if tag in VOID else [tag]
        known = dict(attrs)
        for name, value in attrs:
            assert not name.startswith("on")
            assert name != "id" or re.fullmatch(r"[A-Za-z][\w.-]*", value or ""), "an identifier has no blanks"
            self.ids += [value or ""] if name == "id" else []
            self.links += [value or ""] if name in ("href", "xlink:href", "src") else []
        if tag == "h2":
            self.section = known.get("id") or ""
        if tag == "td":
            self.cells.append((self.section, known.get("class") == "n", [], ""))
        if tag in ("li", "p"):
            self.said.append((self.section, ""))
        if tag == "a" and "td" in self.open:
            self.cells[-1][2].append(known.get("href") or "")
        if tag == "a":
            self.linked.append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data
        if "a" in self.open:
            self.linked[-1] += data
        elif "td" in self.open:
            self.cells[-1] = (*self.cells[-1][:3], self.cells[-1][3] + data)
        elif {"li", "p"} & {*self.open} and "code" not in self.open:
            self.said[-1] = (self.said[-1][0], self.said[-1][1] + data)


APPENDIX = ("formulas", "command")  # what numbers lead to
QUANTITY = re.compile(r"\d\S* ?(%|s|ms|us|ns|min|J|kJ|mJ|W|kW|[GM]Hz|[kMGT]?B/s|nodes?)(?!\w)|\bx \d")
SAID = ("95 %", "with x 2")  # of intervals, in what a formula says


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The report of a model with hostile text and of measured runs, in each form, and the command's own."""
    folder = tmp_path_factory.mktemp("advice")
    (folder / "work.aspen").write_text(APPLICATION, encoding="utf-8")
    draws = numpy.random.default_rng(1).random((12, 3))
    rows = [f"{5 + 3 * a + b},{90 + 9 * b},{a},{b},{c},{a + b}" for a, b, c in draws.tolist()]
    (folder / "runs.csv").write_text(
        "\n".join(["runtime,energy,instructions,CAS_COUNT_RD,L3CACHE,cycles", *rows]), encoding="utf-8"
    )
    words = ["advise", str(folder / "work.aspen"), "--machine", "haswell", "--vary", "clock,memory_bandwidth"]
    words += ["--counters", str(folder / "runs.csv"), "--most-nodes", "8"]
    assert main([*words, "-o", str(folder / "report.md")]) == 0
    case = case_of(load_application(str(folder / "work.aspen")), load_machine("haswell"), {})
    options = AdviceOptions(("clock", "memory_bandwidth"), nodes=8, counters=folder / "runs.csv")
    found, command = advise_case(case, options), command_line([*words, "-o", str(folder / "report.md")])
    return {suffix: write(found, command) for suffix, write in DOCUMENTS.items()} | {
        "command": (folder / "report.md").read_text(encoding="utf-8")
    }


def test_counters_on_the_terminal_have_the_shares_of_the_data(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Shares add up to one, and a counter that explains nothing has an empty cell."""
    draws = numpy.random.default_rng(1).random((12, 3))
    rows = [f"{5 + 3 * a + b},{a},{b},{c},{a + b}" for a, b, c in draws.tolist()]
    (tmp_path / "runs.csv").write_text("\n".join(["runtime,instructions,CAS_COUNT_RD,L3CACHE,cycles", *rows]), "utf-8")
    assert main(["advise", "significance", "stream", "--machine", "haswell", "--counters", f"{tmp_path}/runs.csv"]) == 0
    table = capsys.readouterr().out.partition("counter of runtime")[2].partition("regression")[0].splitlines()
    shares = {line.split()[0]: re.findall(r"(\d+\.\d) %", line) for line in table[2:] if line}
    assert [name for name, share in shares.items() if not share] == ["CAS_COUNT_RD", "L3CACHE"]
    assert [name for name, share in shares.items() if share] == ["instructions", "cycles"]
    assert sum(float(share) for each in shares.values() for share in each) == pytest.approx(100)


def test_every_number_leads_to_its_formula(written: dict[str, str]) -> None:
    """Cells of numbers hold a link, whose target is there; no quantity stands outside of one, but in the appendix."""
    page = Page(written[".html"])
    before = [cell for cell in page.cells if cell[0] not in APPENDIX]
    assert len(before) > 100
    for section, number, links, text in before:
        assert all(link.removeprefix("#") in page.ids for link in links)
        if number and (links or text):
            assert links, (section, text)
            assert text == "", (section, text)
    for section, text in [*((section, text) for section, _, _, text in before), *page.said]:
        if section not in (*APPENDIX, "") and not any(said in text for said in SAID):
            assert QUANTITY.search(text) is None, (section, text)


def test_all_forms_say_the_same_numbers(written: dict[str, str]) -> None:
    """What leads somewhere in HTML does so in Markdown, with the same words; these are the numbers of the JSON."""
    page = Page(written[".html"])
    marked = [re.sub(r"\\(.)", r"\1", text) for text in re.findall(r"(?<!\\)\[((?:\\.|[^]\\])*)\]\(#", written[".md"])]
    linked = [text for text in page.linked if text in {*marked}]
    assert linked == marked
    data, told = json.loads(written[".json"]), {*marked}
    steps = ("classify", "significance", "configure", "decide", "throttle", "uncertainty")
    assert [name for name in data if name in steps] == [*steps]
    expected = [seconds(row["time"]) for row in data["classify"]["classifications"]]
    expected += [format_quantity(row["energy"], "J") for row in data["classify"]["classifications"]]
    expected += [
        format_share(row["share"]) for row in data["significance"]["significances"] if row["evidence"] == "counters"
    ]
    expected += [format_share(row["share"]) for row in data["significance"]["counters"] if row["share"]]
    singles = [
        row for row in data["configure"]["effects"] if len(row["components"]) == 1 and row["metric"] == "runtime"
    ]
    expected += [f"{seconds(row['least'])} to {seconds(row['most'])}" for row in singles]
    expected += [seconds(row["capped_runtime"]) for row in data["configure"]["near_optimal"]]
    expected += [seconds(row["capped_runtime"]) for row in data["decide"]["decisions"]]
    lost = [row for row in data["throttle"]["restrictions"] if round(row["left"], 6) in (0.9, 0.7, 0.5, 0.3)]
    expected += [f"x {format_ratio(row['loss'])}" for row in lost]
    total = data["uncertainty"]["total_runtime"]
    expected.append(f"{format_quantity(total['low'], 's')} to {format_quantity(total['high'], 's')}")
    expected += [format_share(row["median"]) for row in data["uncertainty"]["claims"]]
    assert {*expected} <= told, {*expected} - told


def test_the_picture_of_pairs_has_the_numbers_of_the_data(written: dict[str, str]) -> None:
    """The SVG's text, cell by cell, in percent of the largest effect of each metric."""
    data = json.loads(written[".json"])["configure"]["effects"]
    drawn = Page(written[".html"]).text
    for metric in ("runtime", "energy"):
        effects = {frozenset(row["components"]): row for row in data if row["metric"] == metric}
        singles = sorted(
            (row for row in effects.values() if len(row["components"]) == 1), key=lambda it: -it["sensitivity"]
        )
        names = [row["components"][0] for row in singles]
        largest = max(row["sensitivity"] for row in effects.values())
        percents = [f"{100 * effects[frozenset((a, b))]['sensitivity'] / largest:.0f}" for a in names for b in names]
        heading = f"{metric}: % of largest sensitivity"
        before = drawn[: drawn.index(heading)].split()
        assert before[-len(percents) :] == percents


def test_the_page_is_one_file_without_scripts(written: dict[str, str]) -> None:
    page = Page(written[".html"])
    assert "script" not in page.tags
    assert "img" not in page.tags
    assert HOSTILE in " ".join(page.text.split())
    assert all(link.startswith(("#", "data:image/png;base64,")) for link in page.links)


def test_formulas_are_folded_and_assumptions_first(written: dict[str, str]) -> None:
    """The appendix opens when it is asked for; only formulas to which the page leads are in it."""
    text = written[".html"]
    inside = text[text.index("<details>") : text.index("</details>")]
    assert text.count("<details>") == text.count("</details>") == 1
    assert '<h2 id="formulas">' in inside
    assert text.index('id="short"') < text.index('id="assumed"') < text.index('id="bound"') < text.index("<details>")
    formulas = {*re.findall(r'id="(formula-[^"]+)"', inside)}
    assert formulas == {*re.findall(r'href="#(formula-[^"]+)"', text)}


def test_links_lead_to_places_that_are_there_once(written: dict[str, str]) -> None:
    page = Page(written[".html"])
    assert len(page.ids) == len({*page.ids})
    assert {link.removeprefix("#") for link in page.links if link.startswith("#")} <= {*page.ids}


def test_links_of_markdown_lead_somewhere(written: dict[str, str]) -> None:
    text = written[".md"]
    targets = {*re.findall(r'<a id="([^"]+)"></a>', text)}
    assert {*re.findall(r"\]\(#([^)]+)\)", text)} <= targets
    outside = re.sub(r"(`+).*?\1", "", re.sub(r"```.*?```", "", text, flags=re.DOTALL))
    assert re.findall(r"(?<!\\)<(?!a id=|/a>)", outside) == []


def test_the_command_in_it_makes_it(written: dict[str, str]) -> None:
    """What the command wrote is what is written of the same advice in Python, the command with it."""
    assert written["command"] == written[".md"]
    assert (
        json.loads(written[".json"])["command"] == written[".md"].rpartition("```\n")[0].rpartition("```\n")[2].strip()
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-o", "report.docx"], "cannot write `report.docx`: the name of a report ends with .html, .md, .json"),
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


@pytest.mark.parametrize(("most", "left_out"), [(2, 2), (3, 1), (4, 0), (5, 0)])
def test_shorter_kernels_are_left_out_beyond_a_limit(most: int, left_out: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four kernels, the longest first."""
    monkeypatch.setattr(report, "MOST_KERNELS", most)
    kernels = "".join(f"kernel k{k} {{ execute [8] {{ flops [{k}e9] as dp }} }} " for k in range(1, 4))
    text = f"model work {{ {kernels} kernel main {{ execute [8] {{ flops [4e9] as dp }} call k1 call k2 call k3 }} }}"
    application = parse(text)
    assert isinstance(application, Application)
    blocks = report._kernels(advise_case(Case(application, load_machine("haswell"))))
    shown = [block.title for block in blocks if isinstance(block, Section) and block.level == 3]
    assert shown == ["main", "k3", "k2", "k1"][:most]
    said = " ".join(str(block) for block in blocks)
    assert ("shorter kernels are left out" in said) is (left_out > 0)
    assert (f"{left_out} shorter kernels" in said) is (left_out > 0)


def test_pictures_are_drawn_where_matplotlib_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    for installed in (True, False):
        monkeypatch.setattr("importlib.util.find_spec", lambda name, found=installed: object() if found else None)
        assert len(picture_of(str, 5, "five")) == installed


def test_another_part_is_named_in_the_document(tmp_path: Path) -> None:
    """The parts that go through, the one that is there, and the best one, of which the command's own rows are read."""
    page, data = tmp_path / "a.md", tmp_path / "a.json"
    for file in (page, data):
        words = ["advise", "comd", "--machine", "haswell", "--vary", "memory_kind=ddr4_2133,ddr5_4800_12_channels"]
        assert main([*words, "-o", str(file)]) == 0
    rows = json.loads(data.read_text(encoding="utf-8"))["configure"]["near_optimal"]
    best = {row["objective"]: row["values"]["memory_kind"] for row in rows}
    assert best["runtime"] == "ddr5_4800_12_channels"
    text = page.read_text(encoding="utf-8").replace("\\", "")
    assert "| kind of memory | [ddr4_2133, ddr5_4800_12_channels](#components) | [ddr4_2133](#components) |" in text
    assert "| the shortest runtime | [kind of memory ddr5_4800_12_channels](#components) |" in text


@pytest.mark.parametrize(
    ("sensitivities", "named"),
    [
        ((0.0, 0.0, 0.0), ["clock"]),  # the first in any case
        ((9e-4, 9e-4, 9e-4), ["clock"]),
        ((0.5, 1e-3, 9e-4), ["clock", "cores"]),
        ((0.5, 9e-4, 0.0), ["clock"]),
        ((0.5, 0.4, 0.3, 0.2), ["clock", "cores", "smt"]),  # three at most
        ((0.5,), ["clock"]),
    ],
)
def test_components_that_change_the_runtime_most(sensitivities: tuple[float, ...], named: list[str]) -> None:
    names = ("clock", "cores", "smt", "simd_width")
    singles = [
        SimpleNamespace(parameters=(name,), sensitivity=value, least=1.0, most=2.0)
        for name, value in zip(names, sensitivities, strict=False)
    ]
    said = report._describe_significant(SimpleNamespace(runtime_effects=SimpleNamespace(singles=singles)))  # type: ignore[arg-type]
    titles = {COMPONENTS[name].title: name for name in names}
    assert [titles[part] for part in said if part in titles] == named


@pytest.mark.parametrize(
    ("runtime", "energy", "said"),
    [
        (3.0, 12.0, "it takes 3 s (25.0 % less) and consumes 12 J (20.0 % more)."),
        (5.0, 8.0, "it takes 5 s (25.0 % more) and consumes 8 J (20.0 % less)."),
        (4.002, 10.0, "it takes 4 s (the same) and consumes 10 J (the same)."),  # half a thousandth
        (4.004, 10.0, "it takes 4 s (0.1 % more) and consumes 10 J (the same)."),
        (3.0, None, "it takes 3 s (25.0 % less)."),
    ],
)
def test_by_how_much_the_best_change_is_better(
    runtime: float, energy: float | None, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Than 4 s and 10 J."""
    monkeypatch.setattr(report, "changed_components", lambda advice, item: "more cores")
    advice: Any = SimpleNamespace(base=SimpleNamespace(runtime=4.0, energy=10.0))
    item: Any = SimpleNamespace(objective="runtime", outcome=SimpleNamespace(runtime=runtime, energy=energy))
    words = "".join(part if isinstance(part, str) else part.text for part in report._best(advice, item))
    assert words.partition("; ")[2] == said
    advice.base.energy = None
    assert "consumes" not in "".join(part for part in report._best(advice, item) if isinstance(part, str))


def test_what_bounds_a_run_most_of_the_time() -> None:
    shares = [("memory", 0.5, 0.2), ("arithmetic", 0.25, 0.3), ("memory", 0.125, 0.1)]
    whole: Any = SimpleNamespace(
        bound="memory",
        energy_bound="arithmetic",
        shares=[SimpleNamespace(bound=bound, time=time, energy=energy) for bound, time, energy in shares],
    )
    whole.shares.append(SimpleNamespace(bound="arithmetic", time=0.125, energy=None))
    found = report._describe_bound(SimpleNamespace(classifications=[whole]))  # type: ignore[arg-type]
    assert [part.text for part in found if not isinstance(part, str)] == ["62.5 %", "30.0 %"]
