"""Data frames of pandas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from dptext.formats import _arrow
from dptext.frames import Frame
from dptext.frames.columns import Columns, array


class PandasFrame(Frame[pd.DataFrame]):
    """A data frame; index and other columns are shared with it."""

    @property
    def names(self) -> Sequence[object]:
        """Return the names of all columns, whatever they are."""
        return list(self.frame.columns)

    def values(self, name: str, rows: int) -> Sequence[object]:
        """Return the first values of a column."""
        return list(self.frame[name].head(rows))

    def privatized(
        self, names: Sequence[str], columns: Columns, start: int
    ) -> pd.DataFrame:
        """Return the data frame with new texts: dtypes and kinds of nulls stay."""
        import pyarrow as pa

        frame = self.frame
        table = pa.table({name: array(frame[name], name) for name in names})
        new = columns(table, start)
        changed = frame.copy(deep=False)
        for name in columns.names(table.schema):
            changed[name] = _series(frame[name], new.column(name))
        return changed


def _series(old: Any, new: _arrow.Array) -> Any:
    """Return a column like the old one with new texts."""
    values: Any = new.to_pylist()
    if isinstance(old.dtype, pd.CategoricalDtype):
        values = pd.Categorical(values, ordered=old.dtype.ordered)
    elif isinstance(old.dtype, pd.ArrowDtype):
        values = pd.array(new, dtype=pd.ArrowDtype(new.type))
    elif old.dtype == object:
        pairs = zip(old, values, strict=True)
        values = [was if value is None else value for was, value in pairs]
        return pd.Series(values, old.index, name=old.name, dtype=object)
    else:
        values = pd.array(values, dtype=old.dtype)
    return pd.Series(values, old.index, name=old.name)


KINDS = {pd.DataFrame: PandasFrame}
