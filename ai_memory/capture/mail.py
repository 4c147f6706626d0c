"""What starts are told of messages from other projects: how many wait. Never a word of them.

`outbox/mail/<project key>.json` is {"v": 1, "place": "workspace/project", "until_us": [when each is over]}; the hook
counts those that are not (`ai_memory.hook_packet`).
"""

import json
from collections.abc import Iterable

from ai_memory.errors import MemoryFault
from ai_memory.store import messages
from ai_memory.store.driver import DatabaseError
from ai_memory.store.memory import Memory
from ai_memory.store.outbox import Outbox, mail_name

FORMAT = 1
TRIES = 5
"""Of writing what was counted and finding that it was counted anew meanwhile."""


def tell_waiting(memory: Memory, outbox: Outbox, place: messages.Place) -> bool:
    """Bring that file of a project up to date; True if it was written.

    After writing it looks again: of two that count at once, the later one finds what the other left behind.
    Crash: safe; a killed one leaves an older number until the next event of that project is drained.
    """
    is_written = False
    for _ in range(TRIES):
        told = waiting_text(memory, [place], named=place)
        if told == outbox.read(mail_name(*place)):
            break
        if told is None:
            outbox.remove(mail_name(*place))
        else:
            outbox.put(mail_name(*place), told)
        is_written = True
    return is_written


def waiting_text(memory: Memory, places: Iterable[messages.Place], *, named: messages.Place) -> str | None:
    """The file's text for a project that has, or is about to have, the mail of all those; None where nothing waits."""
    with memory.state_reading() as connection:
        if connection is None:
            return None
        now_us = memory.clock()
        until_us = sorted(at for place in places for at in messages.waiting_until(connection, place, now_us=now_us))
    record = {"v": FORMAT, "place": "/".join(named), "until_us": until_us}
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")) if until_us else None


def told_or_gap(memory: Memory, place: messages.Place) -> tuple[str, ...]:
    """The same for a command whose work is done: what fails here is a sentence."""
    try:
        tell_waiting(memory, Outbox(memory.data_dir), place)
    except (MemoryFault, DatabaseError, OSError) as fault:
        return (f"it is done, but starting sessions may be told an older number: {fault}".replace("\n", " "),)
    return ()
