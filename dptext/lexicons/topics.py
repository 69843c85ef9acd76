"""Topics of public text: a small file whose sizes open as lexicons.

A topics file (`dptext topics build`) holds several sets of topics, such as 4, 16, 64
and 256, built from the same public text. A set is opened as a lexicon of K words under
the name `topics:NAME/K`: each "word" is a written topic, its vector is the centre of
the topic, and its order lists the other topics by distance. So mechanisms, audits and
reports treat a drawn topic as they treat a drawn word.

The file is topics/NAME.json in the user's store, or any file given by path.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from dptext import streams
from dptext.errors import LexiconError
from dptext.lexicons.store import is_name, stored_in, user_folder
from dptext.run.interface import option
from dptext.settings import digest_of_data
from dptext.types import Ids, Lexicon

PREFIX = "topics:"
FORMAT = 1
TELLING = 5  # words that tell a topic
_SUFFIX = ".json"
# The largest size that fits an epsilon: the topic that is nearest to a text is written
# with at least this probability (docs/topics.md).
LIKELY = 0.95
# Epsilons by which a table says from where on a size is used.
EPSILON_OF_NOTE = tuple(step / 10 for step in range(1, 301))

Share = Annotated[float, Meta(ge=0, le=1)]


@dataclass(frozen=True, slots=True)
class Kept:
    """How well a classifier predicts the labels of held-out public texts."""

    #: Epsilon of a whole text, in nats.
    epsilon: float
    #: Accuracy on originals, by a classifier that was trained on originals.
    original: Share
    #: Accuracy on drawn topics, of an attacker that knows the distribution of draws.
    private: Share
    #: Accuracy without any text: the share of the commonest label.
    chance: Share


@dataclass(frozen=True, slots=True)
class TopicsOfSize:
    """A set of K topics."""

    #: Centre of each topic among the vectors of public texts, (K, d).
    centres: tuple[tuple[float, ...], ...]
    #: Words that tell each topic, the most telling first.
    words: tuple[tuple[str, ...], ...]
    #: Number of public texts nearest to each topic.
    counts: tuple[int, ...]
    #: Label that each topic was made of; empty without labels.
    labels: tuple[str, ...] = ()
    #: Share of held-out public texts with the same topic in both halves.
    halves: Share | None = None
    #: What a classifier keeps, by epsilon.
    kept: tuple[Kept, ...] = ()

    @property
    def phrases(self) -> tuple[str, ...]:
        """Return each topic as it is written."""
        return tuple(", ".join(words) for words in self.words)


@dataclass(frozen=True, slots=True)
class PublicSource:
    """A file of public text that topics were built from."""

    name: str
    sha256: str
    texts: int


@dataclass(frozen=True, slots=True)
class LabelClassifier:
    """A linear classifier of public labels over the vectors of texts."""

    names: tuple[str, ...]
    #: Weight of each class, (C, d), and its constant, (C,).
    weights: tuple[tuple[float, ...], ...]
    constants: tuple[float, ...]

    def arrays(
        self, labels: Sequence[str]
    ) -> tuple[Ids, NDArray[np.float64], NDArray[np.float64]]:
        """Return the class of each topic's label, the weights and the intercepts."""
        rows = np.array([self.names.index(label) for label in labels], np.int32)
        return rows, np.array(self.weights), np.array(self.constants)


@dataclass(frozen=True, slots=True)
class TopicFile:
    """The content of a topics file."""

    format: int
    name: str
    language: str
    #: The view that turns a text into a vector: its name and settings.
    view: dict[str, Any]
    #: Digest of all that the view reads, by setting.
    view_content: dict[str, str]
    public: tuple[PublicSource, ...]
    #: Topics by their number, as text.
    sizes: dict[str, TopicsOfSize]
    #: Short digests of the public texts, in base64, to find private rows among them.
    rows: str = field(default="", repr=False)
    #: Classifier of the labels that topics follow, if they do.
    classes: LabelClassifier | None = None

    @property
    def digest(self) -> str:
        """Return the sha256 of everything except the name."""
        return digest_of_data(msgspec.to_builtins(replace(self, name="")))

    @property
    def numbers(self) -> list[int]:
        """Return the sizes, smallest first."""
        return sorted(map(int, self.sizes))


def folder() -> Path:
    """Return the user's folder of topics files."""
    return user_folder().parent / "topics"


def topic_path(name: str) -> Path:
    """Return the path of a topics file, given by name or path."""
    if is_name(name) and not name.endswith(_SUFFIX):
        return folder() / f"{name}{_SUFFIX}"
    return Path(name)


def installed() -> list[str]:
    """Return the names of the user's topics files."""
    return [path.stem for path in stored_in(folder()) if path.suffix == _SUFFIX]


def read(name: str) -> TopicFile:
    """Read a topics file by name or path. Raises LexiconError."""
    path = topic_path(name)
    streams.check_file(path, "file of topics")
    try:
        stat = path.stat()
    except OSError:
        known = ", ".join(installed()) or "none"
        raise LexiconError(
            f"no topics named {name!r}; known: {known} (`dptext topics build` makes "
            "them from public text)"
        ) from None
    return _read(path, stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=4)
def _read(path: Path, changed: int, size: int) -> TopicFile:
    try:
        document = msgspec.json.decode(path.read_bytes(), type=TopicFile)
    except OSError as error:
        raise LexiconError(f"{path}: {error.strerror}") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise LexiconError(f"{path}: not a topics file; build it again") from None
    _check(document, path)
    return document


def _check(document: TopicFile, path: Path) -> None:
    """Raise LexiconError for a file that `build` cannot have written."""
    if document.format != FORMAT:
        raise LexiconError(
            f"{path}: topics of format {document.format}, this version reads {FORMAT}; "
            "build them again"
        )
    for number, topics in document.sizes.items():
        count = len(topics.centres)
        lengths = {len(centre) for centre in topics.centres}
        phrases = {phrase.lower() for phrase in topics.phrases}
        is_sound = (
            number.isdecimal()
            and int(number) == count == len(topics.words) == len(topics.counts)
            and 2 <= count <= 65_535
            and len(lengths) == 1
            and len(phrases) == count
            and min(topics.counts) > 0
            and all(phrase.isprintable() for phrase in topics.phrases)
            and (not topics.labels or len(topics.labels) == count)
            and np.isfinite(np.array(topics.centres)).all()
        )
        if not is_sound:
            raise LexiconError(f"{path}: topics of size {number} are damaged")
    if not document.sizes:
        raise LexiconError(f"{path}: no topics; build them again")


def encode(document: TopicFile) -> bytes:
    """Return a topics file as JSON."""
    return msgspec.json.format(msgspec.json.encode(document), indent=1) + b"\n"


def size_for(numbers: Sequence[int], epsilon: float) -> int:
    """Return the largest number of topics suitable for an epsilon, else the smallest.

    It is the largest K at which the nearest topic is written with probability
    e^epsilon / (e^epsilon + K - 1) of 95% or more. Both follow from settings alone.
    """
    odds = float(np.exp(min(epsilon, 700.0)))
    fitting = [number for number in numbers if odds / (odds + number - 1) >= LIKELY]
    return max(fitting, default=min(numbers))


def split(name: str) -> tuple[str, int | None] | None:
    """Split `topics:NAME/K` into name and K, None if there is no size.

    Returns Returns None for the name of any other lexicon.
    """
    if not name.startswith(PREFIX):
        return None
    named = name.removeprefix(PREFIX)
    stem, slash, number = named.rpartition("/")
    if slash and number.isdecimal():
        return stem, int(number)
    return named, None


def named(path: str, size: int | None) -> str:
    """Return the lexicon name for a topics file and a size."""
    return f"{PREFIX}{path}" + ("" if size is None else f"/{size}")


def sized(name: str, epsilon: float) -> str:
    """Add the size suitable for an epsilon to a topics name without a size."""
    parts = split(name)
    if parts is None or parts[1] is not None:
        return name
    return f"{name}/{size_for(read(parts[0]).numbers, epsilon)}"


def open_lexicon(name: str, size: int | None = None) -> Lexicon:
    """Open topics of a size as a lexicon; the largest size by default.

    Raises LexiconError for an unknown name or size.
    """
    if not name:
        raise LexiconError(
            f"topics: name a topics file with {option('topics', 'NAME')} (`dptext "
            "topics build` makes one from public text)"
        )
    document = read(name)
    number = size or max(document.numbers)
    if str(number) not in document.sizes:
        known = ", ".join(map(str, document.numbers))
        raise LexiconError(f"topics {name}: no size {number}; available sizes: {known}")
    return as_lexicon(document, number, name)


def by_digest(digest: str) -> Lexicon | None:
    """Open the user's topics by their lexicon's digest, None if missing."""
    for name in installed():
        try:
            document = read(name)
        except LexiconError:
            continue
        for number in document.numbers:
            if _digest(document, number) == digest:
                return as_lexicon(document, number, name)
    return None


def _digest(document: TopicFile, size: int) -> str:
    return digest_of_data(["topics", document.digest, size])


def as_lexicon(document: TopicFile, size: int, source: str) -> Lexicon:
    """Return topics of a size as a lexicon, most frequent topic first.

    source: the name or path to read the file again.

    The last row is for texts without a topic: the mean of all centres, and the
    topics by descending count.
    """
    topics = document.sizes[str(size)]
    counts = np.array(topics.counts, np.float64)
    order = np.lexsort((np.arange(size), -counts))
    centres = np.array(topics.centres, np.float64)[order]
    phrases = topics.phrases
    vectors = np.vstack((centres, centres.mean(axis=0, keepdims=True)))
    return Lexicon(
        name=f"{PREFIX}{document.name}/{size}",
        words=tuple(phrases[row] for row in order.tolist()),
        vectors=vectors.astype(np.float32),
        counts=counts[order],
        orders=_orders(centres),
        far=np.zeros(size + 1, np.float32),
        digest=_digest(document, size),
        meta={
            "language": document.language,
            "prior": "how many public texts are nearest to each topic",
            "topics": {
                "name": document.name,
                "source": source,
                "size": size,
                "view": document.view,
                "view_content": document.view_content,
                "public": [msgspec.to_builtins(each) for each in document.public],
            },
        },
    )


def _orders(centres: NDArray[np.float64]) -> NDArray[np.uint16]:
    """Return each topic followed by the others by distance: (K + 1, K).

    The last row, for texts without a topic, lists all by descending count.
    """
    size = len(centres)
    squared = ((centres[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
    np.fill_diagonal(squared, -1.0)
    nearest = np.argsort(squared, axis=1, kind="stable")
    return np.vstack((nearest, np.arange(size))).astype(np.uint16)


@dataclass(frozen=True, eq=False)
class TopicSearch:
    """Finds the nearest of K topics for text vectors, independent of the batch."""

    #: Centres (K, d), the commonest topic first.
    centres: NDArray[np.float64]
    #: The class (K,) of each topic, weights (C, d) and constants (C,) of classes.
    classes: tuple[Ids, NDArray[np.float64], NDArray[np.float64]] | None = None

    def find(self, vectors: NDArray[np.float64]) -> Ids:
        """Return the row of the nearest topic: (n, d) -> (n,), -1 if none.

        A vector of the wrong length, or with a non-finite number, has no topic.
        """
        topics = np.full(len(vectors), -1, np.int32)
        if vectors.ndim != 2 or vectors.shape[1] != self.centres.shape[1]:
            return topics
        # Sums of each row by itself: products of matrices round by their shapes.
        for row in np.flatnonzero(np.isfinite(vectors).all(axis=1)).tolist():
            distances = ((self.centres - vectors[row]) ** 2).sum(axis=1)
            if self.classes is not None:
                of_topic, weights, constants = self.classes
                best = ((weights * vectors[row]).sum(axis=1) + constants).argmax()
                distances[of_topic != best] = np.inf
            topics[row] = distances.argmin()
        return topics


def nearest(lexicon: Lexicon) -> TopicSearch:
    """Prepare the nearest-topic search for a lexicon of topics."""
    return build_nearest(topic_file(lexicon), int(lexicon.meta["topics"]["size"]))


def build_nearest(document: TopicFile, size: int) -> TopicSearch:
    """Prepare the nearest-topic search for a size, most frequent topic first."""
    topics = document.sizes[str(size)]
    order = np.lexsort((np.arange(size), -np.array(topics.counts, np.float64)))
    centres = np.array(topics.centres, np.float64)[order]
    if document.classes is None or not topics.labels:
        return TopicSearch(centres)
    labels = [topics.labels[row] for row in order.tolist()]
    return TopicSearch(centres, document.classes.arrays(labels))


def topic_file(lexicon: Lexicon) -> TopicFile:
    """Read the file behind a lexicon of topics. Raises LexiconError if it changed."""
    meta = lexicon.meta["topics"]
    document = read(str(meta["source"]))
    if _digest(document, int(meta["size"])) != lexicon.digest:
        raise LexiconError(f"topics {document.name}: changed since they were opened")
    return document


def topic_meta(lexicon: Lexicon) -> Mapping[str, Any] | None:
    """Return the metadata of a lexicon of topics, None for any other lexicon."""
    return lexicon.meta.get("topics")
