"""Every harness by id or alias. Records with hooks of their own stand in their own modules, the rest is named here."""

import difflib
from collections.abc import Mapping

from ai_memory.errors import NotFound, echo
from ai_memory.harnesses.claude_code import CLAUDE_CODE
from ai_memory.harnesses.codex import CODEX
from ai_memory.harnesses.record import Form, Harness


def _named(
    identifier: str,
    title: str,
    *aliases: str,
    form: Form = Form.NONE,
    at: str = "",
    tells: bool = False,
    reloads: bool = False,
    session_variable: str = "",
) -> Harness:
    return Harness(
        identifier,
        title,
        aliases=aliases,
        form=form,
        inject_at=at,
        tells=tells,
        reloads=reloads,
        session_variable=session_variable,
    )


_START = "session-start"

HARNESSES: tuple[Harness, ...] = (
    CLAUDE_CODE,
    CODEX,
    _named(
        *("opencode", "OpenCode", "open-code", "opencode2", "opencode-v2", "open-code2"),
        form=Form.CONTEXT,
        at=_START,
        reloads=True,
    ),
    _named("cursor", "Cursor", form=Form.SNAKE, at=_START),
    _named(
        *("gemini-cli", "Gemini CLI", "gemini"),
        form=Form.ENVELOPE,
        at=_START,
        tells=True,
        reloads=True,
        session_variable="GEMINI_SESSION_ID",
    ),
    _named("antigravity-cli", "Antigravity CLI", "antigravity", "agy", form=Form.STEPS, at=_START),
    _named("pi", "Pi", form=Form.CONTEXT, at=_START, reloads=True),
    _named("omp", "Oh My Pi", "oh-my-pi", form=Form.CONTEXT, at=_START, reloads=True),
    _named("openclaw", "OpenClaw", form=Form.CONTEXT, at=_START, reloads=True),
    _named("hermes", "Hermes", "hermes-agent", form=Form.CONTEXT, at="user-prompt", reloads=True),
    _named("grok", "Grok Build", "grok-build", form=Form.ENVELOPE, at="post-tool-use"),
    _named("crush", "Crush"),
    _named("zero", "Zero"),
    _named("zcode", "ZCode", "zai", form=Form.ENVELOPE, at=_START),
    _named("kimi-code", "Kimi Code", "kimi", "kimi-cli", form=Form.TEXT, at="user-prompt", reloads=True),
    _named("kiro-cli", "Kiro CLI", "kiro", form=Form.TEXT, at=_START),
    _named("kiro-cli-v3", "Kiro CLI 3", form=Form.TEXT, at=_START),
    _named("command-code", "Command Code", "commandcode", "cmdc", "cmd", form=Form.ENVELOPE, at=_START),
    _named("devin", "Devin CLI", form=Form.ENVELOPE, at=_START),
    _named("pool", "Pool", "poolside"),
    _named("copilot-cli", "GitHub Copilot CLI", "copilot", form=Form.CAMEL, at=_START, reloads=True),
    _named("vscode", "VS Code", "vscode-copilot", form=Form.ENVELOPE, at=_START, tells=True),
    _named("claude-desktop", "Claude Desktop"),
    _named("zed", "Zed"),
    _named("muse", "Muse Code", session_variable="MUSE_SESSION_ID"),
    _named("factory", "Factory Droid", "droid", form=Form.ENVELOPE, at=_START, tells=True, reloads=True),
    _named("prime", "Prime Agent"),
    _named("swival", "Swival"),
    _named("dsh", "DeepSeek Harness"),
    _named("qwen-code", "Qwen Code", "qwen", form=Form.ENVELOPE, at=_START, tells=True, reloads=True),
    _named("windsurf", "Windsurf", "cascade"),
    _named("cline", "Cline", form=Form.CLINE, at=_START),
    _named("amp", "Amp"),
    _named("roo", "Roo Code"),
)
"""In the order of decision C8."""

BY_ID: Mapping[str, Harness] = {one.id: one for one in HARNESSES}
_BY_NAME: Mapping[str, Harness] = {name: one for one in HARNESSES for name in (one.id, *one.aliases)}


def find(name: str) -> Harness | None:
    """The harness of that id or alias, in any case, or None."""
    return _BY_NAME.get(name.strip().lower().replace("_", "-"))


def get(name: str) -> Harness:
    """The harness of that id or alias. *Errors*: NotFound naming the nearest one."""
    found = find(name)
    if found is None:
        near = difflib.get_close_matches(name.lower(), list(_BY_NAME), 1)
        hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(BY_ID)}"
        raise NotFound(f"no harness is called {echo(name)}", hint=hint)
    return found
