"""What we wrote into settings of agents, file by file: who asked for it, what stood there before, and how we left it.

One JSON file a settings file in `wiring/`, 0600, written whole: it holds the bytes that an uninstall gives back.
"""

import base64
import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from ai_memory.errors import LockBusy, StoreFault
from ai_memory.paths import DataDir
from ai_memory.plainfile import read_plain
from ai_memory.store.filesystem import make_folder, sync_folder, write_whole

FORMAT = 1
KEPT_BACKUPS = 10
"""Of one settings file: each write keeps what stood there."""
_CHOICES = "choices.json"


@dataclass(frozen=True, slots=True, order=True)
class Owner:
    """For which agent something was written, and where it counts."""

    agent: str
    what: str
    """hooks, mcp, instructions or skills."""
    checkout: str = ""
    """Of the checkout's own files: its absolute path; empty for the person's."""


@dataclass(frozen=True, slots=True)
class Wired:
    """One settings file that we wrote to."""

    target: str
    """The file itself, links followed."""
    path: str
    """As the agent's program names it."""
    owners: tuple[Owner, ...]
    original: bytes | None
    """What stood there without us; None: nothing did."""
    left: tuple[str, ...]
    """SHA-256 of the file as we left it; two while a write is under way."""
    folders: tuple[str, ...] = ()
    """Folders that we made for it, the deepest first."""

    @property
    def key(self) -> str:
        return _key(self.target)

    def is_as_left(self, content: bytes | None) -> bool:
        """Whether nobody changed the file since."""
        return fingerprint(content) in self.left


def _key(target: str) -> str:
    return hashlib.sha256(target.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def fingerprint(content: bytes | None) -> str:
    """SHA-256 of the bytes, or `none` where there is no file."""
    return "none" if content is None else hashlib.sha256(content).hexdigest()


def all_wired(data_dir: DataDir) -> tuple[list[Wired], tuple[str, ...]]:
    """Every record by path, and a sentence for what cannot be read: what it told of is taken out by structure."""
    found: list[Wired] = []
    gaps: list[str] = []
    try:
        files = sorted(data_dir.wiring.glob("*.json"))
    except OSError as fault:
        return [], (f"{data_dir.wiring} cannot be read ({fault.strerror}): what it tells of is not known",)
    for file in files:
        if file.name == _CHOICES:
            continue
        try:
            found.append(_decoded(json.loads(read_plain(file))))
        except (OSError, ValueError, KeyError, TypeError) as fault:
            gaps.append(f"{file} cannot be read ({fault}): what it told of is not given back byte for byte")
    return sorted(found, key=lambda one: one.path), tuple(gaps)


def put(data_dir: DataDir, record: Wired) -> None:
    """Write the record. Crash: whole or not at all, and durable on return."""
    make_folder(data_dir.wiring)
    row = asdict(record) | {"v": FORMAT, "original": _encoded(record.original)}
    write_whole(data_dir.wiring / f"{record.key}.json", json.dumps(row, indent=1).encode())


def drop(data_dir: DataDir, record: Wired) -> None:
    """Remove the record."""
    (data_dir.wiring / f"{record.key}.json").unlink(missing_ok=True)
    sync_folder(data_dir.wiring)


def keep_backup(data_dir: DataDir, target: Path, content: bytes, *, at_us: int) -> Path:
    """Keep what stands in a file before it is written to; the newest ones stay."""
    folder = data_dir.backups / "agents"
    make_folder(folder)
    key = _key(str(target))[:8]
    path = folder / f"{key}-{at_us:019d}-{target.name}"
    write_whole(path, content)
    for old in sorted(folder.glob(f"{key}-*"))[:-KEPT_BACKUPS]:
        with suppress(OSError):
            old.unlink()
    return path


def without_prompts(data_dir: DataDir) -> frozenset[str]:
    """Agents whose prompts a person does not let be captured."""
    try:
        row = json.loads(read_plain(data_dir.wiring / _CHOICES))
        return frozenset(str(one) for one in row["without_prompts"])
    except (OSError, ValueError, KeyError, TypeError):
        return frozenset()


def put_without_prompts(data_dir: DataDir, agents: frozenset[str]) -> None:
    """Remember it for later installs."""
    if agents != without_prompts(data_dir):
        make_folder(data_dir.wiring)
        row = {"v": FORMAT, "without_prompts": sorted(agents)}
        write_whole(data_dir.wiring / _CHOICES, json.dumps(row).encode())


@contextmanager
def wiring_lock(data_dir: DataDir, *, timeout_s: float) -> Iterator[None]:
    """Held while settings are looked at and written: two installers would undo each other's. *Errors*: LockBusy."""
    make_folder(data_dir.locks)
    lock = FileLock(data_dir.locks / "wiring.lock", mode=0o600, fallback_to_soft=False, thread_local=False)
    try:
        lock.acquire(timeout=timeout_s, poll_interval=0.02)
    except Timeout as fault:
        raise LockBusy(
            "another installer is at work on your agents' settings", hint="wait for it to end, then run this again"
        ) from fault
    except OSError as fault:
        raise StoreFault(f"{lock.lock_file} cannot be locked: {fault.strerror or fault}") from fault
    try:
        yield
    finally:
        lock.release()


def _encoded(content: bytes | None) -> str | None:
    return None if content is None else base64.b64encode(content).decode()


def _decoded(row: dict[str, Any]) -> Wired:
    if row["v"] != FORMAT:
        raise ValueError(f"format {row['v']}")
    original = row["original"]
    return Wired(
        target=str(row["target"]),
        path=str(row["path"]),
        owners=tuple(Owner(str(one["agent"]), str(one["what"]), str(one["checkout"])) for one in row["owners"]),
        original=None if original is None else base64.b64decode(original),
        left=tuple(map(str, row["left"])),
        folders=tuple(map(str, row["folders"])),
    )
