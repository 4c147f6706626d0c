"""Saying how a statement stands: supported, in doubt, contradicted, or replaced by another one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Literal

from ai_memory.errors import Conflict, NotFound, UsageFault, echo
from ai_memory.model import Page, PageRef, Scope
from ai_memory.operations.cleaning import clean, refuse_secrets
from ai_memory.operations.fact_evidence import adds, cited, confirmed, quoted, says_anew
from ai_memory.operations.fact_rows import FactRow, fact_line, fact_row, fresh_facts, named_fact, named_ref, path_named
from ai_memory.operations.field import Field, ProjectName, Workspace
from ai_memory.operations.meanwhile import look_again
from ai_memory.operations.record import put_fact
from ai_memory.operations.scoping import resolve as resolve_scope
from ai_memory.operations.write import session_trailers
from ai_memory.store.fact_rows import FactRow as StoredFact
from ai_memory.store.fact_rows import add_evidence
from ai_memory.text.facts import MAX_EVIDENCE, Evidence, Fact, Standing, moment, read_fact, read_interval
from ai_memory.text.limits import check_line
from ai_memory.text.page import splice
from ai_memory.text.plain import clip
from ai_memory.text.validity import Interval

if TYPE_CHECKING:
    from ai_memory.store.memory import Memory
    from ai_memory.store.snapshot import Snapshot

MOST_AGAINST = 1_000
"""Bytes of what is held against a fact: a person reads it in a review."""

StandingName = Literal["candidate", "supported", "needs_review", "contradicted", "superseded"]


@dataclass(frozen=True, slots=True)
class ResolvedPage:
    """A page that is no fact, and what it says of its standing now."""

    workspace: str
    project: str
    path: str
    title: str
    standing: str
    valid_to: str | None
    superseded_by: str | None


@dataclass(frozen=True, slots=True)
class Resolution:
    scope: Scope
    outcome: Literal["resolved", "disputed", "unchanged"]
    """Disputed: it stands as before, since a person said it, and a person decides."""
    facts: tuple[FactRow, ...]
    pages: tuple[ResolvedPage, ...] = ()
    commit: str | None = None
    gaps: tuple[str, ...] = ()
    omitted: int = 0


def resolve(
    memory: "Memory",
    *,
    name: Annotated[str, Field("id of a fact, or path of any page", positional=True, metavar="ID", aliases=("id",))],
    standing: Annotated[StandingName, Field("how it stands", flags=("--as",), aliases=("as",))],
    because: Annotated[str, Field("why, in a sentence")],
    by: Annotated[str | None, Field("id or path of what holds in its place")] = None,
    quote: Annotated[str | None, Field("the person's own words from a prompt, to the letter")] = None,
    cite: Annotated[
        tuple[str, ...], Field("what shows it: path#L1-L9, commit:ID, obs:ID, URL", max_length=MAX_EVIDENCE - 1)
    ] = (),
    mine: Annotated[bool, Field("you say so yourself: asks you at the terminal", face="cli")] = False,
    workspace: Workspace = None,
    project: ProjectName = None,
) -> Resolution:
    """Say how a fact stands now. What is replaced or contradicted stays readable, with the time at which it ended.
    `supported` needs a quote or citation; what a person said, a quote of theirs, else it waits for them.
    """
    where = resolve_scope(memory, workspace, project, write=True)
    wanted = Standing(standing)
    why = _reason(memory, because)
    if by is not None and wanted is not Standing.SUPERSEDED:
        raise UsageFault("what holds in its place goes with superseded", hint="leave it out, or say superseded")
    asked = _Asked(name, wanted, why, by, quote, cite, mine=mine)
    return look_again(lambda: _resolution(memory, where, asked))


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is to be said of which page."""

    name: str
    wanted: Standing
    why: str
    by: str | None
    quote: str | None
    cite: tuple[str, ...]
    mine: bool


def _resolution(memory: "Memory", where: Scope, asked: _Asked) -> Resolution:
    """Looked up, checked, written. Errors: Conflict, also where another command wrote meanwhile."""
    name, wanted, why = asked.name, asked.wanted, asked.why
    with memory.reading() as snapshot:
        is_fact = _is_fact(snapshot, where, name)
    page = None if is_fact else _fresh_page(memory, where, name)
    old = fresh_facts(memory, where, [name])[0] if page is None else None
    with memory.reading() as snapshot:
        heir = _heir(snapshot, where, asked.by, of=old.ref if old else page.ref if page else None) if asked.by else None
    if old is None:
        assert page is not None
        return _resolve_page(memory, where, page, wanted, why, heir)
    if _stands_so(old.fact, wanted, heir):
        return Resolution(where, "unchanged", (fact_row(old.ref, old.fact, memory.clock()),))
    if old.fact.standing.is_terminal:
        raise Conflict(
            f"{old.fact.id} is {old.fact.standing.value} since {moment(old.fact.resolved_at_us)}: that is not undone",
            hint="record the statement anew, so that the gap stays visible",
        )
    added, notes = _evidence(
        memory, where, old.fact, asked.quote, asked.cite, mine=asked.mine, is_for=wanted is Standing.SUPPORTED
    )
    if wanted is Standing.SUPPORTED and not any(adds(one, old.fact) for one in added):
        raise UsageFault(
            "nothing is given that supports it and that it does not rest on already",
            hint="quote another prompt of the person, cite what shows it, or say so yourself at a terminal: --mine",
        )
    if not _may_take_back(memory, old.fact, wanted, added, heir):
        return _disputed(memory, where, old, _told_against(wanted, why, heir, asked.cite), notes)
    after = _resolved(old.fact, wanted, why, heir, now_us=memory.clock())
    after = replace(after, evidence=(*after.evidence, *added)[:MAX_EVIDENCE])
    with memory.writing(f"resolve {old.ref.path}", trailers=session_trailers(memory)) as change:
        put_fact(memory, change, old, after)
        add_evidence(change, old.ref, replace(after, evidence=tuple(added)), memory.clock())
    done = change.committed
    row = fact_row(old.ref, after, memory.clock())
    return Resolution(where, "resolved", (row,), commit=done.commit if done else None, gaps=notes)


def _may_take_back(
    memory: "Memory", fact: Fact, wanted: Standing, added: Sequence[Evidence], heir: "_Heir | None"
) -> bool:
    """Whether the fact may stand so now. What a person said gives way only to what a person says."""
    if not fact.is_word_of_person or wanted is Standing.SUPPORTED:
        return True
    if says_anew(added, fact) or (heir is not None and says_anew(heir.evidence, fact)):
        return True
    return memory.caller.confirms(f"A person said so, do you take it back: {fact.statement}")


def _told_against(wanted: Standing, why: str, heir: "_Heir | None", cite: tuple[str, ...]) -> str:
    """What is put to the person: what somebody holds against the fact, and what they cite."""
    by = f" by {heir.name}" if heir is not None else ""
    cited = f" ({', '.join(cite)})" if cite else ""
    return clip(f"{wanted.value.replace('_', ' ')}{by}: {why}{cited}", MOST_AGAINST)


def _disputed(memory: "Memory", scope: Scope, old: StoredFact, against: str, notes: tuple[str, ...]) -> Resolution:
    """The fact stands as it stood, and says what is held against it, so that the review puts it to a person."""
    gaps = (*notes, "a person said so: it stands until they decide, and waits in `ai-memory review`")
    if old.fact.disputed == against:
        return Resolution(scope, "unchanged", (fact_row(old.ref, old.fact, memory.clock()),), gaps=gaps)
    after = replace(old.fact, disputed=against, disputed_at_us=memory.clock())
    with memory.writing(f"dispute {old.ref.path}", trailers=session_trailers(memory)) as change:
        put_fact(memory, change, old, after)
    done = change.committed
    row = fact_row(old.ref, after, memory.clock())
    return Resolution(scope, "disputed", (row,), commit=done.commit if done else None, gaps=gaps)


def _reason(memory: "Memory", because: str) -> str:
    line = " ".join(because.split())
    if not line:
        raise UsageFault("the reason is empty", hint="say why in a sentence")
    check_line("reason", line)
    refuse_secrets(memory, reason=line)
    return line


def _is_fact(snapshot: "Snapshot", scope: Scope, name: str) -> bool:
    if path_named(scope, name) is None:
        return True  # an id; what there is none of is told as such
    page = _page(snapshot, scope, name)
    return page is not None and read_fact(page.frontmatter) is not None


def _page(snapshot: "Snapshot", scope: Scope, name: str) -> Page:
    """Any page, by its path. Errors: NotFound."""
    ref = named_ref(snapshot, scope, name)
    page = snapshot.page(ref)
    if page is None:
        raise NotFound(f"no page {ref}", hint="`ai-memory pages` lists them, `ai-memory facts` facts with their ids")
    return page


def _fresh_page(memory: "Memory", scope: Scope, name: str) -> Page:
    """The same, with what a person changed in its file meanwhile."""
    with memory.reading() as snapshot:
        memory.fresh(_page(snapshot, scope, name).ref)
    with memory.reading() as snapshot:
        return _page(snapshot, scope, name)


@dataclass(frozen=True, slots=True)
class _Heir:
    """What holds in a page's place: its id or path, and from when on; None is from now on."""

    name: str
    effective_us: int | None
    evidence: tuple[Evidence, ...] = ()
    """Of a fact that is supported."""


def _heir(snapshot: "Snapshot", scope: Scope, name: str, *, of: PageRef | None) -> _Heir:
    """Errors: NotFound; UsageFault for the page itself, Conflict for one that does not hold itself."""
    if _is_fact(snapshot, scope, name):
        found = named_fact(snapshot, scope, name)
        ref, fact = found.ref, found.fact
        start_us = fact.recorded_at_us if fact.holds.start_us is None else fact.holds.start_us
        evidence = fact.evidence if fact.standing is Standing.SUPPORTED else ()
        heir, is_over = _Heir(fact.id, start_us, evidence), fact.standing.is_terminal
    else:
        page = _page(snapshot, scope, name)
        ref, is_over = page.ref, bool(page.frontmatter.get("superseded_by"))
        here = (ref.workspace, ref.project) == (scope.workspace, scope.project)
        heir = _Heir(ref.path if here else str(ref), read_interval(page.frontmatter).start_us)
    if ref == of:
        raise UsageFault(f"{echo(name)} cannot take its own place", hint="name another one")
    if is_over:
        raise Conflict(f"{echo(name)} was replaced itself", hint="name the one that holds in its place")
    return heir


def _stands_so(fact: Fact, wanted: Standing, heir: _Heir | None) -> bool:
    """Whether it was said before: said again, no time moves."""
    if fact.standing is not wanted or not wanted.is_terminal:
        return False
    return heir is None or heir.name == fact.superseded_by


def _evidence(
    memory: "Memory", scope: Scope, fact: Fact, quote: str | None, cite: tuple[str, ...], *, mine: bool, is_for: bool
) -> tuple[list[Evidence], tuple[str, ...]]:
    refuse_secrets(memory, quote=quote, citation=cite)
    found = [quoted(memory, scope, fact.statement, quote, is_for=is_for)] if quote else []
    found += [confirmed(memory, fact.statement)] if mine else []
    found += [cited(memory, scope, fact.statement, one) for one in cite]
    return [one.evidence for one in found], tuple(one.note for one in found if one.note)


def _resolved(fact: Fact, wanted: Standing, why: str, heir: _Heir | None, *, now_us: int) -> Fact:
    after = replace(fact.settled(), standing=wanted, because=why, resolved_at_us=now_us)
    if not wanted.is_terminal:
        return after
    effective_us = heir.effective_us if heir is not None and heir.effective_us is not None else now_us
    return replace(
        after, holds=fact.closed_by(effective_us=effective_us), superseded_by=heir.name if heir is not None else ""
    )


def _resolve_page(
    memory: "Memory", scope: Scope, page: Page, wanted: Standing, why: str, heir: _Heir | None
) -> Resolution:
    """A page that is no fact: it says so in its frontmatter, and its body stays."""
    if not wanted.is_terminal:
        raise UsageFault(
            f"{page.ref.path} is no fact: it can be superseded or contradicted", hint="edit it, or record a fact"
        )
    before = {key: page.frontmatter.get(key) for key in ("standing", "superseded_by")}
    now_us = memory.clock()
    held = read_interval(page.frontmatter)
    effective_us = heir.effective_us if heir is not None and heir.effective_us is not None else now_us
    ends = Interval(held.start_us, held.end_us).closed_at(effective_us).end_us
    changes: Mapping[str, object | None] = {
        "standing": wanted.value,
        "superseded_by": heir.name if heir is not None else None,
        "valid_to": moment(ends),
        "resolved_at": moment(now_us),
        "because": why,
    }
    if before == {key: changes[key] for key in before}:
        return Resolution(scope, "unchanged", (), (_page_row(page, page.frontmatter),))
    with memory.writing(f"resolve {page.ref.path}", trailers=session_trailers(memory)) as change:
        text = clean(memory, splice(page.text, changes, path=page.ref.path), before=page.text)
        change.put(page.ref, text, expected_version=page.version)
    done = change.committed
    return Resolution(scope, "resolved", (), (_page_row(page, changes),), commit=done.commit if done else None)


def _page_row(page: Page, keys: Mapping[str, object | None]) -> ResolvedPage:
    ref = page.ref
    ends, heir = keys.get("valid_to"), keys.get("superseded_by")
    return ResolvedPage(
        *(ref.workspace, ref.project, ref.path, page.title, str(keys.get("standing") or "")),
        *(str(ends) if ends else None, str(heir) if heir else None),
    )


def resolution_text(result: Resolution) -> str:
    """What stands how now."""
    heads = {"resolved": "resolved", "disputed": "disputed, it stands:", "unchanged": "it stands so already:"}
    head = heads[result.outcome]
    lines = [f"{head} {fact_line(row)}" for row in result.facts]
    for page in result.pages:
        by = f" by {page.superseded_by}" if page.superseded_by else ""
        lines.append(f"{head} {page.path} · {page.title} · {page.standing}{by}, until {page.valid_to}")
    return "\n".join(lines)
