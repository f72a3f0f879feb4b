"""Complex numbers of C and of C++'s standard library: what their operators and accessors cost."""

from __future__ import annotations

from aspenpy.extract import records as r
from aspenpy.language.source import Span

OPERATIONS = {
    ("+", 2): "++", ("-", 2): "++", ("*", 2): "****++", ("+", 1): "+", ("-", 1): "+", ("*", 1): "**", ("/", 1): "//",
    ("norm", 1): "**+", ("conj", 1): "",
}  # fmt: skip
"""Operations on reals of an operator, by how many of its operands are complex; those of `norm`, `conj`. A quotient by
a complex number is a call of the compiler's library."""


PREFIX = "std::complex<"
"""Begins the names of the types of complex numbers, those of C too."""

NAMES = {
    f"{name}{suffix}": plain
    for name, plain in (("creal", "real"), ("cimag", "imag"), ("conj", "conj"))
    for suffix in ("", "f", "l")
}
"""Functions of C by the names that they have in C++."""


def is_complex(type: r.Type) -> bool:
    return type.kind == "record" and type.name.startswith(PREFIX)


def operate_on_complex(
    name: str, arguments: tuple[r.Expression, ...], type: r.Type, span: Span | None
) -> r.Expression | None:
    """An operation on complex numbers by its name in C++; None for one that is not known."""
    numbers = [part for part in arguments if is_complex(part.type)]
    if not numbers:
        return None
    name = NAMES.get(name, name)
    whole = type if is_complex(type) else numbers[0].type
    word = r.Type("real", whole.size // 2)
    if name in ("real", "imag") and len(arguments) == 1:
        if not isinstance(arguments[0], r.Variable | r.Element | r.Field):
            return r.Several(arguments, word, span=span)
        return r.Field(arguments[0], name, word.size * (name == "imag"), word, span)
    sign = name.removeprefix("operator")
    if sign == "-" and len(arguments) == 1:
        return arguments[0]
    asked = OPERATIONS.get((sign.removesuffix("=") or sign, len(numbers)))
    if asked is None or len(arguments) > 2 or sign in ("==", "!="):
        return None
    part = r.Variable("part of a complex number", "part", word, "local")
    costs = (r.Operation(operator, (part, part), word, span) for operator in asked)
    value = r.Several((*arguments, *costs), whole if name != "norm" else word, span=span)
    return r.assign(arguments[0], value, span) if sign.endswith("=") else value
