"""What agents were told to remember about a checkout, as pages of its project: found by search, for every agent.

A page is written again when its file changed, unless somebody changed the page meanwhile: it holds the digest of the
body that was written last.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ai_memory import hook_places, hook_policy
from ai_memory.hook_pause import read_pauses
from ai_memory.model import MACHINE, Page, PageRef, Sanitized, Scope
from ai_memory.plainfile import open_plain
from ai_memory.scrub import TooSlow
from ai_memory.store.change import Change
from ai_memory.store.memory import Memory
from ai_memory.text.fences import without_fences
from ai_memory.text.names import slug
from ai_memory.text.page import compose, parse_leniently
from ai_memory.text.sanitize import OwnPatterns, sanitize, sanitize_page
from ai_memory.transcripts.memory_files import MAX_BYTES, MemoryFile

FOLDER = "notes/agents"
BLOCK_START = "<!-- ai-memory:start -->"
BLOCK_END = "<!-- ai-memory:end -->"
"""Around what our own installer writes into such files; alone on a line."""
DIGEST = "source_sha256"


@dataclass(frozen=True, slots=True)
class Draft:
    """One file as a page, ready to be written."""

    file: MemoryFile
    path: str
    text: Sanitized
    digest: str
    """Of the body."""


def drafts(
    memory: Memory,
    root: str,
    files: Sequence[MemoryFile],
    own: OwnPatterns,
    notes: list[str],
    *,
    is_allowlist: bool,
    is_dry: bool,
) -> list[Draft]:
    """Those of the files that may be kept, cleaned. `root`: their checkout. What is left out is noted.

    `is_dry`: the policy may not be compiled yet.
    """
    found: list[Draft] = []
    taken: set[str] = set()
    for file in _allowed(memory, root, files, notes, is_allowlist=is_allowlist, is_dry=is_dry):
        body = _body(file, notes)
        if not body.strip():
            continue
        try:
            clean = sanitize(body, extra=own.extra, allow=own.allow)
        except TooSlow:
            notes.append(f"{file.name}: a pattern of [sanitize] takes too long on it, so it was left out")
            continue
        path = _page_path(file, taken)
        taken.add(path)
        found.append(_draft(file, path, clean, own))
    return found


def _allowed(
    memory: Memory, root: str, files: Sequence[MemoryFile], notes: list[str], *, is_allowlist: bool, is_dry: bool
) -> Iterator[MemoryFile]:
    """By pause and policy, as a hook in that folder would judge a tool that reads the file."""
    data_dir = str(memory.data_dir.root)
    home = memory.caller.environ.get("AI_MEMORY_HOME") or memory.caller.home
    pause = read_pauses(data_dir, memory.clock()).holding([root], home)
    around = hook_places.Surroundings(root, home)
    base = hook_policy.read_policy(data_dir, around)
    why = pause or ("no marker there" if is_allowlist and not base.base else "")
    why = why or (base.reason if base.decision != hook_policy.KEEP else "")
    for file in files:
        policy = hook_policy.read_policy(data_dir, around)
        policy.judge_paths("read", {"file_path": file.path}, cwd=root, base=policy.base, home=home)
        reason = why or (policy.reason if policy.decision != hook_policy.KEEP else "")
        if is_dry and policy.is_unknown:
            reason = pause  # compiled when it is brought in
        if file.size_bytes > MAX_BYTES:
            reason = f"larger than {MAX_BYTES >> 10} KiB"
        if reason:
            notes.append(f"{file.name} was left out: {reason}")
        else:
            yield file


def _body(file: MemoryFile, notes: list[str]) -> str:
    try:
        with open_plain(Path(file.path)) as opened:
            content = opened.read(MAX_BYTES + 1)
    except (OSError, ValueError) as fault:
        notes.append(f"{file.name} cannot be read: {type(fault).__name__}")
        return ""
    text = content.decode("utf-8", "replace").removeprefix("\ufeff").replace("\0", "\ufffd")
    body = parse_leniently(without_own_block(without_fences(text)), path="file.md").body
    return body.replace("\r\n", "\n")


def without_own_block(text: str) -> str:
    """The text less what our installer put in; a block that never ends takes nothing with it."""
    kept: list[str] = []
    held: list[str] = []
    is_inside = False
    for line in text.splitlines(keepends=True):
        word = line.strip()
        if is_inside and word == BLOCK_END:
            is_inside, held = False, []
        elif is_inside:
            held.append(line)
        elif word == BLOCK_START:
            is_inside, held = True, [line]
        else:
            kept.append(line)
    return "".join([*kept, *held])


def _page_path(file: MemoryFile, taken: set[str]) -> str:
    """Below `notes/agents/`; a second file of one slug has a digest of its name in it."""
    stem = file.name.removesuffix(".md")
    folder = f"{FOLDER}/{file.agents[0]}" if file.is_own else FOLDER
    path = f"{folder}/{slug(stem)}.md"
    if path not in taken:
        return path
    return f"{folder}/{slug(stem)}-{hashlib.sha256(file.name.encode('utf-8', 'surrogatepass')).hexdigest()[:4]}.md"


def _draft(file: MemoryFile, path: str, body: Sanitized, own: OwnPatterns) -> Draft:
    digest = _digest(body)
    frontmatter: dict[str, object] = {
        "title": file.name if not file.is_own else f"{file.name} (memory of {file.agents[0]})",
        "kind": "note",
        "tags": ["agent-memory", *file.agents],
        DIGEST: digest,
    }
    return Draft(file, path, sanitize_page(compose(frontmatter, f"{body.strip()}\n"), own), digest)


def due(memory: Memory, scope: Scope, made: Sequence[Draft]) -> list[Draft]:
    """Those whose pages are not there or tell something else. Takes no lock: most runs find everything as it was."""
    with memory.reading() as snapshot:
        pages = {one.path: snapshot.page(PageRef(scope.workspace, scope.project, one.path)) for one in made}
    return [one for one in made if (page := pages[one.path]) is None or _may_replace(page, one)]


def _may_replace(page: Page, draft: Draft) -> bool:
    """Whether the page holds what was written of an earlier text of the file, as it was written."""
    digest = page.frontmatter.get(DIGEST)
    is_as_written = digest == _digest(page.body)
    return is_as_written and digest != draft.digest and not page.pinned


def _digest(body: str) -> str:
    return hashlib.sha256(f"{body.strip()}\n".encode("utf-8", "replace")).hexdigest()


def write(memory: Memory, scope: Scope, made: Sequence[Draft]) -> list[str]:
    """Write what is new or changed, in one commit; paths of the pages. Pages that somebody changed or pinned stay.

    *Errors*: as `Memory.writing`.
    """
    news = due(memory, scope, made)
    if not news:
        return []
    trailers = {"Pass": "backfill"}
    with memory.writing(f"Memory files of agents: {len(news)}", author=MACHINE, trailers=trailers) as change:
        change.ensure_project(scope)
        return [one.path for one in news if _put(change, PageRef(scope.workspace, scope.project, one.path), one)]


def _put(change: Change, ref: PageRef, draft: Draft) -> bool:
    present = change.page(ref)
    if present is not None and not _may_replace(present, draft):
        return False
    change.put(ref, draft.text, expected_version=present.version if present is not None else None)
    return True
