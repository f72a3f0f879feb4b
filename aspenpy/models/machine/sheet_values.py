"""Values of data sheets: a quantity, a count, a text or a word as vendors write it, in the words of the language."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, NoReturn

from aspenpy.language.diagnostics import fail, suggest_instead, suggest_nearest
from aspenpy.language.dimensions import parse_unit
from aspenpy.language.files import list_models, models_folder
from aspenpy.language.opening import read_text_file
from aspenpy.language.source import Span
from aspenpy.record import Record

MOST_DIGITS = 40


class SheetField(Record):
    """A field of a data sheet. `unit` is one of the language, empty for a count, `text`, `word`, some words, or a
    folder of the library that has parts of such names."""

    name: str
    unit: str
    asks: str
    example: str = ""
    needed: bool = False


class SheetValue(Record):
    """A value as the model has it, and the comment that says where it is from."""

    text: str
    comment: str


_NUMBERS = re.compile(r"\{[1-9]\d{0,5}(?:, ?[1-9]\d{0,5}){0,11}\}")
_NUMBER = re.compile(r"([0-9]+(?:\.[0-9]*)?(?:e[+-]?[0-9]{1,3})?)\s*(.*)")


class StatedValue(Record):
    """A value as a sheet states it, the source that the sheet gives for all, and the place."""

    value: Any
    origin: str
    span: Span


VENDORS_FIELDS = {"turbo": "clock_highest", "boost": "clock_highest", "tdp": "watts", "price": "hourly_price"}
"""Fields by words of vendors for them."""


def find_field(name: str, fields: Mapping[str, SheetField], span: Span) -> SheetField:
    """The field of a sheet with that name. Raises AspenError where there is none."""
    if name in fields:
        return fields[name]
    meant = [field for word, field in VENDORS_FIELDS.items() if word in name and field in fields]
    hint = f"did you mean `{meant[0]}`?" if meant else suggest_nearest(name, fields)
    hint = hint or "`aspenpy machine new --template KIND` shows the fields"
    fail("unknown-field", f"a data sheet has no field `{name}`", span, hint=hint)


def read_value(field: SheetField, stated: StatedValue, machine: str, own: Collection[str] = ()) -> SheetValue:
    """A value of a sheet with its source. `own` are parts that the library lacks.

    :raises AspenError: where the field cannot have that value
    """
    value, span = stated.value, stated.span
    before, _, comment = str(value).partition("//") if isinstance(value, str) else (str(value), "", "")
    text = before.strip()
    usable = isinstance(value, (str, int, float)) and not isinstance(value, bool) and text.isprintable()
    if field.unit == "text":
        if not (usable and text):
            fail("no-value", f"`{field.name}` is a text: {field.asks}", span, hint=f'such as "{field.example}"')
        return SheetValue(text[:100], "")
    known = _list_words(field.unit)
    if known and text not in known and text not in own:
        text = _find_by_name(text, known) or _refuse_word(text, known, field, span)
    written, note = _write_value(text, field, bool(known), machine) if usable else (None, "")
    if written is None:
        expected = _EXPECTED.get(field.unit, f"a quantity in {field.unit}")
        example = field.example or _EXAMPLES.get(field.unit)
        message = f"`{field.name}` is {expected}: {field.asks}"
        fail("no-value", message, span, hint=f"such as {example}" if example else None)
    origin = _read_origin(comment.strip(), stated.origin, span)
    return SheetValue(written, f"{note}; {origin}" if note else origin)


def _write_value(text: str, field: SheetField, is_known: bool, machine: str) -> tuple[str | None, str]:
    """A value as the language has it, None where the field has none such, and a note on how it was read."""
    if field.unit == "numbers":
        return (text if _NUMBERS.fullmatch(text) else None), ""
    if field.unit == "word" or is_known:
        return _write_word(text if is_known else text.lower()), ""
    if field.unit == "price" and (price := _PRICE.fullmatch(text)):
        return price[2], price[1] or price[3]
    if field.name == "link.bandwidth" and (transfers := _TRANSFERS.fullmatch(text)):
        return f"2*{transfers[1]} {transfers[2]}B/s", f"derived: {text} x 2 B"
    if field.name in _CACHES and (size := _SIZE.fullmatch(text)):
        return f"{size[1]} {size[2].upper()}iB", f"{size[2]}{size[3]} of 1024" if size[2] != "K" else ""
    return _write_quantity(text, field.unit, f"{machine}_clock"), ""


_PRICE = re.compile(r"([$€£]?) ?([0-9]+(?:\.[0-9]+)?)(?: ?([A-Za-z]{3}|[$€£])(?:/h)?)?")
_TRANSFERS = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?([GM])T/s")
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?([kKMG])(B|Bytes?)")
_CACHES = ("l1.capacity", "l2.capacity", "l3.capacity")
_EXAMPLES = {"": "2", "Hz": "2.4 GHz", "s": "50 ns", "B": "64 B", "B/s": "30 GB/s", "price": "7.2 USD"}
_EXPECTED = {"word": "a word", "numbers": "numbers as {24, 16}", "": "a number above zero", "price": "a price"}


def _list_words(unit: str) -> list[str]:
    """The words that a field takes whose unit is the library's folder of them, or all of them with blanks between."""
    if unit.startswith("parts/"):
        return sorted(list_models(os.path.join(models_folder(), "machines", *unit.split("/"))))
    if unit.startswith("sheets/"):
        folder, first = Path(models_folder(), "machines", "sheets"), f'kind = "{unit.removeprefix("sheets/")}"'
        return sorted(path.stem for path in folder.glob("*.toml") if read_text_file(str(path)).startswith(first))
    return unit.split() if " " in unit else []


def _find_by_name(text: str, known: Collection[str]) -> str | None:
    """The one known word that a name is, as vendors write it, with or without their own: `EPYC 7763`."""
    name = re.sub(r"[^a-z0-9]+", "_", text.lower().replace("+", "plus")).strip("_")
    alike = [word for word in known if f"_{word}_".endswith(f"_{name}_") or f"_{name}_".endswith(f"_{word}_")]
    return alike[0] if name and len(alike) == 1 else None


def _refuse_word(text: str, known: Collection[str], field: SheetField, span: Span) -> NoReturn:
    """Refuses what is none of the known words; of the library's sockets those that fit the field are shown."""
    hint, noun = None, "words"
    if field.unit == "parts/sockets":
        folder = Path(models_folder(), "machines", *field.unit.split("/"))
        has_lanes = {name: "property simt" in read_text_file(str(folder / f"{name}.aspen")) for name in known}
        known = [name for name in known if has_lanes[name] == (field.name == "accelerator")]
        noun = f"library's {field.name}s"
        hint = f'one of your own is named by its file: `{field.name} = "FILE.aspen"`, or its sheet, `"FILE.toml"`; '
    elif field.unit.startswith("sheets/"):
        known = [*known, *(name for name in list_models(os.path.join(models_folder(), "machines")) if name != text)]
        hint = "it has one socket of that kind, with its cores; "
    message = f"`{field.name}` cannot be `{text}`: {field.asks}"
    words = suggest_instead(text, known, noun)
    fail("unknown-word", message, span, hint=(hint or "") + words)


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


def in_units(text: str) -> float:
    """The number of a quantity as a sheet states it, in bytes, hertz and seconds."""
    number, _, unit = text.partition(" ")
    return float(number) * float(parse_unit(unit).size)


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
