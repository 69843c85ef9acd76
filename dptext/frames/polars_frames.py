"""Data frames of Polars."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from dptext.errors import InputError
from dptext.frames import Frame
from dptext.frames.columns import Columns


class PolarsFrame(Frame[pl.DataFrame]):
    """A data frame; the other columns are shared with it."""

    @property
    def names(self) -> Sequence[str]:
        """Return the names of all columns."""
        names: Sequence[str] = self.frame.columns
        return names

    def values(self, name: str, rows: int) -> Sequence[object]:
        """Return the first values of a column."""
        return list(self.frame[name].head(rows))

    def privatized(
        self, names: Sequence[str], columns: Columns, start: int
    ) -> pl.DataFrame:
        """Return the data frame with new texts; a categorical gets new categories."""
        for name in names:
            if isinstance(self.frame.schema[name], pl.Enum):
                raise InputError(
                    f"column {name!r} is an Enum, which cannot hold other words; cast "
                    "it to String"
                )
        table = self.frame.select(names).to_arrow()
        new = columns(table, start)
        changed = columns.names(table.schema)
        replaced = pl.from_arrow(new.select(changed))
        assert isinstance(replaced, pl.DataFrame)
        return self.frame.with_columns(replaced.get_columns())


KINDS = {pl.DataFrame: PolarsFrame}
