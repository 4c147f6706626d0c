"""Stored text made safe to stand in a page of ours, and numbers made readable."""

from ai_memory.clock import rfc3339

AGENTS = {
    "claude-code": "Claude Code",
    "codex": "Codex",
    "opencode": "OpenCode",
    "cursor": "Cursor",
    "gemini-cli": "Gemini CLI",
    "antigravity-cli": "Antigravity CLI",
    "pi": "Pi",
    "copilot-cli": "Copilot CLI",
    "vscode": "VS Code",
    "kimi-code": "Kimi Code",
    "qwen-code": "Qwen Code",
    "windsurf": "Windsurf",
    "cline": "Cline",
}
"""Names of agents as people write them; others show their id."""


def agent_name(agent: str) -> str:
    """The agent as people write it."""
    return AGENTS.get(agent, agent or "An agent")


def plain(text: str) -> str:
    """Words that a page quotes: one line, and no link, comment or heading of ours can begin inside."""
    line = " ".join(text.split())
    line = line.replace("<!--", "&lt;!--").replace("[[", "\\[\\[").replace("](", "]\\(")
    return f"\\{line}" if line[:1] in "#>-+*|=" and line else line


def code(text: str) -> str:
    """Inline code on one line, whatever backticks the text holds."""
    line = " ".join(text.split()) or " "
    ticks = "`"
    while ticks in line:
        ticks += "`"
    pad = " " if line[0] == "`" or line[-1] == "`" else ""
    return f"{ticks}{pad}{line}{pad}{ticks}"


def count(number: int, noun: str, plural: str = "") -> str:
    """`1 prompt`, `3 prompts`."""
    return f"{number} {noun}" if number == 1 else f"{number} {plural or noun + 's'}"


def without_line_ends(text: str) -> str:
    """The text without line ends, as a path or a name stands in a list or a heading; blanks in it stay as they are."""
    return " ".join(text.splitlines())


def listed(items: list[str], *, most: int = 3) -> str:
    """`a, b and c`, or `a, b, c and 4 more`, on one line."""
    items = [without_line_ends(item) for item in items]
    if len(items) > most:
        return f"{', '.join(items[:most])} and {len(items) - most} more"
    return " and ".join([", ".join(items[:-1]), items[-1]]) if len(items) > 1 else "".join(items)


def duration(microseconds: int) -> str:
    """`less than a second`, `40 seconds`, `12 minutes`, `3 h 5 min`."""
    seconds = max(0, microseconds) // 1_000_000
    if not seconds:
        return "less than a second"
    if seconds < 60:
        return count(seconds, "second")
    minutes = seconds // 60
    if minutes < 60:
        return count(minutes, "minute")
    hours, rest = divmod(minutes, 60)
    return f"{hours} h {rest} min" if rest else f"{hours} h"


def minute(at_us: int) -> str:
    """`2026-11-30 08:00 UTC`."""
    text = rfc3339(at_us // 1_000_000 * 1_000_000)
    return f"{text[:10]} {text[11:16]} UTC"


def clock_time(at_us: int) -> str:
    """`08:00:12`."""
    return rfc3339(at_us // 1_000_000 * 1_000_000)[11:19]
