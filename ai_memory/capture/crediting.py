"""Tool calls that worked in another repository than the session's: credited to that one's project.

A session stays in its project. What it did elsewhere stands in a page of the project where it was done, and in the
session's own page only as a number. The mark is a member `credited` of the observation's `extra`.
"""

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import replace

from ai_memory.capture.batches import Credit, Place, scope_of, to_the_session
from ai_memory.capture.spooled import Event
from ai_memory.model import Sanitized
from ai_memory.store.state_sessions import Observation, Session
from ai_memory.text.sanitize import sanitize

_TOOLS = frozenset({"pre-tool-use", "post-tool-use"})
_MARK = '"credited"'


def credit(event: Event, session: Session, place: Callable[[str], Place]) -> Event:
    """The event, marked if it belongs to another project: `{"folder": …, "project": "workspace/project"}`.

    By the repository in which all its paths lie, as the hook found it, else by the folder that the agent moved to.
    What lies inside the session's own tree stays with the session, nested repositories too.
    """
    if event.kind not in _TOOLS:
        return event
    folder = event.route or (event.cwd if event.cwd != session.cwd else "")
    if not folder or _is_inside(folder, scope_of(session).root or session.cwd):
        return event
    there = place(folder).scope
    if there.is_guess or (there.workspace, there.project) == (session.workspace, session.project):
        return event
    extra = json.loads(event.extra) if event.extra else {}
    mark = {"folder": folder, "project": f"{there.workspace}/{there.project}"}
    known = extra if isinstance(extra, dict) else {}
    whole = json.dumps({**known, "credited": mark}, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return replace(event, extra=sanitize(whole))


def creditor(place: Callable[[str], Place], *, follows_folders: bool) -> Credit:
    """`credit`, or what leaves every event with its session where the settings say so."""
    return (lambda event, session: credit(event, session, place)) if follows_folders else to_the_session


def _is_inside(folder: str, root: str) -> bool:
    if not root:
        return False
    plain = root.rstrip("/\\")
    return folder == plain or folder.startswith((plain + "/", plain + os.sep))


def folder_of(row: Observation) -> str:
    """The folder to whose project the observation is credited; empty for the session's own."""
    if _MARK not in row.extra:
        return ""
    try:
        mark = json.loads(row.extra)["credited"]
        return str(mark["folder"])
    except (ValueError, KeyError, TypeError):
        return ""


def split(rows: Sequence[Observation]) -> tuple[list[Observation], dict[str, list[Observation]]]:
    """(the session's own, those credited elsewhere by folder), each in order."""
    own: list[Observation] = []
    elsewhere: dict[str, list[Observation]] = {}
    for row in rows:
        folder = folder_of(row)
        (elsewhere.setdefault(folder, []) if folder else own).append(row)
    return own, elsewhere


def visit(session: Session, rows: Sequence[Observation], place: Place) -> Session:
    """The session as the other project sees it: there from the first to the last of its calls."""
    return replace(
        session,
        workspace=sanitize(place.scope.workspace),
        project=sanitize(place.scope.project),
        cwd=Sanitized(folder_of(rows[0])),
        opened_at_us=rows[0].at_us,
        last_at_us=rows[-1].at_us,
        ended_at_us=rows[-1].at_us,
        observations=len(rows),
        branch_start=place.branch,
        branch_end=place.branch,
        commit_start=place.commit,
        commit_end=place.commit,
    )
