"""Agents whose sessions do not come here."""

from collections.abc import Iterator

from ai_memory.diagnosis.finding import Finding, Severity
from ai_memory.diagnosis.ground import Ground


def captured(ground: Ground) -> Iterator[Finding]:
    """Agents that worked while nothing, or not all, of it came here."""
    seen = ground.compared
    yield from (Finding("records-unread", Severity.UNCHECKED, note) for note in seen.notes)
    for agent, local in seen.local.items():
        missing = local.sessions - local.captured
        if not missing:
            continue
        days, backfill = ground.days, f"ai-memory backfill --agent {agent} --since {ground.days}d --all-projects"
        if local.captured:
            sentence = f"{missing} of its {local.sessions} sessions of the last {days} days are not here"
            yield Finding("sessions-missing", Severity.NOTE, sentence, backfill, agent)
            continue
        sentence = f"it worked in {local.sessions} sessions of the last {days} days, and none of them is here"
        fix = f"ai-memory setup --agent {agent} --yes, and start it anew; {backfill} brings in what was"
        if ground.is_wired(agent):
            fix = f"start it anew, so that its hooks count; {backfill} brings in what was"
        yield Finding("sessions-uncaptured", Severity.WARNING, sentence, fix, agent)
