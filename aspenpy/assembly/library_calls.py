"""Calls of small functions of the mathematical library, written out as the GNU C library has them for x86-64
(sysdeps/x86_64/fpu/s_fmax.S and its siblings), so that a loop that calls one has a path without calls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from aspenpy.assembly.listing import Instruction, read_instruction

_JUMP = "nop"
"""Stands for the call, its way through the table of procedures, and returns: dispatched, and guessed rightly."""

WRITTEN_OUT: dict[str, tuple[str, ...]] = {
    f"f{name}{letter}": (
        *(_JUMP, _JUMP),
        f"ucomis{kind} %xmm0, %xmm1",
        _JUMP,
        f"{name}s{kind} %xmm1, %xmm0",
        *(_JUMP, _JUMP),
    )
    for name in ("max", "min")
    for letter, kind in (("", "d"), ("f", "s"))
}
"""Instructions of a call by the function's name."""


def is_opaque_call(one: Instruction) -> bool:
    """Whether an instruction calls a function that is not written out."""
    return one.is_call and _called_name(one) not in WRITTEN_OUT


def write_out_calls(code: Iterable[Instruction]) -> Iterator[Instruction]:
    """The instructions, with those of known functions in place of their calls."""
    for one in code:
        if one.is_call and (texts := WRITTEN_OUT.get(_called_name(one))):
            yield from (read_instruction(text, one.place) for text in texts)
        else:
            yield one


def _called_name(one: Instruction) -> str:
    return one.operands[0].split("@")[0] if one.operands else ""
