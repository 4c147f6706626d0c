"""Whatever stands in a transcript, its reader ends, in order, and raises nothing."""

import copy
import json
import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from terminals import NINE_US, SECOND_US, Room
from transcript_house import (
    House,
    claude_records,
    codex_records,
    copilot_records,
    gemini_lines,
    gemini_object,
    opencode_messages,
    pi_records,
)

from ai_memory.capture.retelling import Reteller, event_id
from ai_memory.capture.rules import Rules
from ai_memory.transcripts.opencode import of_rows
from ai_memory.transcripts.record import Around, Ask, Found, Header, Losses, Told
from ai_memory.transcripts.sources import BY_AGENT
from ai_memory.transcripts.telling import Telling

LATEST_US = NINE_US + 3_600 * SECOND_US
HOSTILE = settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])

TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=()), max_size=30),  # lone surrogates and NUL too
    st.sampled_from(
        ["", "\0", "\ud800", "../../etc/passwd", "9" * 5000, "{", "[1]", "<session_context>", "x" * 70_000]
    ),
)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)),
    max_leaves=8,
)

RECORDS: dict[str, list[Any]] = {
    "claude-code": claude_records("/shop"),
    "codex": codex_records("/shop"),
    "gemini-cli": [*gemini_lines("/shop"), gemini_object("/shop", "x")],
    "pi": pi_records("/shop"),
    "copilot-cli": copilot_records("/shop"),
    "opencode": [
        {"info": {"id": "s", "directory": "/shop"}},
        *({"id": one["id"], "message": one, "parts": parts} for one, parts in opencode_messages("/shop")),
    ],
}


@contextmanager
def no_database(_: str) -> Iterator[Ask | None]:
    yield None


def spots(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place inside a JSON value."""
    pairs: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        pairs = list(value.items())
    elif isinstance(value, list):
        pairs = list(enumerate(value))
    for key, inner in pairs:
        yield (*path, key)
        yield from spots(inner, (*path, key))


def replaced(records: list[Any], seed: int, values: list[Any]) -> list[Any]:
    """The records with some of their places holding something else, some of them twice or in another order."""
    chance = random.Random(seed)
    found = copy.deepcopy(records)
    for value in values:
        place = chance.choice(list(spots(found)))
        holder = found
        for key in place[:-1]:
            holder = holder[key]
        holder[place[-1]] = value
    if seed % 3 == 0:
        chance.shuffle(found)
    if seed % 2 == 0:
        found += copy.deepcopy(found)
    return [one for one in found if isinstance(one, dict)]


def check(told: tuple[Told, ...]) -> None:
    times = [one.at_us for one in told]
    assert times == sorted(set(times))
    for one in told:
        assert isinstance(one.text, str)
        assert isinstance(one.tool, str)
        assert isinstance(one.call_id, str)
        assert isinstance(one.cwd, str)
        assert one.is_error in (None, True, False)
        assert event_id("pi", Header("x", "/"), one)


@pytest.mark.parametrize("agent", sorted(RECORDS))
@HOSTILE
@given(seed=st.integers(0, 10**6), values=st.lists(VALUES, min_size=1, max_size=6))
def test_records_of_any_content_are_read(agent: str, seed: int, values: list[Any]) -> None:
    source = BY_AGENT[agent]
    records = replaced(RECORDS[agent], seed, values)
    where = Around("/home/ada", {}, no_database, ("/shop",))
    header = source.parse_header(iter(records), Found(agent, "/home/ada/x.jsonl", NINE_US, 0), where)
    if header is not None:
        assert isinstance(header.native_id, str)
        assert isinstance(header.cwd, str)
    telling = Telling(header.native_id if header else "x", Losses(), first_us=NINE_US, latest_us=LATEST_US)
    source.tell(iter(records), telling)
    check(telling.told())


@HOSTILE
@given(rows=st.lists(st.tuples(*[VALUES] * 6), max_size=6), head=st.lists(st.tuples(*[VALUES] * 4), max_size=2))
def test_rows_of_any_content_are_read(rows: list[Any], head: list[Any]) -> None:
    answers = iter([head, rows])
    records = list(of_rows(lambda *_: next(answers), "s", Losses()))
    telling = Telling("s", Losses(), first_us=NINE_US, latest_us=LATEST_US)
    BY_AGENT["opencode"].tell(iter(records), telling)
    check(telling.told())


@pytest.mark.parametrize("agent", ["claude-code", "codex", "gemini-cli", "pi", "copilot-cli", "opencode"])
@pytest.mark.parametrize("ending", [".json", ".jsonl"])
@HOSTILE
@given(content=st.one_of(st.binary(max_size=300), st.lists(VALUES, max_size=4).map(lambda one: dumped(one))))
def test_files_of_any_bytes_are_read(tmp_path: Path, agent: str, ending: str, content: bytes) -> None:
    file = tmp_path / f"x{ending}"
    file.write_bytes(content)
    source, where = BY_AGENT[agent], Around(str(tmp_path), {}, no_database)
    found = Found(agent, str(file), NINE_US, len(content))
    header = source.header(found, where)
    check(source.told(found, header or Header("x", "/shop"), where, Losses(), latest_us=LATEST_US))


def dumped(values: list[Any]) -> bytes:
    return b"\n".join(json.dumps(one).encode("utf-8", "surrogatepass") for one in values)


@HOSTILE
@given(
    text=TEXTS,
    tool=TEXTS,
    call_id=TEXTS,
    cwd=st.one_of(TEXTS, st.just("/shop")),
    inputs=VALUES,
    output=VALUES,
    native=TEXTS.filter(lambda one: one.isprintable() and one),
    kind=st.sampled_from(["user-prompt", "pre-tool-use", "post-tool-use", "post-compaction", "stop"]),
)
def test_what_is_told_becomes_events_or_is_counted(
    tmp_path: Path, text: str, tool: str, call_id: str, cwd: str, inputs: Any, output: Any, native: str, kind: str
) -> None:
    one = Told(kind, NINE_US, "k", cwd, text=text, tool=tool, call_id=call_id, input=inputs, output=output)
    reteller = Reteller(str(tmp_path), Rules(), pauses=(), is_allowlist=False, folders_of=lambda folder: [folder])
    losses = Losses()
    retold = reteller.retell("pi", Header(native, "/shop"), [one], losses, path="/x")
    assert len(retold.events) + sum(losses.counts.values()) == 1
    for event in retold.whole:
        assert abs(event.at_us - NINE_US) <= 1
        event.text.encode("utf-8")
        event.input.encode("utf-8")


def test_one_session_that_cannot_be_read_keeps_no_other_out(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(room.root / "home"))
    house = House(room)
    house.everything()
    house.put(".codex/sessions/2026/11/30/rollout-bad.jsonl", '{"type": "session_meta", "payload": [1]}\n{{{{\n')
    path = house.claude("22222222-aaaa-4bbb-8ccc-00000000000b")
    path.write_bytes(b"\xff\xfe" * 5000)
    house.age(path)
    for number, cwd in enumerate(("/a\0b", "/a\ud800", "/" + "x" * 5000, "/../../etc")):
        records = claude_records(house.cwd + cwd, f"22222222-aaaa-4bbb-8ccc-00000000001{number}")
        house.claude(records[1]["sessionId"], records=records)
    house.claude("22222222-aaaa-4bbb-8ccc-00000000000d", records=claude_records(house.cwd, "\ud800\0"))
    done = house.backfill()
    assert len([one for one in done.sessions if one.cwd == house.cwd]) == 7
    assert {one.project for one in done.sessions} == {"shop"}
    assert any("tell no session" in what for what in done.left_out)
