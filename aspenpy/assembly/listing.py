"""The listing of a compiler: functions, basic blocks and instructions of x86 in AT&T syntax, each instruction with the
line of the source that a `.loc` directive says (GNU assembler manual, section 7)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from aspenpy.record import Record

Place = tuple[str, int, int]
"""File, line and column of an instruction's source."""

NOWHERE: Place = ("", 0, 0)

MOST_LINES = 4_000_000
"""Lines of a listing that are read: a few hundred megabytes of text, which no program that one models has."""

_FILE = re.compile(r'\.file\s+(\d+)\s+(?:"([^"]*)"\s+)?"([^"]*)"')
_LOC = re.compile(r"\.loc\s+(\d+)\s+(\d+)(?:\s+(\d+))?")
_LABEL = re.compile(r"^([\w.$@]+):")
_DEBUG_LABEL = re.compile(r"\.L(?:VL|BB|BE|BI|CFI|FB|FE|HOTB|COLDB)\d")
_TYPE = re.compile(r"\.type\s+([\w.$@]+),\s*[@%]function")
_OPERANDS = re.compile(r",\s*(?![^(]*\))")

PREFIXES = frozenset({"lock", "rep", "repe", "repz", "repne", "repnz", "notrack", "bnd", "data16"})
ENDS = frozenset({"ret", "retq", "hlt", "ud2"})


class Instruction(Record):
    """One instruction: its text, mnemonic and operands, the last of which is written to."""

    text: str
    mnemonic: str
    operands: tuple[str, ...]
    place: Place = NOWHERE

    @property
    def is_jump(self) -> bool:
        return self.mnemonic.startswith("j")

    @property
    def is_conditional(self) -> bool:
        return self.is_jump and not self.mnemonic.startswith("jmp")

    @property
    def is_call(self) -> bool:
        return self.mnemonic in ("call", "callq")


class BasicBlock(Record):
    """Instructions that run one after the other, and the blocks that may follow: the next one first."""

    number: int
    instructions: tuple[Instruction, ...]
    successors: tuple[int, ...] = ()


class CompiledFunction(Record):
    """The blocks of a function, numbered from 0; the first is entered."""

    name: str
    blocks: tuple[BasicBlock, ...]


def read_listing(text: str) -> list[CompiledFunction]:
    """The functions of a listing, in its order."""
    names = set(_TYPE.findall(text))
    files: dict[str, str] = {}
    found: list[CompiledFunction] = []
    lines = text.split("\n", MOST_LINES)[:MOST_LINES]
    current: list[Instruction] = []
    labels: dict[str, int] = {}
    name, place = "", NOWHERE  # no name outside of functions: data have labels, too
    for line in lines:
        stripped = line.strip()
        label = _LABEL.match(line)
        if label is not None:
            if label[1] in names and label[1] != f"{name}.cold":  # what seldom runs is a part of the function before
                name, current, labels, place = label[1], [], {}, NOWHERE
            if _DEBUG_LABEL.match(label[1]) is None:
                labels[label[1]] = len(current)
        elif stripped.startswith(".loc"):
            located = _LOC.match(stripped)
            if located is not None:
                place = (files.get(located[1], ""), int(located[2]), int(located[3] or 0))
        elif stripped.startswith(".file"):
            named = _FILE.match(stripped)
            if named is not None:
                files[named[1]] = os.path.join(named[2] or "", named[3])
        elif stripped.startswith(".size") and name:
            found.append(CompiledFunction(name, tuple(_split_blocks(current, labels))))
            name = ""
        elif name and stripped and stripped[0] not in ".#":
            current.append(read_instruction(stripped, place))
    return found


def read_instruction(text: str, place: Place) -> Instruction:
    """Parses one instruction of a listing."""
    text = text.partition("#")[0].rstrip()
    words = text.split(None, 1)
    while len(words) > 1 and words[0] in PREFIXES:
        words = words[1].split(None, 1)
    operands = tuple(_OPERANDS.split(words[1])) if len(words) > 1 else ()
    return Instruction(text, words[0], operands, place)


def _split_blocks(code: list[Instruction], labels: dict[str, int]) -> Iterator[BasicBlock]:
    """Blocks begin at labels and behind jumps. Jumps to places outside of the function end it."""
    starts = {0, *labels.values()}
    starts |= {place + 1 for place, one in enumerate(code) if one.is_jump or one.mnemonic in ENDS}
    ordered = sorted(place for place in starts if place < len(code))
    number = {start: index for index, start in enumerate(ordered)}
    for index, start in enumerate(ordered):
        end = ordered[index + 1] if index + 1 < len(ordered) else len(code)
        last = code[end - 1]
        following: list[int] = []
        if end in number and last.mnemonic not in ENDS and (not last.is_jump or last.is_conditional):
            following.append(number[end])
        if last.is_jump and last.operands and labels.get(last.operands[0]) in number:
            following.append(number[labels[last.operands[0]]])
        yield BasicBlock(index, tuple(code[start:end]), tuple(dict.fromkeys(following)))
