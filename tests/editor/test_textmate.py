"""The TextMate grammar says of each character of each model what the parser's words say."""

import json
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

from aspenpy.editor.names import words_in
from aspenpy.language.vocabulary import PHRASES
from tests.editor.textmate import Tokeniser
from tests.editor.textmate_grammar import textmate_grammar, textmate_text
from tests.thorough import slow

ROOT = Path(__file__).parents[2]
EXTENSION = ROOT / "editors" / "vscode"
FILE = EXTENSION / "syntaxes" / "aspen.tmLanguage.json"

KINDS = {
    "comment": "COMMENT", "string": "STRING", "constant.character": "STRING", "constant.numeric": "NUMBER",
    "constant.language": "KEYWORD", "keyword.other.unit": "UNIT", "keyword.operator.word": "KEYWORD",
    "keyword.operator": "OPERATOR", "keyword": "KEYWORD", "storage": "KEYWORD", "punctuation": "PUNCTUATION",
    "entity": "NAME", "variable": "NAME", "support": "NAME",
}  # fmt: skip
"""What scopes are, the longest that fits first."""

TERMINALS = {
    "COMMENT": "COMMENT", "STRING": "STRING", "NUMBER": "NUMBER", "KEYWORD": "KEYWORD", "NAME": "NAME",
    **dict.fromkeys(PHRASES, "KEYWORD"),
    **dict.fromkeys(("COMPARISON", "RANGE", "PLUS", "MINUS", "STAR", "SLASH", "CIRCUMFLEX", "EQUAL"), "OPERATOR"),
    **dict.fromkeys(("LPAR", "RPAR", "LSQB", "RSQB", "LBRACE", "RBRACE", "COMMA", "DOT"), "PUNCTUATION"),
}  # fmt: skip


@cache
def models() -> list[Path]:
    """Every model of the library and of the tests that is made of words of the language."""
    files = [*ROOT.glob("models/**/*.aspen"), *ROOT.glob("tests/**/*.aspen"), *ROOT.glob("benchmarks/**/*.aspen")]
    return [file for file in sorted(files) if "STRAY" not in {word.kind for word in words_in(text_of(file))}]


def text_of(file: Path) -> str:
    """A text of UTF-8 with lines as editors have them; files of other encodings are none."""
    try:
        return file.read_bytes().decode().removeprefix("\ufeff").replace("\r\n", "\n")
    except UnicodeDecodeError:
        return "\0"


def of_grammar(text: str) -> list[str]:
    """What each character is for the parser; line ends are left out."""
    kinds = [""] * len(text)
    for word in words_in(text):
        end = word.start + len(word.text)
        if word.kind == "QUANTITY":
            unit = end - len(word.text) + len(word.text.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ/"))
            kinds[word.start : unit] = ["NUMBER"] * len(word.text[: unit - word.start].rstrip()) + [""] * (
                unit - word.start - len(word.text[: unit - word.start].rstrip())
            )
            kinds[unit:end] = ["UNIT"] * (end - unit)
        elif word.kind == "INCLUDE":
            path = word.text.removeprefix("include").lstrip()
            kinds[word.start : word.start + 7] = ["KEYWORD"] * 7
            kinds[end - len(path) : end] = ["STRING"] * len(path)
        else:
            kinds[word.start : end] = [TERMINALS[word.kind]] * len(word.text)
    return [kind for kind, character in zip(kinds, text, strict=True) if character != "\n"]


@cache
def read_once() -> Tokeniser:
    """The tokeniser that both tests of all models read with: it keeps the lines that it has seen."""
    return Tokeniser(textmate_grammar())


@cache
def kind_of(scope: str) -> str:
    return next((kind for begin, kind in KINDS.items() if scope.startswith(begin)), scope)


def test_the_file_is_made_from_the_grammar(update_pictures: bool) -> None:
    if update_pictures:
        FILE.write_text(textmate_text(), encoding="utf-8")
    assert FILE.read_text(encoding="utf-8") == textmate_text()


def test_agrees_on_every_model() -> None:
    tokeniser, files = read_once(), models()
    assert len(files) > 900
    for file in files:
        text = text_of(file)
        found = [kind_of(scope) for scope in tokeniser.scopes(text)]
        wanted = of_grammar(text)
        differing = [place for place, (a, b) in enumerate(zip(found, wanted, strict=True)) if a != b]
        assert not differing, (file, differing[:3], found[differing[0]], wanted[differing[0]])


TOKENISE = """
const [fs, textmate, oniguruma] = ["fs", "vscode-textmate", "vscode-oniguruma"].map(require);
const wasm = fs.readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm")).buffer;
const library = oniguruma.loadWASM(wasm).then(() => ({
  createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
  createOnigString: (text) => new oniguruma.OnigString(text),
}));
const grammar = textmate.parseRawGrammar(fs.readFileSync(process.argv[2], "utf8"), "aspen.json");
const registry = new textmate.Registry({ onigLib: library, loadGrammar: async () => grammar });
registry.loadGrammar("source.aspen").then((aspen) => {
  const texts = JSON.parse(fs.readFileSync(process.argv[3], "utf8"));
  console.log(JSON.stringify(texts.map((text) => {
    let state = textmate.INITIAL;
    return text.split("\\n").flatMap((line) => {
      const { tokens, ruleStack } = aspen.tokenizeLine(line, state);
      state = ruleStack;
      return tokens.filter((token) => token.startIndex < line.length).map((token) => [
        Math.min(token.endIndex, line.length) - token.startIndex, token.scopes[token.scopes.length - 1]]);
    });
  })));
});
"""


INSTALL = ("npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline", "--fetch-retries=0")


@pytest.fixture(scope="module")
def node_modules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with programs of npm; skipped where there are none to be had."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    folder = tmp_path_factory.mktemp("node")
    packages = ["vscode-textmate@9", "vscode-oniguruma@2"]
    if subprocess.run([*INSTALL, "--prefix", folder, *packages], capture_output=True, check=False).returncode:
        pytest.skip("npm reaches no registry")
    return folder


@slow
def test_editors_see_the_same(node_modules: Path) -> None:
    """The tokeniser of Visual Studio Code is the oracle of the one in `tests/editor/textmate.py`."""
    files, tokeniser = models(), read_once()
    (node_modules / "tokenise.js").write_text(TOKENISE, encoding="utf-8")
    (node_modules / "texts.json").write_text(json.dumps([text_of(file) for file in files]), encoding="utf-8")
    command = ["node", "tokenise.js", str(FILE), "texts.json"]
    done = subprocess.run(command, cwd=node_modules, capture_output=True, check=True, text=True)
    for file, tokens in zip(files, json.loads(done.stdout), strict=True):
        ours = [scope or "source.aspen" for scope in tokeniser.scopes(text_of(file))]
        theirs = [scope for length, scope in tokens for _ in range(length)]
        assert ours == theirs, file
