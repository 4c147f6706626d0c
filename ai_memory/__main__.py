"""Which front door a call takes. Hook, drain and bridge never import the command line; nothing heavy stands here."""

import _signal  # type: ignore[import-not-found]  # what lies below `signal`, without its enums: 2 ms
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ai_memory.paths import DataDir


INTERRUPTED = 130


def main(words: "Sequence[str] | None" = None) -> int:
    """Run the call that the words, or the process's own arguments, make. Gives its exit code.

    An interrupt ends the process in one line wherever it falls, imports too; a hook says nothing and succeeds. What was
    being written is whole or not there at all.
    """
    words = list(sys.argv[1:] if words is None else words)
    is_hook = words[:1] == ["hook"]
    sys.unraisablehook = _end_if_interrupted
    try:
        code = _run(words) if is_hook else _told(words)
        _signal.signal(_signal.SIGINT, _signal.SIG_IGN)  # all is done and said
    except KeyboardInterrupt:
        if not is_hook:
            sys.stderr.write("interrupted\n")
        code = INTERRUPTED
    if code == INTERRUPTED:
        _leave(0 if is_hook else code)
    return code


def _told(words: "list[str]") -> int:
    """The call on streams that may be closed, full, or left by their reader. A hook's are the harness's affair."""
    from ai_memory.streams import Unwritten, give_up, prepare  # what a hook does not load

    prepare()
    try:
        code = _run(words)
        sys.stdout.flush()
    except Unwritten as fault:
        code = give_up(fault)
    return code


def _end_if_interrupted(fault: "sys.UnraisableHookArgs") -> None:
    """End also at an interrupt that Python cannot raise, since it fell into a callback, such as that of an import.

    A file that a destructor could not close, on a full disk, is no news: the call that wrote to it failed and says so.
    Crash: safe, as a kill is.
    """
    if issubclass(fault.exc_type, OSError):
        return
    if fault.exc_type is not KeyboardInterrupt:
        sys.__unraisablehook__(fault)
        return
    sys.stderr.write("interrupted\n")
    _leave(INTERRUPTED)


def _leave(code: int) -> None:
    """End here: an interpreter that saw an interrupt fall into an `exec`, as dataclasses do, kills itself at exit."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, RuntimeError):  # its reader was interrupted, too; or it was being written to just now
            continue
    os._exit(code)


def _run(words: "list[str]") -> int:
    match words:
        case ["hook", *rest] if "--batch" in rest:
            from ai_memory.hook_batch import main as batch  # for producers, which harnesses are not

            return batch(rest, _compile_policy)
        case ["hook", *rest]:
            from ai_memory.hook_front import main as hook  # the hook's budget is 3 x a bare interpreter

            return hook(rest)
        case ["drain", *rest]:
            from ai_memory.capture.drain import main as drain  # its first act is to try its lock

            return drain(rest, then=_after_work)
        case ["mcp-bridge", *rest]:
            from ai_memory.bridge.front import main as bridge  # answers before the SDK is imported

            return bridge(rest)
        case ["--version"]:
            from ai_memory import __version__

            sys.stdout.write(f"ai-memory {__version__}\n")
            return 0
    from ai_memory.cli.app import main as commands  # typer costs 70 ms CPU (2026-11-30)

    return commands(words)


def _compile_policy(data_dir: str, folder: str) -> None:
    from ai_memory.capture.policy_file import renewed_at  # only for a folder whose policy no drain has met

    renewed_at(data_dir, folder)


def _after_work(data_dir: "DataDir") -> None:
    from ai_memory.capture.first_fill import fill_empty  # only after a drain that had work
    from ai_memory.operations.after_work import do_what_is_due, read_sources  # as above

    fill_empty(data_dir)
    read_sources(data_dir)
    do_what_is_due(data_dir)


if __name__ == "__main__":
    sys.exit(main())
