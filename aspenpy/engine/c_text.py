"""Programs as text in C99: a function of its own that compiles as it stands, or the statements of a larger one.

What has no value is not finite, and `helpers/*.h` see to it that it stays so up to the result.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from aspenpy.engine.compiled import condition_operands, flatten_array, is_condition, why_unwritable
from aspenpy.engine.operation import Op, SumLoop, array_operands, is_certain, lies_within
from aspenpy.engine.program import Program
from aspenpy.engine.writer import ARITHMETIC, ATOM, LEAVES, PRODUCT, SIGN, SUM, ExpressionWriter
from aspenpy.expr.arithmetic import float_numeral
from aspenpy.expr.failures import LAWS
from aspenpy.expr.functions import FUNCTIONS
from aspenpy.expr.graph import free_symbols
from aspenpy.expr.node import Expr, nodes_of_kind
from aspenpy.expr.printer import display_names, take_name

_WORDS = """
    auto break case char const continue default do double else enum extern float for goto if inline int long main
    register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while
    acos asin atan atan2 cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs fdim floor fma fmax fmin fmod
    fpclassify frexp gamma hypot ilogb isfinite isinf isnan isnormal j0 j1 jn ldexp lgamma llrint llround log log10
    log1p log2 logb lrint lround modf nan nearbyint nextafter pow remainder remquo rint round scalbn signbit signgam
    sin sinh sqrt tan tanh tgamma trunc y0 y1 yn
"""
KEYWORDS = frozenset(_WORDS.split())  # keywords, and the names in math.h

HEADERS = {"#include <math.h>": "", "#include <stdlib.h>": "calloc("}
"""The call that each header is needed for; an empty one means always."""

FORMS: dict[str, tuple[str, int]] = {
    **ARITHMETIC,
    "div": ("aspen_divide({0}, {1})", ATOM),
    "root": ("aspen_root({0}, {payload}.0)", ATOM),
    "power": ("aspen_power({0}, {1})", ATOM),
    "and": ("aspen_and({0}, {1})", ATOM),
    "or": ("aspen_or({0}, {1})", ATOM),
    "if": ("aspen_if({0}, {1}, {2})", ATOM),
    "failed": ("NAN", ATOM),
}
"""Templates of the operations that are one expression; those of functions are in the table of functions."""

COMPARED = {
    "==": "aspen_equal",
    "!=": "aspen_unequal",
    "<": "aspen_less",
    ">": "aspen_greater",
    "<=": "aspen_at_most",
    ">=": "aspen_at_least",
}

SURE = {"max": "aspen_larger({0}, {1})", "min": "aspen_smaller({0}, {1})"}
"""Simpler templates for operands that certainly have a value."""


class NotInC(ValueError):
    """The expression has no form in C; the message says why."""


def to_c(expr: Expr, free: Sequence[Expr], name: str = "runtime") -> str:
    """`double name(double ...)` with a parameter for each free symbol, in their order; needs the C library's `-lm`.

    Computes in double precision. The result is NAN where the expression has no value, and where it overflows. Raises
    `NotInC` for random draws, for symbols that are not free, and for arrays that are not written out.
    """
    taken = {"result"}
    shown = display_names(expr, *free)
    names = {symbol: make_identifier(shown[symbol], taken) for symbol in free}
    body, result = to_c_fragment(expr, names, taken)
    parameters = ", ".join(f"double {names[symbol]}" for symbol in free) or "void"
    lines = [f"double {make_identifier(name, set())}({parameters})", "{", *("    " + line for line in body)]
    lines += [f"    const double result = {result};", "    return isfinite(result) ? result : NAN;", "}"]
    function = "\n".join(lines)
    needed = find_used_helpers(function, read_helpers())
    headers = [header for header, call in HEADERS.items() if call in "".join(needed)]
    return "\n\n".join(["\n".join(headers), *needed, function]) + "\n"


def to_c_fragment(expr: Expr, names: Mapping[Expr, str], taken: set[str]) -> tuple[list[str], str]:
    """The statements that must precede an expression in a block of C, and the expression: a double, or an int if it is
    a condition.

    `names` has the text for each free symbol; the identifiers in `taken` are avoided, and those declared here added.
    Raises `NotInC` as `to_c` does.
    """
    _refuse_other_symbols(expr, names)
    program = Program([expr], list(names), short_loops=True)
    reason = why_unwritable(program, program.straight)
    if reason is not None:
        raise NotInC(reason)
    written = list(names.values())
    inputs = {index: written[number] for index, number in program.given.items()}
    writer = CWriter(program, program.straight, inputs, taken)
    return writer.block(program.straight), writer.text(program.roots[0])


def _refuse_other_symbols(expr: Expr, free: Container[Expr]) -> None:
    if nodes_of_kind("draw", expr):
        raise NotInC("a random draw has no form in C")
    for symbol in sorted(free_symbols(expr), key=lambda node: node.serial):
        if symbol not in free:
            raise NotInC(f"`{symbol.name}` is neither given a value nor a parameter of the function")


def make_identifier(name: str, taken: set[str]) -> str:
    """A C identifier for a name of the model: `fft3d.n` is `fft3d_n`; never a keyword or a name in `taken`."""
    plain = re.sub(r"\W", "_", name, flags=re.ASCII)
    if not plain or plain[0].isdigit() or plain.startswith(("_", "aspen_")):
        plain = "m" + plain
    if plain in KEYWORDS:
        plain += "_"
    return take_name(plain, taken)


# -- helpers ---------------------------------------------------------------------------------------


@cache
def read_helpers() -> dict[str, str]:
    """The functions of `helpers/*.h` by name, in an order in which they may be defined."""
    folder = Path(__file__).with_name("helpers")
    files = ("arithmetic.h", "caches.h", "windows.h", "grids.h")
    return {name: text for file in files for name, text in split_helpers(folder / file).items()}


def split_helpers(file: Path) -> dict[str, str]:
    """The definitions of a file by name, each with the comment above it, without the head of the file. A definition
    begins in the first column after an empty line."""
    parts = re.split(r"\n\n(?=\S)", file.read_text(encoding="utf-8").rstrip("\n"))[1:]
    return {re.findall(r"\baspen_\w+", part)[0]: part for part in parts if not part.startswith("#")}


def find_used_helpers(text: str, helpers: Mapping[str, str]) -> list[str]:
    """The helpers, named `aspen_...`, that the text uses directly or through other helpers, in the order of the
    table."""
    wanted: set[str] = set()
    waiting = [text]
    while waiting:
        for name in re.findall(r"\baspen_\w+", waiting.pop()):
            if name not in wanted:
                wanted.add(name)
                waiting.append(helpers[name])
    return [source for name, source in helpers.items() if name in wanted]


# -- writing ---------------------------------------------------------------------------------------


class CWriter(ExpressionWriter):
    """Declarations and expressions in C; arrays that are indexed become tables. The identifiers in `taken` are avoided,
    and loops make at most `most_passes`."""

    inline = LEAVES | {"array"}
    number, condition, variable = "const double", "const int", "double"
    """Types in declarations: of a value, of a condition, of what a loop changes."""
    table = "{storage} {name}[] = {{{elements}}};"
    forms = FORMS

    def __init__(
        self,
        program: Program,
        indices: Iterable[int],
        names: Mapping[int, str],
        taken: set[str],
        most_passes: float | None = None,
    ) -> None:
        super().__init__(program, indices, names)
        self.taken, self.most_passes = taken, most_passes
        self.tables = {arg for index in self.order for arg in array_operands(program.ops[index])}

    def written_operands(self, op: Op) -> Sequence[int]:
        if op.kind == "checked":
            return op.args[1:] if _is_amount(op) else (op.args[0], *op.args[1:] * 3)
        return super().written_operands(op)

    def _new_name(self, prefix: str = "t") -> str:
        return make_identifier(f"{prefix}{len(self.taken)}", self.taken)

    def statements(self, index: int, op: Op) -> list[str]:
        if index in self.tables and index not in self.names:
            return [self._write_table(index)]
        if index not in self.named:
            return []
        if isinstance(op.payload, SumLoop):
            return self._write_loop(index, op)
        text, name = self.text(index), self._new_name()
        self.names[index] = name
        return [f"{self.condition if is_condition(self.program, index) else self.number} {name} = {text};"]

    def _write_loop(self, position: int, op: Op) -> list[str]:
        loop: SumLoop = op.payload
        total = self.names[position] = self._new_name()
        count, index = make_identifier(total + "_count", self.taken), self._new_name("i")
        self.names[loop.counter] = index
        limit = self.text(op.args[0])
        passes = f"ceil({limit})" if self.most_passes is None else f"aspen_passes({limit}, {self.most_passes!r})"
        known = dict(self.names)
        inner = self.block(loop.inside)
        term = self.text(loop.body)
        self.names = known  # another loop over the same counter declares its own
        return [
            f"{self.number} {count} = {passes};",
            f"{self.variable} {total} = 0.0 * {count};",
            f"for ({self.variable} {index} = 0.0; {index} < {count} && !isnan({total}); {index} += 1.0) {{",
            *("    " + line for line in inner),
            f"    {total} += {term};",
            "}",
        ]

    def _write_table(self, index: int) -> str:
        """The declaration of an array; tables are stored row by row."""
        array = flatten_array(self.program, index)
        assert array is not None
        storage = "const double" if array.computed else "static const double"
        texts = [float_numeral(item) if isinstance(item, float) else self.text(item) for item in array.elements]
        self.names[index] = name = self._new_name()
        return self.table.format(storage=storage, name=name, elements=", ".join(texts))

    def numeral(self, value: float | bool) -> tuple[str, int]:
        if isinstance(value, bool):
            return str(int(value)), ATOM
        return float_numeral(value), SIGN if value < 0 else ATOM

    def expression(self, index: int, op: Op) -> tuple[str, int]:
        if op.kind in ("index", "lookup"):
            return self._write_element(op) if op.kind == "index" else self._write_lookup(op), ATOM
        if op.kind == "checked":
            return self._write_checked(op), ATOM
        sure = all(is_certain(self.program.intervals[arg]) for arg in op.args)
        if op.kind == "div" and is_certain(self.program.intervals[op.args[1]]):
            return f"{self.text(op.args[0], PRODUCT)} / {self.text(op.args[1], ATOM)}", PRODUCT
        if op.kind in SURE and sure:
            template, binding = SURE[op.kind], ATOM
        elif op.kind == "compare":
            template, binding = COMPARED[op.payload] + "({0}, {1})", ATOM
        elif op.kind == "if" and is_condition(self.program, index):
            template, binding = "aspen_either({0}, {1}, {2})", ATOM
        else:
            template, binding = self.forms.get(op.kind) or (FUNCTIONS[op.kind].c, ATOM)
        texts = self.operands(op, binding)
        undecided = condition_operands(self.program, index)
        texts = ["-1" if arg in undecided and text == "NAN" else text for arg, text in zip(op.args, texts, strict=True)]
        return template.format(*texts, joined=", ".join(texts), count=len(texts), payload=op.payload), binding

    def _write_checked(self, op: Op) -> str:
        value, subject = self.text(op.args[0]), self.text(op.args[1], SUM)
        if lies_within(op.payload, self.program.intervals[op.args[1]]):
            return f"({value})"
        if _is_amount(op):
            return f"aspen_amount({self.text(op.args[0])})"
        tests = " && ".join(f"{subject} {sign} {float_numeral(bound)}" for sign, bound in LAWS[op.payload].tests)
        return f"aspen_held({value}, {tests} && isfinite({self.text(op.args[1])}))"

    def _write_element(self, op: Op) -> str:
        array = flatten_array(self.program, op.args[0])
        assert array is not None
        name = "aspen_element" if len(array.shape) == 1 else "aspen_cell"
        positions = ", ".join(self.text(position) for position in op.args[1:])
        element = f"{name}({self.names[op.args[0]]}, {', '.join(map(str, array.shape))}, {positions})"
        return self._guard_undefined(op.args[0], element)

    def _write_lookup(self, op: Op) -> str:
        (values, sizes), array = op.args[:2], flatten_array(self.program, op.args[0])
        assert array is not None
        tables = f"{self.names[values]}, {self.names[sizes]}"
        value = f"aspen_lookup({tables}, {len(array.elements)}, {self.text(op.args[2])})"
        return self._guard_undefined(sizes, self._guard_undefined(values, value))

    def _guard_undefined(self, index: int, value: str) -> str:
        """The value, or nan if any element of the array has no value: all must have one, used or not."""
        array = flatten_array(self.program, index)
        assert array is not None
        return f"aspen_complete({self.names[index]}, {len(array.elements)}, {value})" if array.computed else value


def _is_amount(op: Op) -> bool:
    """Whether the operation checks that its own value is not negative."""
    return op.args[0] == op.args[1] and LAWS[op.payload].tests == ((">=", 0),)
