"""Loads and stores of instructions, with their bytes: all that a counter of accesses counts, the stack's among them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from aspenpy.assembly.listing import Instruction
from aspenpy.assembly.strides import WIDTHS, writes_target
from aspenpy.record import NamedTuple

_SCALAR = re.compile(r"v?(?:mov|add|sub|mul|div|max|min|sqrt|u?comi|fn?m[a-z0-9]{6}|broadcast|round)s([sd])$")
_EXTENDED = re.compile(r"mov[sz]([bwl])[wlq]$")
_CONVERTED = re.compile(r"v?cvtsi2s[sd]([lq]?)$|v?cvtt?s([sd])2")
_HALF = re.compile(r"v?mov[hl]p[sd]$|v?cvt(?:ps2pd|dq2pd)$|v?movddup$")
_SIZES = {"b": 1, "w": 2, "l": 4, "q": 8, "s": 4, "d": 8, "": 4}
_MODIFIES = re.compile(r"(?:add|sub|and|or|xor|inc|dec|neg|not|sal|shl|sar|shr|adc|sbb|xchg|xadd|cmpxchg)[bwlq]?$")
_NEITHER = re.compile(r"lea|nop|prefetch|j|endbr")
STACK_WORD = 8
"""Bytes of an address, and of a register that is pushed."""


class Moves(NamedTuple):
    """Loads and stores of some instructions, and the bytes of each."""

    loads: int = 0
    loaded: int = 0
    stores: int = 0
    stored: int = 0


def memory_operand(one: Instruction) -> str:
    """The operand of an instruction that is in memory; nothing where none is, or nothing is loaded or stored."""
    if one.is_call or _NEITHER.match(one.mnemonic):
        return ""
    return next((operand for operand in one.operands if "(" in operand), "")


def width_of(one: Instruction) -> int:
    """Bytes that an instruction loads or stores."""
    extended, converted = _EXTENDED.match(one.mnemonic), _CONVERTED.match(one.mnemonic)
    vectors = re.findall(r"%([xyz])mm", one.text)
    if extended is not None:
        return _SIZES[extended[1]]
    if converted is not None:
        return _SIZES[converted[1] or converted[2] or ""]
    if vectors:
        scalar = _SCALAR.match(one.mnemonic)
        short = scalar[1] if scalar is not None else {"movq": "q", "movd": "l"}.get(one.mnemonic.lstrip("v"))
        whole = max(WIDTHS[letter] for letter in vectors)
        return _SIZES[short] if short else whole // 2 if _HALF.match(one.mnemonic) else whole
    return 1 if one.mnemonic.startswith("set") else _SIZES.get(one.mnemonic[-1], 8)


def count_moves(code: Iterable[Instruction]) -> Moves:
    """The loads and stores of a path. A register that is pushed is stored, and loaded where it is popped."""
    loads = loaded = stores = stored = 0
    for one in code:
        if one.mnemonic.startswith(("push", "call")):
            stores, stored = stores + 1, stored + STACK_WORD
        elif one.mnemonic.startswith(("pop", "ret")):
            loads, loaded = loads + 1, loaded + STACK_WORD
        operand = memory_operand(one)
        if not operand:
            continue
        is_store = (
            operand == one.operands[-1] and writes_target(one) and (len(one.operands) > 1 or _writes_only_operand(one))
        )
        width = width_of(one)
        if is_store:
            stores, stored = stores + 1, stored + width
        if not is_store or _MODIFIES.match(one.mnemonic):
            loads, loaded = loads + 1, loaded + width
    return Moves(loads, loaded, stores, stored)


def _writes_only_operand(one: Instruction) -> bool:
    """Whether an instruction of one operand writes to it."""
    return one.mnemonic.startswith(("set", "inc", "dec", "neg", "not", "sal", "shl", "sar", "shr", "pop"))
