"""The passage of a page that answers a query best, as plain text."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from ai_memory.text.chunks import Chunk, chunks
from ai_memory.text.grams import has_run, query_grams
from ai_memory.text.plain import plain, printable

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A passage and where it stands."""

    heading: str
    start_line: int
    """1-based line of the file."""
    end_line: int
    text: str
    """Plain, safe to print, at most the asked number of characters, `…` where it was cut."""
    matched: int
    """Number of different query terms in the chunk."""


def excerpt(body: str, terms: Sequence[str], *, limit: int = 280, first_line: int = 1) -> Excerpt | None:
    """The best passage of a body for the terms; its beginning when none matches; None for a blank body.

    Deterministic: most different terms, then most hits, then the earliest.
    """
    return excerpt_of(chunks(body, first_line=first_line), terms, limit=limit)


def excerpt_of(passages: Sequence[Chunk], terms: Sequence[str], *, limit: int = 280) -> Excerpt | None:
    """The same from chunks that are there already."""
    wanted = _wanted(terms)
    best: tuple[int, int, Chunk] | None = None
    for chunk in passages:
        distinct, hits = _score(f"{chunk.heading}\n{chunk.body}", wanted)
        if best is None or (distinct, hits) > best[:2]:
            best = (distinct, hits, chunk)
    if best is None:
        return None
    distinct, _, chunk = best
    return Excerpt(
        heading=printable(chunk.heading),
        start_line=chunk.start_line,
        end_line=chunk.end_line,
        text=window(printable(plain(chunk.body)), wanted, limit=limit),
        matched=distinct,
    )


def stretch(body: str, terms: Sequence[str], *, limit: int = 280) -> str:
    """The best stretch of a body that is one passage already, as plain text."""
    return window(printable(plain(body)), _wanted(terms), limit=limit)


def _wanted(terms: Sequence[str]) -> set[str]:
    return {fold(piece) for term in terms for piece in (query_grams(term) if has_run(term) else [term])} - {""}


def window(text: str, wanted: set[str], *, limit: int) -> str:
    """The stretch of at most `limit` characters with most different terms, on word borders."""
    flat = " ".join(text.split())
    if len(flat) <= limit:
        return flat
    start = _best_start(_words(flat), wanted, limit)
    if start + limit - 2 >= len(flat):
        start = len(flat) - limit + 1
    end = min(len(flat), start + limit - 1 - (start > 0))
    head = tail = ""
    if start > 0:
        space = flat.find(" ", start, start + 24)
        start, head = (space + 1 if space >= 0 and not flat[start - 1].isspace() else start), "…"
    if end < len(flat):
        space = flat.rfind(" ", max(start, end - 24), end)
        end, tail = (space if space > start else end), "…"
    return f"{head}{flat[start:end].strip()}{tail}"


def fold(word: str) -> str:
    """A word as it is compared: no case, no marks on letters."""
    if word.isascii():
        return word.strip().casefold()
    folded = unicodedata.normalize("NFKD", word.strip()).casefold()
    return folded if folded.isascii() else "".join([sign for sign in folded if not unicodedata.combining(sign)])


_folded_pair = lru_cache(maxsize=8192)(fold)
"""Remembered: the best passages of a query hold the same pairs of Han and Kana again and again."""


def _score(text: str, wanted: set[str]) -> tuple[int, int]:
    folded = fold(text)
    hits = {term: folded.count(term) for term in wanted}
    return sum(1 for count in hits.values() if count), sum(min(count, 5) for count in hits.values())


def _words(flat: str) -> list[tuple[int, str]]:
    """Each word as it is compared, and its offset."""
    if flat.isascii():  # folded at once: no letter changes its place
        return [(found.start(), found[0]) for found in _WORD.finditer(flat.casefold())]
    words: list[tuple[int, str]] = []
    for found in _WORD.finditer(flat):
        if has_run(found[0]):  # no blanks between its words: each pair of characters may be one that is asked
            words += [
                (at, _folded_pair(flat[at : at + 2]))
                for at in range(found.start(), max(found.end() - 1, found.start() + 1))
            ]
        else:
            words.append((found.start(), fold(found[0])))
    return words


def _best_start(words: list[tuple[int, str]], wanted: set[str], limit: int) -> int:
    """Offset a little before the densest group of matches; two pointers over the matches, linear."""
    beginnings = tuple(sorted(term for term in wanted if len(term) > 2))
    matches = [
        (start, _matching(word, wanted, beginnings))
        for start, word in words
        if word in wanted or word.startswith(beginnings)
    ]
    best, best_count, last = 0, 0, 0
    inside: dict[str, int] = {}
    for first, (start, _) in enumerate(matches):
        while last < len(matches) and matches[last][0] < start + limit * 3 // 4:
            inside[matches[last][1]] = inside.get(matches[last][1], 0) + 1
            last += 1
        if len(inside) > best_count:
            best, best_count = max(0, start - limit // 8), len(inside)
        term = matches[first][1]
        inside[term] -= 1
        if not inside[term]:
            del inside[term]
    return best


def _matching(word: str, wanted: set[str], beginnings: tuple[str, ...]) -> str:
    """The term that the word is or begins with; it is one of them."""
    return word if word in wanted else next(term for term in beginnings if word.startswith(term))
