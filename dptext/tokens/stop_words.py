"""Function words of a language: what `stop_word: keep` keeps.

Public lists, written by hand, of articles, pronouns, prepositions, conjunctions,
auxiliaries and their contractions; content words are not in them.
"""

from __future__ import annotations

from dptext.types import ENGLISH

STOP_WORDS = frozenset(
    """
    a an the this that these those some any each every either neither both all no none
    i me my mine myself we us our ours ourselves you your yours yourself yourselves
    he him his himself she her hers herself it its itself they them their theirs
    themselves one who whom whose which what where when why how
    and or but nor so yet if because as until while although though unless since whether
    than then of at by for with about against between into through during before after
    above below to from up down in out on off over under again further once onto upon
    within without toward towards among across along around behind beside besides
    be am is are was were been being do does did doing done have has had having
    will would shall should can could may might must ought
    not only own same such too very just here there now also even ever never
    n't 's 're 've 'll 'd 'm ca wo
    don't doesn't didn't isn't aren't wasn't weren't haven't hasn't hadn't won't
    wouldn't can't cannot couldn't shouldn't mustn't
    """.split()
)

_GERMAN = frozenset(
    """
    der die das des dem den ein eine einer eines einem einen kein keine keiner keines
    keinem keinen dieser diese dieses diesem diesen jener jene jenes jenem jenen jeder
    jede jedes jedem jeden alle aller alles allem allen beide
    ich du er sie es wir ihr mich mir dich dir ihn ihm ihnen uns euch sich man
    mein meine meiner meines meinem meinen dein deine deiner deines deinem deinen
    sein seine seiner seines seinem seinen ihre ihrer ihres ihrem ihren
    unser unsere unserer unseres unserem unseren euer eure eurer eures eurem euren
    wer wen wem wessen was welcher welche welches welchem welchen wo wie wann warum
    und oder aber sondern denn doch sowie weder noch als ob wenn weil dass daß obwohl
    während bevor nachdem damit falls bis
    in im ins an am ans auf aus bei beim mit nach seit von vom zu zum zur durch für
    gegen ohne um über unter vor hinter neben zwischen
    bin bist ist sind seid war warst waren wart sei gewesen habe hast hat haben habt
    hatte hatten gehabt werde wirst wird werden werdet wurde wurden worden
    kann kannst können könnt konnte konnten muss muß müssen musste mussten soll sollen
    sollte sollten will wollen wollte wollten darf dürfen durfte durften mag mögen
    nicht auch nur so sehr hier da dort jetzt schon immer nie dann daran darin dazu
    """.split()
)
_FRENCH = frozenset(
    """
    le la les l' un une des du de d' au aux ce cet cette ces c' chaque quelque quelques
    tout toute tous toutes aucun aucune
    je j' tu il elle on nous vous ils elles me m' te t' se s' lui leur leurs eux moi toi
    soi y en mon ma mes ton ta tes son sa ses notre nos votre vos
    qui que qu' quoi dont où quel quelle quels quelles lequel laquelle lesquels
    et ou mais donc or ni car si comme quand lorsque lorsqu' puisque puisqu' parce
    jusque jusqu' ainsi
    à dans par pour sur sous avec sans entre vers chez contre depuis pendant avant après
    suis es est sommes êtes sont étais était étions étaient fut furent sera seront été
    être ai as a avons avez ont avais avait avions avaient eu aura auront avoir
    fait peut peuvent pouvait doit doivent devait faut
    ne n' pas plus très aussi ici là même bien encore déjà toujours jamais alors puis
    """.split()
)
_LISTS = {ENGLISH: STOP_WORDS, "de": _GERMAN, "fr": _FRENCH}


def of(language: str) -> frozenset[str]:
    """Return the function words of a language by its code; none where none are known.

    They are keys (dptext.tokens.regex.key_of).
    """
    return _LISTS.get(language, frozenset())
