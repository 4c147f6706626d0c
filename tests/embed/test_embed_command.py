"""`ai-memory embed`: makes what is missing, may be killed, and stands in nobody's way."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable

import pytest
from embed_room import SCOPE, EmbedRoom
from stub_service import Asked

from ai_memory.search import backfill as backfill_module
from ai_memory.store import vectors
from ai_memory.store.cache import Cache


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.02)


def test_every_part_gets_a_vector_and_the_second_run_has_nothing_to_do(room: EmbedRoom) -> None:
    for number in range(5):
        room.write(f"notes/{number}.md", f"text {number}")
    first = room.embed()
    assert (first["embedded"], first["cached"], first["left"]) == (5, 0, 0)
    assert first["encoder"] == {"provider": "openai-compat", "model": "hash", "dim": 64, "document_prefix": ""}
    asked = len(room.stub.asked)
    second = room.embed()
    assert (second["embedded"], second["left"]) == (0, 0)
    assert len(room.stub.asked) == asked


def test_the_newest_pages_come_first_and_a_limit_holds(room: EmbedRoom) -> None:
    for number in range(4):
        room.write(f"notes/{number}.md", f"text {number}")
    done = room.embed("--limit", "2")
    assert (done["embedded"], done["left"]) == (2, 2)
    newest = [page["path"] for page in room.json("recent", "-n", "2", *SCOPE)["pages"]]
    assert set(room.vectors()) == set(newest)


def test_other_projects_wait_for_all(room: EmbedRoom) -> None:
    room.write("notes/a.md", "one")
    room.write("notes/b.md", "two", project="q")
    assert room.embed()["embedded"] == 1
    assert room.json("embed", "--all")["embedded"] == 1


def test_equal_texts_are_read_once_by_the_model(room: EmbedRoom) -> None:
    room.write("notes/a.md", "# Same\n\ntext")
    room.embed()
    room.write("notes/b.md", "# Same\n\ntext")
    done = room.embed()
    assert (done["embedded"], done["cached"]) == (0, 1)


def test_a_dry_run_asks_nobody_and_changes_nothing(room: EmbedRoom) -> None:
    room.write("notes/a.md", "text")
    done = room.embed("--dry-run", "--prune")
    assert (done["embedded"], done["left"], done["dry_run"]) == (0, 1, True)
    assert room.stub.asked == []
    assert not room.data_dir.cache.exists()


def test_a_writer_does_not_wait_for_the_model(room: EmbedRoom) -> None:
    room.write("notes/a.md", "text")

    def write_meanwhile(_: Asked) -> None:
        room.stub.before = lambda _: None
        command = [sys.executable, "-m", "ai_memory", "write-page", "-p", "notes/b.md", "-b", "meanwhile", *SCOPE]
        words = [*command, "--lock-timeout", "0"]
        subprocess.run(words, cwd=room.checkout, check=True, capture_output=True, timeout=60)

    room.stub.before = write_meanwhile
    assert room.embed()["embedded"] == 2, "the page that came meanwhile is in the next slab"


def test_a_page_that_changes_while_the_model_reads_it_is_read_again(room: EmbedRoom) -> None:
    room.write("notes/a.md", "before")

    def change(_: Asked) -> None:
        room.stub.before = lambda _: None
        command = [sys.executable, "-m", "ai_memory", "write-page", "-p", "notes/a.md", "-b", "after", *SCOPE]
        subprocess.run(command, cwd=room.checkout, check=True, capture_output=True, timeout=60)

    room.stub.before = change
    done = room.embed()
    assert (done["embedded"], done["left"]) == (2, 0)
    rows = room.index(lambda c: c.execute("SELECT text_hash FROM vectors").fetchall())
    chunks = room.index(lambda c: list(vectors._all_chunks(c)))
    assert rows == [(chunk.hash,) for slab in chunks for chunk in slab]


def test_a_killed_run_is_continued_by_the_next(room: EmbedRoom, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(3):
        sections = "\n\n".join(f"## Part {part}\n\ntext {number} {part}" for part in range(40))
        room.write(f"notes/{number}.md", sections)
    process = room.process("embed", *SCOPE)
    room.stub.before = lambda _: time.sleep(0.2) if len(room.stub.asked) > 1 else None
    until(lambda: len(room.stub.asked) >= 2)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    room.stub.before = lambda _: None
    assert room.index(lambda c: c.execute("PRAGMA integrity_check").fetchone()) == ("ok",)
    (encoder,) = Cache(room.data_dir).encoders()
    done = room.embed()
    assert done["cached"] >= 64, "the first batch was kept"
    assert done["embedded"] + done["cached"] == 120
    assert encoder.model == "hash"
    monkeypatch.setenv("AI_MEMORY_EMBED__BASE_URL", "http://127.0.0.1:9")
    assert room.embed()["left"] == 0


def test_vectors_of_a_former_encoder_are_counted_until_they_are_pruned(
    room: EmbedRoom, monkeypatch: pytest.MonkeyPatch
) -> None:
    room.write("notes/a.md", "text")
    room.embed()
    monkeypatch.setenv("AI_MEMORY_EMBED__MODEL", "hash-2")
    assert room.json("status")["vectors"] == {
        "encoder": {"provider": "openai-compat", "model": "hash-2", "dim": 0, "document_prefix": ""},
        "vectors": 0,
        "missing": 1,
        "former": 1,
    }
    done = room.embed()
    assert (done["embedded"], done["former"], done["pruned"]) == (1, 1, 0)
    done = room.embed("--prune")
    assert (done["former"], done["pruned"], done["left"]) == (0, 1, 0)
    (row,) = room.index(vectors.encoders)
    assert row.encoder.model == "hash-2"


def test_a_prune_without_any_encoder_drops_them_all(room: EmbedRoom, monkeypatch: pytest.MonkeyPatch) -> None:
    room.write("notes/a.md", "text")
    room.embed()
    monkeypatch.setenv("AI_MEMORY_EMBED__PROVIDER", "none")
    assert room.embed("--prune")["pruned"] == 1
    fault = room.embed(code=1)["error"]
    assert "nobody makes vectors" in fault["message"]


def test_one_text_that_the_service_refuses_keeps_no_other_from_its_vector(room: EmbedRoom) -> None:
    for number in range(4):
        room.write(f"notes/{number}.md", "poison" if number == 2 else f"text {number}")
    refused = (400, {}, {})

    def refuse(asked: Asked) -> None:
        if any("poison" in text for text in asked.body["input"]):
            room.stub.answers.append(refused)

    room.stub.before = refuse
    done = room.embed()
    assert (done["embedded"], done["failed"], done["left"]) == (3, 1, 1)


def test_a_service_that_refuses_everything_is_a_fault_after_a_few_tries(room: EmbedRoom) -> None:
    for number in range(4):
        room.write(f"notes/{number}.md", f"text {number}")
    room.stub.before = lambda _: room.stub.answers.append((401, {}, {}))
    fault = room.embed(code=1)["error"]
    assert "status 401" in fault["message"]
    assert len(room.stub.asked) == 3


def test_what_was_made_before_a_fault_is_kept(room: EmbedRoom, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backfill_module, "_SLAB", 1)
    for number in range(3):
        room.write(f"notes/{number}.md", f"text {number}")

    def fail_later(_: Asked) -> None:
        if len(room.stub.asked) > 2:
            room.stub.answers.append((401, {}, {}))

    room.stub.before = fail_later
    room.embed(code=1)
    assert len(room.vectors()) == 2


def test_an_empty_memory_has_nothing_to_embed(room: EmbedRoom) -> None:
    done = room.embed()
    assert (done["embedded"], done["left"]) == (0, 0)
    assert not room.data.exists()


def test_two_runs_at_once_do_no_harm(room: EmbedRoom) -> None:
    for number in range(20):
        room.write(f"notes/{number}.md", f"text {number}")
    runs = [room.process("embed", *SCOPE) for _ in range(2)]
    for run in runs:
        out, err = run.communicate(timeout=60)
        assert run.returncode == 0, (out, err)
    assert sum(room.vectors().values()) == 20


def tell_end_of_session(room: EmbedRoom) -> None:
    payload = (
        f'{{"session_id":"7d3f0a5e-1111-4222-8333-444455556666","cwd":"{room.checkout}","prompt":"mend the till"}}'
    )
    for event in ("user-prompt", "session-end"):
        command = [sys.executable, "-m", "ai_memory", "hook", "--agent", "claude-code", "--event", event]
        environ = {**os.environ, "AI_MEMORY_CAPTURE_OWNER": ""}
        subprocess.run(command, input=payload, text=True, cwd=room.checkout, check=True, env=environ, timeout=60)


@pytest.mark.parametrize("is_allowed", [True, False])
def test_a_drain_makes_vectors_only_where_the_configuration_says_so(room: EmbedRoom, is_allowed: bool) -> None:
    room.write("notes/a.md", "text")
    for key, value in (
        ("embed.provider", "openai-compat"),
        ("embed.model", "hash"),
        ("embed.base_url", room.stub.url),
        ("embed.in_drain", "true" if is_allowed else "false"),
    ):
        room.json("config", "set", key, value)
    tell_end_of_session(room)
    drained = room.process("drain", "--wait")
    drained.communicate(timeout=60)
    if is_allowed:
        until(lambda: room.index(vectors.has_any))
    else:
        assert room.stub.asked == []
