"""`aspenpy lsp`: serve an editor by the Language Server Protocol on standard input and output."""

from __future__ import annotations

import sys
from importlib.util import find_spec

from aspenpy.shell.failure import CommandError
from aspenpy.shell.option import Arguments, Examples, flag
from aspenpy.shell.options import machine

EXAMPLES: Examples = (
    ("what an editor runs; it ends when the editor goes", "printf '' | aspenpy lsp"),
    ("with the times of kernels and blocks on a machine", "printf '' | aspenpy lsp --machine haswell"),
)

OPTIONS = (
    machine(required=False, why=", for which the times of kernels and blocks are shown"),
    flag("--stdio", "changes nothing: editors pass it"),
)


def run(arguments: Arguments) -> int:
    """0 when the editor has gone."""
    if find_spec("pygls") is None:
        raise CommandError("`aspenpy lsp` needs pygls: pip install 'aspenpy[lsp]'")
    if sys.stdin is None:
        raise CommandError("`aspenpy lsp` is talked to over standard input, which is closed")
    from aspenpy.editor.server import serve

    serve(arguments.machine)
    return 0
