"""Peaks that vendors, sites and the TOP500 list publish for the library's machines."""

from typing import NamedTuple

TFLOP = 1e3
"""Gflop in one Tflop."""


class Published(NamedTuple):
    """A published peak in Gflop/s, in double and in single precision, and what the machine is asked with.

    `ratio` is computed over published: 1 where they agree, else the ratio worked out by hand from the reason given.
    """

    machine: str
    source: str
    double: float
    single: float | None = None
    socket: str | None = None
    settings: tuple[tuple[str, str], ...] = ()
    ratio: float = 1.0
    remark: str = ""


EXPORT = "Intel, export compliance 2018"
TECHPOWERUP = "TechPowerUp"
NERSC = "NERSC"

DEVICES = (
    Published("xeon_x5660", EXPORT, 67.2),
    Published("xeon_x5670", "TOP500 2011-11, of Keeneland", 70.32),
    Published("xeon_e5_2620", EXPORT, 96.0),
    Published("xeon_e5_2670", EXPORT, 166.4),
    Published("xeon_e5_2698_v3", "NERSC, 36.8 a core", 16 * 36.8),
    Published("xeon_platinum_8180", EXPORT, 1523.2, ratio=2.5 / 1.7, remark="at 1.7 GHz, AVX-512 base"),
    Published("xeon_platinum_8180", EXPORT, 1523.2, settings=(("platinum_8180_clock", "1.7 GHz"),), remark="fitted"),
    Published("xeon_platinum_8280", "Stanzione et al. 2020", 4834 / 2),
    Published("a64fx", "RIKEN", 3072.0),
    Published("bluegene_q", "EuroBen, web13", 204.8),
    Published("tesla_m2070", "TOP500 2011-11, of Keeneland", 515.0),
    Published("tesla_m2090", TECHPOWERUP, 665.6, 1331.0),
    Published("tesla_k20c", TECHPOWERUP, 1170.0, 3520.0),
    Published("tesla_k20x", TECHPOWERUP, 1310.0, 3940.0),
    Published("quadro_k600", TECHPOWERUP, 10.0, 340.0, ratio=1.4, remark="rounded to 0.01 Tflop/s"),
    Published("p100", TECHPOWERUP, 5.3 * TFLOP, 10.6 * TFLOP),
    Published("v100", "OLCF; TechPowerUp", 7.8 * TFLOP, 15.67 * TFLOP),
    Published("a100_40gb", "TechPowerUp; ALCF", 9.7 * TFLOP, 19.5 * TFLOP),
    Published("a100_80gb", "TechPowerUp; ALCF", 9.7 * TFLOP, 19.5 * TFLOP),
    Published("h100", TECHPOWERUP, 33.45 * TFLOP, 66.9 * TFLOP),
    Published("h200", "data sheet", 34 * TFLOP, 67 * TFLOP, ratio=33.454 / 34, remark="rounded up"),
    Published("mi210", TECHPOWERUP, 22.6 * TFLOP, 22.6 * TFLOP),
    Published("mi250x", "OLCF; TechPowerUp", 47.8 * TFLOP, 47.9 * TFLOP),
    Published("mi300a", "data sheet", 61.3 * TFLOP, 122.6 * TFLOP),
    Published("mi300x", "ROCm documentation", 81.7 * TFLOP, 163.4 * TFLOP),
    Published("mi325x", "stas00/ml-engineering", 81.7 * TFLOP, 163.4 * TFLOP),
    Published("h100_pcie", "data sheet", 26 * TFLOP, 51 * TFLOP),
    Published("l40s", "data sheet", 1.431 * TFLOP, 91.6 * TFLOP),
    Published("rtx_4090", "Tom's Hardware", 1.29 * TFLOP, 82.6 * TFLOP),
    Published("rtx_5090", "fpsbench.com", 1.637 * TFLOP, 104.8 * TFLOP),
)
"""One of each kind of processor and accelerator of which a peak is published."""

SYSTEMS = (
    Published(
        "keeneland", "TOP500 2011-11", 193848.6, ratio=255.9 / 193.85, remark="120 nodes with M2090, not 115 with M2070"
    ),
    Published("keeneland_kids", "TOP500 2011-11", 193848.6),
    Published("keeneland_kfs", "TOP500 2012-11", 614539.2),
    Published("gordon", "SDSC", 341 * TFLOP),
    Published("gordon", "TOP500 2012-06", 336.128 * TFLOP, ratio=1024 / 1010, remark="run on 1,010 nodes"),
    Published("cori_haswell", NERSC, 2290 * TFLOP, ratio=2388 / 1945, remark="that of 1,945 nodes"),
    Published("cori_haswell", NERSC, 2290 * TFLOP, settings=(("cori_haswell_nodes", "1945"),), remark="fitted"),
    Published("trinity", "TOP500 2015-11", 11078.861 * TFLOP),
    Published("cori_knl", "TOP500 2016-11", 27880.65 * TFLOP),
    Published("sequoia", "TOP500 2012-06", 20132.66 * TFLOP),
    Published("summit", "TOP500 2018-11", 200794.9 * TFLOP, ratio=1.103, remark="filed with a slower V100"),
    Published("summit", "TOP500 2018-11", 200794.9 * TFLOP, settings=(("v100_clock", "1.38 GHz"),), remark="fitted"),
    Published("sierra", "TOP500 2018-11", 125712 * TFLOP, ratio=1.114, remark="filed with a slower V100"),
    Published(
        "sierra",
        "TOP500 2018-11",
        125712 * TFLOP,
        settings=(("power9_clock", "3.1 GHz"), ("v100_clock", "1.3672 GHz")),
        remark="fitted: 7.0 Tflop/s",
    ),
    Published("abci", "TOP500 2018-11", 32576.6 * TFLOP, ratio=1.149, remark="filed with a slower V100"),
    Published("abci", "TOP500 2018-11", 32576.6 * TFLOP, settings=(("v100_clock", "1.312 GHz"),), remark="fitted"),
    Published("frontier", "TOP500 2023-06", 1679820 * TFLOP, ratio=1.062, remark="filed with a slower MI250X"),
    Published("frontier", "TOP500 2023-06", 1679820 * TFLOP, settings=(("mi250x_clock", "1.6 GHz"),), remark="fitted"),
    Published("fugaku", "RIKEN", 488000 * TFLOP, remark="normal mode"),
    Published("fugaku", "TOP500 2023-06", 537212 * TFLOP, settings=(("a64fx_clock", "2.2 GHz"),), remark="boost mode"),
    Published("perlmutter_gpu", NERSC, 69500 * TFLOP, socket="nvidia_a100_40gb"),
    Published("perlmutter_gpu", NERSC, 4500 * TFLOP, socket="amd_epyc_7763"),
    Published(
        "perlmutter_gpu",
        "TOP500 2023-06",
        93750 * TFLOP,
        settings=(("perlmutter_gpu_nodes", "1536"),),
        ratio=0.680,
        remark="14.6 Tflop/s an A100",
    ),
    Published("perlmutter_cpu", NERSC, 15400 * TFLOP),
    Published("frontera", "TOP500 2020-11", 38745.9 * TFLOP),
    Published(
        "frontera",
        "TOP500 2020-11",
        38745.9 * TFLOP,
        settings=(("platinum_8280_clock", "1.8 GHz"),),
        ratio=1.8 / 2.7,
        remark="AVX-512 clock",
    ),
    Published("a64fx_prototype", "TOP500 2019-11", 2359.296 * TFLOP),
)
"""Whole systems; all their kinds of sockets together where none is named. Rows that are fitted were
asked with a clock or a number of nodes chosen so that the ratio is 1: they prove nothing."""
