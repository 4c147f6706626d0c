"""How close a passage is to the words of a query, beyond which of them it holds: parts of words, and neighbours.

`schemas` is close to `schema`, `Datenbanksperre` to `Sperre`; `lock order` to a text in which both stand side by side.
"""

import itertools
import string
from collections.abc import Mapping

from ai_memory.search.numbers import ADJACENCY, CLOSENESS

_BLANKS = bytes.maketrans(string.punctuation.encode(), b" " * len(string.punctuation))
_MAX_TRIPLES = 160
"""Triples of letters that are looked for in each passage; the rarest words come first."""
_MAX_PAIRS = 64


def flattened(text: str) -> bytes:
    """The words of a text, casefolded, in UTF-8 between single blanks: 150 passages a query are made so."""
    return b" " + b" ".join(text.casefold().encode("utf-8", "replace").translate(_BLANKS).split()) + b" "


class Closeness:
    """Compares passages with one query. `weights`: term → how rare it is."""

    def __init__(self, query: str, weights: Mapping[str, float]) -> None:
        triples: dict[bytes, float] = {}
        for term, weight in sorted(weights.items(), key=lambda item: (-item[1], item[0])):
            for word in flattened(term).decode().split():
                padded = f" {word} "
                for at in range(len(padded) - 2):
                    triples.setdefault(padded[at : at + 3].encode(), weight)
            if len(triples) > _MAX_TRIPLES:
                break
        self._triples = list(triples.items())
        self._total = sum(triples.values()) or 1.0
        words = flattened(query).split()[: _MAX_PAIRS + 1]
        self._pairs = [b" %b %b " % pair for pair in itertools.pairwise(words)]

    def factor(self, flat: bytes) -> float:
        """From 1 to 3 for a text that `flattened` made."""
        held = sum([weight for triple, weight in self._triples if triple in flat]) / self._total
        side_by_side = sum([pair in flat for pair in self._pairs]) / max(1, len(self._pairs))
        return 1.0 + CLOSENESS * held + ADJACENCY * side_by_side
