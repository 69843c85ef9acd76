"""Estimates shares of topics in private texts from their sanitized output alone.

The output's report states the probabilities with which topics were written.

Each text has a topic, which is written by randomised response: the true one with
probability p = e^epsilon / (e^epsilon + K - 1), and each other topic with q = (1 - p) /
(K - 1). Of N texts of which c were written as a topic, (c / N - q) / (p - q) estimates
its share without bias. Negative estimates are not clipped: clipped ones add up to too
much. With subset selection k topics are written: the true one with probability p = k
e^epsilon / (k e^epsilon + K - k), each other with q = (p (k - 1) + (1 - p) k) / (K -
1). A text adds 0 or 1 to the count of a topic, so everything else is the same.

An interval holds for one of two targets. file: the share among the texts of this file,
uncertain only since topics were drawn. people: the share in a population that the texts
sample at random; texts of one person may be similar and count as a group. Source: Ye
and Barg 2018; Warner 1965; Kairouz, Bonawitz and Ramage 2016. For people with several
texts: Korn and Graubard 1998.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from dptext import lexicons
from dptext.checking import exports
from dptext.errors import UsageError
from dptext.evaluation import rows
from dptext.guarantees import binomial
from dptext.lexicons import topics
from dptext.report import document
from dptext.report.document import Document
from dptext.report.layout import sidecar_path
from dptext.run.interface import option
from dptext.run.selection import Selection
from dptext.types import Floats, Ints
from dptext.writing.whole_texts import SEPARATOR, TopicJoiner

# Up to so many independent draws an interval is exact.
_EXACT = 400
# Sums that differ by less differ by rounding alone.
_LEAST = 1e-9
_LONGEST = 16 * 2**20


class Target(StrEnum):
    """Which texts an interval of shares refers to."""

    FILE = "file"
    PEOPLE = "people"


@dataclass(frozen=True, slots=True)
class ResponseLaw:
    """Randomised response over K topics, or subset selection."""

    topics: int
    epsilon: float
    #: Topics that are written for a text; of several, by subset selection.
    together: int = 1

    @property
    def right(self) -> float:
        """Return p, the probability of writing the true topic."""
        odds = (self.topics - self.together) / self.together
        return 1.0 / (1.0 + odds * math.exp(-self.epsilon))

    @property
    def wrong(self) -> float:
        """Return q, the probability of writing any other topic."""
        if self.together == 1:
            return math.exp(-self.epsilon) * self.right
        wrong = self.right * (self.together - 1) + (1.0 - self.right) * self.together
        return wrong / (self.topics - 1)

    def share(self, written: float) -> float:
        """Return the share of a topic from the share of texts it was written for."""
        return (written - self.wrong) / (self.right - self.wrong)


@dataclass(frozen=True, slots=True)
class Estimate:
    """The estimated share of a topic with its interval; may lie outside 0 to 1."""

    share: float
    low: float
    high: float
    #: Texts in which the topic was written.
    written: int


def estimates(
    law: ResponseLaw,
    drawn: Ints,
    target: Target,
    confidence: float = 0.95,
    groups: Ints | None = None,
) -> list[Estimate]:
    """Estimate the share of each topic.

    drawn (n, k) rows of the topics written for each text; groups (n,) which person, or
    which draw, each text belongs to: texts of one person for target people, texts
    that share one draw for target file. None: each text by itself. Without texts
    nothing is known.
    """
    size = len(drawn)
    if not size:
        return [Estimate(math.nan, -math.inf, math.inf, 0)] * law.topics
    counts = np.bincount(drawn.ravel(), minlength=law.topics)
    people = np.arange(size) if groups is None else groups
    sizes = np.unique(people, return_counts=True)[1]
    grouped = bool((sizes > 1).any())
    alpha = 1.0 - confidence
    estimated = []
    for topic in range(law.topics):
        count = int(counts[topic])
        share = law.share(count / size)
        if target is Target.PEOPLE:
            low, high = _limits_of_people(
                law,
                (drawn == topic).reshape(size, -1).any(axis=1),
                groups if grouped else None,
                alpha,
            )
        else:
            low, high = _limits_of_file(law, count, sizes, alpha)
        estimated.append(Estimate(share, min(low, share), max(high, share), count))
    return estimated


def differences(
    before: Sequence[Estimate], after: Sequence[Estimate]
) -> list[tuple[float, float, float]]:
    """Return the growth of each share, with an interval.

    It combines the squared distances to the limits (Zou and Donner 2008), for two
    outputs with independent draws.
    """
    grown = []
    for one, two in zip(before, after, strict=True):
        difference = two.share - one.share
        below = math.hypot(two.share - two.low, one.high - one.share)
        upper = math.hypot(two.high - two.share, one.share - one.low)
        grown.append((difference, difference - below, difference + upper))
    return grown


@dataclass(frozen=True, slots=True)
class ReleasedTopics:
    """The topics of an output's texts."""

    law: ResponseLaw
    #: Each topic as its words, (K,), the commonest in public text first.
    phrases: tuple[str, ...]
    #: Topics written for each text, (n, k).
    drawn: Ints
    #: Number of the record of each text, (n,).
    records: Ints
    #: Values of further fields for each text: n of each.
    values: tuple[tuple[str | None, ...], ...]
    #: Field of ids of records; None: their positions are the ids.
    id_field: str | None
    #: Identity of the lexicon of topics.
    digest: str

    def estimates(
        self,
        target: Target,
        confidence: float,
        *,
        by: str | None = None,
        value: str | None = None,
        subject: str | None = None,
    ) -> list[Estimate]:
        """Estimate the share of each topic, over all texts or those with a value.

        by: whether the first further field must have the value; subject: whether the
        last identifies people. Otherwise each record is one person.
        """
        here = np.ones(len(self.drawn), bool)
        if by is not None:
            here = np.array([each == value for each in self.values[0]], bool)
        people = self.records
        if subject is not None:
            codes: dict[str | None, int] = {}
            listed = [codes.setdefault(each, len(codes)) for each in self.values[-1]]
            people = np.array(listed, np.int64)
        return estimates(
            law=self.law,
            drawn=self.drawn[here],
            target=target,
            confidence=confidence,
            groups=people[here] if target is Target.PEOPLE else None,
        )


def read(path: Path, fields: Sequence[str] = ()) -> ReleasedTopics:
    """Read an output of topics, with the report beside it.

    fields: unchanged fields of the output to return values of. Raises UsageError
    if there is no report, if the output has no topics or was drawn from
    a distribution other than randomised response, and if a text is not a topic.
    """
    export = exports.on_disk(path)
    if export.report is None:
        raise UsageError(
            f"{path}: its report {sidecar_path(path).name} is missing, which states "
            "how topics were drawn; put it beside the file"
        )
    report = document.decode(export.report, str(sidecar_path(path)))
    if report.output is None or report.output.sha256 != export.sha256:
        raise UsageError(
            f"{path}: the report beside it describes another file; put "
            "the right report beside it"
        )
    law = _law(report, path)
    lexicon = lexicons.by_digest(report.run.lexicon_digest)
    if lexicon is None or topics.topic_meta(lexicon) is None:
        raise UsageError(
            f"{path}: its topics {report.run.lexicon} are not installed here; put "
            f"their file in {topics.folder()}"
        )
    policy = report.policy
    written = "words" if policy is None else policy.topic
    joiner = TopicJoiner(lexicon, ids=written != "words", words=written != "id")
    row_of = {phrase: row for row, phrase in enumerate(joiner.phrases)}
    selection = report.run.layout.selection(_LONGEST)
    drawn, records, columns = _texts(
        path, selection, fields, row_of=row_of, together=law.together
    )
    return ReleasedTopics(
        law=law,
        phrases=lexicon.words,
        drawn=np.array(drawn, np.int64).reshape(-1, law.together),
        records=np.array(records, np.int64),
        values=columns,
        id_field=selection.id_field,
        digest=lexicon.digest,
    )


def _texts(
    path: Path,
    selection: Selection,
    fields: Sequence[str],
    *,
    row_of: dict[str, int],
    together: int,
) -> tuple[list[list[int]], list[int], tuple[tuple[str | None, ...], ...]]:
    """Return each text's topics, its record, and the values of fields."""
    drawn: list[list[int]] = []
    records: list[int] = []
    columns: list[list[str | None]] = [[] for _ in fields]
    text_rows = rows.records(str(path), selection, {"by": fields})
    for number, row in enumerate(text_rows, 1):
        for text in row.texts:
            phrases = [text] if together == 1 else text.split(SEPARATOR)
            rows_of_text = {row_of.get(phrase, -1) for phrase in phrases}
            if -1 in rows_of_text or len(rows_of_text) != together:
                raise UsageError(
                    f"{path}: record {number} is not a topic listed in the report"
                )
            drawn.append(sorted(rows_of_text))
            records.append(number)
            for column, value in zip(columns, row.values, strict=True):
                column.append(value)
    return drawn, records, tuple(map(tuple, columns))


def _law(report: Document, path: Path) -> ResponseLaw:
    """Return the draw probabilities. Raises UsageError if they give no shares."""
    settings = report.run.settings
    mechanism, budget = settings.get("mechanism", {}), settings.get("budget", {})
    named = topics.split(report.run.lexicon)
    if report.words is None or named is None:
        raise UsageError(
            f"{path}: its texts are not topics (make them with dptext sanitize "
            f"{option('topics', 'NAME')})"
        )
    if mechanism.get("name") == "subset":
        k = int(mechanism["k"])
        return ResponseLaw(report.words.vocabulary, float(budget["epsilon"]), k)
    # Under a top group of several topics, other shares give the same file.
    is_plain = (
        mechanism.get("name") == "rank"
        and mechanism.get("weights") == "staircase"
        and mechanism.get("k") == 1
    )
    if not is_plain:
        raise UsageError(
            f"{path}: shares can be estimated only from randomised response; use the "
            "profile topics (weights staircase with k 1), or the mechanism subset"
        )
    return ResponseLaw(report.words.vocabulary, float(budget["epsilon"]))


def _limits_of_people(
    law: ResponseLaw, is_written: NDArray[np.bool_], groups: Ints | None, alpha: float
) -> tuple[float, float]:
    """Return confidence limits of the share among the people behind the texts."""
    texts = len(is_written)
    if groups is None:
        low, high = binomial.limits(int(is_written.sum()), texts, alpha)
        return law.share(low), law.share(high)
    # The share is a ratio of sums over people (Cochran 1977, 6): its variance is that
    # of what each person adds to it.
    _, person = np.unique(groups, return_inverse=True)
    written = float(is_written.mean())
    added = np.bincount(person, weights=is_written - written)
    people = len(added)
    if people < 2:
        return -math.inf, math.inf
    squares = float((added**2).sum())
    variance = squares * people / (people - 1) / texts**2
    # So many independent texts have this variance (Korn and Graubard 1998). Where all
    # people agree it is 0 and says nothing: they count as one text each.
    alike = people if squares < _LEAST else written * (1.0 - written) / variance
    z = NormalDist().inv_cdf(1.0 - alpha / 2.0)
    trials = min(alike, texts) * (z / binomial.student(people - 1, alpha)) ** 2
    low, high = map(law.share, binomial.limits(written * trials, trials, alpha))
    # If all people may be of one mind, their texts do not tell how others differ: the
    # exact limits for as many people who agree.
    agreed, _ = binomial.limits(people, people, alpha)
    return (
        min(low, agreed) if high >= 1.0 else low,
        max(high, 1.0 - agreed) if low <= 0.0 else high,
    )


def _limits_of_file(
    law: ResponseLaw, count: int, sizes: Ints, alpha: float
) -> tuple[float, float]:
    """Return confidence limits of the share among a file's texts.

    Texts that share a draw add the square of their number to the variance. For few
    independent draws the limits are exact, else they are shares m / N at which the
    count is within z standard deviations of its mean.
    """
    texts = float(sizes.sum())
    inflation = float((sizes.astype(np.float64) ** 2).sum()) / texts
    if texts / inflation <= _EXACT:
        draws = math.floor(texts / inflation + _LEAST)
        written = count * draws / texts
        least, most = math.floor(written + _LEAST), math.ceil(written - _LEAST)
        low, _ = _exact_limits_of_file(law, least, draws, alpha)
        _, high = _exact_limits_of_file(law, most, draws, alpha)
        # Draws of unequal numbers of texts give shares between those of equal ones.
        step = 0.0 if sizes.min() == sizes.max() else 1.0 / draws
        return low - step, high + step
    z = NormalDist().inv_cdf(1.0 - alpha / 2.0)
    p, q = law.right, law.wrong
    # (c - N q - m (p - q))^2 = z^2 v (N q (1 - q) + m (p (1 - p) - q (1 - q))).
    slope, start = p - q, count - texts * q
    step = p * (1 - p) - q * (1 - q)
    first = slope**2
    second = -2.0 * start * slope - z**2 * inflation * step
    third = start**2 - z**2 * inflation * texts * q * (1 - q)
    root = math.sqrt(max(second**2 - 4.0 * first * third, 0.0))
    low, high = (-second - root) / (2 * first), (-second + root) / (2 * first)
    return low / texts, high / texts


# Topics often have the same count, and each limit takes many sums over all counts.
@lru_cache(maxsize=1024)
def _exact_limits_of_file(
    law: ResponseLaw, count: int, texts: int, alpha: float
) -> tuple[float, float]:
    """Return the extreme shares m / N consistent with a count, by exact tails."""
    lower = _least(lambda m: _tail(law, count, m, texts, upper=True) > alpha / 2, texts)
    upper = _least(
        lambda m: _tail(law, count, texts - m, texts, upper=False) > alpha / 2, texts
    )
    return lower / texts, (texts - upper) / texts


def _least(fits: Callable[[int], bool], most: int) -> int:
    """Return the smallest number from 0 that fits; all larger ones must fit too."""
    low, high = 0, most
    while low < high:
        middle = (low + high) // 2
        if fits(middle):
            high = middle
        else:
            low = middle + 1
    return low


def _tail(
    law: ResponseLaw, count: int, of_topic: int, texts: int, *, upper: bool
) -> float:
    """Return the probability of at least (upper) or at most `count` for a topic.

    of_topic: the number of texts with the topic.
    """
    true = _binomial(of_topic, law.right)
    false = _binomial(texts - of_topic, law.wrong)
    chances = np.convolve(true, false)
    return float(chances[count:].sum() if upper else chances[: count + 1].sum())


def _binomial(trials: int, chance: float) -> Floats:
    """Return the probability of each number of successes: (trials + 1,)."""
    successes = np.arange(trials + 1)
    logs = np.array([math.lgamma(each + 1.0) for each in range(trials + 1)])
    terms = logs[-1] - logs - logs[::-1]
    if chance > 0.0:
        terms = terms + successes * math.log(chance)
    if chance < 1.0:
        terms = terms + (trials - successes) * math.log1p(-chance)
    return np.asarray(np.exp(terms))
