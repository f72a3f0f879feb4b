"""Nests whose trips depend on outer counters, against sums written out and the exact simulator."""

from __future__ import annotations

import pytest

import aspenpy
from aspenpy.engine.backends import BACKENDS
from aspenpy.expr import graph
from aspenpy.expr.derivative import differentiate
from aspenpy.expr.evaluate import evaluate
from tests.caches.programs import LINE, Reference, counted, machine_of, modelled, simulator
from tests.thorough import some
from tests.tiny import application, machine

LARGE = ("L1", 1 << 20, 16)

SHAPES = {
    "rows up to the diagonal": "8, j in 0 .. i, 8*n, i in 0 .. n - 1",
    "trips that name a loop": "8, i + 1, 8*n, i in 0 .. n - 1",
    "rows behind the diagonal": "8, j in i + 1 .. n - 1, 8*n, i in 0 .. n - 1",
    "columns": "8*n, j in 0 .. i, 8, i in 0 .. n - 1",
    "a vector": "8, j in 0 .. i, 0, i in 0 .. n - 1",
    "a band": "8, j in i .. i + 4, 8*n, i in 0 .. n - 5",
    "what is left of a square": "8, j in k .. n - 1, 8*n, i in k .. n - 1, 0, k in 0 .. n - 1",
    "a pyramid": "8, k in 0 .. j, 8*n, j in 0 .. i, 0, i in 0 .. n - 1",
    "every other": "8, j in 0 .. 2*i, 8*n, i in 0 .. n/2 - 1",
    "none at first": "8, j in 3 .. i, 8*n, i in 0 .. n - 1",
}


def walked(shape: str, n: int) -> list[int]:
    """The addresses of a nest, by Python's own arithmetic."""
    parts = shape.split(", ")
    pairs, addresses = list(zip(parts[::2], parts[1::2], strict=True)), list[int]()

    def run(place: int, names: dict[str, int], address: int) -> None:
        if place < 0:
            addresses.append(address)
            return
        stride, trips = pairs[place]
        name, _, bounds = trips.partition(" in ")
        low, high = bounds.split(" .. ") if bounds else ("0", f"{trips} - 1")
        for value in range(int(eval(low, names)), int(eval(high, names)) + 1):
            run(place - 1, {**names, name: value}, address + int(eval(stride, names)) * value)

    run(len(pairs) - 1, {"n": n}, 0)
    return addresses


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_accesses_and_first_touches(shape: str) -> None:
    """Accesses exactly: a nest of a word less than asked for would be refused. Lines to one in the median of some
    sizes, and to two, or 6 %."""
    body = f"execute {{ loads [words] of size [8] from A as nest({shape}) }}"
    app = application(body, "data A [8*n^2] param n = 1 param words = 1")
    errors = []
    for n in (6, 16, 22, 40, 58):
        addresses = walked(shape, n)
        lines = len({address // LINE for address in addresses})
        model = aspenpy.traffic(app, machine(machine_of(LARGE)), set={"n": n, "words": len(addresses)})
        errors.append(abs(model.totals[0].read_misses - lines))
        assert errors[-1] <= max(2, 0.06 * lines)
    assert sorted(errors)[2] <= 1
    with pytest.raises(aspenpy.AspenError, match="more accesses than"):
        aspenpy.traffic(app, machine(machine_of(LARGE)), set={"n": n, "words": len(addresses) - 1})


UPDATE = """
loads [n*(n - 1)/2] of size [8] from A as nest(0, 1, 8*n, i in k + 1 .. n - 1, 8, k in 0 .. n - 1)
loads [n*(n - 1)*(2*n - 1)/6] of size [8] from A
  as nest(8, j in k + 1 .. n - 1, 0, i in k + 1 .. n - 1, 8*n, k in 0 .. n - 1)
stores [n*(n - 1)*(2*n - 1)/6] of size [8] to A
  as nest(8, j in k + 1 .. n - 1, 8*n, i in k + 1 .. n - 1, 0, k in 0 .. n - 1)
"""
"""A[i][j] -= A[i][k] A[k][j] for i, j > k."""


def eliminated(n: int) -> list[Reference]:
    """The references of that update."""
    references: list[Reference] = []
    for k in range(n):
        for i in range(k + 1, n):
            references.append(("L", 8 * (n * i + k), 8))
            for j in range(k + 1, n):
                references += [("L", 8 * (n * k + j), 8), ("S", 8 * (n * i + j), 8)]
    return references


def test_gaussian_elimination() -> None:
    """Within 5 % and four lines, from where the matrix fits to where a row does not; by hand, the largest are n^3/24
    lines: rows of n - 1 to 1 words, as many of each."""
    shape = ("L1", 4096, 8)
    for n in (16, 34, 40, some(120, 64)):
        (found,) = counted(simulator(shape), eliminated(n))
        (model,) = modelled(UPDATE, f"data A [8*n^2] param n = {n}", machine_of(shape)).totals
        assert model.read_misses + model.write_misses == pytest.approx(found.misses, rel=0.05, abs=4)
    assert found.misses == pytest.approx(n**3 / 24, rel=0.2)


def test_columns_that_meet() -> None:
    """A[k][i] A[k][j] for j >= i: of a pass, the first column is the one that stays, so that each pass misses the lines
    behind it alone. Within 10 % of the simulator; by hand, n columns of n/2 words are n^3/16 lines."""
    n, shape, references = 60, ("L1", 8192, 16), list[Reference]()
    for i in range(n):
        for j in range(i, n):
            for k in range(n):
                references += [("L", 8 * (n * k + i), 8), ("L", 8 * (n * k + j), 8)]
    (found,) = counted(simulator(shape), references)
    columns = ("0, j in i .. n - 1, 8, i in 0 .. n - 1", "8, j in i .. n - 1, 0, i in 0 .. n - 1")
    walks = " ".join(f"loads [n^2*(n + 1)/2] of size [8] from A as nest(8*n, n, {rest})" for rest in columns)
    (model,) = modelled(walks, f"data A [8*n^2] param n = {n}", machine_of(shape)).totals
    assert found.misses == pytest.approx(n**3 / 16, rel=0.1)
    assert model.read_misses == pytest.approx(found.misses, rel=0.1)


@pytest.mark.parametrize("rows", ["j in 0 .. i - 1", "j in i + 1 .. n - 1"])
def test_a_substitution_meets_what_it_stored(rows: str) -> None:
    """Sums of rows before or behind the diagonal, whose vector is stored word by word, within 5 % of the simulator."""
    n, shape, references = 800, ("L1", 4096, 8), list[Reference]()
    for i in range(n):
        references += [("L", 8 * j, 8) for j in (range(i) if "0 .. i" in rows else range(i + 1, n))]
        references.append(("S", 8 * i, 8))
    (found,) = counted(simulator(shape), references)
    walks = f"""loads [n*(n - 1)/2] of size [8] from x as nest(8, {rows}, 0, i in 0 .. n - 1)
    stores [n] of size [8] to x as nest(0, 1, 8, i in 0 .. n - 1)"""
    (model,) = modelled(walks, f"data x [8*n] param n = {n}", machine_of(shape)).totals
    assert model.read_misses + model.write_misses == pytest.approx(found.misses, rel=0.05)


@pytest.mark.parametrize("backend", [name for name, item in BACKENDS.items() if item.missing() is None])
def test_every_back_end(backend: str) -> None:
    """Sweeps, by each back end, give what single predictions do."""
    body = "execute { loads [n*(n + 1)/2] of size [8] from A as nest(8, j in 0 .. i, 0, i in 0 .. n - 1) }"
    app = application(body, "data A [8*n] param n = 1")
    shape = machine(machine_of(("L1", 4096, 8)))
    sizes = [8, 600, 1000]
    swept = aspenpy.sweep(app, shape, over={"n": sizes}, backend=backend)
    single = [aspenpy.predict(app, shape, set={"n": size}).runtime for size in sizes]
    assert swept["runtime"].values.tolist() == pytest.approx(single, rel=1e-9)


def test_the_slope_of_an_elimination() -> None:
    """By n, where no two rows stay: of the n^3/24 lines of n^3/3 words, n^2/8 lines."""
    app = application(f"execute {{ {UPDATE} }}", "data A [8*n^2] param n = 1")
    formula = aspenpy.traffic(app, machine(machine_of(("L1", 1024, 8)))).formula("misses", "L1", ("n",))
    n = graph.symbol("n")
    assert float(evaluate(differentiate(formula, n), {n: 400})) == pytest.approx(400**2 / 8, rel=0.03)  # type: ignore[arg-type]


@pytest.mark.parametrize("more", ["", "property prefetch [2]", "property writes [no_allocate]"])
@pytest.mark.parametrize("policy", ["lru", "random"])
def test_no_passes_are_no_misses(policy: str, more: str) -> None:
    """Of a matrix of one row, below whose diagonal there is nothing, whatever the cache."""
    app = application(f"execute {{ {UPDATE} }}", "data A [8*n^2] param n = 1")
    (model,) = aspenpy.traffic(app, machine(machine_of(("L1", 4096, 8), policy=policy, more=more))).totals
    assert (model.reads, model.writes, model.read_misses, model.write_misses) == (0, 0, 0, 0)
