"""The id that git gives a file's content: our version of a page."""

import hashlib


def blob_id(content: bytes) -> str:
    """The git blob id of `content`, 40 hex."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
