"""Adding up what was read and asked: files of `spool/usage/` → `page_access` and `calls` of `state.db`; and letting a
page that is used live longer.

Crash: safe at any point. A file is removed after the transaction that counts it, which remembers its name; the next
drain knows it. Expiry is moved after that: killed in between, the next reading moves it.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ai_memory.clock import rfc3339
from ai_memory.model import MACHINE, Page, PageRef
from ai_memory.store import usage, usage_spool
from ai_memory.store.memory import Memory, no_step
from ai_memory.store.usage_spool import Use
from ai_memory.text.page import splice
from ai_memory.text.sanitize import sanitize_edit
from ai_memory.text.times import DAY_US, BadTime, parse_duration

if TYPE_CHECKING:
    from ai_memory.store.change import Change
    from ai_memory.store.driver import Connection
    from ai_memory.store.snapshot import Snapshot

AT_ONCE = 500
"""Files of one transaction."""
OLDEST_US = 90 * DAY_US
"""Older ones are not counted: after a restore nobody knows any more whether they were."""
KEPT_DAYS = 400
"""For so long calls are told by day."""
COMMAND_LINE = "command line"
"""Client of what is called outside any agent."""

_TTL = """
    SELECT json_extract(frontmatter, '$.ttl'), expires_at_us, pinned FROM pages
    WHERE workspace = ? AND project = ? AND path = ?
"""

Reads = dict[PageRef, int]
"""Page → when it was last read."""


def add_up(memory: Memory, *, step: Callable[[str], None] = no_step) -> int:
    """Count what waits; how many files were counted. Call where no other drain works.

    Errors: MemoryFault; the driver's DatabaseError.
    """
    names = usage_spool.waiting(memory.data_dir)
    counted, reads = 0, Reads()
    for start in range(0, len(names), AT_ONCE):
        part = names[start : start + AT_ONCE]
        counted += _count(memory, part, names[start:], reads)
        step("usage-committed")
        usage_spool.remove(memory.data_dir, part)
        step("usage-removed")
        memory.give_way()
    _let_live(memory, reads)
    return counted


def _count(memory: Memory, names: list[str], still: list[str], reads: Reads) -> int:
    oldest_us, now_us = memory.clock() - OLDEST_US, memory.clock()
    found = [use for name in names if (use := usage_spool.read(memory.data_dir, name)) is not None]
    with memory.reading() as snapshot:
        there = {ref for ref in {one for use in found for one in (*use.read, *use.shown)} if _is_there(snapshot, ref)}
    with memory.state_transaction() as connection:
        news = set(usage_spool.unknown(connection, names))
        uses = [use for use in found if use.file in news and use.at_us >= oldest_us]
        for use in uses:
            _note_pages(connection, use, there, min(use.at_us, now_us), reads)
        _note_calls(connection, uses)
        usage.forget_old_calls(connection, before=day_of(now_us - KEPT_DAYS * DAY_US))
        usage_spool.remember(connection, names, still=still)
    return len(uses)


def _is_there(snapshot: "Snapshot", ref: PageRef) -> bool:
    return snapshot.index.execute(_TTL, (ref.workspace, ref.project, ref.path)).fetchone() is not None


def _note_pages(connection: "Connection", use: Use, there: set[PageRef], at_us: int, reads: Reads) -> None:
    for ref in use.read:
        if ref in there:
            usage.note_read(connection, ref, harness=use.client, at_us=at_us)
            reads[ref] = max(reads.get(ref, 0), at_us)
    usage.note_shown(connection, [ref for ref in use.shown if ref in there], harness=use.client, at_us=at_us)


def _note_calls(connection: "Connection", uses: Iterable[Use]) -> None:
    sums: dict[tuple[str, str, str], tuple[int, int]] = {}
    for use in uses:
        key = (day_of(use.at_us), use.client or COMMAND_LINE, use.called)
        calls, size = sums.get(key, (0, 0))
        sums[key] = (calls + 1, size + use.size_bytes)
    for (day, client, name), (calls, size) in sums.items():
        usage.note_calls(connection, day=day, client=client, name=name, calls=calls, size_bytes=size)


def day_of(at_us: int) -> str:
    """The UTC day, as `calls` has it."""
    return datetime.fromtimestamp(max(0, at_us) / 1e6, UTC).date().isoformat()


# --- a page that is used lives longer ---


def _let_live(memory: Memory, reads: Mapping[PageRef, int]) -> None:
    """Move the expiry of pages with a `ttl` that were read, in one commit. Only forward; a pinned page is not touched.

    Errors: MemoryFault.
    """
    if not reads:
        return
    with memory.reading() as snapshot:
        due = [ref for ref, at_us in sorted(reads.items()) if _is_due(snapshot, ref, at_us)]
    if not due:
        return
    count = "1 page" if len(due) == 1 else f"{len(due)} pages"
    with memory.writing(f"keep {count} that were read", author=MACHINE, trailers={"Pass": "keep"}) as change:
        for ref in due:
            page = change.page(ref)
            if page is not None and change.is_utf8(ref):
                _prolong(change, page, reads[ref])


def _is_due(snapshot: "Snapshot", ref: PageRef, at_us: int) -> bool:
    row = snapshot.index.execute(_TTL, (ref.workspace, ref.project, ref.path)).fetchone()
    return row is not None and not row[2] and later_expiry(row[0], row[1], at_us) is not None


def later_expiry(ttl: object, expires_at_us: int | None, at_us: int) -> int | None:
    """When a page that was read at that instant is over; None where that stays as it is.

    It moves when a day is won, or a quarter of a shorter `ttl`: one commit a day at most for one that lives for days.
    What was over when it was read stays so, and where nothing says when it is over, nothing is said.
    """
    if not isinstance(ttl, str) or expires_at_us is None or expires_at_us <= at_us:
        return None
    try:
        span_us = parse_duration(ttl)
    except BadTime:
        return None
    won_us = at_us + span_us - expires_at_us
    return at_us + span_us if won_us > 0 and won_us >= min(DAY_US, span_us // 4) else None


def _prolong(change: "Change", page: Page, at_us: int) -> None:
    """As the page stands now, which may be otherwise than it was when it was read."""
    until_us = later_expiry(page.frontmatter.get("ttl"), page.expires_at_us, at_us)
    if until_us is None or page.pinned or page.fault:
        return
    text = splice(page.text, {"expires_at": rfc3339(until_us)}, path=page.ref.path)
    change.put(page.ref, sanitize_edit(page.text, text), expected_version=page.version)
    after = change.page(page.ref)
    if after is not None:
        place = {"workspace": page.ref.workspace, "project": page.ref.project, "path": page.ref.path}
        change.state("feedback-carried", **place, version=page.version, new_version=after.version)
