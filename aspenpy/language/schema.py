"""Schema: what structured content has to look like before anything is made of it.

A file of JSON, or a cell of one in a database, can hold anything, whatever its checksum says: a checksum finds
accidents, and whoever changes a file on purpose writes a new one. A shape says what is taken:

    int, float, str, bool     a value of that type; a float is finite, and may be written as a whole number
    None                      nothing
    [shape]                   a list of any length
    (shape, shape)            a list of exactly these
    {"key": shape}            an object with exactly these keys; "key?" may be missing
    {str: shape}              an object with any keys; beside others, any further keys
    AnyOf(shape, shape)       any of these
    Named("name", shape)      a shape that others hold, and itself where it is set later
    object                    anything
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from aspenpy.language.diagnostics import fail
from aspenpy.language.opening import MAXIMUM_SIZE, read_text_file

if TYPE_CHECKING:
    from pathlib import Path

NAMES = {
    int: "a whole number", float: "a finite number", str: "a text", bool: "true or false", type(None): "null",
    list: "a list", dict: "an object",
}  # fmt: skip
MOST_SHOWN = 40  # characters of a value, or of a key, that a message repeats


class AnyOf:
    """Any of several shapes."""

    def __init__(self, *shapes: Any) -> None:
        self.shapes = shapes


class Named:
    """A shape with a name; one that contains itself gets its `shape` after it was made."""

    def __init__(self, name: str, shape: Any = None) -> None:
        self.name = name
        self.shape = shape


def find_mismatch(value: Any, shape: Any, place: str = "") -> str | None:
    """The difference of a value of JSON from a shape, in a sentence such as "`training.rows` is null, not a whole
    number"; None where it fits."""
    if shape is object:
        return None
    if isinstance(shape, Named):
        return find_mismatch(value, shape.shape, place)
    if isinstance(shape, AnyOf):
        mismatches = [find_mismatch(value, each, place) for each in shape.shapes]
        return None if None in mismatches else _describe_difference(value, shape, place)
    if isinstance(shape, dict):
        return (
            _describe_difference(value, shape, place)
            if not isinstance(value, dict)
            else _find_object_mismatch(value, shape, place)
        )
    if isinstance(shape, list | tuple):
        if not isinstance(value, list) or (isinstance(shape, tuple) and len(value) != len(shape)):
            return _describe_difference(value, shape, place)
        parts = shape if isinstance(shape, tuple) else shape * len(value)
        wrong = (find_mismatch(*pair, f"{place}[{at}]") for at, pair in enumerate(zip(value, parts, strict=True)))
        return next((text for text in wrong if text is not None), None)
    return None if _is_instance(value, shape) else _describe_difference(value, shape, place)


def _is_instance(value: Any, kind: type | None) -> bool:
    if kind is None:
        return value is None
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool) and _is_finite(value)
    return isinstance(value, kind) and (kind is bool or not isinstance(value, bool))


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number beyond floating point
        return False


def _find_object_mismatch(value: dict[str, Any], shape: dict[Any, Any], place: str) -> str | None:
    parts, required = split_keys(shape)
    if missing := [key for key in required if key not in value]:
        return f"`{_place_of_key(place, missing[0])}` is missing"
    if unknown := [key for key in value if key not in parts and str not in shape]:
        return f"`{_place_of_key(place, unknown[0])}` does not belong there"
    shapes = ((key, part, parts[key] if key in parts else shape[str]) for key, part in value.items())
    wrong = (find_mismatch(part, wanted, _place_of_key(place, key)) for key, part, wanted in shapes)
    return next((text for text in wrong if text is not None), None)


def split_keys(shape: dict[Any, Any]) -> tuple[dict[str, Any], list[str]]:
    """Shapes by the keys that an object may have, and the keys that it must have."""
    named = {key: part for key, part in shape.items() if key is not str}
    required = [key for key in named if not key.endswith("?")]
    return {key.removesuffix("?"): part for key, part in named.items()}, required


def _place_of_key(place: str, key: str) -> str:
    return f"{place}.{key[:MOST_SHOWN]}" if place else key[:MOST_SHOWN]


def _describe_difference(value: Any, shape: Any, place: str) -> str:
    held = NAMES[type(value)] if isinstance(value, list | dict | None) else json.dumps(value, default=repr)[:MOST_SHOWN]
    return f"{f'`{place}`' if place else 'the content'} is {held}, not {_describe_shape(shape)}"


def _describe_shape(shape: Any) -> str:
    if isinstance(shape, Named):
        return _describe_shape(shape.shape)
    if isinstance(shape, AnyOf):
        return " or ".join(map(_describe_shape, shape.shapes))
    if isinstance(shape, tuple):
        return f"a list of {len(shape)}"
    return NAMES[type(None) if shape is None else shape if isinstance(shape, type) else type(shape)]


JSON_TYPES = {int: "integer", float: "number", str: "string", bool: "boolean", None: "null"}


def as_json_schema(shape: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    """The shape as JSON Schema, 2020-12, writes it; named ones are put into `definitions`, which become its `$defs`."""

    def convert(part: Any) -> dict[str, Any]:
        return as_json_schema(part, definitions)

    if isinstance(shape, Named):
        if shape.name not in definitions:
            definitions[shape.name] = {}  # it may contain itself
            definitions[shape.name] = convert(shape.shape)
        return {"$ref": f"#/$defs/{shape.name}"}
    if isinstance(shape, AnyOf):
        choices = [*map(convert, shape.shapes)]
        plain = all([*choice] == ["type"] for choice in choices)
        return {"type": [choice["type"] for choice in choices]} if plain else {"anyOf": choices}
    if isinstance(shape, list):
        return {"type": "array", "items": convert(shape[0])}
    if isinstance(shape, tuple):
        return {"type": "array", "prefixItems": [*map(convert, shape)], "items": False, "minItems": len(shape)}
    if not isinstance(shape, dict):
        return {} if shape is object else {"type": JSON_TYPES[shape]}
    parts, required = split_keys(shape)
    named = {"properties": {key: convert(part) for key, part in parts.items()}, "required": required} if parts else {}
    return {"type": "object", **named, "additionalProperties": convert(shape[str]) if str in shape else False}


def parse_json(text: str) -> Any:
    """The value that a text holds in JSON. Raises ValueError where it holds none, is nested too deep, or has a number
    that JSON does not know."""
    try:
        return json.loads(text, parse_int=_read_whole_number, parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError("it is nested too deep") from None


LONGEST_WHOLE = 20  # characters of -2^63


def _read_whole_number(text: str) -> int | float:
    """A whole number beyond 64 bits is read as a float, since arrays of numbers have no place for it."""
    number = int(text) if len(text) <= LONGEST_WHOLE else float(text)
    if math.isinf(number):
        raise ValueError("a number is beyond floating point")
    return number if -(2**63) <= number < 2**63 else float(number)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


def require_json(path: Path | str, what: str, most: int = MAXIMUM_SIZE, hint: str | None = None) -> dict[str, Any]:
    """The object in a file of JSON. Raises AspenError where the file cannot be read or is none."""
    text = read_text_file(path, most, hint=hint)
    try:
        content = parse_json(text)
    except ValueError:
        content = None
    if not isinstance(content, dict):
        fail("no-json", f"`{path}` is not {what}", hint=hint)
    return content
