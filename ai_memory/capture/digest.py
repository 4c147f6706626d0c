"""A session's observations read once: prompts, files, commands, tests, errors. Page and handoff are made from it."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from ai_memory.capture import checks, prompts, tools
from ai_memory.capture.tools import Family
from ai_memory.store.state_sessions import Observation, Session

COMPLETED = "post-tool-use"
_WORK = frozenset({"pre-tool-use", "post-tool-use", "post-compaction"})
_EXIT_CODE = re.compile(r"^(?:Process exited with code|Exit code:?|exit code:?)\s+(\d+)", re.MULTILINE)

_FAILED_TEST = re.compile(r"^(?:FAILED|ERROR) \S+::\S|^--- FAIL: |^test \S+ \.\.\. FAILED$|^not ok \d")
_ASSERTED = re.compile(r"^E\s{2,}\S")
_NAMES_ERROR = re.compile(r"\b\w*(?:Error|Exception)\b|\berror(?:\[\w+\])?:|^fatal:|\bpanicked\b|^panic:")
_HINTS_AT_ERROR = re.compile(r"\b(?:FAILED|failed|not found|denied|No such|cannot|refused|timed out)\b")


def is_work(kind: str, text: str) -> bool:
    """Whether an event is more than the coming and going of a session. Sessions without any make no page.

    A prompt whose text was not kept counts; one that a harness made does not.
    """
    return kind in _WORK or (kind == "user-prompt" and (not text or prompts.substance(text) != ""))


@dataclass(frozen=True, slots=True)
class Prompt:
    """One thing that the person typed."""

    at_us: int
    text: str


@dataclass(frozen=True, slots=True)
class Command:
    """One command that ended."""

    at_us: int
    text: str
    outcome: str
    """`success`, `error` or `unknown`."""
    fault: str = ""
    """The telling line of its output when it failed."""
    test: checks.Outcome | None = None

    @property
    def failed(self) -> bool:
        return self.outcome == "error" or (self.test is not None and self.test.passed is False)


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something that failed, and whether the same call went well later."""

    at_us: int
    what: str
    fault: str
    mended: bool


@dataclass(frozen=True, slots=True)
class Taken:
    """What the session was given at its start: the handoff of an earlier one."""

    agent: str
    title: str
    """Of the work, without the word handoff."""
    page: str
    """Path of its page below the project; empty where that is another project's."""
    summary: str
    open_questions: tuple[str, ...] = ()
    next_steps: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Digest:
    """What a session was. Paths are relative to the checkout where they lie inside it."""

    session: Session
    root: str
    prompts: tuple[Prompt, ...]
    edited: tuple[tuple[str, int], ...]
    """(path, how often), first edited first."""
    read: tuple[tuple[str, int], ...]
    """The same for files that were read and never edited."""
    commands: tuple[Command, ...]
    troubles: tuple[Trouble, ...]
    tools: tuple[tuple[str, int], ...]
    """(name, completed calls), most used first."""
    compactions: tuple[str, ...]
    first_call: str
    """What the first tool call was, completed or not; empty when there was none."""
    subagents: int
    last_family: Family | None
    """Of the last completed call; None when a stop or the end came after it, or none completed."""
    stopped: bool
    """A stop came after the last prompt."""
    worked_last: bool = False
    """A call completed after the last prompt."""
    asked_back: str = ""
    """The agent's answer to the last prompt, if it ends with a question and is kept."""
    delegated: tuple[str, ...] = ()
    """What subagents were asked to do."""
    looked_up: tuple[str, ...] = ()
    """Addresses and queries of the web."""
    unfinished: tuple[str, ...] = ()
    """Calls that began and of whose end nothing was told: what ran when the session was cut off."""
    answer: str = ""
    """The agent's last answer, where the settings keep it."""
    taken: Taken | None = None

    @property
    def said(self) -> tuple[str, ...]:
        """Prompts that say more than yes or go on."""
        return tuple(prompt.text for prompt in self.prompts if not prompts.is_acknowledgement(prompt.text))

    @property
    def title(self) -> str:
        """The first typed prompt that says something, else what else is known."""
        if self.said:
            return prompts.title_of(self.said[0])
        if self.taken is not None:
            return prompts.shorten(f"Continued: {self.taken.title}", prompts.TITLE_LENGTH)
        if self.compactions:
            return prompts.title_of(self.compactions[0])
        if self.edited:
            return f"Session on {self.edited[0][0]}"
        return prompts.shorten(self.first_call, prompts.TITLE_LENGTH) or f"Session {self.session.id[:8]}"

    @property
    def calls(self) -> int:
        return sum(count for _, count in self.tools)

    @property
    def tests(self) -> tuple[Command, ...]:
        return tuple(command for command in self.commands if command.test is not None)

    @property
    def standing(self) -> tuple[Trouble, ...]:
        """What failed and was not seen to go well afterwards, newest first, each once."""
        latest = {trouble.what: trouble for trouble in self.troubles if not trouble.mended}
        return tuple(sorted(latest.values(), key=lambda trouble: -trouble.at_us))

    @property
    def last_tests(self) -> tuple[Command, ...]:
        """The last run of each test command, in order of time."""
        latest = {prompts.one_line(command.text): command for command in self.tests}
        return tuple(sorted(latest.values(), key=lambda command: command.at_us))


def digest(
    session: Session, observations: Sequence[Observation], *, root: str = "", taken: Taken | None = None
) -> Digest:
    """The session read once. `observations` stand in order of (time, event id)."""
    typed = _typed(observations)
    calls = [row for row in observations if row.kind == COMPLETED and row.tool]
    commands = tuple(_command(row) for row in calls if _is_command(row))
    edited, read = _files(calls, root)
    counts: dict[str, int] = {}
    for row in calls:
        counts[row.tool] = counts.get(row.tool, 0) + 1
    last_call = calls[-1] if calls else None
    last_prompt_us = typed[-1].at_us if typed else 0
    stops = [row.at_us for row in observations if row.kind in ("stop", "session-end")]
    return Digest(
        session=session,
        root=root,
        prompts=typed,
        edited=edited,
        read=read,
        commands=commands,
        troubles=_troubles(calls, root),
        tools=tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0]))),
        compactions=tuple(row.text for row in observations if row.kind == "post-compaction" and row.text.strip()),
        first_call=_first_call(observations, root),
        subagents=len({row.agent_id for row in observations if row.agent_id}),
        last_family=_family(last_call) if last_call and not any(at >= last_call.at_us for at in stops) else None,
        stopped=any(row.kind == "stop" and row.at_us >= last_prompt_us for row in observations),
        worked_last=bool(calls) and calls[-1].at_us > last_prompt_us,
        asked_back=_asked_back(observations),
        delegated=_subjects(calls, Family.DELEGATE),
        looked_up=_subjects(calls, Family.WEB),
        unfinished=_unfinished(observations, root),
        answer=next((row.text for row in reversed(observations) if row.kind == "stop" and row.text.strip()), ""),
        taken=taken,
    )


def _asked_back(observations: Sequence[Observation]) -> str:
    """The answer that the session ended with, if it asks something: nobody replied to it."""
    for row in reversed([row for row in observations if not row.agent_id]):
        if row.kind == "user-prompt" and is_work(row.kind, row.text):
            return ""
        if row.kind == "stop" and row.text.strip():
            return row.text if prompts.is_question(row.text) else ""
    return ""


def _subjects(calls: Sequence[Observation], kind: Family) -> tuple[str, ...]:
    """What the calls of one family were about, each once, in order."""
    found = (subject_of(row) for row in calls if _family(row) is kind)
    return tuple(dict.fromkeys(subject for subject in found if subject))


def _typed(observations: Sequence[Observation]) -> tuple[Prompt, ...]:
    found = []
    for row in observations:
        if row.kind == "user-prompt" and not row.agent_id:
            text = prompts.substance(row.text)
            if text:
                found.append(Prompt(row.at_us, text))
    return tuple(found)


def _unfinished(observations: Sequence[Observation], root: str) -> tuple[str, ...]:
    """Begun calls of the last turn; what a stop or a prompt came after was not cut off."""
    ended = {row.call_id for row in observations if row.kind == COMPLETED}
    found: dict[str, None] = {}
    for row in observations:
        if row.kind in ("stop", "user-prompt"):
            found.clear()
        elif row.kind == "pre-tool-use" and row.tool and row.call_id and row.call_id not in ended:
            what = subject_of(row, root)
            found[f"{row.tool}: {what}" if what else row.tool] = None
    return tuple(found)


def _first_call(observations: Sequence[Observation], root: str) -> str:
    for row in observations:
        if row.tool:
            what = subject_of(row, root)
            return f"{row.tool}: {what}" if what else row.tool
    return ""


def _family(row: Observation) -> Family:
    given = tools.parse_input(row.input)
    return Family.EDIT if tools.is_patch(given) else tools.family(row.tool)


def _is_command(row: Observation) -> bool:
    return _family(row) is Family.COMMAND and tools.command(tools.parse_input(row.input)) != ""


def _command(row: Observation) -> Command:
    text = tools.command(tools.parse_input(row.input))
    outcome = _outcome(row)
    test = checks.outcome(row.output, tool_outcome=outcome) if checks.is_test_run(text) else None
    failed = outcome == "error" or (test is not None and test.passed is False)
    return Command(row.at_us, text, outcome, fault=telling_line(row.output) if failed else "", test=test)


def _files(calls: Sequence[Observation], root: str) -> tuple[tuple[tuple[str, int], ...], tuple[tuple[str, int], ...]]:
    edited: dict[str, int] = {}
    read: dict[str, int] = {}
    for row in calls:
        kind = _family(row)
        if kind not in (Family.EDIT, Family.READ) or _outcome(row) == "error":
            continue
        into = edited if kind is Family.EDIT else read
        for path in tools.paths(tools.parse_input(row.input)):
            shown = tools.shown_path(path, root)
            into[shown] = into.get(shown, 0) + 1
    return tuple(edited.items()), tuple((path, count) for path, count in read.items() if path not in edited)


def _troubles(calls: Sequence[Observation], root: str) -> tuple[Trouble, ...]:
    found: list[Trouble] = []
    for at, row in enumerate(calls):
        what = subject_of(row, root)
        if not _has_failed(row):
            continue
        mended = any(
            later.tool == row.tool and subject_of(later, root) == what and not _has_failed(later)
            for later in calls[at + 1 :]
        )
        named = what if what and _is_command(row) else f"{row.tool}: {what}" if what else row.tool
        found.append(Trouble(row.at_us, named, telling_line(row.output), mended))
    return tuple(found)


def _has_failed(row: Observation) -> bool:
    return _outcome(row) == "error" or (_is_command(row) and _command(row).failed)


def _outcome(row: Observation) -> str:
    """As the hook read it, else from the exit code that some harnesses write into the output."""
    if row.outcome in ("success", "error"):
        return row.outcome
    code = _EXIT_CODE.search(row.output)
    if code is None:
        return "unknown"
    return "success" if int(code[1]) == 0 else "error"


def subject_of(row: Observation, root: str = "") -> str:
    """What a call was about, on one line."""
    given = tools.parse_input(row.input)
    return prompts.one_line(tools.subject(row.tool, given, root=root))


def telling_line(output: str) -> str:
    """What went wrong, in one line of an output: a failed test, else an error by name, a hint, or the last line."""
    lines = [line.strip() for line in _plain_output(output).splitlines() if line.strip(" -=_*")]
    if not lines:
        return ""
    for pattern in (_FAILED_TEST, _ASSERTED, _NAMES_ERROR, _HINTS_AT_ERROR):
        naming = [line for line in lines if pattern.search(line)]
        if naming:
            return prompts.shorten(prompts.one_line(naming[-1].removeprefix("E  ")), 200)
    return prompts.shorten(prompts.one_line(lines[-1]), 200)


def _plain_output(output: str) -> str:
    """The text of a result that a harness gave as JSON, else the output itself."""
    if not output.lstrip().startswith("{"):
        return output
    try:
        given = json.loads(output)
    except (ValueError, RecursionError):
        return output
    if not isinstance(given, dict):
        return output
    parts = [given.get(key) for key in ("stdout", "output", "text", "content", "stderr", "error", "message")]
    return "\n".join(part for part in parts if isinstance(part, str) and part) or output
