"""Sources: folders of records that are read again and again, and whether that goes well."""

import os
from collections.abc import Iterator
from shlex import quote
from typing import TYPE_CHECKING

from ai_memory.clock import rfc3339
from ai_memory.diagnosis.finding import Finding, Severity
from ai_memory.patience import NoAnswer, Patience
from ai_memory.store.sources import Source
from ai_memory.store.sources import sources as kept
from ai_memory.text.times import DAY_US

if TYPE_CHECKING:
    from ai_memory.diagnosis.ground import Ground

ANSWER_S = 2.0
"""For the folder of a source: who looks at all that is amiss waits for no mount that is gone."""
LATE_INTERVALS = 3
"""A source that was due so often, and for a day, is forgotten by cron and drains alike."""
_WARNING, _NOTE = Severity.WARNING, Severity.NOTE


def sources(ground: "Ground") -> Iterator[Finding]:
    """Sources that cannot be read, were not read whole, or not for long: one finding each."""
    with ground.memory.state_reading() as connection:
        known = kept(connection) if connection is not None else []
    if not known:
        return
    with ground.memory.reading() as snapshot:
        projects = {row.id for row in snapshot.projects()}
    for one in known:
        sync = f"ai-memory source sync {one.name}"
        if one.project_id not in projects:
            fix = f"ai-memory source remove {one.name}"
            yield Finding("source-gone", _WARNING, f"the project of the source {one.name} is gone", fix)
        elif missing := _missing(one.root):
            fix = f"put it back, or forget the source: ai-memory source remove {one.name}"
            yield Finding("source-gone", _WARNING, f"the folder of the source {one.name} {missing}", fix)
        elif one.fault:
            since = f"since {rfc3339(one.complete_at_us)}" if one.complete_at_us is not None else "ever"
            sentence = f"the source {one.name} was not read whole {since}: {one.fault.rstrip('.')}"
            yield Finding("source-failed", _WARNING, sentence, sync)
        elif one.tried_at_us is None:
            yield Finding("source-late", _NOTE, f"the source {one.name} was never read", sync)
        elif _is_late(one, ground.now_us):
            sentence = f"the source {one.name} was not read since {rfc3339(one.tried_at_us)}: nothing runs `maintain`"
            yield Finding("source-late", _WARNING, sentence, sync)


def _missing(root: str) -> str:
    """What is wrong with the folder; empty if it can be read as it was named."""
    try:
        with Patience(ANSWER_S) as patience:
            return patience.ask(f"{quote(root)}", lambda: _wrong(root))
    except NoAnswer:
        return f"{quote(root)} does not answer"


def _wrong(root: str) -> str:
    leads_to = os.path.realpath(root)
    if leads_to != root:
        return f"{quote(root)} leads to {quote(leads_to)} now"
    try:
        with os.scandir(root):
            return ""
    except OSError as fault:
        return f"{quote(root)} cannot be read: {fault.strerror or fault}"


def _is_late(one: Source, now_us: int) -> bool:
    """Whether even the last look is long ago; one of the future was a clock set back."""
    return one.tried_at_us is not None and now_us - one.tried_at_us > max(LATE_INTERVALS * one.every_us, DAY_US)
