"""Counters: what the counters of LIKWID, perf and NVIDIA's profilers are known to measure.

Groups and events of LIKWID are those of its files `groups/<architecture>/<GROUP>.txt`; names of perf in the sources of
Linux; metrics of nvprof in the CUDA Profiler User's Guide and in what `nvprof --query-metrics` prints; units of ncu in
the Nsight Compute documentation. A row without an address was not found there.
"""

from __future__ import annotations

import re
from functools import cache

from aspenpy.advice.configuration import COMPONENTS
from aspenpy.record import Record


class KnownCounter(Record):
    """A counter, or a group of counters, that is known to measure some hardware components: the `tool` that reads it
    (likwid, perf, ncu, nvprof, aspenpy for its own names of columns), its `name` there (a group, an event or a metric;
    `*` stands for any part of one, `?` for a letter), the names of the components, the closest first, the
    `source` that says so, and the `address` of the file or manual that has it (empty where none was found)."""

    tool: str
    name: str
    components: tuple[str, ...]
    source: str
    address: str = ""


CORE, DRAM = ("clock", "cores"), ("memory_bandwidth", "memory_clock")
L3_AND_DRAM = ("l3_capacity", "memory_bandwidth")
INTEL = "Intel's events, as perf has them"

LIKWID = "https://github.com/RRZE-HPC/likwid/blob/master/groups"
LINUX = "https://github.com/torvalds/linux/blob/v6.4"
NVPROF = "https://docs.nvidia.com/cuda/archive/9.0/pdf/CUDA_Profiler_Users_Guide.pdf"
NCU = "https://docs.nvidia.com/nsight-compute/ProfilingGuide"

FOUND_IN = {
    "haswellEP": "CACHES CBOX CLOCK DATA DIVIDE FALSE_SHARE FLOPS_AVX HA L3 MEM NUMA QPI UOPS",
    "haswell": "ICACHE RECOVERY",
    "broadwellEP": "L2 L2CACHE TLB_DATA TLB_INSTR",
    "ivybridgeEP": "UNCORECLOCK",
    "ICX": "CYCLE_ACTIVITY CYCLE_STALLS FLOPS_DP L3CACHE MEM_DP MEM_SP UPI",
    "skylakeX": "FLOPS_SP",
}
"""Groups of LIKWID by an architecture that has a file of them."""

_LIKWID: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("INSTR_RETIRED_ANY", CORE, "CLOCK.txt: fixed counter 0, instructions of a core"),
    ("CPU_CLK_UNHALTED*", CORE, "CLOCK.txt: fixed counters 1 and 2, cycles of a core"),
    ("Clock*", ("clock",), "CLOCK.txt: average clock of the cores"),
    ("CPI", CORE, "CLOCK.txt, and every other group: cycles over instructions"),
    ("CLOCK", ("clock",), "CLOCK.txt: power and energy consumption, clock"),
    ("UNCORECLOCK", ("uncore_clock",), "UNCORECLOCK.txt: ticks and clocks of the boxes of the uncore"),
    ("UNCORE_CLOCK*", ("uncore_clock",), "CLOCK.txt: ticks of the uncore's fixed counter"),
    ("Uncore Clock*", ("uncore_clock",), "CLOCK.txt"),
    ("MBOX* Frequency", ("memory_clock",), "UNCORECLOCK.txt: of a memory controller"),
    ("?BOX* Frequency", ("uncore_clock",), "UNCORECLOCK.txt: of a box of the uncore"),
    ("?BOX_CLOCKTICKS", ("uncore_clock",), "UNCORECLOCK.txt"),
    ("DRAM_CLOCKTICKS", ("memory_clock",), "UNCORECLOCK.txt"),
    ("UOPS*", CORE, "UOPS.txt: micro-operations issued, executed, retired"),
    ("RECOVERY", CORE, "RECOVERY.txt: cycles of recovery after exceptions and memory disambiguation"),
    ("BRANCH*", CORE, "BRANCH.txt: prediction of branches"),
    ("BR_INST*", CORE, "BRANCH.txt"),
    ("BR_MISP*", CORE, "BRANCH.txt"),
    ("DIVIDE", CORE, "DIVIDE.txt: divide unit"),
    ("FLOPS*", ("simd_width", "clock"), "FLOPS_DP.txt: packed and scalar operations"),
    ("FP_ARITH_INST*", ("simd_width", "clock"), "FLOPS_DP.txt"),
    ("AVX*", ("simd_width", "clock"), "FLOPS_AVX.txt: packed operations"),
    ("DP *FLOP*", ("simd_width", "clock"), "FLOPS_DP.txt"),
    ("SP *FLOP*", ("simd_width", "clock"), "FLOPS_SP.txt"),
    ("Packed*", ("simd_width",), "FLOPS_DP.txt: packed micro-operations"),
    ("Scalar*", ("clock", "simd_width"), "FLOPS_DP.txt: scalar micro-operations"),
    ("CYCLE_ACTIVITY*", ("memory_latency", "clock"), "CYCLE_ACTIVITY.txt: stalls on loads by level"),
    ("Cycles without execution*", ("memory_latency", "clock"), "CYCLE_ACTIVITY.txt"),
    ("*xecution stall*", ("memory_latency", "clock"), "CYCLE_STALLS.txt"),
    ("Stalls caused by*", ("memory_latency", "clock"), "CYCLE_STALLS.txt"),
    ("CYCLE_STALLS", ("memory_latency", "clock"), "CYCLE_STALLS.txt: the same, of stalls"),
    ("DATA", ("l1_capacity",), "DATA.txt: loads to stores"),
    ("MEM_INST_RETIRED*", ("l1_capacity",), "DATA.txt"),
    ("MEM_UOPS_RETIRED*", ("l1_capacity",), "DATA.txt"),
    ("ICACHE*", ("l1_capacity",), "ICACHE.txt: misses of the instruction cache"),
    ("L1D*", ("l1_capacity", "l2_capacity"), "L2.txt: lines into L1 from L2 and back"),
    ("L2 to L1*", ("l2_capacity", "l1_capacity"), "CACHES.txt"),
    ("L1 to*", ("l1_capacity", "l2_capacity"), "CACHES.txt"),
    ("L2", ("l2_capacity",), "L2.txt: bandwidth between L1 and L2"),
    ("L2D *", ("l2_capacity",), "L2.txt"),
    ("L2 *", ("l2_capacity",), "L2.txt, L2CACHE.txt"),
    ("L2CACHE", ("l2_capacity",), "L2CACHE.txt: miss rate of L2"),
    ("L2_RQSTS*", ("l2_capacity",), "L2CACHE.txt"),
    ("L2_TRANS*", ("l2_capacity", "l3_capacity"), "L3.txt: lines from L2 to L3"),
    ("L2_LINES*", ("l3_capacity", "l2_capacity"), "L3.txt: lines into L2 from L3"),
    ("L3 to L2*", ("l3_capacity", "l2_capacity"), "CACHES.txt"),
    ("L2 to*L3*", ("l2_capacity", "l3_capacity"), "CACHES.txt"),
    ("L3 to*", L3_AND_DRAM, "CACHES.txt: L3 to and from the system"),
    ("L3_to_MEM*", L3_AND_DRAM, "Umar, dissertation 2018, section 4.3.2: belongs to both"),
    ("System to L3*", L3_AND_DRAM, "CACHES.txt"),
    ("L3", ("l3_capacity",), "L3.txt: bandwidth between L2 and L3"),
    ("L3 *", ("l3_capacity",), "L3.txt, L3CACHE.txt"),
    ("L3CACHE", ("l3_capacity",), "L3CACHE.txt: miss rate of L3"),
    ("LLC_VICTIMS*", L3_AND_DRAM, "CACHES.txt: lines that L3 writes to memory"),
    ("LLC_LOOKUP*", L3_AND_DRAM, "CACHES.txt: lookups for lines of the system"),
    ("CBOX*", ("l3_capacity", "uncore_clock"), "CBOX.txt: slices of L3"),
    ("CAS_COUNT*", DRAM, "MEM.txt: lines that memory controllers read and write"),
    ("MEM", DRAM, "MEM.txt: bandwidth of main memory"),
    ("MEM_DP", DRAM, "MEM_DP.txt: memory and double precision"),
    ("MEM_SP", DRAM, "MEM_SP.txt: memory and single precision"),
    ("Memory *", DRAM, "MEM.txt: bandwidths and volumes of main memory"),
    ("HA", DRAM, "HA.txt: home agent, before the memory controllers"),
    ("NUMA", ("sockets", "memory_bandwidth"), "NUMA.txt: lines from local and remote memory"),
    ("Local DRAM*", DRAM, "NUMA.txt"),
    ("Remote DRAM*", ("sockets", "memory_bandwidth"), "NUMA.txt"),
    ("QPI*", ("sockets",), "QPI.txt: links between sockets"),
    ("UPI*", ("sockets",), "UPI.txt: links between sockets"),
    ("FALSE_SHARE", ("cores", "l3_capacity"), "FALSE_SHARE.txt: modified lines of other cores"),
    ("TLB_DATA", ("memory_latency",), "TLB_DATA.txt: page walks of loads and stores"),
    ("TLB_INSTR", ("memory_latency",), "TLB_INSTR.txt: page walks of instructions"),
    ("DTLB*", ("memory_latency",), "TLB_DATA.txt"),
    ("ITLB*", ("memory_latency",), "TLB_INSTR.txt"),
)

_PERF: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("cycles", CORE, "PERF_COUNT_HW_CPU_CYCLES"),
    ("cpu-cycles", CORE, "PERF_COUNT_HW_CPU_CYCLES"),
    ("ref-cycles", CORE, "PERF_COUNT_HW_REF_CPU_CYCLES"),
    ("instructions", CORE, "PERF_COUNT_HW_INSTRUCTIONS"),
    ("branches", CORE, "PERF_COUNT_HW_BRANCH_INSTRUCTIONS"),
    ("branch-*", CORE, "PERF_COUNT_HW_BRANCH_MISSES and -INSTRUCTIONS"),
    ("stalled-cycles-frontend", CORE, "PERF_COUNT_HW_STALLED_CYCLES_FRONTEND"),
    ("stalled-cycles-backend", ("memory_latency", "clock"), "PERF_COUNT_HW_STALLED_CYCLES_BACKEND"),
    ("cache-references", ("l3_capacity",), "PERF_COUNT_HW_CACHE_REFERENCES: of the last level"),
    ("cache-misses", L3_AND_DRAM, "PERF_COUNT_HW_CACHE_MISSES: of the last level"),
    ("L1-dcache-load-misses", ("l1_capacity", "l2_capacity"), "PERF_COUNT_HW_CACHE_L1D"),
    ("L1-*", ("l1_capacity",), "PERF_COUNT_HW_CACHE_L1D and L1I"),
    ("l2_rqsts*", ("l2_capacity",), INTEL),
    ("LLC-*misses", L3_AND_DRAM, "PERF_COUNT_HW_CACHE_LL, misses"),
    ("LLC-*", ("l3_capacity",), "PERF_COUNT_HW_CACHE_LL"),
    ("dTLB-*", ("memory_latency",), "PERF_COUNT_HW_CACHE_DTLB"),
    ("iTLB-*", ("memory_latency",), "PERF_COUNT_HW_CACHE_ITLB"),
    ("node-*", ("sockets", "memory_bandwidth"), "PERF_COUNT_HW_CACHE_NODE: local memory accesses"),
    ("uncore_imc*", DRAM, "memory controllers: " + INTEL),
    ("fp_arith_inst_retired*", ("simd_width", "clock"), INTEL),
    ("context-switches", ("cores",), "PERF_COUNT_SW_CONTEXT_SWITCHES"),
    ("cpu-migrations", ("cores",), "PERF_COUNT_SW_CPU_MIGRATIONS"),
)

_NVPROF: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("dram_*", DRAM, "device memory"),
    ("l2_*", ("l2_capacity",), "L2 cache, from device memory's side and the SMs'"),
    ("tex_*", ("l1_capacity",), "unified L1 and texture cache"),
    ("gld_*", ("l1_capacity", "l2_capacity"), "global loads"),
    ("gst_*", ("l1_capacity", "l2_capacity"), "global stores"),
    ("global_hit_rate", ("l1_capacity",), "hits of global loads in L1"),
    ("local_*", ("l1_capacity",), "local memory in L1"),
    ("shared_*", ("clock", "cores"), "shared memory, in the SM"),
    ("flop_*", ("clock", "cores"), "floating-point operations"),
    ("inst_*", CORE, "instructions of SMs"),
    ("ipc", CORE, "instructions a cycle"),
    ("executed_ipc", CORE, "instructions a cycle"),
    ("issue*", CORE, "instructions issued"),
    ("sm_*", CORE, "activity of SMs"),
    ("achieved_occupancy", ("cores", "smt"), "warps on an SM"),
    ("eligible_warps_per_cycle", ("smt", "clock"), "warps ready to issue"),
    ("warp_*", ("simd_width",), "lanes of a warp in use"),
    ("branch_efficiency", ("simd_width",), "branches on which a warp goes one way"),
    ("cf_*", CORE, "control flow"),
    ("stall_memory*", ("memory_latency", "memory_bandwidth"), "stalls on memory"),
    ("stall_*", ("clock",), "stalls"),
    ("sysmem_*", ("network_bandwidth",), "memory of the host, over its link"),
    ("nvlink_*", ("network_bandwidth",), "links between devices"),
)

_NCU: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("dram__*", DRAM, "unit DRAM: device memory"),
    ("fbpa__*", DRAM, "unit FBPA: between L2 and device memory"),
    ("lts__*", ("l2_capacity",), "unit LTS: slices of L2"),
    ("l1tex__*", ("l1_capacity",), "unit L1TEX: L1 and texture cache"),
    ("sm__*tensor*", ("clock", "cores"), "unit SM: tensor pipe"),
    ("sm__cycles*", CORE, "unit SM: cycles"),
    ("smsp__*warps*", ("cores", "smt"), "unit SMSP: warps"),
    ("smsp__thread_inst*", ("simd_width", "clock"), "unit SMSP: lanes in use"),
    ("sm*__*", CORE, "units SM and SMSP: instructions, pipes"),
    ("gpc__*cycles*", ("clock",), "unit GPC: clock"),
    ("nvl*__*", ("network_bandwidth",), "NVLink"),
    ("pcie__*", ("network_bandwidth",), "PCIe"),
)

_OWN: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("core_frequency", ("clock",), "the clock itself"),
    ("threads", ("cores",), "cores at work"),
    ("memory_frequency", ("memory_clock", "memory_bandwidth"), "the clock of the memory"),
    ("memory_bandwidth", DRAM, "MEM.txt"),
    ("memory_volume", DRAM, "MEM.txt"),
    ("mem_*", DRAM, "MEM.txt: as tables of its results call them"),
    ("instructions", CORE, "CLOCK.txt: fixed counter 0"),
    ("instr", CORE, "CLOCK.txt: fixed counter 0"),
    ("cycles", CORE, "CLOCK.txt: fixed counter 1"),
    ("ref_cycles", CORE, "CLOCK.txt: fixed counter 2"),
    ("stall_cycles", ("memory_latency", "clock"), "stalls of the back end"),
    ("leading_load_cycles", ("memory_latency",), "Leading Loads: cycles of the first load of each group"),
    ("read_cycles", ("memory_latency",), "cycles with offcore reads outstanding"),
    ("llc_misses", L3_AND_DRAM, "misses of the last level"),
    ("bus_accesses", DRAM, "PAPI and LIKWID, BUS_TRANS_ANY"),
    ("flop_rate", ("simd_width", "clock"), "FLOPS_DP.txt"),
    ("network_*", ("network_bandwidth", "network_latency"), "bytes and messages of a port"),
    ("io_*", (), "files: no component that is varied"),
)


def _address(tool: str, source: str) -> str:
    """The the group's file that its source begins with, or the tool's own reference."""
    file = re.match(r"(\w+)\.txt", source)
    if file is not None:
        folder = next((name for name, groups in FOUND_IN.items() if file[1] in groups.split()), "")
        return f"{LIKWID}/{folder}/{file[1]}.txt" if folder else ""
    if tool == "perf":
        events = source.endswith(INTEL)
        return f"{LINUX}/tools/perf/" + ("pmu-events/arch/x86" if events else "util/parse-events.c")
    return {"nvprof": NVPROF, "ncu": NCU}.get(tool, "")


KNOWN_COUNTERS: tuple[KnownCounter, ...] = tuple(
    KnownCounter(tool, name, components, source, _address(tool, source))
    for tool, rows in (("aspenpy", _OWN), ("likwid", _LIKWID), ("perf", _PERF), ("nvprof", _NVPROF), ("ncu", _NCU))
    for name, components, source in rows
)
"""The first that a name matches says it: names in full stand before their patterns."""


def find_counter(*names: str) -> KnownCounter | None:
    """Entry of a counter, found by its own name or as a file spells it. A unit in brackets, a part of a formula behind
    `/`, upper and lower case, `-` and `_` do not matter."""
    for name in names:
        plain = name.strip().removesuffix("/runtime")
        plain = (plain.partition("[")[0] if plain.endswith("]") else plain).strip()
        for item, pattern in _patterns():
            if pattern.fullmatch(plain.lower().replace("-", "_")):
                return item
    return None


@cache
def _patterns() -> tuple[tuple[KnownCounter, re.Pattern[str]], ...]:
    """Counters with their names as patterns. Names in full go before those with a `*`, the longest first."""
    ordered = sorted(KNOWN_COUNTERS, key=lambda item: ("*" in item.name, -len(item.name)))
    spelt = ((item, _spell_counter(item.name.lower().replace("-", "_"))) for item in ordered)
    return tuple((item, re.compile(text)) for item, text in spelt)


def _spell_counter(name: str) -> str:
    return re.escape(name).replace(r"\*", ".*").replace(r"\?", ".")


def title_of(component: str) -> str:
    """`core clock` of `clock`."""
    return COMPONENTS[component].title if component in COMPONENTS else component
