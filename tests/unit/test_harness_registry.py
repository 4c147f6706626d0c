"""Harnesses are found by id and alias, and none is named twice."""

import pytest

from ai_memory.errors import NotFound
from ai_memory.harnesses import registry
from ai_memory.harnesses.record import Form
from ai_memory.hook_harnesses import KINDS


def test_ids_and_aliases_are_unique() -> None:
    names = [name for one in registry.HARNESSES for name in (one.id, *one.aliases)]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("name", "identifier"),
    [("claude", "claude-code"), ("Claude-Code", "claude-code"), ("open_code", "opencode"), ("agy", "antigravity-cli")],
)
def test_a_harness_is_found_by_any_of_its_names(name: str, identifier: str) -> None:
    found = registry.find(name)
    assert found is not None
    assert found.id == identifier


def test_an_unknown_name_gets_the_nearest_one() -> None:
    assert registry.find("cluade-code") is None
    with pytest.raises(NotFound, match="cluade") as raised:
        registry.get("cluade-code")
    assert "claude-code" in raised.value.hint


def test_every_event_is_of_a_known_kind_and_every_injection_has_a_form() -> None:
    for one in registry.HARNESSES:
        assert set(one.events.values()) <= set(KINDS), one.id
        assert (one.form is Form.NONE) == (one.inject_at == ""), one.id
