"""The weight of a page: how much of it is left after its age, and what reads give back.

*Source*: the facts on retention, 4.1: `salience · e^(−λ·age) + σ · ln(1 + reads) · e^(−μ · idle) · breadth`.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from ai_memory.model import Tier
from ai_memory.text.times import DAY_US

FRESH = 1.0
"""Salience of a page of which nobody said anything."""


@dataclass(frozen=True, slots=True)
class Rates:
    """The constants of the formula, a day each."""

    lambda_: float = 0.02
    sigma: float = 0.6
    mu: float = 0.04
    cold_threshold: float = 0.2
    breadth_weight: float = 0.0
    half_life_days: Mapping[Tier, float] = field(default_factory=dict)
    """Of a tier; one that is not named fades by `lambda_`."""

    def fading(self, tier: Tier) -> float:
        """λ of that tier."""
        days = self.half_life_days.get(tier, 0)
        return math.log(2) / days if days > 0 else self.lambda_


@dataclass(frozen=True, slots=True)
class Use:
    """How a page was used. Days may be fractions; none is below 0."""

    age_days: float
    """Since it was last changed."""
    reads: int = 0
    idle_days: float | None = None
    """Since it was last read; None: never."""
    harnesses: int = 0
    """How many different ones read it."""


@dataclass(frozen=True, slots=True)
class Weight:
    """What a weight is made of."""

    fading: float
    """What age left of its salience."""
    reinforcement: float
    """What reads add."""

    @property
    def total(self) -> float:
        return self.fading + self.reinforcement


def weigh(use: Use, tier: Tier, rates: Rates, *, salience: float = FRESH) -> Weight:
    """The weight of a page now. A clock that was set back counts as no time."""
    fading = salience * math.exp(-rates.fading(tier) * max(0.0, use.age_days))
    if use.reads <= 0 or use.idle_days is None:
        return Weight(fading, 0.0)
    breadth = 1 + rates.breadth_weight * math.log(1 + max(use.harnesses, 1) - 1)
    reads = rates.sigma * math.log(1 + use.reads) * math.exp(-rates.mu * max(0.0, use.idle_days))
    return Weight(fading, reads * breadth)


def days_until_cold(use: Use, tier: Tier, rates: Rates, *, salience: float = FRESH) -> float | None:
    """In how many days its weight falls below the threshold, if nobody reads it; 0 when it has, None when never.

    Found by halving: both parts only fall with time.
    """

    def is_cold(days: float) -> bool:
        idle = None if use.idle_days is None else use.idle_days + days
        later = Use(use.age_days + days, use.reads, idle, use.harnesses)
        return weigh(later, tier, rates, salience=salience).total < rates.cold_threshold

    if is_cold(0):
        return 0.0
    low, high = 0.0, 1.0
    while not is_cold(high):
        low, high = high, high * 2
        if high > MOST_DAYS:
            return None
    while high - low > 0.01:
        middle = (low + high) / 2
        low, high = (low, middle) if is_cold(middle) else (middle, high)
    return high


MOST_DAYS = 36_500.0
"""What is not cold in a hundred years never is."""


def days_between(earlier_us: int, later_us: int) -> float:
    """Days from one instant to another, in µs; 0 where the first is the later one."""
    return max(0, later_us - earlier_us) / DAY_US
