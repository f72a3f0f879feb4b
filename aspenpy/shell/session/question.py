"""Question: an expression that somebody typed, in the names of the models, of the metrics, and of the session."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NoReturn

from aspenpy.answers.metrics import find_metric, metric_names, summable_properties
from aspenpy.answers.prediction import Prediction
from aspenpy.answers.scope import Value, as_float
from aspenpy.cost.placement_options import PlacementOptions
from aspenpy.cost.value_mistakes import locate_failures
from aspenpy.expr.evaluate import evaluate
from aspenpy.expr.graph import Expr
from aspenpy.language import nodes
from aspenpy.language.diagnostics import AspenError, fail
from aspenpy.language.dimensions import DIMENSIONLESS, JOULES, SECONDS, Dimension, parse_unit, unit_symbol
from aspenpy.language.infer import Lookup, dimension_of
from aspenpy.language.parser import parse_part
from aspenpy.language.source import Source, Span, trim_span
from aspenpy.language.statements import fields_of_node, walk_nodes
from aspenpy.record import Record
from aspenpy.shell.session.state import SessionState
from aspenpy.tables.numbers import format_setting

COMMENT = "//"  # begins a comment, as in a model


def read_line(text: str, name: str = "<input>", number: int = 1) -> Span:
    """A line with neither the comment at its end nor white space around it; `number` is its line in what was typed."""
    source = Source(text, name, first_line=number)
    return trim_span(Span(source, 0, len(text.partition(COMMENT)[0])))


def split_statements(text: str) -> Iterator[str]:
    """The statements of a line between `;`, each in its place behind spaces; one that is empty at the end is none."""
    start = 0
    for statement in text.partition(COMMENT)[0].removesuffix(";").split(";"):
        yield " " * start + statement
        start += len(statement) + 1


def first_word(span: Span) -> tuple[Span, Span]:
    """The first word, and what is behind it."""
    match = re.match(r"\S*", span.text())
    end = span.start + (match.end() if match else 0)
    return Span(span.source, span.start, end), trim_span(Span(span.source, end, span.end))


def split_around(span: Span, word: str) -> tuple[Span, Span] | None:
    """The spans before and behind the last such word; None where there is none."""
    matches = list(re.finditer(rf"(?<!\S){word}(?!\S)", span.text()))
    if not matches:
        return None
    start, end = span.start + matches[-1].start(), span.start + matches[-1].end()
    return trim_span(Span(span.source, span.start, start)), trim_span(Span(span.source, end, span.end))


def refuse_line(what: str, span: Span, usage: str) -> NoReturn:
    """Refuses a line in which something else should stand there."""
    fail("bad-line", f"expected {what}", span, hint=f"write `{usage}`")


def read_identifier(span: Span, what: str, usage: str) -> str:
    """The identifier in a span; refuses the line, with its usage, where there is none."""
    text = span.text()
    if not re.fullmatch(r"[^\W\d]\w*", text):
        refuse_line(what, span, usage)
    return text


HINTS = {
    "--set": "set",
    "--socket": "socket",
    **{f"--{field.replace('_', '-')}": field.replace("_", "-") for field in PlacementOptions._fields},
    "--kernel": "kernel",
}
"""What an option of the command line is called here."""

_OPTION = re.compile("|".join(HINTS))


@contextmanager
def place_errors(span: Span) -> Iterator[None]:
    """Errors without a place get that one in the line, and their hints the words of a session."""
    try:
        with locate_failures({}, span):  # what a command did not locate itself
            yield
    except AspenError as error:
        placed = (item.replace(span=item.span or span, hint=_reword_hint(item.hint)) for item in error.diagnostics)
        raise AspenError(*placed) from None


def _reword_hint(hint: str | None) -> str | None:
    return hint and _OPTION.sub(lambda option: HINTS[option[0]], hint)


LARGEST = 10_000  # names and operators of an expression in which the session's own names are written out


class Question(Record):
    """An expression, the prediction that gives it a value, and its base unit, empty where none is known."""

    text: str
    prediction: Prediction
    expr: Expr
    unit: str
    span: Span

    @property
    def value(self) -> Value:
        """Exact where the models are."""
        number: Value = self.prediction.scope.values([self.expr], self.prediction.seed)[0]
        return number

    def formula(self, *free: str) -> Expr:
        """The expression as a formula in the parameters in `free`, with the values of all others put in."""
        return self.prediction.scope.formulas([self.expr], free)[0]

    def as_function(self, *names: str) -> Callable[..., Value]:
        """The expression as a function of the values of parameters, by exact arithmetic; raises AspenError."""
        formula = self.formula(*names)
        symbols = [self.prediction.scope.symbol(name) for name in names]

        def value(*values: Value) -> Value:
            shown = ", ".join(f"`{name}` = {format_setting(x)}" for name, x in zip(names, values, strict=True))
            with self.prediction.scope.locate_failures(f"with {shown}" if names else ""):
                number: Value = evaluate(formula, dict(zip(symbols, values, strict=True)), self.prediction.seed)
            if isinstance(number, tuple):
                as_float(number, f"`{self.text}`", self.span)  # for its error alone
            return number

        return value


def read_question(span: Span, state: SessionState) -> Question:
    """The question that stands there: an expression, of whose names some are metrics; the runtime, if nothing does."""
    if not span.text():
        span = Span(Source("runtime"), 0, len("runtime"))
    tree = tree_of(span, state)
    prediction = state.prediction
    metrics = metrics_of(prediction)
    used = [name for name in names_in(tree) if name in metrics and not is_declared(state, name)]
    expr = prediction.scope.lower(tree, {name: find_metric(name).expr(prediction) for name in used})
    dimension = _dimension_of_answer(tree, lambda name: metrics[name] if name in used else None)
    return Question(" ".join(span.text().split()), prediction, expr, unit_symbol(dimension) if dimension else "", span)


def _dimension_of_answer(tree: nodes.Expression, lookup: Lookup) -> Dimension | None:
    """The dimension of an answer: a plain number that it is multiplied with has none, though in a model it may."""
    found = dimension_of(tree, lookup)
    if found is not None or not isinstance(tree, nodes.Chain) or tree.rest[0][0] in "+-":
        return found
    result = DIMENSIONLESS
    for operator, factor in (("*", tree.first), *tree.rest):
        plain = isinstance(factor, nodes.Number) and factor.unit is None
        dimension = DIMENSIONLESS if plain else _dimension_of_answer(factor, lookup)
        if dimension is None:
            return None
        result = result * dimension if operator == "*" else result / dimension
    return result


def is_declared(state: SessionState, name: str) -> bool:
    """Whether one of the models has something of that name."""
    return any(model.lookup(name) is not None for model in (state.application, state.required_machine))


def names_in(tree: Any) -> set[str]:
    """The names that an expression is written in."""
    return {node.name for node in walk_nodes(tree) if isinstance(node, nodes.Name)}


def symbol_at(span: Span, state: SessionState) -> Expr:
    """The parameter whose name stands there."""
    with place_errors(span):
        return state.prediction.scope.symbol(span.text())


PRODUCTS = {"edp": JOULES * SECONDS, "ed2p": JOULES * SECONDS**2}
"""Dimensions of metrics whose units are written with more than one base unit."""


def metrics_of(prediction: Prediction) -> dict[str, Dimension | None]:
    """The metrics of a prediction, by name, each with its dimension where it has one. Left out are `power`, which is a
    keyword of the language (`energy/runtime` is the same), and sums over the machine's tree: `clock` would be one of
    all cores."""
    left_out = {"power", *summable_properties(prediction.machine)}
    return {name: _dimension_of_metric(name) for name in metric_names(prediction) if name not in left_out}


def _dimension_of_metric(name: str) -> Dimension | None:
    unit = find_metric(name).unit
    return PRODUCTS.get(name) or (parse_unit(unit).dimension if unit else None)


def tree_of(span: Span, state: SessionState) -> nodes.Expression:
    """The syntax tree of what stands there, in the models' names: those of the session are written out."""
    return replace_names(parse_part(span), state.names, span)


def replace_names(tree: nodes.Expression, names: Mapping[str, nodes.Expression], span: Span) -> nodes.Expression:
    """The tree with names replaced by what they stand for; raises AspenError where it becomes too large."""
    left = LARGEST

    def rewritten(node: Any) -> Any:
        nonlocal left
        if not isinstance(node, nodes.Name) or node.name not in names:
            return _map_branches(node, rewritten)
        left -= sum(1 for _ in walk_nodes(names[node.name]))
        if left < 0:
            fail("too-large", f"written out, this has more than {LARGEST:,} names and operators", span)
        return names[node.name]

    written: nodes.Expression = rewritten(tree)
    return written


def _map_branches(node: Any, change: Callable[[Any], Any]) -> Any:
    """A branch of a tree with its own branches changed."""
    if isinstance(node, tuple):
        return tuple(map(change, node))
    if not isinstance(node, Record):
        return node
    return node.replace(**{field: change(getattr(node, field)) for field in fields_of_node(node)})
