"""Data sets of Hugging Face `datasets`, by its own batched `map`.

Only the text columns go through `map`; what it keeps on the disk are the new texts. No
result is taken from its cache: every call draws anew, or by its key.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence

import datasets

from dptext.errors import UsageError
from dptext.formats import _arrow
from dptext.frames import Frame
from dptext.frames.columns import Columns


class DataSet(Frame[datasets.Dataset]):
    """A data set; its other columns are joined on as they are."""

    @property
    def names(self) -> Sequence[str]:
        """Return the names of all columns."""
        return list(self.frame.column_names)

    def values(self, name: str, rows: int) -> Sequence[object]:
        """Return the first texts of a column; others may be long to decode."""
        dataset = self.frame
        if getattr(dataset.features[name], "dtype", None) != "string":
            return []
        first = dataset.with_format(None).select_columns([name])
        return list(first[:rows][name])

    def privatized(
        self, names: Sequence[str], columns: Columns, start: int
    ) -> datasets.Dataset:
        """Return the data set with new texts, with the same features and format."""
        dataset = self.frame
        changed = columns.names(dataset.features.arrow_schema)

        if not len(dataset):
            return dataset

        def replaced(batch: _arrow.Table, rows: list[int]) -> _arrow.Table:
            return columns(batch, start + rows[0]).select(changed)

        new = (
            dataset.select_columns(list(names))
            .with_format("arrow")
            .map(
                replaced,
                batched=True,
                with_indices=True,
                remove_columns=list(names),
                features=datasets.Features({n: dataset.features[n] for n in changed}),
                load_from_cache_file=False,
                new_fingerprint=secrets.token_hex(8),
                desc="dptext",
            )
            .select_columns(changed)
        )
        others = dataset.with_format(None).remove_columns(changed)
        parts = [part.with_format(None) for part in (others, new) if part.column_names]
        joined = parts[0]
        if len(parts) > 1:
            joined = datasets.concatenate_datasets(parts, axis=1)
        shown = dataset.format
        return joined.select_columns(dataset.column_names).with_format(
            shown["type"],
            columns=shown["columns"] if shown["type"] else None,
            output_all_columns=shown["output_all_columns"],
            **shown["format_kwargs"],
        )


class DataSets(Frame[datasets.DatasetDict]):
    """The splits of a data set: the rows of one run, one split after the other."""

    @property
    def names(self) -> Sequence[str]:
        """Return the names of all columns, which all splits have."""
        names = [list(split.column_names) for split in self.frame.values()]
        if any(sorted(each) != sorted(names[0]) for each in names):
            raise UsageError("the splits have different columns: give them one by one")
        return names[0] if names else []

    def values(self, name: str, rows: int) -> Sequence[object]:
        """Return the first texts of a column in each split."""
        return [
            v for each in self.frame.values() for v in DataSet(each).values(name, rows)
        ]

    def privatized(
        self, names: Sequence[str], columns: Columns, start: int
    ) -> datasets.DatasetDict:
        """Return the splits with new texts."""
        splits = datasets.DatasetDict()
        for name, split in self.frame.items():
            splits[name] = DataSet(split).privatized(names, columns, start)
            start += len(split)
        return splits


KINDS = {datasets.Dataset: DataSet, datasets.DatasetDict: DataSets}
