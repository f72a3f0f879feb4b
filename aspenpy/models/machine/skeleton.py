"""Skeletons: commented machine models to begin with, complete as they stand."""

from __future__ import annotations

from typing import Literal, get_args

Kind = Literal["cpu", "gpu", "cluster"]
KINDS: tuple[Kind, ...] = get_args(Kind)

HEAD = """\
// {name}: {what}.
//
// kind: {kind}
// vendor: unknown
// year: 2020
//
// A skeleton: its numbers are round and stand for no real hardware. Replace each, and say where it is from:
//   // 2.3 GHz: the vendor's data sheet
// `aspenpy machine check` finds those that can hardly be true, `aspenpy show` lists them with their sources.

"""

CPU_PARAMETERS = """\
// What a designer would turn is a parameter with a range: --set {name}_clock=3e9 asks for another value.
param {name}_cores = 16 in 1 .. 256  // of a socket
param {name}_clock = 2.5 GHz in 1 GHz .. 4 GHz  // assumed
param {name}_bandwidth = 100 GB/s in 10 GB/s .. 1000 GB/s  // of a socket's memory, assumed

"""

CPU_PARTS = """\
node {name}_node {{
  socket [2] {name}_socket  // assumed
}}

// A socket's power: what it draws idle, and what it draws on top of that at full load.
socket {name}_socket {{
  core [{name}_cores] {name}_core
  cache {name}_l2
  memory {name}_memory
  link {name}_link
  static power [20 W]  // assumed
  dynamic power [150 W - 20 W]  // thermal design power, assumed, less the idle power
}}

core {name}_core {{
  property clock [{name}_clock]
  property issue [2 flop]  // a cycle, in scalar single precision: two pipes, assumed
  property simd_width [8]  // single-precision lanes: 256 bits, assumed
  property fma_gain [2]  // 2 where the core fuses a multiplication and an addition, else 1
  // Seconds of so many flops, and how each trait changes them.
  resource flops(number) [number/(clock*issue)]
      with sp [base], dp [base*2], simd [base/simd_width], fmad [base/fma_gain]
  cache {name}_l1
}}

// Caches price nothing; they are here for other tools. A cache stands where it is shared.
cache {name}_l1 {{
  property capacity [32 KiB]  // assumed
  property associativity [8]  // ways, assumed
  property cacheline [64 B]  // assumed
  property sharing [1]  // cores that share it
}}

cache {name}_l2 {{
  property capacity [32 MiB]  // assumed
  property associativity [16]  // ways, assumed
  property cacheline [64 B]  // assumed
  property sharing [{name}_cores]
}}

memory {name}_memory {{
  property capacity [128 GiB]  // assumed
  property bandwidth [{name}_bandwidth]
  property latency [90 ns]  // assumed
  resource loads(volume) [volume/bandwidth]
  resource stores(volume) [volume/bandwidth]
  conflict loads, stores  // both use the one memory bus
  static power [1 W]  // assumed
  dynamic power [9 W]  // assumed
}}

// Between the sockets of a node.
link {name}_link {{
  property latency [1 us]  // assumed
  property bandwidth [20 GB/s]  // assumed
  resource intracomm(volume) [latency + volume/bandwidth]
}}
"""

GPU_PARAMETERS = """\
// What a designer would turn is a parameter with a range: --set {name}_clock=1e9 asks for another value.
param {name}_multiprocessors = 100 in 1 .. 1000
param {name}_clock = 1.5 GHz in 500 MHz .. 3 GHz  // assumed
param {name}_bandwidth = 2000 GB/s in 100 GB/s .. 10000 GB/s  // assumed

"""

GPU_PARTS = """\
node {name}_node {{
  socket {name}_socket
}}

// The board's power: what it draws idle, and what it draws on top of that at full load. Its memory is in it.
socket {name}_socket {{
  core [{name}_multiprocessors] {name}_multiprocessor
  cache {name}_l2
  memory {name}_memory
  link {name}_link
  static power [50 W]  // assumed
  dynamic power [400 W - 50 W]  // board power, assumed, less the idle power
}}

core {name}_multiprocessor {{
  property clock [{name}_clock]
  property issue [1 flop]  // a cycle and lane
  property simd_width [64]  // single-precision lanes, assumed
  property fma_gain [2]  // 2 where a lane fuses a multiplication and an addition, else 1
  // Seconds of so many flops, and how each trait changes them: here double precision has half the lanes.
  resource flops(number) [number/(clock*issue)]
      with sp [base], dp [base*2], simd [base/simd_width], fmad [base/fma_gain]
}}

// Caches price nothing; they are here for other tools.
cache {name}_l2 {{
  property capacity [32 MiB]  // assumed
  property associativity [16]  // ways, assumed
  property cacheline [128 B]  // assumed
  property sharing [{name}_multiprocessors]
}}

memory {name}_memory {{
  property capacity [80 GiB]  // assumed
  property bandwidth [{name}_bandwidth]
  property latency [400 ns]  // assumed
  resource loads(volume) [volume/bandwidth]
  resource stores(volume) [volume/bandwidth]
  conflict loads, stores  // both use the one memory bus
}}

// To the host, one direction.
link {name}_link {{
  property latency [10 us]  // assumed
  property bandwidth [25 GB/s]  // assumed
  resource intracomm(volume) [latency + volume/bandwidth]
}}
"""

ALONE = """\
machine {name} {{
  node {name}_node
}}

"""

NODES = "param {name}_nodes = 64 in 1 .. 10000  // assumed\n\n"

CLUSTER = """\
machine {name} {{
  node [{name}_nodes] {name}_node
  interconnect [{name}_nodes] {name}_port  // one port a node, so that their messages go out at once
}}

"""

PORT = """
interconnect {name}_port {{
  property latency [1 us]  // assumed
  property bandwidth [12.5 GB/s]  // 100 Gbit/s / 8, assumed
  resource messages(volume) [latency + volume/bandwidth]  // one message of so many bytes
  dynamic power [10 W]  // assumed
}}
"""

TEXTS: dict[Kind, tuple[str, str, tuple[str, ...]]] = {
    "cpu": ("one node with two processors", "cpu", (CPU_PARAMETERS, ALONE, CPU_PARTS)),
    "gpu": ("one node with one accelerator; its host is left out", "gpu", (GPU_PARAMETERS, ALONE, GPU_PARTS)),
    "cluster": (
        "nodes with two processors, joined by a network",
        "system",
        (NODES, CPU_PARAMETERS, CLUSTER, CPU_PARTS, PORT),
    ),
}
"""What it is, the kind it is listed under, and what it is made of."""


def skeleton(name: str, kind: Kind = "cpu") -> str:
    """The text of a machine model of that name, which must be an identifier of the language."""
    what, listed, parts = TEXTS[kind]
    return HEAD.format(name=name, what=what, kind=listed) + "".join(part.format(name=name) for part in parts)
