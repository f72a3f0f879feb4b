"""Messages whose header is wrong: each is answered with an error, and the next one is served."""

import io
import json
import re
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

pytest.importorskip("pygls", reason="the extra `lsp` is not installed")

from aspenpy.editor.server import MessageReader
from tests.editor.client import Client

NOTE = b'{"jsonrpc": "2.0", "method": "$/setTrace", "params": {"value": "off"}}'
REQUEST = b'{"jsonrpc": "2.0", "id": 4000, "method": "shutdown"}'
SIZE = len(NOTE)
REFUSED = {
    "text": b"Content-Length: many\r\n\r\n" + NOTE,
    "negative": b"Content-Length: -5\r\n\r\n" + NOTE,
    "zero": b"Content-Length: 0\r\n\r\n" + NOTE,
    "empty": b"Content-Length:\r\n\r\n" + NOTE,
    "huge": b"Content-Length: 999999999999\r\n\r\n" + NOTE,
    "thousands of digits": b"Content-Length: " + b"9" * 5_000 + b"\r\n\r\n" + NOTE,
    "of other digits": "Content-Length: ٣\r\n\r\n".encode() + NOTE,
    "missing": b"Content-Type: application/vscode-jsonrpc\r\n\r\n" + NOTE,
    "no header": b"\r\n\r\n" + NOTE + b"\r\n\r\n",
    "no empty line": b"Content-Length: %d\r\n" % SIZE + NOTE + b"\r\n",
    "too small": b"Content-Length: %d\r\n\r\n" % (SIZE - 1) + NOTE,
    "one byte": b"Content-Length: 1\r\n\r\n" + NOTE,
    "no JSON": b"Content-Length: 4\r\n\r\n{]}x",
    "no UTF-8": b"Content-Length: 4\r\n\r\n\xff\xfe\x00\x01",
    "nested": b"Content-Length: 200000\r\n\r\n" + b"[" * 200_000,
}
"""Those that are seen at once; a length that is too large, when the next message begins."""


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    client = Client(tmp_path_factory.mktemp("models").resolve())
    yield client
    assert client.stop() == 0


@pytest.mark.parametrize("content", REFUSED.values(), ids=REFUSED.keys())
def test_a_wrong_length_is_answered_and_the_next_message_served(client: Client, content: bytes) -> None:
    client.write(content)
    error = client.error()
    assert (error["id"], error["error"]["code"]) == (None, -32700)
    assert "haswell" in client.request("workspace/executeCommand", command="aspen.machines")


@pytest.mark.parametrize("more", [1, 10, 30, 40, 10_000, 30_000_000])
def test_a_length_that_is_too_large_ends_where_the_next_message_begins(client: Client, more: int) -> None:
    """The request is refused by its number, so that nobody waits for an answer for ever."""
    client.write(b"Content-Length: %d\r\n\r\n" % (len(REQUEST) + more) + REQUEST)
    assert "haswell" in client.request("workspace/executeCommand", command="aspen.machines")
    error = client.error()
    assert (error["id"], error["error"]["code"]) == (4000, -32600)
    assert f"{len(REQUEST) + more} bytes" in error["error"]["message"]


# -- the reader alone ------------------------------------------------------------------------------


class Dribble(io.BytesIO):
    """A stream that gives a few bytes at a time, as a pipe may."""

    random = Random(1)

    def read1(self, size: int | None = -1) -> bytes:
        return super().read1(self.random.randrange(1, 40))


def bodies(content: bytes) -> tuple[list[Any], list[Any]]:
    """The messages that are read from a stream, and those that are written in answer to others."""
    target = io.BytesIO()
    messages, found = MessageReader(Dribble(content), target), []
    while line := messages.readline():
        length = int(line.removeprefix(b"Content-Length: "))
        assert messages.readline() == b"\r\n"
        found.append(messages.read(length))
        assert len(found[-1]) == length
    written = re.split(rb"Content-Length: \d+\r\n\r\n", target.getvalue())[1:]
    return list(map(json.loads, found)), list(map(json.loads, written))


def message(content: Any) -> bytes:
    body = json.dumps(content, ensure_ascii=False, indent=content.get("indent")).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


TEXTS = ["", "Content-Length: 5\r\n\r\n{}", "Content-Length: 7\n", "ö😀", "x" * 100_000, {"Content-Length": 5}]


def test_what_looks_like_a_header_inside_a_message_is_none() -> None:
    sent = [{"number": number, "text": text, "indent": number % 3} for number, text in enumerate(TEXTS * 2)]
    assert bodies(b"".join(map(message, sent))) == (sent, [])


def test_headers_are_read_as_the_protocol_writes_them() -> None:
    """In any order, in capitals or not, and with white space between messages."""
    body = b'{"a": 1}'
    first = b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: 8\r\n\r\n" + body
    second = b"\r\ncontent-length:8\r\nContent-Type: x\r\n\r\n" + body
    assert bodies(first + second + b"\n") == ([{"a": 1}, {"a": 1}], [])


@pytest.mark.parametrize("name", REFUSED)
def test_one_error_for_each_wrong_message(name: str) -> None:
    """However the bytes arrive, and with sound messages around it."""
    sound = [{"number": number} for number in range(3)]
    found, errors = bodies(message(sound[0]) + (REFUSED[name] + message(sound[1])) * 2 + message(sound[2]))
    assert found == [sound[0], sound[1], sound[1], sound[2]]
    assert [error["id"] for error in errors] == [None, None]


def test_a_message_whose_length_is_too_large_ends_at_the_next_header() -> None:
    """However the bytes arrive: the header is looked for in what came last, and in what it may have begun in."""
    numbers = [{"id": number} for number in range(3)]
    longer = b"Content-Length: 9000\r\n\r\n" + json.dumps(numbers[0] | {"method": "x" * 300}).encode()
    found, errors = bodies(longer + message(numbers[1]) + longer + message(numbers[2]))
    assert found == numbers[1:]
    assert [error["id"] for error in errors] == [0, 0]


@pytest.mark.parametrize("seed", range(20))
def test_any_bytes_between_messages(seed: int) -> None:
    """The messages behind them are found, and what is read stays within bounds."""
    random = Random(seed)
    sound = [{"number": number} for number in range(20)]
    parts = [
        b"Content-Length: 5\r\n\r\n",
        b"\r\n\r\n",
        b"\r\n",
        b"{",
        b"}",
        b'{"a": 2}',
        b"\xff" * 3,
        b"Content-",
        b":",
    ]
    junk = [b"".join(random.choices(parts, k=random.randrange(6))) for _ in sound]
    found, _ = bodies(b"".join(between + message(body) for between, body in zip(junk, sound, strict=True)))
    assert [body for body in found if "number" in body] == sound
