"""Loads for which the next lap of a loop waits, in loops written by hand."""

import pytest

from aspenpy.assembly.listing import Instruction, read_listing
from aspenpy.assembly.loops import find_loops
from aspenpy.assembly.recurrences import (
    count_waiting,
    decide_jumps,
    find_waiting_loads,
    keep_condition,
    waits_for_row_before,
)
from aspenpy.assembly.windows import LoopWalk

LOOPS = {
    "a list": ("movq (%rax), %rax", [1]),
    "a walk along an array": ("addsd (%rdi,%rax,8), %xmm0\naddq $1, %rax", []),
    "an address that is loaded": ("movslq (%rdi,%rax,4), %rdx\naddsd (%rsi,%rdx,8), %xmm0\naddq $1, %rax", []),
    "two loads in turn": ("movslq (%rdi,%rax,4), %rdx\nmovslq (%rsi,%rdx,4), %rax", [1, 2]),
    "a comparison that moves": ("cmpl %ebx, (%rdi,%rax,4)\ncmovg %ecx, %eax\nleal (%rax,%rax), %ecx", [1]),
    "a register set to 0": ("movl (%rdi,%rax,4), %eax\nxorl %eax, %eax", []),
    "a copy": ("movq (%rax), %rdx\nmovq %rdx, %rax", [1]),
    "the rest of a division": ("movslq (%rdi,%rax,4), %rax\ncqto\nidivq %rcx\nmovq %rdx, %rax", [1]),
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


def _read_path(body: str) -> list[Instruction]:
    """Instructions of one row, each on a line of its own."""
    placed = "".join(f"\t.loc 1 {line} 1\n\t{text}\n" for line, text in enumerate(body.split("\n"), 1))
    (function,) = read_listing(f'\t.file 1 "a.c"\n\t.type f, @function\nf:\n{placed}\t.size f, .-f\n')
    return [one for block in function.blocks for one in block.instructions]


WAITING = {
    "a list": ("movq (%rax), %rax", 1, 1),
    "a step of a search": ("cmpl %ebx, (%rdi,%rax,4)\ncmovg %ecx, %eax\nleal (%rax,%rax), %ecx\nsubl $1, %esi", 1, 4),
    "a copy of a register": ("movl (%rdi,%rax,4), %edx\nmovl %edx, %eax\naddl $1, %eax", 1, 2),
    "a counter beside a list": ("movq (%rax), %rax\naddq $1, %rsi\ncmpq %rsi, %rdi", 1, 1),
}


@pytest.mark.parametrize("name", WAITING)
def test_operations_that_wait(name: str) -> None:
    """Counted by hand: a comparison with memory is a load and a comparison, and counters do not wait."""
    body, line, number = WAITING[name]
    path = _read_path(body)
    assert count_waiting(path, [path[line - 1].place]) == number


ROWS = {
    "two hops from a number of its own": (
        "movslq (%rsi), %rax\nmovslq (%rdi,%rax,4), %rax\nmovslq (%rdi,%rax,4), %rax",
        False,
    ),
    "two hops that go on": ("movslq (%rdi,%rax,4), %rax\nmovslq (%rdi,%rax,4), %rax", True),
    "a start that the last hop changes": ("andl $1, %eax\nxorl (%rsi), %eax\nmovslq (%rdi,%rax,4), %rax", True),
    "a start that is chosen by the last": (
        "movslq (%rsi), %rdx\ntestl %eax, %eax\ncmovg %r8, %rdx\nmovslq (%rdi,%rdx,4), %rax",
        True,
    ),
    "a sum of what was found": ("movslq (%rsi), %rax\nmovslq (%rdi,%rax,4), %rax\naddq %rax, %rbx", False),
    "a start on the stack": ("movq 8(%rsp), %rax\nmovslq (%rdi,%rax,4), %rax\nmovq %rax, 8(%rsp)", True),
    "a hash of a number of its own": (
        "movl (%rsi), %edx\nimull $31, %edx, %eax\nandl %ebp, %eax\nmovslq (%rdi,%rax,4), %rax",
        False,
    ),
    "a hash of what was found": ("imull $31, %eax, %edx\nandl %ebp, %edx\nmovslq (%rdi,%rdx,4), %rax", True),
    "a register that is set anew": ("xorl %eax, %eax\nmovslq (%rdi,%rax,4), %rax", False),
}


@pytest.mark.parametrize("name", ROWS)
def test_rows_that_wait_for_the_one_before(name: str) -> None:
    body, expected = ROWS[name]
    rows = [_read_path(body)] * 3
    hops = [one.place for one in rows[0] if "(%rdi" in one.text]
    assert waits_for_row_before(rows, hops) is expected


@pytest.mark.parametrize(("end", "expected"), [("cmpq %rsi, %rcx", False), ("testq %rax, %rax", True)])
def test_jumps_that_loads_decide(end: str, expected: bool) -> None:
    """Of a walk of a length that is known beforehand, and of one to the end of a list."""
    path = _read_path(f"movq (%rdi,%rax,8), %rax\naddq $1, %rcx\n{end}\njne f")
    assert decide_jumps(path, [path[0].place]) is expected
