"""Files of batch systems and profilers, in the form that their documentation shows, against arithmetic by hand."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from aspenpy.language.diagnostics import AspenError
from aspenpy.language.source import Source
from aspenpy.learn.measured_kernels import read_kernels
from aspenpy.learn.measurements.columns import recognise_columns
from aspenpy.learn.measurements.jobs import read_reframe
from aspenpy.learn.measurements.read import read_measurements, recognise_format

SACCT = """\
JobID|JobName|Elapsed|ConsumedEnergy|State|NNodes
12|md|1-00:00:10|1.5K|COMPLETED|2
12.batch|batch|1-00:00:10||COMPLETED|1
12.0|md|00:05:10|0|COMPLETED|2
"""
REFRAME = {
    "session_info": {"version": "4.2"},
    "runs": [
        {
            "testcases": [
                {
                    "name": "StreamTest",
                    "system": "daint:gpu",
                    "environment": "gnu",
                    "result": "success",
                    "time_run": 3.5,
                    "perfvars": [{"name": "Copy", "value": 24939.4, "unit": "MB/s", "reference": 0}],
                },
                {"name": "New", "system": "x", "perfvalues": {"x:y:elapsed": [1.25, 1, -0.1, 0.1, "s"]}},
            ]
        }
    ],
}
GPROF = """\
Flat profile:

Each sample counts as 0.01 seconds.
  %   cumulative   self              self     total
 time   seconds   seconds    calls  ms/call  ms/call  name
 66.67      0.02     0.02     7208     0.00     0.00  open
 33.33      0.03     0.01                             operator new(unsigned long)
  0.00      0.03     0.00        1     0.00    10.00  main

 %         the percentage of the total running time of the
"""
PERF_REPORT = """\
# To display the perf.data header info, please use --header/--header-only options.
#
# Samples: 4K of event 'cpu-clock:u'
# Event count (approx.): 2000000000
#
# Overhead  Command  Shared Object  Symbol
# ........  .......  .............  ............
#
    60.00%  prog     prog           [.] force(double*)
    25.00%  prog     libm.so.6      [.] exp
    15.00%  prog     prog           [.] force(double*)
"""
DISPATCHES = """\
"Kind","Agent_Id","Dispatch_Id","Kernel_Id","Kernel_Name","Correlation_Id","Start_Timestamp","End_Timestamp","VGPR_Count"
"KERNEL_DISPATCH","Agent 4",1,10,"triad<float>(float*)",1,1700000000000000001,1700000000000001002,8
"KERNEL_DISPATCH","Agent 4",2,10,"triad<float>(float*)",2,1700000000000002000,1700000000000003000,8
"""
COUNTERS = """\
"Correlation_Id","Dispatch_Id","Kernel_Name","Counter_Name","Counter_Value","Start_Timestamp","End_Timestamp"
1,1,"triad","FETCH_SIZE",3,10,1010
1,1,"triad","WRITE_SIZE",1,10,1010
1,1,"triad","SQ_INSTS_VALU_FMA_F64",5,10,1010
"""


ADVISOR = """\
Intel(R) Advisor Command Line Tool
Copyright (C) 2009-2023 Intel Corporation. All rights reserved.
Program: ./triad

ID,Function Call Sites and Loops,Total Time,Self Time,Type,Why No Vectorization,Vector ISA,Self GFLOP,Source Location
"4","[loop in triad<float, 2> at triad.c:12]","1.250s","1.250s","Vectorized Versions","","AVX512","16.0","triad.c:12"
"7"," -[loop in triad at triad.c:12]","1.250s","1.250s","Vectorized (Body)","","AVX512","16.0","triad.c:12"
"5","[loop in triad<float, 2> at triad.c:20]","0.250s","<0.250s","Scalar","","","","triad.c:20"
"1","main","2.000s","0.500s","Function","","","","triad.c:2"
"""


def rows_of(text: str) -> list[dict[str, object]]:
    return [{name: cell.value for name, cell in row.items()} for row in read_measurements(Source(text, "file")).rows]


def test_jobs_of_slurm() -> None:
    """A day and ten seconds; an energy of zero was not gathered; the batch step repeats the job."""
    job, step = rows_of(SACCT)
    assert (job["run"], job["application"], job["runtime"], job["energy"]) == ("12", "md", "86410.0", "1500.0")
    assert (step["run"], step["runtime"], step["energy"]) == ("12.0", "310.0", "")
    raw = "JobID|JobName|ElapsedRaw|ConsumedEnergyRaw\n7|fft|90|1234567\n"
    assert [(row["runtime"], row["energy"]) for row in rows_of(raw)] == [("90", "1234567")]


def test_reports_of_reframe() -> None:
    old, new = rows_of(json.dumps(REFRAME))
    assert (old["application"], old["device"], old["Copy"], old["runtime"]) == ("StreamTest", "daint:gpu", 24939.4, 3.5)
    assert (new["application"], new["elapsed"]) == ("New", 1.25)


def test_flat_profile_of_gprof() -> None:
    first, second, main = rows_of(GPROF)
    assert (first["region"], first["runtime"], first["calls"]) == ("open", "0.02", "7208")
    assert (second["region"], second["runtime"], second["calls"]) == ("operator new(unsigned long)", "0.01", "")
    assert (main["region"], main["runtime"]) == ("main", "")


def test_report_of_perf() -> None:
    """75 % of two seconds, of two lines of one symbol."""
    force, exp = rows_of(PERF_REPORT)
    assert (force["region"], force["runtime"]) == ("force(double*)", pytest.approx(1.5))
    assert (exp["region"], exp["runtime"]) == ("exp", pytest.approx(0.5))
    cycles = rows_of(PERF_REPORT.replace("cpu-clock:u", "cycles"))
    assert "runtime" not in cycles[0]


def test_survey_of_advisor() -> None:
    """Two loops of one function add up; a version of a loop has the loop's own time."""
    assert [row["region"] for row in rows_of(ADVISOR)] == ["triad<float, 2>", "triad<float, 2>", "main"]
    loops, main = read_kernels([Source(ADVISOR, "x")]).kernels
    assert (loops.time, loops.flops, loops.volume) == (1.5, 16e9, None)
    assert (main.name, main.time, main.flops) == ("main", 0.5, None)


def test_dispatches_and_counters_of_rocprof() -> None:
    """Nanoseconds since 1970 have more digits than a float; 64 lanes and two operations of an FMA; kilobytes."""
    assert [row["runtime"] for row in rows_of(DISPATCHES)] == [1.001e-6, 1e-6]
    (found,) = read_kernels([Source(DISPATCHES, "x")]).kernels
    assert found.time == pytest.approx(2.001e-6)
    (found,) = read_kernels([Source(COUNTERS, "x")]).kernels
    assert (found.time, found.flops, found.volume) == (pytest.approx(1e-6), 5 * 128, 4096)
    stats = '"Name","Calls","TotalDurationNs","AverageNs","Percentage"\n"triad",4,8000,2000,100.0\n'
    assert [(row["region"], row["runtime"]) for row in rows_of(stats)] == [("triad", 8e-6)]


def database(path: Path, *statements: str) -> Path:
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
    return path


NSYS = (
    "create table StringIds (id integer primary key, value text not null)",
    "create table CUPTI_ACTIVITY_KIND_KERNEL (start int, end int, deviceId int, demangledName int, shortName int)",
    "insert into StringIds values (1, 'void triad<double>(double *)'), (2, 'copy')",
    "insert into CUPTI_ACTIVITY_KIND_KERNEL values (100, 1100, 0, 1, 1), (2000, 4000, 0, 1, 1), (5000, 5500, 0, 2, 2)",
)


def rocpd(dispatch: str, *rows: str, **others: str) -> tuple[str, ...]:
    """A database as rocprofv3 lays it out: tables with the run's identifier in their names, and views of them."""
    of_symbols = "nid int, pid int, code_object_id int, kernel_name text, display_name text"
    tables = {"info_kernel_symbol": of_symbols, "kernel_dispatch": dispatch, **others}
    statements = [
        f"create table rocpd_{name}_0193 (id integer primary key, guid text default 'a', {columns})"
        for name, columns in tables.items()
    ]
    views = (f"create view rocpd_{name} as select * from rocpd_{name}_0193" for name in tables)
    symbols = "(3, 'a', 1, 1, 1, '_Z5triadPd.kd', 'triad'), (4, 'b', 1, 1, 1, 'other', null)"
    return (*statements, *views, f"insert into rocpd_info_kernel_symbol_0193 values {symbols}", *rows)


V3 = rocpd(
    "nid int, pid int, tid int, agent_id int, kernel_id int, dispatch_id int, start bigint, end bigint",
    "insert into rocpd_kernel_dispatch_0193 values"
    " (1, 'a', 1, 1, 1, 4, 3, 1, 10, 1010), (2, 'a', 1, 1, 1, 4, 3, 2, 2000, 4000)",
)
V41 = rocpd(
    "track_id int, kernel_id int, dispatch_id int, start bigint, end bigint",
    "insert into rocpd_track_0193 values (7, 'a', 1, 4)",
    "insert into rocpd_kernel_dispatch_0193 values (1, 'a', 7, 3, 1, 10, 1010), (2, 'a', 7, 3, 2, 2000, 4000)",
    track="nid int, agent_id int",
)
V40 = rocpd(
    "track_id int, kernel_id int, dispatch_id int, start_id int, end_id int",
    "insert into rocpd_track_0193 values (7, 'a', 1, 4)",
    "insert into rocpd_timestamp_0193 values (1, 'a', 10), (2, 'a', 1010), (3, 'a', 2000), (4, 'a', 4000)",
    "insert into rocpd_kernel_dispatch_0193 values (1, 'a', 7, 3, 1, 1, 2), (2, 'a', 7, 3, 2, 3, 4)",
    track="nid int, agent_id int",
    timestamp="value bigint",
)


@pytest.mark.parametrize(
    ("statements", "name", "device"),
    [(NSYS, "void triad<double>(double *)", "0"), (V3, "triad", "4"), (V41, "triad", "4"), (V40, "triad", "4")],
    ids=["nsys", "rocpd-3", "rocpd-4.1", "rocpd-4.0"],
)
def test_databases_of_profilers(tmp_path: Path, statements: tuple[str, ...], name: str, device: str) -> None:
    path = database(tmp_path / "profile.sqlite", *statements)
    before = path.read_bytes()
    first = read_measurements(path).rows[0]
    assert [first[column].value for column in ("region", "device", "calls", "runtime", "longest")] == [
        name,
        device,
        2,
        pytest.approx(3e-6),
        pytest.approx(2e-6),
    ]
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["profile.sqlite"]


def test_databases_without_kernels_are_told_apart(tmp_path: Path) -> None:
    empty = database(tmp_path / "nsys.sqlite", *NSYS[:2])
    with pytest.raises(AspenError, match="no kernel was traced"):
        read_measurements(empty)
    with pytest.raises(AspenError, match="database of another program"):
        read_measurements(database(tmp_path / "other.sqlite", "create table x (y int)"))
    wrong = database(tmp_path / "wrong.sqlite", *NSYS[:1], "create table CUPTI_ACTIVITY_KIND_KERNEL (start int)")
    with pytest.raises(AspenError, match="cannot be read as a database of a profiler"):
        read_measurements(wrong)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("p.cubex", b"x", "cannot be read as a profile of Score-P"),
        ("gmon.out", b"gmon\1\0\0\0", "recording of gprof"),
        ("perf.data", b"PERFILE2", "recording of `perf record`"),
        ("r.nsys-rep", b"x", "report of Nsight Systems"),
        ("x.csv", b"\x1f\x8b\x08", "a compressed file"),
        ("pipes.txt", b"a|b\n1|2\n", "not separated by commas"),
        ("s.txt", b"JobID|Elapsed\n1|soon\n", "has no time: `soon`"),
        ("s.txt", b"JobID|ElapsedRaw\n1\n", "has 1 values for 2 columns"),
        ("s.txt", b"JobID|ElapsedRaw|ConsumedEnergy\n1|2|much\n", "has no energy: `much`"),
        ("r.json", b'{"session_info": {}, "runs": 3}', "is no run report of ReFrame"),
        ("r.json", b'{"session_info": {}, "runs": []}', "there are no measurements"),
        ("k.csv", b"Kernel_Name,Start_Timestamp,End_Timestamp\na,1,x\n", "`x` is no time in nanoseconds"),
    ],
)
def test_what_is_not_read_is_named(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(AspenError) as refused:
        read_measurements(path)
    assert message in str(refused.value)


CALI = "`cali-query -q 'select path,sum(time) group by path format json-split'`"
HPCTOOLKIT = "hatchet: `GraphFrame.from_hpctoolkit_latest(DIR).dataframe.to_csv(FILE)`"
FOREIGN = (
    ("p", b"PERFILE2", "a recording of `perf record`", "`perf report --stdio -i FILE > report.txt`"),
    ("p", b"gmon\1\0\0\0", "a recording of gprof", "`gprof -b -p PROGRAM gmon.out > flat.txt`"),
    ("r.nsys-rep", b"x", "a report of Nsight Systems", "`nsys export --type sqlite FILE`"),
    ("r.qdrep", b"x", "a report of Nsight Systems", "`nsys export --type sqlite FILE`"),
    ("r", b"NVR\0", "a report of Nsight Compute", "`ncu --import FILE --csv --page raw`"),
    ("r.ncu-rep", b"x", "a report of Nsight Compute", "`ncu --import FILE --csv --page raw`"),
    ("t.otf2", b"x", "a trace in OTF2", "a profile of it, such as Score-P's"),
    (
        "c",
        b"__rec=node",
        "a profile of Caliper",
        "`cali-query -q 'select path,sum(time) group by path format json-split'`",
    ),
    ("c.cali", b"x", "a profile of Caliper", CALI),
    ("h", b"HPCPROF-", "a database of HPCToolkit", HPCTOOLKIT),
    ("h", b"\x89HDF", "a file of HDF5", "its table as CSV or Parquet"),
    ("z", b"\x1f\x8b", "a compressed file", "`gunzip FILE`"),
    ("z", b"PK\3\4", "an archive", "the files that are in it"),
)


@pytest.mark.parametrize(("name", "content", "what", "hint"), FOREIGN, ids=[f"{row[0]}-{row[2]}" for row in FOREIGN])
def test_formats_known_by_name_alone(name: str, content: bytes, what: str, hint: str, tmp_path: Path) -> None:
    """By how files end or begin, each with what turns it into one that is read."""
    (tmp_path / name).write_bytes(content)
    with pytest.raises(AspenError) as refused:
        read_measurements(tmp_path / name)
    (found,) = refused.value.diagnostics
    assert found.code == "foreign-format"
    assert found.message == f"`{tmp_path / name}` is {what}, which is not read"
    assert found.hint == f"what is read comes from: {hint}"


def test_units_and_times_of_reframe() -> None:
    """A test that measures its own time keeps it beside that of the run; one line is pointed at where there is none."""
    cases = [
        {"name": "a", "display_name": "A %x", "environment": "gnu", "result": "success", "time_run": 3,
         "perfvars": [{"name": "rate", "value": 2, "unit": "GB/s"}, {"name": "ratio", "value": None, "unit": None}]},
        {"name": "b", "system": "", "time_run": "no", "perfvalues": {"x:y:time": [4, 1, -0.1, 0.1, "s"]}},
        {"name": "c", "time_run": 5.5, "perfvalues": {"x:y:elapsed": [6, 1, -0.1, 0.1, "ms"]}},
    ]  # fmt: skip
    text = json.dumps({"session_info": {}, "runs": [{"testcases": cases[:2]}, {"testcases": cases[2:]}]})
    sheet = read_reframe(Source(text, "r"))
    rows = [{name: cell.value for name, cell in row.items() if cell.value != ""} for row in sheet.rows]
    assert rows == [
        {"application": "A %x", "environment": "gnu", "result": "success", "rate": 2.0, "runtime": 3.0},
        {"application": "b", "time": 4.0},
        {"application": "c", "elapsed": 6.0, "time_run": 5.5},
    ]
    units = {heading.name: heading.unit for heading in sheet.headings}
    assert [units[name] for name in ("rate", "runtime", "time", "elapsed", "time_run")] == ["GB/s", "s", "s", "ms", "s"]
    with pytest.raises(AspenError) as refused:
        read_reframe(Source('{"session_info": 1,\n "runs": 3}', "r"))
    (found,) = refused.value.diagnostics
    assert (found.code, found.span and found.span.text()) == ("no-report", '{"session_info": 1,')


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (SACCT, "sacct -P"),
        (json.dumps(REFRAME), "ReFrame's reports"),
        (GPROF, "gprof"),
        (PERF_REPORT, "perf report"),
        (DISPATCHES, "rocprof's traces"),
        (COUNTERS, "rocprofv3's counters"),
    ],
)
def test_a_format_is_known_by_its_beginning(text: str, name: str) -> None:
    found = recognise_format(text)
    assert found is not None
    assert found.name == name


@pytest.mark.parametrize(
    ("head", "column"),
    [("kernel,time [furlong]", 8), ("kernel,time [s],bytes [furlong]", 17), ("kernel,time,energy [furlong]", 13)],
)
def test_a_unit_that_is_none_is_refused_where_it_stands(head: str, column: int) -> None:
    text = f"{head}\n{','.join(['a'] + ['1'] * head.count(','))}\n"
    with pytest.raises(AspenError) as refused:
        recognise_columns(read_measurements(Source(text, "a.csv")))
    (found,) = refused.value.diagnostics
    assert found.code == "wrong-unit"
    assert found.span is not None
    assert found.span.position().column == column
    with pytest.raises(AspenError):
        read_kernels([Source(text, "a.csv")])


def test_units_of_counters_are_the_tools_own() -> None:
    sheet = recognise_columns(read_measurements(Source("region,l1_loads [inst],instructions [inst]\na,1,2\n", "a.csv")))
    assert sheet.names == ["region", "l1_loads", "instructions"]


# -- annotated regions ------------------------------------------------------------------------------

CALIPER = """{"data": [[0, 1.5, null], [0, 2.0, 0], [0, 3.0, 1], [1, 5.0, 1], [1, 1.0, 2]],
 "columns": ["mpi.rank", "time", "path"],
 "column_metadata": [{"is_value": true}, {"is_value": true, "attribute.unit": "sec"}, {"is_value": false}],
 "nodes": [{"label": "main"}, {"label": "triad", "parent": 0}, {"label": "triad", "parent": 1}]}
"""
TAU = """4 templated_functions_MULTI_TIME
# Name Calls Subrs Excl Incl ProfileCalls # <metadata></metadata>
".TAU application" 1 1 7 3507 0 GROUP="TAU_DEFAULT"
"triad(int, double*) [{two.c} {3,1}-{3,99}]" 100 0 2500 2500 0 GROUP="TAU_USER"
"main => triad(int, double*)" 100 0 2500 2500 0 GROUP="TAU_CALLPATH"
"MPI_Send()" 10 0 1.0E+03 1000 0 GROUP="MPI"
0 aggregates
"""


def test_regions_of_caliper() -> None:
    """Two ranks: triad takes 3 s in one, 5 + 1 s on two paths in the other; what has no path is of no region."""
    read = read_measurements(Source(CALIPER, "p.json"))
    assert {row["region"].value: row["runtime"].value for row in read.rows} == {"main": 1.0, "triad": 4.5}
    with pytest.raises(AspenError, match="is no profile of Caliper: KeyError"):
        read_measurements(Source('{"data": [[1]]}', "p.json"))


def test_functions_of_tau() -> None:
    """Exclusive microseconds; call paths count again what their functions have."""
    read = read_measurements(Source(TAU, "profile.0.0.0"))
    found = {row["region"].value: float(row["runtime"].value) for row in read.rows}
    assert found == pytest.approx({".TAU application": 7e-6, "triad(int, double*)": 2.5e-3, "MPI_Send()": 1e-3})


SAMPLED = """9 templated_functions_MULTI_TIME
# Name Calls Subrs Excl Incl ProfileCalls # <metadata></metadata>
".TAU application" 1 1 7000 9000 0 GROUP="TAU_DEFAULT"
"MPI_Wait()  " 10 0 2000 2000 0 GROUP="MPI"
"[CONTEXT] .TAU application" 6 0 0 6000 0 GROUP="TAU_SAMPLE_CONTEXT"
"[SAMPLE] triad(int, double*) [{/a/two.c} {364}]" 3 0 3000 3000 0 GROUP="TAU_SAMPLE"
"[SAMPLE] triad(int, double*) [{/a/two.c} {365}]" 2 0 2000 2000 0 GROUP="TAU_SAMPLE"
"[SAMPLE] copy [{/a/two.c} {9}]" 1 0 1000 1000 0 GROUP="TAU_SAMPLE"
"[UNWIND] /a/two.c.364 [@] main [{/a/two.c} {20}]" 3 0 0 3000 0 GROUP="TAU_UNWIND"
".TAU application  => [CONTEXT] .TAU application" 6 0 0 6000 0 GROUP="TAU_SAMPLE_CONTEXT|TAU_CALLPATH"
0 aggregates
"""


def test_samples_of_tau_are_those_of_functions() -> None:
    """The whole program takes 9 ms: 2 in MPI, 3 + 2 and 1 were sampled in functions, 1 of the timer's 7 was not."""
    rows = {item.name: item.time for item in read_kernels([Source(SAMPLED, "profile.0.0.0")]).kernels}
    assert rows == pytest.approx(
        {".TAU application": 1e-3, "MPI_Wait()": 2e-3, "triad(int, double*)": 5e-3, "copy": 1e-3}
    )
    assert sum(rows.values()) == pytest.approx(9e-3)


PAPI_REPORT = {
    "papi_version": "6.0.0.1",
    "event_definitions": {"PAPI_FP_OPS": {"component": "perf_event", "type": "delta"}},
    "threads": {
        "0": {
            "regions": {
                "0": {"name": "steps", "parent_region_id": "-1", "real_time_nsec": "9000000000", "PAPI_FP_OPS": "5000"},
                "1": {"name": "triad", "parent_region_id": "0", "real_time_nsec": "3000000000", "PAPI_FP_OPS": "2000"},
                "2": {"name": "triad", "parent_region_id": "0", "real_time_nsec": "4000000000", "PAPI_FP_OPS": "2000"},
            }
        }
    },
}


def test_regions_of_papi() -> None:
    """Of 9 s and 5,000 operations of `steps` its two calls of `triad` take 7 s and 4,000."""
    kernels = read_kernels([Source(json.dumps(PAPI_REPORT), "rank_0.json")]).kernels
    assert {item.name: (item.time, item.flops) for item in kernels} == {"steps": (2.0, 1000.0), "triad": (7.0, 4000.0)}
    with pytest.raises(AspenError, match="is no report of PAPI: KeyError"):
        read_measurements(Source('{"papi_version": "7"}', "rank_0.json"))


def test_a_table_of_hatchet() -> None:
    """`GraphFrame.dataframe.to_csv()`: names, own time, and that with what they call."""
    (kernel, _) = read_kernels(
        [Source("node,time,time (inc),nid,name\nx,0.5,1,1,triad\ny,0.25,1,2,copy\n", "h.csv")]
    ).kernels
    assert (kernel.name, kernel.time) == ("triad", 0.5)
