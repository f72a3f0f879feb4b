"""Listings of compilers, read: blocks, loops, strides and windows against what the text says by eye."""

from fractions import Fraction
from pathlib import Path

import pytest

from aspenpy.assembly.compiling import Recipe
from aspenpy.assembly.listing import read_listing
from aspenpy.assembly.loops import find_loops
from aspenpy.assembly.strides import (
    count_flops,
    flops_of,
    lanes_of,
    largest_stride,
    read_reference,
    read_steps,
    register,
)
from aspenpy.assembly.windows import LoopWalk, make_window
from tests.assembly.test_mending import read

ROWS = """
	.file	"rows.c"
	.type	rows, @function
rows:
	.file 1 "/src" "rows.c"
	.loc 1 3 5
	testl	%edi, %edi
	jle	.L1
.L5:
	.loc 1 4 9 view .LVU3
	xorl	%eax, %eax
	pxor	%xmm1, %xmm1
.L4:
	.loc 1 6 11
	movupd	(%rsi,%rax), %xmm0
	mulpd	(%rdx,%rax), %xmm0
	addpd	%xmm0, %xmm1
	addq	$16, %rax
	cmpq	%rax, %rcx
	jne	.L4
	testb	$1, %dil
	je	.L3
	addsd	8(%rdx), %xmm1
.L3:
	.loc 1 7 3
	movsd	%xmm1, (%r8)
	addq	$8, %r8
	cmpq	%r9, %r8
	jne	.L5
.L1:
	ret
	.size	rows, .-rows
"""


def test_blocks_follow_jumps_and_lines() -> None:
    (rows,) = read_listing(ROWS)
    assert [len(block.instructions) for block in rows.blocks] == [2, 2, 6, 2, 1, 4, 1]
    assert [block.successors for block in rows.blocks] == [(1, 6), (2,), (3, 2), (4, 5), (5,), (6, 1), ()]
    assert rows.blocks[2].instructions[0].place == ("/src/rows.c", 6, 11)


def test_loops_are_nested() -> None:
    (outer,) = find_loops(read_listing(ROWS)[0])
    (inner,) = outer.inner
    assert (outer.header, inner.header) == (1, 2)
    assert (sorted(outer.blocks), sorted(inner.blocks)) == ([1, 2, 3, 4, 5], [2])


def test_a_lap_moves_its_references_and_has_flops() -> None:
    outer = find_loops(read_listing(ROWS)[0])[0]
    lap = LoopWalk(outer.inner[0], {}).run(1)
    assert largest_stride(lap) == 16
    assert flops_of(lap) == Fraction(4)
    assert read_steps(lap)["a"] == 16
    assert read_steps(lap)["mm1"] is None


def test_a_row_runs_its_inner_loop_so_often() -> None:
    outer = find_loops(read_listing(ROWS)[0])[0]
    row = LoopWalk(outer, {2: 5}, frozenset({4})).run(1)
    assert len(row) == 2 + 5 * 6 + 2 + 4
    assert not any(one.mnemonic == "addsd" for one in row)
    assert len(LoopWalk(outer, {2: 5}, frozenset({4})).run(3)) == 3 * len(row)


def test_branches_on_data_go_either_way() -> None:
    outer = find_loops(read_listing(ROWS)[0])[0]
    taken = sum(one.mnemonic == "addsd" for one in LoopWalk(outer, {2: 1}).run(200))
    assert 60 < taken < 140


def test_a_window_is_three_reorder_buffers_and_one_of_twice_as_many_laps() -> None:
    inner = find_loops(read_listing(ROWS)[0])[0].inner[0]
    window = make_window(inner, {})
    assert window is not None
    assert window.laps == 134  # 804 instructions, without the jumps behind comparisons
    assert len(window.second) == 2 * len(window.first) == 10 * window.laps


def test_a_lap_that_calls_has_no_window() -> None:
    (loop,) = find_loops(read_listing(ROWS.replace("mulpd	(%rdx,%rax), %xmm0", "call	sin@PLT"))[0])[0].inner
    assert make_window(loop, {}) is None


def test_registers_have_one_name() -> None:
    names = ("%eax", "%rax", "%al", "%r8d", "%r8", "%xmm3", "%zmm3", "%esi", "%rbp")
    assert [register(name) for name in names] == ["a", "a", "a", "r8", "r8", "mm3", "mm3", "si", "bp"]


def test_references_add_registers_up() -> None:
    found = read_reference("-16(%rdi,%rax,8)")
    assert found is not None
    assert found.stride({"a": 2}) == 16
    assert found.stride({"a": None}) is None
    assert read_reference("%xmm0") is None


def test_endless_and_strange_text_is_read() -> None:
    assert read_listing("") == []
    assert read_listing(".type f, @function\nf:\n\t.loc 9 x\n\tjmp\tf\n\tjmp *%rax\n.size f, .-f\n")[0].blocks[
        0
    ].successors == (0,)


@pytest.mark.parametrize(
    ("instruction", "step"),
    [
        ("addq\t$24, %rax", 24),
        ("addl\t$-8, %eax", -8),
        ("subq\t$-128, %rax", 128),
        ("subl\t$0x10, %eax", -16),
        ("incq\t%rax", 1),
        ("decl\t%eax", -1),
        ("leaq\t40(%rax), %rax", 40),
        ("leal\t-1(%rax), %eax", -1),
        ("leaq\t(%rax), %rax", 0),
        ("leaq\t8(%rax,%rcx), %rax", None),  # by what another register holds
        ("leaq\t8(%rcx), %rax", None),
        ("addq\t%rcx, %rax", None),
        ("movl\t$5, %eax", None),
        ("shll\t$2, %eax", None),
    ],
)
def test_steps_of_registers(instruction: str, step: int | None) -> None:
    """What one instruction adds to a register, and, run twice, twice that."""
    loop = "\t.type\tf, @function\nf:\n.L1:\n\t{}\n\tcmpq\t%r9, %rdx\n\tjne\t.L1\n\tret\n\t.size\tf, .-f\n"
    for times in (1, 2):
        text = loop.format("\n\t".join([instruction] * times))
        (found,) = find_loops(read_listing(text)[0])
        assert read_steps(LoopWalk(found, {}).run(1))["a"] == (None if step is None else times * step)


def test_a_prefix_is_no_instruction_of_its_own() -> None:
    text = "\t.type\tf, @function\nf:\n\tlock addq\t$1, (%rax)\n\trep stosq\n\tret\n\t.size\tf, .-f\n"
    (function,) = read_listing(text)
    found = [one for block in function.blocks for one in block.instructions]
    assert [(one.mnemonic, len(one.operands)) for one in found] == [("addq", 2), ("stosq", 0), ("ret", 0)]


def test_what_a_compiler_puts_aside_is_part_of_its_function() -> None:
    """GCC puts what seldom runs into another section, before it says the function's size; labels for debuggers begin
    no block."""
    text = "\n".join(
        [
            "\t.type f, @function",
            "f:",
            "\ttestl %edi, %edi",
            ".LVL1:",
            "\tje .L9",
            ".L2:",
            "\tsubl $1, %edi",
            ".LBB7:",
            "\tjne .L2",
            "\tret",
            "\t.section .text.unlikely",
            "\t.type f.cold, @function",
            "f.cold:",
            ".L9:",
            "\tcall abort",
            "\t.text",
            "\t.size f, .-f",
            "\t.section .text.unlikely",
            "\t.size f.cold, .-f.cold",
        ]
    )
    (function,) = read_listing(text)
    assert function.name == "f"
    assert [len(block.instructions) for block in function.blocks] == [2, 2, 1, 1]
    assert [block.successors for block in function.blocks] == [(1, 3), (2, 1), (), ()]
    assert [loop.header for loop in find_loops(function)] == [1]


@pytest.mark.parametrize(
    ("key", "parts"),
    [
        *((each, (f"%r{each}x", f"%e{each}x", f"%{each}x", f"%{each}l", f"%{each.upper()}L")) for each in "abcd"),
        *((name, (f"%r{name}", f"%e{name}", f"%{name}", f"%{name}l")) for name in ("si", "di", "bp", "sp")),
        *((f"r{number}", (f"%r{number}", f"%r{number}d", f"%r{number}w", f"%r{number}b")) for number in range(8, 16)),
        *((f"mm{number}", (f"%xmm{number}", f"%ymm{number}", f"%zmm{number}")) for number in (0, 7, 31)),
    ],
)
def test_parts_of_a_register_have_one_name(key: str, parts: tuple[str, ...]) -> None:
    assert [register(part) for part in parts] == [key] * len(parts)


@pytest.mark.parametrize(
    ("text", "flops"),
    [
        ("addsd %xmm0, %xmm1", ("add", "dp", False, 1)),
        ("subss (%rax), %xmm1", ("add", "sp", False, 1)),
        ("mulpd %xmm0, %xmm1", ("multiply", "dp", True, 2)),
        ("divps (%rax), %xmm1", ("divide", "sp", True, 4)),
        ("sqrtpd (%rax), %xmm1", ("square_root", "dp", True, 2)),
        ("vaddpd %ymm0, %ymm1, %ymm2", ("add", "dp", True, 4)),
        ("vsubps %zmm0, %zmm1, %zmm2", ("add", "sp", True, 16)),
        ("vfmadd231pd %zmm0, %zmm1, %zmm2", ("fma", "dp", True, 16)),
        ("vfmadd213sd %xmm0, %xmm1, %xmm2", ("fma", "dp", False, 2)),
        ("vfnmadd132ps (%rax), %ymm1, %ymm2", ("fma", "sp", True, 16)),
        ("movapd %xmm0, %xmm1", None),
        ("addq %rax, %rcx", None),
    ],
)
def test_flops_of_an_instruction(text: str, flops: tuple[str, str, bool, int] | None) -> None:
    """Lanes of 8 or 4 bytes in 16, 32 and 64; a fused one counts as two."""
    assert [tuple(each) for each in count_flops(read(text))] == ([] if flops is None else [flops])
    assert flops_of(read(f"{text}; {text}")) == (0 if flops is None else 2 * flops[3])
    assert lanes_of(read(text)[0]) == (0 if flops is None else flops[3] // (2 if flops[0] == "fma" else 1))


@pytest.mark.parametrize(
    ("text", "stride"),
    [
        ("movsd (%rax), %xmm0; movsd %xmm0, (%rcx,%rdx,8); addq $8, %rax; incq %rdx", 8),
        ("movsd (%rax), %xmm0; movsd %xmm0, (%rcx,%rdx,8); addq $8, %rax; addq $2, %rdx", 16),
        ("movsd (%rax), %xmm0; subq $24, %rax", 24),
        ("movsd (%rax,%rcx), %xmm0; addq $8, %rax; addq $8, %rcx", 16),
        ("movsd (%rax,%rcx), %xmm0; addq $8, %rax; subq $8, %rcx", None),
        ("leaq 8(%rax), %rcx; addq $8, %rax", None),
        ("movsd (%rax), %xmm0; movq (%rcx), %rax; addq $8, %rcx", 8),
        ("movsd (%rax), %xmm0", None),
    ],
)
def test_the_largest_stride_of_a_lap(text: str, stride: int | None) -> None:
    assert largest_stride(read(text)) == stride


@pytest.mark.parametrize(
    ("known", "option"),
    [("-march=neoverse-v1", "-march=neoverse-v1"), ("-mcpu=neoverse-v1", "-mcpu=neoverse-v1"), ("-mtune=other", "")],
)
def test_processors_by_the_option_that_a_compiler_takes(tmp_path: Path, known: str, option: str) -> None:
    """GCC for AArch64 takes processors behind -mcpu alone, and older ones know neither; a warning says so then."""
    compiler = tmp_path / "gcc"
    compiler.write_text(f'#!/bin/sh\nfor each; do [ "$each" = "{known}" ] && exit 0; done\nexit 1\n', encoding="utf-8")
    compiler.chmod(0o755)
    recipe = Recipe(("-O3",), str(compiler), "neoverse-v1")
    assert recipe.command("a.c") == [str(compiler), "-O3", *([option] if option else [])]
    assert bool(recipe.warn_unknown_target("a.c")) == (not option)
    assert not recipe.replace(target="native").warn_unknown_target("a.c")
