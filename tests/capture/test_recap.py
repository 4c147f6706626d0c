"""A recap tells what was asked between the last two compactions of a session."""

from terminals import NINE_US

from ai_memory.capture import recap
from ai_memory.store.state_sessions import Observation
from ai_memory.text.fences import FENCE_END


def rows(*told: tuple[str, str]) -> list[Observation]:
    return [
        Observation(event_id=str(number), session="s", at_us=NINE_US + number, kind=kind, text=text)  # type: ignore[arg-type]
        for number, (kind, text) in enumerate(told)
    ]


def test_a_session_without_a_compaction_has_no_recap() -> None:
    assert recap.render(rows(("user-prompt", "Mend it.")), source="d/s") == ""


def test_it_reaches_from_the_compaction_before_the_last_one_to_the_last_one() -> None:
    told = rows(
        ("user-prompt", "Before all."),
        ("pre-compact", ""),
        ("user-prompt", "Mend the till."),
        ("stop", "Mended."),
        ("user-prompt", "<system-reminder>machine</system-reminder>"),
        ("stop", "All tests pass."),
        ("pre-compact", ""),
        ("user-prompt", "After all."),
    )
    text = recap.render(told, source="d/s, session x")
    assert "1. Mend the till." in text
    assert "## Last answer\n\nAll tests pass." in text
    assert "Source: d/s, session x" in text
    assert not any(word in text for word in ("Before", "After", "machine", "2."))


def test_before_a_second_compaction_it_begins_with_the_session() -> None:
    assert "1. One." in recap.render(rows(("user-prompt", "One."), ("pre-compact", "")), source="d/s")


def test_the_newest_prompts_stay_and_the_others_are_counted() -> None:
    told = rows(*[("user-prompt", f"{number} {'x' * 400} {FENCE_END}") for number in range(200)], ("pre-compact", ""))
    text = recap.render(told, source="d/s")
    assert len(text) <= recap.MAX_RECAP
    assert "200. 199 x" in text
    assert text.count(FENCE_END) == 1
    left = int(text.partition("(")[2].partition(" earlier")[0])
    assert f"{left + 1}. {left} x" in text
