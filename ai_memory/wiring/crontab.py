"""Our line in a person's crontab: read and written by the program `crontab`, since nobody else may touch its file."""

import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ai_memory.clock import Clock
from ai_memory.errors import StoreFault
from ai_memory.paths import DataDir
from ai_memory.store import wired
from ai_memory.store.wired import Owner, Wired, fingerprint
from ai_memory.text.marked_block import IN_CRONTAB, BlockFault, with_block, without_block
from ai_memory.wiring import files
from ai_memory.wiring.apply import Done
from ai_memory.wiring.documents import Refused
from ai_memory.wiring.files import Seen
from ai_memory.wiring.plan import Book, FilePlan, State
from ai_memory.wiring.timers import AGENT

NAME = Path("crontab")
"""Stands for it in plans and records: where the file lies is cron's affair."""
OWNER = Owner(AGENT, "cron")
TIMEOUT_S = 20
_NOTHING = "no crontab"
"""What `crontab -l` says, in every implementation, to a person who has none."""


@dataclass(frozen=True, slots=True)
class Crontab:
    """The program `crontab`, as that environment finds it."""

    environ: Mapping[str, str]

    @property
    def program(self) -> str | None:
        return shutil.which("crontab", path=self.environ.get("PATH", ""))

    def read(self) -> bytes | None:
        """What stands in it; None: there is none. *Errors*: StoreFault."""
        done = self._run("-l")
        if done.returncode == 0:
            return done.stdout
        if _NOTHING in done.stderr.decode("utf-8", "replace").lower():
            return None
        raise self._fault("cannot be read", done.stderr)

    def write(self, content: bytes | None) -> None:
        """Let it hold that; None takes it away. *Errors*: StoreFault, which leaves it as it was."""
        done = self._run("-r") if content is None else self._run("-", content=content)
        if done.returncode:
            raise self._fault("was not written", done.stderr)

    def _run(self, word: str, *, content: bytes = b"") -> "subprocess.CompletedProcess[bytes]":
        program = self.program
        if program is None:
            raise StoreFault("there is no program `crontab` here", hint="install cron, or use --install-timer systemd")
        try:
            return subprocess.run(
                [program, word],
                input=content,
                capture_output=True,
                env={**self.environ, "LC_ALL": "C"},
                timeout=TIMEOUT_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as fault:
            raise StoreFault(f"`crontab {word}` does not run: {fault}", hint="look with `crontab -l`") from fault

    @staticmethod
    def _fault(what: str, said: bytes) -> StoreFault:
        line = " ".join(said.decode("utf-8", "replace").split())[:300]
        return StoreFault(f"the crontab {what}: {line or 'it does not say why'}", hint="look with `crontab -l`")


def plan_line(crontab: Crontab, line: str, book: Book) -> FilePlan:
    """The crontab with our line in it, whatever else it holds. *Errors*: StoreFault."""
    former = book.of(NAME)
    content = crontab.read()
    seen = Seen(NAME, NAME, content)
    try:
        after = _edited(seen, lambda text: with_block(text, line, IN_CRONTAB))
        is_as_left = former is not None and former.is_as_left(content)
        original = former.original if former and is_as_left else _without(seen)
    except Refused as fault:
        return FilePlan(NAME, (OWNER,), State.REFUSED, reason=fault.reason, line=fault.line, hint=fault.hint)
    record = Wired(str(NAME), str(NAME), (OWNER,), original, (fingerprint(after),))
    state = State.SAME if after == content else State.CREATE if content is None else State.CHANGE
    return FilePlan(NAME, (OWNER,), state, seen, after, record, former)


def plan_without(crontab: Crontab, book: Book) -> FilePlan:
    """The crontab as it was before; one that was changed since loses our lines alone. *Errors*: StoreFault."""
    former = book.of(NAME)
    content = crontab.read()
    seen = Seen(NAME, NAME, content)
    try:
        after = former.original if former and former.is_as_left(content) else _without(seen)
    except Refused as fault:
        return FilePlan(NAME, (OWNER,), State.REFUSED, reason=fault.reason, line=fault.line, hint=fault.hint)
    state = State.SAME if after == content else State.DELETE if after is None else State.CHANGE
    return FilePlan(NAME, (OWNER,), state, seen, after, None, former)


def write(plan: FilePlan, crontab: Crontab, data_dir: DataDir, *, clock: Clock, step: files.Step) -> Done:
    """Do what the plan says, in the order of `apply.py`. *Crash*: safe; the next run finds its way."""
    if plan.state is State.REFUSED:
        return Done(plan)
    try:
        if plan.state is not State.SAME:
            _write(plan, crontab, data_dir, clock, step)
        if plan.record is not None and plan.record != plan.former:
            wired.put(data_dir, replace(plan.record, left=(fingerprint(crontab.read()),)))
        elif plan.record is None and plan.former is not None:
            wired.drop(data_dir, plan.former)
    except StoreFault as fault:
        return Done(plan, fault.message)
    except OSError as fault:
        return Done(plan, fault.strerror or str(fault))
    return Done(plan)


def _write(plan: FilePlan, crontab: Crontab, data_dir: DataDir, clock: Clock, step: files.Step) -> None:
    is_known = plan.former is not None and plan.former.is_as_left(plan.before)
    if plan.before is not None and not is_known and data_dir.root.is_dir():
        wired.keep_backup(data_dir, NAME, plan.before, at_us=clock())
        step("backup")
    record = plan.record or plan.former
    if record is not None:
        wired.put(data_dir, replace(record, left=(fingerprint(plan.before), fingerprint(plan.after))))
        step("recorded")
    if crontab.read() != plan.before:
        raise StoreFault("somebody changed it a moment ago: run this again")
    crontab.write(plan.after)
    step("written")


def _without(seen: Seen) -> bytes | None:
    """The crontab without our lines; None where nothing else stood in it. *Errors*: Refused."""
    if seen.content is None:
        return None
    left = _edited(seen, lambda text: without_block(text, IN_CRONTAB))
    return None if not left.strip() and left != seen.content else left


def _edited(seen: Seen, edit: Callable[[str], str]) -> bytes:
    """*Errors*: Refused for a crontab that is no UTF-8, or in which our marks do not make one block."""
    text = seen.text
    try:
        return edit(text).encode()
    except BlockFault as fault:
        raise Refused(fault.reason, line=fault.line) from fault
