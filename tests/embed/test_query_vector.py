"""The vector of a query: cached, made, or left out with a reason. Nothing is loaded for nothing."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from embed_room import SCOPE, EmbedRoom
from stub_service import hashed

from ai_memory.providers.embedder import packed
from ai_memory.store import vectors

LOADED = """
import os, sys
from pathlib import Path
from ai_memory.model import Caller
from ai_memory.operations.configured import configured
from ai_memory.paths import DataDir
from ai_memory.search.query_vectors import query_vector
from ai_memory.store.memory import Memory
memory = Memory.open(DataDir(Path(sys.argv[1])), caller=Caller(cwd=None, environ=dict(os.environ), home=""))
config = configured(memory)
with memory.reading() as snapshot:
    before = set(sys.modules)
    found = query_vector(memory, snapshot.index, sys.argv[2], config)
print(found.is_there, found.is_cached, *sorted(set(sys.modules) - before))
"""
HEAVY = {"numpy", "onnxruntime", "tokenizers", "fastembed", "urllib.request", "http.client"}


def asked(room: EmbedRoom, text: str) -> tuple[str, set[str]]:
    """What a fresh process finds, and what it loaded for it."""
    command = [sys.executable, "-c", LOADED, str(room.data), text]
    told = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.split()
    return " ".join(told[:2]), set(told[2:])


def test_a_memory_without_vectors_loads_nothing_for_a_query(room: EmbedRoom) -> None:
    room.write("notes/a.md", "text")
    assert asked(room, "text") == ("False False", set())


def test_a_query_asked_before_needs_neither_model_nor_network(room: EmbedRoom) -> None:
    room.write("notes/a.md", "text")
    room.embed()
    assert room.query("what text").vector == packed(hashed("what text"))
    count = len(room.stub.asked)
    told, loaded = asked(room, "what text")
    assert told == "True True"
    assert not loaded & HEAVY
    assert len(room.stub.asked) == count


def test_a_search_without_vectors_loads_no_room_of_models(room: EmbedRoom) -> None:
    room.write("notes/a.md", "text")
    command = [sys.executable, "-X", "importtime", "-m", "ai_memory", "search", "text", *SCOPE]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    loaded = re.findall(r"\| +(\S+)$", done.stderr, re.MULTILINE)
    assert not [name for name in loaded if name.startswith("ai_memory.providers") or name in HEAVY]


def test_the_query_prefix_is_part_of_what_is_cached(room: EmbedRoom, monkeypatch: pytest.MonkeyPatch) -> None:
    room.write("notes/a.md", "text")
    room.embed()
    plain = room.query("text")
    monkeypatch.setenv("AI_MEMORY_EMBED__QUERY_PREFIX", "query: ")
    assert room.query("text").vector == packed(hashed("query: text")) != plain.vector
    assert room.query("text").is_cached


def test_another_document_prefix_is_another_encoder(room: EmbedRoom, monkeypatch: pytest.MonkeyPatch) -> None:
    room.write("notes/a.md", "text")
    room.embed()
    monkeypatch.setenv("AI_MEMORY_EMBED__DOCUMENT_PREFIX", "passage: ")
    assert "another encoder" in room.query("text").gap
    assert room.embed()["former"] == 1
    assert room.query("text").is_there


def test_a_service_that_fails_costs_one_try_and_becomes_a_gap(room: EmbedRoom) -> None:
    room.write("notes/a.md", "text")
    room.embed()
    count = len(room.stub.asked)
    room.stub.answers.append((503, {}, {}))
    found = room.query("new words")
    assert not found.is_there
    assert "status 503" in found.gap
    assert "new words" not in found.gap
    assert len(room.stub.asked) == count + 1


def test_an_encoder_that_is_turned_off_leaves_no_gap(room: EmbedRoom, monkeypatch: pytest.MonkeyPatch) -> None:
    room.write("notes/a.md", "text")
    room.embed()
    monkeypatch.setenv("AI_MEMORY_EMBED__PROVIDER", "none")
    found = room.query("text")
    assert (found.is_there, found.gap) == (False, "")


def test_a_query_leaves_pages_and_state_alone(room: EmbedRoom) -> None:
    room.write("notes/a.md", "text")
    room.embed()
    before = {path: path.read_bytes() for path in (room.data_dir.index, room.data_dir.wiki / "w/p/notes/a.md")}
    room.query("text")
    assert {path: Path(path).read_bytes() for path in before} == before
    assert room.index(vectors.has_any)
