"""A mapping: which parts of the JSON records of another program become what. See `docs/sources.md`."""

import re
from collections.abc import Mapping as AnyMapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from ai_memory.errors import echo
from ai_memory.patterns import repeats_a_repetition
from ai_memory.text.facts import EvidenceClass, FactKind
from ai_memory.text.json_paths import Path
from ai_memory.text.mapping_table import Table, read_table
from ai_memory.text.record_rules import Rule

DEEPEST = 16
MOST_CHARS = 500_000
"""That `maxChars` may allow: a page holds 1 MB of UTF-8."""
LARGEST_CONTENT = 1_000_000
LONGEST_PATTERN = 500

ID_NAMES = (
    *("id", "uuid", "key", "externalId", "external_id", "rootId", "root_id", "broadcastId", "artifactId"),
    *("sha", "hash"),
)
TEXT_NAMES = ("text", "summary", "body", "content", "message", "description", "statement", "detail", "output")
TITLE_NAMES = ("title", "subject", "name", "label", "heading")
TIME_NAMES = (
    *("recordedAt", "observedAt", "createdAt", "updatedAt", "timestamp", "at", "time", "date"),
    *("closed", "opened"),
)
KIND_NAMES = ("kind", "type", "category", "intent")
"""Where to look, in this order, if a mapping does not say."""

FACT_KINDS = tuple(kind.value for kind in FactKind)
PAGE_KINDS = ("note", "concept", "decision", "gotcha", "procedure")
"""That a record may become. No source makes rules, slots or handoffs: those are told to agents."""
TRUSTS = (EvidenceClass.IMPORTED.value, EvidenceClass.REPORTED.value)
"""None of them supports a statement: no source can say of itself that it is to be believed."""

_NAMESPACE = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_METADATA_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")


@dataclass(frozen=True, slots=True)
class Choice:
    """How a word is found: the first row whose rules all hold, else what stands in the record, else the fallback."""

    fallback: str
    known: tuple[str, ...]
    """Words that may come out."""
    rules: tuple[tuple[tuple[Rule, ...], str], ...] = ()
    paths: tuple[Path, ...] = ()
    when: AnyMapping[str, str] | None = None
    """Words of the record → ours; None: they are ours as they are."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """A line behind the text."""

    label: str
    paths: tuple[Path, ...]
    joiner: str = ", "


@dataclass(frozen=True, slots=True)
class ContentFrom:
    """The text is another file: in this folder below the root, by the name that the field holds."""

    dir: str
    field: Path
    max_bytes: int = 512_000


@dataclass(frozen=True, slots=True)
class Mapping:
    """A whole mapping, read."""

    namespace: str
    makes_facts: bool
    container: Path
    depth: int
    id: tuple[Path, ...]
    text: tuple[Path, ...]
    title: tuple[Path, ...]
    observed_at: tuple[Path, ...]
    uri: tuple[Path, ...]
    valid_from: tuple[Path, ...]
    valid_to: tuple[Path, ...]
    kind: Choice
    trust: Choice
    append: tuple[Labelled, ...]
    metadata: AnyMapping[str, Path]
    keep: tuple[Rule, ...]
    drop: tuple[Rule, ...]
    content_from: ContentFrom | None
    latest_per_id: bool
    max_chars: int


def read_mapping(text: str, *, name: str) -> Mapping:
    """The mapping that a TOML text states. *Errors*: UsageFault naming the key that is wrong or unknown."""
    table = read_table(text, name=name)
    makes_facts = table.word("as", ("facts", "pages"), "facts") == "facts"
    select = table.table("select", {})
    found = Mapping(
        namespace=table.matching("namespace", _NAMESPACE, "lower-case letters, digits, '.', '_' and '-'"),
        makes_facts=makes_facts,
        container=table.path("container", ()),
        depth=table.whole("depth", 3, most=DEEPEST),
        id=table.paths("id", ID_NAMES),
        text=table.paths("text", TEXT_NAMES),
        title=table.paths("title", TITLE_NAMES),
        observed_at=table.paths("observedAt", TIME_NAMES),
        uri=table.paths("uri", ()),
        valid_from=table.paths("validFrom", ()),
        valid_to=table.paths("validTo", ()),
        kind=_kind(table, makes_facts=makes_facts),
        trust=_trust(table),
        append=tuple(_labelled(row) for row in table.tables("append")),
        metadata=_metadata(table.table("metadata", {})),
        keep=tuple(_rule(row) for row in select.tables("keep")),
        drop=tuple(_rule(row) for row in select.tables("drop")),
        content_from=_content_from(table),
        latest_per_id=table.truth("latestPerId"),
        max_chars=table.whole("maxChars", 8_000, most=MOST_CHARS),
    )
    select.done()
    table.done()
    return found


def _kind(table: Table, *, makes_facts: bool) -> Choice:
    kinds, usual = (FACT_KINDS, "fact") if makes_facts else (PAGE_KINDS, "note")
    given = table.get("kind")
    if given is None:
        return Choice(usual, kinds, paths=tuple((name,) for name in KIND_NAMES))
    if isinstance(given, str):
        return Choice(table.word("kind", kinds, usual), kinds)
    inner = table.table("kind", {})
    rows = []
    for row in inner.tables("rules"):
        rows.append((tuple(_rule(one) for one in row.tables("when")), row.word("kind", kinds, None)))
        row.done()
    found = Choice(inner.word("fallback", kinds, usual), kinds, tuple(rows), inner.paths("from", ()))
    inner.done()
    return found


def _trust(table: Table) -> Choice:
    usual = EvidenceClass.IMPORTED.value
    if not isinstance(table.get("trust"), AnyMapping):
        return Choice(table.word("trust", TRUSTS, usual), TRUSTS)
    inner = table.table("trust", {})
    words = inner.table("when", {})
    when = {key: words.word(key, TRUSTS, None) for key in words.names()}
    found = Choice(inner.word("fallback", TRUSTS, usual), TRUSTS, paths=inner.paths("from", ()), when=when)
    inner.done()
    return found


def _labelled(row: Table) -> Labelled:
    found = Labelled(row.text("label"), row.paths("from", None), row.text("joiner", ", "))
    row.done()
    return found


def _metadata(table: Table) -> dict[str, Path]:
    for name in table.names():
        if not _METADATA_NAME.fullmatch(name):
            raise table.fault(name, "is no name for a key", hint="use letters, digits, '_' and '-'")
    return {name: table.path(name, None) for name in table.names()}


def _content_from(table: Table) -> ContentFrom | None:
    if table.get("contentFrom") is None:
        return None
    inner = table.table("contentFrom", {})
    folder = inner.text("dir", "")
    place = PurePosixPath(folder)
    if place.is_absolute() or ".." in place.parts or "\\" in folder or ":" in folder or "\0" in folder:
        raise inner.fault("dir", f"leads out of the root: {echo(folder)}", hint="name a folder below it, without '..'")
    most = inner.whole("maxBytes", 512_000, most=LARGEST_CONTENT)
    found = ContentFrom(place.as_posix(), inner.path("field", None), most)
    inner.done()
    return found


def _rule(row: Table) -> Rule:
    pattern = row.text("matches", "")
    rule = Rule(
        row.path("field", None),
        equals=row.scalar("equals"),
        one_of=row.scalars("oneOf"),
        matches=_pattern(row, pattern) if pattern else None,
        exists=row.truth("exists"),
        absent=row.truth("absent"),
        gt=row.scalar("gt"),
        lt=row.scalar("lt"),
    )
    row.done()
    if rule == Rule(rule.field):
        raise row.fault("field", "has no condition", hint=f"give one of {', '.join(_CONDITIONS)}")
    if rule.absent and rule != Rule(rule.field, absent=True):
        raise row.fault("absent", "goes with no other condition", hint="make two rules of it")
    return rule


_CONDITIONS = ("equals", "oneOf", "matches", "exists", "absent", "gt", "lt")


def _pattern(row: Table, pattern: str) -> re.Pattern[str]:
    if len(pattern) > LONGEST_PATTERN:
        raise row.fault("matches", f"is longer than {LONGEST_PATTERN} characters", hint="make it shorter")
    try:
        compiled = re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as fault:
        raise row.fault("matches", f"is no regular expression: {fault}", hint="see Python's `re`") from fault
    if repeats_a_repetition(pattern):
        raise row.fault("matches", "repeats a repetition and may take for ever", hint="write a+ for (a+)+")
    return compiled
