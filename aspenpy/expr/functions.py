"""The functions of the language: one table with the rule of each function for every runner.

A rule for another library takes that library's module as its first argument: `lambda numpy, x: ...`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from aspenpy.expr import arithmetic, cache_laws, cache_sweeps, cache_windows, intervals, traits
from aspenpy.expr.arithmetic import process_grid
from aspenpy.record import Record

Rule = Callable[..., Any]


class Function(Record):
    """A row of the table.

    `most` is None where there is no upper limit of arguments. `exact` computes with int, Fraction and float (arrays
    are tuples) and raises `DomainError`. `c` and `latex` are templates over the written arguments; `{joined}` is all
    of them with commas. `derivative` takes the graph module and the arguments and gives one partial derivative an
    argument. `dimension` names the law the dimensions follow. `random` marks draws, which are `draw` nodes.

    A function that SymPy does not have (`sympy` is None) is one without a definition there. `interval` is its law of
    interval arithmetic; without it nothing is known of the value. LLVM code calls what `llvm` names and leaves
    the function to NumPy where it is empty. `jumps`: the value may leap as an argument moves, so that its slope does
    not tell where it goes; `piecewise_constant`: it stays as it is between its leaps. A function with a `definition`
    (of the graph module and the arguments) is written by others before it is differentiated or lowered to a program.
    """

    name: str
    least: int
    most: int | None
    dimension: str
    exact: Rule | None = None
    numpy: Rule | None = None
    sympy: Rule | None = None
    c: str = ""
    llvm: str = ""
    interval: intervals.Law | None = None
    latex: str = ""
    derivative: Rule | None = None
    definition: Rule | None = None
    traits: traits.Rule = traits.no_traits
    jumps: bool = False
    piecewise_constant: bool = False
    random: bool = False

    def accepts(self, count: int) -> bool:
        """Whether the function takes that many arguments."""
        return self.least <= count and (self.most is None or count <= self.most)

    def describe_arity(self) -> str:
        """The number of its arguments in words: `1 argument`, `2 or more arguments`."""
        if self.most is None:
            return f"{self.least} or more arguments"
        return f"{self.least} argument" + ("" if self.least == 1 else "s")


# -- rules for other libraries ---------------------------------------------------------------------


def _lookup_in_numpy(numpy: Any, values: Any, sizes: Any, x: Any) -> Any:
    """`interpolate` for a whole array of x; the points are one-dimensional."""
    if len(sizes) == 1:
        return values[0] + 0 * x
    left = numpy.clip(numpy.searchsorted(sizes, x, side="right") - 1, 0, len(sizes) - 2)
    return values[left] + (values[left + 1] - values[left]) * (x - sizes[left]) / (sizes[left + 1] - sizes[left])


def _lookup_in_sympy(sympy: Any, values: Any, sizes: Any, x: Any) -> Any:
    """The segments as a Piecewise."""
    if len(sizes) == 1:
        return values[0]
    lines = [
        values[i] + (values[i + 1] - values[i]) * (x - sizes[i]) / (sizes[i + 1] - sizes[i])
        for i in range(len(sizes) - 1)
    ]
    pieces = [(line, sympy.Lt(x, sizes[i + 1], evaluate=False)) for i, line in enumerate(lines[:-1])]
    return make_piecewise(sympy, *pieces, (lines[-1], sympy.true))


def make_piecewise(sympy: Any, *pieces: tuple[Any, Any]) -> Any:
    """A Piecewise of (value, condition) as it is written; SymPy's own constructor folds a Piecewise in a condition into
    the branches even with `evaluate=False`, and may divide by zero."""
    pair = sympy.functions.elementary.piecewise.ExprCondPair
    return sympy.Basic.__new__(sympy.Piecewise, *[sympy.Tuple.__new__(pair, *piece) for piece in pieces])


def _lookup_slopes(graph: Any, values: Any, sizes: Any, x: Any) -> Any:
    """Derivatives of `lookup`. By x: the slope of its segment. By the values `derivative` has a rule of its own; by the
    sizes there is none (None)."""
    slope = graph.ZERO
    points = list(zip(values.args, sizes.args, strict=False))
    for (value, size), (next_value, next_size) in reversed(list(pairwise(points))):
        segment = (next_value - value) / (next_size - size)
        last = next_size is sizes.args[-1]
        slope = segment if last else graph.if_else(graph.compare("<", x, next_size), segment, slope)
    return None, None, slope


def _make_choice_slopes(operator: str) -> Rule:
    """Slopes of max and min: 1 for the argument that is chosen, the first of equal ones, and 0 for the others."""

    def partials(graph: Any, *args: Any) -> Any:
        parts = []
        for position, arg in enumerate(args):
            beats = graph.TRUE
            for other_position, other in enumerate(args):
                if other_position != position:
                    sign = operator if other_position < position else operator + "="
                    beats = graph.junction("and", beats, graph.compare(sign, arg, other))
            parts.append(graph.if_else(beats, graph.ONE, graph.ZERO))
        return parts

    return partials


def _zero_slopes(graph: Any, *args: Any) -> Any:
    """0 almost everywhere: a staircase is flat between its steps."""
    return tuple(graph.ZERO for _ in args)


# -- rows that are alike ---------------------------------------------------------------------------


STAIRCASE = {"jumps": True, "piecewise_constant": True}


def _make_logarithm_row(name: str, base: int | None, exact: Rule, latex: str) -> Function:
    """The logarithm to a base, None for the natural one."""
    return Function(
        name, 1, 1, "pure",
        exact=exact,
        numpy=lambda numpy, x: getattr(numpy, name)(x),
        sympy=lambda sympy, x: sympy.log(x) if base is None else sympy.log(x) / sympy.log(base),
        c=name + "({0})",
        llvm=f"call double @{name}(double {{0}})",
        interval=intervals.make_rising_law(exact),
        latex=latex + r"\left({0}\right)",
        derivative=lambda graph, x: (1 / (x if base is None else x * graph.apply("log", graph.number(base))),),
    )  # fmt: skip


def _make_staircase_row(name: str, exact: Rule, ieee: str, sympy: Rule, brackets: str) -> Function:
    """A function to whole numbers, which NumPy, C and LLVM call by its name in IEEE 754's library."""
    left, right = brackets.split()
    return Function(
        name, 1, 1, "same",
        exact=exact,
        numpy=lambda numpy, x: getattr(numpy, ieee)(x),
        sympy=sympy,
        c=ieee + "({0})",
        llvm=f"call double @llvm.{ieee}.f64(double {{0}})",
        interval=intervals.make_rising_law(exact),
        latex=rf"\left{left} {{0}} \right{right}",
        derivative=_zero_slopes,
        traits=traits.traits_of_rounding,
        jumps=True,
    )  # fmt: skip


def _make_helper_row(
    name: str,
    least: int,
    most: int | None,
    exact: Rule,
    numpy: Rule,
    derivative: Rule,
    *,
    known: traits.Rule = traits.traits_of_exponential,
) -> Function:
    """A function that no library has: C has a helper for it, from which JavaScript's is made."""
    written = "{joined}" if most is not None else "(const double[]){{{joined}}}, {count}"
    return Function(
        name, least, most, "unknown",
        exact=exact,
        numpy=numpy,
        c=f"aspen_{name}({written})",
        latex=rf"\operatorname{{{{{name}}}}}\left({{joined}}\right)".replace("_", r"\_"),
        derivative=derivative,
        traits=known,
    )  # fmt: skip


FUNCTIONS: dict[str, Function] = {
    function.name: function
    for function in (
        _make_logarithm_row("log", None, arithmetic.natural_logarithm, r"\ln"),
        _make_logarithm_row("log2", 2, arithmetic.binary_logarithm, r"\log_{{2}}"),
        _make_logarithm_row("log10", 10, arithmetic.decimal_logarithm, r"\log_{{10}}"),
        Function(
            "exp", 1, 1, "pure",
            exact=arithmetic.exponential,
            numpy=lambda numpy, x: numpy.exp(x),
            sympy=lambda sympy, x: sympy.exp(x),
            c="aspen_exp({0})",
            llvm="call double @aspen_exp(double {0})",
            interval=intervals.make_rising_law(arithmetic.exponential),
            latex=r"\exp\left({0}\right)",
            derivative=lambda graph, x: (graph.apply("exp", x),),
            traits=traits.traits_of_exponential,
        ),
        Function(
            "sqrt", 1, 1, "root",
            exact=arithmetic.square_root,
            numpy=lambda numpy, x: numpy.sqrt(x),
            sympy=lambda sympy, x: sympy.sqrt(x),
            c="sqrt({0})",
            llvm="call double @llvm.sqrt.f64(double {0})",
            interval=intervals.make_rising_law(arithmetic.square_root),
            latex=r"\sqrt{{{0}}}",
            derivative=lambda graph, x: (1 / (2 * graph.apply("sqrt", x)),),
            traits=traits.traits_of_root,
        ),
        _make_staircase_row(
            "floor", math.floor, "floor", lambda sympy, x: sympy.floor(x, evaluate=False), r"\lfloor \rfloor"
        ),
        _make_staircase_row(
            "ceil", math.ceil, "ceil", lambda sympy, x: sympy.ceiling(x, evaluate=False), r"\lceil \rceil"
        ),
        # to the nearest whole number, a half to the even one, as IEEE 754 has it
        _make_staircase_row("round", round, "rint", lambda sympy, x: _round_in_sympy(sympy, x), r"\lfloor \rceil"),
        Function(
            "abs", 1, 1, "same",
            exact=lambda x: abs(x),
            numpy=lambda numpy, x: numpy.abs(x),
            sympy=lambda sympy, x: sympy.Abs(x, evaluate=False),
            c="fabs({0})",
            llvm="call double @llvm.fabs.f64(double {0})",
            interval=intervals.take_magnitude,
            latex=r"\left| {0} \right|",
            derivative=lambda graph, x: (graph.if_else(graph.compare("<", x, graph.ZERO), -1, 1),),
            traits=traits.traits_of_magnitude,
        ),
        Function(
            "pow", 2, 2, "power",  # the graph writes it as a power node
            exact=arithmetic.raise_to_power,
            numpy=lambda numpy, base, exponent: numpy.power(base, exponent),
            sympy=lambda sympy, base, exponent: sympy.Pow(base, exponent),
            c="aspen_power({joined})",
            llvm="call double @aspen_pow(double {0}, double {1})",
            latex="{0}^{{{1}}}",
        ),
        Function(
            "mod", 2, 2, "same",
            exact=arithmetic.remainder,
            numpy=lambda numpy, x, y: numpy.mod(x, y),
            sympy=lambda sympy, x, y: sympy.Mod(x, y, evaluate=False),
            c="aspen_mod({joined})",
            llvm="call double @aspen_mod(double {0}, double {1})",
            interval=intervals.bound_remainder,
            latex=r"\operatorname{{mod}}\left({joined}\right)",
            derivative=lambda graph, x, y: (graph.ONE, -graph.apply("floor", x / y)),
            traits=traits.traits_of_remainder,
            jumps=True,
        ),
        Function(
            "max", 2, None, "same",
            exact=lambda *args: max(args),
            numpy=lambda numpy, *args: _fold_operands(numpy.maximum, args),
            sympy=lambda sympy, *args: sympy.Expr.__new__(sympy.Max, *args),
            c="aspen_max({joined})",
            interval=intervals.take_maximum,
            latex=r"\max\left({joined}\right)",
            derivative=_make_choice_slopes(">"),
            traits=traits.traits_of_maximum,
        ),
        Function(
            "min", 2, None, "same",
            exact=lambda *args: min(args),
            numpy=lambda numpy, *args: _fold_operands(numpy.minimum, args),
            sympy=lambda sympy, *args: sympy.Expr.__new__(sympy.Min, *args),
            c="aspen_min({joined})",
            interval=intervals.take_minimum,
            latex=r"\min\left({joined}\right)",
            derivative=_make_choice_slopes("<"),
            traits=traits.common_traits,
        ),
        Function(
            "lookup", 3, 3, "lookup",
            exact=arithmetic.interpolate,
            numpy=_lookup_in_numpy,
            sympy=_lookup_in_sympy,
            c="aspen_lookup({joined})",
            latex=r"\operatorname{{lookup}}\left({joined}\right)",
            derivative=_lookup_slopes,
            jumps=True,
        ),
        Function(
            "gcd", 2, 2, "same",
            exact=cache_laws.greatest_divisor,
            numpy=cache_laws.numpy_greatest_divisor,
            c="aspen_gcd({joined})",
            llvm="call double @aspen_gcd(double {0}, double {1})",
            latex=r"\gcd\left({joined}\right)",
            derivative=_zero_slopes,
            traits=traits.traits_of_count,
            jumps=True,
        ),
        _make_helper_row(
            "grid", 3, 3,
            process_grid, cache_laws.apply_by_point(process_grid), _zero_slopes, known=traits.traits_of_count,
        ).replace(dimension="pure", **STAIRCASE),
        _make_helper_row(
            "lru_hits", 3, 3, cache_laws.lru_hits, cache_laws.numpy_lru_hits, cache_laws.lru_slopes
        ).replace(llvm="call double @aspen_lru_hits(double {0}, double {1}, double {2})"),
        _make_helper_row(
            "random_misses", 3, None,
            cache_laws.random_misses, cache_laws.apply_by_point(cache_laws.random_misses), cache_laws.random_slopes,
        ),
        _make_helper_row(
            "sets_touched", 5, None,
            cache_laws.sets_touched, cache_laws.apply_by_point(cache_laws.sets_touched), _zero_slopes,
            known=traits.traits_of_count, ).replace(**STAIRCASE),
        _make_helper_row(
            "share_kept", 4, None,
            cache_windows.share_kept, cache_laws.apply_by_point(cache_windows.share_kept), _zero_slopes,
        ).replace(**STAIRCASE),
        _make_helper_row(
            "lines_with_room", 2, None,
            cache_laws.lines_with_room, cache_laws.numpy_lines_with_room, cache_laws.room_slopes,
        ).replace(**STAIRCASE),
        Function(
            "share_still_held", 9, None, "unknown",
            exact=cache_sweeps.share_still_held,
            numpy=cache_sweeps.numpy_share_still_held,
            definition=cache_sweeps.define_share_still_held,
            latex=r"\operatorname{{share\_still\_held}}\left({joined}\right)",
            traits=traits.traits_of_exponential,
        ).replace(**STAIRCASE),
        Function("uniform", 2, 2, "same", latex=r"\operatorname{{uniform}}\left({joined}\right)", random=True),
        Function("normal", 2, 2, "same", latex=r"\operatorname{{normal}}\left({joined}\right)", random=True),
        Function("cdf", 1, 1, "pure", latex=r"\operatorname{{cdf}}\left({joined}\right)", random=True),
    )
}  # fmt: skip

ELEMENTARY = frozenset(
    {"log", "log2", "log10", "exp", "sqrt", "floor", "ceil", "round", "abs", "mod", "max", "min", "lookup", "pow"}
)
"""Functions that every back end has."""


def special_functions() -> frozenset[str]:
    """Functions that back ends without a rule of their own have NumPy compute."""
    return frozenset(name for name, function in FUNCTIONS.items() if not function.random) - ELEMENTARY


def _fold_operands(function: Any, args: tuple[Any, ...]) -> Any:
    result = args[0]
    for arg in args[1:]:
        result = function(result, arg)
    return result


def _round_in_sympy(sympy: Any, x: Any) -> Any:
    """SymPy has no function that rounds symbolically: floor(x + 1/2), one less where a half meets an odd number."""
    up = sympy.floor(x + sympy.Rational(1, 2), evaluate=False)
    tie_to_odd = sympy.And(sympy.Eq(up - x, sympy.Rational(1, 2)), sympy.Eq(sympy.Mod(up, 2), 1))
    return make_piecewise(sympy, (up - 1, tie_to_odd), (up, sympy.true))


def _list_empty_cells(row: Function) -> list[str]:
    """Cells without which some back end, printer or search would not know the function. Draws are nodes of their own,
    and powers have a derivative of their own."""
    needed = ["latex"] if row.random else ["exact", "numpy", "latex"]
    if not row.random and row.definition is None:
        needed += ["c", "derivative"]
    if row.name == "pow":
        needed.remove("derivative")
    if row.derivative is _zero_slopes and not row.jumps:
        needed.append("jumps")
    return [cell for cell in needed if not getattr(row, cell)]


for _row in FUNCTIONS.values():
    if _list_empty_cells(_row):
        raise ValueError(f"the function `{_row.name}` lacks {', '.join(_list_empty_cells(_row))}")
