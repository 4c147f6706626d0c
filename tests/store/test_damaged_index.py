"""The index is disposable: whatever lies in its file, nothing waits for it, and at most one answer is refused."""

import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from crash_driver import assert_index_is_as_rebuilt
from in_process import run
from wiki_room import WikiRoom, ref

from ai_memory.store import driver
from ai_memory.store.reading import DamagedIndex

COMMANDS = (
    ("write-page", "notes/new.md", "--body", "# New\n\nzebra"),
    ("status",),
    ("read-page", "notes/a.md"),
    ("search", "three"),
    ("append", "notes/b.md", "--body", "appended"),
    ("reindex",),
    ("drain",),
)
PAGES = "# {0}\n\none\ntwo\nthree [[notes/b]]\n\n## Part\n\n" + "further words of page {0}\n" * 120


@pytest.fixture
def sound(tmp_path: Path, person: str) -> WikiRoom:
    """A wiki whose index has everything in its one file: pages, links, a folder in order, a missing page."""
    assert person
    room = WikiRoom(tmp_path)
    for name in "abcd":
        room.put(f"notes/{name}.md", PAGES.format(name))
    room.file("notes/d.md").unlink()
    room.adopt()
    fold_log(room)
    return room


def fold_log(room: WikiRoom) -> None:
    with closing(driver.connect(room.data_dir.index)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def damaged(sound: WikiRoom, damage: Callable[[bytearray], None]) -> WikiRoom:
    """The same data dir once more, its index damaged."""
    room = WikiRoom(sound.root / "other", sound.clock)
    shutil.rmtree(room.root, ignore_errors=True)
    room.root.mkdir()
    shutil.copytree(sound.data_dir.root, room.data_dir.root)
    content = bytearray(sound.data_dir.index.read_bytes())
    damage(content)
    room.data_dir.index.write_bytes(content)
    return room


def page_size(room: WikiRoom) -> int:
    return int.from_bytes(room.data_dir.index.read_bytes()[16:18], "big")


def zeroed_pages(room: WikiRoom) -> Iterator[Callable[[bytearray], None]]:
    size = page_size(room)
    for start in range(0, room.data_dir.index.stat().st_size, size):

        def zero(content: bytearray, start: int = start) -> None:
            content[start : start + size] = bytes(size)

        yield zero


def check(room: WikiRoom, capsys: pytest.CaptureFixture[str], first: int, what: object) -> None:
    """Every command, from the `first` on: refused once at most, and right then."""
    refused = 0
    for words in (*COMMANDS[first:], *COMMANDS[:first]):
        code, out, err = run(room, capsys, words)
        told = (what, words, code, out, err)
        assert code in (0, 1), told
        if code:
            assert "index was damaged" in err, told
            refused += 1
            code, out, err = run(room, capsys, words)
            assert code == 0, (what, words, code, out, err)
        assert not room.data_dir.pending.exists(), told
        if words[0] == "search":
            assert "notes/a.md" in out, told
        if words[0] == "read-page":
            assert PAGES.format("a") in out, told
    assert refused <= 1, what
    assert room.text("notes/new.md") == "# New\n\nzebra\n"
    assert (room.text("notes/b.md") or "").endswith("\n\nappended\n")
    assert_index_is_as_rebuilt(room.data_dir.root)


def test_an_index_with_any_page_of_it_zeroed_costs_at_most_one_refusal(
    sound: WikiRoom, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(sound.root)
    for number, zero in enumerate(zeroed_pages(sound)):
        check(damaged(sound, zero), capsys, number % len(COMMANDS), f"page {number + 1}")


@pytest.mark.slow
def test_an_index_with_bytes_changed_at_random_stops_nothing_and_a_rebuild_mends_it(
    sound: WikiRoom, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(sound.root)
    for seed in range(8):
        check_random(sound, capsys, seed)


def check_random(sound: WikiRoom, capsys: pytest.CaptureFixture[str], seed: int) -> None:
    dice = random.Random(seed)

    def scribble(content: bytearray) -> None:
        for _ in range(dice.choice((1, 5, 40))):
            length = dice.choice((1, 4, 60, 900))
            start = dice.randrange(len(content) - length)
            content[start : start + length] = dice.randbytes(length)

    room = damaged(sound, scribble)
    for words in dice.sample(COMMANDS, len(COMMANDS)):
        code, out, err = run(room, capsys, words)
        told = (seed, words, code, out, err)
        assert code == 0 or (code == 1 and "index was damaged" in err), told
        if code:
            code, out, err = run(room, capsys, words)
            assert code == 0, (seed, words, code, out, err)
        assert words[0] != "read-page" or PAGES.format("a") in out, told
        assert not room.data_dir.pending.exists(), told
    assert run(room, capsys, ("reindex",))[0] == 0
    assert_index_is_as_rebuilt(room.data_dir.root)


def test_a_writer_whose_index_breaks_under_it_clears_its_log_and_leaves_a_sound_one(sound: WikiRoom) -> None:
    def zero_all_but_the_first_page(step: str) -> None:
        if step == "ref":
            size = page_size(sound)
            content = sound.data_dir.index.read_bytes()
            sound.data_dir.index.write_bytes(content[:size] + bytes(len(content) - size))

    sound.put("notes/a.md", "done\n", step=zero_all_but_the_first_page)
    assert not sound.data_dir.pending.exists()
    assert_index_is_as_rebuilt(sound.data_dir.root)


def test_a_reader_who_finds_damage_leaves_an_index_alone_that_came_meanwhile(sound: WikiRoom) -> None:
    with pytest.raises(DamagedIndex, match="run the command again"), sound.memory().reading():
        sound.data_dir.index.unlink()
        sound.put("notes/a.md", "anew\n")
        made = sound.data_dir.index.stat().st_ino
        raise driver.DatabaseError("database disk image is malformed")
    assert sound.data_dir.index.stat().st_ino == made


def test_a_wrong_question_costs_no_index(sound: WikiRoom) -> None:
    with pytest.raises(driver.OperationalError, match="syntax"), sound.memory().reading() as snapshot:
        snapshot.index.execute("SELECT FROM")
    assert sound.data_dir.index.exists()


def test_a_damaged_index_where_nothing_may_be_written_is_not_needed(
    sound: WikiRoom, monkeypatch: pytest.MonkeyPatch
) -> None:
    sound.data_dir.index.write_bytes(b"no database" * 1000)
    monkeypatch.setattr("ai_memory.store.reading.is_writable", lambda _: False)
    with sound.memory().reading() as snapshot:
        assert snapshot.page(ref("notes/a.md")) is not None
        assert [gap for gap in snapshot.gaps if "cannot be used" in gap]
