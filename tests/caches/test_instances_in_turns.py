"""Instances of a block that take turns on cores: each core goes through a part of them, one after the other, as passes
of a loop."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from statistics import median
from typing import NamedTuple

import pytest

import aspenpy
from aspenpy import predict
from aspenpy.answers.traffic import Traffic
from tests.caches.programs import LINE, PAGE, Reference, simulator
from tests.caches.random_programs import access
from tests.tiny import application, machine

WORD = 8
SHAPES = (("L1", 16 * 1024, 8), ("L2", 128 * 1024, 16))


def cores_of(count: int) -> str:
    """A machine whose cores have two caches each."""
    kinds = [
        f"cache {name} {{ property capacity [{size}] property associativity [{ways}] property cacheline [{LINE}] }}"
        for name, size, ways in SHAPES
    ]
    return f"""
machine M {{ node box }}
node box {{ socket chip }}
socket chip {{ core [{count}] C memory D }}
core C {{ resource flops(x) [x] {" ".join(f"cache {name}" for name, _, _ in SHAPES)} }}
{" ".join(kinds)}
memory D {{ resource loads(x) [x] resource stores(x) [x] conflict loads, stores }}
"""


class Part(NamedTuple):
    """What an instance does to an array of so many words: it `draws` some, loads `all`, or the `next` words after those
    of the instance before."""

    name: str
    letter: str
    kind: str
    size: int
    words: int

    @property
    def requirement(self) -> str:
        return access(self.letter, self.words, self.name, "random" if self.kind == "draws" else "stream")

    def place(self, instance: int, word: int, draws: Random) -> int:
        if self.kind == "draws":
            return draws.randrange(self.size)
        return word + (self.words * instance if self.kind == "next" else 0)


class Turns(NamedTuple):
    """Instances on cores, a block of them after another, `times` over."""

    instances: int
    cores: int
    times: int
    blocks: tuple[tuple[Part, ...], ...]

    def body(self, spelling: str = "execute [{}] {{ {} }}") -> str:
        blocks = (
            spelling.format(self.instances, " ".join(part.requirement for part in block)) for block in self.blocks
        )
        return f"iterate [{self.times}] {{ {' '.join(blocks)} }}"

    @property
    def data(self) -> str:
        return " ".join(f"data {name} [{WORD * size}]" for name, size in self._sizes.items())

    @property
    def _sizes(self) -> dict[str, int]:
        return {part.name: part.size for block in self.blocks for part in block}

    @property
    def references(self) -> int:
        return self.times * self.instances * sum(part.words for block in self.blocks for part in block)

    def misses(self) -> list[int]:
        """Of all cores, by level."""
        found = [0, 0]
        each = self.instances / self.cores
        for core in range(self.cores):
            chunk = range(round(core * each), round((core + 1) * each))
            caches = simulator(*SHAPES).run(self._references(chunk, Random(core)))
            found = [known + level.counts.misses for known, level in zip(found, caches.levels, strict=True)]
        return found

    def _references(self, chunk: range, draws: Random) -> Iterator[Reference]:
        begins, begin = dict[str, int](), 0
        for name, size in self._sizes.items():
            begins[name] = begin
            begin += -(-WORD * size // PAGE) * PAGE
        for _ in range(self.times):
            for block in self.blocks:
                for instance in chunk:
                    for word in range(max(part.words for part in block)):  # side by side
                        for part in block:
                            for own in range(word * part.words // most(block), (word + 1) * part.words // most(block)):
                                yield part.letter, begins[part.name] + WORD * part.place(instance, own, draws), WORD


def most(block: tuple[Part, ...]) -> int:
    return max(part.words for part in block)


def random_turns(draws: Random) -> Turns:
    """Of at most some 100,000 references."""
    while (turns := draw_turns(draws)).references > 100_000:
        pass
    return turns


def draw_turns(draws: Random) -> Turns:
    cores = draws.choice([1, 2, 3, 4])
    instances = cores * draws.choice([20, 100, 500, 2000])
    names = iter("abcdefgh")

    def part(kind: str) -> Part:
        name, letter = next(names), draws.choice("LLLS")
        if kind == "draws":
            return Part(name, letter, kind, draws.choice([512, 2048, 8192, 32768]), draws.choice([1, 2, 8, 40]))
        words = draws.choice([1, 2, 5, 8, 24, 100] if kind == "next" else [8, 64, 256, 1000])
        return Part(name, letter, kind, words * (instances if kind == "next" else 1), words)

    blocks = [
        tuple(part(draws.choice(["next", "next", "all", "draws"])) for _ in range(draws.randint(1, 3)))
        for _ in range(draws.randint(1, 2))
    ]
    if len(blocks) == 2 and draws.random() < 0.5:
        blocks[1] = (*blocks[1], draws.choice(blocks[0]))
    return Turns(instances, cores, draws.choice([1, 1, 2]), tuple(blocks))


def errors(turns: Turns) -> list[float]:
    totals = Traffic(predict(application(turns.body(), turns.data), machine(cores_of(turns.cores)))).totals
    return [
        abs(total.read_misses + total.write_misses - count) / max(count, 100)
        for total, count in zip(totals, turns.misses(), strict=True)
    ]


@pytest.mark.parametrize("seeds", [range(0, 24, 2), range(1, 24, 2)], ids=["seen", "held back"])
def test_random_blocks_against_a_simulator(seeds: range) -> None:
    """Of the private caches of each core, which goes through its part of the instances."""
    found = [error for seed in seeds for error in errors(random_turns(Random(seed)))]
    assert median(found) < 0.01
    assert sum(error <= 0.05 for error in found) >= 0.9 * len(found)
    assert max(found) < 0.3


@pytest.mark.parametrize("seed", range(8))
def test_a_core_makes_a_loop_of_its_instances(seed: int) -> None:
    turns = random_turns(Random(seed))._replace(cores=1)
    text = machine(cores_of(1))
    bodies = turns.body(), turns.body("iterate [{}] {{ execute {{ {} }} }}")
    of_instances, of_loop = (Traffic(predict(application(body, turns.data), text)).totals for body in bodies)
    for one, other in zip(of_instances, of_loop, strict=True):
        assert [one.read_misses, one.write_misses] == pytest.approx([other.read_misses, other.write_misses], rel=1e-9)


@pytest.mark.parametrize("name", ["epyc_9654", "grace", "a64fx", "power9", "haswell", "h100", "mi300x"])
@pytest.mark.parametrize("words", [1, 3, 100])
def test_instances_of_few_words_share_lines(name: str, words: int) -> None:
    """A million of them move each line once, as one loop over all words does, by formulas and counted one by one."""
    count = 100_000
    data, asked = f"data a [{WORD * words * count}]", "of size [8] from a as stream"
    machine_of_library = aspenpy.load_machine(name)

    def misses(body: str, simulate: bool = False) -> list[float]:
        found = Traffic(predict(application(body, data), machine_of_library), simulate=simulate)
        return [total.read_misses for total in found.totals]

    whole = misses(f"execute {{ loads [{words * count}] {asked} }}")
    instances = f"execute [{count}] {{ loads [{words}] {asked} }}"
    assert misses(instances) == pytest.approx(whole, rel=0.02)
    assert misses(instances, simulate=True) == pytest.approx(whole, rel=0.05)


@pytest.mark.parametrize("name", ["epyc_9654", "a64fx", "power9", "haswell", "h100", "mi300x"])
@pytest.mark.parametrize(("stride", "words", "passes"), [(64, 100, 200), (24, 300, 50), (512, 64, 300), (16, 2, 5000)])
def test_passes_of_strides_go_on_behind_each_other(name: str, stride: int, words: int, passes: int) -> None:
    """Fields of structures, a part of them with each pass: as one loop over all."""
    data, asked = f"data a [{stride * words * passes}]", f"of size [8] from a as stride({stride})"
    bodies = (
        f"iterate [{passes}] {{ execute {{ loads [{words}] {asked} }} }}",
        f"execute {{ loads [{words * passes}] {asked} }}",
    )
    in_passes, at_once = (
        Traffic(predict(application(body, data), aspenpy.load_machine(name))).totals for body in bodies
    )
    for one, other in zip(in_passes, at_once, strict=True):
        assert one.read_misses == pytest.approx(other.read_misses, rel=0.01)


@pytest.mark.parametrize("name", ["epyc_9654", "grace", "a64fx", "power9", "haswell", "mi300x"])
@pytest.mark.parametrize("n", [96, 520, 2048])
def test_columns_and_rows_in_a_loop_are_those_of_a_nest(name: str, n: int) -> None:
    """Passes that share lines with those before, beside what stays, in sets that are just about full."""
    asked, machine_of_library = "of size [8] from", aspenpy.load_machine(name)
    data = f"data a [{WORD * n * n}] data x [{WORD * n}]"
    column, row = f"loads [{n}] {asked} a as stride({WORD * n})", f"loads [{n}] {asked} a as stream"
    vector = f"loads [{n}] {asked} x as stream"
    matrix = f"loads [{n * n}] {asked} a as nest(8, {n}, {WORD * n}, {n})"
    pairs = [
        (column, f"loads [{n * n}] {asked} a as nest({WORD * n}, {n}, 8, {n})"),
        (f"{row} {vector}", f"{matrix} loads [{n * n}] {asked} x as nest(8, {n}, 0, {n})"),
    ]
    for of_pass, nest in pairs:
        bodies = f"iterate [{n}] {{ execute {{ {of_pass} }} }}", f"execute {{ {nest} }}"
        in_passes, at_once = (Traffic(predict(application(body, data), machine_of_library)).totals for body in bodies)
        for one, other in zip(in_passes, at_once, strict=True):
            assert one.read_misses == pytest.approx(other.read_misses, rel=0.02)


@pytest.mark.parametrize("name", ["epyc_9654", "a64fx", "power9", "mi300x"])
def test_a_simulation_goes_on_from_tile_to_tile(name: str) -> None:
    """Tiles of 16 x 16 words down a matrix and then to the next 16 columns, as one nest and as a block in two loops."""
    row, machine_of_library = WORD * 256, aspenpy.load_machine(name)
    tile, tiles = f"8, 16, {row}, 16", f"{16 * row}, 16, 128, 16"
    block = f"execute {{ loads [256] of size [8] from a as nest({tile}) }}"
    bodies = (
        f"iterate [16] {{ iterate [16] {{ {block} }} }}",
        f"execute {{ loads [65536] of size [8] from a as nest({tile}, {tiles}) }}",
    )
    in_loops, in_nest = (
        Traffic(predict(application(body, f"data a [{256 * row}]"), machine_of_library), simulate=True).totals
        for body in bodies
    )
    assert [one.read_misses for one in in_loops] == [other.read_misses for other in in_nest]


@pytest.mark.parametrize("draws", [100, 1000, 4000])
def test_a_table_drawn_from_before(draws: int) -> None:
    """Of N lines that all fit, two blocks of k draws touch N (1 - (1 - 1/N)^(2k)): the first has drawn but a part."""
    lines = 1000
    block = f"execute {{ loads [{draws}] of size [{WORD}] from a as random }}"
    found = Traffic(predict(application(f"{block} {block}", f"data a [{LINE * lines}]"), machine(cores_of(1)))).totals
    assert found[1].read_misses == pytest.approx(lines * (1 - (1 - 1 / lines) ** (2 * draws)), rel=0.01)


@pytest.mark.parametrize("name", ["power9", "bluegene_q", "epyc_9654"])
def test_the_order_of_loads_and_stores_of_a_word_counts_little(name: str) -> None:
    """Also where a store brings no line: the load of the same word does, for it and its neighbours."""
    accesses = [
        f"{kind} [100000] of size [8] {way} as stream" for kind, way in (("loads", "from a"), ("stores", "to a"))
    ]
    lines = [
        sum(total.read_misses + total.write_misses for total in found.totals)
        for order in (accesses, accesses[::-1])
        for found in [
            Traffic(
                predict(application(f"execute {{ {' '.join(order)} }}", "data a [800000]"), aspenpy.load_machine(name))
            )
        ]
    ]
    assert lines[0] == pytest.approx(lines[1], rel=0.01)
