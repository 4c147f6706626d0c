"""What is not worth keeping as a fact: routine, output of tools, and what is known already.

*Source*: the gates of pi-memory, which a year of agents' notes had shaped: most of what agents offer repeats itself.
"""

# ruff: noqa: SIM905 (a list of words reads better than a list of quotes)

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ai_memory.text.stems import short_names, stems

LEAST_CHARS = 8
NEAR_SHARED = 3
"""Stems that two near-duplicates share at least."""
NEAR_SHARE = 0.6
"""Their share of the shorter statement: real repeats had 0.6 to 1, different rules less than 0.45."""

_ROUTINE = frozenset(
    """
    ok okay k kk yes no yep nope done fixed works lgtm wip todo thanks thank you ty great nice good perfect cool sure
    ship it looks good to me continue go on go ahead proceed next commit push merged merge test tests pass passed
    hecho listo gracias vale perfecto sigue merci fait parfait fertig danke gut passt weiter obrigado feito pronto
    """.split()
)
_DUMP = re.compile(
    r"(?:\$|>|#)?\s*(?:bash|sh|zsh|npm|pnpm|yarn|pip|uv|cargo|go|make|git|docker|pytest|node|python3?|tsc|eslint|ruff)\b"
    r".{0,80}?\b(?:succeeded|failed|exited|passed|completed|returned|error|ok)\b",
    re.IGNORECASE,
)
_TRACE = re.compile(r"Traceback \(most recent call last\)|^\s+at \S+ \(|^\s*File \"", re.MULTILINE)
_CODE = re.compile(r"`([^`\n]{1,200})`")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_NEGATION = frozenset(
    """
    no not never without cannot dont doesnt isnt arent wont shouldnt mustnt avoid instead nunca jamas sin evita non ne
    pas jamais sans nicht nie niemals kein keine ohne nao sem evite
    """.split()
)
_IN_PLACE = frozenset({"instead"})
"""Denies what follows: `pnpm instead of npm` is for pnpm."""
_WORD = re.compile(r"[^\W_]+")
_END = re.compile(r"[.!?…](?=\s|$)|[,;:—–()\n。！？，、；：]")
"""Where a clause ends."""
_LONGEST_CLAUSE = 500


@dataclass(frozen=True, slots=True)
class Known:
    """A statement that is there already."""

    id: str
    statement: str


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a statement is not kept; `twin` is the id of the one that says it already."""

    why: str
    twin: str = ""


def routine(statement: str) -> Refusal | None:
    """Whether it says nothing that lasts: routine words, or what a tool printed."""
    words = _WORD.findall(statement.casefold())
    if len(statement.strip()) < LEAST_CHARS or not words:
        return Refusal("it says too little to be of use later")
    if all(word in _ROUTINE for word in words):
        return Refusal("these are words of routine, not a fact")
    if _DUMP.match(statement.strip()) or _TRACE.search(statement):
        return Refusal("it is what a tool printed: say what follows from it")
    return None


def repeated(statement: str, known: Iterable[Known]) -> Refusal | None:
    """Whether one of those says the same; an exact repeat is named before one that is nearly the same."""
    flat, mine = _flat(statement), stems(statement)
    near: tuple[float, Known] | None = None
    for one in known:
        if _flat(one.statement) == flat:
            return Refusal("it is there already", one.id)
        likeness = _likeness(mine, stems(one.statement))
        if likeness >= NEAR_SHARE and not differ(statement, one.statement):
            near = max(near or (0.0, one), (likeness, one), key=lambda pair: pair[0])
    return Refusal("one says nearly the same", near[1].id) if near else None


def alike(statements: Sequence[str], *, most: int) -> list[tuple[int, int, float]]:
    """Pairs of statements that say nearly the same, as two places in the list and how much; the best first."""
    words = [stems(one) for one in statements]
    found = [
        (first, second, likeness)
        for second in range(len(words))
        for first in range(second)
        if (likeness := _likeness(words[first], words[second])) >= NEAR_SHARE
        and not differ(statements[first], statements[second])
    ]
    return sorted(found, key=lambda pair: (-pair[2], pair[0], pair[1]))[:most]


def holds_words(text: str, statement: str) -> bool:
    """Whether the whole statement stands in the text, but for case, blanks and the stop at its end."""
    return _flat(statement) in _flat(text)


def _likeness(mine: frozenset[str], others: frozenset[str]) -> float:
    """Share of the smaller one's stems that both have; 0 where too few are shared."""
    both = len(mine & others)
    return both / min(len(mine), len(others)) if both >= NEAR_SHARED else 0.0


def differ(one: str, other: str) -> bool:
    """Whether they are two rules, however alike they sound: other code, other short names (`eu`, `us`), other numbers,
    or one of them denies."""
    for of in (_codes, short_names):
        mine, theirs = of(one), of(other)
        if mine and theirs and not mine & theirs:
            return True
    return set(_NUMBER.findall(one)) != set(_NUMBER.findall(other)) or _denies(one) != _denies(other)


def is_cut(quote: str, text: str) -> bool:
    """Whether the words deny nothing, but a clause of the text that holds them does: `deploy on Fridays`, cut out of
    `never deploy on Fridays`."""
    if _denies(quote):
        return False
    at = text.find(quote)
    while at >= 0:
        ends = at + len(quote)
        before, after = text[max(0, at - _LONGEST_CLAUSE) : at], text[ends : ends + _LONGEST_CLAUSE]
        is_whole = _END.search(quote.rstrip()[-1:]) is not None
        if _denies(f"{_END.split(before)[-1]} {'' if is_whole else _END.split(after, maxsplit=1)[0]}"):
            return True
        at = text.find(quote, ends)
    return False


def is_turned(statement: str, quote: str) -> bool:
    """Whether it says the opposite of the clause that it resembles, or another number: a slip of who rephrases it."""
    mine = stems(statement)
    alike_ones = [one for one in _END.split(quote) if _likeness(mine, stems(one)) >= NEAR_SHARE]
    return bool(alike_ones) and all(_is_opposite(statement, one) for one in alike_ones)


def _is_opposite(statement: str, clause: str) -> bool:
    mine, theirs = set(_NUMBER.findall(statement)), set(_NUMBER.findall(clause))
    is_other_number = bool(mine and theirs) and not mine & theirs
    return is_other_number or _denies(statement, but=_IN_PLACE) != _denies(clause, but=_IN_PLACE)


def _denies(statement: str, *, but: frozenset[str] = frozenset()) -> bool:
    flat = unicodedata.normalize("NFKD", statement.casefold().replace("'", "").replace("’", ""))
    words = _WORD.findall("".join(c for c in flat if not unicodedata.combining(c)))
    return any(word in _NEGATION and word not in but for word in words)


def _codes(statement: str) -> frozenset[str]:
    return frozenset(" ".join(one.split()) for one in _CODE.findall(statement))


def _flat(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).casefold().split()).rstrip(".!")
