"""Which language a text is in, as far as a search must know it: whether a question and a passage can share words.

By the commonest words of a language, which no text of some length does without, and by its script.
"""

import itertools
import re
from collections.abc import Iterable

from ai_memory.search.closeness import flattened

_COMMONEST = {
    "English": "the of and to is that it for with as this are be by from have not what how you which can when or",
    "German": (
        "der und das ist nicht mit ein eine einen zu den von auf dem für sich wie wir werden wird sie oder wenn "
        "die du es im als auch bei über aus nach kann alle diese mehr man mein"
    ),
    "French": (
        "le la les et est des une un du que dans pour qui pas sur avec vous nous ce cette comment quel sont aux "
        "de au par plus ne se on votre son tout comme où fait mon peut être"
    ),
    "Spanish": (
        "el la los las de que en un una es por con para del se su como más qué cómo sobre pero este tus al te lo "
        "ser esta son sin sus cuando hay mi puede desde todo algunos"
    ),
    "Portuguese": (
        "os de que em um uma para com não da do na dos das por como mais se ao você foi são como ser no seu sua "
        "quando pode isso pelo tem meu esta"
    ),
    "Italian": (
        "il di che la un una per non con del della sono come gli le nel dei più questo alla anche cosa dal al ma "
        "si mi può delle nella quando tutto essere"
    ),
    "Dutch": (
        "de het een en van is dat op te zijn met voor niet aan er ook als je naar bij hoe wat wordt of om uit kan "
        "dit nog maar worden deze mijn alle"
    ),
    "Swedish": "och att det som en på är av för med den till inte om ett hur jag vi har från kan vad när",
    "Polish": "na się nie do jest to że jak co dla od po przez czy za są jest które tego być",
    "Czech": "se na je že to do pro jak co ale od po nebo by jsou který podle při tak si",
    "Turkish": "bir ve bu için ile ne da de nasıl olarak daha çok var gibi olan en ama mı her veya değil",
    "Indonesian": "yang dan di untuk dengan dari ini itu tidak ke pada adalah dalam akan atau bagaimana apa oleh",
}
"""Of languages in Latin script, those that agents are asked in most. Of another one the gate knows nothing."""
_WORDS = {name: frozenset(flattened(words).split()) for name, words in _COMMONEST.items()}
_LEAST_WORDS = 2
"""Different ones by which a question tells its language: one alone is a name or a quotation as often."""
_PASSAGE_WORDS = 3
"""Different ones that a passage of 600 characters in that language holds nearly always, and one in another hardly."""

_SCRIPTS = {
    "Chinese or Japanese": "\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uff66-\uff9f",
    "Korean": "\u1100-\u11ff\uac00-\ud7af",
    "Cyrillic": "\u0400-\u052f",
    "Greek": "\u0370-\u03ff",
    "Arabic": "\u0600-\u06ff",
    "Hebrew": "\u0590-\u05ff",
    "Thai": "\u0e00-\u0e7f",
    "Devanagari": "\u0900-\u097f",
}
_SIGNS = {name: re.compile(f"[{signs}]") for name, signs in _SCRIPTS.items()}
_LEAST_SIGNS = 0.3
"""Of a question's letters, from which on it is a question in that script, whatever names it holds."""
_PASSAGE_SIGNS = 8
_PASSAGES = 20
"""The best ones: if pages in the question's language were there, its commonest words alone would have found them."""


def foreign_language(question: str, passages: Iterable[bytes]) -> str:
    """The language of a question that shares none with the passages found for it; "" where it does, or none is told.

    `passages`: the best ones, as `closeness.flattened` makes them. One that tells no language (code, a table, a short
    note) counts as English, which such things are mostly kept in.
    """
    asked = language_of(question)
    if not asked:
        return ""
    told = {_passage_language(flat) or "English" for flat in itertools.islice(passages, _PASSAGES)}
    return asked if told and asked not in told else ""


def language_of(question: str) -> str:
    """The language of a question; "" where it tells none: keywords, names, a language that is not known here."""
    letters = sum(sign.isalpha() for sign in question)
    for name, signs in _SIGNS.items():
        if letters and len(signs.findall(question)) >= _LEAST_SIGNS * letters:
            return name
    return _by_words(flattened(question), _LEAST_WORDS)


def _passage_language(flat: bytes) -> str:
    if not flat.isascii():
        text = flat.decode("utf-8", "replace")
        for name, signs in _SIGNS.items():
            if len(signs.findall(text)) >= _PASSAGE_SIGNS:
                return name
    return _by_words(flat, _PASSAGE_WORDS)


def _by_words(flat: bytes, least: int) -> str:
    told = set(flat.split())
    counts = {name: len(words & told) for name, words in _WORDS.items()}
    best = max(counts, key=lambda name: counts[name])
    return best if counts[best] >= least else ""
