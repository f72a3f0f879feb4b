"""Models run pass by pass, with a note of what is spent on which call path: the oracle of the analyses."""

from __future__ import annotations

import math
from typing import Any

from aspenpy.language import nodes
from tests.oracle import Names, Oracle, Spent, times


class Unrolled(Oracle):
    """Keeps, among the amounts of what is spent, `("time", path)` seconds in a path's own blocks, `("calls", path)`
    and `("amount", path, resource)`; in `together` the instances, or parts of them, that run at once in each block
    reached."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.path: tuple[str, ...] = ("main",)
        self.maps: list[Any] = []
        self.reached = True
        self.together: list[Any] = []

    def execute(self, node: nodes.Execute, scope: Names) -> Spent:
        spent = super().execute(node, scope)
        if self.reached:
            parallel = 1 if node.parallelism is None else self.value(node.parallelism, scope)
            width = 1 if node.width is None else self.value(node.width, scope)
            self.together.append(parallel * width * math.prod(self.maps))
        here = {("amount", self.path, name): worth for name, worth in spent.amounts.items()}
        return spent._replace(amounts={**here, ("time", self.path): spent.time})

    def statement(self, node: nodes.Statement, scope: Names) -> Spent:
        match node:
            case nodes.Call():
                self.path = (*self.path, node.kernel)
                spent = super().statement(node, scope)
                called = {("calls", self.path): 1}
                self.path = self.path[:-1]
                return spent._replace(amounts=spent.amounts | called)
            case nodes.Loop():
                return self.loop(node, scope)
            case nodes.Group(mode="par") if self.overlap or node.label in ("overlap", "concurrent"):
                inner = self.block_of(node.body, scope)
                time = self.slowest(dict.fromkeys(self.resources_in(node.body), 0) | inner.busy)
                if node.label == "concurrent":
                    time = max([time, *self.times_alone(node.body, scope)])
                share = time / inner.time if inner.time else 1
                scaled = {key: worth * share if key[0] == "time" else worth for key, worth in inner.amounts.items()}
                return Spent(time, inner.busy, scaled)
            case nodes.Probability():
                return self.chances(node, scope)
        return super().statement(node, scope)

    def loop(self, node: nodes.Loop, scope: Names) -> Spent:
        count = self.value(node.count, scope)
        before = self.reached
        self.reached = before and count > 0
        self.maps.append((count if node.counter is None else math.ceil(count)) if node.mode == "map" else 1)
        spent = super().statement(node, scope)
        self.maps.pop()
        self.reached = before
        return spent

    def chances(self, node: nodes.Probability, scope: Names) -> Spent:
        chances = [self.value(case.value, scope) for case in node.cases]
        bodies = [*(case.body for case in node.cases), node.otherwise or ()]
        spent, before = Spent(0, {}, {}), self.reached
        for chance, body in zip([*chances, 1 - sum(chances)], bodies, strict=True):
            self.reached = before and chance > 0
            part = times(chance, self.block_of(body, scope))
            spent = Spent(
                spent.time + part.time,
                {key: spent.busy.get(key, 0) + part.busy.get(key, 0) for key in (*spent.busy, *part.busy)},
                {key: spent.amounts.get(key, 0) + part.amounts.get(key, 0) for key in (*spent.amounts, *part.amounts)},
            )
        self.reached = before
        return spent


class InOrder(Oracle):
    """Keeps the amounts of each block in the order in which they are asked for; a broken last pass counts as a pass."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.blocks: list[list[tuple[str, Any]]] = []

    def execute(self, node: nodes.Execute, scope: Names) -> Spent:
        parallel = 1 if node.parallelism is None else self.value(node.parallelism, scope)
        asked = [(item.resource, *self.require(item, parallel, scope).amounts.values()) for item in node.requirements]
        self.blocks.append(asked)
        return super().execute(node, scope)

    def times_alone(self, statements: tuple[nodes.Statement, ...], scope: Names) -> list[Any]:
        """None: blocks are recorded in order, each once, and their times play no part."""
        return []

    def statement(self, node: nodes.Statement, scope: Names) -> Spent:
        match node:
            case nodes.Loop(counter=None):
                for _ in range(math.ceil(self.value(node.count, scope))):
                    self.block_of(node.body, scope)
                return Spent(0, {}, {})
            case nodes.Probability():
                chances = [self.value(case.value, scope) for case in node.cases]
                bodies = [*(case.body for case in node.cases), node.otherwise or ()]
                for chance, body in zip([*chances, 1 - sum(chances)], bodies, strict=True):
                    if chance > 0:
                        self.block_of(body, scope)
                return Spent(0, {}, {})
        return super().statement(node, scope)
