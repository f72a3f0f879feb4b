"""Numbers that can hardly be meant, each put into a machine that has none of them."""

from fractions import Fraction

import pytest

import aspenpy
from aspenpy.answers.checks.machines import check_machine
from aspenpy.answers.checks.plausibility import RANGES, check_plausibility
from aspenpy.language.diagnostics import AspenError
from aspenpy.models.library import library_names
from aspenpy.models.machine.texts import skeleton
from tests.tiny import machine

SOUND = skeleton("box", "cluster")

SLIPS = [
    ("clock = 2.5 GHz in 1 GHz", "clock = 2.5 in 1 GHz", "implausibly-small", "property clock [box_clock]"),
    ("clock = 2.5 GHz in 1 GHz", "clock = 25 GHz in 1 GHz", "implausibly-large", "property clock [box_clock]"),
    ("[number/(clock*issue)]", "[number/(clock*issue*4)]", "above-peak", "flops"),
    ("fmad [base/fma_gain]", "fmad [base/8]", "above-peak", "flops"),
    ("simd [base/simd_width]", "simd [base*simd_width]", "slower-trait", "flops"),
    ("property capacity [128 GiB]", "property capacity [0]", "not-positive", None),
    ("property capacity [128 GiB]", "property capacity [128]", "implausibly-small", None),
    ("property capacity [32 MiB]", "property capacity [30 MB]", "uneven-sets", None),
    ("property cacheline [64 B]  // assumed\n  property sharing [1]",
     "property cacheline [48 B]  property sharing [1]", "no-power-of-two", "property cacheline [48 B]"),
    ("resource loads(volume) [volume/bandwidth]", "resource loads(volume) [volume/bandwidth/2]", "above-bandwidth",
     "loads"),
    ("property bandwidth [box_bandwidth]",
     "property bandwidth [box_bandwidth] property channels [4] property channel_bandwidth [20 GB/s]",
     "above-channels", "property bandwidth [box_bandwidth]"),
    ("socket [2] box_socket", "socket [0] box_socket", "none-of-it", None),
    ("property fma_gain [2]", "property fma_gain [0.5]", "implausibly-small", None),
    ("property capacity [32 MiB]", "property capacity [16 KiB]", "smaller-level", "property capacity [16 KiB]"),
    ("property capacity [128 GiB]", "property capacity [16 MiB]", "smaller-level", "property capacity [16 MiB]"),
    ("property sharing [box_cores]", "property sharing [box_cores] property latency [91 ns]", "quicker-level",
     "property latency [90 ns]"),
    ("property sharing [box_cores]", "property sharing [box_cores] property bandwidth [99 GB/s]", "faster-level",
     "property bandwidth [box_bandwidth]"),
]  # fmt: skip
"""What is written instead of what, the code that is told first, and the text it points at (the slip itself if None)."""


def test_the_sound_one_is_sound() -> None:
    assert check_plausibility(machine(SOUND)) == []


@pytest.mark.parametrize(("right", "wrong", "code", "place"), SLIPS)
def test_slip(right: str, wrong: str, code: str, place: str | None) -> None:
    assert SOUND.count(right) >= 1
    found = check_plausibility(machine(SOUND.replace(right, wrong, 1)))
    (warning,) = (item for item in found if item.code == code)
    assert warning.severity == "warning"
    assert warning.span is not None
    assert warning.span.text().split("  //")[0] == (wrong if place is None else place)


@pytest.mark.parametrize("traits", ["with stream [base/2], bulk [base]", "with bulk [base], stream [base/2]"])
def test_the_fastest_rate_is_held_against_the_bandwidth(traits: str) -> None:
    """Plain loads keep to the bandwidth, and those of a stream do twice as much."""
    plain = "resource loads(volume) [volume/bandwidth]"
    found = check_plausibility(machine(SOUND.replace(plain, f"{plain} {traits}", 1)))
    (warning,) = (item for item in found if item.code == "above-bandwidth")
    assert "as stream, above its bandwidth" in warning.message
    assert check_plausibility(machine(SOUND.replace(plain, f"{plain} {traits.replace('/2', '/1')}", 1))) == []


def test_a_latency_without_its_unit_is_in_seconds() -> None:
    """1 for 1 us."""
    found = check_plausibility(machine(SOUND.replace("property latency [1 us]", "property latency [1]")))
    assert "no known hardware has more than 100 ms: is the unit missing?" in [item.hint for item in found]


def with_caches(l1: str, l2: str) -> list[str]:
    """What is told of bandwidths of the caches; 16 cores share the second, and the memory has 100 GB/s."""
    rates = {"property sharing [1]": l1, "property sharing [box_cores]": l2}
    text = SOUND
    for where, rate in rates.items():
        text = text.replace(where, f"{where} property bandwidth [{rate}]")
    return [item.message for item in check_plausibility(machine(text))]


def test_a_shared_cache_is_compared_by_its_part_of_a_core() -> None:
    """800 GB/s are 50 GB/s for each of 16 cores."""
    assert with_caches("50 GB/s", "800 GB/s") == []
    assert with_caches("49 GB/s", "800 GB/s") == [
        "cache `box_l2` is faster than cache `box_l1` inside it: 50 GB/s against 49 GB/s a core"
    ]
    assert with_caches("50 GB/s", "96 GB/s") == [
        "memory `box_memory` is faster than cache `box_l2` inside it: 6.25 GB/s against 6 GB/s a core"
    ]


def test_westmere_as_it_was() -> None:
    """96 GB/s a core behind a load port of 16 B at 2.8 GHz, 44.8 GB/s."""
    assert with_caches("16 B*2.8 GHz", "96 GB/s*16") == [
        "cache `box_l2` is faster than cache `box_l1` inside it: 96 GB/s against 44.8 GB/s a core"
    ]


def test_numbers_are_told() -> None:
    """4 cores would need: 2.5 GHz x 2 x 8 x 2 = 80 Gflop/s; written are four times that."""
    (warning,) = check_plausibility(machine(SOUND.replace("[number/(clock*issue)]", "[number/(clock*issue*4)]")))
    assert warning.message == (
        "core `box_core` does 320 Gflop/s as sp, simd, fmad, and clock x issue x simd_width x fma_gain allow 80 Gflop/s"
    )


@pytest.mark.parametrize(("kind", "name"), RANGES)
def test_both_ends_of_each_range(kind: str, name: str) -> None:
    low, high = RANGES[kind, name].low, RANGES[kind, name].high

    def told(value: Fraction) -> list[str]:
        text = f"machine M {{ {kind} C }} {kind} C {{ property {name} [{value.numerator}/{value.denominator}] }}"
        outside = ("implausibly-small", "implausibly-large", "not-positive")
        return [item.code for item in check_plausibility(machine(text)) if item.code in outside]

    assert told(low) == told(high) == []
    assert told(high * 2) == ["implausibly-large"]
    assert len(told(low / 2 if low else Fraction(-1))) == 1


@pytest.mark.parametrize("name", library_names("machines"))
def test_the_library_is_plausible(name: str) -> None:
    assert [str(item) for item in check_plausibility(aspenpy.load_machine(name))] == []


@pytest.mark.parametrize(
    ("time", "wrong"),
    [
        ("latency + volume/bandwidth", False),  # bytes
        ("volume*latency", False),  # so many messages
        ("2*volume", False),  # whatever it is: the numbers have no units
        ("latency + volume*bandwidth", True),
        ("volume*bandwidth", True),
        ("latency/volume + bandwidth", True),
    ],
)
def test_a_message_is_weighed_or_counted(time: str, wrong: bool) -> None:
    text = (
        "machine M { interconnect I } "
        f"interconnect I {{ property bandwidth [2 GB/s] property latency [1 us] resource messages(volume) [{time}] }}"
    )
    if wrong:
        with pytest.raises(AspenError) as error:
            machine(text)
        assert {item.code for item in error.value.diagnostics} == {"dimensions"}
    else:
        machine(text)


def test_conflicts_of_what_is_assumed() -> None:
    """Processors of the library name whole numbers and branches in conflicts, which rules by their year offer."""
    text = "machine m { node n } node n { socket s } socket s { core c memory d conflict %s, branches } "
    core = "core c { %s property clock [1 GHz] resource flops(x) [x] } memory d { resource loads(x) [x] }"
    for year, asked, missing in (
        ("property year [2020]", "intops", 0),
        ("", "intops", 2),
        ("property year [2020]", "intop", 1),
    ):
        notes = check_machine(machine(text % asked + core % year))
        assert sum(note.code == "unknown-resource" for note in notes) == missing
    for name in ("grace", "haswell", "perlmutter_cpu"):
        assert not [note for note in check_machine(aspenpy.load_machine(name)) if note.code == "unknown-resource"]


@pytest.mark.parametrize(
    ("kind", "properties", "message"),
    [
        (
            "memory",
            "property bandwidth [10 GB/s] property attained_bandwidth [12 GB/s]",
            "the attained_bandwidth of memory `D` is above its bandwidth: 12 GB/s against 10 GB/s",
        ),
        (
            "memory",
            "property attained_bandwidth [8 GB/s] property core_bandwidth [9 GB/s]",
            "the core_bandwidth of memory `D` is above its attained_bandwidth: 9 GB/s against 8 GB/s",
        ),
        (
            "cache",
            "property bandwidth [10 GB/s] property attained_bandwidth [11 GB/s]",
            "the attained_bandwidth of cache `D` is above its bandwidth: 11 GB/s against 10 GB/s",
        ),
    ],
)
def test_nothing_attains_more_than_its_peak(kind: str, properties: str, message: str) -> None:
    found = check_plausibility(machine(f"machine M {{ {kind} D }} {kind} D {{ {properties} }}"))
    assert [item.message for item in found if item.code == "above-bound"] == [message]
    even = properties.replace("12", "10").replace("9 ", "8 ").replace("11", "10")
    assert check_plausibility(machine(f"machine M {{ {kind} D }} {kind} D {{ {even} }}")) == []
