"""A command is one file: with it in a copy of the package, the program, its help, completion, the manual pages and the
page about the commands know it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILE = "aspenpy/shell/commands/version_info.py"
TEXT = '''"""The command `aspenpy version-info`."""

from aspenpy.shell.option import Arguments, command, flag
from aspenpy.shell.output import emit
from aspenpy.version import VERSION


@command(
    "version-info",
    "tools",
    "Say which version this is",
    options=(flag("--long", "adds the name"),),
    examples=(("the version", "aspenpy version-info"), ("with the name", "aspenpy version-info --long")),
)
def run_version_info(arguments: Arguments) -> int:
    emit(f"aspenpy {VERSION}" if arguments.long else VERSION)
    return 0
'''


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package and the scripts that make pages of it, with one file more."""
    folder = tmp_path_factory.mktemp("copy")
    ignored = shutil.ignore_patterns("__pycache__", "_build", "pictures")
    for name in ("aspenpy", "docs"):
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    for name in ("grammar", "models"):
        (folder / name).symlink_to(ROOT / name)
    (folder / FILE).write_text(TEXT, encoding="utf-8")
    return folder


def printed(copy: Path, *arguments: str, **environment: str) -> str:
    command = [sys.executable, *(arguments[1:] if arguments[0] == "python" else ("-m", *arguments))]
    variables = {**os.environ, "PYTHONPATH": str(copy), "NO_COLOR": "1", **environment}
    ran = subprocess.run(command, cwd=copy, env=variables, capture_output=True, text=True, check=False)
    return ran.stdout + ran.stderr


def test_it_runs_and_is_in_the_help(copy: Path) -> None:
    version = printed(copy, "aspenpy", "version-info")
    assert printed(copy, "aspenpy", "--version") == f"aspenpy {version}"
    assert printed(copy, "aspenpy", "version-info", "--long") == f"aspenpy {version}"
    assert "  version-info Say which version this is\n" in printed(copy, "aspenpy", "--help")
    help = printed(copy, "aspenpy", "help", "version-info")
    assert help.startswith("usage: aspenpy version-info [-h] [--long]\n\nSay which version this is.\n")
    assert "did you mean `version-info`?" in printed(copy, "aspenpy", "version-inf")


def test_a_shell_completes_it(copy: Path) -> None:
    pytest.importorskip("argcomplete")
    line = "aspenpy version-info --l"
    offered = copy / "offered"
    environment = {"_ARGCOMPLETE": "1", "_ARGCOMPLETE_IFS": " ", "_ARGCOMPLETE_STDOUT_FILENAME": str(offered)}
    printed(copy, "aspenpy", COMP_LINE=line, COMP_POINT=str(len(line)), **environment)
    assert offered.read_text(encoding="utf-8").split() == ["--long"]


def test_pages_are_made_of_it(copy: Path) -> None:
    """The page about the commands is the only other file that changes, and a script writes it."""
    assert printed(copy, "python", "docs/commands_page.py") == ""
    page = (copy / "docs" / "commands.md").read_text(encoding="utf-8")
    assert "## `aspenpy version-info`\n\n<!-- made from the help -->\nSay which version this is.\n" in page
    assert "| `--long` | adds the name |" in page
    own = page.replace(page[page.index("## `aspenpy version-info`") :], "")
    assert own.count("version-info") == 3  # in its group twice, name and link, and in the table of options
    pytest.importorskip("argparse_manpage")
    printed(copy, "python", "docs/manual_pages.py")
    manual = (copy / "docs" / "_build" / "man" / "aspenpy-version-info.1").read_text(encoding="utf-8")
    assert "Say which version this is" in manual


def test_nothing_else_is_touched(copy: Path) -> None:
    changed = {
        path.relative_to(copy).as_posix()
        for path in (copy / "aspenpy").rglob("*.py")
        if not (ROOT / path.relative_to(copy)).exists()
        or path.read_bytes() != (ROOT / path.relative_to(copy)).read_bytes()
    }
    assert changed == {FILE}
