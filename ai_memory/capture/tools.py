"""What a tool call did, read from its name and input as the many harnesses write them."""

import json
import os
import re
import shlex
from collections.abc import Mapping
from enum import StrEnum


class Family(StrEnum):
    """What a tool does to the work tree."""

    READ = "read"
    EDIT = "edit"
    SEARCH = "search"
    COMMAND = "command"
    WEB = "web"
    DELEGATE = "delegate"
    OTHER = "other"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NAMES: Mapping[Family, frozenset[str]] = {
    Family.READ: _words("read readfile view viewfile notebookread cat openfile readmanyfiles fsread"),
    Family.EDIT: _words(
        """
        edit write multiedit notebookedit writefile editfile applypatch strreplace strreplaceeditor replace create
        strreplacebasededittool createfile insert fswrite patch replacefilecontent writetofile searchreplace deletefile
        """
    ),
    Family.SEARCH: _words("grep glob ls search rg find listdir listdirectory searchfiles codebasesearch"),
    Family.COMMAND: _words(
        """
        bash shell exec execcommand runcommand runshellcommand shellcommand terminal localshell powershell executebash
        runterminalcmd bashoutput containerexec unifiedexec writestdin
        """
    ),
    Family.WEB: _words("webfetch websearch fetch googlewebsearch browse websearchcall"),
    Family.DELEGATE: _words("task agent subagent spawnagent runsubagent dispatchagent delegate"),
}
"""Tool names in lower case, letters only."""

_PATH_KEYS = (
    "file_path",
    "filePath",
    "path",
    "absolute_path",
    "AbsolutePath",
    "notebook_path",
    "TargetFile",
    "target_file",
)
_LIST_KEYS = ("paths", "edits", "replacements", "operations", "files", "changes")
_PATCH_LINE = re.compile(r"^\*\*\* (?:Update|Add|Delete) File: (.+)$|^\*\*\* Move to: (.+)$", re.MULTILINE)
MAX_PATHS = 32


def family(tool: str) -> Family:
    """The family of a tool by its name, whatever the spelling: `Read`, `read_file`, `fs.read`."""
    plain = re.sub(r"[^a-z]", "", tool.rsplit("__", 1)[-1].lower())
    for one, names in _NAMES.items():
        if plain in names:
            return one
    return Family.OTHER


def parse_input(text: str) -> object:
    """The tool's input: what its JSON says, or the text itself."""
    try:
        return json.loads(text) if text else {}
    except (ValueError, RecursionError):
        return text


def paths(given: object) -> list[str]:
    """The files that an input names, each once, in order; also those of a patch text."""
    found: list[str] = []
    _collect(given, found, depth=0)
    return list(dict.fromkeys(found))[:MAX_PATHS]


def _collect(given: object, found: list[str], *, depth: int) -> None:
    if isinstance(given, str):
        found.extend(first or moved for first, moved in _PATCH_LINE.findall(given))
    elif isinstance(given, Mapping):
        for key in _PATH_KEYS:
            value = given.get(key)
            if isinstance(value, str) and value.strip():
                found.append(value.strip())
        for key in ("input", "patch", "command", "arguments"):
            value = given.get(key)
            if isinstance(value, str):
                _collect(value, found, depth=depth)
            elif isinstance(value, list) and depth < 2:
                for item in value:
                    if isinstance(item, str):
                        _collect(item, found, depth=depth + 1)
        if depth < 2:
            for key in _LIST_KEYS:
                _collect_list(given.get(key), found, depth=depth + 1)


def _collect_list(given: object, found: list[str], *, depth: int) -> None:
    if isinstance(given, Mapping):  # codex: {"changes": {"<path>": {…}}}
        found.extend(key for key in given if isinstance(key, str) and ("/" in key or "." in key))
    elif isinstance(given, list):
        for item in given:
            if isinstance(item, str) and item.strip():
                found.append(item.strip())
            else:
                _collect(item, found, depth=depth)


def is_patch(given: object) -> bool:
    """Whether the input carries a patch in Codex's form, under whatever tool name."""
    text = given if isinstance(given, str) else command(given)
    return "*** Begin Patch" in text


def command(given: object) -> str:
    """The shell command of an input as one string; empty when it has none."""
    if isinstance(given, str):
        return given.strip()
    if not isinstance(given, Mapping):
        return ""
    for key in ("command", "cmd", "CommandLine", "script"):
        value = given.get(key)
        if isinstance(value, str):
            return value.strip()
        if isinstance(value, list) and all(isinstance(word, str) for word in value):
            return _joined(value)
    return ""


def _joined(words: list[str]) -> str:
    """`["bash", "-lc", "ls"]` is `ls`; other lists are quoted as a shell would need."""
    shells = ("bash", "sh", "zsh", "dash")
    if len(words) == 3 and os.path.basename(words[0]) in shells and words[1].startswith("-") and "c" in words[1]:
        return words[2].strip()
    return shlex.join(words)


def subject(tool: str, given: object, *, root: str = "") -> str:
    """What the call was about in a few words: command, path, pattern, query or address; paths below `root` short."""
    text = command(given) if family(tool) is Family.COMMAND else ""
    if text:
        return text
    if isinstance(given, Mapping):
        named = [shown_path(path, root) for path in paths(given)]
        for key in ("pattern", "query", "url", "description", "prompt", "skill", "subject"):
            value = given.get(key)
            if isinstance(value, str) and value.strip():
                return f"{value.strip()} in {named[0]}" if named and key == "pattern" else value.strip()
        if named:
            return named[0] if len(named) == 1 else f"{named[0]} and {len(named) - 1} more"
        return command(given)
    return given if isinstance(given, str) else ""


def shown_path(path: str, root: str) -> str:
    """The path relative to the checkout where it lies inside it, else as it is; always with `/`."""
    plain, base = path.replace("\\", "/"), root.replace("\\", "/").rstrip("/")
    if base and plain == base:
        return "."
    if base and plain.startswith(f"{base}/"):
        return plain[len(base) + 1 :]
    return plain[2:] if plain.startswith("./") else plain
