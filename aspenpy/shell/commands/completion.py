"""`aspenpy completion`: write the lines that let a shell complete commands, options, models and parameters."""

from __future__ import annotations

from importlib.util import find_spec

from aspenpy.shell.failure import CommandError
from aspenpy.shell.option import Arguments, Examples, choice
from aspenpy.shell.output import emit

EXAMPLES: Examples = (
    ('for bash, in ~/.bashrc: eval "$(aspenpy completion bash)"', "aspenpy completion bash"),
    ('for zsh, in ~/.zshrc: eval "$(aspenpy completion zsh)"', "aspenpy completion zsh"),
    ("for fish, into ~/.config/fish/completions/aspenpy.fish", "aspenpy completion fish"),
)

SHELLS = ("bash", "zsh", "fish")

OPTIONS = (choice("name", SHELLS, "bash, zsh or fish", metavar="SHELL"),)


def run(arguments: Arguments) -> int:
    if find_spec("argcomplete") is None:
        raise CommandError("completion needs argcomplete: pip install 'aspenpy[completion]'")
    from argcomplete.shell_integration import shellcode

    emit(shellcode(["aspenpy"], shell=arguments.name))
    return 0
