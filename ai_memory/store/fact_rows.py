"""Fact pages in the index, and prompts in `state.db` that bear a quote out."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ai_memory import hook_turn
from ai_memory.hook_harnesses import UNATTENDED
from ai_memory.model import PageRef
from ai_memory.store.driver import Connection
from ai_memory.text.facts import Fact, Standing, is_rival, read_fact
from ai_memory.text.names import DEFAULT_WORKSPACE, GLOBAL_PROJECT
from ai_memory.text.told_facts import place_of

if TYPE_CHECKING:
    from ai_memory.store.change import Change

MOST_FACTS = 10_000
"""Of one project; more are not compared."""

_FACTS = """
    SELECT path, version, updated_at_us, frontmatter FROM pages
    WHERE workspace = ? AND project = ? AND kind = 'fact' ORDER BY path LIMIT ?
"""
_BY_ID = """
    SELECT workspace, project, path, version, updated_at_us, frontmatter FROM pages
    WHERE json_extract(frontmatter, '$.id') = ? AND kind = 'fact' ORDER BY workspace, project, path
"""
_PROMPT = """
    SELECT o.session, o.at_us, o.text FROM sessions AS s
    CROSS JOIN observations AS o ON o.session = s.id
    WHERE s.workspace = ? AND s.project = ? AND o.kind = 'user-prompt' AND o.agent_id = ''
    AND o.source_event <> ? AND instr(',' || o.flags || ',', ?) = 0 AND instr(o.text, ?) > 0
    ORDER BY o.at_us DESC, o.event_id DESC LIMIT 1
"""
_OBSERVED = """
    SELECT o.event_id, o.session, o.at_us, o.tool, o.output FROM observations AS o
    JOIN sessions AS s ON s.id = o.session
    WHERE s.workspace = ? AND s.project = ? AND o.kind = 'post-tool-use' AND o.output <> ''
    AND substr(o.event_id, -length(?)) = ? ORDER BY o.at_us DESC LIMIT 2
"""


@dataclass(frozen=True, slots=True)
class FactRow:
    """One fact page that could be read as a fact."""

    ref: PageRef
    version: str
    updated_at_us: int
    fact: Fact


@dataclass(frozen=True, slots=True)
class Told:
    """Facts that hold, and until when that list does: one of them ends then, or another one begins."""

    facts: list[FactRow]
    until_us: int | None


@dataclass(frozen=True, slots=True)
class Said:
    """Where words were found: the session, when, and the whole prompt."""

    session: str
    at_us: int
    text: str


@dataclass(frozen=True, slots=True)
class Seen:
    """What a tool answered, as it was captured."""

    event_id: str
    session: str
    at_us: int
    tool: str
    output: str


def facts_of(index: Connection, workspace: str, project: str) -> list[FactRow]:
    """The facts of a project, by path."""
    rows = index.execute(_FACTS, (workspace, project, MOST_FACTS))
    return _read((workspace, project, *row) for row in rows)


def told_facts(index: Connection, workspace: str, project: str, *, at_us: int) -> Told:
    """The facts that an agent may be told as true at that instant, of the project and of what holds everywhere: those
    that are supported and hold then. What corrects comes first."""
    everywhere = [(name, GLOBAL_PROJECT) for name in (workspace, DEFAULT_WORKSPACE)]
    places = dict.fromkeys([(workspace, project), *everywhere])
    rows = [one for place in places for one in facts_of(index, *place) if one.fact.standing is Standing.SUPPORTED]
    times = [time for one in rows for time in (one.fact.holds.start_us, one.fact.holds.end_us) if time is not None]
    held = [one for one in rows if one.fact.is_valid(at_us)]
    return Told(
        sorted(held, key=lambda one: (place_of(one.fact), one.ref)),
        min((time for time in times if time > at_us), default=None),
    )


def facts_named(index: Connection, identifier: str) -> list[FactRow]:
    """The facts of that id, of every project."""
    return _read(index.execute(_BY_ID, (identifier,)))


def rivals(facts: Iterable[FactRow]) -> Iterator[tuple[FactRow, FactRow]]:
    """Pairs, each in both orders, that give one property two values and were not weighed against each other."""
    by_property: dict[tuple[str, str], list[FactRow]] = {}
    for one in facts:
        if one.fact.subject and one.fact.predicate:
            key = (one.fact.subject.casefold(), one.fact.predicate.casefold())
            by_property.setdefault(key, []).append(one)
    for same in by_property.values():
        for one in same:
            for other in same:
                if one is not other and is_rival(one.fact, other.fact) and not was_weighed(one, other):
                    yield one, other


def was_weighed(one: FactRow, other: FactRow) -> bool:
    """Whether one of the two was kept since both were there."""
    both_us = max(one.fact.recorded_at_us, other.fact.recorded_at_us)
    return any(
        each.standing is Standing.SUPPORTED and (each.resolved_at_us or 0) > both_us for each in (one.fact, other.fact)
    )


def _read(rows: Iterable[Any]) -> list[FactRow]:
    found = []
    for workspace, project, path, version, updated_at_us, keys in rows:
        fact = read_fact(json.loads(keys))
        if fact is not None:
            found.append(FactRow(PageRef(workspace, project, path), version, updated_at_us, fact))
    return found


def prompt_with(state: Connection, workspace: str, project: str, quote: str) -> Said | None:
    """The newest prompt of a person in a session of that project that holds the words as they stand.

    What a client tells as its turns may be its model's words, and print mode is another program's.
    """
    none_typed = (hook_turn.SOURCE, f",{UNATTENDED},")
    row = state.execute(_PROMPT, (workspace, project, *none_typed, quote)).fetchone()
    return Said(*row) if row else None


def tool_answer(state: Connection, workspace: str, project: str, name: str) -> Seen | None:
    """What a tool answered in a session of that project, by the event's id or its end; None if that is not one."""
    rows = state.execute(_OBSERVED, (workspace, project, name, name)).fetchall()
    return Seen(*rows[0]) if len(rows) == 1 else None


def add_evidence(change: "Change", ref: PageRef, fact: Fact, now_us: int) -> None:
    """The rows of `state.db` that tell which evidence a page has."""
    for one in fact.evidence:
        place = {"workspace": ref.workspace, "project": ref.project, "path": ref.path}
        words = {"class": one.klass.value, "session": one.session, "quote": one.quote, "cite": one.cite}
        change.state("evidence", **place, **words, sha256=one.sha256, at_us=now_us)
