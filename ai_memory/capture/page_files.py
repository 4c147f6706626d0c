"""Files of pages as they lie in the wiki: what is told of a page is told of the file that was read."""

from pathlib import Path

from ai_memory.errors import MemoryFault
from ai_memory.plainfile import read_plain
from ai_memory.store.blobs import blob_id


def stamp_of(wiki: Path, git_path: str) -> tuple[int, int]:
    """Size and time (ns) of the file, by which a hook knows it again; -1 twice where there is none."""
    try:
        status = (wiki / git_path).stat()
    except (OSError, ValueError):
        return -1, -1
    return status.st_size, status.st_mtime_ns


def file_holds(wiki: Path, git_path: str, version: str) -> bool:
    """Whether the file holds that version of the page: an edit by hand has to be taken first."""
    try:
        return blob_id(read_plain(wiki / git_path)) == version
    except (OSError, ValueError, MemoryFault):
        return False
