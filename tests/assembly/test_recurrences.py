"""Loads for which the next lap of a loop waits, in loops written by hand."""

import pytest

from aspenpy.assembly.listing import read_listing
from aspenpy.assembly.loops import find_loops
from aspenpy.assembly.recurrences import find_waiting_loads, keep_condition
from aspenpy.assembly.windows import LoopWalk

LOOPS = {
    "a list": ("movq (%rax), %rax", [1]),
    "a walk along an array": ("addsd (%rdi,%rax,8), %xmm0\naddq $1, %rax", []),
    "an address that is loaded": ("movslq (%rdi,%rax,4), %rdx\naddsd (%rsi,%rdx,8), %xmm0\naddq $1, %rax", []),
    "two loads in turn": ("movslq (%rdi,%rax,4), %rdx\nmovslq (%rsi,%rdx,4), %rax", [1, 2]),
    "a comparison that moves": ("cmpl %ebx, (%rdi,%rax,4)\ncmovg %ecx, %eax\nleal (%rax,%rax), %ecx", [1]),
    "a register set to 0": ("movl (%rdi,%rax,4), %eax\nxorl %eax, %eax", []),
    "a copy": ("movq (%rax), %rdx\nmovq %rdx, %rax", [1]),
    "a sum from memory": ("addl (%rdi), %eax", []),
}


@pytest.mark.parametrize("name", LOOPS)
def test_loads_on_a_cycle(name: str) -> None:
    body, lines = LOOPS[name]
    placed = "".join(f"\t.loc 1 {line} 1\n\t{text}\n" for line, text in enumerate(body.split("\n"), 1))
    text = (
        f'\t.file 1 "a.c"\n\t.type f, @function\nf:\n.L2:\n{placed}\tcmpq %r8, %r9\n\tjne .L2\n\tret\n\t.size f, .-f\n'
    )
    (function,) = read_listing(text)
    (loop,) = find_loops(function)
    found = find_waiting_loads(LoopWalk(loop, {}).run(1))
    assert [line for _, line, _ in found] == lines


def test_a_jump_is_known_when_what_it_compares_is() -> None:
    """Of a scan that sums, stores and counts what it does not compare."""
    lines = [
        *("movl (%rsi), %eax", "imull %ecx, %ebx", "addl %eax, %edx", "movl %edx, (%rdi)"),
        *("addq $4, %rsi", "cmpl %r8d, %eax", "jl f", "addq $1, %r9"),
    ]
    body = "".join(f"\t{line}\n" for line in lines)
    (function,) = read_listing(f".type f, @function\nf:\n{body}.size f, .-f\n")
    path = [one for block in function.blocks for one in block.instructions]
    kept = [place for place, one in enumerate(keep_condition(path)) if one.mnemonic != "nop"]
    assert kept == [0, 5, 6]
    assert keep_condition(path[:4]) == path[:4]
