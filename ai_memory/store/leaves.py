"""Rows read from the leaf pages of a damaged SQLite file one by one, past whatever should lead to them.

What SQLite cannot reach, since a page above it is damaged, lies there whole. Which table a row belongs to its page does
not tell: the caller knows it by the number and the types of its values. *Source*: sqlite.org/fileformat2.html
"""

import struct
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

Value = int | float | bytes | None
"""A text comes as its bytes."""

HEADER_BYTES = 100
MAGIC = b"SQLite format 3\x00"
_TABLE_LEAF, _INDEX_LEAF = 0x0D, 0x0A
_SMALL_INTEGERS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
"""Serial type → bytes of the integer."""


class Unreadable(Exception):
    """A cell that makes no sense."""


@dataclass(frozen=True, slots=True)
class Row:
    """One record; `rowid` is None in a table without rowids, and in an index."""

    rowid: int | None
    values: tuple[Value, ...]


def is_header_sound(header: bytes) -> bool:
    """Whether the first bytes of a file are those of an SQLite database."""
    if len(header) < HEADER_BYTES or header[:16] != MAGIC:
        return False
    size = _page_size(header)
    is_power = 512 <= size <= 65536 and size & (size - 1) == 0
    schema_format, encoding = struct.unpack_from(">I", header, 44)[0], struct.unpack_from(">I", header, 56)[0]
    return (
        is_power and header[21:24] == b"\x40\x20\x20" and header[18] in (1, 2) and header[19] in (1, 2)
        and schema_format in (0, 1, 2, 3, 4) and encoding in (0, 1)
    )  # fmt: skip


def _page_size(header: bytes) -> int:
    size: int = struct.unpack_from(">H", header, 16)[0]
    return 65536 if size == 1 else size


class Pages:
    """The pages of a file with a sound header. Nothing is written."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb")
        header = self._file.read(HEADER_BYTES)
        self._size = _page_size(header)
        self._usable = self._size - header[20]
        self._count = path.stat().st_size // self._size
        self._free = self._freed(*struct.unpack_from(">I", header, 32))

    def close(self) -> None:
        self._file.close()

    def rows(self) -> Iterator[Row]:
        """Every record of every leaf that is in use; cells that make no sense are passed over."""
        for number in range(1, self._count + 1):
            page = self._page(number)
            start = HEADER_BYTES if number == 1 else 0
            if number not in self._free and page[start] in (_TABLE_LEAF, _INDEX_LEAF):
                yield from self._cells(page, start)

    def _page(self, number: int) -> bytes:
        if not 1 <= number <= self._count:
            raise Unreadable
        self._file.seek((number - 1) * self._size)
        return self._file.read(self._size)

    def _freed(self, trunk: int) -> set[int]:
        """Pages that hold what was deleted, as far as their list can be read."""
        found: set[int] = set()
        with suppress(Unreadable):
            while trunk and trunk not in found:
                page = self._page(trunk)
                found.add(trunk)
                trunk, count = struct.unpack_from(">II", page)
                if count > self._usable // 4 - 2:
                    break
                found.update(struct.unpack_from(f">{count}I", page, 8))
        return found

    def _cells(self, page: bytes, start: int) -> Iterator[Row]:
        count = struct.unpack_from(">H", page, start + 3)[0]
        for place in range(start + 8, min(start + 8 + 2 * count, self._usable - 1), 2):
            with suppress(Unreadable, IndexError, struct.error):
                yield self._cell(page, struct.unpack_from(">H", page, place)[0], is_table=page[start] == _TABLE_LEAF)

    def _cell(self, page: bytes, at: int, *, is_table: bool) -> Row:
        size, at = _varint(page, at)
        rowid: int | None = None
        if is_table:
            rowid, at = _varint(page, at)
            rowid -= (rowid >> 63) << 64  # a varint holds 64 bits, and a rowid has a sign
        return Row(rowid, _record(self._payload(page, at, size, is_table=is_table)))

    def _payload(self, page: bytes, at: int, size: int, *, is_table: bool) -> bytes:
        usable = self._usable
        most = usable - 35 if is_table else (usable - 12) * 64 // 255 - 23
        if size > self._count * self._size:
            raise Unreadable
        if size <= most:
            return page[at : at + size]
        least = (usable - 12) * 32 // 255 - 23
        local = least + (size - least) % (usable - 4)
        local = local if local <= most else least
        parts, left = [page[at : at + local]], size - local
        further = struct.unpack_from(">I", page, at + local)[0]
        while left > 0:
            overflow = self._page(further)
            parts.append(overflow[4 : min(usable, 4 + left)])
            left -= len(parts[-1])
            further = struct.unpack_from(">I", overflow)[0]
        return b"".join(parts)


def _varint(content: bytes, at: int) -> tuple[int, int]:
    """A number of 1 to 9 bytes, and where it ends."""
    number = 0
    for place in range(8):
        byte = content[at + place]
        number = number << 7 | byte & 0x7F
        if byte < 0x80:
            return number, at + place + 1
    return number << 8 | content[at + 8], at + 9


def _record(payload: bytes) -> tuple[Value, ...]:
    header_end, at = _varint(payload, 0)
    if not 1 <= header_end <= len(payload):
        raise Unreadable
    kinds = []
    while at < header_end:
        kind, at = _varint(payload, at)
        kinds.append(kind)
    values = []
    at = header_end
    for kind in kinds:
        value, size = _value(payload, at, kind)
        values.append(value)
        at += size
    if at != len(payload):
        raise Unreadable
    return tuple(values)


def _value(payload: bytes, at: int, kind: int) -> tuple[Value, int]:
    if kind in _SMALL_INTEGERS:
        size = _SMALL_INTEGERS[kind]
        return int.from_bytes(payload[at : at + size], "big", signed=True), size
    if kind == 0:
        return None, 0
    if kind == 7:
        return struct.unpack_from(">d", payload, at)[0], 8
    if kind in (8, 9):
        return kind - 8, 0
    if kind < 12:
        raise Unreadable
    size = (kind - 12) // 2
    return payload[at : at + size], size
