"""From the kernels of the syntax tree to the tree of control flow (`application.flow`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from graphlib import CycleError, TopologicalSorter
from typing import Any

from aspenpy.expr import graph
from aspenpy.expr.definitions import CircularDefinition, resolve_definitions
from aspenpy.expr.graph import Expr
from aspenpy.language import nodes
from aspenpy.language.diagnostics import AspenError, Diagnostic, Related, chain, fail
from aspenpy.language.lower import Lowering, carry_origin, failing, guarded
from aspenpy.language.statements import calls
from aspenpy.models.application import flow
from aspenpy.models.application.declarations import Declarations, enum_constants

Key = tuple[Declarations, str]

IMPLIED_ARGUMENTS = {"rdd": (nodes.Name("rddCDF"), nodes.Name("rddVals"))}
"""What a trait without arguments takes from around it: the kernel's or the model's."""

UNITS = ("line", "word", "byte")
"""What a reuse distance may be counted in."""

UNIT_ARGUMENTS = {"rd": 1, "rdd": 2}
"""The argument of a trait that is one of those words, whatever else has the name."""


def build_kernel(application: Declarations, name: str) -> flow.Kernel:
    """The kernel and, first, all that it calls: each kernel is built once, however often it is called."""
    model, node = application.find_kernel(name)
    return _built(application, model, node)


def _built(application: Declarations, model: Declarations, node: nodes.Kernel) -> flow.Kernel:
    flows = application._flows
    full_name = model.prefix + node.name
    if full_name in flows:
        return flows[full_name]
    found: dict[str, tuple[Declarations, nodes.Kernel]] = {full_name: (model, node)}
    callees: dict[str, list[str]] = {}
    pending = [full_name]
    while pending:
        caller = pending.pop()
        caller_model, caller_node = found[caller]
        callees[caller] = []
        for call in calls(caller_node.body):
            target_model, target = caller_model.find_kernel(call.kernel, caller_node.name, call.name_span or call.span)
            target_name = target_model.prefix + target.name
            callees[caller].append(target_name)
            if target_name not in found and target_name not in flows:
                found[target_name] = (target_model, target)
                pending.append(target_name)
    for kernel in callees_first(callees, {name: node for name, (_, node) in found.items()}):
        if kernel not in flows:
            owner, kernel_node = found[kernel]
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
        call = next(call for call in calls(node.body) if call.kernel.rpartition(".")[2] == next_name)
        fail(
            "recursive-kernel",
            "a kernel calls itself: " + chain(cycle),
            call.span,
            related=(Related(node.name_span, "this kernel"),),
            hint="a model has no end condition for recursion; write the number of passes as `iterate [n] { ... }`",
        )


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


def call_graph(application: Declarations) -> Any:
    """The call graph of an application, imported kernels included, as a `networkx.MultiDiGraph`."""
    import networkx

    result = networkx.MultiDiGraph()

    def visit(model: Declarations) -> None:
        for node in model.kernels.values():
            caller = model.prefix + node.name
            result.add_node(caller)
            for call in calls(node.body):
                target_model, target = model.find_kernel(call.kernel, node.name, call.name_span or call.span)
                result.add_edge(caller, target_model.prefix + target.name, span=call.span)
        for imported in model.models():
            visit(imported)

    visit(application)
    return result


class KernelBuilder:
    """Builds one kernel. `names` holds what is in scope besides the globals: arguments, local
    parameters and constants, loop counters, samples.

    With a list of `mistakes`, a statement or requirement that is wrong is left out and told there.
    """

    def __init__(
        self,
        model: Declarations,
        node: nodes.Kernel,
        flows: dict[str, flow.Kernel],
        mistakes: list[Diagnostic] | None = None,
    ) -> None:
        self.model = model
        self.node = node
        self.flows = flows
        self.mistakes = mistakes
        self.full_name = model.prefix + node.name
        self.context = graph.symbol("call", self.full_name)
        self.numbers = {id(call): number for number, call in enumerate(calls(node.body))}

    def build(self, root: Declarations) -> flow.Kernel:
        formals = {
            formal.name: graph.symbol(formal.name, self.full_name)
            for formal in self.node.formals
            if formal.kind == "param"
        }
        arrays = tuple(formal.name for formal in self.node.formals if formal.kind == "data")
        self.origins = root.origins
        names = self._with_locals(formals)
        body = self._sequence(self.node.body, names, (self.context,))
        overrides = self._overrides(names)
        computed = self._computed(overrides, {*formals.values(), self.context})
        return flow.Kernel(
            self.full_name,
            tuple(formals.values()),
            arrays,
            body,
            self.context,
            self.node.span,
            self.node.name_span,
            tuple(overrides.items()),
            tuple(computed.items()),
        )

    # -- scope -----------------------------------------------------------------------------------

    def _lowering(self, names: dict[str, Expr], stream: tuple[Expr, ...]) -> Lowering:
        model = self.model
        local = model.kernel_imports.get(self.node.name, {})

        def resolve(node: nodes.Name) -> Expr:
            head, _, tail = node.name.partition(".")
            if tail and head in local:
                return local[head].lookup(tail) or model.resolve(node)
            return names[node.name] if node.name in names else model.resolve(node)

        return Lowering(resolve, self.origins, stream, model.site_of_draw)

    def _with_locals(self, formals: dict[str, Expr]) -> dict[str, Expr]:
        """Arguments and the kernel's own parameters and enums; local parameters in whatever order."""
        enums = [node for node in self.node.declarations if isinstance(node, nodes.Enum)]
        constants = {name: graph.number(value) for name, value in enum_constants(enums).items()}
        parameters = {node.name: node for node in self.node.declarations if isinstance(node, nodes.Parameter)}
        symbols = {name: graph.symbol(name, f"{self.full_name} local") for name in parameters}
        names = {**formals, **constants, **symbols}
        lower = self._lowering(names, (self.context,))
        definitions = {symbols[name]: guarded(lower, node.value) for name, node in parameters.items()}
        for name, symbol in symbols.items():
            try:
                names[name] = resolve_definitions([symbol], definitions, carry_origin(self.origins))[0]
            except CircularDefinition as error:
                message = "circular definition: " + chain(error.names)
                names[name] = failing("circular-definition", message, parameters[name].name_span)
        return names

    def _overrides(self, names: dict[str, Expr]) -> dict[Expr, Expr]:
        """What the kernel sets parameters of its own imports to."""
        lower = self._lowering(names, (self.context,))
        models = self.model.kernel_imports.get(self.node.name, {})
        imports = {node.name: node for node in self.node.declarations if isinstance(node, nodes.Import)}
        found = {}
        for name, node in imports.items():
            for override in node.overrides:
                parameter = models[name].parameters.get(models[name].prefix + override.name)
                if parameter is not None:
                    value = models[name].member_check(parameter.node, guarded(lower, override.value))
                    found[parameter.symbol] = value
        return found

    def _computed(self, overrides: dict[Expr, Expr], arguments: set[Expr]) -> dict[Expr, Expr]:
        """Imported parameters that the arguments of the kernel decide: they differ from call to call."""
        if not overrides:
            return {}
        models = self.model.kernel_imports[self.node.name].values()
        definitions = {item.symbol: item.value for model in models for item in model.parameters.values()} | overrides
        try:
            values = resolve_definitions(list(definitions), definitions, carry_origin(self.origins))
        except CircularDefinition:
            return {}  # told where a value is asked for
        resolved = zip(definitions, values, strict=True)
        return {symbol: value for symbol, value in resolved if not arguments.isdisjoint(graph.free_symbols(value))}

    # -- statements ------------------------------------------------------------------------------

    def _sequence(
        self, statements: tuple[nodes.Statement, ...], names: dict[str, Expr], stream: tuple[Expr, ...]
    ) -> flow.Flow:
        steps = self._steps(statements, names, stream)
        return steps[0] if len(steps) == 1 else flow.Sequence(tuple(steps), None)

    def _steps(
        self, statements: tuple[nodes.Statement, ...], names: dict[str, Expr], stream: tuple[Expr, ...]
    ) -> list[flow.Flow]:
        """A sample names its draw for the statements behind it."""
        steps = []
        for statement in statements:
            with self._recovering():
                if isinstance(statement, nodes.Sample):
                    lower = self._lowering(names, stream)
                    span = statement.distribution_span or statement.span
                    names = {**names, statement.name: lower.draw(statement.distribution, statement, span)}
                else:
                    rule: Callable[..., flow.Flow] = _RULES[type(statement)]
                    steps.append(rule(self, statement, names, stream))
        return steps

    @contextmanager
    def _recovering(self) -> Iterator[None]:
        """Goes on behind a mistake where mistakes are gathered."""
        try:
            yield
        except AspenError as error:
            if self.mistakes is None:
                raise
            self.mistakes += error.diagnostics

    def _execute(self, node: nodes.Execute, names: dict[str, Expr], stream: tuple[Expr, ...]) -> flow.Flow:
        lower = self._lowering(names, stream)
        parallelism = graph.ONE if node.parallelism is None else lower(node.parallelism)
        checked = self._checked("parallelism", parallelism, node.parallelism)
        requirements = []
        for requirement in node.requirements:
            with self._recovering():
                requirements.append(self._requirement(requirement, lower))
        return flow.Block(node.label, checked, tuple(requirements), node.span)

    def _requirement(self, node: nodes.Requirement, lower: Lowering) -> flow.Requirement:
        quantity = self._amount(lower(node.quantity), node.quantity)
        size = None if node.size is None else self._amount(lower(node.size), node.size)
        amount = quantity if size is None else graph.mul(quantity, size)
        traits = tuple(
            flow.Trait(
                trait.name,
                tuple(self._trait_arguments(trait, lower)),
                trait.span,
            )
            for trait in node.traits
        )
        target = None if node.target is None else self._array(node.target)
        return flow.Requirement(
            node.resource,
            quantity,
            size,
            amount,
            node.direction,
            target,
            traits,
            node.span,
            node.resource_span,
            node.target_span,
        )

    def _trait_arguments(self, trait: nodes.Trait, lower: Lowering) -> Iterator[Expr | str]:
        """Values, texts, and names that are no values: units and the data structures of a gather."""
        for place, argument in enumerate(trait.arguments or IMPLIED_ARGUMENTS.get(trait.name, ())):
            if isinstance(argument, nodes.Text):
                yield argument.value
            elif isinstance(argument, nodes.Name) and place == UNIT_ARGUMENTS.get(trait.name):
                yield argument.name
            elif isinstance(argument, nodes.Name) and trait.name == "gather" and self._is_data(argument.name):
                yield self._array(argument.name)
            else:
                yield lower(argument)

    def _is_data(self, name: str) -> bool:
        declared = [*self.node.declarations, *self.model.node.declarations]
        known = {node.name for node in declared if isinstance(node, nodes.Data)}
        return name in known or any(formal.name == name for formal in self.node.formals if formal.kind == "data")

    def _array(self, name: str) -> str:
        """The full name of a data structure: an argument, one of the kernel's own, or a global one."""
        own = {formal.name for formal in self.node.formals if formal.kind == "data"}
        local = {node.name for node in self.node.declarations if isinstance(node, nodes.Data)}
        if name in own:
            return name
        return f"{self.full_name}.{name}" if name in local else self.model.prefix + name

    def _checked(self, law: str, expr: Expr, node: Any) -> Expr:
        result = graph.checked(law, expr)
        if node is not None and node.span is not None:
            self.origins.setdefault(result, node.span)
        return result

    def _amount(self, expr: Expr, node: Any) -> Expr:
        """Refuses an amount below zero, wherever it is evaluated. A literal one is a warning of the mapping, and the
        tail of a distribution is no mistake of the model."""
        known = expr.kind == "number" or graph.of_kind("draw", expr)
        return expr if known else self._checked("amount", expr, node)

    def _call(self, node: nodes.Call, names: dict[str, Expr], stream: tuple[Expr, ...]) -> flow.Flow:
        model, target = self.model.find_kernel(node.kernel, self.node.name, node.name_span or node.span)
        check_arguments(node, target)
        full_name = model.prefix + target.name
        if self.mistakes is not None and full_name not in self.flows:
            if model is self.model:
                return flow.NOTHING  # it calls itself, or there are too many mistakes to go on
            self.flows[full_name] = _built(self.model, model, target)
        callee = self.flows[full_name]
        lower = self._lowering(names, stream)
        symbols = iter(callee.formals)
        arguments, arrays = [], []
        for formal, argument in zip(target.formals, node.arguments, strict=True):
            if formal.kind == "param":
                arguments.append((next(symbols), lower(argument)))
            elif isinstance(argument, nodes.Name):
                arrays.append((formal.name, self._array(argument.name)))
            else:
                message = f"argument `{formal.name}` of kernel `{node.kernel}` wants the name of a data structure"
                fail("not-an-array", message, argument.span or node.span)
        site = graph.number(self.numbers[id(node)])
        arguments.append((callee.context, graph.stream(*stream, site)))
        return flow.Call(callee, tuple(arguments), tuple(arrays), node.span)

    def _group(self, node: nodes.Group, names: dict[str, Expr], stream: tuple[Expr, ...]) -> flow.Flow:
        steps = tuple(self._steps(node.body, names, stream))
        if node.mode == "seq":
            return flow.Sequence(steps, node.span)
        return flow.Parallel(steps, node.label == "overlap", node.label, node.span)

    def _loop(self, node: nodes.Loop, names: dict[str, Expr], stream: tuple[Expr, ...]) -> flow.Flow:
        offset = node.span.start if node.span else 0
        counter = graph.counter(node.counter or "pass", f"{self.full_name} loop {offset}")
        if node.span is not None:
            self.origins[counter] = node.span
        count = self._checked("count", self._lowering(names, stream)(node.count), node.count)
        inner = names if node.counter is None else {**names, node.counter: counter}
        body = self._sequence(node.body, inner, (*stream, counter))
        return flow.Repeat(node.mode, counter, node.counter is not None, count, body, node.label, node.span)

    def _otherwise(self, node: Any, names: dict[str, Expr], stream: tuple[Expr, ...]) -> flow.Flow:
        return flow.NOTHING if node.otherwise is None else self._sequence(node.otherwise, names, stream)

    def _if(self, node: nodes.If, names: dict[str, Expr], stream: tuple[Expr, ...]) -> flow.Flow:
        lower = self._lowering(names, stream)
        branches = tuple((lower(condition), self._sequence(body, names, stream)) for condition, body in node.branches)
        return flow.Choice(branches, self._otherwise(node, names, stream), node.span)

    def _switch(self, node: nodes.Switch, names: dict[str, Expr], stream: tuple[Expr, ...]) -> flow.Flow:
        lower = self._lowering(names, stream)
        subject = lower(node.subject)
        branches = tuple(
            (graph.compare("==", subject, lower(case.value)), self._sequence(case.body, names, stream))
            for case in node.cases
        )
        return flow.Choice(branches, self._otherwise(node, names, stream), node.span)

    def _probability(self, node: nodes.Probability, names: dict[str, Expr], stream: tuple[Expr, ...]) -> flow.Flow:
        """The cases with their probabilities; `else` (or nothing) gets what they leave of 1."""
        lower = self._lowering(names, stream)
        cases = [
            (self._checked("probability", lower(case.value), case.value), self._sequence(case.body, names, stream))
            for case in node.cases
        ]
        together = graph.add(*(probability for probability, _ in cases))
        first = graph.checked("probabilities", cases[0][0], together)
        if node.span is not None:
            self.origins.setdefault(first, node.span)
        rest = graph.sub(graph.ONE, together)
        return flow.Expectation(
            ((first, cases[0][1]), *cases[1:], (rest, self._otherwise(node, names, stream))), node.span
        )


_RULES: dict[type, Callable[..., flow.Flow]] = {
    nodes.Execute: KernelBuilder._execute,
    nodes.Call: KernelBuilder._call,
    nodes.Group: KernelBuilder._group,
    nodes.Loop: KernelBuilder._loop,
    nodes.If: KernelBuilder._if,
    nodes.Switch: KernelBuilder._switch,
    nodes.Probability: KernelBuilder._probability,
}
