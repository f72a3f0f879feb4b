"""The dimensions of an application: two known ones that contradict each other are an error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aspenpy.language import nodes
from aspenpy.language.diagnostics import AspenError, Diagnostic
from aspenpy.language.dimensions import BYTES, DIMENSIONLESS, FLOPS, Dimension, carries_units, describe_dimension
from aspenpy.language.infer import Lookup, dimension_of
from aspenpy.language.statements import expressions_of_statement, walk_statements

RESOURCE_DIMENSIONS = {"flops": FLOPS, **dict.fromkeys(("loads", "stores", "intracomm", "read", "write"), BYTES)}
"""What an amount of the conventional resources is. A message may be counted or weighed, so `messages` is open."""


def contradictions(node: nodes.Application) -> list[Diagnostic]:
    """Every expression of the model whose known dimensions contradict each other or what is wanted there."""
    if not may_carry_units(node):
        return []
    noted = Contradictions()
    names = Inference(parameters_of(node.declarations), {}, noted)
    for declaration in node.declarations:
        _check_declaration(declaration, names)
    for kernel in node.kernels:
        hidden: dict[str, nodes.Expression | None] = {formal.name: None for formal in kernel.formals}
        for statement in walk_statements(kernel.body):
            if isinstance(statement, nodes.Loop | nodes.Execute) and statement.counter:
                hidden[statement.counter] = None
            elif isinstance(statement, nodes.Sample):
                hidden[statement.name] = None
        inner = Inference({**names.definitions, **hidden, **parameters_of(kernel.declarations)}, {}, noted)
        for declaration in kernel.declarations:
            _check_declaration(declaration, inner)
        for statement in walk_statements(kernel.body):
            _check_statement(statement, inner)
    return noted.diagnostics


class Contradictions:
    """The contradictions found so far, each once."""

    def __init__(self) -> None:
        self.diagnostics: list[Diagnostic] = []

    def infer(self, node: Any, lookup: Lookup) -> Dimension | None:
        """The dimension of an expression; a contradiction inside is noted, and the dimension then unknown."""
        try:
            return dimension_of(node, lookup)
        except AspenError as error:
            self.add(*error.diagnostics)
            return None

    def add(self, *diagnostics: Diagnostic) -> None:
        for diagnostic in diagnostics:
            if not any(diagnostic.span == known.span for known in self.diagnostics):
                self.diagnostics.append(diagnostic)


class Inference:
    """Looks up the dimension of a name through what defines it; `known` are names whose dimension is given."""

    def __init__(
        self,
        definitions: Mapping[str, nodes.Expression | None],
        known: Mapping[str, Dimension | None],
        found: Contradictions,
    ) -> None:
        self.definitions = definitions
        self.known = dict(known)
        self.found = found
        self.depth = 0

    def __call__(self, name: str) -> Dimension | None:
        if name in self.known:
            return self.known[name]
        definition = self.definitions.get(name)
        if definition is None or self.depth >= DEEPEST_INFERENCE:
            return None
        self.known[name] = None
        self.depth += 1
        self.known[name] = self.found.infer(definition, self)
        self.depth -= 1
        return self.known[name]

    def check(
        self, node: nodes.Expression | nodes.Condition | None, wanted: Dimension | None = None, role: str = ""
    ) -> None:
        """Infers an expression and compares it with what is wanted of it, if anything is."""
        dimension = None if node is None else self.found.infer(node, self)
        if node is not None and wanted is not None and dimension is not None and dimension != wanted:
            message = f"{role} must be {describe_dimension(wanted)}, but this is {describe_dimension(dimension)}"
            self.found.add(Diagnostic("dimensions", message, node.span))


DEEPEST_INFERENCE = 50  # parameters defined through parameters are followed this far; beyond, a dimension is unknown


def may_carry_units(node: nodes.Application | nodes.Machine) -> bool:
    """Whether the text can hold a unit literal. Plain Aspen has none, and must not be refused for its dimensions."""
    if node.span is None:
        return True
    source = node.span.source
    return any(carries_units(part.text) for part in (source, *(included for _, included in source.included)))


def parameters_of(declarations: tuple[nodes.Declaration, ...]) -> dict[str, nodes.Expression | None]:
    return {item.name: item.value for item in declarations if isinstance(item, nodes.Parameter)}


def _check_declaration(node: nodes.Declaration, names: Inference) -> None:
    if isinstance(node, nodes.Parameter):
        own = names(node.name)
        names.check(node.value)
        names.check(node.low, own, f"`{node.name}`")
        names.check(node.high, own, f"`{node.name}`")
        if node.counts is not None:
            names.check(node.counts.argument)
    elif isinstance(node, nodes.Data):
        names.check(node.size, BYTES, "the size of a data structure")
        for factor in node.factors:
            names.check(factor)
    elif isinstance(node, nodes.Import):
        for override in node.overrides:
            names.check(override.value)
    elif isinstance(node, nodes.Mixture):
        for part in node.parts:
            names.check(part.amount)


_COUNTS: dict[type, str] = {nodes.Loop: "a loop's count", nodes.Probability: "a probability"}
"""The statements whose expressions are numbers without a unit."""


def _check_statement(node: nodes.Statement, names: Inference) -> None:
    if isinstance(node, nodes.Execute):
        names.check(node.parallelism, DIMENSIONLESS, "a parallelism")
        names.check(node.width, DIMENSIONLESS, "a width")
        if node.size is not None:
            names.check(node.size)
        for requirement in node.requirements:
            _check_requirement(requirement, names)
        return
    role = _COUNTS.get(type(node))
    for expression in expressions_of_statement(node):
        names.check(expression, None if role is None else DIMENSIONLESS, role or "")


def _check_requirement(node: nodes.Requirement, names: Inference) -> None:
    wanted = RESOURCE_DIMENSIONS.get(node.resource)
    role = f"the amount of `{node.resource}`"
    if node.size is None:
        names.check(node.quantity, wanted, role)
        return
    quantity, size = names.found.infer(node.quantity, names), names.found.infer(node.size, names)
    if quantity == DIMENSIONLESS or quantity is None:
        names.check(node.size, wanted, role)
    elif size is not None and wanted is not None and quantity * size != wanted:
        names.check(node.quantity, wanted / size, role)
