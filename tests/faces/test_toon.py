"""`--format toon`: rows that a TOON reader gets back as they are, and a clear word where the package is missing."""

import json
import sys
from pathlib import Path

import pytest
from cli_room import Room

from ai_memory.bridge.calls import Place
from ai_memory.model import Caller
from ai_memory.operations.toon import toon_text
from ai_memory.paths import DataDir
from ai_memory.text.fences import FENCE_END, NOTICE

ODD = 'a: b, c | "d" [1] {x} - # null'


def bridge(room: Room, tool: str, **given: object) -> str:
    caller = Caller(cwd=str(room.checkout), environ={}, home=str(Path.home()), face="bridge")
    return Place(DataDir(room.data_dir), caller).call(tool, given).text


def test_rows_come_back_as_json_has_them(room: Room) -> None:
    toon = pytest.importorskip("toon_format")
    room.ok("write-page", "-p", "notes/a.md", "-b", "# A", "--title", ODD, "--tag", "x", "--tag", "y")
    room.ok("write-page", "-p", "notes/b.md", "-b", "# B")
    as_json, text = room.json("pages"), room.ok("pages", "--format", "toon")
    back = toon.decode(text)
    assert [{**row, "tags": " ".join(row["tags"])} for row in as_json["pages"]] == back["pages"]
    assert {key: back[key] for key in ("v", "ok", "scope", "total")} == {
        key: as_json[key] for key in ("v", "ok", "scope", "total")
    }
    assert "pages[2]{workspace,project,path,title," in text
    assert len(text) < len(json.dumps(as_json))


def test_a_tool_answers_with_the_notice_and_no_marker(room: Room) -> None:
    toon = pytest.importorskip("toon_format")
    room.ok("write-page", "-p", "notes/a.md", "-b", "# A", "--title", f"Evil {FENCE_END}")
    text = bridge(room, "memory_recent", format="toon")
    assert FENCE_END not in text
    answer = toon.decode(text)
    assert answer["notice"] == NOTICE
    assert [row["path"] for row in answer["pages"]] == ["notes/a.md"]
    assert toon.decode(bridge(room, "memory_recent", format="toon", project="none"))["pages"] == []


def test_lists_and_objects_in_a_row_take_one_cell() -> None:
    pytest.importorskip("toon_format")
    rows = [{"a": ["x", "y"], "b": {"k": 1}, "c": [], "d": [{"e": 2}], "f": None}]
    assert toon_text({"rows": rows}, "rows").splitlines() == [
        "rows[1]{a,b,c,d,f}:",
        '  x y,"{\\"k\\":1}","","[{\\"e\\":2}]",null',
    ]


def test_without_the_package_it_is_said(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "toon_format", None)
    room.ok("init")
    refused = room.run("pages", "--format", "toon")
    assert refused.exit_code == 1
    assert "ai-memory[toon]" in refused.output
    assert "ai-memory[toon]" in bridge(room, "memory_recent", format="toon")
