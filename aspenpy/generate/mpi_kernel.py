"""A kernel as a function in C: its control flow as far as it sends, the rest as comments or as busy waiting."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from aspenpy.engine.c_text import make_identifier
from aspenpy.expr import graph
from aspenpy.expr.graph import Expr
from aspenpy.generate.c_literals import comment, string
from aspenpy.generate.c_parameters import RESERVED, CParameters
from aspenpy.generate.exchanges import MESSAGES, exchange_of
from aspenpy.generate.flow_comments import block_heading, describe_flow, formula, heading, write_requirement
from aspenpy.language.source import Span
from aspenpy.models.application import flow
from aspenpy.models.application.total import blocks_in, calls_in
from aspenpy.record import Record

INDENT = "    "


class Surroundings(Record):
    """State that the functions of a program share: the parameters, the name of each kernel's function, the kernels that
    send, themselves or through others, and the time of what sends nothing, if it is to be waited for."""

    parameters: CParameters
    functions: Mapping[flow.Kernel, str]
    speaking: frozenset[flow.Kernel]
    seconds: Callable[[flow.Flow, flow.Kernel], Expr] | None


def speaking_kernels(callees_first: list[flow.Kernel]) -> frozenset[flow.Kernel]:
    """Kernels that send messages, themselves or through kernels they call."""
    speaking: set[flow.Kernel] = set()
    for kernel in callees_first:
        own = any(item.resource == MESSAGES for block in blocks_in(kernel.body) for item in block.requirements)
        if own or any(call.kernel in speaking for call in calls_in(kernel.body)):
            speaking.add(kernel)
    return frozenset(speaking)


class KernelWriter:
    """Writes one kernel. `called` collects the kernels whose functions it calls."""

    def __init__(self, kernel: flow.Kernel, around: Surroundings, entry: bool) -> None:
        self.kernel = kernel
        self.around = around
        self.taken = set(RESERVED)
        self.formals = () if entry else kernel.formals
        self.names = dict(around.parameters.names)
        for formal in self.formals:
            self.names[formal] = make_identifier(formal.name, self.taken)
        self.called: list[flow.Kernel] = []
        self.lines: list[str] = []
        self.depth = 1
        self.used: set[Expr] = set()

    def function(self) -> str:
        """The C function of the kernel."""
        restored = self._bind_computed()
        self._write_flow(self.kernel.body)
        for line in restored:
            self._write_line(line)
        unused = [self.names[formal] for formal in self.formals if formal not in self.used]
        head = [f"{INDENT}(void){name};" for name in unused]
        arguments = ", ".join(f"double {self.names[formal]}" for formal in self.formals) or "void"
        title = comment(f"kernel {self.kernel.name}")
        declaration = f"static void {self.around.functions[self.kernel]}({arguments})"
        return "\n".join([*title, declaration, "{", *head, *self.lines, "}"])

    def _bind_computed(self) -> list[str]:
        """Sets the parameters that this kernel's arguments decide; returns the statements that restore them."""
        assigned, restored = [], []
        for symbol, value in self.kernel.computed:
            name = self.names[symbol]
            old, new = make_identifier("old", self.taken), make_identifier("new", self.taken)
            text = self._value(value, self.kernel.span)
            self._write_line(f"const double {old} = {name}, {new} = {text};")
            assigned.append(f"{name} = {new};")
            restored.append(f"{name} = {old};")
        for line in assigned:
            self._write_line(line)
        return restored

    # -- lines -----------------------------------------------------------------------------------

    def _write_line(self, text: str) -> None:
        self.lines.append(INDENT * self.depth + text)

    def _write_comment(self, text: str, deeper: int = 0) -> None:
        self.lines += comment(text, INDENT * (self.depth + deeper))

    @contextmanager
    def _braces(self, opening: str, closing: str = "}") -> Iterator[None]:
        self._write_line(opening)
        self.depth += 1
        yield
        self.depth -= 1
        self._write_line(closing)

    def _value(self, expr: Expr, span: Span | None) -> str:
        """The C text of an expression; what has to stand before it is written."""
        return self._translate_resolved(self.around.parameters.resolve(expr), span)

    def _amount(self, expr: Expr, span: Span | None) -> str:
        """The same for what a helper refuses itself where it is negative."""
        resolved = self.around.parameters.resolve(expr)
        return self._translate_resolved(resolved.args[0] if resolved.kind == "checked" else resolved, span)

    def _translate_resolved(self, resolved: Expr, span: Span | None) -> str:
        self.used |= graph.free_symbols(resolved)
        statements, text = self.around.parameters.translate(resolved, self.names, self.taken, span)
        for statement in statements:
            self._write_line(statement)
        return text

    def _place(self, span: Span | None) -> str:
        if span is None:
            return string(self.kernel.name)
        return string(f"{Path(span.resolve().source.name).name}:{span.position().line}")

    def _site(self, span: Span | None) -> str:
        name = make_identifier("site", self.taken)
        self._write_line(f"static aspen_site {name} = {{.place = {self._place(span)}}};")
        return name

    # -- statements ------------------------------------------------------------------------------

    def _write_flow(self, node: flow.Flow) -> None:
        if self._has_messages(node) or isinstance(node, flow.Call | flow.Sequence):
            rule: Callable[[KernelWriter, Any], None] = _RULES[type(node)]
            rule(self, node)
            return
        for depth, text in describe_flow(node):
            self._write_comment(text, depth)
        self._write_computing(node, node.span)

    def _has_messages(self, node: flow.Flow) -> bool:
        own = any(item.resource == MESSAGES for block in blocks_in(node) for item in block.requirements)
        return own or any(call.kernel in self.around.speaking for call in calls_in(node))

    def _write_computing(self, node: flow.Flow, span: Span | None) -> None:
        if self.around.seconds is None:
            return
        time = self.around.seconds(node, self.kernel)
        if time is not graph.ZERO:
            self._write_line(f"aspen_spin({self._value(time, span)}, {self._place(span)});")

    def _write_block(self, node: flow.Block) -> None:
        """Messages one after the other, behind what is computed."""
        silent = tuple(item for item in node.requirements if item.resource != MESSAGES)
        if silent:
            self._write_flow(node.replace(requirements=silent))
        for requirement in node.requirements:
            if requirement.resource == MESSAGES:
                self._write_comment(f"{heading(node, block_heading(node))}: {write_requirement(requirement)}")
                self._exchange(node, requirement)

    def _exchange(self, node: flow.Block, requirement: flow.Requirement) -> None:
        exchange = exchange_of(requirement)
        site = self._site(requirement.span or node.span)
        values = [self._amount(expr, requirement.span) for expr in (node.parallelism, requirement.amount)]
        values += [self._value(argument, requirement.span) for argument in exchange.arguments]
        self._write_line(f"{exchange.kind.helper}({', '.join([f'&{site}', *values])});")

    def _write_sequence(self, node: flow.Sequence) -> None:
        for step in node.steps:
            self._write_flow(step)

    def _write_repeat(self, node: flow.Repeat) -> None:
        self._write_comment(heading(node, f"{node.mode} [{formula(node.count)}]"))
        if node.named:
            count = self._value(node.count, node.span)
            limit = make_identifier("count", self.taken)
            counter = self.names[node.counter] = make_identifier(node.counter.name, self.taken)
            self._write_line(f"const double {limit} = aspen_value({count}, {self._place(node.span)});")
            opening = f"for (double {counter} = 0.0; {counter} < {limit}; {counter} += 1.0) {{"
        else:
            count = self._amount(node.count, node.span)
            site, left = self._site(node.span), make_identifier("passes", self.taken)
            opening = f"for (long long {left} = aspen_times(&{site}, {count}); {left} > 0; {left}--) {{"
        with self._braces(opening):
            self._write_flow(node.body)

    def _write_choice(self, node: flow.Choice) -> None:
        self._write_branches(list(node.branches), node)

    def _write_branches(self, branches: list[tuple[Expr, flow.Flow]], node: flow.Choice) -> None:
        """Writes the branches, each further one within the `else` of the one before, behind what its condition
        needs."""
        if not branches:
            self._write_flow(node.otherwise)
            return
        (condition, taken), *others = branches
        text = self._value(condition, node.span)
        ends = not others and node.otherwise is flow.NOTHING
        with self._braces(f"if (aspen_holds({text}, {self._place(node.span)})) {{", "}" if ends else "} else {"):
            self._write_flow(taken)
        if not ends:
            self.depth += 1
            self._write_branches(others, node)
            self.depth -= 1
            self._write_line("}")

    def _write_expectation(self, node: flow.Expectation) -> None:
        """The cases take turns, so that each comes as often as its probability says."""
        chances = ", ".join([self._value(chance, node.span) for chance, _ in node.cases])
        behind, wanted = make_identifier("behind", self.taken), make_identifier("chances", self.taken)
        number = len(node.cases)
        self._write_line(f"static double {behind}[{number}];")
        self._write_line(f"const double {wanted}[{number}] = {{{chances}}};")
        self._write_line(f"switch (aspen_choose({behind}, {wanted}, {number}, {self._place(node.span)})) {{")
        for index, (chance, case) in enumerate(node.cases):
            with self._braces(f"case {index}: {{"):
                self._write_comment(f"with probability {formula(chance)}")
                self._write_flow(case)
                self._write_line("break;")
        self._write_line("}")

    def _write_parallel(self, node: flow.Parallel) -> None:
        self._write_comment(f"{heading(node, 'par')}: here one branch after the other")
        for branch in node.branches:
            self._write_flow(branch)

    def _call(self, node: flow.Call) -> None:
        self.called.append(node.kernel)
        bound = {formal: value for formal, value in node.arguments if formal in node.kernel.formals}
        values = [self._value(bound[formal], node.span) for formal in node.kernel.formals]
        self._write_line(f"{self.around.functions[node.kernel]}({', '.join(values)});")


_RULES: dict[type, Callable[[KernelWriter, Any], None]] = {
    flow.Block: KernelWriter._write_block,
    flow.Sequence: KernelWriter._write_sequence,
    flow.Repeat: KernelWriter._write_repeat,
    flow.Choice: KernelWriter._write_choice,
    flow.Expectation: KernelWriter._write_expectation,
    flow.Parallel: KernelWriter._write_parallel,
    flow.Call: KernelWriter._call,
}
