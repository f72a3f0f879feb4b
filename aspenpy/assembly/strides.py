"""Bytes by which a lap of a compiled loop moves its references, and the flops and branches that it has."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from aspenpy.assembly.listing import Instruction
from aspenpy.record import NamedTuple, Record

_REFERENCE = re.compile(r"^([^()%]*)\((%\w+)?(?:,\s*(%\w+))?(?:,\s*(\d))?\)$")
_ARITHMETIC = re.compile(r"v?(?:(add|sub|mul|div|sqrt)|(fn?m(?:add|sub)\d*))(s|p)(s|d)$")
_NUMBER = re.compile(r"-?(?:0x[0-9a-fA-F]+|\d+)$")

WIDTHS = {"x": 16, "y": 32, "z": 64}
"""Bytes of a vector register, by the first letter of its name."""

_UNWRITTEN = re.compile(r"(?:(?:cmp|test|bt)[bwlq]?|v?u?comis[sd]|v?ptest)$|j|nop|prefetch|call|push")
"""Mnemonics whose last operand is not written to."""

_COUNTED = re.compile(r"(inc|dec|add|sub)[bwlq]?")

CLASSES = {"add": "add", "sub": "add", "mul": "multiply", "div": "divide", "sqrt": "square_root"}

LEGACY = {f"{letter}{end}": letter for letter in "abcd" for end in ("l", "x")} | {
    f"{name}{end}": name for name in ("si", "di", "bp", "sp") for end in ("", "l")
}  # fmt: skip


class Reference(Record):
    """A memory operand: the registers that its address adds up, with what each is multiplied by, and a constant."""

    parts: tuple[tuple[str, int], ...]
    offset: str

    def stride(self, steps: dict[str, int | None]) -> int | None:
        """Bytes from lap to lap; None where a register changes otherwise than by constants."""
        moved = [(steps.get(name, 0), scale) for name, scale in self.parts]
        return None if any(step is None for step, _ in moved) else sum((step or 0) * scale for step, scale in moved)


def register(name: str) -> str:
    """One name for the parts of a general register: `%eax`, `%rax` and `%al` are `a`; of vectors, the number."""
    plain = name.lstrip("%").lower()
    if plain[1:3] == "mm":
        return f"mm{plain[3:]}"
    if plain[:1] == "r" and plain[1:2].isdigit():
        return plain.rstrip("dwb")
    plain = plain[1:] if plain[:1] in "re" and len(plain) == 3 else plain
    return LEGACY.get(plain, plain)


def read_reference(operand: str) -> Reference | None:
    """The memory operand in AT&T syntax; None where an operand is none."""
    match = _REFERENCE.match(operand.split("{")[0].strip())
    if match is None:
        return None
    parts = [(register(name), 1) for name in (match[2],) if name and name != "%rip"]
    parts += [(register(name), int(match[4] or 1)) for name in (match[3],) if name]
    return Reference(tuple(parts), match[1])


def writes_target(one: Instruction) -> bool:
    """Whether an instruction writes to its last operand."""
    return bool(one.operands) and _UNWRITTEN.match(one.mnemonic) is None


def read_steps(lap: Iterable[Instruction]) -> dict[str, int | None]:
    """The change of each register that a lap writes to; None where it is not by a constant."""
    steps: dict[str, int | None] = {}
    for one in lap:
        if not writes_target(one) or not one.operands[-1].startswith("%"):
            continue
        name = register(one.operands[-1].split("{")[0])
        step, before = _read_step(one, name), steps.get(name, 0)
        steps[name] = None if step is None or before is None else before + step
    return steps


def _read_step(one: Instruction, name: str) -> int | None:
    """The constant that an instruction adds to a register."""
    counted = _COUNTED.fullmatch(one.mnemonic)
    if counted and counted[1] in ("inc", "dec"):
        return 1 if counted[1] == "inc" else -1
    constant = one.operands[0][1:] if one.operands[0].startswith("$") and len(one.operands) == 2 else ""
    if counted and _NUMBER.match(constant):
        return int(constant, 0) * (1 if counted[1] == "add" else -1)
    if one.mnemonic in ("leaq", "leal", "lea"):
        reference = read_reference(one.operands[0])
        if reference is not None and reference.parts == ((name, 1),) and _NUMBER.match(reference.offset or "0"):
            return int(reference.offset or "0", 0)
    return None


def largest_stride(lap: Sequence[Instruction]) -> int | None:
    """The most bytes by which a reference moves in a lap; None where none is known to move."""
    steps = read_steps(lap)
    strides = []
    for one in lap:
        for operand in one.operands if not one.mnemonic.startswith(("lea", "nop")) else ():
            reference = read_reference(operand)
            stride = reference.stride(steps) if reference is not None else None
            if stride:
                strides.append(abs(stride))
    return max(strides, default=None)


def lanes_of(one: Instruction) -> int:
    """Numbers that an instruction of floating point works on; 0 where it is none."""
    arithmetic = _ARITHMETIC.match(one.mnemonic)
    if arithmetic is None:
        return 0
    if arithmetic[3] == "s":
        return 1
    widths = [WIDTHS[letter] for letter in re.findall(r"%([xyz])mm", " ".join(one.operands))]
    return max(widths, default=16) // (8 if arithmetic[4] == "d" else 4)


class InstructionFlops(NamedTuple):
    """The flops of an arithmetic instruction; a fused one is two."""

    operation: str
    precision: str
    in_vectors: bool
    flops: int


def count_flops(lap: Iterable[Instruction]) -> Iterator[InstructionFlops]:
    """The flops of each arithmetic instruction."""
    for one in lap:
        arithmetic = _ARITHMETIC.match(one.mnemonic)
        if arithmetic is not None:
            name, flops = (CLASSES[arithmetic[1]], 1) if arithmetic[1] else ("fma", 2)
            precision = "dp" if arithmetic[4] == "d" else "sp"
            yield InstructionFlops(name, precision, arithmetic[3] == "p", flops * lanes_of(one))


def flops_of(lap: Iterable[Instruction]) -> Fraction:
    """Flops of a lap."""
    return Fraction(sum(each.flops for each in count_flops(lap)))
