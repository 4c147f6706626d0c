"""One spool file as an event. Parsed at the edge: what comes out holds only text that every later step can store."""

import json
import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from ai_memory.model import Sanitized
from ai_memory.store.spool import event_id, named_at_us
from ai_memory.text.sanitize import cap, sanitize_together

FORMAT = 1
MAX_DRIFT_US = 5 * 60 * 1_000_000
"""Payload time counts only this near to the hook's clock, which the name carries (decision B2)."""
MAX_TEXT_BYTES = 16_384
"""Backstop: hooks cap each field lower than this or at it (facts on hooks, 4.4)."""
MAX_NAME = 200
"""Characters of agent, tool, call id and the like. Longer ones are cut."""

_SURROGATES = re.compile("[\ud800-\udfff]")
_HEX_32 = re.compile(r"[0-9a-f]{32}")
_ENCODER = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))


class Poison(ValueError):
    """The file holds no event that can be applied, and why."""


@dataclass(frozen=True, slots=True)
class Event:
    """One event, scrubbed and capped: by the hook, and once more here, since anybody can write a file."""

    id: str
    agent: str
    kind: str
    source_event: str
    at_us: int
    session: str
    """UUID; empty where the event belongs to no session."""
    native_id: str
    cwd: str
    agent_id: str
    tool: str
    call_id: str
    outcome: str
    input: str
    """JSON of the tool's input, or nothing."""
    output: str
    text: str
    """Prompt, compaction summary, notification; of a claim the handoff's id."""
    flags: str
    extra: str
    process: int


def parse_event(name: str, content: bytes) -> Event:
    """The event in a spool file of that name. Errors: Poison, naming what is wrong."""
    try:
        record = json.loads(content)
    except (ValueError, RecursionError) as fault:
        raise Poison(f"not JSON: {fault}") from fault
    if not isinstance(record, dict):
        raise Poison(f"a JSON {type(record).__name__} instead of an object")
    written = record.get("v", FORMAT)
    if not isinstance(written, int) or written > FORMAT:
        raise Poison(f"format {written!r} is not known to this program")
    kind = _name(record, "event")
    if not kind:
        raise Poison("it names no event")
    extra = record.get("extra")
    more: Mapping[str, object] = extra if isinstance(extra, dict) else {}
    agent = _name(record, "agent") or "other"
    identifier = event_id(name)
    session, native = _session(record, more, agent=agent, kind=kind, identifier=identifier)
    given = (_json(record.get("input")), _words(record.get("output")), _said(record, more, kind), _json(more))
    inputs, output, text, rest = [cap(clean, MAX_TEXT_BYTES) for clean in sanitize_together(given)]
    return Event(
        id=identifier,
        agent=agent,
        kind=kind,
        source_event=_name(record, "source_event"),
        at_us=_time(record.get("at_us"), named_at_us(name)),
        session=session,
        native_id=native,
        cwd=_text(record.get("cwd"))[:4_096],
        agent_id=_name(record, "agent_id"),
        tool=_name(record, "tool"),
        call_id=_name(record, "call_id"),
        outcome=_outcome(record.get("outcome")),
        input=_still_json(given[0], inputs),
        output=output,
        text=text,
        flags=_flags(record.get("flags")),
        extra=_still_json(given[3], rest),
        process=_process(more),
    )


@lru_cache(1_024)
def session_uuid(agent: str, raw: str) -> str:
    """The session's id: the harness's own if it is a UUID, else a UUIDv5 of agent and id (decision B2)."""
    try:
        return str(uuid.UUID(raw))
    except ValueError:
        return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{agent}:{raw}"))


def _session(
    record: Mapping[str, object], more: Mapping[str, object], *, agent: str, kind: str, identifier: str
) -> tuple[str, str]:
    raw = _text(record.get("session")).strip()[:512]
    native = _text(more.get("native_id")).strip()[:512] or raw
    if raw:
        return session_uuid(agent, raw), native
    if kind == "session-start":  # the only event that may come without: it opens a session of its own
        return session_uuid(agent, identifier), ""
    return "", ""


def _said(record: Mapping[str, object], more: Mapping[str, object], kind: str) -> str:
    if kind == "handoff-claimed":
        return next((found for found in _handoff_ids(record, more)), "")
    prompt = _words(record.get("prompt")) if kind == "user-prompt" else ""
    return prompt or _words(record.get("text"))


def _handoff_ids(record: Mapping[str, object], more: Mapping[str, object]) -> list[str]:
    candidates = [more.get("handoff"), more.get("handoff_id"), record.get("text")]
    return [one for one in map(_text, candidates) if _HEX_32.fullmatch(one)]


def _time(given: object, named_us: int) -> int:
    if isinstance(given, int) and not isinstance(given, bool) and abs(given - named_us) <= MAX_DRIFT_US:
        return given
    return named_us


def _process(more: Mapping[str, object]) -> int:
    for key in ("process", "ppid", "pid"):
        value = more.get(key)
        if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 1 << 31:
            return value
    return 0


def _outcome(given: object) -> str:
    return given if given in ("success", "error", "unknown") and isinstance(given, str) else ""


def _name(record: Mapping[str, object], key: str) -> str:
    return _text(record.get(key))[:MAX_NAME]


def _flags(given: object) -> str:
    if isinstance(given, dict):
        given = [key for key, value in given.items() if value]
    if isinstance(given, list):
        return ",".join(sorted(_text(flag) for flag in given if isinstance(flag, str)))
    return _text(given)[:MAX_NAME]


def _words(given: object) -> str:
    """Text as it is; anything else as JSON."""
    return _text(given) if isinstance(given, str) else _json(given)


def _json(given: object) -> str:
    if given in (None, "", {}, []):
        return ""
    if isinstance(given, str):
        return _text(given)
    return _text(_ENCODER.encode(given))


def _still_json(text: str, clean: Sanitized) -> str:
    """What is left of the JSON text; a JSON string of it where a secret or a private part took its form away."""
    if clean == text:
        return clean
    try:
        json.loads(clean)
    except ValueError:
        return json.dumps(clean, ensure_ascii=False)
    return clean


def _text(given: object) -> str:
    """A string that SQLite and UTF-8 take: no lone surrogates, no NUL."""
    if not isinstance(given, str):
        return ""
    if given.isprintable():
        return given
    return _SURROGATES.sub("\ufffd", given).replace("\0", "\ufffd")
