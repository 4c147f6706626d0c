"""Vectors live and die with the text of their chunk, and a new index takes them from the cache."""

import stat
from pathlib import Path

import pytest
from embed_room import EmbedRoom

from ai_memory.model import Encoder
from ai_memory.paths import DataDir
from ai_memory.providers.embedder import packed
from ai_memory.store import cache as cache_module
from ai_memory.store import vectors
from ai_memory.store.cache import Cache
from ai_memory.store.vectors import ChunkText

LONG = "word " * 140
HASH = Encoder("openai-compat", "hash", 64)


def sections(*texts: str) -> str:
    return "\n\n".join(f"## Part {number}\n\n{text}" for number, text in enumerate(texts))


def test_a_changed_chunk_loses_its_vector_at_once_and_the_others_keep_theirs(room: EmbedRoom) -> None:
    room.write("notes/a.md", sections("one", "two", "three"))
    room.embed()
    assert room.vectors() == {"notes/a.md": 3}
    room.write("notes/a.md", sections("one", "changed", "three"))
    assert room.vectors() == {"notes/a.md": 2}
    before = len(room.stub.texts)
    room.embed()
    assert room.vectors() == {"notes/a.md": 3}
    assert len(room.stub.texts) == before + 1


def test_a_deleted_page_takes_its_vectors_along(room: EmbedRoom) -> None:
    room.write("notes/a.md", "text")
    room.embed()
    room.json("delete-page", "notes/a.md", "--workspace", "w", "--project", "p")
    assert room.index(vectors.has_any) is False


def test_a_moved_page_keeps_its_vectors(room: EmbedRoom) -> None:
    room.write("notes/a.md", "# Title\n\ntext")
    room.embed()
    room.json("move", "notes/a.md", "notes/b.md", "--workspace", "w", "--project", "p")
    assert room.vectors() == {"notes/b.md": 1}


def test_a_vector_of_a_text_that_changed_meanwhile_is_not_stored(room: EmbedRoom) -> None:
    room.write("notes/a.md", "before")
    (chunk,) = room.index(lambda connection: vectors.next_missing(connection, None, 10))
    room.write("notes/a.md", "after")
    stale = ChunkText(chunk.id, chunk.page_id, chunk.text)
    vector = packed([1.0] * 64)
    assert room.memory().change_index(lambda c: vectors.put(c, HASH, [(stale, vector)])) == 0
    (now,) = room.index(lambda connection: vectors.next_missing(connection, None, 10))
    assert room.memory().change_index(lambda c: vectors.put(c, HASH, [(now, vector)])) == 1


@pytest.mark.parametrize("how", ["reindex", "delete"])
def test_a_new_index_takes_its_vectors_from_the_cache_without_a_model(room: EmbedRoom, how: str) -> None:
    room.write("notes/a.md", sections("one", "two"))
    room.embed()
    asked = len(room.stub.asked)
    if how == "reindex":
        room.json("reindex")
    else:
        room.data_dir.index.unlink()
    assert room.vectors() == {"notes/a.md": 2}
    assert len(room.stub.asked) == asked


def test_only_the_encoder_that_was_used_last_comes_back(room: EmbedRoom, monkeypatch: pytest.MonkeyPatch) -> None:
    room.write("notes/a.md", "text")
    room.embed()
    monkeypatch.setenv("AI_MEMORY_EMBED__MODEL", "hash-2")
    room.embed()
    room.json("reindex")
    (row,) = room.index(vectors.encoders)
    assert (row.encoder.model, row.vectors) == ("hash-2", 1)


@pytest.mark.parametrize("content", [b"", b"no database at all" * 400, b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_damaged_cache_is_begun_anew(room: EmbedRoom, content: bytes) -> None:
    room.write("notes/a.md", "text")
    room.data_dir.cache.write_bytes(content)
    assert room.embed()["embedded"] == 1
    assert Cache(room.data_dir).encoders() == [HASH]


def test_a_lost_cache_costs_nothing_but_time(room: EmbedRoom) -> None:
    room.write("notes/a.md", "text")
    room.embed()
    room.data_dir.cache.unlink()
    assert room.vectors() == {"notes/a.md": 1}
    assert room.query("text").is_there


def test_the_cache_is_private_and_holds_no_text(room: EmbedRoom) -> None:
    room.write("notes/a.md", "unmistakable")
    room.embed()
    room.query("incomparable")
    files = list(room.data.glob("cache.db*"))
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
    content = b"".join(path.read_bytes() for path in files)
    assert b"unmistakable" not in content
    assert b"incomparable" not in content


def test_the_cache_keeps_its_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_module, "LARGEST_BYTES", 200_000)
    monkeypatch.setattr(cache_module, "MOST_QUERIES", 50)
    cache = Cache(DataDir(tmp_path))
    vector = packed([1.0] * 64)
    for start in range(0, 2_000, 100):
        cache.put(HASH, [(b"%d" % number, vector) for number in range(start, start + 100)])
    for number in range(120):
        cache.put_query(HASH, b"%d" % number, vector)
    assert cache.vectors(HASH, [b"1999"])
    assert not cache.vectors(HASH, [b"0"])
    assert cache.query(HASH, b"119")
    assert cache.query(HASH, b"0") is None
    assert (tmp_path / "cache.db").stat().st_size < 400_000


def test_a_cache_of_another_schema_is_begun_anew(room: EmbedRoom, monkeypatch: pytest.MonkeyPatch) -> None:
    room.write("notes/a.md", "text")
    room.embed()
    monkeypatch.setattr(cache_module, "SCHEMA", 2)
    monkeypatch.setattr(cache_module, "_TABLES", (*cache_module._TABLES[:-1], "PRAGMA user_version = 2"))
    cache = Cache(room.data_dir)
    assert cache.encoders() == []
    cache.touch(HASH)
    assert cache.encoders() == [HASH]
