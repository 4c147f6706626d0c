"""`size`: all room is told, parts are made of their parts, what is said to be freed is freed, nothing changes."""

import random
from pathlib import Path
from typing import Any

import pytest
from cli_room import Room

from ai_memory.paths import INDEX_SCHEMA
from ai_memory.store.compacting import repacked, room_of


@pytest.fixture
def shop(room: Room) -> Room:
    """Pages of two projects, one with many versions, and a session."""
    room.ok("write-page", "notes/a.md", "-b", "# A")
    for number in range(12):
        room.ok("append", "notes/a.md", "-b", f"line {number} " + "word " * 200)
    room.ok("write-page", "till:notes/b.md", "-b", "# B")
    room.tell("post-tool-use", tool="Bash", input={"command": "make test"}, output="ok " * 500)
    room.work()
    return room


def by_name(answer: Any) -> dict[str, int]:
    return {row["name"]: row["bytes"] for row in answer["parts"]}


def remedies(answer: Any) -> dict[str, int]:
    return {row["remedy"]: row["frees_bytes"] for row in answer["remedies"]}


def on_disk(root: Path) -> dict[Path, int]:
    return {path: room_of(path) for path in root.rglob("*") if not path.name.endswith("-shm")}


def test_all_room_is_told_and_no_part_is_smaller_than_what_it_is_made_of(shop: Room) -> None:
    answer = shop.json("size")
    parts = by_name(answer)
    assert answer["bytes"] == sum(on_disk(shop.data_dir).values())
    assert answer["bytes"] == sum(size for name, size in parts.items() if "/" not in name)
    for name in ("wiki", "wiki/.git", "state.db", f"index-{INDEX_SCHEMA}.db"):
        below = [one for one in parts if one.startswith(f"{name}/")]
        direct = [one for one in below if not any(one.startswith(f"{other}/") for other in below)]
        assert 0 < sum(parts[one] for one in direct) <= parts[name], name
    assert parts["state.db/observations"] > 1_500


def content(room: Room) -> dict[Path, bytes]:
    """Every file but the ones by which readers of a database agree."""
    files = (path for path in room.data_dir.rglob("*") if path.is_file() and not path.name.endswith("-shm"))
    return {path: path.read_bytes() for path in files}


def test_looking_changes_nothing(shop: Room) -> None:
    shop.json("size")
    before = content(shop)
    shop.json("size")
    assert content(shop) == before


def test_compact_frees_at_least_what_was_said(shop: Room) -> None:
    said = remedies(shop.json("size", "--least", "0"))["ai-memory compact --confirm"]
    before = sum(on_disk(shop.data_dir).values())
    shop.ok("compact", "--confirm")
    assert 0 < said <= before - sum(on_disk(shop.data_dir).values())


def add_stray_object(room: Room, content: bytes) -> None:
    """An object of git that no commit leads to."""
    path = room.checkout / "blob"
    path.write_bytes(content)
    room.git("hash-object", "-w", str(path))


def test_objects_that_nothing_leads_to_are_not_promised(shop: Room) -> None:
    said = shop.json("size", "--least", "0")
    noise = random.Random(7)
    for _ in range(20):
        add_stray_object(shop, noise.randbytes(20_000))
    more = shop.json("size", "--least", "0")
    assert by_name(more)["wiki/.git"] > by_name(said)["wiki/.git"] + 20 * 20_000
    grown = remedies(more)["ai-memory compact --confirm"] - remedies(said)["ai-memory compact --confirm"]
    assert grown < 100_000


def test_without_git_less_is_promised_and_nothing_breaks(shop: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    said = remedies(shop.json("size", "--least", "0"))["ai-memory compact --confirm"]
    monkeypatch.setenv("PATH", str(shop.checkout))
    assert repacked(shop.data_dir / "wiki" / ".git") is None
    assert remedies(shop.json("size", "--least", "0")).get("ai-memory compact --confirm", 0) <= said


def test_a_project_tells_its_pages_and_what_its_sessions_hold(shop: Room) -> None:
    rows = {row["project"]: row for row in shop.json("size")["projects"]}
    assert (rows["shop"]["pages"], rows["shop"]["sessions"], rows["shop"]["observations"]) == (1, 1, 2)
    assert rows["shop"]["observations_bytes"] > 1_500
    assert rows["shop"]["pages_bytes"] == room_of(shop.file("notes/a.md"))
    assert (rows["till"]["pages"], rows["till"]["sessions"]) == (1, 0)


def test_what_may_go_is_named_with_the_room_of_its_files(shop: Room) -> None:
    block = b"x" * 20_000
    old = shop.data_dir / f"index-{INDEX_SCHEMA - 1}.db"
    quarantined = shop.data_dir / "spool" / "quarantine" / "1764000000000000000-1-0a0b0c0d.json"
    quarantined.parent.mkdir(parents=True, exist_ok=True)
    models = shop.data_dir / "models" / "m.onnx"
    models.parent.mkdir()
    for path in (old, quarantined, models):
        path.write_bytes(block)
    backups = shop.data_dir / "backups"
    for _ in range(3):
        shop.ok("backup")
    oldest = sorted(backups.iterdir())[:2]
    ways = remedies(shop.json("size"))
    assert ways[f"remove {old.name}"] == room_of(old)
    assert ways["remove models"] >= room_of(models)
    assert ways["ai-memory quarantine drop --all --confirm"] == room_of(quarantined)
    assert ways["ai-memory backup --keep 1"] == sum(map(room_of, oldest))


def test_small_gains_are_left_out_unless_they_are_wanted(shop: Room) -> None:
    assert remedies(shop.json("size", "--least", "999999999")) == {}
    text = shop.ok("size", "--least", "999999999")
    assert "nothing to gain that is worth it" in text


def test_a_person_sees_a_tree_with_bars(shop: Room) -> None:
    lines = shop.ok("size").splitlines()
    assert lines[0].startswith(str(shop.data_dir))
    assert lines[0].endswith("#" * 20)
    assert any(line.startswith("  wiki ") for line in lines)
    assert any(line.startswith("    .git ") for line in lines)
    assert any(line.startswith("  default/shop · 1 pages, ") for line in lines)
    assert any(line.startswith("  ai-memory compact --confirm · frees at least ") for line in lines)


def test_many_projects_are_folded_for_a_person_and_listed_for_a_program(room: Room) -> None:
    for number in range(12):
        room.ok("write-page", f"p{number}:notes/a.md", "-b", "x")
    text = room.ok("size")
    assert "more: --json lists all" in text
    assert sum("wiki/default/p" in row["name"] for row in room.json("size")["parts"]) == 12


def test_a_database_that_cannot_be_read_is_a_gap(shop: Room) -> None:
    (shop.data_dir / "cache.db").write_bytes(b"no database" * 1_000)
    answer = shop.json("size")
    assert any(gap.startswith("cache.db could not be read") for gap in answer["gaps"])
    assert by_name(answer)["cache.db"] == room_of(shop.data_dir / "cache.db")


def test_without_a_memory_there_is_no_size_and_none_is_made(room: Room) -> None:
    assert (room.json("size")["bytes"], room.json("size")["parts"]) == (0, [])
    assert not room.data_dir.exists()
