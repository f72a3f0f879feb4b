"""The page that runs aspenpy in a browser, laid out beside the others by `make docs`, or alone:
`python docs/_extensions/browser_page.py FOLDER`.

The packages are those of this environment, the modules that need no compiler. Pyodide comes from npm where that is
installed; without it the page takes it from Pyodide's own network, as it does for packages such as NumPy.
"""

import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from importlib.metadata import distribution
from pathlib import Path

from pygments.formatters import HtmlFormatter
from sphinx.application import Sphinx

PYODIDE = "314.0.7"  # which has Python 3.14
NETWORK = f"https://cdn.jsdelivr.net/pyodide/v{PYODIDE}/full/"
PARTS = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")

FIRST = ("lark", "pygments", "rich", "markdown-it-py", "mdurl")
LATER = {"sympy": ("sympy", "mpmath"), "networkx": ("networkx",), "pycparser": ("pycparser",)}
"""Packages by the module that a command misses: nobody waits for SymPy who never asks for it."""

STATIC = ("index.html", "style.css", "page.js", "worker.js", "runner.py")
SOURCE = Path(__file__).parents[1] / "browser"


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("build-finished", _build_beside)
    return {"parallel_read_safe": True}


def _build_beside(app: Sphinx, failure: Exception | None) -> None:
    if failure is None and app.builder.name == "html":
        build(Path(app.outdir) / "browser")


def build(target: Path) -> None:
    packages = target / "packages"
    packages.mkdir(parents=True, exist_ok=True)
    for name in STATIC:
        shutil.copyfile(SOURCE / name, target / name)
    (target / "colours.css").write_text(colour_rules(), encoding="utf-8")
    first = [build_wheel(packages), *(pack(name, packages) for name in FIRST)]
    later = {module: [pack(name, packages) for name in names] for module, names in LATER.items()}
    local = fetch_pyodide(target / "pyodide")
    constants = {"PACKAGES": NETWORK, "FIRST": first, "LATER": later}
    where = 'new URL("pyodide/", self.location).href' if local else json.dumps(NETWORK)
    lines = [f"export const {name} = {json.dumps(value)};" for name, value in constants.items()]
    (target / "sources.js").write_text("\n".join([f"export const PYODIDE = {where};", *lines, ""]), encoding="utf-8")


def colour_rules() -> str:
    """Colours of the language's words, for light and for dark."""
    light, dark = (HtmlFormatter(style=style).get_style_defs("#colours") for style in ("default", "github-dark"))
    return f"{light}\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}\n#colours {{ background: none; }}\n"


def build_wheel(folder: Path) -> str:
    """aspenpy as this checkout has it; returns the name of the file."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder.resolve())],
        cwd=SOURCE.parents[1],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return max(folder.glob("aspenpy-*.whl"), key=lambda path: path.stat().st_mtime_ns).name


def pack(name: str, folder: Path) -> str:
    """An installed package without its tests as an archive; returns the name of the file."""
    found = distribution(name)
    archive = folder / f"{name}-{found.version}.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as written:
        for path in found.files or ():
            if path.suffix != ".pyc" and ".." not in path.parts and "tests" not in path.parts:
                written.write(path.locate(), path.as_posix())
    return archive.name


def fetch_pyodide(folder: Path) -> bool:
    """Whether Pyodide lies in the folder, fetched by npm where it did not."""
    if all((folder / part).is_file() for part in PARTS):
        return True
    if shutil.which("npm") is None:
        return False
    with tempfile.TemporaryDirectory() as taken:
        command = ["npm", "pack", "--silent", f"pyodide@{PYODIDE}", "--pack-destination", taken]
        if subprocess.run(command, capture_output=True, timeout=300).returncode:
            return False
        with tarfile.open(next(Path(taken).glob("*.tgz"))) as package:
            package.extractall(taken, filter="data")
        folder.mkdir(exist_ok=True)
        for part in PARTS:
            shutil.copyfile(Path(taken) / "package" / part, folder / part)
    return True


if __name__ == "__main__":
    build(Path(sys.argv[1]))
