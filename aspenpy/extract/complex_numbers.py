"""Complex numbers of C and of C++'s standard library: what their operators, accessors and functions cost."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count

from aspenpy.extract import records as r
from aspenpy.language.source import Span

OPERATIONS = {
    ("+", 2): "++", ("-", 2): "++", ("*", 2): "****++", ("+", 1): "+", ("-", 1): "+", ("*", 1): "**", ("/", 1): "//",
    ("norm", 1): "**+", ("conj", 1): "",
}  # fmt: skip
"""Operations on reals of an operator, by how many of its operands are complex; those of `norm`, `conj`. A quotient by
a complex number is a call of the compiler's library."""


_POWER = "log hypot atan2 * * * * + + exp sin cos * *"
_CIRCULAR = "sin cos sinh cosh * *"

FUNCTIONS = {
    "exp": "exp sin cos * *", "log": "log hypot atan2", "pow": _POWER, "sqrt": "hypot + * sqrt / *",
    "abs": "hypot", "arg": "atan2", **dict.fromkeys(("sin", "cos", "sinh", "cosh"), _CIRCULAR),
    **dict.fromkeys(("tan", "tanh"), f"{_CIRCULAR} * * + / /"),
}  # fmt: skip
"""Functions and operations of reals that those of complex numbers are made of, in the GNU C library
(`math/s_cexp_template.c` and its sisters), to which those of C++ and of gfortran go."""

PREFIX = "std::complex<"
"""Begins the names of the types of complex numbers, those of C too."""

_PARTS = {"creal": "real", "cimag": "imag", "conj": "conj"}

NAMES = {
    f"{name}{suffix}": plain
    for name, plain in (*_PARTS.items(), *((f"c{name}", name) for name in FUNCTIONS))
    for suffix in ("", "f", "l")
}
"""Functions of C by the names that they have in C++."""


def is_complex(type: r.Type) -> bool:
    return type.kind == "record" and type.name.startswith(PREFIX)


def list_costs(asked: Iterable[str], word: r.Type, span: Span | None) -> tuple[r.Expression, ...]:
    """Operations and functions of reals by their names, each on parts of complex numbers of its own."""
    parts = (r.Variable(f"part {place} of a complex number", "part", word, "local") for place in count())
    return tuple(
        r.Call(name, name, (part,), word, span) if name.isalnum() else r.Operation(name, (part, part), word, span)
        for name, part in zip(asked, parts, strict=False)
    )


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
    asked: Iterable[str] | None = OPERATIONS.get((sign.removesuffix("=") or sign, len(numbers)))
    asked = FUNCTIONS[name].split() if name in FUNCTIONS else asked
    if asked is None or len(arguments) > 2 or sign in ("==", "!="):
        return None
    value = r.Several(
        (*arguments, *list_costs(asked, word, span)), word if name in ("norm", "abs", "arg") else whole, span=span
    )
    return r.assign(arguments[0], value, span) if sign.endswith("=") else value
