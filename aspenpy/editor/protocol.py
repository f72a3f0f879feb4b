"""Protocol: what the features give as values of the Language Server Protocol, with positions in lines and columns."""

from __future__ import annotations

from difflib import SequenceMatcher

from lsprotocol import types

from aspenpy.editor import completion, names, structure
from aspenpy.editor.documents import DocumentText, OpenDocument, Workspace
from aspenpy.editor.meaning import FileStretch, Remark
from aspenpy.editor.project import NameLocation
from aspenpy.editor.structure import colour_words

SEVERITIES = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "note": types.DiagnosticSeverity.Information,
}

SYMBOLS = {
    **dict.fromkeys(names.DECLARED.values(), types.SymbolKind.Struct),
    names.MODEL: types.SymbolKind.Module,
    names.VALUE: types.SymbolKind.Variable,
    names.DATA: types.SymbolKind.Array,
    names.ENUM: types.SymbolKind.Enum,
    names.KERNEL: types.SymbolKind.Function,
    names.COMPONENT: types.SymbolKind.Class,
    names.PROPERTY: types.SymbolKind.Property,
    names.RESOURCE: types.SymbolKind.Method,
}

ITEMS = {
    **dict.fromkeys(names.DECLARED.values(), types.CompletionItemKind.Interface),
    names.VALUE: types.CompletionItemKind.Variable,
    names.ARGUMENT: types.CompletionItemKind.Variable,
    names.COUNTER: types.CompletionItemKind.Variable,
    names.DATA: types.CompletionItemKind.Field,
    names.MEMBER: types.CompletionItemKind.EnumMember,
    names.ENUM: types.CompletionItemKind.Enum,
    names.KERNEL: types.CompletionItemKind.Function,
    names.FUNCTION: types.CompletionItemKind.Function,
    names.MODEL: types.CompletionItemKind.Module,
    names.COMPONENT: types.CompletionItemKind.Class,
    names.TYPE: types.CompletionItemKind.Class,
    names.PROPERTY: types.CompletionItemKind.Property,
    names.RESOURCE: types.CompletionItemKind.Property,
    names.TRAIT: types.CompletionItemKind.Interface,
    completion.KEYWORD: types.CompletionItemKind.Keyword,
    completion.SNIPPET: types.CompletionItemKind.Snippet,
    completion.UNIT: types.CompletionItemKind.Unit,
    completion.CONSTANT: types.CompletionItemKind.Constant,
}


def position_of(text: DocumentText, offset: int) -> types.Position:
    return types.Position(*text.position(offset))


def range_of(text: DocumentText, start: int, end: int) -> types.Range:
    return types.Range(position_of(text, start), position_of(text, end))


def location_of(workspace: Workspace, place: FileStretch) -> types.Location:
    return types.Location(workspace.uri(place.path), range_of(workspace.text(place.path), place.start, place.end))


def place_of(workspace: Workspace, place: NameLocation) -> types.Location:
    return location_of(workspace, FileStretch(place.path, place.name.start, place.name.end))


def diagnostic_of(workspace: Workspace, remark: Remark, document: OpenDocument) -> types.Diagnostic:
    """A remark about a file, with its hint below the message."""
    hint = f"\nhint: {remark.hint}" if remark.hint else ""
    related = [
        types.DiagnosticRelatedInformation(location_of(workspace, place), label or "here")
        for place, label in remark.related
    ]
    return types.Diagnostic(
        range=range_of(document.text, remark.place.start, remark.place.end),
        message=remark.message + hint,
        severity=SEVERITIES[remark.severity],
        code=remark.code,
        source="aspenpy",
        tags=[types.DiagnosticTag.Unnecessary] if remark.code.startswith("unused-") else None,
        related_information=related or None,
    )


def item_of(suggestion: completion.Suggestion, index: int) -> types.CompletionItem:
    snippet = bool(suggestion.insert)
    return types.CompletionItem(
        suggestion.label,
        kind=ITEMS.get(suggestion.kind),
        detail=suggestion.detail or None,
        insert_text=suggestion.insert or None,
        insert_text_format=types.InsertTextFormat.Snippet if snippet else None,
        sort_text=f"{index:05}",  # clients compare it as text
    )


def symbol_of(symbol: structure.Symbol, text: DocumentText) -> types.DocumentSymbol:
    name = symbol.name
    return types.DocumentSymbol(
        name.name,
        SYMBOLS[name.kind],
        range_of(text, symbol.start, max(symbol.end, name.end)),
        range_of(text, name.start, name.end),
        detail=name.kind,
        children=[symbol_of(inner, text) for inner in symbol.inner] or None,
    )


def encode_words(text: DocumentText, part: types.Range | None) -> list[int]:
    """Coloured words, five numbers each: lines and columns since the one before, length, type, and no modifiers."""
    first, last = 0, len(text.text)
    if part is not None:
        first, last = (text.offset(at.line, at.character) for at in (part.start, part.end))
    data: list[int] = []
    at, line, column = 0, 0, 0
    starts = [*text.starts, len(text.text) + 1]
    for start, length, kind in colour_words(text.text):
        if start < first or start > last:
            continue
        while starts[at + 1] <= start:
            at += 1
        begin, end = text.columns(starts[at], start), text.columns(starts[at], start + length)
        data += (at - line, begin - column if at == line else begin, end - begin, kind, 0)
        line, column = at, begin
    return data


def edits_of(text: DocumentText, new: str) -> list[types.TextEdit]:
    """Edits line by line, so that cursors and folds stay where they are."""
    before, after = (whole.splitlines(keepends=True) for whole in (text.text, new))
    starts = [0]
    for line in before:
        starts.append(starts[-1] + len(line))
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    return [
        types.TextEdit(range_of(text, starts[a], starts[b]), "".join(after[c:d]))
        for kind, a, b, c, d in matcher.get_opcodes()
        if kind != "equal"
    ]
