"""What nobody used for long is put to a person: procedures, and rules that wait for a word."""

import pytest
from lint_house import House

from ai_memory.operations.review import ReasonName, review


def put_to_a_person(house: House, reason: ReasonName) -> dict[str, str]:
    """Path → what is said of it."""
    rows = review(house.memory, reason=reason, project="shop").rows
    return {row.path: one.detail for row in rows for one in row.reasons if one.name == reason}


def test_a_procedure_that_nobody_read_for_half_a_year_is_put_to_a_person(house: House) -> None:
    house.put({"procedures/deploy.md": "---\ntier: procedural\n---\n# Deploy", "notes/a.md": "# Semantic"})
    house.put({"procedures/pinned.md": "---\ntier: procedural\npinned: true\n---\n# Deploy by hand"})
    house.put({"_rules/tests.md": "---\ntier: procedural\n---\n# Tests first"})
    house.wait(179)
    assert put_to_a_person(house, "unseen") == {}
    house.wait(1)
    said = "nobody read it since 2025-11-24: does anybody still work so?"
    assert put_to_a_person(house, "unseen") == {"procedures/deploy.md": said}


def test_reading_or_changing_a_procedure_keeps_it_for_another_half_year(house: House) -> None:
    house.put(
        {f"procedures/{name}.md": f"---\ntier: procedural\n---\n# {name}" for name in ("read", "changed", "left")}
    )
    house.wait(170)
    house.read("procedures/read.md")
    house.put({"procedures/changed.md": "---\ntier: procedural\n---\n# Anew"})
    house.wait(20)
    assert list(put_to_a_person(house, "unseen")) == ["procedures/left.md"]
    house.wait(160)
    assert len(put_to_a_person(house, "unseen")) == 3


@pytest.mark.parametrize(
    ("standing", "paths"), [("candidate", ["facts/a.md"]), ("supported", []), ("needs_review", [])]
)
def test_a_candidate_that_nobody_used_for_a_month_is_put_to_a_person(
    house: House, standing: str, paths: list[str]
) -> None:
    keys = f"kind: fact\nid: f-000000000000\nfact_kind: decision\nstanding: {standing}\nstatement: Tests come first"
    house.put({"facts/a.md": f"---\n{keys}\nrecorded_at: 2025-11-24T16:00:00Z\n---\nTests come first\n"})
    house.wait(29)
    assert put_to_a_person(house, "unused") == {}
    house.wait(2)
    assert list(put_to_a_person(house, "unused")) == paths


def test_a_candidate_that_was_read_is_in_use(house: House) -> None:
    keys = "kind: fact\nid: f-000000000000\nfact_kind: decision\nstanding: candidate\nstatement: Tests come first"
    house.put({"facts/a.md": f"---\n{keys}\nrecorded_at: 2025-11-24T16:00:00Z\n---\nTests come first\n"})
    house.wait(20)
    house.read("facts/a.md")
    house.wait(20)
    assert put_to_a_person(house, "unused") == {}
    house.wait(11)
    assert put_to_a_person(house, "unused") == {"facts/a.md": "nobody used it since 2025-12-14"}
