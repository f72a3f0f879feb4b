"""The text of a machine: its numbers in the components of a node, each with where it is from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from aspenpy.probe.number import Number, Numbers
from aspenpy.probe.topology import Topology
from aspenpy.record import Record


class About(Record):
    """What the head of the file says: the date, the host, the tools, and remarks on how the numbers came about."""

    date: str
    host: str
    remarks: Sequence[str] = ()


CORE = """\
  resource flops(number) [number/(clock*issue)]
      with sp [base], dp [base*2], simd [base/simd_width], fmad [base/fma_gain]
  resource chain(number) [number/clock]
      with integer [base*integer_latency], add [base*add_latency], multiply [base*multiply_latency],
      fma [base*fma_latency], divide [base*divide_latency], square_root [base*square_root_latency],
      compare [base*compare_latency], convert [base*convert_latency], load [base*load_latency],
      restarts(steps) [base*max(1 - reorder/steps/(floor(reorder/steps) + 1), 1/(floor(reorder/steps) + 2))]
  resource accesses(number) [number/clock] with unaligned [base*unaligned]  // of words, or of vectors
  resource intops(number) [number/(clock*integer_rate)]"""

MEMORY = """\
  resource loads(volume) [volume/attained_bandwidth]
  resource stores(volume) [volume/attained_store_bandwidth]
  conflict loads, stores
  conflict accesses, loads  // what comes from memory waits for the core's own loads and stores, and these for it"""

TRANSLATION = "  conflict tlb, loads  // a line is asked for when its page is known"

GPU_CORE = """\
  resource flops(number) [number/(clock*issue)]
      with sp [base], dp [base*fma_sp_simd_rate/fma_dp_simd_rate], simd [base/simd_width], fmad [base/fma_gain]"""

GPU_MEMORY = """\
  resource loads(volume) [volume/attained_bandwidth]
  resource stores(volume) [volume/attained_store_bandwidth]
  conflict loads, stores"""

LINK = "  resource intracomm(volume) [latency + volume/bandwidth]"

MESSAGES = "  resource messages(volume) [latency + volume/bandwidth]  // one message of so many bytes"

SOCKET = "  resource barriers(number) [number*barrier_latency]"


def machine_text(name: str, numbers: Numbers, host: Topology, about: About) -> str:
    """The machine in Aspen, complete in all its numbers. `name` is a name of the language, all else is our own or
    escaped: it stands in comments of one line."""
    clock = numbers["core"]["clock"]
    core = {key: value for key, value in numbers["core"].items() if key != "clock"}
    caches = sorted(part for part in numbers if part[0] == "l")
    outside = [cache for cache in caches if _sharing(cache, host) > 1]
    translation = [TRANSLATION] if "tlb_latency" in core else []
    parts = [
        _head(name, host, about),
        f"param {name}_clock = {clock.text}  // {_line(clock.source)}\n",
        f"machine {name} {{\n  node {name}_node\n}}\n",
        _component("node", f"{name}_node", _inside_node(name, host, numbers)),
        _component(
            "socket", f"{name}_socket", [*_inside_socket(name, host, outside), *_properties(numbers["socket"]), SOCKET]
        ),
        _component(
            "core",
            f"{name}_core",
            ["  property rank  // a rank for each core", f"  property clock [{name}_clock]", *_properties(core), CORE]
            + [f"  cache {name}_{cache}" for cache in caches if cache not in outside],
        ),
        *(_component("cache", f"{name}_{cache}", _properties(numbers[cache])) for cache in caches),
        _component("memory", f"{name}_memory", [*_properties(numbers["memory"]), MEMORY, *translation]),
        *_devices(name, numbers),
    ]
    return "\n".join(parts)


def _head(name: str, host: Topology, about: About) -> str:
    count = f"{host.sockets} socket{'s' * (host.sockets > 1)} of {host.cores} core{'s' * (host.cores > 1)}"
    lines = [
        f"{name}: {_line(host.processor)}, {count}, {host.threads} thread{'s' * (host.threads > 1)} each.",
        "",
        "kind: cpu",
        "vendor: " + _vendor(host.processor),
        f"year: {about.date[:4]}",
        "",
        f"Written by `aspenpy machine probe` on {_line(about.date)}, host {_line(about.host)}.",
        *map(_line, about.remarks),
    ]
    return "\n".join(f"// {line}".rstrip() for line in lines) + "\n"


def _vendor(processor: str) -> str:
    vendors = ("AMD", "Intel", "ARM", "IBM", "NVIDIA", "Fujitsu", "Ampere", "Apple")
    return next((vendor for vendor in vendors if vendor.lower() in processor.lower()), "unknown")


def _line(text: str) -> str:
    """A text of others as part of a comment: one line, printable."""
    return "".join(sign if sign.isprintable() else " " for sign in text).strip()[:200]


def _component(kind: str, name: str, lines: Iterable[str]) -> str:
    return "\n".join([f"{kind} {name} {{", *lines, "}", ""])


def _properties(numbers: dict[str, Number]) -> Iterator[str]:
    for name, number in numbers.items():
        yield f"  property {name} [{number.text}]  // {_line(number.source)}"


def _sharing(cache: str, host: Topology) -> int:
    stated = host.cache(int(cache[1:]))
    return 1 if stated is None else stated.sharing


def _devices(name: str, numbers: Numbers) -> Iterator[str]:
    """What there is beside the processor: messages between processes, a GPU."""
    if "messages" in numbers:
        yield _component("interconnect", f"{name}_messages", [*_properties(numbers["messages"]), MESSAGES])
    if "gpu" not in numbers:
        return
    core, memory, link = (f"{name}_{part}" for part in ("gpu_core", "gpu_memory", "gpu_link"))
    count = numbers["gpus"]["multiprocessors"]
    inside = [f"  core [{count.text}] {core}  // {_line(count.source)}", f"  memory {memory}", f"  link {link}"]
    device = "  property rank  // a rank for each device"
    yield _component("socket", f"{name}_gpu", [device, *inside, *_properties(numbers["gpu"])])
    lanes = "  property simt  // a part of the work for each lane"
    yield _component("core", core, [lanes, *_properties(numbers["gpu_core"]), GPU_CORE])
    yield _component("memory", memory, [*_properties(numbers["gpu_memory"]), GPU_MEMORY])
    yield _component("link", link, [*_properties(numbers["gpu_link"]), LINK])


def _inside_node(name: str, host: Topology, numbers: Numbers) -> Iterator[str]:
    yield f"  socket [{host.sockets}] {name}_socket  // {_line(host.said_by)}"
    if "gpus" in numbers:
        devices = numbers["gpus"]["devices"]
        yield f"  socket [{devices.text}] {name}_gpu  // {_line(devices.source)}"
    if "messages" in numbers:
        yield f"  interconnect {name}_messages  // between processes of the node"


def _inside_socket(name: str, host: Topology, shared: Sequence[str]) -> Iterator[str]:
    yield f"  core [{host.cores}] {name}_core  // {_line(host.said_by)}"
    for cache in shared:
        count = max(1, host.cores // _sharing(cache, host))
        yield f"  cache [{count}] {name}_{cache}  // {_line(host.said_by)}"
    yield f"  memory [{host.domains}] {name}_memory  // NUMA domains: {_line(host.said_by)}"
