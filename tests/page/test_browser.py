"""The page in a headless browser: what it shows, what it refuses, and that a keyboard is enough."""

import csv
import io
import re
from pathlib import Path

import pytest

import aspenpy
from aspenpy.answers.case import Case
from aspenpy.language.dimensions import format_quantity
from aspenpy.page.what_if import WhatIf
from tests.chromium import BROWSER
from tests.timing import slowness

playwright = pytest.importorskip("playwright.sync_api", reason="the Python package playwright is not installed")
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine")

SCRIPT = "</script><script>window.harmed = 1</script>"
HOSTILE = f"""\
model hostile {{
  param n = 1000 in 1 .. 1000000 // {SCRIPT} <img src=x onerror="window.harmed = 1">
  kernel main {{
    execute [n] "{SCRIPT}" {{
      flops [2*n]
      loads [16*n]
    }}
  }}
}}
"""


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    machines = [aspenpy.load_machine(name) for name in ("haswell", "cori_haswell")]
    for name, app, count in (
        ("lulesh", aspenpy.load_application("lulesh"), 1),
        ("stream", aspenpy.load_application("stream"), 2),
        ("cg", aspenpy.load_application("cg"), 1),
        ("hostile", aspenpy.parse(HOSTILE, f"{SCRIPT}.aspen"), 1),
    ):
        page = WhatIf([Case(app, machine) for machine in machines[:count]])
        (folder / f"{name}.html").write_text(page.html, encoding="utf-8")
    training = {**aspenpy.read_network("llama3_8b"), "sequence": 8192, "ranks": 8, "h100_boards": 8, "batch": 64}
    case = Case(aspenpy.load_application("transformer_training"), aspenpy.load_machine("h100"), set=training)
    page = WhatIf([case], ("tensor", "micro_batch", "sharding"))
    (folder / "training.html").write_text(page.html, encoding="utf-8")
    return folder


@pytest.fixture
def shown(browser, files):
    """Opens a page; what the console complains of, and each request but the file's own, fails the test."""
    contexts = []

    def show(name, link="", **options):
        context = browser.new_context(**options)
        page = context.new_page()
        contexts.append((context, page, complaints := []))
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: request.url.startswith("file:") or complaints.append(request.url))
        page.goto((files / f"{name}.html").as_uri() + link)
        return page

    yield show
    for context, _, complaints in contexts:
        context.close()
        assert complaints == []


def test_a_notebook_shows_the_page_with_its_sliders(browser):
    cases = [Case(aspenpy.load_application("stream"), aspenpy.load_machine("haswell"))]
    page = browser.new_page()
    complaints = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.set_content(f"<p>Out[1]:</p>{WhatIf(cases)._repr_html_()}")
    page.evaluate("addEventListener('message', ({ data }) => { window.told = data.aspenpy; })")
    shown = page.frame_locator("iframe")
    before = shown.get_by_role("status").inner_text()
    shown.get_by_role("slider").first.press("ArrowRight")
    playwright.expect(shown.get_by_role("status")).not_to_have_text(before)
    page.wait_for_function("window.told && window.told.n !== 1e7")  # n is the first
    told = page.evaluate("window.told")
    assert aspenpy.predict(cases[0].application, cases[0].machine, set=told).runtime > 0
    page.wait_for_timeout(500)  # what keeps the link waits 0.3 s
    assert complaints == []
    page.close()


def test_the_keyboard_moves_a_slider_and_every_number_with_it(shown):
    """Twice the steps take twice as long: 22.5 s and 44.9 s for LULESH; the role status says so to a screen reader."""
    page = shown("lulesh")
    large = page.locator(".large").first
    assert large.inner_text() == "22.5 s"
    page.get_by_label("steps", exact=True).and_(page.locator("[type=text]")).fill("1864")
    page.keyboard.press("Tab")
    assert large.inner_text() == "44.9 s"
    slider = page.locator("#input-0-slider")
    assert slider.get_attribute("aria-labelledby") == "input-0-label"
    before = page.locator("#input-0").input_value()
    assert page.evaluate("document.activeElement.type") == "range"
    slider.focus()
    page.keyboard.press("ArrowRight")
    assert int(page.locator("#input-0").input_value()) > int(before)
    playwright.expect(page.get_by_role("status")).to_contain_text("haswell: ")
    playwright.expect(page.get_by_role("status")).to_contain_text("flops on haswell_core")


def test_an_update_of_lulesh_is_shorter_than_a_frame(shown):
    page = shown("lulesh")
    page.locator("#input-0-slider").focus()

    def update() -> float:
        page.keyboard.press("ArrowRight")
        return float(page.evaluate("document.documentElement.dataset.milliseconds"))

    frame = 16 * slowness()
    assert any(update() < frame for _ in range(40))  # others use the machine as well


def test_link_and_baseline_come_back(shown):
    page = shown("stream", "#n=2000000&pinned=1&axis=n")
    assert page.locator("#input-0").input_value() == "2000000"
    assert "times as fast as the baseline" in page.locator(".card").first.inner_text()
    assert page.locator("path.pinned").count() == 2
    page.get_by_role("button", name="Reset").click()
    page.get_by_role("button", name="Remove baseline").click()
    page.get_by_role("button", name="Copy link").click()
    assert page.get_by_label("Link to this state").input_value().endswith("#")


def test_names_are_points_and_the_first_curve_is_over_a_number(shown):
    """Between two classes there is no third."""
    page = shown("cg")
    axis = page.locator("#axis")
    assert axis.input_value() == "inner_iterations"
    assert page.locator("#curve path.line").count() == 1
    axis.select_option("class")
    assert page.locator("#curve path.line").count() == 0
    assert page.locator("#curve circle.other").count() == len("SWABCDE")
    assert page.locator("#curve .frame text").all_text_contents()[:7] == list("SWABCDE")


def csv_of(page):
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download CSV").click()
    return waiting.value.path().read_text(encoding="utf-8")


def test_a_link_opens_to_the_same_numbers_and_the_csv_has_those_shown(shown):
    page = shown("stream")
    for _ in range(3):
        page.locator("#input-0-slider").press("ArrowRight")
    page.get_by_role("button", name="Pin as baseline").click()
    page.locator("#input-0-slider").press("ArrowRight")
    page.get_by_role("button", name="Copy link").click()
    link = page.get_by_label("Link to this state").input_value()
    again = shown("stream", "#" + link.partition("#")[2])
    assert csv_of(again) == csv_of(page)
    assert again.locator(".card").all_inner_texts() == page.locator(".card").all_inner_texts()
    rows = list(csv.DictReader(io.StringIO(csv_of(page))))
    runtimes = [format_quantity(float(row["value"]), "s") for row in rows if row["quantity"] == "runtime"]
    assert page.locator(".large").all_inner_texts() == runtimes


def test_an_enum_is_chosen_by_name_and_the_link_holds_it(shown):
    page = shown("cg", "#class=B&axis=class")
    chosen = page.get_by_label("class", exact=True)
    assert chosen.evaluate("list => [list.tagName, list.value]") == ["SELECT", "B"]
    before = page.locator(".large").inner_text()
    run = aspenpy.predict(aspenpy.load_application("cg"), aspenpy.load_machine("haswell"), set={"class": "B"})
    assert before == format_quantity(run.runtime, "s")
    chosen.focus()
    page.keyboard.press("ArrowDown")
    assert page.locator(".large").inner_text() != before
    assert "C" in page.locator("#curve svg").text_content()
    page.get_by_role("button", name="Copy link").click()
    assert page.get_by_label("Link to this state").input_value().endswith("#class=C&axis=class")


ACCESSIBILITY = """
() => {
  const shown = (node) => node.getClientRects().length > 0, faults = [];
  const name = (node) => node.getAttribute("aria-label") || (node.getAttribute("aria-labelledby") || "").split(" ")
    .map((id) => (document.getElementById(id) || { textContent: "" }).textContent).join("")
    || [...(node.labels || [])].map((label) => label.textContent).join("") || node.textContent;
  for (const node of document.querySelectorAll("input, select, button, [role=region], [role=img], form"))
    if (shown(node) && !name(node).trim()) faults.push(`no name: ${node.outerHTML.slice(0, 80)}`);
  const ids = [...document.querySelectorAll("[id]")].map((node) => node.id);
  if (new Set(ids).size < ids.length) faults.push("an id twice");
  const regions = [...document.querySelectorAll("section, [role=region]")].map(name);
  if (new Set(regions).size < regions.length) faults.push("two regions of one name");
  const levels = [...document.querySelectorAll("h1, h2, h3, h4")].filter(shown).map((node) => Number(node.tagName[1]));
  levels.forEach((level, at) => { if (at && level > levels[at - 1] + 1) faults.push(`heading ${level} too deep`); });
  if (document.documentElement.scrollWidth > innerWidth) faults.push("scrolls sideways");
  return faults;
}
"""
"""WCAG 2.2: 1.1.1 and 4.1.2 (names), 1.3.1 (headings, regions), 1.4.10 (reflow)."""


@pytest.mark.parametrize("width", [375, 1200])
def test_a_screen_reader_finds_names_headings_and_regions(shown, width):
    page = shown("stream", viewport={"width": width, "height": 740})
    page.get_by_role("button", name="triad").click()
    assert page.evaluate(ACCESSIBILITY) == []


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_text_has_contrast(scheme):
    """WCAG 2.2, 1.4.3: 4.5 between text and what it stands on; 1.4.11: 3 for lines of machines."""
    style = (Path(aspenpy.__file__).parent / "page/files/page.css").read_text(encoding="utf-8")
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", style.split("prefers-color-scheme: dark")[scheme]))

    def luminance(name):
        parts = [int(colours[name][at : at + 2], 16) / 255 for at in (1, 3, 5)]
        red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    def contrast(one, other):
        low, high = sorted((luminance(one), luminance(other)))
        return (high + 0.05) / (low + 0.05)

    assert all(contrast(text, ground) >= 4.5 for text in ("text", "faint", "accent") for ground in ("back", "card"))
    assert all(contrast(f"machine-{number}", "back") >= 3 for number in (1, 2, 3, 4))


def test_csv_has_parameters_totals_and_kernels(shown):
    page = shown("stream")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download CSV").click()
    rows = list(csv.DictReader(io.StringIO(waiting.value.path().read_text(encoding="utf-8"))))
    runtimes = {row["machine"]: float(row["value"]) for row in rows if row["quantity"] == "runtime"}
    app = aspenpy.load_application("stream")
    for name, seconds in runtimes.items():
        assert seconds == pytest.approx(aspenpy.predict(app, aspenpy.load_machine(name)).runtime, rel=1e-12)
    assert set(runtimes) == {"haswell", "cori_haswell"}
    assert {"triad", "copy"} <= {row["kernel"] for row in rows}


def test_a_kernel_opens_to_its_line_and_formula(shown):
    page = shown("stream")
    button = page.get_by_role("button", name="triad")
    assert button.get_attribute("aria-expanded") == "false"
    button.press("Enter")
    assert button.get_attribute("aria-expanded") == "true"
    told = page.locator("tr.detail:visible").inner_text()
    assert "loads [" in told
    assert "apps/stream.aspen:" in told


def test_text_of_a_model_is_text(shown):
    page = shown("hostile")
    page.get_by_role("button", name="main").click()
    assert SCRIPT in page.locator("tr.detail:visible").inner_text()
    assert page.evaluate("window.harmed === undefined")
    assert page.locator("script").count() == 2


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_follow_the_reader(shown, scheme):
    page = shown("stream", color_scheme=scheme)
    colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (colour == "rgb(255, 255, 255)") == (scheme == "light")


def test_a_phone_needs_no_sideways_scrolling(shown):
    page = shown("stream", viewport={"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") == 360


def test_no_roof_leaves_its_frame(shown):
    """Every line of a roofline begins and ends within the axes, whose lowest line of the grid is the lower edge."""
    page = shown("lulesh", "#haswell_clock=1.2e9")
    both = "lines => lines.flatMap((line) => ['y1', 'y2'].map((end) => Number(line.getAttribute(end))))"
    ends = page.locator("#roofline .roof").evaluate_all(both)
    low = max(page.locator("#roofline .grid").evaluate_all(both))
    assert ends
    assert min(ends) > 27
    assert max(ends) <= low + 1e-6


def test_bars_of_memory_move_with_the_sliders(shown):
    """Two sequences at once have twice the activations, which do not fit: the bar of all says so."""
    page = shown("training", viewport={"width": 390, "height": 900}, color_scheme="dark")
    memory = page.locator("#memory")
    rows = {row.split()[0]: row.split()[-2:] for row in memory.locator("tbody tr").all_inner_texts()}
    assert rows["activation"] == ["45.6", "%"]
    assert "fit." in memory.inner_text()
    assert memory.locator(".full").count() == 0
    page.get_by_label("micro_batch", exact=True).and_(page.locator("[type=text]")).fill("2")
    page.keyboard.press("Tab")
    rows = {row.split()[0]: row.split()[-2:] for row in memory.locator("tbody tr").all_inner_texts()}
    assert rows["activation"] == ["91.3", "%"]
    assert "do not fit" in memory.inner_text()
    assert memory.locator(".full").count() == 1
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_the_file_is_small_and_its_policy_strict(files):
    text = (files / "lulesh.html").read_text(encoding="utf-8")
    assert len(text.encode()) < 1.5e6
    policy = text.partition('http-equiv="Content-Security-Policy" content="')[2].partition('"')[0]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    assert "http:" not in text.replace("http://www.w3.org/2000/svg", "")
    assert "innerHTML" not in text


def test_fields_take_expressions_and_say_no_value_once(shown):
    """932*2 steps take twice as long, an expression with another parameter too; apples are marked; and of ranks beyond
    the machine there is one `no value`."""
    page = shown("lulesh")
    large = page.locator(".large").first
    field = page.get_by_label("steps", exact=True).and_(page.locator("[type=text]"))
    for text, runtime in (("932*2", "44.9 s"), ("932", "22.5 s"), ("(steps + 932)", "44.9 s")):
        field.fill(text)
        page.keyboard.press("Tab")
        assert large.inner_text() == runtime
    field.fill("3 apples")
    page.keyboard.press("Tab")
    assert large.inner_text() == "44.9 s"
    shown_reason = page.locator("#" + field.get_attribute("aria-describedby").split()[1])
    assert shown_reason.inner_text().startswith("expected a number without a unit")
    field.fill("932")
    page.keyboard.press("Tab")
    assert shown_reason.inner_text() == ""
    page.get_by_label("ranks", exact=True).and_(page.locator("[type=text]")).fill("1e9")
    page.keyboard.press("Tab")
    assert page.locator("#summary").inner_text().count("no value") == 1
