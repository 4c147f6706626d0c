"""One run of a backfill: look around, choose, bring in, and keep what agents were told to remember as pages."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from ai_memory.capture import memory_pages
from ai_memory.capture.attribution import Attribution
from ai_memory.capture.backfilling import Filled, Filling
from ai_memory.capture.memory_pages import Draft
from ai_memory.capture.policy_file import renew_policy
from ai_memory.capture.rules import read_rules
from ai_memory.capture.survey import Candidate, Progress, Survey, Wanted, around_of, survey
from ai_memory.store.memory import Memory
from ai_memory.transcripts import memory_files
from ai_memory.transcripts.record import Losses
from ai_memory.transcripts.scan import Scan


@dataclass(slots=True)
class Run:
    """What a run found and did."""

    survey: Survey
    chosen: Sequence[Candidate]
    filled: Filled = field(default_factory=Filled)
    drafts: Sequence[Draft] = ()
    """Memory files that may be kept."""
    pages: list[str] = field(default_factory=list)
    """Those of them that were written, as paths of pages."""
    notes: list[str] = field(default_factory=list)

    @property
    def omitted(self) -> int:
        """Sessions that were not chosen, since the newest come first."""
        return len(self.survey.candidates) - len(self.chosen)


def look(memory: Memory, wanted: Wanted, attribution: Attribution, *, most: int, progress: Progress) -> Run:
    """Choose the newest; changes nothing."""
    seen = survey(memory, wanted, attribution, progress)
    return Run(seen, seen.candidates[:most], notes=list(seen.notes))


def read_memory_files(memory: Memory, run: Run, wanted: Wanted, root: str, *, is_allowlist: bool, is_dry: bool) -> None:
    """Read the memory files of a checkout, as far as its policy lets them be kept; writes no page."""
    around = around_of(memory, run.notes)
    files = [
        file
        for file in memory_files.find(root, around, Scan(Losses()))
        if not wanted.agents or not wanted.agents.isdisjoint(file.agents)
    ]
    if files:
        own = read_rules(memory).own
        run.drafts = memory_pages.drafts(memory, root, files, own, run.notes, is_allowlist=is_allowlist, is_dry=is_dry)


def bring_in(
    memory: Memory,
    run: Run,
    wanted: Wanted,
    attribution: Attribution,
    *,
    root: str,
    is_allowlist: bool,
    progress: Progress,
) -> None:
    """Bring in what was chosen, and write the memory files of `root`, if it is given. *Errors*: MemoryFault.

    Crash: safe at any point; another run does what is left.
    """
    memory.create()
    filling = Filling(memory, attribution, wanted, is_allowlist=is_allowlist)
    run.filled = filling.run(run.chosen, progress)
    run.notes += [note for note in run.filled.notes if note not in run.notes]
    if root and wanted.scope is not None:
        renew_policy(memory, [root])
        read_memory_files(memory, run, wanted, root, is_allowlist=is_allowlist, is_dry=False)
        run.pages = memory_pages.write(memory, wanted.scope, run.drafts)
