"""The JSON records below a folder that a person names, read without following a link."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import BinaryIO

from ai_memory.patience import Patience
from ai_memory.plainfile import open_plain
from ai_memory.text.json_paths import FAN_OUT
from ai_memory.text.json_strict import BadJson, read_json
from ai_memory.text.record_mapping import Mapping

LARGEST_FILE = 64 << 20
LARGEST_LINE = 4 << 20
"""Of a `.jsonl`."""
MOST_BYTES = 512 << 20
"""Of all files: what was parsed takes several times as much."""
MOST_RECORDS = 20_000
"""Of one run: they become one commit."""
ENDINGS = (".json", ".jsonl")


@dataclass(frozen=True, slots=True)
class Found:
    """One record, and where it stands: `path#3` is the third of that file."""

    place: str
    record: object


@dataclass(slots=True)
class Records:
    """All records, and each thing that kept this from being all that there is, a line each."""

    found: list[Found] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    files: int = 0


class _TooMany(Exception):
    """A bound of the whole run was reached."""


def records_in(
    root: Path,
    mapping: Mapping,
    progress: Callable[[int, int], None],
    *,
    patience: Patience,
    apart: Path,
    is_authoritative: bool,
) -> Records:
    """Every record of every file, in the order of their names. `apart` is a folder that is passed over: our own.

    Where what is missing would be closed, a folder that changed under the look is a fault: a record that was moved from
    a file that was to come to one that was read already has not been seen.

    Errors: NoAnswer.
    """
    records = Records()
    files = patience.ask(str(root), lambda: _files(root, mapping, records, apart))
    before = patience.ask(str(root), lambda: _stamps(files))
    budget = MOST_BYTES
    for number, file in enumerate(files, start=1):
        path = file.relative_to(root).as_posix().encode("utf-8", "replace").decode()
        try:
            budget -= patience.ask(path, file.stat).st_size
            if budget < 0:
                raise _TooMany(f"{path}: all files together are larger than {MOST_BYTES >> 20} MB")
            patience.ask(path, partial(_take, file, path, mapping, records))
        except _TooMany as fault:
            records.faults.append(str(fault))
            break
        except OSError as fault:
            records.faults.append(f"{path}: {fault.strerror or fault}")
        except BadJson as fault:
            records.faults.append(f"{path}: {fault.message}")
        records.files += 1
        progress(number, len(files))
    if not files and not records.faults:
        records.faults.append(f"no {' or '.join(ENDINGS)} file lies there")
    if is_authoritative and not records.faults:
        after = patience.ask(str(root), lambda: _stamps(_files(root, mapping, records, apart)))
        if after != before:
            records.faults.append("files were changed while they were read")
    return records


def _stamps(files: list[Path]) -> list[tuple[Path, int, int, int]]:
    """What tells whether a file was written or replaced meanwhile; one that is gone has zeros."""
    stamps = []
    for file in files:
        try:
            status = file.stat()
            stamps.append((file, status.st_ino, status.st_size, status.st_mtime_ns))
        except OSError:
            stamps.append((file, 0, 0, 0))
    return stamps


def content_of(root: Path, folder: str, name: str, most: int) -> bytes:
    """The bytes of a file of that folder below the root. Raises OSError, also for a link on the way."""
    place = root
    for part in (*Path(folder).parts, name):
        place = place / part
        if place.is_symlink():
            raise OSError(0, "a link", str(place))
    with open_plain(place) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise OSError(0, f"it is larger than {most:,} bytes", str(place))
    return content


def _files(root: Path, mapping: Mapping, records: Records, apart: Path) -> list[Path]:
    """The files to read. What could hide one is a fault: a link, a folder that cannot be listed."""
    files: list[Path] = []
    skipped = root / mapping.content_from.dir if mapping.content_from and mapping.content_from.dir != "." else None

    def refused(fault: OSError) -> None:
        records.faults.append(f"{fault.filename}: {fault.strerror}")

    for here, folders, names in os.walk(root, onerror=refused):
        place = Path(here)
        links = [name for name in folders if (place / name).is_symlink() and not name.startswith(".")]
        records.faults += [f"{_shown(root, place / name)}: a link" for name in links]
        is_deepest = len(place.relative_to(root).parts) >= mapping.depth
        folders[:] = sorted(
            name
            for name in folders
            if not is_deepest
            and not name.startswith(".")
            and name not in links
            and place / name != skipped
            and not (name == apart.name and (place / name).resolve() == apart)
        )
        for name in sorted(names):
            if name.startswith(".") or not name.lower().endswith(ENDINGS):
                continue
            if (place / name).is_symlink():
                records.faults.append(f"{_shown(root, place / name)}: a link")
            else:
                files.append(place / name)
    return files


def _take(file: Path, path: str, mapping: Mapping, records: Records) -> None:
    with open_plain(file) as opened:
        if os.fstat(opened.fileno()).st_size > LARGEST_FILE:
            raise BadJson(f"it is larger than {LARGEST_FILE >> 20} MB")
        if file.name.lower().endswith(".jsonl"):
            _take_lines(opened, path, records)
            return
        content = opened.read(LARGEST_FILE + 1)
    value = read_json(content)
    for step in mapping.container:
        value = _inside(value, step)
    rows = value if isinstance(value, list) else [value]
    _add(records, path, enumerate(rows, start=1))


def _take_lines(opened: BinaryIO, path: str, records: Records) -> None:
    """A fault in one line leaves the others; a line without an end that is no JSON is one that is being written."""
    number = 0
    while line := opened.readline(LARGEST_LINE + 1):
        number += 1
        if len(line) > LARGEST_LINE:
            records.faults.append(f"{path}, line {number}: it is longer than {LARGEST_LINE >> 20} MB")
            while line and not line.endswith(b"\n"):
                line = opened.readline(LARGEST_LINE)
            continue
        if not line.strip():
            continue
        try:
            record = read_json(line)
        except BadJson as fault:
            records.faults.append(f"{path}, line {number}: {fault.message}")
            continue
        _add(records, path, [(number, record)])


def _add(records: Records, path: str, rows: "Iterator[tuple[int, object]] | list[tuple[int, object]]") -> None:
    for number, record in rows:
        if len(records.found) == MOST_RECORDS:
            raise _TooMany(f"{path}: more than {MOST_RECORDS:,} records; name a smaller root")
        records.found.append(Found(f"{path}#{number}", record))


def _inside(value: object, step: str) -> object:
    """What lies one step of `container` further in. *Errors*: BadJson."""
    if isinstance(value, dict) and step == FAN_OUT:
        return list(value.values())
    if isinstance(value, dict) and step in value:
        return value[step]
    if isinstance(value, list) and step.isdecimal() and int(step[:9]) < len(value):
        return value[int(step[:9])]
    raise BadJson(f"the container has no {step!r}")


def _shown(root: Path, place: Path) -> str:
    return place.relative_to(root).as_posix().encode("utf-8", "replace").decode()
