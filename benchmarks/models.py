"""Models of any size, made for measuring."""

from __future__ import annotations

KERNEL = """\
  // Kernel {i} reads two fields and writes one.
  kernel stage{i}(param cells, data field) {{
    param halo{i} = 2*cells^(2/3) + {i}
    execute [cells/{divisor}] "interior" {{
      flops [{i} + 4*cells*log2(n)] as dp, simd
      loads [3*word + halo{i}/7] of size [word] from field
      stores [cells*word] to field as stride({i})
    }}
    iterate step [max(cells/{divisor}, 1)] {{
      if (step > {i} and halo{i} != 0) {{ execute {{ messages [halo{i}*word] }} }}
    }}
  }}
"""


def application_text(characters: int) -> str:
    """A model of about so many characters, all of whose kernels differ."""
    kernels: list[str] = []
    length = 0
    while length < characters:
        kernels.append(KERNEL.format(i=len(kernels), divisor=len(kernels) % 7 + 2))
        length += len(kernels[-1])
    calls = "".join(f"    call stage{i}(n + {i}, field)\n" for i in range(len(kernels)))
    return (
        "model generated {\n  param n = 1000\n  param word = 8\n  data field [n*word]\n"
        f"{''.join(kernels)}  kernel main {{\n{calls}  }}\n}}\n"
    )


def blocks_text(count: int, name: str = "blocks") -> str:
    """A model of so many blocks with one requirement each, all different: i flops, i = 1, 2, ..., in n/i instances."""
    blocks = "".join(f"    execute [n/{i}] {{ flops [{i}] }}\n" for i in range(1, count + 1))
    return f"model {name} {{\n  param n = 1000\n  kernel main {{\n{blocks}  }}\n}}\n"


def calls_text(count: int, name: str = "calls") -> str:
    """A model that calls one kernel so many times: for 1, 2, ... flops."""
    calls = "".join(f"    call work({i})\n" for i in range(1, count + 1))
    return (
        f"model {name} {{\n  kernel work(param amount) {{\n    execute {{ flops [amount] }}\n  }}\n"
        f"  kernel main {{\n{calls}  }}\n}}\n"
    )


COUNTING_MACHINE = "machine Counting { socket [1] processor }\nsocket processor { resource flops(count) [count] }\n"
"""One second for a flop, one flop at a time."""
