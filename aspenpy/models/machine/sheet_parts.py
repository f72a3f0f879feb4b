"""Processors and accelerators of one's own in the sheet of a system: a file with a machine gives its socket."""

from __future__ import annotations

import os
from collections.abc import Mapping

from aspenpy.language import nodes
from aspenpy.language.diagnostics import fail
from aspenpy.language.files import Reader
from aspenpy.language.parser import parse_file
from aspenpy.language.source import Source, Span
from aspenpy.models.machine.sheet_values import SheetValue
from aspenpy.record import Record

PARTS = ("processor", "accelerator")
"""Fields of a system that name a part of the library, or a file of one's own."""


class OwnPart(Record):
    """The socket of a file of one's own; `text` brings it into a model. The first of `interconnects` joins its sockets,
    which `between` declares where `text` does not."""

    socket: str
    text: str
    interconnects: tuple[str, ...] = ()
    between: str = ""


def names_file(value: object) -> bool:
    """Whether a field names a machine file or a data sheet."""
    return str(value).partition("//")[0].strip().endswith((".aspen", ".toml"))


def include_part(source: Source, span: Span, reader: Reader, folder: str) -> OwnPart:
    """The one socket of a machine file, for a model in `folder` to include."""
    node = parse_file(source, reader, [])
    components = node.components if isinstance(node, nodes.Machine) else ()
    sockets = [component.name for component in components if component.type == "socket"]
    if len(sockets) != 1:
        counted = f"the sockets {', '.join(sockets)}" if sockets else "no socket"
        fail("no-part", f"`{source.name}` has {counted}, and a part of a system is one", span)
    path = os.path.relpath(source.path or source.name, folder).replace(os.sep, "/")
    if path.startswith("../"):
        message = f"`{source.name}` lies outside of the folder that the model is written to"
        fail("outside", message, span, hint="--output writes the model into a folder that has the file in it")
    parts = [part for component in components if component.type == "node" for part in component.items]
    joining = [part.name for part in parts if isinstance(part, nodes.Part) and part.type == "interconnect"]
    others = [component.name for component in components if component.type == "interconnect"]
    text = f'include "{path}"' if " " in path else f"include {path}"
    return OwnPart(sockets[0], text, tuple(dict.fromkeys([*joining, *others] if joining else [])))


def place_parts(entries: dict[str, SheetValue], parts: Mapping[str, OwnPart]) -> None:
    """Adds the texts of own parts; processors of a node are joined by the interconnect of their own file, unless the
    sheet names another."""
    for name, part in parts.items():
        entries[f"{name}_part"] = SheetValue(part.text, "")
    own = parts.get("processor")
    if own is None or not own.interconnects:
        return
    if "between" not in entries and "processors" in entries and entries["processors"].text != "1":
        entries["between"] = SheetValue(own.interconnects[0], "")
    if "between" in entries and entries["between"].text in own.interconnects:
        entries["between_part"] = SheetValue(own.between, "")
