"""A client of the Language Server Protocol that knows nothing of pygls: messages of JSON over two pipes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import deque
from collections.abc import Callable
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import Any

from tests.thorough import HANGS

CAPABILITIES = {"workspace": {"codeLens": {"refreshSupport": True}, "inlayHint": {"refreshSupport": True}}}


class Client:
    """A server process and what it has said. `folder` is the workspace."""

    def __init__(
        self, folder: Path, *arguments: str, encodings: tuple[str, ...] = ("utf-16",), options: Any = None
    ) -> None:
        command = [sys.executable, "-m", "aspenpy", "lsp", *arguments]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self.messages: Queue[dict[str, Any]] = Queue()
        self.notifications: deque[dict[str, Any]] = deque()
        self.number = 0
        self.thread = Thread(target=self._listen, daemon=True)
        self.thread.start()
        capabilities = {**CAPABILITIES, "general": {"positionEncodings": list(encodings)}}
        self.server = self.request(
            "initialize", processId=None, rootUri=folder.as_uri(), capabilities=capabilities,
            workspaceFolders=[{"uri": folder.as_uri(), "name": "work"}], initializationOptions=options,
        )  # fmt: skip
        self.notify("initialized")

    def _listen(self) -> None:
        stream = self.process.stdout
        assert stream is not None
        while header := stream.readline():
            length = int(header.split(b":")[1])
            while stream.readline().strip():
                pass
            self.messages.put(json.loads(stream.read(length)))

    def _send(self, message: dict[str, Any]) -> None:
        content = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.write(b"Content-Length: %d\r\n\r\n%b" % (len(content), content))

    def write(self, content: bytes) -> None:
        """Sends bytes as they are."""
        assert self.process.stdin is not None
        self.process.stdin.write(content)
        self.process.stdin.flush()

    def error(self) -> dict[str, Any]:
        """The next answer that is an error, whatever it answers."""
        return self._next(lambda message: "error" in message)

    def notify(self, method: str, **params: Any) -> None:
        self._send({"method": method, "params": params})

    def answer(self, method: str, **params: Any) -> dict[str, Any]:
        """The whole answer, with its result or error."""
        self.number += 1
        self._send({"id": self.number, "method": method, "params": params})
        return self._next(lambda message: message.get("id") == self.number and "method" not in message)

    def request(self, method: str, **params: Any) -> Any:
        answer = self.answer(method, **params)
        assert "error" not in answer, answer
        return answer["result"]

    def _next(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The next message that is wanted; others are kept, and questions of the server answered."""
        for kept in list(self.notifications):
            if wanted(kept):
                self.notifications.remove(kept)
                return kept
        while True:
            try:
                message = self.messages.get(timeout=HANGS)
            except Empty:
                raise AssertionError("the server does not answer") from None
            if "id" in message and "method" in message:
                self._send({"id": message["id"], "result": None})
            elif wanted(message):
                return message
            else:
                self.notifications.append(message)

    def diagnostics(self, uri: str, version: int, wanted: Callable[[list[Any]], bool] = lambda _: True) -> list[Any]:
        """The first diagnostics of a version of a file that are as wanted."""

        def fits(message: dict[str, Any]) -> bool:
            if message.get("method") != "textDocument/publishDiagnostics":
                return False
            params = message["params"]
            return params["uri"] == uri and params.get("version") == version and wanted(params["diagnostics"])

        found: list[Any] = self._next(fits)["params"]["diagnostics"]
        return found

    def stop(self) -> int:
        """Ends the server as the protocol has it; its exit status."""
        self.request("shutdown")
        self.notify("exit")
        status = self.process.wait(HANGS)
        self.thread.join(HANGS)
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            stream.close()
        return status


class File:
    """An open file. Places are told by a mark: the first character of its first occurrence, or of a later one."""

    def __init__(self, client: Client, path: Path, text: str | None = None, uri: str | None = None) -> None:
        self.client, self.uri = client, uri or path.as_uri()
        self.text = path.read_text(encoding="utf-8") if text is None else text
        self.version = 1
        document = {"uri": self.uri, "languageId": "aspen", "version": 1, "text": self.text}
        client.notify("textDocument/didOpen", textDocument=document)

    def at(self, mark: str, by: int = 0, occurrence: int = 0) -> dict[str, int]:
        offset = -1
        for _ in range(occurrence + 1):
            offset = self.text.index(mark, offset + 1)
        before = self.text[: offset + by]
        return {"line": before.count("\n"), "character": len(before.rpartition("\n")[2].encode("utf-16-le")) // 2}

    def ask(self, method: str, mark: str | None = None, by: int = 0, occurrence: int = 0, **more: Any) -> Any:
        params = {"textDocument": {"uri": self.uri}, **more}
        if mark is not None:
            params["position"] = self.at(mark, by, occurrence)
        return self.client.request(f"textDocument/{method}", **params)

    def type(self, mark: str, new: str) -> None:
        """Puts a text in the place of a mark."""
        place = {"start": self.at(mark), "end": self.at(mark, len(mark))}
        self.text = self.text.replace(mark, new, 1)
        self._change([{"range": place, "text": new}])

    def replace(self, text: str) -> None:
        self.text = text
        self._change([{"text": text}])

    def _change(self, changes: list[dict[str, Any]]) -> None:
        self.version += 1
        document = {"uri": self.uri, "version": self.version}
        self.client.notify("textDocument/didChange", textDocument=document, contentChanges=changes)

    def diagnostics(self, wanted: Callable[[list[Any]], bool] = lambda _: True) -> list[Any]:
        return self.client.diagnostics(self.uri, self.version, wanted)

    def part(self, place: dict[str, Any]) -> str:
        """The characters of a range on one line."""
        line = self.text.split("\n")[place["start"]["line"]].encode("utf-16-le")
        return line[2 * place["start"]["character"] : 2 * place["end"]["character"]].decode("utf-16-le")

    def edited(self, edits: list[dict[str, Any]]) -> str:
        """The text after some edits."""
        lines = self.text.split("\n")

        def offset(at: dict[str, int]) -> int:
            line = lines[at["line"]] if at["line"] < len(lines) else ""
            before = line.encode("utf-16-le")[: 2 * at["character"]].decode("utf-16-le")
            return min(len(self.text), sum(len(text) + 1 for text in lines[: at["line"]]) + len(before))

        text = self.text
        for edit in sorted(edits, key=lambda edit: -offset(edit["range"]["start"])):
            start, end = offset(edit["range"]["start"]), offset(edit["range"]["end"])
            text = text[:start] + edit["newText"] + text[end:]
        return text
