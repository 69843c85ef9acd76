"""The limits that stand beside every guarantee."""

from __future__ import annotations

from dptext.guarantees.sentences import series
from dptext.guarantees.terms import Terms
from dptext.tokens.policy import Policy
from dptext.types import Notion, Strategy

_PERSON = (
    "A person is in more than one word: the losses of all words and records about the "
    "same person add up, and so do those of several releases of the same text."
)
_RECORDS = (
    "The number and order of records are those of the input, less the records that "
    "could not be read; which texts are empty or absent is shown; how long the run "
    "takes is not hidden."
)
_FOUND = (
    "What is called a text here is a span that {finder} chose; everything else in the "
    "document is outside of this statement.",
    "What {finder} chooses follows from the private text: what it misses is not "
    "replaced, and where it chose a span is shown. What stands around a span may tell "
    "what stood in it.",
)
_DETECTED = (
    "dptext took {named} because no other field of the first record holds letters, but "
    "for times and digests: that is shown."
)
_ORDER = "Words are replaced one by one in their places, so their order stays; "
_REPEATED = {
    Strategy.TOKEN: (
        "a word that occurs again is drawn anew each time, so that its losses add up."
    ),
    Strategy.RECORD: (
        "equal words of a record get one replacement{shared}, so that the output shows "
        "which words may be equal and which are not, from which rare texts can be "
        "known.{written}"
    ),
    Strategy.DATA_SET: (
        "equal words of the data set get one replacement wherever they stand{shared}, "
        "so that how often each word occurs, and beside which, is shown: whoever knows "
        "the frequencies of words can undo much of the replacement.{written}"
    ),
}
_LINKED = (
    "Equal words have one replacement in the outputs of all its input files, which can "
    "so be linked with each other."
)
_DATA_SET = {
    "key-file": (
        "The data set is all input that is ever made private with these settings and "
        f"this key file. {_LINKED}"
    ),
    "system": (
        f"The data set is all input of the run that wrote this output. {_LINKED}"
    ),
}


def always_not_covered(notion: Notion, terms: Terms) -> tuple[str, ...]:
    """Return what no setting covers."""
    repeated = _REPEATED[terms.strategy].format(
        shared=_shared(terms.policy), written=_written(terms)
    )
    sentences = [_PERSON, _ORDER + repeated]
    if terms.strategy is Strategy.DATA_SET:
        sentences.append(_DATA_SET.get(terms.key, _DATA_SET["system"]))
    sentences.append(_RECORDS)
    if terms.fields is not None:
        named = series(tuple(f'"{name}"' for name in terms.fields))
        copied = f"All fields other than {named} are copied unchanged."
        detected = (_DETECTED.format(named=named),) if terms.detected else ()
        sentences[:0] = (copied, *detected)
    if terms.finder:
        sentences[:0] = [each.format(finder=terms.finder) for each in _FOUND]
    if notion is Notion.METRIC:
        sentences.append(
            "Words far apart in the metric are protected less than near ones."
        )
    return tuple(sentences)


def _shared(policy: Policy) -> str:
    """Say which classes of token count as one word."""
    classes = []
    if policy.unknown == "perturb":
        classes.append("words outside the vocabulary and identifiers")
    if policy.number == "perturb":
        classes.append('numbers of one element of the vocabulary, such as "40-49"')
    if not classes:
        return ""
    return f" (all {', and all '.join(classes)}, count as equal)"


def _written(terms: Terms) -> str:
    """Say how one replacement may be written in more than one way."""
    policy, ways = terms.policy, []
    if terms.decoder != "none":
        ways.append("each time another word may be decoded from what was drawn for it")
    if policy.case == "restore":
        ways.append("capital letters follow the sentence")
    elif policy.case == "copy":
        ways.append("capital letters are those of the original")
    if policy.agreement == "inflect":
        ways.append("its form follows the words beside it")
    elif policy.agreement == "articles":
        ways.append('"a" and "an" follow the word behind them')
    ways.append("a replacement that is a number gets other random digits each time")
    return f" One replacement is not always written alike: {series(tuple(ways))}."
