"""What the hook has to know of each harness: names of events, where context goes, what is peculiar. Stdlib only, light.

The tables here are the hook's side of the records in `ai_memory.harnesses`; a test keeps both equal.
"""

# ruff: noqa: SIM905 (a list of words reads better than a list of quotes)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

KINDS = (
    "session-start",
    "user-prompt",
    "pre-tool-use",
    "post-tool-use",
    "pre-compact",
    "post-compaction",
    "notification",
    "stop",
    "session-end",
    "other",
)

_SPELLINGS = {
    "session-start": "sessionstart agentspawn preinvocation sessioncreated onsessionstart taskstart taskresume",
    "user-prompt": "userprompt userpromptsubmit userpromptsubmitted beforesubmitprompt beforeagent prellmcall"
    " chatmessage beforeagentstart preuserprompt beforepromptbuild sessionprompt",
    "pre-tool-use": "pretooluse beforetool pretoolcall toolexecutebefore beforetoolcall toolcall beforeshellexecution"
    " beforemcpexecution beforereadfile",
    "post-tool-use": "posttooluse posttoolusefailure aftertool posttoolcall toolexecuteafter aftertoolcall toolresult"
    " aftershellexecution aftermcpexecution afterfileedit postruncommand postwritecode postreadcode postmcptooluse",
    "pre-compact": "precompact precompress sessionbeforecompact beforecompaction experimentalsessioncompacting"
    " sessioncompactionstarted",
    "post-compaction": "postcompaction postcompact sessioncompact sessioncompacted aftercompaction"
    " sessioncompactionended",
    "notification": "notification",
    "stop": "stop stopfailure afteragent agentstop agentend sessionidle onsessionend taskcancel postcascaderesponse"
    " agentturncomplete sessionexecutionsucceeded sessionexecutionfailed sessionexecutioninterrupted",
    "session-end": "sessionend sessiondeleted sessionshutdown onsessionfinalize taskcomplete",
}
EVENTS = {spelling: kind for kind, spellings in _SPELLINGS.items() for spelling in spellings.split()}
"""Native event name, letters only in lower case → canonical kind. Whatever is not here is `other`."""

HARNESSES = (
    "claude-code codex opencode cursor gemini-cli antigravity-cli pi omp openclaw hermes grok crush zero zcode "
    "kimi-code kiro-cli kiro-cli-v3 command-code devin pool copilot-cli vscode claude-desktop zed muse factory "
    "prime swival dsh qwen-code windsurf cline amp roo"
).split()
ALIASES = {
    "claude": "claude-code",
    "open-code": "opencode",
    "opencode2": "opencode",
    "opencode-v2": "opencode",
    "open-code2": "opencode",
    "gemini": "gemini-cli",
    "antigravity": "antigravity-cli",
    "agy": "antigravity-cli",
    "oh-my-pi": "omp",
    "grok-build": "grok",
    "kimi": "kimi-code",
    "kimi-cli": "kimi-code",
    "kiro": "kiro-cli",
    "commandcode": "command-code",
    "cmdc": "command-code",
    "cmd": "command-code",
    "hermes-agent": "hermes",
    "poolside": "pool",
    "zai": "zcode",
    "copilot": "copilot-cli",
    "vscode-copilot": "vscode",
    "qwen": "qwen-code",
    "droid": "factory",
    "cascade": "windsurf",
}

INJECTION = {
    "claude-code": ("session-start", "envelope"),
    "codex": ("session-start", "envelope"),
    "command-code": ("session-start", "envelope"),
    "devin": ("session-start", "envelope"),
    "zcode": ("session-start", "envelope"),
    "gemini-cli": ("session-start", "envelope"),
    "qwen-code": ("session-start", "envelope"),
    "factory": ("session-start", "envelope"),
    "vscode": ("session-start", "envelope"),
    "copilot-cli": ("session-start", "camel"),
    "cursor": ("session-start", "snake"),
    "cline": ("session-start", "cline"),
    "kiro-cli": ("session-start", "text"),
    "kiro-cli-v3": ("session-start", "text"),
    "antigravity-cli": ("session-start", "steps"),
    "opencode": ("session-start", "context"),
    "pi": ("session-start", "context"),
    "omp": ("session-start", "context"),
    "openclaw": ("session-start", "context"),
    "kimi-code": ("user-prompt", "text"),
    "hermes": ("user-prompt", "context"),
    "grok": ("post-tool-use", "envelope"),
    "crush": ("pre-tool-use", "context"),
}
"""Harness → the kind of event at which it takes context, and in which form. Not here: takes none, never claims."""

TELLING = ("claude-code", "codex", "gemini-cli", "qwen-code", "factory", "vscode")
"""Harnesses that show a person the member `systemMessage` of an answer."""

RELOADING = (
    *("claude-code", "codex", "cursor", "gemini-cli", "qwen-code", "factory", "kimi-code", "hermes"),
    *("opencode", "pi", "omp", "openclaw", "copilot-cli"),
)
"""Harnesses that take context with a prompt, in the form of their start."""

BEGINNING_WITH_PROMPT = ("qwen-code",)
"""Harnesses that tell of no start when they are run with a prompt (`qwen -p`, 0.24): their first prompt is one."""

SILENT = ("kiro-cli", "kiro-cli-v3", "kimi-code")
"""Whatever these are told becomes text of the conversation, even `{}`."""

RETELLING = ("cursor",)
"""What a start of these was told may be lost: it is told again with the first prompt, see `Start.is_unproven`."""

ANONYMOUS = ("zcode", "kiro-cli", "kiro-cli-v3", "devin", "copilot-cli")
"""Some versions of these name no session: one is minted and remembered, see `ai_memory.hook_session`."""

DRAINING = ("zero",)
"""These kill what a hook leaves running: the hook waits for its own drain."""

SESSION_VARIABLES = {
    "claude-code": "CLAUDE_CODE_SESSION_ID",
    "cursor": "CURSOR_CONVERSATION_ID",
    "gemini-cli": "GEMINI_SESSION_ID",
    "grok": "GROK_SESSION_ID",
    "crush": "CRUSH_SESSION_ID",
    "kiro-cli": "KIRO_SESSION_ID",
    "copilot-cli": "COPILOT_AGENT_SESSION_ID",
    "muse": "MUSE_SESSION_ID",
}
"""Harness → the variable that names the session to its children, in the order of decision C8."""

UNATTENDED = "unattended"
"""The flag of a prompt that no person typed, as far as its hook can tell: see `ai_memory.hook_attendance`."""

PROJECT_FOLDERS = (
    *("CLAUDE_PROJECT_DIR", "CURSOR_PROJECT_DIR", "DEVIN_PROJECT_DIR", "QWEN_PROJECT_DIR", "CRUSH_PROJECT_DIR"),
    *("GEMINI_PROJECT_DIR", "GROK_WORKSPACE_ROOT", "FACTORY_PROJECT_DIR", "DROID_PROJECT_DIR"),
)
"""Where a harness says that its session began, wherever its agent went since: a pause of that folder holds."""

_RUN_OTHERS_HOOKS = ("claude-code", "vscode", "copilot-cli", "cursor", "other")
"""Labels of commands that harnesses other than these start, too."""


def canonical_event(name: str) -> str:
    """The canonical kind of a native or canonical event name, in whatever case and punctuation."""
    return EVENTS.get("".join(sign for sign in name.lower() if sign.isalpha()), "other")


def canonical_agent(name: str) -> str:
    """The harness id of a name or alias; `other` for what is none."""
    plain = name.strip().lower().replace("_", "-")
    plain = ALIASES.get(plain, plain)
    return plain if plain in HARNESSES else "other"


def detect(payload: "Mapping[str, Any]", agent: str, environ: "Mapping[str, str]") -> str | None:
    """The harness that really called, where payload or environment give it away; None where nothing speaks against
    `agent`.

    Cursor, VS Code, Copilot CLI, Grok and Devin run Claude Code's hooks too, and Grok Cursor's.
    """
    if "cursor_version" in payload or ("conversation_id" in payload and environ.get("CURSOR_VERSION")):
        return "cursor"
    if agent not in _RUN_OTHERS_HOOKS:
        return None
    if environ.get("GROK_HOOK_EVENT"):
        return "grok"
    if environ.get("DEVIN_PROJECT_DIR") and agent == "claude-code" and not environ.get("CLAUDECODE"):
        return "devin"
    result = payload.get("tool_result")
    if "toolArgs" in payload or "toolResult" in payload or (isinstance(result, dict) and "result_type" in result):
        return "copilot-cli"
    stamp = payload.get("timestamp")
    if "hookEventName" in payload and "sessionId" in payload:
        return "copilot-cli" if isinstance(stamp, int) else "vscode"
    if isinstance(stamp, int) and "session_id" not in payload:
        return "copilot-cli"
    if isinstance(stamp, str) and agent == "claude-code" and "transcript_path" not in payload:
        return "copilot-cli"  # Claude Code tells a transcript with every event, and no time
    return None


def empty_answer(agent: str, kind: str) -> bytes:
    """What says nothing to that harness."""
    if agent in SILENT:
        return b""
    if agent == "antigravity-cli" and kind == "pre-tool-use":
        return b'{"decision":"allow"}'
    if agent == "cline":
        return b'{"cancel":false}'
    return b"{}"
