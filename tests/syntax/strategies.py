"""Hypothesis strategies: syntax trees of every kind of node, as Python could build them; and damaged texts."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from aspenpy.expr.counts import ARGUMENTS, RULES
from aspenpy.language import nodes

KEYWORDS = frozenset(
    "param enum mixture sample in with as of size model kernel data import to from call iterate map par seq execute if "
    "else switch probability resource conflict property power static dynamic include or and "
    "nano micro milli kilo mega giga tera peta exa".split()
)

SPELLINGS: list[tuple[int | Fraction, str, str | None]] = [
    (0, "0", None),
    (12, "12", None),
    (1, "1.", None),
    (Fraction(1, 2), ".5", None),
    (Fraction(3, 2), "1.50", None),
    (1000, "1.e3", None),
    (Fraction(1, 1000), "1e-3", None),
    (25_600_000_000, "25.6 GB/s", "GB/s"),
    (64 * 1024, "64KiB", "KiB"),
    (Fraction(2, 10**8), "20 nJ/B", "nJ/B"),
    (3, "3 s", "s"),
    (7, "7 B", "B"),
    (180, "3 min", "min"),
]
"""Numbers with their values worked out by hand."""

names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,6}", fullmatch=True).filter(lambda name: name not in KEYWORDS)
unit_like_names = st.sampled_from(
    ["s", "B", "W", "h", "min", "GB", "J", "e3", "E", "inner", "sizeA", "machine", "base"]
)
any_names = names | unit_like_names
dotted_names = st.lists(any_names, min_size=1, max_size=3).map(".".join)
texts = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12)
numbers = st.sampled_from(SPELLINGS).map(lambda row: nodes.Number(*row))
name_nodes = (dotted_names | st.sampled_from(["kilo", "giga"])).map(nodes.Name)


def tuples(items: st.SearchStrategy[Any], least: int = 0, most: int = 3) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(items, min_size=least, max_size=most).map(tuple)


def _compound(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    def chain(operators: str) -> st.SearchStrategy[Any]:
        return st.builds(nodes.Chain, inner, tuples(st.tuples(st.sampled_from(operators), inner), least=1))

    return st.one_of(
        st.builds(nodes.Negation, inner),
        chain("+-"),
        chain("*/"),
        st.builds(nodes.Power, inner, inner),
        st.builds(nodes.Apply, any_names, tuples(inner)),
        st.builds(nodes.Index, dotted_names.map(nodes.Name), tuples(inner, least=1, most=2)),
    )


expressions = st.recursive(numbers | name_nodes, _compound, max_leaves=8)
comparisons = st.builds(nodes.Comparison, st.sampled_from(["==", "!=", "<", ">", "<=", ">="]), expressions, expressions)
conditions = st.recursive(
    comparisons,
    lambda inner: st.builds(nodes.Junction, inner, tuples(st.tuples(st.sampled_from(["and", "or"]), inner), least=1)),
    max_leaves=4,
)
arrays = tuples(expressions).map(nodes.Array)
tables = tuples(tuples(expressions, least=1).map(nodes.Array), least=1).map(nodes.Array)
values = expressions | arrays | tables

# -- declarations ----------------------------------------------------------------------------------

counts = st.builds(nodes.CountRule, st.sampled_from(sorted({*RULES} - {*ARGUMENTS}))) | st.builds(
    nodes.CountRule, st.sampled_from(sorted(ARGUMENTS)), expressions
)
counted = st.builds(nodes.CountedAt, tuples(st.builds(nodes.CountedSize, any_names, expressions), least=1))
more = {"per_rank": st.booleans(), "counts": st.none() | counts, "counted_at": st.none() | counted}
parameters = st.one_of(
    st.builds(nodes.Parameter, any_names, expressions),
    st.builds(nodes.Parameter, any_names, expressions, **more),
    st.builds(nodes.Parameter, any_names, expressions, expressions, expressions, **more),
    st.builds(nodes.Parameter, any_names, expressions, member_of=any_names),
    st.builds(nodes.Parameter, any_names, arrays, rank=st.just(1)),
    st.builds(nodes.Parameter, any_names, tables, rank=st.just(2)),
)
enums = st.builds(nodes.Enum, any_names, tuples(any_names, least=1))
data = st.builds(nodes.Data, any_names, expressions) | st.builds(
    nodes.Data, any_names, st.none(), any_names, tuples(expressions)
)
imports = st.builds(nodes.Import, any_names, texts, tuples(st.builds(nodes.Override, any_names, expressions)))
mixtures = st.builds(nodes.Mixture, any_names, tuples(st.builds(nodes.Mixed, any_names, expressions), least=1))
declarations = parameters | enums | data | imports | mixtures


def _within(declaration: nodes.Declaration) -> nodes.Declaration:
    """Only a whole application has sizes of a rank's problem, and of runs."""
    if not isinstance(declaration, nodes.Parameter):
        return declaration
    return declaration.replace(per_rank=False, counted_at=None)


# -- statements ------------------------------------------------------------------------------------

labels = st.none() | texts
counted = st.builds(nodes.Counted, any_names, expressions, expressions)
traits = st.builds(nodes.Trait, any_names, tuples(expressions | texts.map(nodes.Text) | counted))
amounts = (any_names, expressions, st.none() | expressions)
trait_lists = tuples(traits, most=2)
requirements = st.builds(nodes.Requirement, *amounts, traits=trait_lists) | st.builds(
    nodes.Requirement, *amounts, st.sampled_from(["to", "from"]), any_names, trait_lists
)
executes = st.builds(nodes.Execute, st.none() | expressions, labels, tuples(requirements, least=1)) | st.builds(
    nodes.Execute, expressions, labels, tuples(requirements, least=1), st.none(), expressions
)
calls = st.builds(nodes.Call, dotted_names, tuples(expressions))
samples = st.builds(nodes.Sample, any_names, any_names, tuples(expressions))


def _blocks(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    body = tuples(inner, least=1, most=2)
    cases = tuples(st.builds(nodes.Case, expressions, body), least=1, most=2)
    return st.one_of(
        st.builds(nodes.Group, st.sampled_from(["seq", "par"]), labels, body),
        st.builds(nodes.Loop, st.sampled_from(["iterate", "map"]), st.none() | any_names, expressions, labels, body),
        st.builds(nodes.If, tuples(st.tuples(conditions, body), least=1, most=2), st.none() | body),
        st.builds(nodes.Switch, dotted_names.map(nodes.Name), cases, st.none() | body),
        st.builds(nodes.Probability, cases, st.none() | body),
    )


statements = st.recursive(executes | calls | samples, _blocks, max_leaves=4)
formals = st.builds(nodes.Formal, st.sampled_from(["param", "data"]), any_names)
kernels = st.builds(
    nodes.Kernel,
    any_names,
    tuples(formals),
    tuples(declarations.map(_within), most=2),
    tuples(statements, least=1, most=2),
)
applications = st.builds(nodes.Application, any_names, tuples(declarations), tuples(kernels, least=1, most=2))

# -- machines --------------------------------------------------------------------------------------

items = st.one_of(
    st.builds(nodes.Part, any_names, st.none() | expressions, any_names, st.none() | any_names),
    st.builds(nodes.Property, any_names, st.none() | expressions),
    st.builds(
        nodes.Resource,
        any_names,
        any_names,
        expressions,
        tuples(st.builds(nodes.ResourceTrait, any_names, st.none() | any_names, expressions), most=2),
    ),
    st.builds(nodes.Conflict, any_names, any_names),
    st.builds(nodes.PowerDraw, st.sampled_from(["static", "dynamic"]), expressions),
)
components = st.builds(nodes.Component, any_names, any_names, tuples(items, least=1), st.none() | any_names)
machines = st.builds(
    nodes.Machine, tuples((parameters | enums).map(_within), most=2), tuples(components, least=1, most=2)
)

# -- damage ----------------------------------------------------------------------------------------


@st.composite
def damaged(draw: Any, originals: list[str]) -> str:
    """A text with up to four pieces deleted, doubled, exchanged or put in."""
    text: str = draw(st.sampled_from(originals))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 12)))
        piece = draw(
            st.sampled_from(["", text[start:end] * 2, text[start:end][::-1]])
            | st.sampled_from(["{", "}", "(", ")", "[", "]", '"', "//", "/*", "^", "-", "=", "..", ".", ",", "\n", "é"])
            | st.sampled_from([f" {word} " for word in sorted(KEYWORDS)])
            | st.text(max_size=3)
        )
        text = text[:start] + piece + text[end:]
    return text
