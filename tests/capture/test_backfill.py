"""Sessions that agents recorded by themselves come in by the rules of capture, once, with nothing to hand over."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from terminals import NINE_US, SECOND_US, Agent, Room
from transcript_house import (
    CLAUDE,
    CODEX,
    COPILOT,
    DAY_US,
    GEMINI,
    OPENCODE,
    PI,
    House,
    claude_records,
    copilot_records,
    lines,
)

from ai_memory.capture import retelling
from ai_memory.capture.spooled import session_uuid
from ai_memory.errors import MemoryFault, UsageFault
from ai_memory.operations.backfill import Fillable, backfill, backfill_text, fillable
from ai_memory.operations.pause import pause, resume
from ai_memory.operations.purge import purge_project, purge_session
from ai_memory.store import wired

SECRET = "ghp_" + "a1B2" * 9


@pytest.fixture
def house(room: Room, monkeypatch: pytest.MonkeyPatch) -> House:
    """Hooks take the home folder from the environment, so it names this one."""
    monkeypatch.setenv("HOME", str(room.root / "home"))
    return House(room)


def configure(house: House, text: str) -> None:
    house.memory().create()
    house.room.data_dir.config.write_text(text, encoding="utf-8")


def mark(house: House, text: str) -> None:
    (Path(house.cwd) / ".ai-memory.toml").write_text(text, encoding="utf-8")


def left_out(done: Any) -> str:
    return "\n".join(done.left_out)


# ---- what comes in


def test_a_session_of_each_harness_comes_in_with_its_page(house: House) -> None:
    house.everything()
    done = house.backfill()
    assert (done.outcome, len(done.sessions), done.omitted) == ("filled", 6, 0)
    assert {one.agent for one in done.sessions} == {
        *("claude-code", "codex", "gemini-cli", "pi", "copilot-cli", "opencode"),
    }
    assert {one.id for one in house.sessions()} == {
        *(CLAUDE, CODEX, GEMINI, PI, COPILOT, session_uuid("opencode", OPENCODE)),
    }
    assert len(house.room.pages("session")) == 6
    assert all(one.project == "shop" for one in house.sessions())


def test_a_session_has_the_times_and_the_branch_that_it_had(house: House) -> None:
    house.claude()
    house.backfill()
    [session] = house.sessions()
    assert (session.opened_at_us, session.last_at_us) == (NINE_US - 1, session.ended_at_us)
    assert NINE_US < session.last_at_us < NINE_US + 60 * SECOND_US
    assert (session.branch_start, session.branch_end, session.commit_end) == ("till", "till", "")
    assert house.room.session_page().ref.path == f"sessions/2026-11/{CLAUDE}.md"
    assert session.process == 0


def test_its_page_tells_what_a_page_of_hooks_would(house: House) -> None:
    house.claude()
    house.backfill()
    text = house.room.session_page().text
    assert "# Mend the till" in text
    assert "Edited till.py" in text
    assert "pytest -q" in text
    assert house.kinds(CLAUDE) == ["session-start", "user-prompt", *["post-tool-use"] * 3, "stop", "session-end"]


def test_nothing_is_handed_over(house: House) -> None:
    house.everything()
    house.backfill()
    house.room.drain()
    outbox = house.room.outbox
    assert house.room.pages("handoff") == []
    assert (outbox.open_handoffs(), outbox.provisionals(), outbox.claims()) == ([], [], [])
    assert all(one.handoff == "" and one.handed_work == one.work for one in house.sessions())


def test_a_waiting_handoff_stays_open_for_the_next_agent(house: House) -> None:
    agent = Agent(house.room, house.cwd)
    agent.work()
    house.room.drain()
    [waiting] = house.room.outbox.open_handoffs()
    house.claude(start_us=NINE_US + 1_800 * SECOND_US)  # it ended later than that of the handoff
    house.backfill()
    assert house.room.outbox.open_handoffs() == [waiting]
    [page] = house.room.pages("handoff")
    assert page.frontmatter["state"] == "open"


def test_a_session_that_ends_while_others_come_in_hands_over_all_the_same(house: House) -> None:
    house.claude(start_us=NINE_US + 1_800 * SECOND_US)
    house.backfill()
    with house.room.memory().state_transaction() as connection:  # as after a kill before the page
        connection.execute("UPDATE sessions SET covered = 0")
    agent = Agent(house.room, house.cwd)
    agent.work()
    house.room.drain()
    [handoff] = house.room.pages("handoff")
    assert handoff.frontmatter["state"] == "open"
    assert handoff.frontmatter["from_session"] == agent.session


def test_a_backfilled_session_that_is_resumed_hands_over_what_it_does_then(house: House) -> None:
    house.claude()
    house.backfill()
    agent = Agent(house.room, house.cwd, session=CLAUDE, at_us=NINE_US + 600 * SECOND_US)
    agent.tell("session-start", extra={"source": "resume"})
    agent.prompt("Now mend the drawer.")
    agent.edit("drawer.py")
    agent.end()
    house.room.drain()
    [handoff] = house.room.pages("handoff")
    assert handoff.frontmatter["from_session"] == CLAUDE


# ---- once


def test_running_twice_changes_nothing(house: House) -> None:
    house.everything()
    Path(house.cwd, "CLAUDE.md").write_text("Use tabs.\n")
    house.backfill()
    before = (house.stored(), house.room.git("rev-parse", "HEAD"))
    again = house.backfill()
    assert (again.outcome, again.sessions, again.memory_pages, again.known) == ("unchanged", (), (), 6)
    assert (house.stored(), house.room.git("rev-parse", "HEAD")) == before


def test_the_same_transcript_makes_the_same_events_in_another_data_dir(house: House) -> None:
    house.everything()
    house.backfill()
    first = [repr(row) for one in house.sessions() for row in house.room.observations(one.id)]
    shutil.rmtree(house.room.data_dir.root)
    house.backfill()
    assert [repr(row) for one in house.sessions() for row in house.room.observations(one.id)] == first


def hooks_of_the_same_session(house: House, *, late_us: int = 300_000) -> Agent:
    """What hooks leave of the session that the transcript tells of, each a little later."""
    agent = Agent(house.room, house.cwd, session=CLAUDE)
    cwd = house.cwd
    at = [NINE_US + number * SECOND_US + late_us for number in range(20)]
    agent.tell("session-start", at_us=NINE_US - 2 * SECOND_US)
    agent.tell("user-prompt", at_us=at[0], text="Mend the till.")
    calls = [
        ("toolu_1", "Read", {"file_path": f"{cwd}/till.py"}),
        ("toolu_2", "Bash", {"command": "pytest -q"}),
        ("toolu_3", "Edit", {"file_path": f"{cwd}/till.py"}),
    ]
    for number, (call_id, tool, given) in enumerate(calls):
        for kind, when in (("pre-tool-use", 1 + 2 * number), ("post-tool-use", 2 + 2 * number)):
            agent.tell(kind, at_us=at[when], tool=tool, input=given, call_id=call_id, outcome="success")
    agent.tell("stop", at_us=at[7])
    agent.tell("session-end", at_us=at[9])
    return agent


def test_a_session_that_hooks_captured_is_not_imported_again(house: House) -> None:
    house.claude()
    hooks_of_the_same_session(house)
    house.room.drain()
    before = house.kinds(CLAUDE)
    done = house.backfill()
    assert (done.outcome, done.known) == ("unchanged", 1)
    assert house.kinds(CLAUDE) == before


def test_what_hooks_left_in_the_spool_counts_before_the_transcript(house: House) -> None:
    house.claude()
    house.memory().create()
    hooks_of_the_same_session(house)
    done = house.backfill()
    assert done.sessions == ()
    assert house.kinds(CLAUDE).count("post-tool-use") == 3
    assert house.kinds(CLAUDE).count("pre-tool-use") == 3


def test_hooks_that_come_after_the_transcript_double_nothing(house: House) -> None:
    house.claude()
    house.backfill()
    hooks_of_the_same_session(house)
    house.room.drain()
    kinds = house.kinds(CLAUDE)
    assert [kinds.count(one) for one in ("user-prompt", "post-tool-use", "stop")] == [1, 3, 1]


@pytest.mark.parametrize("late_us", [300_000, 40 * SECOND_US])
def test_force_adds_only_what_hooks_did_not_tell(house: House, late_us: int) -> None:
    records = claude_records(house.cwd)
    earlier = claude_records(house.cwd, start_us=NINE_US - 3_600 * SECOND_US, prompt="Look at the drawer.")[1:4]
    for number, record in enumerate(earlier):
        record["uuid"] = f"early{number}"
        for block in record["message"]["content"]:
            if isinstance(block, dict):
                block.update({key: "toolu_early" for key in ("id", "tool_use_id") if key in block})
    house.claude(records=[*earlier, *records])
    hooks_of_the_same_session(house, late_us=late_us)
    house.room.drain()
    handoffs = house.room.outbox.open_handoffs()
    done = house.backfill(force=True)
    assert [one.events for one in done.sessions] == [2]
    kinds = house.kinds(CLAUDE)
    assert [kinds.count(one) for one in ("user-prompt", "post-tool-use", "stop")] == [2, 4, 1]
    assert [kinds.count(one) for one in ("session-start", "session-end")] == [1, 1]
    assert "Look at the drawer." in house.room.session_page().text
    assert house.room.outbox.open_handoffs() == handoffs
    assert house.backfill(force=True).outcome == "unchanged"


def test_force_takes_the_rest_of_a_session_that_went_on_without_hooks(house: House) -> None:
    path = house.claude()
    house.backfill()
    more = claude_records(house.cwd, start_us=NINE_US + 1_800 * SECOND_US, prompt="Now the drawer.")[1:2]
    more[0]["uuid"] = "later"
    path.write_text(path.read_text() + lines(more))
    house.age(path)
    assert house.backfill().outcome == "unchanged"
    assert [one.events for one in house.backfill(force=True).sessions] == [2]
    house.room.drain()
    [session] = house.sessions()
    assert session.ended_at_us is not None
    assert session.ended_at_us > NINE_US + 1_800 * SECOND_US
    assert "Now the drawer." in house.room.session_page().text
    assert house.room.pages("handoff") == []


def test_a_purged_session_stays_away(house: House) -> None:
    house.claude()
    house.memory().create()
    with house.room.memory().state_transaction() as connection:
        connection.execute("INSERT INTO purged VALUES (?, 'session', 1)", (CLAUDE,))
    assert house.backfill(force=True).outcome == "unchanged"
    assert house.sessions() == []


def test_hooks_that_are_told_no_session_id_are_known_by_folder_and_time(house: House) -> None:
    house.copilot()
    agent = Agent(house.room, house.cwd, agent="copilot-cli", session="process-77-1")
    agent.tell("user-prompt", at_us=NINE_US + SECOND_US, text="List the folder")
    agent.tell("stop", at_us=NINE_US + 7 * SECOND_US)
    house.room.drain()
    done = house.backfill()
    assert done.sessions == ()
    assert "captured under another id" in left_out(done)


# ---- by the rules of capture


def test_secrets_and_private_parts_do_not_come_in(house: House) -> None:
    house.claude(prompt=f"Use {SECRET} <private>the boss</private> and ACME-4711.")
    configure(house, "[sanitize]\nextra_patterns = ['ACME-\\d+']\n")
    house.backfill()
    kept = house.stored()
    assert "Use [REDACTED:" in kept
    assert not [word for word in (SECRET, "the boss", "ACME-4711") if word in kept]


def test_paths_that_are_ignored_do_not_come_in(house: House) -> None:
    house.claude()
    mark(house, '[capture]\nignore_paths = ["till.py"]\n')
    done = house.backfill()
    assert house.kinds(CLAUDE).count("post-tool-use") == 1, "of three calls two name the file"
    assert "a path of ignore_paths" in left_out(done)


def test_prompts_that_are_not_captured_come_in_without_their_words(house: House) -> None:
    house.claude()
    configure(house, "[capture]\nprompts = false\n")
    house.backfill()
    assert "Mend the till" not in house.stored()
    assert "user-prompt" in house.kinds(CLAUDE)


@pytest.mark.parametrize(("setting", "is_kept"), [("off", False), ("excerpt", True)])
def test_answers_come_in_only_where_they_are_asked_for(house: House, setting: str, is_kept: bool) -> None:
    house.claude()
    configure(house, f'[capture]\nassistant = "{setting}"\n')
    house.backfill()
    assert ("Mended." in house.stored()) is is_kept


def test_the_drop_lists_hold(house: House) -> None:
    house.claude()
    configure(
        house, '[ingest]\ndrop_tool_names = ["Bash"]\ndrop_tool_use_id_prefixes = ["toolu_3"]\ndrop_events = ["stop"]\n'
    )
    house.backfill()
    assert house.kinds(CLAUDE) == ["session-start", "user-prompt", "post-tool-use", "session-end"]


def test_an_allow_list_keeps_only_what_lies_below_a_marker(house: House) -> None:
    house.claude()
    done = house.backfill(capture_mode="allowlist")
    assert (done.outcome, house.sessions()) == ("unchanged", [])
    mark(house, "[capture]\n")
    assert house.backfill(capture_mode="allowlist").outcome == "filled"


def test_a_paused_checkout_gives_nothing(house: House) -> None:
    house.claude()
    Path(house.cwd, "CLAUDE.md").write_text("Use tabs.\n")
    house.memory().create()
    pause(house.memory(), here=True)
    done = house.backfill()
    assert (done.outcome, house.sessions()) == ("unchanged", [])
    assert "paused" in left_out(done) + " ".join(done.gaps)


def test_what_happened_off_the_record_does_not_come_in_later(house: House) -> None:
    house.claude()
    house.memory().create()
    now_us = house.room.now_us
    house.room.now_us = NINE_US + 3 * SECOND_US
    pause(house.memory(), here=True)
    house.room.now_us = NINE_US + 6 * SECOND_US + 1
    resume(house.memory())
    house.room.now_us = now_us
    done = house.backfill()
    assert "off the record" in left_out(done)
    assert house.kinds(CLAUDE) == ["session-start", "user-prompt", "post-tool-use", "stop", "session-end"]


def test_memory_does_not_feed_on_itself(house: House) -> None:
    records = claude_records(house.cwd)
    records[2]["message"]["content"][0].update(name="mcp__ai-memory__memory_query", input={"query": "till"})
    records[3]["message"]["content"][0]["content"] = "a page about the till from long ago"
    records[1]["message"]["content"] = (
        "<!-- ai-memory:untrusted-history:start -->\nold\n<!-- ai-memory:untrusted-history:end -->\nMend it."
    )
    house.claude(records=records)
    house.backfill()
    kept = house.stored()
    assert "Mend it." in kept
    assert not [words for words in ("long ago", "\nold\n") if words in kept]


def test_a_broken_marker_keeps_metadata_alone(house: House) -> None:
    house.claude()
    mark(house, "[capture]\nignore_pathz = [\n")
    with pytest.raises(MemoryFault):  # it cannot even be told which project this is
        house.backfill()


def test_capture_that_is_off_in_the_environment_gives_nothing(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    house.claude()
    monkeypatch.setenv("AI_MEMORY_CAPTURE", "off")
    assert house.backfill().outcome == "unchanged"


# ---- which sessions


def test_only_sessions_of_this_checkout_come_in(house: House) -> None:
    house.claude()
    elsewhere = house.room.checkout("till")
    house.claude("22222222-aaaa-4bbb-8ccc-00000000000b", cwd=elsewhere)
    near = house.room.checkout("shop-old")  # its name begins like the other's
    house.claude("22222222-aaaa-4bbb-8ccc-00000000000c", cwd=near)
    assert [one.id for one in house.backfill().sessions] == [CLAUDE]


def test_sessions_of_all_projects_come_in_each_into_its_own(house: House) -> None:
    house.claude()
    house.claude("22222222-aaaa-4bbb-8ccc-00000000000b", cwd=house.room.checkout("till"))
    house.claude("22222222-aaaa-4bbb-8ccc-00000000000c", cwd=str(house.room.root / "gone"))
    done = house.backfill(all_projects=True)
    assert {one.project for one in house.sessions()} == {"shop", "till"}
    assert "belong to no project" in left_out(done)
    with pytest.raises(UsageFault):
        house.backfill(all_projects=True, project="shop")


def test_folders_below_gone_ones_and_worktrees_belong_to_the_checkout(house: House) -> None:
    git = ["git", "-C", house.cwd, "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    tree = str(house.room.root / "tree")
    subprocess.run([*git, "worktree", "add", "-q", tree], check=True)
    folders = [f"{house.cwd}/src", f"{house.cwd}/gone/deep", tree]
    Path(folders[0]).mkdir()
    for number, folder in enumerate(folders):
        house.claude(f"22222222-aaaa-4bbb-8ccc-00000000000{number}", cwd=folder)
    done = house.backfill()
    assert len(done.sessions) == 3
    assert {one.project for one in house.sessions()} == {"shop"}
    assert {str(one.cwd) for one in house.sessions()} == set(folders)


def test_the_newest_are_chosen_and_the_rest_is_counted(house: House) -> None:
    for number in range(5):
        house.days_old = 1 + number
        house.claude(f"22222222-aaaa-4bbb-8ccc-00000000000{number}", start_us=NINE_US - number * DAY_US)
    done = house.backfill(max_sessions=2)
    assert [one.id[-1] for one in done.sessions] == ["0", "1"]
    assert done.omitted == 3
    assert [one.id[-1] for one in house.backfill(max_sessions=9).sessions] == ["2", "3", "4"]


def test_older_ones_are_left_until_they_are_asked_for(house: House) -> None:
    house.days_old = 40
    house.claude(start_us=NINE_US - 40 * DAY_US)
    assert house.backfill().outcome == "unchanged"
    assert house.backfill(since="60d").outcome == "filled"


def test_a_copied_old_session_with_a_new_file_time_counts_by_what_it_tells(house: House) -> None:
    house.claude(start_us=NINE_US - 40 * DAY_US)
    done = house.backfill()
    assert done.outcome == "unchanged"
    assert "--since" in left_out(done)


def test_agents_can_be_chosen_by_any_of_their_names(house: House) -> None:
    house.everything()
    assert {one.agent for one in house.backfill(agents=("claude", "gemini")).sessions} == {"claude-code", "gemini-cli"}
    with pytest.raises(UsageFault, match="cannot be read"):
        house.backfill(agents=("zed",))


def test_a_session_that_is_being_written_is_left_for_later(house: House) -> None:
    house.days_old = 0
    house.claude()
    done = house.backfill()
    assert done.outcome == "unchanged"
    assert "last 2 minutes" in left_out(done)


def test_a_session_in_both_stores_of_opencode_comes_in_once(house: House) -> None:
    house.opencode()
    house.old_opencode()
    assert len(house.backfill().sessions) == 1


def test_subagents_of_opencode_are_no_sessions(house: House) -> None:
    path = house.old_opencode()
    info = json.loads(path.read_text()) | {"parentID": "ses_parent"}
    path.write_text(json.dumps(info))
    house.age(path)
    done = house.backfill()
    assert done.outcome == "unchanged"
    assert "subagents" in left_out(done)


def test_a_session_in_which_nothing_was_said_makes_nothing(house: House) -> None:
    house.claude(records=[*claude_records(house.cwd)[:1], {"cwd": house.cwd, "sessionId": CLAUDE, "type": "mode"}])
    done = house.backfill()
    assert (done.outcome, house.sessions()) == ("unchanged", [])


def test_a_dry_run_shows_and_writes_nothing(house: House) -> None:
    house.everything()
    Path(house.cwd, "AGENTS.md").write_text("Use tabs.\n")
    done = house.backfill(dry_run=True)
    assert (done.outcome, len(done.sessions), done.memory_pages) == ("would-fill", 6, ("notes/agents/agents.md",))
    assert not house.room.data_dir.root.exists()
    assert "6 sessions and 1 memory page would come in" in backfill_text(done)


def test_a_folder_without_a_project_is_refused(house: House) -> None:
    with pytest.raises(MemoryFault):
        backfill(house.memory(cwd=str(house.home)))


# ---- bounds


def test_a_very_long_session_keeps_its_beginning_and_its_end(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retelling, "MAX_EVENTS", 6)
    monkeypatch.setattr(retelling, "KEPT_HEAD", 1)
    house.claude()
    done = house.backfill()
    assert house.kinds(CLAUDE) == ["session-start", "user-prompt", *["post-tool-use"] * 2, "stop", "session-end"]
    assert "1 events in the middle of long sessions" in left_out(done)


def test_events_beyond_the_bytes_of_one_session_are_left_out(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retelling, "MAX_BYTES", 1_200)
    house.claude()
    done = house.backfill()
    assert 3 <= len(house.kinds(CLAUDE)) < 7
    assert "32 MiB" in left_out(done)


def test_the_progress_ends_where_all_is_done(house: House) -> None:
    house.everything()
    seen: list[tuple[int, int]] = []
    house.backfill(progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (6, 6)


def test_prompts_of_agents_that_are_not_to_tell_them_stay_out(house: House) -> None:
    wired.put_without_prompts(house.room.data_dir, frozenset({"claude-code"}))
    house.claude()
    house.codex()
    house.backfill()
    said = {row.text for session in (CLAUDE, CODEX) for row in house.room.observations(session)}
    assert "Mend the till." not in said
    [page] = [page for page in house.room.pages("session") if CLAUDE in page.ref.path]
    assert "Mend the till." not in page.text
    assert "pytest -q" in page.text


def test_an_offer_says_so_where_not_all_would_come_in() -> None:
    assert Fillable(25, (), 0).words == "25 sessions found"
    assert Fillable(60, (), 0).words == "60 sessions found, of which the newest 25 come in"


# ---- memory files


def test_memory_files_become_pages(house: House) -> None:
    Path(house.cwd, "CLAUDE.md").write_text(
        f"# Shop\n\n<!-- ai-memory:start -->\nours\n<!-- ai-memory:end -->\nUse tabs, {SECRET}.\n"
    )
    slug = house.claude().parent.name
    house.put(f".claude/projects/{slug}/memory/MEMORY.md", "---\nname: x\n---\nThe till rounds half up.\n")
    done = house.backfill()
    assert done.memory_pages == ("notes/agents/claude.md", "notes/agents/claude-code/memory.md")
    first, second = sorted(house.room.pages("note"), key=lambda page: len(page.ref.path))
    assert "Use tabs" in first.body
    assert "ours" not in first.text
    assert SECRET not in first.text
    assert second.body.strip() == "The till rounds half up."


def test_a_memory_page_follows_its_file_until_somebody_changes_the_page(house: House) -> None:
    file = Path(house.cwd, "AGENTS.md")
    file.write_text("Use tabs.\n")
    house.backfill()
    file.write_text("Use blanks.\n")
    assert house.backfill().memory_pages == ("notes/agents/agents.md",)
    [page] = house.room.pages("note")
    assert page.body.strip() == "Use blanks."
    edited = house.room.data_dir.wiki / page.ref.git_path
    edited.write_text(page.text + "By hand.\n")
    file.write_text("Use tabs again.\n")
    assert house.backfill().memory_pages == ()
    [page] = house.room.pages("note")
    assert page.body.strip() == "Use blanks.\nBy hand."


def test_links_large_and_ignored_memory_files_are_left_out(house: House) -> None:
    secret = house.put("secret.txt", "the secret")
    Path(house.cwd, "GEMINI.md").symlink_to(secret)
    Path(house.cwd, "CLAUDE.md").write_text("x" * 300_000)
    Path(house.cwd, "AGENTS.md").write_text("hidden rules\n")
    mark(house, '[capture]\nignore_paths = ["AGENTS.md"]\n')
    done = house.backfill()
    assert done.memory_pages == ()
    assert len(done.gaps) == 2
    assert not [words for words in ("the secret", "hidden rules") if words in house.stored()]


def test_a_folder_that_is_a_link_leads_no_memory_file_out_of_the_checkout(house: House) -> None:
    house.put("dotfiles/CLAUDE.md", "the secret")
    Path(house.cwd, ".claude").symlink_to(house.home / "dotfiles")
    assert house.backfill().memory_pages == ()


# ---- for setup


def test_setup_is_told_how_much_there_is(house: House) -> None:
    house.everything()
    Path(house.cwd, "CLAUDE.md").write_text("Use tabs.\n")
    found = fillable(house.memory())
    assert (found.sessions, found.memory_files, found.words) == (6, 1, "6 sessions found")
    assert dict(found.by_agent)["codex"] == 1
    assert not house.room.data_dir.root.exists()
    house.backfill()
    assert fillable(house.memory()).words == ""


def test_who_filled_what_stands_in_the_log(house: House) -> None:
    house.claude()
    house.backfill()
    with house.room.memory().state_reading() as connection:
        assert connection is not None
        rows = connection.execute("SELECT verb, session, face FROM audit WHERE verb = 'backfill'").fetchall()
    assert rows == [("backfill", CLAUDE, "cli")]


def test_a_copilot_session_of_one_file_is_found_too(house: House) -> None:
    house.put(f".copilot/session-state/{COPILOT}.jsonl", lines(copilot_records(house.cwd)))
    assert len(house.backfill().sessions) == 1


def test_what_a_purge_took_is_not_brought_in_again(house: House) -> None:
    house.everything()
    house.backfill()
    purge_session(house.memory(), session=CLAUDE, confirm=True)
    assert house.backfill(force=True).sessions == ()
    assert CLAUDE not in {one.id for one in house.sessions()}
    purge_project(house.memory(), name="shop", confirm=True)
    assert house.backfill(force=True).sessions == ()
    assert house.sessions() == []
    assert house.room.pages("session") == []
