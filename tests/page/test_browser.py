"""The page in a headless browser: what it shows, what it refuses, and that a keyboard is enough."""

import csv
import io
import shutil

import pytest

import aspenpy
from aspenpy.answers.case import Case
from aspenpy.page.what_if import WhatIf

playwright = pytest.importorskip("playwright.sync_api", reason="the Python package playwright is not installed")
BROWSER = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
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
        ("hostile", aspenpy.parse(HOSTILE, f"{SCRIPT}.aspen"), 1),
    ):
        page = WhatIf([Case(app, machine) for machine in machines[:count]])
        (folder / f"{name}.html").write_text(page.html, encoding="utf-8")
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
    playwright.expect(page.get_by_role("status")).to_contain_text("bound by flops on haswell_core")


def test_an_update_of_lulesh_is_shorter_than_a_frame(shown):
    page = shown("lulesh")
    page.locator("#input-0-slider").focus()
    spent = []
    for _ in range(15):
        page.keyboard.press("ArrowRight")
        spent.append(float(page.evaluate("document.documentElement.dataset.milliseconds")))
    assert min(spent) < 16  # others use the machine as well


def test_link_and_baseline_come_back(shown):
    page = shown("stream", "#n=2000000&pinned=1&axis=n")
    assert page.locator("#input-0").input_value() == "2000000"
    assert "times as fast as the baseline" in page.locator(".card").first.inner_text()
    assert page.locator("path.pinned").count() == 2
    page.get_by_role("button", name="Reset").click()
    page.get_by_role("button", name="Remove baseline").click()
    page.get_by_role("button", name="Copy link").click()
    assert page.get_by_label("Link to this state").input_value().endswith("#")


def test_csv_has_parameters_totals_and_kernels(shown):
    page = shown("stream")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download CSV").click()
    rows = list(csv.DictReader(io.StringIO(waiting.value.path().read_text())))
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


def test_the_file_is_small_and_its_policy_strict(files):
    text = (files / "lulesh.html").read_text(encoding="utf-8")
    assert len(text.encode()) < 1.5e6
    policy = text.partition('http-equiv="Content-Security-Policy" content="')[2].partition('"')[0]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    assert "http:" not in text.replace("http://www.w3.org/2000/svg", "")
    assert "innerHTML" not in text
