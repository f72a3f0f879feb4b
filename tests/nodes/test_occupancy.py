"""Blocks of threads on multiprocessors: how many reside, by the tables of NVIDIA and LLVM; waves of them and latency
that so many hide, by hand."""

from __future__ import annotations

import pytest

import aspenpy
from aspenpy import AspenError, predict
from aspenpy.cost.assumed import rule_of, rules_for_cores
from aspenpy.cost.occupancy import ThreadBlock
from aspenpy.expr import graph
from aspenpy.expr.evaluate import evaluate_many
from tests.tiny import application, machine


def resident(board: str, threads: int, scratchpad: int = 0, registers: int = 32) -> int:
    """Blocks that a multiprocessor of a board of the library has at once."""
    loaded = aspenpy.load_machine(board)
    core = loaded.first_core(loaded.sockets[0])
    assert core is not None
    stated = core.component if core.component.value("warp") is not None else rule_of(core)
    assert stated is not None
    block = ThreadBlock(*map(graph.number, (threads, scratchpad, registers)))
    definitions = {**rules_for_cores().definitions, **loaded.definitions}
    (found,) = evaluate_many([block.count_resident(stated)], definitions=definitions)
    return int(found)


WARPS_BY_REGISTERS = {
    32: 64, 33: 48, 40: 48, 41: 40, 48: 40, 56: 36, 64: 32, 72: 28, 80: 24, 96: 20, 128: 16, 168: 12, 255: 8,
}  # fmt: skip
"""Warps by the registers of a thread: NVIDIA's occupancy calculator, compute capability 7 to 9."""


@pytest.mark.parametrize("registers", WARPS_BY_REGISTERS)
@pytest.mark.parametrize("board", ["v100", "a100_40gb", "h100"])
def test_registers_leave_room_for_warps(board: str, registers: int) -> None:
    warps = WARPS_BY_REGISTERS[registers]
    assert resident(board, 128, registers=registers) == warps // 4
    assert resident(board, 32, registers=registers) == min(32, warps)  # of at most 32 blocks


@pytest.mark.parametrize(
    ("board", "threads", "scratchpad", "blocks"),
    [
        # CUDA C++ Programming Guide, technical specifications: threads and blocks
        ("v100", 32, 0, 32), ("v100", 64, 0, 32), ("v100", 96, 0, 21), ("v100", 1024, 0, 2), ("v100", 768, 0, 2),
        ("rtx_4090", 32, 0, 24), ("rtx_4090", 1024, 0, 1), ("rtx_4090", 512, 0, 3),
        ("tesla_k20x", 64, 0, 16),
        # 96 KiB of V100, and 164 and 228 KiB of A100 and H100, of which each block has 1 KiB beside its own
        ("v100", 256, 33 << 10, 2), ("v100", 256, 48 << 10, 2), ("v100", 256, (48 << 10) + 1, 1),
        ("a100_40gb", 256, 33 << 10, 4), ("a100_40gb", 256, 40 << 10, 4), ("a100_40gb", 256, (40 << 10) + 1, 3),
        ("a100_40gb", 1024, 163 << 10, 1), ("h100", 256, 33 << 10, 6), ("h100", 256, 227 << 10, 1),
        ("mi250x", 256, 33 << 10, 1), ("mi250x", 256, 32 << 10, 2), ("mi250x", 1024, 0, 2), ("mi250x", 64, 0, 32),
    ],
)  # fmt: skip
def test_threads_and_scratchpad_leave_room_for_blocks(board: str, threads: int, scratchpad: int, blocks: int) -> None:
    assert resident(board, threads, scratchpad) == blocks


def test_wavefronts_of_an_amd_board() -> None:
    """The example of `llvm-calc-occupancy`: workgroups of 512 with 50 vector registers reach 8 waves of each of four
    units. 512 registers of a lane are 2 waves of 256, and 4 of 128."""
    assert resident("mi250x", 512, registers=50) == 4
    assert [resident("mi250x", 64, registers=count) for count in (64, 65, 128, 256, 512)] == [32, 28, 16, 8, 4]


MACHINE = """
machine m { node n }
node n { socket s }
socket s { core [4] c cache l2 memory d }
core c {
  property simt property clock [1e9] property load_latency [30] property outstanding [2048]
  property warp [32] property resident_threads [2048] property resident_blocks [32] property registers [65536]
  property scratchpad [64 KiB] property scratchpad_unit [256] property scratchpad_reserved [0]
  property block_latency [200e-9]
  resource chain(number) [number/clock] with load [base*load_latency]
  cache l1
}
cache l1 { property capacity [32 KiB] property associativity [64] property cacheline [32] property latency [30e-9] }
cache l2 { property capacity [1 MiB] property associativity [16] property cacheline [32] property latency [200e-9] }
memory d {
  property latency [500e-9]
  resource loads(v) [v/1e15] resource stores(v) [v/1e15] conflict loads, stores
}
"""


def nanoseconds(blocks: int, links: str = "1", occupancy: str = "256, 0, 32", loads: str = "", data: str = "") -> float:
    loads = loads or "loads [256] of size [8] from a as nest(8, 256)"
    body = f"execute [{blocks}] {{ {loads} chain [{links}] as load, occupancy({occupancy}) }}"
    return float(predict(application(body, data or "data a [1 GiB]"), machine(MACHINE)).runtime) * 1e9


TURNOVER, MEMORY = 200, 500


@pytest.mark.parametrize(("blocks", "waves"), [(1, 1), (32, 1), (33, 2), (64, 2), (65, 3), (320, 10)])
def test_waves_of_blocks(blocks: int, waves: int) -> None:
    """Eight blocks of 256 threads on each of four multiprocessors: 32 of a wave, and a few of the last take as long."""
    assert nanoseconds(blocks) == pytest.approx(waves * (MEMORY + TURNOVER))


@pytest.mark.parametrize(
    ("occupancy", "of_wave"),
    [("256, 0, 32", 32), ("256, 16384, 32", 16), ("256, 0, 64", 16), ("1024, 0, 32", 8), ("32, 0, 32", 128)],
)
def test_what_a_block_takes_decides_how_many_wait_together(occupancy: str, of_wave: int) -> None:
    assert nanoseconds(10 * of_wave, occupancy=occupancy) == pytest.approx(10 * (MEMORY + TURNOVER))


def test_little_s_law() -> None:
    """Bytes in flight over the latency: 32 blocks of 256 words of 8 bytes in 700 ns."""
    rate = 3200 * 256 * 8 / nanoseconds(3200)
    assert rate == pytest.approx(32 * 256 * 8 / (MEMORY + TURNOVER))


def test_trips_follow_each_other() -> None:
    assert nanoseconds(32, "8", loads="loads [2048] of size [8] from a as nest(8, 2048)") == pytest.approx(
        8 * MEMORY + TURNOVER
    )


def test_a_trip_takes_the_latency_of_the_level_that_the_data_lie_in() -> None:
    near = "loads [2048] of size [8] from a as rd(0), warm"
    assert nanoseconds(32, "8", loads=near) == pytest.approx(8 * 30 + TURNOVER)
    # a table in the second cache, of which each warp asks for several lines: one of them misses the first
    second = "loads [2048] of size [8] from a as gather(512 KiB), shared, warm"
    assert nanoseconds(32, "8", loads=second, data="data a [512 KiB]") == pytest.approx(8 * 200 + TURNOVER, rel=0.01)


def test_a_chain_without_loads_is_the_time_between_blocks() -> None:
    assert nanoseconds(64, "0", loads="stores [256] of size [8] to a as nest(8, 256), streaming") == pytest.approx(
        2 * TURNOVER
    )


def test_processors_leave_it_out() -> None:
    text = MACHINE.replace("property simt", "")
    body = "execute [32] { loads [256] of size [8] from a as nest(8, 256) chain [1] as load, occupancy(256, 0, 32) }"
    assert float(predict(application(body, "data a [1 GiB]"), machine(text)).runtime) < 1e-9


@pytest.mark.parametrize("occupancy", ["4096, 0, 32", "256, 65 KiB, 32", "1024, 0, 128"])
def test_blocks_that_do_not_fit_are_refused(occupancy: str) -> None:
    with pytest.raises(AspenError, match="does not fit"):
        nanoseconds(1, occupancy=occupancy)


def test_the_trait_wants_three_arguments() -> None:
    with pytest.raises(AspenError, match="three arguments"):
        nanoseconds(1, occupancy="256")


def test_a_core_without_limits_is_refused() -> None:
    text = MACHINE.replace("property warp [32]", "")
    body = "execute [32] { loads [256] of size [8] from a as nest(8, 256) chain [1] as load, occupancy(256, 0, 32) }"
    with pytest.raises(AspenError, match="states no `warp`"):
        predict(application(body, "data a [1 GiB]"), machine(text))


WAITS = MACHINE.replace(
    "property block_latency",
    """property scratchpad_latency [20] property barrier_cycles [30] property barrier_threads [16]
  property schedulers [4] property integer_latency [4] property block_latency""",
).replace(
    "with load [base*load_latency]",
    """with load [base*load_latency],
    scratchpad [base*scratchpad_latency], barrier [base*barrier_cycles], integer [base*integer_latency]
  resource issues(number) [number/(clock*schedulers)]""",
)


def nanoseconds_with(others: str, blocks: int = 4, simt: bool = True) -> float:
    text = WAITS if simt else WAITS.replace("property simt", "")
    loads = "loads [256] of size [8] from a as nest(8, 256) chain [1] as load, occupancy(256, 0, 32)"
    body = f"execute [{blocks}] {{ {loads} {others} }}"
    return float(predict(application(body, "data a [1 GiB]"), machine(text)).runtime) * 1e9


@pytest.mark.parametrize(
    ("chain", "each"),
    [
        ("scratchpad", 20),
        ("integer", 4),
    ],
)
def test_a_block_stays_for_all_that_its_warps_wait_for(chain: str, each: int) -> None:
    """A cycle is a nanosecond, and one block of a multiprocessor contends with no other."""
    found = nanoseconds_with(f"chain [10] as {chain}, occupancy(256, 0, 32)")
    assert found == pytest.approx(MEMORY + TURNOVER + 10 * each)


def test_warps_come_to_a_barrier_one_after_the_other() -> None:
    """256 threads, 16 in a cycle, in ten barriers of 30 cycles; blocks contend for what lets them in, which adds to the
    stay of one as the 2-norm of the two (`cost.sharing`)."""
    alone, arriving = MEMORY + TURNOVER + 10 * (30 + 16), 10 * 16
    barriers = "chain [10] as barrier, occupancy(256, 0, 32)"
    for blocks in (4, 32):  # one on each multiprocessor, and eight
        expected = (alone**2 + (blocks // 4 * arriving) ** 2) ** 0.5
        assert nanoseconds_with(barriers, blocks) == pytest.approx(expected)


def test_so_many_instructions_begin_in_a_cycle() -> None:
    """Eight blocks of each multiprocessor issue 4000 instructions each, four in a cycle, while they wait or longer."""
    assert nanoseconds_with("issues [4000]", 32) == pytest.approx(8 * 4000 / 4)
    assert nanoseconds_with("issues [40]", 32) == pytest.approx(MEMORY + TURNOVER)


def test_processors_leave_instructions_of_warps_out() -> None:
    assert nanoseconds_with("issues [1000000]", simt=False) < 1


def test_warps_that_ask_for_one_sector_wait_together() -> None:
    """Eight warps of a block load the same sector of memory in each of eight trips: it is one miss, for which all wait,
    where without that one warp in eight would."""
    loads = "loads [256] of size [32] from a as nest(32, 1, 0, 32, 32, 8)"
    assert nanoseconds(32, "8", "256, 0, 32), together(8", loads) == pytest.approx(8 * MEMORY + TURNOVER)
    assert nanoseconds(32, "8", "256, 0, 32", loads) < (8 * MEMORY + TURNOVER) / 3
