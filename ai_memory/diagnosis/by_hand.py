"""What lies in the wiki folder and was not taken: for a person to decide, left with a reason, or held elsewhere."""

from collections.abc import Iterator

from ai_memory.diagnosis.finding import Finding, Severity
from ai_memory.diagnosis.ground import Ground
from ai_memory.store import adoption
from ai_memory.store.adoption import Kind

NAMED = 5
"""Files that are named; of more only the number is told."""
_CODES = {Kind.COPY: "conflict-copy", Kind.MARKERS: "conflict-markers", Kind.GONE: "pages-gone"}


def edits(ground: Ground) -> Iterator[Finding]:
    """What a look at every file finds; takes none of it."""
    memory = ground.memory
    if not memory.exists:
        return
    with memory.past() as wiki:
        if wiki is None:
            return
        found = adoption.edits_now(memory.data_dir, wiki, now_us=ground.now_us)
    for one in found.questions:
        yield Finding(_CODES[one.kind], Severity.WARNING, one.found, one.remedy)
    mend = "mend what it says, or move the file out of the wiki folder"
    for reason in found.skipped[:NAMED]:
        yield Finding("file-left", Severity.WARNING, f"a file of the wiki was not taken: {reason}", mend)
    if len(found.skipped) > NAMED:
        more = f"{len(found.skipped) - NAMED} more files of the wiki were not taken"
        yield Finding("file-left", Severity.WARNING, more, "ai-memory status --json names them")
    if found.elsewhere:
        sentence = f"{found.elsewhere} files of the wiki folder are with a sync program, and not on this disk"
        fix = "let it keep the folder on this disk, or move the data dir out of its reach"
        yield Finding("held-elsewhere", Severity.WARNING, sentence, fix)
