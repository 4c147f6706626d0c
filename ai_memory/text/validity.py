"""When a statement holds: half-open intervals, and where the old one ends when a new one takes its place."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Interval:
    """From `start_us` (included) to `end_us` (left out), µs; None is open. Start and end at one instant: never."""

    start_us: int | None
    end_us: int | None = None

    def holds(self, at_us: int) -> bool:
        """Whether that instant lies in it."""
        if self.start_us is not None and at_us < self.start_us:
            return False
        return self.end_us is None or at_us < self.end_us

    def closed_at(self, cut_us: int) -> "Interval":
        """The interval with its end at that instant: never before its start, never after the end that it has.

        So a plan that is cancelled before it begins holds at no time, and an end never moves to later.
        """
        cut_us = cut_us if self.start_us is None else max(cut_us, self.start_us)
        return Interval(self.start_us, cut_us if self.end_us is None else min(cut_us, self.end_us))

    def overlaps(self, other: "Interval") -> bool:
        """Whether some instant lies in both."""
        starts = [one for one in (self.start_us, other.start_us) if one is not None]
        ends = [one for one in (self.end_us, other.end_us) if one is not None]
        return all(
            interval.start_us is None or interval.end_us is None or interval.start_us < interval.end_us
            for interval in (self, other)
        ) and (not starts or not ends or max(starts) < min(ends))
