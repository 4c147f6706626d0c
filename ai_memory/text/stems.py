"""Words cut to their beginnings, so that two wordings of one thing can be compared. No language is assumed."""

# ruff: noqa: SIM905 (a list of words reads better than a list of quotes)

import re
import unicodedata

from ai_memory.text.grams import grams

_WORD = re.compile(r"[^\W_]+")
_EMPTY = frozenset(
    """
    a an and are as at be but by do does for from had has have how if in into is it its me my no not of on or our
    should so that the their them then there these they this to use used using was we were what when which who will
    with would you your
    al como con de del el en es esta este la las lo los mas no para pero por que se si sin sobre su sus un una y
    au aux avec ce ces dans des du elle est et il je le les leur mais ne nous ou par pas pour qui sa se ses son sur
    une vous
    als am an auf aus bei das dass dem den der des die ein eine einem einen einer er es fur hat ich im ist mit nach
    nicht oder sie sind und uns von vor was werden wie wir zu zum zur
    ao as com da das do dos em isso mas nao nos o os ou pela pelo sao sem seu sua um uma
    """.split()
)
"""Words that tell nothing of what a sentence is about, in English, Spanish, French, German and Portuguese."""


def stems(text: str, *, letters: int = 5) -> frozenset[str]:
    """The beginnings of the words that say something, folded, without accents; of Han and Kana their pairs."""
    flat = text.casefold()
    if not flat.isascii():  # a record is compared with every fact there is
        flat = "".join(one for one in unicodedata.normalize("NFKD", flat) if not unicodedata.combining(one))
    words = (word for word in _WORD.findall(flat) if len(word) > 2 and word not in _EMPTY)
    return frozenset(word[:letters] for word in words) | frozenset(grams(text).split())


def short_names(text: str) -> frozenset[str]:
    """What is too short to be a stem and may be a name all the same: `eu`, `qa`, `b`. Digits are no part of it."""
    flat = text.casefold().replace("'", "").replace("’", "")
    return frozenset(word for word in _WORD.findall(flat) if len(word) <= 2 and word.isalpha() and word not in _EMPTY)


def shared(one: str, other: str, *, letters: int = 4) -> int:
    """How many stems two texts have in common: with four letters also across related languages."""
    return len(stems(one, letters=letters) & stems(other, letters=letters))
