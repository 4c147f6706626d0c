"""A project that is renamed, or joined with another, is at each kill the one or the other, and whole after the next."""

from contextlib import closing
from pathlib import Path

import crash_driver
import pytest
from crash_driver import KILLED, Forge, assert_in_step, copy_of, memory_at, page, pages, ref

from ai_memory.model import Sanitized
from ai_memory.paths import DataDir
from ai_memory.store import driver, messages
from ai_memory.store.outbox import Outbox, mail_name, project_name

HANDOFF = "0" * 31 + "2"


@pytest.fixture
def begun(tmp_path: Path) -> Path:
    """A project with evidence, a message, and a handoff that waits for it; another one that links to it."""
    root = tmp_path / "begun"
    crash_driver.start(root)
    with memory_at(root).writing("Begin another") as change:
        change.ensure_project_named("default", "second")
        change.put(ref("links.md", "second"), Sanitized("# Links\n\n[[crash:a]] and [[crash:later]]\n"))
        crash_driver.add_evidence(change, "said")
        project = change.project("default", "crash")
        assert project is not None
        change.outbox_put(project_name(HANDOFF, project.id), Sanitized("manual s"))
        change.outbox_put(f"open/{HANDOFF}.md", Sanitized("text\n"))
    with memory_at(root).state_transaction() as connection:
        names = (Sanitized(word) for word in ("default", "second", "default", "crash", "Mind it."))
        messages.put(connection, messages.Message("m" * 32, *names, sent_at_us=1, expires_at_us=2**53))
    return root


def rows(root: Path) -> list[tuple[str, ...]]:
    """Every row of `state.db` that names a project, but for the times."""
    with closing(driver.connect(DataDir(root).state)) as connection:
        found: list[tuple[str, ...]] = []
        for table, columns in (
            ("evidence", "workspace, project, path"),
            ("page_sessions", "workspace, project, path"),
            ("messages", "to_workspace, to_project, from_project"),
            ("audit", "workspace, project, verb"),
        ):
            found += [(table, *row) for row in connection.execute(f"SELECT {columns} FROM {table} ORDER BY 1, 2, 3")]
    return found


@pytest.mark.parametrize("name", ["rename", pytest.param("join", marks=pytest.mark.slow)])
def test_a_move_killed_at_any_step_happened_whole_or_not_at_all(forge: Forge, begun: Path, name: str) -> None:
    clean = copy_of(begun, "clean")
    outcome = forge.run(name, clean)
    assert (outcome.status, outcome.answer) == (0, "moved")
    after, new = pages(clean), "saved" if name == "rename" else "second"
    assert {path.split("/")[1] for path in after} == {new, "second"}
    assert (
        f"[[{'saved:' if name == 'rename' else ''}a]]" in (DataDir(clean).wiki / "default/second/links.md").read_text()
    )
    assert not [row for row in rows(clean) if "crash" in row]
    assert Outbox(DataDir(clean)).read(mail_name("default", new))
    with memory_at(clean).reading() as snapshot:
        [project] = [one for one in snapshot.projects() if one.name == new]
    assert Outbox(DataDir(clean)).read(project_name(HANDOFF, project.id)) == "manual s"
    assert_in_step(clean)
    first_of_each = {step: outcome.steps.index(step) for step in outcome.steps}
    for step, number in first_of_each.items():
        root = copy_of(begun, f"killed-{number}")
        assert forge.run(name, root, kill_at=number).status == KILLED
        with memory_at(root).writing("go on") as change:
            change.put(ref("next.md", "second"), page("next"))
        now = pages(root)
        now.pop(ref("next.md", "second").git_path)
        assert now.keys() in (after.keys(), pages(begun).keys()), step
        if now.keys() == after.keys():
            assert rows(root) == rows(clean), step
            assert now[ref("links.md", "second").git_path] == after[ref("links.md", "second").git_path]
            assert Outbox(DataDir(root)).read(mail_name("default", new)), step
        else:
            assert rows(root) == rows(begun), step
        if step in ("pending", "ref", "state", "search-index"):  # 0.2 s; every step of any change: test_crash_steps.py
            assert_in_step(root)
