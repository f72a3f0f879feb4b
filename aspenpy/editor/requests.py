"""Requests: the answers to what an editor asks of a file or of a place in it; nothing for a file that is not open."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams

from aspenpy.editor import annotations as notes_in
from aspenpy.editor import colours, completion, structure
from aspenpy.editor.documents import Document, Workspace
from aspenpy.editor.hover import hover as told_at
from aspenpy.editor.meaning import Stretch
from aspenpy.editor.names import Name, name_at
from aspenpy.editor.project import Project
from aspenpy.editor.protocol import (
    diagnostic_of,
    edits_of,
    encoded,
    item_of,
    location_of,
    place_of,
    position_of,
    range_of,
    symbol_of,
)
from aspenpy.editor.remarks import fixes
from aspenpy.language.diagnostics import AspenError
from aspenpy.language.files import Reader
from aspenpy.language.format import format_text
from aspenpy.language.source import Source

# -- what is asked at a place ----------------------------------------------------------------------


def _at(workspace: Workspace, params: Any) -> tuple[Document, Project, int, Name | None] | None:
    """The file that a request is about, the offset of its position, and the name there."""
    document = workspace.followed(params.text_document.uri)
    if document is None:
        return None
    offset = document.text.offset(params.position.line, params.position.character)
    project = workspace.project(document)
    return document, project, offset, name_at(project.names(document.path).names, offset)


def _named(workspace: Workspace, params: Any) -> tuple[Document, Project, Name] | None:
    """The same where there is a name."""
    found = _at(workspace, params)
    return None if found is None or found[3] is None else (found[0], found[1], found[3])


def hover(workspace: Workspace, params: types.HoverParams) -> types.Hover | None:
    found = _at(workspace, params)
    if found is None:
        return None
    document, project, offset, _ = found
    told = told_at(project, document.path, offset, document.meaning)
    if told is None:
        return None
    content = types.MarkupContent(types.MarkupKind.Markdown, told.markdown)
    return types.Hover(content, range_of(document.text, told.start, told.end))


def complete(workspace: Workspace, params: types.CompletionParams) -> types.CompletionList | None:
    found = _at(workspace, params)
    if found is None:
        return None
    document, project, offset, _ = found
    told = completion.suggestions(project, document.path, offset, document.meaning)
    return types.CompletionList(False, [item_of(suggestion, place) for place, suggestion in enumerate(told)])


def define(workspace: Workspace, params: types.DefinitionParams) -> types.Location | None:
    found = _at(workspace, params)
    if found is None:
        return None
    document, project, offset, name = found
    for file in project.names(document.path).files:
        target = project.found(file, document.path) if file.start <= offset <= file.end else None
        if target is not None:
            return location_of(workspace, Stretch(target, 0, 0))
    place = project.declaration(document.path, name) if name is not None else None
    return None if place is None else place_of(workspace, place)


def references(workspace: Workspace, params: types.ReferenceParams) -> list[types.Location] | None:
    found = _named(workspace, params)
    if found is None:
        return None
    document, project, name = found
    places = project.uses(document.path, name)
    return [
        place_of(workspace, place) for place in places if params.context.include_declaration or not place.name.declares
    ]


def highlight(workspace: Workspace, params: types.DocumentHighlightParams) -> list[types.DocumentHighlight] | None:
    found = _named(workspace, params)
    if found is None:
        return None
    document, project, name = found
    target = project.declaration(document.path, name)
    if target is None:
        return None
    same = (other for other in project.names(document.path).names if other.name == name.name)
    return [
        types.DocumentHighlight(range_of(document.text, other.start, other.end))
        for other in same
        if project.declaration(document.path, other) == target
    ]


def prepare_rename(workspace: Workspace, params: types.PrepareRenameParams) -> types.Range | None:
    found = _named(workspace, params)
    if found is None:
        return None
    document, project, name = found
    try:
        project.require_renamable(document.path, name)
    except AspenError as error:
        raise JsonRpcInvalidParams(error.diagnostics[0].message) from None
    return range_of(document.text, name.start, name.end)


def rename(workspace: Workspace, params: types.RenameParams) -> types.WorkspaceEdit | None:
    found = _named(workspace, params)
    if found is None:
        return None
    document, project, name = found
    try:
        places = project.renamed(document.path, name, params.new_name)
    except AspenError as error:
        raise JsonRpcInvalidParams(error.diagnostics[0].message) from None
    edits: dict[str, list[types.TextEdit]] = {}
    for place in places:
        location = place_of(workspace, place)
        edits.setdefault(location.uri, []).append(types.TextEdit(location.range, params.new_name))
    return types.WorkspaceEdit(changes=edits)


# -- what is asked of a file -----------------------------------------------------------------------


def symbols(workspace: Workspace, params: types.DocumentSymbolParams) -> list[types.DocumentSymbol] | None:
    document = workspace.followed(params.text_document.uri)
    if document is None:
        return None
    return [symbol_of(symbol, document.text) for symbol in structure.symbols(document.text.text)]


def fold(workspace: Workspace, params: types.FoldingRangeParams) -> list[types.FoldingRange] | None:
    document = workspace.followed(params.text_document.uri)
    if document is None:
        return None
    found = []
    for fold in structure.folds(document.text.text):
        first, last = (document.text.position(place)[0] for place in (fold.start, fold.end))
        kind = types.FoldingRangeKind.Comment if fold.comment else None
        end = last if fold.comment else last - 1
        if end > first:
            found.append(types.FoldingRange(first, end, kind=kind))
    return found


def colour(workspace: Workspace, params: types.SemanticTokensParams) -> types.SemanticTokens | None:
    document = workspace.followed(params.text_document.uri)
    return None if document is None else types.SemanticTokens(encoded(document.text, None))


def colour_range(workspace: Workspace, params: types.SemanticTokensRangeParams) -> types.SemanticTokens | None:
    document = workspace.followed(params.text_document.uri)
    return None if document is None else types.SemanticTokens(encoded(document.text, params.range))


def format(workspace: Workspace, params: types.DocumentFormattingParams) -> list[types.TextEdit] | None:
    document = workspace.followed(params.text_document.uri)
    if document is None:
        return None
    source = Source(document.text.text, document.path, document.path)
    try:
        text = format_text(source, Reader(unsaved=workspace.unsaved()))
    except AspenError:
        return None  # what is wrong is shown already
    return edits_of(document.text, text)


def values(workspace: Workspace, params: types.InlayHintParams) -> list[types.InlayHint] | None:
    document = workspace.followed(params.text_document.uri)
    if document is None:
        return None
    start, end = (document.text.offset(at.line, at.character) for at in (params.range.start, params.range.end))
    notes = notes_in.values(document.path, document.text.text, document.meaning, start, end)
    return [types.InlayHint(position_of(document.text, note.offset), note.text, padding_left=False) for note in notes]


def times(workspace: Workspace, params: types.CodeLensParams) -> list[types.CodeLens] | None:
    document = workspace.followed(params.text_document.uri)
    if document is None:
        return None
    return [
        types.CodeLens(range_of(document.text, note.offset, note.offset), types.Command(note.text, ""))
        for note in notes_in.times(document.text.text, document.meaning)
    ]


def mend(workspace: Workspace, params: types.CodeActionParams) -> list[types.CodeAction] | None:
    document = workspace.followed(params.text_document.uri)
    if document is None:
        return None
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


_LEGEND = types.SemanticTokensLegend(list(colours.TYPES), [])

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
    types.TEXT_DOCUMENT_CODE_ACTION: (
        mend,
        types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix]),
    ),
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
"""Those that may look through the whole workspace: nobody who types waits for them."""
