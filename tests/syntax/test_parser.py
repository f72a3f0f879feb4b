"""What each construct of the language becomes."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import pytest

from aspenpy.language import nodes
from aspenpy.language.diagnostics import AspenError, Diagnostic
from aspenpy.language.nodes import Apply, Chain, Comparison, Index, Junction, Name, Negation, Number, Power
from aspenpy.language.parser import parse_expression, parse_file, parse_value
from aspenpy.language.source import Source, Span
from aspenpy.language.statements import fields_of_node
from aspenpy.record import Record
from tests.syntax.corpus import APPLICATION, FILES, MACHINE
from tests.thorough import some

ONE, TWO, THREE, FOUR = (Number(value, str(value)) for value in (1, 2, 3, 4))
A, B, C, N, X = (Name(name) for name in ("a", "b", "c", "n", "x"))


def application(text: str) -> nodes.Application:
    tree = parse_file(Source(text))
    assert isinstance(tree, nodes.Application)
    return tree


def machine(text: str) -> nodes.Machine:
    tree = parse_file(Source(text))
    assert isinstance(tree, nodes.Machine)
    return tree


def statement(text: str) -> nodes.Statement:
    return application(f"model t {{ kernel main {{ {text} }} }}").kernels[0].body[0]


def item(text: str) -> nodes.Item:
    return machine(f"node N {{ {text} }}").components[0].items[0]


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("-2^2", Negation(Power(TWO, TWO))),
        ("2^-1*3", Chain(Power(TWO, Negation(ONE)), (("*", THREE),))),
        ("2^3^2", Power(TWO, Power(THREE, TWO))),
        ("1 - 2 + 3", Chain(ONE, (("-", TWO), ("+", THREE)))),
        ("1*2/3 - 4", Chain(Chain(ONE, (("*", TWO), ("/", THREE))), (("-", FOUR),))),
        ("1 - (2 + 3)", Chain(ONE, (("-", Chain(TWO, (("+", THREE),))),))),
        ("--2", Negation(Negation(TWO))),
        ("5 - -2", Chain(Number(5, "5"), (("-", Negation(TWO)),))),
        ("-3*-2", Chain(Negation(THREE), (("*", Negation(TWO)),))),
        ("((1))", ONE),
        ("2*giga", Chain(TWO, (("*", Name("giga")),))),
        ("max(a, 2)", Apply("max", (A, TWO))),
        ("f()", Apply("f", ())),
        ("fft.sub.n", Name("fft.sub.n")),
        ("a[1]", Index(A, (ONE,))),
        ("m.t[n][2]", Index(Name("m.t"), (N, TWO))),
    ],
)
def test_expression(text: str, tree: nodes.Expression) -> None:
    assert parse_expression(text) == tree


def test_a_value_is_an_expression_an_array_or_a_table() -> None:
    assert parse_value("n") == N
    assert parse_value("{}") == nodes.Array(())
    assert parse_value("{1, n}") == nodes.Array((ONE, N))
    assert parse_value("{{1}, {2, 3}}") == nodes.Array((nodes.Array((ONE,)), nodes.Array((TWO, THREE))))


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("param n = 3", nodes.Parameter("n", THREE)),
        ("param n = 3 in 1..4", nodes.Parameter("n", THREE, ONE, FOUR)),
        ("param n = 3 in milli..x", nodes.Parameter("n", THREE, Name("milli"), X)),
        ("param n = b in e", nodes.Parameter("n", B, member_of="e")),
        ("param n[] = {1, 2}", nodes.Parameter("n", nodes.Array((ONE, TWO)), rank=1)),
        ("param n[] = {}", nodes.Parameter("n", nodes.Array(()), rank=1)),
        ("param n[][] = {{1}}", nodes.Parameter("n", nodes.Array((nodes.Array((ONE,)),)), rank=2)),
        ("enum e {a, b}", nodes.Enum("e", ("a", "b"))),
        ("data n [x]", nodes.Data("n", X)),
        ("data n as Cube(1, x)", nodes.Data("n", None, "Cube", (ONE, X))),
        ("data n as Cube()", nodes.Data("n", None, "Cube", ())),
        ("data n [x] in hbm", nodes.Data("n", X, memory="hbm")),
        ("data n as Cube(1, x) in hbm", nodes.Data("n", None, "Cube", (ONE, X), "hbm")),
        ('import m from "f.aspen"', nodes.Import("m", "f.aspen")),
        (
            'import m from "f" with a = 1, b = x',
            nodes.Import("m", "f", (nodes.Override("a", ONE), nodes.Override("b", X))),
        ),
    ],
)
def test_declaration(text: str, tree: nodes.Declaration) -> None:
    whole = application(f"model t {{ {text} kernel main {{ {text} call a }} }}")
    assert whole.declarations == (tree,)
    assert whole.kernels[0].declarations == (tree,)


CALL_A, CALL_B, CALL_C = (nodes.Call(name) for name in "abc")


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        (
            "execute [2] of [n] { flops [n] }",
            nodes.Execute(TWO, None, (nodes.Requirement("flops", N),), None, N),
        ),
        ("execute { flops [n] }", nodes.Execute(None, None, (nodes.Requirement("flops", N),))),
        (
            'execute [2] "x" { flops [n] loads [1] }',
            nodes.Execute(TWO, "x", (nodes.Requirement("flops", N), nodes.Requirement("loads", ONE))),
        ),
        (
            "execute { loads [n] of size [4] from x as dp, t(1, n) }",
            nodes.Execute(
                None,
                None,
                (nodes.Requirement("loads", N, FOUR, "from", "x", (nodes.Trait("dp"), nodes.Trait("t", (ONE, N)))),),
            ),
        ),
        (
            'execute { stores [n] to x as t("f.csv") }',
            nodes.Execute(
                None,
                None,
                (nodes.Requirement("stores", N, None, "to", "x", (nodes.Trait("t", (nodes.Text("f.csv"),)),)),),
            ),
        ),
        ("call a", CALL_A),
        ("call a()", CALL_A),
        ("call m.k(1, n)", nodes.Call("m.k", (ONE, N))),
        ("sample x from uniform(1, 2)", nodes.Sample("x", "uniform", (ONE, TWO))),
        ("seq { call a call b }", nodes.Group("seq", None, (CALL_A, CALL_B))),
        ('par "p" { call a }', nodes.Group("par", "p", (CALL_A,))),
        ("iterate [n] { call a }", nodes.Loop("iterate", None, N, None, (CALL_A,))),
        ('map i [2] "m" { call a }', nodes.Loop("map", "i", TWO, "m", (CALL_A,))),
        ("if (n == 1) { call a }", nodes.If(((Comparison("==", N, ONE), (CALL_A,)),))),
        (
            "if (n < 1) { call a } else if (n > 2) { call b } else { call c }",
            nodes.If(((Comparison("<", N, ONE), (CALL_A,)), (Comparison(">", N, TWO), (CALL_B,))), (CALL_C,)),
        ),
        (
            "if ((n <= 1 or n >= 2) and n != 3) { call a }",
            nodes.If(
                (
                    (
                        Junction(
                            Junction(Comparison("<=", N, ONE), (("or", Comparison(">=", N, TWO)),)),
                            (("and", Comparison("!=", N, THREE)),),
                        ),
                        (CALL_A,),
                    ),
                )
            ),
        ),
        ("if ((n) == (1)) { call a }", nodes.If(((Comparison("==", N, ONE), (CALL_A,)),))),
        (
            "switch (m.n) { [1] { call a } [n] { call b } else { call c } }",
            nodes.Switch(Name("m.n"), (nodes.Case(ONE, (CALL_A,)), nodes.Case(N, (CALL_B,))), (CALL_C,)),
        ),
        (
            "probability { [0.5] { call a } }",
            nodes.Probability((nodes.Case(Number(Fraction(1, 2), "0.5"), (CALL_A,)),)),
        ),
    ],
)
def test_statement(text: str, tree: nodes.Statement) -> None:
    assert statement(text) == tree


def test_kernel_and_model() -> None:
    tree = application("model t { kernel k(param a, data d) { call a } kernel main() { call b } }")
    formals = (nodes.Formal("param", "a"), nodes.Formal("data", "d"))
    assert tree == nodes.Application(
        "t", (), (nodes.Kernel("k", formals, (), (CALL_A,)), nodes.Kernel("main", (), (), (CALL_B,)))
    )


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("socket S", nodes.Part("socket", None, "S")),
        ("socket [1.5] S", nodes.Part("socket", Number(Fraction(3, 2), "1.5"), "S")),
        ("property shared", nodes.Property("shared")),
        ("property size_of [n]", nodes.Property("size_of", N)),
        ("resource flops(a) [a/n]", nodes.Resource("flops", "a", Chain(A, (("/", N),)))),
        (
            "resource flops(a) [a] with dp [base], t(k) [k]",
            nodes.Resource(
                "flops",
                "a",
                A,
                (nodes.ResourceTrait("dp", None, Name("base")), nodes.ResourceTrait("t", "k", Name("k"))),
            ),
        ),
        ("conflict a, b", nodes.Conflict("a", "b")),
        ("static power [3]", nodes.PowerDraw("static", THREE)),
        ("dynamic power [n]", nodes.PowerDraw("dynamic", N)),
    ],
)
def test_item_of_a_component(text: str, tree: nodes.Item) -> None:
    assert item(text) == tree


def test_items_need_no_separators() -> None:
    items = machine("node N { core [4] C memory m link L property p property q [1] core D }").components[0].items
    assert [getattr(each, "name", None) for each in items] == ["C", "m", "L", "p", "q", "D"]


def test_machine() -> None:
    tree = machine("param f = 2 enum e {a} machine M { node N } param g = 3 node N { core C }")
    assert [declaration.name for declaration in tree.declarations] == ["f", "e", "g"]
    assert [(component.type, component.name) for component in tree.components] == [("machine", "M"), ("node", "N")]


def test_a_parameter_may_be_followed_by_a_component_of_a_type_that_is_a_unit() -> None:
    tree = machine("param k = 3 W X { core C } param l = 2 B // bytes or a type\n  Y { core C }")
    assert [parameter.value for parameter in tree.declarations if isinstance(parameter, nodes.Parameter)] == [
        THREE,
        TWO,
    ]
    assert [(component.type, component.name) for component in tree.components] == [("W", "X"), ("B", "Y")]


@pytest.mark.parametrize("statement", ["execute { flops [1] }", "seq { call a }", "probability { [1] { call a } }"])
def test_a_quantity_may_be_followed_by_a_statement(statement: str) -> None:
    tree = application(f"model t {{ kernel main {{ param k = 3 GB {statement} }} }}")
    assert tree.kernels[0].declarations == (nodes.Parameter("k", Number(3 * 10**9, "3 GB", "GB")),)


def test_words_that_only_begin_like_keywords_are_names() -> None:
    tree = application(
        "model t { param sizeA = 1 param inner = 2 param included = 3 param kilos = 4 kernel k { call ofx } }"
    )
    assert [declaration.name for declaration in tree.declarations] == ["sizeA", "inner", "included", "kilos"]


def test_line_ends_and_comments() -> None:
    tree = application("// café\r\nmodel t { // one\r\n kernel main { call a } }\r\n// the end")
    assert tree.kernels[0].body == (CALL_A,)


def test_older_spellings_are_read_with_a_warning() -> None:
    warnings: list[Diagnostic] = []
    text = (
        "model t { param v = {1, 2} param t = {{1}} kernel main { execute [1] work { flops [1] } seq s { call a } } }"
    )
    tree = parse_file(Source(text), warnings=warnings)
    assert isinstance(tree, nodes.Application)
    assert [declaration.rank for declaration in tree.declarations if isinstance(declaration, nodes.Parameter)] == [1, 2]
    assert [getattr(each, "label", None) for each in tree.kernels[0].body] == ["work", "s"]
    assert [(warning.severity, warning.span and warning.span.text()) for warning in warnings] == [
        ("warning", "v"),
        ("warning", "t"),
        ("warning", "work"),
        ("warning", "s"),
    ]


def test_spans_are_the_places_of_what_was_written() -> None:
    main = "execute [n] { flops [n] of size [2] to d as dp, t(1) }"
    text = f"model t {{\n  param n = (1 + m.x[2])*3\n  kernel main {{ {main} }}\n}}"
    tree = application(text)
    parameter, execute = tree.declarations[0], tree.kernels[0].body[0]
    assert isinstance(parameter, nodes.Parameter)
    assert isinstance(execute, nodes.Execute)
    assert isinstance(parameter.value, nodes.Chain)
    requirement = execute.requirements[0]
    shown = [
        (tree.span, text),
        (parameter.span, "param n = (1 + m.x[2])*3"),
        (parameter.name_span, "n"),
        (parameter.value.span, "(1 + m.x[2])*3"),
        (parameter.value.first.span, "(1 + m.x[2])"),
        (execute.span, "execute [n] { flops [n] of size [2] to d as dp, t(1) }"),
        (requirement.span, "flops [n] of size [2] to d as dp, t(1)"),
        (requirement.target_span, "d"),
        (requirement.traits[1].span, "t(1)"),
    ]
    assert [span and span.text() for span, _ in shown] == [written for _, written in shown]
    assert parameter.span is not None
    assert parameter.span.position() == (2, 3)


def test_long_chains_are_flat() -> None:
    terms = some(50_000, 10_000)
    tree = parse_expression("1" + " + n*2" * terms)
    assert isinstance(tree, Chain)
    assert len(tree.rest) == terms
    branches = "if (n == 1) { call a }" + " else if (n == 1) { call a }" * 5_000
    assert len(statement(branches).branches) == 5_001  # type: ignore[union-attr]


@pytest.mark.parametrize("text", [APPLICATION, MACHINE])
def test_the_texts_with_every_construct_are_read(text: str) -> None:
    assert parse_file(Source(text)) is not None


def test_the_corpus_is_there() -> None:
    assert len(FILES) > 200


def test_an_error_names_the_text_it_is_in() -> None:
    with pytest.raises(
        AspenError, match=r"^error: expected a value behind `\+`, found the end of the text\n --> n:1:4"
    ):
        parse_expression("1 +", "n")


@pytest.mark.parametrize("text", [APPLICATION, MACHINE])
def test_a_node_stands_within_the_one_around_it(text: str) -> None:
    """Spans are in the text, not empty, and inside those of the nodes that hold them."""

    def nodes_with_spans(item: object, around: Span) -> Iterator[tuple[Span, Span]]:
        if isinstance(item, Record):
            span = getattr(item, "span", None) or around
            yield around, span
            for field in fields_of_node(item):
                yield from nodes_with_spans(getattr(item, field), span)
        for part in item if isinstance(item, tuple) else ():
            yield from nodes_with_spans(part, around)

    source = Source(text)
    pairs = list(nodes_with_spans(parse_file(source, None, []), Span(source, 0, len(text))))
    assert len(pairs) > 20
    assert [pair for pair in pairs if not pair[0].start <= pair[1].start < pair[1].end <= pair[0].end] == []
