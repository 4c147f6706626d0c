"""Which language a text is in, as far as a search must know it: whether a question and a passage can share words.

By the commonest words of a language, which no text of some length does without, and by its script.
"""

import itertools
import re
from collections.abc import Collection, Iterable, Mapping

from ai_memory.hook_terms import STOPWORDS
from ai_memory.search import numbers
from ai_memory.search.closeness import flattened

_COMMONEST = {
    "English": "the of and to is that it for with as this are be by from have not what how you which can when or",
    "German": (
        "der und das ist nicht mit ein eine einen zu den von auf dem für sich wie wir werden wird sie oder wenn "
        "die du es im als auch bei über aus nach kann alle diese mehr man mein weil dass zum zur durch ohne noch "
        "nur seit statt wurde sind haben beim vor unter was"
    ),
    "French": (
        "le la les et est des une un du que dans pour qui pas sur avec vous nous ce cette comment quel sont aux "
        "de au par plus ne se on votre son tout comme où fait mon peut être car à en elle ils mais sans sous entre"
    ),
    "Spanish": (
        "el la los las de que en un una es por con para del se su como más qué cómo sobre pero este tus al te lo "
        "ser esta son sin sus cuando hay mi puede desde todo algunos ya muy entre hasta está porque"
    ),
    "Portuguese": (
        "os de que em um uma para com não da do na dos das por como mais se ao você foi são como ser no seu sua "
        "quando pode isso pelo tem meu esta as é já sem nos pela muito está porque"
    ),
    "Italian": (
        "il di che la un una per non con del della sono come gli le nel dei più questo alla anche cosa dal al ma "
        "si mi può delle nella quando tutto essere è da viene perché senza dopo"
    ),
    "Dutch": (
        "de het een en van is dat op te zijn met voor niet aan er ook als je naar bij hoe wat wordt of om uit kan "
        "dit nog maar worden deze mijn alle over we door geen omdat moet heeft hebben tot"
    ),
    "Swedish": (
        "och att det som en på är av för med den till inte om ett hur jag vi har från kan vad när eller men sig "
        "utan efter under alla blir eftersom"
    ),
    "Danish or Norwegian": (
        "og at det som en på er av af for med den til ikke om et jeg vi har fra kan når eller men seg sig uten "
        "uden etter efter alle blir bliver fordi"
    ),
    "Polish": "na się nie do jest to że co dla od po przez za są które tego być lub oraz ale bo przy tylko ich tym",
    "Czech": "se na je že to do pro co ale od po nebo by jsou který podle při tak si kde za protože není jako aby",
    "Romanian": "și de la în cu pe nu că este sunt ce din pentru mai sau cum ale cel unei prin fără dar după fost",
    "Turkish": (
        "bir ve bu için ile ne da de olarak daha çok gibi olan en ama mı her veya değil sonra ise kadar mi "
        "çünkü fazla iki kalan önce biz var yok"
    ),
    "Indonesian": (
        "yang dan di untuk dengan dari ini itu tidak ke pada adalah dalam akan atau apa oleh karena sudah bisa agar "
        "juga kita mana cara lebih jadi saat oleh hari setiap maka"
    ),
}
"""Of languages in Latin script, those that agents are asked in most. Of another one the gate knows nothing."""
_ASKING = {
    "German": (
        "wie wo warum wieso weshalb wann wer wem welche welcher welches welchen welchem woher wohin womit wofür"
    ),
    "French": "pourquoi quel quelle quels quelles quand combien lequel laquelle",
    "Spanish": "dónde cuándo cuál cuáles quién quiénes cuánto cuántos cuántas podemos",
    "Portuguese": "onde quando qual quais quem quanto quantos quantas podemos",
    "Italian": "perché quale quali quando quanto quanti possiamo",
    "Dutch": "waar waarom hoe welke wanneer hoeveel wie wat kunnen",
    "Swedish": "hur varför vilken vilket vilka vem när",
    "Danish or Norwegian": "hvordan hvor hvorfor hvilken hvilket hvilke hvem hvad hva hvornår",
    "Polish": "jak gdzie dlaczego kiedy kto czy jaki jaka jakie jakiego który która które ile",
    "Czech": "jak kdy kdo jaký jaká který která které komu můžeme kolik",
    "Romanian": "unde când cine câte câți",
    "Turkish": "nasıl nerede neden hangi niye nedir kaç kime kimin",
    "Indonesian": "bagaimana mengapa kenapa siapa berapa kapan apakah",
}
"""Words that ask, of which one tells the language: a short question holds no other small word. Those that are English
words or names, too (`comment`, `come`, `was`, `kim`), are left out."""


def _worths(asking: int) -> dict[bytes, dict[str, int]]:
    """Word, flattened → the languages that it tells of, and how much of each."""
    own = {name: dict.fromkeys(flattened(words).split(), 1) for name, words in _COMMONEST.items()}
    for name, words in _ASKING.items():
        own[name] |= dict.fromkeys(flattened(words).split(), asking)
    own["English"] |= dict.fromkeys((word.encode() for word in STOPWORDS), 1)
    found: dict[bytes, dict[str, int]] = {}
    for name, worths in own.items():
        for word, worth in worths.items():
            found.setdefault(word, {})[name] = worth
    return found


_OF_QUESTIONS, _OF_PASSAGES = _worths(numbers.ASKING_WORTH), _worths(1)

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


def foreign_language(question: str, passages: Iterable[bytes]) -> str:
    """The language of a question that shares none with the passages found for it; "" where it does or tells none.

    `passages`: the best ones, as `closeness.flattened` makes them. Short notes tell none each; where most are
    such, they are read as one text. What tells none at all (code, tables) counts as English, which it mostly is.
    """
    asked = _languages_of(question)
    read = [flat.split() for flat in itertools.islice(passages, numbers.TELLING_PASSAGES)] if asked else []
    if not read:
        return ""
    told = [_languages_of_passage(words) for words in read]
    short = {word for words, own in zip(read, told, strict=True) if not own for word in words}
    known = {name for own in told for name in own}
    if 2 * told.count(()) > len(told):
        known |= {*_of_notes(short)}
    return "" if known & {*asked} else " or ".join(asked)


def has_other_script(question: str) -> bool:
    """Whether a question is in another script than the Latin one."""
    return bool(_script(question, least=1, share=numbers.QUESTION_SIGNS))


def _languages_of_passage(words: Collection[bytes]) -> tuple[str, ...]:
    text = b"".join(words).decode("utf-8", "replace")
    script = _script(text, least=numbers.PASSAGE_SIGNS, share=numbers.PASSAGE_SIGNS_SHARE)
    return (script,) if script else _with_related(words, least=numbers.PASSAGE_WORTH)


def _of_notes(words: Collection[bytes]) -> tuple[str, ...]:
    """What short notes tell together."""
    return _with_related(words, least=1) or ("English",)


def _with_related(words: Collection[bytes], *, least: int) -> tuple[str, ...]:
    """The language of a text, and those that are close to it; English has none, and is first where none tells more."""
    told = _told_by(words, _OF_PASSAGES)
    best = _best(told, least=least)
    return ("English",) if "English" in best else _best(told, least=least, share=numbers.RELATED_WORTH)


def _languages_of(question: str) -> tuple[str, ...]:
    """Those that a question reads as equally well, mostly one; none where it tells none: keywords, names, another."""
    told = _best(_told_by(flattened(question).split(), _OF_QUESTIONS), least=numbers.QUESTION_WORTH)
    share = numbers.QUESTION_SIGNS_AMONG_WORDS if told else numbers.QUESTION_SIGNS
    script = _script(question, least=1, share=share)
    return (script,) if script else told


def _script(text: str, *, least: int, share: float) -> str:
    """The script that makes up so much of a text's letters; "" for Latin."""
    if text.isascii():
        return ""
    letters = sum([sign.isalpha() for sign in text])
    for name, signs in _SIGNS.items():
        count = len(signs.findall(text))
        worth = count * numbers.LETTERS_A_SIGN.get(name, 1)
        if count >= least and worth >= share * (max(0, letters - count) + worth):
            return name
    return ""


def _told_by(words: Collection[bytes], worths: Mapping[bytes, Mapping[str, int]]) -> dict[str, int]:
    """Language → what different words of those tell of it, together. A query asks it of 20 passages."""
    told = dict.fromkeys(_COMMONEST, 0)
    for word in worths.keys() & words:
        for name, worth in worths[word].items():
            told[name] += worth
    return told


def _best(told: Mapping[str, int], *, least: int, share: float = 1.0) -> tuple[str, ...]:
    """The languages that are told best, and others that reach so much of the best one's worth."""
    bar = max(least, share * max(told.values()))
    return tuple(name for name, worth in told.items() if worth >= bar)
