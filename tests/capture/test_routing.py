"""Tool calls that work in another repository: under its policy, in a page of its project."""

import json
import threading
from pathlib import Path
from typing import Any

import pytest
from hook_runs import Desk
from terminals import Agent, Room

from ai_memory.capture import attribution
from ai_memory.capture.attribution import Attribution
from ai_memory.capture.batches import Place
from ai_memory.capture.draining import Drainer
from ai_memory.config import combine
from ai_memory.model import Caller
from ai_memory.paths import DataDir
from ai_memory.scope.hook_policy import compile_policy
from ai_memory.scope.markers import nearest_markers
from ai_memory.scope.policy import policy_at
from ai_memory.store.memory import Memory


class Two(Desk):
    """A desk with a second checkout beside the first."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.other = self.checkout_at(root / "ledger")

    def checkout_at(self, folder: Path) -> Path:
        (folder / ".git").mkdir(parents=True)
        (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        return folder

    def mark(self, text: str, folder: Path) -> None:
        (folder / ".ai-memory.toml").write_text(text)
        home = str(self.data.parent)
        sources = [one for where in (self.checkout, self.other) for one in nearest_markers(str(where), home)]
        values = combine("", {}, {}, name="config.toml").values
        markers = [(source, policy_at(source.path, home=home)) for source in sources]
        (self.data / "hook-policy.json").write_text(json.dumps(compile_policy(values, config=None, markers=markers)))

    def tool(self, tool: str = "Read", *more: str, **given: object) -> dict[str, Any] | None:
        before = len(self.events())
        payload = self.payload("PostToolUse", tool_name=tool, tool_input=given, tool_response="OUTPUT")
        self.run("post-tool-use", payload, *more)
        new = self.events()[before:]
        return new[0] if new else None


@pytest.fixture
def desk(tmp_path: Path) -> Two:
    return Two(tmp_path)


@pytest.mark.parametrize(
    ("given", "goes"),
    [
        ({"file_path": "<other>/book.py"}, True),
        ({"file_path": "<other>/new/folder/book.py"}, True),
        ({"edits": [{"file_path": "<other>/a.py"}, {"file_path": "<other>/deep/b.py"}]}, True),
        ({"command": "<other>/run.sh"}, True),
        ({"file_path": "<own>/till.py"}, False),
        ({"file_path": "till.py"}, False),
        ({"edits": [{"file_path": "<other>/a.py"}, {"file_path": "<own>/b.py"}]}, False),
        ({"edits": [{"file_path": "<other>/a.py"}, {"file_path": "b.py"}]}, False),
        ({"edits": [{"file_path": "<other>/a.py"}, {"file_path": "<third>/b.py"}]}, False),
        ({"file_path": "<own>/vendor/lib/x.py"}, False),
        ({"file_path": "<none>/x.py"}, False),
        ({"command": "pytest -q"}, False),
        ({"paths": [f"<other>/{at}" for at in range(40)]}, False),
    ],
    ids=str,
)
def test_a_call_goes_where_all_its_paths_lie(desk: Two, tmp_path: Path, given: dict[str, Any], goes: bool) -> None:
    places = {"own": desk.checkout, "other": desk.other, "third": desk.checkout_at(tmp_path / "third")}
    desk.checkout_at(desk.checkout / "vendor" / "lib")
    places["none"] = tmp_path / "none"
    text = json.dumps(given)
    for name, place in places.items():
        text = text.replace(f"<{name}>", str(place))
    event = desk.tool("MultiEdit" if "edits" in given else "Read", **json.loads(text))
    assert event is not None
    assert event.get("route", "") == (str(desk.other) if goes else "")


def test_another_worktree_of_the_same_repository_is_no_other_one(desk: Two, tmp_path: Path) -> None:
    worktree = tmp_path / "tree"
    worktree.mkdir()
    record = desk.checkout / ".git" / "worktrees" / "tree"
    record.mkdir(parents=True)
    (record / "commondir").write_text("../..\n")
    (worktree / ".git").write_text(f"gitdir: {record}\n")
    event = desk.tool(file_path=str(worktree / "a.py"))
    assert event is not None
    assert "route" not in event


def test_the_policy_of_the_other_repository_holds_there(desk: Two) -> None:
    desk.mark('[capture]\nignore_paths = ["secret/**"]\n', desk.other)
    assert desk.tool(file_path=str(desk.other / "secret" / "a")) is None
    event = desk.tool(file_path=str(desk.other / "open"))
    assert event is not None
    assert event["output"] == "OUTPUT"
    assert desk.tool(file_path=str(desk.checkout / "secret" / "a")) is not None


def test_what_the_sessions_own_policy_drops_goes_nowhere(desk: Two) -> None:
    desk.mark(f'[capture]\nignore_paths = ["{desk.other}/**"]\n', desk.checkout)
    assert desk.tool(file_path=str(desk.other / "book.py")) is None


def test_a_policy_there_that_is_not_compiled_keeps_metadata_only(desk: Two) -> None:
    (desk.other / ".ai-memory.toml").write_text('[capture]\nignore_paths = ["x"]\n')
    event = desk.tool(file_path=str(desk.other / "book.py"))
    assert event is not None
    assert set(event["flags"]) == {"metadata-only", "policy-unknown"}
    assert "output" not in event


@pytest.mark.parametrize("folder", ["", "deep/down"])
def test_a_policy_there_is_compiled_by_the_next_drain(desk: Two, folder: str) -> None:
    """Though no agent ever began there."""
    (desk.data / "wiki").rmdir()
    memory = Memory.open(
        DataDir(desk.data), caller=Caller(cwd=None, environ={}, home=str(desk.data.parent), face="drain")
    )
    memory.create()
    below = desk.other / folder
    below.mkdir(parents=True, exist_ok=True)
    (below / ".ai-memory.toml").write_text('[capture]\nignore_paths = ["x"]\n')
    flags = []
    for _ in range(2):
        event = desk.tool(file_path=str(below / "book.py"))
        assert event is not None
        flags.append(set(event.get("flags", [])))
        Drainer(memory).run()
    assert flags == [{"metadata-only", "policy-unknown"}, set()]


def test_an_allow_list_asks_for_a_marker_there_too(desk: Two) -> None:
    desk.mark('project = "shop"\nworkspace = "default"\n', desk.checkout)
    assert desk.tool("Read", "--capture-mode", "allowlist", file_path=str(desk.other / "book.py")) is None
    assert desk.tool("Read", "--capture-mode", "allowlist", file_path=str(desk.checkout / "till.py")) is not None


def _work_in_both(room: Room, other: str, **more: Any) -> Agent:
    agent = Agent(room, room.checkout("shop"))
    agent.start()
    agent.prompt("Mend the rounding, and the ledger that the shop calls.")
    agent.edit("till.py")
    agent.tell("post-tool-use", tool="Edit", input={"file_path": f"{other}/book.py"}, outcome="success", **more)
    agent.stop()
    agent.end()
    return agent


def test_each_project_gets_a_page_of_what_was_done_in_it(room: Room) -> None:
    other = room.checkout("ledger")
    agent = _work_in_both(room, other, route=other)
    room.drain()
    pages = {page.ref.project: page for page in room.pages("session")}
    assert set(pages) == {"shop", "ledger"}
    assert "till.py" in pages["shop"].text
    assert "book.py" not in pages["shop"].text
    assert "- Also worked in: `default/ledger` (1 observation)" in pages["shop"].text
    assert "book.py" in pages["ledger"].text
    assert "till.py" not in pages["ledger"].text
    assert "rounding" not in pages["ledger"].text
    assert pages["ledger"].frontmatter["session_id"] == agent.session
    assert room.session(agent.session).project == "shop"
    assert [page.ref.project for page in room.pages("handoff")] == ["shop"]
    assert "book.py" not in room.pages("handoff")[0].text


def test_a_session_that_moves_into_another_repository_is_followed(room: Room) -> None:
    other = room.checkout("ledger")
    _work_in_both(room, other, cwd=other)
    room.drain()
    assert {page.ref.project for page in room.pages("session")} == {"shop", "ledger"}


@pytest.mark.parametrize("folder", ["vendor", "."])
def test_a_folder_inside_the_sessions_own_tree_stays_its(room: Room, folder: str) -> None:
    shop = room.checkout("shop")
    inside = room.checkout("shop/vendor") if folder == "vendor" else shop
    _work_in_both(room, inside, route=inside, cwd=inside)
    room.drain()
    assert [page.ref.project for page in room.pages("session")] == ["shop"]


def test_sticky_sessions_keep_all(room: Room) -> None:
    room.data_dir.root.mkdir(parents=True)
    (room.data_dir.root / "config.toml").write_text('[routing]\nmid_session = "sticky"\n')
    other = room.checkout("ledger")
    _work_in_both(room, other, route=other)
    room.drain()
    (page,) = room.pages("session")
    assert (page.ref.project, "book.py" in page.text) == ("shop", True)


def test_a_late_event_writes_the_other_page_anew_unless_a_person_did(room: Room) -> None:
    other = room.checkout("ledger")
    agent = _work_in_both(room, other, route=other)
    room.drain()
    late = {"tool": "Edit", "outcome": "success", "route": other}
    agent.tell("post-tool-use", at_us=agent.at_us + 10, input={"file_path": f"{other}/late.py"}, **late)
    room.drain()
    (page,) = (page for page in room.pages("session") if page.ref.project == "ledger")
    assert "late.py" in page.text
    path = room.data_dir.wiki / page.ref.git_path
    path.write_text(page.text.replace("late.py", "later.py"))
    agent.tell("post-tool-use", at_us=agent.at_us + 20, input={"file_path": f"{other}/last.py"}, **late)
    room.drain()
    assert "later.py" in path.read_text()
    assert "last.py" not in path.read_text()


def test_a_prompt_is_never_credited_elsewhere(room: Room) -> None:
    other = room.checkout("ledger")
    agent = Agent(room, room.checkout("shop"))
    agent.start()
    agent.tell("user-prompt", prompt="Go on.", cwd=other, route=other)
    agent.edit("till.py")
    agent.end()
    room.drain()
    assert [page.ref.project for page in room.pages("session")] == ["shop"]


def test_a_folder_that_never_answers_costs_the_drain_one_deadline(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    look = Attribution._look

    def hang(self: Attribution, cwd: str) -> Place:
        if cwd.startswith("/dead/mount"):
            asked.append(cwd)
            threading.Event().wait()
        return look(self, cwd)

    monkeypatch.setattr(Attribution, "_look", hang)
    monkeypatch.setattr(attribution, "LOOK_S", 0.2)
    for at in range(3):
        Agent(room, f"/dead/mount/{at}").work()
    Agent(room, room.checkout("shop")).work()
    drain = room.drain()
    assert (drain.applied, drain.fault) == (52, "")
    assert len(asked) == 1
    assert sorted(page.ref.project for page in room.pages("session")) == ["scratch"] * 3 + ["shop"]
