"""Run the searches of many texts side by side, each to its own end."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from dptext import models
from dptext.readers.causal.entries import Entries, Node, unread
from dptext.readers.causal.network import Network
from dptext.readers.causal.passes import Group, Lines, Parts, Shape
from dptext.readers.causal.search import Found, Search


class Job(NamedTuple):
    """A text's search over so many words, and the entries that it may take.

    wanted as in `Group`.
    """

    search: Search
    words: int
    capacity: int
    wanted: int


class _Row:
    """A search on its way: what it waits for, its entries, and the words left."""

    def __init__(self, number: int, job: Job) -> None:
        self.number, self._search, self.left = number, job.search, job.words
        self.entries = Entries(job.capacity)
        self._waiting: deque[Node] = deque()
        self.result: Found | None = None
        self._ask(next(self._search))

    def take(self, tokens: int, slots: int) -> list[Node]:
        """Return the nodes to read in the next pass, with their entries.

        As many as there are, at most `tokens`; none where they do not fit in `slots`,
        so that a text is read in the same parts whatever stands beside it.
        """
        count = min(tokens, len(self._waiting))
        nodes = [self._waiting.popleft() for _ in range(count if count <= slots else 0)]
        for node in nodes:
            self.entries.place(node)
        return nodes

    def go_on(self) -> None:
        """Continue the search as far as it can without reading."""
        while not self._waiting and self.result is None:
            try:
                self._ask(next(self._search))
            except StopIteration as end:
                self.result = end.value

    def _ask(self, leaves: list[Node]) -> None:
        self.left -= 1
        self.entries.keep(leaves)
        self._waiting.extend(unread(leaves))


class _Queue:
    """Searches that wait for a row, taken by several threads."""

    def __init__(self, jobs: Iterable[tuple[int, Job]]) -> None:
        self._waiting, self._lock = deque(jobs), threading.Lock()

    def next(self) -> _Row | None:
        """Return the next search, None after the last."""
        with self._lock:
            return _Row(*self._waiting.popleft()) if self._waiting else None


def _parts(rows: dict[int, _Row], shape: Shape) -> Parts:
    """Return what the next pass reads: as much as there are slots for.

    The longest texts go first: the last ones would have passes to themselves.
    """
    parts: Parts = {}
    free = shape.slots
    for number, row in sorted(rows.items(), key=lambda each: -each[1].left):
        nodes = row.take(shape.tokens, free)
        if nodes:
            free -= len(nodes)
            parts[number] = (row.entries, nodes)
    return parts


def _run(
    group: Group | Lines, texts: int, queue: _Queue, results: dict[int, Found]
) -> None:
    """Run searches of one size, at most `texts` at a time.

    Whichever ends makes room for the next.
    """
    rows: dict[int, _Row] = {}
    while True:
        for number in set(range(texts)) - rows.keys():
            row = queue.next()
            if row is not None:
                rows[number] = row
        if not rows:
            return
        parts = _parts(rows, group.shape)
        group.read(parts)
        for number in parts:
            row = rows[number]
            row.go_on()
            if row.result is not None:
                results[row.number] = row.result
                del rows[number]


def read(network: Network, jobs: Sequence[Job]) -> list[Found]:
    """Return what each search finds; several groups at a time, each on one thread."""
    by_size: dict[tuple[int, int], list[tuple[int, Job]]] = {}
    # A packed text is read by its own capacity, in a row of any.
    largest = max((job.capacity for job in jobs), default=0)
    # Long texts first, so that the last passes are not theirs alone.
    for number, job in sorted(enumerate(jobs), key=lambda each: -each[1].words):
        capacity = largest if network.way.packed else job.capacity
        by_size.setdefault((capacity, job.wanted), []).append((number, job))
    results: dict[int, Found] = {}
    torch = models.package("torch", "causal-lm", "semantic")
    set_threads, threads = torch.set_num_threads, torch.get_num_threads()
    set_threads(1)
    try:
        with ThreadPoolExecutor(threads, "", set_threads, (1,)) as pool:
            running = []
            for size, same in sorted(by_size.items(), reverse=True):
                queue, most = _Queue(same), network.way.shape.texts
                # Half of them fill most of a pass: what is more goes to other threads.
                groups = min(threads, -(-len(same) // max(1, most // 2)))
                texts = min(most, -(-len(same) // groups))
                for _ in range(groups):
                    group = network.group(*size)
                    running.append(pool.submit(_run, group, texts, queue, results))
            for each in running:
                each.result()
    finally:
        set_threads(threads)
    return [results[number] for number in range(len(jobs))]
