"""When somebody was off the record: what happened then is not brought in later from an agent's own records.

`paused.json` knows the pauses of now. Those that are over stand in the log of who did what, as long as that is kept.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ai_memory.clock import LATEST_US
from ai_memory.store import audit
from ai_memory.store.audit import Mutation
from ai_memory.store.driver import Connection
from ai_memory.text.times import BadTime, parse_time

_EVERYWHERE = "everywhere"
_UNTIL = " until "
_PLACE = "in "
_MOST = 10_000


@dataclass(frozen=True, slots=True)
class OffRecord:
    """One pause, over or not. `folder` empty: everywhere."""

    folder: str
    start_us: int
    end_us: int

    def covers(self, at_us: int, folders: Iterable[str]) -> bool:
        """Whether it held then for any of these folders, or for one above."""
        if not self.start_us <= at_us < self.end_us:
            return False
        return not self.folder or any(_is_inside(folder, self.folder) for folder in folders)


def _is_inside(folder: str, root: str) -> bool:
    plain = root.rstrip("/\\")
    return folder == plain or folder.startswith((f"{plain}/", f"{plain}\\"))


def off_record(connection: Connection) -> tuple[OffRecord, ...]:
    """The pauses that the log tells of."""
    return pauses_of(audit.of_verbs(connection, ("pause", "resume"), limit=_MOST))


def pauses_of(rows: Sequence[Mutation]) -> tuple[OffRecord, ...]:
    """The pauses that these rows tell of, newest first. A folder whose name was not kept counts as everywhere."""
    found: list[OffRecord] = []
    ends: dict[str, int] = {}
    every_end_us = LATEST_US
    for row in sorted(rows, key=lambda one: (one.at_us, one.id), reverse=True):
        spans = [part.partition(_UNTIL) for part in row.subject.split(", ") if _UNTIL in part]
        if row.verb == "resume":
            if not spans:  # the file could not be read: everything began anew
                every_end_us = row.at_us
                ends.clear()
            ends.update((place, row.at_us) for place, _, _ in spans)
            continue
        place, _, until = spans[0] if spans else (_EVERYWHERE, "", "")
        end_us = min(ends.get(place, every_end_us), _instant(until))
        found.append(OffRecord(_folder(place), row.at_us, end_us))
        ends[place] = row.at_us  # pausing the same place again replaces the pause before
    return tuple(found)


def _folder(place: str) -> str:
    folder = place.removeprefix(_PLACE) if place.startswith(_PLACE) else ""
    return "" if "[REDACTED" in folder or "\ufffd" in folder else folder


def _instant(text: str) -> int:
    try:
        return parse_time(text)
    except BadTime:
        return LATEST_US
