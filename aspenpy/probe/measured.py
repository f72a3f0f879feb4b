"""Machine numbers from measured quantities: rates in operations a cycle, latencies, bandwidths, capacities."""

from __future__ import annotations

from collections.abc import Mapping
from math import exp, log, log2, sqrt
from statistics import median

from aspenpy.probe.assumed import choose_hashed_ways, choose_ways
from aspenpy.probe.number import Number, Numbers, make_measured_number, make_number, make_rate_of_difference
from aspenpy.probe.quantity import Quantities, Quantity
from aspenpy.probe.topology import HostTopology

AGREEING_FACTOR = 1.5
"""The factor within which a measured turn agrees with what the system says: rings are a factor of 1.3 to 1.5 apart."""

STEEP = 1.3
"""A level ends where the next one is slower by this factor or more."""


def select_rings(results: Quantities, prefix: str = "ring_") -> dict[int, float]:
    """Seconds of a load by the bytes of the ring."""
    sizes = {name: name.removeprefix(prefix).removesuffix("_latency") for name in results if name.startswith(prefix)}
    return {int(size): results[name].value for name, size in sorted(sizes.items(), key=_size) if size.isdecimal()}


def _size(item: tuple[str, str]) -> tuple[int, str]:
    return len(item[1]), item[1]


def find_turn(latencies: Mapping[int, float], inside: float, beyond: float) -> float | None:
    """The bytes at which the latency passes the geometric mean of a level's and the next one's, between two rings by
    the logarithms of both; None where the two are too near to be told apart or no ring is slow enough."""
    if beyond < STEEP * inside:
        return None
    middle, before = sqrt(inside * beyond), None
    for size, seconds in sorted(latencies.items()):
        if seconds >= middle:
            if before is None or before[1] >= seconds:
                return float(size)
            share = (log(middle) - log(before[1])) / (log(seconds) - log(before[1]))
            return exp(log(before[0]) + share * (log(size) - log(before[0])))
        before = (size, seconds)
    return None


def agrees(measured: float, stated: float) -> bool:
    return stated / AGREEING_FACTOR <= measured <= stated * AGREEING_FACTOR


CLASSES = {"add": "add", "multiply": "multiply", "fma": "fma", "divide": "divide", "square_root": "root"}
"""Classes of operations, and what the measurements call them."""

WIDTHS = ("dp", "sp", "dp_simd", "sp_simd")
SEGMENT = 128
"""Words of a sum in the micro-benchmark `segments`."""

CHAINS = 16
"""Chains side by side by whose time a miss of the translation buffer is told."""

SMALLEST_LOADS, SMALLEST_STORES = 1 / 10, 1 / 5
"""Least share of the time of loads from memory that loads beyond the first cache take, and least share of that time for
stores: differences of times that are nearly equal are noise."""

STEP = 8192
"""Bytes to which a measured turn is rounded, whole sets of 8 ways and 64 B."""

LEVELS = ("first", "second", "third")


def derive_numbers(results: Quantities, host: HostTopology) -> Numbers:
    """All that was measured, by part and property."""
    clock = find_cycle(results)
    about = "the clock at which chains of additions and products take whole cycles"
    numbers: Numbers = {
        "core": {
            "clock": make_number(1 / clock.value, "Hz", about, clock),
            **_derive_rates(results, clock),
            **_derive_integers(results, clock),
            **_derive_latencies(results, clock),
            **_derive_branches(results, clock),
            **_derive_lookahead(results, clock),
            **_derive_translation(results),
        },
        "socket": _derive_socket(results),
        "memory": _derive_memory(results, len(host.processors)),
    }
    for index, name in enumerate(LEVELS):
        if f"{name}_latency" in results:
            numbers[f"l{index + 1}"] = _derive_cache(results, host, index)
    return numbers


WHOLE = ("integer", "integer_multiply", "add_dp", "multiply_dp", "fma_dp")
"""Operations whose latency is a whole number of cycles; each was measured at the clock of its own moment."""

FAR_FROM_WHOLE = 0.04
"""The relative distance from a whole number of cycles beyond which a latency says nothing of the clock."""


def find_cycle(results: Quantities) -> Quantity:
    """Seconds of a cycle: the median of what each latency says that is a whole number of cycles, to begin with those
    of additions of integers, one a cycle."""
    first = results["integer_latency"]
    latencies = [results[f"{name}_latency"].value for name in WHOLE if f"{name}_latency" in results]
    cycles = [(seconds, max(1, round(seconds / first.value))) for seconds in latencies]
    near = [seconds / whole for seconds, whole in cycles if abs(seconds / first.value / whole - 1) < FAR_FROM_WHOLE]
    return first.replace(value=median(near))


def _derive_integers(results: Quantities, clock: Quantity) -> dict[str, Number]:
    """Operations of whole numbers a cycle, lanes counted in; of products that are summed, two for each."""
    names = [name for name in ("logic", "shift", "integer_multiply") if f"{name}_throughput" in results]
    names += [name.removesuffix("_throughput") for name in results if "_int" in name and name.endswith("_throughput")]
    numbers = {
        f"{name}_rate": make_measured_number(results, f"{name}_throughput", "", about="", factor=clock.value)
        for name in dict.fromkeys(names)
    }
    if "permute_vectors_throughput" in results:
        about = "words in the other order"
        numbers["permute_vectors"] = make_measured_number(
            results, "permute_vectors_throughput", "", about, factor=clock.value
        )
    return numbers


def _derive_branches(results: Quantities, clock: Quantity) -> dict[str, Number]:
    """Cycles that a wrong guess costs, beyond the load of its condition: half of the branches were guessed wrongly, and
    waited for words and doubles of the first cache. Of atomic operations what one takes."""
    numbers = {}
    for name, source in (("mispredict_penalty", "branch"), ("mispredict_dp_penalty", "branch_dp")):
        if f"{source}_random_latency" in results:
            random, *alike = (results[f"{source}_{kind}_latency"] for kind in ("random", "none", "all"))
            lost = 2 * (random.value - sum(item.value for item in alike) / 2) - results["first_latency"].value
            about = "branches by bits at random, half of them guessed wrongly, less those that are alike and the load"
            numbers[name] = make_number(max(0.0, lost / clock.value), "", about, random, *alike)
    numbers.update(_derive_learning(results))
    if "forward_latency" in results:
        stored = results["forward_latency"]
        about = "a store, the load that takes it back, and an addition, less the addition"
        numbers["forward_latency"] = make_number(stored.value / clock.value - 1, "", about, stored)
    if "atomic_latency" in results:
        numbers["atomic_latency"] = make_measured_number(results, "atomic_latency", "", "in turn", 1 / clock.value)
    return numbers


def _derive_learning(results: Quantities) -> dict[str, Number]:
    """The number of outcomes of branches that a core learns: the length of a repeated sequence of which it guesses half
    as many wrongly as of a random one. It is taken to learn the shortest sequence wholly, the longest not at all."""
    sequences = select_rings(results, "sequence_")
    if len(sequences) < 3:
        return {}
    least, most = min(sequences), max(sequences)
    turn = find_turn(sequences, sequences[least], sequences[most])
    if turn is None:
        return {}
    about = "outcomes in sequences that come again and are guessed half as well as at random"
    ends = (results[f"sequence_{least}_latency"], results[f"sequence_{most}_latency"])
    return {"learnt_outcomes": make_number(round(turn), "", about, *ends)}


def _derive_socket(results: Quantities) -> dict[str, Number]:
    numbers = {
        "barrier_latency": make_measured_number(results, "barrier_latency", "s", "all cores meet, waiting in a loop")
    }
    if "thread_start_latency" in results:
        about = "a thread for each core is started and has ended"
        numbers["thread_start_latency"] = make_measured_number(results, "thread_start_latency", "s", about)
    if "process_start_latency" in results:
        numbers["process_start_latency"] = make_measured_number(
            results, "process_start_latency", "s", "a process that does nothing"
        )
    if "transfer_latency" in results:
        numbers["transfer_latency"] = make_measured_number(results, "transfer_latency", "s", "two cores add by turns")
    return numbers


# -- a core ------------------------------------------------------------------------------------------


def _derive_rates(results: Quantities, clock: Quantity) -> dict[str, Number]:
    """Operations a cycle; flops of a fused multiply-add, accesses of words."""
    cycle = clock.value
    rates = {
        f"{name}_{width}_rate": make_measured_number(
            results, f"{called}_{width}_throughput", "", about="", factor=cycle * (2 if name == "fma" else 1)
        )
        for name, called in CLASSES.items()
        for width in WIDTHS
    }
    rates["compare_rate"] = make_measured_number(results, "compare_dp_throughput", "", "scalars", cycle)
    about = "scalars, to whole numbers and back: two each"
    rates["convert_rate"] = make_measured_number(results, "convert_dp_throughput", "", about, 2 * cycle)
    for name in ("load", "store"):
        rates[f"{name}_rate"] = make_measured_number(
            results, f"{name}_throughput", "", "words a cycle, one an access", cycle
        )
        rates[f"{name}_dp_simd_rate"] = make_measured_number(
            results, f"{name}_simd", "", "words a cycle in vectors", cycle
        )
        rates[f"{name}_sp_simd_rate"] = make_measured_number(results, f"{name}_simd", "", "of half the size", 2 * cycle)
    fastest = max(
        (name for name in ("integer", "integer_add") if f"{name}_throughput" in results),
        key=lambda name: results[f"{name}_throughput"].value,
    )
    rates["integer_rate"] = make_measured_number(results, f"{fastest}_throughput", "", "additions", cycle)
    scalar, wide = results["add_sp_throughput"], results["add_sp_simd_throughput"]
    # Vectors have a power of two of lanes, and a fused operation gains 1 or 2: what lies between is noise of the host.
    lanes = max(1, 2 ** round(log2(wide.value / scalar.value)))
    gain = results["fma_dp_simd_throughput"].value * 2 / results["add_dp_simd_throughput"].value
    if "add_and_multiply_dp_throughput" in results:
        rates |= _derive_adders(results, cycle)
    return {
        "issue": make_measured_number(results, "add_sp_throughput", "", "additions a cycle", cycle),
        "simd_width": make_number(lanes, "", "additions in vectors over scalar ones, single precision", scalar, wide),
        "fma_gain": make_number(2 if gain > 1.5 else 1, "", "", results["fma_dp_simd_throughput"]),
        **rates,
    }


def _derive_adders(results: Quantities, cycle: float) -> dict[str, Number]:
    """Pipes that only add, where sums and products side by side are more than 1.4 times as many as in turn."""
    add, multiply, both = (results[f"{name}_dp_throughput"] for name in ("add", "multiply", "add_and_multiply"))
    in_turn = 2 / (1 / add.value + 1 / multiply.value)
    if both.value < 1.4 * in_turn:
        return {}
    about = f"sums and products side by side: {both.value / in_turn:.2f} times as many as in turn"
    return {"adders": make_number(max(1, round(add.value * cycle)), "", about, add, both)}


def _derive_latencies(results: Quantities, clock: Quantity) -> dict[str, Number]:
    """Cycles."""
    cycles = 1 / clock.value
    names = {name: f"{CLASSES[name]}_dp_latency" for name in ("add", "multiply", "fma", "divide")}
    names |= {"compare": "compare_dp_latency"}
    names |= {"integer": "integer_latency", "integer_multiply": "integer_multiply_latency", "load": "first_latency"}
    waits = {
        f"{name}_latency": _round_cycles(make_measured_number(results, source, "", about="", factor=cycles), source)
        for name, source in names.items()
        if source in results
    }
    waits["convert_latency"] = make_measured_number(
        results, "convert_dp_latency", "", "half of there and back", cycles / 2
    )
    both, add = results["sum_and_root_dp_latency"], results["add_dp_latency"]
    about = "a sum and a root in turn, less the sum"
    waits["square_root_latency"] = make_number((both.value - add.value) * cycles, "", about, both, add)
    return waits


def _round_cycles(number: Number, source: str) -> Number:
    """A latency that is a whole number of cycles, as one."""
    whole = max(1, round(number.value))
    if source.removesuffix("_latency") not in WHOLE or abs(number.value / whole - 1) >= FAR_FROM_WHOLE:
        return number
    return number.replace(value=whole)


def _derive_lookahead(results: Quantities, clock: Quantity) -> dict[str, Number]:
    """Instructions that a core looks ahead, and its outstanding misses."""
    sums, add = results["segments_latency"], results["add_dp_latency"]
    across, whole = results["load_across"], results["load_simd"]
    memory = results["memory_latency"]
    many = min((results[name] for name in results if name.startswith("memory_chains_")), key=lambda item: item.value)
    about = f"steps of a loop of short chains at once, of sums of {SEGMENT} words"
    return {
        "reorder": make_number(max(0.0, SEGMENT - sums.value / add.value), "", about, sums, add),
        "unaligned": make_number(max(1.0, whole.value / across.value), "", "vectors across two lines", across, whole),
        "outstanding": make_number(
            max(1.0, memory.value / many.value),
            "",
            "latency of memory over the time of a load of many chains",
            memory,
            many,
        ),
    }


def _derive_translation(results: Quantities) -> dict[str, Number]:
    """The translation buffer's reach, where loads of a line a page become slower than the second cache explains: at the
    pages where their time in one chain passes half of its rise. A miss takes what it adds to loads in several."""
    alone = {
        int(name.split("_")[1]): results[name] for name in results if name.startswith("pages_") and "chains" not in name
    }
    beside = {count: results[f"pages_{count}_chains_{CHAINS}_latency"] for count in alone}
    if len(alone) < 5:
        return {}
    counts = sorted(alone)
    few = counts[2]
    # What walks alone take is told where the second cache holds the lines: neighbours have none of it.
    second = STEEP * find_latency(results, "second").value
    held = [count for count in counts if _is_within(results, 64 * count, second)]
    many = max((count for count in held if alone[count].value > 2 * alone[few].value), default=counts[-1])
    if alone[many].value < 1.5 * alone[few].value:
        return {}
    reach = find_turn({count: alone[count].value for count in counts}, alone[few].value, alone[many].value)
    far = {int(name.split("_")[1]): results[name].value for name in results if name.startswith("far_")}
    entries = int(reach or counts[-1])
    numbers = {
        "page": Number(4096, "B", "of loads of a line a page"),
        "tlb_entries": make_number(entries, "", "beyond so many pages, loads of a line each are slower", alone[many]),
    }
    if len(far) > 2:  # pages so far apart meet in one set of the buffer, whose entries are whole sets
        ways = max(count for count in far if far[count] <= (min(far.values()) + max(far.values())) / 2)
        numbers["tlb_entries"] = numbers["tlb_entries"].replace(value=max(ways, entries // ways * ways))
        numbers["tlb_ways"] = Number(ways, "", "as many stay where the pages are 1 MiB apart: measured")
    added = max(0.0, beside[many].value - beside[few].value)
    about = f"what a miss adds, with {CHAINS} at once"
    numbers["tlb_latency"] = make_number(added, "s", about, beside[many], beside[few])
    line = results.get(f"ring_{many * 64}_latency")
    if line is not None and added > 0:
        lone, about = (
            alone[many].value - line.value,
            f"what a miss adds to a load that waits for it, over that with {CHAINS}",
        )
        numbers["tlb_walks"] = make_number(min(CHAINS, max(1.0, lone / added)), "", about, alone[many], line)
    return numbers


def _is_within(results: Quantities, size: int, seconds: float) -> bool:
    """Whether loads in a ring of some bytes take no longer."""
    ring = results.get(f"ring_{size}_latency")
    return ring is not None and ring.value <= seconds


# -- caches and memory ---------------------------------------------------------------------------------


def _derive_page_fault(results: Quantities) -> Number:
    taken, given = results["page_fault_latency"], results["page_return_latency"]
    return make_number(taken.value + given.value, "s", "the first touch of a page, and its return", taken, given)


def _derive_cache(results: Quantities, host: HostTopology, index: int) -> dict[str, Number]:
    name, stated = LEVELS[index], host.cache(index + 1)
    numbers = {
        **_derive_capacity(results, host, index),
        "cacheline": Number(
            (stated and stated.line) or 64, "B", host.said_by if stated and stated.line else "assumed: 64 B"
        ),
        "latency": find_latency(results, name),
    }
    if index == 0:
        return numbers | _derive_set_conflicts(results)
    one, every = results[f"{name}_load_core"], memory_bandwidth(results, f"{name}_load", "all")
    shared = stated is not None and stated.sharing > 1
    about = "loads of one core: all at once took longer" if every is one else "loads of all cores on it"
    both = make_measured_number(results, f"{name}_load_core", "B/s", "loads of one core")
    if shared:
        both = make_number(every.value, "B/s", about, every)
    return numbers | {
        "bandwidth": both,
        "core_bandwidth": make_measured_number(results, f"{name}_load_core", "B/s", "loads of one core"),
        "attained_store_bandwidth": both.replace(source="assumed: copies take what their loads take"),
        "inclusion": _assume_inclusion(index),
    }


def find_latency(results: Quantities, level: str) -> Number:
    """The latency of a level. Of a cache, the least over all kinds of pages, in whichever it was disturbed least: its
    own pages are known to the translation buffer. Of memory that with huge pages too: walks come on top, and small
    ones alone say nothing of it."""
    kinds = ("", "_huge") if level == "memory" else ("", "_huge", "_small")
    best = min((results[f"{level}{kind}_latency"] for kind in kinds), key=lambda item: item.value)
    return make_number(best.value, "s", "loads that wait for each other", best)


def _assume_inclusion(index: int) -> Number:
    word = "victim" if index == 2 else "inclusive"
    return Number(0, "", "assumed: third caches take what the second gives up, others hold what is inside", word)


def _derive_set_conflicts(results: Quantities) -> dict[str, Number]:
    """Seconds between two lines into one set of the first cache: the mean of what columns in one, two and four sets
    wait beside the time of a line that waits for none."""
    numbers = {}
    for way, name in (("load", "set_latency"), ("store", "set_store_latency")):
        free, met = (
            results[f"sets_0_{way}_latency"],
            [results[f"sets_{sets}_{way}_latency"] for sets in (1, 2, 4)],
        )
        waits = [
            sets * max(0.0, item.value**2 - free.value**2) ** 0.5 for sets, item in zip((1, 2, 4), met, strict=True)
        ]
        numbers[name] = make_number(sum(waits) / 3, "s", "columns in one, two and four sets", free, *met)
    return numbers


def _derive_capacity(results: Quantities, host: HostTopology, index: int) -> dict[str, Number]:
    """Capacity and ways of a cache, as the system says where the measured turn agrees, else as the turn says. Empty
    where neither says anything."""
    stated, turned = host.cache(index + 1), find_cache_turn(results, index)
    line = (stated and stated.line) or 64
    near = [
        results[f"ring_{ring}_latency"] for ring in select_rings(results) if turned and turned / 2 < ring < turned * 2
    ]
    doubted = turned is not None and any(item.uncertain for item in near)
    shared = index == 2 and (doubted or (turned is not None and _streams_half(results)))
    if stated is not None and (turned is None or agrees(turned, stated.capacity) or doubted or shared):
        said = f"latency turns at {_format_size(turned)}" if turned else "no turn was seen"
        use = ", since neighbours use it" if shared and turned and not agrees(turned, stated.capacity) else ""
        capacity = Number(stated.capacity, "B", f"{host.said_by}; {said}{use}")
    elif turned is not None:
        said = f"; {host.said_by} says {_format_size(stated.capacity)}" if stated else ""
        size = max(1, round(turned / STEP)) * STEP
        capacity = make_number(size, "B", f"latency turns here{said}", *near)
        stated = None
    else:
        return {}
    if index == 2:
        numbers = {"capacity": capacity, "associativity": choose_hashed_ways(capacity.value, line)}
        if shared and turned and turned < capacity.value and not agrees(turned, capacity.value):
            about = "loads that wait for each other find as much: others replace the rest meanwhile"
            numbers["chain_capacity"] = make_number(max(1, round(turned / STEP)) * STEP, "B", about, *near)
        return numbers
    ways = choose_ways(capacity.value, line, stated.ways if stated else None, host.said_by)
    return {"capacity": capacity, "associativity": ways}


def _streams_half(results: Quantities) -> bool:
    """Whether loads of half of the third cache come faster than the geometric mean of those of a part and of memory: it
    is there, though loads that wait for each other do not find it whole."""
    names = ("third_half_load_core", "third_load_core", "memory_load_core")
    if not all(name in results for name in names):
        return False
    half, part, memory = (results[name].value for name in names)
    return half > sqrt(part * memory)


def _format_size(size: float) -> str:
    return f"{size / 2**20:.3g} MiB" if size >= 2**20 else f"{size / 2**10:.3g} KiB"


def find_cache_turn(results: Quantities, index: int, prefix: str = "ring_") -> float | None:
    """Bytes at which a cache's latency passes to that of the next level."""
    names = [*(name for name in LEVELS if f"{name}_latency" in results), "memory"]
    if index >= len(names) - 1:
        return None
    inside, beyond = (find_latency(results, name).value for name in names[index : index + 2])
    within = find_latency(results, names[index - 1]).value if index else 0.0
    rings = select_rings(results, prefix)
    if index == 2:  # the median of all passes: neighbours are there while programs run, too
        rings = {size: seconds * (1 + results[f"{prefix}{size}_latency"].spread) for size, seconds in rings.items()}
    known = {size: seconds for size, seconds in rings.items() if seconds > (within * inside) ** 0.5}
    return find_turn(known, inside, beyond)


def memory_bandwidth(results: Quantities, way: str, which: str) -> Quantity:
    """Bytes a second of one core, or of all: as much as one at least. On a host that others use, all cores are seldom
    undisturbed at once."""
    one = results[f"{way}_core"]
    return one if which == "core" else max(one, results[f"{way}_all"], key=lambda item: item.value)


def _derive_memory(results: Quantities, cores: int) -> dict[str, Number]:
    """Rates of memory beyond those of the first cache: its times add to that of a core's accesses."""
    numbers = {
        "latency": find_latency(results, "memory"),
        "page_fault_latency": _derive_page_fault(results),
    }
    for which, share, name in (("all", cores, "attained"), ("core", 1, "core")):
        used = [
            memory_bandwidth(results, level, which)
            for level in ("first_load", "memory_load", "memory_copy", "first_copy")
        ]
        first, memory, copied, near = (share / item.value for item in used)
        least, about = SMALLEST_LOADS * memory, "loads, beyond those from the first cache"
        otherwise = f"{1 / SMALLEST_LOADS:g} times that of loads, which took as long from the first cache"
        loads = max(memory - first, least)  # seconds a byte
        rate = make_rate_of_difference((memory - first) / share, least / share, about, otherwise, *used[:2])
        numbers[f"{name}_bandwidth"] = rate
        least, about = SMALLEST_STORES * loads, "what a copy takes beyond its loads"
        otherwise = f"{1 / SMALLEST_STORES:g} times that of loads: copies took no longer than their loads"
        stores = 2 * (copied - near - loads)  # a copy loads what it writes, too
        rate = make_rate_of_difference(stores / share, least / share, about, otherwise, *used)
        numbers[f"{name}_store_bandwidth"] = rate
    return numbers
