"""Declarations: a loaded application model, its names resolved on demand, and its mixtures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, Self

from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.language import nodes
from aspenpy.language.diagnostics import Diagnostic, Related, fail, suggest_instead, suggest_nearest
from aspenpy.language.lower import Lowering, check_value_at, constant_value, lower_guarded
from aspenpy.language.source import Span
from aspenpy.language.statements import walk_statements
from aspenpy.language.vocabulary import OPERATION_CLASSES
from aspenpy.models.application import flow
from aspenpy.models.application.flow import Kernel
from aspenpy.models.model import Model, Parameter, make_parameter, name_members
from aspenpy.record import Record


class Data(Record):
    """A data structure and its size in bytes."""

    name: str
    size: Expr
    node: nodes.Data
    span: Span | None


class Declarations(Model):
    """Declarations of an application model, names resolved: kernels, data, parameters, enums, imports."""

    node: nodes.Application

    def __init__(
        self,
        node: nodes.Application,
        imports: Mapping[str, Self] | None = None,
        kernel_imports: Mapping[str, Mapping[str, Self]] | None = None,
        prefix: str = "",
        warnings: tuple[Diagnostic, ...] = (),
        reads_outside: bool = False,
    ) -> None:
        super().__init__(node, warnings)
        self.imports = dict(imports or {})
        self.kernel_imports = {kernel: dict(models) for kernel, models in (kernel_imports or {}).items()}
        self.prefix = prefix
        self.reads_outside = reads_outside
        self._flows: dict[str, Kernel] = {}

    @property
    def name(self) -> str:
        return self.node.name

    def __reduce__(self) -> tuple[Any, ...]:
        arguments = self.node, self.imports, self.kernel_imports, self.prefix, self.warnings, self.reads_outside
        return type(self), arguments

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}: {len(self.parameters)} parameters, {len(self.kernels)} kernels>"

    def _identity(self) -> tuple[Any, ...]:
        return self.node, self.imports, self.kernel_imports, self.prefix

    # -- what it declares ------------------------------------------------------------------------

    @cached_property
    def kernels(self) -> dict[str, nodes.Kernel]:
        """Kernels of the application itself by name; of two with one name the later holds."""
        return {kernel.name: kernel for kernel in self.node.kernels}

    @cached_property
    def data(self) -> dict[str, Data]:
        """Data structures under their full names, imported ones included."""
        structures = {
            self.prefix + node.name: self.data_of(node)
            for node in self.node.declarations
            if isinstance(node, nodes.Data)
        }
        for model in self.imports.values():
            structures |= model.data
        return structures

    def data_of(self, node: nodes.Data, lower: Lowering | None = None) -> Data:
        """The data structure a declaration names: its size in bytes, as given or as the product of the factors."""
        factors = node.factors if node.size is None else (node.size,)
        size = graph.mul(*(_lower_size(lower or self.lowering, factor) for factor in factors))
        return Data(self.prefix + node.name, size, node, node.span)

    @cached_property
    def parameters(self) -> dict[str, Parameter]:
        """Global parameters under their full names, imported ones included, overrides of imports applied."""
        parameters = {self.prefix + node.name: self._parameter(node) for node in self.declared.values()}
        for model in self.models():
            parameters |= model.parameters
        imports = (node for node in self.node.declarations if isinstance(node, nodes.Import))
        for node in imports:
            model = self.imports[node.name]
            for override in node.overrides:
                if override.name in model.declared:
                    parameter = parameters[model.prefix + override.name]
                    value = model.member_check(parameter.node, lower_guarded(self.lowering, override.value))
                    parameters[parameter.name] = parameter.replace(value=value)
        return parameters

    def models(self) -> list[Self]:
        """The models it imports, those its kernels import included."""
        return [
            *self.imports.values(),
            *(model for models in self.kernel_imports.values() for model in models.values()),
        ]

    def all_models(self) -> list[Self]:
        """The model itself, what it imports, what that imports, and so on."""
        return [self, *(below for model in self.models() for below in model.all_models())]

    def _parameter(self, node: nodes.Parameter) -> Parameter:
        value = self.member_check(node, lower_guarded(self.lowering, node.value))
        name = self.prefix + node.name
        return make_parameter(name, graph.symbol(name), value, node, self.lowering)

    def member_check(self, node: nodes.Parameter, value: Expr) -> Expr:
        """`in name` wants a member of that enum: the value, or the mistake in its place."""
        if node.member_of is None:
            return value
        span = node.name_span or node.span
        if node.member_of not in self.enums:
            hint = suggest_nearest(node.member_of, self.enums)
            return graph.failure(Diagnostic("unknown-enum", f"unknown enum `{node.member_of}`", span, hint=hint))
        members = self.enums[node.member_of].members
        message = f"the value of `{node.name}` is not a member of `{node.member_of}`"
        wrong = graph.failure(Diagnostic("not-a-member", message, span, hint=name_members(members)))
        if isinstance(node.value, nodes.Name) and node.value.name in self.constants.keys() - {*members}:
            return wrong  # a member of another enum, whose value would be that of one of these
        result = wrong
        for position in reversed(range(len(members))):
            result = graph.if_else(graph.compare("==", value, position), value, result)
        return result

    # -- names -----------------------------------------------------------------------------------

    @cached_property
    def lowering(self) -> Lowering:
        """Lowers expressions in the scope of the globals."""
        return Lowering(self.resolve, self.origins, (), self.site_of_draw)

    def _scopes(self) -> dict[str, Any]:
        kernels = {self.prefix + kernel.name: kernel for kernel in self.node.kernels}
        return {self.prefix: self.node.declarations, **kernels}

    def resolve(self, node: nodes.Name) -> Expr:
        """The node for a name in the scope of the globals: parameter, enum member, imported name, constant.

        A name that nobody here defines is a free symbol: the machine may define it, or `--set`.
        """
        return self.lookup(node.name) or graph.symbol(self.prefix + node.name)

    def lookup(self, name: str) -> Expr | None:
        head, _, tail = name.partition(".")
        if tail:
            return self.imports[head].lookup(tail) if head in self.imports else None
        if name in self.declared:
            return graph.symbol(self.prefix + name)
        if name in self.constants:
            return graph.number(self.constants[name])
        return constant_value(name)

    def known_names(self) -> list[str]:
        """Names an expression here may use, for "did you mean"."""
        return [
            *self.declared,
            *self.constants,
            *(name for model in self.imports.values() for name in model.parameters),
        ]

    # -- kernels ---------------------------------------------------------------------------------

    def find_kernel(
        self, name: str, caller: str | None = None, span: Span | None = None, within: str = ""
    ) -> tuple[Self, nodes.Kernel]:
        """The kernel of that name, dotted for imported ones, with the model it is in. `within` is what the
        user wrote before the name (`fft3d.`)."""
        head, _, tail = name.partition(".")
        local = self.kernel_imports.get(caller or "", {})
        if tail and (model := local.get(head) or self.imports.get(head)):
            return model.find_kernel(tail, None, span, f"{within}{head}.")
        if name in self.kernels:
            return self, self.kernels[name]
        in_reach = {**self.imports, **local}
        names = [*self.kernels, *(f"{model.name}.{kernel}" for model in in_reach.values() for kernel in model.kernels)]
        written = [within + other for other in names]
        hint = suggest_instead(within + name, written, "kernels")
        fail("unknown-kernel", f"unknown kernel `{within}{name}`", span, hint=hint)

    @cached_property
    def resources(self) -> tuple[str, ...]:
        """The resources that some kernel asks for, imported kernels included, in the order written."""
        own = [
            requirement.resource
            for kernel in self.node.kernels
            for statement in walk_statements(kernel.body)
            if isinstance(statement, nodes.Execute)
            for requirement in statement.requirements
        ]
        return tuple(dict.fromkeys([*own, *(name for model in self.models() for name in model.resources)]))

    def entry_kernels(self) -> list[str]:
        """Names of the kernels that a run begins with: `main`, or without one each kernel that has no arguments."""
        return ["main"] if "main" in self.kernels else [name for name, node in self.kernels.items() if not node.formals]


def _lower_size(lower: Lowering, node: nodes.Expression) -> Expr:
    """The bytes of a data structure, or the extent along one of its axes."""
    return check_value_at("size", lower_guarded(lower, node), node.span, lower.origins)


TAKEN = frozenset({*OPERATION_CLASSES, "dp", "sp", "simd", "fmad"})
"""Traits that say something of operations by themselves."""


def check_mixtures(mixtures: Iterable[nodes.Mixture]) -> None:
    """A mixture is a proportion of classes of operations, used as a trait in the model or kernel that declares it:

        mixture stencil {add [4], multiply [1]}
        execute { flops [5*n] as stencil, dp }    // flops [4*n] as add, dp and flops [n] as multiply, dp

    Refuses names that are traits already, classes that do not exist and those that are given twice."""
    for mixture in mixtures:
        if mixture.name in TAKEN:
            message = f"`{mixture.name}` is a trait of operations already, and cannot name a mixture"
            fail("mixture", message, mixture.name_span, hint="give the mixture another name")
        first: dict[str, nodes.Mixed] = {}
        for part in mixture.parts:
            if part.name not in OPERATION_CLASSES:
                known = "the classes are " + ", ".join(OPERATION_CLASSES)
                hint = suggest_nearest(part.name, OPERATION_CLASSES) or known
                fail("mixture", f"there is no class of operations `{part.name}`", part.name_span, hint=hint)
            if part.name in first:
                related = (Related(first[part.name].name_span, "first given here"),)
                fail("mixture", f"the mixture has two parts `{part.name}`", part.name_span, related=related)
            first[part.name] = part


def divide_by_mixture(
    requirement: flow.Requirement, mixtures: Mapping[str, nodes.Mixture], lower: Lowering
) -> list[flow.Requirement]:
    """A requirement as one for each class of the mixture that it names; as it is where it names none."""
    named = [trait for trait in requirement.traits if trait.name in mixtures]
    if not named:
        return [requirement]
    said, *more = named
    if more:
        message = f"`{requirement.resource}` is divided by one mixture only, not by `{more[0].name}` as well"
        fail("mixture", message, more[0].span, related=(Related(said.span, "the first"),))
    if said.arguments:
        fail("mixture", f"the mixture `{said.name}` takes no arguments", said.span, hint=f"write `as {said.name}`")
    parts = mixtures[said.name].parts
    amounts = [
        check_value_at("part", lower_guarded(lower, part.amount), part.amount.span, lower.origins) for part in parts
    ]
    together = graph.add(*amounts)
    requirements = []
    for part, amount in zip(parts, amounts, strict=True):
        share = graph.div(amount, together)
        traits = [trait.replace(name=part.name) if trait is said else trait for trait in requirement.traits]
        quantity, whole = graph.mul(requirement.quantity, share), graph.mul(requirement.amount, share)
        requirements.append(requirement.replace(quantity=quantity, amount=whole, traits=tuple(traits)))
    return requirements
