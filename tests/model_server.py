"""A small HTTP server for tests: gives set answers, records requests."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

# The answer to a test question of the client, and to all others.
Request = dict[str, Any]


class Reply(NamedTuple):
    """A response: raw bytes where body is bytes, else the text of an answer."""

    body: str | bytes | None
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    wait: float = 0.0
    closes: bool = False
    drips: bool = False


def schema(request: Request) -> dict[str, Any]:
    """Return the properties that a request asks for, in any form."""
    form = request.get("response_format", {})
    asked = form.get("json_schema", {}).get("schema") or form.get("schema") or {}
    properties: dict[str, Any] = asked.get("properties", {})
    return properties


def is_test(request: Request) -> bool:
    """Tell whether a request only finds out what the server can do."""
    return "system" not in {each["role"] for each in request["messages"]}


def chosen(request: Request) -> str:
    """Choose by the bytes of the request, as a model would: equal ones alike."""
    seed = hashlib.sha256(json.dumps(request["messages"]).encode()).digest()
    answer = {}
    for number, (name, value) in enumerate(schema(request).items()):
        options = value.get("enum") or ["A text that reads well, as a model writes it."]
        answer[name] = options[seed[number % 32] % len(options)]
    return json.dumps(answer)


Answer = Callable[[Request], Reply | str]


class Recorded:
    """The requests to a server, and the largest number at a time."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.requests: list[bytes] = []
        self.under_way = self.most = 0
        self.lock = threading.Lock()

    @property
    def asked(self) -> list[Request]:
        """Return the bodies of requests, those that test the server left out."""
        bodies = [json.loads(each.partition(b"\r\n\r\n")[2]) for each in self.requests]
        return [body for body in bodies if not is_test(body)]


@contextmanager
def serving(answer: Answer = chosen, test: Answer = chosen) -> Iterator[Recorded]:
    """Serve for a block; test is given the requests that test, answer all others."""
    server, recorded = _server(answer, test)
    try:
        yield recorded
    finally:
        server.shutdown()
        server.server_close()


@cache
def always() -> str:
    """Return the address of a server that lives as long as the tests do."""
    return _server(chosen, chosen)[1].url


def _server(answer: Answer, test: Answer) -> tuple[ThreadingHTTPServer, Recorded]:
    recorded = Recorded("")

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Seconds for what a client sends.
        timeout = 30

        def do_POST(self) -> None:
            size = int(self.headers["Content-Length"])
            body = self.rfile.read(size)
            head = f"{self.requestline}\r\n{self.headers}"
            with recorded.lock:
                recorded.requests.append(head.encode().rstrip() + b"\r\n\r\n" + body)
                recorded.under_way += 1
                recorded.most = max(recorded.most, recorded.under_way)
            try:
                request = json.loads(body)
                reply = test(request) if is_test(request) else answer(request)
                with suppress(OSError):
                    self._send(reply if isinstance(reply, Reply) else Reply(reply))
            finally:
                with recorded.lock:
                    recorded.under_way -= 1

        def _send(self, reply: Reply) -> None:
            time.sleep(reply.wait)
            if reply.closes:
                self.close_connection = True
                return
            data = reply.body if isinstance(reply.body, bytes) else reply_of(reply.body)
            self.send_response(reply.status)
            for name, value in reply.headers:
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if not reply.drips:
                self.wfile.write(data)
                return
            for byte in data:
                self.wfile.write(bytes([byte]))
                self.wfile.flush()
                time.sleep(0.1)

        def log_message(self, format: str, *arguments: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    recorded.url = f"http://127.0.0.1:{server.server_port}/v1"
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    return server, recorded


def reply_of(content: str | None) -> bytes:
    """Return the reply with an answer."""
    usage = {"prompt_tokens": 7, "completion_tokens": 3}
    choice = {"message": {"role": "assistant", "content": content}}
    return json.dumps({"choices": [choice], "usage": usage}).encode()
