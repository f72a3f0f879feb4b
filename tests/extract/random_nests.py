"""Random nests of loops whose bounds and conditions are linear in the counters around them, in C: a program that counts
how often each statement runs, and the same without the counting."""

from __future__ import annotations

from random import Random


class Nests:
    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.statements = 0

    def text(self) -> str:
        """`ADD(k)` is statement k: an addition to extract, or a step of a counter to run."""
        body = " ".join(self.loop([], 3) for _ in range(self.random.randint(1, 2)))
        return f"double x[64];\nvoid work(int n, int m)\n{{ {body} }}\n"

    def line(self, counters: list[str], least: int = -2) -> str:
        """A linear expression of a counter or a size."""
        base = self.random.choice([*counters, *counters, "n", "m", str(self.random.randint(0, 5))])
        shift = self.random.randint(least, 3)
        scale = self.random.choice(["", "", "", "2*"])
        return f"{scale}{base} {'+' if shift >= 0 else '-'} {abs(shift)}"

    def loop(self, counters: list[str], depth: int) -> str:
        name = "ijkl"[len(counters)]
        start, end = self.line(counters), self.line(counters)
        if self.random.random() < 0.5:
            start, end = str(self.random.randint(0, 2)), self.random.choice(["n", "m", *counters]) + " + 1"
        step = self.random.choice(["++", "++", "++", " += 2", " += 3"])
        head = self.random.choice([
            f"int {name} = {start}; {name} < {end}; {name}{step}",
            f"int {name} = {start}; {name} <= {end}; {name}{step}",
            f"int {name} = {end}; {name} >= {start}; {name}{step.replace('+', '-')}",
            f"int {name} = {start}; {name} < ({end} < n ? {end} : n); {name}++",
        ])  # fmt: skip
        inside = [*counters, name]
        parts = [self.statement(inside, depth - 1) for _ in range(self.random.randint(1, 2))]
        return f"for ({head}) {{ {' '.join(parts)} }}"

    def statement(self, counters: list[str], depth: int) -> str:
        kind = self.random.random()
        if depth > 0 and kind < 0.55:
            return self.loop(counters, depth)
        if kind < 0.75:
            operator = self.random.choice(["<", "<=", ">", ">=", "==", "!="])
            condition = f"{self.random.choice(counters)} {operator} {self.line(counters)}"
            if self.random.random() < 0.3:
                second = f"{self.random.choice(counters)} {operator} {self.line(counters)}"
                condition += f" {self.random.choice(['&&', '||'])} {second}"
            other = f" else {{ {self.add()} }}" if self.random.random() < 0.4 else ""
            inner = self.loop(counters, depth) if depth > 0 and self.random.random() < 0.4 else self.add()
            return f"if ({condition}) {{ {inner} }}{other}"
        return self.add()

    def add(self) -> str:
        self.statements += 1
        return f"ADD({self.statements - 1});"


def extracted(text: str) -> str:
    return "#define ADD(k) x[k] += 1.5\n" + text


def counting(text: str, sizes: list[tuple[int, int]]) -> str:
    """A program that prints the statements that ran, for each pair of sizes."""
    runs = " ".join(f'ran = 0; work({n}, {m}); printf("%ld\\n", ran);' for n, m in sizes)
    return f"#include <stdio.h>\nlong ran;\n#define ADD(k) ran++\n{text}int main(void) {{ {runs} return 0; }}\n"
