"""Real agent programs: where they lie, how each is pointed at the scripted model, and how one turn of it is run.

`install_programs.sh FOLDER` puts them there; `AI_MEMORY_TEST_PROGRAMS` names the folder.
"""

import json
import os
import shlex
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ai_memory
from ai_memory.harnesses import plugin_files, registry
from ai_memory.harnesses.launch import Launch

PROGRAMS = os.environ.get("AI_MEMORY_TEST_PROGRAMS", "")
"""Read here: a test's environment is cleared of our variables."""


@dataclass(frozen=True)
class Places:
    """What a program is told: its home, where it works, the data dir, the model."""

    home: Path
    checkout: Path
    data: Path
    model_url: str
    """With `/v1`."""

    @property
    def model_root(self) -> str:
        return self.model_url.removesuffix("/v1")


@dataclass(frozen=True)
class Program:
    """One agent program."""

    agent: str
    folder: str
    executable: str
    words: tuple[str, ...]
    """What runs one whole session without a person; the prompt follows."""
    configure: Callable[[Places], None]
    environ: Callable[[Places], Mapping[str, str]] = field(default=lambda _: {})
    wire: Callable[[Places, Launch], None] | None = None
    """Writes our hooks as its maker documents them, while its record has none."""
    says_end: bool = True
    """Whether it tells of start and end when it is run so. Else its work is handed over since its process is gone."""

    @property
    def path(self) -> Path:
        return Path(PROGRAMS) / self.folder / "node_modules" / ".bin" / self.executable

    @property
    def search_path(self) -> str:
        """Its own node first, where one was installed beside it, then the shell's tools."""
        own = Path(PROGRAMS) / self.folder / "node_modules" / "node" / "bin"
        rest = [str(Path(node).parent) for node in [shutil.which("node")] if node]
        return os.pathsep.join([*([str(own)] if own.is_dir() else []), *rest, "/usr/local/bin", "/usr/bin", "/bin"])


def launch_at(places: Places, python: str) -> Launch:
    return Launch(python, str(Path(ai_memory.__file__).parent), str(places.data), sys.platform)


def _write(path: Path, content: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content, indent=2))


def _merge(path: Path, members: Mapping[str, Any]) -> None:
    found = json.loads(path.read_text()) if path.exists() else {}
    _write(path, found | members)


def _nested(agent: str, events: Mapping[str, str], launch: Launch, timeout: int) -> dict[str, Any]:
    def group(kind: str) -> list[dict[str, Any]]:
        return [{"hooks": [{"type": "command", "command": launch.hook_line(agent, kind), "timeout": timeout}]}]

    return {native: group(kind) for native, kind in events.items()}


CLAUDE_EVENTS = {
    "SessionStart": "session-start",
    "UserPromptSubmit": "user-prompt",
    "PreToolUse": "pre-tool-use",
    "PostToolUse": "post-tool-use",
    "Stop": "stop",
    "SessionEnd": "session-end",
}
GEMINI_EVENTS = {
    "SessionStart": "session-start",
    "BeforeAgent": "user-prompt",
    "BeforeTool": "pre-tool-use",
    "AfterTool": "post-tool-use",
    "AfterAgent": "stop",
    "PreCompress": "pre-compact",
    "SessionEnd": "session-end",
}


def _claude(places: Places) -> None:
    _write(places.home / ".claude.json", {"hasCompletedOnboarding": True})
    _write(places.home / ".claude" / "settings.json", {"permissions": {"allow": ["Bash"]}})


def _codex(places: Places) -> None:
    _write(
        places.home / ".codex" / "config.toml",
        'model = "mock-1"\nmodel_provider = "mock"\n\n'
        f'[model_providers.mock]\nname = "mock"\nbase_url = "{places.model_url}"\nwire_api = "responses"\n'
        'env_key = "MOCK_KEY"\n',
    )


def _opencode(places: Places) -> None:
    model = {"name": "mock-1", "tool_call": True, "limit": {"context": 100_000, "output": 4_000}}
    options = {"baseURL": places.model_url, "apiKey": "none"}
    provider = {"npm": "@ai-sdk/openai-compatible", "name": "mock", "options": options, "models": {"mock-1": model}}
    settings = {"provider": {"mock": provider}, "model": "mock/mock-1", "permission": {"bash": "allow"}}
    _write(places.home / ".config" / "opencode" / "opencode.json", settings)


def _pi(places: Places) -> None:
    free = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}
    model = {"id": "mock-1", "name": "mock-1", "reasoning": False, "input": ["text"], "cost": free}
    model |= {"contextWindow": 100_000, "maxTokens": 4_000}
    provider = {"baseUrl": places.model_url, "api": "openai-completions", "apiKey": "none", "models": [model]}
    _write(places.home / ".pi" / "agent" / "models.json", {"providers": {"mock": provider}})


def _gemini(places: Places) -> None:
    chosen = {"security": {"auth": {"selectedType": "gemini-api-key"}}, "hooksConfig": {"enabled": True}}
    off = {"general": {"disableAutoUpdate": True}, "privacy": {"usageStatisticsEnabled": False}}
    _write(places.home / ".gemini" / "settings.json", chosen | off)


def _wire_gemini(places: Places, launch: Launch) -> None:
    hooks = _nested("gemini-cli", GEMINI_EVENTS, launch, 10_000)
    _merge(places.home / ".gemini" / "settings.json", {"hooks": hooks})


def _qwen(places: Places) -> None:
    chosen = {"security": {"auth": {"selectedType": "openai"}}, "model": {"name": "mock-1"}}
    off = {"general": {"disableAutoUpdate": True}, "privacy": {"usageStatisticsEnabled": False}}
    _write(places.home / ".qwen" / "settings.json", chosen | off)


def _wire_qwen(places: Places, launch: Launch) -> None:
    hooks = _nested("qwen-code", CLAUDE_EVENTS, launch, 10_000)
    _merge(places.home / ".qwen" / "settings.json", {"hooks": hooks})


def _wire_copilot(places: Places, launch: Launch) -> None:
    def entry(kind: str) -> list[dict[str, Any]]:
        return [{"type": "command", "bash": launch.hook_line("copilot-cli", kind), "timeoutSec": 10}]

    hooks = {native: entry(kind) for native, kind in CLAUDE_EVENTS.items()}
    _write(places.home / ".copilot" / "hooks" / "ai-memory.json", {"version": 1, "hooks": hooks})


def _wire_plugin(agent: str, place: str, text: Callable[..., str]) -> Callable[[Places, Launch], None]:
    def wire(places: Places, launch: Launch) -> None:
        _write(places.home / place, text(registry.get(agent), launch))

    return wire


ALL = (
    Program(
        *("claude-code", "claude", "claude", ("--allowedTools", "Bash", "--model", "sonnet", "-p")),
        configure=_claude,
        environ=lambda places: {
            "ANTHROPIC_BASE_URL": places.model_root,
            "ANTHROPIC_API_KEY": "none",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        },
    ),
    Program(
        *("codex", "codex", "codex"),
        words=tuple(shlex.split("exec --skip-git-repo-check --dangerously-bypass-hook-trust -s danger-full-access")),
        configure=_codex,
        environ=lambda _: {"MOCK_KEY": "none"},
    ),
    Program(
        *("opencode", "opencode", "opencode", ("run",)),
        configure=_opencode,
        environ=lambda _: {"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_AUTOUPDATE": "1"},
        wire=_wire_plugin("opencode", ".config/opencode/plugins/ai-memory.js", plugin_files.opencode_plugin),
    ),
    Program(
        *("pi", "pi", "pi", ("--provider", "mock", "--model", "mock-1", "-p")),
        configure=_pi,
        environ=lambda _: {"PI_OFFLINE": "1"},
        wire=_wire_plugin("pi", ".pi/agent/extensions/ai-memory.js", plugin_files.pi_extension),
    ),
    Program(
        *("gemini-cli", "gemini", "gemini", ("-m", "gemini-2.5-flash", "--skip-trust", "--yolo", "-p")),
        configure=_gemini,
        environ=lambda places: {"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": places.model_root},
        wire=_wire_gemini,
    ),
    Program(
        *("qwen-code", "qwen", "qwen", ("--yolo", "-p")),
        configure=_qwen,
        environ=lambda places: {
            "OPENAI_API_KEY": "none",
            "OPENAI_BASE_URL": places.model_url,
            "OPENAI_MODEL": "mock-1",
        },
        wire=_wire_qwen,
        says_end=False,
    ),
    Program(
        *("copilot-cli", "copilot", "copilot", ("--allow-all-tools", "-p")),
        configure=lambda _: None,
        environ=lambda places: {
            "COPILOT_PROVIDER_BASE_URL": places.model_url,
            "COPILOT_PROVIDER_API_KEY": "none",
            "COPILOT_MODEL": "mock-1",
            "COPILOT_OFFLINE": "true",
        },
        wire=_wire_copilot,
    ),
)
