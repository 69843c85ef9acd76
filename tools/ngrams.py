"""Make the n-gram model that ships with the built-in lexicon.

    python -m tools.ngrams [--lexicon builtin] [--out FOLDER]

Source: the trigram model of English that comes with CMU Sphinx, `en-us.lm.bin`, as the
package `pocketsphinx` has it (pip install pocketsphinx), BSD 2-clause; its notice is
written beside the model. Only words and pairs are taken. The file is read as
pocketsphinx reads it: counts, tables of 16-bit codes, words alone, pairs packed in
bits, names; then 500 pairs are compared with what pocketsphinx itself says.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
from pathlib import Path

import numpy as np

from dptext import lexicons, settings
from dptext.attackers import ngrams
from dptext.attackers.ngrams import packaged_model
from dptext.types import Lexicon
from tools.english import sphinx
from tools.english.sphinx import Trie

SOURCE = "en-us.lm.bin of CMU Sphinx (package pocketsphinx), pairs"
LICENCE = "BSD 2-clause, LICENSE.sphinx beside the data"
BASE = np.log(1.0001)
PROVENANCE = """# The English n-gram model

Words and pairs of words of the trigram model of English that comes with CMU Sphinx,
`en-us.lm.bin` as the package pocketsphinx {version} has it (sha256 `{sha256}`).
Everything here is public and comes from no text of any user. Licence: LICENSE.sphinx.

Made by `python -m tools.ngrams` over the {words:,} words of the built-in lexicon,
and to be made again when the lexicon changes. {pairs:,} pairs, each with a gain of one
byte (`dptext/attackers/ngrams.py`). The source knows {known:.1%} of the lexicon's
words; the others are as frequent as the lexicon says. Words of the source that are not
in the lexicon count as one unknown word.
"""


def model(trie: Trie, lexicon: Lexicon) -> ngrams.Ngrams:
    """Put the pairs of a trie over a lexicon; pairs stand under their second word."""
    size = len(lexicon.words)
    row_of = {word.lower(): row for row, word in enumerate(lexicon.words)}
    rows = np.array([row_of.get(word.lower(), size) for word in trie.words])
    rows[[trie.words.index("<s>"), trie.words.index("</s>")]] = size + 1
    start = trie.words.index("<s>")
    alone = np.exp(trie.alone)
    alone[start] = 0.0
    one = np.bincount(rows, alone, size + 2).astype(np.float64)
    absent = np.flatnonzero(one[:size] == 0.0)
    one[absent] = lexicon.prior[absent]
    one /= one.sum()
    backoff = np.zeros(size + 2)
    known = rows < size
    known[start] = True
    backoff[rows[known]] = trie.backoff[known]
    owner = np.repeat(np.arange(len(trie.words)), np.diff(trie.ends)[: len(trie.words)])
    first, second = trie.following[: len(owner)], owner
    gains = trie.log_probs[: len(owner)] - trie.backoff[first] - trie.alone[second]
    kept = known[first] & (rows[second] != size) & (second != start)
    contexts, following = rows[first[kept]], rows[second[kept]]
    return ngrams.assemble(
        words=lexicon.words,
        alone=np.log(one),
        backoff=backoff,
        contexts=contexts,
        following=following,
        gains=ngrams.encode_gains(gains[kept]),
        meta={"source": SOURCE, "licence": LICENCE, "pairs": int(kept.sum())},
    )


def compare(trie: Trie, path: Path) -> None:
    """Hold pairs against what pocketsphinx says of them, to a thousandth of a nat."""
    import pocketsphinx

    theirs = pocketsphinx.NGramModel.readfile(str(path))
    owner = np.repeat(np.arange(len(trie.words)), np.diff(trie.ends)[: len(trie.words)])
    for pair in np.random.default_rng(0).choice(len(owner), 500).tolist():
        first, second = trie.words[trie.following[pair]], trie.words[owner[pair]]
        said = theirs.prob([second, first]) * BASE
        assert abs(said - trie.log_probs[pair]) < 1e-3, (first, second)


def package() -> Path:
    """Return the folder of the package pocketsphinx."""
    spec = importlib.util.find_spec("pocketsphinx")
    if spec is None or spec.origin is None:
        raise SystemExit("the source is not there: pip install pocketsphinx")
    return Path(spec.origin).parent


def notice() -> str:
    """Return the licence of the package."""
    files = importlib.metadata.files("pocketsphinx") or []
    (path,) = (file for file in files if file.name == "LICENSE")
    return path.read_text("utf-8")


def main() -> None:
    """Write the model, its licence and where it is from."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--lexicon", default="builtin")
    parser.add_argument("--out", type=Path, default=packaged_model())
    arguments = parser.parse_args()
    path = package() / "model" / "en-us" / "en-us.lm.bin"
    trie = sphinx.read(path)
    compare(trie, path)
    built = model(trie, lexicons.find(arguments.lexicon))
    digest = ngrams.save(built, arguments.out)
    (arguments.out / "LICENSE.sphinx").write_text(notice(), encoding="utf-8")
    text = PROVENANCE.format(
        version=importlib.metadata.version("pocketsphinx"),
        sha256=settings.digest_of_path(path),
        pairs=len(built.gains),
        words=built.size,
        known=np.isin([word.lower() for word in built.words], trie.words).mean(),
    )
    (arguments.out / "PROVENANCE.md").write_text(text, encoding="utf-8")
    size = sum(file.stat().st_size for file in arguments.out.iterdir())
    print(f"{arguments.out}: {size / 1e6:.1f} MB, digest {digest}")


if __name__ == "__main__":
    main()
