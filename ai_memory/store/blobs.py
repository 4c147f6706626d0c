"""The id that git gives a file's content, our version of a page, and the content again from a loose object."""

import hashlib
import zlib
from pathlib import Path


def blob_id(content: bytes) -> str:
    """The git blob id of `content`, 40 hex."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def loose_blob(git: Path, blob: str) -> bytes | None:
    """Content of a blob that lies loose in the repository; None when it does not, or is not whole.

    Past the git library, which asks every pack first: 0.04 ms instead of 0.15 (2026-11-30), and a rebuild reads all.
    """
    try:
        with open(f"{git}/objects/{blob[:2]}/{blob[2:]}", "rb", buffering=0) as file:
            whole = zlib.decompress(file.read())
    except (OSError, zlib.error):
        return None
    head, _, content = whole.partition(b"\0")
    return content if head == b"blob %d" % len(content) else None
