"""What of a page is shown: its best passage, and which pages say nearly the same."""

from collections.abc import Sequence
from dataclasses import dataclass

from ai_memory.search.candidate import Candidate
from ai_memory.search.numbers import FOLLOWING_CHARACTERS, TWIN_OVERLAP
from ai_memory.store.driver import Connection
from ai_memory.store.index import ABSTRACT_PLACE, CHUNK_BITS
from ai_memory.text.excerpts import stretch
from ai_memory.text.plain import plain, printable

_CHUNK = "SELECT heading, start_line, end_line, body FROM chunks WHERE id = ?"
_FOLLOWING = "SELECT end_line, body FROM chunks WHERE id > ? AND id < ? ORDER BY id LIMIT ?"


@dataclass(frozen=True, slots=True)
class ShownPassage:
    """Text as it is shown, safe to print, and the lines of the file that it stands on."""

    heading: str
    line: int
    end_line: int
    text: str


def shown(index: Connection, page_id: int, chunk_id: int, terms: Sequence[str], *, following: int = 0) -> ShownPassage:
    """The best stretch of a chunk, and up to `following` whole chunks after it."""
    row = index.execute(_CHUNK, (chunk_id,)).fetchone()
    if row is None:  # a page of nothing but a title
        return ShownPassage("", 1, 1, "")
    heading, start, end, body = row
    if not following:
        return ShownPassage(printable(heading), start, end, stretch(body, terms))
    text = [printable(plain(body)).strip()]
    room = FOLLOWING_CHARACTERS
    for end_line, more in index.execute(_FOLLOWING, (chunk_id, page_id << CHUNK_BITS | ABSTRACT_PLACE, following)):
        piece = printable(plain(more)).strip()
        if len(piece) > room:
            break
        room -= len(piece)
        text.append(piece)
        end = end_line
    return ShownPassage(printable(heading), start, end, "\n\n".join(text))


def folded(pages: Sequence[Candidate], *, limit: int) -> tuple[list[Candidate], dict[int, list[Candidate]]]:
    """The first `limit` pages that say something of their own, and those folded into each of them."""
    kept: list[Candidate] = []
    words: dict[int, frozenset[bytes]] = {}
    also: dict[int, list[Candidate]] = {}
    for page in pages:
        own = frozenset(page.flat.split())
        twin = next((one for one in kept if _is_twin(own, words[one.page_id])), None)
        if twin is not None:
            also.setdefault(twin.page_id, []).append(page)
        elif len(kept) < limit:
            kept.append(page)
            words[page.page_id] = own
        else:
            break
    return kept, also


def _is_twin(one: frozenset[bytes], other: frozenset[bytes]) -> bool:
    if not one or not other or not TWIN_OVERLAP <= len(one) / len(other) <= 1 / TWIN_OVERLAP:
        return False
    return len(one & other) >= TWIN_OVERLAP * len(one | other)
