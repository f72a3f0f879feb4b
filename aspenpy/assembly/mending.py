"""Things that llvm-mca models otherwise than cores do, mended in the text that it is given. All are of x86.

* A comparison and the jump behind it are one operation (Fog, "The microarchitecture of Intel, AMD and VIA CPUs",
  macro-op fusion): the jump is left out.
* A copied register is read by its new name as soon as the old one is written anew, where moves are eliminated: copies
  are put in place by renaming (llvm-mca 14 to 19, models of Zen 3 and 4).
* An operation on memory reads its register some cycles after its load has begun. If the register comes from an
  operation that is shorter than this, the model has both begin at once and adds the load to the chain: in long chains
  the load stands apart then.
* A move on a condition begins its load at once; the model has the load wait for the flags (LLVM 19).
* A load of a byte, half word or word that extends its sign takes an operation of whole numbers and a cycle beside the
  load (timed on a Zen 4: two of them and two additions in a loop take 1.25 cycles, where four additions and the jump
  alone would fill four pipes; a chain of them 5 cycles a load, of others 4; assumed of Zen 3 and 5).
* The divider takes a division of whole numbers of 32 bits each 6.35 cycles, and its result comes after 13.5 (timed on a
  Zen 5; assumed of Zen 3 and 4). Their models have it take 13 to 17 each: a division becomes four products that wait
  for each other, and two beside them. The models compute addresses (LEA) where words are loaded, and not where numbers
  are added: those of one or two registers become additions (timed on a Zen 5: 24 of either take 5.3 and 6.2 cycles
  where none waits, and each takes one in a chain).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from aspenpy.assembly.forwarding import SPARE, HandedOn, follow_stores, lower_half, mend_forwarded
from aspenpy.assembly.listing import Instruction
from aspenpy.assembly.strides import register, writes_target

_VECTOR = re.compile(r"%([xyz])mm(\d+)")
_COPY = re.compile(r"v?mov(?:ap[sd]|up[sd]|dq[au](?:32|64)?)$")
_LOAD = re.compile(r"v?(?:mov|lddqu|broadcast|pmov[sz]x)")
_FOLDED = re.compile(r"(?:(add|sub|mul|div|min|max)([sp])([sd])|(add|sub|imul|xor|and|or)([lq]))$")

_REGISTER = r"%(?:[er](?:[abcd]x|[sd]i|[bs]p)|r\d+d?)"
_GENERAL_COPY = re.compile(rf"mov[lq]\s+{_REGISTER},\s*{_REGISTER}$")
_ADDRESS = re.compile(rf"lea[lq]\s++[^(%]*+\(({_REGISTER})(?:,\s*({_REGISTER}))?\),\s*({_REGISTER})$")
_EXTENDED = re.compile(r"movs(?:([bw])[lq]|lq)\s+([^\s(]*+\([^()]*+\)),\s*(%\w+)$")
_CHOSEN = re.compile(r"cmov\w+$")
_DIVISION = re.compile(r"i?div[lq]\s+(.*)")

ZEN = frozenset({"znver3", "znver4", "znver5"})
"""Processors whose divisions of whole numbers and additions of addresses are mended."""

WIDE = {letter: f"%r{letter}x" for letter in "abcd"} | {name: f"%r{name}" for name in ("si", "di", "bp", "sp")}
WIDE |= {f"r{number}": f"%r{number}" for number in range(8, 16)}
"""General registers of 64 bits by the name of all their parts."""

LOOKED_AHEAD = 200
"""Instructions behind a copy in which its source may be written anew."""

LONG_CHAIN = 4
"""Least number of operations, each waiting for the one before, that count as a long chain: a choice, no law."""


def mend(
    path: Sequence[Instruction], entry: Sequence[Instruction] = (), handed: Sequence[HandedOn] = ()
) -> tuple[str, ...]:
    """The mended text of a path of instructions, to be given to llvm-mca; `entry` runs before it."""
    return tuple(_Mending(follow_stores(path, entry, handed)).run())


class _Mending:
    """One walk along a path. `name` are the registers that stand for those of the text, `links` the operations since
    each register was loaded or set, and `folded` the registers that an operation on memory has written last."""

    def __init__(self, path: Sequence[Instruction]) -> None:
        self.path = path
        text = "\n".join(one.text for one in path)
        used = {int(number) for _, number in _VECTOR.findall(text)}
        self.names = range(32 if any(number > 15 for number in used) else 16)
        self.name = {number: number for number in used}
        self.links: dict[str, int] = {}
        self.folded: set[str] = set()
        self.spare = next((name for name in SPARE if f"%{name}" not in text), None)

    def run(self) -> Iterator[str]:
        before = ""
        for index, one in enumerate(self.path):
            if self._is_stale_copy(index):
                yield _extend(*one.operands)
            elif not (one.is_conditional and before.startswith(("cmp", "test"))):
                yield from self._mend_one(one)
            before = one.mnemonic

    def _is_stale_copy(self, index: int) -> bool:
        """Whether an instruction copies a general register that is written anew while the copy may still be read."""
        one = self.path[index]
        if not _GENERAL_COPY.match(one.text):
            return False
        source, target = map(register, one.operands)
        for later in self.path[index + 1 : index + LOOKED_AHEAD]:
            written = register(later.operands[-1]) if writes_target(later) else ""
            if written in (source, target):
                return written == source != target
        return False

    def _mend_one(self, one: Instruction) -> Iterator[str]:
        if not writes_target(one):
            yield self._rename(one.text)
            return
        target = one.operands[-1].partition("{")[0].strip()
        if _COPY.match(one.mnemonic) and len(one.operands) == 2 and all(map(_is_vector, one.operands)):
            self._copy(*one.operands)
            yield "nop"  # it is dispatched all the same
            return
        from_memory = any("(" in operand for operand in one.operands[:-1])
        apart = self._put_apart(one, target) if from_memory else None
        yield from apart if apart is not None else self._write(one.text, one, target)
        key = register(target)
        self.links[key] = 0 if self._is_overwritten(one, target) else self.links.get(key, 0) + 1
        (self.folded.add if from_memory and apart is None else self.folded.discard)(key)

    def _copy(self, source: str, target: str) -> None:
        self.name[_number(target)] = self.name[_number(source)]
        to, origin = register(target), register(source)
        self.links[to] = self.links.get(origin, 0)
        (self.folded.add if origin in self.folded else self.folded.discard)(to)

    def _write(self, text: str, one: Instruction, target: str) -> Iterator[str]:
        """The text with registers by their names; one that is written anew gets a name that stands for no other."""
        if not _is_vector(target):
            yield self._rename(text)
            return
        to, before = _number(target), self._rename(text)
        old = self.name[to]
        shared = any(name == old for number, name in self.name.items() if number != to)
        if not shared:
            yield before
            return
        self.name[to] = self._free_name()
        if not self._is_overwritten(one, target):
            move, letter = ("vmovaps", target[1]) if one.mnemonic.startswith("v") else ("movaps", "x")
            yield f"{move} %{letter}mm{old}, %{letter}mm{self.name[to]}"  # movaps would keep what lies above
            yield self._rename(text)
            return
        head, _, tail = before.rpartition("%")
        yield f"{head}%{_VECTOR.sub(lambda match: f'%{match[1]}mm{self.name[to]}', '%' + tail)[1:]}"

    def _put_apart(self, one: Instruction, target: str) -> list[str] | None:
        """Splits an operation on memory into a load and the rest; None where they belong together."""
        is_wide = target in WIDE.values()
        if _CHOSEN.match(one.mnemonic) and self.spare is not None and (is_wide or target.startswith("%e")):
            move, spare = ("movq", self.spare) if is_wide else ("movl", f"{self.spare}d")
            return [f"{move} {self._rename(one.operands[0])}, %{spare}", f"{one.mnemonic} %{spare}, {target}"]
        folded = _FOLDED.match(one.mnemonic)
        key = register(target)
        if folded is None or len(one.operands) != 2 or key in self.folded or self.links.get(key, 0) < LONG_CHAIN:
            return None
        if folded[1]:
            spare = f"%xmm{self._free_name()}"
            move = f"mov{folded[2]}{folded[3]}" if folded[2] == "s" else f"movup{folded[3]}"
        elif self.spare is not None:
            spare, move = f"%{self.spare}{'d' if folded[5] == 'l' else ''}", f"mov{folded[5]}"
        else:
            return None
        load = f"{move} {self._rename(one.operands[0])}, {spare}"
        operation = f"{one.mnemonic} {{}}, {target}"
        return [load, *(line.replace("{}", spare) for line in self._write(operation, one, target))]

    def _is_overwritten(self, one: Instruction, target: str) -> bool:
        """Whether an instruction does not read what its target held."""
        sources = one.operands[:-1]
        if one.mnemonic.startswith("v"):
            return not one.mnemonic.startswith(("vfm", "vfn")) and "{" not in one.operands[-1]
        if _LOAD.match(one.mnemonic) or one.mnemonic.startswith("lea"):
            return not _is_vector(target) or any("(" in operand or not _is_vector(operand) for operand in sources)
        return one.mnemonic.startswith("pshufd") or (sources == (target,) and "xor" in one.mnemonic)

    def _rename(self, text: str) -> str:
        return _VECTOR.sub(lambda match: f"%{match[1]}mm{self.name.get(int(match[2]), match[2])}", text)

    def _free_name(self) -> int:
        taken = set(self.name.values())
        return next((name for name in self.names if name not in taken), self.names[-1])


def mend_for_processor(text: Sequence[str], processor: str) -> list[str]:
    """The text with divisions of whole numbers, and additions of addresses, as the processor makes them."""
    found: list[str] = []
    for line in text:
        if processor not in ZEN:
            found += mend_forwarded(line, processor)
            continue
        if divided := _DIVISION.match(line):
            beside, chained = ["imulq %rdx, %rdx"] * 2, ["imulq %rax, %rax"] * 3
            found += [*beside, f"imulq {_wide(divided[1])}, %rax", *chained, "movslq %eax, %rdx"]
        elif extended := _EXTENDED.match(line):
            size, memory, target = extended.groups()
            found += [f"{f'movz{size}l' if size else 'movl'} {memory}, {lower_half(target)}", _extend(target, target)]
        elif added := _ADDRESS.match(line):
            base, other, target = (_wide(name) if name else "" for name in added.groups())
            found.append(f"andnq {base}, {other}, {target}" if other else _extend(base, target))
        else:
            found += mend_forwarded(line, processor)
    return found


def _extend(source: str, target: str) -> str:
    """A copy of a general register that takes a cycle."""
    return f"movslq {lower_half(source)}, {_wide(target)}"


def _wide(operand: str) -> str:
    """The register of 64 bits of which one is a part; memory stays."""
    return WIDE.get(register(operand), operand)


def _is_vector(operand: str) -> bool:
    return _VECTOR.match(operand) is not None


def _number(operand: str) -> int:
    match = _VECTOR.match(operand)
    assert match is not None
    return int(match[2])
