"""Which front door a call takes. Hook, drain and bridge never import the command line; nothing heavy stands here."""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def main(words: "Sequence[str] | None" = None) -> int:
    """Run the call that the words, or the process's own arguments, make. Gives its exit code."""
    words = list(sys.argv[1:] if words is None else words)
    match words:
        case ["hook", *rest]:
            from ai_memory.hook_front import main as hook  # the hook's budget is 3 x a bare interpreter

            return hook(rest)
        case ["drain", *rest]:
            from ai_memory.capture.drain import main as drain  # its first act is to try its lock

            return drain(rest)
        case ["mcp-bridge", *rest]:
            from ai_memory.bridge.front import main as bridge  # answers before the SDK is imported

            return bridge(rest)
        case ["--version"]:
            from ai_memory import __version__

            sys.stdout.write(f"ai-memory {__version__}\n")
            return 0
    from ai_memory.cli.app import main as commands  # typer costs 70 ms CPU (2026-11-30)

    return commands(words)


if __name__ == "__main__":
    sys.exit(main())
