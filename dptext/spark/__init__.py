"""Spark as the engine: folders of files, and DataFrames.

The driver prepares settings, key and public measures; tasks read, make private and
count, files in dptext.spark.session and rows of a DataFrame in
dptext.spark.data_frames, by the same code as one machine alone. pyspark is imported
where it is used.
"""

from __future__ import annotations

from dptext.spark.data_frames import DataFrameCounts as Counts
from dptext.spark.data_frames import privatize as privatize

__all__ = ["Counts", "privatize"]
