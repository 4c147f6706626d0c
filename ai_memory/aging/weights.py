"""The weight of pages now: their age, who read them, what was said of them. One reckoning for all that asks for it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ai_memory.aging.retention import Rates, Use, Weight, days_between, weigh
from ai_memory.aging.salience import salience
from ai_memory.config_table import Config
from ai_memory.model import PageRef, Tier
from ai_memory.store.feedback import Feedback, Signal, feedback
from ai_memory.store.page_heads import PageHead
from ai_memory.store.usage import NEVER, Access, accesses

if TYPE_CHECKING:
    from ai_memory.store.driver import Connection

KEPT_KINDS = frozenset({"rule", "slot", "fact"})
"""They never fade: rules and slots are wanted, facts go by what replaced them."""
CLOSED_HANDOFFS = frozenset({"accepted", "expired", "cancelled"})


def rates_of(config: Config) -> Rates:
    """The constants as somebody configured them."""
    days = {
        Tier.WORKING: config.decay.half_life_days.working,
        Tier.EPISODIC: config.decay.half_life_days.episodic,
        Tier.SEMANTIC: config.decay.half_life_days.semantic,
        Tier.PROCEDURAL: config.decay.half_life_days.procedural,
    }
    return Rates(
        lambda_=config.decay.lambda_,
        sigma=config.decay.sigma,
        mu=config.decay.mu,
        cold_threshold=config.decay.cold_threshold,
        breadth_weight=config.decay.breadth_weight,
        half_life_days=days,
    )


@dataclass(frozen=True, slots=True)
class Weighed:
    """One page with its weight, and what that is made of."""

    page: PageHead
    use: Use
    salience: float
    weight: Weight

    @property
    def total(self) -> float:
        return self.weight.total


@dataclass(frozen=True, slots=True)
class Scales:
    """What weighs pages at one instant."""

    rates: Rates
    now_us: int
    read: Mapping[PageRef, Access]
    said: Mapping[PageRef, list[Feedback]]

    @classmethod
    def of(cls, connection: "Connection | None", config: Config, *, now_us: int) -> "Scales":
        """The scales of a memory; `connection` is that of `state.db`, None where there is none."""
        return cls(rates_of(config), now_us, accesses(connection), feedback(connection))

    def weighed(self, page: PageHead) -> Weighed:
        access = self.read.get(page.ref, NEVER)
        use = Use(
            age_days=days_between(page.updated_at_us, self.now_us),
            reads=access.reads,
            idle_days=days_between(access.last_at_us, self.now_us) if access.reads else None,
            harnesses=access.harnesses,
        )
        value = salience(self.said.get(page.ref, ()), page.version)
        return Weighed(page, use, value, weigh(use, page.tier, self.rates, salience=value))

    def usefulness(self, page: PageHead) -> int:
        """Times that the page helped, less those that it did not."""
        return sum(1 if one.signal is Signal.HELPFUL else -1 for one in self.said.get(page.ref, ()))

    def is_cold(self, one: Weighed) -> bool:
        return one.total < self.rates.cold_threshold

    def cold(self, pages: Iterable[PageHead]) -> list[Weighed]:
        """Those that fade and fell below the threshold, the lightest first."""
        found = [one for page in pages if fades(page) and self.is_cold(one := self.weighed(page))]
        return sorted(found, key=lambda one: (one.total, one.page.ref))


def fades(page: PageHead) -> bool:
    """Whether age alone may take the page away: what happened once, as no tier of knowledge does.

    A handoff that was closed is such a page, whatever its tier; one that is open waits for its next agent.
    """
    if page.pinned or page.fault or page.kind in KEPT_KINDS or is_cut_down(page):
        return False
    if page.kind == "handoff":
        return str(page.frontmatter.get("state")) in CLOSED_HANDOFFS
    return page.tier in (Tier.EPISODIC, Tier.WORKING)


def is_cut_down(page: PageHead) -> bool:
    """Whether the page is what an earlier sweep left of it."""
    return page.frontmatter.get("compacted") is True
