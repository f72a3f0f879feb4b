"""The best placement, against all placements of a run that is played through step by step."""

from __future__ import annotations

import random
from itertools import product

import pytest

import aspenpy
from aspenpy import Application, AspenError, Machine
from aspenpy.answers.placement import best
from tests.tiny import codes, machine

SPEEDS = {"cpu": 1.0, "gpu": 0.125, "fpga": 0.5}
"""Seconds a unit of each kernel's own resource; a kernel's factor makes some kernels slow on some sockets."""

LINKS = {"gpu": (1.0, 0.5), "fpga": (0.25, 1.0)}
"""Seconds a transfer, and seconds a byte."""


class Program:
    """Steps in loops, and the kernels that they call: what each takes where, what it reads and writes."""

    def __init__(self, seed: int, kernels: int, sockets: tuple[str, ...]) -> None:
        draw = random.Random(seed)
        self.sockets = sockets
        self.sizes = {name: draw.randint(0, 12) for name in "abc"}
        self.kernels = {f"k{number}": self._kernel(draw) for number in range(kernels)}
        self.steps = [
            (draw.randint(1, 3), [draw.choice(list(self.kernels)) for _ in range(draw.randint(1, 3))]) for _ in range(4)
        ]

    def _kernel(self, draw: random.Random) -> tuple[dict[str, float], list[str], list[str]]:
        times = {socket: draw.randint(1, 12) * SPEEDS[socket] for socket in self.sockets}
        return times, *([name for name in "abc" if draw.random() < share] for share in (0.4, 0.3))

    def application(self) -> Application:
        lines = [f"data {name} [{size}]" for name, size in self.sizes.items()]
        for name, (_, reads, writes) in self.kernels.items():
            asks = [f"{name} [1]", *(f"loads [1] from {data}" for data in reads)]
            asks += [f"stores [1] to {data}" for data in writes]
            lines.append(f"kernel {name} {{ execute {{ {' '.join(asks)} }} }}")
        for count, calls in self.steps:
            body = " ".join(f"call {name}" for name in calls)
            lines.append(f"STEP iterate [{count}] {{ {body} }}" if count > 1 else f"STEP {body}")
        main = " ".join(line.removeprefix("STEP") for line in lines if line.startswith("STEP"))
        rest = "\n".join(line for line in lines if not line.startswith("STEP"))
        app = aspenpy.parse(f"model program {{ {rest}\nkernel main {{ {main} }} }}")
        assert isinstance(app, Application)
        return app

    def machine(self) -> Machine:
        parts = []
        for socket in self.sockets:
            own = " ".join(f"resource {name}(n) [n*{times[socket]}]" for name, (times, _, _) in self.kernels.items())
            link = f"link {socket}_link" if socket in LINKS else ""
            parts.append(f"socket {socket} {{ {own} memory {socket}_memory {link} }}")
            parts.append(f"memory {socket}_memory {{ resource loads(n) [0*n] resource stores(n) [0*n] }}")
            if socket in LINKS:
                latency, each = LINKS[socket]
                parts.append(f"link {socket}_link {{ resource intracomm(n) [{latency} + {each}*n] }}")
        inside = " ".join(f"socket {socket}" for socket in self.sockets)
        return machine(f"machine M {{ node box }} node box {{ {inside} }}\n" + "\n".join(parts))

    def played(self, placed: dict[str, str]) -> float:
        """Seconds of the run, each call of each pass by itself."""
        has = {name: {"cpu"} for name in self.sizes}
        seconds = 0.0
        for count, calls in self.steps:
            for name in calls * count:
                times, reads, writes = self.kernels[name]
                socket = placed[name]
                for data in sorted({*reads, *writes}):
                    seconds += self._fetched(data, socket, has[data])
                    if data in writes:
                        has[data] = {socket}
                seconds += times[socket]
        return seconds

    def _fetched(self, data: str, socket: str, has: set[str]) -> float:
        """Seconds until a socket has it; the processor is on the way."""
        seconds = 0.0
        if socket not in has and "cpu" not in has:
            latency, each = LINKS[min(has)]
            seconds += latency + each * self.sizes[data]
            has.add("cpu")
        if socket not in has:
            latency, each = LINKS[socket]
            seconds += latency + each * self.sizes[data]
            has.add(socket)
        return seconds

    def placements(self) -> list[dict[str, str]]:
        used = [name for name in self.kernels if any(name in calls for _, calls in self.steps)]
        return [dict(zip(used, chosen, strict=True)) for chosen in product(self.sockets, repeat=len(used))]


@pytest.mark.parametrize("seed", range(12))
def test_every_placement_takes_what_playing_it_through_takes(seed: int) -> None:
    program = Program(seed, 3, ("cpu", "gpu", "fpga"))
    app, where = program.application(), program.machine()
    for placed in program.placements():
        assert aspenpy.place(app, where, placed).runtime == pytest.approx(program.played(placed), rel=1e-12)


@pytest.mark.parametrize("seed", range(40))
def test_the_best_is_the_best_of_all(seed: int) -> None:
    sockets = ("cpu", "gpu") if seed % 2 else ("cpu", "gpu", "fpga")
    program = Program(seed, 4, sockets)
    found = aspenpy.place(program.application(), program.machine(), best=True)
    least = min(map(program.played, program.placements()))
    assert found.runtime == pytest.approx(least, rel=1e-12)
    assert program.played(found.sockets) == pytest.approx(least, rel=1e-12)
    assert found.search is not None
    assert found.search.proven


@pytest.mark.parametrize("seed", range(10))
def test_the_best_with_one_kernel_fixed(seed: int) -> None:
    program = Program(seed, 4, ("cpu", "gpu"))
    name = program.steps[0][1][0]
    found = aspenpy.place(program.application(), program.machine(), {name: "gpu"}, best=True)
    least = min(program.played(placed) for placed in program.placements() if placed[name] == "gpu")
    assert found.runtime == pytest.approx(least, rel=1e-12)
    assert found.sockets[name] == "gpu"


def chain(length: int) -> tuple[Application, Machine]:
    """A chain of kernels, each reading what the one before it wrote: odd ones are faster on the accelerator."""
    lines = [f"data d{number} [8]" for number in range(length + 1)]
    for number in range(length):
        asks = f"flops [10] as odd loads [1] from d{number}" if number % 2 else f"flops [9] loads [1] from d{number}"
        lines.append(f"kernel k{number} {{ execute {{ {asks} stores [1] to d{number + 1} }} }}")
    calls = " ".join(f"call k{number}" for number in range(length))
    app = aspenpy.parse(f"model chain {{ {' '.join(lines)} kernel main {{ {calls} }} }}")
    assert isinstance(app, Application)
    text = """machine M { node box } node box { socket cpu socket gpu }
    socket cpu { resource flops(n) [n] with odd [base*2] memory cpu_memory }
    socket gpu { resource flops(n) [n] with odd [base/2] memory gpu_memory link wire }
    memory cpu_memory { resource loads(n) [0*n] resource stores(n) [0*n] }
    memory gpu_memory { resource loads(n) [0*n] resource stores(n) [0*n] }
    link wire { resource intracomm(n) [n/8] }"""
    return app, machine(text)


def test_long_chains_are_solved_exactly() -> None:
    """2^40 placements. All go to the accelerator: 9 and 5 in turn, each `d` that is made is there, d0 is moved, and so
    is each d that is first written there (whole, since a part of it may stay as it was): 41 seconds."""
    app, where = chain(40)
    found = aspenpy.place(app, where, best=True)
    assert found.search is not None
    assert (found.search.proven, found.search.tried < 400) == (True, True)
    # a kernel on the processor saves the transfer of what it writes, but what it writes has to move for the next one:
    # only the first, which reads what is there, saves one
    assert found.runtime == pytest.approx(20 * 9 + 20 * 5 + 40)
    assert found.alternatives == {"cpu": 20 * 9 + 20 * 20, "gpu": pytest.approx(20 * 14 + 41)}


def test_what_is_too_much_is_searched_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(best, "MOST_TRIED", 3)
    for seed in range(6):
        program = Program(seed, 4, ("cpu", "gpu"))
        found = aspenpy.place(program.application(), program.machine(), best=True)
        assert found.search is not None
        assert (found.search.method, found.search.proven) == (best.LOCAL, False)
        alone = [program.played(dict.fromkeys(program.kernels, socket)) for socket in ("cpu", "gpu")]
        assert found.runtime == pytest.approx(program.played(found.sockets), rel=1e-12)
        assert found.runtime <= min(alone) * (1 + 1e-12)


def test_kernels_go_where_they_can_run() -> None:
    app, where = chain(4)
    text = where.to_aspen().replace("socket gpu {", "socket gpu { resource tensor(n) [n]")
    model = aspenpy.parse(app.to_aspen().replace("flops [9]", "tensor [9]"))
    assert isinstance(model, Application)
    found = aspenpy.place(model, machine(text), best=True)
    assert {found.sockets[name] for name in ("k0", "k2")} == {"gpu"}
    assert "tensor" in str(found.alternatives["cpu"])
    with pytest.raises(AspenError) as error:
        aspenpy.place(model, where, best=True)
    assert set(codes(error.value)) == {"no-such-resource"}


def test_without_a_link_the_data_decide() -> None:
    app, where = chain(4)
    text = where.to_aspen().replace("resource intracomm", "resource other")
    found = aspenpy.place(app, machine(text), best=True)
    assert set(found.sockets.values()) == {"cpu"}
    assert found.alternatives["cpu"] == found.runtime
    with pytest.raises(AspenError) as error:
        aspenpy.place(app, machine(text), {"k1": "gpu"}, best=True)
    assert codes(error.value) == ["no-link"]


@pytest.mark.parametrize("name", ["cg", "comd", "comd_scaling", "spmv"])
def test_sockets_without_places_for_the_ranks_are_left_out(name: str) -> None:
    """Eight ranks have a core each of two Xeon E5-2637 v3; of the boards there is one of each kind."""
    app, node = aspenpy.load_application(name), aspenpy.load_machine("vt_e5_2637")
    found = aspenpy.place(app, node, set={"ranks": 8})
    assert set(found.sockets.values()) == {"intel_xeon_e5_2637_v3"}
    wanted = aspenpy.predict(app, node, socket="intel_xeon_e5_2637_v3", set={"ranks": 8}).runtime
    assert found.runtime == pytest.approx(wanted, rel=1e-12)
    with pytest.raises(AspenError, match="80 ranks, and `vt_e5_2637` has places for"):
        aspenpy.place(app, node, set={"ranks": 80})
