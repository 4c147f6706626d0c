"""Which times were off the record, as the log of pauses tells it; where it cannot be told, all of it was."""

from hypothesis import given
from hypothesis import strategies as st
from terminals import NINE_US, SECOND_US

from ai_memory.capture.off_record import OffRecord, pauses_of
from ai_memory.clock import LATEST_US, rfc3339
from ai_memory.store.audit import Mutation


def row(at_s: int, verb: str, subject: str) -> Mutation:
    return Mutation(f"c-{at_s}", NINE_US + at_s * SECOND_US, verb, subject=subject)


def holds(pauses: tuple[OffRecord, ...], at_s: int, folder: str = "/shop") -> bool:
    return any(pause.covers(NINE_US + at_s * SECOND_US, [folder]) for pause in pauses)


def test_a_pause_holds_from_its_start_to_its_end() -> None:
    found = pauses_of([row(10, "pause", "everywhere until resumed"), row(20, "resume", "everywhere until resumed")])
    assert [holds(found, at) for at in (9, 10, 19, 20)] == [False, True, True, False]


def test_a_pause_for_some_time_ends_by_itself() -> None:
    until = rfc3339(NINE_US + 30 * SECOND_US)
    found = pauses_of([row(10, "pause", f"in /shop until {until}")])
    assert [holds(found, at) for at in (29, 30)] == [True, False]
    assert not holds(found, 15, "/shop-old")
    assert holds(found, 15, "/shop/src")


def test_each_place_has_its_own_end() -> None:
    found = pauses_of(
        [
            row(10, "pause", "in /shop until resumed"),
            row(11, "pause", "in /till until resumed"),
            row(20, "resume", "in /shop until resumed"),
            row(30, "resume", "in /till until resumed, everywhere until resumed"),
        ]
    )
    assert [holds(found, at, "/shop") for at in (15, 25)] == [True, False]
    assert [holds(found, at, "/till") for at in (25, 30)] == [True, False]


def test_pausing_again_replaces_the_end() -> None:
    soon = rfc3339(NINE_US + 15 * SECOND_US)
    found = pauses_of([row(10, "pause", "everywhere until resumed"), row(12, "pause", f"everywhere until {soon}")])
    assert [holds(found, at) for at in (11, 14, 15)] == [True, True, False]


def test_a_file_that_could_not_be_read_ended_everything() -> None:
    found = pauses_of([row(10, "pause", "in /shop until resumed"), row(20, "resume", "paused.json cannot be read")])
    assert [holds(found, at) for at in (15, 25)] == [True, False]


def test_a_folder_whose_name_was_not_kept_was_everywhere() -> None:
    for subject in ("in /home/[REDACTED:github-token] until resumed", "", "in /a/very/long/name that was cu"):
        assert holds(pauses_of([row(10, "pause", subject)]), 15, "/elsewhere")


@given(st.lists(st.tuples(st.integers(0, 100), st.sampled_from(["pause", "resume"]), st.text(max_size=40)), max_size=8))
def test_any_rows_give_pauses_that_begin_where_they_were_told(rows: list[tuple[int, str, str]]) -> None:
    told = [row(*one) for one in rows]
    found = pauses_of(told)
    assert len(found) == sum(one.verb == "pause" for one in told)
    assert all(pause.end_us <= LATEST_US for pause in found)
    assert {pause.start_us for pause in found} == {one.at_us for one in told if one.verb == "pause"}
