"""What a sweep of all data has left in a cache, set by set, against the exact simulator."""

from __future__ import annotations

from random import Random

import pytest

from aspenpy import AspenError, load_machine, predict
from aspenpy.answers.traffic import Traffic
from aspenpy.models.library import parse
from tests.caches.programs import LINE, PAGE, Reference, counted, machine_of, modelled, simulator, swept
from tests.caches.random_programs import access
from tests.thorough import some, thorough
from tests.tiny import application, machine

WORD = 8


def triad(words: int, places: list[int], step: int = 1) -> list[Reference]:
    """a = b + c, every so many words."""
    kinds = list(zip("LLS", places, strict=True))
    return [(letter, place + WORD * at, WORD) for at in range(0, words, step) for letter, place in kinds]


def modelled_triad(words: int, shape: tuple[str, int, int], trait: str = "warm") -> float:
    requirements = " ".join(access(letter, words, f"X{k}", f"stream, {trait}") for k, letter in enumerate("LLS"))
    data = " ".join(f"data X{k} [{WORD * words}]" for k in range(3))
    (level,) = modelled(requirements, data, machine_of(shape)).totals
    return float(level.read_misses + level.write_misses)


@pytest.mark.parametrize("words", [320, 344, 360, 410, pytest.param(500, marks=thorough)])
@pytest.mark.parametrize("shape", [("L1", 8192, 8), ("L1", 8192, 2), ("L1", 4096, 4)])
def test_in_equal_places(words: int, shape: tuple[str, int, int]) -> None:
    """On pages of their own, in a cache with a way of a page or less."""
    places = [k * PAGE for k in range(3)]
    (found,) = counted(simulator(shape), triad(words, places), before=swept(places, WORD * words, WORD))
    assert modelled_triad(words, shape) == pytest.approx(found.misses, rel=0.1, abs=3)


@pytest.mark.parametrize("words", [10_500, 10_952, 11_250, 11_600])
def test_wherever_arrays_begin(words: int) -> None:
    """Three arrays that fill 256 KiB of 16 ways to the last lines, or a little more: the mean over places of theirs."""
    shape, draws = ("L2", 1 << 18, 16), Random(words)
    misses, tries = 0, some(40, 10)
    for _ in range(tries):
        places = [(k << 20) + LINE * draws.randrange(256) for k in range(3)]
        before = swept(places, WORD * words, LINE)
        (found,) = counted(simulator(shape), triad(words, places, LINE // WORD), before=before)
        misses += found.misses
    assert modelled_triad(words, shape) == pytest.approx(misses / tries, rel=0.15, abs=100)


def rows(name: str, begin: int, letters: str = "L") -> tuple[str, list[Reference]]:
    """A sweep over 400 words: as a model writes it, and its references."""
    references = [(letter, begin + WORD * at, WORD) for at in range(400) for letter in letters]
    return " ".join(access(letter, 400, name, "stream, warm") for letter in letters), references


@pytest.mark.parametrize("shape", [("L1", 8192, 8), ("L1", 12288, 3)])
@pytest.mark.parametrize("order", ["ABA", "AAB", "ABCAB", "ABCC", "(AB)"])
def test_what_the_run_has_touched_before(order: str, shape: tuple[str, int, int]) -> None:
    """Of three arrays of 50 lines, in the order that their blocks run or in a loop: what comes later takes no room yet.
    Two of them fit into 8 KiB, all three into 12 KiB."""
    begins = {name: PAGE * place for place, name in enumerate("ABC")}
    model, references, seen = list[str](), list[Reference](), set[str]()
    for name in order * (4 if order[0] == "(" else 1):
        if name not in begins:
            continue
        requirements, made = rows(name, begins[name])
        references += made
        if len(model) < order.count("A") + order.count("B") + order.count("C"):
            cold = name not in seen and order[0] != "("
            model.append(f"execute {{ {requirements.replace(', warm', '') if cold else requirements} }}")
        seen.add(name)
    body = f"iterate [4] {{ {' '.join(model)} }}" if order[0] == "(" else " ".join(model)
    data = " ".join(f"data {name} [3200]" for name in begins)
    (found,) = counted(simulator(shape), references)
    (level,) = Traffic(predict(application(body, data), machine(machine_of(shape)))).totals
    first = 100 if order[0] == "(" else 0  # a loop is warm from its begin
    assert level.read_misses == pytest.approx(found.misses - first, abs=2)


def test_data_of_a_kernel() -> None:
    """They count for what is warm as those of the model do, and have a size wherever they are named."""
    block, _ = rows("A", 0)
    other = access("L", 400, "B", "stream, warm")
    inner = f"execute {{ {block} }} execute {{ {other} }}"
    app = application(
        "iterate [4] { call work(400) }", "data A [3200]", f"kernel work(param n) {{ data B [8*n] {inner} }}"
    )
    for size, misses in ((4096, 400), (8192, 0)):
        (level,) = Traffic(predict(app, machine(machine_of(("L1", size, 8))))).totals
        assert level.read_misses == misses
    draws = application(
        "call work", kernels="kernel work { data T [64000] execute { loads [9] of size [8] from T as random } }"
    )
    assert Traffic(predict(draws, machine(machine_of(("L1", 4096, 8))))).totals[0].read_misses == pytest.approx(
        9, abs=0.1
    )


def test_what_was_touched_since() -> None:
    """A row that the loop before has left: its 3,200 bytes and as many beside it fit into 8 KiB, not into 4."""
    assert modelled_triad(400, ("L1", 8192, 8), "warm(6400)") == 0
    assert modelled_triad(400, ("L1", 4096, 8), "warm(6400)") == 3 * 50
    with pytest.raises(AspenError, match="at least one word"):
        modelled_triad(400, ("L1", 4096, 8), "warm(0)")


@pytest.mark.parametrize("shape", [("L1", 2048, 4), ("L1", 4096, 8), ("L1", 8192, 8)])
def test_a_row_that_two_loops_share(shape: tuple[str, int, int]) -> None:
    """y = A' (A x), row by row: the second loop finds the row where it and x fit, the next row x and y where all do."""
    words, rows = 200, 30
    row, x, y = range(3 * PAGE, 3 * PAGE + WORD * words * rows, WORD * words), 0, PAGE
    references: list[Reference] = []
    for place in row:
        references += [("L", begin + WORD * at, WORD) for at in range(words) for begin in (place, x)]
        references += [("L", place + WORD * at, WORD) for at in range(words)]
        references += [(letter, y + WORD * at, WORD) for at in range(words) for letter in "LS"]
    (found,) = counted(simulator(shape), references)
    size, all_three = WORD * words, f"warm({3 * WORD * words})"
    blocks = [
        access("L", words, "A", "stream") + " " + access("L", words, "x", f"stream, {all_three}"),
        access("L", words, "A", f"stream, warm({2 * size})"),
        " ".join(access(letter, words, "y", f"stream, {all_three}") for letter in "LS"),
    ]
    body = f"iterate [{rows}] {{ {' '.join(f'execute {{ {block} }}' for block in blocks)} }}"
    data = f"data A [{rows * size}] data x [{size}] data y [{size}]"
    (level,) = Traffic(predict(application(body, data), machine(machine_of(shape)))).totals
    cold = 2 * words // 8  # x and y, the first time
    misses = level.read_misses + level.write_misses
    assert misses == pytest.approx(found.misses, rel=0.12, abs=cold)


TABLE = """
model look {
  param reps = 10
  data a as Array(4096, 8)
  data b as Array(4096, 8)
  kernel look { execute { loads [1000] of size [8] from a as random } }
  kernel main {
    execute { stores [4096] of size [8] to a as stream }
    BESIDE
    iterate [reps] { call look }
  }
}
"""


def test_a_table_that_nothing_finds_cold_has_a_time() -> None:
    """Every visit of the table comes behind a sweep or a visit, so that none fills an empty cache; all fits."""
    on = load_machine("epyc_9654")

    def time_of_visit(beside: str) -> float:
        loop = parse(TABLE.replace("BESIDE", beside))
        few, many = (float(predict(loop, on, set={"reps": reps}).runtime) for reps in (10, 1010))
        return (many - few) / 1000

    beside = time_of_visit("execute { stores [4096] of size [8] to b as stream }")
    assert beside == pytest.approx(time_of_visit(""), rel=0.02)
