"""Measure what risk settings trade, and ship it: what is found against what is kept.

    python -m tools.trade

Writes dptext/data/trade.json, which pages of reports draw: for each risk the epsilon,
the key of the figures of readers (readers.json, which gains them), and how often a
program that learned topics from private news sorts other private news right. Texts are
public rows of AG News; draws have a fixed seed. To be run after tools.readers.
"""

from __future__ import annotations

import json

from benchmarks.private_rows import learned, privatized, rows_of, untouched
from dptext import open_pipeline
from dptext.measures import context_risk
from tools.readers import figures

# A guess without any output is right for 5.2% of words: no risk is below.
RISKS = (0.06, 0.10, 0.13, 0.20, 0.30)
_TRAIN, _TEST, _TEXTS = 2_500, 1_200, 1_500


def main() -> None:
    """Write the file, and the figures of readers that it points to."""
    readers_file = context_risk.shipped_file()
    found = json.loads(readers_file.read_bytes())
    train = rows_of("agnews_train19k")[:_TRAIN]
    test = rows_of("agnews_test5600")[:_TEST]
    texts = [[str(row["text"]) for row in rows] for rows in (train, test)]
    topics = [[row["label"] for row in rows] for rows in (train, test)]
    points, originals = [], None
    for risk in RISKS:
        over = {"budget": {"name": "uniform", "risk": risk}}
        pipeline = open_pipeline("balanced", over)
        if originals is None:
            plain = [untouched(pipeline, each) for each in texts]
            originals, _ = learned(pipeline, plain[0], topics[0], plain[1], topics[1])
        private = [
            privatized(pipeline, each, seed, written=True)
            for seed, each in enumerate(texts)
        ]
        right, _ = learned(pipeline, private[0], topics[0], private[1], topics[1])
        key = context_risk.key_of(pipeline)
        if key not in found:
            undecoded = open_pipeline("balanced", {**over, "decoder": {"name": "none"}})
            found[key] = figures(undecoded, _TEXTS)
        epsilon = pipeline.budget.description.high
        points.append(
            {"risk": risk, "epsilon": epsilon, "readers": key, "topics": right}
        )
        print(points[-1], flush=True)
    readers_file.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", "utf-8")
    data = {
        "lexicon": pipeline.lexicon.digest,
        "mechanism": pipeline.mechanism.name,
        "tokens": pipeline.profile.tokens.settings(),
        "topics_of_originals": originals,
        "points": points,
    }
    path = readers_file.with_name("trade.json")
    path.write_text(json.dumps(data, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
