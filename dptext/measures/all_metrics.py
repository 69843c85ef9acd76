"""All metrics that the registry finds, as one: what a run and `evaluate` measure by."""

from __future__ import annotations

from dptext import metrics, registry
from dptext.errors import ComponentError, UsageError
from dptext.metrics import Batch, Figure
from dptext.types import Lexicon

# What each meter counts, in the order of the meters; only the meter knows its type.
Partials = tuple[object, ...]


class AllMetrics:
    """A meter of each metric; made once in each process, from public data.

    Raises UsageError where two have one heading.
    """

    def __init__(self, lexicon: Lexicon) -> None:
        self._meters: dict[str, metrics.Meter[object]] = {}
        for name in registry.names("metrics"):
            module = registry.find("metrics", name)
            if module.NAME in self._meters:
                raise UsageError(
                    f"metric {name!r}: another one has the heading {module.NAME!r} in "
                    "the report; remove the package that brings it"
                )
            self._meters[module.NAME] = module.Meter(lexicon)

    def observe(self, batch: Batch) -> Partials:
        """Count a batch."""
        return tuple(meter.observe(batch) for meter in self._meters.values())

    def merge(self, one: Partials, other: Partials) -> Partials:
        """Count the texts of both; those of one come first."""
        pairs = zip(self._meters.values(), one, other, strict=True)
        return tuple(meter.merge(mine, more) for meter, mine, more in pairs)

    def results(self, total: Partials) -> dict[str, dict[str, Figure]]:
        """Return the figures of each metric by its heading.

        Raises ComponentError for what a report cannot hold.
        """
        results = {}
        for (name, meter), partial in zip(self._meters.items(), total, strict=True):
            results[name] = dict(meter.result(partial))
            for value in results[name].values():
                if type(value) not in (int, float, str, bool, type(None)):
                    raise ComponentError(
                        f"metric {name!r} has a figure of the type "
                        f"{type(value).__name__}, which no report can hold; report "
                        "this line to its authors"
                    )
        return results
