"""A machine model of the computer that this runs on, from measurements alone."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.real.programs import Caches, compiled, printed, processor

NAMES = {"add": "add", "multiply": "multiply", "fma": "fma", "divide": "divide", "square_root": "root"}
"""Classes of operations, and what the measurements call them."""

WIDTHS = ("dp", "sp", "dp_simd", "sp_simd")

SHARED = 0.75
"""Where cores share a third cache, each of them finds less than this part of it when all look at once."""

TEMPLATE = """\
// here: {processor}, {cores} cores, as measured on this computer.
//
// kind: cpu
//
// Written by `make validate`. Rates are the best of many short runs, in cycles of the clock that a chain of
// additions of integers shows.

param here_clock = {clock}  // a chain of additions of integers, one a cycle

machine here {{
  node here_node
}}

node here_node {{
  socket here_socket
}}

socket here_socket {{
  core [{cores}] here_core
  {shared}
  memory here_memory
  property barrier_latency [{barrier}]  // all cores meet, waiting in a loop
  resource barriers(number) [number*barrier_latency]
}}

core here_core {{
  property clock [here_clock]
  property issue [{issue}]  // additions a cycle
  property simd_width [{lanes}]  // in single precision
  property fma_gain [2]
{rates}
{latencies}
  property outstanding [{outstanding}]  // latency of memory over the time of a load, of many chains at once
{pages}
  resource flops(number) [number/(clock*issue)]
      with sp [base], dp [base*2], simd [base/simd_width], fmad [base/fma_gain]
  resource chain(number) [number/clock]
      with integer [base*integer_latency], add [base*add_latency], multiply [base*multiply_latency],
        fma [base*fma_latency], divide [base*divide_latency], square_root [base*square_root_latency],
        load [base*load_latency],
        restarts(steps) [base*max(0, 1 - reorder/steps)]  // another chain begins after so many
  property reorder [{reorder}]  // steps of a loop of short chains that a core works on at once
  resource accesses(number) [number/clock] with unaligned [base*{unaligned}]  // of vectors, most across two lines
  cache here_l1
  cache here_l2
  {own}
}}
{levels}
memory here_memory {{
  property capacity [16 GiB]  // assumed
  property latency [{latency}]  // loads that wait for each other, TLB misses included
  property bandwidth [{attained}]  // attained: the peak is not known here
{bandwidth}
  resource loads(volume) [volume/attained_bandwidth]
  resource stores(volume) [volume/attained_store_bandwidth]
  conflict loads, stores
  conflict accesses, loads  // what comes from memory waits for the core's own loads and stores, and these for it
  conflict tlb, loads
}}
"""

LEVEL = """
cache {name} {{
  property capacity [{capacity}]  // {says}
  property associativity [{ways}]  // {placing}
  property cacheline [{line}]
  property latency [{latency}]  // loads that wait for each other
  property inclusion [{inclusion}]  // assumed
{bandwidth}
}}
"""


def measured(cores: int, seconds: float, found: Caches) -> dict[str, float]:
    """Each property of this machine as the program `machine` measures it."""
    lines = printed(compiled("machine"), *found.sizes, found.sizes[0] // found.ways[0], cores, seconds).splitlines()
    return {name: float(value) for name, value in map(str.split, lines)}


def best(readings: list[dict[str, float]]) -> dict[str, float]:
    """The least times and the highest rates of several measurements."""
    return {
        name: (min if "latency" in name or "chains" in name else max)(reading[name] for reading in readings)
        for name in readings[0]
    }


def model(values: Mapping[str, float], cores: int, found: Caches) -> str:
    """The machine in Aspen."""
    clock = 1 / values["integer_latency"]
    rates = {f"{name}_{width}": _rate(values, name, width, clock) for name in NAMES for width in WIDTHS}
    rates |= {name: values[f"{name}_throughput"] / clock for name in ("integer", "load", "store")}
    rates |= {f"{name}_simd": values[f"{name}_simd"] / clock for name in ("load", "store")}
    root = values["sum_and_root_dp_latency"] - values["add_dp_latency"]
    waits = {name: values[f"{NAMES[name]}_dp_latency"] for name in ("add", "multiply", "fma", "divide")}
    waits |= {"square_root": root, "integer": values["integer_latency"], "load": values["first_latency"]}
    shared = _third_capacity(values, found, "third_all_") < SHARED * _third_capacity(values, found)
    levels = [_level(values, found, at, shared) for at in range(3)]
    return TEMPLATE.format(
        processor=processor(),
        cores=cores,
        clock=_number(clock),
        shared="cache here_l3" if shared else "",
        own="" if shared else "cache here_l3  // a core finds as much when all look at once",
        reorder=_number(max(0.0, SEGMENT - values["segments_latency"] / values["add_dp_latency"])),
        unaligned=_number(values["load_simd"] / values["load_across"]),
        barrier=_number(values["barrier_latency"]),
        issue=_number(rates["add_sp"]),
        lanes=int(values["vector_bytes"] / 4),
        rates="\n".join(f"  property {name}_rate [{_number(rate)}]" for name, rate in rates.items()),
        latencies="\n".join(f"  property {name}_latency [{_number(time * clock)}]" for name, time in waits.items()),
        outstanding=_number(values["memory_latency"] / _least(values, "memory_chains_")),
        pages="\n".join(_translation(values)),
        levels="".join(levels),
        latency=_number(values["memory_latency"]),
        attained=_number(values["memory_load_all"]),
        bandwidth=_memory(values, cores),
    )


def _rate(values: Mapping[str, float], name: str, width: str, clock: float) -> float:
    """Operations a cycle; flops of a fused multiply-add."""
    return (2 if name == "fma" else 1) * values[f"{NAMES[name]}_{width}_throughput"] / clock


def _memory(values: Mapping[str, float], cores: int) -> str:
    """Rates of memory beyond those of the first cache: its times add to that of a core's accesses."""
    lines = []
    for which, share, name in (("all", cores, "attained"), ("core", 1, "core")):
        first, memory, copied, near = (
            share / values[f"{level}_{which}"] for level in ("first_load", "memory_load", "memory_copy", "first_copy")
        )
        loads = memory - first  # seconds a byte
        stores = max(2 * copied - 2 * near - 2 * loads, loads / 5)  # a copy loads what it writes, too
        lines += [
            f"  property {name}_bandwidth [{_number(share / loads)}]  // loads, beyond those from the first cache",
            f"  property {name}_store_bandwidth [{_number(share / stores)}]  // what a copy takes beyond its loads",
        ]
    return "\n".join(lines)


PARTS = (1, 2, 3, 4, 6, 8, 12, 16)
"""Sixteenths of the third cache in which loads wait for each other."""

SEGMENT = 128
"""Words of a sum in the program `machine`."""

CHAINS = 16
"""Chains side by side by whose time a miss of the translation buffer is told."""


def _third_capacity(values: Mapping[str, float], found: Caches, prefix: str = "third_") -> int:
    """Bytes that a core finds in the third cache: as far as loads that wait for each other take less than half of
    memory's latency. Other programs, and other guests of the same processor, use it too."""
    rings = {part: values[f"{prefix}{part}_latency"] for part in PARTS}
    return (
        found.sizes[2]
        // 16
        * max((size for size, value in rings.items() if value < values["memory_latency"] / 2), default=1)
    )


def _translation(values: Mapping[str, float]) -> list[str]:
    """The translation buffer's reach, where loads of a line a page become slower than the second cache explains: at
    the pages where their time in one chain passes half of its rise. A miss takes what it adds to loads in several."""
    pages = sorted(int(name.split("_")[1]) for name in values if name.startswith("pages_") and "chains" not in name)
    alone = {count: values[f"pages_{count}_latency"] for count in pages}
    beside = {count: values[f"pages_{count}_chains_{CHAINS}_latency"] for count in pages}
    few, many = pages[len(pages) // 4], pages[-1]
    if alone[pages[-2]] < 1.5 * alone[few]:
        return []
    reach = max(count for count in pages if alone[count] < (alone[few] + alone[pages[-2]]) / 2)
    far = {int(name.split("_")[1]): values[name] for name in values if name.startswith("far_")}
    ways = max(count for count in far if far[count] < (min(far.values()) + max(far.values())) / 2)
    return [
        "  property page [4 KiB]  // of loads of a line a page",
        f"  property tlb_entries [{reach // ways * ways}]  // beyond so many pages, loads of a line each are slower",
        f"  property tlb_ways [{ways}]  // as many where the pages are 1 MiB apart",
        f"  property tlb_latency [{_number(beside[many] - beside[few])}]  // what a miss adds, with {CHAINS} at once",
    ]


def _least(values: Mapping[str, float], prefix: str) -> float:
    return min(value for name, value in values.items() if name.startswith(prefix))


def _level(values: Mapping[str, float], found: Caches, at: int, shared: bool) -> str:
    """A cache. That of a core's accesses is in their rates."""
    name = ("first", "second", "third")[at]
    capacity = _third_capacity(values, found) if at == 2 else found.sizes[at]
    one, every = (values[f"{name}_load_{which}"] for which in ("core", "all"))
    both = _number(every if at == 2 and shared else one)
    bandwidth = [
        f"  property bandwidth [{both}]  // loads of all cores on it",
        f"  property core_bandwidth [{_number(one)}]  // loads of one core",
        f"  property attained_store_bandwidth [{both}]  // copies take what their loads take",
    ]
    return LEVEL.format(
        name=f"here_l{at + 1}",
        capacity=capacity,
        says="as far as chained loads are fast" if at == 2 else "as the operating system says",
        ways=capacity // found.line if at == 2 else found.ways[at],
        placing="its sets are hashed: a line may lie anywhere" if at == 2 else "as the operating system says",
        line=found.line,
        latency=_number(values["third_1_latency" if at == 2 else f"{name}_latency"]),
        inclusion="victim" if at == 2 else "inclusive",
        bandwidth="\n".join(bandwidth if at else _sets(values)),
    )


def _sets(values: Mapping[str, float]) -> list[str]:
    """Seconds between two lines into one set of the first cache: the mean of what columns in one, two and four sets
    wait beside the time of a line that waits for none."""
    lines = []
    for way, name in (("load", "set_latency"), ("store", "set_store_latency")):
        free = values[f"sets_0_{way}_latency"]
        found = [sets * max(0.0, values[f"sets_{sets}_{way}_latency"] ** 2 - free**2) ** 0.5 for sets in (1, 2, 4)]
        lines.append(f"  property {name} [{_number(sum(found) / 3)}]  // columns in one, two and four sets")
    return lines


def _number(value: float) -> str:
    return f"{value:.4g}"
