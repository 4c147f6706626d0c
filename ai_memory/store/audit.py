"""Who changed what: rows of `audit` in `state.db`, for what no commit tells, or that must outlive one.

A change has its row in the transaction of its other rows of `state.db`. One that writes pages alone and is no pass has
none: its commit tells the same, and a row would cost a write its only look at `state.db`, 12 ms at the median and more
on a busy disk (2026-11-30, decision A15). `ai_memory.store.commits` reads those.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ai_memory.harnesses.around import session_around
from ai_memory.model import MACHINE, Author, Caller, Sanitized
from ai_memory.store import state_schema
from ai_memory.store.addresses import meta_project, page_ref
from ai_memory.store.driver import Connection
from ai_memory.store.span import Span
from ai_memory.text.sanitize import sanitize_line

KEPT_US = 365 * 86_400 * 1_000_000
KEPT_ROWS = 100_000
"""How long and how many rows are kept; the drain drops older ones."""

LONGEST = 300
"""Characters of a subject."""
LONGEST_SESSIONS = 2_000
"""Characters of the ids of all sessions that one commit tells of."""

IDLE_END = "idle-end"
"""Silent sessions that a drain ended."""
BACKUP_VERIFIED = "backup-verify"
"""Verb of the row that tells of an archive which was restored on trial and found whole."""

_COLUMNS = "change_id, at_us, verb, face, agent, session, author, workspace, project, subject, origin, count"

PUT = """
    INSERT OR IGNORE INTO audit (change_id, at_us, verb, face, agent, session, author, workspace, project, subject,
        origin, count)
    VALUES (:change_id, :at_us, :verb, :face, :agent, :session, :author, :workspace, :project, :subject, :origin,
        :count)
"""
"""One row a change, however often its redo log is applied."""


@dataclass(frozen=True, slots=True)
class Mutation:
    """One thing that was changed. Empty where it is not known or does not apply."""

    id: str
    """Change id, also of what changed no page."""
    at_us: int
    verb: str
    """The operation (`write`, `pause`, `quarantine-drop`) or the pass (`session-end`, `expire`)."""
    face: str = ""
    agent: str = ""
    session: str = ""
    """Of a commit that tells of several sessions all their ids, a blank between two."""
    author: str = ""
    """The person who signed; empty for the machine."""
    workspace: str = ""
    project: str = ""
    subject: str = ""
    """Path of the (first) page, else what it was about."""
    origin: str = ""
    """Path from which a page was moved."""
    count: int = 1
    """Pages, or whatever it was about."""
    commit: str = ""


@dataclass(frozen=True, slots=True)
class Touched:
    """One path of a change; `was` and `now` say whether it stood there before and stands there after."""

    git_path: str
    was: bool
    now: bool


def begun(caller: Caller, verb: str, *, change_id: str, at_us: int) -> Mutation:
    """A mutation by that caller: the face, and the agent and session that it names or that run it."""
    agent, session = caller.agent or "", caller.session_id or ""
    if caller.face == "cli" and not agent:
        agent, around = session_around(caller.environ)
        session = session or around
    return Mutation(change_id, at_us, verb, caller.face, agent, session)


def trailers_of(mutation: Mutation) -> dict[str, str]:
    """What the commit of the mutation says of who made it."""
    told = {"Face": mutation.face, "Session": mutation.session, "Agent": mutation.agent}
    return {key: word for key, word in told.items() if word}


def verb_of(message: str, trailers: Mapping[str, str]) -> str:
    """The pass, else the first word of the message where it is a verb of ours: `write notes/a.md`."""
    first = message.partition(" ")[0]
    return trailers.get("Pass") or (first if first.isascii() and first.islower() else "change")


def with_trailers(mutation: Mutation, trailers: Mapping[str, str], author: Author) -> Mutation:
    """The mutation as its commit tells it: what the trailers name comes first."""
    return replace(
        mutation,
        face=trailers.get("Face", mutation.face),
        agent=trailers.get("Agent", mutation.agent),
        session=trailers.get("Session", mutation.session),
        author="" if author == MACHINE else author.name,
    )


def with_paths(mutation: Mutation, paths: Iterable[Touched], *, moved_from: str = "") -> Mutation:
    """The mutation with scope, first page and number of pages; of a move, the page that is new and where it was."""
    found = sorted(paths, key=lambda one: one.git_path)
    pages = [one for one in found if page_ref(one.git_path) is not None]
    if moved_from:
        pages = sorted((one for one in pages if one.git_path != moved_from), key=lambda one: one.was)
    if not pages:
        metas = [place for one in found if (place := meta_project(one.git_path)) is not None]
        return replace(mutation, workspace=metas[0][0], project=metas[0][1]) if metas else mutation
    ref = page_ref(pages[0].git_path)
    assert ref is not None
    old = page_ref(moved_from) if moved_from else None
    count = sum(one.now for one in pages) if moved_from else len(pages)
    is_near = old is not None and (old.workspace, old.project) == (ref.workspace, ref.project)
    origin = "" if old is None else old.path if is_near else str(old)
    return replace(mutation, workspace=ref.workspace, project=ref.project, subject=ref.path, origin=origin, count=count)


def with_rows(mutation: Mutation, rows: Iterable[Mapping[str, object]]) -> Mutation:
    """The mutation with scope and subject of its first row that names a page or project, where no path did."""
    for row in rows:
        if not mutation.workspace and "workspace" in row and "project" in row:
            where = {key: str(row[key]) for key in ("workspace", "project")}
            return replace(mutation, **where, subject=mutation.subject or str(row.get("path", "")))  # type: ignore[arg-type]
    return mutation


def parameters(mutation: Mutation) -> dict[str, Sanitized | int]:
    """What `PUT` takes, sanitised."""
    words = {
        "verb": mutation.verb,
        "face": mutation.face,
        "agent": mutation.agent,
        "session": mutation.session,
        "author": mutation.author,
        "workspace": mutation.workspace,
        "project": mutation.project,
        "subject": mutation.subject,
        "origin": mutation.origin,
    }
    most = {"session": LONGEST_SESSIONS}
    clean = {
        key: Sanitized(sanitize_line(word)[: most.get(key, LONGEST)]) if word else Sanitized("")
        for key, word in words.items()
    }
    return {"change_id": Sanitized(mutation.id), "at_us": mutation.at_us, "count": mutation.count, **clean}


def put(connection: Connection, mutation: Mutation) -> None:
    """Write the row. Call it in the transaction that makes the change."""
    connection.execute(PUT, parameters(mutation))


def newest(connection: Connection, span: Span) -> list[Mutation]:
    """Rows of that span, newest first; of a project, also those that belong to none."""
    if not is_kept(connection):
        return []
    conditions, values = ["at_us >= ?", "(at_us, change_id) < (?, ?)"], [span.since_us, *span.before]
    if span.place is not None:
        conditions.append("(workspace = ? AND project = ? OR workspace = '')")
        values += span.place
    if span.session is not None:
        conditions.append("instr(' ' || session || ' ', ' ' || ? || ' ') > 0")
        values.append(span.session)
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM audit WHERE {' AND '.join(conditions)} ORDER BY at_us DESC, change_id DESC LIMIT ?",
        (*values, span.limit),
    )
    return [Mutation(*row) for row in rows]


def of_verbs(connection: Connection, verbs: Sequence[str], *, limit: int) -> list[Mutation]:
    """Rows of these verbs, newest first, of every project."""
    if not is_kept(connection):
        return []
    marks = ",".join("?" * len(verbs))
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM audit WHERE verb IN ({marks}) ORDER BY at_us DESC, change_id DESC LIMIT ?",
        (*verbs, limit),
    )
    return [Mutation(*row) for row in rows]


def last_backup(connection: Connection) -> Mutation | None:
    """Which archive was made last, its `subject`, verified or not, and when. For `status`."""
    return next(iter(of_verbs(connection, ["backup"], limit=1)), None)


def last_verified(connection: Connection) -> Mutation | None:
    """Which archive was last restored on trial and found whole, its `subject`, and when. For `status` and `doctor`."""
    return next(iter(of_verbs(connection, [BACKUP_VERIFIED], limit=1)), None)


def last_seq(connection: Connection) -> int:
    """Number of the newest row; 0 where there is none."""
    if not is_kept(connection):
        return 0
    return int(connection.execute("SELECT coalesce(max(seq), 0) FROM audit").fetchone()[0])


def count_since(connection: Connection, seq: int, verb: str) -> int:
    """How many things rows of that verb tell of, among those after that number."""
    if not is_kept(connection):
        return 0
    sql = "SELECT coalesce(sum(count), 0) FROM audit WHERE seq > ? AND verb = ?"
    return int(connection.execute(sql, (seq, verb)).fetchone()[0])


def known(connection: Connection, change_ids: Sequence[str], *, place: tuple[str, str] | None = None) -> set[str]:
    """Those of the changes that have a row which `newest` gives for that place: their commits tell nothing new."""
    if not is_kept(connection):
        return set()
    where = " AND (workspace = ? AND project = ? OR workspace = '')" if place is not None else ""
    found: set[str] = set()
    for start in range(0, len(change_ids), 500):
        part = change_ids[start : start + 500]
        sql = f"SELECT change_id FROM audit WHERE change_id IN ({','.join('?' * len(part))}){where}"
        found.update(row[0] for row in connection.execute(sql, (*part, *(place or ()))))
    return found


def is_kept(connection: Connection) -> bool:
    """Whether the file has the table: an older program's gets it with the next write."""
    return state_schema.version(connection) >= state_schema.AUDIT_SINCE


def forget_old(connection: Connection, now_us: int) -> int:
    """Drop rows older than a year and all but the newest 100,000; how many went."""
    old = connection.execute("DELETE FROM audit WHERE at_us < ?", (now_us - KEPT_US,)).rowcount
    more = connection.execute("DELETE FROM audit WHERE seq <= (SELECT max(seq) FROM audit) - ?", (KEPT_ROWS,)).rowcount
    return int(old) + int(more)
