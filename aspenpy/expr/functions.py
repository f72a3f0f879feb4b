"""The functions of the language: one table with the rule of each function for every runner.

A rule for another library takes that library's module as its first argument: `lambda numpy, x: ...`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from aspenpy.expr import arithmetic, cache_laws, cache_windows, traits
from aspenpy.expr.process_grids import process_grid
from aspenpy.record import Record

Rule = Callable[..., Any]


class Function(Record):
    """A row of the table.

    `most` is None where there is no upper limit of arguments. `exact` computes with int, Fraction and float (arrays
    are tuples) and raises `DomainError`. `c` and `latex` are templates over the written arguments; `{joined}` is all
    of them with commas. `derivative` takes the graph module and the arguments and gives one partial derivative an
    argument. `dimension` names the law the dimensions follow. `random` marks draws, which are `draw` nodes.
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
    interval: Rule | None = None
    rising: bool = False
    latex: str = ""
    derivative: Rule | None = None
    traits: traits.Rule = traits.nothing
    random: bool = False

    def accepts(self, count: int) -> bool:
        """Whether the function takes that many arguments."""
        return self.least <= count and (self.most is None or count <= self.most)

    def arity(self) -> str:
        """How many arguments it takes, in words: `1 argument`, `2 or more arguments`."""
        if self.most is None:
            return f"{self.least} or more arguments"
        return f"{self.least} argument" + ("" if self.least == 1 else "s")


# -- rules for other libraries ---------------------------------------------------------------------


def _numpy_lookup(numpy: Any, values: Any, sizes: Any, x: Any) -> Any:
    """As `interpolated`, for a whole array of x; the points are one-dimensional."""
    if len(sizes) == 1:
        return values[0] + 0 * x
    left = numpy.clip(numpy.searchsorted(sizes, x, side="right") - 1, 0, len(sizes) - 2)
    return values[left] + (values[left + 1] - values[left]) * (x - sizes[left]) / (sizes[left + 1] - sizes[left])


def _sympy_lookup(sympy: Any, values: Any, sizes: Any, x: Any) -> Any:
    """The segments as a Piecewise."""
    if len(sizes) == 1:
        return values[0]
    lines = [
        values[i] + (values[i + 1] - values[i]) * (x - sizes[i]) / (sizes[i + 1] - sizes[i])
        for i in range(len(sizes) - 1)
    ]
    pieces = [(line, sympy.Lt(x, sizes[i + 1], evaluate=False)) for i, line in enumerate(lines[:-1])]
    return sympy_piecewise(sympy, *pieces, (lines[-1], sympy.true))


def sympy_piecewise(sympy: Any, *pieces: tuple[Any, Any]) -> Any:
    """A Piecewise of (value, condition) as it is written; SymPy's own constructor folds a Piecewise in a condition into
    the branches even with `evaluate=False`, and may divide by zero."""
    pair = sympy.functions.elementary.piecewise.ExprCondPair
    return sympy.Basic.__new__(sympy.Piecewise, *[sympy.Tuple.__new__(pair, *piece) for piece in pieces])


def _lookup_slopes(graph: Any, values: Any, sizes: Any, x: Any) -> Any:
    """By x: the slope of its segment. By the values `derivative` has a rule of its own; by the sizes there is none
    (None)."""
    slope = graph.ZERO
    points = list(zip(values.args, sizes.args, strict=False))
    for (value, size), (next_value, next_size) in reversed(list(pairwise(points))):
        segment = (next_value - value) / (next_size - size)
        last = next_size is sizes.args[-1]
        slope = segment if last else graph.if_else(graph.compare("<", x, next_size), segment, slope)
    return None, None, slope


def _between(function: Callable[[Any], Any]) -> Rule:
    """The interval of a monotonically increasing function."""
    return lambda x: (float(function(x[0])), float(function(x[1])))


def _which(operator: str) -> Rule:
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


def _flat(graph: Any, *args: Any) -> Any:
    """0 almost everywhere: a staircase is flat between its steps."""
    return tuple(graph.ZERO for _ in args)


FUNCTIONS: dict[str, Function] = {
    function.name: function
    for function in (
        Function(
            "log", 1, 1, "pure",
            exact=arithmetic.natural_logarithm,
            numpy=lambda numpy, x: numpy.log(x),
            sympy=lambda sympy, x: sympy.log(x),
            c="log({0})",
            llvm="call double @log(double {0})",
            interval=_between(math.log),
            rising=True,
            latex=r"\ln\left({0}\right)",
            derivative=lambda graph, x: (1 / x,),
        ),
        Function(
            "log2", 1, 1, "pure",
            exact=arithmetic.binary_logarithm,
            numpy=lambda numpy, x: numpy.log2(x),
            sympy=lambda sympy, x: sympy.log(x) / sympy.log(2),
            c="log2({0})",
            llvm="call double @log2(double {0})",
            interval=_between(math.log2),
            rising=True,
            latex=r"\log_{{2}}\left({0}\right)",
            derivative=lambda graph, x: (1 / (x * graph.apply("log", graph.number(2))),),
        ),
        Function(
            "log10", 1, 1, "pure",
            exact=arithmetic.decimal_logarithm,
            numpy=lambda numpy, x: numpy.log10(x),
            sympy=lambda sympy, x: sympy.log(x) / sympy.log(10),
            c="log10({0})",
            llvm="call double @log10(double {0})",
            interval=_between(math.log10),
            rising=True,
            latex=r"\log_{{10}}\left({0}\right)",
            derivative=lambda graph, x: (1 / (x * graph.apply("log", graph.number(10))),),
        ),
        Function(
            "exp", 1, 1, "pure",
            exact=arithmetic.exponential,
            numpy=lambda numpy, x: numpy.exp(x),
            sympy=lambda sympy, x: sympy.exp(x),
            c="aspen_exp({0})",
            llvm="call double @aspen_exp(double {0})",
            interval=_between(math.exp),
            rising=True,
            latex=r"\exp\left({0}\right)",
            derivative=lambda graph, x: (graph.apply("exp", x),),
            traits=traits.positive_result,
        ),
        Function(
            "sqrt", 1, 1, "root",
            exact=arithmetic.square_root,
            numpy=lambda numpy, x: numpy.sqrt(x),
            sympy=lambda sympy, x: sympy.sqrt(x),
            c="sqrt({0})",
            llvm="call double @llvm.sqrt.f64(double {0})",
            interval=_between(math.sqrt),
            rising=True,
            latex=r"\sqrt{{{0}}}",
            derivative=lambda graph, x: (1 / (2 * graph.apply("sqrt", x)),),
            traits=traits.root,
        ),
        Function(
            "floor", 1, 1, "same",
            exact=lambda x: math.floor(x),
            numpy=lambda numpy, x: numpy.floor(x),
            sympy=lambda sympy, x: sympy.floor(x, evaluate=False),
            c="floor({0})",
            llvm="call double @llvm.floor.f64(double {0})",
            interval=_between(math.floor),
            rising=True,
            latex=r"\left\lfloor {0} \right\rfloor",
            derivative=_flat,
            traits=traits.whole,
        ),
        Function(
            "ceil", 1, 1, "same",
            exact=lambda x: math.ceil(x),
            numpy=lambda numpy, x: numpy.ceil(x),
            sympy=lambda sympy, x: sympy.ceiling(x, evaluate=False),
            c="ceil({0})",
            llvm="call double @llvm.ceil.f64(double {0})",
            interval=_between(math.ceil),
            rising=True,
            latex=r"\left\lceil {0} \right\rceil",
            derivative=_flat,
            traits=traits.whole,
        ),
        Function(
            "round", 1, 1, "same",  # to the nearest whole number, a half to the even one, as IEEE 754 has it
            exact=lambda x: round(x),
            numpy=lambda numpy, x: numpy.rint(x),
            sympy=lambda sympy, x: _sympy_round(sympy, x),
            c="rint({0})",
            llvm="call double @llvm.rint.f64(double {0})",
            interval=_between(round),
            rising=True,
            latex=r"\left\lfloor {0} \right\rceil",
            derivative=_flat,
            traits=traits.whole,
        ),
        Function(
            "abs", 1, 1, "same",
            exact=lambda x: abs(x),
            numpy=lambda numpy, x: numpy.abs(x),
            sympy=lambda sympy, x: sympy.Abs(x, evaluate=False),
            c="fabs({0})",
            llvm="call double @llvm.fabs.f64(double {0})",
            interval=lambda x: (max(0.0, x[0], -x[1]), max(-x[0], x[1])),
            latex=r"\left| {0} \right|",
            derivative=lambda graph, x: (graph.if_else(graph.compare("<", x, graph.ZERO), -1, 1),),
            traits=traits.magnitude,
        ),
        Function(
            "pow", 2, 2, "power",  # the graph writes it as a power node
            exact=arithmetic.raised,
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
            interval=lambda x, y: (0.0, y[1]) if y[0] > 0 else (-math.inf, math.inf),
            latex=r"\operatorname{{mod}}\left({joined}\right)",
            derivative=lambda graph, x, y: (graph.ONE, -graph.apply("floor", x / y)),
            traits=traits.remainder,
        ),
        Function(
            "max", 2, None, "same",
            exact=lambda *args: max(args),
            numpy=lambda numpy, *args: _folded(numpy.maximum, args),
            sympy=lambda sympy, *args: sympy.Expr.__new__(sympy.Max, *args),
            c="aspen_max({joined})",
            interval=lambda *args: (max(low for low, _ in args), max(high for _, high in args)),
            latex=r"\max\left({joined}\right)",
            derivative=_which(">"),
            traits=traits.maximum,
        ),
        Function(
            "min", 2, None, "same",
            exact=lambda *args: min(args),
            numpy=lambda numpy, *args: _folded(numpy.minimum, args),
            sympy=lambda sympy, *args: sympy.Expr.__new__(sympy.Min, *args),
            c="aspen_min({joined})",
            interval=lambda *args: (min(low for low, _ in args), min(high for _, high in args)),
            latex=r"\min\left({joined}\right)",
            derivative=_which("<"),
            traits=traits.every,
        ),
        Function(
            "lookup", 3, 3, "lookup",
            exact=arithmetic.interpolated,
            numpy=_numpy_lookup,
            sympy=_sympy_lookup,
            c="aspen_lookup({joined})",
            latex=r"\operatorname{{lookup}}\left({joined}\right)",
            derivative=_lookup_slopes,
        ),
        Function(
            "gcd", 2, 2, "same",
            exact=cache_laws.greatest_divisor,
            numpy=cache_laws.numpy_greatest_divisor,
            sympy=lambda sympy, x, y: sympy.Function("gcd")(x, y),
            c="aspen_gcd({joined})",
            llvm="call double @aspen_gcd(double {0}, double {1})",
            latex=r"\gcd\left({joined}\right)",
            derivative=_flat,
            traits=traits.count,
        ),
        Function(
            "grid", 3, 3, "pure",
            exact=process_grid,
            numpy=cache_laws.numpy_by_point(process_grid),
            sympy=lambda sympy, *args: sympy.Function("grid")(*args),
            c="aspen_grid({joined})",
            latex=r"\operatorname{{grid}}\left({joined}\right)",
            derivative=_flat,
            traits=traits.count,
        ),
        Function(
            "lru_hits", 3, 3, "unknown",
            exact=cache_laws.lru_hits,
            numpy=cache_laws.numpy_lru_hits,
            sympy=lambda sympy, *args: sympy.Function("lru_hits")(*args),
            c="aspen_lru_hits({joined})",
            llvm="call double @aspen_lru_hits(double {0}, double {1}, double {2})",
            latex=r"\operatorname{{lru\_hits}}\left({joined}\right)",
            derivative=cache_laws.lru_slopes,
            traits=traits.positive_result,
        ),
        Function(
            "random_misses", 3, None, "unknown",
            exact=cache_laws.random_misses,
            numpy=cache_laws.numpy_by_point(cache_laws.random_misses),
            sympy=lambda sympy, *args: sympy.Function("random_misses")(*args),
            c="aspen_random_misses((const double[]){{{joined}}}, {count})",
            latex=r"\operatorname{{random\_misses}}\left({joined}\right)",
            derivative=cache_laws.random_slopes,
            traits=traits.positive_result,
        ),
        Function(
            "sets_touched", 5, None, "unknown",
            exact=cache_laws.sets_touched,
            numpy=cache_laws.numpy_by_point(cache_laws.sets_touched),
            sympy=lambda sympy, *args: sympy.Function("sets_touched")(*args),
            c="aspen_sets_touched((const double[]){{{joined}}}, {count})",
            latex=r"\operatorname{{sets\_touched}}\left({joined}\right)",
            derivative=_flat,
            traits=traits.count,
        ),
        Function(
            "share_kept", 4, None, "unknown",
            exact=cache_windows.share_kept,
            numpy=cache_laws.numpy_by_point(cache_windows.share_kept),
            sympy=lambda sympy, *args: sympy.Function("share_kept")(*args),
            c="aspen_share_kept((const double[]){{{joined}}}, {count})",
            latex=r"\operatorname{{share\_kept}}\left({joined}\right)",
            derivative=_flat,
            traits=traits.positive_result,
        ),
        Function(
            "lines_with_room", 2, None, "unknown",
            exact=cache_laws.lines_with_room,
            numpy=cache_laws.numpy_lines_with_room,
            sympy=lambda sympy, *args: sympy.Function("lines_with_room")(*args),
            c="aspen_lines_with_room((const double[]){{{joined}}}, {count})",
            latex=r"\operatorname{{lines\_with\_room}}\left({joined}\right)",
            derivative=cache_laws.room_slopes,
            traits=traits.positive_result,
        ),
        Function("uniform", 2, 2, "same", latex=r"\operatorname{{uniform}}\left({joined}\right)", random=True),
        Function("normal", 2, 2, "same", latex=r"\operatorname{{normal}}\left({joined}\right)", random=True),
        Function("cdf", 1, 1, "pure", latex=r"\operatorname{{cdf}}\left({joined}\right)", random=True),
    )
}  # fmt: skip


def _folded(function: Any, args: tuple[Any, ...]) -> Any:
    result = args[0]
    for arg in args[1:]:
        result = function(result, arg)
    return result


def _sympy_round(sympy: Any, x: Any) -> Any:
    """SymPy has no function that rounds symbolically: floor(x + 1/2), one less where a half meets an odd number."""
    up = sympy.floor(x + sympy.Rational(1, 2), evaluate=False)
    tie_to_odd = sympy.And(sympy.Eq(up - x, sympy.Rational(1, 2)), sympy.Eq(sympy.Mod(up, 2), 1))
    return sympy_piecewise(sympy, (up - 1, tie_to_odd), (up, sympy.true))
