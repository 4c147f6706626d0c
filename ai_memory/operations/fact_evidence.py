"""Evidence that cannot be made up: each class is looked for where it says it comes from."""

import hashlib
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ai_memory.clock import rfc3339
from ai_memory.errors import MemoryFault, NotFound, UsageFault, echo
from ai_memory.model import Scope
from ai_memory.plainfile import open_plain
from ai_memory.text.admission import is_cut, is_turned
from ai_memory.text.facts import Evidence, EvidenceClass, Fact
from ai_memory.text.stems import shared, stems

if TYPE_CHECKING:
    from ai_memory.store.fact_rows import Said, Seen
    from ai_memory.store.memory import Memory

LEAST_QUOTE = 12
LEAST_WORDS = 3
"""Words that say something, in a quote: fewer stand in too many prompts."""
LEAST_SHARED = 2
"""Stems of four letters that evidence and statement share, so that languages near each other do, too."""
MAX_FILE_BYTES = 4 << 20
TERMINAL = "terminal"
"""What declared evidence cites that a person confirmed there."""

_LINES = re.compile(r"(?P<path>.+?)(?:#L(?P<first>\d{1,7})(?:-L?(?P<last>\d{1,7}))?)?(?:@(?P<sha>[0-9a-f]{7,64}))?")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_COMMIT = re.compile(r"commit:([0-9A-Fa-f]{7,40}|HEAD)")
_OBSERVATION = re.compile(r"obs:([0-9A-Za-z-]{6,64})")
_FORMS = (
    ("commit:", "commit", "write commit:HEAD, or commit: and 7 digits or more of its id"),
    ("obs:", "tool's answer", "write obs: and its id, or the last 6 letters of it: `ai-memory session ID` shows them"),
)


@dataclass(frozen=True, slots=True)
class Checked:
    """One piece of evidence as it was found, and what a reader must know of it."""

    evidence: Evidence
    note: str = ""


def adds(evidence: Evidence, fact: Fact) -> bool:
    """Whether it supports the fact by more than what was known when it began to wait: the prompt that it was taken
    from, quoted once more, is no second witness."""
    if not evidence.klass.supports:
        return False
    if evidence.session and evidence.quote:
        return (evidence.session, evidence.at) not in [(one.session, one.at) for one in fact.evidence]
    if evidence.cite == TERMINAL:
        return True
    return (evidence.cite, evidence.sha256) not in [(one.cite, one.sha256) for one in fact.evidence]


def says_anew(evidence: Iterable[Evidence], fact: Fact) -> bool:
    """Whether a person says something there that is not what the fact rests on already."""
    return any(one.klass is EvidenceClass.DECLARED and adds(one, fact) for one in evidence)


def quoted(memory: "Memory", scope: Scope, statement: str, quote: str, *, is_for: bool = True) -> Checked:
    """A person's own words, found as they stand in a prompt that was captured in this project. `is_for`: they are to
    bear the statement out, not to take it back.

    Errors: UsageFault for a quote that is too short or says nothing of the statement; NotFound where no prompt has it.
    """
    words = stems(quote, letters=LEAST_QUOTE)
    if len(quote) < LEAST_QUOTE or len(words) < LEAST_WORDS:
        raise UsageFault(
            f"the quote is too short to prove anything: {echo(quote)}",
            hint=f"quote {LEAST_WORDS} words or more, as the person typed them",
        )
    said = _said(memory, scope, quote)
    if said is None:
        raise NotFound(
            "no prompt that was captured here holds these words as they stand",
            hint="quote to the letter, or leave the quote out: the fact then waits for review",
        )
    if shared(quote, statement) < LEAST_SHARED:
        raise UsageFault("the quote says nothing of the statement", hint="quote the words that it rests on")
    if is_cut(quote, said.text):
        raise UsageFault(
            "the quote leaves out what denies it in the prompt", hint="quote the whole sentence, to the letter"
        )
    if is_for and is_turned(statement, quote):
        raise UsageFault(
            "the statement says the opposite of the quote, or another number",
            hint="say it as the person did, or leave the quote out: the fact then waits for review",
        )
    found = Evidence(EvidenceClass.DECLARED, quote=quote, at=rfc3339(said.at_us), session=said.session)
    return Checked(found)


def _said(memory: "Memory", scope: Scope, quote: str) -> "Said | None":
    from ai_memory.store.fact_rows import prompt_with

    def look() -> "Said | None":
        with memory.state_reading() as connection:
            if connection is None:
                return None
            return prompt_with(connection, scope.workspace, scope.project, quote)

    found = look()
    if found is None and memory.data_dir.spool.is_dir():
        from ai_memory.capture.finalizing import apply_spool  # the prompt of this very turn may wait still

        apply_spool(memory)
        found = look()
    return found


def confirmed(memory: "Memory", statement: str) -> Checked:
    """The person's word for it, given at the terminal. Errors: MemoryFault where nobody is there, or says no."""
    if not memory.caller.confirms(f"Do you say so yourself: {statement}"):
        raise MemoryFault(
            "nobody confirmed it at a terminal", hint="run it yourself in a terminal and answer yes, or give a quote"
        )
    return Checked(Evidence(EvidenceClass.DECLARED, cite=TERMINAL, at=rfc3339(memory.clock())))


def cited(memory: "Memory", scope: Scope, statement: str, cite: str) -> Checked:
    """What a citation proves: lines of the checkout, a commit of it, a tool's answer; a URL proves nothing here.

    Errors: UsageFault, NotFound for a citation that leads nowhere or elsewhere.
    """
    if _URL.match(cite):
        return Checked(Evidence(EvidenceClass.REPORTED, cite=cite, at=rfc3339(memory.clock())))
    if named := _OBSERVATION.fullmatch(cite):
        return _observed(memory, scope, statement, named[1])
    if named := _COMMIT.fullmatch(cite):
        return _committed(scope, statement, named[1])
    for mark, what, form in _FORMS:
        if cite.startswith(mark):
            raise UsageFault(f"{echo(cite)} names no {what}", hint=form)
    return _in_file(memory, scope, statement, cite)


def _related(checked: Checked, text: str, statement: str) -> Checked:
    """Observed if text and statement speak of the same; else reported, and why."""
    if shared(text, statement) >= LEAST_SHARED:
        return checked
    what = checked.evidence.cite
    evidence = replace(checked.evidence, klass=EvidenceClass.REPORTED)
    return Checked(evidence, f"{what} exists but shares no words with the statement: it counts as reported")


def _observed(memory: "Memory", scope: Scope, statement: str, name: str) -> Checked:
    from ai_memory.store.fact_rows import tool_answer

    seen: Seen | None = None
    with memory.state_reading() as connection:
        if connection is not None:
            seen = tool_answer(connection, scope.workspace, scope.project, name)
    if seen is None:
        raise NotFound(
            f"no tool's answer of this project is called obs:{name}",
            hint="`ai-memory session ID` shows their ids; only answers of tools count",
        )
    digest = hashlib.sha256(seen.output.encode()).hexdigest()
    told = Evidence(
        EvidenceClass.OBSERVED,
        cite=f"obs:{seen.event_id}",
        at=rfc3339(seen.at_us),
        session=seen.session,
        sha256=digest,
    )
    return _related(Checked(told), seen.output, statement)


def _committed(scope: Scope, statement: str, name: str) -> Checked:
    from ai_memory.store.checkout import commit_of  # the git library

    found = commit_of(_root(scope), name if name == "HEAD" else name.lower())
    if found is None:
        raise NotFound(f"this checkout has no commit {name}", hint="give at least 7 digits of a commit that is here")
    told = Evidence(EvidenceClass.OBSERVED, cite=f"commit:{found.id}", at=rfc3339(found.at_us))
    return _related(Checked(told), found.message, statement)


def _in_file(memory: "Memory", scope: Scope, statement: str, cite: str) -> Checked:
    parts = _LINES.fullmatch(cite)
    if parts is None:
        raise UsageFault(f"cannot read the citation {echo(cite)}", hint="write path#L1-L9, commit:ID, obs:ID or a URL")
    text, first, last = _lines_of(_root(scope), parts["path"], parts["first"], parts["last"])
    digest = hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
    if parts["sha"] and not digest.startswith(parts["sha"]):
        raise UsageFault(
            f"these lines of {echo(parts['path'])} have the SHA-256 {digest[:12]}…, not {parts['sha'][:12]}…",
            hint="the file changed, or these are other lines: read it again",
        )
    place = parts["path"].replace(os.sep, "/") + (f"#L{first}-L{last}" if parts["first"] else "")
    told = Evidence(EvidenceClass.OBSERVED, cite=place, at=rfc3339(memory.clock()), sha256=digest)
    return _related(Checked(told), text, statement)


def _root(scope: Scope) -> str:
    """The folder of the checkout. Errors: UsageFault where the project has none here."""
    if scope.root is None:
        raise UsageFault(
            "citations of files and commits need the project's checkout", hint="run it in a folder of the project"
        )
    return scope.root


def _lines_of(root: str, name: str, first: str | None, last: str | None) -> tuple[str, int, int]:
    """The lines' text with their first and last number; the whole file where no line is named."""
    base = Path(os.path.realpath(root))
    path = Path(os.path.realpath(base / name))
    if not path.is_relative_to(base) or path.is_relative_to(base / ".git"):
        raise UsageFault(f"{echo(name)} lies outside the checkout", hint="cite a file of this project")
    try:
        with open_plain(path) as file:
            content = file.read(MAX_FILE_BYTES + 1)
    except OSError as fault:
        raise NotFound(f"cannot read {echo(name)} in {root}", hint="cite a file of this project") from fault
    if len(content) > MAX_FILE_BYTES:
        raise UsageFault(f"{echo(name)} is larger than {MAX_FILE_BYTES >> 20} MiB", hint="cite a smaller file")
    text = content.decode("utf-8", "surrogateescape")
    if first is None:
        return text, 1, text.count("\n") + 1
    lines = text.removesuffix("\n").split("\n")  # as editors count, not as `splitlines`
    start, end = int(first), int(last or first)
    if not 1 <= start <= end <= len(lines):
        raise UsageFault(f"{echo(name)} has {len(lines)} lines, not {start} to {end}", hint="read it again")
    return "\n".join(lines[start - 1 : end]), start, end
