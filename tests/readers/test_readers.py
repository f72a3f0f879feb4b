"""Files of tools, as they write them, against what stands in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from aspenpy.language.diagnostics import AspenError
from aspenpy.language.source import Source
from aspenpy.learn.measurements.columns import read_numbers, recognise_columns
from aspenpy.learn.measurements.read import read_measurements, recognise_format
from aspenpy.learn.measurements.tools import read_likwid

LIKWID = """\
STRUCT,Info,3,,
CPU name:,Intel(R) Xeon(R) Platinum 8360Y,,
TABLE,Region triad,Group 1 Raw,MEM,3
Event,Counter,HWThread 0,HWThread 1,
INSTR_RETIRED_ANY,FIXC0,100,200,
CPU_CLK_UNHALTED_CORE,FIXC1,400,500,
CAS_COUNT_RD,MBOX0C0,7,-,
TABLE,Region triad,Group 1 Raw Stat,MEM,3
Event,Counter,Sum,Min,Max,Avg
INSTR_RETIRED_ANY STAT,FIXC0,300,100,200,150
TABLE,Region triad,Group 1 Metric,MEM,4
Metric,HWThread 0,HWThread 1,,
Runtime (RDTSC) [s],1.5,2.5,,
Clock [MHz],2000,2200,,
CPI,4,2.5,,
Memory bandwidth [MBytes/s],1000,,,
TABLE,Region halo,Group 1 Metric,MEM,1
Metric,HWThread 0,HWThread 1,,
Runtime (RDTSC) [s],0.5,0.25,,
"""
PERF = """\
# started on Mon Jan  1 00:00:00 2024

1234567,,cycles:u,1000000,100.00,,
2000000,,instructions:u,1000000,100.00,1.62,insn per cycle
<not supported>,,LLC-load-misses,0,100.00,,
1.50,Joules,power/energy-pkg/,1000000,100.00,,
12.5,msec,duration_time,1000000,100.00,,
"""
PERF_JSON = """\
{"counter-value" : "10.000000", "unit" : "", "event" : "cycles", "event-runtime" : 5, "pcnt-running" : 100.00}
{"counter-value" : "30.000000", "unit" : "", "event" : "cycles", "event-runtime" : 5, "pcnt-running" : 100.00}
{"counter-value" : "<not counted>", "unit" : "", "event" : "instructions", "event-runtime" : 0, "pcnt-running" : 0.00}
"""
NVPROF = """\
==7== NVPROF is profiling process 7, command: ./triad
==7== Metric result:
"Device","Kernel","Invocations","Metric Name","Metric Description","Min","Max","Avg"
"Tesla K20c (0)","triad(double*, int)",10,"achieved_occupancy","Achieved Occupancy",0.5,0.7,0.6
"Tesla K20c (0)","triad(double*, int)",10,"gld_efficiency","Global Load Efficiency","90.00%","90.00%","90.00%"
"Tesla K20c (0)","copy(double*)",5,"achieved_occupancy","Achieved Occupancy",0.9,0.9,0.9
"""
NCU = """\
==PROF== Connected to process 5
"ID","Process ID","Kernel Name","Section Name","Metric Name","Metric Unit","Metric Value"
"0","5","triad","Speed","Duration","usecond","12.5"
"0","5","triad","Speed","DRAM Throughput","%","80.1"
"0","5","triad","Speed","Elapsed Cycles","cycle","12,345"
"1","5","copy","Speed","Duration","msecond","1.5"
"""
SMI = """\
timestamp, name, power.draw [W], clocks.current.sm [MHz], utilization.gpu [%]
2024/01/01 00:00:00.000, NVIDIA A100, 64.20 W, 1410 MHz, 98 %
2024/01/01 00:00:01.000, NVIDIA A100, [N/A], 1400 MHz, 97 %
"""
DCGM = """\
#Entity   POWER        SMCLK        GPUTL
ID        W            MHz          %
GPU 0     250.1        1410         98
GPU 1     N/A          1400         0
"""
PAPI = """\
region PAPI_TOT_INS PAPI_TOT_CYC PAPI_L3_TCM
main 1000 2000 30
"""

MARKED = """\
STRUCT,Info,3,,
CPU name:,AMD EPYC 9684X,,
TABLE,Region sweep,Group 1 Raw,MEM,1
Region Info,HWThread 0,HWThread 8,
RDTSC Runtime [s],0.75,0.5,
call count,3,3,
Event,Counter,HWThread 0,HWThread 8,
INSTR_RETIRED_ANY,FIXC0,70,30,
"""
RANKS = """\
TABLE,Group 1 Raw,MEM,1
Event,Counter,node7:0:0,node7:1:1
INSTR_RETIRED_ANY,FIXC0,11,31
TABLE,Group 1 Raw STAT,MEM,1
Event,Counter,Sum,Min,Max,Avg,%ile 25
INSTR_RETIRED_ANY STAT,FIXC0,42,11,31,21,11
"""
PERF_INTERVALS = """\
     1.000123,CPU0,500,,cpu_core/cycles/u,100,50.00,,
     1.000123,CPU0,<not counted>,,cpu_atom/cycles/u,0,0.00,,
     1.000123,CPU0,40,,cpu/event=0x3c,umask=0x1/,100,50.00,,
     2.000456,CPU0,700,,cpu_core/cycles/u,100,50.00,,
"""
PERF_CORES = """\
S0-D0-C0,2,1200,,instructions:u,100,100.00,1.2,insn per cycle
S0-D0-C1,2,800,,instructions:u,100,100.00,0.8,insn per cycle
"""
PERF_JSON_FILE = """\
# started on Mon Jan  1 00:00:00 2024

{"core" : "S0-D0-C0", "counter-value" : "6.000000", "unit" : "", "event" : "cpu_core/cycles/u", "pcnt-running" : 9.00, }
{"core" : "S0-D0-C0", "metric-value" : "12.5", "metric-unit" : "%  tma_retiring"}
{"interval" : 2.0, "counter-value" : "8.000000", "unit" : "", "event" : "cycles", "pcnt-running" : 9.00}
"""
NVPROF_RATES = """\
==7== Metric result:
"Device","Kernel","Invocations","Metric Name","Metric Description","Min","Max","Avg"
"Tesla K20c (0)","a","1","gld_throughput","Load","1GB/s","3GB/s","2GB/s"
"Tesla K20c (0)","b","1","gld_throughput","Load","10MB/s","30MB/s","20MB/s"
"Tesla K20c (0)","b","1","alu_fu_utilization","ALU","Low (1)","Low (2)","Low (1)"
"""
NVPROF_SUMMARY = """\
==9== NVPROF is profiling process 9, command: ./triad
==9== Profiling application: ./triad
==9== Profiling result:
"Type","Time(%)","Time","Calls","Avg","Min","Max","Name"
,%,ms,,us,us,us,
"GPU activities",75.0,3.0,20,150.0,140.0,170.0,"triad(double*, int)"
"GPU activities",25.0,1.0,2,500.0,400.0,600.0,"[CUDA memcpy HtoD]"
"API calls",90.0,120.0,3,40000.0,5.0,119000.0,"cudaMalloc"
"""
NVPROF_SUMMARY_OLD = """\
==9== Profiling result:
"Time(%)","Time","Calls","Avg","Min","Max","Name"
%,s,,ms,ms,ms,
100.0,1.5,3,500.0,400.0,600.0,"triad(double*, int)"

==9== API calls:
"Time(%)","Time","Calls","Avg","Min","Max","Name"
%,ms,,ms,ms,ms,
100.0,120.0,3,40.0,5.0,119.0,"cudaMalloc"
"""
SMI_CLOCKS = """\
timestamp, clocks.current.graphics [MHz], clocks.current.memory [MHz]
2024/01/01 00:00:00.000, 1410 MHz, 1593 MHz
"""
NCU_RULES = """\
result: 17, of 20
==PROF== Connected to process 5
"ID","Process ID","Kernel Name","Metric Name","Metric Unit","Metric Value","Rule Name","Rule Type","Rule Description"
"0","5","triad","Duration","ns","1,250","","",""
"0","5","triad","","","","Bottleneck","OPT","Look at memory, it waits"
"0","5","triad","dram__bytes_read.sum","Kbyte","1,024.5","","",""
"""
NCU_RAW = """\
==PROF== Connected to process 5
"ID","Process ID","Kernel Name","Context","gpu__time_duration.sum","dram__bytes_read.sum","sm__cycles_active.avg"
"","","","","us","Mbyte","cycle"
"0","5","triad","1","12.50","3.5","17,000"
"1","5","copy","1","n/a","4.5","18,000"
"""
SMI_LOG = """\
timestamp, index, gpu_name, pstate, power.draw.instant [W], clocks.sm [MHz], memory.used [MiB]
2024/01/01 00:00:00.000, 0, NVIDIA B200, P0, 610.50, 1800, 7
timestamp, index, gpu_name, pstate, power.draw.instant [W], clocks.sm [MHz], memory.used [MiB]
2024/01/01 00:00:05.000, 0, NVIDIA B200, P0, [Unknown Error], 990, 8
"""
DCGM_SLICES = """\
# Entity  POWER  SMACT
      Id  W
GPU-I 3   97.5   0.25
"""

CASES: dict[str, tuple[str, str | None, list[dict[str, float | str]]]] = {
    "likwid": (LIKWID, "LIKWID", [
        {"region": "triad", "threads": "2", "instructions": 300, "cycles": 900, "CAS_COUNT_RD": 7, "runtime": 2.5,
         "core_frequency": 2.1e9, "CPI": 3.25, "memory_bandwidth": 1e9},
        {"region": "halo", "runtime": 0.5, "instructions": ""},
    ]),
    "perf": (PERF, "perf stat -x,", [
        {"cycles": 1234567, "instructions": 2e6, "llc_misses": "", "energy": 1.5, "runtime": 0.0125}]),
    "perf json": (PERF_JSON, "perf stat -j", [{"cycles": 40, "instructions": ""}]),
    "nvprof": (NVPROF, "nvprof --csv", [
        {"region": "triad(double*, int)", "device": "Tesla K20c (0)", "achieved_occupancy": 0.6, "gld_efficiency": 90},
        {"region": "copy(double*)", "achieved_occupancy": 0.9, "gld_efficiency": ""}]),
    "ncu": (NCU, "ncu --csv", [
        {"region": "triad", "runtime": 12.5e-6, "DRAM Throughput": 80.1, "Elapsed Cycles": 12345},
        {"region": "copy", "runtime": 1.5e-3}]),
    "nvidia-smi": (SMI, "nvidia-smi --format=csv", [
        {"device": "NVIDIA A100", "power": 64.2, "core_frequency": 1.41e9}, {"power": ""}]),
    "dcgm": (DCGM, "dcgmi dmon", [
        {"device": "0", "power": 250.1, "core_frequency": 1.41e9}, {"power": "", "GPUTL": 0}]),
    "likwid, regions": (MARKED, "LIKWID", [
        {"region": "sweep", "threads": "2", "runtime": 0.75, "call count": 3, "instructions": 100}]),
    "likwid-mpirun": (RANKS, "LIKWID", [{"threads": "2", "instructions": 42}]),
    "perf, intervals": (PERF_INTERVALS, "perf stat -x,", [{"cycles": 1200, "cpu/event=0x3c,umask=0x1/": 40}]),
    "perf, cores": (PERF_CORES, "perf stat -x,", [{"instructions": 2000}]),
    "perf json, a file": (PERF_JSON_FILE, "perf stat -j", [{"cycles": 14}]),
    "nvprof, rates": (NVPROF_RATES, "nvprof --csv", [
        {"gld_throughput": 2e9, "alu_fu_utilization": ""}, {"gld_throughput": 20e6, "alu_fu_utilization": "Low (1)"}]),
    "nvprof, times": (NVPROF_SUMMARY, "nvprof --csv", [
        {"region": "triad(double*, int)", "calls": 20, "runtime": 3e-3, "Avg": 150e-6, "Min": 140e-6, "Max": 170e-6},
        {"region": "[CUDA memcpy HtoD]", "calls": 2, "runtime": 1e-3, "Avg": 500e-6}]),
    "nvprof, times before CUDA 9": (NVPROF_SUMMARY_OLD, "nvprof --csv", [
        {"region": "triad(double*, int)", "calls": 3, "runtime": 1.5, "Avg": 0.5, "Min": 0.4, "Max": 0.6}]),
    "nvidia-smi, clocks": (SMI_CLOCKS, "nvidia-smi --format=csv", [
        {"core_frequency": 1.41e9, "memory_frequency": 1.593e9}]),
    "ncu, rules": (NCU_RULES, "ncu --csv", [{"runtime": 1.25e-6, "dram__bytes_read.sum": 1024500}]),
    "ncu, raw": (NCU_RAW, "ncu --csv --page raw", [
        {"region": "triad", "runtime": 12.5e-6, "dram__bytes_read.sum": 3.5e6, "sm__cycles_active.avg": 17000},
        {"region": "copy", "runtime": ""}]),
    "nvidia-smi, a log": (SMI_LOG, "nvidia-smi --format=csv", [
        {"device": "NVIDIA B200", "power": 610.5, "core_frequency": 1.8e9}, {"power": "", "core_frequency": 9.9e8}]),
    "dcgm, slices": (DCGM_SLICES, "dcgmi dmon", [{"device": "3", "power": 97.5, "SMACT": 0.25}]),
    "papi": (PAPI, None, [{"region": "main", "instructions": 1000, "cycles": 2000, "llc_misses": 30}]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_what_stands_in_them(name: str) -> None:
    text, tool, expected = CASES[name]
    found = recognise_format(text)
    assert (found and found.name) == tool
    sheet = recognise_columns(read_measurements(Source(text, name)))
    assert len(sheet.rows) == len(expected)
    for place, wanted in enumerate(expected):
        for column, value in wanted.items():
            if isinstance(value, str):
                assert str(sheet.rows[place][column].value) == value
            else:
                assert read_numbers(sheet.rows_at([place]), column)[0] == pytest.approx(value)


@pytest.mark.parametrize(
    "text", ["a,b,c\n2,1.2,10,500,7,9,1\n", "n,unit,event,x,y\n1,,cycles,1,100\n", "2,1,3,4,5\n", ""]
)
def test_plain_tables_are_no_format(text: str) -> None:
    assert recognise_format(text) is None


def test_threads_of_likwid_apart() -> None:
    sheet = read_likwid(Source(LIKWID, "x.csv"), per_thread=True)
    assert [(row["hardware_thread"].value, row["Runtime (RDTSC)"].value) for row in sheet.rows] == [
        ("HWThread 0", "1.5"), ("HWThread 1", "2.5"), ("HWThread 0", "0.5"), ("HWThread 1", "0.25"),
    ]  # fmt: skip


MALFORMED = {
    "likwid": (LIKWID.replace("FIXC0,100,200,", "FIXC0,100"), "x.csv:5:1", "line 5 has 3 values for 4 columns"),
    "likwid value": (LIKWID.replace("FIXC0,100,200", "FIXC0,ten,200"), "x.csv:5:25", "`ten` is no number"),
    "perf": (PERF.replace("1234567,,cycles:u", "many,,cycles:u"), "x.csv:3:1", "`many` is no number"),
    "perf short": (PERF + "17,\n", "x.csv:8:1", "line 8 is no event of perf: it has 2 of 3"),
    "perf json": (PERF_JSON + "{\n", "x.csv:4:1", "line 4 is not an event of perf"),
    "nvprof": (NVPROF + "1,2\n", "x.csv:7:1", "line 7 has 2 values for 8 columns"),
    "nvidia-smi": (SMI + "later\n", "x.csv:4:1", "line 4 has 1 values for 5 columns"),
    "dcgm": (DCGM + "GPU 2\n", "x.csv:5:1", "line 5 is no sample of DCGM"),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_lines_are_named(name: str) -> None:
    text, place, message = MALFORMED[name]
    with pytest.raises(AspenError) as caught:
        recognise_columns(read_measurements(Source(text, "x.csv")))
    assert message in str(caught.value)
    assert f"--> {place}" in str(caught.value)


def test_parquet(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "runs.parquet"
    parquet.write_table(arrow.table({"time/ms": [5.0, 7.0], "threads": [1, 2], "x": ["a", "b"]}), path)
    sheet = recognise_columns(read_measurements(path))
    assert read_numbers(sheet, "runtime").tolist() == [0.005, 0.007]
    assert recognise_columns(read_measurements(path, {"runtime [s]": "time/ms"})).names == ["runtime"]
    (tmp_path / "no.parquet").write_text("nothing", encoding="utf-8")
    for wrong in ("no.parquet", "none.parquet"):
        with pytest.raises(AspenError, match=r"cannot be read as Parquet|file not found"):
            read_measurements(tmp_path / wrong)
