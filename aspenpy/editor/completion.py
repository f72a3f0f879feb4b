"""Completion: what may be written at a place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from aspenpy.cost.trait_names import CACHE_TRAITS, EXCHANGES, SWEEP, VARIES, WITH_ARGUMENTS
from aspenpy.editor import names
from aspenpy.editor.meaning import FileMeaning, KnownFact
from aspenpy.editor.names import COMPONENT, RESOURCE, Name, NameReader, words_in
from aspenpy.editor.pieces import pieces
from aspenpy.editor.project import KINDS, Project
from aspenpy.expr.functions import FUNCTIONS
from aspenpy.language.dimensions import UNITS
from aspenpy.language.lower import MORE_CONSTANTS
from aspenpy.language.vocabulary import (
    DECLARATION,
    LIST,
    OPERATION_CLASSES,
    PART,
    PARTS,
    REQUIREMENT,
    REQUIREMENTS,
    SI_CONSTANTS,
    STATEMENT,
    STATEMENTS,
    keywords_that_begin,
    keywords_that_continue,
)
from aspenpy.models.machine.properties import PROPERTIES, describe_property
from aspenpy.record import NamedTuple
from aspenpy.tables.numbers import RESOURCE_UNITS


class CompletionContext(NamedTuple):
    """The surroundings of a name to be completed: what it would be, the block around it, whether in brackets or behind
    a `=`, in a kernel and in a model; the resource that is asked for, and what stands before a dot."""

    kind: str
    block: str
    nested: bool = False
    behind_equals: bool = False
    in_kernel: bool = False
    in_model: bool = False
    resource: str = ""
    within: str = ""


def context_at(text: str, offset: int) -> CompletionContext | None:
    """The surroundings of a name that begins at an offset; None in a comment or a text."""
    parts = pieces(text)
    start, whole = next(((piece.start, piece.text) for piece in reversed(parts) if piece.start <= offset), (0, ""))
    behind = whole[: offset - start]
    if _LIKE_BEFORE.search(behind):
        return CompletionContext(COMPONENT, STATEMENTS)
    if behind.rpartition("\n")[2].count('"') % 2:
        return None
    reader = NameReader(f"{behind}{_MARK}")  # a name in the place of the cursor is read as any other
    reader.read()
    if not reader.words or reader.words[-1].text != _MARK or not reader.names:
        return None
    mark, frame = reader.names[-1], reader.frames[-1]
    before = reader.words[-2].text if len(reader.words) > 1 else ""
    resources = [name.name for name in reader.names[:-1] if name.kind == RESOURCE]
    return CompletionContext(
        mark.kind,
        frame.kind,
        nested=frame.kind == "group",
        behind_equals=before == "=" or (frame.header in ("param", "data", "import") and before in _OPERATORS),
        in_kernel=reader.words[0].text == "kernel" and len(reader.frames) > 1,
        in_model=any(words and words[0].text == "model" for words in (words_in(piece.text) for piece in parts[:2])),
        resource=resources[-1] if resources else "",
        within=mark.within,
    )


_MARK = "_mark_"
_LIKE_BEFORE = re.compile(r"(?:^|\})\s*[A-Za-z_]\w*\s+[A-Za-z_]\w*\s+like\s+\Z", re.MULTILINE)
_OPERATORS = frozenset(("+", "-", "*", "/", "^", ".."))

KEYWORD, SNIPPET, UNIT, CONSTANT = "keyword", "snippet", "unit", "constant"


class Suggestion(NamedTuple):
    """A word that may be written, what it is, and a remark. `insert` is the text of a snippet: `$1` and `${1:word}` are
    to be filled in."""

    label: str
    kind: str
    detail: str = ""
    insert: str = ""


def _snippet(label: str, detail: str, *lines: str) -> Suggestion:
    return Suggestion(label, SNIPPET, detail, "\n".join(lines))


_KERNEL = ("kernel ${1:name} {", "  $0", "}")
_BLOCK = ('execute [${1:n}] "${2:label}" {', "  flops [${3:2}] as dp", "  loads [${4:8}] from ${5:data}", "  $0", "}")
_MODEL = ("model ${1:name} {", "  param ${2:n} = ${3:1000}", "", "  kernel main {", "    $0", "  }", "}")
_MACHINE = ("machine ${1:name} {", "  node [${2:1}] ${1:name}_node", "}", "", "node ${1:name}_node {", "  $0", "}")

SNIPPETS = {
    "file": (_snippet("model", "an application", *_MODEL), _snippet("machine", "a machine", *_MACHINE)),
    "model": (
        _snippet("kernel", "a kernel", *_KERNEL),
        _snippet("param", "a parameter with its range", "param ${1:n} = ${2:1000} in ${3:1} .. ${4:1e9}"),
        _snippet("data", "a data structure", "data ${1:name} as ${2:Array}(${3:n}, ${4:8})"),
    ),
    "kernel": (
        _snippet("execute", "a block that asks for resources", *_BLOCK),
        _snippet("iterate", "a loop", "iterate [${1:n}] {", "  $0", "}"),
        _snippet("map", "a loop whose passes are independent", "map [${1:n}] {", "  $0", "}"),
        _snippet("if", "a choice", "if (${1:n == 1}) {", "  $0", "}"),
        _snippet("probability", "branches with probabilities", "probability {", "  [${1:0.5}] { $0 }", "}"),
    ),
    "component": (
        _snippet("resource", "what the component offers", "resource ${1:flops}(${2:n}) [${3:n/clock}]"),
        _snippet("property", "a number of the component", "property ${1:clock} [${2:2 GHz}]"),
    ),
}
"""Snippets by the place at which they may stand."""

_NUMBER_BEFORE = re.compile(
    r"(?<![A-Za-z0-9_])(?<![0-9]\.)[0-9]+\.?[0-9]*(?:[eE][+-]?[0-9]+)? ?(?:[A-Za-z]+/)?[A-Za-z]*\Z"
)
_WORD_BEFORE = re.compile(r"(?<![A-Za-z0-9_])[A-Za-z0-9_]*\Z")


def suggestions(project: Project, path: str, offset: int, meaning: FileMeaning) -> list[Suggestion]:
    """Words that can stand at an offset of a file, each once."""
    text = project.text(path)
    before = text[max(0, offset - 100) : offset]
    if _NUMBER_BEFORE.search(before):
        return [Suggestion(unit, UNIT, _of_unit(unit)) for unit in UNITS]
    here = context_at(text, offset - len(_WORD_BEFORE.findall(before)[0]))
    if here is None:
        return []
    suggested = _suggest_names(project, path, offset, here, meaning)
    return list({(item.label, item.kind == SNIPPET): item for item in suggested}.values())


def _of_unit(unit: str) -> str:
    size = UNITS[unit].size
    return f"{size} base units" if size != 1 else "a base unit"


def _suggest_names(
    project: Project, path: str, offset: int, here: CompletionContext, meaning: FileMeaning
) -> Iterable[Suggestion]:
    if here.within:
        return _suggest_members(project, path, here, meaning)
    if here.kind == names.TRAIT:
        return _traits(project, path, here, meaning)
    if here.kind == names.PROPERTY:
        return [Suggestion(row.name, names.PROPERTY, describe_property(row.name)) for row in PROPERTIES]
    if here.kind in (names.KERNEL, names.ENUM, names.COMPONENT, names.MODEL, names.DATA):
        return _suggest_declarations(project, path, offset, (here.kind,), meaning)
    if here.nested or here.block == LIST or here.behind_equals:
        return _values(project, path, offset, meaning)
    if here.block == REQUIREMENTS:
        return [*_resources(project, path, meaning), *_keywords(*_REQUIREMENT_WORDS)]
    if here.block == PARTS:
        kinds = {known.name for known in project.names(path).names if known.kind == names.TYPE}
        return [
            *SNIPPETS["component"],
            *_keywords(*_lower(PART)),
            *(Suggestion(kind, names.TYPE) for kind in sorted(kinds)),
        ]
    if here.block == STATEMENTS and here.in_kernel:
        return [*SNIPPETS["kernel"], *_keywords(*_lower(STATEMENT), *_lower(DECLARATION))]
    if here.in_model:
        return [*SNIPPETS["model"], *_keywords(*_lower(DECLARATION), "kernel", "include", "in", "with")]
    return [*SNIPPETS["file"], *_keywords("param", "enum", "include")]


_REQUIREMENT_WORDS = sorted("of size" if word == "OF" else word.lower() for word in keywords_that_continue(REQUIREMENT))
"""The parts of a requirement: `of` stands before a size there, and before a number of parts in `execute`."""


def _lower(kind: str) -> list[str]:
    return sorted(word.lower() for word in keywords_that_begin(kind))


def _keywords(*words: str) -> list[Suggestion]:
    return [Suggestion(word, KEYWORD) for word in words]


def _suggest_declarations(
    project: Project, path: str, offset: int, kinds: tuple[str, ...], meaning: FileMeaning
) -> Iterator[Suggestion]:
    """The names of some kinds that are seen at a place, those of imported models dotted."""
    paths = [*project.closure(path)]
    if project.machine is not None and names.COMPONENT in kinds:
        paths += project.closure(project.machine)
    for current in paths:
        for known in project.names(current).names:
            seen = known.scope is None or (current == path and known.scope[0] <= offset <= known.scope[1])
            if known.declares and known.kind in kinds and known.kind != names.MODEL and seen:
                yield _suggestion(known, meaning.known)
        if names.KERNEL in kinds or names.MODEL in kinds:
            yield from (Suggestion(file.model, names.MODEL) for file in project.names(current).files if file.model)


def _suggestion(known: Name, values: Mapping[str, KnownFact]) -> Suggestion:
    value = values.get(known.name)
    return Suggestion(known.name, known.kind, value.value if value else known.kind)


def _values(project: Project, path: str, offset: int, meaning: FileMeaning) -> Iterator[Suggestion]:
    yield from _suggest_declarations(project, path, offset, (*names.VALUES, names.MODEL), meaning)
    for name, function in FUNCTIONS.items():
        yield Suggestion(name, names.FUNCTION, function.describe_arity(), f"{name}($1)")
    yield from (Suggestion(name, CONSTANT, f"1e{power}") for name, power in SI_CONSTANTS.items())
    yield from (Suggestion(name, CONSTANT, f"{base}^{power}") for name, (base, power) in MORE_CONSTANTS.items())


def _resources(project: Project, path: str, meaning: FileMeaning) -> Iterator[Suggestion]:
    """Resources of the machine; without a machine, common resources and the resources in the model."""
    if meaning.offers:
        for name, offer in meaning.offers.items():
            yield Suggestion(name, names.RESOURCE, f"{offer.component}: {offer.time}", f"{name} [$1]")
        return
    used = [known.name for known in project.names(path).names if known.kind == names.RESOURCE]
    for name in dict.fromkeys(["flops", "loads", "stores", "messages", "intops", *RESOURCE_UNITS, *used]):
        yield Suggestion(name, names.RESOURCE, RESOURCE_UNITS.get(name, ""), f"{name} [$1]")


def _traits(project: Project, path: str, here: CompletionContext, meaning: FileMeaning) -> Iterator[Suggestion]:
    """Traits that the machine knows for the resource, access patterns, mixtures and classes of operations."""
    offer = meaning.offers.get(here.resource)
    for name in offer.traits if offer else ():
        yield Suggestion(name, names.TRAIT, f"of {here.resource} on {offer.component}" if offer else "")
    if here.resource in ("loads", "stores"):
        for name in sorted(CACHE_TRAITS):
            yield Suggestion(name, names.TRAIT, "access pattern", f"{name}($1)" if name in WITH_ARGUMENTS else "")
    elif here.resource in ("flops", "intops"):
        yield from (Suggestion(name, names.TRAIT, "a precision") for name in ("sp", "dp", "simd") if not offer)
        yield from (Suggestion(name, names.TRAIT, "a class of operations") for name in OPERATION_CLASSES)
        for known in project.names(path).names:
            if known.kind in KINDS[names.TRAIT] and known.declares:
                yield Suggestion(known.name, known.kind)
    elif here.resource == "messages":
        yield from (Suggestion(name, names.TRAIT, "a collective or an exchange") for name in EXCHANGES)
        yield Suggestion(SWEEP, names.TRAIT, "a wavefront or a pipeline of ranks", f"{SWEEP}($1)")
    yield Suggestion(VARIES, names.TRAIT, "differs from instance to instance", f"{VARIES}($1)")


def _suggest_members(
    project: Project, path: str, here: CompletionContext, meaning: FileMeaning
) -> Iterator[Suggestion]:
    """Names that an imported model declares."""
    place = project.model(path, here.within)
    kinds = (names.KERNEL,) if here.kind == names.KERNEL else (names.VALUE, names.MEMBER)
    if place is not None:
        values = {
            name.rpartition(".")[2]: known
            for name, known in meaning.known.items()
            if name.startswith(f"{here.within}.")
        }
        for known in project.names(place.path).names:
            if known.declares and known.scope is None and known.kind in kinds:
                yield _suggestion(known, values)
