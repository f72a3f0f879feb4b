"""One vocabulary: what one machine prices, every machine of the library does, by a rule where it states nothing."""

from __future__ import annotations

import itertools

import pytest

import aspenpy
from aspenpy import predict
from aspenpy.models.library import library_names
from tests.tiny import application, machine

CHAINS = (
    "add",
    "multiply",
    "fma",
    "divide",
    "square_root",
    "compare",
    "convert",
    "integer",
    "load",
    "logic",
    "shift",
    "forwarded",
)
CLASSES = ("add", "logic", "shift", "compare", "minmax", "permute", "multiply", "dot")
WIDTHS = ("", "int8", "int16", "int32", "int64")
VOCABULARY = (
    "chain [1e6]",
    *(f"chain [1e6] as {name}" for name in (*CHAINS, "minmax", "integer_multiply", "restarts(20)", "chains(4)")),
    "chain [1e6] from list as load",
    "chain [1e6] from list as load, random, warm",
    "branches [1e6]",
    "branches [1e6] as mispredicted(0.5)",
    "branches [1e6] as dp, mispredicted(0.5)",
    "branches [1e6] as behind(20), mispredicted(0.5)",
    "branches [1e6] as repeated(65536), mispredicted(0.5)",
    "branches [1e6] from list as mispredicted(0.5)",
    "atomics [1e6]",
    "atomics [1e6] as contended(4)",
    "locks [1e6]",
    "locks [1e6] as contended(4)",
    "barriers [1]",
    "forks [1]",
    "accesses [1e6]",
    *(
        f"accesses [1e6] as {name}"
        for name in ("load, dp", "load, dp, simd, unaligned", "store, sp", "store, sp, simd")
    ),
    "intops [1e6]",
    *(
        f"intops [1e6] as {', '.join(word for word in words if word)}"
        for words in itertools.product(CLASSES, WIDTHS, ("", "simd"))
    ),
)
BLOCKS = " ".join(f'execute "{number}" {{ {need} }}' for number, need in enumerate(VOCABULARY))
MODEL = f"model all {{ data list [64 MiB] kernel main {{ {BLOCKS} }} }}"


@pytest.mark.parametrize("name", library_names("machines"))
def test_every_machine_prices_all(name: str) -> None:
    loaded = aspenpy.load_machine(name)
    for socket in loaded.sockets:
        found = predict(aspenpy.parse(MODEL), loaded, socket=socket)  # type: ignore[arg-type]
        times = [float(time) for time in found.scope.values([cost.time for cost in found.tree.requirements], 0)]
        assert all(time > 0 for time in times), [need for need, time in zip(VOCABULARY, times, strict=True) if not time]
        wrong = [item.message for item in found.diagnostics if item.code in ("unknown-trait", "unknown-rate")]
        assert not wrong
        assert [item.code for item in found.diagnostics].count("assumed-rate") >= 1  # no machine states atomics


CORE = """
machine m {{ node n }}  node n {{ socket s }}
socket s {{ {year} core c {transfer} memory d }}
core c {{ property clock [2e9] {stated} property issue [2] resource flops(n) [n/(clock*issue)] }}
memory d {{ resource loads(v) [v/1e9] resource stores(v) [v/1e9] }}
"""


def cycles(need: str, stated: str = "", year: str = "property year [2010]", transfer: str = "") -> float:
    text = CORE.format(year=year, stated=stated, transfer=transfer)
    return float(predict(application(f"execute {{ {need} }}"), machine(text)).runtime) * 2e9


@pytest.mark.parametrize(
    ("need", "expected"),
    [  # Nehalem, of 2008, is the last before 2010: 17 cycles, three scalars a cycle; two vectors of 16 bytes
        ("branches [1e6] as mispredicted(0.5)", 1e6 + 0.5 * 17e6),
        ("branches [1e6] as dp, mispredicted(0.5)", 1e6 + 0.5 * (17 + 8) * 1e6),
        ("branches [1e6] as behind(20), mispredicted(0.5)", 1e6 + 0.5 * (17 + 20) * 1e6),
        ("branches [1e6] as repeated(512), mispredicted(0.5)", 1e6 + 0.5 * 17e6 / 2),  # as many as it learns
        ("branches [1e6] as repeated(1024), mispredicted(0.5)", 1e6 + 0.5 * 17e6 / (1 + 0.5**4)),
        ("chain [1e6] as forwarded", 5e6),
        ("intops [3e6]", 1e6),
        ("intops [32e6] as add, int8, simd", 1e6),
        ("intops [12e6] as logic, int32, simd", 1e6),
        ("intops [2e6] as shift, int64, simd", 1e6),
        ("intops [2e6] as permute, int64, simd", 1e6),
        ("intops [16e6] as dot, int8, simd", 1e6),
        ("chain [1e6] as fma", 8e6),
        ("atomics [1e6]", 20e6),
        ("locks [1e6]", (20 + 5) * 1e6),
        ("forks [10]", 10 * 20e-6 * 2e9),
        ("locks [1e6] as contended(4)", 4 * 200e6),
        ("atomics [1e6] as contended(4)", 4 * 200e6),
    ],
)
def test_what_is_not_stated_follows_the_year(need: str, expected: float) -> None:
    assert cycles(need) == pytest.approx(expected, rel=1e-9)


def test_what_is_stated_is_part_of_the_rule() -> None:
    assert cycles("branches [1e6] as mispredicted(0.5)", "property mispredict_penalty [11]") == pytest.approx(
        1e6 + 5.5e6
    )
    lanes = "property simd_width [16] property integer_vectors [1]"
    assert cycles("intops [64e6] as add, int8, simd", lanes) == pytest.approx(1e6)
    assert cycles("intops [5e6] as shift", "property shift_rate [5]") == pytest.approx(1e6)
    assert cycles("chain [1e6] as fma", "property add_latency [2]") == pytest.approx(7e6)
    shared = "property transfer_latency [50e-9]"
    assert cycles("atomics [1e6] as contended(4)", transfer=shared) == pytest.approx(4 * 100e6)


def test_years_choose_the_last_rule_that_is_not_younger() -> None:
    penalties = {
        year: cycles("branches [1] as mispredicted(1)", year=f"property year [{year}]") for year in range(1990, 2031)
    }
    assert penalties[1990] == penalties[2007] == pytest.approx(1 + 13)  # the first rule goes back for ever
    assert [penalties[year] for year in (2008, 2012, 2016, 2030)] == pytest.approx([18, 16, 17, 16])


def test_without_a_year_nothing_is_assumed() -> None:
    with pytest.raises(aspenpy.AspenError) as caught:
        cycles("branches [1] as mispredicted(1)", year="")
    assert caught.value.diagnostics[0].code == "no-such-resource"


def test_an_assumed_rate_that_decides_is_told() -> None:
    text = CORE.format(year="property year [2010]", stated="", transfer="")
    body = "execute { branches [1e6] as mispredicted(0.5) flops [1e9] }"
    assert not predict(application(body), machine(text)).diagnostics  # hides behind the flops
    (found,) = predict(application(body.replace("1e9", "1")), machine(text)).diagnostics
    assert found.code == "assumed-rate"
    assert "cpu_2008" in (found.hint or "")


def test_ports_that_no_machine_states_hide_nothing() -> None:
    """Patterns alone ask for no ports of a core that states none."""
    loaded = aspenpy.load_machine("epyc_9654")
    body = "execute { loads [8e6] of size [8] from list as stream, warm flops [1] as divide }"
    asked = body.replace("flops", "chain [1] as logic flops")
    found = [predict(application(text, "data list [4 KiB]"), loaded).runtime for text in (body, asked)]
    assert found[0] == found[1]
