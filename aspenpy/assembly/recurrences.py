"""Loads through which each lap of a loop waits for the one before: those on a cycle of the graph of dependences
(Lam, "Software pipelining", PLDI 1988, section 2.2), which runs through registers and flags."""

from __future__ import annotations

import re
from collections.abc import Sequence

import networkx

from aspenpy.assembly.listing import Instruction, Place
from aspenpy.assembly.strides import register, writes_target

FLAGS = "flags"

_REGISTER = re.compile(r"%([a-z0-9]+)")
_COMPARES = re.compile(r"(?:cmp|test|bt)[bwlq]?$|v?u?comis[sd]|v?ptest")
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
    sources, target = one.operands[:-1], one.operands[-1].split("{")[0]
    is_written = writes_target(one)
    read = [operand for operand in sources if "(" not in operand]
    if "(" not in target and not (is_written and _SETS_ANEW.match(one.mnemonic) and len(one.operands) > 1):
        read.append(target)
    if "xor" in one.mnemonic and set(sources) == {target}:
        read = []  # sets to 0
    places = [operand for operand in one.operands if "(" in operand]
    is_load = not one.mnemonic.startswith("lea") and (
        "(" not in target or not is_written or not one.mnemonic.startswith(("mov", "vmov", "set"))
    )
    names = [(name, NONE) for operand in read for name in _REGISTER.findall(operand)]
    own = frozenset([one.place]) if is_load else NONE
    names += [(name, own) for operand in places for name in _REGISTER.findall(operand)]
    return names + ([(FLAGS, NONE)] if _READS_FLAGS.match(one.mnemonic) else [])


def _list_written(one: Instruction) -> list[str]:
    """The registers that an instruction writes, and the flags."""
    target = "" if _is_apart(one) else one.operands[-1].split("{")[0]
    if not target or _COMPARES.match(one.mnemonic):
        return [FLAGS] if target else []
    if "(" in target or not target.startswith("%"):
        return []
    sets_flags = not one.mnemonic.startswith(("v", "mov", "lea", "cmov", "set"))
    return [register(target), *([FLAGS] if sets_flags else [])]


def _is_apart(one: Instruction) -> bool:
    """Whether an instruction is a jump, or computes nothing."""
    return one.is_jump or not one.operands or one.mnemonic.startswith(("nop", "prefetch"))
