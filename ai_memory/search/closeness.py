"""How close a passage is to the words of a query, beyond which of them it holds: parts of words, and neighbours.

`schemas` is close to `schema`, `Datenbanksperre` to `Sperre`; `lock order` to a text in which both stand side by side.
"""

import itertools
import re
import string
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from ai_memory.search.numbers import ADJACENCY, CLOSENESS, ENDING, KEPT_LETTERS, MOST_PAIRS, MOST_TRIPLES
from ai_memory.text.grams import has_run, runs_and_words

_BLANKS = bytes.maketrans(string.punctuation.encode(), b" " * len(string.punctuation))
_SPLIT_AT_MARKS = re.compile("[\u0900-\u109f\u1780-\u17ff]")
"""Scripts whose vowels are marks, from Devanagari to Khmer: a term is a part of a word, as the index cuts it."""
_MARKED = (*range(0xC0, 0x250), *range(0x1E00, 0x1F00))
"""Letters of Latin script with marks; the tokenizer of the index takes the marks off, too."""
_OTHER_SIGNS = (*range(0xA0, 0xC0), *range(0x2000, 0x2070), *range(0x3000, 0x3004), *range(0x3008, 0x3021))
"""Blocks of signs beside ASCII's: `¿`, `«`, `’`, `“`, `—`, `…`, `、`. At them, too, the index ends a word."""


def flattened(text: str) -> bytes:
    """The words of a text, casefolded and without marks, in UTF-8 between single blanks: 150 passages a query."""
    if not text.isascii():
        unmarked = _unmarked()
        for sign in unmarked.keys() & set(text):  # a tenth of what `translate` takes: it looks up every letter
            text = text.replace(sign, unmarked[sign])
    return b" " + b" ".join(text.casefold().encode("utf-8", "replace").translate(_BLANKS).split()) + b" "


@cache
def _unmarked() -> dict[str, str]:
    """Letter → itself without its marks, the marks that stand alone → nothing, other signs → a blank. Made once."""
    found = {letter: unicodedata.normalize("NFD", letter)[0] for letter in map(chr, _MARKED)}
    found |= dict.fromkeys(map(chr, range(0x300, 0x370)), "")
    found |= {sign: " " for sign in map(chr, _OTHER_SIGNS) if unicodedata.category(sign)[0] in "PSZC"}
    return {sign: instead for sign, instead in found.items() if sign != instead}


@dataclass(frozen=True, slots=True)
class Needle:
    """A piece of a term that a passage holds or not."""

    term: str
    piece: bytes
    weight: float


def needles(weights: Mapping[str, float]) -> list[Needle]:
    """What a passage must hold for each term to count. `weights`: term → how rare it is.

    All of a short word, a long one without its ending, and each pair of a run of Han and Kana.
    """
    found = []
    for term, weight in weights.items():
        pieces = _pieces(term)
        found += [Needle(term, piece, weight / len(pieces)) for piece in pieces]
    return found


def _pieces(term: str) -> list[bytes]:
    if not has_run(term):
        words = flattened(term).decode().strip()
        if _SPLIT_AT_MARKS.search(words):
            return [words.encode()]
        is_short = len(words) <= KEPT_LETTERS
        return [(f" {words} " if is_short else f" {words[: max(KEPT_LETTERS, len(words) - ENDING)]}").encode()]
    pieces: dict[bytes, None] = {}
    for run, word in runs_and_words(term):
        parts = [run[at : at + 2] for at in range(len(run) - 1)] or [run] if run else [word]
        pieces.update(dict.fromkeys(flattened(part).strip() for part in parts))
    return list(pieces)


def _bytewise(flat: bytes) -> str:
    """The same bytes as signs: 30 are looked for in each of 150 passages, and `in` is quicker over a string."""
    return flat.decode("latin-1")


class Closeness:
    """Compares passages with one query. `weights`: term → how rare it is."""

    def __init__(self, query: str, weights: Mapping[str, float]) -> None:
        self.needles = needles(weights)
        self.total = sum(weights.values())
        self._bits = [(1 << place, _bytewise(needle.piece)) for place, needle in enumerate(self.needles)]
        self._coverages: dict[int, float] = {}
        triples: dict[bytes, float] = {}
        for term, weight in sorted(weights.items(), key=lambda item: (-item[1], item[0])):
            for word in flattened(term).decode().split():
                padded = f" {word} "
                for at in range(len(padded) - 2):
                    triples.setdefault(padded[at : at + 3].encode(), weight)
            if len(triples) > MOST_TRIPLES:
                break
        self._triples = [(_bytewise(triple), weight) for triple, weight in triples.items()]
        self._triples_total = sum(triples.values()) or 1.0
        words = flattened(query).split()[: MOST_PAIRS + 1]
        self._pairs = [_bytewise(b" %b %b " % pair) for pair in itertools.pairwise(words)]

    def factor(self, flat: bytes) -> float:
        """From 1 to 3 for a text that `flattened` made."""
        text = _bytewise(flat)
        held = sum([weight for triple, weight in self._triples if triple in text]) / self._triples_total
        side_by_side = sum([pair in text for pair in self._pairs]) / max(1, len(self._pairs))
        return 1.0 + CLOSENESS * held + ADJACENCY * side_by_side

    def held(self, flat: bytes) -> int:
        """Which needles the text holds, a bit each."""
        text = _bytewise(flat)
        return sum([bit for bit, piece in self._bits if piece in text])

    def coverage(self, held: int) -> float:
        """Share of what is asked, weighted by rarity, that those needles are: 0 … 1."""
        if held not in self._coverages:
            weights = [one.weight for place, one in enumerate(self.needles) if held >> place & 1]
            self._coverages[held] = min(1.0, sum(weights) / self.total) if self.total > 0 else 1.0
        return self._coverages[held]

    def missing(self, held: int) -> list[str]:
        """Terms of which those needles are no part."""
        there = {one.term for place, one in enumerate(self.needles) if held >> place & 1}
        return [term for term in dict.fromkeys(one.term for one in self.needles) if term not in there]
