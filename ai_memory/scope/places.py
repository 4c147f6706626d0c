"""Folder paths as strings, for every platform: pure functions, the platform is handed in."""

import ntpath
import os
import posixpath
import re
import unicodedata
from types import ModuleType

MAX_LEVELS = 64
"""Folders looked at on the way up. Deeper ones are not asked: a look-up must end."""

_MSYS_DRIVE = re.compile(r"/([a-zA-Z])(?=/|$)")


def clean(path: str, platform: str) -> str:
    """The path without `.` and `..`, doubled or final separators; on Windows also without `\\\\?\\` and `/c/` forms."""
    if platform != "win32":
        cleaned = posixpath.normpath(path)
        return cleaned[1:] if cleaned.startswith("//") else cleaned
    if path.startswith(("\\\\?\\UNC\\", "\\\\?\\unc\\")):
        path = "\\\\" + path[8:]
    elif path.startswith(("\\\\?\\", "\\\\.\\")):
        path = path[4:]
    elif drive := _MSYS_DRIVE.match(path):
        path = f"{drive[1]}:\\{path[3:]}"
    return ntpath.normpath(path)


def key(path: str, platform: str) -> str:
    """Equal for two spellings of one folder: `/` between names, NFC, folded where the system folds.

    *Source*: decision B7. macOS and Windows fold by default; a case-sensitive volume there only loses a distinction.
    """
    plain = unicodedata.normalize("NFC", clean(path, platform))
    if platform == "win32":
        plain = plain.replace("\\", "/")
    if platform in ("win32", "darwin"):
        plain = unicodedata.normalize("NFC", plain.casefold())
    return plain


def is_same(one: str, other: str, platform: str) -> bool:
    """Both name one folder."""
    return key(one, platform) == key(other, platform)


def is_within(path: str, folder: str, platform: str) -> bool:
    """The path is the folder or lies below it, on a path boundary."""
    inner, outer = key(path, platform), key(folder, platform)
    return inner == outer or inner.startswith(outer if outer.endswith("/") else outer + "/")


def is_root(path: str, platform: str) -> bool:
    """The path has no parent: `/`, a drive, a network share."""
    cleaned = clean(path, platform)
    return bool(_rules(platform).dirname(cleaned) == cleaned)


def is_absolute(path: str, platform: str) -> bool:
    """The path names its root itself; on Windows a drive or share is needed."""
    if platform != "win32":
        return path.startswith("/")
    drive, rest = ntpath.splitdrive(clean(path, platform))
    return bool(drive) and (rest.startswith("\\") or drive.startswith("\\\\"))


def is_nameable(path: str, platform: str) -> bool:
    """The text could name a folder: absolute, without NUL and lone surrogates. A spooled event may hold any text."""
    try:
        return b"\0" not in os.fsencode(path) and is_absolute(path, platform)
    except ValueError:
        return False


def ancestry(path: str, platform: str) -> tuple[str, ...]:
    """The folder and its parents, nearest first, at most `MAX_LEVELS` of them."""
    rules, here, found = _rules(platform), clean(path, platform), []
    for _ in range(MAX_LEVELS):
        found.append(here)
        above = rules.dirname(here)
        if above == here or not above:
            break
        here = above
    return tuple(found)


def folder_name(path: str, platform: str) -> str:
    """Last name of the path, empty for a root."""
    cleaned = clean(path, platform)
    if platform == "win32":
        cleaned = ntpath.splitdrive(cleaned)[1]
    return str(_rules(platform).basename(cleaned))


def join(folder: str, *names: str, platform: str) -> str:
    """The folder with the names below it."""
    return str(_rules(platform).join(folder, *names))


def from_uri(root: str, platform: str) -> str | None:
    """The path of a `file://` URI or plain path; None for any other URI (an MCP client may offer some)."""
    if not root.lower().startswith("file:"):
        return None if re.match(r"[a-zA-Z][a-zA-Z0-9+.-]+:", root) else root
    from urllib.parse import unquote  # 4 ms CPU, only for clients that offer URIs (2026-11-30)

    rest = unquote(re.sub(r"^file:(?://(?:localhost)?(?=/|$))?", "", root, flags=re.IGNORECASE))
    if platform == "win32":
        return rest[1:] if re.match(r"/[a-zA-Z]:", rest) else rest
    return rest if rest.startswith("/") and not rest.startswith("//") else None


def _rules(platform: str) -> ModuleType:
    return ntpath if platform == "win32" else posixpath
