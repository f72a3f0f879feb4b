"""Pages whose snippets are run: what a reader sees is what the program printed.

Fenced blocks run from the top of a page to its end, in one folder of their own:

* `aspen` blocks begin with `// file: NAME` and are written there, and so are `toml` blocks with `# file: NAME`,
* `console` blocks run each line after `$ ` in a shell, and show what it printed,
* `python` blocks with `>>>` share one namespace.

A picture `![...](pictures/NAME.svg)` is the file that a command with `--picture NAME.svg` draws, on
this page or on another.

Blocks of other kinds (`sh`, `text`, ...) are for reading only.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import subprocess
import traceback
from pathlib import Path
from typing import Any

from tests.docs.forked import plain_command, printed_by
from tests.thorough import HANGS

FENCED = re.compile(r"^```(?P<kind>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"(?://|#) file: (\S+)\n")


def refreshed(page: str, folder: Path, environment: dict[str, str]) -> str:
    """The page with the output of each snippet as it is now."""
    names: dict[str, Any] = {}

    def run(block: re.Match[str]) -> str:
        kind, text = block["kind"], block["text"]
        if kind == "aspen" or (kind == "toml" and FILE.match(text)):
            _write(text, folder)
        elif kind == "console":
            text = _console(text, folder, environment)
        elif kind == "python":
            text = _python(text, folder, names)
        return f"```{kind}\n{text}```"

    return FENCED.sub(run, page)


def _write(text: str, folder: Path) -> None:
    named = FILE.match(text)
    assert named, f"a block of Aspen begins with `// file: NAME`:\n{text}"
    path = folder / named[1]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _console(text: str, folder: Path, environment: dict[str, str]) -> str:
    shown = []
    for command in re.findall(r"^\$ (.*(?:\n> .*)*)$", text, re.MULTILINE):
        line = command.replace("\n> ", "\n")
        plain = plain_command(line)
        printed = printed_by(plain, folder, environment) if plain else _shell(line, folder, environment)
        shown.append(f"$ {command}\n{printed}")
    return "".join(part if part.endswith("\n") else f"{part}\n" for part in shown)


def _shell(line: str, folder: Path, environment: dict[str, str]) -> str:
    """What a command line prints on either stream."""
    ran = subprocess.run(
        ["bash", "-c", line],
        cwd=folder,
        env=os.environ | environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=HANGS,
        check=False,
    )
    assert ran.returncode != 127, f"no such command: {line}"
    return ran.stdout


def _python(text: str, folder: Path, names: dict[str, Any]) -> str:
    shown = []
    for example in doctest.DocTestParser().get_examples(text):
        first, *more = example.source.rstrip("\n").split("\n")
        shown.append("\n".join([f">>> {first}", *(f"... {line}".rstrip() for line in more)]) + "\n")
        shown.append(_printed(example.source, folder, names))
    return "".join(shown)


def _printed(source: str, folder: Path, names: dict[str, Any]) -> str:
    """What the interactive interpreter prints for a statement."""
    printed = io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(printed):
        try:
            exec(compile(source, "<page>", "single"), names)
        except Exception as error:
            print("Traceback (most recent call last):", "  ...", sep="\n")
            print("".join(traceback.format_exception_only(error)), end="")
    return printed.getvalue()
