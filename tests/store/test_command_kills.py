"""Commands over much that die at any step: what is committed is whole, and the command said again ends it."""

import json
import subprocess
import time
from pathlib import Path

import crash_driver
import pytest
from crash_driver import KILLED, SESSION, Forge, assert_in_step, copy_of, memory_at, page, pages, ref

from ai_memory.capture import drain
from ai_memory.model import Sanitized
from ai_memory.paths import DataDir

Found = tuple[dict[str, str], list[tuple[str, ...]]]

EVERYWHERE = {"pending", "ref", "state", "file", "search-index"}
"""Steps of a change at which the quick runs die; all of them: test_crash_steps.py, and the slow runs."""


@pytest.fixture
def begun(tmp_path: Path) -> Path:
    """Two projects that link to each other, and a session that ended, of a repository that went elsewhere since."""
    root = tmp_path / "begun"
    crash_driver.start(root)
    with memory_at(root).writing("Begin another") as change:
        change.ensure_project_named("default", "second")
        change.put(ref("links.md", "second"), Sanitized("# Links\n\n[[crash:a]]\n"))
    git = ["git", "-C", str(tmp_path / "checkout")]
    (tmp_path / "checkout").mkdir()
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "remote", "add", "origin", "https://example.org/acme/shop.git"], check=True)
    spool = DataDir(root).spool
    spool.mkdir(exist_ok=True)
    now_us = time.time_ns() // 1000
    for number, event in enumerate(("user-prompt", "session-end")):
        told = {"v": 1, "agent": "codex", "event": event, "at_us": now_us + number, "session": SESSION}
        text = json.dumps({**told, "cwd": str(tmp_path / "checkout"), "text": "Mend the retry budget."})
        (spool / f"{(now_us + number) * 1000:019d}-77-{number:08x}.json").write_text(text)
    assert drain.main(["--wait", "--data-dir", str(root)]) == 0
    subprocess.run([*git, "remote", "set-url", "origin", "https://example.org/corp/store.git"], check=True)
    return root


def found(root: Path) -> Found:
    """Pages with their texts; of the session where it lies, and each change of state that names a project."""
    with memory_at(root).state_reading() as connection:
        rows = []
        if connection is not None:
            rows += connection.execute("SELECT id, workspace, project FROM sessions ORDER BY 1").fetchall()
            rows += connection.execute("SELECT workspace, project, path FROM page_sessions ORDER BY 1, 2, 3").fetchall()
    return pages(root), [tuple(map(str, row)) for row in rows]


def kills(steps: tuple[str, ...], *, is_every: bool) -> dict[int, str]:
    """At which steps to die: the first of each name."""
    return {steps.index(step): step for step in dict.fromkeys(steps) if is_every or step in EVERYWHERE}


@pytest.mark.parametrize("is_every", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["some", "every"])
@pytest.mark.parametrize("name", ["rename_all", "move_one", "reorganise", "take_edits", "merge_two"])
def test_a_command_of_one_change_happened_whole_or_not_at_all(
    forge: Forge, begun: Path, name: str, is_every: bool
) -> None:
    if name == "take_edits":
        crash_driver.edit_by_hand(begun)
    clean = copy_of(begun, "clean")
    before = found(copy_of(begun, "untouched"))
    outcome = forge.run(name, clean)
    assert outcome.status == 0
    assert outcome.answer
    after = found(clean)
    assert after != before
    if name == "rename_all":
        assert {path.split("/")[0] for path in after[0]} == {"work"}
    else:
        assert name in ("take_edits", "merge_two") or (SESSION, "default", "acme-shop") not in after[1]
    for number, step in kills(outcome.steps, is_every=is_every).items():
        root = copy_of(begun, f"killed-{number}")
        assert forge.run(name, root, kill_at=number).status == KILLED
        with memory_at(root).writing("go on") as change:
            change.ensure_project_named("other", "next")
        assert found(root) in (before, after) or name == "take_edits", step
        forge.run(name, root)  # done already, it is refused
        assert found(root) == after, step
        assert_in_step(root)


def test_an_import_killed_in_the_middle_keeps_whole_commits_and_goes_on(forge: Forge, begun: Path) -> None:
    many = begun.with_name("many")
    many.mkdir()
    for number in range(10):
        (many / f"{number}.md").write_text(f"# {number}\n\n[[{(number + 1) % 10}]]\n")
    before = pages(begun)
    clean = copy_of(begun, "clean")
    outcome = forge.run("import_many", clean)
    assert (outcome.status, outcome.answer) == (0, "imported")
    after = pages(clean)
    assert len(after) == len(before) + 10
    commits = outcome.steps.count("ref")
    assert commits == 3
    second = [number for number, step in enumerate(outcome.steps) if step == "locked"][1]
    numbers = kills(outcome.steps[second:], is_every=False)
    for number, step in {second + number: step for number, step in numbers.items()}.items():
        root = copy_of(begun, f"killed-{number}")
        assert forge.run("import_many", root, kill_at=number).status == KILLED
        memory_at(root).adopt()
        left = pages(root)
        assert len(left) - len(before) in (4, 8), step
        assert left.items() <= after.items()
        head = crash_driver.git(root, "rev-parse", "HEAD")
        assert forge.run("import_many", root).answer == "imported"
        assert pages(root) == after, step
        added = crash_driver.git(root, "log", "--format=", "--name-only", "--diff-filter=A", f"{head.strip()}..HEAD")
        assert len([path for path in added.split() if path not in left]) == len(after) - len(left), step
        assert_in_step(root)


def test_an_import_of_records_killed_at_any_step_happened_whole_or_not_at_all(forge: Forge, begun: Path) -> None:
    records = begun.with_name("records")
    records.mkdir()
    records.with_suffix(".toml").write_text('namespace = "tickets"\n')
    file = records / "a.json"
    file.write_text('[{"id": 1, "text": "One queue"}, {"id": 2, "text": "Two tills"}]')
    assert forge.run("import_records", begun).answer == "imported"
    file.write_text('[{"id": 1, "text": "One queue per region"}, {"id": 3, "text": "Three tries"}]')

    def said(root: Path) -> list[tuple[str, bool]]:
        texts = [text for path, text in pages(root).items() if "/facts/" in path]
        return sorted((text.rpartition("---\n")[2], "standing: superseded" in text) for text in texts)

    before = said(copy_of(begun, "untouched"))
    clean = copy_of(begun, "clean")
    outcome = forge.run("import_records", clean)
    after = said(clean)
    assert after == [("One queue per region\n", False), ("Three tries\n", False), ("Two tills\n", True)]
    for number, step in kills(outcome.steps, is_every=False).items():
        root = copy_of(begun, f"killed-{number}")
        assert forge.run("import_records", root, kill_at=number).status == KILLED
        memory_at(root).adopt()
        assert said(root) in (before, after), step
        assert forge.run("import_records", root).answer == "imported"
        assert said(root) == after, step
        assert_in_step(root)


@pytest.mark.parametrize("name", ["make_smaller", "back_up_proven"])
def test_upkeep_that_dies_changes_nothing_and_can_be_said_again(forge: Forge, begun: Path, name: str) -> None:
    before = found(begun)
    clean = copy_of(begun, "clean")
    proven = begun.with_name("proven.zip")
    outcome = forge.run(name, clean)
    assert outcome.status == 0
    for number, step in kills(outcome.steps, is_every=True).items():
        proven.unlink(missing_ok=True)
        root = copy_of(begun, f"killed-{number}")
        assert forge.run(name, root, kill_at=number).status == KILLED
        assert found(root) == before, step
        proven.unlink(missing_ok=True)
        assert forge.run(name, root).answer == outcome.answer, step
        assert found(root) == before, step
    assert_in_step(root)


def test_a_reset_that_dies_leaves_whole_parts_and_ends_when_it_is_said_again(forge: Forge, begun: Path) -> None:
    before = found(begun)
    clean = copy_of(begun, "clean")
    outcome = forge.run("begin_anew", clean)
    assert (outcome.status, outcome.answer) == (0, "reset")
    for number, step in enumerate(outcome.steps):
        root = copy_of(begun, f"killed-{number}")
        assert forge.run("begin_anew", root, kill_at=number).status == KILLED
        left = found(root)
        assert left[0] in (before[0], {}), step
        assert left[1] in (before[1], []), step
        assert forge.run("begin_anew", root).status == 0, step
        assert found(root) == ({}, []), step
        with memory_at(root).writing("anew") as change:
            change.ensure_project_named("default", "crash")
            change.put(ref("a.md"), page("a"))
        assert list(pages(root)) == [ref("a.md").git_path], step
    assert_in_step(root)
