"""What nobody needs any more: pages that were never read, slots that nobody renewed, pins with a date."""

from collections.abc import Iterator

from ai_memory.aging.retention import days_between
from ai_memory.aging.weights import is_cut_down
from ai_memory.linting.finding import Finding, Severity, command
from ai_memory.linting.ground import PAST_KINDS, Ground, is_rule, is_slot
from ai_memory.model import Tier
from ai_memory.store.page_heads import PageHead
from ai_memory.text.times import DAY_US

USUAL_DAYS = 30.0
"""After which a page that was never read is stale, where the settings give no rate."""
SHARE = 0.6
"""Of 1/λ: the age at which a page has e^(-0.6), 55%, of its weight. *Source*: the rule `stale` of 1.31."""
UNRECALLED_US = 180 * DAY_US
FOCUS_DAYS, SLOT_DAYS = 7, 30
"""After which the slot of the present work, and any other slot, wants a look. *Source*: the curator of 1.31."""
FOCUS = "current-focus"
_NEVER_IDLE = frozenset({"rule", "slot", "fact", "preference"})
"""They are told to every session at its start, whether or not anybody reads them."""


def stale_days(ground: Ground) -> float:
    """The age in days from which on an episodic page that nobody read is stale."""
    rate = ground.scales.rates.fading(Tier.EPISODIC)
    return SHARE / rate if rate > 0 else USUAL_DAYS


def stale(ground: Ground) -> Iterator[Finding]:
    """Episodic pages that nobody ever read."""
    days = stale_days(ground)
    for head in ground.live:
        age = _days(ground, head)
        if (
            head.tier is Tier.EPISODIC
            and head.kind != "handoff"
            and not head.pinned
            and age > days
            and not ground.read_of(head).reads
            and not is_cut_down(head)
        ):
            yield Finding(
                "stale",
                Severity.INFO,
                f"was never read in {int(age)} days",
                (head.ref,),
                command("read-page", str(head.ref)),
                figures={"age_days": round(age, 2), "threshold_days": round(days, 2), "access_count": 0},
            )


def cold(ground: Ground) -> Iterator[Finding]:
    """Pages that the next sweep takes away, the lightest first: weighed as the sweep weighs them."""
    scales = ground.scales
    for one in scales.cold(ground.heads.values()):
        yield Finding(
            "cold_episodic",
            Severity.INFO,
            "fell below the weight at which the sweep takes it away",
            (one.page.ref,),
            command("retention", "--explain", str(one.page.ref)),
            figures={
                "score": round(one.total, 4),
                "threshold": scales.rates.cold_threshold,
                "age_days": round(one.use.age_days, 2),
                "access_count": one.use.reads,
            },
        )


def slots(ground: Ground) -> Iterator[Finding]:
    """Slots that nobody renewed: every start tells them as what holds now."""
    for head in ground.live:
        if not is_slot(head):
            continue
        most = FOCUS_DAYS if head.ref.path.rpartition("/")[2].removesuffix(".md") == FOCUS else SLOT_DAYS
        age = _days(ground, head)
        if age > most:
            yield Finding(
                "stale_slot",
                Severity.WARNING,
                f"was not renewed in {int(age)} days, and every start tells it",
                (head.ref,),
                command("edit", str(head.ref)),
                figures={"age_days": round(age, 2), "threshold_days": most},
            )


def pinned_expiring(ground: Ground) -> Iterator[Finding]:
    """Pages that are pinned and expire all the same: the date wins."""
    for head in ground.live:
        if head.pinned and head.expires_at_us is not None:
            yield Finding(
                "pinned_expiring",
                Severity.WARNING,
                "is pinned, and goes all the same when it expires",
                (head.ref,),
                command("set", str(head.ref), "--expires-at", ""),
            )


def unrecalled(ground: Ground) -> Iterator[Finding]:
    """What was learnt and was neither read nor found for half a year; where reads were recorded for so long."""
    since_us = ground.reads_since_us
    if since_us is None or ground.now_us - since_us < UNRECALLED_US:
        return
    for head in ground.lasting:
        access = ground.read_of(head)
        if (
            head.tier in (Tier.SEMANTIC, Tier.PROCEDURAL)
            and head.kind not in PAST_KINDS | _NEVER_IDLE
            and not (head.pinned or is_rule(head) or is_slot(head))
            and not access.reads
            and not access.shown
            and ground.now_us - head.updated_at_us >= UNRECALLED_US
        ):
            yield Finding(
                "never_recalled",
                Severity.INFO,
                f"was neither read nor found by a search in {UNRECALLED_US // DAY_US} days",
                (head.ref,),
                command("read-page", str(head.ref)),
            )


def _days(ground: Ground, page: PageHead) -> float:
    """Since it was last changed."""
    return days_between(page.updated_at_us, ground.now_us)
