"""Loads and stores of instructions, by hand from the manual (Intel SDM, volume 2)."""

import pytest

from aspenpy.assembly.listing import NOWHERE, read_instruction
from aspenpy.assembly.memory_operands import Moves, count_moves


@pytest.mark.parametrize(
    ("text", "moves"),
    [
        ("movsd 8(%rsp), %xmm0", Moves(1, 8, 0, 0)),
        ("movss %xmm0, (%rdi,%rax,4)", Moves(0, 0, 1, 4)),
        ("movupd %xmm0, (%rdi)", Moves(0, 0, 1, 16)),
        ("vfmadd231sd (%rax), %xmm1, %xmm2", Moves(1, 8, 0, 0)),
        ("vaddpd 32(%rsi), %ymm1, %ymm2", Moves(1, 32, 0, 0)),
        ("vmovupd %zmm0, (%rdi)", Moves(0, 0, 1, 64)),
        ("movhpd 8(%rax), %xmm0", Moves(1, 8, 0, 0)),
        ("cvtsi2sdl 4(%rsp), %xmm0", Moves(1, 4, 0, 0)),
        ("cvtss2sd (%rsi), %xmm0", Moves(1, 4, 0, 0)),
        ("addl $1, 12(%rsp)", Moves(1, 4, 1, 4)),
        ("cmpq %rax, (%rdx)", Moves(1, 8, 0, 0)),
        ("movslq (%rdi,%rax,4), %rdx", Moves(1, 4, 0, 0)),
        ("movzbl (%rdi), %eax", Moves(1, 1, 0, 0)),
        ("movl $0, 8(%rsp)", Moves(0, 0, 1, 4)),
        ("idivl 8(%rsp)", Moves(1, 4, 0, 0)),
        ("incq (%rax)", Moves(1, 8, 1, 8)),
        ("pushq %rbx", Moves(0, 0, 1, 8)),
        ("popq %rbx", Moves(1, 8, 0, 0)),
        ("call f", Moves(0, 0, 1, 8)),
        ("ret", Moves(1, 8, 0, 0)),
        ("leaq 8(%rsp), %rdi", Moves()),
        ("nopw 0(%rax,%rax,1)", Moves()),
        ("jmp *.L4(,%rax,8)", Moves()),
        ("addsd %xmm1, %xmm0", Moves()),
    ],
)
def test_an_instruction_loads_and_stores(text: str, moves: Moves) -> None:
    assert count_moves([read_instruction(text, NOWHERE)]) == moves
