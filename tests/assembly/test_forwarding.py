"""Chains through memory: which loads take back what a store wrote, by hand, and cycles that were timed on a Zen 5."""

import re
from random import Random

import pytest

from aspenpy.assembly.forwarding import HandedOn, find_forwarded, find_handed, follow_stores, mend_forwarded, read_entry
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


@pytest.mark.parametrize(
    ("share", "distance", "pairs"),
    [
        (1, 1, [(2, 4), (5, 7), (8, 10)]),  # a lap has two loads and a store: the second load waits
        (1, 2, [(2, 7), (5, 10)]),
        (0.5, 1, [(5, 7)]),  # every other one
        (0.4, 1, [(8, 10)]),
        (0.1, 1, []),
    ],
)
def test_loads_wait_so_often_as_in_a_run(share: float, distance: int, pairs: list[tuple[int, int]]) -> None:
    lap = read("movsd (%rcx), %xmm1; mulsd (%rdx), %xmm1; movsd %xmm1, (%rax)")
    path = lap * 4
    handed = HandedOn(frozenset(map(id, lap[:2])), frozenset([id(lap[2])]), share, distance)
    found = find_handed(path, handed)
    assert [(one.store, load) for one in found for load in one.loads] == pairs
    held = [one.text for one in follow_stores(path, (), [handed])]
    assert sum(text.startswith("movq %xmm1") for text in held) == len(pairs)


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


USED = ("%rax", "%rcx", "%rdx", "%rsi", "%rdi")
MASK = (1 << 64) - 1


def draw_program(random: Random) -> list[str]:
    """Stores, loads and sums of whole numbers, in AT&T syntax."""

    def memory() -> str:
        index = random.choice(["", "", f",{random.choice(USED[:2])},{random.choice([1, 2, 8])}"])
        return f"{random.choice(['', '8', '-8', '0x10'])}({random.choice(USED[:2])}{index})"

    forms = [
        *[lambda: f"movq {random.choice(USED)}, {memory()}"] * 4,
        *[lambda: f"movq {memory()}, {random.choice(USED)}"] * 4,
        lambda: f"movl {random.choice(['%eax', '%edx'])}, {memory()}",
        lambda: f"movl {memory()}, {random.choice(['%eax', '%edx'])}",
        lambda: f"movq ${random.choice([1, -8])}, {memory()}",
        lambda: (
            f"{random.choice(['movq', 'addq', 'subq'])} {random.choice([*USED, '$8', '$-8'])}, {random.choice(USED)}"
        ),
        lambda: f"leaq {memory()}, {random.choice(USED)}",
        lambda: f"{random.choice(['incq', 'decq', 'negq'])} {random.choice(USED)}",
        lambda: f"{random.choice(['salq', 'shlq', 'imulq'])} ${random.choice([1, 2, 3])}, {random.choice(USED)}",
        lambda: "xorl %ecx, %ecx",
        lambda: f"andq $-8, {random.choice(USED)}",
        lambda: "idivq %rsi",
    ]
    return [random.choice(forms)() for _ in range(20)]


def run_program(program: list[str], random: Random) -> list[int | None]:
    """Addresses of the instructions on a processor whose registers hold anything at the begin, and whose loads give
    anything."""
    held = {name: random.getrandbits(64) for name in USED}
    addresses: list[int | None] = []

    def address(operand: str) -> int:
        offset, _, parts = operand.rstrip(")").partition("(")
        base, *scaled = parts.split(",")
        return (int(offset or "0", 0) + held[base] + (held[scaled[0]] * int(scaled[1]) if scaled else 0)) & MASK

    for text in program:
        mnemonic, _, rest = text.partition(" ")
        operands = re.findall(r"[^,(]*\([^)]*\)|[^, ]+", rest)
        source, target = operands[0].strip(), f"%r{operands[-1].strip()[2:]}"
        addresses.append(next((address(each.strip()) for each in operands if "(" in each), None))
        if mnemonic == "idivq":
            held["%rax"], held["%rdx"] = random.getrandbits(64), random.getrandbits(64)
            held["%rsi"] = random.getrandbits(64)  # taken to be unknown, too
        elif mnemonic == "leaq":
            held[target] = address(source)
        elif "(" in operands[-1]:
            continue
        elif "(" in source or mnemonic == "andq":
            held[target] = random.getrandbits(64)
        elif mnemonic == "xorl":
            held[target] = 0
        else:
            value = int(source[1:], 0) if source.startswith("$") else held[source]
            held[target] = {
                "movq": lambda value=value: value,
                "addq": lambda value=value, target=target: held[target] + value,
                "subq": lambda value=value, target=target: held[target] - value,
                "incq": lambda target=target: held[target] + 1,
                "decq": lambda target=target: held[target] - 1,
                "negq": lambda target=target: -held[target],
                "imulq": lambda value=value, target=target: held[target] * value,
                "salq": lambda value=value, target=target: held[target] << value,
                "shlq": lambda value=value, target=target: held[target] << value,
            }[mnemonic]() & MASK
    return addresses


def test_forwarded_values_are_those_of_equal_addresses() -> None:
    """Against a processor: a load takes back the last store to its address, whatever the registers held, unless it is
    wider or what was stored is a constant. Registers that hold values on their way hold one at a time."""
    met = 0
    for seed in range(400):
        program = draw_program(Random(seed))
        runs = [run_program(program, Random(1000 * seed + number)) for number in range(3)]
        last: dict[tuple[int | None, ...], int] = {}
        expected = []
        for place, (text, *at) in enumerate(zip(program, *runs, strict=True)):
            if at[0] is None or text.startswith("lea"):
                continue
            key = tuple(at)
            if text.endswith(")"):
                last[key] = place
            elif key in last:
                stored = program[last[key]]
                is_wider = text.startswith("movq") and stored.startswith("movl")
                if not is_wider and "$" not in stored:
                    expected.append((last[key], place))
        path = read("; ".join(program))
        found = find_forwarded(path, ())
        assert sorted((one.store, load) for one in found for load in one.loads) == sorted(expected), (seed, program)
        met += len(expected)
        for one in found:
            stores = [place for place in range(one.store + 1, one.loads[-1]) if program[place].endswith(")")]
            assert one.is_renamed is not bool(stores), (seed, program)
        holds: dict[str, int] = {}
        for place, each in enumerate(follow_stores(path, ())):
            taken = re.search(r"\(%(r\d+)\)", each.text)
            if each.mnemonic == "movslq":
                holds[each.operands[1]] = place
            elif taken:
                assert f"%{taken[1]}" in holds
        assert bool(holds) is bool(found)
    assert met > 100


@pytest.mark.parametrize(
    ("between", "pairs"), [(62, [(0, 63)]), (63, [(0, 64)]), (64, [])]
)  # the queue has 64 stores, the first among them
def test_a_store_waits_in_the_queue(between: int, pairs: list[tuple[int, int]]) -> None:
    path = [
        "movq %rdi, (%rax)",
        *(f"movq %rsi, {8 * place + 8}(%rax)" for place in range(between)),
        "movq (%rax), %rdx",
    ]
    found = find_forwarded(read("; ".join(path)), ())
    assert [(one.store, load) for one in found for load in one.loads] == pairs


def test_a_register_holds_a_value_until_its_last_load() -> None:
    """Two registers are spared: the second store finds none free until both loads of the first are past."""
    names = " ".join(f"%{name}" for name in ("r11", "r10", "r9", "r8", "r15", "r14"))
    uses = [f"addq $1, {name}" for name in names.split()]
    path = read("; ".join([*uses, "movq %rdi, (%rax)", "movq (%rax), %rcx", "movq %rsi, 8(%rax)", "movq 8(%rax), %rdx",
                           "movq (%rax), %rcx", "movq %rsi, 16(%rax)", "movq 16(%rax), %rdx"]))  # fmt: skip
    texts = [one.text.split(" #")[0] for one in follow_stores(path, ())][len(uses) :]
    assert texts == [
        *("movq %rdi, (%rax)", "movslq %edi, %r12", "movq (%r12), %rcx", "movq %rsi, 8(%rax)", "movq 8(%rax), %rdx"),
        *("movq (%r12), %rcx", "movq %rsi, 16(%rax)", "movslq %esi, %r12", "movq (%r12), %rdx"),
    ]


@pytest.mark.parametrize(("text", "held", "taken", "plain"), [
    ("movq %rdi, (%rax); movq (%rax), %rcx", "movslq %edi, %r10", "movq (%r10), %rcx", "movq %r10, %rcx"),
    ("movl %edx, (%rax); movl (%rax), %ecx", "movslq %edx, %r10", "movl (%r10), %ecx", "movl %r10d, %ecx"),
    ("movq %rbp, 8(%rax); addq 8(%rax), %rcx", "movslq %ebp, %r10", "addq (%r10), %rcx", "addq %r10, %rcx"),
    ("movl %r9d, (%rax); movl (%rax), %ecx", "movslq %r9d, %r10", "movl (%r10), %ecx", "movl %r10d, %ecx"),
])  # fmt: skip
def test_values_that_come_at_once(text: str, held: str, taken: str, plain: str) -> None:
    """On a Zen 5 the next load has its register renamed; a Zen 4 goes through memory. Neither waits in the queue."""
    _, hold, load = (one.text for one in follow_stores(read(text), ()))
    assert hold == held
    assert mend_forwarded(load, "znver5") == [plain]
    assert mend_forwarded(load, "znver4") == mend_forwarded(load, "skylake") == [taken]


@pytest.mark.parametrize(("processor", "lines"), [
    ("znver3", ["movq %xmm0, %r10", "movslq %r10d, %r10"]), ("znver4", ["movq %xmm0, %r10", "movslq %r10d, %r10"]),
    ("znver5", ["movq %xmm0, %r10", "movslq %r10d, %r10"]), ("znver2", ["movq %xmm0, %r10"]),
])  # fmt: skip
def test_values_that_come_by_the_queue(processor: str, lines: list[str]) -> None:
    _, hold, load = (one.text for one in follow_stores(read("vmovapd %ymm0, (%rax); vmovapd (%rax), %ymm1"), ()))
    assert mend_forwarded(hold, processor) == lines
    assert mend_forwarded(load, processor) == ["vmovapd (%r10), %ymm1"]
