"""Random programs in C, in the manner of csmith: valid, with all statements that the front end knows, and sense in
none."""

from __future__ import annotations

from random import Random


class Program:
    """One program from one seed."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.depth = 0
        self.names = 0

    def text(self) -> str:
        functions = [self.function(name) for name in range(self.random.randint(1, 4))]
        macros = "#define N 17\n#define M (N + 3)\n#define AT(a, i) a[(i) % N]\n"
        memory = "struct pair { double x; int y; struct pair *next; };\nint ia[N]; double da[N][M]; float fa[M];\n"
        memory += "struct pair ps[N];\n"
        return macros + memory + "\n".join(functions)

    def function(self, name: int) -> str:
        self.variables = ["n", "k"]
        body = self.block(3)
        return f"int f{name}(int n, int k, double *p, int *q, struct pair *s)\n{body[:-1]} return {self.whole(2)}; }}\n"

    def pick(self, *choices: str) -> str:
        return self.random.choice(choices)

    def block(self, depth: int) -> str:
        known = len(self.variables)
        statements = " ".join(self.statement(depth - 1) for _ in range(self.random.randint(0, 4)))
        del self.variables[known:]
        return f"{{ {statements} }}"

    def statement(self, depth: int) -> str:
        if depth <= 0:
            return f"{self.assignment()};"
        kind = self.random.randrange(13)
        if kind < 3:
            return self.loop(depth)
        if kind == 3:
            return f"while ({self.condition(depth)}) {self.block(depth)}"
        if kind == 4:
            return f"do {self.block(depth)} while ({self.condition(depth)});"
        if kind == 5:
            return f"if ({self.condition(depth)}) {self.block(depth)}"
        if kind == 6:
            return f"if ({self.condition(depth)}) {self.block(depth)} else {self.block(depth)}"
        if kind == 7:
            cases = f"case 1: case 2: {self.block(depth)} break; case 7: {self.assignment()}; default: ;"
            return f"switch ({self.whole(depth)}) {{ {cases} }}"
        if kind == 8:
            return f"if ({self.condition(1)}) {self.pick('return 1;', '{ ; }', 'return k;')}"
        if kind == 9:
            self.names += 1
            name = f"v{self.names}"
            declared = f"int {name} = {self.whole(depth)};"
            self.variables.append(name)
            return declared
        return f"{self.assignment()};"

    def loop(self, depth: int) -> str:
        self.names += 1
        name = f"i{self.names}"
        start, end = self.whole(1), self.whole(1)
        head = self.pick(
            f"int {name} = {start}; {name} < {end}; {name}++",
            f"int {name} = {end}; {name} >= {start}; --{name}",
            f"int {name} = {start}; {name} <= {end}; {name} += {self.pick('2', '3', 'k', 'N')}",
            f"int {name} = 0; {name} != {end}; {name}++",
            f"int {name} = 1; {name} < {end} && {name} < n; {name} *= 2",
            f"int {name} = 0; ; {name}++",
        )
        self.variables.append(name)
        body = self.block(depth)
        self.variables.pop()
        extra = self.pick("", "", f"if ({self.condition(1).replace(name, 'n')}) break;", "continue;")
        return f"for ({head}) {body[:-1]} {extra} }}"

    def condition(self, depth: int) -> str:
        plain = f"{self.whole(depth)} {self.pick('<', '<=', '>', '>=', '==', '!=')} {self.whole(depth)}"
        return self.pick(
            plain, plain, f"{plain} && {self.real(1)} < 2", f"!({plain})", f"{plain} || k", self.whole(1), "s->next"
        )

    def assignment(self) -> str:
        variable = self.random.choice(self.variables)
        return self.pick(
            f"{self.place()} {self.pick('=', '+=', '-=', '*=', '/=')} {self.real(2)}",
            f"{variable} {self.pick('=', '+=', '-=', '*=', '>>=', '%=', '^=')} ({self.whole(2)} | 1)",
            f"{variable}{self.pick('++', '--')}",
            f"q[{self.whole(1)}] = {self.whole(2)}",
            f"*p++ = {self.real(2)}",
            f"s = s->next, s->y += {self.whole(1)}",
            f"s[{self.whole(1)}].x = {self.real(1)}",
        )

    def place(self) -> str:
        return self.pick(
            f"da[{self.whole(1)}][{self.whole(1)}]",
            f"p[{self.whole(2)}]",
            f"fa[{self.whole(1)}]",
            f"ps[{self.whole(1)}].x",
            "s->x",
            f"AT(p, {self.whole(1)})",
        )

    def whole(self, depth: int) -> str:
        if depth <= 0:
            return self.pick(self.random.choice(self.variables), str(self.random.randint(0, 40)), "N", "M")
        left, right = self.whole(depth - 1), self.whole(depth - 1)
        return self.pick(
            left,
            f"({left} {self.pick('+', '-', '*', '/', '%', '<<', '>>', '&', '|', '^')} ({right} | 1))",
            f"({left} {self.pick('+', '-', '*')} {right})",
            f"ia[{left}]",
            f"({left} < {right} ? {left} : {right})",
            f"-({left})",
            f"(int)({self.real(0)})",
            "q[s->y]",
            f"sizeof(double[{self.random.randint(1, 9)}])",
        )

    def real(self, depth: int) -> str:
        if depth <= 0:
            return self.pick(self.place_of_constants(), "1.5", "2.0", "(double)k")
        left, right = self.real(depth - 1), self.real(depth - 1)
        return self.pick(
            left,
            f"({left} {self.pick('+', '-', '*', '/')} {right})",
            f"-({left})",
            f"({left} < {right} ? {left} : {right})",
            self.place(),
        )

    def place_of_constants(self) -> str:
        return self.pick("da[1][2]", "p[k]", "fa[3]", "s->x")
