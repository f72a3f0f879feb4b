"""Measured kernels on the roofs: counts against arithmetic by hand, names of regions, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aspenpy.language.diagnostics import AspenError
from aspenpy.language.source import Source
from aspenpy.learn.measured_kernels import MeasuredKernel, match_kernels, plain_name, read_kernels
from tests.cli.conftest import Runner, models, run

__all__ = ["models", "run"]

ON = ("roofline", "axpy.aspen", "--machine", "cluster.aspen")
"""The kernel `axpy` of 20 kflop and 240 kB takes 12 us: 8 cores of 500 Mflop/s, two memories of 10 GB/s."""

LIKWID = """\
TABLE,Region axpy,Group 1 Metric,MEM_DP,6
Metric,HWThread 0,HWThread 1,,
Runtime (RDTSC) [s],1.5,2.0,,
DP [MFLOP/s],1000,3000,,
Memory data volume [GBytes],2,,,
"""
NCU = """\
"ID","Process ID","Kernel Name","Metric Name","Metric Unit","Metric Value"
"0","5","void triad<double>(double*)","gpu__time_duration.sum","usecond","100"
"0","5","void triad<double>(double*)","dram__bytes_read.sum","Mbyte","200"
"0","5","void triad<double>(double*)","dram__bytes_write.sum","Mbyte","40"
"0","5","void triad<double>(double*)","smsp__sass_thread_inst_executed_op_dfma_pred_on.sum","inst","10,000,000"
"1","5","void triad<double>(double*)","gpu__time_duration.sum","msecond","0.1"
"1","5","void triad<double>(double*)","dram__bytes_read.sum","Kbyte","200,000"
"1","5","void triad<double>(double*)","dram__bytes_write.sum","Mbyte","40"
"1","5","void triad<double>(double*)","smsp__sass_thread_inst_executed_op_dfma_pred_on.sum","inst","10,000,000"
"""
PERF = """\
7,,fp_arith_inst_retired.scalar_double,100,100.00,,
5,,fp_arith_inst_retired.256b_packed_double,100,100.00,,
10,msec,duration_time,100,100.00,,
1,MiB,uncore_imc/data_reads/,100,100.00,,
2,MiB,uncore_imc/data_writes/,100,100.00,,
"""


def read(text: str) -> MeasuredKernel:
    (found,) = read_kernels([Source(text, "measured")]).kernels
    return found


@pytest.mark.parametrize(
    ("text", "time", "flops", "volume"),
    [
        pytest.param(LIKWID, 2.0, 4e9 * 2.0, 2e9, id="likwid: the slowest thread, rates of all"),
        pytest.param(NCU, 2e-4, 2 * 2 * 1e7, 2 * 240e6, id="ncu: launches add up, an FMA counts twice"),
        pytest.param(PERF, 0.01, 7 + 4 * 5, 3 * 2**20, id="perf: four lanes of 256 bits"),
        pytest.param("kernel,time,flops,bytes\na,2,10,4\na,1,10,4\n", 1, 10, 4, id="the shortest of repeated runs"),
        pytest.param("kernel,time,gflops,self_ai\na,2,3,0.5\n", 2, 6e9, 12e9, id="rate and intensity"),
        pytest.param("kernel,time\na,2\n", 2, None, None, id="a time alone"),
        pytest.param("kernel,PAPI_DP_OPS,FETCH_SIZE,WRITE_SIZE\na,8,3,1\n", None, 8, 4096, id="kilobytes of ROCm"),
    ],
)
def test_counts_are_those_of_the_tools(
    text: str, time: float | None, flops: float | None, volume: float | None
) -> None:
    found = read(text)
    assert (found.time, found.flops, found.volume) == (
        pytest.approx(time),
        pytest.approx(flops),
        pytest.approx(volume),
    )


@pytest.mark.parametrize(
    ("counters", "flops"),
    [
        *((name, 1) for name in ("flops", "flop", "PAPI_DP_OPS", "PAPI_SP_OPS", "PAPI_FP_OPS")),
        *((f"fp_arith_inst_retired.{width}_double", lanes) for width, lanes in
          (("scalar", 1), ("128b_packed", 2), ("256b_packed", 4), ("512b_packed", 8))),
        *((f"fp_arith_inst_retired.{width}_single", lanes) for width, lanes in
          (("scalar", 1), ("128b_packed", 4), ("256b_packed", 8), ("512b_packed", 16))),
        *((name, 1) for name in ("fp_ret_sse_avx_ops.all", "retired_sse_avx_flops.all")),
        *((f"flop_count_{kind}", 1) for kind in ("dp", "sp", "hp")),
        *((f"smsp__sass_thread_inst_executed_op_{kind}{operation}_pred_on.sum", operations) for kind in "dfh" for
          operation, operations in (("add", 1), ("mul", 1), ("fma", 2))),
        *((f"SQ_INSTS_VALU_{operation}_F{bits}", 64 * operations) for bits in (16, 32, 64) for operation, operations in
          (("ADD", 1), ("MUL", 1), ("TRANS", 1), ("FMA", 2))),
        *((f"SQ_INSTS_VALU_MFMA_MOPS_{kind}", 512) for kind in ("F16", "BF16", "F32", "F64")),
    ],
)  # fmt: skip
def test_flops_of_each_counter(counters: str, flops: int) -> None:
    """Lanes of a vector by its bits, two for an FMA, 64 lanes of a wave."""
    assert read(f"kernel,time,{counters}\na,2,10\n") == MeasuredKernel("a", 2, 10 * flops, None)


@pytest.mark.parametrize(
    ("columns", "volume"),
    [
        *((name, 10) for name in ("bytes", "memory_volume", "dram__bytes.sum")),
        ("memory_bandwidth", 2 * 10),  # for two seconds
        *((pair, (10 + 4) * line) for pair, line in
          (("dram__bytes_read.sum,dram__bytes_write.sum", 1), ("dram_read_bytes,dram_write_bytes", 1),
           ("UNC_M_CAS_COUNT.RD,UNC_M_CAS_COUNT.WR", 64),
           ("uncore_imc/cas_count_read/,uncore_imc/cas_count_write/", 64),
           ("uncore_imc/data_reads/,uncore_imc/data_writes/", 64), ("FETCH_SIZE,WRITE_SIZE", 1024))),
    ],
)  # fmt: skip
def test_bytes_of_each_counter(columns: str, volume: int) -> None:
    """Lines of 64 bytes in both directions, and kilobytes where the tool counts these."""
    counts = "10,4" if "," in columns else "10"
    assert read(f"kernel,time,{columns}\na,2,{counts}\n") == MeasuredKernel("a", 2, None, volume)


@pytest.mark.parametrize(
    ("columns", "values", "expected"),
    [
        ("runtime", "2", (2, None, None)),
        ("self_time", "2", (2, None, None)),
        ("self_elapsed_time", "2", (2, None, None)),
        ("runtime,flop_rate", "2,10", (2, 20, None)),
        ("runtime,gflops", "2,10", (2, 20e9, None)),
        ("runtime,self_gflops", "2,10", (2, 20e9, None)),
        ("runtime,dp,sp", "2,10,3", (2, 26, None)),
        ("runtime,flops,intensity", "2,10,4", (2, 10, 2.5)),
        ("runtime,bytes,operational_intensity", "2,10,4", (2, 40, 10)),
        ("runtime,bytes,arithmetic_intensity", "2,10,4", (2, 40, 10)),
        ("runtime,flops,flop_rate", "2,10,7", (2, 10, None)),  # what was counted comes before what follows from rates
        ("runtime,bytes,memory_bandwidth", "2,10,7", (2, None, 10)),
        ("runtime,flops,bytes,intensity", "2,10,5,7", (2, 10, 5)),
        ("runtime,flops,intensity", "2,10,0", (2, 10, None)),
        ("flop_rate,memory_bandwidth,bytes", "7,7,3", (None, None, 3)),
    ],
)
def test_what_follows_from_rates_and_intensities(columns: str, values: str, expected: tuple[float | None, ...]) -> None:
    assert read(f"kernel,{columns}\na,{values}\n") == MeasuredKernel("a", *expected)


@pytest.mark.parametrize(
    ("column", "value", "expected"),
    [
        ("flops [Gflop]", 10, (2, 10e9, None)),
        ("bytes [kB]", 10, (2, None, 10e3)),
        ("dram__bytes_read.sum [MB]", 10, (2, None, 10e6)),
        ("flop_rate [Gflop/s]", 10, (2, 20e9, None)),
        ("memory_bandwidth [GB/s]", 10, (2, None, 20e9)),
        ("memory_bandwidth [MB/s]", 10, (2, None, 20e6)),
    ],
)
def test_units_of_quantities(column: str, value: float, expected: tuple[float | None, ...]) -> None:
    assert read(f"kernel,time [s],{column}\na,2,{value}\n") == MeasuredKernel("a", *expected)


@pytest.mark.parametrize(
    ("column", "name"),
    [
        ("flops", "flops"),
        ("bytes", "bytes"),
        ("time", "time"),
        ("flop_rate", "flops a second"),
        ("memory_bandwidth", "bytes a second"),
        ("intensity", "intensity"),
    ],
)
def test_what_is_below_zero(column: str, name: str) -> None:
    with pytest.raises(AspenError) as refusal:
        read(f"kernel,{column}\na,-1\n")
    assert f"{name} below zero were measured" in str(refusal.value)


def test_intensity_of_a_kernel() -> None:
    assert MeasuredKernel("a", 1, 6, 4).intensity == 1.5
    assert [MeasuredKernel("a", 1, *pair).intensity for pair in ((None, 4), (6, None), (6, 0))] == [None] * 3


def test_bytes_of_one_direction_are_told() -> None:
    found = read_kernels([Source("kernel,dram__bytes_read.sum\na,5\n", "x")])
    assert [item.message for item in found.diagnostics] == [
        "bytes are those of one direction: `dram_bytes_write_sum` was not measured"
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kernel,colour\na,7\n", "no column holds a time, flops or bytes"),
        ("kernel,bytes [furlong]\na,7\n", "`furlong` behind `bytes` is no unit"),
        ("kernel,bytes\na,-7\n", "bytes below zero"),
    ],
)
def test_what_is_no_measurement_of_a_kernel_is_refused(text: str, message: str) -> None:
    with pytest.raises(AspenError, match=message):
        read(text)


@pytest.mark.parametrize(
    "name",
    [
        "force",
        "force_",
        "void lj::force<double, 3>(double*, int)",
        "_ZN2lj5forceEPdi",
        "force._omp_fn.0",
        "force_12_gpu",
        "__omp_offloading_10308_2ab_force_l12",
        "FORCE",
    ],
)
def test_a_name_is_that_of_the_function(name: str) -> None:
    assert plain_name(name) == "force"
    assert match_kernels([name], ["md.force"], {})[0] == {name: "md.force"}


def test_regions_without_a_kernel_are_told() -> None:
    found, notes = match_kernels(["forces", "x"], ["force"], {"x": "force"})
    assert found == {"x": "force"}
    assert [(note.message, note.hint) for note in notes] == [
        ("no kernel of the model is called `forces`", "did you mean `force`?")
    ]


@pytest.mark.parametrize(("regions", "known"), [(["", "force"], ["force"]), (["forces"], []), ([""], [])])
def test_nothing_is_told_of_regions_without_a_name_nor_without_kernels(regions: list[str], known: list[str]) -> None:
    assert match_kernels(regions, known, {}) == ({name: name for name in known}, [])


def test_a_unit_that_is_none_is_refused_behind_a_quantity_alone() -> None:
    """What no count is computed from may be in any unit; seconds may not."""
    read = read_kernels([Source("kernel,time,width [furlong]\na,2,3\n", "t.csv")])
    assert [(one.name, one.time) for one in read.kernels] == [("a", 2)]
    with pytest.raises(AspenError, match="`furlong` behind `time` is no unit"):
        read_kernels([Source("kernel,time [furlong],width\na,2,3\n", "t.csv")])


def test_points_beside_the_models(run: Runner, models: Path) -> None:
    """240 kB at 20 GB/s are 12 us. 20 kflop in 20 us are 1 Gflop/s of the 20 GB/s / 12 B that memory leaves: 60 %;
    twice the time and as many bytes more; a region of another name by --map."""
    Path("m.csv").write_text(
        "kernel,time [us],flops,bytes\naxpy,20,20000,240000\nloop,40,20000,480000\n", encoding="utf-8"
    )
    ran = run(*ON, "--measured", "m.csv", "--map", "loop=axpy", "--format", "json")
    loop, axpy = json.loads(ran.out)["measured"]
    assert (loop["region"], loop["kernel"], axpy["kernel"]) == ("loop", "axpy", "axpy")
    assert (axpy["measured"], axpy["predicted"]) == (pytest.approx(20e-6), pytest.approx(12e-6))
    assert axpy["roof"] == pytest.approx(20e9 / 12)
    assert axpy["share_of_roof"] == pytest.approx(0.6)
    assert loop["share_of_roof"] == pytest.approx((20e3 / 40e-6) / (20e9 / 24))
    assert (axpy["bound_by"], axpy["from_the_model"]) == ("Memory", None)
    assert axpy["advice"].startswith("below the memory's roof")
    assert loop["advice"].startswith("moves 2 times the model's bytes")


def test_a_kernel_comes_before_an_application_of_its_name(run: Runner, models: Path) -> None:
    """24 kB at 10 GB/s, those of one memory; with `copy` the application takes 40 kB."""
    Path("triad.aspen").write_text(
        "model triad { kernel triad { execute { flops [2000] loads [24000] of size [1 B] } }"
        " kernel copy { execute { flops [1] loads [16000] of size [1 B] } } kernel main { call triad call copy } }",
        encoding="utf-8",
    )
    Path("m.csv").write_text("kernel,time [us]\ntriad,30\n", encoding="utf-8")
    words = ("roofline", "triad.aspen", "--machine", "cluster.aspen", "--measured", "m.csv", "--format", "json")
    (found,) = json.loads(run(*words).out)["measured"]
    assert found["predicted"] == pytest.approx(2.4e-6)
    assert found["bytes"] == pytest.approx(24000)


def test_counts_that_were_not_measured_are_the_models(run: Runner, models: Path) -> None:
    Path("m.csv").write_text("kernel,time [us]\naxpy,30\n", encoding="utf-8")
    (found,) = json.loads(run(*ON, "--measured", "m.csv", "--format", "json").out)["measured"]
    assert (found["flops"], found["bytes"], found["from_the_model"]) == (20000, 240000, "flops, bytes")
    assert found["share_of_roof"] == pytest.approx(12 / 30)


def test_page_and_picture_show_them(run: Runner, models: Path) -> None:
    pytest.importorskip("matplotlib", reason="the extra `plot` is not installed")
    Path("m.csv").write_text("kernel,time [us],flops,bytes\naxpy,20,20000,240000\n", encoding="utf-8")
    asked = ("--measured", "m.csv", "--report", "r.html", "--picture", "r.svg")
    assert run(*ON, *asked).status == 0
    page = Path("r.html").read_text(encoding="utf-8")
    assert "<svg" in page
    assert "share of roof" in page
    assert "axpy, measured" in page
    assert "axpy, measured" in Path("r.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--map", "a=axpy"), "--map names the kernels of --measured FILE"),
        (("--measured", "m.csv", "--map", "a=axpy"), "`a` was not measured"),
        (("--measured", "m.csv", "--map", "axpy=axpi"), "there is no kernel `axpi`"),
        (("--measured", "m.csv", "--map", "axpy"), "--map: expected REGION=KERNEL"),
        (("--measured", "none.csv"), "file not found"),
        (("--measured", "m.csv", "--report", "r.txt"), "has to end with .html, .md"),
    ],
)
def test_what_is_refused(run: Runner, models: Path, words: tuple[str, ...], message: str) -> None:
    Path("m.csv").write_text("kernel,time [us]\naxpy,20\n", encoding="utf-8")
    ran = run(*ON, *words)
    assert (ran.status, message in ran.err) == (2, True), ran.err
