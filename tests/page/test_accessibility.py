"""Pages as axe-core, the accessibility checker of Deque, sees them: wide and light, narrow and dark, no findings."""

import shutil
import subprocess
from pathlib import Path

import pytest

from aspenpy.shell.main import main
from tests.chromium import BROWSER
from tests.thorough import slow

playwright = pytest.importorskip("playwright.sync_api", reason="the Python package playwright is not installed")
pytestmark = [
    pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine"),
    pytest.mark.skipif(shutil.which("npm") is None, reason="no npm on this machine, which fetches axe-core"),
    slow,
]
PAGES = {
    "what_if.html": "page comd --machine haswell -o what_if.html",
    "advice.html": "advise comd --machine haswell -o advice.html",
    "roofline.html": "roofline stream --machine haswell --measured measured.csv --report roofline.html",
    "validate.html": "validate stream --machine haswell --profile profile.csv --report validate.html",
}
FINDINGS = "async () => (await axe.run()).violations.map(found => [found.id, found.nodes[0].html.slice(0, 200)])"


@pytest.fixture(scope="module")
def checker(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The script of axe-core."""
    folder = tmp_path_factory.mktemp("axe")
    install = [shutil.which("npm"), "install", "--silent", "axe-core@4"]
    try:
        done = subprocess.run(install, cwd=folder, check=False, stdin=subprocess.DEVNULL, timeout=120)
    except subprocess.TimeoutExpired:
        pytest.skip("npm does not answer here")
    if done.returncode:
        pytest.skip("npm cannot fetch axe-core here")
    return (folder / "node_modules/axe-core/axe.min.js").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES)
def test_axe_finds_nothing(checker: str, page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("measured.csv").write_text("region,time,flops,bytes\ntriad,0.5,1e9,2.4e9\n", encoding="utf-8")
    Path("profile.csv").write_text("kernel,time\ntriad,0.5\n", encoding="utf-8")
    assert main(PAGES[page].split()) == 0
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        for width, scheme in ((1280, "light"), (390, "dark")):
            shown = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True)
            shown.goto((tmp_path / page).as_uri())
            shown.evaluate(checker)
            assert shown.evaluate(FINDINGS) == [], (page, width, scheme)
            root = "document.documentElement"
            assert shown.evaluate(f"{root}.scrollWidth <= {root}.clientWidth"), f"{page} scrolls sideways"
        browser.close()
