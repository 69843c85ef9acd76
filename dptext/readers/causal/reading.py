"""Run the searches of many texts side by side, each to its own end."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from dptext.readers.causal.entries import Entries, Node, unread
from dptext.readers.causal.network import Network
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
        self.found: Found | None = None
        self._ask(next(self._search))

    def take(self, most: int) -> list[Node]:
        """Return the nodes to read in the next pass, with their entries."""
        nodes = [self._waiting.popleft() for _ in range(min(most, len(self._waiting)))]
        for node in nodes:
            self.entries.place(node)
        return nodes

    def go_on(self) -> None:
        """Continue the search as far as it can without reading."""
        while not self._waiting and self.found is None:
            try:
                self._ask(next(self._search))
            except StopIteration as end:
                self.found = end.value

    def _ask(self, leaves: list[Node]) -> None:
        self.entries.keep(leaves)
        self._waiting.extend(unread(leaves))


def read(network: Network, jobs: Iterable[Job]) -> list[Found]:
    """Return what each search finds; several groups at a time, each on one thread."""
    torch = network.torch
    numbered = list(enumerate(jobs))
    found: dict[int, Found] = {}
    lock = threading.Lock()

    def run(waiting: deque[tuple[int, Job]], capacity: int, wanted: int) -> None:
        group = network.group(capacity, wanted)
        rows: dict[int, _Row] = {}
        while True:
            for place in range(group.rows):
                with lock:
                    if place not in rows and waiting:
                        rows[place] = _Row(*waiting.popleft())
            if not rows:
                return
            parts = {
                place: (row.entries, row.take(group.tokens))
                for place, row in rows.items()
            }
            group.read(parts)
            for place, row in list(rows.items()):
                row.go_on()
                if row.found is not None:
                    found[row.number] = row.found
                    del rows[place]

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with ThreadPoolExecutor(threads) as pool:
            # Long ones first, so that the last passes are not theirs alone.
            sizes = sorted({(j.capacity, j.wanted) for _, j in numbered}, reverse=True)
            waits = []
            for size in sizes:
                same = [each for each in numbered if each[1][1:] == size]
                waiting = deque(same)
                groups = min(threads, -(-len(same) // network.shape.texts))
                waits += [pool.submit(run, waiting, *size) for _ in range(groups)]
            for wait in waits:
                wait.result()
    finally:
        torch.set_num_threads(threads)
    return [found[number] for number, _ in numbered]
