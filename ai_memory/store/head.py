"""What the wiki's branch points to, read without a git library: readers start with this on every call."""

import os
import re
import time
from dataclasses import dataclass
from pathlib import Path

from ai_memory.clock import rfc3339
from ai_memory.errors import LockBusy, MemoryFault, StoreFault
from ai_memory.plainfile import read_plain
from ai_memory.store.gitlock import WAIT_S, is_own

BRANCH = "refs/heads/main"
"""The truth for pages (decision A1)."""

OWN_INDEX_LOCK, OWN_BRANCH_LOCK = "index.ai-memory", "main.ai-memory"
"""Second names, in `.git`, of the locks that our writers take there: see `gitlock`."""

YOUNG_LOCK_S = 600.0
"""A lock younger than this belongs to a git that still runs; an older one most likely to a git that was killed."""

_POLL_S = 0.01

_HEX40 = re.compile(r"[0-9a-f]{40}\Z")


def read_head(git: Path) -> str | None:
    """Commit id of `main`, or None when the branch has no commit or there is no repository."""
    loose = _read(f"{git}/{BRANCH}")  # as text: a write asks a dozen times
    if loose is not None:
        commit = loose.strip()
        if _HEX40.match(commit):
            return commit
        raise StoreFault(
            f"{BRANCH} of the wiki does not hold a commit id.",
            hint=f"Look at {git / BRANCH}; `git -C {git.parent} reflog` lists the commits that it pointed to.",
        )
    for line in (_read(f"{git}/packed-refs") or "").splitlines():
        commit, _, name = line.partition(" ")
        if name == BRANCH and _HEX40.match(commit):
            return commit
    return None


def _read(path: str) -> str | None:
    try:
        return read_plain(path).decode("utf-8", "replace")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as fault:
        raise StoreFault(
            f"{path} cannot be read: {fault.strerror}.", hint="Look at that file of the wiki's repository."
        ) from fault


@dataclass(frozen=True, slots=True)
class Unfinished:
    """Something that a person began in the wiki with git and has not ended."""

    state: str
    remedy: str
    is_busy: bool = False
    """A git command runs there: it ends by itself."""
    is_passing: bool = False
    """It began just now, and most take milliseconds: worth a short wait."""

    def fault(self) -> MemoryFault:
        """What a writer raises that may not begin."""
        message, hint = f"The wiki cannot be written: {self.state}.", f"End it: {self.remedy}."
        return LockBusy(message, hint=hint) if self.is_busy else StoreFault(message, hint=hint)


_SIGNS = (
    ("MERGE_HEAD", "a merge", "git merge --continue` or `git merge --abort"),
    ("rebase-merge", "a rebase", "git rebase --continue` or `git rebase --abort"),
    ("rebase-apply/applying", "a series of patches", "git am --continue` or `git am --abort"),
    ("rebase-apply", "a rebase", "git rebase --continue` or `git rebase --abort"),
    ("CHERRY_PICK_HEAD", "a cherry-pick", "git cherry-pick --continue` or `git cherry-pick --abort"),
    ("REVERT_HEAD", "a revert", "git revert --continue` or `git revert --abort"),
    ("BISECT_LOG", "a bisect", "git bisect reset"),
)


def unfinished(git: Path) -> Unfinished | None:
    """What keeps writers out of the wiki, or None (decision A1)."""
    # first, since a rebase and a bisect move HEAD away too, and no `git switch` ends them
    for name, what, command in _SIGNS:
        if os.path.lexists(f"{git}/{name}"):
            return Unfinished(f"{what} is not finished there", f"in {git.parent}: `{command}`")
    head = (_read(f"{git}/HEAD") or "").strip()
    if head != f"ref: {BRANCH}":
        where = head.removeprefix("ref: ").removeprefix("refs/heads/") or "nothing"
        return Unfinished(f"its HEAD points to {where}, not to main", f"`git -C {git.parent} switch main`")
    return _locked(git)


def settled(git: Path, *, wait_s: float = WAIT_S) -> Unfinished | None:
    """The same, once a git command that began just now was waited for: a person's `git add` takes milliseconds."""
    deadline = time.monotonic() + wait_s
    while (begun := unfinished(git)) is not None and begun.is_passing and time.monotonic() < deadline:
        time.sleep(_POLL_S)
    return begun


def _locked(git: Path) -> Unfinished | None:
    """A lock of git's on what every write replaces. Of any age: a write that began over it could not be ended."""
    for lock, own, least_s in (
        (git / "index.lock", git / OWN_INDEX_LOCK, 0.0),
        (git / f"{BRANCH}.lock", git / OWN_BRANCH_LOCK, WAIT_S),  # git holds it for milliseconds, a write waits so long
    ):
        try:
            since_s = lock.stat().st_mtime
        except OSError:
            continue
        age_s = abs(time.time() - since_s)
        if age_s < least_s or is_own(lock, own):
            continue
        if age_s < YOUNG_LOCK_S:
            remedy = f"wait for it, or remove {lock} if none runs"
            return Unfinished("a git command is running there", remedy, is_busy=True, is_passing=age_s < WAIT_S)
        since = rfc3339(int(since_s) * 1_000_000)
        return Unfinished(f"a git command left {lock} there at {since}", "remove that file if no git runs there")
    return None
