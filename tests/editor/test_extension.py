"""The extension of Visual Studio Code: packaged as its users do it, and started in node with the real client of the
protocol, the real server, and a stand-in for the editor (`activate.js`)."""

import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.thorough import HANGS, slow

pytest.importorskip("pygls", reason="the extra `lsp` is not installed")
SOURCE = Path(__file__).parents[2] / "editors/vscode"
ACTIVATE = Path(__file__).with_name("activate.js")

pytestmark = [
    slow,
    pytest.mark.skipif(shutil.which("npm") is None or shutil.which("node") is None, reason="no npm on this machine"),
]


@pytest.fixture(scope="module")
def extension(tmp_path_factory):
    """A copy of the folder with its dependencies."""
    folder = tmp_path_factory.mktemp("editor") / "vscode"
    shutil.copytree(SOURCE, folder, ignore=shutil.ignore_patterns("node_modules", "*.vsix", "package-lock.json"))
    done = npm(folder, "npm", "install", "--no-audit", "--no-fund")
    if done.returncode:
        pytest.skip(f"npm installs nothing here: {done.stderr.strip().splitlines()[-1]}")
    return folder


def npm(folder, *command):
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=HANGS, stdin=subprocess.DEVNULL, check=False
    )


def activated(extension, **settings):
    done = npm(extension, "node", str(ACTIVATE), str(extension), json.dumps(settings))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def program(tmp_path):
    """`aspenpy` with what it is called with written beside it."""
    script = tmp_path / "aspenpy"
    script.write_text(
        f'#!/bin/sh\necho "$@" >> "{tmp_path}/arguments"\nexec "{sys.executable}" -m aspenpy "$@"\n', encoding="utf-8"
    )
    script.chmod(0o755)
    return script


def test_activation_starts_the_server_with_the_settings(extension, program):
    said = activated(extension, command=str(program), machine="haswell")
    assert said["errors"] == []
    assert (said["running"], said["restarted"], said["stopped"]) == (True, True, True)
    assert said["server"] == "aspenpy"
    assert {"hoverProvider", "completionProvider", "renameProvider", "codeLensProvider"} <= set(said["capabilities"])
    assert (program.parent / "arguments").read_text(encoding="utf-8") == "lsp\nlsp\n"  # started, and restarted
    assert any("haswell" in title for title in said["lenses"])


def test_the_machine_is_chosen_from_the_library(extension, program):
    said = activated(extension, command=str(program), machine="")
    assert {"haswell", "h100"} <= set(said["picked"])
    assert said["updated"] == [["machine", "haswell"]]
    assert {"aspen.chooseMachine", "aspen.restart"} <= set(said["commands"])


def test_a_program_that_is_missing_is_told(extension):
    said = activated(extension, command="/none/aspenpy", machine="")
    assert said["running"] is False
    told = "/none/aspenpy lsp does not start: pip install 'aspenpy[lsp]', and set aspen.command to the program"
    assert told in said["errors"]  # besides what the client itself says


def test_it_packages(extension):
    assert npm(extension, "node", "--check", "extension.js").returncode == 0
    done = npm(extension, "npx", "--yes", "@vscode/vsce", "package", "--skip-license", "--allow-missing-repository")
    if "ENOTFOUND" in done.stderr or "E404" in done.stderr:
        pytest.skip("the packager cannot be had here")
    assert done.returncode == 0, done.stderr
    (packed,) = extension.glob("*.vsix")
    names = set(zipfile.ZipFile(packed).namelist())
    own = {"extension.js", "package.json", "language-configuration.json", "syntaxes/aspen.tmLanguage.json"}
    assert {f"extension/{name}" for name in own} <= names
    assert "extension/node_modules/vscode-languageclient/node.js" in names
    assert not [name for name in names if name.endswith((".ts", ".map"))]
