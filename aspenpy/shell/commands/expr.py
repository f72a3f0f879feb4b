"""The command `aspenpy expr`."""

from __future__ import annotations

from aspenpy.answers.case import Case
from aspenpy.answers.counting import amounts_by_resource
from aspenpy.answers.evaluation import amount_of
from aspenpy.answers.metrics import find_metric
from aspenpy.answers.prediction import Prediction
from aspenpy.answers.scope import Scope
from aspenpy.expr.evaluate import needed_nodes
from aspenpy.expr.gathered import gather_numbers
from aspenpy.expr.graph import Expr
from aspenpy.expr.printer import to_latex, to_named_text, to_text
from aspenpy.language.diagnostics import AspenError, Diagnostic, drop_repeats
from aspenpy.language.files import require_writable, write_whole
from aspenpy.shell.failure import CommandError
from aspenpy.shell.operands import case_of_arguments
from aspenpy.shell.option import Arguments, Examples, OneOf, command, flag, split_words
from aspenpy.shell.options import METRIC, MODEL, OUTPUT, SEED, SETTINGS, machine
from aspenpy.shell.output import emit, report, report_written
from aspenpy.shell.study_options import FREE
from aspenpy.tables.numbers import Amount, format_amount

EXAMPLES: Examples = (
    ("the runtime in seconds, one parameter left free", "aspenpy expr matmul --machine simple --free n"),
    ("a parameter of each model", "aspenpy expr stream --machine simple --free n,simple_bandwidth"),
    ("in short lines, for people", "aspenpy expr comd --machine haswell --free nx --named"),
    ("simplified, for a paper", "aspenpy expr matmul --machine simple --free n --simplify --latex"),
    ("a function in C", "aspenpy expr matmul --machine simple --free n,ranks --c"),
    ("how much of a resource is asked for: no machine is needed", "aspenpy expr matmul --metric flops --free n"),
)

OPTIONS = (
    MODEL,
    machine(required=False, why="; without one only amounts can be asked for"),
    *SETTINGS,
    FREE.adapt("; for all others their values are put in"),
    METRIC.adapt(" (default: runtime)", former="--resource"),
    flag("--simplify", "lets SymPy simplify it; slow for a large formula"),
    OneOf(
        (
            flag(
                "--named",
                "in lines, one for each term that occurs several times, under its name in the models or as t1, t2, ...",
                dest="form",
                action="store_const",
                const="named",
            ),
            flag("--latex", "as LaTeX", dest="form", action="store_const", const="latex"),
            flag("--sympy", "as SymPy writes it", dest="form", action="store_const", const="sympy"),
            flag("--c", "as a function in C99", dest="form", action="store_const", const="c"),
        )
    ),
    OUTPUT.adapt(": the formula (default: it is shown)"),
    SEED,
)


@command("expr", "predict", "The runtime as a formula in the parameters that are left free", OPTIONS, EXAMPLES)
def run_expr(arguments: Arguments) -> int:
    metric = arguments.metric or "runtime"
    if arguments.output is not None:
        require_writable(arguments.output)
    scope, expr = _find_formula(case_of_arguments(arguments), metric)
    free = split_words(arguments.free)
    formula = scope.formulas([expr], free)[0]
    _refuse_failures(formula)
    try:
        if arguments.simplify:
            from aspenpy.expr.sympy_view import simplify_with_sympy

            formula = simplify_with_sympy(formula)
        if arguments.form == "named":
            text = to_named_text(formula, metric, _names_in_models(scope, free))
        else:
            text = _write_formula(arguments.form, formula, [scope.symbol(name) for name in free], metric)
    except ValueError as error:  # too large a formula, or one that has no such form; the message says which
        raise CommandError(str(error)) from None
    if arguments.output is None:
        emit(text + _describe_quotient(gather_numbers(formula), text, metric))
    else:
        write_whole(arguments.output, text + "\n")
        report_written(arguments.output)
    return 0


def _describe_quotient(formula: Expr, text: str, metric: str) -> str:
    """The value of a number that is written as a quotient, which nobody divides in the head."""
    if formula.kind != "number" or "/" not in text:
        return ""
    return f" = {format_amount(Amount(formula.payload, find_metric(metric).unit))}"


def _find_formula(case: Case, metric: str) -> tuple[Scope, Expr]:
    """The metric in the symbols of the models, and what they stand for."""
    if case.machine is None:
        if metric == "runtime":
            raise CommandError("a runtime needs a machine (--machine M); without one, say --metric flops")
        scope, amounts = amounts_by_resource(case)
        return scope, amount_of(amounts, metric)
    prediction = Prediction(case)
    report(drop_repeats(prediction.diagnostics))
    return prediction.scope, prediction.metric(metric)


def _refuse_failures(formula: Expr) -> None:
    """Refuses a formula that fails whatever its parameters are; what stands in one branch of a choice may."""
    for node in needed_nodes(formula):
        if node.kind == "failure" and isinstance(node.payload, Diagnostic):
            raise AspenError(node.payload)


def _names_in_models(scope: Scope, free: list[str]) -> dict[Expr, str]:
    """The names of parameters by their formulas in the free ones; of equal formulas the first."""
    symbols = [symbol for symbol in scope.definitions if not scope.is_array(symbol)]
    formulas = scope.formulas(symbols, free)
    return dict(reversed([(formula, symbol.name) for formula, symbol in zip(formulas, symbols, strict=True)]))


def _write_formula(form: str | None, formula: Expr, free: list[Expr], name: str) -> str:
    """The text of a formula, given its free symbols and what it is called."""
    if form == "sympy":
        from aspenpy.expr.sympy_view import sympy_text

        return sympy_text(formula)
    if form == "c":
        from aspenpy.engine.c_text import to_c

        return to_c(formula, free, name).rstrip("\n")
    gathered = gather_numbers(formula)
    return to_latex(gathered) if form == "latex" else to_text(gathered)
