"""Our commands as they stand in files of agents: which program and file they start, and which data dir they name."""

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ai_memory.harnesses.edits import Json, Syntax
from ai_memory.harnesses.launch import is_our_hook
from ai_memory.wiring.documents import Refused, opened

_FILES = {"ai_memory/hook.py": "hooks", "ai_memory/mcp_bridge.py": "mcp"}
_VERBS = {"hook": "hooks", "mcp-bridge": "mcp"}
_PLUGIN_LAUNCH = "const LAUNCH = "
_WINDOWS_WORD = re.compile(r'"([^"]*)"|(\S+)')
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
_BRIDGE_LINE = re.compile(r"""mcp_bridge\.py["']?\s|\bai-memory(?:\.exe)?["']?\s+mcp-bridge\b""")
"""A line that starts our bridge, and no mere path of it."""


@dataclass(frozen=True, slots=True)
class Written:
    """One command of ours."""

    what: str
    """hooks or mcp."""
    program: str
    file: str
    """Empty where the program's own name is told instead."""
    data_dir: str
    """Empty where none is named."""


def written_in(text: str, syntax: Syntax) -> tuple[Written, ...]:
    """Every command of ours in the text of a file, each once. What cannot be parsed is read line by line."""
    found = (_command(words) for words in _texts(text, syntax))
    return tuple(dict.fromkeys(one for one in found if one is not None))


def _texts(text: str, syntax: Syntax) -> Iterator[Sequence[str]]:
    """Lists of words in a file that may be commands."""
    try:
        yield from _argvs(_meaning(text, syntax))
    except (Refused, ValueError):  # a script, YAML, or a file that somebody broke
        for line in text.splitlines():
            yield from _argvs(line)
        quoted = list(_quoted(text))
        yield quoted
        for one in quoted:
            yield from _argvs(one)


def _quoted(text: str) -> Iterator[str]:
    """What stands in double quotes, as JSON and YAML mean it."""
    for found in _QUOTED.findall(text):
        try:
            yield json.loads(found)
        except ValueError:
            continue


def _meaning(text: str, syntax: Syntax) -> Json:
    """The values of a file. *Errors*: Refused, ValueError where it holds none."""
    if syntax in (Syntax.JSON, Syntax.TOML):
        return opened(text, syntax).value()
    at = text.find(_PLUGIN_LAUNCH)
    start = at + len(_PLUGIN_LAUNCH) if at >= 0 else 0
    value: Json = json.JSONDecoder().raw_decode(text[start:].lstrip())[0]
    return value


def _argvs(value: Json) -> Iterator[Sequence[str]]:
    """Every list of words in it that may be a command: a line for a shell, a list, a program beside its arguments."""
    if isinstance(value, str):
        if is_our_hook(value) or _BRIDGE_LINE.search(value):
            yield _words(value)
        return
    if isinstance(value, Mapping):
        program, words = value.get("command"), value.get("args")
        if isinstance(program, str) and isinstance(words, list | tuple):
            yield [program, *(word for word in words if isinstance(word, str))]
        for one in value.values():
            yield from _argvs(one)
        return
    if isinstance(value, list | tuple):
        yield [word for word in value if isinstance(word, str)]
        for one in value:
            yield from _argvs(one)


def _words(line: str) -> list[str]:
    """The words of a line for a shell, its two variables put in."""
    if "\\ai_memory\\" in line and "'" not in line:
        return [quoted or bare for quoted, bare in _WINDOWS_WORD.findall(line.removeprefix("& "))]
    lexer = shlex.shlex(line, posix=True, punctuation_chars=";|&")
    lexer.whitespace_split = True
    try:
        words = list(lexer)
    except ValueError:
        return []
    variables = dict(word.split("=", 1) for word in words if word[:2] in ("P=", "H="))
    filled = [variables.get(word.removeprefix("$"), word) if word[:1] == "$" else word for word in words]
    start = filled.index("exec") + 1 if "exec" in filled else 0
    return filled[start:]


def _command(words: Sequence[str]) -> Written | None:
    """The command that these words start, or None where it is none of ours."""
    for at, word in enumerate(words):
        plain = word.replace("\\", "/")
        what = next((what for ending, what in _FILES.items() if plain.endswith(ending)), "")
        program = next((one for one in reversed(words[:at]) if not one.startswith("-")), "")
        if what and program:
            return Written(what, program, word, _after(words[at:], "--data-dir"))
        if word in _VERBS and _is_our_name(words[0]) and (at == 1 or words[1].startswith("--")):
            return Written(_VERBS[word], words[0], "", _after(words, "--data-dir"))
    return None


def _is_our_name(program: str) -> bool:
    return program.replace("\\", "/").rpartition("/")[2] in ("ai-memory", "ai-memory.exe")


def _after(words: Sequence[str], flag: str) -> str:
    for at, word in enumerate(words):
        if word == flag and at + 1 < len(words):
            return words[at + 1]
        if word.startswith(f"{flag}="):
            return word.partition("=")[2]
    return ""
