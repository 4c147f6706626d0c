"""Writing one event to the spool, keeping it bounded, starting the drain. Part of the hook: stdlib only, light.

Crash: safe at any point. A file appears under its name whole or not at all; what a killed hook leaves has a dot first.
"""

# ruff: noqa: PTH102, PTH104, PTH108, PTH116, PTH118, PTH208, SIM105 (pathlib, contextlib: not loaded in a hook)

import json
import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

SYNCED = ("session-end", "handoff-claimed")
"""Kinds that survive a power cut too. Others survive a kill, not that (decision B1)."""
LIFECYCLE = ("session-start", "stop", "pre-compact", "session-end")
BEAT_S = 5.0
KICK_S = 1.0
"""A burst of hooks starts one drain, not one each, until that drain beats."""
WAITING = 32
"""Tool events start a drain only when so many files wait: an agent at work calls tools many times a minute."""
EVENT_BYTES = 128 << 10
"""No event that a hook writes is larger: prompt or input, output and text are capped, and JSON may double them."""
LOOK_EVERY = 16
"""The spool is listed one time in so many: listing 10,000 names costs 8 ms (decision B6)."""

_NOW = getattr(os, "O_NONBLOCK", 0)
"""To open what may be no file after all must not wait."""

_START = (
    "import sys;p=sys.argv.pop(1);sys.path.insert(0,p);import ai_memory;sys.path.remove(p);"
    "from ai_memory.__main__ import main;sys.exit(main())"
)
"""Runs this very package's drain in any kind of installation. Its folder's parent is first on the path only while
the package is found, so that it shadows nothing else."""


def put(data_dir: str, event: "Mapping[str, Any]") -> str:
    """Write the event; its id. *Errors*: OSError (full, read-only), and nothing is left behind."""
    spool = os.path.join(data_dir, "spool")
    stem = f"{time.time_ns():019d}-{os.getpid()}-{os.urandom(4).hex()}"
    content = json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    temporary = os.path.join(spool, f".{stem}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        handle = os.open(temporary, flags, 0o600)
    except FileNotFoundError:
        os.mkdir(spool, 0o700)
        handle = os.open(temporary, flags, 0o600)
    is_synced = event["event"] in SYNCED
    try:
        try:
            view = memoryview(content)
            while view:
                view = view[os.write(handle, view) :]
            if is_synced:
                os.fsync(handle)
        finally:
            os.close(handle)
        os.rename(temporary, os.path.join(spool, f"{stem}.json"))
    except OSError:
        remove(temporary)
        raise
    if is_synced and sys.platform != "win32":
        _sync_folder(spool)
    return stem


def _sync_folder(folder: str) -> None:
    try:
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError:
        pass


def remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass


class Load:
    """How full the spool is, looked at now and then. `is_full`: a new tool event is dropped, and counted."""

    __slots__ = ("is_full", "waiting")

    def __init__(self, data_dir: str, max_files: int, max_bytes: int, *, must_look: bool) -> None:
        spool = os.path.join(data_dir, "spool")
        flag = os.path.join(spool, ".full")
        self.waiting = 0
        self.is_full = os.path.exists(flag)  # noqa: PTH110
        if not (must_look or os.urandom(1)[0] % LOOK_EVERY == 0):
            return
        names = _events(spool)
        self.waiting = len(names)
        is_full = self.waiting >= max_files
        if not is_full and self.waiting * EVENT_BYTES >= max_bytes:  # else they cannot hold so much
            is_full = _size(spool, names) >= max_bytes
        if is_full and not self.is_full:
            _touch(flag)
        elif self.is_full and not is_full:
            remove(flag)
        self.is_full = is_full


def _events(spool: str) -> "list[str]":
    try:
        return [name for name in os.listdir(spool) if name.endswith(".json") and name[0] != "."]
    except OSError:
        return []


def _size(spool: str, names: "list[str]") -> int:
    """Bytes of the events; one that a drain took meanwhile counts for nothing."""
    total = 0
    for name in names:
        try:
            total += os.stat(os.path.join(spool, name)).st_size
        except OSError:
            continue
    return total


def count_dropped(data_dir: str) -> None:
    """Note one event that the bound dropped: a byte in `spool/.dropped`, whose size is their number."""
    try:
        path = os.path.join(data_dir, "spool", ".dropped")
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | _NOW, 0o600)
        try:
            os.write(handle, b".")
        finally:
            os.close(handle)
    except OSError:
        pass


def age_s(path: str) -> float:
    """Age of a file in seconds; infinite when there is none."""
    try:
        return time.time() - os.stat(path).st_mtime
    except OSError:
        return float("inf")


def is_drain_alive(data_dir: str) -> bool:
    return abs(age_s(os.path.join(data_dir, "locks", "drain.beat"))) <= BEAT_S


def kick(data_dir: str, kind: str, waiting: int, *, is_staying: bool = False) -> bool:
    """Start a drain if this event asks for one and none is at work. True if one was started.

    `is_staying`: this process goes on, so its folder may not change as that of a hook does.
    Call after the event lies in the spool: a drain that leaves removes its beat first and then looks once more.
    """
    if kind not in LIFECYCLE and kind not in ("user-prompt", "handoff-claimed") and waiting < WAITING:
        return False
    if is_drain_alive(data_dir):
        return False
    stamp = os.path.join(data_dir, "locks", "drain.kick")
    if kind not in LIFECYCLE and 0 <= age_s(stamp) < KICK_S:
        return False
    try:
        os.mkdir(os.path.dirname(stamp), 0o700)
    except OSError:
        pass
    _touch(stamp)
    try:
        _start_beside(data_dir) if is_staying else _start(data_dir)
    except (OSError, ImportError, ValueError):
        return False
    return True


def _touch(path: str) -> None:
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | _NOW, 0o600))
        os.utime(path)
    except OSError:
        pass


def drain_command(data_dir: str) -> "tuple[list[str], dict[str, str]]":
    """The words and the environment of a drain of that data dir."""
    parent = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    words = [sys.executable, "-I", "-c", _START, parent, "drain", "--data-dir", data_dir]
    return words, {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "GIT_"))}


def _start(data_dir: str) -> None:
    """A process of its own session, with nothing of ours open, that outlives the harness."""
    words, environ = drain_command(data_dir)
    try:
        os.chdir(data_dir)  # or the drain would hold the checkout's folder
    except OSError:
        pass
    if sys.platform == "win32":
        _start_on_windows(words, environ)
        return
    null = os.devnull
    actions: list[tuple[Any, ...]] = [
        (os.POSIX_SPAWN_OPEN, 0, null, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, null, os.O_WRONLY, 0),
        (os.POSIX_SPAWN_OPEN, 2, null, os.O_WRONLY, 0),
        *((os.POSIX_SPAWN_CLOSE, handle) for handle in _inherited()),
    ]
    try:
        os.posix_spawn(words[0], words, environ, file_actions=actions, setsid=True)
    except NotImplementedError:
        os.posix_spawn(words[0], words, environ, file_actions=actions, setpgroup=0)


def _start_beside(data_dir: str) -> None:
    import subprocess  # not in a hook: 16 ms (2026-11-30)

    words, environ = drain_command(data_dir)
    null = subprocess.DEVNULL
    subprocess.Popen(words, env=environ, cwd=data_dir, stdin=null, stdout=null, stderr=null, start_new_session=True)


def _inherited() -> "list[int]":
    """Descriptors that the harness left open: it may wait for their end, so the drain must not have them."""
    found = []
    try:
        for name in os.listdir("/dev/fd"):
            if name.isdecimal() and int(name) > 2 and _is_inheritable(int(name)):
                found.append(int(name))
    except OSError:
        pass
    return found


def _is_inheritable(handle: int) -> bool:
    try:
        return os.get_inheritable(handle)
    except OSError:
        return False


def _start_on_windows(words: "list[str]", environ: "dict[str, str]") -> None:
    import subprocess  # 16 ms (2026-11-30); the only way there without our own ctypes

    flags = 0x00000008 | 0x00000200 | 0x08000000  # detached, own process group, no window
    for more in (0x01000000, 0):  # out of the harness's job, where the job allows it
        try:
            subprocess.Popen(
                words,
                env=environ,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                close_fds=True,
                creationflags=flags | more,
            )
        except OSError:
            continue
        return
