"""What a merge makes: the text and the keys of the page that stays, and the stub of each that gave its text."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ai_memory.clock import rfc3339
from ai_memory.model import Page, PageRef, Scope, Tier
from ai_memory.operations.cleaning import clean
from ai_memory.operations.linking import name_of
from ai_memory.operations.page_state import MERGED
from ai_memory.operations.promote import LASTING
from ai_memory.text.facts import moment, read_interval
from ai_memory.text.frontmatter import split
from ai_memory.text.joining import JoinedPart, Part, join_bodies
from ai_memory.text.limits import LIMITS
from ai_memory.text.links import link_kind, relation_targets, resolve_relation, rewrite_links, rewrite_relation
from ai_memory.text.names import default_kind
from ai_memory.text.page import check_size, parse_leniently, splice
from ai_memory.text.validity import Interval

if TYPE_CHECKING:
    from ai_memory.store.memory import Memory

NAMED = 20
"""Of what is left out, so many are named."""
_UNITED = ("tags", "aliases", "entities", "relations", "supersedes")
"""Keys whose entries go over to the page that stays."""
_OWN = ("title", "kind", "tier", "pinned", "expires_at", "standing", "superseded_by", "resolved_at", "because")
"""Keys that each page has for itself."""


@dataclass(slots=True)
class Plan:
    scope: Scope
    into: PageRef
    survivor: Page | None
    sources: list[Page]
    title: str
    linking: list[PageRef] = field(default_factory=list)
    """Other pages that link to a source."""
    gaps: list[str] = field(default_factory=list)

    @property
    def moved(self) -> dict[PageRef, PageRef]:
        return {page.ref: self.into for page in self.sources}


# --- the page that stays ---


def joined(memory: "Memory", plan: Plan) -> tuple[str, tuple[JoinedPart, ...]]:
    """The whole text of the page that stays, and what each source brought."""
    parts = []
    for page in plan.sources:
        text = rewrite_links(page.text, at=page.ref, moved=plan.moved, now_at=plan.into)
        parts.append(Part(page.title, text[split(text).body_start :]))
    survivor = plan.survivor
    if survivor is None:
        head, base = "", f"# {plan.title}\n"
    else:
        text = rewrite_links(survivor.text, at=plan.into, moved=plan.moved, now_at=plan.into)
        start = split(text).body_start
        head, base = text[:start], text[start:]
    whole = join_bodies(plan.title, base, parts)
    text = splice(head + whole.body, _keys(plan), path=plan.into.path)
    check_size(text)
    return clean(memory, text, before=known_text(plan)), whole.parts


def known_text(plan: Plan) -> str:
    """What is stored already: lines of it are not looked at again."""
    return "\n".join(page.text for page in (*([plan.survivor] if plan.survivor else []), *plan.sources))


def _keys(plan: Plan) -> dict[str, object | None]:
    """What of the frontmatter becomes another one."""
    pages = [*([plan.survivor] if plan.survivor else []), *plan.sources]
    said = {page.ref: parse_leniently(page.text, path=page.ref.path) for page in pages}
    names = [page.title for page in plan.sources if page.title.casefold() != plan.title.casefold()]
    keys: dict[str, object | None] = {
        "tags": _united(plan, "tags", (word for page in pages for word in page.tags)),
        "aliases": _united(plan, "aliases", (*(word for page in pages for word in said[page.ref].aliases), *names)),
        "entities": _united(plan, "entities", (word for page in pages for word in said[page.ref].entities)),
        "relations": _relations(plan, pages) or None,
        "supersedes": _superseded(plan, pages),
    }
    if plan.survivor is None:
        keys |= _keys_of_a_new_page(plan)
    elif any(page.pinned for page in plan.sources) and not plan.survivor.pinned:
        keys["pinned"] = True
    for page in plan.sources:
        left = [key for key in page.frontmatter if key not in (*_UNITED, *_OWN)]
        if left:
            plan.gaps.append(f"{page.ref.path}: these keys stay on its stub: {', '.join(left)}")
    return {key: value for key, value in keys.items() if value is not None}


def _keys_of_a_new_page(plan: Plan) -> dict[str, object | None]:
    """What all sources agree on; the tier that lasts longest, the latest expiry if each has one."""
    kinds = {page.kind for page in plan.sources}
    tier = max((page.tier for page in plan.sources), key=LASTING.index)
    ends = [page.expires_at_us for page in plan.sources]
    latest = max((end for end in ends if end is not None), default=None)
    kind = next(iter(kinds))
    return {
        "kind": kind if len(kinds) == 1 and kind not in ("session", default_kind(plan.into.path)) else None,
        "tier": tier.value if tier is not Tier.SEMANTIC else None,
        "pinned": True if any(page.pinned for page in plan.sources) else None,
        "expires_at": rfc3339(latest) if latest is not None and None not in ends else None,
    }


def _united(plan: Plan, key: str, words: Iterable[str]) -> list[str] | None:
    """All of them once, as many as a page may have."""
    once: dict[str, str] = {}
    for word in words:
        once.setdefault(word.casefold(), word)
    found = list(once.values())
    most = LIMITS[key].most
    if len(found) > most:
        over = found[most:]
        more = f" and {len(over) - NAMED} more" if len(over) > NAMED else ""
        plan.gaps.append(f"a page has at most {most} {key}: left out: {', '.join(over[:NAMED])}{more}")
    return found[:most] or None


def _relations(plan: Plan, pages: Sequence[Page]) -> dict[str, list[str]]:
    """Links with a kind, of all pages, each once; none from the page to itself."""
    found: dict[str, dict[PageRef | str, str]] = {}
    for page in pages:
        for kind, target in relation_targets(page.frontmatter.get("relations")):
            new = rewrite_relation(target, at=page.ref, moved=plan.moved, now_at=plan.into)
            leads_to = resolve_relation(new, at=plan.into)
            if leads_to != plan.into:
                found.setdefault(link_kind(kind), {}).setdefault(leads_to or new, new)
    return {kind: list(targets.values()) for kind, targets in found.items()}


def _superseded(plan: Plan, pages: Sequence[Page]) -> list[str]:
    """What those pages took the place of, and they themselves."""
    found: dict[PageRef | str, str] = {}
    for page in pages:
        for _, target in relation_targets({"supersedes": page.frontmatter.get("supersedes")}):
            new = rewrite_relation(target, at=page.ref, moved={}, now_at=plan.into)
            found.setdefault(resolve_relation(new, at=plan.into) or new, new)
    for page in plan.sources:
        found[page.ref] = name_of(page.ref, seen_from=plan.into)
    return list(found.values())


# --- the stubs ---


def stub(page: Page, plan: Plan, now_us: int) -> str:
    """The source as it leads on: its own keys stay, what went over is gone from it."""
    held = read_interval(page.frontmatter)
    heir = name_of(plan.into, seen_from=page.ref)
    is_told = page.kind in ("rule", "slot", "preference")
    start = split(page.text).body_start
    newline = "\r\n" if "\r\n" in page.text else "\n"
    keys: dict[str, object | None] = {
        **dict.fromkeys(_UNITED),
        "title": page.title,
        "pinned": False if page.ref.path.startswith("_slots/") else None,
        "kind": "note" if is_told else page.frontmatter.get("kind"),
        "standing": "superseded",
        "superseded_by": heir,
        "valid_to": moment(Interval(held.start_us, held.end_us).closed_at(now_us).end_us),
        "resolved_at": moment(now_us),
        "because": f"{MERGED}{heir}"[: LIMITS["reason"].most],
    }
    return splice(f"{page.text[:start]}Merged into [[{heir}]].{newline}", keys, path=page.ref.path)
