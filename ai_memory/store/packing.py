"""Loose objects into one pack, where the versions of a folder take the room of what differs.

A folder of 1,000 pages is a tree of 40 KB that compresses badly, and each write makes a new one: without deltas 10,000
writes of one page took 240 MB, with them a tenth of that (2026-11-30).
"""

import os
import shutil
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

from dulwich.object_store import DiskObjectStore
from dulwich.objects import ObjectID, ShaFile, Tree
from dulwich.pack import Pack, UnpackedObject, deltas_from_sorted_objects, full_unpacked_object

from ai_memory.store.filesystem import sync_folder, sync_together

try:
    from dulwich import _pack as _fast  # noqa: F401 (without it a delta of 40 KB takes seconds)
except ImportError:
    HAS_FAST_DELTAS = False
else:
    HAS_FAST_DELTAS = True

LONGEST_CHAIN = 50
"""Deltas that must be undone at most to read an object, as in git."""

_WINDOW = 2
"""Versions that a tree is compared with: in the order of writing its neighbour is nearly always the best."""

_HALF_MADE = f"tmp{'[a-z0-9_]' * 8}.pack"
"""As dulwich names a pack on its way (`tempfile.mkstemp`); git's are called otherwise."""


def pack_loose(store: DiskObjectStore, objects: Path) -> int:
    """Put all loose objects into one pack; gives their number. Call under the writer lock.

    Crash: safe at any point. Loose objects go only when the pack and its name are on the disk.
    """
    _clear_half_made(objects)
    names = _loose_in_order_of_writing(objects)
    if not names:
        return 0
    _add_pack(store, objects, names)
    for name in names:
        (objects / name[:2] / name[2:]).unlink(missing_ok=True)
    return len(names)


def pack_only(store: DiskObjectStore, objects: Path, names: list[str]) -> int:
    """Put those objects into one pack, and remove every other one; gives how many went. Call under the writer lock.

    Crash: safe at any point. Nothing goes before the pack and its name are on the disk.
    """
    _clear_half_made(objects)
    for left in objects.glob("pack/tmp_*"):  # git's own, of a fetch that was cut: they hold what shall go
        left.unlink(missing_ok=True)
    loose = set(_loose_in_order_of_writing(objects))
    packs = sorted((objects / "pack").glob("pack-*.pack"))
    before = len({name.decode() for name in store})
    made = _add_pack(store, objects, names)
    new = "" if made is None else Path(made.data.path).stem
    store.close()
    for pack in packs:
        if pack.stem != new:
            for side in objects.glob(f"pack/{pack.stem}.*"):
                side.unlink(missing_ok=True)
    for name in loose:
        (objects / name[:2] / name[2:]).unlink(missing_ok=True)
    for left in (*objects.glob("info/*"), *objects.glob("pack/multi-pack-index*")):  # git's lists of what was there
        shutil.rmtree(left) if left.is_dir() else left.unlink()
    sync_together(folder for folder in objects.iterdir() if folder.is_dir())  # else a power cut has it all back
    return before - len(set(names))


def _add_pack(store: DiskObjectStore, objects: Path, names: list[str]) -> Pack | None:
    """A pack of those objects that survives a power cut: bytes, index, and their names."""
    store.fsync_object_files = True  # dulwich syncs neither otherwise
    made = store.add_pack_data(len(names), _unpacked(store, names))
    sync_folder(objects / "pack")
    return made


def _clear_half_made(objects: Path) -> None:
    """Remove what a pack left that was killed, or met a full disk: dulwich would wait for the lock of its index."""
    for left in (*objects.glob("pack/*.idx.lock"), *objects.glob(f"pack/{_HALF_MADE}")):
        left.unlink(missing_ok=True)


def _loose_in_order_of_writing(objects: Path) -> list[str]:
    found: list[tuple[int, str]] = []
    for folder in os.scandir(objects):
        if len(folder.name) == 2:
            for entry in os.scandir(folder.path):
                if len(entry.name) == 38:  # 40 hex; others are half-written files
                    found.append((entry.stat().st_mtime_ns, folder.name + entry.name))
    return [name for _, name in sorted(found)]


def _unpacked(store: DiskObjectStore, names: Iterable[str]) -> Iterator[UnpackedObject]:
    trees: list[tuple[bytes, str]] = []
    for name in names:
        made = store[ObjectID(name.encode())]
        if isinstance(made, Tree) and HAS_FAST_DELTAS:
            trees.append((_first_entry(made), name))
        else:
            yield full_unpacked_object(made)
    trees.reverse()  # newest first: what is read most is whole
    trees.sort(key=lambda tree: tree[0])
    for _, versions in groupby(trees, key=lambda tree: tree[0]):
        yield from _as_deltas(store, [name for _, name in versions])


def _first_entry(tree: Tree) -> bytes:
    """Name of the first entry: versions of one folder mostly share it."""
    return tree.as_raw_string().partition(b"\0")[0]


def _as_deltas(store: DiskObjectStore, names: list[str]) -> Iterator[UnpackedObject]:
    for start in range(0, len(names), LONGEST_CHAIN):
        chain: Iterator[tuple[ShaFile, bytes | None]] = (
            (store[ObjectID(name.encode())], None) for name in names[start : start + LONGEST_CHAIN]
        )
        yield from deltas_from_sorted_objects(chain, window_size=_WINDOW)
