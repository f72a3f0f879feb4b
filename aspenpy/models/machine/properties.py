"""The properties that machines state by convention: one row for each, from which checks of dimensions and of plausible
values, units of tables, completion and hover in editors, and the table of docs/models/conventions.md derive.

What follows from a property stands where times and energies are worked out; a machine may state others as well.
"""

from __future__ import annotations

from fractions import Fraction

from aspenpy.language.dimensions import DIMENSIONLESS, UNITS, Dimension, format_quantity, parse_unit
from aspenpy.language.vocabulary import INTEGER_CLASSES, INTEGER_WIDTHS, OPERATION_CLASSES
from aspenpy.record import Record

LATENCY = "a latency cannot be negative"
CYCLES = "a number of cycles cannot be negative"
WORD, FLAG = "word", "flag"
"""Instead of a unit: a property that is one of some words, and one that is stated without a value."""


class MachineProperty(Record):
    """A property of the components `of` some types (blanks between), in a unit of the language; `1` is a plain number
    that has no other unit. Other words say what is counted, where a formula may use the number in any sense.

    `low` and `high` are plausible ends in that unit, "" for any; `below` says what a smaller value means.
    Properties of one `family` are one line of the table.
    """

    name: str
    of: str
    unit: str
    meaning: str
    low: str = ""
    high: str = ""
    below: str = "is the unit missing?"
    family: str = ""

    @property
    def dimension(self) -> Dimension | None:
        """Dimension of the property; a bare number is taken in its unit. None where nothing is known."""
        try:
            return DIMENSIONLESS if self.unit == "1" else parse_unit(self.unit).dimension
        except KeyError:
            return None

    @property
    def symbol(self) -> str:
        """The unit that messages write behind a value; empty where there is none."""
        return self.unit if self.dimension else self.unit.split(" ")[0] if self.unit.split(" ")[0] in UNITS else ""

    @property
    def limits(self) -> tuple[Fraction, Fraction] | None:
        """The ends between which a value is plausible."""
        return (Fraction(self.low), Fraction(self.high)) if self.low else None


_Row = MachineProperty

_PRECISIONS = ("dp", "sp", "tf32", "bf16", "fp16", "fp8", "fp4", "int8")

_CORE = (
    _Row("clock", "core", "Hz", "cycles a second", "1e6", "1e10"),
    _Row("issue", "core", "flop a cycle", "operations that start in a cycle", "0.01", "64",
         "the number of flops a core completes in a cycle"),
    _Row("simd_width", "core", "lanes", "single-precision lanes of a vector", "1", "4096",
         "scalar code has a width of 1"),
    _Row("fma_gain", "core", "", "what fused multiply-adds gain", "1", "2",
         "a core that does not fuse has a gain of 1"),
    _Row("adders", "core", "pipes", "pipes that begin additions, and no products", "1", "16",
         "leave it out where additions and products begin in the same pipes"),
    _Row("threads", "core", "threads", "hardware threads of a core", "1", "8", "those of a core, not of its socket"),
    _Row("outstanding", "core", "lines", "cache misses in flight", "1", "8192",
         "a core has at least one miss in flight"),
    _Row("scheduling_model", "core", WORD, "the name that LLVM has for the scheduling model of the processor"),
    _Row("mispredict_penalty", "core", "cycles", "cycles lost to a mispredicted branch", "0", "100", CYCLES),
    _Row("learnt_outcomes", "core", "", "branches of a repeated sequence of which half are guessed", "1", "1e7"),
    _Row("forward_latency", "core", "cycles", "cycles from a store to the load of the same place", "0", "100", CYCLES),
    *(_Row(f"{name}_latency", "core", "cycles", "cycles until the result of an operation is there",
           "0", "1000", CYCLES, "<class>_latency")
      for name in OPERATION_CLASSES),
    *(_Row("_".join((name, *precision, *width, "rate")), "core", "operations a cycle", "rate of a class of operations",
           "1e-3", "2e6", "operations a cycle, not cycles", "<class>_<precision>_simd_rate")
      for name in OPERATION_CLASSES
      for precision in ((), *zip(_PRECISIONS))
      for width in ((), ("simd",))),
    *(_Row("_".join((name, *width, *lanes, "rate")), "core", "operations a cycle", "rate of a class of whole numbers",
           "1e-3", "1e5", "operations a cycle, not cycles", "<integer class>_<width>_simd_rate")
      for name in INTEGER_CLASSES
      for width in ((), *zip(INTEGER_WIDTHS))
      for lanes in ((), ("simd",))
      if (name, width) not in {("integer", ()), ("integer", ("int8",))}),
    *(_Row(f"{name}_vectors", "core", "vectors a cycle", "vectors of whole numbers of a class that begin in a cycle",
           "0.01", "16", "vectors a cycle, not cycles", "<integer class>_vectors")
      for name in INTEGER_CLASSES),
    _Row("integer_multiply_latency", "core", "cycles", "cycles until a product of integers is there",
         "0", "1000", CYCLES),
    _Row("atomic_latency", "core", "cycles", "cycles of an atomic operation in the first cache", "0", "10000", CYCLES),
    _Row("atomic_interval", "core", "cycles", "cycles between atomic operations of a GPU on a word",
         "0.01", "1000", CYCLES),
    _Row("reorder", "core", "steps", "steps of a loop of short chains at once", "0", "10000",
         "a core works on at least its own step"),
    _Row("unaligned", "core", "", "accesses that one across two lines counts as", "1", "64",
         "an access takes at least itself"),
    *(_Row("_".join(("tensor", *precision, "attained")), "core", "", "the part of a tensor peak that is attained",
           "0.01", "1.3", "the part of a peak that is attained", "tensor_<precision>_attained")
      for precision in ((), *zip(_PRECISIONS))),
    _Row("page", "core", "B", "size of a page of virtual memory", "512", "1e11"),
    _Row("tlb_entries", "core", "entries", "entries of the last TLB", "1", "1e6", "a TLB has at least one entry"),
    _Row("tlb_ways", "core", "ways", "associativity of the last TLB", "1", "1e6", "a direct-mapped TLB has one way"),
    _Row("tlb_latency", "core", "s", "time of a page walk while `tlb_walks` are done", "0", "1e-5", LATENCY),
    _Row("tlb_walks", "core", "", "page walks at once", "1", "64",
         "a core does at least one page walk at a time"),
    _Row("simt", "core", FLAG, "each lane of a vector works on a part of its own, as on GPUs"),
    _Row("warp", "core", "threads", "threads that take each instruction together", "1", "128"),
    _Row("resident_threads", "core", "threads", "threads that reside at once", "32", "1e5"),
    _Row("resident_blocks", "core", "blocks", "blocks of threads that reside at once", "1", "1e4"),
    _Row("registers", "core", "registers", "registers of 4 bytes of all threads together", "1024", "1e7"),
    _Row("scratchpad", "core", "B", "memory that the threads of a block share", "0", "1e8"),
    _Row("scratchpad_unit", "core", "B", "bytes in multiples of which a block has some of it", "1", "1e6"),
    _Row("block_latency", "core", "s", "time in which a block of threads follows another, without its waits",
         "0", "1e-4", LATENCY),
    _Row("scratchpad_reserved", "core", "B", "bytes of it that each block has beside its own", "0", "1e6"),
    _Row("scratchpad_latency", "core", "cycles", "latency of a load of it", "1", "1e4", CYCLES),
    _Row("barrier_cycles", "core", "cycles", "latency of a barrier of a block of one warp", "0", "1e4", CYCLES),
    _Row("barrier_threads", "core", "threads", "threads that come to a barrier in a cycle", "1", "1e4"),
    _Row("schedulers", "core", "instructions", "instructions of warps that begin in a cycle", "1", "64"),
)  # fmt: skip

_SOCKET = (
    _Row("launch_latency", "socket", "s", "time until a block begins", "0", "1e-3", LATENCY),
    _Row("barrier_latency", "socket", "s", "time of a barrier of all threads", "0", "1e-3", LATENCY),
    _Row(
        "thread_start_latency", "socket", "s", "time to start a thread on each core and to end them", "0", "1", LATENCY
    ),
    _Row("process_start_latency", "socket", "s", "time to start and end a process", "0", "10", LATENCY),
    _Row("transfer_latency", "cache socket node", "s", "time of a line from core to core", "1e-10", "1e-5"),
    _Row("noise_interval", "core socket node", "s", "time between two interruptions by the system", "1e-6", "1e5",
         "the mean time between interruptions"),
    _Row("noise_length", "core socket node", "s", "time of an interruption by the system", "0", "1",
         "a length cannot be negative"),
    _Row("schedule", "socket", WORD, "how parts of a loop are dealt out to kinds of cores"),
    _Row("affinity", "socket memory", WORD, "how threads are bound to cores"),
    _Row("rank", "core socket node", FLAG, "what one rank occupies"),
    _Row("ranks_per_node", "node", "ranks", "ranks that a node takes", "1", "1e6", "a node takes whole ranks"),
    _Row("hourly_price", "node", "", "what it costs to rent it for an hour, in any currency", "1e-3", "1e5",
         "the price of an hour, not of a core or of a second"),
    _Row("list_price", "socket", "", "what one was sold for when it came out, in any currency", "1", "1e7",
         "the price of one, not of a thousand"),
    _Row("ranks_per_socket", "socket", "ranks", "ranks that a socket takes", "1", "1e6", "a socket takes whole ranks"),
    _Row("distribution", "node socket memory", WORD, "how ranks are dealt out to nodes, sockets, NUMA domains"),
    _Row("year", "core socket", "1", "when it came out, by which what is not stated is assumed", "1970", "2100",
         "the year with its century"),
)  # fmt: skip

_CACHE = (
    _Row("capacity", "cache", "B", "bytes that it holds", "256", "1e11"),
    _Row("chain_capacity", "cache", "B", "bytes of it that loads find which wait for each other", "256", "1e11"),
    _Row("cacheline", "cache", "B", "bytes of a line", "8", "4096"),
    _Row("sector", "cache", "B", "bytes of a line that a miss fetches", "4", "4096"),
    _Row("associativity", "cache", "ways", "lines of a set", "1", "4096", "a direct-mapped cache has one way"),
    _Row("sharing", "cache", "cores", "cores that share one", "1", "1e6", "a private cache is shared by 1 core"),
    _Row("latency", "cache", "s", "time of a dependent load", "0", "1e-5", LATENCY),
    _Row("far_latency", "cache", "s", "time of a load from the other half", "0", "1e-5", LATENCY),
    _Row("set_latency", "cache", "s", "time between two lines read into one set", "0", "1e-6", LATENCY),
    _Row("set_store_latency", "cache", "s", "time between two lines written into one set", "0", "1e-6", LATENCY),
    _Row("bandwidth", "cache", "B/s", "peak rate", "1e6", "1e15"),
    _Row("store_port_bandwidth", "cache", "B/s", "rate of stores alone", "1e6", "1e15"),
    _Row("prefetch", "cache", "lines", "lines that a miss fetches", "1", "16", "a miss fetches its own line"),
    _Row("prefetch_reach", "cache", "B", "longest stride that is prefetched", "64", "65536",
         "a prefetcher reaches at least the next line"),
    _Row("store_evasion", "cache", "", "share of lines stored in full that are not fetched", "0", "1",
         "a share is not negative"),
    _Row("store_evasion_cores", "cache", "cores", "cores at work beyond which evasion begins", "0", "1e6",
         "a number of cores is not negative"),
    _Row("policy", "cache", WORD, "which line is replaced"),
    _Row("inclusion", "cache", WORD, "which lines inner caches may hold besides"),
    _Row("writes", "cache", WORD, "what a store miss does"),
    _Row("serial", "cache memory", FLAG, "transfers of the level do not overlap with those inside"),
)  # fmt: skip

_MEMORY = (
    _Row("capacity", "memory", "B", "bytes that it holds", "65536", "1e15"),
    _Row("bandwidth", "memory", "B/s", "peak rate", "1e6", "1e14"),
    _Row("attained_bandwidth", "cache memory", "B/s", "rate of loads that all cores attain", "1e6", "1e15"),
    _Row("attained_store_bandwidth", "cache memory", "B/s", "rate of stores that all cores attain", "1e6", "1e15"),
    _Row(
        "random_bandwidth", "memory", "B/s", "rate of loads of sectors at random, which open a row each", "1e6", "1e14"
    ),
    _Row("random_store_bandwidth", "memory", "B/s", "rate of stores of sectors at random", "1e6", "1e14"),
    _Row("core_bandwidth", "cache memory core", "B/s", "rate of loads that one core attains", "1e6", "1e15"),
    _Row("core_store_bandwidth", "cache memory", "B/s", "rate of stores that one core attains", "1e6", "1e15"),
    _Row("remote_bandwidth", "memory", "B/s", "rate of loads from another socket", "1e6", "1e14"),
    _Row("latency", "memory", "s", "time of a dependent load", "0", "1e-4", LATENCY),
    _Row("channels", "memory", "channels", "channels to it", "1", "1024", "a memory has at least one channel"),
    _Row("channel_bandwidth", "memory", "B/s", "peak rate of a channel", "1e6", "1e13"),
    _Row("page_fault_latency", "memory", "s", "time of the first touch of a page", "0", "1e-3", LATENCY),
)

_NETWORK = (
    _Row("bandwidth", "link interconnect", "B/s", "rate of a link or port", "1e5", "1e14"),
    _Row("latency", "link", "s", "time of an empty message", "0", "1e-2", LATENCY),
    _Row("latency", "interconnect", "s", "time of an empty message", "0", "1e-1", LATENCY),
    _Row("hop_latency", "interconnect", "s", "time through a switch", "0", "1e-3", LATENCY),
    _Row("link_bandwidth", "interconnect", "B/s", "rate of a link between switches", "1e5", "1e14"),
    _Row("other_traffic", "interconnect", "", "part of the network's links that other jobs take", "0", "0.95"),
    _Row("rails", "interconnect", "ports", "ports over which a rank stripes a long message", "1", "64"),
    _Row("in_switch_bandwidth", "interconnect", "B/s", "vector that switches reduce in a second", "1e6", "1e14"),
    _Row("eager_bandwidth", "interconnect", "B/s", "rate of a message that is copied on its way", "1e6", "1e13"),
    _Row("pipelined", "interconnect", FLAG, "collectives run in pieces on all paths at once"),
    _Row("message_rate", "interconnect", "message/s", "messages that a port sends in a second", "1e3", "1e12"),
    _Row("reduction_bandwidth", "interconnect", "B/s", "rate at which a rank reduces what arrives", "1e6", "1e14"),
    _Row("total_bandwidth", "interconnect", "B/s", "rate of the whole network", "1e5", "1e18"),
    _Row("rendezvous_threshold", "interconnect", "B", "size from which messages ask before", "0", "1e10"),
    _Row("rendezvous_latency", "interconnect", "s", "time of asking before", "0", "1e-1", LATENCY),
    _Row("topology", "interconnect", WORD, "shape of the network"),
    _Row("placement", "interconnect", WORD, "where ranks are placed in it"),
    _Row("progress", "interconnect", WORD, "whether messages go on while ranks compute"),
    _Row("mpi", "interconnect", WORD, "library that chooses algorithms of collectives"),
    _Row("joins", "link", WORD, "what a link joins"),
    _Row("bandwidth", "file_system", "B/s", "rate of a server", "1e5", "1e14"),
    _Row("write_bandwidth", "file_system", "B/s", "rate of a server that is written to", "1e5", "1e14"),
    _Row("client_bandwidth", "file_system", "B/s", "rate of a node", "1e5", "1e14"),
    _Row("latency", "file_system", "s", "time to open a file", "0", "60", LATENCY),
    _Row("capacity", "file_system", "B", "bytes that a server holds", "1e6", "1e20"),
)

_POWER = (
    _Row("idle", "any", "W", "power of a component at rest"),
    _Row("tdp", "any", "W", "design power of a component"),
    _Row("efficiency", "any", "1", "part of the power that comes out"),
    _Row("idle_power", "socket", "W", "power of a socket whose cores do nothing"),
    _Row("sleep_power", "socket", "W", "power of a socket asleep"),
    _Row("power_cap", "socket", "W", "limit of the power of a socket"),
    _Row("active_core_power", "socket", "W", "power that a core at work adds"),
    _Row("uncore_power", "socket", "W", "power of what cores share at its reference clock"),
    _Row("uncore_clock", "socket", "Hz", "clock of what cores share"),
    _Row("uncore_reference", "socket", "Hz", "clock for which its power is stated"),
    _Row("uncore_least", "socket", "1", "part of its power without traffic"),
    _Row("uncore_saturation", "socket", "1", "part of the peak traffic at which its power is full"),
    _Row("voltage", "socket", "1", "voltage of the cores, of that for which power is stated", "0.3", "2"),
    _Row("voltage_curve", "socket", WORD, "how it is known: measured, published or assumed"),
    _Row("bandwidth_share", "socket", "1", "part of the bandwidth of its memories that cores draw", "0.05", "1"),
    _Row("core_bandwidth_pace", "socket", "1", "what one core draws, relative to the base clock", "0.05", "5"),
    _Row("constant_power", "socket", "W", "power of the energy roofline at any intensity"),
    _Row("energy_per_byte", "socket memory", "J/B", "energy of a byte"),
    _Row("energy_per_flop", "socket", "J/flop", "energy of a flop"),
    *(_Row(f"energy_per_flop_{name}", "socket", "J/flop", "energy of a flop of a kind", family="energy_per_flop_<kind>")
      for name in (*_PRECISIONS, "tensor", *(f"tensor_{precision}" for precision in _PRECISIONS))),
)  # fmt: skip

PROPERTIES: tuple[MachineProperty, ...] = (*_CORE, *_SOCKET, *_CACHE, *_MEMORY, *_NETWORK, *_POWER)

PROPERTY_DIMENSIONS: dict[str, Dimension] = {
    row.name: dimension for row in PROPERTIES if (dimension := row.dimension) is not None
}
"""What properties are in, by name."""

WORDS = frozenset(row.name for row in PROPERTIES if row.unit == WORD)
"""Properties whose brackets hold a word that is no parameter."""


def describe_property(name: str) -> str:
    """The meaning of a property and its unit, for each kind of component that states it; empty for one of no row."""
    rows = [row for row in PROPERTIES if row.name == name]
    return "; ".join(f"{row.of.replace(' ', ', ')}: {row.meaning}{row.unit and f' ({row.unit})'}" for row in rows)


def properties_table() -> str:
    """The table as Markdown."""
    lines = ["| property | of | unit | meaning | plausible |", "|---|---|---|---|---|"]
    for row in {row.family or (row.name, row.of): row for row in PROPERTIES}.values():
        ends = [format_quantity(end, row.symbol) for end in row.limits or ()]
        of = ", ".join(f"`{each}`" if each != "any" else each for each in row.of.split())
        cells = (f"`{row.family or row.name}`", of, row.unit, row.meaning, " to ".join(ends))
        lines.append(f"| {' | '.join(cells)} |".replace("|  |", "| |"))
    return "\n".join(lines) + "\n"
