"""Random runs: blocks over several arrays in sequences, loops and calls, as a model and as references."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from random import Random
from typing import NamedTuple

from tests.caches.programs import PAGE, Reference
from tests.caches.random_programs import access

WORD = 8

Made = Callable[[int], Iterator[Reference]]
"""The references of a part of a run, in a pass of the loop around it."""


class Array(NamedTuple):
    name: str
    words: int
    begin: int

    def at(self, letter: str, word: int) -> Reference:
        return letter, self.begin + WORD * word, WORD


class Run(NamedTuple):
    """A run as a model has it, and what it does."""

    body: str
    data: str
    kernels: str
    references: list[Reference]


def random_run(seed: int) -> Run:
    draws = Random(seed)
    sizes = [draws.choice([128, 256, 512, 768, 1024, 1536, 2048, 4096]) for _ in range(2)]
    arrays, begin = list[Array](), 0
    for number in range(draws.randint(2, 6)):
        words = draws.choice(sizes) if draws.random() < 0.8 else draws.choice([128, 384, 640, 2000])
        arrays.append(Array(f"X{number}", words, begin))
        begin += -(-WORD * words // PAGE) * PAGE
    kernels = list[str]()
    body, made = _sequence(draws, arrays, kernels, 0, 1)
    if draws.random() < 0.6:
        body, made = _loop(draws.choice([2, 3, 5]), body, made)
    data = " ".join(f"data {array.name} [{WORD * array.words}]" for array in arrays)
    return Run(body, data, " ".join(kernels), [*made(0)])


NUMBER = re.compile(r"(?<![\w.])(?!8\b)[1-9]\d*(?![\w.])")


def with_parameters(run: Run) -> Run:
    """The same run with a parameter for each number but 8: sizes in bytes are those of the words."""
    data = re.sub(r"\[(\d+)\]", lambda found: f"[{int(found[1]) // WORD}*{WORD}]", run.data)
    numbers = dict.fromkeys(NUMBER.findall(" ".join((run.body, data, run.kernels))))
    body, data, kernels = (NUMBER.sub(r"p\g<0>", text) for text in (run.body, data, run.kernels))
    declared = " ".join(f"param p{number} = {number}" for number in numbers)
    return run._replace(body=body, data=f"{declared} {data}", kernels=kernels)


def _sequence(draws: Random, arrays: list[Array], kernels: list[str], depth: int, passes: int) -> tuple[str, Made]:
    """A few blocks, loops and calls, one after the other; of a loop of so many passes."""
    parts = [_step(draws, arrays, kernels, depth, passes) for _ in range(draws.randint(1, 3))]

    def made(number: int) -> Iterator[Reference]:
        for _, step in parts:
            yield from step(number)

    return " ".join(text for text, _ in parts), made


def _step(draws: Random, arrays: list[Array], kernels: list[str], depth: int, passes: int) -> tuple[str, Made]:
    kind = draws.random()
    if kind < 0.3 and depth < 2:
        trips = draws.choice([2, 3, 4, 8])
        return _loop(trips, *_sequence(draws, arrays, kernels, depth + 1, trips))
    if kind < 0.45 and depth < 2:
        body, made = _sequence(draws, arrays, kernels, 2, 1)
        kernels.append(f"kernel k{len(kernels)} {{ {body} }}")
        return f"call k{len(kernels) - 1}", made
    body, made = _block(draws, arrays, passes)
    return f"execute {{ {body} }}", made


def _loop(trips: int, body: str, made: Made) -> tuple[str, Made]:
    def repeated(_: int) -> Iterator[Reference]:
        for number in range(trips):
            yield from made(number)

    return f"iterate [{trips}] {{ {body} }}", repeated


def _block(draws: Random, arrays: list[Array], passes: int) -> tuple[str, Made]:
    """Streams side by side, an update in place, rows of which each pass of the loop takes the next, every so many
    words, or a matrix by columns."""
    kind = draws.choice(["stream"] * 4 + ["rows"] * 2 + ["stride", "nest", "update"])
    first, *others = draws.sample(arrays, draws.choice([1, 2, 2, 3]) if len(arrays) > 2 else 1)
    letter = draws.choice("LLS")
    if kind == "stride":
        step = draws.choice([2, 4, 8, 16])
        words = [step * number for number in range(first.words // step)]
        return _walk(first, letter, f"stride({WORD * step})", words)
    if kind == "nest":
        rows = draws.choice([8, 16])
        columns = first.words // rows
        words = [columns * row + column for column in range(columns) for row in range(rows)]
        return _walk(first, letter, f"nest({WORD * columns}, {rows}, {WORD}, {columns})", words)
    beside = [(draws.choice("LLS"), other) for other in others if other.words == first.words]
    sides = [("L", first), ("S", first)] if kind == "update" else [(letter, first), *beside]
    count = first.words // passes if kind == "rows" else first.words
    text = " ".join(access(kind, count, array.name, "stream") for kind, array in sides)

    def made(number: int) -> Iterator[Reference]:
        begin = number * count if kind == "rows" and passes > 1 else 0
        return (array.at(letter, begin + word) for word in range(count) for letter, array in sides)

    return text, made


def _walk(array: Array, letter: str, trait: str, words: list[int]) -> tuple[str, Made]:
    return access(letter, len(words), array.name, trait), lambda _: (array.at(letter, word) for word in words)
