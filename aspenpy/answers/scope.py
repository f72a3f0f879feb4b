"""Scope: what the symbols of an application and a machine stand for, what a user set them to, and their values.

Everything that is asked of a model goes through here: names become symbols, `--set` changes what they
stand for, formulas keep some of them free, and what fails is told where it was written.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from functools import cached_property
from math import isfinite
from types import MappingProxyType
from typing import Any, NoReturn, cast

from aspenpy.allowance import OPERATIONS, allowance, spending
from aspenpy.cost.mapper import all_definitions, all_origins
from aspenpy.cost.value_mistakes import BoundMistake, ValueMistake, describe_bound_mistake, describe_mistake
from aspenpy.expr import graph
from aspenpy.expr.evaluate import (
    CircularDefinition,
    EvaluationError,
    ExactEvaluation,
    order_definitions,
    resolve_definitions,
)
from aspenpy.expr.failures import TooMuchWork
from aspenpy.expr.graph import Expr, nodes_of_kind
from aspenpy.language import nodes
from aspenpy.language.diagnostics import (
    MOST_LISTED,
    AspenError,
    Diagnostic,
    Related,
    fail,
    join_chain,
    suggest_instead,
    suggest_nearest,
)
from aspenpy.language.dimensions import carries_units
from aspenpy.language.lower import Lowering, Origins, carry_origin, find_place
from aspenpy.language.parser import parse_value
from aspenpy.language.source import Span
from aspenpy.language.statements import own_names
from aspenpy.models.application import flow
from aspenpy.models.application.model import Application
from aspenpy.models.application.total import blocks_in, callees_first
from aspenpy.models.machine.model import OWNER, Machine
from aspenpy.models.model import name_members


def symbols_of_counts(application: Application, entry: flow.Kernel, machine: Machine | None) -> dict[Expr, Span | None]:
    """The symbols that count instances of blocks (`execute [ranks]`), ranks of grids (`grid(ranks, 2, 0)`) or
    components (`node [nodes]`), with the first place where they do."""
    symbols: dict[Expr, Span | None] = {}
    components = () if machine is None else _components(machine)
    for counted, place in (*_walk_instances(entry), *_walk_grids(application), *components):
        plain = counted.args[0] if counted.kind == "checked" else counted
        if plain.kind == "symbol":
            symbols.setdefault(plain, place)
    return symbols


def _walk_instances(entry: flow.Kernel) -> Iterator[tuple[Expr, Span | None]]:
    for kernel in callees_first(entry):
        for block in blocks_in(kernel.body):
            yield block.parallelism, block.span


def _walk_grids(application: Application) -> Iterator[tuple[Expr, Span | None]]:
    for parameter in application.parameters.values():
        for node in nodes_of_kind("apply", parameter.value):
            if node.payload == "grid":
                yield node.args[0], parameter.span


def _components(machine: Machine) -> Iterator[tuple[Expr, Span | None]]:
    for component in machine.components.values():
        for part in component.parts:
            yield part.quantity, part.span


def is_fraction(value: Any) -> bool:
    """Whether it is a number, and no array, that is not whole."""
    return not isinstance(value, tuple) and cast(bool, value % 1 != 0)


Value = int | Fraction | float
Setting = Value | str | nodes.Expression | Expr
"""What a parameter can be set to: a number, text in the language (`2*k`, `{1, 2}`) or the tree of one, or a node of
the graph."""

DEFAULT_SEED = 20120910  # random draws repeat unless another seed is given; it is printed wherever draws were made
TAKING_ARRAYS = frozenset({"index", "apply", "draw"})  # kinds of nodes of which some take an array for an argument

NO_CLOSED_FORM = (
    "sums of powers of the counter have one; `ceil`, `max` and conditions that depend on it have none. "
    f"They are added pass by pass, at most {OPERATIONS:,} operations for one command; "
    "`iterate i [n/100] { iterate [100] { ... } }`, with `100*i` for `i`, adds every hundredth"
)


class Scope:
    """The names of an application and, if there is one, a machine; `changes` are the user's settings."""

    def __init__(
        self,
        application: Application,
        machine: Machine | None,
        entry: flow.Kernel,
        *,
        definitions: Mapping[Expr, Expr],
        origins: Origins,
        settings: Mapping[str, Setting],
        roots: Sequence[Expr],
    ) -> None:
        self.application = application
        self.machine = machine
        self.entry = entry
        self.origins = dict(origins) if settings else origins  # what a user sets stands in no model
        self.roots = roots
        self.definitions = dict(definitions)
        self.settings = settings
        self.overridden: dict[Expr, str] = {}
        self._last: ExactEvaluation | None = None
        for name, setting in settings.items():
            symbol = self.symbol(name)
            self._refuse_computed(symbol, name)
            self.definitions[symbol] = self._set(symbol, name, setting)
            self._refuse_reshaped(symbol, name)
            self.overridden[symbol] = name
        # Only now: a setting may be an expression in parameters that a later one sets.
        self._require_units()
        self._require_whole()

    # -- names -----------------------------------------------------------------------------------

    def symbol(self, name: str) -> Expr:
        """The symbol that a user's name stands for: a parameter, an argument of the entry kernel, or a name
        that the models use and nobody defines. `app:n` and `machine:n` say which, where both have one."""
        side, colon, plain = name.partition(":")
        if colon and side in ("app", "machine"):
            symbol_here = self._candidates(plain)[side]
            if symbol_here is not None:
                return symbol_here
            self._refuse_other_side(side, plain)
        candidates = [candidate for candidate in self._candidates(name).values() if candidate is not None]
        if len(candidates) > 1:
            message = f"both models have a parameter `{name}`"
            fail("ambiguous-parameter", message, hint=f"write `app:{name}` or `machine:{name}`")
        if candidates:
            return candidates[0]
        for symbol in self.undefined_symbols():
            if symbol.name == name:
                return symbol
        fail("unknown-parameter", f"unknown parameter `{name}`", hint=self._suggest_setting(name))

    def _suggest_setting(self, name: str) -> str:
        """A hint that names the parameter the user may have meant."""
        open_ones = [symbol.name for symbol in self.undefined_symbols()]
        names = sorted({*self._own_names(), *self._machines_names(), *self.overridden.values(), *open_ones})
        own = sorted({*self._own_names(), *open_ones})
        if len(names) <= MOST_LISTED or not own or suggest_nearest(name, names):
            return suggest_instead(name, names, "parameters")
        return f"{suggest_instead(name, own, 'parameters')}; {len(names) - len(own)} more are the machine's"

    def _refuse_other_side(self, side: str, name: str) -> NoReturn:
        other = {"app": "machine", "machine": "app"}[side]
        there = self._candidates(name)[other] is not None
        hint = f"the other model has it: write `{other}:{name}`" if there else suggest_nearest(name, self.names())
        noun = {"app": "application", "machine": "machine"}[side]
        fail("unknown-parameter", f"the {noun} has no parameter `{name}`", hint=hint)

    def _candidates(self, name: str) -> dict[str, Expr | None]:
        formals = {formal.name: formal for formal in self.entry.formals}
        parameters = self.application.parameters
        mine = parameters[name].symbol if name in parameters else formals.get(name)
        theirs = graph.symbol(name, OWNER)
        has = self.machine is not None and theirs in self.machine.definitions
        return {"app": mine, "machine": theirs if has else None}

    def names(self) -> list[str]:
        """The names a user may set."""
        machines = [symbol.name for symbol in self.machine.definitions] if self.machine else []
        return [*self._own_names(), *machines]

    def _own_names(self) -> list[str]:
        return [*self.application.parameters, *(formal.name for formal in self.entry.formals)]

    def _machines_names(self) -> list[str]:
        """Names of the machine that are listed to a user."""
        return self.machine.known_names() if self.machine else []

    def undefined_symbols(self) -> list[Expr]:
        """The symbols that the results need and nobody defines."""
        try:
            known = order_definitions(self.roots, self.definitions)
        except CircularDefinition:  # whoever asks for a value is told of the circle, with its place
            return []
        needed = [graph.array(list(self.roots)), *(self.definitions[symbol] for symbol in known)]
        symbols = graph.free_symbols(graph.array(needed))
        return sorted((one for one in symbols if one not in self.definitions), key=lambda symbol: symbol.serial)

    def display_name(self, symbol: Expr) -> str:
        """The shortest name by which the user can set the symbol."""
        name, owner = symbol.payload[:2]
        if owner != OWNER:
            return str(name)
        return f"machine:{name}" if name in self.application.parameters else str(name)

    def _refuse_computed(self, symbol: Expr, name: str) -> None:
        for kernel in callees_first(self.entry):
            if symbol in dict(kernel.computed):
                message = f"`{name}` cannot be set: kernel `{kernel.name}` computes it from its arguments"
                fail("computed-parameter", message, kernel.name_span)

    def _refuse_reshaped(self, symbol: Expr, name: str) -> None:
        """The formulas of a network hold for as many dimensions as it was written with."""
        machine = self.machine
        if machine is None or all("topology" not in item.properties for item in machine.components.values()):
            return
        from aspenpy.cost.interconnect import require_same_shape

        require_same_shape(machine, symbol, self.definitions[symbol], name)

    def _set(self, symbol: Expr, name: str, setting: Setting) -> Expr:
        expr = self._expression(name, setting, self.members_of(symbol))
        if expr.kind == "number":
            self.refuse_fraction(symbol, name, expr.payload)
        model, node = self._declaration(symbol)
        if isinstance(model, Application) and isinstance(node, nodes.Parameter):
            return model.member_check(node, expr)
        return expr

    def members_of(self, symbol: Expr) -> tuple[str, ...]:
        """The members of the enum that a parameter is one of; none for any other."""
        model, node = self._declaration(symbol)
        if model is None or not isinstance(node, nodes.Parameter) or node.member_of not in model.enums:
            return ()
        return tuple(model.enums[node.member_of].members)

    def is_count(self, name: str) -> bool:
        """Whether a parameter counts something, and so has whole values."""
        return self.symbol(name) in self._counts

    @cached_property
    def _counts(self) -> dict[Expr, Span | None]:
        return symbols_of_counts(self.application, self.entry, self.machine)

    def refuse_fraction(self, symbol: Expr, name: str, value: Any) -> None:
        """Raises AspenError where a parameter that counts something would have a value that is not whole."""
        if is_fraction(value) and symbol in self._counts:  # what counts is only looked for where there is a fraction
            message = f"`{name}` counts what stands here, and cannot be {float(value):g}: it is a whole number"
            fail("not-whole", message, self._counts[symbol], hint=f"such as {name}={max(1, round(value))}")

    def _declaration(
        self, symbol: Expr
    ) -> tuple[Application | Machine | None, nodes.Parameter | nodes.Property | None]:
        """The model that declares a symbol, and where."""
        name = symbol.name
        if symbol.owner == OWNER and self.machine is not None:
            return self.machine, self.machine.declaration(name)
        for model in self.application.all_models():
            if symbol.owner == "" and name.startswith(model.prefix) and name[len(model.prefix) :] in model.declared:
                return model, model.declared[name[len(model.prefix) :]]
        return None, None

    def _require_units(self) -> None:
        """Refuses units that the models cannot mean."""
        texts = {name: text for name, text in self.settings.items() if isinstance(text, str)}
        if not any(map(carries_units, texts.values())):
            return
        from aspenpy.models.units import Written, require_units

        written: dict[Application | Machine, list[Written]] = {}
        for symbol, name in self.overridden.items():
            model, declared = self._declaration(symbol)
            if name in texts and model is not None and declared is not None:
                written.setdefault(model, []).append(Written(name, parse_value(texts[name], f"<{name}>"), declared))
        for model, items in written.items():
            require_units(model, items)

    def _require_whole(self) -> None:
        """Refuses expressions in other parameters that give a count a fraction, as `_set` refuses numbers."""
        for symbol, name in self.overridden.items():
            if self.definitions[symbol].kind != "number" and symbol in self._counts:
                for value in self.values_if_known([symbol]) or ():
                    self.refuse_fraction(symbol, name, value)

    def _expression(self, name: str, setting: Setting, members: Sequence[str]) -> Expr:
        if isinstance(setting, Expr):
            return setting
        if isinstance(setting, str):
            return self.lower(parse_value(setting, f"<{name}>"), members=members)
        if isinstance(setting, nodes.Expression):
            return self.lower(setting, members=members)
        try:
            return graph.number(_convert_number(name, setting))
        except ValueError:
            fail("bad-value", f"`{name}` cannot be {setting}: a parameter is a finite number")

    def lower(
        self, tree: nodes.Expression, known: Mapping[str, Expr] = MappingProxyType({}), members: Sequence[str] = ()
    ) -> Expr:
        """The node for an expression in the names of both models; names that neither has are looked for in `known`.
        Where one of some `members` is wanted, a hint names these."""

        def resolve(node: nodes.Name) -> Expr:
            if members and node.name not in members and node.name in self.application.constants:
                message = f"`{node.name}` is a member of another enum"  # whose value would be that of one here
                fail("not-a-member", message, node.span, hint=name_members(members))
            symbol = self.application.lookup(node.name) or (self.machine.lookup(node.name) if self.machine else None)
            return symbol or known.get(node.name) or self._resolve_undeclared(node, members)

        return Lowering(resolve, self.origins)(tree)

    def _resolve_undeclared(self, node: nodes.Name, members: Sequence[str]) -> Expr:
        """The meaning of a name that no model declares: an argument of the kernel, or a value that is yet to be set."""
        formal = next((formal for formal in self.entry.formals if formal.name == node.name), None)
        if formal is not None:
            return formal
        symbol = graph.symbol(node.name)
        if symbol in self.definitions or node.name in self.settings or symbol in self.undefined_symbols():
            return symbol
        hint = suggest_instead(node.name, members, "members") if members else self._suggest_setting(node.name)
        fail("unknown-name", f"unknown name `{node.name}`", node.span, hint=hint)

    # -- formulas and values ---------------------------------------------------------------------

    def formulas(self, exprs: Sequence[Expr], free: Sequence[str] = ()) -> list[Expr]:
        """The expressions in the free parameters alone; everything else is put in."""
        kept = {self.symbol(name) for name in free}
        definitions = {symbol: value for symbol, value in self.definitions.items() if symbol not in kept}
        try:
            return resolve_definitions(exprs, definitions, carry_origin(self.origins))
        except CircularDefinition as error:
            raise self._describe_circle(error) from None

    def values(self, exprs: Sequence[Expr], seed: int = DEFAULT_SEED) -> list[Any]:
        """The values of expressions; raises AspenError at the place that has none. What they share with those of the
        last call is not computed again."""
        with self.locate_failures():
            return self._compute(exprs, seed)

    @property
    def known(self) -> Mapping[Expr, Any]:
        """The values of the nodes that the last evaluation computed."""
        return MappingProxyType({}) if self._last is None else self._last.known

    def values_if_known(self, exprs: Sequence[Expr], seed: int = DEFAULT_SEED) -> list[Any] | None:
        """The values of expressions; None where one of them has no value, such as inside a loop, without looking for
        the reason."""
        try:
            return self._compute(exprs, seed)
        except EvaluationError:
            return None

    def _compute(self, exprs: Sequence[Expr], seed: int) -> list[Any]:
        last, self._last = self._last, None  # nobody goes on with an evaluation that failed, or that is not at its end
        run = last if last is not None and last.seed == seed else ExactEvaluation({}, seed, self.definitions)
        with spending(allowance()) as run.allowance:  # laws of caches spend it too
            values = run.compute(exprs)
        self._last = run
        return values

    def numbers(self, totals: Mapping[Any, Expr], seed: int = DEFAULT_SEED) -> dict[Any, float]:
        """The values of totals in floating point, by their keys."""
        return dict(zip(totals, map(float, self.values(list(totals.values()), seed)), strict=True))

    def numbers_if_known(self, totals: Mapping[Any, Expr], seed: int = DEFAULT_SEED) -> dict[Any, float] | None:
        """The same where all of them have finite values; None otherwise, without looking for the reason."""
        values = self.values_if_known(list(totals.values()), seed)
        try:
            numbers = dict(zip(totals, map(float, values or ()), strict=values is not None))
        except OverflowError:
            return None
        return numbers if values is not None and all(map(isfinite, numbers.values())) else None

    def used_parameters(self, exprs: Sequence[Expr]) -> list[Expr]:
        """The parameters that the expressions depend on, in the order of their declaration."""
        needed = set(self.needed(exprs))
        return [symbol for symbol in self.definitions if symbol in needed]

    def needed(self, exprs: Sequence[Expr], apart_from: Container[Expr] = ()) -> list[Expr]:
        """The parameters that the expressions depend on, each after the parameters in its own definition. Definitions
        of parameters in `apart_from` are not followed."""
        definitions = {symbol: value for symbol, value in self.definitions.items() if symbol not in apart_from}
        try:
            return list(order_definitions(exprs, definitions))
        except CircularDefinition as error:
            raise self._describe_circle(error) from None

    # -- what goes wrong -------------------------------------------------------------------------

    @contextmanager
    def locate_failures(self, circumstances: str = "") -> Iterator[None]:
        """Within it, what has no value is an AspenError at its place, under circumstances such as "with `n` = 3"."""
        try:
            yield
        except EvaluationError as error:
            found = self._locate_error(error)
            if circumstances:
                found = AspenError(*(item.with_circumstance(circumstances) for item in found.diagnostics))
            raise found from None

    def require_known(self, exprs: Sequence[Expr], known: Container[Expr], reason: str = "no value for `{}`") -> None:
        """Raises AspenError where formulas use a symbol that has no value and is not among those known."""
        symbols = {symbol for expr in exprs for symbol in graph.free_symbols(expr)}
        for symbol in sorted(symbols, key=lambda symbol: symbol.serial):
            if symbol not in known:
                raise self._locate_error(EvaluationError(symbol, reason.format(symbol.name)))

    def _locate_error(self, error: EvaluationError) -> AspenError:
        """The error as a diagnostic at the place that it was written at."""
        if isinstance(error.payload, ValueMistake):
            return AspenError(describe_mistake(error.payload, self.definitions, self.display_name, DEFAULT_SEED))
        if isinstance(error.payload, BoundMistake):
            names = {self.symbol(name): name for name in self.names()}
            return AspenError(describe_bound_mistake(error.payload, self.definitions, names, DEFAULT_SEED))
        if isinstance(error.payload, Diagnostic):
            return AspenError(error.payload)
        node = error.node
        if node in self.definitions:
            try:
                order_definitions([node], self.definitions)
            except CircularDefinition as circle:
                return self._describe_circle(circle)
        if node.kind == "symbol":
            return AspenError(self._describe_unknown(node))
        arrays = [arg for arg in node.args if self.is_array(arg)] if node.kind not in TAKING_ARRAYS else []
        if arrays:
            return AspenError(self._describe_misplaced_array(arrays[0], node))
        code = "too-much-work" if isinstance(error, TooMuchWork) else "no-value"
        if node.kind == "sum":
            return AspenError(Diagnostic(code, error.reason, self.origins.get(node.args[0]), hint=NO_CLOSED_FORM))
        return AspenError(Diagnostic(code, error.reason, find_place(node, self.origins), hint=error.hint))

    def is_array(self, expr: Expr) -> bool:
        """Whether it is an array or a table, or a name of one."""
        seen: set[Expr] = set()
        while expr in self.definitions and expr not in seen:
            seen.add(expr)
            expr = self.definitions[expr]
        return expr.kind == "array"

    def _describe_misplaced_array(self, array: Expr, user: Expr) -> Diagnostic:
        """An array in the place of a number, told where the array is named: a machine's formula is not to blame."""
        span = self.origins.get(array) or self.origins.get(user)
        if array.kind != "symbol":
            return Diagnostic("not-a-number", "an array stands where a number is needed", span)
        name = self.display_name(array)
        hint = f"an element of it is written `{name}[0]`"
        return Diagnostic("not-a-number", f"`{name}` is an array, and a number is needed", span, hint=hint)

    def _describe_unknown(self, symbol: Expr) -> Diagnostic:
        name, owner = symbol.payload[:2]
        if symbol not in self.origins and any(name == formal.name for formal in self.entry.formals):
            message = f"no value for the argument `{name}` of kernel `{self.entry.name}`"
            return Diagnostic("missing-argument", message, self.entry.name_span, hint=f"--set {name}=... gives it one")
        hint = (
            suggest_nearest(name, self._names_in_sight(owner))
            or self._find_elsewhere(name)
            or f"it is not defined; --set {name}=... gives it a value"
        )
        if owner == OWNER and name in self.application.parameters:
            hint = "it is a parameter of the application; a machine model may not name those"
        return Diagnostic("unknown-name", f"unknown name `{name}`", self.origins.get(symbol), hint=hint)

    def _find_elsewhere(self, name: str) -> str | None:
        """A name that a kernel uses for itself, which another kernel, or a statement outside its loop, does not see."""
        known = ((kernel, *own) for kernel in self.application.kernels.values() for own in own_names(kernel))
        places = [f"the {noun} `{name}` of kernel `{kernel.name}`" for kernel, noun, own, _ in known if own == name]
        return f"{places[0]} is not in scope here" if places else None

    def _names_in_sight(self, owner: str) -> list[str]:
        machines = self._machines_names()
        return machines if owner == OWNER else [*self.application.known_names(), *machines]

    def _describe_circle(self, error: CircularDefinition) -> AspenError:
        return AspenError(circle_mistake(error, self.application, self.machine, self.overridden))


def scope_of(
    application: Application,
    machine: Machine | None,
    entry: flow.Kernel,
    settings: Mapping[str, Setting] = MappingProxyType({}),
    roots: Sequence[Expr] = (),
) -> Scope:
    """The scope of a kernel that is not mapped; a machine gives values to names left open."""
    definitions = all_definitions(application, machine, entry)
    return Scope(
        application,
        machine,
        entry,
        definitions=definitions,
        origins=all_origins(application, machine),
        settings=settings,
        roots=roots,
    )


def circle_mistake(
    error: CircularDefinition,
    application: Application | None,
    machine: Machine | None,
    overridden: Mapping[Expr, str] = MappingProxyType({}),
) -> Diagnostic:
    """A circular definition, told at the first two parameters of the circle."""
    spans = {item.symbol: item.node.name_span for item in application.parameters.values()} if application else {}
    if machine is not None:
        spans |= {graph.symbol(name, OWNER): node.name_span for name, node in machine.declared.items()}
        properties = (item for component in machine.components.values() for item in component.properties.values())
        spans |= {item.symbol: item.span for item in properties}
    first, second = error.cycle[0], error.cycle[1]
    message = "circular definition: " + join_chain(error.names)
    related = (Related(spans.get(second), "which needs this one"),) if second is not first else ()
    parents = tuple(f"with `{overridden[item]}` as it was set" for item in error.cycle[1:] if item in overridden)
    return Diagnostic("circular-definition", message, spans.get(first), related, parents=parents)


def _convert_number(name: str, setting: Any) -> Value:
    """Numbers of other libraries (NumPy scalars) as Python's own."""
    item = getattr(setting, "item", None)
    plain = item() if callable(item) else setting
    for kind in (int, float, Fraction):
        if isinstance(plain, kind) and not isinstance(plain, bool):
            return kind(plain)
    fail("bad-value", f"`{name}` cannot be {setting!r}: a parameter is a number or an expression in the language")


def as_float(value: Any, subject: str, span: Span | None) -> float:
    """The value as a float; the subject is what an error calls it."""
    if isinstance(value, tuple):
        fail("not-a-number", f"{subject} is an array, and a number is needed", span)
    try:
        return float(value)
    except OverflowError:
        fail("overflow", f"{subject} is too large for a floating-point number", span)
