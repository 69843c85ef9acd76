"""Client for OpenAI-compatible servers that asks for JSON objects over HTTP.

Nothing is sent before the first question. The key comes from the environment and goes
to no other host: redirects are refused. Replies come from a third party: their size
and time are bounded, and only an object that the question accepts is an answer.
Messages name the server and never quote questions or replies.

A first question finds out how the server accepts a schema (as a JSON schema, with a
JSON object, or not at all), a limit and a temperature: only a constrained model answers
it correctly.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import os
import ssl
import time
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Generic, NamedTuple, TypeVar
from urllib.parse import SplitResult, urlsplit
from urllib.request import getproxies, proxy_bypass

import msgspec
from msgspec import Meta

from dptext import models, progress, settings
from dptext.errors import DptextError, UsageError
from dptext.types import JsonObject

if TYPE_CHECKING:
    import httpx

KEY, OPENAI_KEY = "DPTEXT_ENDPOINT_KEY", "OPENAI_API_KEY"
_OPENAI = "api.openai.com"
# Most bytes of an answer, as large as a few books.
_LARGEST = 4 * 2**20
# How often a request is sent.
_TRIES = 4
# Seconds before the second try, which double with each one, and the longest wait.
_WAIT, _LONGEST = 0.5, 60.0
# After so many questions in a row without an answer, no more are sent.
_GIVE_UP = 16
# Answers that are remembered, so that equal questions are asked once.
_REMEMBERED = 20_000
# Replace the HTTP status if there is no reply.
_SLOW, _CLOSED = -1, -2
# Statuses after which a request is sent again.
_LATER = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529, _SLOW, _CLOSED})
_UNREACHED = "cannot be reached, or closed the connection"
_REASONS = {_SLOW: "took too long to answer", _CLOSED: _UNREACHED}
# Statuses that no later try will change, with their messages.
_NO_MODEL = "has no such model or address; see decoder.model; addresses end in /v1"
_MOVED = "redirects; redirects are not followed: give the final address"
_FINAL = {
    **dict.fromkeys((401, 403), f"rejects the key; set {KEY}"),
    **dict.fromkeys((404, 405), _NO_MODEL),
    **dict.fromkeys(range(300, 400), _MOVED),
}
_AGAIN = "Your last answer could not be used. Answer with the JSON object alone."
# An answer that no model gives without the schema.
_TEST: JsonObject = {"1": "quartz"}
_Count = Annotated[int, Meta(ge=0, lt=2**40)]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Question(Generic[T]):
    """A question to a chat model, with the form of its answer."""

    #: Pairs of role and content.
    messages: tuple[tuple[str, str], ...]
    #: JSON schema of the answer.
    schema: JsonObject
    #: Most tokens of an answer.
    limit: int
    #: Returns the answer in an object, None if the object does not answer the question.
    read: Callable[[JsonObject], T | None]

    @property
    def characters(self) -> int:
        """Return the number of characters to send."""
        return sum(len(content) for _, content in self.messages)


class Traffic(NamedTuple):
    """Numbers of answered requests, and of tokens if the server counts them."""

    requests: int = 0
    #: Tokens of the requests.
    sent: int = 0
    #: Tokens of the replies.
    received: int = 0


class _Dialect(NamedTuple):
    """The request parameters that a server accepts."""

    #: Type of the response format: json_schema, json_object, "" for none.
    schema: str
    #: Name of the limit of tokens.
    limit: str
    #: Whether it takes a temperature.
    temperature: bool


_DIALECTS = tuple(
    _Dialect(schema, limit, temperature)
    for limit, temperature in (("max_tokens", True), ("max_completion_tokens", False))
    for schema in ("json_schema", "json_object", "")
)


class _Message(msgspec.Struct):
    content: str | None = None


class _Choice(msgspec.Struct):
    message: _Message


class _Usage(msgspec.Struct):
    prompt_tokens: _Count | None = None
    completion_tokens: _Count | None = None


class _Completion(msgspec.Struct):
    choices: list[_Choice]
    usage: _Usage | None = None


class _UnansweredError(Exception):
    """A question was not answered."""

    def __init__(self, reason: str, *, refused: bool) -> None:
        super().__init__(reason)
        #: Whether the form of the request is the reason.
        self.refused = refused


def address(url: str, setting: str) -> SplitResult:
    """Parse a URL. Raises UsageError, without the URL in the message."""
    if not url:
        msg = "give the address of a server, as in http://localhost:11434/v1"
        raise UsageError(f"{setting}: {msg}")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise UsageError(f"{setting}: not an address") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        msg = "give an address that begins with http:// or https://"
        raise UsageError(f"{setting}: {msg}")
    if parts.username is not None or parts.password is not None:
        raise UsageError(
            f"{setting}: the address must not contain a user name or password; set "
            f"{KEY} instead"
        )
    plain = url.isascii() and url.isprintable() and " " not in url
    if parts.query or parts.fragment or not plain:
        raise UsageError(
            f"{setting}: the address must be ASCII without ?, # and spaces"
        )
    return parts


def host_and_port(url: str, setting: str) -> str:
    """Return host and port for reports. Raises UsageError for an invalid address."""
    parts = address(url, setting)
    host = f"[{parts.hostname}]" if ":" in str(parts.hostname) else parts.hostname
    return str(host) if parts.port is None else f"{host}:{parts.port}"


def _is_local(parts: SplitResult) -> bool:
    host = str(parts.hostname)
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def find_proxy(parts: SplitResult) -> str | None:
    """Return the proxy for an address from the environment, or None.

    Also None for addresses on this machine.
    """
    host = str(parts.hostname)
    if _is_local(parts) or proxy_bypass(parts.netloc) or proxy_bypass(host):
        return None
    proxies = getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if not proxy:
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


def _key(parts: SplitResult, setting: str) -> str:
    """Return the API key for a server, or "".

    OPENAI_API_KEY is sent only to OpenAI, since a foreign profile may name any host.
    """
    key = os.environ.get(KEY, "")
    if not key and parts.hostname == _OPENAI:
        key = os.environ.get(OPENAI_KEY, "")
    if key and not (key.isascii() and key.isprintable() and " " not in key):
        raise UsageError(
            f"{KEY}: it contains a space or another character that keys never contain"
        )
    if key and parts.scheme == "http" and not _is_local(parts):
        raise UsageError(
            f"{setting}: keys are not sent to other machines over http; use https, or "
            f"unset {KEY}"
        )
    return key


class Server:
    """A server and a model on it. It connects at the first question.

    - concurrency: maximum number of simultaneous requests.
    - timeout: seconds per request.
    - setting: how messages refer to the url.

    Raises UsageError for an invalid address, and MissingExtra without httpx.
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        concurrency: int,
        timeout: float,
        setting: str,
    ) -> None:
        models.need("httpx", "a server for language models", "endpoint")
        self._parts = address(url, setting)
        self._setting, self.host = setting, host_and_port(url, setting)
        self._url = url.rstrip("/").removesuffix("/chat/completions")
        self._url += "/chat/completions"
        self.model, self._timeout = model, timeout
        self._proxy = find_proxy(self._parts)
        self._concurrency = concurrency
        self._dialect: _Dialect | None = None
        self._known: dict[str, Any] = {}
        self._failures, self._resume = 0, 0.0
        self.traffic = Traffic()

    @property
    def has_proxy(self) -> bool:
        """Return whether requests go through a proxy."""
        return self._proxy is not None

    def ask(self, questions: Sequence[Question[T]]) -> list[T | None]:
        """Return an answer to each question, or None.

        Equal questions are asked only once. After an invalid answer a
        question is asked once more. Raises UsageError if the server refuses the key,
        the model or the address, and DptextError if it stops answering.
        """
        names = [settings.digest_of_data(each.messages) for each in questions]
        if len(self._known) + len(names) > _REMEMBERED:
            self._known.clear()
        every = dict(zip(names, questions, strict=True))
        new = {name: every[name] for name in every if name not in self._known}
        answers = _run(self._ask_all([*new.values()])) if new else []
        fresh: dict[str, T | None] = dict(zip(new, answers, strict=True))
        self._known |= {name: each for name, each in fresh.items() if each is not None}
        return [fresh.get(name, self._known.get(name)) for name in names]

    async def _ask_all(self, questions: list[Question[T]]) -> list[T | None]:
        answers: list[T | None] = [None] * len(questions)
        queue = iter(enumerate(questions))
        key = _key(self._parts, self._setting)
        # Compressed answers could be larger than they look.
        headers = {"Accept-Encoding": "identity", "User-Agent": "dptext"}
        if key:
            headers["Authorization"] = f"Bearer {key}"
        async with _open(
            headers=headers,
            timeout=self._timeout,
            follow_redirects=False,
            verify=_tls(),
            # The proxy is looked up here, so that the report can name it. Logins of a
            # .netrc file are for other programs.
            proxy=self._proxy,
            trust_env=False,
        ) as client:
            if self._dialect is None:
                self._dialect = await self._detect(client)

            async def work() -> None:
                for number, question in queue:
                    answers[number] = await self._answer(client, question)

            count = min(self._concurrency, len(questions))
            tasks = [asyncio.create_task(work()) for _ in range(count)]
            try:
                await asyncio.gather(*tasks)
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
        return answers

    async def _detect(self, client: httpx.AsyncClient) -> _Dialect:
        """Detect the server's dialect. Raises UsageError if none works."""
        question = Question(
            messages=(("user", 'Name a thing, as a JSON object with the key "1".'),),
            schema=object_schema({"1": ["quartz"]}),
            limit=20,
            read=lambda answer: answer or None,
        )
        reason = ""
        for dialect in _DIALECTS:
            try:
                content = await self._content(client, question, dialect, "")
            except _UnansweredError as error:
                if not error.refused:
                    raise DptextError(
                        f"{self._setting}: {self.host} {error}; no draws were sent"
                    ) from None
                reason = f" (the last one: it {error})"
                continue
            if content is None:
                reason = " (the last one: its reply is no chat completion)"
                continue
            if not dialect.schema or parse_object(content) == _TEST:
                progress.say(f"{self.host} answers ({dialect.schema or 'no schema'})")
                return dialect
        raise UsageError(
            f"{self._setting}: {self.host} rejects every form of request{reason}; "
            "check the model's name on the server (decoder.model)"
        )

    async def _answer(
        self, client: httpx.AsyncClient, question: Question[T]
    ) -> T | None:
        """Return the answer to a question, asked at most twice."""
        assert self._dialect is not None
        for reminder in ("", _AGAIN):
            try:
                content = await self._content(client, question, self._dialect, reminder)
            except _UnansweredError as error:
                self._failures += 1
                if self._failures >= _GIVE_UP:
                    hint = ""
                    if error.refused:
                        hint = " (is a request longer than its context?)"
                    raise DptextError(
                        f"{self._setting}: {self.host} {error}{hint}: nothing more is "
                        "sent. Draws sent so far cannot be recalled; a new run with "
                        "the same key sends the same draws"
                    ) from None
                return None
            self._failures = 0
            # A small model may repeat its instructions.
            fields = None
            if content and _AGAIN not in content:
                fields = parse_object(content)
            answer = None if fields is None else question.read(fields)
            if answer is not None:
                return answer
        return None

    async def _content(
        self,
        client: httpx.AsyncClient,
        question: Question[Any],
        dialect: _Dialect,
        reminder: str,
    ) -> str | None:
        """Return the text of a reply, None unless it is a chat completion."""
        messages = [*question.messages]
        if reminder:
            messages.append(("user", reminder))
        body: JsonObject = {
            "model": self.model,
            "messages": [{"role": role, "content": text} for role, text in messages],
            dialect.limit: question.limit,
            "stream": False,
        }
        if dialect.temperature:
            body["temperature"] = 0
        if dialect.schema == "json_schema":
            form = {"name": "answer", "strict": True, "schema": question.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        elif dialect.schema:
            form = {"type": "json_object", "schema": question.schema}
            body["response_format"] = form
        reply = await self._post(client, json.dumps(body).encode())
        try:
            completion = msgspec.json.decode(reply, type=_Completion)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            completion = _Completion([])
        used, (requests, sent, received) = completion.usage or _Usage(), self.traffic
        sent += used.prompt_tokens or 0
        received += used.completion_tokens or 0
        self.traffic = Traffic(requests + 1, sent, received)
        if len(completion.choices) != 1:
            return None
        return completion.choices[0].message.content or ""

    async def _post(self, client: httpx.AsyncClient, body: bytes) -> bytes:
        """Send a request, retrying with increasing waits until there is a reply."""
        reason, refused, tries = "", False, _TRIES
        # These count as two tries. A slow server stays slow; while the dialect is
        # sought, a failure may be due to an unknown form of request.
        twice = {_SLOW} if self._dialect else {_SLOW, 500}
        while tries > 0:
            await asyncio.sleep(max(0.0, self._resume - time.monotonic()))
            wait = min(_WAIT * 2 ** (_TRIES - tries), _LONGEST)
            status, after, reply = await self._once(client, body)
            if status == 200:
                return reply
            if status in _FINAL:
                raise UsageError(
                    f"{self._setting}: {self.host} {_FINAL[status]} (HTTP {status})"
                )
            reason = _REASONS.get(status, f"answers with HTTP {status}")
            refused = status == 500 or status not in _LATER
            if status not in _LATER:
                tries = 0
            else:
                tries -= 2 if status in twice else 1
            if after is not None:
                wait, self._resume = 0.0, time.monotonic() + after
            await asyncio.sleep(wait if tries > 0 else 0.0)
        raise _UnansweredError(reason, refused=refused)

    async def _once(
        self, client: httpx.AsyncClient, body: bytes
    ) -> tuple[int, float | None, bytes]:
        """Send a request once; return status, seconds to wait if given, and body."""
        import httpx

        headers = {"Content-Type": "application/json"}
        sent = client.stream("POST", self._url, content=body, headers=headers)
        reply = bytearray()
        try:
            async with asyncio.timeout(self._timeout), sent as response:
                if response.status_code == 200:
                    async for chunk in response.aiter_raw():
                        reply += chunk
                        if len(reply) > _LARGEST:
                            return 200, None, b""
                after = _seconds(response.headers.get("retry-after", ""))
                return response.status_code, after, bytes(reply)
        except (TimeoutError, httpx.TimeoutException):
            return _SLOW, None, b""
        except (httpx.HTTPError, httpx.InvalidURL, OSError):
            return _CLOSED, None, b""


def _open(**settings: Any) -> httpx.AsyncClient:
    """Open a client. Raises UsageError for a proxy that httpx does not support."""
    import httpx

    try:
        return httpx.AsyncClient(**settings)
    except (ImportError, ValueError, httpx.InvalidURL):
        raise UsageError(
            "the proxy set in the environment cannot be used; unset HTTPS_PROXY, "
            "HTTP_PROXY and ALL_PROXY, or set NO_PROXY to the server's host"
        ) from None


@cache
def _tls() -> ssl.SSLContext:
    """Return the TLS context, cached because loading certificates is slow."""
    import httpx

    return httpx.create_ssl_context()


def _seconds(after: str) -> float | None:
    """Parse Retry-After as seconds, at most _LONGEST; None for other forms."""
    try:
        wait = float(after)
    except ValueError:
        return None
    return min(max(wait, 0.0), _LONGEST) if wait == wait else None


def _run(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to completion, also inside a running loop (notebooks)."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


def parse_object(content: str) -> JsonObject | None:
    """Return the JSON object in an answer, or None.

    Reasoning before it and code fences around it are skipped.
    """
    answer = content.rpartition("</think>")[2]
    begin, end = answer.find("{"), answer.rfind("}")
    if begin < 0 or end < begin:
        return None
    try:
        fields = msgspec.json.decode(answer[begin : end + 1])
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    return fields if isinstance(fields, dict) else None


def object_schema(options: dict[str, list[str]]) -> JsonObject:
    """Return an object schema that allows each key its strings, or any string."""
    return {
        "type": "object",
        "properties": {
            key: {"type": "string", **({"enum": values} if values else {})}
            for key, values in options.items()
        },
        "required": [*options],
        "additionalProperties": False,
    }
