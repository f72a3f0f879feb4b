"""Messages: where each one begins and ends on standard input.

A message whose `Content-Length` is missing, no number, too small or too large is answered with an error, and reading
goes on at the next header. That can be told from what is inside a message: a line such as `Content-Length: 5` without
quotes is no JSON, and inside a string the end of the line would be escaped.
"""

from __future__ import annotations

import json
import re
from typing import BinaryIO

MOST_BYTES = 64 * 2**20
"""Of a message: a model of 8 MiB of which JSON escapes every character."""

LINE = 1024  # bytes of a line of a header, at most
PIECE = 65536  # bytes that are read at once

LENGTH = re.compile(rb"content-length:[ \t]{0,9}+([-+.\w]{0,40}+)[ \t]{0,9}+\r?\n", re.IGNORECASE)
OTHER = re.compile(rb"[\w-]{1,80}+:")

PARSE_ERROR, INVALID_REQUEST = -32700, -32600  # https://www.jsonrpc.org/specification, section 5.1


class Messages:
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
        while not (found := LENGTH.search(self._buffer)):
            front = self._buffer.lstrip()
            if b"\n\n" in front or b"\r\n\r\n" in front or len(front) > LINE:
                self._refuse("a message has no header with `Content-Length`")
            self._buffer = front[-LINE:]
            if not self._fill():
                return None
        front = self._buffer[: found.start()]
        if not all(OTHER.match(line) for line in front.split(b"\n") if line.strip()):
            self._refuse("a message has no header with `Content-Length`")
        word = bytes(found[1])
        del self._buffer[: found.end()]
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
        while (found := LENGTH.search(self._buffer, searched)) is None and len(self._buffer) < length:
            searched = max(0, len(self._buffer) - LINE)
            if not self._fill():
                return b""
        end = min(length, found.start()) if found else length
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
