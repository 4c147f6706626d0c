"""What is known of a matter, over time, and what rests on it; links with kinds."""

from typing import Any

import pytest
from cli_room import Room

RULE = "Deploys of the till run on Thursdays"


def new(room: Room, statement: str, *words: str) -> dict[str, Any]:
    first: dict[str, Any] = room.json("record", statement, *words)["facts"][0]
    return first


def known(room: Room, question: str, *words: str) -> list[str]:
    return [item["statement"] for item in room.json("context", question, *words)["items"]]


def test_a_fact_answers_with_how_it_stands_and_what_supports_it(room: Room) -> None:
    (room.checkout / "deploy.yml").write_text("on:\n  schedule: deploys run on Thursdays\n")
    fact = new(room, RULE, "--kind", "decision", "--cite", "deploy.yml#L2")
    room.ok("write-page", "notes/deploys.md", "-b", "# Deploys\n\nThe till deploys from main.")
    answer = room.json("context", "when do deploys of the till run")
    first = answer["items"][0]
    assert (answer["status"], first["id"], first["statement"]) == ("ok", fact["id"], RULE)
    assert (first["kind"], first["standing"], first["provenance"]) == ("decision", "supported", ["observed"])
    assert {item["id"] for item in answer["items"]} == {fact["id"], ""}
    assert known(room, "deploys", "--kind", "decision") == [RULE]
    assert fact["id"] in room.ok("context", "when do deploys run")


def test_what_nothing_answers_is_said(room: Room) -> None:
    new(room, RULE)
    answer = room.json("context", "who tunes the grand piano")
    assert (answer["status"], answer["items"]) == ("abstained", [])
    assert "piano" in " ".join(answer["gaps"])
    assert room.ok("context", "who tunes the grand piano").startswith("nothing relevant is known")


def test_a_first_item_larger_than_the_room_is_shortened_and_marked(room: Room) -> None:
    long = "Deploys of the till run on Thursdays, " + "since the ledger is closed then and the team is there, " * 30
    new(room, long)
    answer = room.json("context", "when do deploys of the till run", "--max-bytes", "1024")
    [item] = answer["items"]
    assert (answer["status"], item["is_cut"]) == ("partial", True)
    assert item["statement"].startswith("Deploys of the till run on Thursdays")
    assert len(str(item).encode()) < 1400


def test_other_times_have_other_answers(room: Room) -> None:
    old = new(room, RULE, "--valid-from", "2026-01-01")
    room.ok("record", "Deploys of the till run on Mondays", "--supersedes", old["id"], "--valid-from", "2099-01-01")
    assert known(room, "when do deploys of the till run") == [RULE]
    assert known(room, "when do deploys of the till run", "--as-of", "2099-02-01") == [
        "Deploys of the till run on Mondays"
    ]
    assert known(room, "when do deploys of the till run", "--as-of", "2025-02-01") == []
    assert known(room, "when do deploys of the till run", "--known-at", "2000-01-01") == []
    hits = room.json("search", "deploys of the till", "--as-of", "2099-02-01")["hits"]
    assert [hit["title"] for hit in hits] == ["Deploys of the till run on Mondays"]
    assert len(room.json("search", "deploys of the till", "--include-superseded")["hits"]) == 2
    assert "replaced on 2099-01-01T00:00:00Z" in room.ok("context", "when do deploys run")


def test_an_ordinary_page_may_say_when_it_holds(room: Room) -> None:
    room.ok(
        "write-page", "notes/herons.md", "-b", "---\nvalid_from: 2026-05-01\nvalid_to: 2026-06-01\n---\n# Herons wade\n"
    )
    assert room.json("search", "herons", "--as-of", "2026-05-31T23:59:59Z")["hits"]
    for day in ("2026-04-30", "2026-06-01"):
        assert room.json("search", "herons", "--as-of", day)["hits"] == []


@pytest.mark.parametrize("head", ["supersedes: notes/old.md", "relations:\n  supersedes: [notes/old.md]"])
def test_a_page_that_says_what_it_supersedes_hides_it(room: Room, head: str) -> None:
    room.ok("write-page", "notes/old.md", "-b", "# Old herons")
    room.ok("write-page", "notes/new.md", "-b", f"---\n{head}\n---\n# New herons\n")
    assert [hit["path"] for hit in room.json("search", "herons")["hits"]] == ["notes/new.md"]
    room.ok("move", "notes/old.md", "notes/older.md")
    assert [hit["path"] for hit in room.json("search", "herons")["hits"]] == ["notes/new.md"]
    assert "notes/older.md" in room.file("notes/new.md").read_text()
    room.ok("write-page", "notes/older.md", "-b", "---\nsupersedes: notes/new.md\n---\n# Old herons\n")
    assert len(room.json("search", "herons")["hits"]) == 2  # each says so of the other: none is hidden


# --- timeline and impact ---


def test_the_timeline_of_an_entity_has_every_turn(room: Room) -> None:
    old = new(room, RULE, "--entity", "Till", "--valid-from", "2026-01-01")
    room.ok("record", "Deploys of the till run on Mondays", "--supersedes", old["id"], "--entity", "till")
    entries = room.json("timeline", "till")["entries"]
    assert [(entry["event"], entry["standing"]) for entry in entries] == [
        ("begins", "superseded"),
        ("recorded", "superseded"),
        ("ends", "superseded"),
        ("recorded", "needs_review"),
    ]
    assert [entry["at"] for entry in entries] == sorted(entry["at"] for entry in entries)
    room.json("timeline", "herons", code=3)


def test_the_timeline_of_a_page_has_its_versions_also_when_it_is_gone(room: Room) -> None:
    room.ok("write-page", "notes/a.md", "-b", "# A")
    room.ok("write-page", "notes/a.md", "-b", "# Another")
    room.ok("delete-page", "notes/a.md")
    entries = room.json("timeline", "notes/a.md")["entries"]
    assert [entry["event"] for entry in entries] == ["created", "changed", "deleted"]


def test_a_path_of_which_nothing_is_known_is_told_as_such(room: Room) -> None:
    room.ok("init")
    assert room.ok("timeline", "src/a.py").startswith("nothing is known of it")
    assert room.json("timeline", "src/a.py")["entries"] == []


def test_what_rests_on_a_fact_is_found_through_others(room: Room) -> None:
    fact = new(room, RULE)
    for name in ("rota", "pager", "free"):
        room.ok("write-page", f"notes/{name}.md", "-b", f"# {name}")
    room.ok("link", "notes/rota.md", fact["id"], "--as", "depends_on")
    room.ok("link", "notes/pager.md", "notes/rota.md", "--as", "derived_from")
    room.ok("link", "notes/free.md", fact["id"], "--as", "contradicts")
    rows = room.json("impact", fact["id"])["pages"]
    assert [(row["path"], row["distance"], row["via"]) for row in rows] == [
        ("notes/rota.md", 1, "depends_on"),
        ("notes/pager.md", 2, "derived_from"),
    ]
    assert len(room.json("impact", fact["id"], "--depth", "1")["pages"]) == 1
    assert room.ok("impact", "notes/pager.md").startswith("nothing rests on")
    room.json("impact", "f-000000000000", code=3)


# --- links ---


def test_a_link_is_shown_from_both_ends_once_and_taken_away(room: Room) -> None:
    room.ok("write-page", "notes/a.md", "-b", "---\nowner: me # mine\n---\n# A\n")
    room.ok("write-page", "notes/b.md", "-b", "# B")
    assert room.json("link", "notes/a.md", "notes/b.md", "--as", "supports")["outcome"] == "linked"
    assert room.json("link", "notes/a.md", "notes/b.md", "--as", "supports")["outcome"] == "unchanged"
    room.ok("link", "notes/a.md", "notes/b.md", "--as", "fixes")
    assert {row["via"] for row in room.json("related", "notes/b.md")["pages"]} <= {"supported_by", "fixed_by"}
    assert room.json("unlink", "notes/a.md", "notes/b.md", "--as", "fixes")["outcome"] == "unlinked"
    assert room.json("unlink", "notes/a.md", "notes/b.md")["links"][0]["kind"] == "supports"
    assert room.json("unlink", "notes/a.md", "notes/b.md")["outcome"] == "unchanged"
    assert room.file("notes/a.md").read_text() == "---\nowner: me # mine\n---\n# A\n"


def test_a_link_needs_two_pages_that_are_there(room: Room) -> None:
    room.ok("write-page", "notes/a.md", "-b", "# A")
    room.json("link", "notes/a.md", "notes/gone.md", "--as", "supports", code=3)
    room.json("link", "notes/gone.md", "notes/a.md", "--as", "supports", code=3)
    room.json("link", "notes/a.md", "notes/a.md", "--as", "supports", code=2)
    room.json("link", "notes/a.md", "notes/a.md", "--as", "likes", code=2)


def test_relations_that_a_person_wrote_stay(room: Room) -> None:
    room.ok("write-page", "notes/b.md", "-b", "# B")
    room.ok("write-page", "notes/a.md", "-b", '---\nrelations:\n  Depends-On: "[[notes/c]]"\n  likes: [x]\n---\n# A\n')
    room.ok("link", "notes/a.md", "notes/b.md", "--as", "depends_on")
    page = room.json("read-page", "notes/a.md")["pages"][0]
    assert page["frontmatter"]["relations"] == {"Depends-On": ["[[notes/c]]", "notes/b.md"], "likes": ["x"]}
