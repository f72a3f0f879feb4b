"""Manual pages made from the help of the commands: `make man` writes them into docs/_build/man."""

from pathlib import Path

from argparse_manpage.manpage import Manpage

from aspenpy.shell.parser import Parser
from aspenpy.shell.registry import commands_by_name, load_command
from aspenpy.version import VERSION

FOLDER = Path(__file__).parent / "_build" / "man"


def page(name: str) -> str:
    """The manual page of a command, as roff."""
    parser = Parser(load_command(name))
    examples, parser.epilog = parser.epilog or "", None
    parser.man_short_description = commands_by_name()[name].summary  # type: ignore[attr-defined]
    lines = examples.partition("\n")[2].replace("\\", "\\e").splitlines()
    text = str(Manpage(parser)).partition("\n")[2].replace(f"aspenpy {name} \\-", f"aspenpy-{name} \\-", 1)
    title = f'.TH ASPENPY\\-{name.upper()} 1 "" "aspenpy {VERSION}" "Manual of aspenpy"'
    return "\n".join([title, text, ".SH EXAMPLES", ".nf", *lines, ".fi", ""])


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for command in commands_by_name():
        (FOLDER / f"aspenpy-{command}.1").write_text(page(command), encoding="utf-8")
    print(f"{FOLDER.relative_to(Path.cwd())}: {len(commands_by_name())} pages; man -l shows one")
