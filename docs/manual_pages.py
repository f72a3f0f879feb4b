"""Manual pages made from the help of the commands: `make man` writes them into docs/_build/man."""

from pathlib import Path

from argparse_manpage.manpage import Manpage

from aspenpy.shell.commands import COMMANDS
from aspenpy.shell.parser import parser_of

FOLDER = Path(__file__).parent / "_build" / "man"


def page(name: str) -> str:
    """The manual page of a command, as roff."""
    parser = parser_of(name)
    examples, parser.epilog = parser.epilog or "", None
    parser.man_short_description = COMMANDS[name]  # type: ignore[attr-defined]
    lines = examples.partition("\n")[2].replace("\\", "\\e").splitlines()
    return "\n".join([str(Manpage(parser)), ".SH EXAMPLES", ".nf", *lines, ".fi", ""])


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for command in COMMANDS:
        (FOLDER / f"aspenpy-{command}.1").write_text(page(command), encoding="utf-8")
    print(f"{FOLDER.relative_to(Path.cwd())}: {len(COMMANDS)} pages; man -l shows one")
