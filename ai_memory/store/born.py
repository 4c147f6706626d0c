"""What a data dir held once: so that a lost repository or `state.db` is noticed, and never quietly begun anew."""

import json
from collections.abc import Mapping
from typing import Literal

from ai_memory.clock import rfc3339
from ai_memory.errors import StoreFault
from ai_memory.paths import DataDir
from ai_memory.plainfile import read_plain
from ai_memory.store.filesystem import write_whole
from ai_memory.store.head import read_head

Part = Literal["wiki", "state"]

_NAMES: Mapping[Part, str] = {"wiki": "wiki/.git, or its branch main,", "state": "state.db"}


def record(data_dir: DataDir, part: Part, *, at_us: int) -> None:
    """Note that the part is there. Call once it is durable; the same note twice changes nothing."""
    known = _read(data_dir)
    if part not in known:
        note = {**known, part: rfc3339(at_us)}
        write_whole(data_dir.born, json.dumps(note, indent=2, sort_keys=True).encode() + b"\n")


def since(data_dir: DataDir, part: Part) -> str | None:
    """When the part was made, RFC 3339; None where nobody noted it."""
    return _read(data_dir).get(part)


def lost(data_dir: DataDir, part: Part) -> StoreFault | None:
    """The fault to raise or to tell where the part is not there but was once; None when it never was.

    Looks for the part once more after the note: another process may have made both since the caller looked.
    """
    made_at = since(data_dir, part)
    if made_at is None or _is_there(data_dir, part):
        return None
    return StoreFault(
        f"{_NAMES[part]} is gone from {data_dir.root}; it was there since {made_at}.",
        hint=f"Put it back from a backup or a clone. To begin anew without it, remove {data_dir.born}.",
    )


def _is_there(data_dir: DataDir, part: Part) -> bool:
    if part == "wiki":
        return read_head(data_dir.git) is not None
    return data_dir.state.exists() and data_dir.state.stat().st_size > 0


def _read(data_dir: DataDir) -> dict[str, str]:
    try:
        note = json.loads(read_plain(data_dir.born))
    except (OSError, ValueError):
        return {}
    return {str(key): str(value) for key, value in note.items()} if isinstance(note, dict) else {}
