"""The sentences of claims: one template for each notion and level.

Data: dptext.guarantees.wording puts in the figures. Where the kind of budget says more
than notion and level, it has a template of its own.
"""

from __future__ import annotations

from dptext.guarantees.bounds import NoClaim
from dptext.guarantees.terms import MAX_MEANINGFUL_LOSS
from dptext.types import BudgetKind, Level, Notion, Strategy

_LDP, _METRIC, _APPROXIMATE = Notion.LDP, Notion.METRIC, Notion.APPROXIMATE
_WORD, _TEXT, _WORDS = Level.WORD, Level.TEXT, Level.WORDS
Key = tuple[Notion, Level] | tuple[Notion, Level, BudgetKind]

_DISTINCT_PAIRS = (
    "these words and those that stand in their places in what it is compared with"
)
_DATA_SET = "A data set of n distinct replaced words, all records together,"
# What is drawn once, what is compared, how two of these differ, and the like.
OF_STRATEGY = {
    Strategy.TOKEN: {
        "drawn": "Each replaced word",
        "compared": (
            "whichever two texts are compared that differ in one such word and have"
        ),
        "named": "text",
        "distinct": "",
        "of_n_words": "A text of n replaced words",
        "summed": "A text",
        "pairs": (
            "its words and those of the text that it is compared with, place by place"
        ),
    },
    Strategy.RECORD: {
        "drawn": "Each distinct replaced word of a record",
        "compared": (
            "whichever two records are compared that differ in one such word, wherever "
            "it stands in the record, and have"
        ),
        "named": "record",
        "distinct": "distinct ",
        "of_n_words": "A record of n distinct replaced words",
        "summed": "A record of n distinct replaced words",
        "pairs": _DISTINCT_PAIRS,
    },
    Strategy.DATA_SET: {
        "drawn": "Each distinct replaced word of the data set",
        "compared": (
            "whichever two data sets are compared that differ in one such word, "
            "wherever it stands in the records, and have"
        ),
        "named": "data set",
        "distinct": "distinct ",
        "of_n_words": _DATA_SET,
        "summed": _DATA_SET,
        "pairs": _DISTINCT_PAIRS,
    },
}
_LIKELY = "times as likely under one as under the other"
_ONE_OR_ALL = "That is so whether one of their words differs or all."
_TOGETHER = (
    "The replaced words of each text together ({words}) are {epsilon}-locally "
    "differentially private: whichever two texts are compared that have {adjacency}, "
    f"no output text is more than {{factor}} {_LIKELY}."
)


def _one_word(private: str, bound: str, more: str) -> str:
    return (
        f"{{weak}}{{drawn}} ({{words}}) is {private}: {{compared}} {{adjacency}}, no "
        f"output is more than {bound} {_LIKELY}{more}"
    )


SENTENCES: dict[Key, str] = {
    (_LDP, _WORD): _one_word(
        "{epsilon}-locally differentially private", "{factor}", "."
    ),
    (_LDP, _WORD, BudgetKind.POSITION): _one_word(
        "locally differentially private with the epsilon of its place in its text, at "
        "most {epsilon}",
        "e^epsilon",
        ". That factor is at most {factor}.",
    ),
    (_METRIC, _WORD): _one_word(
        "{epsilon}-metric differentially private in d = {at_epsilon}",
        "e^({epsilon} d)",
        ".{factors}",
    ),
    (_METRIC, _WORD, BudgetKind.POSITION): _one_word(
        "metric differentially private in d = {at_any}, with the epsilon of its "
        "place in its text, at most {epsilon}",
        "e^(epsilon d)",
        ".{factors}",
    ),
    (_METRIC, _WORD, BudgetKind.CLASS): _one_word(
        "metric differentially private in d = {at_epsilon}",
        "e^({epsilon} d)",
        " where the two words are of one public class, and e^({epsilon} d + {first}) "
        "times where they are not.{factors}",
    ),
    (_APPROXIMATE, _WORD): (
        "{weak}{drawn} ({words}) is ({epsilon}, {delta})-locally differentially "
        "private: {compared} {adjacency}, no set of outputs has under one more than "
        "{factor} times its probability under the other plus {delta}."
    ),
    (_LDP, _TEXT): _TOGETHER,
    (_LDP, _TEXT, BudgetKind.FREE): f"{{weak}}{_TOGETHER} {_ONE_OR_ALL}",
    (_METRIC, _TEXT): (
        "The n replaced words of each text ({words}) share epsilon = {epsilon} in "
        "equal parts and are metric differentially private in d = {at_part}: "
        "whichever two texts of n replaced words are compared that have {adjacency}, "
        f"no output text is more than e^(({{epsilon}} / n) S) {_LIKELY}, S the sum of "
        "the n distances d between their words, place by place."
    ),
    (_METRIC, _TEXT, BudgetKind.PAST): (
        "The replaced words of each text together ({words}) are {epsilon}-metric "
        "differentially private in the largest distance d between words in the same "
        "place, distance being {uncut}: whichever two texts of n replaced words are "
        "compared that have {adjacency}, no output text is more than e^({epsilon} d) "
        f"{_LIKELY}{{most_likely}}."
    ),
    (_APPROXIMATE, _TEXT): (
        "The n replaced words of each text together ({words}) are ({epsilon}, n times "
        "{delta})-locally differentially private: whichever two texts of n replaced "
        "words are compared that have {adjacency}, no set of output texts has under "
        "one more than {factor} times its probability under the other plus n times "
        "{delta}."
    ),
    (_LDP, _WORDS): (
        "{weak}The n replaced words of each text together ({words}) are (n times "
        "{epsilon})-locally differentially private: whichever two texts are compared "
        "that have {adjacency}, no output text is more than e^(n times {epsilon}) "
        f"{_LIKELY}, for each word a factor of {{factor}}. {_ONE_OR_ALL}"
    ),
}
# What holds for whole texts.
TEXTS: dict[Key, str] = {
    (_LDP, _WORD): (
        "{of_n_words} loses at most n times {epsilon} nats when all of them may "
        "differ, m times {epsilon} when m of them may."
    ),
    (_LDP, _WORD, BudgetKind.POSITION): (
        "A text loses at most the sum, over those of its replaced words that may "
        "differ, of the epsilon of the word's place."
    ),
    (_METRIC, _WORD): (
        "{summed} loses at most {epsilon} times the sum of the distances d between "
        "{pairs}."
    ),
    (_METRIC, _WORD, BudgetKind.POSITION): (
        "A text loses at most the sum, over those of its replaced words that may "
        "differ, of the epsilon of the word's place times the distance d to the word "
        "it is compared with."
    ),
    (_METRIC, _WORD, BudgetKind.CLASS): (
        "A text loses at most {epsilon} times the sum of the distances d between "
        "{pairs}, plus {first} for each place in which their classes differ."
    ),
    (_APPROXIMATE, _WORD): (
        "Two {named}s that differ in m {distinct}replaced words are at least as hard "
        "to tell from each other as N(0, 1) and N({mu} sqrt(m), 1) (Gaussian "
        "differential privacy); also, m changed words are (m times {epsilon}, m times "
        "{delta})-differentially private."
    ),
    (_LDP, _TEXT): (
        "A whole text loses at most {epsilon} nats, whatever its length{large}. One "
        "changed word of a text of n replaced words loses at most {epsilon} / n nats"
        "{short}."
    ),
    (_LDP, _TEXT, BudgetKind.PAST): (
        "A whole text of n replaced words loses at most {epsilon} nats, whatever its "
        "length, and n times {each} nats if that is less{large}. One changed word "
        "loses at most {each} nats."
    ),
    (_LDP, _TEXT, BudgetKind.FREE): (
        "A whole text{of_n} loses at most {epsilon} nats, whatever its length{lesser}"
        "{large}."
    ),
    (_METRIC, _TEXT): (
        "A whole text of n replaced words loses at most {epsilon} times the largest "
        "distance, {total} nats, whatever its length (a factor of {total_factor})"
        "{lesser}{large}. One changed word of it loses at most {epsilon} / n times its "
        "distance, {total} / n nats at the farthest{cut}{short}."
    ),
    (_METRIC, _TEXT, BudgetKind.PAST): (
        "A whole text of n replaced words loses at most {epsilon} times the largest "
        "distance, {total} nats, whatever its length{lesser}{large}. One changed word "
        "loses at most {high} times its distance, and at most {each_short} nats."
    ),
    (_APPROXIMATE, _TEXT): (
        "A whole text of n replaced words is ({epsilon}, n times {delta})-"
        "differentially private{large}. One changed word of it is ({epsilon} / n, "
        "{delta})-differentially private{short}."
    ),
    (_LDP, _WORDS): "A text of n replaced words loses at most n times {epsilon} nats.",
}
# Whence epsilon comes, behind that.
ORIGINS = {
    BudgetKind.WORD: "",
    BudgetKind.TEXT: "",
    BudgetKind.POSITION: "",
    BudgetKind.TYPE: (
        " The mechanism's epsilon of a word follows from the word alone, by a public "
        "table, and lies between {low} and {high}."
    ),
    BudgetKind.CLASS: (
        " The class of each word is drawn first, by randomised response at epsilon "
        "{first}; the word is drawn with the epsilon of the drawn class, at most "
        "{high}."
    ),
    BudgetKind.PAST: (
        " The epsilon of a word is chosen by what was released before it in its text, "
        "never by the text itself."
    ),
    BudgetKind.FREE: (
        "{one_change} Epsilon of a word is computed from the whole text{share}, so "
        "that a changed word moves the epsilon of all others."
    ),
}
IN_CONTEXT = (
    " A change of one word is promised no more than a change of all: the output "
    "distribution of each word follows from all words of its text, so that a changed "
    "word moves those of all others."
)
NO_GUARANTEE = {
    NoClaim.SEEDED: (
        "No guarantee: this run was seeded, and whoever knows or guesses the seed can "
        "repeat every draw."
    ),
    NoClaim.MECHANISM: "No guarantee: {reason}",
    NoClaim.NOT_DRAWN: (
        "No guarantee: these settings allow a single word a loss of {worst} nats, "
        f"above the {MAX_MEANINGFUL_LOSS:g} up to which a bound means anything, and "
        "outputs that are so rare cannot be drawn with their exact probability."
    ),
    NoClaim.UNPROVEN: (
        "No guarantee: dptext proves nothing for this mechanism when epsilon differs "
        "from word to word."
    ),
    NoClaim.DISTINGUISHABLE: (
        "No guarantee: epsilon differs from word to word, and under this mechanism "
        "that alone may tell words apart without bound."
    ),
}
NO_TEXTS = "No guarantee for texts."
