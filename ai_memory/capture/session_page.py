"""The page of a session, made by rules from what was observed: the same observations always give the same bytes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ai_memory.capture import prompts
from ai_memory.capture.digest import COMPLETED, Command, Digest, Taken, digest, subject_of
from ai_memory.capture.words import agent_name, clock_time, code, count, duration, listed, minute, plain
from ai_memory.clock import rfc3339
from ai_memory.model import Sanitized
from ai_memory.store.state_sessions import Observation, Session, short_id
from ai_memory.text.page import compose
from ai_memory.text.sanitize import OwnPatterns, sanitize_page

RAW_HEAD = 250
RAW_TAIL = 250
MAX_LISTED = 40
"""Prompts, files and commands beyond this are counted, not listed."""
NOTHING: Mapping[str, int] = {}
PROMPT_LENGTH = 400
LINE_LENGTH = 140


@dataclass(frozen=True, slots=True)
class SessionPage:
    """A page ready to be composed: `frontmatter` in order, `body` with its heading."""

    path: str
    frontmatter: dict[str, object]
    body: str

    @property
    def title(self) -> str:
        return str(self.frontmatter["title"])


def composed(frontmatter: dict[str, object], body: str, own: OwnPatterns) -> Sanitized:
    """A whole page of ours, scrubbed once more."""
    return sanitize_page(compose(frontmatter, body), own)


def page_path(session: Session) -> str:
    """Path of a session's page below its project: one folder a month, by the month it opened."""
    return f"sessions/{rfc3339(session.opened_at_us)[:7]}/{session.id}.md"


def session_page(
    session: Session,
    observations: Sequence[Observation],
    *,
    root: str = "",
    taken: Taken | None = None,
    elsewhere: Mapping[str, int] = NOTHING,
) -> SessionPage:
    """The session as a page. `root`: the checkout, so that paths inside it are short. `taken`: what it began with.

    `elsewhere`: observations that stand in pages of other projects, by `workspace/project`.
    """
    told = digest(session, observations, root=root, taken=taken)
    summary = summarise(told)
    frontmatter: dict[str, object] = {
        "title": told.title,
        "kind": "session",
        "tier": "episodic",
        "session_id": session.id,
        "agent": session.agent,
        "summary": summary,
    }
    sections = [f"# {plain(told.title)}", plain(summary), *_sections(told, observations, elsewhere)]
    made = f"Made by rules from {count(len(observations), 'observation')}."
    foot = f"{made} `ai-memory session {short_id(session.id)}` shows them all."
    return SessionPage(page_path(session), frontmatter, "\n\n".join([*sections, "---", foot]) + "\n")


def summarise(told: Digest) -> str:
    """One paragraph that says what happened, for the page's head and its frontmatter."""
    session = told.session
    spent = duration((session.ended_at_us or session.last_at_us) - session.opened_at_us)
    work = count(len(told.prompts), "prompt") if told.prompts else "no prompt kept"
    if told.tools:
        named = listed([f"{name} {number}" for name, number in told.tools])
        work += f" and {count(told.calls, 'completed tool call')} ({named})"
    parts = [f"{agent_name(session.agent)} worked for {spent}: {work}."]
    if told.taken is not None:
        parts.append(f"It took over from {agent_name(told.taken.agent)}: {told.taken.title}.")
    if told.edited:
        parts.append(f"Edited {listed([path for path, _ in told.edited], most=4)}.")
    elif told.read:
        parts.append(f"Edited nothing; read {listed([path for path, _ in told.read], most=3)}.")
    if told.last_tests:
        last = told.last_tests[-1]
        parts.append(f"Tests last ran with {prompts.shorten(prompts.one_line(last.text), 60)}: {last.test}.")
    if told.standing:
        failing = [prompts.shorten(trouble.what, 60) for trouble in told.standing]
        parts.append(f"Still failing when last seen: {listed(failing, most=2)}.")
    if told.unfinished:
        begun = [prompts.shorten(what, 60) for what in told.unfinished]
        parts.append(f"Begun and not finished: {listed(begun, most=3)}.")
    if session.commit_end and session.commit_end != session.commit_start:
        parts.append(f"The branch{_branch(session)} moved to {session.commit_end[:8]}.")
    if told.compactions:
        parts.append(f"The context was compacted {count(len(told.compactions), 'time')}.")
    return " ".join(parts)


def _branch(session: Session) -> str:
    return f" {session.branch_end}" if session.branch_end else ""


def _sections(told: Digest, observations: Sequence[Observation], elsewhere: Mapping[str, int]) -> Iterator[str]:
    yield _section("Session", [*_metadata(told), *_elsewhere(elsewhere)])
    yield from _optional("Prompts", _capped(list(_prompts(told))))
    yield from _optional("Files edited", _capped([_file(path, times) for path, times in told.edited]))
    yield from _optional("Files read", _capped([_file(path, times) for path, times in told.read]))
    yield from _optional("Delegated", _capped([_quoted(text) for text in told.delegated]))
    yield from _optional("Looked up", _capped([_quoted(text) for text in told.looked_up]))
    yield from _optional("Tests", _capped([_test(command) for command in told.last_tests]))
    yield from _optional("Errors", _capped(list(_errors(told))))
    yield from _optional("Commands", _capped(list(_commands(told))))
    yield from _optional("Compactions", [f"- {plain(prompts.shorten(text, 2_000))}" for text in told.compactions])
    yield from _optional(
        "Last answer", [plain(prompts.shorten(prompts.one_line(told.answer), 2_000))] * bool(told.answer)
    )
    yield from _optional("Tool calls", [f"- {plain(name)}: {number}" for name, number in told.tools])
    yield _section("Raw observations", list(_raw(observations, told.root)))


def _section(title: str, lines: list[str]) -> str:
    return f"## {title}\n\n" + "\n".join(lines)


def _optional(title: str, lines: list[str]) -> Iterator[str]:
    if lines:
        yield _section(title, lines)


def _capped(lines: list[str]) -> list[str]:
    """First and last lines with a count between, where there are too many."""
    if len(lines) <= MAX_LISTED:
        return lines
    head, tail = MAX_LISTED // 2, MAX_LISTED - MAX_LISTED // 2
    return [*lines[:head], f"- … {len(lines) - MAX_LISTED} more …", *lines[-tail:]]


def _metadata(told: Digest) -> Iterator[str]:
    session = told.session
    yield f"- Session: {code(session.id)}"
    if session.native_id and session.native_id != session.id:
        yield f"- Its own id: {code(session.native_id)}"
    yield f"- Agent: {agent_name(session.agent)}"
    yield f"- Started: {minute(session.opened_at_us)}"
    yield f"- Ended: {minute(session.ended_at_us)}" if session.ended_at_us else "- Ended: not yet"
    if session.cwd:
        yield f"- Directory: {code(session.cwd)}"
    if session.branch_end or session.commit_end:
        yield f"- Git: {_git(session)}"
    if told.taken is not None:
        link = f"[[{told.taken.page}]]" if told.taken.page else "a handoff of another project"
        yield f"- Took over: {link} from {agent_name(told.taken.agent)}"
    if told.subagents:
        yield f"- Subagents: {told.subagents}"
    yield f"- Observations: {session.observations}"


def _elsewhere(counts: Mapping[str, int]) -> Iterator[str]:
    for project, number in sorted(counts.items()):
        yield f"- Also worked in: {code(project)} ({count(number, 'observation')})"


def _git(session: Session) -> str:
    start = _head(session.branch_start, session.commit_start)
    end = _head(session.branch_end, session.commit_end)
    return end if start == end or not session.commit_start else f"from {start} to {end}"


def _head(branch: str, commit: str) -> str:
    place = f"branch {code(branch)}" if branch else "no branch"
    return f"{place} at {commit[:8]}" if commit else f"{place}, no commit yet"


def _prompts(told: Digest) -> Iterator[str]:
    for number, prompt in enumerate(told.prompts, 1):
        yield f"{number}. {plain(prompts.shorten(prompts.one_line(prompt.text), PROMPT_LENGTH))}"


def _quoted(text: str) -> str:
    return f"- {plain(prompts.shorten(text, LINE_LENGTH))}"


def _file(path: str, times: int) -> str:
    return f"- {code(path)}" + (f" ({times} times)" if times > 1 else "")


def _test(command: Command) -> str:
    return f"- {code(prompts.shorten(prompts.one_line(command.text), LINE_LENGTH))}: {command.test}"


def _errors(told: Digest) -> Iterator[str]:
    for trouble in told.troubles:
        after = "; went well later" if trouble.mended else ""
        fault = f": {plain(trouble.fault)}" if trouble.fault else ""
        yield f"- {clock_time(trouble.at_us)} {code(prompts.shorten(trouble.what, LINE_LENGTH))}{fault}{after}"


def _commands(told: Digest) -> Iterator[str]:
    """Each command once, in order of its first run, with how often it ran and failed."""
    runs: dict[str, list[Command]] = {}
    for command in told.commands:
        runs.setdefault(prompts.shorten(prompts.one_line(command.text), LINE_LENGTH), []).append(command)
    for text, same in runs.items():
        failed = sum(command.failed for command in same)
        notes = [f"{len(same)} times"] if len(same) > 1 else []
        if failed:
            notes.append("failed" if failed == len(same) else f"failed {count(failed, 'time')}")
        yield f"- {code(text)}" + (f" ({', '.join(notes)})" if notes else "")


def _raw(observations: Sequence[Observation], root: str) -> Iterator[str]:
    """One line an observation; the start of a call that ended stands in the line of its end."""
    ended = {row.call_id for row in observations if row.kind == COMPLETED and row.call_id}
    observations = [row for row in observations if row.kind != "pre-tool-use" or row.call_id not in ended]
    left_out = len(observations) - RAW_HEAD - RAW_TAIL
    shown = observations if left_out <= 0 else observations[:RAW_HEAD]
    yield from (_raw_line(row, root) for row in shown)
    if left_out > 0:
        yield f"- … {count(left_out, 'observation')} left out …"
        yield from (_raw_line(row, root) for row in observations[-RAW_TAIL:])


def _worth(row: Observation) -> str:
    """The text of an observation; of a prompt the part that somebody typed, where there is one."""
    return (prompts.substance(row.text) if row.kind == "user-prompt" else "") or row.text


def _raw_line(row: Observation, root: str) -> str:
    about = subject_of(row, root) if row.tool else prompts.one_line(_worth(row))
    what = f" {row.tool}" if row.tool else ""
    failed = " (failed)" if row.outcome == "error" else ""
    kind: str = row.source_event if row.kind == "other" and row.source_event else row.kind
    text = f": {plain(prompts.shorten(about, 80))}" if about else ""
    kind = "tool" if kind == COMPLETED else "tool begun" if kind == "pre-tool-use" else kind
    return f"- {clock_time(row.at_us)} {kind}{plain(what) and ' ' + plain(what)}{failed}{text}"
