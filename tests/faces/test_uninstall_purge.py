"""`uninstall --purge-data` says what goes, what would remain, and how large it is, before anything goes."""

import pytest
from cli_room import Room


@pytest.fixture
def full(room: Room, monkeypatch: pytest.MonkeyPatch) -> Room:
    """A memory with a file of somebody else in it, and an agent whose MCP entry names another data dir."""
    monkeypatch.setenv("PATH", "/nowhere")
    room.ok("write-page", "-p", "notes/a.md", "-b", "# A")
    (room.data_dir / "mine.txt").write_text("x" * 2048)
    other = room.data_dir.parent / "other"
    room.ok("--data-dir", str(other), "init")
    room.ok("--data-dir", str(other), "install-mcp", "--agent", "claude", "--apply")
    return room


def test_what_would_remain_is_listed_with_sizes_and_nothing_goes_without_a_confirmation(full: Room) -> None:
    told = full.json("uninstall", "--purge-data")
    assert (told["needs_confirm"], told["purged"], any(row["goes"] for row in told["data"])) == (True, False, False)
    mine, other = told["remaining"]
    assert (mine["path"], mine["size_bytes"]) == (str(full.data_dir / "mine.txt"), 2048)
    assert other["path"] == str(full.data_dir.parent / "other")
    assert other["size_bytes"] > 1000
    text = full.ok("uninstall", "--purge-data", "--apply")
    assert "--confirm removes it for good" in text
    assert "what would remain, since it is not of this memory:\n      2.0 KB  " in text
    assert (full.data_dir / "wiki").is_dir()


def test_with_a_confirmation_it_says_before_and_after_what_goes_and_what_remains(full: Room) -> None:
    before = full.json("uninstall", "--purge-data", "--confirm")
    assert {row["path"].rpartition("/")[2] for row in before["data"] if not row["goes"]} == {"mine.txt"}
    after = full.ok("uninstall", "--purge-data", "--confirm", "--apply")
    assert "your memory removed" in after
    assert "what remains, since it is not of this memory:" in after
    assert [one.name for one in full.data_dir.iterdir()] == ["mine.txt"]
    assert (full.data_dir.parent / "other" / "wiki").is_dir()


def test_without_purge_data_the_memory_is_told_of_and_stays(full: Room) -> None:
    told = full.json("uninstall")
    assert (told["remaining"], told["needs_confirm"]) == ([], False)
    assert "your memory stays" in full.ok("uninstall")
