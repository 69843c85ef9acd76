"""Build the English lexicon from public vectors, lists and WordNet.

    python -m tools.english --wordnet FOLDER --glove FILE --sphinx FILE
        --symspell FILE --scowl FILE --out FOLDER

Where to get the sources: docs/lexicons.md. The same sources give the same digest.
Needs scipy, of the extra build.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
from pathlib import Path

from dptext.errors import DptextError
from dptext.lexicons import store
from dptext.progress import shares
from tools.english import SIZE, Sources, build_english

HELP = {
    "wordnet": "folder of the WordNet 3.0 database",
    "glove": "GloVe 6B, 50 dimensions: a file or a folder",
    "sphinx": "en-us.lm.bin of CMU Sphinx",
    "symspell": "words and counts of SymSpell",
    "scowl": "SCOWL's word list of American English",
}


def main() -> None:
    """Build the lexicon and print its digest."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.english", description=(__doc__ or "").partition("\n")[0]
    )
    for field in dataclasses.fields(Sources):
        name = field.name
        parser.add_argument(f"--{name}", type=Path, required=True, help=HELP[name])
    parser.add_argument("--out", type=Path, required=True, help="folder to write")
    parser.add_argument("--size", type=int, default=SIZE, help="words")
    arguments = vars(parser.parse_args())
    out, size = arguments.pop("out"), arguments.pop("size")
    try:
        with shares():
            lexicon = build_english(Sources(**arguments), size=size)
            print(store.save(lexicon, out))
    except (DptextError, ImportError) as error:
        sys.exit(f"{error}")


if __name__ == "__main__":
    main()
