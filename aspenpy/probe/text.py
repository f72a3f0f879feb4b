"""The text of a machine: its numbers in the components of a node, each with where it is from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from aspenpy.probe.number import Number, Numbers
from aspenpy.probe.topology import HostTopology
from aspenpy.record import Record


class About(Record):
    """The head of the file: the date, the host, the tools, and remarks on how the numbers came about."""

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
      logic [base*integer_latency], shift [base*integer_latency], minmax [base*2*integer_latency],
      integer_multiply [base*integer_multiply_latency], forwarded [base*forward_latency],
      restarts(steps) [base*max(1 - reorder/steps/(floor(reorder/steps) + 1), 1/(floor(reorder/steps) + 2))]
  resource accesses(number) [number/clock] with unaligned [base*unaligned]  // of words, or of vectors
  resource intops(number) [number/(clock*integer_rate)]
  resource branches(number) [number/clock]
      with mispredicted(rate) [base*rate*mispredict_penalty],
      dp [base*mispredict_dp_penalty/mispredict_penalty], behind(cycles) [base*(1 + cycles/mispredict_penalty)],
      repeated(outcomes) [base/(1 + (learnt_outcomes/outcomes)^4)]
  resource atomics(number) [number*atomic_latency/clock]
      with contended(cores) [base*cores*{name}_socket.transfer_latency*clock/atomic_latency]
  resource locks(number) [number*(atomic_latency + forward_latency)/clock]
      with contended(cores) [base*cores*{name}_socket.transfer_latency*clock/(atomic_latency + forward_latency)]
  conflict flops, branches  // what was begun on the wrong way is lost
  conflict intops, branches"""

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

SOCKET = """\
  resource barriers(number) [number*barrier_latency]
  resource forks(number) [number*thread_start_latency]"""


def write_machine(name: str, numbers: Numbers, host: HostTopology, about: About) -> str:
    """The machine in Aspen, complete in all its numbers. `name` is a name of the language, all else is our own or
    escaped: it stands in comments of one line."""
    clock = numbers["core"]["clock"]
    core = {key: value for key, value in numbers["core"].items() if key != "clock"}
    caches = sorted(part for part in numbers if part[0] == "l")
    outside = [cache for cache in caches if _count_sharing_cores(cache, host) > 1]
    translation = [TRANSLATION] if "tlb_latency" in core else []
    parts = [
        _write_head(name, host, about),
        f"param {name}_clock = {clock.text}  // {_escape(clock.source)}\n",
        f"machine {name} {{\n  node {name}_node\n}}\n",
        _write_component("node", f"{name}_node", _list_node_parts(name, host, numbers)),
        _write_component(
            "socket",
            f"{name}_socket",
            [*_list_socket_parts(name, host, outside), *_write_properties(numbers["socket"]), SOCKET],
        ),
        _write_component(
            "core",
            f"{name}_core",
            [
                "  property rank  // a rank for each core",
                f"  property clock [{name}_clock]",
                *_write_properties(core),
                CORE.format(name=name),
            ]
            + [f"  cache {name}_{cache}" for cache in caches if cache not in outside],
        ),
        *(_write_component("cache", f"{name}_{cache}", _write_properties(numbers[cache])) for cache in caches),
        _write_component("memory", f"{name}_memory", [*_write_properties(numbers["memory"]), MEMORY, *translation]),
        *_write_devices(name, numbers),
    ]
    return "\n".join(parts)


def _write_head(name: str, host: HostTopology, about: About) -> str:
    count = f"{host.sockets} socket{'s' * (host.sockets > 1)} of {host.cores} core{'s' * (host.cores > 1)}"
    lines = [
        f"{name}: {_escape(host.processor)}, {count}, {host.threads} thread{'s' * (host.threads > 1)} each.",
        "",
        "kind: cpu",
        "vendor: " + _find_vendor(host.processor),
        f"year: {about.date[:4]}",
        "",
        f"Written by `aspenpy machine probe` on {_escape(about.date)}, host {_escape(about.host)}.",
        *map(_escape, about.remarks),
    ]
    return "\n".join(f"// {line}".rstrip() for line in lines) + "\n"


def _find_vendor(processor: str) -> str:
    vendors = ("AMD", "Intel", "ARM", "IBM", "NVIDIA", "Fujitsu", "Ampere", "Apple")
    return next((vendor for vendor in vendors if vendor.lower() in processor.lower()), "unknown")


def _escape(text: str) -> str:
    """A text of others as part of a comment: one line, printable."""
    return "".join(sign if sign.isprintable() else " " for sign in text).strip()[:200]


def _write_component(kind: str, name: str, lines: Iterable[str]) -> str:
    return "\n".join([f"{kind} {name} {{", *lines, "}", ""])


def _write_properties(numbers: dict[str, Number]) -> Iterator[str]:
    for name, number in numbers.items():
        yield f"  property {name} [{number.text}]  // {_escape(number.source)}"


def _count_sharing_cores(cache: str, host: HostTopology) -> int:
    stated = host.cache(int(cache[1:]))
    return 1 if stated is None else stated.sharing


def _write_devices(name: str, numbers: Numbers) -> Iterator[str]:
    """Writes devices beside the processor: messages between processes, a GPU."""
    if "messages" in numbers:
        yield _write_component("interconnect", f"{name}_messages", [*_write_properties(numbers["messages"]), MESSAGES])
    if "gpu" not in numbers:
        return
    core, memory, link = (f"{name}_{part}" for part in ("gpu_core", "gpu_memory", "gpu_link"))
    count = numbers["gpus"]["multiprocessors"]
    inside = [f"  core [{count.text}] {core}  // {_escape(count.source)}", f"  memory {memory}", f"  link {link}"]
    device = "  property rank  // a rank for each device"
    yield _write_component("socket", f"{name}_gpu", [device, *inside, *_write_properties(numbers["gpu"])])
    lanes = "  property simt  // a part of the work for each lane"
    yield _write_component("core", core, [lanes, *_write_properties(numbers["gpu_core"]), GPU_CORE])
    yield _write_component("memory", memory, [*_write_properties(numbers["gpu_memory"]), GPU_MEMORY])
    yield _write_component("link", link, [*_write_properties(numbers["gpu_link"]), LINK])


def _list_node_parts(name: str, host: HostTopology, numbers: Numbers) -> Iterator[str]:
    yield f"  socket [{host.sockets}] {name}_socket  // {_escape(host.said_by)}"
    if "gpus" in numbers:
        devices = numbers["gpus"]["devices"]
        yield f"  socket [{devices.text}] {name}_gpu  // {_escape(devices.source)}"
    if "messages" in numbers:
        yield f"  interconnect {name}_messages  // between processes of the node"


def _list_socket_parts(name: str, host: HostTopology, shared: Sequence[str]) -> Iterator[str]:
    yield f"  core [{host.cores}] {name}_core  // {_escape(host.said_by)}"
    for cache in shared:
        count = max(1, host.cores // _count_sharing_cores(cache, host))
        yield f"  cache [{count}] {name}_{cache}  // {_escape(host.said_by)}"
    yield f"  memory [{host.domains}] {name}_memory  // NUMA domains: {_escape(host.said_by)}"
