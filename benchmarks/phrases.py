"""Units of several words as one token: what they change.

    python benchmarks/phrases.py share [--wordnet /usr/share/wordnet]
    python benchmarks/phrases.py tasks [--units 2000] [--seeds 2]

Units are WordNet's collocations ("New York", "prime minister", "at least"), found from
left to right, the longest first. `share`: how many words of real texts stand in units.
`tasks`: a lexicon in which the commonest units (counted in the training texts, which
favours them) are entries beside the built-in words, at equal risk and equal epsilon:
accuracy, perplexity, number of tokens and epsilon of a text. The vector of a unit is
the mean of its words'; its order is by cosine among all outputs, units included; the
orders of words are as they were, so that a unit is drawn for a word by the uniform draw
alone.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from bigrams import perplexity
from orders import WEIGHTS, accuracies, epsilon_at, ranked, tasks_of
from private_rows import privatized, rows_of

from dptext.lexicons import store
from dptext.types import Lexicon

LONGEST = 5
_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")


def collocations(folder: Path) -> frozenset[str]:
    """Return WordNet's units of several words, in lower case, joined by "_"."""
    units = set()
    for part in ("noun", "verb", "adj", "adv"):
        for line in (folder / f"index.{part}").read_text("utf-8").splitlines():
            lemma = line.split(" ", 1)[0]
            if "_" in lemma and re.fullmatch(r"[a-z]+(?:_[a-z]+)+", lemma):
                units.add(lemma)
    return frozenset(units)


def spans(text: str, units: frozenset[str]) -> Iterator[tuple[int, int]]:
    """Yield where units stand: words that only single spaces part."""
    words = list(_WORD.finditer(text))
    position = 0
    while position < len(words):
        for length in range(min(LONGEST, len(words) - position), 1, -1):
            last = words[position + length - 1]
            body = text[words[position].start() : last.end()]
            if (
                body.count(" ") == length - 1
                and body.lower().replace(" ", "_") in units
            ):
                yield words[position].start(), last.end()
                position += length - 1
                break
        position += 1


def joined(text: str, units: frozenset[str]) -> str:
    """Return a text with the words of each unit joined by "_"."""
    out, at = [], 0
    for begin, end in spans(text, units):
        out += [text[at:begin], text[begin:end].replace(" ", "_")]
        at = end
    return "".join([*out, text[at:]])


def counted(texts: Sequence[str], units: frozenset[str]) -> Counter[str]:
    """Count units in texts."""
    return Counter(
        text[begin:end].lower().replace(" ", "_")
        for text in texts
        for begin, end in spans(text, units)
    )


def share(units: frozenset[str]) -> None:
    """Print which part of real texts are units."""
    for corpus in ("agnews_test5600", "sst2_dev", "imdb_5k", "trustpilot_en_test"):
        texts = [row["text"] for row in rows_of(corpus)][:2000]
        counts_of_units = counted(texts, units)
        words = sum(len(_WORD.findall(text)) for text in texts)
        inside = sum(n * (unit.count("_") + 1) for unit, n in counts_of_units.items())
        few = {unit: n for unit, n in counts_of_units.items() if unit[:1].isalpha()}
        print(
            f"{corpus}: {inside / words:.2%} of {words} words stand in units, "
            f"{len(counts_of_units)} different; the commonest: "
            + ", ".join(sorted(few, key=few.__getitem__, reverse=True)[:12])
        )


def with_units(
    lexicon: Lexicon, counts_of_units: Counter[str], words: int, most: int
) -> Lexicon:
    """Return the lexicon with the commonest units, of a corpus of so many words."""
    outputs = int(lexicon.meta["outputs"])
    rows = {word.lower(): row for row, word in enumerate(lexicon.words)}
    units = [
        unit
        for unit, _ in counts_of_units.most_common()
        if all(part in rows for part in unit.split("_"))
    ][:most]
    old = lexicon.vectors.astype(np.float32)
    unit_vectors = np.stack(
        [old[[rows[w] for w in unit.split("_")]].mean(0) for unit in units]
    )
    vectors = np.vstack([old[:outputs], unit_vectors, old[outputs:]])
    unit_rows = vectors[: outputs + len(units)]
    unit_rows = unit_rows / np.linalg.norm(unit_rows, axis=1, keepdims=True)
    mine = np.arange(outputs, outputs + len(units))
    near = unit_rows[mine] @ unit_rows.T
    near[np.arange(len(units)), mine] = 9.0
    listed = np.argsort(-near, axis=1)[:, : lexicon.orders.shape[1]]
    moved = lexicon.orders.astype(np.int64)
    moved[moved >= outputs] += len(units)
    orders = np.vstack([moved[:outputs], listed, moved[outputs:]]).astype(np.uint32)
    total = lexicon.counts.sum()
    counts = np.array([counts_of_units[unit] / words * total for unit in units])
    return dataclasses.replace(
        lexicon,
        words=(*lexicon.words[:outputs], *units, *lexicon.words[outputs:]),
        vectors=vectors,
        counts=np.concatenate(
            [lexicon.counts[:outputs], counts, lexicon.counts[outputs:]]
        ),
        orders=orders,
        far=np.zeros(len(vectors), np.float32),
        digest=f"{lexicon.digest} with {len(units)} units",
        meta={**lexicon.meta, "outputs": outputs + len(units)},
        synonym_ends=None,
        synonyms=None,
        information_content=None,
        parts=None,
    )


def tasks(lexicon: Lexicon, units: frozenset[str], most: int, seeds: int) -> None:
    """Print what units change."""
    work = {k: t for k, t in tasks_of(dev=False).items() if k != "gender"}
    train = [text for task in work.values() for text in task[0]]
    counts_of_units = counted(train, units)
    words = sum(len(_WORD.findall(text)) for text in train)
    # Parts of speech are set aside on both sides: agreement would need those of units.
    plain = dataclasses.replace(lexicon, parts=None)
    grown = with_units(plain, counts_of_units, words, most)
    known = frozenset(grown.words) & units
    weights = WEIGHTS[0.2]
    base = epsilon_at(plain, weights, 0.2)
    equal = epsilon_at(grown, weights, 0.2)
    print(f"{len(known)} units; risk 20%: epsilon {base:.3f} words, {equal:.3f} units")
    for name, used, epsilon in (
        ("words", plain, base),
        ("units, equal risk", grown, equal),
        ("units, equal epsilon", grown, base),
    ):
        sanitizer = ranked(used, weights, epsilon)
        for corpus, task in work.items():
            texts = [task[0], task[2]]
            if used is grown:
                texts = [[joined(t, known) for t in part] for part in texts]
            here = (texts[0], task[1], texts[1], task[3])
            features = (
                {"as words": " "} if used is plain else {"as words": " ", "one": "_"}
            )
            shown = []
            memory = functools.cache(functools.partial(_private, sanitizer))
            for kind, mark in features.items():
                change = functools.partial(_split, mark, memory)
                runs = [
                    accuracies(sanitizer, here, s, change) for s in range(1, seeds + 1)
                ]
                mean = np.mean(runs, axis=0)
                shown.append(f"{kind} {mean[0]:.3f} {mean[1]:.3f}")
            out, ids, _ = memory(tuple(texts[1]), 1001)
            read = perplexity([text.replace("_", " ") for text in out])
            tokens = len(ids) / len(out)
            print(
                f"{name:22} {corpus:8} {'; '.join(shown)}; perplexity {read:,.0f}; "
                f"{tokens:.1f} tokens, {tokens * epsilon:.0f} nats a text",
                flush=True,
            )


def _private(sanitizer: Any, texts: tuple[str, ...], seed: int) -> Any:
    return privatized(sanitizer, list(texts), seed)


def _split(mark: str, memory: Any, _: Any, texts: list[str], seed: int) -> Any:
    out, ids, positions = memory(tuple(texts), seed)
    return [text.replace("_", mark) for text in out], ids, positions


def main() -> None:
    """Do what the first argument says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("share", "tasks"))
    parser.add_argument("--wordnet", type=Path, default=Path("/usr/share/wordnet"))
    parser.add_argument("--lexicon", type=Path, default=Path("dptext/data/english"))
    parser.add_argument("--units", type=int, default=2000)
    parser.add_argument("--seeds", type=int, default=2)
    arguments = parser.parse_args()
    units = collocations(arguments.wordnet)
    if arguments.what == "share":
        share(units)
    else:
        tasks(store.load(arguments.lexicon), units, arguments.units, arguments.seeds)


if __name__ == "__main__":
    main()
