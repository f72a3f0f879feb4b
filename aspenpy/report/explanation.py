"""Explanations, and cycles of loops, as reports: step by step, by the execution-cache-memory model, and by OSACA."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from math import ceil
from typing import Any

from aspenpy.answers.ecm import Ecm, EcmBlock, EcmTerm, one_digit
from aspenpy.answers.evaluation import Evaluation
from aspenpy.answers.explanation import ExplainedRequirement, Explanation, TraitStep
from aspenpy.answers.incore import InCore
from aspenpy.answers.prediction import Prediction
from aspenpy.answers.run_placement import run_placement
from aspenpy.cost.messages import Exchange
from aspenpy.cost.operations import HELD_BY_SINGLE
from aspenpy.cost.prices import FASTEST
from aspenpy.cost.trait_names import SWEEP, VARIES
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.expr.printer import TooLarge, name_terms, shorten_text
from aspenpy.language.source import Span
from aspenpy.report.prediction_data import runtime_as_data
from aspenpy.report.prediction_facts import describe_runtime
from aspenpy.tables.numbers import (
    Amount,
    count_of,
    format_amount,
    format_count,
    format_share,
    seconds,
    unit_of_resource,
)
from aspenpy.tables.registry import register_report
from aspenpy.tables.table import CSV, JSON, TEXT, Column, Report, Table, make_columns, make_facts, make_table

LONGEST_FORMULA = 400  # characters of a formula; the rest becomes an ellipsis
LONGEST_LINE = 80  # characters of a formula that stands in one line; terms of a longer one have names
LONGEST_NAMED = 1_000  # characters of a formula with its terms that is shown
LONGEST_WRITTEN = 4_000  # characters of one with its terms in JSON
SHORTEST_TERM = 4  # nodes of the shortest term that has a name
AMOUNT = "amount"
DIFFERS = "what differs from call to call, by a formula too long to read"
LONGEST_READ = 120  # characters of the formula of an exchange that a reader is shown
Valuer = Callable[["Expr"], Any]  # the value of an expression, None where it differs from call to call


def report_explanation(explanation: Explanation) -> Report:
    """The runtime, then step by step what it is made of; formulas as text."""
    value = cache(explanation.prediction.value_if_known)
    shown = (
        *_draw_node(explanation.prediction),
        *(make_facts(_facts_of_step(step, value), title=_write_heading(step)) for step in explanation.steps),
    )
    prediction = explanation.prediction
    assert isinstance(prediction, Prediction)
    data = runtime_as_data(prediction)
    steps = make_table(_make_columns_of_steps(value), explanation.steps, "steps", media=JSON)
    rows = make_table(ROWS, explanation.steps, media=CSV)
    headline = describe_runtime(prediction, " in all")
    return Report("explanation/1", headline, data, (*shown, steps, rows), explanation.diagnostics)


register_report(Explanation, report_explanation)

ROWS = (
    *make_columns("kernel block resource"),
    Column("amount", get=lambda step: Amount(step.amount, unit_of_resource(step.resource))),
    *make_columns("component count"),
    Column("time", unit="s"),
    *make_columns("share bounds"),
)

WIDEST_BAR = 64  # characters


def _draw_node(prediction: Evaluation) -> Iterator[Table]:
    """The fullest node of the run: a bar for each socket and NUMA domain, its cores with a rank and those without."""
    placed = run_placement(prediction)
    if placed is None or not placed.on_sockets:
        return
    rows = []
    for number, ranks in enumerate(placed.on_sockets):
        domains = placed.cores_in_domains(ranks)
        occupied = f"{count_of(ranks, 'rank')} on {sum(domains):g} of {placed.cores:g} cores" if ranks else "idle"
        if ranks and len(domains) > 1:
            occupied += f", in {sum(map(bool, domains))} of {len(domains)} NUMA domains"
        width = max(1, round(min(WIDEST_BAR, placed.cores) / len(domains)))
        full = [round(width * cores * len(domains) / placed.cores) for cores in domains]
        bar = "|".join("#" * cores + "." * (width - cores) for cores in full)
        rows.append((f"socket {number}", f"{bar}  {occupied}"))
    which = "" if placed.nodes == 1 else f", the fullest of {placed.nodes:,} nodes"
    yield make_facts([("ranks", str(placed)), *rows], title=f"placement{which}")


# -- for people ------------------------------------------------------------------------------------


def _facts_of_step(step: ExplainedRequirement, value: Valuer) -> list[tuple[str, str]]:
    """Rows that lead from the line in the application to its seconds."""
    unit = unit_of_resource(step.resource)
    return [
        ("requirement", quote_span(step.span, step.resource)),
        ("written at", _describe_place(step.span)),
        *_formula_rows("one instance asks for", step.demand, unit, value),
        ("instances", _formula_and_value(step.parallelism, "", value)),
        *_facts_of_spread(step, value),
        ("the run asks for", format_amount(Amount(step.amount, unit))),
        ("served by", f"{step.component}, {format_count(step.count)} in all"),
        *(
            (
                "and by",
                f"{other}, {'as parts become free' if step.schedule == 'dynamic' else 'each core as many parts'}",
            )
            for other in step.beside
        ),
        ("seconds of an amount", _write_formula(step.rate)),
        ("written at", _describe_place(step.machine_span)),
        *((f"as {trait.name}", _trait_in_words(trait, value)) for trait in step.traits),
        *((f"as {exchange.name}", _exchange_in_words(exchange, value)) for exchange in step.exchanges),
        *((f"as {name}", _ignored_trait_in_words(name)) for name in step.ignored_traits),
        *_facts_of_all_instances(step, value),
        *_launch_facts(step, value),
        *_noise_facts(step, value),
        ("the run takes", f"{seconds(step.time)}, {format_share(step.share)} of the runtime{_describe_bound(step)}"),
    ]


def _trait_in_words(trait: TraitStep, value: Valuer) -> str:
    """The formula that a trait makes of the time; of amounts that vary and of sweeps in words."""
    number = value(trait.formula) if trait.name in (VARIES, SWEEP) else None
    if number is None:
        return _write_formula(trait.formula)
    if trait.name == SWEEP:
        return f"{format_count(number)} messages of each rank, behind its steps"
    return f"the slowest takes {number:.4g} times the mean"


def _ignored_trait_in_words(trait: str) -> str:
    """The effect of a trait that the machine does not know, in words."""
    if trait in HELD_BY_SINGLE:
        return "no rate of it here, computed in single precision where the machine tells precisions apart"
    return "not known to this machine, changes nothing"


def _facts_of_spread(step: ExplainedRequirement, value: Valuer) -> list[tuple[str, str]]:
    """Facts on how many cores each instance uses; the formula is the same for all."""
    if step.spread is None:
        return []
    cores = value(step.spread)
    return [("each is spread over", "as many cores as its width fills" if cores is None else _format_cores(cores))]


def _format_cores(number: Any) -> str:
    return f"{format_amount(Amount(number, ''))} core{'' if number == 1 else 's'}"


def _facts_of_instance(step: ExplainedRequirement, value: Valuer) -> list[tuple[str, str]]:
    """The facts of one instance; behind caches the formula is long, and `aspenpy traffic` has its parts."""
    one = "one instance takes" if step.spread is None else "a core of each takes"
    taken = value(step.serial)
    if step.left_by_caches is None:
        plain = step.spread is None or taken is None
        return _formula_rows(one, step.serial, "s", value, step.demand) if plain else [(one, seconds(taken))]
    left = value(step.left_by_caches)
    if left is None or taken is None:
        return _formula_rows(one, step.serial, "s", value, step.demand)
    rows = [("memory traffic after caches", format_amount(Amount(left, "B")))]
    if step.fetched is not None and (fetched := value(step.fetched)) is not None:
        rows.append(
            ("fetched before written", f"{format_amount(Amount(fetched, 'B'))} of that: the caches allocate on writes")
        )
    return [*rows, (one, seconds(taken))]


def _facts_of_all_instances(step: ExplainedRequirement, value: Valuer) -> list[tuple[str, str]]:
    """Facts on the time of one instance and of all."""
    if step.exchanges:
        alone = value(step.serial)
        return [("all of them take", _describe_differing(step.serial) if alone is None else seconds(alone))]
    rows = [*_facts_of_instance(step, value), ("all of them take", _format_times(step, value))]
    if step.sending is not None:
        sent = value(step.sending)
        rows.append(("the fullest node takes", _write_formula(step.sending) if sent is None else seconds(sent)))
    drawn = value(step.saturation)
    if drawn is not None and drawn < 1:
        rows.append(
            (
                "so few cores draw",
                f"{format_share(float(drawn))} of the bandwidth that all attain, and take as much longer",
            )
        )
    return rows


def _describe_differing(time: Expr) -> str:
    """Seconds that differ from call to call: their formula, where somebody can read it."""
    text = _write_formula(time)
    return text if len(text) <= LONGEST_READ else DIFFERS


def _format_times(step: ExplainedRequirement, value: Valuer) -> str:
    """A sentence of how often the time of one execution is counted."""
    if step.crowded is None:
        return f"ceil(instances/{format_count(step.count)}) times as long"
    crowded = value(step.crowded)
    if step.spread is None or crowded is None:
        return f"{_formula_and_value(step.crowded, '', value)} times as long"
    if crowded == 1:
        return "as long"
    number = format_amount(Amount(crowded, ""))
    return f"{number} times as long: {number} instances per {step.component.rpartition('/')[2]}"


def _launch_facts(step: ExplainedRequirement, value: Valuer) -> list[tuple[str, str]]:
    """The facts of the launch of a block."""
    if step.launch is None:
        return []
    return [("before it begins", f"{_formula_and_value(step.launch, 's', value)}, a launch on {step.launched_on}")]


def _noise_facts(step: ExplainedRequirement, value: Valuer) -> list[tuple[str, str]]:
    """The seconds that an exchange waits for ranks which the system interrupts."""
    if step.noise is None or not step.exchanges:
        return []
    waited = value(step.noise)
    return [("noise delays it by", "what differs from call to call" if waited is None else seconds(waited))]


def _exchange_in_words(exchange: Exchange, value: Valuer) -> str:
    """The algorithm of an exchange and what a message takes, in words."""
    ranks = value(exchange.ranks)
    if (exchange.schemes or exchange.paths) and ranks is not None and value(exchange.size) is not None:
        return f"{exchange.fastest(value)}, among {format_count(ranks)} ranks{_name_bound(exchange, value)}"
    if exchange.parts is None:
        size = value(exchange.size)
        sent = f"{_write_formula(exchange.size)} bytes" if size is None else format_amount(Amount(size, "B"))
        among = _write_formula(exchange.ranks) if ranks is None else format_count(ranks)
        return f"each of {among} ranks sends {sent} to its neighbours"
    if ranks is None or value(exchange.size) is None:
        return _describe_differing_exchange(exchange, value)
    alpha, beta, _ = exchange.parts
    each = f"{seconds(value(alpha))} and {seconds(value(beta))} a byte"
    fastest = f"{exchange.fastest(value)} among {format_count(ranks)} ranks, a message taking {each}"
    return f"{fastest}{_name_bound(exchange, value)}"


def _name_bound(exchange: Exchange, value: Valuer) -> str:
    reason = exchange.lower_bound(value)
    if reason is None:
        return ""
    return f"; {reason}, a lower bound" if reason == FASTEST else f"; limited by {reason}, a lower bound"


def _describe_differing_exchange(exchange: Exchange, value: Valuer) -> str:
    """An exchange whose ranks or size differ from call to call: its formula where somebody can read it, else what they
    depend on."""
    text = _write_formula(exchange.formula)
    if len(text) <= LONGEST_READ:
        return text
    ranks = value(exchange.ranks)
    among = "ranks whose number differs from call to call" if ranks is None else f"{format_count(ranks)} ranks"
    names = dict.fromkeys(
        str(symbol)
        for expr in (exchange.size, exchange.ranks)
        if value(expr) is None
        for symbol in sorted(graph.free_symbols(expr), key=lambda symbol: symbol.serial)
    )
    way = exchange.algorithm or "fastest algorithm of each call"
    return f"{way}, among {among}; depends on {', '.join(names)}" if names else f"{way}, among {among}"


def _describe_bound(step: ExplainedRequirement) -> str:
    """A note on a requirement that its block is bound by; the kernel may have blocks that take longer."""
    return "; the block is bound by it" if step.bounds else ""


def _formula_rows(label: str, expr: Expr, unit: str, value: Valuer, amount: Expr = graph.ZERO) -> list[tuple[str, str]]:
    """A formula with its value; of a long one, the terms that occur several times have rows of their own, and `amount`,
    which a row above has, is called so."""
    if len(_write_formula(expr)) <= LONGEST_LINE:
        return [(label, _formula_and_value(expr, unit, value))]
    known = {amount: AMOUNT} if len(_write_formula(amount)) > len(AMOUNT) else {}
    try:
        *terms, (_, text) = name_terms(expr, known, shortest=SHORTEST_TERM)
    except TooLarge:
        terms, text = [], ""
    rows, number = [(f"where {name}", term) for name, term in terms if name != AMOUNT], value(expr)
    if not text or sum(len(term) for _, term in rows) + len(text) > LONGEST_NAMED:
        return [(label, DIFFERS if number is None else format_amount(Amount(number, unit)))]
    behind = f", in {unit}" * bool(unit) if number is None else f" = {format_amount(Amount(number, unit))}"
    return [(label, text + behind), *rows]


def _formula_and_value(expr: Expr, unit: str, value: Valuer) -> str:
    number = value(expr)
    text = _write_formula(expr)
    if number is None:
        return f"{text}, in {unit}" if unit else text
    shown = format_amount(Amount(number, unit))
    return shown if expr.kind == "number" else f"{text} = {shown}"


def _write_heading(step: ExplainedRequirement) -> str:
    return f'{step.kernel}, "{step.block}": {step.resource}' if step.block else f"{step.kernel}: {step.resource}"


def _write_formula(expr: Expr) -> str:
    return shorten_text(expr, LONGEST_FORMULA)


def quote_span(span: Span | None, otherwise: str) -> str:
    """The text at a span, in one line."""
    return " ".join(span.text().split()) if span else otherwise


def _describe_place(span: Span | None) -> str:
    return "in Python" if span is None else span.place()


# -- for programs ----------------------------------------------------------------------------------


def _write_in_lines(expr: Expr) -> str:
    """The formula; where it is long, `term = ...` in lines before it, for each term that occurs several times."""
    text = _write_formula(expr)
    if len(text) < LONGEST_FORMULA:
        return text
    try:
        lines = "\n".join(f"{name} = {term}" if name else term for name, term in name_terms(expr, {}))
    except TooLarge:
        return text
    return lines if len(lines) <= LONGEST_WRITTEN else text


def _make_columns_of_steps(value: Valuer) -> tuple[Column, ...]:
    def formula(expr: Expr, unit: str) -> dict[str, Any]:
        return {"formula": _write_in_lines(expr), "value": value(expr), "unit": unit}

    def left(step: ExplainedRequirement) -> Amount | None:
        return None if step.left_by_caches is None else Amount(value(step.left_by_caches), "B")

    return (
        *map(Column, ("kernel", "block", "resource")),
        Column("source", get=lambda step: _location_as_data(step.span)),
        Column("demand", get=lambda step: formula(step.demand, unit_of_resource(step.resource))),
        Column("parallelism", get=lambda step: formula(step.parallelism, "")),
        Column("spread", get=lambda step: None if step.spread is None else value(step.spread)),
        Column("amount", get=lambda step: Amount(step.amount, unit_of_resource(step.resource))),
        *map(Column, ("component", "count")),
        Column(
            "rate",
            get=lambda step: {"formula": _write_formula(step.rate), "source": _location_as_data(step.machine_span)},
        ),
        Column(
            "traits",
            get=lambda step: [{"name": trait.name, "formula": _write_formula(trait.formula)} for trait in step.traits],
        ),
        Column("exchanges", get=lambda step: [_exchange_as_data(exchange, value) for exchange in step.exchanges]),
        Column("ignored traits"),
        Column("left_by_caches", get=left),
        Column("fetched", get=lambda step: None if step.fetched is None else Amount(value(step.fetched), "B")),
        Column("serial", get=lambda step: formula(step.serial, "s")),
        Column("launch", get=lambda step: None if step.launch is None else formula(step.launch, "s")),
        Column("time", unit="s", quantity=True),
        *map(Column, ("share", "bounds")),
    )


def _exchange_as_data(exchange: Exchange, value: Valuer) -> dict[str, Any]:
    names = ("alpha", "beta", "gamma")
    parts = {name: value(part) for name, part in zip(names, exchange.parts or (), strict=False)}
    known = value(exchange.ranks) is not None and value(exchange.size) is not None
    algorithm = exchange.fastest(value) if known else exchange.algorithm
    formula = {"formula": _write_in_lines(exchange.formula)} if not parts else {}
    data = {"name": exchange.name, "ranks": value(exchange.ranks), "algorithm": algorithm, **parts, **formula}
    return data | {"lower_bound": exchange.lower_bound(value)}


def _location_as_data(span: Span | None) -> dict[str, Any] | None:
    if span is None:
        return None
    line, column = span.position()
    return {"file": span.resolve().source.name, "line": line, "column": column, "text": quote_span(span, "")}


def report_ecm(ecm: Ecm) -> Report:
    """Block by block: the notation, what each term is, and how many cores saturate the memory."""
    prediction = ecm.prediction
    shown = (make_facts(_block_facts(block), title=_block_heading(block)) for block in ecm.blocks)
    where = f"{prediction.application.name} on {prediction.machine.name}"
    data = {"runtime": Amount(prediction.runtime, "s")}
    parts = (*shown, blocks(ecm, media=JSON), blocks(ecm, media=CSV))
    headline = (
        f"{where}: execution-cache-memory model, one core, cycles a cache line; {seconds(prediction.runtime)} in all"
    )
    return Report("ecm/1", headline, data, parts, ecm.diagnostics)


register_report(Ecm, report_ecm)


def blocks(ecm: Ecm, media: tuple[str, ...]) -> Table:
    """One row per block."""
    terms = Column("terms", get=lambda block: [_term_as_data(term) for term in block.terms], media=JSON)
    heads = (
        *make_columns("kernel block"),
        Column("iterations", "count"),
        Column("ecm", get="notation"),
        Column("one core", one_digit, align="right", key="cycles"),
        Column("saturated by", _whole_cores, align="right", key="cores"),
        *((Column("overlapping"), terms, Column("available")) if media == JSON else ()),
    )
    return make_table(heads, ecm.blocks, "ecm" if media == JSON else "", media=media)


def _term_as_data(term: EcmTerm) -> dict[str, object]:
    return {name: getattr(term, name) for name in ("symbol", "component", "cycles", "serial")}


def _block_facts(block: EcmBlock) -> list[tuple[str, str]]:
    rows = [
        ("a line of work", f"{format_count(block.iterations)} iterations"),
        ("cycles", f"{block.notation} = {one_digit(block.cycles)}"),
        ("T_OL", f"{one_digit(block.overlapping)}: the core computes, beside all else"),
    ]
    for term in block.terms:
        effect = "adds up with the other serial levels" if term.serial else "overlaps"
        rows.append((term.symbol, f"{one_digit(term.cycles)}: {term.component}, {effect}"))
    if block.cores is not None:
        rows.append(("memory", f"saturated by {_whole_cores(block.cores)} of {format_count(block.available)} cores"))
    return rows


def _block_heading(block: EcmBlock) -> str:
    return f'{block.kernel}, "{block.block}"' if block.block else block.kernel


def _whole_cores(cores: float | None) -> str:
    """Number of cores rounded up; a rounding error adds none."""
    return "-" if cores is None else format_count(ceil(cores * (1 - 1e-9)))


# -- loops in a core -------------------------------------------------------------------------------


def report_incore(in_core: InCore) -> Report:
    """Cycles of an iteration, by port and by dependence, and the application that says the same."""
    rows = [
        ("ports", f"{in_core.ports:g} cycles of the busiest"),
        ("loop-carried dependence", f"{in_core.loop_carried:g} cycles from one iteration to the next"),
        ("critical path", f"{in_core.critical_path:g} cycles from begin to end"),
        ("an iteration takes", f"{in_core.cycles:g} cycles, bound by {_loop_bound(in_core)}"),
    ]
    busy = [port for port in in_core.pressure if port[1]]
    heads = (
        Column("port", get=lambda port: port[0]),
        Column("cycles", "ratio", get=lambda port: port[1], align="right"),
    )
    operations = (*make_columns("name precision simd amount"),)
    data = {
        "architecture": in_core.architecture,
        "osaca": in_core.version,
        "ports": in_core.ports,
        "loop_carried": in_core.loop_carried,
        "critical_path": in_core.critical_path,
        "cycles": in_core.cycles,
        "pressure": dict(in_core.pressure),
        "aspen": in_core.to_aspen(),
    }
    parts = (
        make_facts(rows),
        make_table(heads, busy, title="cycles of an iteration", media=(*TEXT, *CSV)),
        make_table(operations, in_core.operations, "operations", media=JSON),
    )
    return Report(
        "incore/1",
        f"{in_core.name} on {in_core.architecture}, by OSACA {in_core.version}",
        data,
        parts,
        in_core.diagnostics,
    )


register_report(InCore, report_incore)


def _loop_bound(in_core: InCore) -> str:
    return "its ports" if in_core.ports >= in_core.loop_carried else "the dependence"
