"""The text for llvm-mca: what it says of chains, by latencies of Zen 4 that were measured (uops.info)."""

from collections.abc import Callable, Sequence

import pytest

from aspenpy.assembly.listing import Instruction, read_listing
from aspenpy.assembly.mca import find_simulator, simulate
from aspenpy.assembly.mending import mend, mend_for_processor

LARGEST = "movsd (%rax), %xmm1; addq $8, %rax; maxsd %xmm0, %xmm1; movapd %xmm1, %xmm0; cmpq %rdx, %rax; jne f"
HASH = "xorl (%rdx), %eax; addq $4, %rdx; imull $16777619, %eax, %eax; cmpq %rdx, %rcx; jne f"


def read(text: str) -> tuple[Instruction, ...]:
    body = "".join(f"\t{line.strip()}\n" for line in text.split(";"))
    (function,) = read_listing(f".type f, @function\nf:\n{body}.size f, .-f\n")
    return tuple(one for block in function.blocks for one in block.instructions)


def cycles_of_lap(text: str, write: Callable[[Sequence[Instruction]], Sequence[str]]) -> float:
    """Cycles of a lap on a Zen 4 by llvm-mca, of laps that `write` gives as it is to read them."""
    simulator = find_simulator()
    if simulator is None or int(simulator.version.split(".")[0]) < 19:
        pytest.skip("llvm-mca 19 or newer is not installed")
    windows = [write(read(text) * times) for times in (100, 200)]
    few, many = simulate(simulator, "znver4", windows) or [0, 0]
    return (many - few) / 100


def mend_for_zen(laps: Sequence[Instruction]) -> list[str]:
    return mend_for_processor(mend(laps), "znver4")


def test_a_jump_behind_a_comparison_is_left_out() -> None:
    assert mend(read("cmpq %rax, %rcx; jne f")) == ("cmpq %rax, %rcx",)
    assert len(mend(read("addq $8, %rax; jne f"))) == 2


def test_a_copy_is_another_name_until_one_of_both_is_written() -> None:
    found = mend(read("movapd %xmm1, %xmm0; movsd (%rax), %xmm1; addsd %xmm0, %xmm1"))
    assert found == ("nop", "movsd (%rax), %xmm0", "addsd %xmm1, %xmm0")


def test_a_copy_that_is_computed_on_is_a_copy() -> None:
    found = mend(read("movapd %xmm4, %xmm0; cmpltpd -32(%rax), %xmm0; addpd %xmm4, %xmm0"))
    assert found == ("nop", "movaps %xmm4, %xmm0", "cmpltpd -32(%rax), %xmm0", "addpd %xmm4, %xmm0")


HORNER = "vmovupd (%rcx,%rax), %ymm1; vmovapd %ymm1, %ymm0; vfmadd132pd %ymm3, %ymm2, %ymm0; "
HORNER += "vfmadd132pd %ymm1, %ymm2, %ymm0; " * 11 + "addq $32, %rax; cmpq %rdx, %rax; jne f"


def test_a_copy_in_vectors_is_as_wide_as_what_is_computed_on_it() -> None:
    """Twelve products and sums, each waiting for the last, do not wait for those of the lap before: two start in a
    cycle (uops.info), where a copy of the lower half alone keeps the rest of the lap before."""
    found = mend(read("vmovapd %zmm1, %zmm0; vfmadd132pd %zmm3, %zmm2, %zmm0; vaddpd %zmm1, %zmm0, %zmm2"))
    assert found[1:] == ("vmovaps %zmm1, %zmm0", "vfmadd132pd %zmm3, %zmm2, %zmm0", "vaddpd %zmm1, %zmm0, %zmm2")
    assert 6 <= cycles_of_lap(HORNER, mend_for_zen) < 7


def test_what_has_three_operands_writes_anew() -> None:
    found = mend(read("vmovapd %ymm1, %ymm0; vaddpd %ymm2, %ymm0, %ymm0; vmulpd %ymm1, %ymm0, %ymm2"))
    assert found == ("nop", "vaddpd %ymm2, %ymm1, %ymm0", "vmulpd %ymm1, %ymm0, %ymm2")


def test_loads_stand_apart_in_long_chains_alone() -> None:
    found = mend(read("mulsd %xmm1, %xmm0; addsd (%rax), %xmm0; " * 3))
    assert found[:4] == ("mulsd %xmm1, %xmm0", "addsd (%rax), %xmm0") * 2
    assert found[4:] == ("mulsd %xmm1, %xmm0", "movsd (%rax), %xmm2", "addsd %xmm2, %xmm0")


def test_a_copied_general_register_outlives_its_source() -> None:
    """Its copy is read behind `leaq`, which would take the new value for the old one."""
    assert mend(read("movq %rcx, %rdx; leaq 1(%rdx), %rcx; addl (%rdx), %eax"))[0] == "movslq %ecx, %rdx"
    assert mend(read("movq %rcx, %rdx; addl (%rdx), %eax; movl (%rcx), %edx"))[0] == "movq %rcx, %rdx"


def test_divisions_and_addresses_are_those_of_the_processor() -> None:
    text = ("cltd", "idivl %ecx", "leaq 8(%rax,%rbx), %rsi", "leal 1(%r8), %r9d", "leaq (,%rax,4), %rbx")
    assert mend_for_processor(text, "skylake-avx512") == [*text]
    found = mend_for_processor(text, "znver4")
    assert found[0] == text[0]
    assert found[-3:] == ["andnq %rax, %rbx, %rsi", "movslq %r8d, %r9", text[-1]]


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("movl %ebx, %eax; cltd; idivl %ecx", 5.5, 7),
        ("cltd; idivl %ecx", 11, 15),
        ("xorl %edx, %edx; divl (%rsi)", 11, 19),
    ],
)
def test_divisions_take_what_the_divider_takes(text: str, least: float, most: float) -> None:
    """IDIV and DIV of 32 bits: one each 6.35 cycles, its result after 13.5, as timed on a Zen 5; memory adds 4 or 5."""
    assert least <= cycles_of_lap(text, mend_for_zen) <= most


@pytest.mark.parametrize(("text", "cycles"), [(LARGEST, 2), (HASH, 4)])
def test_chains_take_their_latencies(text: str, cycles: int) -> None:
    """maxsd two cycles, xor one and imul three; moves are eliminated."""
    assert cycles_of_lap(text, mend) == pytest.approx(cycles, rel=0.02)


STEP = "movq (%rax), %rdx; cmpq %rdx, %r8; cmovg 16(%rax), %rdi; movq %rdi, %rax"


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("movsbl (%rsi), %eax; movsbl (%rdx), %ecx; addq $1, %r8; addq $1, %r9; addq $1, %r10", 1.24, 1.3),
        ("movzbl (%rsi), %eax; movzbl (%rdx), %ecx; addq $1, %r8; addq $1, %r9; addq $1, %r10", 0.7, 1.05),
        ("movsbq (%rax), %rax", 5, 6),
        (STEP, 6, 8.1),  # of two loads at once the first is waited for, then a comparison and a move
    ],
)
def test_signs_take_an_operation_and_chosen_loads_begin_at_once(text: str, least: float, most: float) -> None:
    """Timed on a Zen 4: 1.25, 1.0 and 5 cycles, and 6 by latencies; llvm-mca has loads and copies take one more."""
    assert least <= cycles_of_lap(text, mend_for_zen) <= most
