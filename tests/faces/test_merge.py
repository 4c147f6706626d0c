"""`merge`: several pages become one, all of it in one commit, and `undo` takes it back."""

import pytest
from cli_room import SESSION, Room

from ai_memory.operations import merging

PAGES = ("notes/a.md", "decisions/b.md")
INTO = ("--into", "concepts/locks.md")


@pytest.fixture
def shop(room: Room) -> Room:
    """Two pages of one matter, and two that link to them."""
    room.ok("write-page", "notes/a.md", "-b", "# Locks\n\nSee [b](../decisions/b.md#why), [c](c.md).", "--tag", "http")
    words = ("--tag", "HTTP", "--tag", "db", "--entity", "sqlite")
    room.ok("write-page", "decisions/b.md", "-b", "# Lock order\n\nWiki first: [[notes/a]].", *words)
    room.ok("set", "decisions/b.md", "--alias", "order of locks")
    room.ok("write-page", "notes/c.md", "-b", "# C\n\nsee [[notes/a|locks]]")
    room.ok("write-page", "till:notes/d.md", "-b", "see [[shop:decisions/b]]")
    room.ok("link", "notes/c.md", "decisions/b.md", "--as", "depends_on")
    room.ok("link", "notes/a.md", "decisions/b.md", "--as", "supports")
    room.ok("link", "notes/a.md", "notes/c.md", "--as", "causes")
    return room


def test_without_confirm_it_is_only_shown(shop: Room) -> None:
    head = shop.git("rev-parse", "HEAD")
    shown = shop.json("merge", *PAGES, *INTO)
    assert (shown["outcome"], shown["is_new"], shown["commit"]) == ("would_merge", True, None)
    assert [(row["path"], row["blocks"]) for row in shown["pages"]] == [("notes/a.md", 1), ("decisions/b.md", 1)]
    assert shop.git("rev-parse", "HEAD") == head
    done = shop.json("merge", *PAGES, *INTO, "--confirm")
    assert (done["outcome"], done["text"], done["pages"]) == ("merged", shown["text"], shown["pages"])


def test_texts_tags_names_and_links_come_together_in_one_commit(shop: Room) -> None:
    commits = len(shop.git("log", "--format=%h").splitlines())
    shop.ok("merge", *PAGES, *INTO, "--confirm")
    assert len(shop.git("log", "--format=%h").splitlines()) == commits + 1
    assert shop.git("status", "--porcelain") == ""
    assert shop.file("concepts/locks.md").read_text() == (
        "---\ntags: [http, db]\naliases: [order of locks, Lock order]\nentities: [sqlite]\n"
        "relations:\n  causes: [notes/c.md]\nsupersedes: [notes/a.md, decisions/b.md]\n---\n"
        "# Locks\n\nSee [b](locks.md#why), [c](../notes/c.md).\n\n"
        "## Lock order\n\nWiki first: [[concepts/locks]].\n"
    )


def test_links_of_all_projects_follow(shop: Room) -> None:
    done = shop.json("merge", *PAGES, *INTO, "--confirm")
    assert [(row["project"], row["path"]) for row in done["relinked"]] == [
        ("shop", "notes/c.md"),
        ("till", "notes/d.md"),
    ]
    page = shop.file("notes/c.md").read_text()
    assert "[[concepts/locks|locks]]" in page
    assert "depends_on: [concepts/locks.md]" in page
    assert "[[shop:concepts/locks]]" in shop.ok("read-page", "till:notes/d.md")
    assert shop.json("status")["counts"]["unresolved_links"] == 0


def test_a_source_is_a_stub_that_leads_on(shop: Room) -> None:
    shop.ok("set", "notes/a.md", "--tier", "procedural")
    shop.ok("merge", *PAGES, *INTO, "--confirm")
    page = shop.json("read-page", "notes/a.md")["pages"][0]
    assert page["body"] == "Merged into [[concepts/locks.md]].\n"
    keys = page["frontmatter"]
    assert (keys["standing"], keys["superseded_by"]) == ("superseded", "concepts/locks.md")
    assert keys["valid_to"] == keys["resolved_at"]
    assert (page["title"], page["tags"], page["tier"]) == ("Locks", [], "procedural")
    assert "relations" not in keys
    found = [row["path"] for row in shop.json("search", "wiki", "first")["hits"]]
    assert (found[0], set(found) & set(PAGES)) == ("concepts/locks.md", set())


def test_undo_takes_it_back_whole(shop: Room) -> None:
    before = shop.git("rev-parse", "HEAD^{tree}")
    shop.ok("merge", *PAGES, *INTO, "--confirm")
    assert shop.git("rev-parse", "HEAD^{tree}") != before
    shop.ok("undo")
    assert shop.git("rev-parse", "HEAD^{tree}") == before


def test_a_page_that_is_there_takes_the_others_in_and_keeps_its_text(shop: Room) -> None:
    shop.ok("write-page", "concepts/locks.md", "-b", "# All locks\n\nText.\n", "--tag", "mine")
    result = shop.json("merge", *PAGES, *INTO, "--title", "Other", "--confirm")
    assert (result["title"], result["tags"]) == ("All locks", ["mine", "http", "db"])
    assert any("keeps its title" in gap for gap in result["gaps"])
    assert "# All locks\n\nText.\n\n## Locks\n" in shop.file("concepts/locks.md").read_text()


def test_one_of_them_may_take_in_the_others(shop: Room) -> None:
    result = shop.json("merge", *PAGES, "--into", "notes/a.md", "--confirm")
    assert [row["path"] for row in result["pages"]] == ["decisions/b.md"]
    assert "superseded_by" not in shop.file("notes/a.md").read_text()


def test_said_again_nothing_changes(shop: Room) -> None:
    shop.ok("merge", *PAGES, *INTO, "--confirm")
    head = shop.git("rev-parse", "HEAD")
    assert shop.json("merge", *PAGES, *INTO, "--confirm")["outcome"] == "unchanged"
    assert shop.git("rev-parse", "HEAD") == head


def test_pinned_pages_are_merged_only_when_that_is_said(shop: Room) -> None:
    shop.ok("set", "notes/a.md", "--pin")
    refusal = shop.json("merge", *PAGES, *INTO, "--confirm", code=5)["error"]
    assert ("notes/a.md" in refusal["message"], "--pinned" in refusal["hint"]) == (True, True)
    shop.ok("merge", *PAGES, *INTO, "--pinned", "--confirm")
    pages = {row["path"]: row["pinned"] for row in shop.json("pages")["pages"]}
    assert (pages["concepts/locks.md"], pages["notes/a.md"]) == (True, False)


def test_a_stub_of_a_rule_is_told_as_no_rule(shop: Room) -> None:
    for name in ("one", "two"):
        shop.ok("write-page", f"_rules/{name}.md", "-b", f"# Rule {name}\n\nDo {name}.")
    shop.ok("merge", "_rules/one.md", "_rules/two.md", "--into", "_rules/all.md", "--confirm")
    assert [row["path"] for row in shop.json("briefing")["rules"]] == ["_rules/all.md"]


def test_a_rule_that_was_replaced_is_no_rule_of_the_briefing(shop: Room) -> None:
    for name in ("old", "new"):
        shop.ok("write-page", f"_rules/{name}.md", "-b", f"# Rule {name}")
    words = ("--as", "superseded", "--by", "_rules/new.md", "--because", "Decided anew")
    shop.ok("resolve", "_rules/old.md", *words)
    assert [row["path"] for row in shop.json("briefing")["rules"]] == ["_rules/new.md"]


def test_what_stands_behind_the_sources_stands_behind_the_page(shop: Room) -> None:
    shop.work()
    shop.ok("write-page", "notes/a.md", "-b", "# Locks\n\nLearnt.", "--session", SESSION)
    shop.ok("write-page", "_rules/x.md", "-b", "# X")
    shop.ok("merge", "notes/a.md", "_rules/x.md", "--into", "_rules/all.md", "--confirm")
    [rule] = shop.json("briefing")["rules"]
    assert (rule["path"], rule["confidence"]["sessions"]) == ("_rules/all.md", 1)


def test_evidence_goes_back_with_an_undo_and_comes_again_with_another(shop: Room) -> None:
    other = "0a0b0c0d-1111-4222-8333-444455556666"
    shop.work()
    shop.work(session=other)
    for path, session in (("_rules/a.md", SESSION), ("_rules/b.md", other), ("_rules/b.md", SESSION)):
        shop.ok("write-page", path, "-b", f"# Rule {path} {session}", "--session", session)

    def sessions() -> int:
        return {row["path"]: row["confidence"]["sessions"] for row in shop.json("briefing")["rules"]}["_rules/a.md"]

    assert sessions() == 1
    shop.ok("merge", "_rules/b.md", "--into", "_rules/a.md", "--confirm")
    assert sessions() == 2
    shop.ok("undo")
    assert sessions() == 1
    shop.ok("undo", shop.git("rev-parse", "HEAD").strip())
    assert sessions() == 2


def test_facts_handoffs_and_what_holds_no_longer_are_refused(shop: Room) -> None:
    fact = shop.json("record", "Deploys run on Thursdays")["facts"][0]["path"]
    handoff = shop.json("handoff", "begin", "-b", "Tax is left.")["handoffs"][0]["path"]
    shop.ok("resolve", "notes/c.md", "--as", "contradicted", "--because", "Measured")
    head = shop.git("rev-parse", "HEAD")
    for name, code, word in ((fact, 2, "resolve"), (handoff, 2, "leave it out"), ("notes/c.md", 5, "replaced")):
        assert word in shop.json("merge", "notes/a.md", name, *INTO, "--confirm", code=code)["error"]["hint"]
    assert shop.json("merge", "notes/a.md", "decisions/b.md", "--into", fact, code=2)["error"]["code"] == "invalid"
    assert shop.git("rev-parse", "HEAD") == head


def test_fewer_than_two_pages_and_a_page_that_is_not_there_are_refused(shop: Room) -> None:
    assert shop.run("merge", "notes/a.md", *INTO).exit_code == 2
    assert shop.run("merge", "notes/a.md", "notes/a.md", *INTO).exit_code == 2
    assert shop.run("merge", "notes/a.md", "--into", "notes/a.md").exit_code == 2
    assert shop.run("merge", "notes/a.md", "notes/none.md", *INTO).exit_code == 3
    assert shop.run("merge", *INTO).exit_code == 2


def test_a_page_that_changes_between_look_and_write_stops_it(shop: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    joined = merging.joined

    def slow(*given: object) -> object:
        shop.ok("append", "notes/a.md", "-b", "Written meanwhile.")
        return joined(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(merging, "joined", slow)
    assert shop.json("merge", *PAGES, *INTO, "--confirm", code=5)["error"]["code"] == "conflict"
    assert "Written meanwhile." in shop.ok("read-page", "notes/a.md")
    assert shop.run("read-page", "concepts/locks.md").exit_code == 3


def test_what_a_page_can_hold_no_more_is_told(shop: Room) -> None:
    for number in range(3):
        words = [word for name in range(8) for word in ("--entity", f"thing {number}{name}")]
        shop.ok("write-page", f"notes/many{number}.md", "-b", f"# Many {number}", *words)
    result = shop.json("merge", *(f"notes/many{number}.md" for number in range(3)), "--into", "notes/all.md")
    assert any("at most 10 entities" in gap and "thing 27" in gap for gap in result["gaps"])


def test_keys_that_no_other_page_takes_over_are_named(shop: Room) -> None:
    shop.file("notes/a.md").write_text("---\nreviewed_by: Ada\n---\n# Locks\n\nText.\n")
    result = shop.json("merge", *PAGES, *INTO, "--confirm")
    assert "notes/a.md: these keys stay on its stub: reviewed_by" in result["gaps"]
    assert "reviewed_by: Ada" in shop.file("notes/a.md").read_text()
