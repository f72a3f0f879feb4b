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

from aspenpy.language.diagnostics import AspenError, Diagnostic, fail, require_known, suggest_nearest
from aspenpy.language.dimensions import parse_unit
from aspenpy.language.files import list_models, models_folder
from aspenpy.language.source import Source, Span
from aspenpy.models.machine.texts import TEMPLATES, read_skeleton
from aspenpy.record import Record

SHEET_KINDS = tuple(sorted(path.stem for path in Path(TEMPLATES, "sheets").glob("*.toml")))

LONGEST_LINE = 120
MOST_DIGITS = 40


class SheetField(Record):
    """A field of a data sheet. `unit` is one of the language, empty for a count, `text`, `word`, some words, or a
    folder of the library that has parts of such names."""

    name: str
    unit: str
    asks: str
    example: str = ""
    needed: bool = False


class SheetRule(Record):
    """The value of a field that a sheet leaves out, from a year on, where a condition holds."""

    field: str
    value: str
    reason: str
    since: int = 0
    when: str = ""


class SheetValue(Record):
    """A value as the model has it, and the comment that says where it is from."""

    text: str
    comment: str


Entries = Mapping[str, SheetValue]


class SheetKind(Record):
    """The fields and rules of a kind of sheet."""

    fields: Mapping[str, SheetField]
    rules: tuple[SheetRule, ...]


@cache
def sheet_kind(name: str) -> SheetKind:
    """The fields and rules of one of `SHEET_KINDS`."""
    table = tomllib.loads(read_skeleton(f"sheets/{name}.toml"))
    fields = {key: SheetField(key, **row) for key, row in table["fields"].items()}
    return SheetKind(fields, tuple(SheetRule(**row) for row in table["rules"]))


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
    """A sheet as it was read: its kind, and what it states of each field."""

    kind: str
    entries: Entries


def read_sheet(source: Source, machine: str) -> Sheet:
    """The values of a sheet as the model `machine` writes them, completed by the rules of its kind.

    :raises AspenError: with every mistake of the sheet, each at its line
    """
    table = _parse_toml(source)
    kind = table.pop("kind", None)
    if kind not in SHEET_KINDS:
        hint = f'write `kind = "{SHEET_KINDS[0]}"`, or another of {", ".join(SHEET_KINDS)}'
        fail("unknown-kind", "the sheet names no kind of machine that there is", _find_key(source, "kind"), hint=hint)
    errors: list[Diagnostic] = []
    entries: dict[str, SheetValue] = {}
    fields = sheet_kind(kind).fields
    for name, value, origin in _walk_values(table, ""):
        try:
            entries[name] = _read_value(name, value, origin, fields, _find_key(source, name), machine)
        except AspenError as error:
            errors += error.diagnostics
    for field in fields.values():
        if field.needed and field.name not in entries and not errors:
            message = f"the sheet has no `{field.name}`: {field.asks}"
            hint = f'write `{field.name.rpartition(".")[2]} = "{field.example}"`'
            errors.append(Diagnostic("missing-field", message, _find_key(source, field.name), hint=hint))
    if errors:
        raise AspenError(*errors)
    return Sheet(kind, _complete(entries, sheet_kind(kind), machine))


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


_NUMBERS = re.compile(r"\{[1-9]\d{0,5}(?:, ?[1-9]\d{0,5}){0,11}\}")
_NUMBER = re.compile(r"([0-9]+(?:\.[0-9]*)?(?:e[+-]?[0-9]{1,3})?)\s*(.*)")


def _read_value(
    name: str, value: Any, origin: str, fields: Mapping[str, SheetField], span: Span, machine: str
) -> SheetValue:
    field = fields.get(name)
    if field is None:
        hint = suggest_nearest(name, fields) or "`aspenpy machine new --template KIND` shows the fields"
        fail("unknown-field", f"a data sheet has no field `{name}`", span, hint=hint)
    stated, _, comment = str(value).partition("//") if isinstance(value, str) else (str(value), "", "")
    text = stated.strip()
    usable = isinstance(value, (str, int, float)) and not isinstance(value, bool) and text.isprintable()
    if field.unit == "text":
        if not (usable and text):
            fail("no-value", f"`{name}` is a text: {field.asks}", span, hint=f'such as "{field.example}"')
        return SheetValue(text[:100], "")
    if known := _list_words(field.unit):
        require_known(text, known, "unknown-word", f"`{name}` is one of some words: {field.asks}", span)
    is_word = bool(known) or field.unit == "word"
    if field.unit == "numbers":
        written = text if _NUMBERS.fullmatch(text) else None
    else:
        written = (
            _write_word(text if known else text.lower())
            if is_word
            else _write_quantity(text, field.unit, f"{machine}_clock")
        )
    if not usable or written is None:
        expected = {"word": "a word", "numbers": "numbers as {24, 16}", "": "a number above zero"}.get(
            field.unit, f"a quantity in {field.unit}"
        )
        example = field.example or {"": "2", "Hz": "2.4 GHz", "s": "50 ns", "B": "64 B", "B/s": "30 GB/s"}.get(
            field.unit
        )
        fail("no-value", f"`{name}` is {expected}: {field.asks}", span, hint=f"such as {example}" if example else None)
    return SheetValue(written, _read_origin(comment.strip(), origin, span))


def _list_words(unit: str) -> list[str]:
    """The words that a field takes whose unit is the library's folder of them, or all of them with blanks between."""
    if unit.startswith("parts/"):
        return sorted(list_models(os.path.join(models_folder(), "machines", *unit.split("/"))))
    return unit.split() if " " in unit else []


def _write_word(text: str) -> str | None:
    return text if text.isidentifier() and text.isascii() else None


_OF_VENDORS = {"KB": "KiB", "Bytes": "B", "Byte": "B"}
_VENDORS_BYTES = re.compile(r"\bKB\b|Bytes?")


def _write_quantity(text: str, unit: str, clock: str) -> str | None:
    """A quantity as the language has it; None where it is none of that unit. Cycles are of the machine's clock; bits,
    in which networks are sold, are eighths of bytes; TFLOPS, TOPS, KB and MByte are what vendors write."""
    match = _NUMBER.fullmatch(text)
    if match is None or len(text) > MOST_DIGITS or not float(match[1]):
        return None
    number, given = match[1], _VENDORS_BYTES.sub(lambda found: _OF_VENDORS[found[0]], match[2].strip())
    if not unit or not given:
        return number if unit == given else None
    if unit == "s" and given in ("cycle", "cycles"):
        return f"{number}/{clock}"
    if unit == "B/s" and (bits := re.fullmatch(r"([kMGT]?)(bit|b)/s", given)):
        return f"{number} {bits[1]}B/s/8"
    if unit == "flop/s" and (rate := re.fullmatch(r"(?i:([GTP])(?:fl)?op/?s)", given)):
        return f"{number} {rate[1].upper()}flop/s"
    if unit == "B/s" and given.endswith("/cycle"):
        inside = given.removesuffix("/cycle")
        return f"{number} {inside}*{clock}" if _has_dimension(inside, "B") else None
    return f"{number} {given}" if _has_dimension(given, unit) else None


def _has_dimension(given: str, unit: str) -> bool:
    try:
        return parse_unit(given).dimension == parse_unit(unit).dimension
    except KeyError:
        return False


def _read_origin(comment: str, origin: str, span: Span) -> str:
    """The comment of a number. One without any source is assumed."""
    standing, colon, source = (comment or origin).partition(":")
    if not comment and not origin:
        return "assumed: the sheet names no source"
    if not (comment or origin).isprintable():
        fail("no-source", "a source is one line of text", span)
    if standing.strip() == "published" and colon:
        return source.strip()
    return comment or origin


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
                text = _choose_ways(value, name.partition(".")[0], found) if value.startswith("ways ") else value
                found[name] = SheetValue(text, f"assumed: {rules[-1].reason}")
    return found


def _holds(condition: str, entries: Entries) -> bool:
    """Whether a field is known; behind `=` how it begins, behind `==` what it is; with `&` all of several."""
    if "&" in condition:
        return all(_holds(each, entries) for each in condition.split("&"))
    name, _, start = condition.partition("=")
    if not condition or name not in entries:
        return not condition
    return entries[name].text == start[1:] if start.startswith("=") else entries[name].text.startswith(start)


def _choose_ways(value: str, level: str, entries: Entries) -> str:
    """So many ways, or less, as make whole sets of the capacity of a level."""
    size, line = (_count_bytes(entries[f"{level}.{name}"].text) for name in ("capacity", "line"))
    lines = max(1, round(size / line))
    return str(next(ways for ways in range(int(value.split()[1]), 0, -1) if lines % ways == 0))


def _count_bytes(text: str) -> float:
    number, _, unit = text.partition(" ")
    return float(number) * float(parse_unit(unit).size)


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
    return text.replace("include PART\n", inside)


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
