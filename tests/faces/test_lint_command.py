"""`lint`, `curator` and `memory_lint` as a person and an agent meet them."""

from collections.abc import Iterator

import pytest
from bridge_client import RawClient
from cli_room import Room


@pytest.fixture
def rotten(room: Room) -> Room:
    room.ok("write-page", "notes/a.md", "-b", "# A\n\n[[notes/gone]]")
    room.ok("write-page", "notes/none.md", "-b", "")
    room.ok("write-page", "till:notes/b.md", "-b", "# B", "--project", "till")
    return room


def kinds(room: Room, *words: str) -> list[tuple[str, str]]:
    return [(row["kind"], row["path"]) for row in room.json("lint", *words)["findings"]]


def test_a_clean_memory_says_so(room: Room) -> None:
    room.ok("write-page", "notes/a.md", "-b", "# A\n\n[[notes/b]]")
    room.ok("write-page", "notes/b.md", "-b", "# B")
    assert room.ok("lint") == "nothing is amiss in 2 pages\n"
    assert room.json("lint")["found"] == 0


def test_a_command_looks_at_all_projects_unless_one_is_named(rotten: Room) -> None:
    assert rotten.json("lint")["scope"] is None
    assert ("orphan", "notes/b.md") in kinds(rotten)
    assert kinds(rotten) == kinds(rotten, "--all")
    assert kinds(rotten, "--project", "till") == [("orphan", "notes/b.md")]
    assert rotten.json("lint", "--project", "till")["scope"]["project"] == "till"


def test_the_worst_comes_first_and_what_is_left_out_is_counted(rotten: Room) -> None:
    rotten.file("notes/key.md").write_text("ghp_abcdefghijklmnopqrstuvwxyz0123456789")
    told = kinds(rotten)  # what was written by hand is taken first
    assert told[0] == ("secret", "notes/key.md")
    assert {kind for kind, _ in told[1:3]} == {"broken_link", "empty"}
    answer = rotten.json("lint", "-n", "1")
    assert (len(answer["findings"]), answer["omitted"]) == (1, len(told) - 1)
    assert sum(answer["counts"].values()) == len(told)
    assert kinds(rotten, "--severity", "error") == told[:1]
    assert kinds(rotten, "--kind", "empty", "--kind", "secret") == [told[0], ("empty", "notes/none.md")]


def test_what_is_asked_for_and_not_there_is_no_clean_memory(rotten: Room) -> None:
    found = rotten.json("lint")["found"]
    told = rotten.ok("lint", "--severity", "error")
    assert told == f"nothing of that kind in 3 pages; {found} findings are milder or were told before\n"


def test_each_finding_has_a_line_and_a_fix_and_the_end_says_what_mends_itself(rotten: Room) -> None:
    lines = rotten.ok("lint").splitlines()
    assert lines[0] == "warning broken_link: default/shop:notes/a.md links to notes/gone.md, which is not there"
    assert lines[1] == "        fix: ai-memory edit default/shop:notes/a.md"
    assert lines[-1].endswith("; 1 of them `ai-memory lint --fix` mends; docs/lint.md says what each means")


def test_a_fix_says_what_it_did_and_how_to_take_it_back(rotten: Room) -> None:
    told = rotten.ok("lint", "--fix").splitlines()
    assert told[0] == "mended: default/shop:notes/none.md was removed: it said nothing"
    assert told[1].startswith("undo it with: ai-memory undo ")
    rotten.ok(*told[1].split("ai-memory ")[1].split())
    assert ("empty", "notes/none.md") in kinds(rotten)


def test_who_takes_back_what_lint_mended_is_told_that_secrets_are_back(rotten: Room) -> None:
    rotten.ok("lint", "--fix")
    assert rotten.json("undo")["gaps"] == [
        "what lint mended is back, secrets too: `ai-memory lint` tells what there is"
    ]


def test_rows_come_as_a_table_where_that_is_asked_for(rotten: Room) -> None:
    assert "broken_link" in rotten.ok("lint", "--format", "table")


def test_the_curator_tells_of_one_project_by_its_own_keys(rotten: Room) -> None:
    rotten.ok("write-page", "notes/other.md", "-b", "# a\n\n[[nowhere:notes/x]]")
    answer = rotten.json("curator")
    keys = ("workspace", "project", "generated_at", "dry_run", "summary", "params", "findings")
    assert set(keys) <= set(answer)
    assert (answer["workspace"], answer["project"], answer["dry_run"]) == ("default", "shop", True)
    assert answer["summary"] == {
        "cold_episodic": 0,
        "stale_slot": 0,
        "duplicate_title": 1,
        "dangling_cross_project_link": 1,
    }
    assert answer["params"]["cold_threshold"] == 0.2
    assert [row["kind"] for row in answer["findings"]] == ["duplicate_title", "dangling_cross_project_link"]
    assert [one["path"] for one in answer["findings"][0]["pages"]] == ["notes/a.md", "notes/other.md"]
    assert "1 duplicate_title" in rotten.ok("curator")


def test_the_curator_tells_at_most_so_many_of_a_kind(room: Room) -> None:
    for number in range(4):
        room.ok("write-page", f"notes/{number}.md", "-b", f"# N{number}\n\n[[nowhere:x{number}]]")
    answer = room.json("curator", "-n", "3")
    assert (len(answer["findings"]), answer["omitted"]) == (3, 1)
    assert answer["summary"]["dangling_cross_project_link"] == 4


@pytest.fixture
def client(rotten: Room) -> Iterator[RawClient]:
    with RawClient.forked(["--data-dir", str(rotten.data_dir), "--profile", "full"], cwd=rotten.checkout) as opened:
        opened.greet()
        yield opened


def test_an_agent_is_told_of_its_own_project_in_a_fence(client: RawClient) -> None:
    text = client.call(2, "memory_lint")["content"][0]["text"]
    assert "broken_link: notes/a.md links to notes/gone.md" in text
    assert "notes/b.md" not in text
    assert text.startswith("<!-- ai-memory:untrusted-history:start -->")


def test_an_agent_may_ask_for_kinds_and_may_not_mend(client: RawClient) -> None:
    text = client.call(2, "memory_lint", kind=["empty"])["content"][0]["text"]
    assert "empty" in text
    assert "broken_link" not in text
    assert client.call(3, "memory_lint", fix=True)["isError"]
