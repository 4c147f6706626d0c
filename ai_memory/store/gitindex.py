"""Git's index file, kept in step with every commit and used as the cache of what lies in the work tree.

A person's `git add x; git commit` takes everything that the index says: an index that lags behind the branch drops
pages from HEAD without a word (decision A5). Only the changed entries are spliced in; the rest of
the file stays byte for byte. Format: gitformat-index(5), versions 2 and 3; others are rewritten whole.
"""

import hashlib
import os
import stat
import struct
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from ai_memory.errors import StoreFault
from ai_memory.plainfile import read_plain
from ai_memory.store import gitlock
from ai_memory.store.head import BRANCH, OWN_BRANCH_LOCK, OWN_INDEX_LOCK

_HEADER = struct.Struct(">4sLL")
_STAT = struct.Struct(">LLLLLLLLLL20sH")
_FIXED = _STAT.size  # 62 bytes, then the name
_EXTENDED = 0x4000
_AFTER_SLASH = b"0"
"""The byte that sorts next after `/`."""
_STAGES = 0x3000
"""Set for the stages of a conflict."""
_NAME_LENGTH = 0x0FFF
REGULAR = 0o100644
_TIME = struct.Struct(">LL")
_MTIME_AT, _MODE_AT, _SIZE_AT = 8, 24, 36
_REGULAR_FIELD = REGULAR.to_bytes(4, "big")
"""The mode of a plain file as it stands in an entry. A name holds no NUL, so these bytes never lie inside one."""

_MODE_FIELDS = tuple(mode.to_bytes(4, "big") for mode in (REGULAR, 0o100755, 0o120000, 0o160000))
"""All modes that git knows: file, program, symbolic link, submodule."""

_NEAR = 40


class Entry(NamedTuple):
    """One tracked file, with the stat figures of the moment when its content was known to be `blob`."""

    name: bytes
    blob: str
    mode: int
    mtime_ns: int
    size_bytes: int
    inode: int

    def matches(self, status: os.stat_result) -> bool:
        """Whether a file with this `status` was not touched since. Racy: ask `GitIndex.is_racy` too."""
        return (
            self.size_bytes == status.st_size & 0xFFFFFFFF
            and (self.mtime_ns == status.st_mtime_ns or self.mtime_ns == _truncated_ns(status.st_mtime_ns))
            and (self.inode == status.st_ino & 0xFFFFFFFF or self.inode == 0)
        )


def _is_whole(content: bytes) -> bool:
    trailer = content[-20:]
    return trailer in (bytes(20), hashlib.sha1(content[:-20], usedforsecurity=False).digest())


def _truncated_ns(time_ns: int) -> int:
    seconds, rest = divmod(time_ns, 1_000_000_000)
    return (seconds & 0xFFFFFFFF) * 1_000_000_000 + rest


class GitIndex:
    """The parsed index file. Lazy: entries are read in one pass when first asked for."""

    def __init__(self, content: bytes, written_ns: int) -> None:
        self._content = content
        self._written_ns = _truncated_ns(written_ns)
        self._end = len(content) - 20
        self._end = self._find_end()
        self._can_jump = self._version == 2

    @classmethod
    def read(cls, git: Path) -> "GitIndex | None":
        """The index of the repository, or None when there is none or it is of another version."""
        path = git / "index"
        try:
            content = read_plain(path)
            written_ns = path.stat().st_mtime_ns
        except FileNotFoundError:
            return None
        except OSError as fault:
            raise StoreFault(
                f"{path} cannot be read: {fault.strerror}.", hint="Move it away: git makes a new one by `git reset`."
            ) from fault
        if len(content) < _HEADER.size + 20:
            return None
        magic, version, _ = _HEADER.unpack_from(content)
        if magic != b"DIRC" or version not in (2, 3) or not _is_whole(content):
            return None
        return cls(content, written_ns)

    def is_racy(self, entry: Entry) -> bool:
        """Whether the file may have changed in the same tick in which the index was written (git's racy entries)."""
        return entry.mtime_ns >= self._written_ns

    def entries(self, folders: Collection[bytes] | None = None) -> dict[bytes, Entry]:
        """Unconflicted entries by name: all, or those that lie directly in `folders`."""
        found: dict[bytes, Entry] = {}
        if folders is None:
            self._collect(b"", _HEADER.size, found)
            return found
        for folder in folders:
            prefix = folder + b"/"
            self._collect(prefix, self._position(prefix), found)
        return found

    def _collect(self, prefix: bytes, start: int, found: dict[bytes, Entry]) -> None:
        """Entries from `start` on whose names begin with `prefix`; without one all, else those of that folder alone."""
        content, last, taken = self._content, self._end, len(prefix)
        while start < last:
            fields = _STAT.unpack_from(content, start)
            end, name = self._entry_at(start)
            if not name.startswith(prefix):
                return
            start = end
            if taken and (slash := name.find(b"/", taken)) >= 0:
                start = self._position(name[:slash] + _AFTER_SLASH)  # past all that lies in that folder
                continue
            if fields[11] & _STAGES:
                continue
            mtime_ns = fields[2] * 1_000_000_000 + fields[3]
            found[name] = Entry(name, fields[10].hex(), fields[6], mtime_ns, fields[9], fields[5])

    def spliced(self, changes: Mapping[bytes, bytes | None]) -> bytes:
        """The file's new bytes: `changes` maps a name to its packed entry (see `pack`) or None to drop it.

        Extensions are dropped: the cached trees would be stale, and git makes them again.
        Raises StoreFault when a required extension (split or sparse index) is in use.
        """
        content = self._with_racy_marked()
        pieces: list[bytes] = []
        run = _HEADER.size
        count = int(_HEADER.unpack_from(content)[2])
        for name, packed in sorted(changes.items()):
            start = end = self._position(name)
            while end < self._end and (span := next(self._spans(end)))[2] == name:  # conflict stages share a name
                end = span[1]
                count -= 1
            pieces.append(content[run:start])
            run = end
            if packed is not None:
                pieces.append(packed)
                count += 1
        pieces.append(content[run : self._end])
        body = _HEADER.pack(b"DIRC", self._version, count) + b"".join(pieces)
        return body + hashlib.sha1(body, usedforsecurity=False).digest()

    def _with_racy_marked(self) -> bytes:
        """The bytes with the size of racy entries set to 0, as git does: a newer index would vouch for them.

        A file that changed in the tick in which the index was written looks settled once the index is younger.
        """
        racy = [start for start in self._written_in_its_second() if self._mtime_ns(start) >= self._written_ns]
        if not racy:
            return self._content
        content = bytearray(self._content)
        for start in racy:
            content[start + _SIZE_AT : start + _SIZE_AT + 4] = bytes(4)
        return bytes(content)

    def _written_in_its_second(self) -> Iterator[int]:
        """Where entries begin whose file changed in the second in which the index was written."""
        second = (self._written_ns // 1_000_000_000).to_bytes(4, "big")
        at = self._content.find(second, _HEADER.size + _MTIME_AT, self._end)
        while at >= 0:
            start = at - _MTIME_AT
            mode = self._content[start + _MODE_AT : start + _MODE_AT + 4]
            if mode == _REGULAR_FIELD and self._is_alone(start + _MODE_AT):
                yield start
            at = self._content.find(second, at + 1, self._end)

    def _mtime_ns(self, start: int) -> int:
        seconds, rest = _TIME.unpack_from(self._content, start + _MTIME_AT)
        return int(seconds) * 1_000_000_000 + int(rest)

    # --- finding a place ---

    def _position(self, name: bytes) -> int:
        """Where the first entry stands whose name is `name` or comes after it.

        Entries have no table of offsets, but they are sorted: halve the bytes, then find the next entry's border.
        Walking 10,000 entries cost 14 ms a write, this costs none that can be measured (2026-11-30).
        """
        low, high = _HEADER.size, self._end  # `low` is a border; all before it is smaller, all from `high` on is not
        while self._can_jump and high - low > 4_096:
            border = self._border_after((low + high) // 2, high)
            if border is None:
                break
            start, end, found = border
            if found < name:
                low = end
            else:
                high = start
        for start, _, found in self._spans(low):
            if found >= name:
                return start
        return self._end

    def _border_after(self, at: int, high: int) -> tuple[int, int, bytes] | None:
        """The first entry that surely begins at or after `at` and before `high`, or None."""
        found = self._content.find(_REGULAR_FIELD, at + _MODE_AT, high)
        while found >= 0:
            if self._is_alone(found):
                start = found - _MODE_AT
                end, name = self._entry_at(start)
                return start, end, name
            found = self._content.find(_REGULAR_FIELD, found + 1, high)
        return None

    def _is_alone(self, at: int) -> bool:
        """Whether the mode at `at` is one for sure: an object id or a stat figure may hold the same four bytes.

        Those lie within 36 bytes of the true mode of their entry, and the next entry's is at least 64 bytes away.
        """
        around = self._content[max(_HEADER.size, at - _NEAR) : at + 4 + _NEAR]
        return sum(around.count(field) for field in _MODE_FIELDS) == 1

    @property
    def _version(self) -> int:
        version: int = _HEADER.unpack_from(self._content)[1]
        return version

    def _spans(self, start: int = _HEADER.size) -> Iterator[tuple[int, int, bytes]]:
        """Border to border: begin, end and name of each entry from `start` on."""
        last = self._end
        while start < last:
            end, name = self._entry_at(start)
            yield start, end, name
            start = end

    def _entry_at(self, start: int) -> tuple[int, bytes]:
        """End and name of the entry that begins at `start`."""
        content = self._content
        flags = (content[start + 60] << 8) | content[start + 61]
        name_start = start + _FIXED + (2 if flags & _EXTENDED else 0)
        length = flags & _NAME_LENGTH
        if length == _NAME_LENGTH:
            length = content.index(b"\0", name_start) - name_start
        return start + ((name_start - start + length + 8) & ~7), content[name_start : name_start + length]

    def _find_end(self) -> int:
        """Where the entries end and the extensions begin. Raises StoreFault for a required extension."""
        content = self._content
        size = len(content) - 20
        last = content.rfind(_REGULAR_FIELD, 0, size - 36)  # an entry takes 64 bytes at least, its mode ends at 28
        if self._version == 2 and last >= 0 and self._is_alone(last) and self._entry_at(last - _MODE_AT)[0] == size:
            return size  # the last entry reaches the end: no extension follows
        self._end = size
        end = _HEADER.size
        for _, (_, end, _) in zip(range(_HEADER.unpack_from(content)[2]), self._spans(), strict=False):  # noqa: B007
            pass
        at = end
        while at + 8 <= size:
            signature = content[at : at + 4]
            if signature[:1].islower():
                raise StoreFault(
                    f"The wiki's git index uses the extension {signature.decode('ascii', 'replace')}.",
                    hint="Turn it off there: `git update-index --no-split-index` or `git sparse-checkout disable`.",
                )
            at += 8 + int.from_bytes(content[at + 4 : at + 8], "big")
        return end


def pack(name: bytes, blob: str, status: os.stat_result | None) -> bytes:
    """One entry of a regular file as it stands in the index file, padded. Without `status` git looks for itself."""
    fixed = _STAT.pack(*_figures(status), bytes.fromhex(blob), min(len(name), _NAME_LENGTH))
    return fixed + name + b"\0" * (8 - (_FIXED + len(name)) % 8)


def _figures(status: os.stat_result | None) -> tuple[int, ...]:
    if status is None:
        return (0, 0, 0, 0, 0, 0, REGULAR, 0, 0, 0)
    return (
        *_seconds(status.st_ctime_ns),
        *_seconds(status.st_mtime_ns),
        status.st_dev & 0xFFFFFFFF,
        status.st_ino & 0xFFFFFFFF,
        REGULAR,
        getattr(status, "st_uid", 0) & 0xFFFFFFFF,
        getattr(status, "st_gid", 0) & 0xFFFFFFFF,
        status.st_size & 0xFFFFFFFF,
    )


def _seconds(time_ns: int) -> tuple[int, int]:
    seconds, rest = divmod(time_ns, 1_000_000_000)
    return seconds & 0xFFFFFFFF, rest


def fresh(entries: Mapping[bytes, bytes]) -> bytes:
    """A whole index file of version 2 from packed entries."""
    body = _HEADER.pack(b"DIRC", 2, len(entries)) + b"".join(packed for _, packed in sorted(entries.items()))
    return body + hashlib.sha1(body, usedforsecurity=False).digest()


@contextmanager
def index_lock(git: Path, step: Callable[[str], None]) -> Iterator[Callable[[bytes], None]]:
    """Hold git's own `index.lock`; the block gets the function that puts new bytes in place of the index.

    Raises StoreFault when a git command holds the lock. Crash: `clear_own_locks` removes what is left. A power cut
    may leave a torn file until the caller syncs it and its folder: `read` then gives None, and it is made anew.
    """

    with gitlock.locked(git / "index", git / OWN_INDEX_LOCK, written=lambda _: step("git-index-written")) as put:
        step("git-index-locked")
        yield put
    step("git-index-renamed")


def clear_own_locks(git: Path) -> None:
    """Remove git locks that a killed writer of ours left. Call under the writer lock."""
    gitlock.clear(git / "index", git / OWN_INDEX_LOCK)
    gitlock.clear(git / BRANCH, git / OWN_BRANCH_LOCK)


def regular_status(path: Path) -> os.stat_result | None:
    """The file's stat figures when it is a regular file and no link, else None."""
    try:
        status = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return status if stat.S_ISREG(status.st_mode) else None
