"""Dimensions of expressions, and the contradictions among them."""

from __future__ import annotations

import pytest

from aspenpy.language import nodes
from aspenpy.language.diagnostics import AspenError
from aspenpy.language.dimensions import BYTES, DIMENSIONLESS, FLOPS, HERTZ, JOULES, SECONDS, WATTS, Dimension
from aspenpy.language.infer import dimension_of
from aspenpy.language.parser import parse_expression, parse_file, parse_value
from aspenpy.language.source import Source

KNOWN = {"b": BYTES, "t": SECONDS, "f": FLOPS, "rate": BYTES / SECONDS, "ratio": DIMENSIONLESS, "sizes": BYTES}


@pytest.mark.parametrize(
    ("text", "dimension"),
    [
        ("2", None),
        ("3 GB", BYTES),
        ("b", BYTES),
        ("unknown", None),
        ("giga", None),
        ("-b", BYTES),
        ("b/rate", SECONDS),
        ("3 W*t", JOULES),
        ("f/(2 GHz)", FLOPS * SECONDS),
        ("b/b", DIMENSIONLESS),
        ("2*b", None),  # the 2 may be anything: bytes for each of b, say
        ("b/n", None),
        ("1 + b", BYTES),
        ("b - n + 3", BYTES),
        ("n + 2", None),
        ("t^2", SECONDS**2),
        ("t^-1", HERTZ),
        ("t^n", None),
        ("ratio^n", DIMENSIONLESS),
        ("pow(t, 2)", SECONDS**2),
        ("sqrt(t*t)", SECONDS),
        ("max(b, 12, 1 KiB)", BYTES),
        ("ceil(b)", BYTES),
        ("log(b/b)", DIMENSIONLESS),
        ("log2(n)", None),
        ("lookup(sizes, values, n)", BYTES),
        ("sizes[2]", BYTES),
        ("uniform(b, 2)", BYTES),
        ("nobody(b + 1)", None),
    ],
)
def test_dimension(text: str, dimension: Dimension | None) -> None:
    assert dimension_of(parse_expression(text), KNOWN.get) == dimension


def test_dimensions_of_arrays() -> None:
    assert dimension_of(parse_value("{1, 2 KiB, n}"), KNOWN.get) == BYTES
    assert dimension_of(parse_value("{{1 W}, {2}}"), KNOWN.get) == WATTS


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ("b + t", "seconds cannot be added to bytes", "t"),
        ("1 + b - f/2 + rate", "B/s cannot be added to bytes", "rate"),
        ("b - 3 s", "seconds cannot be subtracted from bytes", "3 s"),
        ("max(1, b, t)", "seconds cannot be used with `max` beside bytes", "t"),
        ("b + ratio", "a plain number cannot be added to bytes", "ratio"),
        ("log(b)", "the argument of `log` is a plain number, this is bytes", "b"),
        ("2^b", "an exponent is a plain number, this is bytes", "b"),
        ("sizes[t]", "an index is a plain number, this is seconds", "t"),
        ("2*(b + t)", "seconds cannot be added to bytes", "t"),
        ("nobody(b + t)", "seconds cannot be added to bytes", "t"),
        ("lookup(values, sizes, t)", "seconds cannot be looked up among bytes", "t"),
    ],
)
def test_contradiction(text: str, message: str, place: str) -> None:
    with pytest.raises(AspenError) as error:
        dimension_of(parse_expression(text), KNOWN.get)
    (diagnostic,) = error.value.diagnostics
    assert (diagnostic.code, diagnostic.message) == ("dimensions", message)
    assert diagnostic.span is not None
    assert diagnostic.span.text() == place


def test_a_contradiction_shows_both_places() -> None:
    with pytest.raises(AspenError) as error:
        dimension_of(parse_expression("1 + b + t"), KNOWN.get)
    (related,) = error.value.diagnostics[0].related
    assert related.span is not None
    assert (related.span.text(), related.label) == ("b", "bytes")


def test_conditions_are_looked_into() -> None:
    def condition(text: str) -> nodes.Condition:
        tree = parse_file(Source(f"model t {{ kernel main {{ if ({text}) {{ call a }} }} }}"))
        assert isinstance(tree, nodes.Application)
        statement = tree.kernels[0].body[0]
        assert isinstance(statement, nodes.If)
        return statement.branches[0][0]

    assert dimension_of(condition("b == 3 GB and t < n"), KNOWN.get) is None
    with pytest.raises(AspenError, match="seconds cannot be compared with bytes"):
        dimension_of(condition("n == 3 and b == t"), KNOWN.get)
