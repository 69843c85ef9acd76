"""The driver's side of Spark: a session, and what becomes of its errors."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast

from dptext.errors import DptextError, MissingExtra, UsageError
from dptext.spark.workers import Failure

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# On one machine Spark gives up at the first failure, elsewhere at the fourth.
_LOCAL = re.compile(r"local(?:\[([0-9]+|\*)\])?")
_TRIES = 4
_SETTINGS = {
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",  # of the driver: what goes wrong is said in one line
}
# The names of Spark's own conditions; the rest of its messages may quote data.
_CONDITION = re.compile(r"\[([A-Z][A-Z_.]+)\]")

Item = TypeVar("Item")
Result = TypeVar("Result")


@contextlib.contextmanager
def session(master: str | None = None) -> Iterator[SparkSession]:
    """Start Spark for a block; a session that is there already is used, and stays.

    Without a master it is that of spark-submit, else all cores of this machine. Raises
    MissingExtra and UsageError where Spark cannot start.
    """
    spark_session = installed()
    active = spark_session.getActiveSession()
    if active is not None:
        yield active
        return
    builder = spark_session.builder.appName("dptext")
    for name, value in _SETTINGS.items():
        builder = builder.config(name, value)
    if master is None and "PYSPARK_GATEWAY_PORT" not in os.environ:
        master = "local[*]"
    if master is not None:
        builder = builder.master(_with_tries(master))
        if _LOCAL.fullmatch(master):  # workers are this Python, whatever the path says
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    try:
        started = builder.getOrCreate()
    except Exception as error:
        raise UsageError(
            f"--master {master}: Spark could not be started ({_reason(error)}); "
            "its own lines above say more"
        ) from None
    try:
        yield started
    finally:
        started.stop()


def over(
    spark: SparkSession, work: Callable[[Item], Result | Failure], items: Sequence[Item]
) -> list[Result]:
    """Do work on each item as a task of its own; return the results in order.

    Raises the first error that is returned, and DptextError where tasks fail.
    """
    tasks = spark.sparkContext.parallelize(items, len(items)).map(work)
    try:
        results = tasks.collect()
    except Exception as error:
        raise DptextError(
            f"Spark ended the run ({_reason(error)}): a task failed {_TRIES} times, or "
            "the cluster went away; the executors' logs say more"
        ) from None
    for result in results:
        if isinstance(result, Exception):
            raise result
    return cast("list[Result]", results)


def installed() -> Any:
    """Return the class of sessions. Raises MissingExtra, UsageError without Java."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about versions of pandas
            from pyspark.sql import SparkSession
    except ImportError:
        raise MissingExtra.of("Spark", "spark") from None
    if not os.environ.get("JAVA_HOME") and shutil.which("java") is None:
        raise UsageError(
            "Spark needs Java, which is not there: install a runtime (on Debian "
            "default-jre-headless), or set JAVA_HOME"
        )
    return SparkSession


def _with_tries(master: str) -> str:
    """Let a task fail on one machine as often as on several."""
    local = _LOCAL.fullmatch(master)
    return f"local[{local[1] or 1},{_TRIES}]" if local else master


def _reason(error: Exception) -> str:
    """Name an error without what it says."""
    conditions = _CONDITION.findall(str(error))
    return conditions[0] if conditions else type(error).__name__
