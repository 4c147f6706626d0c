"""What a page points to, and keeping that true when pages move.

*Source*: CommonMark 0.31 for links in markdown, `[[page]]` as wikis write it, decision C6 for the kinds.
"""

import posixpath
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import quote, unquote

from ai_memory.model import PageRef
from ai_memory.text.frontmatter import split
from ai_memory.text.inline import Form, Target, scan_inline
from ai_memory.text.names import DEFAULT_WORKSPACE, GLOBAL_PROJECT
from ai_memory.text.outline import Block, outline
from ai_memory.text.splice import one_line_yaml

REFERENCES = "references"
INVERSE_NAMES: Mapping[str, str] = {
    REFERENCES: "referenced_by",
    "about": "described_by",
    "supports": "supported_by",
    "contradicts": "contradicted_by",
    "supersedes": "superseded_by",
    "depends_on": "required_by",
    "causes": "caused_by",
    "fixes": "fixed_by",
    "derived_from": "source_of",
}
"""Every link kind and how it reads from the other end (decision C6). Other kinds are kept and reported."""
LINK_KINDS = tuple(INVERSE_NAMES)

NAMING_KEYS = ("relations", "supersedes", "superseded_by")
"""Keys of frontmatter that name pages; an id of a fact names no page and stays."""

MAX_LINKS = 1000
"""Links of one page that are kept: the scan is bounded."""
MAX_SCANNED = 1_048_576
"""Characters of a body that are searched for links."""
_MAX_PATH_BYTES = 512

_SCOPE = re.compile(r"([A-Za-z0-9_.-]+)(?:/([A-Za-z0-9_.-]+))?")
_URL_WORDS = frozenset(("http", "https", "mailto", "data", "javascript", "tel", "ftp", "file", "ssh", "git"))
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
_EXTENSION = re.compile(r"\.(?=[A-Za-z0-9]*[A-Za-z])[A-Za-z0-9]{1,5}\Z")
_FACT_ID = re.compile(r"f-[0-9a-f]{12}")
_UNWANTED = re.compile(r"[\x00-\x1f\x7f\\]")


@dataclass(frozen=True, slots=True)
class Link:
    """One edge from a page to a page that may not exist yet."""

    workspace: str
    project: str
    path: str
    kind: str = REFERENCES

    @property
    def ref(self) -> PageRef:
        return PageRef(self.workspace, self.project, self.path)


def links(body: str, *, at: PageRef, relations: object = None) -> list[Link]:
    """The links of a page, each once: those of its `relations` map first, then those of its text in order.

    Code, images, URLs, other extensions and bare anchors are no links.
    """
    found: dict[Link, None] = {}
    for kind, target in relation_targets(relations):
        if ref := resolve_relation(target, at=at):
            found[Link(ref.workspace, ref.project, ref.path, kind)] = None
    if "[" in body:
        for target_in_text, _ in _targets(body[:MAX_SCANNED]):
            if len(found) >= MAX_LINKS:
                break
            if ref := resolve(target_in_text, at=at):
                found[Link(ref.workspace, ref.project, ref.path, REFERENCES)] = None
    return list(found)[:MAX_LINKS]


def relations_of(keys: Mapping[str, object]) -> object:
    """The relations of a page's frontmatter: its `relations`, and the pages that it says it `supersedes`."""
    relations, named = keys.get("relations"), keys.get("supersedes")
    pages = [one for one in (named if isinstance(named, list) else [named]) if not _FACT_ID.fullmatch(_unlisted(one))]
    if not any(map(_unlisted, pages)):
        return relations
    known = dict(relations) if isinstance(relations, Mapping) else {}
    before = known.get("supersedes", [])
    return {**known, "supersedes": [*(before if isinstance(before, list) else [before]), *pages]}


def relation_targets(relations: object) -> Iterator[tuple[str, str]]:
    """Pairs (kind, target text) of a `relations` map; values may be one target or a list of them."""
    if not isinstance(relations, Mapping):
        return
    for kind, value in relations.items():
        for target in value if isinstance(value, list) else [value]:
            text = _unlisted(target)
            if text:
                yield link_kind(str(kind)), text


def unknown_kinds(relations: object) -> list[str]:
    """Kinds of a `relations` map that are on no list: kept, and worth a warning."""
    if not isinstance(relations, Mapping):
        return []
    return [kind for kind in dict.fromkeys(link_kind(str(key)) for key in relations) if kind not in INVERSE_NAMES]


def link_kind(word: str) -> str:
    """The kind in its stored form: lower case, `_` between words."""
    return "_".join(word.strip().lower().replace("-", " ").replace("_", " ").split()) or REFERENCES


def inverse_name(kind: str) -> str:
    """How a link of that kind reads from its target."""
    return INVERSE_NAMES.get(kind, f"{kind} of")


def resolve(target: Target, *, at: PageRef) -> PageRef | None:
    """The page that a link in the text of `at` points to, None when it is no link to a page."""
    if target.form is Form.WIKI:
        return resolve_wiki(target.text, at=at)
    return _resolve_markdown(target.text, at=at)


def resolve_wiki(text: str, *, at: PageRef) -> PageRef | None:
    """The page of `path`, `project:path`, `workspace/project:path` or `_global:path`, from the project's root."""
    path = _cut(text).strip()
    workspace, project = at.workspace, at.project
    if ":" in path:
        scope, _, path = path.partition(":")
        named = _SCOPE.fullmatch(scope.strip())
        if named is None or named[1].lower() in _URL_WORDS or path.startswith("//"):
            return None
        if named[2] is not None:
            workspace, project = named[1].lower(), named[2].lower()
        else:
            project = named[1].lower()
            workspace = DEFAULT_WORKSPACE if project == GLOBAL_PROJECT else workspace
    page = _page_path(path.strip().lstrip("/"))
    return PageRef(workspace, project, page) if page else None


def resolve_relation(text: str, *, at: PageRef) -> PageRef | None:
    """The page of a `relations` target: written like a wikilink, with or without the brackets."""
    stripped = text.strip()
    if stripped.startswith("[[") and stripped.endswith("]]"):
        stripped = stripped[2:-2].partition("|")[0]
    return resolve_wiki(stripped, at=at)


def rewrite_links(text: str, *, at: PageRef, moved: Mapping[PageRef, PageRef], now_at: PageRef) -> str:
    """The file of page `at`, to be stored at `now_at`, with every link leading where it should after `moved`.

    Only targets change that would lead elsewhere, in the body and in `relations`; label, anchor, query and every
    other byte stay. *Errors*: BadPage when the frontmatter holds relations and is broken.
    """
    parts = split(text)
    block = text[parts.block_start : parts.block_end]
    if any(key in block for key in NAMING_KEYS):
        block = _rewrite_relations(block, at=at, moved=moved, now_at=now_at)
    body = _rewrite_body(text[parts.body_start :], at=at, moved=moved, now_at=now_at)
    return text[: parts.block_start] + block + text[parts.block_end : parts.body_start] + body


def _rewrite_body(text: str, *, at: PageRef, moved: Mapping[PageRef, PageRef], now_at: PageRef) -> str:
    if "[" not in text:
        return text
    pieces: list[str] = []
    done = 0
    for target, place in sorted(_targets(text), key=lambda one: one[1]):
        new = _moved_text(target, at=at, moved=moved, now_at=now_at)
        if new is not None and place >= done:
            pieces += (text[done:place], new)
            done = place + len(target.text)
    return "".join([*pieces, text[done:]])


def _rewrite_relations(block: str, *, at: PageRef, moved: Mapping[PageRef, PageRef], now_at: PageRef) -> str:
    """The frontmatter block with the targets in those keys rewritten in their places."""
    from ai_memory.text.yaml_block import entries  # PyYAML, 15 ms: only where relations stand

    edits = []
    for entry in entries(block, path=str(at)):
        for scalar in entry.scalars if entry.key.text in NAMING_KEYS else ():
            new = rewrite_relation(scalar.text, at=at, moved=moved, now_at=now_at)
            if new != scalar.text:
                edits.append((scalar.start, scalar.end, one_line_yaml(new)))
    for start, end, new in reversed(edits):
        block = block[:start] + new + block[end:]
    return block


def rewrite_relation(text: str, *, at: PageRef, moved: Mapping[PageRef, PageRef], now_at: PageRef) -> str:
    """The same for one target of a `relations` map."""
    inner = text.strip()
    start = text.find(inner)
    if inner.startswith("[[") and inner.endswith("]]"):
        inner = inner[2:-2].partition("|")[0]
        start += 2
    target = Target(Form.WIKI, start, start + len(inner), inner, is_bracketed=False)
    new = _moved_text(target, at=at, moved=moved, now_at=now_at)
    return text if new is None else text[:start] + new + text[start + len(inner) :]


def _targets(body: str) -> Iterator[tuple[Target, int]]:
    """Every target in the text of a body, with its offset in the body."""
    bracket = body.find("[")
    for block in outline(body):
        spans = block.spans
        if not spans or spans[-1][1] <= bracket:
            continue
        if bracket < spans[0][0]:
            bracket = body.find("[", spans[0][0])
            if bracket < 0:
                return
        if bracket < spans[-1][1]:
            text = block.text(body)
            if "[[" not in text and "](" not in text and "]:" not in text:
                continue
            inline = scan_inline(text)
            starts = _line_starts(block) if len(spans) > 1 else [0]
            for target in inline.targets:
                line = bisect_right(starts, target.start) - 1
                yield target, spans[line][0] + target.start - starts[line]


def _line_starts(block: Block) -> list[int]:
    """Offset of each line in the block's joined text."""
    starts, at = [], 0
    for start, end in block.spans:
        starts.append(at)
        at += end - start + 1
    return starts


def _moved_text(target: Target, *, at: PageRef, moved: Mapping[PageRef, PageRef], now_at: PageRef) -> str | None:
    """New text of the target, None when the old one stays right."""
    leads_to = resolve(target, at=at)
    if leads_to is None:
        return None
    wanted = moved.get(leads_to, now_at if leads_to == at else leads_to)
    if resolve(target, at=now_at) == wanted:
        return None
    kept_path = _cut(target.text)
    tail = target.text[len(kept_path) :]
    has_ending = kept_path.rstrip()[-3:].lower() == ".md"
    if target.form is Form.WIKI:
        return _wiki_text(wanted, now_at, has_ending=has_ending) + tail
    return _markdown_text(target, wanted, now_at, has_ending=has_ending) + tail


def _wiki_text(wanted: PageRef, now_at: PageRef, *, has_ending: bool) -> str:
    path = wanted.path if has_ending else _without_ending(wanted.path)
    if wanted.workspace != now_at.workspace:
        return f"{wanted.workspace}/{wanted.project}:{path}"
    return path if wanted.project == now_at.project else f"{wanted.project}:{path}"


def _markdown_text(target: Target, wanted: PageRef, now_at: PageRef, *, has_ending: bool) -> str:
    is_rooted = target.text.startswith("/") and wanted.project == now_at.project
    if is_rooted and wanted.workspace == now_at.workspace:
        path = f"/{wanted.path}"
    elif (wanted.workspace, wanted.project) == (now_at.workspace, now_at.project):
        path = posixpath.relpath(wanted.path, posixpath.dirname(now_at.path) or ".")
    else:
        path = posixpath.relpath(wanted.git_path, posixpath.dirname(now_at.git_path))
    if target.text.startswith("./") and not path.startswith((".", "/")):
        path = f"./{path}"
    path = path if has_ending else _without_ending(path)
    return quote(path, safe="/ !$&'()*+,;=@~" if target.is_bracketed else "/!$&'*+,;=@~")


def _without_ending(path: str) -> str:
    """The path as it may be written without `.md`: only when adding it again gives the same page."""
    bare = path.removesuffix(".md")
    return path if _EXTENSION.search(bare.rpartition("/")[2]) else bare


def _resolve_markdown(text: str, *, at: PageRef) -> PageRef | None:
    if _URL.match(text):
        return None
    path = _cut(text).strip()
    if "%" in path:
        path = unquote(path)
    if not path or path.endswith("/"):
        return None
    if path.startswith("/"):
        page = _page_path(path.lstrip("/"))
        return PageRef(at.workspace, at.project, page) if page else None
    folder = at.path.rpartition("/")[0]
    if not path.startswith("."):
        page = _page_path(f"{folder}/{path}" if folder else path)
        return PageRef(at.workspace, at.project, page) if page else None
    whole = posixpath.normpath(f"{at.workspace}/{at.project}/{folder}/{path}")
    parts = whole.split("/", 2)
    if len(parts) < 3 or ".." in parts:
        return None
    page = _page_path(parts[2])
    return PageRef(parts[0], parts[1], page) if page else None


def _page_path(path: str) -> str | None:
    """Normalised path with `.md`, None for another extension or what can be no page."""
    if not path or path.endswith("/") or _UNWANTED.search(path):
        return None
    if "./" in path or "//" in path or path.startswith("."):
        path = posixpath.normpath(path)
        if path.startswith((".", "/")):
            return None
    if path[-3:].lower() == ".md":
        path = path[:-3] + ".md"
    elif _EXTENSION.search(path.rpartition("/")[2]):
        return None
    else:
        path += ".md"
    if not path.isascii():
        path = unicodedata.normalize("NFC", path)
    if "/." in path or path == ".md" or len(path.encode("utf-8", "replace")) > _MAX_PATH_BYTES:
        return None
    return path


def _cut(text: str) -> str:
    """The part before the anchor or query."""
    if "#" in text:
        text = text[: text.index("#")]
    return text[: text.index("?")] if "?" in text else text


def _unlisted(target: object) -> str:
    """A target as text; an unquoted `[[x]]` arrives from YAML as a list in a list."""
    while isinstance(target, list) and len(target) == 1:
        target = target[0]
    return target.strip() if isinstance(target, str) else ""
