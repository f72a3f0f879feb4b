"""Many blocks over many arrays: what is worked out for one holds for others that are alike, and is not refused."""

import pytest

import aspenpy
from aspenpy import predict
from aspenpy.cost.caches import known
from aspenpy.language.diagnostics import AspenError
from tests.tiny import application


def blocks(count: int, arrays: int) -> aspenpy.Application:
    data = " ".join(f"data A{number} as Array({100_000 + 1000 * number}, 8)" for number in range(arrays))
    loads = " ".join(
        f"loads [{100_000 + 1000 * number}] of size [8] from A{number} as stream" for number in range(arrays)
    )
    return application(f"iterate [10] {{ {f'execute {{ {loads} }} ' * count} }}", data)


def test_fifty_blocks_of_twenty_arrays_take_the_work_of_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first block finds what the last has left or nothing, each other one what the one before it has left."""
    worked_out, plain = list[object](), known._touches_of_one
    monkeypatch.setattr(
        known, "_touches_of_one", lambda access, *rest: worked_out.append(access) or plain(access, *rest)
    )
    totals = predict(blocks(50, 20), aspenpy.load_machine("haswell")).tree
    assert len(totals.blocks) == 50
    levels = 3
    assert len(worked_out) <= 3 * 20 * levels


def test_each_block_has_the_misses_of_a_run_of_its_own() -> None:
    """Of n equal blocks behind each other each takes all lines of 20 arrays of 0.8 MB and more from memory again."""
    haswell = aspenpy.load_machine("haswell")
    one, two = (aspenpy.traffic(blocks(count, 20), haswell).totals[-1].read_misses for count in (1, 2))
    lines = sum(-(-8 * (100_000 + 1000 * number) // 64) for number in range(20))
    assert one == pytest.approx(10 * lines, rel=1e-3)
    assert two == pytest.approx(2 * one, rel=1e-3)


def test_more_than_a_command_may_spend_is_refused() -> None:
    nests = " ".join(
        f"loads [{8 * (200 + number)}] of size [8] from A{number} as nest(8, {200 + number}, 4096, 2, 65536, 2, 0, 2)"
        for number in range(120)
    )
    data = " ".join(f"data A{number} [1e6]" for number in range(120))
    with pytest.raises(AspenError, match="accesses of nested loops are too many"):
        predict(application(f"execute {{ {nests} }}", data), aspenpy.load_machine("haswell"))
