"""Expressions as a C99 function that compiles as it stands."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping, Sequence

from aspenpy.expr.arithmetic import Number
from aspenpy.expr.c_helpers import HEADERS, HELPERS
from aspenpy.expr.functions import FUNCTIONS
from aspenpy.expr.node import Expr, topological
from aspenpy.expr.numerals import float_numeral
from aspenpy.expr.printer import ATOM, JUNCTION, POWER, PRODUCT, Dialect, Pieces, called, display_names, written
from aspenpy.expr.schedule import temporaries

_WORDS = """
    auto break case char const continue default do double else enum extern float for goto if inline int long main
    register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while
    acos asin atan atan2 cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs fdim floor fma fmax fmin fmod
    fpclassify frexp gamma hypot ilogb isfinite isinf isnan isnormal j0 j1 jn ldexp lgamma llrint llround log log10
    log1p log2 logb lrint lround modf nan nearbyint nextafter pow remainder remquo rint round scalbn signbit signgam
    sin sinh sqrt tan tanh tgamma trunc y0 y1 yn
"""
KEYWORDS = frozenset(_WORDS.split())
"""The words of the language, and the names that math.h has taken."""


class NotInC(ValueError):
    """The expression has no form in C; the message says what stands in the way."""


def to_c(expr: Expr, free: Sequence[Expr], name: str = "runtime") -> str:
    """`double name(double ...)` with a parameter for each free symbol, in their order; needs the C library's `-lm`.

    Computes in double precision. The result is NAN where the expression has no value, and where it overflows. Raises
    `NotInC` for random draws, for symbols that are not free, and for arrays that are not written out.
    """
    taken = {"result"}
    shown = display_names(expr, *free)
    names = {symbol: identifier(shown[symbol], taken) for symbol in free}
    body, result = to_c_fragment(expr, names, taken)
    parameters = ", ".join(f"double {names[symbol]}" for symbol in free) or "void"
    lines = [f"double {identifier(name, set())}({parameters})", "{", *("    " + line for line in body)]
    lines += [f"    const double result = {result};", "    return isfinite(result) ? result : NAN;", "}"]
    function = "\n".join(lines)
    helpers = used_helpers(function, HELPERS)
    headers = [header for header, call in HEADERS.items() if call in "".join(helpers)]
    return "\n\n".join(["\n".join(headers), *helpers, function]) + "\n"


def to_c_fragment(expr: Expr, names: Mapping[Expr, str], taken: set[str]) -> tuple[list[str], str]:
    """What has to stand before an expression in a block of C, and the expression: a double, or an int if it is a
    condition.

    `names` has the text for each free symbol; the identifiers in `taken` are avoided, and those declared here added.
    Raises `NotInC` as `to_c` does.
    """
    _refuse(expr, names)
    writer = _Writer(expr, names, taken)
    return writer.block(None, [expr]), "".join(written(expr, C, writer.names))


def identifier(name: str, taken: set[str]) -> str:
    """A C identifier for a name of the model: `fft3d.n` is `fft3d_n`; never a keyword, nor one that is taken."""
    plain = re.sub(r"\W", "_", name, flags=re.ASCII)
    if not plain or plain[0].isdigit() or plain.startswith(("_", "aspen_")):
        plain = "m" + plain
    if plain in KEYWORDS:
        plain += "_"
    free, copy = plain, 2
    while free in taken:
        free, copy = f"{plain}_{copy}", copy + 1
    taken.add(free)
    return free


def used_helpers(text: str, helpers: Mapping[str, str]) -> list[str]:
    """The helpers, named `aspen_...`, that the text uses, and those that they use themselves, in the order of the
    table."""
    wanted: dict[str, str] = {}
    waiting = [text]
    while waiting:
        for name in re.findall(r"\baspen_\w+", waiting.pop()):
            if name not in wanted:
                wanted[name] = helpers[name]
                waiting.append(helpers[name])
    return [source for name, source in helpers.items() if name in wanted]


def _refuse(expr: Expr, free: Container[Expr]) -> None:
    nodes = topological(expr)
    counters = {node.args[0] for node in nodes if node.kind == "sum"}
    for node in nodes:
        if node.kind == "draw":
            raise NotInC("a random draw has no form in C")
        if node.kind == "symbol" and node not in counters and node not in free:
            raise NotInC(f"`{node.payload[0]}` is neither given a value nor a parameter of the function")
        arrays = node.args[:1] if node.kind == "index" else node.args[:2] if node.payload == "lookup" else ()
        if any(array.kind != "array" for array in arrays):
            raise NotInC("an array has a form in C only where its elements are written out")
        if node.kind == "index" and len(node.args) != 1 + len(_shape(node.args[0])):
            raise NotInC("a row of a table has no form in C")


def _shape(array: Expr) -> tuple[int, ...]:
    """(length,) of an array, (rows, columns) of a table."""
    if not array.args or array.args[0].kind != "array":
        return (len(array.args),)
    widths = {len(row.args) if row.kind == "array" else -1 for row in array.args}
    if len(widths) != 1:
        raise NotInC("a table has a form in C only where its rows have the same length")
    return len(array.args), widths.pop()


class _Writer:
    """Statements for the nodes that need a name: in the function's block, or in that of the innermost loop whose
    counter they depend on."""

    def __init__(self, expr: Expr, free: Mapping[Expr, str], taken: set[str]) -> None:
        self.order = topological(expr)
        self.free = free
        self.names: dict[Expr, str] = dict(free)
        shown = display_names(expr)
        self.names |= {symbol: identifier(name, taken) for symbol, name in shown.items() if symbol not in free}
        self.taken = taken
        self.loop: dict[Expr, Expr | None] = {}
        self._place()
        self.named = temporaries(self.order, [expr], frozenset({"sum", "array"})) - self._mere_rows()
        for node in self.order:
            if node.args:
                self.named |= {arg for arg in node.args if arg.args and self.loop[arg] is not self.loop[node]}

    def _place(self) -> None:
        """Finds for each node the counter of the innermost loop it must stand in, None outside of all loops."""
        counters: dict[Expr, frozenset[Expr]] = {}
        depth: dict[Expr, int] = {}
        for node in self.order:
            inside = frozenset[Expr]().union(*[counters[arg] for arg in node.args])
            if node.kind == "symbol" and len(node.payload) == 3 and node not in self.free:
                inside = frozenset({node})
            elif node.kind == "sum":
                inside -= {node.args[0]}
            counters[node] = inside
        for node in reversed(self.order):  # an outer sum comes after the sums within it
            if node.kind == "sum":
                depth[node.args[0]] = max([depth.get(node.args[0], 0), *[1 + depth.get(c, 0) for c in counters[node]]])
        for node in self.order:
            self.loop[node] = max(counters[node], key=lambda c: (depth.get(c, 0), c.serial), default=None)

    def _mere_rows(self) -> set[Expr]:
        """Arrays that stand in a table and nowhere else: the table has their elements."""
        users = [node for node in self.order if node.kind != "array"]
        rows = {arg for node in self.order if node.kind == "array" for arg in node.args if arg.kind == "array"}
        return rows - {arg for node in users for arg in node.args}

    def block(self, counter: Expr | None, roots: Iterable[Expr]) -> list[str]:
        """The statements that make the roots known, within the loop of that counter."""
        lines: list[str] = []
        for node in self._within(counter, roots):
            if node not in self.named or node in self.names:
                continue
            temporary = identifier(f"t{len(self.names)}", self.taken)
            lines += self._statements(node, temporary)
            self.names[node] = temporary
        return lines

    def _within(self, counter: Expr | None, roots: Iterable[Expr]) -> list[Expr]:
        """What the roots are made of in this block, the bodies of loops left out."""
        seen = {root for root in roots if self.loop[root] is counter}
        waiting = list(seen)
        while waiting:
            node = waiting.pop()
            for arg in self._uses(node):
                if arg not in seen and self.loop[arg] is counter:
                    seen.add(arg)
                    waiting.append(arg)
        return sorted(seen, key=lambda node: node.serial)

    def _uses(self, node: Expr) -> Iterable[Expr]:
        return node.args if node.kind != "sum" else [node.args[1], *self._hoisted(node)]

    def _hoisted(self, total: Expr) -> list[Expr]:
        """What the body of a loop needs from outside of it."""
        inside = {total.args[2]}
        waiting = list(inside)
        outside = []
        while waiting:
            node = waiting.pop()
            if node.args and self.loop[node] is self.loop[total]:
                outside.append(node)
                continue
            for arg in node.args:
                if arg not in inside:
                    inside.add(arg)
                    waiting.append(arg)
        return outside

    def _statements(self, node: Expr, temporary: str) -> list[str]:
        if node.kind == "array":
            return self._array(node, temporary)
        if node.kind == "sum":
            return self._sum(node, temporary)
        kind = "int" if node.kind in ("compare", "junction") else "double"
        return [f"const {kind} {temporary} = {''.join(written(node, C, self.names))};"]

    def _array(self, node: Expr, temporary: str) -> list[str]:
        """A table is stored row by row."""
        shape = _shape(node)
        elements = [element for row in node.args for element in row.args] if len(shape) == 2 else list(node.args)
        storage = "static const" if all(element.kind == "number" for element in elements) else "const"
        texts = ", ".join("".join(written(element, C, self.names)) for element in elements)
        return [f"{storage} double {temporary}[] = {{{texts or '0.0'}}};"]

    def _sum(self, node: Expr, temporary: str) -> list[str]:
        counter, count, body = node.args
        index, limit = self.names[counter], identifier(temporary + "_count", self.taken)
        known = dict(self.names)
        inner = self.block(counter, [body])
        term = "".join(written(body, C, self.names))
        self.names = known | {node: temporary}
        return [
            f"const double {limit} = ceil({''.join(written(count, C, known))});",
            f"double {temporary} = 0.0 * {limit};",
            f"for (double {index} = 0.0; {index} < {limit} && !isnan({temporary}); {index} += 1.0) {{",
            *("    " + line for line in inner),
            f"    {temporary} += {term};",
            "}",
        ]


# -- the dialect -----------------------------------------------------------------------------------

_COMPARISONS = {
    "==": "aspen_equal",
    "!=": "aspen_unequal",
    "<": "aspen_less",
    ">": "aspen_greater",
    "<=": "aspen_at_most",
    ">=": "aspen_at_least",
}


def _numeral(value: Number) -> tuple[str, int]:
    try:
        return float_numeral(value), ATOM
    except OverflowError:
        return "NAN", ATOM


def _div(node: Expr, dialect: Dialect) -> tuple[int, Pieces]:
    """A constant that is not 0 may divide as it is."""
    top, bottom = node.args
    if bottom.kind == "number" and bottom.payload != 0:
        return PRODUCT, [(top, PRODUCT), " / ", (bottom, POWER)]
    return ATOM, called("aspen_divide({joined})", node.args)


def _apply(node: Expr, dialect: Dialect) -> tuple[int, Pieces]:
    if node.payload == "lookup":
        points = f", {len(node.args[0].args)}, {len(node.args[1].args)}, "
        pieces: Pieces = ["aspen_lookup(", (node.args[0], ATOM), ", ", (node.args[1], ATOM), points]
        return ATOM, [*pieces, (node.args[2], JUNCTION), ")"]
    if node.payload in ("max", "min"):
        pieces = [f"aspen_{node.payload}("] * (len(node.args) - 1)
        pieces += [(node.args[0], JUNCTION)]
        for arg in node.args[1:]:
            pieces += [", ", (arg, JUNCTION), ")"]
        return ATOM, pieces
    return ATOM, called(FUNCTIONS[node.payload].c, node.args)


def _index(node: Expr, dialect: Dialect) -> tuple[int, Pieces]:
    shape = _shape(node.args[0])
    name = "aspen_element" if len(shape) == 1 else "aspen_cell"
    pieces: Pieces = [f"{name}(", (node.args[0], ATOM), f", {', '.join(map(str, shape))}"]
    for position in node.args[1:]:
        pieces += [", ", (position, JUNCTION)]
    return ATOM, [*pieces, ")"]


C = Dialect(
    "c",
    numeral=_numeral,
    symbol=lambda name: name,
    product=" * ",
    template=lambda function: function.c,
    constants=("0", "1"),
    rules={
        "div": _div,
        "power": lambda node, dialect: (ATOM, called("aspen_power({joined})", node.args)),
        "apply": _apply,
        "index": _index,
        "compare": lambda node, dialect: (ATOM, called(_COMPARISONS[node.payload] + "({joined})", node.args)),
        "junction": lambda node, dialect: (ATOM, called(f"aspen_{node.payload}({{joined}})", node.args)),
        "if_else": lambda node, dialect: (ATOM, called("aspen_if({joined})", node.args)),
        "checked": lambda node, dialect: (ATOM, called(f"aspen_{node.payload}({{joined}})", node.args)),
        "failure": lambda node, dialect: (ATOM, ["NAN"]),
    },
)
