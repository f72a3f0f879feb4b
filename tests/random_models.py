"""Small applications and machines as text, drawn by Hypothesis: every kind of statement, names in every scope.

Values are kept where the language gives one: amounts and counts are not negative, loops run fewer than
four passes, probabilities add up to 1 at most. What stands under `ceil` and `floor` or decides a count or a
condition is exact arithmetic; roots, logarithms and draws go into amounts alone, so that a last digit
rounded differently never becomes a whole step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from hypothesis import strategies as st

Draw = Callable[[st.SearchStrategy[Any]], Any]

RESOURCES = ("flops", "loads", "stores", "messages")
TRAITS = ("simd", "dp", "stride(3)", "stride(n)", "unheard_of")
CALLEES = {"main": ("middle", "leaf"), "middle": ("leaf",), "leaf": ()}
FORMALS = {"main": (), "middle": ("x",), "leaf": ("x", "n")}
DEPTH = 3
FORMS = (
    "({} + {})", "({} * {})", "abs({} - {})", "max({}, {})", "min({}, {})", "{} / 4", "floor({})", "ceil({} / 3)",
    "({})^2", "mod({}, 5)", "t[mod({}, 4)]", "tt[1][mod({}, 2)]", "abs(lookup(t, u, {}))",
)  # fmt: skip
"""Forms of exact expressions that are not negative where their parts are not."""


class Place(NamedTuple):
    """Where a statement stands: the kernel, the exact names in scope, the drawn ones, blocks around it."""

    kernel: str
    exact: tuple[str, ...]
    drawn: tuple[str, ...] = ()
    depth: int = 0


def expression(draw: Draw, names: tuple[str, ...], depth: int = 2) -> str:
    """An exact expression that is not negative."""
    constant = st.sampled_from(["0", "1", "2", "3", "7", "1.5", "1/3", "2 * kilo"])
    if depth == 0 or draw(st.booleans()):
        return str(draw(constant | st.sampled_from(names)))
    form = draw(st.sampled_from(FORMS))
    return str(form).format(*(expression(draw, names, depth - 1) for _ in range(form.count("{}"))))


def amount(draw: Draw, place: Place) -> str:
    exact = expression(draw, place.exact)
    loose = draw(st.sampled_from(["{}", "{}", "sqrt({})", "log2(1 + {})", *(f"{{}} * {name}" for name in place.drawn)]))
    return str(loose).format(exact)


def condition(draw: Draw, place: Place) -> str:
    sign = draw(st.sampled_from(["==", "!=", "<", ">", "<=", ">="]))
    simple = f"{expression(draw, place.exact, 1)} {sign} {expression(draw, place.exact, 1)}"
    return (
        f"({condition(draw, place)}) {draw(st.sampled_from(['and', 'or']))} {simple}"
        if draw(st.integers(0, 3)) == 0
        else simple
    )


def block(draw: Draw, place: Place) -> str:
    """Statements in braces; a sample is in scope behind itself."""
    inner = place._replace(depth=place.depth + 1)
    statements = []
    for number in range(draw(st.integers(1, 2))):
        if draw(st.integers(0, 5)) == 0:
            name, value = f"s{inner.depth}{number}", expression(draw, inner.exact)
            form = draw(st.sampled_from(["uniform({0}, {0})", "normal({0}, 0)", "cdf(steps)"]))
            statements.append(f"sample {name} from {form.format(value)}")
            inner = inner._replace(drawn=(*inner.drawn, name))
        statements.append(statement(draw, inner))
    return "{ " + " ".join(statements) + " }"


def statement(draw: Draw, place: Place) -> str:
    kinds = ["execute", "execute"] if place.depth >= DEPTH else list(STATEMENTS)
    return STATEMENTS[draw(st.sampled_from(kinds))](draw, place)


def execute(draw: Draw, place: Place) -> str:
    parallelism = draw(st.sampled_from(["", "[5]", f"[{expression(draw, place.exact)}]"]))
    chosen = draw(st.lists(st.sampled_from(RESOURCES), min_size=1, max_size=3))
    requirements = []
    for resource in chosen:
        size = draw(st.sampled_from(["", " of size [word]"]))
        traits = draw(st.lists(st.sampled_from(TRAITS), max_size=2))
        asked = " as " + ", ".join(traits) if traits else ""
        requirements.append(f"{resource} [{amount(draw, place)}]{size}{asked}")
    shared = draw(st.integers(0, 2)) == 0
    if shared or "messages" in chosen:  # ranks, of which no machine has more than `seats` for
        parallelism = f"[min(seats, {expression(draw, place.exact)})]"
    if shared:
        parallelism += f" of [1 + {expression(draw, place.exact)}]"
    return f"execute {parallelism} {{ {' '.join(requirements)} }}"


def call(draw: Draw, place: Place) -> str:
    if not CALLEES[place.kernel]:
        return execute(draw, place)
    callee = draw(st.sampled_from(CALLEES[place.kernel]))
    arguments = ", ".join(expression(draw, place.exact) for _ in FORMALS[callee])
    return f"call {callee}({arguments})"


def group(draw: Draw, place: Place) -> str:
    word = draw(st.sampled_from(["seq", "par", 'par "overlap"', 'par "concurrent"']))
    return f"{word} {block(draw, place)}"


def loop(draw: Draw, place: Place) -> str:
    word = draw(st.sampled_from(["iterate", "map"]))
    count = draw(st.sampled_from(["3", "2.5", "0", f"mod({expression(draw, place.exact)}, 4)"]))
    counter = draw(st.sampled_from(["", "i", "n"]))
    inner = place._replace(exact=(*place.exact, counter)) if counter else place
    return f"{word} {counter} [{count}] {block(draw, inner)}"


def if_(draw: Draw, place: Place) -> str:
    text = f"if ({condition(draw, place)}) {block(draw, place)}"
    if draw(st.booleans()):
        text += f" else if ({condition(draw, place)}) {block(draw, place)}"
    return text + (f" else {block(draw, place)}" if draw(st.booleans()) else "")


def switch(draw: Draw, place: Place) -> str:
    cases = f"[low] {block(draw, place)} [1 + 1] {block(draw, place)}"
    rest = f" else {block(draw, place)}" if draw(st.booleans()) else ""
    return f"switch ({draw(st.sampled_from(place.exact))}) {{ {cases}{rest} }}"


def probability(draw: Draw, place: Place) -> str:
    chances = ["1/3", "0.5", f"1/(2 + {expression(draw, place.exact)})"]
    cases = " ".join(f"[{draw(st.sampled_from(chances))}] {block(draw, place)}" for _ in range(draw(st.integers(1, 2))))
    rest = f" else {block(draw, place)}" if draw(st.booleans()) else ""
    return f"probability {{ {cases}{rest} }}"


STATEMENTS: dict[str, Callable[[Draw, Place], str]] = {
    "execute": execute, "call": call, "group": group, "loop": loop,
    "if": if_, "switch": switch, "probability": probability,
}  # fmt: skip


def kernel(draw: Draw, name: str) -> str:
    known = ("n", "r", "low", "high", "clock", "derived", *FORMALS[name])
    own = f"param w = {expression(draw, known)}"
    arguments = ", ".join(f"param {formal}" for formal in FORMALS[name])
    body = block(draw, Place(name, (*known, "w")))
    return f"kernel {name}({arguments}) {{ {own} {body[2:-2]} }}"


@st.composite
def applications(draw: Draw) -> str:
    """The text of an application with the kernels `main`, `middle` and `leaf`."""
    kernels = "\n  ".join(kernel(draw, name) for name in CALLEES)
    return f"""model random {{
  param derived = {expression(draw, ("n", "r", "clock"))}
  param n = {draw(st.integers(0, 9))}
  param r = {draw(st.sampled_from(["0.25", "2/3", "6"]))}
  param word = {draw(st.sampled_from(["4", "8", "r"]))}
  enum level {{low, high}}
  param t[] = {{3, n, 1/2, 8}}
  param tt[][] = {{{{1, 2}}, {{high, 5}}}}
  param u[] = {{0, 1, 2.5, 10}}
  param steps[] = {{0, 1, 1}}
  {kernels}
}}
"""


@st.composite
def machines(draw: Draw) -> str:
    """The text of a machine with the sockets `S` and `T`, which offers every resource on either."""
    counts = [draw(st.sampled_from(["", "[1]", "[2]", "[5]", "[3/2]", "[clock]"])) for _ in range(4)]
    pairs = draw(st.lists(st.tuples(st.sampled_from(RESOURCES), st.sampled_from(RESOURCES)), max_size=2))
    conflicts = " ".join(f"conflict {first}, {second}" for first, second in pairs if first != second)
    stores = draw(st.sampled_from(["", "resource stores(x) [x / 7]"]))
    unit = draw(st.sampled_from(["", "N", "S", "C"]))
    rank = {name: "property rank" if name == unit else "" for name in ("N", "S", "C")}
    nodes, sockets, cores, others = (count.strip("[]") or "1" for count in counts)
    seats = {
        "": "3",
        "N": nodes,
        "S": f"min({nodes} * {sockets}, {nodes})",
        "C": f"min({nodes} * {sockets} * {cores}, {nodes} * {others})",
    }
    net = {"M": f"interconnect {counts[0]} net" if unit else "", "N": "" if unit else "interconnect net"}
    return f"""param clock = {draw(st.sampled_from(["2", "4", "half * 6"]))}
param half = 1/2
param seats = {seats[unit]}
machine M {{ node {counts[0]} N {net["M"]} }}
node N {{ {rank["N"]} socket {counts[1]} S socket T {net["N"]} }}
socket S {{ {rank["S"]} core {counts[2]} C memory RAM link [7] bus }}
socket T {{ {rank["S"]} core {counts[3]} C memory [2] RAM resource flops(x) [x] }}
core C {{ {rank["C"]}
  property rate [clock * 5]
  resource flops(number) [number / rate] with dp [base * 2], simd [base / 4], stride(k) [base + k / rate]
  {stores}
}}
memory RAM {{
  resource loads(n) [1/2 + n / 100] with stride(n) [base * n]
  resource stores(n) [n / 50] with dp [base + half]
  {conflicts}
}}
link bus {{ resource loads(n) [n] }}
interconnect net {{ resource messages(n) [n * half + 1] }}
"""
