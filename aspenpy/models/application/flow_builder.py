"""From the kernels of the syntax tree to the tree of control flow (`application.flow`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from graphlib import CycleError, TopologicalSorter
from typing import Any

from aspenpy.expr import graph
from aspenpy.expr.evaluate import CircularDefinition, resolve_definitions
from aspenpy.expr.graph import Expr
from aspenpy.language import nodes
from aspenpy.language.diagnostics import AspenError, Diagnostic, Related, fail, join_chain
from aspenpy.language.lower import Lowering, carry_origin, check_value_at, failure_node, lower_guarded
from aspenpy.language.statements import calls_in_statements, declarations_by_name
from aspenpy.models.application import flow
from aspenpy.models.application.cut_halos import write_out_cut
from aspenpy.models.application.declarations import Declarations, divide_by_mixture
from aspenpy.models.model import enum_constants
from aspenpy.record import Record

IMPLIED_ARGUMENTS = {"rdd": (nodes.Name("rddCDF"), nodes.Name("rddVals"))}
"""What a trait without arguments takes from around it: the kernel's or the model's."""

UNITS = ("line", "word", "byte")  # what a reuse distance may be counted in
UNIT_ARGUMENTS = {"rd": 1, "rdd": 2}  # the argument of a trait that is one of those words, whatever else has the name


def build_kernel(application: Declarations, name: str) -> flow.Kernel:
    """The kernel and, first, all that it calls: each kernel is built once, however often it is called."""
    model, node = application.find_kernel(name)
    return _build_named_kernel(application, model, node)


def _build_named_kernel(application: Declarations, model: Declarations, node: nodes.Kernel) -> flow.Kernel:
    flows = application._flows
    full_name = model.prefix + node.name
    if full_name in flows:
        return flows[full_name]
    reached: dict[str, tuple[Declarations, nodes.Kernel]] = {full_name: (model, node)}
    callees: dict[str, list[str]] = {}
    pending = [full_name]
    while pending:
        caller = pending.pop()
        caller_model, caller_node = reached[caller]
        callees[caller] = []
        for call in calls_in_statements(caller_node.body):
            target_model, target = caller_model.find_kernel(call.kernel, caller_node.name, call.name_span or call.span)
            target_name = target_model.prefix + target.name
            callees[caller].append(target_name)
            if target_name not in reached and target_name not in flows:
                reached[target_name] = (target_model, target)
                pending.append(target_name)
    for kernel in callees_first(callees, {name: node for name, (_, node) in reached.items()}):
        if kernel not in flows:
            owner, kernel_node = reached[kernel]
            flows[kernel] = KernelBuilder(owner, kernel_node, flows).build(application)
    return flows[full_name]


def callees_first(callees: Mapping[str, list[str]], kernels: Mapping[str, nodes.Kernel]) -> list[str]:
    """The names of kernels, each behind all it calls; a circle is a kernel that calls itself, and an error."""
    try:
        return list(TopologicalSorter(callees).static_order())
    except CycleError as error:
        cycle: list[str] = error.args[1][::-1]
        node = kernels[cycle[0]]
        next_name = cycle[1].rpartition(".")[2]
        call = next(call for call in calls_in_statements(node.body) if call.kernel.rpartition(".")[2] == next_name)
        message = "a kernel calls itself: " + join_chain(cycle)
        hint = "a model has no end condition for recursion; write the number of passes as `iterate [n] { ... }`"
        fail("recursive-kernel", message, call.span, related=(Related(node.name_span, "this kernel"),), hint=hint)


def check_arguments(node: nodes.Call, target: nodes.Kernel) -> None:
    """Refuses a call that gives more or fewer arguments than the kernel takes."""
    wanted, given = len(target.formals), len(node.arguments)
    if wanted == given:
        return
    names = ", ".join(f"{formal.kind} {formal.name}" for formal in target.formals)
    if given < wanted:
        message = f"missing argument `{target.formals[given].name}` of kernel `{node.kernel}`"
    else:
        message = f"kernel `{node.kernel}` takes {wanted} argument{'' if wanted == 1 else 's'}, not {given}"
    related = (Related(target.name_span, f"declared with ({names})" if names else "declared without arguments"),)
    fail("wrong-arguments", message, node.span, related=related)


def _lower_counted_arguments(trait: nodes.Trait, lower: Lowering) -> list[Expr | flow.Counted]:
    """The arguments of a `nest` whose loops name their counters: the loops inside may depend on them."""
    names = dict[str, Expr]()

    def resolve(node: nodes.Name) -> Expr:
        return names[node.name] if node.name in names else lower.resolve(node)

    inside, arguments = lower.replace(resolve=resolve), list[Expr | flow.Counted]()
    for argument in reversed(trait.arguments):
        if isinstance(argument, nodes.Text) or (isinstance(argument, nodes.Counted) and trait.name != "nest"):
            message = f"`{trait.name}` takes no loop with a counter"
            hint = "`counter in low .. high` gives the trips of a loop, in `nest(stride, trips, ...)`"
            fail("wrong-arguments", message, argument.span, hint=hint)
        if isinstance(argument, nodes.Counted):
            if argument.counter in names:
                message = f"two loops of the nest are called `{argument.counter}`"
                fail("name-twice", message, argument.span, hint="give each loop a counter of its own")
            low, high = inside(argument.low), inside(argument.high)
            names[argument.counter] = graph.symbol(argument.counter, "nest")
            arguments.insert(0, flow.Counted(names[argument.counter], low, high))
        else:
            arguments.insert(0, inside(argument))
    return arguments


class StatementScope(Record):
    """Names that statements see: `names` are arguments, local parameters and constants, loop counters, samples; `lower`
    lowers an expression in that scope."""

    names: dict[str, Expr]
    lower: Lowering


class KernelBuilder:
    """Builds one kernel. With a list of `mistakes`, a statement or requirement that is wrong is left out and reported
    there."""

    def __init__(
        self,
        model: Declarations,
        node: nodes.Kernel,
        flows: dict[str, flow.Kernel],
        mistakes: list[Diagnostic] | None = None,
    ) -> None:
        self.model, self.node, self.flows, self.mistakes = model, node, flows, mistakes
        self.full_name = model.prefix + node.name
        self.context = graph.symbol("call", self.full_name)
        self.numbers = {id(call): number for number, call in enumerate(calls_in_statements(node.body))}
        self.arrays = tuple(formal.name for formal in node.formals if formal.kind == "data")
        self.local_data = declarations_by_name(nodes.Data, node.declarations)
        self.local_models = model.kernel_imports.get(node.name, {})
        self.mixtures = declarations_by_name(nodes.Mixture, (*model.node.declarations, *node.declarations))

    def build(self, root: Declarations) -> flow.Kernel:
        """The control flow of the kernel, with its names resolved."""
        self.origins = root.origins
        formals = {
            formal.name: graph.symbol(formal.name, self.full_name)
            for formal in self.node.formals
            if formal.kind == "param"
        }
        scope = self._scope_with_locals(formals)
        body = self._sequence(self.node.body, scope)
        overrides = self._find_overrides(scope)
        return flow.Kernel(
            self.full_name,
            tuple(formals.values()),
            self.arrays,
            body,
            self.context,
            span=self.node.span,
            name_span=self.node.name_span,
            overrides=tuple(overrides.items()),
            computed=tuple(self._find_imported_parameters(overrides, {*formals.values(), self.context}).items()),
        )

    # -- scope -----------------------------------------------------------------------------------

    def _scope(self, names: dict[str, Expr], stream: tuple[Expr, ...]) -> StatementScope:
        def resolve(node: nodes.Name) -> Expr:
            head, _, tail = node.name.partition(".")
            if tail and head in self.local_models:
                return self.local_models[head].lookup(tail) or self.model.resolve(node)
            return names[node.name] if node.name in names else self.model.resolve(node)

        return StatementScope(names, Lowering(resolve, self.origins, stream, self.model.site_of_draw))

    def _scope_with_locals(self, formals: dict[str, Expr]) -> StatementScope:
        """Arguments and the kernel's own parameters and enums; local parameters in whatever order."""
        enums = [node for node in self.node.declarations if isinstance(node, nodes.Enum)]
        constants = {name: graph.number(value) for name, value in enum_constants(enums).items()}
        parameters = declarations_by_name(nodes.Parameter, self.node.declarations)
        symbols = {name: graph.symbol(name, f"{self.full_name} local") for name in parameters}
        scope = self._scope({**formals, **constants, **symbols}, (self.context,))
        definitions = {symbols[name]: lower_guarded(scope.lower, node.value) for name, node in parameters.items()}
        for name, symbol in symbols.items():
            try:
                scope.names[name] = resolve_definitions([symbol], definitions, carry_origin(self.origins))[0]
            except CircularDefinition as error:
                message = "circular definition: " + join_chain(error.names)
                scope.names[name] = failure_node("circular-definition", message, parameters[name].name_span)
        return scope

    def _find_overrides(self, scope: StatementScope) -> dict[Expr, Expr]:
        """Values to which the kernel sets parameters of its own imports."""
        values = {}
        for node in declarations_by_name(nodes.Import, self.node.declarations).values():
            model = self.local_models[node.name]
            for override in node.overrides:
                parameter = model.parameters.get(model.prefix + override.name)
                if parameter is not None:
                    value = lower_guarded(scope.lower, override.value)
                    values[parameter.symbol] = model.member_check(parameter.node, value)
        return values

    def _find_imported_parameters(self, overrides: dict[Expr, Expr], arguments: set[Expr]) -> dict[Expr, Expr]:
        """Imported parameters that the arguments of the kernel decide: they differ from call to call."""
        if not overrides:
            return {}
        imported = (item for model in self.local_models.values() for item in model.parameters.values())
        definitions = {item.symbol: item.value for item in imported} | overrides
        try:
            values = resolve_definitions(list(definitions), definitions, carry_origin(self.origins))
        except CircularDefinition:
            return {}  # reported where a value is asked for
        resolved = zip(definitions, values, strict=True)
        return {symbol: value for symbol, value in resolved if not arguments.isdisjoint(graph.free_symbols(value))}

    # -- statements ------------------------------------------------------------------------------

    def _sequence(self, statements: tuple[nodes.Statement, ...], scope: StatementScope) -> flow.Flow:
        steps = self._steps(statements, scope)
        return steps[0] if len(steps) == 1 else flow.Sequence(steps, None)

    def _steps(self, statements: tuple[nodes.Statement, ...], scope: StatementScope) -> tuple[flow.Flow, ...]:
        """A sample names its draw for the statements behind it."""
        steps = []
        for statement in statements:
            with self._gather_mistakes():
                if isinstance(statement, nodes.Sample):
                    span = statement.distribution_span or statement.span
                    draw = scope.lower.draw(statement.distribution, statement, span)
                    scope = self._scope({**scope.names, statement.name: draw}, scope.lower.stream)
                else:
                    steps.append(self._step(statement, scope))
        return tuple(steps)

    @contextmanager
    def _gather_mistakes(self) -> Iterator[None]:
        """Goes on behind a mistake where mistakes are gathered."""
        try:
            yield
        except AspenError as error:
            if self.mistakes is None:
                raise
            self.mistakes += error.diagnostics

    def _step(self, node: Any, scope: StatementScope) -> flow.Flow:
        match node:
            case nodes.Execute():
                return self._build_block(node, scope)
            case nodes.Call():
                return self._call(node, scope)
            case nodes.Group(mode="seq"):
                return flow.Sequence(self._steps(node.body, scope), node.span)
            case nodes.Group():
                return flow.Parallel(self._steps(node.body, scope), node.label, node.span)
            case nodes.Loop():
                return self._loop(node, scope)
            case nodes.If():
                branches = [(scope.lower(condition), self._sequence(body, scope)) for condition, body in node.branches]
                return flow.Choice(tuple(branches), self._otherwise(node, scope), node.span)
            case nodes.Switch():
                subject = scope.lower(node.subject)
                branches = [
                    (graph.compare("==", subject, scope.lower(case.value)), self._sequence(case.body, scope))
                    for case in node.cases
                ]
                return flow.Choice(tuple(branches), self._otherwise(node, scope), node.span)
            case nodes.Probability():
                return self._build_probability(node, scope)
        raise NotImplementedError(type(node).__name__)

    def _otherwise(self, node: nodes.If | nodes.Switch | nodes.Probability, scope: StatementScope) -> flow.Flow:
        return flow.NOTHING if node.otherwise is None else self._sequence(node.otherwise, scope)

    def _check_value(self, law: str, node: Any, expr: Expr) -> Expr:
        return check_value_at(law, expr, None if node is None else node.span, self.origins)

    def _build_block(self, node: nodes.Execute, scope: StatementScope) -> flow.Flow:
        parallelism = graph.ONE if node.parallelism is None else scope.lower(node.parallelism)
        checked = self._check_value("parallelism", node.parallelism, parallelism)
        width = None if node.width is None else self._check_value("width", node.width, scope.lower(node.width))
        requirements = []
        for requirement in node.requirements:
            with self._gather_mistakes():
                whole = write_out_cut(self._requirement(requirement, scope.lower), checked)
                requirements += divide_by_mixture(whole, self.mixtures, scope.lower)
        schedules: dict[str | None, flow.Schedule] = {"static": "static", "dynamic": "dynamic"}
        schedule = schedules.get(node.schedule)
        sizes = self._lower_part_sizes(node, scope)
        return flow.Block(node.label, checked, tuple(requirements), node.span, width, sizes=sizes, schedule=schedule)

    def _lower_part_sizes(self, node: nodes.Execute, scope: StatementScope) -> tuple[Expr, Expr] | None:
        """The counter of unequal parts, and the size of each."""
        if node.size is None or node.counter is None:
            if node.size is None and node.counter is None:
                return None
            message = "unequal parts have a counter and a size"
            fail("part-sizes", message, node.span, hint="write `of i [n] of size [i + 1]`, or `of [n]` for equal parts")
        counter = self._counter(node)
        lower = self._scope({**scope.names, node.counter: counter}, scope.lower.stream).lower
        return counter, self._check_value("size", node.size, lower(node.size))

    def _requirement(self, node: nodes.Requirement, lower: Lowering) -> flow.Requirement:
        quantity = lower(node.quantity)
        if quantity.kind != "number":  # a literal one below zero is a warning of the mapping
            quantity = self._check_unless_drawn("amount", node.quantity, quantity)
        size = None if node.size is None else self._check_unless_drawn("size", node.size, lower(node.size))
        return flow.Requirement(
            node.resource,
            quantity,
            size,
            quantity if size is None else quantity * size,
            node.direction,
            target=None if node.target is None else self._array(node.target),
            traits=tuple(
                flow.Trait(trait.name, tuple(self._lower_trait_arguments(trait, lower)), trait.span)
                for trait in node.traits
            ),
            span=node.span,
            resource_span=node.resource_span,
            target_span=node.target_span,
        )

    def _check_unless_drawn(self, law: str, node: nodes.Expression, expr: Expr) -> Expr:
        """Holds a value to a law; the tail of a distribution is no mistake of the model."""
        drawn = any(part.kind == "draw" for part in graph.topological_order(expr))
        return expr if drawn else self._check_value(law, node, expr)

    def _lower_trait_arguments(self, trait: nodes.Trait, lower: Lowering) -> Iterator[Expr | str | flow.Counted]:
        """Values, texts, and names that are no values: units and the data structures of a gather."""
        if any(isinstance(argument, nodes.Counted) for argument in trait.arguments):
            yield from _lower_counted_arguments(trait, lower)
            return
        for index, argument in enumerate(trait.arguments or IMPLIED_ARGUMENTS.get(trait.name, ())):
            if isinstance(argument, nodes.Text):
                yield argument.value
            elif isinstance(argument, nodes.Name) and index == UNIT_ARGUMENTS.get(trait.name):
                yield argument.name
            elif isinstance(argument, nodes.Name) and trait.name == "gather" and self._is_data(argument.name):
                yield self._array(argument.name)
            elif not isinstance(argument, nodes.Counted):
                yield lower(argument)

    def _is_data(self, name: str) -> bool:
        declared = declarations_by_name(nodes.Data, self.model.node.declarations)
        return name in self.arrays or name in self.local_data or name in declared

    def _array(self, name: str) -> str:
        """The full name of a data structure: an argument, one of the kernel's own, or a global one."""
        if name in self.arrays:
            return name
        return f"{self.full_name}.{name}" if name in self.local_data else self.model.prefix + name

    def _call(self, node: nodes.Call, scope: StatementScope) -> flow.Flow:
        model, target = self.model.find_kernel(node.kernel, self.node.name, node.name_span or node.span)
        check_arguments(node, target)
        full_name = model.prefix + target.name
        if self.mistakes is not None and full_name not in self.flows:
            if model is self.model:
                return flow.NOTHING  # it calls itself, or there are too many mistakes to go on
            self.flows[full_name] = _build_named_kernel(self.model, model, target)
        callee = self.flows[full_name]
        symbols = iter(callee.formals)
        arguments, arrays = [], []
        for formal, argument in zip(target.formals, node.arguments, strict=True):
            if formal.kind == "param":
                arguments.append((next(symbols), scope.lower(argument)))
            elif isinstance(argument, nodes.Name):
                arrays.append((formal.name, self._array(argument.name)))
            else:
                message = f"argument `{formal.name}` of kernel `{node.kernel}` wants the name of a data structure"
                fail("not-an-array", message, argument.span or node.span)
        site = graph.number(self.numbers[id(node)])
        arguments.append((callee.context, graph.stream(*scope.lower.stream, site)))
        return flow.Call(callee, tuple(arguments), tuple(arrays), node.span)

    def _loop(self, node: nodes.Loop, scope: StatementScope) -> flow.Flow:
        counter = self._counter(node)
        count = self._check_value("count", node.count, scope.lower(node.count))
        names = scope.names if node.counter is None else {**scope.names, node.counter: counter}
        body = self._sequence(node.body, self._scope(names, (*scope.lower.stream, counter)))
        return flow.Repeat(node.mode, counter, node.counter is not None, count, body, label=node.label, span=node.span)

    def _counter(self, node: nodes.Loop | nodes.Execute) -> Expr:
        """The symbol that counts the passes of a loop or the instances of a block."""
        offset = node.span.start if node.span else 0
        counter = graph.counter(node.counter or "pass", f"{self.full_name} loop {offset}")
        if node.span is not None:
            self.origins[counter] = node.span
        return counter

    def _build_probability(self, node: nodes.Probability, scope: StatementScope) -> flow.Flow:
        """The cases with their probabilities; `else` (or nothing) gets what they leave of 1."""
        cases = [
            (self._check_value("probability", case.value, scope.lower(case.value)), self._sequence(case.body, scope))
            for case in node.cases
        ]
        together = graph.add(*(probability for probability, _ in cases))
        first = graph.checked("probabilities", cases[0][0], together)
        if node.span is not None:
            self.origins.setdefault(first, node.span)
        rest = 1 - together
        return flow.Expectation(((first, cases[0][1]), *cases[1:], (rest, self._otherwise(node, scope))), node.span)
