"""Commands that connect other programs: `lsp` an editor, `serve` programs, `completion` a shell."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path

from aspenpy.shell.failure import CommandError
from aspenpy.shell.option import Arguments, choice, command, flag, option
from aspenpy.shell.options import machine
from aspenpy.shell.output import emit


@command(
    "lsp",
    "tools",
    "Serve an editor: diagnostics, completion, values and times while models are typed",
    options=(
        machine(required=False, why=", for which the times of kernels and blocks are shown"),
        flag("--stdio", "changes nothing: editors pass it"),
    ),
    examples=(
        ("what an editor runs; it ends when the editor goes", "printf '' | aspenpy lsp"),
        ("with the times of kernels and blocks on a machine", "printf '' | aspenpy lsp --machine haswell"),
    ),
    interactive=True,
)
def run_lsp(arguments: Arguments) -> int:
    """0 when the editor has gone."""
    if find_spec("pygls") is None:
        raise CommandError("`aspenpy lsp` needs pygls: pip install 'aspenpy[lsp]'")
    if sys.stdin is None:
        raise CommandError("`aspenpy lsp` is talked to over standard input, which is closed")
    from aspenpy.editor.server import serve

    serve(arguments.machine)
    return 0


@command(
    "serve",
    "tools",
    "Serve programs over the Model Context Protocol: eval, compare, explain, sweep, check, list",
    options=(
        flag("--mcp", "over standard input and output, as clients of the Model Context Protocol start servers"),
        option(
            "--folder",
            "FOLDER",
            "the only folder whose files are read (default: the one it is started in)",
            default=".",
        ),
    ),
    examples=(
        ("what a client runs; it ends when the client goes", "printf '' | aspenpy serve --mcp"),
        ("with the models of another folder", "printf '' | aspenpy serve --mcp --folder ."),
    ),
    interactive=True,
)
def run_serve(arguments: Arguments) -> int:
    """0 when the client has gone."""
    if not arguments.mcp:
        raise CommandError("`aspenpy serve` serves one protocol: --mcp")
    if find_spec("mcp") is None:
        raise CommandError("`aspenpy serve --mcp` needs mcp: pip install 'aspenpy[mcp]'")
    if sys.stdin is None:
        raise CommandError("`aspenpy serve` is talked to over standard input, which is closed")
    if not os.path.isdir(arguments.folder):
        raise CommandError(f"--folder: `{arguments.folder}` is no folder")
    from aspenpy.shell.tool_server import make_server

    make_server(Path(os.path.realpath(arguments.folder))).run("stdio")
    return 0


SHELLS = ("bash", "zsh", "fish")


@command(
    "completion",
    "tools",
    "Write what lets bash, zsh or fish complete commands, options, models and parameters",
    options=(choice("name", SHELLS, "bash, zsh or fish", metavar="SHELL"),),
    examples=(
        ('for bash, in ~/.bashrc: eval "$(aspenpy completion bash)"', "aspenpy completion bash"),
        ('for zsh, in ~/.zshrc: eval "$(aspenpy completion zsh)"', "aspenpy completion zsh"),
        ("for fish, into ~/.config/fish/completions/aspenpy.fish", "aspenpy completion fish"),
    ),
    interactive=True,
)
def run_completion(arguments: Arguments) -> int:
    if find_spec("argcomplete") is None:
        raise CommandError("completion needs argcomplete: pip install 'aspenpy[completion]'")
    from argcomplete.shell_integration import shellcode

    emit(shellcode(["aspenpy"], shell=arguments.name))
    return 0
