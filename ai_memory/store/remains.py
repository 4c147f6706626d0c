"""A damaged `state.db` read as far as it can be, into a new one with this program's tables.

Each table is read as SQLite reads it, from its first row on and from its last one back. Of a table that stops in the
middle the leaf pages are read, too (`leaves`). A row is taken only if each value is what its column holds.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from ai_memory.store import driver, state_schema
from ai_memory.store.driver import Connection
from ai_memory.store.feedback import Signal
from ai_memory.store.leaves import HEADER_BYTES, Pages, Row, Value, is_header_sound
from ai_memory.text.names import DEFAULT_WORKSPACE, SCRATCH_PROJECT

TABLES = (
    *("purged", "sessions", "observations", "messages", "evidence", "page_sessions"),
    *("applied_changes", "applied_events", "audit", "drains", "upkeep", "sources", "declared"),
    *("feedback", "page_access", "calls", "tombstones", "lint_findings"),
)
"""What is read, tombstones first: what they name is not taken. Full text is made anew."""
_ALIKE = frozenset({"applied_changes", "applied_events", "declared", "lint_findings"})
"""Their rows look alike and like those of an index: they are not told apart by their values."""
_KEYS: Mapping[str, tuple[str, ...]] = {
    "purged": ("id",),
    "page_sessions": ("workspace", "project", "path", "session", "role"),
    "applied_changes": ("change_id",),
    "applied_events": ("event_id",),
    "upkeep": ("duty",),
    "sources": ("name",),
    "declared": ("event_id",),
    "page_access": ("workspace", "project", "path", "harness"),
    "calls": ("day", "client", "name"),
    "tombstones": ("workspace", "project", "path", "version"),
    "lint_findings": ("fingerprint",),
}
"""Tables without rowids, and by what each is in order."""
_KNOWN_BY: Mapping[str, Mapping[str, re.Pattern[str]]] = {
    "purged": {"kind": re.compile("session|page|project")},
    "evidence": {"class": re.compile("[a-z][a-z_-]{0,19}")},
    "feedback": {"version": re.compile("[0-9a-f]{40}"), "signal": re.compile("|".join(Signal))},
    "calls": {"day": re.compile(r"\d{4}-\d\d-\d\d")},
}
"""What stands in some columns of tables whose rows are formed like those of another table or of an index."""
_AT_ONCE = 5_000
"""Rows in one insert."""
_TOTAL = "SELECT name FROM pragma_index_list(?) WHERE partial = 0 ORDER BY seq"
_FULL_TEXT_ANEW = "INSERT INTO observations_fts (observations_fts) VALUES ('rebuild')"

# Their row was lost, what they did was not. They count as told: no page is written over by the part that is left.
_SESSIONS_ANEW = """
    INSERT OR IGNORE INTO sessions (id, agent, workspace, project, scope, opened_at_us, last_at_us, ended_at_us,
        observations, covered, refreshed)
    SELECT o.session, '', coalesce(p.workspace, :workspace), coalesce(p.project, :project),
        json_object('workspace', coalesce(p.workspace, :workspace), 'project', coalesce(p.project, :project),
            'resolved_by', 'fallback'), min(o.at_us),
        max(o.at_us), max(o.at_us), count(*), count(*), count(*)
    FROM observations AS o LEFT JOIN (
        SELECT session, min(workspace) AS workspace, min(project) AS project FROM page_sessions GROUP BY session
    ) AS p ON p.session = o.session
    WHERE o.session NOT IN (SELECT id FROM sessions) GROUP BY o.session
"""


@dataclass(frozen=True, slots=True)
class Saved:
    """What became of one table."""

    table: str
    rows: int
    """Found and taken."""
    lost: int | None
    """Those that an index or a count still tells of; None where nothing does, and some may be lost."""


@dataclass(frozen=True, slots=True)
class Remains:
    """What could be read."""

    tables: tuple[Saved, ...] = ()
    sessions_anew: int = 0
    """Sessions whose own row was lost: what they did is kept."""


@dataclass(frozen=True, slots=True)
class _Column:
    name: str
    is_text: bool
    may_lack: bool
    is_rowid: bool


def read_into(target: Path, copy: Path) -> Remains:
    """Write a new `state.db` at `target` from what can be read of that copy, which is changed by it."""
    with closing(driver.connect(target, durable=True)) as new:
        state_schema.migrate(new)
        new.execute("PRAGMA foreign_keys=OFF")  # what a lost session did is kept
        new.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        _mend_header(copy, target)
        older = _older_version(copy)
        with driver.transaction(new):
            tables = _read_all(copy, new)
            if older is not None and older < state_schema.PAIRS_SINCE:
                state_schema.fill_pairs(new)
            place = {"workspace": DEFAULT_WORKSPACE, "project": SCRATCH_PROJECT}
            made_anew = new.execute(_SESSIONS_ANEW, place).rowcount
            new.execute("DELETE FROM declared WHERE session NOT IN (SELECT id FROM sessions)")
            new.execute(_FULL_TEXT_ANEW)
        new.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return Remains(tuple(tables), made_anew)


def _mend_header(copy: Path, sound: Path) -> None:
    """Give the copy the first bytes of a sound file of ours where its own are none: all that they tell is alike."""
    with copy.open("r+b") as file:
        header = file.read(HEADER_BYTES)
        if is_header_sound(header):
            return
        made = bytearray(sound.read_bytes()[:HEADER_BYTES])
        size = int.from_bytes(made[16:18], "big")
        made[28:32] = (copy.stat().st_size // (size if size > 1 else 65536)).to_bytes(4, "big")
        made[32:40] = bytes(8)  # which pages are free is not known any more
        file.seek(0)
        file.write(made)


def _older_version(copy: Path) -> int | None:
    """Version of the file's tables, None where it cannot be told. Takes the log that lies beside it in."""
    try:
        with closing(driver.connect(copy)) as connection:
            version = state_schema.version(connection)
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            return version
    except driver.FAULTS:
        return None


def _read_all(copy: Path, new: Connection) -> list[Saved]:
    columns = {table: _columns(new, table) for table in TABLES}
    totals: dict[str, int | None] = {}
    torn = []
    with closing(driver.connect(copy, mode="ro")) as old:
        old.text_factory = bytes
        for table in TABLES:
            if not _take_reachable(old, new, table, columns[table]):
                torn.append(table)
                totals[table] = _total(old, table)
    if torn:
        _take_leaves(copy, new, {table: columns[table] for table in torn if table not in _ALIKE})
    new.execute("DELETE FROM sessions WHERE id IN (SELECT id FROM purged WHERE kind = 'session')")
    new.execute("DELETE FROM observations WHERE session IN (SELECT id FROM purged WHERE kind = 'session')")
    saved = []
    for table in TABLES:
        rows = int(new.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
        total = totals.get(table, rows)
        if table == "observations" and total is None and "sessions" not in torn:
            total = _total_observations(new)
        saved.append(Saved(table, rows, None if total is None else max(0, total - rows)))
    return saved


def _columns(new: Connection, table: str) -> list[_Column]:
    rows = new.execute('SELECT name, type, "notnull", pk FROM pragma_table_info(?) ORDER BY cid', (table,)).fetchall()
    return [
        _Column(name, kind == "TEXT", not must and not pk, bool(pk) and kind == "INTEGER")
        for name, kind, must, pk in rows
    ]  # fmt: skip


def _take_reachable(old: Connection, new: Connection, table: str, columns: Sequence[_Column]) -> bool:
    """Take what SQLite reads from either end; False where it did not come through, or a row made no sense."""
    is_whole = True
    try:
        there = {row[0].decode() for row in old.execute("SELECT name FROM pragma_table_info(?)", (table,))}
    except driver.FAULTS:
        return False
    wanted = [one for one in columns if one.name in there]
    if not wanted:
        return _is_not_yet(old, table)
    names = ", ".join(one.name for one in wanted)
    for order in ("ASC", "DESC"):
        by = ", ".join(f"{key} {order}" for key in _KEYS.get(table, ("rowid",)))
        refused, is_through = _take(new, table, wanted, _asked(old, f"SELECT {names} FROM {table} ORDER BY {by}"))
        is_whole = is_whole and is_through and not refused
        if is_through:
            break
    return is_whole


def _is_not_yet(old: Connection, table: str) -> bool:
    """Whether the file is of an older program that had no such table."""
    since = {"audit": state_schema.AUDIT_SINCE, "messages": state_schema.MESSAGES_SINCE}
    since |= {"upkeep": state_schema.UPKEEP_SINCE, "sources": state_schema.SOURCES_SINCE}
    since |= {"declared": state_schema.DECLARED_SINCE}
    since |= dict.fromkeys(("feedback", "page_access", "calls", "tombstones"), state_schema.USAGE_SINCE)
    since |= {"lint_findings": state_schema.LINT_SINCE}
    return 0 < state_schema.version(old) < since.get(table, 0)


def _asked(old: Connection, sql: str) -> Iterator[tuple[Value, ...] | None]:
    """The rows as far as they can be read; None last of all where they stop before the end."""
    try:
        yield from old.execute(sql)
    except driver.FAULTS:
        yield None


def _take(
    new: Connection, table: str, columns: Sequence[_Column], rows: Iterable[tuple[Value, ...] | None]
) -> tuple[int, bool]:
    """How many rows made no sense, and whether the last one was reached."""
    refused, is_through, batch = 0, True, []
    for row in rows:
        if row is None:
            is_through = False
        elif (fitting := _fitting(columns, row)) is None:
            refused += 1
        else:
            batch.append(fitting)
            if len(batch) == _AT_ONCE:
                _put(new, table, columns, batch)
                batch = []
    _put(new, table, columns, batch)
    return refused, is_through


def _put(new: Connection, table: str, columns: Sequence[_Column], rows: Sequence[tuple[object, ...]]) -> None:
    names, marks = ", ".join(one.name for one in columns), ", ".join("?" * len(columns))
    new.executemany(f"INSERT OR IGNORE INTO {table} ({names}) VALUES ({marks})", rows)


def _fitting(columns: Sequence[_Column], row: Sequence[Value]) -> tuple[object, ...] | None:
    """The row as its columns hold it, or None where a value is not of their kind."""
    values: list[object] = []
    for column, value in zip(columns, row, strict=True):
        if value is None:
            if not column.may_lack:
                return None
            values.append(None)
        elif column.is_text:
            if not isinstance(value, bytes):
                return None
            try:
                values.append(value.decode("utf-8"))
            except UnicodeDecodeError:
                return None
        elif isinstance(value, int):
            values.append(value)
        else:
            return None
    return tuple(values)


def _take_leaves(copy: Path, new: Connection, wanted: Mapping[str, Sequence[_Column]]) -> None:
    """Take the rows of those tables from the leaves: what is there already stays as it is."""
    with closing(Pages(copy)) as pages:
        found: dict[tuple[str, int], list[tuple[object, ...]]] = {}
        for row in pages.rows():
            for table, columns in wanted.items():
                fitting = _as_row_of(table, columns, row)
                if fitting is not None:
                    batch = found.setdefault((table, len(fitting)), [])
                    batch.append(fitting)
                    if len(batch) == _AT_ONCE:
                        _put(new, table, columns[: len(fitting)], batch)
                        batch.clear()
                    break
        for (table, width), batch in found.items():
            _put(new, table, wanted[table][:width], batch)


def _as_row_of(table: str, columns: Sequence[_Column], row: Row) -> tuple[object, ...] | None:
    widths: Collection[int] = (len(columns),)
    if table == "observations":
        widths = (len(columns), len(columns) - 1)  # its last column came later: older rows end before it
    if (row.rowid is None) != (table in _KEYS) or len(row.values) not in widths:
        return None
    values = list(row.values)
    for place, column in enumerate(columns[: len(values)]):
        if column.is_rowid:
            if values[place] is not None:
                return None
            values[place] = row.rowid
    fitting = _fitting(columns[: len(values)], values)
    return fitting if fitting is not None and _may_be_of(table, columns, fitting) else None


def _may_be_of(table: str, columns: Sequence[_Column], row: Sequence[object]) -> bool:
    """Whether the words by which the table is known stand in the row: others, and indexes, have rows of its form."""
    words = _KNOWN_BY.get(table, {})
    return all(
        words[one.name].fullmatch(str(value)) for one, value in zip(columns, row, strict=False) if one.name in words
    )


def _total(old: Connection, table: str) -> int | None:
    """How many rows an index of the table tells of; None where none can be read."""
    counts = []
    try:
        names = [row[0].decode() for row in old.execute(_TOTAL, (table,))] if table not in _KEYS else []
    except driver.FAULTS:
        return None
    for name in names:
        try:
            counts.append(int(old.execute(f'SELECT count(*) FROM {table} INDEXED BY "{name}"').fetchone()[0]))
        except driver.FAULTS:
            continue
    return max(counts, default=None)


def _total_observations(new: Connection) -> int:
    """As many as the sessions that are left tell of."""
    return int(new.execute("SELECT coalesce(sum(observations), 0) FROM sessions").fetchone()[0])
