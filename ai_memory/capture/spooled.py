"""One spool file as an event. Parsed at the edge: what comes out holds only text that every later step can store."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from ai_memory import hook_places
from ai_memory.model import NO_TEXT, Sanitized
from ai_memory.store.spool import event_id, named_at_us
from ai_memory.text.sanitize import NO_PATTERNS, OwnPatterns, cap, first, sanitize, sanitize_together

FORMAT = 1
MAX_DRIFT_US = 5 * 60 * 1_000_000
"""Payload time counts only this near to the hook's clock, which the name carries (decision B2)."""
MAX_TEXT_BYTES = 16_384
"""Backstop: hooks cap each field lower than this or at it."""
MAX_DEPTH = 64
"""Hooks keep 8 levels of an input. Whoever reads an observation later parses its JSON again, deeper in calls."""
MAX_NAME = 200
"""Characters of agent, tool, call id and the like. Longer ones are cut."""

MAX_SESSION = 512
_SHORT = ("agent", "event", "source_event", "agent_id", "tool", "call_id", "flags", "workspace", "project")
_LENGTHS = dict.fromkeys(_SHORT, MAX_NAME) | {
    "session": MAX_SESSION,
    "native_id": MAX_SESSION,
    "cwd": 4_096,
    "route": 4_096,
}
"""Members that name something, and the characters of each that are kept."""
_IDS = ("session", "native_id")
_PLACES = ("cwd", "route")
_OTHER = sanitize("other")

_SURROGATES = re.compile("[\ud800-\udfff]")
_KEY = re.compile(r"[A-Za-z0-9_-]{1,64}")
_HEX_32 = re.compile(r"[0-9a-f]{32}")
_ENCODER = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))


class Poison(ValueError):
    """The file holds no event that can be applied, and why."""


@dataclass(frozen=True, slots=True)
class Event:
    """One event, scrubbed and capped: by the hook, and once more here, since anybody can write a file."""

    id: str
    agent: Sanitized
    kind: Sanitized
    source_event: Sanitized
    at_us: int
    session: str
    """UUID; empty where the event belongs to no session."""
    native_id: Sanitized
    cwd: Sanitized
    agent_id: Sanitized
    tool: Sanitized
    call_id: Sanitized
    outcome: str
    input: Sanitized
    """JSON of the tool's input, or nothing."""
    output: Sanitized
    text: Sanitized
    """Prompt, compaction summary, notification; of a claim the handoff's id."""
    flags: Sanitized
    extra: Sanitized
    process: int
    route: Sanitized = NO_TEXT
    """Root of the other repository in which all paths of a tool's input lie, as the hook found it."""
    workspace: Sanitized = NO_TEXT
    project: Sanitized = NO_TEXT
    """What a client named for its turns; of a harness's event the folder tells."""
    ingest_key: str = ""
    """Made of the key by which a producer tells a repetition; empty where none was given."""


def parse_event(name: str, content: bytes, own: OwnPatterns = NO_PATTERNS) -> Event:
    """The event in a spool file of that name. Errors: Poison, naming what is wrong."""
    try:
        record = json.loads(content)
    except (ValueError, RecursionError) as fault:
        raise Poison(f"not JSON: {fault}") from fault
    if not isinstance(record, dict):
        raise Poison(f"a JSON {type(record).__name__} instead of an object")
    written = record.get("v", FORMAT)
    if not isinstance(written, int) or isinstance(written, bool) or not 0 < written <= FORMAT:
        raise Poison(f"format {repr(written)[:60]} is not known to this program")
    if content.count(b"[") + content.count(b"{") > MAX_DEPTH and _depth(record) > MAX_DEPTH:
        raise Poison(f"nested deeper than {MAX_DEPTH} levels")
    kind = _text(record.get("event"))
    if not kind:
        raise Poison("it names no event")
    extra = record.get("extra")
    more: Mapping[str, object] = extra if isinstance(extra, dict) else {}
    identifier = event_id(name)
    names = _names(record, more)
    given = (_json(record.get("input")), _words(record.get("output")), _said(record, more, kind), _json(more))
    cleaned = sanitize_together([*given, *names.values()], own)
    inputs, output, text, rest = [cap(clean, MAX_TEXT_BYTES) for clean in cleaned[: len(given)]]
    clean = {key: first(one, _LENGTHS[key]) for key, one in zip(names, cleaned[len(given) :], strict=True)}
    agent = clean["agent"] or _OTHER
    session = _session(names["session"], agent=agent, kind=kind, identifier=identifier)
    is_told = clean["session"] == names["session"][:MAX_SESSION]
    return Event(
        id=identifier,
        agent=agent,
        kind=clean["event"],
        source_event=clean["source_event"],
        at_us=_time(record, named_at_us(name)),
        session=session,
        native_id=clean["native_id"] or (clean["session"] if is_told else sanitize(session)),
        cwd=clean["cwd"],
        agent_id=clean["agent_id"],
        tool=clean["tool"],
        call_id=clean["call_id"],
        outcome=_outcome(record.get("outcome")),
        input=_still_json(given[0], inputs),
        output=output,
        text=text,
        flags=clean["flags"],
        extra=_still_json(given[3], rest),
        process=_process(more),
        route=clean["route"],
        workspace=clean["workspace"],
        project=clean["project"],
        ingest_key=_ingest_key(record, more),
    )


def _depth(value: object) -> int:
    """Levels of lists and objects; counted level by level, since a call each would end in RecursionError."""
    depth, level = 0, [value]
    while level := [
        inner
        for one in level
        if isinstance(one, (dict, list))
        for inner in (one.values() if isinstance(one, dict) else one)
    ]:
        depth += 1
    return depth


@lru_cache(1_024)
def session_uuid(agent: str, raw: str) -> str:
    """The session's id, as its hooks make it: they name their claims by it."""
    return hook_places.session_uuid(agent, raw)


def _names(record: Mapping[str, object], more: Mapping[str, object]) -> dict[str, str]:
    """What the event names, as the file has it, neither clean nor cut; on one line, but for a path, which may hold a
    line end."""
    found = {key: _text(record.get(key)) for key in _LENGTHS} | {
        "native_id": _text(more.get("native_id")),
        "flags": _flags(record.get("flags")),
    }
    lines = {key: text if key in _PLACES else " ".join(text.splitlines()) for key, text in found.items()}
    return {key: (text.strip() if key in _IDS else text)[:MAX_TEXT_BYTES] for key, text in lines.items()}


def _session(raw: str, *, agent: str, kind: str, identifier: str) -> str:
    raw = raw[:MAX_SESSION]
    if not raw and kind == "session-start":  # the only event that may come without: it opens a session of its own
        raw = identifier
    return session_uuid(agent, raw) if raw else ""


def _said(record: Mapping[str, object], more: Mapping[str, object], kind: str) -> str:
    if kind == "handoff-claimed":
        return next((found for found in _handoff_ids(record, more)), "")
    prompt = _words(record.get("prompt")) if kind == "user-prompt" else ""
    return prompt or _words(record.get("text"))


def _handoff_ids(record: Mapping[str, object], more: Mapping[str, object]) -> list[str]:
    candidates = [more.get("handoff"), more.get("handoff_id"), record.get("text")]
    return [one for one in map(_text, candidates) if _HEX_32.fullmatch(one)]


def _time(record: Mapping[str, object], named_us: int) -> int:
    """Of a harness's event near the hook's clock; a producer may tell of the past."""
    past = record.get("occurred_at_us")
    if isinstance(past, int) and not isinstance(past, bool) and 0 < past <= named_us + MAX_DRIFT_US:
        return past
    given = record.get("at_us")
    if isinstance(given, int) and not isinstance(given, bool) and abs(given - named_us) <= MAX_DRIFT_US:
        return given
    return named_us


def _ingest_key(record: Mapping[str, object], more: Mapping[str, object]) -> str:
    """The key as it is remembered beside event ids: each agent and extension of one has its own."""
    key = record.get("ingest_key")
    if not isinstance(key, str) or not _KEY.fullmatch(key):
        return ""
    producer = _text(record.get("agent"))[:MAX_NAME]
    return ingest_name(producer, _text(more.get("extension"))[:MAX_NAME], key)


def ingest_name(agent: str, extension: str, key: str) -> str:
    """What an ingest key is remembered as, beside the ids of events. Keys are each producer's own."""
    whole = "\0".join((agent, extension, key))
    return f"key-{hashlib.sha256(whole.encode()).hexdigest()[:32]}"


def _process(more: Mapping[str, object]) -> int:
    for key in ("process", "ppid", "pid"):
        value = more.get(key)
        if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 1 << 63:
            return value
    return 0


def _outcome(given: object) -> str:
    return given if given in ("success", "error", "unknown") and isinstance(given, str) else ""


def _flags(given: object) -> str:
    if isinstance(given, dict):
        given = [key for key, value in given.items() if value]
    if isinstance(given, list):
        return ",".join(sorted(_text(flag) for flag in given if isinstance(flag, str)))
    return _text(given)


def _words(given: object) -> str:
    """Text as it is; anything else as JSON."""
    return _text(given) if isinstance(given, str) else _json(given)


def _json(given: object) -> str:
    if given in (None, "", {}, []):
        return ""
    if isinstance(given, str):
        return _text(given)
    return _text(_ENCODER.encode(given))


def _still_json(text: str, clean: Sanitized) -> Sanitized:
    """What is left of the JSON text; a JSON string of it where a secret or a private part took its form away."""
    if clean == text:
        return clean
    try:
        json.loads(clean)
    except ValueError:
        return Sanitized(json.dumps(clean, ensure_ascii=False))
    return clean


def _text(given: object) -> str:
    """A string that SQLite and UTF-8 take: no lone surrogates, no NUL."""
    if not isinstance(given, str):
        return ""
    if given.isprintable():
        return given
    return _SURROGATES.sub("\ufffd", given).replace("\0", "\ufffd")
