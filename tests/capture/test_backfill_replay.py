"""Real session files of real programs are brought in, as far as they tell their folder.

Needs a folder with `transcripts/<harness>/…`, named by AI_MEMORY_REPLAY_DATA.
"""

import os
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from terminals import Room
from transcript_house import House

from ai_memory.scrub import scrub
from ai_memory.text.page import parse
from ai_memory.transcripts.record import Around, Found, Losses
from ai_memory.transcripts.sources import BY_AGENT

DATA = Path(os.environ.get("AI_MEMORY_REPLAY_DATA", "/none")) / "transcripts"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="AI_MEMORY_REPLAY_DATA names no folder with transcripts")

FILES = sorted(
    path
    for agent in ("claude-code", "codex", "gemini-cli", "pi", "copilot-cli")
    for path in DATA.glob(f"{agent}/**/*.json*")
    if path.is_file() and path.stat().st_size
)
LATEST_US = 4_000_000_000_000_000
PLACES = {
    "claude-code": ".claude/projects/{slug}/{name}",
    "codex": ".codex/sessions/2026/01/01/rollout-{name}",
    "gemini-cli": ".gemini/tmp/shop/chats/session-{name}",
    "pi": ".pi/agent/sessions/{name}",
    "copilot-cli": ".copilot/session-state/{name}",
}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(DATA)))
def test_a_real_file_is_brought_in_clean_and_once(path: Path, room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(room.root / "home"))
    house = House(room)
    agent = path.relative_to(DATA).parts[0]
    source, where = BY_AGENT[agent], Around("/none", {}, house_has_no_database)
    found = Found(agent, str(path), room.now_us, path.stat().st_size)
    header = source.header(found, where)
    if header is None:
        return
    told = source.told(found, header, where, Losses(), latest_us=LATEST_US)
    times = [one.at_us for one in told]
    assert times == sorted(set(times))
    slug = "".join(sign if sign.isalnum() else "-" for sign in house.cwd)
    text = path.read_text(encoding="utf-8", errors="replace")
    if header.cwd:
        text = text.replace(header.cwd, house.cwd)
    elif agent == "gemini-cli":
        house.put(".gemini/tmp/shop/.project_root", house.cwd)
    house.put(PLACES[agent].format(slug=slug, name=path.name), text)
    done = house.backfill(since="20y")
    for page in room.pages("session"):
        assert parse(page.text, path=page.ref.path).title == page.title
        assert scrub(page.text) == page.text
        assert len(page.text) < 120_000
    if any(one.kind == "user-prompt" and one.text.strip()[:1] not in ("", "<") for one in told) and (
        header.cwd or agent == "gemini-cli"
    ):
        assert len(done.sessions) == 1 or room.now_us < times[-1]
    assert room.pages("handoff") == []
    assert house.backfill(since="20y").outcome == "unchanged"


def house_has_no_database(_: str) -> Any:
    raise AssertionError("no database is asked here")


def test_a_real_database_of_opencode_is_brought_in(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    [real] = sorted(DATA.glob("opencode/*.db"))[:1]
    monkeypatch.setenv("HOME", str(room.root / "home"))
    house = House(room)
    file = house.home / ".local" / "share" / "opencode" / "opencode.db"
    file.parent.mkdir(parents=True)
    shutil.copyfile(real, file)
    database = sqlite3.connect(file)
    database.execute("UPDATE session SET directory = ?, time_updated = time_updated - 86400000", (house.cwd,))
    database.commit()
    database.close()
    done = house.backfill(since="20y")
    assert len(done.sessions) >= 1
    assert done.gaps == ()
