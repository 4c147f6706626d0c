"""What a hook may keep of an event: the compiled policy, the nearest marker, `ignore_paths`. Stdlib only, light.

`hook-policy.json` is compiled by `ai_memory.scope.hook_policy`, which documents its form. A source (config.toml or a
marker) that is not in it, or changed since, and that could hold a policy: only metadata of the event is kept, and the
event is flagged `policy-unknown`, so that the drain compiles anew. Never a fault: what can't be read is unknown.
"""

# ruff: noqa: PTH112, PTH116, PTH117, PTH118 (pathlib is not loaded in a hook)

import json
import os
import sys

from ai_memory.hook_places import Surroundings, read_regular, real_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

MAX_SOURCE_BYTES = 64 << 10
MAX_POLICY_BYTES = 8 << 20
MAX_CANDIDATES = 32
MAX_PATH_CHARS = 4096
MAX_STEPS = 1_000_000
"""Bounds, since a cloned repository brings markers along that must not hold a hook up. Beyond them the answer is "may
match": the event keeps metadata only."""

_PATH_KEYS = (
    *("file_path", "filePath", "path", "absolute_path", "AbsolutePath", "notebook_path", "TargetFile", "target_file"),
    *("old_path", "new_path", "filename", "dir_path", "DirectoryPath"),
)
_LIST_KEYS = ("paths", "edits", "replacements", "operations", "files", "changes", "file_paths")
_SHELL_KEYS = ("command", "cmd", "script", "CommandLine", "command_line", "commandLine")
_COMMAND_KEYS = (*_SHELL_KEYS, "input", "patch", "patch_text", "patchText")
_FILE_TOOLS = (
    *("read", "write", "edit", "multiedit", "notebookedit", "notebookread", "readfile", "writefile", "editfile"),
    *("applypatch", "strreplace", "replace", "viewfile", "view", "create", "createfile", "deletefile", "fsread"),
    *("fswrite", "replacefilecontent", "writetofile", "readmanyfiles", "patch"),
)
_SEARCH_TOOLS = (
    *("grep", "glob", "ls", "search", "rg", "find", "listdir", "listdirectory", "searchfiles", "codebasesearch"),
    *("searchfilecontent", "grepsearch", "filesearch", "list", "readdirectory"),
)

_CLAIM = (b"claim_on_session_start",)
"""A source that may say so and is not compiled: the handoff is told of, not taken."""

LEAST_START_TOKENS = 100
"""Less than that has no room for the notice that a handoff waits."""

KEEP = "keep"
METADATA = "metadata"
DROP = "drop"


class Policy:
    """The policy for one event, and why."""

    __slots__ = (
        *("_settings", "allow", "base", "claims", "decision", "drops_subagents", "extra", "ignored", "is_unknown"),
        *("keeps_answers", "keeps_prompts", "max_files", "max_mib", "prompt_bytes", "reason", "recalls"),
        *("start_bytes", "uncompiled"),
    )

    def __init__(self) -> None:
        self.decision = KEEP
        self.reason = "no policy says otherwise"
        self.keeps_prompts = True
        self.keeps_answers = False
        self.claims = True
        self.recalls = False
        """Whether prompts are looked up."""
        self.drops_subagents = False
        self.is_unknown = False
        self.uncompiled = ""
        """The source that a drain has to compile first."""
        self.base = ""
        """Folder of the nearest marker, whatever it holds; empty where there is none."""
        self.max_files = 10_000
        self.max_mib = 256
        self.start_bytes = 0
        self.prompt_bytes = 0
        """The most that a start and a prompt are told; 0 is what the program itself holds for the most."""
        self.ignored: list[str] = []
        self.extra: list[str] = []
        self.allow: list[str] = []
        self._settings: Mapping[str, Any] = {}

    def metadata_only(self, reason: str) -> None:
        if self.decision != DROP:
            self.decision, self.reason = METADATA, reason

    def drop(self, reason: str) -> None:
        self.decision, self.reason = DROP, reason

    def unknown(self, path: str) -> None:
        self.is_unknown = True
        self.uncompiled = path
        self.drops_subagents = True
        self.metadata_only(f"the policy in {path} is not compiled yet")

    def use_settings(self, settings: "Mapping[str, Any]") -> None:
        self._settings = settings
        self.keeps_prompts = settings.get("prompts") is not False
        self.keeps_answers = settings.get("assistant") == "excerpt"
        self.claims = settings.get("claim") is not False
        self.recalls = settings.get("on_prompt") == "on"
        self.extra = _texts(settings.get("extra"))
        self.allow = _texts(settings.get("allow"))
        if isinstance(settings.get("max_files"), int):
            self.max_files = settings["max_files"]
        if isinstance(settings.get("max_mib"), int):
            self.max_mib = settings["max_mib"]
        self.start_bytes = _bytes_of(settings.get("start_tokens"), least=LEAST_START_TOKENS)
        self.prompt_bytes = _bytes_of(settings.get("prompt_tokens"))

    def use_agent(self, agent: str) -> None:
        """A person may let the prompts of single agents be left out (`--no-capture-prompts`)."""
        if agent in _texts(self._settings.get("without_prompts")):
            self.keeps_prompts = False

    def use_marker(self, path: str, compiled: "Mapping[str, Any]") -> None:
        """A marker comes with a repository: it may only narrow what the person's own settings keep."""
        if compiled.get("valid") is False:
            self.drops_subagents = True
            self.metadata_only(f"the policy in {path} is not valid")
            return
        self.ignored = _texts(compiled.get("ignore_paths"))
        self.drops_subagents = compiled.get("drop_subagents") is True
        if compiled.get("prompts") is False:
            self.keeps_prompts = False
        if compiled.get("assistant") == "off":
            self.keeps_answers = False
        if compiled.get("claim") is False:
            self.claims = False

    def judge_tool(self, kind: str, tool: str, call_id: str) -> None:
        """The drop lists of `[ingest]`."""
        if kind in _texts(self._settings.get("drop_events")):
            self.drop(f"[ingest] drop_events names {kind}")
        elif tool and tool in _texts(self._settings.get("drop_tools")):
            self.drop(f"[ingest] drop_tool_names names {tool}")
        elif call_id and call_id.startswith(tuple(_texts(self._settings.get("drop_call_ids")) or ("\0",))):
            self.drop("[ingest] drop_tool_use_id_prefixes names its call id")

    def judge_paths(self, tool: str, given: "Any", *, cwd: str, base: str, home: str) -> None:
        """`ignore_paths`: any file that matches drops the event; a search drops it; a file tool without a readable
        path keeps metadata."""
        if not self.ignored:
            return
        plain = "".join(sign for sign in tool.rpartition("__")[2].lower() if sign.isalpha())
        if plain in _SEARCH_TOOLS:
            self.drop(f"{tool} searches where ignore_paths are set")
            return
        named, is_complete = candidates(given)
        for command in _commands(given):
            from ai_memory import hook_commands  # only where paths are ignored and a shell ran

            read = hook_commands.reads_of(command)
            named += read.paths[:MAX_CANDIDATES]
            is_complete = is_complete and read.is_clear and len(read.paths) <= MAX_CANDIDATES
        if any(self.matches(path, cwd=cwd, base=base, home=home) for path in named):
            self.drop("a path of ignore_paths")
        elif not is_complete or ((not plain or plain in _FILE_TOOLS) and not named):
            self.metadata_only(f"the paths of {tool or 'a tool without a name'} cannot be read")

    def matches(self, path: str, *, cwd: str, base: str, home: str) -> bool:
        """Whether a path is one of `ignore_paths`. `base`: the marker's folder, from which patterns count."""
        if len(path) > MAX_PATH_CHARS:
            return True
        from ai_memory import hook_globs  # only where paths are ignored

        full = os.path.normpath(os.path.join(cwd or base, _expanded(path, home)))
        spellings = {full, real_path(full) or full}
        steps = [MAX_STEPS]
        for spelling in spellings:
            inside = _below(spelling, base)
            for pattern in self.ignored:
                if pattern.startswith(("~/", "/")):
                    anchored, subject = _expanded(pattern, home).lstrip("/"), spelling.lstrip("/")
                elif inside is not None:
                    anchored, subject = pattern, inside
                else:
                    continue
                if hook_globs.fits(_folded(anchored), _folded(subject), steps):
                    return True
        return False


def _bytes_of(tokens: object, *, least: int = 0) -> int:
    """Four bytes a token (decision C10); 0 where no bound is set."""
    return max(tokens, least) * 4 if isinstance(tokens, int) and tokens > 0 else 0


def join(policy: Policy, other: Policy) -> None:
    """Let `policy` keep no more than `other` does."""
    if other.decision == DROP:
        policy.drop(other.reason)
    elif other.decision == METADATA:
        policy.metadata_only(other.reason)
    policy.is_unknown = policy.is_unknown or other.is_unknown
    policy.uncompiled = other.uncompiled or policy.uncompiled


def read_policy(data_dir: str, around: "Surroundings") -> "Policy":
    """The policy for events in that folder."""
    policy, compiled = read_settings(data_dir)
    config = os.path.join(data_dir, "config.toml")
    if _state(config, compiled.get("config")) == "unknown":
        policy.claims = policy.claims and not may_hold(config, _CLAIM)
        policy.recalls = False
        if may_hold(config, (b"capture", b"ingest", b"sanitize")):
            policy.unknown(config)
    markers = compiled.get("markers")
    for path in around.markers():
        known = markers.get(path) if isinstance(markers, dict) else None
        state = _state(path, known)
        if state == "absent":
            continue
        if state == "known" and known is not None:
            policy.use_marker(path, known)
        else:
            policy.claims = policy.claims and not may_hold(path, _CLAIM)
            if may_hold(path, (b"capture",)):
                policy.unknown(path)
        policy.base = os.path.dirname(path)
        break
    return policy


def other_checkout(given: "Any", around: "Surroundings", *, cwd: str) -> "Surroundings | None":
    """The one other repository in which all paths of an input lie; None where there is none such.

    What lies inside the session's own checkout, or in another worktree of it, is no other repository.
    """
    named, is_complete = candidates(given)
    full = [_expanded(path, around.home) for path in named]
    if not full or not is_complete or not all(os.path.isabs(path) for path in full):
        return None
    own = around.root or real_path(cwd)
    found: Surroundings | None = None
    for path in full:
        folder = os.path.dirname(real_path(path))
        if own and _below(folder, own) is not None:
            return None
        if found is not None and _below(folder, found.root) is not None:
            continue
        there = Surroundings(_standing(folder), around.home)
        if not there.root or found is not None or there.common == around.common:
            return None
        found = there
    return found


def _standing(folder: str) -> str:
    """The folder, or the nearest above it that is there: a file may be about to be written."""
    while folder and not os.path.isdir(folder) and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
    return folder


def read_settings(data_dir: str) -> "tuple[Policy, Mapping[str, Any]]":
    """A policy of the person's own settings alone, and all that is compiled."""
    policy = Policy()
    compiled = _load(os.path.join(data_dir, "hook-policy.json"))
    settings = compiled.get("settings")
    policy.use_settings(settings if isinstance(settings, dict) else {})
    return policy, compiled


def _load(path: str) -> "Mapping[str, Any]":
    try:
        found = json.loads(read_regular(path, MAX_POLICY_BYTES) or b"")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) and found.get("v") == 1 else {}


def _state(path: str, compiled: "Any") -> str:
    """`absent`, `known` (compiled from exactly this file) or `unknown`."""
    try:
        status = os.stat(path)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return "absent"
    except OSError as fault:
        import errno  # only for an odd file

        return "absent" if fault.errno == errno.ENAMETOOLONG else "unknown"
    if isinstance(compiled, dict) and compiled.get("size") == status.st_size:
        return "known" if compiled.get("mtime_ns") == status.st_mtime_ns else "unknown"
    return "unknown"


def may_hold(path: str, words: "tuple[bytes, ...]") -> bool:
    """Whether a TOML file could hold one of these keys; a backslash could spell one too. Unreadable: yes."""
    content = read_regular(path, MAX_SOURCE_BYTES + 1)
    if content is None:
        return True
    return len(content) > MAX_SOURCE_BYTES or b"\\" in content or any(word in content for word in words)


def candidates(given: "Any") -> "tuple[list[str], bool]":
    """(paths that an input names, whether these are all): at most 32, from path members, lists, patches, commands."""
    found: list[str] = []
    _collect(given, found, 0)
    unique = list(dict.fromkeys(path for path in found if path.strip()))
    return unique[:MAX_CANDIDATES], len(unique) <= MAX_CANDIDATES


def _collect(given: "Any", found: "list[str]", depth: int) -> None:
    if depth > 4 or len(found) > 4 * MAX_CANDIDATES:
        return
    if isinstance(given, str):
        _collect_command(given, found)
    elif isinstance(given, list):
        for one in given[:256]:
            if isinstance(one, str):
                found.append(one)
            else:
                _collect(one, found, depth + 1)
    elif isinstance(given, dict):
        for key in _PATH_KEYS:
            if isinstance(given.get(key), str):
                found.append(given[key])
        for key in _LIST_KEYS:
            value = given.get(key)
            if isinstance(value, dict):  # {"changes": {"<path>": {…}}}
                found.extend(str(name) for name in list(value)[:256])
            elif isinstance(value, list):
                _collect(value, found, depth + 1)
        for key in _COMMAND_KEYS:
            if isinstance(given.get(key), (str, list)):
                _collect_command(_joined(given[key]), found)


def _commands(given: "Any") -> "list[str]":
    """The shell commands of an input. A patch is none."""
    found = [given] if isinstance(given, str) else []
    if isinstance(given, dict):
        found = [_joined(given[key]) for key in _SHELL_KEYS if isinstance(given.get(key), (str, list))]
    return [text for text in found if "*** Begin Patch" not in text]


def _joined(command: "str | list[Any]") -> str:
    return command if isinstance(command, str) else " ".join(one for one in command if isinstance(one, str))


def _collect_command(text: str, found: "list[str]") -> None:
    """Words of a shell command that could be files, and the files that a patch names."""
    if "*** " in text:
        for line in text.split("\n"):
            if line.startswith("*** ") and ": " in line:
                found.append(line.partition(": ")[2].strip())
    for sign in "|;&<>()\"'`\n\t=":
        text = text.replace(sign, " ")
    for word in text.split(" ")[:512]:
        if word and not word.startswith("-") and ("/" in word or "." in word or "\\" in word):
            found.append(word)


def _expanded(path: str, home: str) -> str:
    return home.rstrip("/") + path[1:] if path == "~" or path.startswith("~/") else path


def _below(path: str, base: str) -> "str | None":
    """The path relative to the folder, or None when it lies elsewhere."""
    if not base:
        return None
    for root in (base, os.path.realpath(base)):
        if path == root:
            return ""
        if path.startswith(root.rstrip("/\\") + os.sep):
            return path[len(root.rstrip("/\\")) + 1 :]
    return None


def _folded(path: str) -> str:
    plain = path.replace("\\", "/")
    return plain.casefold() if sys.platform in ("win32", "darwin") else plain


def _texts(value: "Any") -> "list[str]":
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []
