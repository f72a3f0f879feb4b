"""Texts of models to read, lay out and damage: the library, the conformance cases, and one with every construct."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]

FILES = sorted([*(ROOT / "models").rglob("*.aspen"), *(ROOT / "tests" / "conformance").rglob("*.aspen")])
"""Models that are read, and a few that are refused."""

APPLICATION = """// every construct of an application
model all {
  param n = 2^10 in 1 .. 4*kilo
  param best = b in e
  param v[] = {1, 2.5, n}
  param t[][] = {{1, 2}, {3, 4}}
  enum e {a, b, c}
  data x [8*n]  // bytes
  data y as Matrix(n, n, 8)
  import fft from "fft.aspen" with n = 2*n, m = v[1]

  kernel leaf(param k, data d) {
    execute [k] "work" {
      flops [k*fft.m] as dp, simd(4), file("counts.csv")
      loads [t[1][0]] of size [8] from d
      stores [-n^2] to d as random
      loads [n] from d as nest(8, j in 0 .. i, 8*n, i in -1 .. n^2 - 1)
    }
  }

  kernel main() {
    param local = max(n, 3) - log2(n)/2
    sample r from uniform(0, 1)
    call leaf(3, x)
    call fft.main
    seq "one" { par { call leaf(1, x) execute { flops [1] } } }
    iterate i [local] "loop" { map [n] { execute { flops [i] } } }
    if ((n == 1 or n != 2) and n <= 3) { call a } else if (n > 1) { call b } else { call c }
    switch (n) { [1] { call a } [2*3] { call b } else { call c } }
    probability { [0.25] { call a } }
  }
}
"""

MACHINE = """param clock = 2.8 GHz
enum modes {slow, fast}
machine m { node [2] n interconnect net }
node n {
  socket [2] s
  memory ram
  property shared
  property capacity [64 GiB]
  static power [90 W]
  dynamic power [10]
  conflict loads, stores
  resource flops(x) [x/(clock*4)] with dp [base*2], width(k) [base/k]
}
socket s { resource loads(b) [1 us + b/(25.6 GB/s)] }
memory ram { resource stores(b) [b] }
interconnect net { resource messages(b) [b] }
"""
