"""The one handler of all faults of the command line: expected 1 and its kin, usage 2, interrupt 130, bug 70.

*Source*: decision C3.
"""

import errno
import os
import platform
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import typer

from ai_memory import __version__
from ai_memory.cli.call import say
from ai_memory.cli.display import shown
from ai_memory.cli.invoke import json_text
from ai_memory.errors import MemoryFault
from ai_memory.operations.answer import fault_json
from ai_memory.paths import find_data_dir
from ai_memory.streams import Unwritten, give_up

INTERRUPTED = 130
BUG = 70
"""`EX_SOFTWARE` of sysexits.h."""

_DISK_TROUBLE = frozenset(
    (
        errno.ENOSPC,
        errno.EDQUOT,
        errno.EROFS,
        errno.EACCES,
        errno.EPERM,
        errno.EIO,
        errno.EMFILE,
        errno.ENAMETOOLONG,
        errno.EFBIG,
    )
)
"""What a disk or its owner refuses: no fault of ours."""

_RAISE_LIMIT = "raise the limit of this shell (`ulimit -f unlimited`), retry"


def guarded(words: Sequence[str], run: Callable[[], int]) -> int:
    """The exit code of `run`; whatever it raises is told in one or two lines, or as JSON when the words ask for it."""
    try:
        return _answered(words, run)
    except Unwritten as fault:
        return give_up(fault)


def _answered(words: Sequence[str], run: Callable[[], int]) -> int:
    is_json = _asks_for_json(words)
    try:
        code = run()
        sys.stdout.flush()
        if code == INTERRUPTED:  # Typer made a code of it, without a word
            say("interrupted")
        return code
    except MemoryFault as fault:
        _tell(is_json, fault.code, fault.message, fault.hint)
        return fault.exit_code
    except typer.TyperException as fault:
        _tell(is_json, "invalid", fault.format_message(), _help_hint(fault))
        return fault.exit_code
    except (KeyboardInterrupt, typer.Abort):
        say("interrupted")
        return INTERRUPTED
    except Unwritten:
        raise
    except Exception as fault:  # noqa: BLE001 - the top handler
        if isinstance(fault, OSError) and fault.errno in _DISK_TROUBLE:
            hint = _RAISE_LIMIT if fault.errno == errno.EFBIG else "free or allow it, retry"
            _tell(is_json, "internal", f"{fault.strerror}: {fault.filename or 'the data dir'}", hint)
            return 1
        _tell(is_json, "internal", f"this is a bug: {type(fault).__name__}: {_cut(str(fault))}", _report(words, fault))
        return BUG


def _asks_for_json(words: Sequence[str]) -> bool:
    words = words[: words.index("--")] if "--" in words else words
    return "--json" in words or "--format=json" in words or ("--format", "json") in pairwise(words)


def _tell(is_json: bool, code: str, message: str, hint: str) -> None:
    if is_json:
        try:
            print(json_text(fault_json(code, message, hint)), flush=True)
            return
        except Unwritten as fault:  # the exit code tells it all the same, and stderr does, too
            give_up(fault)
    say(f"error: {shown(message)}")
    if hint:
        say(shown(hint))


def _help_hint(fault: typer.TyperException) -> str:
    context = getattr(fault, "ctx", None)
    return f"see {context.command_path} --help" if context is not None else ""


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 200 else line[:199] + "…"


def _report(words: Sequence[str], fault: Exception) -> str:
    """Write what happened where a person can find it; the sentence says where."""
    text = "\n".join(
        (
            f"ai-memory {__version__} · Python {platform.python_version()} · {platform.platform()}",
            f"command: {' '.join(words)}",
            "".join(traceback.format_exception(fault)),
        )
    )
    try:
        path = _log_folder(words) / f"bug-{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{os.getpid()}.log"
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(_scrubbed(text))
    except OSError as second:
        return f"and no log could be written: {second.strerror}"
    return f"details: {path}"


def _log_folder(words: Sequence[str]) -> Path:
    """`logs/` of the data dir when there is one: a fault must not create it."""
    named = [after for word, after in pairwise(words) if word == "--data-dir"]
    named += [word.partition("=")[2] for word in words if word.startswith("--data-dir=")]
    data_dir = find_data_dir(named[-1] if named else None, os.environ)
    if not data_dir.root.is_dir():
        return Path(tempfile.gettempdir())
    data_dir.logs.mkdir(mode=0o700, exist_ok=True)
    return data_dir.logs


def _scrubbed(text: str) -> str:
    from ai_memory.scrub import scrub  # a bug is rare, its log is read by others

    return scrub(text)
