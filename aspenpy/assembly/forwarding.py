"""Loads that take back what a store shortly before them wrote: chains through memory, which llvm-mca does not follow.

Addresses are sums of registers as they were at the begin and of constants; a load and a store whose sums are the same
name the same place. The value then comes by a register that the text does not use: the load's address depends on what
was stored, so that its latency follows that of the store.

A value of a general register that the next load takes back comes at once, on a Zen 5 (timed: 1.3 cycles a step of a sum
through memory); the rest comes by the store queue, 2 cycles after the latency of a load (timed there: 7.3 cycles for
whole numbers, 10.4 for floating point; assumed of Zen 3 and 4, and 0 of others).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

import networkx

from aspenpy.assembly.listing import Instruction
from aspenpy.assembly.loops import NaturalLoop
from aspenpy.assembly.memory_operands import memory_operand, width_of
from aspenpy.assembly.strides import read_reference, register, writes_target
from aspenpy.record import Record

QUEUE = 64
"""Stores between both at most: entries of the store queue of a Zen 4 (AMD, "Software optimization guide", 57647)."""

MOST_BLOCKS = 1000
"""Blocks of a function up to which the ways to its loops are followed."""

SPARE = ("r11", "r10", "r9", "r8", "r15", "r14", "r13", "r12")
"""Registers for values that the text does not name: the first one that is free is taken."""

FROM_QUEUE, AT_ONCE = " #stored", " #renamed "
"""Marks of a value on its way: behind the register that holds it, and before the text of a load that needs no queue."""

QUEUEING, RENAMING = frozenset({"znver3", "znver4", "znver5"}), frozenset({"znver5"})
"""Processors on which stored values take a cycle more to a load, and those on which the next load has them at once."""

_NUMBER = re.compile(r"-?(?:0x[0-9a-fA-F]+|\d+)$")
_CLOBBERED = re.compile(r"i?(?:mul|div)[bwlq]?$|c(?:qto|ltd|wtl)|xchg|cpuid|rdtsc")

Form = Mapping[str, int]
"""A sum: what each register at the begin, or an unknown value, is multiplied by; the constant has no name."""


class Forwarded(Record):
    """A store, the last load of its value and all of them, by their places in a path."""

    store: int
    loads: tuple[int, ...]
    is_renamed: bool


class HandedOn(Record):
    """Loads and stores of a program, by the identities of their instructions, of which a run has told that the loads
    take values of the stores: in a `share` of the groups of loads that no store parts, that of the `distance`-th store
    before."""

    loads: frozenset[int]
    stores: frozenset[int]
    share: float
    distance: int


def find_handed(path: Sequence[Instruction], handed: HandedOn) -> list[Forwarded]:
    """Stores whose values are loaded again at places that data decide: as often as in the run, evenly along the path.
    The last load of a group takes the value."""
    stores: list[int] = []
    group: list[int] = []
    taken: dict[int, list[int]] = {}
    owed = 0.0
    for index, one in enumerate((*path, None)):
        if one is None or id(one) in handed.stores:
            if group and len(stores) >= handed.distance:
                owed += handed.share
                if owed >= 1 - 1e-9:
                    owed -= 1
                    taken.setdefault(stores[-handed.distance], []).append(group[-1])
            group = []
        if one is not None and id(one) in handed.loads:
            group.append(index)
        if one is not None and id(one) in handed.stores:
            stores.append(index)
    return [Forwarded(store, tuple(loads), False) for store, loads in taken.items()]


class _Registers:
    """The values of general registers along a path, as sums."""

    def __init__(self) -> None:
        self.forms: dict[str, Form] = {}
        self.unknown = 0

    def address(self, operand: str) -> tuple[tuple[str, int], ...] | None:
        reference = read_reference(operand)
        if reference is None:
            return None
        constant = reference.offset or "0"
        form: Form = {"": int(constant, 0)} if _NUMBER.match(constant) else {constant: 1}
        for name, scale in reference.parts:
            form = _add(form, self._find_form(name), scale)
        return tuple(sorted((name, times) for name, times in form.items() if times))

    def follow(self, one: Instruction) -> None:
        """Takes an instruction's result."""
        if _CLOBBERED.match(one.mnemonic) and not (one.mnemonic.startswith("imul") and len(one.operands) > 1):
            for name in ("a", "d", *(register(operand) for operand in one.operands)):
                self.forms[name] = self._invent()
        elif writes_target(one) and one.operands[-1].startswith("%"):
            self.forms[register(one.operands[-1])] = self._read(one)

    def _find_form(self, name: str) -> Form:
        return self.forms.setdefault(name, {f"%{name}": 1})

    def _invent(self) -> Form:
        self.unknown += 1
        return {f"?{self.unknown}": 1}

    def _read(self, one: Instruction) -> Form:
        """The form of what an instruction writes to its last operand."""
        target, base = self._find_form(register(one.operands[-1])), one.mnemonic
        given = self._value(one.operands[0]) if len(one.operands) == 2 else None
        if base.startswith("lea"):
            return dict(self.address(one.operands[0]) or ()) or self._invent()
        if base.startswith("xor") and one.operands[0] == one.operands[-1]:
            return {}
        if given is not None and (base in ("mov", "movl", "movq", "movslq", "movabsq") or base[:3] in ("add", "sub")):
            return given if base[0] == "m" else _add(target, given, 1 if base[0] == "a" else -1)
        if len(one.operands) == 1 and base[:3] in ("inc", "dec", "neg"):
            return _add({}, target, -1) if base[0] == "n" else _add(target, {"": 1}, 1 if base[0] == "i" else -1)
        if given is not None and set(given) <= {""} and base[:3] in ("sal", "shl", "imu"):
            constant = given.get("", 0)
            return _add({}, target, constant if base[0] == "i" else 1 << (constant & 63))
        return self._invent()

    def _value(self, operand: str) -> Form | None:
        if operand.startswith("$"):
            return {"": int(operand[1:], 0)} if _NUMBER.match(operand[1:]) else None
        return self._find_form(register(operand)) if operand.startswith("%") and "mm" not in operand else None


def _add(form: Form, other: Form, times: int) -> Form:
    names = {*form, *other}
    return {name: form.get(name, 0) + times * other.get(name, 0) for name in names}


def read_entry(loop: NaturalLoop) -> list[Instruction]:
    """The instructions of all blocks through which each way to a loop leads. What other blocks write between two of
    them is unknown behind: an instruction without a name stands for it."""
    blocks = loop.function.blocks
    if len(blocks) > MOST_BLOCKS:
        return []
    graph = networkx.DiGraph([(block.number, after) for block in blocks for after in block.successors])
    if loop.header not in graph or 0 not in graph:
        return []
    dominators = networkx.immediate_dominators(graph, 0)
    chain = [loop.header]
    while chain[0] != 0 and chain[0] in dominators:
        chain.insert(0, dominators[chain[0]])
    instructions: list[Instruction] = []
    for number, after in pairwise(chain):
        instructions += blocks[number].instructions
        rest = graph.subgraph(set(graph) - {number})
        begins = {one for one in graph.successors(number) if one != number}
        between = begins.union(*(networkx.descendants(rest, one) for one in begins))
        repeated = {after} if any(after in graph.successors(one) for one in between) else set()
        between &= networkx.ancestors(rest, after) | repeated
        changed = (one for each in sorted(between - loop.blocks) for one in blocks[each].instructions)
        written = {one.operands[-1] for one in changed if writes_target(one) and one.operands[-1].startswith("%")}
        instructions += [Instruction("", "", (name,)) for name in sorted(written)]
    return instructions


def find_forwarded(path: Sequence[Instruction], entry: Sequence[Instruction]) -> list[Forwarded]:
    """Stores of registers in a path whose values are loaded again while they wait in the store queue."""
    registers = _Registers()
    for one in entry:
        registers.follow(one)
    stored: dict[tuple[tuple[str, int], ...], tuple[int, int]] = {}
    taken: dict[int, list[tuple[int, bool]]] = {}
    count = 0
    for index, one in enumerate(path):
        operand = memory_operand(one)
        address = registers.address(operand) if operand else None
        is_store = address is not None and operand == one.operands[-1] and writes_target(one)
        if address is not None and not is_store and address in stored:
            store, number = stored[address]
            if width_of(one) <= width_of(path[store]) and count - number < QUEUE:
                is_next = count == number and width_of(one) >= 4 and "mm" not in path[store].text + one.text
                taken.setdefault(store, []).append((index, is_next))
        elif address is not None and is_store:
            count += 1
            stored.pop(address, None)
            if stores_register(one):
                stored[address] = index, count
        registers.follow(one)
    return [
        Forwarded(store, tuple(index for index, _ in loads), all(is_next for _, is_next in loads))
        for store, loads in taken.items()
    ]


def stores_register(one: Instruction) -> bool:
    """Whether an instruction copies a register to memory."""
    is_move = one.mnemonic.startswith(("mov", "vmov")) and len(one.operands) == 2
    return is_move and one.operands[0].startswith("%") and "(" in one.operands[1]


def follow_stores(
    path: Sequence[Instruction], entry: Sequence[Instruction], handed: Sequence[HandedOn] = ()
) -> list[Instruction]:
    """The path with values that are stored and loaded again in registers that it does not use, as far as it has any."""
    text = "\n".join(one.text for one in path)
    free = [name for name in SPARE if f"%{name}" not in text][1:]  # one is for what else is mended
    busy: list[tuple[int, str]] = []
    stores: dict[int, str] = {}
    loads: dict[int, str] = {}
    found = find_forwarded(path, entry)
    known = {index for each in found for index in (each.store, *each.loads)}
    measured = (each for one in handed for each in find_handed(path, one))
    found += [each for each in measured if known.isdisjoint((each.store, *each.loads))]
    for each in sorted(found, key=lambda one: one.store):
        free += [name for last, name in busy if last <= each.store]
        busy = [(last, name) for last, name in busy if last > each.store]
        if free:
            name = free.pop(0)
            busy.append((max(each.loads), name))
            mark = AT_ONCE if each.is_renamed else ""
            stores[each.store] = name + mark
            loads |= dict.fromkeys(each.loads, name + mark)
    mended: list[Instruction] = []
    for index, one in enumerate(path):
        mended.append(_take_back(one, loads[index]) if index in loads else one)
        if index in stores:
            mended.append(_hold(one, stores[index]))
    return mended


def _hold(store: Instruction, holder: str) -> Instruction:
    """A copy of what is stored to the register that holds it."""
    name, renamed, _ = holder.partition(AT_ONCE)
    source, target = store.operands[0], f"%{name}"
    if "mm" in source:
        source = re.sub(r"[yz]mm", "xmm", source)
        return Instruction(f"movq {source}, {target}{FROM_QUEUE}", "movq", (source, target), store.place)
    source = lower_half(source)
    return Instruction(
        f"movslq {source}, {target}{'' if renamed else FROM_QUEUE}", "movslq", (source, target), store.place
    )


def _take_back(load: Instruction, holder: str) -> Instruction:
    """A load whose address is the value that it takes back; where it needs no queue, with the text that has none."""
    name, renamed, _ = holder.partition(AT_ONCE)
    operand = memory_operand(load)
    text = load.text.replace(operand, f"(%{name})")
    if renamed:
        plain = f"%{name}" if width_of(load) == 8 else f"%{name}d"
        text += AT_ONCE + load.text.replace(operand, plain)
    operands = tuple(f"(%{name})" if one == operand else one for one in load.operands)
    return load.replace(text=text, operands=operands)


def lower_half(name: str) -> str:
    """The lower 32 bits of a general register."""
    key = register(name)
    return f"%e{key}" if key in ("si", "di", "bp", "sp") else f"%e{key}x" if len(key) == 1 else f"%{key}d"


def mend_forwarded(line: str, processor: str) -> list[str]:
    """The line, with what else the processor does with a value on its way from a store to a load."""
    text, renamed, plain = line.partition(AT_ONCE)
    if renamed:
        return [plain if processor in RENAMING else text]
    held, stored, _ = line.partition(FROM_QUEUE)
    if not stored:
        return [line]
    target = held.rpartition(" ")[2]
    return [held, f"movslq {target}d, {target}"] if processor in QUEUEING else [held]
