"""Off the record: which pauses stand in `paused.json`, and whether one of them holds where an event comes from.

Part of the hook: stdlib only, loaded only while that file is there. `ai_memory.operations.pause` writes it; both read
it here, so that nothing holds in one place and not in the other:

    {"v": 1,
     "pauses": [{"keys": ["<32 hex>", …],          folders as `hook_places.directory_key` names them; none: everywhere
                 "label": "/home/ada/shop",        for people, without secrets
                 "since_us": 17…,
                 "until_us": 17… or null}]}        null: until somebody resumes

A pause of a checkout has the keys of its folder and of its common git directory, so that it also holds in every linked
worktree. It fails closed: a file that is there and cannot be read pauses everything, since nobody can take back what
was kept against a person's will (decision B12).
"""

# ruff: noqa: PTH118 (pathlib is not loaded in a hook)

import json
import os
import time

from ai_memory.hook_places import Surroundings, directory_key, read_regular, real_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

FORMAT = 1
NAME = "paused.json"
MAX_BYTES = 64 << 10
MAX_PAUSES = 100
"""Bounds of what is read for each event; a file beyond them pauses everything."""
MAX_DEEP = 256
"""Folders above an event's own that are compared; below more than that, any pause of a folder holds."""
_LATEST_US = 253_402_300_799_000_000

END = "`ai-memory resume` ends it"


class Pause:
    """One pause. Without keys it holds everywhere; without an end until somebody resumes."""

    __slots__ = ("keys", "label", "since_us", "until_us")

    def __init__(self, keys: "list[str]", label: str, since_us: int, until_us: "int | None") -> None:
        self.keys = keys
        self.label = label
        self.since_us = since_us
        self.until_us = until_us

    @property
    def is_everywhere(self) -> bool:
        return not self.keys

    @property
    def where(self) -> str:
        """`everywhere`, or `in /home/ada/shop`."""
        return f"in {self.label}" if self.keys else "everywhere"

    @property
    def span(self) -> str:
        """`in /home/ada/shop until 2026-11-30T09:00:00Z`."""
        return f"{self.where} until {'resumed' if self.until_us is None else _rfc3339(self.until_us)}"


class Pauses:
    """What `paused.json` says now: the pauses that are not over, and why it cannot be read, if so."""

    __slots__ = ("fault", "found")

    def __init__(self, found: "list[Pause]", fault: str = "") -> None:
        self.found = found
        self.fault = fault

    def holding(self, folders: "Iterable[str]", home: str) -> str:
        """Why nothing may be kept of what happens in these folders; empty when it may. Everywhere comes first."""
        if self.fault:
            return f"paused: {self.fault}; {END}"
        placed = [pause for pause in self.found if pause.keys]
        held = [pause for pause in self.found if pause.is_everywhere]
        if placed and not held:
            keys = keys_around(folders, home)
            held = [pause for pause in placed if keys is None or not keys.isdisjoint(pause.keys)]
        return f"paused {held[0].span}; {END}" if held else ""


def read_pauses(data_dir: str, now_us: int) -> Pauses:
    """The pauses of that data dir which are not over at that instant. Never raises."""
    path = os.path.join(data_dir, NAME)
    if not os.path.lexists(path):
        return Pauses([])
    try:
        found = _decoded(read_regular(path, MAX_BYTES + 1))
    except (ValueError, KeyError, TypeError, RecursionError):
        if not os.path.lexists(path):  # resumed since we looked
            return Pauses([])
        return Pauses([], f"{NAME} cannot be read")
    return Pauses([pause for pause in found if pause.until_us is None or pause.until_us > now_us])


def _decoded(content: "bytes | None") -> "list[Pause]":
    if content is None or len(content) > MAX_BYTES:
        raise ValueError(NAME)
    record = json.loads(content)
    if record["v"] != FORMAT or type(record["pauses"]) is not list or len(record["pauses"]) > MAX_PAUSES:
        raise ValueError(NAME)
    return [_pause(row) for row in record["pauses"]]


def _pause(row: "Any") -> Pause:
    keys, label, since_us, until_us = row["keys"], row["label"], row["since_us"], row["until_us"]
    is_well = type(keys) is list and all(type(key) is str for key in keys) and type(label) is str
    if not is_well or type(since_us) is not int or type(until_us) not in (int, type(None)):
        raise ValueError(NAME)
    return Pause(keys, label, since_us, until_us)


def encode(pauses: "list[Pause]") -> bytes:
    """What `read_pauses` reads."""
    rows = [
        {"keys": one.keys, "label": one.label, "since_us": one.since_us, "until_us": one.until_us} for one in pauses
    ]
    return json.dumps({"v": FORMAT, "pauses": rows}, ensure_ascii=True).encode("ascii")


def keys_here(folder: str, home: str) -> "tuple[list[str], str]":
    """(keys, path) of what a pause of that folder covers: its checkout with every worktree, else the folder alone."""
    around = Surroundings(folder, home)
    root = around.root or real_path(folder)
    places = [root, around.common] if around.root and around.common else [root]
    return [directory_key(place) for place in places], root


def keys_around(folders: "Iterable[str]", home: str) -> "set[str] | None":
    """Keys of these folders, of all above them, and of their common git directories. None where that can't be told."""
    keys: set[str] = set()
    for folder in folders:
        here = real_path(folder)
        for _ in range(MAX_DEEP if here else 0):
            keys.add(directory_key(here))
            above = os.path.dirname(here)
            if above == here:
                break
            here = above
        else:
            return None
        common = Surroundings(folder, home).common
        if common:
            keys.add(directory_key(common))
    return keys or None


def _rfc3339(at_us: int) -> str:
    """As `ai_memory.clock.rfc3339`, in whole seconds, without datetime."""
    seconds = min(max(at_us, 0), _LATEST_US) // 1_000_000
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
