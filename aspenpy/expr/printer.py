"""The one printer: one table of precedences, and a table for each dialect.

Aspen text and LaTeX are here; C and Python, which need statements around expressions, bring their own tables.

A node becomes pieces, which are strings or further nodes, on a stack: there is no recursion, and the cost is linear in
the length of the text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import count
from typing import Any

from aspenpy.expr import graph
from aspenpy.expr.arithmetic import Number, aspen_numeral, latex_numeral
from aspenpy.expr.functions import FUNCTIONS, Function
from aspenpy.expr.gathered import compute_constants, gather_numbers
from aspenpy.expr.node import TEXTS, Expr, nodes_of_kind, topological_order
from aspenpy.record import Record

MOST_NODES = 1_000_000  # limit of the nodes of the written tree, in which shared nodes count as often as they are used
MOST_READ = 5_000  # the same, of a formula beside other results: a page, which is written in 0.05 s

JUNCTION, COMPARISON, SUM, PRODUCT, SIGN, POWER, ATOM = range(7)
"""Levels of binding of a text, the loosest first. A piece that is a node gives the least binding that needs no
parentheses there."""

Pieces = list["str | tuple[Expr, int]"]

Rule = Callable[["Expr", "Dialect"], tuple[int, Pieces]]  # the precedence of a node's text, and its pieces


class TooLarge(ValueError):
    """The expression, written out, would have more than `MOST_NODES` nodes."""


class Dialect(Record):
    """`numeral` gives text and precedence of a non-negative number. `rules` has the kinds that the dialect writes in
    its own way; a rule gives the precedence of the result and its pieces."""

    name: str
    numeral: Callable[[Number], tuple[str, int]]
    symbol: Callable[[str], str]
    product: str
    template: Callable[[Function], str]
    brackets: tuple[str, str] = ("(", ")")
    comparisons: Mapping[str, str] = {}
    junctions: Mapping[str, str] = {}
    constants: tuple[str, str] = ("false", "true")
    rules: Mapping[str, Rule] = {}


# -- names -----------------------------------------------------------------------------------------


def display_names(*exprs: Expr) -> dict[Expr, str]:
    """A unique name for each symbol: its own if no other has it, else `owner:name`, else one with a number appended."""
    symbols = nodes_of_kind("symbol", *exprs)
    uses = Counter(symbol.name for symbol in symbols)
    taken: set[str] = set()
    names: dict[Expr, str] = {}
    for symbol in symbols:
        name, owner = symbol.payload[:2]
        wanted = name if uses[name] == 1 or not owner else f"{owner.partition(' loop ')[0]}:{name}"
        names[symbol] = take_name(wanted, taken)
    return names


def _names_in_text(expr: Expr) -> dict[Expr, str]:
    """`display_names`, where counters of sums that stand apart from each other may have the same name."""
    names = display_names(expr)
    for node in nodes_of_kind("sum", expr):
        counter = node.args[0]
        others = {names[symbol] for symbol in nodes_of_kind("symbol", node) if symbol is not counter}
        if counter.payload[0] not in others:
            names[counter] = counter.payload[0]
    return names


def take_name(wanted: str, taken: set[str]) -> str:
    """The name, with a number behind it where it is taken; now it is."""
    name, copy = wanted, 2
    while name in taken:
        name, copy = f"{wanted}_{copy}", copy + 1
    taken.add(name)
    return name


# -- pieces common to all dialects -----------------------------------------------------------------


def _write_number(node: Expr, dialect: Dialect) -> tuple[int, Pieces]:
    text, precedence = dialect.numeral(abs(node.payload))
    negative = node.payload < 0
    return (min(SIGN, precedence), ["-" + text]) if negative else (precedence, [text])


def _write_boolean(node: Expr, dialect: Dialect) -> tuple[int, Pieces]:
    return ATOM, [dialect.constants[node.payload]]


def _write_sum_of_terms(node: Expr, dialect: Dialect) -> tuple[int, Pieces]:
    """Negative terms are written with a minus between the terms."""
    pieces: Pieces = [(node.args[0], SUM)]
    for term in node.args[1:]:
        if term.kind == "neg":
            pieces += [" - ", (term.args[0], PRODUCT)]
        elif term.kind == "number" and term.payload < 0:
            pieces += [" - ", (graph.number(-term.payload), PRODUCT)]
        elif term.kind == "mul" and term.args[0].kind == "number" and term.args[0].payload < 0:
            _, (_, *factors) = _write_product(term, dialect)
            pieces += [" - ", (graph.number(-term.args[0].payload), PRODUCT), *factors]
        else:
            pieces += [" + ", (term, PRODUCT)]
    return SUM, pieces


def _write_product(node: Expr, dialect: Dialect) -> tuple[int, Pieces]:
    pieces: Pieces = [(node.args[0], PRODUCT)]
    for factor in node.args[1:]:
        pieces += [dialect.product, (factor, POWER)]
    return PRODUCT, pieces


def _write_negation(node: Expr, dialect: Dialect) -> tuple[int, Pieces]:
    return SIGN, ["-", (node.args[0], POWER)]


def _write_quotient(node: Expr, dialect: Dialect) -> tuple[int, Pieces]:
    return PRODUCT, [(node.args[0], PRODUCT), "/", (node.args[1], POWER)]


def _write_power(node: Expr, dialect: Dialect) -> tuple[int, Pieces]:
    return POWER, [(node.args[0], ATOM), "^", (node.args[1], POWER)]


def _write_comparison(node: Expr, dialect: Dialect) -> tuple[int, Pieces]:
    sign = dialect.comparisons.get(node.payload, node.payload)
    return COMPARISON, [(node.args[0], SUM), f" {sign} ", (node.args[1], SUM)]


def _write_junction(node: Expr, dialect: Dialect) -> tuple[int, Pieces]:
    """Parentheses where `and` and `or` meet: languages differ in which binds tighter."""
    first, second = node.args
    sign = dialect.junctions.get(node.payload, node.payload)
    same = first.kind == "junction" and first.payload == node.payload
    return JUNCTION, [(first, JUNCTION if same else COMPARISON), f" {sign} ", (second, COMPARISON)]


def fill_template(template: str, args: tuple[Expr, ...]) -> Pieces:
    """A template with arguments put in: `{0}`, `{1}`, `{joined}` for all of them with commas between, and `{count}`
    for how many there are."""
    from string import Formatter  # at start-up, it would compile the pattern of templates

    pieces: Pieces = []
    for text, field, _, _ in Formatter().parse(template):
        pieces.append(text)
        if field == "joined":
            for position, arg in enumerate(args):
                pieces += [", ", (arg, JUNCTION)] if position else [(arg, JUNCTION)]
        elif field == "count":
            pieces.append(str(len(args)))
        elif field is not None:
            pieces.append((args[int(field)], JUNCTION))
    return pieces


def _make_call_rule(template: str) -> Rule:
    return lambda node, dialect: (ATOM, fill_template(template, node.args))


def _write_call(node: Expr, dialect: Dialect) -> tuple[int, Pieces]:
    return ATOM, fill_template(dialect.template(FUNCTIONS[node.payload]), node.args)


def _write_draw(node: Expr, dialect: Dialect) -> tuple[int, Pieces]:
    return ATOM, fill_template(dialect.template(FUNCTIONS[node.payload]), node.args[1:])


def _write_element(node: Expr, dialect: Dialect) -> tuple[int, Pieces]:
    pieces: Pieces = [(node.args[0], ATOM)]
    for position in node.args[1:]:
        pieces += ["[", (position, JUNCTION), "]"]
    return ATOM, pieces


RULES: dict[str, Rule] = {
    "number": _write_number,
    "boolean": _write_boolean,
    "add": _write_sum_of_terms,
    "mul": _write_product,
    "neg": _write_negation,
    "div": _write_quotient,
    "power": _write_power,
    "compare": _write_comparison,
    "junction": _write_junction,
    "apply": _write_call,
    "draw": _write_draw,
    "array": _make_call_rule("{{{joined}}}"),
    "index": _write_element,
    "if_else": _make_call_rule("if({joined})"),
    "sum": _make_call_rule("sum({joined})"),
    "failure": _make_call_rule("undefined"),
    "stream": _make_call_rule("stream({joined})"),
}


# -- LaTeX -----------------------------------------------------------------------------------------


def _write_latex_symbol(name: str) -> str:
    """One letter in italics, words upright."""
    if len(name) == 1 and name.isalpha():
        return name
    return r"\mathrm{" + name.replace("_", r"\_").replace(":", "{:}") + "}"


def _write_latex_power(node: Expr, dialect: Dialect) -> tuple[int, Pieces]:
    base, exponent = node.args
    fraction = base.kind == "div" or (base.kind == "number" and "frac" in latex_numeral(abs(base.payload))[0])
    opened: Pieces = [r"\left(", (base, JUNCTION), r"\right)"] if fraction else [(base, ATOM)]
    return POWER, [*opened, "^{", (exponent, JUNCTION), "}"]


def _write_latex_element(node: Expr, dialect: Dialect) -> tuple[int, Pieces]:
    positions = fill_template("{joined}", node.args[1:])
    return ATOM, ["{", (node.args[0], ATOM), "}_{", *positions, "}"]


def _write_latex_choice(node: Expr, dialect: Dialect) -> tuple[int, Pieces]:
    condition, then, otherwise = node.args
    pieces: Pieces = [r"\begin{cases} ", (then, JUNCTION), r" & \text{if } ", (condition, JUNCTION), r" \\ "]
    return ATOM, [*pieces, (otherwise, JUNCTION), r" & \text{otherwise} \end{cases}"]


def _write_latex_sum(node: Expr, dialect: Dialect) -> tuple[int, Pieces]:
    counter, count, body = node.args
    last = graph.sub(graph.apply("ceil", count), 1)
    pieces: Pieces = [r"\sum_{", (counter, ATOM), "=0}^{", (last, JUNCTION), "} ", (body, PRODUCT)]
    return SUM, pieces


# -- the dialects ----------------------------------------------------------------------------------

ASPEN = Dialect(
    "aspen",
    numeral=lambda value: _find_precedence(aspen_numeral(value)),
    symbol=lambda name: name,
    product="*",
    template=lambda function: function.name + "({joined})",
)
LATEX = Dialect(
    "latex",
    numeral=lambda value: _find_precedence(latex_numeral(value)),
    symbol=_write_latex_symbol,
    product=r" \cdot ",
    template=lambda function: function.latex,
    brackets=(r"\left(", r"\right)"),
    comparisons={"==": "=", "!=": r"\ne", "<=": r"\le", ">=": r"\ge"},
    junctions={"and": r"\land", "or": r"\lor"},
    constants=(r"\mathrm{false}", r"\mathrm{true}"),
    rules={
        "div": _make_call_rule(r"\frac{{{0}}}{{{1}}}"),
        "power": _write_latex_power,
        "index": _write_latex_element,
        "array": _make_call_rule(r"\left\{{{joined}\right\}}"),
        "if_else": _write_latex_choice,
        "sum": _write_latex_sum,
        "failure": _make_call_rule(r"\mathrm{{undefined}}"),
    },
)


def _find_precedence(numeral: tuple[str, bool]) -> tuple[str, int]:
    """A numeral with its precedence: a quotient or a product of two numbers binds less than one number."""
    text, simple = numeral
    return text, ATOM if simple else PRODUCT


# -- writing ---------------------------------------------------------------------------------------


def write_fragments(expr: Expr, dialect: Dialect, names: Mapping[Expr, str]) -> Iterator[str]:
    """The text in fragments. `names` has a text for every symbol, and for other nodes that are written as atoms."""
    waiting: list[Any] = [(expr, JUNCTION)]
    while waiting:
        piece = waiting.pop()
        if type(piece) is str:
            yield piece
            continue
        node, least = piece
        while node.kind == "checked" and node not in names:
            node = node.args[0]
        if node in names:
            yield names[node]
            continue
        precedence, pieces = (dialect.rules.get(node.kind) or RULES[node.kind])(node, dialect)
        if precedence < least:
            opening, closing = dialect.brackets
            pieces = [opening, *pieces, closing]
        waiting.extend(reversed(pieces))


def _join_fragments(expr: Expr, dialect: Dialect, most: int = MOST_NODES) -> str:
    nodes = topological_order(expr)
    sizes: dict[Expr, int] = {}
    for node in nodes:
        sizes[node] = min(1 + sum([sizes[arg] for arg in node.args]), most + 1)
    _require_short(sizes[expr], nodes, most)
    names = {node: dialect.symbol(name) for node, name in _names_in_text(expr).items()}
    return "".join(write_fragments(expr, dialect, names))


def _require_short(size: int, nodes: Sequence[Expr], most: int = MOST_NODES) -> None:
    if size > most:
        raise TooLarge(f"written out, the expression has more than {most:,} terms; its graph has {len(nodes):,} nodes")


def to_text(expr: Expr) -> str:
    """Aspen text; conditions and sums, which Aspen has no expressions for, as `if(condition, a, b)` and `sum(i, count,
    body)`.

    May raise `TooLarge`.
    """
    return _join_fragments(expr, ASPEN)


SHORTEST_NAMED = 6
"""Nodes of the written tree of the shortest term that is worth a name."""


def name_terms(
    expr: Expr, known: Mapping[Expr, str], taken: Collection[str] = (), shortest: int = SHORTEST_NAMED
) -> list[tuple[str, str]]:
    """Names and texts of the terms that occur several times or are `known` by a name, each behind those that it is made
    of; the last text, without a name, is that of the expression. Numbers are gathered. May raise `TooLarge`."""
    expr, *keys = compute_constants([expr, *known])
    known = dict(zip(keys, known.values(), strict=True))
    counters = {node.args[0] for node in nodes_of_kind("sum", expr)}
    within_sums = {*graph.dependents(expr, on=counters)} if counters else set()
    nodes = topological_order(expr)
    uses, sizes, unnamed = Counter(arg for node in nodes for arg in node.args), dict[Expr, int](), count(1)
    names, terms = _names_in_text(expr), dict[Expr, Expr]()
    used = {*taken, *names.values()}
    written: list[tuple[Expr | None, Expr]] = []
    for node in nodes:
        sizes[node] = min(1 + sum(1 if arg in terms else sizes[arg] for arg in node.args), MOST_NODES + 1)
        if node in within_sums or node.kind in ("symbol", "number"):
            continue
        if node is not expr and (node in known or (uses[node] > 1 and sizes[node] >= shortest)):
            _require_short(sizes[node], nodes)
            name = known.get(node) or f"t{next(unnamed)}"
            term = graph.symbol(take_name(name, used), "term")
            written.append((term, _gather_with_terms(node, terms)))
            terms[node], names[term] = term, term.name
    _require_short(sizes[expr], nodes)
    written.append((None, _gather_with_terms(expr, terms)))
    needed = {symbol for _, text in written for symbol in nodes_of_kind("symbol", text)}
    return [
        (names[term] if term else "", "".join(write_fragments(text, ASPEN, names)))
        for term, text in written
        if term is None or term in needed
    ]


def _gather_with_terms(expr: Expr, terms: Mapping[Expr, Expr]) -> Expr:
    """The expression with symbols in place of terms, its numbers gathered."""
    return gather_numbers(graph.rewrite([expr], lambda node, args: None, new=dict(terms))[0])


def to_named_text(expr: Expr, name: str, known: Mapping[Expr, str]) -> str:
    """Aspen text in lines `term = ...`, of `name_terms`; the last one is that of the expression, `name = ...`."""
    return "\n".join(f"{term or name} = {text}" for term, text in name_terms(expr, known, taken=(name,)))


def to_latex(expr: Expr) -> str:
    """LaTeX for mathematics mode. May raise `TooLarge`."""
    return _join_fragments(expr, LATEX)


def text_if_short(expr: Expr) -> str | None:
    """`to_text`, or None where it has more than `MOST_READ` terms."""
    try:
        return _join_fragments(expr, ASPEN, MOST_READ)
    except TooLarge:
        return None


def shorten_text(expr: Expr, length: int = 80) -> str:
    """The beginning of the text, for messages and the debugger."""
    text = ""
    for fragment in write_fragments(expr, ASPEN, _names_in_text(expr)):
        text += fragment
        if len(text) > length:
            return text[: length - 3] + "..."
    return text


TEXTS.update(text=to_text, excerpt=shorten_text)
