"""Jumps of Fortran as loops and branches: random programs do the same before and after, step by step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random

import pytest

from aspenpy.extract import records as r
from aspenpy.extract.fortran_jumps import Labelled, goto, structure_jumps

INT = r.Type("integer", 4)
MOST = 60
"""Steps of a run that are compared."""


class _Jumped(Exception):
    """A jump to a label, or out of a loop (0)."""


class _Ended(Exception):
    """The run has as many steps as are compared."""


JUMP = "jump"
"""A step that is not compared: programs have other jumps when they are structured."""


def action(name: int) -> r.Statement:
    return r.ExpressionStatement(r.Constant(name, INT))


def block(*statements: r.Statement) -> r.CompoundStatement:
    return r.CompoundStatement(statements)


def branch(name: str, then: r.Statement, otherwise: r.Statement | None = None) -> r.Statement:
    return r.Branch(r.Variable(name, name, INT), then, otherwise)


def draw_program(random: Random) -> list[Labelled]:
    """Up to seven statements, each with a label or without; jumps go anywhere."""
    labels = [random.choice([0, 10 * (place + 1)]) for place in range(random.randint(2, 7))]
    targets = [label for label in labels if label] or [0]
    entries = []
    for place, label in enumerate(labels):
        target = random.choice(targets)
        jump = goto(target, None) if target else action(99)
        condition = f"c{place}"
        statements = random.choice(
            [
                (action(place),),
                (branch(condition, jump),),
                (branch(condition, jump),),
                (jump,),
                (branch(condition, block(action(place + 20), jump)),),
                (branch(condition, action(place), block(jump)),),
                (branch(condition, block(jump), action(place)),),
                (action(place), branch(condition, jump)),
                (branch(condition, action(place), action(place + 20)),),
            ]
        )
        entries.append(Labelled(label, statements))
    return entries


class Run:
    """What a program does where each condition holds as often as drawn: its actions, and conditions that it tests."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.tested: Counter[str] = Counter()
        self.steps: list[object] = []

    def note(self, step: object) -> None:
        self.steps.append(step)
        if len(self.steps) >= MOST:
            raise _Ended

    def holds(self, condition: r.Expression) -> bool:
        assert isinstance(condition, r.Variable)
        self.tested[condition.name] += 1
        self.note(condition.name)
        return Random(f"{self.seed} {condition.name} {self.tested[condition.name]}").random() < 0.4

    def do(self, statement: r.Statement | None) -> None:
        match statement:
            case r.ExpressionStatement(value=r.Constant(value=name)):
                self.note(name)
            case r.Jump(kind="goto", value=r.Constant(value=int(label))):
                self.note(JUMP)
                raise _Jumped(label)
            case r.Jump(kind="break"):
                raise _Jumped(0)
            case r.CompoundStatement(statements=parts):
                for part in parts:
                    self.do(part)
            case r.Branch(condition=condition, then=then, otherwise=otherwise):
                self.do(then if self.holds(condition) else otherwise)
            case r.LoopStatement(condition=condition, body=body, tested_first=tested_first):
                assert tested_first is (condition is None)
                try:
                    self.do(body)
                    while condition is None or self.holds(condition):
                        self.note(JUMP)
                        self.do(body)
                except _Jumped as jumped:
                    if jumped.args[0]:
                        raise
            case None:
                pass

    def run(self, entries: Sequence[Labelled]) -> tuple[list[object], bool]:
        """Actions and tests in their order, and whether the program came to its end."""
        places = {entry.label: place for place, entry in reversed(list(enumerate(entries))) if entry.label}
        at = 0
        try:
            while at < len(entries):
                try:
                    self.do(block(*entries[at].statements))
                    at += 1
                except _Jumped as jumped:
                    at = places[jumped.args[0]]
        except _Ended:
            pass
        return [step for step in self.steps if step != JUMP], at == len(entries)


def jumps_in(statement: r.Statement | None) -> Iterator[r.Jump]:
    match statement:
        case r.Jump(kind="goto"):
            yield statement
        case r.CompoundStatement(statements=parts):
            for part in parts:
                yield from jumps_in(part)
        case r.Branch(then=then, otherwise=otherwise):
            yield from jumps_in(then)
            yield from jumps_in(otherwise)
        case r.LoopStatement(body=body):
            yield from jumps_in(body)


def test_structured_programs_do_the_same() -> None:
    """Programs of which a jump stays are none that can be compared; of the others there are enough, with loops."""
    compared, loops = 0, 0
    for seed in range(1500):
        program = draw_program(Random(seed))
        structured = structure_jumps(program)
        if any(any(jumps_in(statement)) for statement in structured):
            continue
        compared += 1
        loops += any(isinstance(statement, r.LoopStatement) for statement in structured)
        for run in range(4):
            (before, ended), (after, ends) = Run(run).run(program), Run(run).run([Labelled(0, tuple(structured))])
            length = min(len(before), len(after))
            assert before[:length] == after[:length], (seed, program, structured)
            assert not (ended and ends) or len(before) == len(after), (seed, program, structured)
    assert compared > 250
    assert loops > 50


@pytest.mark.parametrize(
    ("entries", "loops"),
    [
        # 10 a; if (c) goto 10; b
        ([Labelled(10, (action(1),)), Labelled(0, (branch("c", goto(10, None)),)), Labelled(0, (action(2),))], 1),
        # if (c) goto 20; a; 20 b
        ([Labelled(0, (branch("c", goto(20, None)),)), Labelled(0, (action(1),)), Labelled(20, (action(2),))], 0),
    ],
)
def test_the_plainest_forms(entries: list[Labelled], loops: int) -> None:
    first, *rest = structure_jumps(entries)
    if isinstance(first, r.CompoundStatement):
        (first,) = first.statements
    assert isinstance(first, r.LoopStatement) is bool(loops)
    assert isinstance(first, r.Branch) is not bool(loops)
    assert rest == [action(2)]


def test_two_loops_from_one_label_are_one() -> None:
    """The last jump back is the loop's end, what jumps back inside it goes on; a jump out leaves it."""
    entries = [
        Labelled(10, (action(1),)),
        Labelled(0, (branch("c", goto(30, None)),)),
        Labelled(0, (branch("d", goto(10, None)),)),
        Labelled(30, (action(3),)),
    ]
    loop, last = structure_jumps(entries)
    assert isinstance(loop, r.LoopStatement)
    assert isinstance(loop.body, r.CompoundStatement)
    assert (loop.tested_first, loop.condition and loop.condition.name) == (False, "d")  # type: ignore[attr-defined]
    assert [type(part).__name__ for part in loop.body.statements] == ["ExpressionStatement", "Branch"]
    assert not any(jumps_in(loop))
    assert last == action(3)
