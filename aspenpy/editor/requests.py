"""Requests: the answers to what an editor asks of a file or of a place in it; nothing for a file that is not open."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple, TypeVar, cast

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams

from aspenpy.editor import completion, structure
from aspenpy.editor.documents import OpenDocument, Workspace, fixes
from aspenpy.editor.hints import hover_at, note_times, note_values
from aspenpy.editor.meaning import FileStretch
from aspenpy.editor.names import Name, name_at
from aspenpy.editor.project import Project
from aspenpy.editor.protocol import (
    diagnostic_of,
    edits_of,
    encode_words,
    item_of,
    location_of,
    place_of,
    position_of,
    range_of,
    symbol_of,
)
from aspenpy.editor.structure import WORD_TYPES
from aspenpy.language.diagnostics import AspenError
from aspenpy.language.files import Reader
from aspenpy.language.format import format_text
from aspenpy.language.source import Source

P = TypeVar("P")
T = TypeVar("T")

# -- what is asked at a place ----------------------------------------------------------------------


class Cursor(NamedTuple):
    """The place that a request is about: the file, the offset of its position, and the name there."""

    document: OpenDocument
    project: Project
    offset: int
    name: Name | None


def _of_document(answer: Callable[[Workspace, OpenDocument, P], T]) -> Callable[[Workspace, P], T | None]:
    """A request about a file that is open."""

    @wraps(answer)
    def answered(workspace: Workspace, params: P) -> T | None:
        document = workspace.find_analysed(cast("Any", params).text_document.uri)
        return None if document is None else answer(workspace, document, params)

    return answered


def _at_place(answer: Callable[[Workspace, Cursor, P], T | None]) -> Callable[[Workspace, P], T | None]:
    """A request about a place in a file that is open."""

    @wraps(answer)
    def answered(workspace: Workspace, document: OpenDocument, params: P) -> T | None:
        position = cast("Any", params).position
        offset = document.text.offset(position.line, position.character)
        project = workspace.project(document)
        name = name_at(project.names(document.path).names, offset)
        return answer(workspace, Cursor(document, project, offset, name), params)

    return _of_document(answered)


def _at_name(
    answer: Callable[[Workspace, OpenDocument, Project, Name, P], T | None],
) -> Callable[[Workspace, P], T | None]:
    """A request about a name."""

    @wraps(answer)
    def answered(workspace: Workspace, cursor: Cursor, params: P) -> T | None:
        if cursor.name is None:
            return None
        return answer(workspace, cursor.document, cursor.project, cursor.name, params)

    return _at_place(answered)


@_at_place
def hover(workspace: Workspace, cursor: Cursor, params: types.HoverParams) -> types.Hover | None:
    document, project, offset, _ = cursor
    hovered = hover_at(project, document.path, offset, document.meaning)
    if hovered is None:
        return None
    content = types.MarkupContent(types.MarkupKind.Markdown, hovered.markdown)
    return types.Hover(content, range_of(document.text, hovered.start, hovered.end))


@_at_place
def complete(workspace: Workspace, cursor: Cursor, params: types.CompletionParams) -> types.CompletionList | None:
    document, project, offset, _ = cursor
    suggestions = completion.suggestions(project, document.path, offset, document.meaning)
    return types.CompletionList(False, [item_of(suggestion, index) for index, suggestion in enumerate(suggestions)])


@_at_place
def define(workspace: Workspace, cursor: Cursor, params: types.DefinitionParams) -> types.Location | None:
    document, project, offset, name = cursor
    for file in project.names(document.path).files:
        target = project.find_file(file, document.path) if file.start <= offset <= file.end else None
        if target is not None:
            return location_of(workspace, FileStretch(target, 0, 0))
    place = project.declaration(document.path, name) if name is not None else None
    return None if place is None else place_of(workspace, place)


@_at_name
def references(
    workspace: Workspace, document: OpenDocument, project: Project, name: Name, params: types.ReferenceParams
) -> list[types.Location] | None:
    places = project.uses(document.path, name)
    return [
        place_of(workspace, place) for place in places if params.context.include_declaration or not place.name.declares
    ]


@_at_name
def highlight(
    workspace: Workspace, document: OpenDocument, project: Project, name: Name, params: types.DocumentHighlightParams
) -> list[types.DocumentHighlight] | None:
    """Places of the file where the name under the cursor means the same."""
    target = project.declaration(document.path, name)
    if target is None:
        return None
    same = (other for other in project.names(document.path).names if other.name == name.name)
    return [
        types.DocumentHighlight(range_of(document.text, other.start, other.end))
        for other in same
        if project.declaration(document.path, other) == target
    ]


@_at_name
def prepare_rename(
    workspace: Workspace, document: OpenDocument, project: Project, name: Name, params: types.PrepareRenameParams
) -> types.Range | None:
    try:
        project.require_renamable(document.path, name)
    except AspenError as error:
        raise JsonRpcInvalidParams(error.diagnostics[0].message) from None
    return range_of(document.text, name.start, name.end)


@_at_name
def rename(
    workspace: Workspace, document: OpenDocument, project: Project, name: Name, params: types.RenameParams
) -> types.WorkspaceEdit | None:
    """The changes, in all files of the project, that give a declaration another name."""
    try:
        places = project.places_to_rename(document.path, name, params.new_name)
    except AspenError as error:
        raise JsonRpcInvalidParams(error.diagnostics[0].message) from None
    edits: dict[str, list[types.TextEdit]] = {}
    for place in places:
        location = place_of(workspace, place)
        edits.setdefault(location.uri, []).append(types.TextEdit(location.range, params.new_name))
    return types.WorkspaceEdit(changes=edits)


# -- what is asked of a file -----------------------------------------------------------------------


@_of_document
def symbols(
    workspace: Workspace, document: OpenDocument, params: types.DocumentSymbolParams
) -> list[types.DocumentSymbol] | None:
    return [symbol_of(symbol, document.text) for symbol in structure.symbols(document.text.text)]


@_of_document
def fold(
    workspace: Workspace, document: OpenDocument, params: types.FoldingRangeParams
) -> list[types.FoldingRange] | None:
    ranges = []
    for fold in structure.folds(document.text.text):
        first, last = (document.text.position(place)[0] for place in (fold.start, fold.end))
        kind = types.FoldingRangeKind.Comment if fold.comment else None
        end = last if fold.comment else last - 1
        if end > first:
            ranges.append(types.FoldingRange(first, end, kind=kind))
    return ranges


@_of_document
def colour(workspace: Workspace, document: OpenDocument, params: types.SemanticTokensParams) -> types.SemanticTokens:
    return types.SemanticTokens(encode_words(document.text, None))


@_of_document
def colour_range(
    workspace: Workspace, document: OpenDocument, params: types.SemanticTokensRangeParams
) -> types.SemanticTokens:
    return types.SemanticTokens(encode_words(document.text, params.range))


@_of_document
def format(
    workspace: Workspace, document: OpenDocument, params: types.DocumentFormattingParams
) -> list[types.TextEdit] | None:
    source = Source(document.text.text, document.path, document.path)
    try:
        text = format_text(source, Reader(unsaved=workspace.unsaved_texts()))
    except AspenError:
        return None  # what is wrong is shown already
    return edits_of(document.text, text)


@_of_document
def values(workspace: Workspace, document: OpenDocument, params: types.InlayHintParams) -> list[types.InlayHint] | None:
    start, end = (document.text.offset(at.line, at.character) for at in (params.range.start, params.range.end))
    notes = note_values(document.path, document.text.text, document.meaning, start, end)
    return [types.InlayHint(position_of(document.text, note.offset), note.text, padding_left=False) for note in notes]


@_of_document
def times(workspace: Workspace, document: OpenDocument, params: types.CodeLensParams) -> list[types.CodeLens] | None:
    return [
        types.CodeLens(range_of(document.text, note.offset, note.offset), types.Command(note.text, ""))
        for note in note_times(document.text.text, document.meaning)
    ]


@_of_document
def mend(workspace: Workspace, document: OpenDocument, params: types.CodeActionParams) -> list[types.CodeAction] | None:
    """Quick fixes of what is wrong in a range."""
    start, end = (document.text.offset(at.line, at.character) for at in (params.range.start, params.range.end))
    actions = []
    for remark in document.all_remarks:
        place = remark.place
        if place.path != document.path or place.end < start or end < place.start:
            continue
        for fix in fixes(remark, document.text.text):
            edit = types.TextEdit(range_of(document.text, fix.start, fix.end), fix.text)
            actions.append(
                types.CodeAction(
                    fix.title,
                    kind=types.CodeActionKind.QuickFix,
                    diagnostics=[diagnostic_of(workspace, remark, document)],
                    edit=types.WorkspaceEdit(changes={document.uri: [edit]}),
                )
            )
    return actions


_LEGEND = types.SemanticTokensLegend(list(WORD_TYPES), [])

Handler = Callable[[Workspace, Any], Any]

REQUESTS: dict[str, tuple[Handler, Any]] = {
    types.TEXT_DOCUMENT_HOVER: (hover, None),
    types.TEXT_DOCUMENT_COMPLETION: (complete, types.CompletionOptions(trigger_characters=["."])),
    types.TEXT_DOCUMENT_DEFINITION: (define, None),
    types.TEXT_DOCUMENT_REFERENCES: (references, None),
    types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT: (highlight, None),
    types.TEXT_DOCUMENT_PREPARE_RENAME: (prepare_rename, None),
    types.TEXT_DOCUMENT_RENAME: (rename, types.RenameOptions(prepare_provider=True)),
    types.TEXT_DOCUMENT_DOCUMENT_SYMBOL: (symbols, None),
    types.TEXT_DOCUMENT_FOLDING_RANGE: (fold, None),
    types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL: (colour, _LEGEND),
    types.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE: (colour_range, _LEGEND),
    types.TEXT_DOCUMENT_FORMATTING: (format, None),
    types.TEXT_DOCUMENT_INLAY_HINT: (values, None),
    types.TEXT_DOCUMENT_CODE_LENS: (times, None),
    types.TEXT_DOCUMENT_CODE_ACTION: (mend, types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix])),
}
"""What is answered, by the methods of the protocol, with the options that are told of them."""

FAR = frozenset(
    (
        types.TEXT_DOCUMENT_HOVER,
        types.TEXT_DOCUMENT_DEFINITION,
        types.TEXT_DOCUMENT_REFERENCES,
        types.TEXT_DOCUMENT_PREPARE_RENAME,
        types.TEXT_DOCUMENT_RENAME,
    )
)
"""Requests that may look through the whole workspace: nobody who types waits for them."""
