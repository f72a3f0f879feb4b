"""Separate module procedures (ISO/IEC 1539-1:2018, section 15.6.2.5): interfaces that a module declares, whose bodies
stand in its submodules.

fparser does not read `module procedure name` outside of interfaces: it is handed `subroutine name`, and the interface
says what the arguments and the result are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from aspenpy.extract.fortran_nodes import Syntax, type_name

_INTERFACE = re.compile(r"\s*+(?:(end)\s*+|abstract\s++)?interface\b", re.IGNORECASE)
_PROCEDURE = re.compile(r"(\s*+(?:\d++\s++)?)module(\s++)procedure(\s++)(\w++\s*+(?:!|\Z))", re.IGNORECASE)
_END = re.compile(r"\b(end\s*+)procedure\b", re.IGNORECASE)
_SUBMODULE = re.compile(r"^[ \t]*+submodule\b", re.IGNORECASE | re.MULTILINE)


def replace_separate_procedures(text: str) -> tuple[str, frozenset[int]]:
    """A text of submodules with `subroutine name` for `module procedure name`, and the lines of these, from 1."""
    if _SUBMODULE.search(text) is None and "procedure" not in text.lower():
        return text, frozenset()
    lines, found = text.split("\n"), set[int]()
    is_interface = False
    for place, line in enumerate(lines):
        if match := _INTERFACE.match(line):
            is_interface = match[1] is None
        elif not is_interface and (match := _PROCEDURE.match(line)):
            lines[place] = f"{match[1]}subroutine {line[match.start(4) :]}"
            found.add(place + 1)
        elif found and not is_interface:
            lines[place] = _END.sub(r"\1subroutine", line)
    return "\n".join(lines), frozenset(found)


def list_interfaces(unit: Syntax) -> Iterator[Syntax]:
    """Interfaces of procedures that a module or submodule declares."""
    for part in unit.children:
        if type_name(part).startswith("Specification_Part"):
            for block in part.children:
                if type_name(block) == "Interface_Block":
                    yield from (
                        node for node in block.children if type_name(node) in ("Subroutine_Body", "Function_Body")
                    )


def is_separate(head: Syntax) -> bool:
    """Whether `module` stands in front of `subroutine` or `function`."""
    prefix = head.children[0]
    words = prefix.children if type_name(prefix) == "Prefix" else [prefix]
    return any(type_name(word) == "Prefix_Spec" and str(word).upper() == "MODULE" for word in words)


def separate_key(prefix: str, name: str) -> str:
    """The key of a procedure whose interface stands in a module, by the prefix of that or of one of its submodules."""
    return f"fortran {prefix.partition(':')[0]}::{name}"
