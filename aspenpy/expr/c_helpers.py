"""The C functions that generated code calls: NAN goes in and comes out, and a failure is NAN.

A condition is an int: 1, 0, or -1 where it could not be decided.
"""

from __future__ import annotations

from aspenpy.expr.c_cache_helpers import CACHE_HELPERS

HEADERS = {"#include <math.h>": "", "#include <stdlib.h>": "calloc("}
"""Each with the call that it is needed for; always, where that is empty."""

_UNARY = """static double aspen_{name}(double x)
{{
    return x > 0.0 ? {name}(x) : NAN;
}}"""

_EXTREME = """static double aspen_{name}(double a, double b)
{{
    return isnan(a) || isnan(b) ? NAN : a {sign} b ? a : b;
}}"""

_COMPARISON = """static int aspen_{name}(double a, double b)
{{
    return isnan(a) || isnan(b) ? -1 : a {sign} b;
}}"""

_LAW = """static double aspen_{name}(double value, double subject)
{{
    return {holds} ? value : NAN;
}}"""

HELPERS: dict[str, str] = {
    **{f"aspen_{name}": _UNARY.format(name=name) for name in ("log", "log2", "log10")},
    "aspen_max": _EXTREME.format(name="max", sign=">"),
    "aspen_min": _EXTREME.format(name="min", sign="<"),
    "aspen_divide": """static double aspen_divide(double a, double b)
{
    return b == 0.0 ? NAN : a / b;
}""",
    "aspen_power": """static double aspen_power(double base, double exponent)
{
    const double result = pow(base, exponent);
    return isnan(base) || isnan(exponent) || !isfinite(result) ? NAN : result;
}""",
    "aspen_mod": """static double aspen_mod(double a, double b)
{
    const double rest = b == 0.0 ? NAN : fmod(a, b);
    return rest != 0.0 && (rest < 0.0) != (b < 0.0) ? rest + b : rest;
}""",
    "aspen_element": """static double aspen_element(const double *array, int length, double index)
{
    const double place = trunc(index);
    return place >= 0.0 && place < length ? array[(int)place] : NAN;
}""",
    "aspen_cell": """static double aspen_cell(const double *table, int rows, int columns, double row, double column)
{
    const double down = trunc(row), across = trunc(column);
    const int inside = down >= 0.0 && down < rows && across >= 0.0 && across < columns;
    return inside ? table[(int)down * columns + (int)across] : NAN;
}""",
    "aspen_lookup": """static double
aspen_lookup(const double *values, const double *sizes, int count, int other, double x)
{
    int left = 0;
    if (count != other || count < 1)
        return NAN;
    for (int i = 1; i < count; i++)
        if (!(sizes[i - 1] < sizes[i]))
            return NAN;
    if (count == 1)
        return isnan(x) ? NAN : values[0];
    while (left < count - 2 && sizes[left + 1] <= x)
        left++;
    return values[left] + (values[left + 1] - values[left]) * (x - sizes[left]) / (sizes[left + 1] - sizes[left]);
}""",
    **CACHE_HELPERS,
    "aspen_equal": _COMPARISON.format(name="equal", sign="=="),
    "aspen_unequal": _COMPARISON.format(name="unequal", sign="!="),
    "aspen_less": _COMPARISON.format(name="less", sign="<"),
    "aspen_greater": _COMPARISON.format(name="greater", sign=">"),
    "aspen_at_most": _COMPARISON.format(name="at_most", sign="<="),
    "aspen_at_least": _COMPARISON.format(name="at_least", sign=">="),
    "aspen_and": """static int aspen_and(int a, int b)
{
    return a < 0 ? -1 : a ? b : 0;
}""",
    "aspen_or": """static int aspen_or(int a, int b)
{
    return a < 0 ? -1 : a ? 1 : b;
}""",
    "aspen_if": """static double aspen_if(int condition, double then, double otherwise)
{
    return condition < 0 ? NAN : condition ? then : otherwise;
}""",
    "aspen_amount": _LAW.format(name="amount", holds="subject >= 0.0"),
    "aspen_count": _LAW.format(name="count", holds="subject >= 0.0"),
    "aspen_parallelism": _LAW.format(name="parallelism", holds="subject >= 0.0"),
    "aspen_quantity": _LAW.format(name="quantity", holds="subject > 0.0"),
    "aspen_probability": _LAW.format(name="probability", holds="subject >= 0.0 && subject <= 1.0 + 1e-12"),
    "aspen_probabilities": _LAW.format(name="probabilities", holds="subject <= 1.0 + 1e-12"),
}
"""Each in an order in which it may be defined; those that a program does not use are left out of it."""
