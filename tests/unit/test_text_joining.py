"""Bodies joined to one: nothing is lost, nothing is said twice in one place, headings keep their order."""

from hypothesis import given
from hypothesis import strategies as st

from ai_memory.text.joining import JoinedPart, Part, join_bodies
from ai_memory.text.outline import Leaf, outline

BLOCKS = [
    "Take the lock.",
    "Rules:\n- one\n- two",
    "- one\n- two\n  more",
    "1. first\n2. second",
    "> quoted\n> twice",
    "```sh\nmake test\n\n# no heading\n```",
    "    indented code",
    "## Why\n\nDeadlocks.",
    "Under\n---\n\nA line.",
    "# Top\n\nA line.",
    "***",
    "# Nothing\n\n## beneath",
    "| a | b |\n|---|---|\n| 1 | 2 |",
]
BODIES = st.lists(st.sampled_from(BLOCKS), max_size=6).map("\n\n".join)


def words(text: str) -> set[str]:
    return {word for word in text.split() if any(map(str.isalnum, word))}


@given(BODIES, st.lists(BODIES, max_size=4))
def test_every_word_of_every_body_is_in_the_whole(base: str, bodies: list[str]) -> None:
    parts = [Part(f"Part {number}", body) for number, body in enumerate(bodies)]
    joined = join_bodies("Whole", base, parts)
    assert joined.body.startswith(base.rstrip())
    assert words(base).union(*map(words, bodies)) <= words(joined.body)


@given(BODIES, BODIES)
def test_a_body_that_stands_there_already_adds_nothing(base: str, body: str) -> None:
    once = join_bodies("Whole", base, [Part("Part", body)])
    twice = join_bodies("Whole", base, [Part("Part", body), Part("Part again", body)])
    assert (twice.body, twice.parts[1].added) == (once.body, 0)


def test_a_part_stands_under_its_title_and_its_headings_beneath() -> None:
    body = "# Locks\n\nTake one.\n\n## Why\n\nDeadlocks.\n\nHow\n===\n\nBy name.\n"
    assert join_bodies("Whole", "# Whole\n", [Part("Locks", body)]).body == (
        "# Whole\n\n## Locks\n\nTake one.\n\n#### Why\n\nDeadlocks.\n\n### How\n\nBy name.\n"
    )


def test_a_part_that_is_called_as_the_whole_needs_no_heading_while_there_is_none() -> None:
    parts = [Part("Locks", "# Locks\n\nTake one.\n"), Part("Tills", "Count."), Part("Locks", "Give it back.")]
    assert join_bodies("Locks", "# Locks\n", parts).body == (
        "# Locks\n\nTake one.\n\n## Tills\n\nCount.\n\n## Locks\n\nGive it back.\n"
    )


def test_what_is_said_in_another_place_is_said_again() -> None:
    base = "# Disks\n\n## On Linux\n\nIt fails.\n"
    joined = join_bodies("Disks", base, [Part("More", "## On macOS\n\nIt fails.\n\n## On Linux\n\nIt  fails.\n")])
    assert joined.body == f"{base}\n## More\n\n### On macOS\n\nIt fails.\n"
    assert joined.parts == (JoinedPart(1, 1),)


def test_bullets_go_one_by_one_and_numbered_lists_whole() -> None:
    base = "Rules:\n- a\n- b\n\n1. x\n2. y\n"
    joined = join_bodies("T", base, [Part("P", "Rules:\n- a\n- c\n- d\n\n1. x\n2. z\n")])
    assert joined.body == f"{base}\n## P\n\nRules:\n- c\n- d\n\n1. x\n2. z\n"


def test_code_that_nobody_closed_takes_in_no_other_page() -> None:
    joined = join_bodies("T", "# T\n\n```\nopen\n", [Part("P", "~~~\nopen, too"), Part("Q", "Text.")])
    kinds = [block.kind for block in outline(joined.body)]
    assert kinds == [Leaf.HEADING, Leaf.FENCE, Leaf.HEADING, Leaf.FENCE, Leaf.HEADING, Leaf.PARAGRAPH]


def test_line_ends_are_those_of_the_base() -> None:
    joined = join_bodies("T", "# T\r\n\r\nOne.\r\n", [Part("P", "Two.\n\nThree.\r\n")])
    assert joined.body == "# T\r\n\r\nOne.\r\n\r\n## P\r\n\r\nTwo.\r\n\r\nThree.\r\n"


def test_a_label_that_leads_elsewhere_already_gets_another_name() -> None:
    base = "See [one][1], [why] and a note[^n].\n\n[1]: a.md\n[why]: w.md\n[^n]: First.\n"
    body = (
        "See [two][1], [1], [Why], [why](x.md), `[1]`, [[1]] and a note[^n].\n\n[1]: b.md\n[why]: v.md\n[^n]: Second.\n"
    )
    joined = join_bodies("T", base, [Part("P", body)]).body
    assert joined.removeprefix(base) == (
        "\n## P\n\nSee [two][1-2], [1][1-2], [Why][why-2], [why](x.md), `[1]`, [[1]] and a note[^n-2].\n\n"
        "[1-2]: b.md\n[why-2]: v.md\n[^n-2]: Second.\n"
    )


def test_a_label_that_leads_to_the_same_place_keeps_its_name() -> None:
    base = "See [one][1].\n\n[1]: a.md\n"
    joined = join_bodies("T", base, [Part("P", "Also [one][1].\n\n[1]: a.md\n")]).body
    assert joined == f"{base}\n## P\n\nAlso [one][1].\n"


def test_labels_of_three_bodies_lead_where_each_of_them_says() -> None:
    parts = [Part(f"P{number}", f"[x][1]\n\n[1]: {number}.md\n") for number in range(3)]
    joined = join_bodies("T", "", parts).body
    assert [line for line in joined.splitlines() if line.endswith(".md")] == ["[1]: 0.md", "[1-2]: 1.md", "[1-3]: 2.md"]
    assert [line for line in joined.splitlines() if line.startswith("[x]")] == ["[x][1]", "[x][1-2]", "[x][1-3]"]
