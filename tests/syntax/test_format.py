"""The formatter: one layout, only white space changed."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aspenpy.language.diagnostics import AspenError
from aspenpy.language.files import Reader
from aspenpy.language.format import WIDTH, format_text
from aspenpy.language.parser import parse_file
from aspenpy.language.source import Source
from aspenpy.language.tokens import words
from tests.syntax.corpus import APPLICATION, FILES, MACHINE
from tests.syntax.strategies import damaged
from tests.thorough import THOROUGH, examples


def laid_out(text: str) -> str:
    return format_text(Source(text))


def spelled(text: str) -> list[str]:
    """The words of a text, without white space."""
    return [match[0].strip() if match.lastgroup != "INCLUDE" else " ".join(match[0].split()) for match in words(text)]


def kernel(*lines: str) -> str:
    return "".join(
        f"{line}\n" for line in ("model t {", "  kernel main {", *(f"    {each}" for each in lines), "  }", "}")
    )


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("param a=1", "param a = 1"),
        ("param a = - b * - 2 ^ - n + 3- -1", "param a = -b*-2^-n + 3 - -1"),
        ("param a = kilo-1", "param a = kilo - 1"),
        ("param a=5 in 1..10", "param a = 5 in 1 .. 10"),
        ("param v [ ]={1,2 , 3}", "param v[] = {1, 2, 3}"),
        ("param t [] []={ {1,2},{3} }", "param t[][] = {{1, 2}, {3}}"),
        ("param a = v [ 1 ] [n] + f ( 1,g( 2 ) )", "param a = v[1][n] + f(1, g(2))"),
        ("param a = ( 1+ 2 ) *m . n", "param a = (1 + 2)*m.n"),
        ("param a = 1.50e3 * 64KiB", "param a = 1.50e3*64KiB"),
        ("enum e{a,b}", "enum e {a, b}"),
        ("data x[8*n]", "data x [8*n]"),
        ("data x as Cube( n,n )", "data x as Cube(n, n)"),
        ('import m from  "f"with a=v[1],b=2', 'import m from "f" with a = v[1], b = 2'),
    ],
)
def test_declarations(written: str, expected: str) -> None:
    assert laid_out(f"model t {{ {written} kernel k {{ call a }} }}").splitlines()[1] == f"  {expected}"


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("execute[n]'x'{flops[n]}".replace("'", '"'), 'execute [n] "x" { flops [n] }'),
        (
            "execute [1] of i [n]of size [i+1]static{flops [n]}",
            "execute [1] of i [n] of size [i + 1] static { flops [n] }",
        ),
        (
            "execute { loads[v[n]]of size[4]to x as dp,t( 1,2 ) }",
            "execute { loads [v[n]] of size [4] to x as dp, t(1, 2) }",
        ),
        ("call m . k( 1,2 )", "call m.k(1, 2)"),
        ("sample x from uniform(0,1)", "sample x from uniform(0, 1)"),
        ('iterate i[3]"l"{call a}', 'iterate i [3] "l" { call a }'),
        ("if(n==1and(a<2)){call a}else{call b}", "if (n == 1 and (a < 2)) { call a } else { call b }"),
        ("switch(n){[1]{call a}}", "switch (n) { [1] { call a } }"),
    ],
)
def test_statements_of_one_line(written: str, expected: str) -> None:
    assert laid_out(f"model t {{\n kernel main {{\n{written}\n}} }}") == kernel(expected)


def test_blocks_with_several_items_are_opened() -> None:
    text = "execute { flops [1] as dp loads [2] from x stores [3] }"
    assert laid_out(kernel(text)) == kernel("execute {", "  flops [1] as dp", "  loads [2] from x", "  stores [3]", "}")
    assert laid_out(kernel("seq { par { call a call b } }")) == kernel(
        "seq {", "  par {", "    call a", "    call b", "  }", "}"
    )


def test_cases_and_branches_are_opened_together() -> None:
    assert laid_out(kernel("probability { [0.5] { call a } else { call b } }")) == kernel(
        "probability {", "  [0.5] { call a }", "  else { call b }", "}"
    )
    assert laid_out(kernel("if (n == 1) {", "call a } else if (n == 2) { call b }", "else { call c }")) == kernel(
        "if (n == 1) {", "  call a", "} else if (n == 2) {", "  call b", "} else {", "  call c", "}"
    )


def test_a_line_that_is_too_long_is_opened() -> None:
    inside = "flops [" + "n + " * 10 + "{}]"
    room = WIDTH - len(f"    execute {{ {inside.format('')} }}")
    fits, too_long = inside.format("n" * room), inside.format("n" * (room + 1))
    assert laid_out(kernel(f"execute {{ {fits} }}")) == kernel(f"execute {{ {fits} }}")
    assert laid_out(kernel(f"execute {{ {too_long} }}")) == kernel("execute {", f"  {too_long}", "}")


def test_a_block_that_was_written_over_lines_stays_so() -> None:
    assert laid_out(kernel("execute {", "flops [n]", "}")) == kernel("execute {", "  flops [n]", "}")


def test_items_of_machines() -> None:
    text = (
        "machine M{node[2]N interconnect I} node N{property p property q[1]core[4]C static power[3]"
        "conflict a,b resource r(x)[x]with t(k)[k],u[1]memory m}"
    )
    assert laid_out(text).splitlines() == [
        *("machine M {", "  node [2] N", "  interconnect I", "}"),
        *("node N {", "  property p", "  property q [1]", "  core [4] C", "  static power [3]", "  conflict a, b"),
        *("  resource r(x) [x] with t(k) [k], u [1]", "  memory m", "}"),
    ]


def test_blank_lines_are_kept_one_at_most() -> None:
    text = "\n\n// head\n\n\n\nmodel t {\n\n  param a = 1\n\n\n  param b = 2\n  kernel k { call a }\n\n}\n\n"
    assert laid_out(text) == "// head\n\nmodel t {\n  param a = 1\n\n  param b = 2\n  kernel k { call a }\n}\n"


def test_comments_keep_their_places() -> None:
    text = (
        "model t { // of t\n//one\nparam a=1// of a\n  //two\nkernel k { call a // of call\n// last\n} // end\n}//over"
    )
    assert laid_out(text).splitlines() == [
        *("model t {  // of t", "  //one", "  param a = 1  // of a", "  //two"),
        *("  kernel k {", "    call a  // of call", "    // last", "  }  // end", "}  //over"),
    ]


def test_line_breaks_inside_items_are_kept() -> None:
    text = "model t {\nparam a = 1 +\n2\nparam t[][] = {\n{1,2}, // one\n  {3,4}\n}\nkernel k { call a }\n}"
    assert laid_out(text).splitlines()[1:7] == [
        *("  param a = 1 +", "      2", "  param t[][] = {", "    {1, 2},  // one", "    {3, 4}", "  }"),
    ]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("n*  2", "n*2\n"),
        ("flops[1]", "flops [1]\n"),
        ("param a=1 include  b.aspen param c=2", "param a = 1 include b.aspen\nparam c = 2\n"),
        ("include b.aspen\nparam c=2", "include b.aspen\nparam c = 2\n"),
        ("param a=1\ninclude b.aspen\nflops[1]", "param a = 1\ninclude b.aspen\nflops [1]\n"),
        ("include a.aspen\ninclude b.aspen\nflops[1]", "include a.aspen\ninclude b.aspen\nflops [1]\n"),
        ("include a.aspen loads[2]\nflops[1]", "include a.aspen loads [2]\nflops [1]\n"),
        ("resource flops(x)[x]\nproperty p", "resource flops(x) [x]\nproperty p\n"),
        ("execute{flops[1]loads[2]}", "execute {\n  flops [1]\n  loads [2]\n}\n"),
        ("// nothing", "// nothing\n"),
        ("", ""),
    ],
)
def test_pieces_that_are_to_be_included(written: str, expected: str) -> None:
    assert laid_out(written) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("model t { param = 1 }", "expected a name behind `param`, found `=`"),
        ("machine M { node [ }", "expected `]` to close `[`, found `}`"),
        ("param a = (1", "this `(` is not closed"),
        ("param a = 1)", "one `)` too many"),
        ("param a = %", "`%` is not an operator"),
        ("param a = 3  GB", "`3` cannot stand here"),
    ],
)
def test_what_has_a_syntax_error_is_reported(text: str, message: str) -> None:
    with pytest.raises(AspenError) as error:
        laid_out(text)
    assert error.value.diagnostics[0].message == message


CORPUS = [APPLICATION, MACHINE, *(path.read_text(encoding="utf-8") for path in FILES[::7])]


@given(damaged([APPLICATION, MACHINE]))
@settings(max_examples=examples(150))
def test_only_white_space_changes_and_never_twice(text: str) -> None:
    try:
        result = laid_out(text)
    except AspenError:
        return
    assert spelled(result) == spelled(text)
    assert laid_out(result) == result


@given(st.data())
@settings(max_examples=examples(60))
def test_white_space_of_the_author_does_not_change_the_meaning(data: st.DataObject) -> None:
    """Words set apart by other white space mean the same before and after."""
    blanks = st.sampled_from([" ", "  ", "\n", "\n\n\n", "\t", "\r\n", " // remark\n"])
    original = data.draw(st.sampled_from([APPLICATION, MACHINE]))
    text = "".join(word + ("\n" if word.startswith("//") else data.draw(blanks)) for word in spelled(original))
    result = laid_out(text)
    assert parse_file(Source(result)) == parse_file(Source(text)) == parse_file(Source(original))
    assert laid_out(result) == result


def test_every_model_means_the_same_laid_out() -> None:
    unchanged = 0
    for path in FILES if THOROUGH else FILES[::5]:
        reader = Reader()
        source = reader.read(path)
        try:
            result = format_text(source, reader)
            if result == source.text:  # then all that follows compares the same text with itself
                unchanged += 1
                continue
            tree = parse_file(source, reader)  # a piece of a model is laid out, and is none
        except AspenError:
            with pytest.raises(AspenError):
                parse_file(source, reader)
            continue
        assert spelled(result) == spelled(source.text)
        again = Source(result, source.name, source.path)
        assert parse_file(again, reader) == tree
        assert format_text(again, reader) == result
    assert unchanged > 10
