"""Handoffs: what one session leaves to the next. Pure: from observations to a page, from a page to what is shown."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from ai_memory.capture import prompts
from ai_memory.capture.digest import Digest, Taken
from ai_memory.capture.session_page import summarise
from ai_memory.capture.tools import Family
from ai_memory.capture.words import agent_name, code, minute, plain, without_line_ends
from ai_memory.clock import rfc3339
from ai_memory.errors import MemoryFault
from ai_memory.hook_outbox import MAX_HANDOFF
from ai_memory.model import PageRef
from ai_memory.store.change_ids import uuid7_hex
from ai_memory.text.fences import fence, neutralise
from ai_memory.text.times import DAY_US, parse_time

MAX_PROMPT = 1_500
MAX_QUESTION = 200
"""A question is cut to this; the summary tells the prompt at more length."""
MAX_FILES = 30
MAX_STEPS = 5
MAX_CARRIED = 10
"""Questions or steps in all, with those of the handoff that the session took."""
LIFETIME_US = 14 * DAY_US
"""How long a handoff stays open when the settings say nothing: after two weeks nobody calls it open work."""

AGENT_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}")
"""How an agent is named (decision C8), and who is none of the known ones, too."""

CONSUMED = (
    "This is the handoff of that session, and it is consumed by being shown here: a second accept returns null. "
    'Answer "where did we stop?" from it, and check the work tree before going on.'
)
_CUT = "\n\n(cut: the page holds the rest)"


class HandoffState(StrEnum):
    """Where a handoff stands."""

    OPEN = "open"
    ACCEPTED = "accepted"
    EXPIRED = "expired"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Handoff:
    """One handoff as its page tells it (decision C6). Times in µs, None where not set."""

    id: str
    title: str
    state: HandoffState
    origin: str
    """`auto` or `manual`."""
    from_agent: str
    from_session: str
    cwd: str
    created_at_us: int
    summary: str
    to_agent: str = ""
    expires_at_us: int | None = None
    open_questions: tuple[str, ...] = ()
    next_steps: tuple[str, ...] = ()
    files_touched: tuple[str, ...] = ()
    accepted_by_agent: str = ""
    accepted_by_session: str = ""
    accepted_at_us: int | None = None


def handoff_id(at_us: int, seed: str) -> str:
    """A UUIDv7 in 32 hex whose random part comes from `seed`: a drain that is repeated finds the same id."""
    digest = hashlib.sha256(seed.encode("utf-8", "surrogatepass")).digest()
    return uuid7_hex(at_us, int.from_bytes(digest[:10], "big"))


def begun_at_us(identifier: str) -> int:
    """The instant in a handoff's id, whole milliseconds: when its session first had something to hand over."""
    return int(identifier[:12], 16) * 1000


def page_path(identifier: str) -> str:
    """Path of a handoff's page below its project."""
    return f"handoffs/{rfc3339(begun_at_us(identifier))[:7]}/{identifier}.md"


def automatic(told: Digest, identifier: str, *, ended: bool, lifetime_us: int = LIFETIME_US) -> Handoff:
    """The handoff that a session leaves without being asked. `ended`: False while the session still runs."""
    session = told.session
    at_us = session.ended_at_us or session.last_at_us
    return Handoff(
        id=identifier,
        title=prompts.shorten(f"Handoff: {told.title}", 100),
        state=HandoffState.OPEN,
        origin="auto",
        from_agent=session.agent,
        from_session=session.id,
        cwd=session.cwd,
        created_at_us=at_us,
        expires_at_us=at_us + lifetime_us,
        summary=_summary(told),
        open_questions=_open_questions(told, ended=ended),
        next_steps=_next_steps(told),
        files_touched=_files(told),
    )


def manual(
    identifier: str,
    *,
    summary: str,
    open_questions: tuple[str, ...],
    next_steps: tuple[str, ...],
    files_touched: tuple[str, ...],
    from_agent: str,
    from_session: str,
    to_agent: str,
    cwd: str,
    created_at_us: int,
    expires_at_us: int,
) -> Handoff:
    """The handoff that somebody leaves on purpose. Entries of lists are one line each."""
    return Handoff(
        id=identifier,
        title=prompts.shorten(f"Handoff: {prompts.title_of(summary)}", 100),
        state=HandoffState.OPEN,
        origin="manual",
        from_agent=from_agent,
        from_session=from_session,
        to_agent=to_agent,
        cwd=cwd,
        created_at_us=created_at_us,
        expires_at_us=expires_at_us,
        summary=summary.strip(),
        open_questions=_lines(open_questions),
        next_steps=_lines(next_steps),
        files_touched=_lines(files_touched),
    )


def _lines(entries: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(line for entry in entries if (line := prompts.one_line(entry))))


def taken_over(handoff: Handoff, page: str) -> Taken:
    """The handoff as the work that a session began with. `page`: its path, empty in another project."""
    return Taken(
        agent=handoff.from_agent,
        title=handoff.title.removeprefix("Handoff: ").removeprefix("Continued: "),
        page=page,
        summary=handoff.summary,
        open_questions=handoff.open_questions,
        next_steps=handoff.next_steps,
        files=handoff.files_touched,
    )


def _summary(told: Digest) -> str:
    said = told.said
    parts = []
    if len(said) == 1:
        parts.append(f"Session focused on: {_quoted(said[0])}")
    elif said:
        parts += [f"Started with: {_quoted(said[0])}", f"Last asked: {_quoted(said[-1])}"]
    parts.append(plain(summarise(told)))
    for text in told.compactions[-1:]:
        parts.append(f"Last compaction said: {_quoted(text)}")
    if told.answer:
        parts.append(f"Last answer: {_quoted(told.answer)}")
    if told.taken is not None:
        parts.append(_before(told, told.taken))
    return "\n\n".join(parts)


def _before(told: Digest, taken: Taken) -> str:
    """What the session was given, so that a chain of short sessions loses nothing of it."""
    open_then = f" Open then: {'; '.join(taken.open_questions)}" if told.edited and taken.open_questions else ""
    return f"Before it, {agent_name(taken.agent)} left: {_quoted(taken.summary)}{open_then}"


def _carried(told: Digest, own: tuple[str, ...], earlier: tuple[str, ...]) -> tuple[str, ...]:
    """A session that edited nothing leaves open what it was given."""
    return own if told.edited else tuple(dict.fromkeys([*own, *earlier]))[:MAX_CARRIED]


def _quoted(text: str) -> str:
    return plain(prompts.shorten(prompts.one_line(text), MAX_PROMPT))


def _open_questions(told: Digest, *, ended: bool) -> tuple[str, ...]:
    """What the session itself left open, then what was open already."""
    earlier = told.taken.open_questions if told.taken is not None else ()
    return _carried(told, _own_questions(told, ended=ended), earlier)


def _own_questions(told: Digest, *, ended: bool) -> tuple[str, ...]:
    """The first rule that fits: a question that stands, then an edit without an end, then the last prompt.

    A question is unresolved when nothing came of it: no turn was finished after it and no call completed. What the
    agent asked back at the end of its last turn is one as well, where its answers are kept.
    """
    said = told.said
    if told.asked_back:
        return (f"Unresolved question, asked by {agent_name(told.session.agent)}: {_asked(told.asked_back)}",)
    is_last = bool(said) and said[-1] == told.prompts[-1].text
    if is_last and prompts.is_question(said[-1]) and not (told.stopped or told.worked_last):
        return (f"Unresolved question: {_asked(said[-1])}",)
    if told.last_family is Family.EDIT:
        return (
            "The session ended without a stop, right after it changed a file.",
            "Look at the work tree (git status, git diff) before going on.",
        )
    if not said:
        return ()
    mid_task = " (mid-task: the session did not end)" if told.stopped and not ended else ""
    return (f"Continue from{mid_task}: {_asked(said[-1])}",)


def _asked(text: str) -> str:
    """What a text asks, short: its questions where it ends with them, else how it begins."""
    found = prompts.questions_of(text, MAX_QUESTION) if len(text) > MAX_QUESTION else ""
    return plain(found or prompts.first_sentences(text, MAX_QUESTION))


def _next_steps(told: Digest) -> tuple[str, ...]:
    """What failed last and was not seen to go well afterwards, newest first."""
    steps = []
    for trouble in told.standing[:MAX_STEPS]:
        fault = f": {plain(prompts.shorten(trouble.fault, 160))}" if trouble.fault else ""
        steps.append(f"Mend what fails in {code(prompts.shorten(trouble.what, 120))}{fault}")
    return _carried(told, tuple(steps), told.taken.next_steps if told.taken is not None else ())


def _files(told: Digest) -> tuple[str, ...]:
    paths = [without_line_ends(path) for path, _ in told.edited]
    earlier = told.taken.files if told.taken is not None else ()
    return tuple(dict.fromkeys([*paths, *earlier]))[:MAX_FILES]


def frontmatter(handoff: Handoff) -> dict[str, object]:
    """The page's frontmatter, in the order of decision C6; keys that say nothing are left out."""
    values: dict[str, object] = {
        "title": handoff.title,
        "kind": "handoff",
        "tier": "episodic",
        "id": handoff.id,
        "state": handoff.state.value,
        "origin": handoff.origin,
        "from_agent": handoff.from_agent,
        "from_session": handoff.from_session,
        "to_agent": handoff.to_agent,
        "cwd": handoff.cwd,
        "created_at": rfc3339(handoff.created_at_us),
        "expires_at": rfc3339(handoff.expires_at_us) if handoff.expires_at_us is not None else "",
        **claim_keys(handoff),
        "open_questions": list(handoff.open_questions),
        "next_steps": list(handoff.next_steps),
        "files_touched": list(handoff.files_touched),
    }
    return {key: value for key, value in values.items() if value not in ("", [], None)}


def claim_keys(handoff: Handoff) -> dict[str, object]:
    """The keys that a claim sets and a re-opening removes; None where a key shall go."""
    at_us = handoff.accepted_at_us
    return {
        "accepted_by_agent": handoff.accepted_by_agent or None,
        "accepted_by_session": handoff.accepted_by_session or None,
        "accepted_at": rfc3339(at_us) if at_us is not None else None,
    }


def body(handoff: Handoff) -> str:
    """The page's text below the frontmatter."""
    return f"# {plain(handoff.title)}\n\n{handoff.summary.strip()}\n"


def accepted(handoff: Handoff, *, agent: str, session: str, at_us: int) -> Handoff:
    """The handoff as taken by that session."""
    return replace(
        handoff,
        state=HandoffState.ACCEPTED,
        accepted_by_agent=agent,
        accepted_by_session=session,
        accepted_at_us=at_us,
    )


def reopened(handoff: Handoff) -> Handoff:
    """The handoff as if nobody had taken it."""
    return replace(handoff, state=HandoffState.OPEN, accepted_by_agent="", accepted_by_session="", accepted_at_us=None)


def expired_by(handoff: Handoff, now_us: int) -> Handoff:
    """The handoff as it stands at that instant: an open one whose time is over is expired. Such as that of a session
    of long ago, which somebody tells us of only now."""
    is_over = handoff.expires_at_us is not None and handoff.expires_at_us <= now_us
    return replace(handoff, state=HandoffState.EXPIRED) if is_over and handoff.state is HandoffState.OPEN else handoff


def mark(handoff: Handoff) -> str:
    """What a start reads before it takes the handoff: whether it was left on purpose, and by which session."""
    return f"{handoff.origin} {handoff.from_session}".strip()


def from_page(values: Mapping[str, object], text: str) -> Handoff:
    """The handoff that a page's frontmatter and body tell. Errors: MemoryFault when it is none."""
    identifier, state = values.get("id"), values.get("state")
    if not isinstance(identifier, str) or state not in list(HandoffState):
        raise MemoryFault("the page is no handoff: it has no id or state")
    summary = text.strip()
    if summary.startswith("# "):
        summary = summary.partition("\n")[2].strip()
    return Handoff(
        id=identifier,
        title=_text(values, "title"),
        state=HandoffState(str(state)),
        origin=_text(values, "origin") or "manual",
        from_agent=_text(values, "from_agent"),
        from_session=_text(values, "from_session"),
        cwd=_text(values, "cwd"),
        created_at_us=_time(values, "created_at") or begun_at_us(identifier),
        summary=summary,
        to_agent=_text(values, "to_agent"),
        expires_at_us=_time(values, "expires_at"),
        open_questions=_texts(values, "open_questions"),
        next_steps=_texts(values, "next_steps"),
        files_touched=_texts(values, "files_touched"),
        accepted_by_agent=_text(values, "accepted_by_agent"),
        accepted_by_session=_text(values, "accepted_by_session"),
        accepted_at_us=_time(values, "accepted_at"),
    )


def _text(values: Mapping[str, object], key: str) -> str:
    value = values.get(key)
    return str(value) if value is not None else ""


def _texts(values: Mapping[str, object], key: str) -> tuple[str, ...]:
    value = values.get(key)
    if isinstance(value, str):
        return (value,)
    return tuple(str(item) for item in value) if isinstance(value, Sequence) else ()


def _time(values: Mapping[str, object], key: str) -> int | None:
    value = values.get(key)
    if value in (None, ""):
        return None
    try:
        return parse_time(str(value).replace("+00:00", "Z"))
    except MemoryFault:
        return None


def render(handoff: Handoff, ref: PageRef) -> str:
    """What a session that takes the handoff is shown: actions first, since screens cut the end. At most 9,200
    characters, so that the notices of a start have room; the same bytes for the same page."""
    whom = f" for {named(handoff.to_agent)}" if handoff.to_agent else ""
    head = f"Handoff from {named(handoff.from_agent)}{whom}, {minute(handoff.created_at_us)}\n\n"
    inside = neutralise(outline(handoff))  # first: it lengthens, and only then can it be measured
    while True:
        text = f"{head}{fence(inside, source=str(ref))}\n{CONSUMED}\n"
        over = len(text) - MAX_HANDOFF
        if over <= 0:
            return text
        kept = inside.removesuffix(_CUT)
        inside = kept[: max(0, len(kept) - over - len(_CUT))].rstrip() + _CUT


def outline(handoff: Handoff) -> str:
    """What a handoff says, actions first. Not fenced, and of any length."""
    return "\n\n".join(
        part
        for part in (
            _list("Open questions", handoff.open_questions),
            _list("Next steps", handoff.next_steps),
            _list("Files touched", handoff.files_touched),
            f"## Summary\n\n{handoff.summary.strip()}",
        )
        if part
    )


def named(agent: str) -> str:
    """The agent's name where it stands outside the fence: a page edited by hand may hold any words there."""
    return agent_name(agent if AGENT_ID.fullmatch(agent) else "")


def _list(title: str, items: Sequence[str]) -> str:
    return f"## {title}\n\n" + "\n".join(f"- {without_line_ends(item)}" for item in items) if items else ""


def covers(handoff_cwd: str, cwd: str) -> bool:
    """Whether a handoff made in one directory is meant for a session in another: equal, below it, or made in none.

    Compared as strings at path borders: `/a/b` does not cover `/a/bc`.
    """
    if not handoff_cwd:
        return True
    made, here = handoff_cwd.replace("\\", "/").rstrip("/"), cwd.replace("\\", "/").rstrip("/")
    return here == made or here.startswith(f"{made}/")
