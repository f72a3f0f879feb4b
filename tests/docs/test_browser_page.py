"""The page that runs aspenpy in a browser: its first answer, its mistakes, its pages, and the keyboard, in Chromium."""

import shutil
import subprocess
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import aspenpy
from tests.chromium import BROWSER

playwright = pytest.importorskip("playwright.sync_api", reason="the Python package playwright is not installed")
pytestmark = [
    pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine"),
    pytest.mark.skipif(shutil.which("npm") is None, reason="no npm on this machine, which fetches Pyodide"),
]
ROOT = Path(__file__).parents[2]
PATIENCE_MS = 180_000  # of a busy machine


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *words):
        pass


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("browser")
    subprocess.run([sys.executable, "docs/_extensions/browser_page.py", folder], cwd=ROOT, check=True)
    if not (folder / "pyodide").is_dir():
        pytest.skip("npm cannot fetch Pyodide here")
    Quiet.extensions_map[".mjs"] = "text/javascript"
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/index.html"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def page(address):
    """The page when it is ready; what leaves this machine, and each error of its own, fails the last test."""
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        page = opened.new_page()
        page.errors = []
        page.on("pageerror", lambda error: page.errors.append(str(error)))
        page.goto(address)
        playwright.expect(page.get_by_role("status")).to_have_text("Ready.", timeout=PATIENCE_MS)
        yield page
        opened.close()


def run(page, line):
    page.get_by_label("aspenpy", exact=True).fill(line)
    page.get_by_role("button", name="Run", exact=True).click()
    playwright.expect(page.get_by_role("button", name="Run", exact=True)).to_be_enabled(timeout=PATIENCE_MS)
    return page.locator("#output").inner_text()


def test_the_library_gives_the_numbers_that_it_gives_here(page):
    told = run(page, "eval comd --machine haswell --color never")
    here = subprocess.run(
        [sys.executable, "-m", "aspenpy", "eval", "comd", "--machine", "haswell"],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    assert [line.split() for line in told.splitlines() if line.strip()] == [
        line.split() for line in here.stdout.splitlines() if line.strip()
    ]


def test_the_buttons_answer_for_the_model_in_the_editor(page):
    for name, words in (("Predict", "app on epyc_9654: main takes"), ("Explain", "in all"), ("Formula", "steps*")):
        page.get_by_role("button", name=name, exact=True).click()
        playwright.expect(page.get_by_role("status")).to_contain_text("Done in", timeout=PATIENCE_MS)
        assert words in page.locator("#output").inner_text(), name


def test_a_mistake_in_the_editor_has_its_place(page):
    editor = page.get_by_label("Text of the model")
    correct = editor.input_value()
    editor.fill(correct.replace("flops", "flips"))
    told = run(page, "eval app.aspen --machine haswell")
    assert "app.aspen:14" in told
    assert "flips" in told
    assert "Traceback" not in told
    editor.fill(correct)
    assert "main takes" in run(page, "eval app.aspen --machine haswell")


def test_words_have_the_colours_of_the_language(page):
    playwright.expect(page.locator("#colours .k, #colours .kd, #colours .kr").first).to_have_text("model")
    written = page.get_by_label("Text of the model").input_value()
    assert page.locator("#colours").inner_text().rstrip() == written.rstrip()


def test_a_model_of_the_library_becomes_ones_own(page):
    page.get_by_label("From the library").select_option("apps/stream")
    playwright.expect(page.locator("#file")).to_have_value("my_stream.aspen", timeout=PATIENCE_MS)
    assert "model stream" in page.get_by_label("Text of the model").input_value()
    assert "stream on epyc_9654" in run(page, "eval my_stream.aspen --machine epyc_9654")


def test_a_machine_of_ones_own(page):
    page.get_by_label("From the library").select_option("machines/haswell")
    playwright.expect(page.get_by_label("Machine")).to_have_value("my_haswell.aspen", timeout=PATIENCE_MS)
    here = aspenpy.predict(aspenpy.load_application("comd"), aspenpy.load_machine("haswell")).runtime
    assert page.get_by_label("aspenpy", exact=True).input_value().endswith("--machine my_haswell.aspen")
    assert f"{here * 1e3:.0f} ms" in run(page, "eval comd --machine my_haswell.aspen")
    page.get_by_label("From the library").select_option("machines/haswell")  # beside the first, which stays as edited
    playwright.expect(page.get_by_label("Machine")).to_have_value("my_haswell_2.aspen", timeout=PATIENCE_MS)
    page.get_by_role("button", name="Predict", exact=True).click()
    playwright.expect(page.get_by_role("status")).to_contain_text("Done in", timeout=PATIENCE_MS)
    assert "stream on haswell" in page.locator("#output").inner_text()


def test_a_model_is_saved(page):
    page.locator("#file").select_option("my_stream.aspen")
    with page.expect_download() as taken:
        page.get_by_role("button", name="Save file").click()
    assert Path(taken.value.path()).read_text(encoding="utf-8") == page.get_by_label("Text of the model").input_value()


def test_files_that_a_command_writes_are_offered(page):
    run(page, "list machines --format json -o machines.json")
    assert page.get_by_role("link", name="Download machines.json").is_visible()


def test_a_package_that_cannot_be_fetched_is_named(page):
    page.context.set_offline(True)
    run(page, "sweep comd --machine haswell --over nx=10..12")
    page.context.set_offline(False)
    assert page.locator("#output").inner_text() == ""
    assert "takes the package numpy" in page.get_by_role("status").inner_text()


def test_a_command_is_stopped(page):
    page.get_by_label("aspenpy", exact=True).fill("eval comd --machine haswell")
    page.get_by_label("aspenpy", exact=True).press("Enter")
    page.get_by_role("button", name="Stop").click(force=True)
    playwright.expect(page.get_by_role("button", name="Run", exact=True)).to_be_enabled(timeout=PATIENCE_MS)
    assert "comd on haswell" in run(page, "eval comd --machine haswell")


def test_nothing_is_wider_than_a_narrow_window_and_the_page_had_no_error(page):
    page.set_viewport_size({"width": 380, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.errors == []
