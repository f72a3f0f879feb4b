"""Server: one editor served by the Language Server Protocol: what it opens and types, and what it is told unasked."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, BinaryIO

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.protocol.language_server import LanguageServerProtocol, lsp_method

from aspenpy.allowance import separate_allowance
from aspenpy.editor.documents import DocumentText, OpenDocument, Workspace, path_of, syntax_remarks
from aspenpy.editor.meaning import FileMeaning, MeaningRequest, MeaningWorker
from aspenpy.editor.protocol import diagnostic_of
from aspenpy.editor.requests import FAR, REQUESTS
from aspenpy.models.library import library_names
from aspenpy.version import VERSION

MOST_BYTES = 64 * 2**20
"""Most bytes of a message: a model of 8 MiB of which JSON escapes every character."""

LINE = 1024  # bytes of a line of a header, at most
PIECE = 65536  # bytes that are read at once

LENGTH = re.compile(rb"content-length:[ \t]{0,9}+([-+.\w]{0,40}+)[ \t]{0,9}+\r?\n", re.IGNORECASE)
OTHER = re.compile(rb"[\w-]{1,80}+:")

PARSE_ERROR, INVALID_REQUEST = -32700, -32600  # https://www.jsonrpc.org/specification, section 5.1


class MessageReader:
    """Standard input as pygls reads it: whole messages only, each behind a header that fits."""

    def __init__(self, source: BinaryIO, target: BinaryIO) -> None:
        self._source, self._target = source, target
        self._buffer = bytearray()
        self._in_step = True  # whether all is well since the last header
        self._lines: list[bytes] = []
        self._body = b""

    def readline(self) -> bytes:
        """A line of a header; nothing at the end of the input."""
        if not self._lines:
            body = None
            while body is None:
                body = self._next_body()
            if not body:
                return b""
            self._body, self._lines = body, [b"Content-Length: %d\r\n" % len(body), b"\r\n"]
        return self._lines.pop(0)

    def read(self, size: int = -1) -> bytes:
        """The body to the header that was read last."""
        return self._body

    def _next_body(self) -> bytes | None:
        """Looks for the next header and reads what belongs to it: None if that was refused, nothing at the end."""
        word = self._find_length()
        if word is None:
            return b""
        length = int(word) if word.isdigit() and len(word) < 10 else 0
        if not 0 < length <= MOST_BYTES:
            self._refuse(
                f"`Content-Length: {word.decode(errors='replace')}` is no number of bytes in 1 .. {MOST_BYTES}"
            )
            return None
        if not self._skip_headers():
            self._refuse("there is no empty line between the header and the message")
            return None
        return self._read_body(length)

    def _find_length(self) -> bytes | None:
        """The value of the next `Content-Length`, which is read away with all in front of it; None at the end."""
        while not (header := LENGTH.search(self._buffer)):
            front = self._buffer.lstrip()
            if b"\n\n" in front or b"\r\n\r\n" in front or len(front) > LINE:
                self._refuse("a message has no header with `Content-Length`")
            self._buffer = front[-LINE:]
            if not self._fill():
                return None
        front = self._buffer[: header.start()]
        if not all(OTHER.match(line) for line in front.split(b"\n") if line.strip()):
            self._refuse("a message has no header with `Content-Length`")
        word = bytes(header[1])
        del self._buffer[: header.end()]
        self._in_step = True
        return word

    def _skip_headers(self) -> bool:
        """Whether an empty line comes next, perhaps behind other headers."""
        while True:
            while (end := self._buffer.find(b"\n") + 1) == 0 and len(self._buffer) < LINE and self._fill():
                pass
            line = self._buffer[:end]
            if end == 0 or (line.strip() and (not OTHER.match(line) or LENGTH.match(line))):
                return False
            del self._buffer[:end]
            if not line.strip():
                return True

    def _read_body(self, length: int) -> bytes | None:
        """A message of that many bytes: None if it is no JSON or another begins in it, nothing at the end."""
        searched = 0
        while (header := LENGTH.search(self._buffer, searched)) is None and len(self._buffer) < length:
            searched = max(0, len(self._buffer) - LINE)
            if not self._fill():
                return b""
        end = min(length, header.start()) if header else length
        body = bytes(self._buffer[:end])
        if end < length or not _is_json(body):
            # what was read stays: the next header may begin in it
            self._refuse(f"the message does not have the {length} bytes of its `Content-Length`", _number_of(body))
            return None
        del self._buffer[:length]
        return body

    def _fill(self) -> bool:
        """Waits for more input; False where there is none."""
        piece = self._source.read1(PIECE)  # type: ignore[attr-defined]  # of every buffered stream
        self._buffer += piece
        return bool(piece)

    def _refuse(self, reason: str, number: int | str | None = None) -> None:
        """Answers with an error, once until the next header."""
        if self._in_step:
            error = {"code": PARSE_ERROR if number is None else INVALID_REQUEST, "message": reason}
            content = json.dumps({"jsonrpc": "2.0", "id": number, "error": error}).encode()
            self._target.write(b"Content-Length: %d\r\n\r\n%b" % (len(content), content))
            self._target.flush()
        self._in_step = False


def _is_json(body: bytes) -> bool:
    try:
        json.loads(body)
    except (ValueError, RecursionError):
        return False
    return True


def _number_of(body: bytes) -> int | str | None:
    """The `id` of a request with which some bytes begin, so that who waits for an answer gets one."""
    try:
        message, _ = json.JSONDecoder().raw_decode(body.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    number = message.get("id") if isinstance(message, dict) and "method" in message else None
    return number if isinstance(number, int | str) else None


PAUSE = 0.15  # seconds without a keystroke before the whole model is checked

log = logging.getLogger("aspenpy.lsp")


class _Protocol(LanguageServerProtocol):
    """Texts are kept in the `Workspace`, which is lenient with positions and unknown files; pygls keeps none."""

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: types.DidOpenTextDocumentParams) -> Any:
        yield self.fm.features[types.TEXT_DOCUMENT_DID_OPEN], (params,), None

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> Any:
        yield self.fm.features[types.TEXT_DOCUMENT_DID_CHANGE], (params,), None

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: types.DidCloseTextDocumentParams) -> Any:
        yield self.fm.features[types.TEXT_DOCUMENT_DID_CLOSE], (params,), None


class _Server(LanguageServer):
    def report_server_error(self, error: Exception, source: Any) -> None:
        """Writes an error to the log: a message box for each would keep everybody from working."""
        log.error("%s", error)


class Editor:
    """One editor, its files, and the process that checks them."""

    def __init__(self, machine: str | None = None) -> None:
        self.server = _Server("aspenpy", VERSION, protocol_cls=_Protocol)
        self.workspace = Workspace(machine)
        self.worker = MeaningWorker()
        self._thread = ThreadPoolExecutor(1)
        self._waiting: dict[str, asyncio.TimerHandle] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._said = ""
        own: dict[str, Callable[[Any], None]] = {
            types.INITIALIZE: self._initialise,
            types.TEXT_DOCUMENT_DID_OPEN: self._open,
            types.TEXT_DOCUMENT_DID_CHANGE: self._change,
            types.TEXT_DOCUMENT_DID_CLOSE: self._close,
            types.TEXT_DOCUMENT_DID_SAVE: self._forget_changed_files,
            types.WORKSPACE_DID_CHANGE_CONFIGURATION: self._read_settings,
            types.WORKSPACE_DID_CHANGE_WATCHED_FILES: self._forget_changed_files,
        }
        for method, handler in own.items():
            self.server.feature(method)(_plain(handler))
        for method, (request, options) in REQUESTS.items():
            handler = _plain(partial(request, self.workspace))
            self.server.feature(method, options)(self.server.thread()(handler) if method in FAR else handler)
        self.server.command("aspen.machines")(_plain(lambda: library_names("machines")))

    def run(self) -> None:
        """Serves the editor on standard input and output until it goes."""
        try:
            self.server.start_io(MessageReader(sys.stdin.buffer, sys.stdout.buffer))  # type: ignore[arg-type]  # it has what is read by
        finally:
            self._thread.shutdown(wait=False, cancel_futures=True)
            self.worker.stop()

    # -- what the editor tells -------------------------------------------------------------------

    def _initialise(self, params: types.InitializeParams) -> None:
        workspace = self.server.workspace
        uris = [*workspace.folders] or [uri for uri in (workspace.root_uri,) if uri]
        self.workspace.folders = [path_of(uri) for uri in uris]
        encoding = workspace.position_encoding
        self.workspace.encoding = encoding.value if isinstance(encoding, types.PositionEncodingKind) else str(encoding)
        self._choose(params.initialization_options)
        syntax_remarks("", "model m { param }")  # what explains mistakes is imported now, and not at a keystroke

    def _read_settings(self, params: types.DidChangeConfigurationParams) -> None:
        settings = params.settings
        self._choose(settings.get("aspen", settings) if isinstance(settings, dict) else None)
        self._forget_changed_files()

    def _choose(self, settings: Any) -> None:
        machine = settings.get("machine") if isinstance(settings, dict) else None
        if isinstance(machine, str):
            self.workspace.machine = machine or None

    def _open(self, params: types.DidOpenTextDocumentParams) -> None:
        item = params.text_document
        document = OpenDocument(item.uri, DocumentText(item.text, self.workspace.encoding), item.version)
        self.workspace.documents[item.uri] = document
        self._publish(document)
        self._check_after(document, 0)
        self.workspace.project().names(document.path)  # so that the first keystroke finds the pieces read

    def _change(self, params: types.DidChangeTextDocumentParams) -> None:
        document = self.workspace.documents.get(params.text_document.uri)
        if document is None:
            return
        for change in params.content_changes:
            if isinstance(change, types.TextDocumentContentChangePartial):
                text, place = document.text, change.range
                start = text.offset(place.start.line, place.start.character)
                document.replace_text(start, max(start, text.offset(place.end.line, place.end.character)), change.text)
            else:
                document.replace(change.text)
        document.note_edit(params.text_document.version)
        self._publish(document)
        self._check_after(document, PAUSE)
        for other in self.workspace.documents.values():
            if other is not document and document.file_name in other.text.text:
                self._check_after(other, 2 * PAUSE)

    def _close(self, params: types.DidCloseTextDocumentParams) -> None:
        document = self.workspace.documents.pop(params.text_document.uri, None)
        if document is not None:
            self._stop_waiting(document)
            self.server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(document.uri, []))

    def _forget_changed_files(self, params: Any = None) -> None:
        for document in self.workspace.documents.values():
            self._check_after(document, PAUSE)

    # -- what the editor is told -----------------------------------------------------------------

    def _check_after(self, document: OpenDocument, pause: float) -> None:
        self._stop_waiting(document)
        self._waiting[document.uri] = asyncio.get_running_loop().call_later(pause, self._begin, document)

    def _stop_waiting(self, document: OpenDocument) -> None:
        waiting = self._waiting.pop(document.uri, None)
        if waiting is not None:
            waiting.cancel()

    def _begin(self, document: OpenDocument) -> None:
        self._waiting.pop(document.uri, None)
        task = asyncio.get_running_loop().create_task(self._refresh_meaning(document))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _refresh_meaning(self, document: OpenDocument) -> None:
        """Has the worker understand a file; an answer about a text that is no more is passed over."""
        asked = document.changes

        def is_current() -> bool:
            return self.workspace.documents.get(document.uri) is document and document.changes == asked

        def answer() -> FileMeaning | None:
            text, unsaved = document.text.text, self.workspace.unsaved_texts()
            question = MeaningRequest(document.path, text, unsaved, self.workspace.machine)
            with separate_allowance():
                return self.worker.answer(question) if is_current() else None

        meaning = await asyncio.get_running_loop().run_in_executor(self._thread, answer)
        if meaning is None or not is_current():
            return
        document.take_meaning(meaning)
        self._publish(document)
        self._tell(meaning.trouble)
        capabilities = self.server.client_capabilities.workspace
        if capabilities is not None and capabilities.code_lens is not None and capabilities.code_lens.refresh_support:
            self.server.workspace_code_lens_refresh(None)
        if capabilities is not None and capabilities.inlay_hint is not None and capabilities.inlay_hint.refresh_support:
            self.server.workspace_inlay_hint_refresh(None)

    def _tell(self, trouble: str) -> None:
        """Says once what is wrong with the chosen machine, or that a model could not be checked."""
        if trouble and trouble != self._said:
            self.server.window_show_message(types.ShowMessageParams(types.MessageType.Warning, trouble))
        self._said = trouble

    def _publish(self, document: OpenDocument) -> None:
        remarks = document.place_remarks(self.workspace.project())
        diagnostics = [diagnostic_of(self.workspace, remark, document) for remark in remarks]
        params = types.PublishDiagnosticsParams(document.uri, diagnostics, document.version)
        self.server.text_document_publish_diagnostics(params)


def _plain(handler: Callable[..., Any]) -> Callable[..., Any]:
    """The handler as a function, which pygls marks: it cannot do so with methods."""

    def handle(*arguments: Any) -> Any:
        with separate_allowance():
            return handler(*arguments)

    return handle


def serve(machine: str | None = None) -> None:
    """Serves one editor until it goes; `machine` is the one that times are shown for."""
    Editor(machine).run()
