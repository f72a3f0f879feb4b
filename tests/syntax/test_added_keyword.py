"""A keyword is six changes in a copy of the package: its rule, its row, its node, its maker, its text, its meaning.

Two are added. `repeated [k]` is a further part of a requirement, which is asked for k times: what it means is the sixth
file. `quota q { flops [4] }` declares something with named parts, which the fifth file completes: nothing prices it.
Messages, formatter, colours, completion, outlines and the names that an editor follows derive from the row.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

GRAMMAR = "grammar/aspen.lark"
VOCABULARY, NODES, BUILDER, PRINTER = (
    f"aspenpy/language/{name}.py" for name in ("vocabulary", "nodes", "builder", "printer")
)
MEANING = "aspenpy/models/application/flow_builder.py"

MODIFIER = {
    GRAMMAR: (('[("to" | "from") NAME] [traits]', '[("to" | "from") NAME] ["repeated" "[" expression "]"] [traits]'),),
    VOCABULARY: (
        (
            '    "AS": Keyword(',
            '    "REPEATED": Keyword(encloses={"LSQB": "the repetitions"}, continues=REQUIREMENT),\n    "AS": Keyword(',
        ),
    ),
    NODES: (
        (
            "    resource_span: Span | None = None\n    target_span: Span | None = None\n",
            "    resource_span: Span | None = None\n    target_span: Span | None = None\n"
            "    repeated: Expression | None = None\n",
        ),
    ),
    BUILDER: (
        ("direction, target, traits = children", "direction, target, _, _, repeated, _, traits = children"),
        (
            "            target_span=None if target is None else self._span_of(target),\n        )\n",
            "            target_span=None if target is None else self._span_of(target),\n"
            "            repeated=repeated,\n        )\n",
        ),
    ),
    PRINTER: (
        (
            "{size}{target}{_write_optional(' as {}'",
            "{size}{target}{_write_optional(' repeated [{}]', node.repeated)}{_write_optional(' as {}'",
        ),
    ),
    MEANING: (
        (
            "        quantity = lower(node.quantity)\n",
            "        quantity = lower(node.quantity)\n"
            "        if node.repeated is not None:\n            quantity = quantity * lower(node.repeated)\n",
        ),
    ),
}
"""By file, what is written for what."""

DECLARED = {
    GRAMMAR: (
        ("            | mixture\n", "            | mixture\n            | quota\n"),
        (
            'mixed: NAME "[" expression "]"\n',
            'mixed: NAME "[" expression "]"\n\nquota: "quota" NAME "{" mixed ("," mixed)* "}"\n',
        ),
    ),
    VOCABULARY: (
        (
            '    "KERNEL": Keyword(',
            '    "QUOTA": Keyword(DECLARATION, {"LBRACE": "quota `{name}`"}, LIST, ATTRIBUTE, declares="quota",\n'
            '                     used_as=TRAIT, members=TRAIT, example="quota q { flops [1] }"),\n'
            '    "KERNEL": Keyword(',
        ),
    ),
    NODES: (
        (
            "Declaration = Parameter | Enum | Data | Import | Mixture\n",
            "class Quota(Mixture):\n    pass\n\n\nDeclaration = Parameter | Enum | Data | Import | Mixture | Quota\n",
        ),
    ),
    BUILDER: (
        (
            "    def mixed(self",
            "    def quota(self, children: Children) -> nodes.Quota:\n        _, name, _, *parts, _ = children\n"
            "        amounts, span = tuple(parts[::2]), self._span_of_all(children)\n"
            "        return nodes.Quota(name.value, amounts, span, self._span_of(name))\n\n"
            "    def mixed(self",
        ),
    ),
    PRINTER: (
        (
            "    nodes.Mixed: lambda",
            '    nodes.Quota: lambda node: f"quota {node.name} {{{_write_list(node.parts)}}}",\n'
            "    nodes.Mixed: lambda",
        ),
    ),
}

BEGINNING = """
import sys
import aspenpy
assert aspenpy.__file__.startswith(sys.argv[1]), aspenpy.__file__
from aspenpy.editor.completion import suggestions
from aspenpy.editor.meaning import NOTHING
from aspenpy.editor.names import names_of
from aspenpy.editor.project import Project
from aspenpy.editor.structure import symbols
from aspenpy.language.format import format_text
from aspenpy.language.parser import parse_file
from aspenpy.language.printer import to_aspen
from aspenpy.language.source import Source
from aspenpy.report.highlight import AspenLexer

def refused(text):
    try:
        parse_file(Source(text))
    except aspenpy.AspenError as error:
        return str(error)
    raise AssertionError("accepted: " + text)

def offered(text, word):
    path = sys.argv[1] + "/m.aspen"
    return {item.label for item in suggestions(Project({path: text}), path, text.index(word), NOTHING)}

def colour(text, word):
    return str(next(kind for _, kind, part in AspenLexer().get_tokens_unprocessed(text) if part == word))

def check_text(text):
    node = parse_file(Source(text))
    assert parse_file(Source(to_aspen(node))) == node
    laid = format_text(Source(text))
    assert parse_file(Source(laid)) == node and format_text(Source(laid)) == laid
    return laid
"""

WITH_MODIFIER = """
TEXT = "model a { param k = 3 kernel main { execute { flops [7]   repeated [k]  as dp } } }"
MACHINE = "machine m { node c } node c { socket s } socket s { resource flops(n) [n] with dp [base] }"
assert aspenpy.predict(aspenpy.parse(TEXT), aspenpy.parse(MACHINE)).runtime == 21
assert "flops [7] repeated [k] as dp" in check_text(TEXT)
assert "expected `]` to close the repetitions" in refused(TEXT.replace("[k]", "[k"))
assert "the rest of the requirement, another" in refused(TEXT.replace("repeated", ")"))
assert "repeated" in offered(TEXT, "repeated")
assert colour(TEXT, "repeated") == "Token.Keyword"
"""

WITH_DECLARATION = """
TEXT = "model a { quota lot { flops [4], loads [1] } kernel main { execute { flops [7] } } }"
assert "quota lot {flops [4], loads [1]}" in check_text(TEXT)
assert "quota `lot`" in refused(TEXT.replace("[1] }", "[1]"))
assert "quota" in offered(TEXT, "quota")
assert colour(TEXT, "quota") == "Token.Keyword.Declaration"
assert [(name.name, name.kind) for name in names_of(TEXT).names if name.declares][1] == ("lot", "quota")
assert "lot" in [symbol.name.name for symbol in symbols(TEXT)[0].inner]
assert "lot" in offered(TEXT.replace("[7]", "[7] as x"), "x }")
"""


@pytest.mark.parametrize(
    ("changes", "program"),
    [pytest.param(MODIFIER, WITH_MODIFIER, id="modifier"), pytest.param(DECLARED, WITH_DECLARATION, id="declaration")],
)
def test_a_keyword_is_six_files(tmp_path: Path, changes: dict[str, tuple[tuple[str, str], ...]], program: str) -> None:
    assert len(changes) <= 6
    for folder in ("aspenpy", "grammar"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for path, replacements in changes.items():
        text = (tmp_path / path).read_text(encoding="utf-8")
        for old, new in replacements:
            assert text.count(old) == 1, (path, old)
            text = text.replace(old, new)
        (tmp_path / path).write_text(text, encoding="utf-8")
    command = [sys.executable, "-c", BEGINNING + program, str(tmp_path)]
    environment = {"PYTHONPATH": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    found = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
