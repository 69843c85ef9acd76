"""Measure what readers of whole texts find under the shipped profiles, and ship it.

    python -m tools.readers [--texts 1500] [PROFILE ...]

Writes dptext/data/readers.json, which `dptext plan` and reports show beside the exact
risk. Texts are public rows of the test data: no order and no weight of a decoder was
chosen by them. Each profile of which the output distribution is known, all words at
one epsilon; readers are those of dptext.measures.readings. To be run after the lexicon,
the n-gram model that ships or a shipped profile has changed; some seconds for each
profile of rank, and minutes with --every for all mechanisms. Draws have a fixed seed:
texts are public.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

from benchmarks.private_rows import rows_of
from dptext import open_pipeline
from dptext.measures import context_risk
from dptext.measures.context_risk import InContext
from dptext.pipeline import Pipeline
from dptext.profile import shipped
from dptext.randomness import RunKey
from dptext.readers import ngrams
from dptext.types import BudgetKind, JsonObject

# Names for people, and files of the test data.
CORPORA = {
    "AG News (test rows)": "agnews_test5600",
    "SST-2 (development rows)": "sst2_dev",
    "Trustpilot (test rows)": "trustpilot_en_test",
}
OWN = ("balanced", "readable", "strict")
_BATCH = 500


def figures(pipeline: Pipeline, most: int) -> list[JsonObject]:
    """Return what readers find under a pipeline in each corpus."""
    model = ngrams.find_model(ngrams.ENGLISH, pipeline.channel).digest
    rows = []
    for corpus, file in CORPORA.items():
        texts = [str(row["text"]) for row in rows_of(file)[:most]]
        batches = (texts[n : n + _BATCH] for n in range(0, len(texts), _BATCH))
        readings = context_risk.measure(
            pipeline,
            context_risk.available(pipeline),
            batches,
            pipeline.randomness(RunKey.from_seed(0)),
        )
        rows.append(asdict(InContext(corpus, model, readings)))
        for each in readings:
            every = each.classes[0]
            print(f"  {corpus}: {each.reader} {every.success:.1%}", flush=True)
    return rows


def main() -> None:
    """Write the file: profiles that are not asked for keep their figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("profiles", nargs="*", default=[])
    parser.add_argument("--texts", type=int, default=1500)
    parser.add_argument("--every", action="store_true", help="all shipped profiles")
    arguments = parser.parse_args()
    path = context_risk.shipped_file()
    data = json.loads(path.read_bytes()) if path.exists() else {}
    for name in arguments.profiles or (shipped() if arguments.every else OWN):
        pipeline = open_pipeline(name, {"decoder": {"name": "none"}})
        one_epsilon = pipeline.budget.description.kind is BudgetKind.WORD
        if not (pipeline.mechanism.has_log_probs and one_epsilon):
            print(f"{name}: no output distribution at one epsilon")
            continue
        print(name, flush=True)
        data[context_risk.key_of(pipeline)] = figures(pipeline, arguments.texts)
        text = json.dumps(data, indent=1, sort_keys=True)
        path.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
