"""Templates: what their parameters stand for in a call, so that each instance is read with its own types."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from aspenpy.extract import records as r
from aspenpy.record import Record

PARAMETER = re.compile(r"type-parameter-\d+-\d+")
"""How libclang calls the type that a parameter of a template stands for."""

_PARAMETERS = ("TEMPLATE_TYPE_PARAMETER", "TEMPLATE_NON_TYPE_PARAMETER", "TEMPLATE_TEMPLATE_PARAMETER")


class Instance(Record):
    """What the parameters of a template stand for: types by libclang's name for them, numbers by the source's; the
    members of the class that it is a method of. The `suffix` tells instances apart."""

    types: Mapping[str, r.Type]
    values: Mapping[str, int]
    members: Mapping[str, Any]
    owner: r.Type | None = None

    def suffix(self) -> str:
        given = [
            *(f"{type.kind}{type.size}{type.name}" for type in self.types.values()),
            *map(str, self.values.values()),
        ]
        return f"<{','.join(given)}>" if given else ""


NO_INSTANCE = Instance({}, {}, {})


def parameters(template: Any) -> list[Any]:
    """The parameters of a template, in their order."""
    return [child for child in template.get_children() if child.kind.name in _PARAMETERS]


def deduced(formals: list[r.Type], names: list[str], arguments: list[r.Expression]) -> dict[str, r.Type]:
    """The types of parameters from those of a call's arguments: where a formal is such a type, or points at it."""
    found: dict[str, r.Type] = {}
    for formal, name, argument in zip(formals, names, arguments, strict=False):
        match = PARAMETER.search(name)
        if match is None:
            continue
        given = argument.operand.type if isinstance(argument, r.Address) and formal.name == "&" else argument.type
        is_pointer = formal.kind == "pointer" and formal.name != "&"
        inner = given.of if is_pointer and given.of is not None else given
        found.setdefault(match[0], inner)
    return found


def computed(operator: str, operands: tuple[r.Expression, ...]) -> r.Type:
    """The type of an operation whose own type depends on parameters: that of C's usual conversions."""
    if operator in ("<", ">", "<=", ">=", "==", "!=", "&&", "||", "not"):
        return r.Type("integer", 4)
    types = [operand.type for operand in operands]
    pointers = [type for type in types if type.kind in ("pointer", "array")]
    if pointers:
        return pointers[0]
    reals = [type for type in types if type.kind == "real"]
    return max(reals or types, key=lambda type: type.size)
