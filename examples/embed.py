"""From private vectors to numpy, pandas, Parquet and a classifier.

Run it in this folder: python embed.py tickets.jsonl
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import dptext
from dptext.integrations.scikit_learn import TextVectors

path = Path(sys.argv[1])
records = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
texts = [record["text"] for record in records]
urgent = [record["priority"] <= 2 for record in records]

# numpy: one row for each text, and the statement of what is promised.
private = dptext.embed(texts, pool="mean", epsilon=8)
assert isinstance(private.values, np.ndarray)
print(private.values.shape, private.values.dtype)
print(private.report.guarantee.wording.sentence)

# Parquet: as `dptext embed tickets.jsonl -f text --id id -o tickets.parquet` writes.
with tempfile.TemporaryDirectory() as folder:
    file = Path(folder, "tickets.parquet")
    vectors = np.asarray(private.values)
    frame = pd.DataFrame({"id": [each["id"] for each in records]})
    frame["vector"] = list(vectors)
    frame.to_parquet(file)
    table = pq.read_table(file)
    assert np.array_equal(np.stack(table["vector"].to_numpy()), vectors)

# pandas: ids join labels, which dptext does not copy.
labels = pd.DataFrame({"id": [each["id"] for each in records], "urgent": urgent})
joined = frame.merge(labels, on="id")
print(joined[["id", "urgent"]].head(2).to_string(index=False))

# scikit-learn: a model that sees nothing but released vectors.
model = make_pipeline(TextVectors(epsilon=8), LogisticRegression())
model.fit(texts, urgent)
print(model.predict(texts).shape)
