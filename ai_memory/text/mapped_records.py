"""A JSON record as a mapping reads it."""

from collections.abc import Mapping as AnyMapping
from collections.abc import Sequence
from dataclasses import dataclass

from ai_memory.clock import EARLIEST_US, LATEST_US
from ai_memory.errors import MemoryFault, echo
from ai_memory.text.json_paths import Path, Scalar, as_text, first_hit, values_at
from ai_memory.text.record_mapping import Choice, Mapping
from ai_memory.text.times import SECOND_US, parse_time
from ai_memory.text.validity import Interval

LONGEST_ID = 200
SECONDS_BELOW = 1e11
"""A smaller number is seconds since 1970, any other one milliseconds."""


class BadRecord(MemoryFault):
    """A record cannot be what the mapping makes of it."""


@dataclass(frozen=True, slots=True)
class Revision:
    """One record with what tells it from others."""

    id: str
    observed_at_us: int | None
    record: object


@dataclass(frozen=True, slots=True)
class Mapped:
    """What a record becomes. Texts are as the source has them: nothing is scrubbed or cut yet."""

    id: str
    kind: str
    title: str
    text: str
    appended: tuple[str, ...]
    observed_at_us: int | None
    holds: Interval
    uri: str
    trust: str
    metadata: AnyMapping[str, str]


def revision(mapping: Mapping, record: object) -> Revision:
    """The record with id and time. *Errors*: BadRecord."""
    return Revision(_id(mapping, record), _time(record, mapping.observed_at, "observedAt"), record)


def is_wanted(mapping: Mapping, record: object) -> bool:
    """Whether some rule of `keep` holds, or there is none, and none of `drop` does."""
    is_kept = not mapping.keep or any(rule.holds(record) for rule in mapping.keep)
    return is_kept and not any(rule.holds(record) for rule in mapping.drop)


def latest(revisions: Sequence[Revision]) -> list[Revision]:
    """The newest of each id, in the order of their first ones; one without a time is older than all, ties end last."""
    newest: dict[str, Revision] = {}
    for one in revisions:
        other = newest.get(one.id)
        if other is None or _age(one) >= _age(other):
            newest[one.id] = one
    return list(newest.values())


def content_name(mapping: Mapping, record: object) -> str:
    """The name of the file that holds the record's text; empty where the record names none. *Errors*: BadRecord."""
    if mapping.content_from is None:
        return ""
    found = values_at(record, mapping.content_from.field)
    name = as_text(found[0]) if found else ""
    if any(sign in name for sign in "/\\\0:") or name in (".", "..") or not name.isprintable() or len(name) > 200:
        raise BadRecord(f"contentFrom: no plain file name: {echo(name)}")
    return name


def mapped(mapping: Mapping, one: Revision, content: str | None) -> Mapped:
    """What becomes of it, with its text from another file where there is one. *Errors*: BadRecord."""
    record = one.record
    text = content if content is not None else "\n".join(_texts(first_hit(record, mapping.text)))
    title = " ".join(" ".join(_texts(first_hit(record, mapping.title)[:1])).split())
    if not text.strip() and not title:
        raise BadRecord("it has neither text nor title")
    appended = (
        f"{row.label}: {row.joiner.join(_texts(found))}"
        for row in mapping.append
        if (found := first_hit(record, row.paths))
    )
    return Mapped(
        id=one.id,
        kind=_chosen(mapping.kind, record),
        title=title,
        text=text,
        appended=tuple(" ".join(line.split()) for line in appended),
        observed_at_us=one.observed_at_us,
        holds=_holds(mapping, one),
        uri=" ".join("".join(_texts(first_hit(record, mapping.uri)[:1])).split()),
        trust=_chosen(mapping.trust, record),
        metadata={
            name: " ".join(", ".join(_texts(found)).split())
            for name, path in mapping.metadata.items()
            if (found := values_at(record, path))
        },
    )


def _id(mapping: Mapping, record: object) -> str:
    found = first_hit(record, mapping.id)
    if not found:
        raise BadRecord("it has no id")
    identifier = as_text(found[0])
    if len(identifier) > LONGEST_ID or not identifier.isprintable() or identifier != identifier.strip():
        raise BadRecord(f"no usable id: {echo(identifier)}")
    return identifier


def _holds(mapping: Mapping, one: Revision) -> Interval:
    """When it holds. Without a start: since it was observed, unless it had ended by then."""
    start_us = _time(one.record, mapping.valid_from, "validFrom")
    end_us = _time(one.record, mapping.valid_to, "validTo")
    if start_us is not None and end_us is not None and end_us < start_us:
        raise BadRecord("validTo lies before validFrom")
    if start_us is None and (end_us is None or (one.observed_at_us or 0) < end_us):
        start_us = one.observed_at_us
    return Interval(start_us, end_us)


def _time(record: object, paths: Sequence[Path], key: str) -> int | None:
    found = first_hit(record, tuple(paths))
    if not found:
        return None
    try:
        return _instant(found[0])
    except MemoryFault as fault:
        raise BadRecord(f"{key}: {fault.message}") from fault


def _instant(value: Scalar) -> int:
    """ISO, or a number since 1970. *Errors*: BadRecord, BadTime."""
    if isinstance(value, str):
        return parse_time(value)
    if isinstance(value, bool) or abs(value) > 1e15:
        raise BadRecord(f"no time: {echo(as_text(value))}")
    at_us = round(value * SECOND_US) if abs(value) < SECONDS_BELOW else round(value * 1000)
    if not EARLIEST_US <= at_us <= LATEST_US:
        raise BadRecord(f"no time: {echo(as_text(value))}")
    return at_us


def _chosen(choice: Choice, record: object) -> str:
    for rules, word in choice.rules:
        if all(rule.holds(record) for rule in rules):
            return word
    for value in first_hit(record, choice.paths)[:1]:
        word = as_text(value)
        if choice.when is not None:
            return choice.when.get(word, choice.fallback)
        if word.lower() in choice.known:
            return word.lower()
    return choice.fallback


def _age(one: Revision) -> int:
    return EARLIEST_US - 1 if one.observed_at_us is None else one.observed_at_us


def _texts(values: Sequence[Scalar]) -> list[str]:
    """Each as text; halves of characters, which no file can hold, become U+FFFD."""
    return [as_text(one).encode("utf-8", "replace").decode("utf-8") for one in values]
