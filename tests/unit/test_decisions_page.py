"""docs/decisions.md and the code know the same numbers, and comments name no document that is not here."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
FILES = sorted((ROOT / "ai_memory").rglob("*.py"))
LISTED = re.findall(r"^- \*\*([A-D]\d+)\.\*\* ", (ROOT / "docs" / "decisions.md").read_text(encoding="utf-8"), re.M)

_CITED = re.compile(r"\bdecisions? ([A-D]\d*\b(?:(?:,| and| to)? [A-D]\d+\b)*)", re.IGNORECASE)
_ELSEWHERE = re.compile(
    r"\bfacts (?:on|about) (?:hooks|pages)|\bfacts \d|\bdesign (?:section )?\d|\bissue \d|\brule \d+ of|\bprototypes?\b"
    r"|(?<![\w&])#\d{2,4}\b",
    re.IGNORECASE,
)


def cited(text: str) -> set[str]:
    """The numbers that a text names, also over the end of a line."""
    flat = " ".join(text.split())
    return {number for match in _CITED.finditer(flat) for number in re.findall(r"[A-D]\d*", match[1])}


def test_every_decision_that_the_code_cites_is_on_the_page() -> None:
    unknown = {
        (file.name, number) for file in FILES for number in cited(file.read_text(encoding="utf-8")) - set(LISTED)
    }
    assert sorted(unknown) == []


def test_every_decision_on_the_page_is_cited_and_stands_there_once_in_order() -> None:
    numbers = set().union(*(cited(file.read_text(encoding="utf-8")) for file in FILES))
    assert [number for number in LISTED if number not in numbers] == []
    assert sorted(set(LISTED), key=lambda one: (one[0], int(one[1:]))) == LISTED


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("(decision A6)", {"A6"}),
        ("Decision\n    B12: why", {"B12"}),
        ("decisions B1, B4 and C2", {"B1", "B4", "C2"}),
        ("decision B4 for this, C10 for that", {"B4"}),
        ("decisions B; x", {"B"}),
        ("the page decisions/a.md", set()),
    ],
)
def test_a_citation_is_read_in_every_form(text: str, numbers: set[str]) -> None:
    assert cited(text) == numbers


def test_no_comment_names_a_document_that_is_not_here() -> None:
    found = [
        f"{file.name}:{number}: {line.strip()}"
        for file in FILES
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if _ELSEWHERE.search(line)
    ]
    assert found == []
