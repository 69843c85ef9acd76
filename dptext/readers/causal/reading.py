"""Run the searches of many texts side by side, each to its own end."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from dptext.readers.causal.entries import Entries, Node, unread
from dptext.readers.causal.network import Group, Lines, Network
from dptext.readers.causal.search import Found, Search


class Job(NamedTuple):
    """A text's search, and the entries that it may take; wanted as in `Group`."""

    search: Search
    capacity: int
    wanted: int


class _Row:
    """A search on its way: what it waits for, and its entries."""

    def __init__(self, number: int, job: Job) -> None:
        self.number, self._search = number, job.search
        self.entries = Entries(job.capacity)
        self._waiting: deque[Node] = deque()
        self.result: Found | None = None
        self._ask(next(self._search))

    def take(self, most: int) -> list[Node]:
        """Return the nodes to read in the next pass, with their entries."""
        nodes = [self._waiting.popleft() for _ in range(min(most, len(self._waiting)))]
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


def _run(group: Group | Lines, queue: _Queue, results: dict[int, Found]) -> None:
    """Run searches of one size; whichever ends makes room for the next."""
    rows: dict[int, _Row] = {}
    while True:
        for number in set(range(group.rows)) - rows.keys():
            row = queue.next()
            if row is not None:
                rows[number] = row
        if not rows:
            return
        nodes = {number: row.take(group.tokens) for number, row in rows.items()}
        group.read({number: (rows[number].entries, nodes[number]) for number in rows})
        for number, row in list(rows.items()):
            row.go_on()
            if row.result is not None:
                results[row.number] = row.result
                del rows[number]


def read(network: Network, jobs: Sequence[Job]) -> list[Found]:
    """Return what each search finds; several groups at a time, each on one thread."""
    by_size: dict[tuple[int, int], list[tuple[int, Job]]] = {}
    for number, job in enumerate(jobs):
        by_size.setdefault((job.capacity, job.wanted), []).append((number, job))
    results: dict[int, Found] = {}
    set_threads, threads = (
        network.torch.set_num_threads,
        network.torch.get_num_threads(),
    )
    set_threads(1)
    try:
        with ThreadPoolExecutor(threads, "", set_threads, (1,)) as pool:
            running = []
            # Long texts first, so that the last passes are not theirs alone.
            for size, same in sorted(by_size.items(), reverse=True):
                queue = _Queue(same)
                for _ in range(min(threads, -(-len(same) // network.shape.texts))):
                    running.append(
                        pool.submit(_run, network.group(*size), queue, results)
                    )
            for each in running:
                each.result()
    finally:
        set_threads(threads)
    return [results[number] for number in range(len(jobs))]
