"""`reorg` and `audit-contamination`: sessions are found where their folders lead today."""

import subprocess
from pathlib import Path

from cli_room import SESSION, Room

OTHER = "7d3f0a5e-2222-4222-8333-444455556666"


def set_remote(room: Room, url: str) -> None:
    subprocess.run(["git", "-C", str(room.checkout), "init", "-q"], check=True)
    known = subprocess.run(["git", "-C", str(room.checkout), "remote"], capture_output=True, text=True, check=True)
    word = "set-url" if known.stdout.strip() else "add"
    subprocess.run(["git", "-C", str(room.checkout), "remote", word, "origin", url], check=True)


def end(room: Room, session: str = SESSION, **more: object) -> None:
    room.tell("user-prompt", session=session, text="Mend the retry budget.", **more)
    room.tell("session-end", session=session, **more)
    room.drain()


def ids(room: Room) -> dict[str, str]:
    return {row["project"]: row["id"] for row in room.json("list-projects")["projects"]}


def placed(room: Room) -> dict[str, str]:
    return {row["id"]: row["project"] for row in room.json("sessions", "--all")["sessions"]}


def test_in_order_nothing_is_found(room: Room) -> None:
    set_remote(room, "https://example.org/acme/shop.git")
    end(room)
    assert room.json("reorg", "--confirm")["outcome"] == "unchanged"
    answer = room.json("audit-contamination")
    assert (answer["findings"], answer["sessions"], answer["gone"]) == ([], 1, 0)


def test_a_project_follows_its_repository_to_another_remote(room: Room) -> None:
    set_remote(room, "https://example.org/acme/shop.git")
    end(room)
    before = ids(room)
    set_remote(room, "https://example.org/corp/store.git")
    shown = room.json("reorg")
    assert [(row["old"], row["new"]) for row in shown["projects"]] == [("default/acme-shop", "default/corp-store")]
    assert ids(room) == before
    room.ok("reorg", "--confirm")
    assert ids(room) == {"corp-store": before["acme-shop"]}
    [row] = room.json("list-projects")["projects"]
    assert (row["identity"], row["former_names"]) == ("example.org/corp/store", ["acme-shop"])
    assert room.json("reorg", "--confirm")["outcome"] == "unchanged"
    end(room, OTHER)
    assert set(placed(room).values()) == {"corp-store"}


def test_what_was_captured_since_under_another_name_is_joined(room: Room) -> None:
    set_remote(room, "https://example.org/acme/shop.git")
    end(room)
    set_remote(room, "https://example.org/corp/store.git")
    end(room, OTHER)
    assert placed(room) == {SESSION: "acme-shop", OTHER: "corp-store"}
    [finding] = room.json("audit-contamination")["findings"]
    assert (finding["kind"], finding["subject"], finding["belongs_to"]) == (
        "session-elsewhere",
        SESSION,
        "default/corp-store",
    )
    room.ok("reorg", "--confirm")
    assert placed(room) == {SESSION: "corp-store", OTHER: "corp-store"}
    assert set(ids(room)) == {"corp-store"}
    assert room.json("audit-contamination")["findings"] == []


def test_a_session_that_was_put_elsewhere_moves_alone(room: Room, tmp_path: Path) -> None:
    elsewhere = tmp_path / "till"
    elsewhere.mkdir()
    (elsewhere / ".ai-memory.toml").write_text('workspace = "default"\nproject = "shop"\n')
    end(room)
    end(room, OTHER, cwd=str(elsewhere))
    assert placed(room) == {SESSION: "shop", OTHER: "shop"}
    (elsewhere / ".ai-memory.toml").unlink()
    [finding] = room.json("audit-contamination")["findings"]
    assert (finding["subject"], finding["belongs_to"]) == (OTHER, "default/till")
    room.ok("reorg", "--confirm")
    assert placed(room) == {SESSION: "shop", OTHER: "till"}
    pages = {(row["project"], row["path"].partition("/")[0]) for row in room.json("pages", "--all")["pages"]}
    assert pages == {(project, kind) for project in ("shop", "till") for kind in ("handoffs", "sessions")}


def test_a_folder_that_is_gone_tells_nothing(room: Room, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    end(room, cwd=str(gone))
    gone.rmdir()
    assert room.json("reorg", "--confirm")["outcome"] == "unchanged"
    answer = room.json("audit-contamination")
    assert (answer["findings"], answer["gone"]) == ([], 1)
    assert "of 1 the folder is gone" in room.ok("audit-contamination")


def test_a_page_of_a_session_in_another_project_is_found(room: Room) -> None:
    end(room)
    room.ok("write-page", "till:notes/a.md", "-b", "# A")
    [page] = [row["path"] for row in room.json("pages")["pages"] if row["path"].startswith("sessions/")]
    room.ok("move", page, f"till:{page}")
    [finding] = room.json("audit-contamination")["findings"]
    assert (finding["kind"], finding["project"], finding["belongs_to"]) == ("page-elsewhere", "till", "default/shop")
