"""Programs as text: the common part of C and Python, which decides on variables and parentheses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from aspenpy.engine.operation import Op, SumLoop
from aspenpy.engine.program import Program

LOOSE, JOINED, SUM, PRODUCT, SIGN, ATOM = range(6)  # precedence of a text, loosest first

OPERANDS = {SUM: (SUM, PRODUCT), PRODUCT: (PRODUCT, ATOM), SIGN: (ATOM, ATOM)}
"""Least precedence of the first and of later operands without parentheses; operands of other texts are delimited."""

ARITHMETIC: dict[str, tuple[str, int]] = {
    "add": ("{0} + {1}", SUM),
    "sub": ("{0} - {1}", SUM),
    "mul": ("{0} * {1}", PRODUCT),
    "neg": ("-{0}", SIGN),
    "square": ("{0} * {0}", PRODUCT),
}
"""Templates over the operands, with their precedence."""

DEEPEST = 20  # levels of an expression written into another; compilers and parsers have limits of their own

LEAVES = frozenset({"constant", "input", "counter", "failed"})


class ExpressionWriter:
    """Writes operations as text. An operation with one use is written where it is used, any other becomes a variable;
    `names` has the texts of operations that are given."""

    inline = LEAVES
    """Kinds that never get a variable."""

    def __init__(self, program: Program, indices: Iterable[int], names: Mapping[int, str]) -> None:
        self.program, self.names = program, dict(names)
        order = list(indices)
        for index in order:  # grows by the insides of loops
            if program.ops[index].kind == "sum":
                order += program.ops[index].payload.inside
        self.order = sorted(order)
        self.named = self._choose_named()

    def _choose_named(self) -> set[int]:
        uses = Counter(use for index in self.order for use in self.written_operands(self.program.ops[index]))
        named, depth = set[int](), dict[int, int]()
        for index in self.order:
            op = self.program.ops[index]
            if op.kind in self.inline or index in self.names:
                continue
            depth[index] = 1 + max([depth.get(arg, 0) for arg in op.args], default=0)
            if uses[index] > 1 or depth[index] > DEEPEST or op.kind == "sum":
                named.add(index)
                depth[index] = 0
        return named

    def written_operands(self, op: Op) -> Sequence[int]:
        """The operands, each as often as the text of the operation repeats it."""
        if op.kind == "square":
            return op.args * 2
        return (*op.args, op.payload.body) if isinstance(op.payload, SumLoop) else op.args

    def block(self, indices: Iterable[int]) -> list[str]:
        """The statements for those operations that have a variable."""
        return [line for index in indices for line in self.statements(index, self.program.ops[index])]

    def text(self, index: int, least: int = LOOSE) -> str:
        """The expression for an operation, in parentheses if it binds less than that."""
        op = self.program.ops[index]
        if index in self.names:
            return self.names[index]
        text, binding = self.numeral(op.payload) if op.kind == "constant" else self.expression(index, op)
        return text if binding >= least else f"({text})"

    def operands(self, op: Op, binding: int) -> list[str]:
        """The texts of the operands for an expression of this precedence."""
        first, later = OPERANDS.get(binding, (LOOSE, LOOSE))
        return [self.text(arg, later if position else first) for position, arg in enumerate(op.args)]

    def statements(self, index: int, op: Op) -> list[str]:
        raise NotImplementedError

    def expression(self, index: int, op: Op) -> tuple[str, int]:
        """The text and its precedence."""
        raise NotImplementedError

    def numeral(self, value: Any) -> tuple[str, int]:
        raise NotImplementedError
