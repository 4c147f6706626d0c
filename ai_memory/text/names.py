"""Names that are safe on every disk: page paths, workspaces, projects, slugs, and the kinds that folders give.

*Source*: git's `is_ntfs_dotgit` and `is_hfs_dotgit`; Windows' list of reserved names.
"""

import re
import unicodedata

from ai_memory.errors import MemoryFault, echo
from ai_memory.text.limits import check_limit

FOLDER_KINDS = {
    "_rules": "rule",
    "_slots": "slot",
    "sessions": "session",
    "decisions": "decision",
    "gotchas": "gotcha",
    "concepts": "concept",
    "procedures": "procedure",
    "notes": "note",
    "facts": "fact",
    "handoffs": "handoff",
    "profile": "preference",
}
"""Kind that a page has by the first folder of its path."""
OTHER_KIND = "note"
LINT_FOLDER, LINT_KIND = "_lint/", "lint-report"
"""Reports on the pages lie there: no search, no start and no lint looks at them."""

DEFAULT_WORKSPACE = "default"
GLOBAL_PROJECT = "_global"
PROFILE_PROJECT = "_profile"
SCRATCH_PROJECT = "scratch"

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")
_PROFILE_OF_USER = re.compile(r"_profile\.[a-z0-9][a-z0-9._-]*")
_WINDOWS_CHARACTERS = frozenset('<>:"|?*\\')
_PORTS = tuple(f"{port}{number}" for port in ("com", "lpt") for number in "0123456789¹²³")
_WINDOWS_DEVICES = frozenset(("con", "prn", "aux", "nul", "conin$", "conout$", "clock$", *_PORTS))
_SHORT_NAME = re.compile(r"[^~]{1,7}~[0-9]{1,6}")
"""An 8.3 alias, such as `git~1`: on NTFS it may open another file."""
_LEDGER = re.compile(r"log(-[0-9]{4}-[0-9]{2})?\.md", re.IGNORECASE)
_HIDDEN_CATEGORIES = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))
"""Controls, format characters (bidi, zero width: HFS+ ignores some of them), surrogates, line separators."""
_PLAIN_SEGMENT = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{8,}")


class BadName(MemoryFault):
    """A path or name that some disk, git or we ourselves could not keep safely."""


def check_page_path(path: str) -> str:
    """The path under which a page may be written: NFC, `/` between segments, `.md` at the end.

    *Errors*: BadName or TooLarge, naming the segment and the reason.
    """
    whole = check_read_path(path)
    segments = whole.split("/")
    for segment in segments:
        _check_portable(segment, path)
    _check_reserved(segments, path)
    return whole


def check_read_path(path: str) -> str:
    """The path of a page that may exist, written by a person on a disk that allows more than ours.

    Only what could leave the project or name no page is refused; the result is normalised like a written one.
    """
    if not path or not path.strip():
        raise BadName("the page path is empty", hint="name a page, such as notes/first.md")
    whole = unicodedata.normalize("NFC", path)
    if whole[-3:].lower() != ".md":
        whole += ".md"
    elif whole[-3:] != ".md":
        whole = whole[:-3] + ".md"
    for segment in whole.split("/"):
        _check_inside(segment, path)
    check_limit("path", whole)
    return whole


def is_page_path(path: str) -> bool:
    """A file of that path below a project is a page: `.md`, in no dot-folder, none of our own files."""
    if not path.endswith(".md") or path == ".md":
        return False
    segments = path.split("/")
    return (
        not any(segment.startswith(".") or not segment for segment in segments)
        and segments[0] != "_pending"
        and path not in ("_meta.md", "bootstrap.md")
    )


def check_name(name: str, *, what: str = "project") -> str:
    """The name of a workspace or project, as it was given. *Errors*: BadName, TooLarge.

    *Shape*: `[a-z0-9][a-z0-9._-]*`, at most 100 characters; projects may also be `_global`, `_profile`,
    `_profile.<user>`.
    """
    check_limit("name", name)
    core = name
    if what == "project" and (name in (GLOBAL_PROJECT, PROFILE_PROJECT) or _PROFILE_OF_USER.fullmatch(name)):
        core = name.removeprefix("_")
    elif not _NAME.fullmatch(name):
        raise BadName(
            f"not a {what} name: {echo(name)}",
            hint="use lower-case letters, digits, '.', '_' and '-', beginning with a letter or digit",
        )
    if core.endswith((".", ".lock", ".git")):
        raise BadName(f"a {what} name cannot end in '.', '.lock' or '.git': {echo(name)}", hint="choose another name")
    if core.partition(".")[0] in _WINDOWS_DEVICES:
        raise BadName(f"Windows reserves the name {echo(name)}", hint=f"choose another {what} name, such as {core}-x")
    return name


def is_reserved_project(name: str) -> bool:
    """No capture is attributed to it: the shared, the private and the fallback project."""
    return name in (GLOBAL_PROJECT, PROFILE_PROJECT, SCRATCH_PROJECT) or name.startswith(f"{PROFILE_PROJECT}.")


def path_key(path: str) -> str:
    """Equal for two paths that some disk would take for one: differing in case or Unicode form."""
    if path.isascii():
        return path.lower()
    folded = unicodedata.normalize("NFD", path).casefold()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", folded).casefold())


def by_key(names: str) -> dict[str, str]:
    """Names with slashes between them, each by its `path_key`.

    All at once where they are ASCII: a write asks for those of a whole folder (1,000: 0.1 ms for 0.5, 2026-12-01).
    """
    segments = names.split("/")
    keys = names.lower().split("/") if names.isascii() else map(path_key, segments)
    return dict(zip(keys, segments, strict=True))


def slug(title: str, limit: int = 48) -> str:
    """A file stem for a title: lower case, words joined by `-`, at most `limit` characters, never empty.

    Letters of every script stay; marks on Latin letters go. The result passes `check_page_path`.
    """
    words: list[str] = []
    word: list[str] = []
    for character in _unmarked(title[: 20 * limit]):
        if unicodedata.category(character)[0] in "LNM" and character.isprintable():
            word.append(character)
        elif word:
            words.append("".join(word))
            word = []
    words.append("".join(word))
    stem = _fit([one for one in words if one], limit)
    return f"{stem}-page"[-limit:] if stem in _WINDOWS_DEVICES else stem or "page"


def default_kind(path: str) -> str:
    """The kind that the first folder of the path gives; pages in no known folder are notes."""
    folder, slash, _ = path.partition("/")
    return FOLDER_KINDS.get(folder, OTHER_KIND) if slash else OTHER_KIND


def _check_inside(segment: str, path: str) -> None:
    """Refuse what leaves the project, names no file, or opens git's own folder."""
    if segment == "":
        raise _refused(path, "it has an empty segment", "write it relative to the project, one '/' between names")
    if segment.startswith("."):
        raise _refused(path, f"the segment {echo(segment)} begins with '.'", "leave out '.', '..' and hidden folders")
    if "\\" in segment:
        raise _refused(path, "it holds a backslash", "put '/' between the segments")
    if not segment.isascii() or not segment.isprintable():
        for character in segment:
            if unicodedata.category(character) in _HIDDEN_CATEGORIES:
                raise _refused(path, f"it holds the invisible character U+{ord(character):04X}", "leave it out")
    if segment.rstrip(". ").lower() in (".git", "git~1"):
        raise _refused(path, f"{echo(segment)} can mean git's own folder", "choose another name")


def _check_portable(segment: str, path: str) -> None:
    """Refuse what Windows or macOS would refuse, change, or open as something else."""
    if _PLAIN_SEGMENT.fullmatch(segment) and len(segment) <= 200:
        return
    check_limit("segment", segment)
    for character in segment:
        if character in _WINDOWS_CHARACTERS:
            raise _refused(path, f"it holds {character!r}, which Windows cannot store", "leave it out")
    stem = segment.removesuffix(".md")
    if segment != segment.strip() or stem != stem.strip() or segment.endswith(".") or stem.endswith("."):
        raise _refused(path, f"{echo(segment)} begins or ends with a blank or ends with '.'", "trim it")
    device = segment.partition(".")[0].rstrip(" ").lower()
    if device in _WINDOWS_DEVICES:
        raise _refused(path, f"Windows reserves the name {device!r}", f"choose another, such as {device}-page")
    if len(device) <= 8 and _SHORT_NAME.fullmatch(device):
        raise _refused(path, f"{echo(segment)} looks like a Windows short name", "leave out '~' and digit")


def _check_reserved(segments: list[str], path: str) -> None:
    last = segments[-1].lower()
    if segments[0].lower() == "_pending":
        raise _refused(path, "'_pending/' is kept for proposals", "choose another folder, such as notes/")
    if last == "_meta.md" or (len(segments) == 1 and last == "bootstrap.md"):
        raise _refused(path, f"{echo(segments[-1])} is kept for the project's own record", "choose another name")
    if len(segments) == 1 and _LEDGER.fullmatch(last):
        raise _refused(
            path, f"{echo(segments[-1])} is the name of an event ledger", "put it into a folder, such as notes/"
        )


def _refused(path: str, why: str, hint: str) -> BadName:
    return BadName(f"not a page path: {echo(path)}: {why}", hint=hint)


def _unmarked(title: str) -> str:
    """Lower case, compatibility forms resolved, combining marks dropped after ASCII letters."""
    kept: list[str] = []
    after_ascii = False
    for character in unicodedata.normalize("NFKD", title).casefold():
        is_mark = unicodedata.combining(character) != 0
        if not (is_mark and after_ascii):
            kept.append(character)
        if not is_mark:
            after_ascii = character.isascii()
    return unicodedata.normalize("NFC", "".join(kept))


def _fit(words: list[str], limit: int) -> str:
    """As many whole words as fit, or the start of the first."""
    stem = ""
    for word in words:
        longer = f"{stem}-{word}" if stem else word
        if len(longer) > limit or len(longer.encode()) > 190:
            break
        stem = longer
    if not stem and words:
        stem = words[0][:limit].encode()[:190].decode(errors="ignore")
    return unicodedata.normalize("NFC", stem)
