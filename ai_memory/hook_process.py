"""The agent's process as a hook finds it, and whether such a process still runs. Part of the hook: stdlib only, light.

Harnesses run a hook through shells, scripts and launchers that are gone a moment later, while the agent works on. So
the hook looks past these. Where it cannot, as without `/proc`, it tells its parent, and the drain believes that only
when two hooks of a session told the same.

A process is told as one number: its id in the lower 32 bits, above them 31 that stand for where such ids count. The id
of a process in a container, or on another machine, says nothing here.
"""

# ruff: noqa: PTH115 (pathlib is not loaded in a hook)

import os
import sys

MAX_WRAPPERS = 8
"""Shells and launchers between an agent and its hook that are looked past."""
_ID_BITS = 32
_ID = (1 << _ID_BITS) - 1
_WORDS_BYTES = 64 << 10
_SHELLS = frozenset(b"sh bash dash ash zsh ksh mksh fish csh tcsh busybox nu pwsh".split())


def agent_process() -> int:
    """The process that runs this hook, past shells and launchers; 0 where it is not known."""
    number = os.getppid()
    if sys.platform == "linux":
        for _ in range(MAX_WRAPPERS):
            name, above = _look(number)
            if not above or not _is_wrapper(name, _words(number)):
                number = number if above else 0
                break
            number = above
    return number | _place() << _ID_BITS if number > 1 else 0


def id_of(process: int) -> int:
    """The system's own number of a process."""
    return process & _ID


def is_running(process: int) -> bool:
    """Whether it may still run. True also where that cannot be seen: elsewhere, and on Windows, where asking can end
    it. A number without a place is one of here.
    """
    if sys.platform == "win32" or is_elsewhere(process):
        return True
    try:
        os.kill(id_of(process), 0)
    except (ProcessLookupError, OverflowError):  # no process has a number that large
        return False
    except PermissionError:
        return True
    return True


def is_elsewhere(process: int) -> bool:
    """Whether its number says nothing here: of another machine, or of a container that is not ours."""
    return process >> _ID_BITS not in (0, _place())


def started(process: int) -> str:
    """When a process started, in the system's own ticks, so that a number used again is another process."""
    try:
        return _stat(id_of(process))[1][19].decode()
    except (OSError, IndexError):
        return "0"


def _stat(number: int) -> "tuple[bytes, list[bytes]]":
    """Name of the program, then the members after it: state, parent, … Raises OSError. *Source*: proc(5)."""
    with open(f"/proc/{number}/stat", "rb", buffering=0) as file:
        before, _, rest = file.read(4096).rpartition(b")")
    return before.partition(b"(")[2], rest.split()


def _look(number: int) -> "tuple[bytes, int]":
    """Name and parent of a process; parent 0 where it is gone or has none that could be an agent."""
    try:
        name, members = _stat(number)
        return name, int(members[1])
    except (OSError, IndexError, ValueError):
        return b"", 0


def _words(number: int) -> "list[bytes]":
    try:
        with open(f"/proc/{number}/cmdline", "rb", buffering=0) as file:
            return file.read(_WORDS_BYTES).removesuffix(b"\0").split(b"\0")
    except OSError:
        return []


def _is_wrapper(name: bytes, words: "list[bytes]") -> bool:
    """A shell that was given something to run, or what was given this very call of the hook: `timeout 5 ai-memory …`.

    A harness that is a shell script itself is looked past, too: then its terminal stands for it, which outlives it.
    """
    if name in _SHELLS:
        return any(word[:1] not in (b"-", b"+", b"") for word in words[1:])
    own = [os.fsencode(word) for word in sys.argv[1:]]
    return bool(own) and words[-len(own) :] == own


def _place() -> int:
    """31 bits of where process ids count: on Linux the machine and its namespace of processes."""
    name = sys.platform
    if name == "linux":
        try:
            name = f"{os.uname().nodename} {os.readlink('/proc/self/ns/pid')}"
        except OSError:
            name = os.uname().nodename
    place = 0
    for sign in name.encode("utf-8", "replace"):
        place = (place * 31 + sign) & 0x7FFFFFFF
    return place or 1
