"""Spark as the engine: folders of files, and DataFrames.

The driver prepares settings, key and public measures; tasks read, make private and
count (dptext.spark.files for files, dptext.spark.data_frames for rows of a DataFrame),
by the same code as one machine alone. pyspark is imported where it is used.
"""

from __future__ import annotations

from dptext.spark.data_frames import DataFrameCounts as Counts
from dptext.spark.data_frames import privatize as privatize

__all__ = ["Counts", "privatize"]
