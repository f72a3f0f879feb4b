"""Programs as text in JavaScript (ECMAScript 2020): functions of arrays of numbers.

The expressions are those of C, and its helpers are translated; `helpers/math.js` has what C takes from its library.
What has no value is not finite up to the result, as in C. No text of the user gets into them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from aspenpy.engine import c_text
from aspenpy.engine.c_text import FORMS, CWriter, find_used_helpers
from aspenpy.engine.c_to_javascript import translate
from aspenpy.engine.compiled import GIVEN, why_unwritable
from aspenpy.engine.program import Program
from aspenpy.engine.writer import ATOM
from aspenpy.expr.functions import FUNCTIONS
from aspenpy.expr.graph import Expr

MOST_PASSES = 10**5
"""Passes of a loop that is added up: more would keep a page from answering while a slider moves."""

OF_ARRAYS = {
    name: (f"aspen_{name}(Float64Array.of({{joined}}), {{count}})", ATOM)
    for name, function in FUNCTIONS.items()
    if function.most is None and name in GIVEN
}
"""Calls of the helpers that take any number of arguments as one array."""


class NotInJavaScript(ValueError):
    """The expressions have no form in JavaScript; the message says why."""


class JavaScriptWriter(CWriter):
    """Declarations and expressions in JavaScript."""

    number, condition, variable = "const", "const", "let"
    table = "const {name} = [{elements}];"
    forms = FORMS | OF_ARRAYS


def to_javascript(exprs: Sequence[Expr], free: Sequence[Expr], name: str, seed: int = 0) -> str:
    """`function name(x)` from the values of the free symbols, in their order, to an array with the value of each
    expression; what has none is not finite.

    Uses the helpers that `add_helpers` puts before it. Raises `NotInJavaScript` for random draws that depend on
    the free symbols, and for arrays that are not written out.
    """
    program = Program(exprs, free, seed, short_loops=True)
    if any(program.ops[place].kind in ("draw", "stream") for place in program.straight):
        raise NotInJavaScript("a random draw has no form in JavaScript")
    reason = why_unwritable(program, program.straight)
    if reason is not None:
        raise NotInJavaScript(reason.replace("in C", "in JavaScript"))
    names = {place: f"x{number}" for place, number in program.given.items()}
    writer = JavaScriptWriter(program, program.straight, names, {"x", "result", *names.values()}, float(MOST_PASSES))
    lines = [f"const {name} = x[{name[1:]}];" for name in names.values()]
    lines += writer.block(program.straight)
    lines.append(f"return [{', '.join(writer.text(root) for root in program.roots)}];")
    return "\n".join([f"function {name}(x) {{", *("  " + line for line in lines), "}"])


def add_helpers(functions: str) -> str:
    """The functions behind the helpers that they use."""
    prelude = Path(__file__).with_name("helpers").joinpath("math.js").read_text(encoding="utf-8")
    return "\n\n".join([prelude.rstrip("\n"), *find_used_helpers(functions, helpers()), functions]) + "\n"


@cache
def helpers() -> dict[str, str]:
    """The helpers of C in JavaScript, by name."""
    return translate(c_text.helpers().values())
