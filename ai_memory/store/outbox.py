"""`outbox/`: rendered handoffs that a session-start hook prints as they are, and the claims of those that were taken.

    open/<handoff>.md                       rendered, may be claimed by anyone
    provisional/<handoff>.<process>.md      rendered while its session still runs; its time is that of the last stop
    claimed/<handoff>.<session>             taken, not yet written into its page
    by-dir/<key>/<handoff>                  empty: the handoff is meant for that directory and what lies below it, or
                                            for that project
    starts/<key>.json                       which project a start in that directory is told of, and how much
    starts/<project key>.brief.json         what starts of that project are told: page texts, packed in several sizes
    starts/made.json                        up to which commit and observation these were made
    recaps/<session>.md                     what was asked in a session before it was compacted
    mail/<project key>.json                 until when which messages wait for that project; none of their words
    lookup/<project key>.txt                what a prompt in that project is looked up in: passages of its pages

A claim is `rename(open/x.md, claimed/x.<session>)`: one winner among any number of racers, and no database. Hook, CLI
and bridge all claim that way; the hook with a copy of these lines, since it imports nothing.
"""

import contextlib
import hashlib
import json
import os
import re
import sys
import time
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ai_memory.errors import StoreFault
from ai_memory.hook_process import is_elsewhere, is_running
from ai_memory.paths import DataDir
from ai_memory.plainfile import read_plain
from ai_memory.store.filesystem import make_folder, write_whole

_HANDOFF = re.compile(r"[0-9a-f]{32}")
_FOLDERS = frozenset({"open", "provisional", "claimed", "by-dir", "starts", "recaps", "mail", "lookup"})

UNCONFIRMED_S = 60.0
"""A claim that no event confirmed within this time was never printed (decision B7)."""

AHEAD_S = 5.0
"""A file server's clock may be ahead of ours by so much."""

SILENT_S = 600.0
"""A running session that stopped this long ago may hand over (decision B8)."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One handoff taken by one session."""

    handoff: str
    session: str


@dataclass(frozen=True, slots=True)
class Provisional:
    """A rendered handoff of a session that did not end. `process`: as a hook tells it, 0 when not known."""

    handoff: str
    process: int

    @property
    def name(self) -> str:
        return f"provisional/{self.handoff}.{self.process}.md"


def directory_key(directory: str) -> str:
    """Name of a directory under `by-dir/`: 32 hex of SHA-256 over its real path, NFC, folded where the OS folds."""
    real = unicodedata.normalize("NFC", os.path.realpath(directory))
    folded = real.lower() if sys.platform in ("win32", "darwin") else real
    return hashlib.sha256(folded.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def open_name(handoff: str) -> str:
    """Where a handoff stands while anyone may take it."""
    return f"open/{handoff}.md"


def directory_names(handoff: str, directories: Iterable[str]) -> list[str]:
    """The entries that lead from directories to a handoff, sorted, each once."""
    return sorted({f"by-dir/{directory_key(directory)}/{handoff}" for directory in directories})


def project_key(project_id: str) -> str:
    """Name of a project under `by-dir/`, beside the directories: what is handed over on purpose is for all of it."""
    return hashlib.sha256(f"project:{project_id}".encode("utf-8", "surrogatepass")).hexdigest()[:32]


def project_name(handoff: str, project_id: str) -> str:
    """The entry that leads from a project to a handoff."""
    return f"by-dir/{project_key(project_id)}/{handoff}"


MADE = "starts/made.json"


def start_name(directory: str) -> str:
    """What a start in that directory reads first."""
    return f"starts/{directory_key(directory)}.json"


def brief_name(workspace: str, project: str) -> str:
    """What starts of a project are told. By its name: a project of another name has pages of other addresses."""
    return f"starts/{_start_key(workspace, project)}.brief.json"


def mail_name(workspace: str, project: str) -> str:
    """What tells starts of a project how many messages wait for it; the key is that of the brief."""
    return f"mail/{_start_key(workspace, project)}.json"


def lookup_name(workspace: str, project: str) -> str:
    """What prompts in a project are looked up in; the key is that of the brief."""
    return f"lookup/{_start_key(workspace, project)}.txt"


def _start_key(workspace: str, project: str) -> str:
    return hashlib.sha256(f"start:{workspace}/{project}".encode("utf-8", "surrogatepass")).hexdigest()[:32]


def recap_name(session: str) -> str:
    """What a session is told when it asks for what was compacted."""
    return f"recaps/{session}.md"


class Outbox:
    """The outbox of one data dir. Every call is safe to kill at any point, and may be repeated."""

    def __init__(self, data_dir: DataDir) -> None:
        self._root = data_dir.outbox

    def put(self, name: str, text: str) -> None:
        """Write one entry, whole or not at all. Not synced: the redo log or the next drain renders it again.

        A handoff that is taken already stays taken: a redo log may be applied again after a claim, and an open handoff
        may be rendered anew while somebody takes it. Removing the old text is our claim of it: of two, one succeeds.
        """
        path = self._path(name)
        if self._is_taken(name):
            return
        make_folder(path.parent)
        if name.startswith("open/"):
            try:
                path.unlink()  # crash: the redo log holds the text
            except FileNotFoundError:
                if self._is_taken(name):  # since we looked
                    return
        write_whole(path, text.encode("utf-8"), sync=False)
        if self._is_taken(name):
            path.unlink(missing_ok=True)

    def _is_taken(self, name: str) -> bool:
        folder, _, rest = name.partition("/")
        handoff = rest.partition(".")[0]
        return folder in ("open", "provisional") and any(claim.handoff == handoff for claim in self.claims())

    def remove(self, name: str) -> None:
        """Remove one entry; one that is gone is no fault."""
        self._path(name).unlink(missing_ok=True)

    def read(self, name: str) -> str | None:
        """Text of one entry, or None."""
        try:
            return read_plain(self._path(name)).decode("utf-8")
        except FileNotFoundError:
            return None

    def names_in(self, folder: str) -> list[str]:
        """Names of the entries in one folder of the outbox, sorted."""
        return sorted(f"{folder}/{name}" for name in _list(self._root / folder))

    def age_s(self, name: str) -> float:
        """Seconds since that entry was written; 0 when it is gone."""
        try:
            return time.time() - self._path(name).stat().st_mtime
        except OSError:
            return 0.0

    def texts_that_show(self, git_paths: Iterable[str]) -> list[str]:
        """Names of briefs and lookup files that hold text of one of those pages: no longer true once it is changed."""
        showing: dict[str, list[str]] = {}
        for git_path in git_paths:
            workspace, _, rest = git_path.partition("/")
            for name in (brief_name, lookup_name):
                showing.setdefault(name(workspace, rest.partition("/")[0]), []).append(git_path)
        return sorted(name for name, paths in showing.items() if self._holds(name, paths))

    def _holds(self, name: str, git_paths: Iterable[str]) -> bool:
        try:
            content = read_plain(self._path(name))
        except OSError:
            return False
        return any(json.dumps(path, ensure_ascii=False).encode("utf-8", "replace") in content for path in git_paths)

    def claim(self, handoff: str, session: str) -> str | None:
        """The rendered handoff, now taken by `session`; None when another one was faster or it is not open."""
        return self._take(open_name(handoff), handoff, session)

    def claim_provisional(self, provisional: Provisional, session: str) -> str | None:
        """The same for a handoff whose session did not end. Ask `may_hand_over` first."""
        return self._take(provisional.name, provisional.handoff, session)

    def take(self, handoff: str, session: str) -> str | None:
        """The same for an open handoff, else for one whose session is gone without an end. None when nothing is."""
        text = self.claim(handoff, session)
        if text is not None:
            return text
        for provisional in self.provisionals():
            process = provisional.process
            is_at_work = process > 0 and not is_elsewhere(process) and is_running(process)  # it may be the asking one
            if provisional.handoff == handoff and not is_at_work and self.may_hand_over(provisional):
                return self.claim_provisional(provisional, session)
        return None

    def _take(self, name: str, handoff: str, session: str) -> str | None:
        taken = self._path(f"claimed/{handoff}.{session}")
        make_folder(taken.parent)
        try:
            self._path(name).rename(taken)
        except FileNotFoundError:
            return None
        with contextlib.suppress(OSError):
            os.utime(taken)  # the claim's own time, where a rename leaves the times alone
        return read_plain(taken).decode("utf-8")

    def open_for(self, directory: str) -> list[str]:
        """Ids of the open handoffs entered for exactly that directory, newest first."""
        names = _list(self._root / "by-dir" / directory_key(directory))
        return sorted((name for name in names if (self._root / open_name(name)).exists()), reverse=True)

    def meant_for(self, keys: Iterable[str]) -> list[str]:
        """Ids of the handoffs entered under any of those keys, newest first, whether or not they can be taken."""
        found = {name for key in keys for name in _list(self._root / "by-dir" / key)}
        return sorted((name for name in found if _HANDOFF.fullmatch(name)), reverse=True)

    def open_handoffs(self) -> list[str]:
        """Ids of all open handoffs, newest first."""
        stems = (name.removesuffix(".md") for name in _list(self._root / "open"))
        return sorted((stem for stem in stems if _HANDOFF.fullmatch(stem)), reverse=True)

    def provisionals(self) -> list[Provisional]:
        """Handoffs of sessions that did not end, newest first."""
        found = []
        for name in _list(self._root / "provisional"):
            handoff, _, process = name.removesuffix(".md").partition(".")
            if _HANDOFF.fullmatch(handoff) and process.isdecimal():
                found.append(Provisional(handoff, int(process)))
        return sorted(found, key=lambda one: (one.handoff, one.process), reverse=True)

    def may_hand_over(self, provisional: Provisional) -> bool:
        """Whether its session's process is gone, or it was silent for ten minutes."""
        try:
            age_s = time.time() - self._path(provisional.name).stat().st_mtime
        except OSError:
            return False
        return age_s > SILENT_S or (provisional.process > 0 and not is_running(provisional.process))

    def touch(self, provisional: Provisional) -> None:
        """Its session is at work."""
        with contextlib.suppress(OSError):
            os.utime(self._path(provisional.name))

    def leave_the_future(self) -> None:
        """Let entries count from now that are ahead of the clock, which was set back: they would never grow old."""
        for folder in ("provisional", "claimed", "recaps"):
            for name in self.names_in(folder):
                if self.age_s(name) < -AHEAD_S:
                    with contextlib.suppress(OSError):
                        os.utime(self._path(name))

    def demote(self, provisional: Provisional) -> bool:
        """Take back what was opened because its session seemed gone. False when it is not open."""
        make_folder(self._root / "provisional")
        try:
            self._path(open_name(provisional.handoff)).rename(self._path(provisional.name))
        except FileNotFoundError:
            return False
        return True

    def promote(self, provisional: Provisional) -> bool:
        """Open a handoff whose session can't finish it. False when it was taken meanwhile."""
        make_folder(self._root / "open")
        try:
            self._path(provisional.name).rename(self._path(open_name(provisional.handoff)))
        except FileNotFoundError:
            return False
        return True

    def claims(self) -> list[Claim]:
        """Claims that no drain has written into their pages yet."""
        found = []
        for name in sorted(_list(self._root / "claimed")):
            handoff, _, session = name.partition(".")
            if _HANDOFF.fullmatch(handoff) and session:
                found.append(Claim(handoff, session))
        return found

    def unconfirmed(self) -> list[Claim]:
        """Claims older than a minute: their start hook was killed before it printed."""
        return [claim for claim in self.claims() if self._age_s(claim) > UNCONFIRMED_S]

    def _age_s(self, claim: Claim) -> float:
        try:
            status = self._path(f"claimed/{claim.handoff}.{claim.session}").stat()
        except OSError:
            return 0.0
        return time.time() - max(status.st_mtime, status.st_ctime)

    def reopen(self, claim: Claim) -> bool:
        """Give back what was claimed, as it was rendered. False when the claim is gone."""
        make_folder(self._root / "open")
        try:
            self._path(f"claimed/{claim.handoff}.{claim.session}").rename(self._path(open_name(claim.handoff)))
        except FileNotFoundError:
            return False
        return True

    def names_of(self, handoff: str, *, claims: bool = True) -> list[str]:
        """Every entry that stands for a handoff, sorted; without its claims if so asked. None for what is no id: pages
        are edited by hand, and a name that leads elsewhere would stop the redo log."""
        if not _HANDOFF.fullmatch(handoff):
            return []
        found = [name for name in [open_name(handoff)] if (self._root / name).exists()]
        found += [one.name for one in self.provisionals() if one.handoff == handoff]
        for key in _list(self._root / "by-dir"):
            if (self._root / "by-dir" / key / handoff).exists():
                found.append(f"by-dir/{key}/{handoff}")
        if claims:
            found += [f"claimed/{one.handoff}.{one.session}" for one in self.claims() if one.handoff == handoff]
        return sorted(found)

    def remove_empty_folders(self) -> None:
        """Remove the keys of directories that nothing is meant for any more."""
        for key in _list(self._root / "by-dir"):
            with contextlib.suppress(OSError):
                (self._root / "by-dir" / key).rmdir()

    def _path(self, name: str) -> Path:
        if not is_entry(name):
            raise StoreFault(f"{name!r} is no name in the outbox")
        return self._root.joinpath(*PurePosixPath(name).parts)


def is_entry(name: str) -> bool:
    """Whether a file of that name may stand in the outbox."""
    parts = PurePosixPath(name).parts
    return len(parts) >= 2 and parts[0] in _FOLDERS and ".." not in parts and "\\" not in name and "\0" not in name


def _list(folder: Path) -> list[str]:
    try:
        return [path.name for path in folder.iterdir() if not path.name.startswith(".")]
    except (FileNotFoundError, NotADirectoryError):
        return []
