"""Loads through which each lap of a loop waits for the one before: those on a cycle of the graph of dependences
(Lam, "Software pipelining", PLDI 1988, section 2.2), which runs through registers and flags."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

import networkx

from aspenpy.assembly.listing import Instruction, Place
from aspenpy.assembly.strides import register, writes_target

FLAGS = "flags"

_REGISTER = re.compile(r"%([a-z0-9]+)")
_COMPARES = re.compile(r"(?:cmp|test|bt)[bwlq]?$|v?u?comis[sd]|v?ptest")
_COPIES = re.compile(r"mov[lq]?$")
_DIVIDES = re.compile(r"i?(?:div|mul)[bwlq]?$")
_WIDENS = re.compile(r"cqto|cltd|cqo|cdq$")
_READS_FLAGS = re.compile(r"cmov|set|adc|sbb")
_SETS_ANEW = re.compile(r"v?mov|lea|set|v?broadcast|vp?(?!fm|fn)|pshufd|lddqu|pop|cvt(?!si2s|ss2sd|sd2ss)")

Reached = dict[str, frozenset[Place]]
"""The registers at the begin of a lap that a value depends on, with the loads on the way."""

NONE: frozenset[Place] = frozenset()

NOTHING = Instruction("nop", "nop", ())


def find_waiting_loads(lap: Sequence[Instruction]) -> list[Place]:
    """The places of loads of a lap for which the next one waits, of the longest such chain."""
    values: dict[str, Reached] = {}
    for one in lap:
        _add_instruction(values, one)
    edges = networkx.DiGraph()
    for to, reached in values.items():
        for origin, loads in reached.items():
            edges.add_edge(origin, to, loads=loads)
    found = NONE
    for part in networkx.strongly_connected_components(edges):
        inside = [edges.edges[pair]["loads"] for pair in edges.subgraph(part).edges]
        found = max([found, *inside], key=len)
    return sorted(found)


def count_waiting(lap: Sequence[Instruction], places: Collection[Place]) -> int:
    """Number of operations of a lap that wait in a core until loads at some places are back, these among them. A load
    and what an instruction does with it are two; a copy of a register is none, and so is a jump."""
    number = 0
    for one in _find_waiting(lap, places):
        from_memory = any(loads for _, loads in _list_read(one))
        is_both = from_memory and not one.mnemonic.startswith("mov")
        is_copy = not from_memory and _COPIES.match(one.mnemonic) is not None
        number += 0 if one.is_jump or is_copy else 1 + is_both
    return number


def decide_jumps(lap: Sequence[Instruction], places: Collection[Place]) -> bool:
    """Whether a conditional jump of a lap waits for loads at some places."""
    return any(one.is_conditional for one in _find_waiting(lap, places))


def _find_waiting(lap: Sequence[Instruction], places: Collection[Place]) -> Iterator[Instruction]:
    """The instructions of a lap that depend on loads at some places, of it or of the lap before."""
    waiting = set[str]()
    for is_second in (False, True):
        for one in lap:
            read = {register(name) for name, _ in _list_read(one)} | ({FLAGS} if one.is_conditional else set())
            if not waiting.isdisjoint(read) or _loads_at(one, places):
                waiting.update(_list_written(one))
                yield from [one] if is_second else []
            else:
                waiting.difference_update(_list_written(one))


def waits_for_row_before(rows: Iterable[Sequence[Instruction]], places: Collection[Place]) -> bool:
    """Whether the address of a load at some places comes from such a load of a row before, through registers, flags or
    words of the stack."""
    since: dict[str, int] = {}
    for number, row in enumerate(rows):
        for one in row:
            stack = [operand for operand in one.operands if "(%rsp" in operand]
            sources = [*(register(name) for name, _ in _list_read(one)), *stack]
            origin = min((since[name] for name in sources if name in since), default=None)
            if _loads_at(one, places):
                address = (since.get(register(name), number) for name, loads in _list_read(one) if loads)
                if min(address, default=number) < number:
                    return True
                origin = number if origin is None else origin
            for name in [*_list_written(one), *(stack if writes_target(one) and stack == [one.operands[-1]] else [])]:
                since.pop(name, None)
                since |= {} if origin is None else {name: origin}
    return False


def _loads_at(one: Instruction, places: Collection[Place]) -> bool:
    """Whether an instruction loads for one of some places of the source."""
    return one.place in places and any(loads for _, loads in _list_read(one))


def keep_condition(path: Sequence[Instruction]) -> list[Instruction]:
    """A path in which all that its last conditional jump does not depend on is begun and does nothing: what is left
    says when the jump is known. The whole path where it has no such jump."""
    last = max((place for place, one in enumerate(path) if one.is_conditional), default=-1)
    needed, kept = {FLAGS}, list(path)
    for place in range(last - 1, -1, -1):
        written = _list_written(path[place])
        if needed.isdisjoint(written):
            kept[place] = NOTHING
            continue
        needed.difference_update(written)
        needed.update(register(name) for name, _ in _list_read(path[place]))
    return kept if last < 0 else [*kept[: last + 1], *[NOTHING] * (len(path) - last - 1)]


def _add_instruction(values: dict[str, Reached], one: Instruction) -> None:
    """Registers that an instruction writes depend on what those depend on that it reads, and on its load."""
    reached: Reached = {}
    for name, loads in _list_read(one):
        key = register(name)
        for origin, before in values.get(key, {key: NONE}).items():
            reached[origin] = max(reached.get(origin, NONE), before | loads, key=len)
    values |= dict.fromkeys(_list_written(one), reached)


def _list_read(one: Instruction) -> list[tuple[str, frozenset[Place]]]:
    """Names of the registers that an instruction reads, with its load behind those that say where it is."""
    if _is_apart(one):
        return []
    if _WIDENS.match(one.mnemonic):
        return [("%rax", NONE)]
    sources, target = one.operands[:-1], one.operands[-1].split("{")[0]
    is_written = writes_target(one)
    read = [operand for operand in sources if "(" not in operand]
    is_set = len(one.operands) > 1 and (_SETS_ANEW.match(one.mnemonic) or (one.mnemonic[:4] == "imul" and sources[1:]))
    if "(" not in target and not (is_written and is_set):
        read.append(target)
    if "xor" in one.mnemonic and set(sources) == {target}:
        read = []  # sets to 0
    places = [operand for operand in one.operands if "(" in operand]
    is_load = not one.mnemonic.startswith("lea") and (
        "(" not in target or not is_written or not one.mnemonic.startswith(("mov", "vmov", "set"))
    )
    names = [(name, NONE) for operand in read for name in _REGISTER.findall(operand)]
    names += [("%rax", NONE), ("%rdx", NONE)] if _is_divided(one) else []
    own = frozenset([one.place]) if is_load else NONE
    names += [(name, own) for operand in places for name in _REGISTER.findall(operand)]
    return names + ([(FLAGS, NONE)] if _READS_FLAGS.match(one.mnemonic) else [])


def _list_written(one: Instruction) -> list[str]:
    """The registers that an instruction writes, and the flags."""
    if _is_divided(one) or _WIDENS.match(one.mnemonic):
        return ["a", "d", FLAGS] if one.operands else ["d"]
    target = "" if _is_apart(one) else one.operands[-1].split("{")[0]
    if not target or _COMPARES.match(one.mnemonic):
        return [FLAGS] if target else []
    if "(" in target or not target.startswith("%"):
        return []
    sets_flags = not one.mnemonic.startswith(("v", "mov", "lea", "cmov", "set"))
    return [register(target), *([FLAGS] if sets_flags else [])]


def _is_apart(one: Instruction) -> bool:
    """Whether an instruction is a jump, or computes nothing."""
    is_bare = not one.operands and not _WIDENS.match(one.mnemonic)
    return one.is_jump or is_bare or one.mnemonic.startswith(("nop", "prefetch"))


def _is_divided(one: Instruction) -> bool:
    """Whether an instruction is a division, or a product of two words, which names one of its registers only."""
    return len(one.operands) == 1 and _DIVIDES.match(one.mnemonic) is not None
