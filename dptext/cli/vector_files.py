"""Published files of vectors: where they are offered; import of those that are here.

dptext never downloads them: they are large, and their pages say what they may be used
for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# More words than this make a lexicon no better, but slower.
MAX_WORDS = 400_000


@dataclass(frozen=True, slots=True)
class Source:
    """Vectors that one page offers; pattern fits its files, and tells the language."""

    name: str
    serves: str
    page: str
    example: str
    pattern: re.Pattern[str]


SOURCES = (
    Source(
        "GloVe",
        "lexicons of English; public domain (PDDL)",
        "https://nlp.stanford.edu/projects/glove/",
        "glove.6B.zip (unpack it)",
        re.compile(r"(glove\..+d)\.txt(?:\.\w+)?"),
    ),
    Source(
        "fastText",
        "lexicons of 157 languages; CC BY-SA 3.0",
        "https://fasttext.cc/docs/en/crawl-vectors.html",
        "cc.de.300.vec.gz",
        re.compile(
            r"((?:cc|wiki)\.(?P<code>[a-z]{2,3})(?:\.300)?|(?:wiki-news|crawl)-.+)\.vec"
            r"(?:\.\w+)?"
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class Found:
    """A file of vectors: the name and the language that its lexicon will have."""

    path: Path
    name: str
    language: str


def found_in(folder: Path) -> Iterator[Found]:
    """Yield the files of known sources in a folder, by name."""
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        for source in SOURCES:
            if (match := source.pattern.fullmatch(path.name)) and path.is_file():
                code = match.groupdict().get("code") or "en"
                yield Found(path, match[1], code)


def imported(source: Source) -> Path | None:
    """Return the folder of a lexicon that was made of a file of this source."""
    from dptext.lexicons import installed

    for entry in installed():
        if source.pattern.fullmatch(str(entry.meta.get("file", ""))):
            return entry.folder
    return None


def import_file(file: Found) -> None:
    """Import the first words of a file under its name, unless that name is there."""
    from dptext.lexicons import importing, store
    from dptext.lexicons.store import folder_of
    from dptext.progress import shares

    folder = folder_of(file.name)
    if folder.exists():
        return
    settings = importing.Settings(max_words=MAX_WORDS, language=file.language)
    with shares() as progress:
        lexicon = importing.make(file.path, file.name, settings, progress=progress)
        store.save(lexicon, folder)


def rows() -> Iterator[dict[str, str | bool | None]]:
    """Yield what `dptext setup` says of each source, as of other things."""
    for source in SOURCES:
        folder = imported(source)
        yield {
            "name": source.name,
            "for": source.serves,
            "path": None if folder is None else str(folder),
            "command": f"download {source.example} from {source.page}, then "
            "dptext lexicon import FILE --name NAME",
            "optional": True,
        }
