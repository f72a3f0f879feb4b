"""Machine models from data sheets: tables in TOML of the numbers that a vendor's page has, each with its source.

`skeletons/sheets/KIND.toml` has the fields of each kind of sheet and the rules for what a sheet leaves out; beside it
stands the text of the model, with holes. `@field` is a value whose source becomes the comment of its line, `$field` the
value alone. A line with a hole that nothing fills is left out, and so is one behind `?condition|` that does not hold or
`!condition|` that does; in front of a block up to the next empty line, the block. `NAME` is the machine's.
"""

from __future__ import annotations

import os
import re
import textwrap
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from aspenpy.language.diagnostics import AspenError, Diagnostic, fail, warning
from aspenpy.language.files import Reader, list_models, models_folder
from aspenpy.language.source import Source, Span
from aspenpy.models.machine.sheet_of_machine import table_of_machine
from aspenpy.models.machine.sheet_parts import PARTS, OwnPart, include_part, names_file, place_parts
from aspenpy.models.machine.sheet_values import SheetField, SheetValue, StatedValue, find_field, in_units, read_value
from aspenpy.models.machine.texts import TEMPLATES, read_skeleton
from aspenpy.record import Record

SHEET_KINDS = tuple(sorted(path.stem for path in Path(TEMPLATES, "sheets").glob("*.toml")))

LONGEST_LINE = 120
GENERAL = "general_core"
"""The cores of a processor whose family the library does not have."""


class SheetRule(Record):
    """The value of a field that a sheet leaves out, from a year on, where a condition holds."""

    field: str
    value: str
    reason: str
    since: int = 0
    when: str = ""


Entries = Mapping[str, SheetValue]


class SheetKind(Record):
    """The fields and rules of a kind of sheet; code names by family of cores, and what neighbours have in common."""

    fields: Mapping[str, SheetField]
    rules: tuple[SheetRule, ...]
    families: Mapping[str, str]
    neighbours: Mapping[str, Any]


@cache
def sheet_kind(name: str) -> SheetKind:
    """The fields and rules of one of `SHEET_KINDS`."""
    table = tomllib.loads(read_skeleton(f"sheets/{name}.toml"))
    fields = {key: SheetField(key, **row) for key, row in table["fields"].items()}
    if families := table.get("families"):
        fields["core"] = fields["core"].replace(unit=" ".join((*families, GENERAL)))
        fields["like"] = fields["like"].replace(unit=f"sheets/{name}")
    rules = tuple(SheetRule(**row) for row in table["rules"])
    return SheetKind(fields, rules, table.get("families", {}), table.get("neighbours", {}))


def family_of(name: str, kind: str = "processor") -> str | None:
    """The library's family of cores that a code name is of; None where that is not known."""
    word = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
    families = sheet_kind(kind).families.items()
    return next((family for family, names in families if word == family or word in names.split()), None)


def suggest_family(about: str = "") -> str:
    """A hint for a processor of unknown cores: the family of a code name in `about`, or else all families."""
    for part in re.split("[,;]", about):
        if family := family_of(part):
            return f'{part.strip()} has `core = "{family}"`'
    families = sheet_kind("processor").families.items()
    listed = "; ".join(f"{family} ({', '.join(names.split())})" for family, names in families)
    return f'write `core = "FAMILY"`, a family or a code name: {listed}; or `vector_bits` and `vector_pipes`'


def sheet_template(kind: str) -> str:
    """An empty sheet of a kind: what has to be filled, and examples of what may be."""
    lines = [
        "# A data sheet; `aspenpy machine new NAME --from` this file writes the model. Replace every value: these are",
        '# examples. Behind a number stands where it is from: "2.4 GHz // measured: who says so"; measured, published,',
        "# derived or assumed. What `source` says holds for numbers without their own. Leave out what no page says: a",
        "# rule for its kind and year stands in, and the model marks it as assumed.",
        f'kind = "{kind}"',
        'source = "the vendor\'s page"',
    ]
    group = ""
    for field in sheet_kind(kind).fields.values():
        table, _, name = field.name.rpartition(".")
        if table != group:
            lines += ["", f"[{table}]"]
            group = table
        value = field.example if field.example.isdigit() else f'"{field.example}"'
        asks = f"{field.asks}, needed" if field.needed and field.example else field.asks
        lines.append(f"{'' if field.example else '# '}{name} = {value}  # {asks}")
    return "\n".join(lines) + "\n"


# -- reading ---------------------------------------------------------------------------------------


class Sheet(Record):
    """A sheet as it was read: its kind, what it states of each field, and what is probably amiss."""

    kind: str
    entries: Entries
    warnings: tuple[Diagnostic, ...] = ()


def read_sheet(source: Source, machine: str, reader: Reader | None = None, folder: str = os.curdir) -> Sheet:
    """The values of a sheet as the model `machine` writes them into `folder`, completed by the rules of its kind.

    :raises AspenError: with every mistake of the sheet, each at its line
    """
    table = _parse_toml(source)
    kind = table.pop("kind", None)
    if kind not in SHEET_KINDS:
        hint = f'write `kind = "{SHEET_KINDS[0]}"`, or another of {", ".join(SHEET_KINDS)}'
        fail("unknown-kind", "the sheet names no kind of machine that there is", _find_key(source, "kind"), hint=hint)
    errors: list[Diagnostic] = []
    entries: dict[str, SheetValue] = {}
    parts: dict[str, OwnPart] = {}
    fields = sheet_kind(kind).fields
    for name, value, origin in sorted(_walk_values(table, ""), key=lambda row: row[0] not in PARTS):
        span = _find_key(source, name)
        try:
            if kind == "system" and name in PARTS and names_file(value):
                parts[name] = _read_part(str(value), source, span, reader or Reader(), folder)
                value = parts[name].socket + "".join(str(value).partition("//")[1:])
            elif name == "core" and (family := family_of(str(value).partition("//")[0], kind)):
                value = family
            own = [name for part in parts.values() for name in (part.socket, *part.interconnects)]
            own += [str(value)] if name == "like" and _table_of(str(value), kind) else []
            entries[name] = read_value(find_field(name, fields, span), StatedValue(value, origin, span), machine, own)
        except AspenError as error:
            errors += error.diagnostics
    if not errors:
        take_from_neighbours(entries, kind, machine)
    for field in fields.values():
        if field.needed and field.name not in entries and not errors:
            message = f"the sheet has no `{field.name}`: {field.asks}"
            hint = f'write `{field.name.rpartition(".")[2]} = "{field.example}"`'
            errors.append(Diagnostic("missing-field", message, _find_key(source, field.name), hint=hint))
    if errors:
        raise AspenError(*errors)
    place_parts(entries, parts)
    warnings = tuple(_warn_of_values(kind, entries, source))
    return Sheet(kind, _complete(entries, sheet_kind(kind), machine), warnings)


def _warn_of_values(kind: str, entries: Entries, source: Source) -> Iterator[Diagnostic]:
    """Vectors that a rule assumes, and a peak that is not that of the lanes."""
    if kind == "processor" and not {"core", "vector_bits"} & entries.keys():
        about = entries["about"].text if "about" in entries else ""
        message = "the sheet names no core: two pipes of 256 bits are assumed, half of what AVX-512 with two pipes does"
        yield warning("assumed-core", message, _find_key(source, "core"), hint=suggest_family(about))
    if kind == "accelerator" and "peak.sp" in entries:
        cores, lanes = (float(entries[name].text) for name in ("cores", "lanes"))
        stated, clock = (in_units(entries[name].text) for name in ("peak.sp", "clock"))
        rate = 2 * cores * lanes * clock
        if stated and abs(rate / stated - 1) > 0.02:
            message = f"cores x lanes x 2 x clock are {rate / 1e12:.4g} Tflop/s, and `peak.sp` is {stated / 1e12:.4g}"
            yield warning("other-peak", message, _find_key(source, "peak.sp"), hint="`lanes` are those of one core")


# -- neighbours ------------------------------------------------------------------------------------


@cache
def _library_tables(kind: str) -> Mapping[str, Mapping[str, Any]]:
    """The library's data sheets of a kind, by the names of their machines."""
    folder = os.path.join(models_folder(), "machines", "sheets")
    names = sorted(name for name in os.listdir(folder) if name.endswith(".toml"))
    tables = {name[:-5]: _parse_toml(Reader().read(os.path.join(folder, name))) for name in names}
    return {name: table for name, table in tables.items() if table["kind"] == kind}


@cache
def _table_of(name: str, kind: str) -> Mapping[str, Any] | None:
    """The library's data sheet of a machine, or that which a machine without one would have."""
    if name in _library_tables(kind):
        return _library_tables(kind)[name]
    return table_of_machine(name, kind) if name in list_models(os.path.join(models_folder(), "machines")) else None


def take_from_neighbours(entries: dict[str, SheetValue], kind: str, machine: str) -> None:
    """Adds what the library's nearest parts of the same family have, or all that the one of `like` has; the sheets of
    the library itself are as they are."""
    tables, common = _library_tables(kind), sheet_kind(kind).neighbours
    like = entries.pop("like", None)
    if not common or machine in tables:
        return
    core = entries["core"].text if "core" in entries else None
    alike = [name for name, table in tables.items() if core and table.get("core") == core]
    for name in [like.text] if like else sorted(alike, key=lambda name: _distance(tables[name], entries)):
        _take(entries, kind, name, machine, bool(like))


def _take(entries: dict[str, SheetValue], kind: str, name: str, machine: str, takes_all: bool) -> None:
    """Adds the values of a sheet of the library that neighbours have in common, or all but its own."""
    fields, common, span = sheet_kind(kind).fields, sheet_kind(kind).neighbours, Span(Source("", name), 0, 0)
    walked = [row for row in _walk_values(_table_of(name, kind) or {}, "") if row[0] in fields]
    theirs = {key: read_value(fields[key], StatedValue(value, "", span), machine) for key, value, _ in walked}
    words = f"assumed: as {theirs['name'].text} of the library"
    other_memory = "memory.kind" in entries and entries["memory.kind"].text[:3] != theirs["memory.kind"].text[:3]
    for part, whole in map(str.split, common["shares"] + common.get("shares_like", []) * takes_all):
        is_known = part in theirs and whole in theirs and part not in entries and whole in entries
        if is_known and not (other_memory and part.startswith("memory")):
            share = in_units(theirs[part].text) / in_units(theirs[whole].text)
            entries[part] = SheetValue(f"{share:.2g}*{entries[whole].text}", words)
    usual = theirs.keys() - {*common["own"].split()} if takes_all else {*common["same"].split()}
    stated = theirs if takes_all else entries
    for key in usual & theirs.keys() - entries.keys():
        level = key.partition(".")[0]
        is_there = level not in ("l2", "l3") or f"{level}.capacity" in stated
        if is_there and not (other_memory and level == "memory"):
            entries[key] = theirs[key].replace(comment=words)


def _distance(table: Mapping[str, Any], entries: Entries) -> tuple[bool, float, float]:
    """Distance of a sheet of the library from another, in kind of memory, year and cores."""
    numbers = (float(str(table[name]).partition("//")[0]) for name in ("year", "cores"))
    years, cores = (
        abs(number - float(entries[name].text)) if name in entries else 0
        for name, number in zip(("year", "cores"), numbers, strict=True)
    )
    kind = entries["memory.kind"].text[:3] if "memory.kind" in entries else ""
    return kind != str(table["memory"]["kind"]).lower()[:3], years, cores


def _read_part(value: str, source: Source, span: Span, reader: Reader, folder: str) -> OwnPart:
    """The part of a system that a file beside its sheet has: a machine to include, or a sheet to write out."""
    file = value.partition("//")[0].strip()
    found = reader.data(file, source, source, span)
    if file.endswith(".aspen"):
        return include_part(found, span, reader, folder)
    name = re.sub(r"\W", "_", Path(file).stem, flags=re.ASCII)
    kind = _parse_toml(found).get("kind")
    if kind in SHEET_KINDS and not has_part(Sheet(kind, {})):
        fail("no-part", f"`{file}` is the sheet of a {kind}, and no part of one", span)
    sheet = read_sheet(found, name)
    joined = (f"{name}_between_sockets",) if "link.bandwidth" in sheet.entries else ()
    between = _write("processor.between.aspen", sheet.entries, name) if joined else ""
    return OwnPart(name_component(sheet, name), write_part(sheet, name), joined, between)


def _parse_toml(source: Source) -> dict[str, Any]:
    try:
        return tomllib.loads(source.text)
    except tomllib.TOMLDecodeError as error:
        words, _, place = str(error).partition(" (at ")
        found = re.match(r"line (\d+), column (\d+)", place)
        starts = [0, *(match.end() for match in re.finditer("\n", source.text))]
        at = min(starts[int(found[1]) - 1] + int(found[2]) - 1 if found else len(source.text), len(source.text))
        hint = 'a field is `cores = 96`, or `clock = "2.4 GHz // measured: who says so"`'
        fail("no-sheet", f"this is no table in TOML: {words}", Span(source, at, at), hint=hint)


def _walk_values(table: Mapping[str, Any], before: str, origin: str = "") -> Iterator[tuple[str, Any, str]]:
    """Name and value of each field, and the source that is stated for its table."""
    origin = str(table.get("source", origin))
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _walk_values(value, f"{before}{key}.", origin)
        elif key != "source":
            yield before + key, value, origin


def _find_key(source: Source, name: str) -> Span:
    """The line of a field; where it has none, of its table, or else the first."""
    table = ""
    found = Span(source, 0, len(source.text.partition("\n")[0]))
    for line in re.finditer(r"[^\n]*", source.text):
        text = line[0].strip()
        if header := re.match(r"\[\s*([\w.]+)\s*\]", text):
            table = header[1] + "."
        elif key := re.match(r"([\w.]+)\s*=", text):
            if table + key[1] == name:
                start = line.start() + len(line[0]) - len(line[0].lstrip())
                return Span(source, start, start + len(text.partition(" #")[0].rstrip()))
            continue
        if header and name.startswith(table):
            found = Span(source, line.start(), line.start() + len(line[0]))
    return found


# -- completing ------------------------------------------------------------------------------------


def _complete(entries: Entries, kind: SheetKind, machine: str) -> dict[str, SheetValue]:
    """The entries with those that rules give, in the order of the fields."""
    found = dict(entries)
    year = float(entries["year"].text)
    for name in kind.fields:
        rules = [rule for rule in kind.rules if rule.field == name and rule.since <= year and _holds(rule.when, found)]
        if name not in found and rules:
            value = _fill(_put_name(rules[-1].value, machine), found)
            if value is not None:
                found[name] = SheetValue(_compute(value, name, found), f"assumed: {rules[-1].reason}")
    return found


def _holds(condition: str, entries: Entries) -> bool:
    """Whether a field is known; behind `=` how it begins, behind `==` what it is; with `&` all of several."""
    if "&" in condition:
        return all(_holds(each, entries) for each in condition.split("&"))
    name, _, start = condition.partition("=")
    if not condition or name not in entries:
        return not condition
    return entries[name].text == start[1:] if start.startswith("=") else entries[name].text.startswith(start)


def _compute(value: str, name: str, entries: Entries) -> str:
    """The value that a rule gives; ways of a cache and levels of a fat tree are those that fit the entries."""
    if value == "levels":
        return _count_levels(entries)
    return _choose_ways(value, name.partition(".")[0], entries) if value.startswith("ways ") else value


def _count_levels(entries: Entries) -> str:
    """The fewest levels of a fat tree that joins the nodes: `taper` x `arity` of them on a switch of the lowest."""
    nodes, arity, taper = (float(entries[name].text) for name in ("nodes_most", "network.arity", "network.taper"))
    levels = 1
    while arity > 1 and taper * arity**levels < nodes:
        levels += 1
    return str(levels)


def _choose_ways(value: str, level: str, entries: Entries) -> str:
    """Number of ways, `value` at most, that makes whole sets of the capacity of a level."""
    size, line = (in_units(entries[f"{level}.{name}"].text) for name in ("capacity", "line"))
    lines = max(1, round(size / line))
    return str(next(ways for ways in range(int(value.split()[1]), 0, -1) if lines % ways == 0))


# -- writing ---------------------------------------------------------------------------------------

_HOLE = re.compile(r"([@$])([a-z][a-z0-9_]*(?:\.(?!aspen)[a-z][a-z0-9_]*)?)")
_CONDITION = re.compile(r"( *)([?!])([a-z0-9_.=&]+)\|")


def has_part(sheet: Sheet) -> bool:
    """Whether a sheet is about one component, and not about a system of parts that the library has."""
    return Path(TEMPLATES, "sheets", f"{sheet.kind}.part.aspen").is_file()


def write_part(sheet: Sheet, machine: str) -> str:
    """The component that a sheet is about, for machines to include; it declares no machine."""
    return _write(f"{sheet.kind}.part.aspen", sheet.entries, machine)


def write_machine(sheet: Sheet, machine: str, part: str | None = None) -> str:
    """The model of a machine of one such component, which it has in it, or includes from the file `part`."""
    text = _write(f"{sheet.kind}.aspen", sheet.entries, machine)
    if not has_part(sheet):
        return text
    inside = write_part(sheet, machine) if part is None else f"include {part}\n"
    between = _write("processor.between.aspen", sheet.entries, machine) if sheet.kind == "processor" else ""
    return text.replace("include PART\n", inside).replace("include BETWEEN\n", between)


def name_component(sheet: Sheet, machine: str) -> str:
    """The name of the component of a sheet: that of the machine behind its vendor's."""
    vendor = re.sub(r"[^a-z0-9]+", "_", sheet.entries["vendor"].text.lower()).strip("_")
    return f"{vendor}_{machine}" if vendor.isidentifier() and not machine.startswith(vendor) else f"{machine}_socket"


def _write(template: str, entries: Entries, machine: str) -> str:
    text = read_skeleton(f"sheets/{template}")
    text = re.sub(r"\bSOCKET\b", name_component(Sheet("", entries), machine), _put_name(text, machine))
    blocks = []
    for block in text.removesuffix("\n").split("\n\n"):
        condition = _CONDITION.match(block)
        if condition and not condition[1]:
            if _holds(condition[3], entries) != (condition[2] == "?"):
                continue
            block = block[condition.end() :]
        lines = [written for line in block.split("\n") for written in _write_line(line, entries)]
        blocks.append("\n".join(lines))
    return "\n\n".join(filter(None, blocks)) + "\n"


def _put_name(text: str, machine: str) -> str:
    return re.sub(r"\bNAME(?=_|\b)", machine, text)


def _write_line(line: str, entries: Entries) -> Iterator[str]:
    """The line with its holes filled, and its comment above where both are too long for one."""
    if condition := _CONDITION.match(line):
        if _holds(condition[3], entries) != (condition[2] == "?"):
            return
        line = condition[1] + line[condition.end() :]
    code, _, remark = line.partition("//")
    filled = _fill(code, entries)
    if filled is None:
        return
    if not code.strip():
        yield _fill(line, entries) or line
        return
    names = [hole[2] for hole in _HOLE.finditer(line) if hole[1] == "@"]
    if any(name not in entries for name in names):
        return
    remarks = [part for part in map(str.strip, remark.split(";")) if part and not part.startswith("@")]
    comment = "; ".join(dict.fromkeys([*remarks, *(entries[name].comment for name in names)]))
    whole = f"{filled.rstrip()}  // {comment}" if comment else filled.rstrip()
    if len(whole) <= LONGEST_LINE:
        yield whole
        return
    indent = code[: len(code) - len(code.lstrip())]
    yield from (f"{indent}// {row}" for row in textwrap.wrap(comment, LONGEST_LINE - len(indent) - 3))
    yield filled.rstrip()


def _fill(text: str, entries: Entries) -> str | None:
    """The text with values in its holes; None where one of them is not known."""
    if any(hole[2] not in entries for hole in _HOLE.finditer(text)):
        return None
    return _HOLE.sub(lambda hole: entries[hole[2]].text, text)
