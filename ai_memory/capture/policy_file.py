"""Keeping `hook-policy.json` in step with config.toml and the markers of the directories where agents work.

A hook reads only this file. A source that it does not know costs the agent's events their content, so the drain
compiles as soon as it meets one; most drains find every stamp as it was and write nothing.
"""

import contextlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from ai_memory.capture.attribution import within
from ai_memory.config import load
from ai_memory.errors import MemoryFault
from ai_memory.model import Caller
from ai_memory.paths import DataDir
from ai_memory.scope.hook_policy import compile_policy
from ai_memory.scope.markers import Source, nearest_markers
from ai_memory.scope.policy import policy_at
from ai_memory.scope.smallfiles import TooBig, read_small
from ai_memory.store import wired
from ai_memory.store.filesystem import write_whole
from ai_memory.store.memory import Memory

MAX_POLICY_BYTES = 8 << 20
"""As much as a hook reads; a larger one is compiled anew."""
RENEW_S = 10.0
"""How long the markers of some folders may take to be looked at."""


def renew_policy(memory: Memory, directories: Iterable[str]) -> bool:
    """Compile the policy anew if config.toml, a marker or a choice of prompts is new, changed or gone.

    True when the file was written.

    Crash: safe at any point. Errors: MemoryFault for a config.toml that cannot be read; hooks then keep metadata only.
    """
    home = memory.caller.environ.get("AI_MEMORY_HOME") or memory.caller.home
    present = _read(memory.data_dir.hook_policy)
    known = present.get("markers")
    paths = {str(path) for path in known} if isinstance(known, dict) else set()
    for directory in directories:
        paths.update(source.path for source in nearest_markers(directory, home))
    markers = [source for source in map(_stamp, sorted(paths)) if source is not None]
    config = _stamp(str(memory.data_dir.config))
    without_prompts = sorted(wired.without_prompts(memory.data_dir))
    if not _differs(present, config, markers, without_prompts):
        return False
    values = load(memory.data_dir.config, {}).values
    compiled = compile_policy(
        values,
        config=config,
        markers=[(source, policy_at(source.path, home=home)) for source in markers],
        without_prompts=without_prompts,
    )
    if compiled == present:
        return False
    text = json.dumps(compiled, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    write_whole(memory.data_dir.hook_policy, text.encode("utf-8", "surrogateescape"), sync=False)
    return True


def renewed(memory: Memory, directories: Iterable[str]) -> bool:
    """`renew_policy` for a caller that goes on either way: whether it is known now what hooks may keep there.

    Not where config.toml cannot be read, or a folder does not answer. Crash: safe at any point.
    """
    done: list[bool] = []

    def renew() -> None:
        with contextlib.suppress(MemoryFault, OSError, ValueError):
            renew_policy(memory, directories)
            done.append(True)

    return within(RENEW_S, renew) and bool(done)


def renewed_at(data_dir: str, folder: str) -> bool:
    """`renewed` for one who has no memory open."""
    caller = Caller(cwd=None, environ=dict(os.environ), home=os.path.expanduser("~"), face="hook")
    return renewed(Memory.open(DataDir(Path(data_dir)), caller=caller, command="hook --batch"), [folder])


def _differs(
    present: Mapping[str, object], config: Source | None, markers: list[Source], without_prompts: list[str]
) -> bool:
    if not present:
        return config is not None or bool(markers) or bool(without_prompts)
    settings = present.get("settings")
    if (settings.get("without_prompts", []) if isinstance(settings, dict) else []) != without_prompts:
        return True
    if not _is_stamped(present.get("config"), config):
        return True
    known = present.get("markers")
    if not isinstance(known, dict) or set(known) != {source.path for source in markers}:
        return True
    return not all(_is_stamped(known[source.path], source) for source in markers)


def _is_stamped(row: object, source: Source | None) -> bool:
    if source is None or not isinstance(row, dict):
        return source is None and row is None
    return row.get("size") == source.size and row.get("mtime_ns") == source.mtime_ns


def _stamp(path: str) -> Source | None:
    try:
        status = Path(path).stat()
    except (OSError, ValueError):
        return None
    return Source(path, status.st_size, status.st_mtime_ns)


def _read(path: Path) -> Mapping[str, object]:
    try:
        file = read_small(str(path), MAX_POLICY_BYTES)
        found = json.loads(file.content) if file else {}
    except (TooBig, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
