"""The library's accelerators against what their vendors publish, and against measured products of matrices."""

from __future__ import annotations

import pytest

import aspenpy
from tests.tiny import application

MATMUL = aspenpy.load_application("matmul")

SHEETS: dict[str, dict[str, float]] = {
    "v100": {"fp16": 125},
    "a100_40gb": {"dp": 19.5, "tf32": 156, "bf16": 312, "fp16": 312, "int8": 624},
    "a100_80gb": {"dp": 19.5, "tf32": 156, "bf16": 312, "fp16": 312, "int8": 624},
    "h100": {"dp": 67, "tf32": 494.5, "bf16": 989, "fp16": 989, "fp8": 1979, "int8": 1979},
    "h200": {"dp": 67, "tf32": 494.5, "bf16": 989, "fp16": 989, "fp8": 1979, "int8": 1979},
    "mi210": {"dp": 45.3, "sp": 45.3, "bf16": 181, "fp16": 181, "int8": 181},
    "mi250x": {"dp": 95.7, "sp": 95.7, "bf16": 383, "fp16": 383, "int8": 383},
    "mi300a": {"dp": 122.6, "sp": 122.6, "tf32": 490.3, "bf16": 980.6, "fp16": 980.6, "fp8": 1961.2, "int8": 1961.2},
    "mi300x": {"dp": 163.4, "sp": 163.4, "tf32": 653.7, "bf16": 1307, "fp16": 1307, "fp8": 2614.9, "int8": 2614.9},
}
"""Tflop/s of tensor (matrix) units, dense: NVIDIA's and AMD's data sheets."""


@pytest.mark.parametrize("name", SHEETS)
def test_peaks_of_tensor_units_are_those_of_the_data_sheets(name: str) -> None:
    found = {peak.traits[1]: float(peak.of_all or 0) for peak in _peaks(name) if peak.is_tensor}
    assert found.keys() == SHEETS[name].keys()
    for precision, tflops in SHEETS[name].items():
        assert found[precision] / 1e12 == pytest.approx(tflops, rel=0.004), precision


def test_tensor_peaks_of_half_precision_have_a_clock_of_their_own() -> None:
    """132 multiprocessors of 4096 flops at 1.83 GHz; below that clock they slow down with the rest."""
    h100 = aspenpy.load_machine("h100")
    for clock, attained in (("1.98 GHz", 1.83e9), ("1.83 GHz", 1.83e9), ("1.2 GHz", 1.2e9)):
        fp16 = next(p for p in aspenpy.peaks(h100, set={"h100_clock": clock}) if p.traits == ("tensor", "fp16"))
        assert float(fp16.of_all or 0) == pytest.approx(132 * 4096 * attained, rel=1e-9)


def test_half_precision_product_of_8192_rows_on_an_h100() -> None:
    """2 * 8192^3 flops; cuBLAS is measured at 550 to 760 Tflop/s for such sizes."""
    seconds = _product("h100", "fp16")
    assert 2 * 8192**3 / 760e12 < seconds < 2 * 8192**3 / 550e12
    assert 1.45e-3 < seconds < 2e-3


def test_double_precision_with_tensor_cores_beats_the_vector_peak() -> None:
    for name, vector in (("a100_40gb", 9.7e12), ("h100", 34e12)):
        assert 2 * 8192**3 / _product(name, "fp64") > 1.3 * vector
    # 15.0 Tflop/s on an A100 with gpu-burn (CSCS); 4096 tiles leave 8 of 108 multiprocessors idle in the last turn.
    assert 2 * 8192**3 / _product("a100_40gb", "fp64") == pytest.approx(15.0e12, rel=0.05)


def test_perlmutters_peak_covers_its_linpack() -> None:
    """TOP500: 70.87 Pflop/s on 1,536 nodes (2021), 79.23 on 1,792 (2023); the vector units alone have 69.5."""
    found = aspenpy.peaks(aspenpy.load_machine("perlmutter_gpu"), "nvidia_a100_40gb")
    flops = {peak.traits: float(peak.of_all or 0) for peak in found if peak.resource == "flops"}
    assert flops["dp", "simd", "fmad"] == pytest.approx(69.5e15, rel=0.01)
    assert flops["tensor", "dp"] > 79.23e15
    assert flops["tensor", "dp"] * 1536 / 1792 > 70.87e15


@pytest.mark.parametrize(
    ("name", "attained"),
    [
        *(("v100", 788), ("a100_40gb", 1360), ("a100_80gb", 1794), ("h100", 2970), ("h200", 4150), ("mi210", 1225)),
        *(("p100", 550), ("tesla_k20c", 150.6), ("tesla_k20x", 179.8)),  # BabelStream, with error correction
    ],
)
def test_a_triad_attains_what_was_measured(name: str, attained: float) -> None:
    """GB/s of BabelStream or gpu-stream; a launch of a few us counts for little in a triad of 2.4 GB."""
    stream, n = aspenpy.load_application("stream"), 1e8
    found = aspenpy.predict(stream, aspenpy.load_machine(name), kernel="triad", set={"n": n})
    assert 24 * n / found.runtime / 1e9 == pytest.approx(attained, rel=0.01)


def test_forty_small_kernels_take_forty_launches() -> None:
    """2.7 us each, back to back (CSCS, A100)."""
    found = aspenpy.predict(aspenpy.load_application("stream"), aspenpy.load_machine("a100_40gb"), set={"n": 108})
    assert found.resources["launch"].amount == 40
    assert found.runtime > 40 * 2.7e-6
    assert found.runtime < 41 * 2.7e-6


PRODUCTS = {
    # Tflop/s of large products, by precision of `main` and format of `tensor`
    "p100": {"double": 4.115 * 5.3 / 4.7, "single": 9.50, "tf32": 9.51},  # gpu-burn on PCI Express; PyTorch
    "v100": {"double": 5.861, "single": 14.38, "fp16": 97.36, "tf32": 14.36, "fp64": 5.861},  # gpu-burn; PyTorch
    "a100_40gb": {"double": 15.0, "single": 18.11, "tf32": 108, "fp64": 15.0},
    "a100_80gb": {"single": 19.18, "tf32": 131},
    "h100": {"double": 51.72, "single": 51.81, "tf32": 372.05, "fp16": 736.19},  # double: of a GH200
    "h200": {"single": 51.34, "fp16": 759.40},
    "mi210": {"double": 27.1, "single": 37.9, "tf32": 37.9, "fp16": 120.3},  # rocBLAS, AMD
    "mi250x": {"double": 23.87, "single": 30.69},  # a die; CoralGemm, CSCS
    "mi300a": {"double": 53.91, "single": 74.34},
    "mi300x": {"double": 70, "single": 100, "fp16": 639},  # thresholds of ROCmValidationSuite
    "tesla_k20x": {"double": 1.312 * 1263 / 1660, "single": 3.935 * 3275 / 5040},  # parts of the peak of a K40
}


@pytest.mark.parametrize(("name", "case"), [(name, case) for name, cases in PRODUCTS.items() for case in cases])
def test_a_product_attains_what_was_measured(name: str, case: str) -> None:
    """Within 6 %: tiles of 128 rows leave some multiprocessors idle in the last turn."""
    machine, n = aspenpy.load_machine(name), 8192
    kernel, choice = ("main", "precision") if case in ("double", "single") else ("tensor", "format")
    value = {"single": 0, "double": 1, "fp16": 0, "tf32": 1, "fp64": 2}[case]
    found = aspenpy.predict(MATMUL, machine, kernel=kernel, set={"n": n, choice: value})
    assert 2 * n**3 / found.runtime / 1e12 == pytest.approx(PRODUCTS[name][case], rel=0.06)


def test_two_rome_sockets_attain_what_archer2_does() -> None:
    """A triad of 219.4 GB/s whose stores fetch lines: 4/3 of it moves. DGEMM of two: 3.2 Tflop/s (CSCS)."""
    machine, n = aspenpy.load_machine("epyc_7742"), 1e9
    two = {"epyc_7742_sockets": 2}
    triad = aspenpy.predict(aspenpy.load_application("stream"), machine, kernel="triad", set={"n": n, **two})
    assert 24 * n / triad.runtime / 1e9 == pytest.approx(219.4 * 4 / 3, rel=0.01)
    values = {"n": 8800, "ranks": 121, **two}  # of 128 cores
    product = aspenpy.predict(MATMUL, machine, kernel="multiply_blocks", set=values)
    assert product.resources["flops"].amount / product.runtime == pytest.approx(3.2e12 * 121 / 128, rel=0.03)


@pytest.mark.parametrize(
    ("name", "clock", "cores", "fma"),
    [("v100", 1.53, 80, 32), ("h100", 1.98, 132, 64), ("tesla_k20x", 0.732, 14, 64)],
)
def test_divisions_of_a_gpu(name: str, clock: float, cores: int, fma: int) -> None:
    """As long as 7.5 fused multiply-adds, and roots as 9.6: a warp takes 7.51 and 9.61 cycles on a V100, which begins a
    warp of multiply-adds in one (gpu-benches, cuda-incore)."""
    for operation, length in (("divide", 7.5), ("square_root", 9.6)):
        app = application(f"execute [{cores}] {{ flops [1e9] as {operation}, fp64, simd }}")
        runtime = aspenpy.predict(app, aspenpy.load_machine(name)).runtime
        assert runtime == pytest.approx(1e9 * length / (fma * clock * 1e9), rel=1e-4)  # a launch of 2.7 us at most


def _product(name: str, precision: str) -> float:
    formats = {"fp16": 0, "tf32": 1, "fp64": 2}
    values = {"n": 8192, "format": formats[precision]}
    return float(aspenpy.predict(MATMUL, aspenpy.load_machine(name), kernel="tensor", set=values).runtime)


def _peaks(name: str) -> list[aspenpy.Peak]:
    return [peak for peak in aspenpy.peaks(aspenpy.load_machine(name)) if peak.resource == "flops"]
