"""StatedError: how far a model is off, as it was compared with something outside of aspenpy.

The rows are those of docs/trust.md that state an error, which names for each where it was measured and what was left
out. What no row covers has no stated error.
"""

from __future__ import annotations

from typing import Literal

from aspenpy.record import Record

Covered = Literal["kernels", "power", "package", "board", "bandwidth"]
"""What a prediction asks a row for: runtimes of kernels on a processor; the power of a processor, of the package and of
the board that were fitted to; what cores draw from a memory."""

Seen = Literal["yes", "left out", "drawn", "afterwards"]
"""Whether anybody saw the cases of a row while the model was made: they were seen; they were left out of each fit, but
seen by those who chose the form of the model; they are drawn at random."""

NORMAL_MEDIAN, NORMAL_MEAN = 0.6745, 0.7979
"""The median and the mean of the absolute value of a normal variable, in parts of its standard deviation."""


class StatedError(Record):
    """Relative errors of a model in `count` comparisons (None where it is not told): the `median` and the `mean`, None
    where it is not stated; the parts `within` which errors they are; the `worst`, of a factor f as f - 1. `row` is
    what docs/trust.md calls it and `page` where it says more. `fitted` says what the model knew of the measurements.
    `covers` are the predictions that may claim it, `seen` whether anybody saw the cases while the model was made."""

    row: str
    quantity: str
    compared_with: str
    median: float | None = None
    mean: float | None = None
    within: tuple[tuple[float, float], ...] = ()
    worst: float | None = None
    count: int | None = None
    fitted: str = "nothing"
    page: str = "trust.md"
    covers: tuple[Covered, ...] = ()
    seen: Seen = "yes"

    @property
    def deviation(self) -> float:
        """The standard deviation of a normal variable with this median or mean of its size. Of the 16 kernels, which
        state both, the median gives 18 % and the part within 30 % gives 19 %."""
        return (self.mean or 0.0) / NORMAL_MEAN if self.median is None else self.median / NORMAL_MEDIAN


_MACHINE, _LEFT_OUT = "the machine, nothing per kernel", "all but what is predicted"

STATED_ERRORS: tuple[StatedError, ...] = (
    StatedError(
        "16 C kernels", "runtime", "a Zen 4, 1 and 2 cores", 0.12, None, ((0.88, 0.30),), 1.2, 138,
        _MACHINE, "nodes.md#against-sixteen-kernels-on-the-machine-at-hand", ("kernels",)),
    StatedError(
        "11 C kernels", "runtime", "a Zen 4, 1 core", 0.21, None, ((24 / 43, 0.30),), 4.9, 43,
        _MACHINE, "nodes.md#against-kernels-that-latency-wrong-guesses-and-whole-numbers-decide"),
    StatedError(
        "4 C kernels behind them", "runtime", "a Zen 4, 1 core", 0.10, None, ((8 / 15, 0.30),), 3.6, 15,
        _MACHINE, "nodes.md#against-kernels-that-latency-wrong-guesses-and-whole-numbers-decide", seen="afterwards"),
    StatedError(
        "16 C kernels by class", "runtime", "a Zen 4, 1 core", 0.15, None, ((35 / 49, 0.30),), 2.3, 49,
        _MACHINE, "nodes.md#against-kernels-by-class-that-nobody-tuned-on", seen="afterwards"),
    StatedError(
        "12 C kernels of the same classes", "runtime", "a Zen 4, 1 core", 0.12, None, ((23 / 36, 0.30),), 1.3, 36,
        _MACHINE, "nodes.md#against-kernels-by-class-that-nobody-tuned-on", seen="afterwards"),
    StatedError(
        "12 C kernels with their listings", "runtime", "a Zen 4, 1 core", 0.15, None, ((30 / 36, 0.30),), 0.57, 36,
        _MACHINE, "nodes.md#against-kernels-by-class-that-nobody-tuned-on", seen="afterwards"),
    StatedError(
        "12 C kernels held back before them", "runtime", "a Zen 4, 1 core", 0.16, None, ((22 / 36, 0.30),), 11.5, 36,
        _MACHINE, "nodes.md#against-kernels-by-class-that-nobody-tuned-on", seen="afterwards"),
    StatedError(
        "12 C kernels looked at between", "runtime", "a Zen 4, 1 core", 0.12, None, ((34 / 36, 0.30),), 0.37, 36,
        _MACHINE, "nodes.md#against-kernels-by-class-that-nobody-tuned-on"),
    StatedError(
        "17 C kernels of the same classes", "runtime", "a Zen 4, 1 core", 0.18, None, ((37 / 51, 0.30),), 6.7, 51,
        _MACHINE, "nodes.md#against-kernels-by-class-that-nobody-tuned-on"),
    StatedError(
        "18 C programs of lists", "runtime", "a shared host of 2 cores", 0.32, None, ((26 / 53, 0.30),), 1.4, 53,
        _MACHINE, "limits.md"),
    StatedError(
        "PolyBench from its C source", "runtime", "a shared host of 2 cores", 0.13, None, ((52 / 55, 0.40),), 2.1, 55,
        _MACHINE, "probe.md#how-close-predictions-are"),
    StatedError(
        "11 kernels of LULESH", "runtime", "Ice Lake, LIKWID", 0.043, None, (), 0.34, 891,
        "cycles and bytes of each kernel, on odd numbers of threads", "nodes.md#against-lulesh-on-an-ice-lake-socket",
        seen="left out"),
    StatedError(
        "speedup of SPEChpc", "speedup", "2 Ice Lake sockets", 0.07, None, (), 5.3, None,
        "the time on one rank, bytes", "nodes.md#against-spechpc-on-two-ice-lake-sockets"),
    StatedError(
        "bandwidth", "bandwidth", "17 processors, likwid-bench", 0.038, None, (), 0.25, 1444,
        "one core, and all", "nodes.md#bandwidth-against-cores", ("bandwidth",)),
    StatedError(
        "memory of seven processors", "bandwidth", "Memory Latency Checker, STREAM", 0.05, None, (), 0.16, 11,
        "nothing", "nodes.md#against-published-latencies-and-bandwidths-of-memory", seen="afterwards"),
    StatedError(
        "HPCG on 1 to 64", "runtime", "a Threadripper 3990X", 0.16, None, (), 0.29, 11,
        page="placement.md", seen="afterwards"),
    StatedError(
        "LULESH on 1, 8 and 27 ranks", "runtime", "an EPYC 7713", 0.26, None, (), 0.39, 3,
        page="placement.md", seen="afterwards"),
    StatedError(
        "chains of loads", "latency", "7-cpu.com, AnandTech, TechReport", 0.02, None, (), 0.11, 19,
        "latencies of the levels of two, from the same pages",
        "nodes.md#against-published-latencies-and-bandwidths-of-memory"),
    StatedError(
        "execution-cache-memory", "cycles", "predictions published for Sandy Bridge and Haswell", 0.009, None, (),
        0.038, None, page="nodes.md#the-execution-cache-memory-model"),
    StatedError("7 kernels, 42 runs, 79 counts", "misses", "Valgrind's cachegrind", 0.0002, None, (), 0.13, 79,
        page="caches.md#how-exact-it-is"),
    StatedError("30 kernels of PolyBench, 270 counts", "misses", "an exact simulator", 0.006, None, ((0.90, 0.10),),
        1.0, 270, page="caches.md#how-exact-it-is"),
    StatedError("random loop nests, 8 and 16 ways, 540 counts", "misses", "an exact simulator", 0.0, None,
        ((0.96, 0.05),), 0.20, 540, page="caches.md#how-exact-it-is", seen="drawn"),
    StatedError("the same, 2 and 4 ways, 360 counts", "misses", "an exact simulator", 0.001, None, ((0.89, 0.05),),
        0.47, 360, page="caches.md#how-exact-it-is", seen="drawn"),
    StatedError("the same, 1 way, 180 counts", "misses", "an exact simulator", 0.006, None, ((0.79, 0.05),), 4.40, 180,
        page="caches.md#how-exact-it-is", seen="drawn"),
    StatedError(
        "references at constant offsets along rows, planes, columns and fields, beside up to three arrays, "
        "8 to 16 ways, 300 counts", "misses", "an exact simulator", 0.0005, None, ((0.98, 0.05),), 0.79, 300,
        page="caches.md#how-exact-it-is", seen="drawn"),
    StatedError(
        "stencils on planes near powers of two beside one to four arrays, 8 to 16 ways, 150 counts",
        "misses", "an exact simulator", 0.0, None, ((0.95, 0.05),), 0.18, 150, page="caches.md#how-exact-it-is",
        seen="drawn"),
    StatedError("one to three tables at random", "misses", "an exact simulator", 0.006, None, ((1.0, 0.10),), 0.09, 120,
        page="caches.md#the-model", seen="drawn"),
    StatedError(
        "loops whose passes draw one to four words", "misses", "an exact simulator", 0.002, None,
        ((0.98, 0.05),), 0.31, 400, page="caches.md#the-model", seen="drawn"),
    StatedError(
        "loops of which each pass touches more or less of a table", "misses", "an exact simulator", 0.0, None,
        ((0.99, 0.15),), 0.40, 250, page="caches.md#how-exact-it-is", seen="drawn"),
    StatedError("misses of programs extracted from C, 58 counts", "misses", "Valgrind's simulator", 0.006, None,
        ((51 / 58, 0.10),), 0.38, 58, page="extract.md#how-exact-it-is"),
    StatedError(
        "Ice Lake package", "power", "LIKWID: 2,579 runs of LULESH and SPEChpc", 0.054, 0.067, (), 0.407, 2579,
        _LEFT_OUT, "energy.md#what-it-was-fitted-to-and-how-far-it-is-off", ("package",), seen="left out"),
    StatedError(
        "the same, SPEChpc alone", "power", "LIKWID: 563 runs", 0.046, 0.047, (), 0.135, 563,
        _LEFT_OUT, "energy.md#what-it-was-fitted-to-and-how-far-it-is-off", seen="left out"),
    StatedError(
        "A100 board", "power", "eight devices, 43 intensities", 0.021, 0.025, (), 0.077, 43,
        _LEFT_OUT, "energy.md#what-it-was-fitted-to-and-how-far-it-is-off", ("board",), seen="left out"),
    StatedError(
        "SPECpower nodes at full load", "power", "12 kinds of nodes", 0.08, 0.09, (), 0.184, 12,
        "shares of the thermal design power", "energy.md#what-it-was-fitted-to-and-how-far-it-is-off", ("power",)),
    StatedError("power under Linpack", "power", "Green500, TOP500", 0.1, None, (), 0.23, 10,
        page="energy.md#whole-systems", seen="left out"),
    StatedError("power of 17 systems put together", "power", "Green500, TOP500", 0.09, None, (), 0.25, 21,
        page="energy.md#whole-systems", seen="left out"),
    StatedError("Linpack", "runtime", "TOP500", 0.07, None, (), 0.19, 15, page="systems.md#linpack"),
    StatedError("HPCG, 20 systems", "runtime", "HPCG list", 0.17, None, (), 0.49, 20, page="systems.md#hpcg"),
    StatedError("training of a 530-billion network", "runtime", "published step times, 2,240 to 3,360 A100", 0.19, None,
        (), 0.22, None, page="systems.md#scaling"),
    StatedError("all-reduce of NCCL", "messages", "nccl-tests as published", 0.08, None, (), 0.94, 17,
        page="networks.md#in-pieces-over-all-rails", seen="left out"),
    StatedError("the same, 64 KiB to 16 MiB, 7 rows", "messages", "nccl-tests as published", 0.09, None, (), 1.13, 7,
        page="networks.md#in-pieces-over-all-rails", seen="left out"),
    StatedError("the same, up to 64 KiB, 26 rows", "messages", "nccl-tests as published", 0.18, None, (), 0.52, 26,
        page="networks.md#in-pieces-over-all-rails", seen="left out"),
    StatedError("allreduce of MPI", "messages", "Lassen, osu_allreduce", 0.37, None, (), 1.89, 28,
        page="networks.md#what-a-message-takes-there", seen="left out"),
    StatedError("collectives of Open MPI", "messages", "three clusters in clouds", 0.19, None, (), 3.23, 55,
        page="networks.md#as-an-mpi-library-chooses", seen="left out"),
    StatedError("COS", "runtime", "LULESH on 1 to 18 threads", None, 0.042, (), 0.093, None,
        "4 and 6 threads", "empirical.md#how-well-they-do", seen="left out"),
    StatedError("COS, form=clocks", "runtime", "twelve configurations of a GPU's clocks", None, 0.010, (), 0.111, 12,
        "eight others", "empirical.md#how-well-they-do", seen="left out"),
    StatedError("Power-Aware Speedup", "runtime", "LULESH on 2 to 18 threads, nine clocks", None, 0.102, (), 0.230,
        None, "one thread, and 1 GHz", "empirical.md#how-well-they-do", seen="left out"),
    StatedError("ACEE, flops and bandwidth", "energy", "the eighth SPEChpc code", None, 0.142, (), 0.369, None,
        "seven codes", "empirical.md#how-well-they-do", seen="left out"),
    StatedError("ACEE, counters chosen", "energy", "the eleventh kernel of LULESH", None, 0.062, (), 0.458, None,
        "ten kernels", "empirical.md#how-well-they-do", seen="left out"),
    StatedError("less memory bandwidth", "runtime", "the thirtieth kernel of a GPU, 19 clocks", None, 0.032, (), 0.204,
        None, "29 kernels", "empirical.md#how-well-they-do", seen="left out"),
)  # fmt: skip
"""One table of them all. Which of them a prediction may claim is said by `covers`."""


def find_stated_error(covered: Covered) -> StatedError:
    """The row that covers a prediction of this kind."""
    return next(item for item in STATED_ERRORS if covered in item.covers)
