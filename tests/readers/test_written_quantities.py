"""Times and energies as batch systems and profilers write them: the numbers by hand, at both sides of each limit."""

from __future__ import annotations

from pathlib import Path

import pytest

from aspenpy.advice.system_ranges import system_ranges
from aspenpy.language.diagnostics import AspenError
from aspenpy.language.source import Source
from aspenpy.learn.measurements.jobs import read_sacct
from aspenpy.learn.measurements.profiles import read_gprof, read_perf_report


def job(field: str, value: str) -> object:
    (row,) = read_sacct(Source(f"JobID|JobName|{field}\n1|md|{value}\n")).rows
    return row["runtime" if "lapsed" in field else "energy"].value


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("2-03:04:05", ((2 * 24 + 3) * 60 + 4) * 60 + 5),
        ("03:04:05", (3 * 60 + 4) * 60 + 5),
        ("04:05", 4 * 60 + 5),
        ("00:00.25", 0.25),
        ("1-00:00:00", 86400),
        ("00:00:00", None),  # it has not run
    ],
)
def test_elapsed_times(written: str, seconds: float | None) -> None:
    value = job("Elapsed", written)
    assert (value in ("", None)) if seconds is None else float(value) == seconds  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("written", "joules"), [("7", 7), ("1.5K", 1500), ("2M", 2e6), ("0.25G", 2.5e8), ("0", None), ("", None)]
)
def test_consumed_energies(written: str, joules: float | None) -> None:
    value = job("ConsumedEnergy", written)
    assert (value in ("", None)) if joules is None else float(value) == joules  # type: ignore[arg-type]


@pytest.mark.parametrize("field", ["ElapsedRaw", "ConsumedEnergyRaw"])
def test_raw_numbers_come_first(field: str) -> None:
    assert float(job(field, "12")) == 12  # type: ignore[arg-type]
    other = field.removesuffix("Raw")
    text = f"JobID|{other}|{field}\n1|{'1-00:00:00' if other == 'Elapsed' else '9G'}|12\n"
    (row,) = read_sacct(Source(text)).rows
    assert float(row["runtime" if other == "Elapsed" else "energy"].value) == 12  # type: ignore[arg-type]


@pytest.mark.parametrize("written", ["1:2:3:4", "1-", "12", "1-02:03", "-1:02", "1:02x"])
def test_what_is_no_time(written: str) -> None:
    if written == "1-02:03":  # a day and two minutes, as the pattern has it
        assert float(job("Elapsed", written)) == 86400 + 123  # type: ignore[arg-type]
        return
    with pytest.raises(AspenError, match="has no time"):
        job("Elapsed", written)


@pytest.mark.parametrize("written", ["1T", "K", "1KK", "x"])
def test_what_is_no_energy(written: str) -> None:
    if written == "K":
        assert job("ConsumedEnergy", written) in ("", None)
        return
    with pytest.raises(AspenError, match="has no energy"):
        job("ConsumedEnergy", written)


REPORT = """# Samples: 4K of event '{event}'
# Event count (approx.): 2000000000
#
# Overhead  Command  Shared Object  Symbol
    50.00%  md       md             [.] force
    25.00%  md       libm.so        [k] force
    20.00%  md       md             [.] move
     0.00%  md       md             [.] idle
"""


@pytest.mark.parametrize(
    ("event", "seconds"),
    [("cpu-clock", [1.5, 0.4, None]), ("task-clock:u", [1.5, 0.4, None]), ("cycles", None), ("cpu-clocks", None)],
)
def test_shares_of_a_clock_are_seconds(event: str, seconds: list[float | None] | None) -> None:
    rows = read_perf_report(Source(REPORT.format(event=event))).rows
    assert [row["region"].value for row in rows] == ["force", "move", "idle"]
    assert [row["share"].value for row in rows] == pytest.approx([0.75, 0.2, 0.0])
    if seconds is None:
        assert all("runtime" not in row for row in rows)
    else:
        assert [row["runtime"].value or None for row in rows] == [each and pytest.approx(each) for each in seconds]


def test_a_report_has_one_event() -> None:
    both = REPORT.format(event="cpu-clock") + REPORT.format(event="cycles")
    with pytest.raises(AspenError) as error:
        read_perf_report(Source(both))
    diagnostic = error.value.diagnostics[0]
    assert (diagnostic.code, diagnostic.hint) == ("several-events", "perf record -e cpu-clock")
    assert diagnostic.span is not None
    assert diagnostic.span.text() == both.split("\n")[0]


def test_a_flat_profile_ends_where_its_lines_end() -> None:
    text = "Flat profile:\n\n  %   cumulative   self\n time   seconds   seconds    calls  ms/call  ms/call  name\n"
    text += " 60.00      0.03     0.03       12     0.00     0.00  force\n 40.00      0.05     0.02      move\n"
    text += "  0.00      0.05     0.00        1     0.00    10.00  main\n\n 10.00      0.05     0.02      not this\n"
    rows = read_gprof(Source(text)).rows
    assert [str(row["region"].value) for row in rows] == ["force", "move", "main"]
    assert [str(row["runtime"].value) for row in rows] == ["0.03", "0.02", ""]
    assert [str(row["calls"].value) for row in rows] == ["12", "", "1"]
    assert [row["region"].row for row in rows] == [5, 6, 7]


@pytest.mark.parametrize(
    ("text", "ranges"),
    [
        ("hardware limits: 800 MHz - 3.80 GHz", {"clock": (8e8, 3.8e9)}),
        ("hardware limits: 900000 kHz \u2013 1200000 kHz", {"clock": (9e8, 1.2e9)}),
        ("cpuinfo_min_freq:1000000\ncpuinfo_max_freq:2000000", {"clock": (1e9, 2e9)}),
        (  # half of the clock is more than its least, and 40 % is not
            "cpuinfo_min_freq:1000000\ncpuinfo_max_freq:2000000\nintel_pstate/min_perf_pct:60\n"
            "intel_pstate/max_perf_pct:90",
            {"clock": (1.2e9, 1.8e9)},
        ),
        (
            "cpuinfo_min_freq:1000000\ncpuinfo_max_freq:2000000\nintel_pstate/min_perf_pct:40\n"
            "intel_pstate/max_perf_pct:100",
            {"clock": (1e9, 2e9)},
        ),
        ("CPU min MHz: 800\nCPU max MHz: 2500.5", {"clock": (8e8, 2.5005e9)}),
        ("Core(s) per socket: 2\nSocket(s): 1\nThread(s) per core: 1", {"cores": (1, 2)}),  # of one there is no range
    ],
)
def test_ranges_that_tools_say(text: str, ranges: dict[str, tuple[float, float]], tmp_path: Path) -> None:
    (tmp_path / "said.txt").write_text(text, encoding="utf-8")
    found = {item.component: (item.low, item.high) for item in system_ranges(str(tmp_path / "said.txt"))}
    assert {*found} == {*ranges}
    assert [found[name] for name in ranges] == [pytest.approx(ends) for ends in ranges.values()]


@pytest.mark.parametrize("text", ["cpuinfo_min_freq:1000000", "cpuinfo_max_freq:2000000", "CPU min MHz: 800"])
def test_one_end_is_no_range(text: str, tmp_path: Path) -> None:
    (tmp_path / "said.txt").write_text(text, encoding="utf-8")
    with pytest.raises(AspenError, match="contains no range"):
        system_ranges(str(tmp_path / "said.txt"))
