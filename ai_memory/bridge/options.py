"""The bridge's command line, and the tools that it selects. Stdlib only: the front door imports it."""

import re

TYPE_CHECKING = False  # importing typing costs 5 ms (2026-11-30)
if TYPE_CHECKING:
    from typing import Any

MANIFEST_FORMAT = 1
"""Of `manifest.json`: the generator writes it, the front door refuses another one."""

DEFAULT_PROFILE = "core"
"""Seven tools (decision C9): each one more costs every request of every session."""

HELP = """\
Usage: ai-memory mcp-bridge [OPTIONS]

Serve the memory to one MCP client over stdin and stdout.

  --data-dir PATH    data dir (else AI_MEMORY_DATA_DIR, else the platform's)
  --profile NAME     core, full, or names of tools with commas between [core]
  --workspace NAME   workspace of calls that name none
  --project NAME     project of calls that name none
  --agent NAME       whose client this is: changes are told as that agent's
  --structured       answer with objects and output schemas, too; it starts a second later
  --help             show this text
"""


_NAME = re.compile(r"(?:_(?=global$|profile$|profile\.))?[a-z0-9][a-z0-9._-]{0,99}")
"""What every name passes; each call checks the rest of the rule, as `text.names` has it."""


class BadUsage(Exception):
    """The command line does not fit; the text says how."""


class Options:
    """What was asked for on the command line."""

    __slots__ = ("agent", "data_dir", "profile", "project", "structured", "workspace")

    def __init__(self) -> None:
        self.agent: str | None = None
        self.data_dir: str | None = None
        self.profile = DEFAULT_PROFILE
        self.structured = False
        self.workspace: str | None = None
        self.project: str | None = None


def parse(argv: list[str]) -> Options | None:
    """The options, or None when help was asked for. Errors: BadUsage."""
    options = Options()
    words = list(argv)
    while words:
        word, is_joined, value = words.pop(0).partition("=")
        if word in ("--help", "-h"):
            return None
        if word == "--json":
            raise BadUsage("--json is not for mcp-bridge: its stdout holds JSON-RPC for the client")
        if word == "--structured" and not is_joined:
            options.structured = True
            continue
        name = word[2:].replace("-", "_")
        if not word.startswith("--") or name not in Options.__slots__ or name == "structured":
            raise BadUsage(f"unknown option {word!r}")
        if not is_joined:
            if not words:
                raise BadUsage(f"{word} needs a value")
            value = words.pop(0)
        if not value:
            raise BadUsage(f"{word} is empty")
        if name in ("workspace", "project", "agent") and not _NAME.fullmatch(value):
            raise BadUsage(f"not a {name} name: {value[:80]!r}; use lower-case letters, digits, '.', '_' and '-'")
        setattr(options, name, value)
    return options


def selected(rows: "list[dict[str, Any]]", profile: str) -> "list[dict[str, Any]]":
    """The tools of a profile, in the order of the rows `{profile, tool}`. Errors: BadUsage for an unknown name."""
    if profile == "full":
        return [row["tool"] for row in rows]
    if profile == "core":
        return [row["tool"] for row in rows if row["profile"] == "core"]
    wanted = {name.strip() for name in profile.split(",")}
    known = [row["tool"]["name"] for row in rows]
    unknown = sorted(wanted.difference(known))
    if unknown:
        raise BadUsage(f"--profile is core, full or names of tools, not {unknown[0]!r}; tools: {', '.join(known)}")
    return [row["tool"] for row in rows if row["tool"]["name"] in wanted]
