"""Chains through memory: which loads take back what a store wrote, by hand, and cycles that were timed on a Zen 5."""

import pytest

from aspenpy.assembly.forwarding import find_forwarded, read_entry
from aspenpy.assembly.listing import read_listing
from aspenpy.assembly.loops import find_loops
from aspenpy.assembly.mca import find_simulator, simulate
from aspenpy.assembly.mending import mend_for_processor
from aspenpy.assembly.windows import make_window
from tests.assembly.test_mending import read

RECURRENCE = "movsd -8(%rax), %xmm0; addsd %xmm1, %xmm0; movsd %xmm0, (%rax); addq $8, %rax"


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        (f"{RECURRENCE}; {RECURRENCE}", [(2, 4)]),
        ("movsd %xmm0, (%rax); movsd (%rax), %xmm1; movsd (%rax), %xmm2", [(0, 1), (0, 2)]),
        ("movsd %xmm0, (%rax); movq %rdi, %rax; movsd (%rax), %xmm1", []),
        ("movsd %xmm0, (%rax); movl (%rsi), %edx; movsd (%rax,%rdx,8), %xmm1", []),
        ("movsd %xmm0, 16(%rax,%rdx,8); leaq (%rax,%rdx,8), %rcx; movsd 16(%rcx), %xmm1", [(0, 2)]),
        ("movsd %xmm0, (%rax); subq %rdx, %rax; negq %rdx; subq %rdx, %rax; movsd (%rax,%rdx,2), %xmm1", []),
        ("movsd %xmm0, (%rax); subq %rdx, %rax; negq %rdx; subq %rdx, %rax; movsd (%rax), %xmm1", [(0, 4)]),
        ("movl %ecx, (%rax); movq (%rax), %rdx", []),  # wider than what was stored
        ("movl $7, (%rax); movl (%rax), %edx", []),  # a constant waits for nothing
        ("movq %rcx, 8(%rsp); shlq $3, %rdi; idivq %rsi; movq %rax, (%rdi); movq 8(%rsp), %rdx", [(0, 4)]),
    ],
)
def test_loads_that_take_back_a_store(text: str, pairs: list[tuple[int, int]]) -> None:
    found = find_forwarded(read(text), ())
    assert [(one.store, load) for one in found for load in one.loads] == pairs


def test_steps_are_known_from_before_the_loop() -> None:
    """A column is walked backwards by a register that is the other one's negative."""
    before = "movq %rsi, %r11; negq %r11"
    lap = "movsd (%rax,%r11), %xmm0; addsd %xmm1, %xmm0; movsd %xmm0, (%rax); addq %rsi, %rax"
    assert not find_forwarded(read(f"{lap}; {lap}"), ())
    (pair,) = find_forwarded(read(f"{lap}; {lap}"), read(before))
    assert (pair.store, pair.loads, pair.is_renamed) == (2, (4,), False)


LOOPS = """	.type f, @function
f:
	leaq	0(,%r8,8), %rsi
.L2:
	addq	$1, %rcx
	cmpq	%rcx, %rdx
	jne	.L2
.L3:
	movsd	(%rax,%r8,8), %xmm0
	addsd	%xmm1, %xmm0
	movsd	%xmm0, (%rax)
	subq	%rsi, %rax
	testq	%rax, %rax
	jne	.L3
	ret
	.size f, .-f
"""


def test_what_another_loop_changes_is_unknown() -> None:
    (function,) = read_listing(LOOPS)
    last = find_loops(function)[-1]
    entry = read_entry(last)
    assert [one.operands[-1] for one in entry] == ["%rsi", "%rcx", "%rcx", "%rdx", ".L2"]
    lap = [one for number in sorted(last.blocks) for one in function.blocks[number].instructions]
    assert [one.loads for one in find_forwarded([*lap, *lap], entry)] == [(6,)]


@pytest.mark.parametrize(
    ("lap", "timed"),
    [
        ("movsd -8(%rax), %xmm0; addsd %xmm1, %xmm0; movsd %xmm0, (%rax); addq $8, %rax", 13.0),
        ("movsd -16(%rax), %xmm0; addsd %xmm1, %xmm0; movsd %xmm0, (%rax); addq $8, %rax", 6.2),
        ("movq -8(%rax), %rcx; imulq %rcx, %rcx; movq %rcx, (%rax); addq $8, %rax", 3.2),
        ("movq -16(%rax), %rcx; addq $1, %rcx; movq %rcx, (%rax); addq $8, %rax", 4.2),
    ],
)
def test_cycles_of_chains_through_memory(lap: str, timed: float) -> None:
    """Cycles a lap: timed on a Zen 5 at 4.77 GHz, the least of 15."""
    simulator = find_simulator()
    if simulator is None or simulate(simulator, "znver4", [("nop",)]) is None:
        pytest.skip("llvm-mca with the model of Zen 4 is not installed")
    lines = "".join(f"\t{line.strip()}\n" for line in f"{lap}; cmpq %rdx, %rax; jne f".split(";"))
    (function,) = read_listing(f"\t.type f, @function\nf:\n{lines}\tret\n\t.size f, .-f\n")
    window = make_window(find_loops(function)[0], {})
    assert window is not None
    texts = [mend_for_processor(text, "znver5") for text in (window.first, window.second)]
    cycles = simulate(simulator, "znver4", texts)
    assert cycles is not None
    assert (cycles[1] - cycles[0]) / window.laps == pytest.approx(timed, rel=0.35)
