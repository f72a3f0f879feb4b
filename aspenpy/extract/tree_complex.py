"""Complex numbers of C++'s standard library: what their operators and accessors cost."""

from __future__ import annotations

from aspenpy.extract import records as r
from aspenpy.language.source import Span

OPERATIONS = {
    ("+", 2): "++", ("-", 2): "++", ("*", 2): "****++", ("+", 1): "+", ("-", 1): "+", ("*", 1): "**", ("/", 1): "//",
    ("norm", 1): "**+", ("conj", 1): "",
}  # fmt: skip
"""Operations on reals of an operator, by how many of its operands are complex; those of `norm`, `conj`. A quotient by
a complex number is a call of the compiler's library."""


def is_complex(type: r.Type) -> bool:
    return type.kind == "record" and type.name.startswith("std::complex<")


def operate_on_complex(
    name: str, arguments: tuple[r.Expression, ...], type: r.Type, span: Span | None
) -> r.Expression | None:
    """A call of a function of `std::complex`; None for one that is not known."""
    numbers = [part for part in arguments if is_complex(part.type)]
    if not numbers:
        return None
    word = r.Type("real", numbers[0].type.size // 2)
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
    value = r.Several((*arguments, *costs), numbers[0].type if name != "norm" else word, span=span)
    return r.assign(arguments[0], value, span) if sign.endswith("=") else value
