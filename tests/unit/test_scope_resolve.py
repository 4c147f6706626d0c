"""One scope function: the order of what tells a project, and every fault that the order prevents."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from checkouts import checkout, git

from ai_memory.errors import MemoryFault, UsageFault
from ai_memory.model import Scope
from ai_memory.scope import is_reserved
from ai_memory.scope.markers import MarkerFault
from ai_memory.scope.resolve import NoProjects, resolve
from ai_memory.scope.routes import AmbiguousRoute

API = "https://github.com/acme/api.git"


@dataclass
class Projects:
    """A catalogue in memory: (workspace, name) → identity, and former names."""

    rows: dict[tuple[str, str], str] = field(default_factory=dict)
    former: dict[tuple[str, str], str] = field(default_factory=dict)

    def by_identity(self, workspace: str, identity: str) -> str | None:
        return next((n for (w, n), i in self.rows.items() if w == workspace and i == identity), None)

    def by_name(self, workspace: str, name: str) -> str | None:
        today = self.former.get((workspace, name), name)
        return self.rows.get((workspace, today))

    def moved_to(self, workspace: str, name: str, identity: str | None) -> tuple[str, str] | None:  # noqa: ARG002
        today = self.former.get((workspace, name))
        return (workspace, today) if today else None


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home" / "me"
    folder.mkdir(parents=True)
    return folder


def where(
    cwd: Path | str | None,
    home: Path,
    *,
    environ: Mapping[str, str] | None = None,
    workspace: str | None = None,
    project: str | None = None,
    projects: Projects | None = None,
    roots: tuple[str, ...] = (),
) -> Scope:
    return resolve(
        cwd=None if cwd is None else str(cwd),
        home=str(home),
        environ=environ or {},
        workspace=workspace,
        project=project,
        catalogue=projects or NoProjects(),
        roots=roots,
    )


def mark(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ".ai-memory.toml").write_text(text)
    return folder


def label(scope: Scope) -> str:
    return f"{scope.workspace}/{scope.project} {scope.resolved_by.value}"


# flags


def test_flags_beat_everything(home: Path) -> None:
    root = mark(checkout(home / "api", origin=API), 'workspace = "work"\nproject = "marked"')
    assert label(where(root, home, workspace="lab", project="other")) == "lab/other flag"
    assert label(where(root, home, project="lab/other")) == "lab/other flag"


def test_complete_flags_need_no_readable_marker(home: Path) -> None:
    root = mark(home / "x", "broken [")
    assert label(where(root, home, project="lab/other")) == "lab/other flag"


def test_a_project_flag_alone_stays_in_the_workspace_of_the_marker(home: Path) -> None:
    mark(home / "work", 'workspace = "work"')
    assert label(where(checkout(home / "work" / "api"), home, project="other")) == "work/other flag"
    assert label(where(home, home, project="other")) == "default/other flag"


def test_a_workspace_flag_alone_keeps_the_project_of_the_place(home: Path) -> None:
    scope = where(checkout(home / "api", origin=API), home, workspace="lab")
    assert label(scope) == "lab/acme-api remote"
    assert "names the workspace" in scope.why


def test_a_label_and_a_workspace_that_differ_are_refused(home: Path) -> None:
    with pytest.raises(UsageFault, match=r"'lab'.*'work'"):
        where(home, home, workspace="work", project="lab/x")


@pytest.mark.parametrize("name", ["API", "a b", "../x", "a/b/c", "-x", ".x", "x" * 200, "con", "x\n", "a/"])
def test_a_flag_that_is_no_name_is_a_usage_fault(home: Path, name: str) -> None:
    with pytest.raises(UsageFault):
        where(home, home, project=name)


def test_a_hint_spells_the_name_that_fits(home: Path) -> None:
    with pytest.raises(UsageFault) as caught:
        where(home, home, project="My API")
    assert caught.value.hint == "write my-api"


def test_a_former_name_leads_to_the_project_of_today(home: Path) -> None:
    projects = Projects({("default", "new"): "github.com/acme/api"}, {("default", "old"): "new"})
    assert where(home, home, workspace="default", project="old", projects=projects).project == "new"
    root = mark(home / "x", 'workspace = "default"\nproject = "old"')
    assert where(root, home, projects=projects).project == "new"


# markers


def test_the_nearest_marker_with_a_scope_wins(home: Path) -> None:
    root = mark(checkout(home / "api", origin=API), 'workspace = "work"\nproject = "outer"')
    inner = mark(root / "sub", 'workspace = "lab"\nproject = "inner"')
    (inner / "deep").mkdir()
    scope = where(inner / "deep", home)
    assert label(scope) == "lab/inner marker"
    assert scope.identity is None
    assert scope.root == str(root)
    assert scope.why == f"The marker {inner}/.ai-memory.toml names workspace lab and project inner."
    assert label(where(root, home)) == "work/outer marker"


def test_a_marker_with_only_capture_is_transparent(home: Path) -> None:
    root = mark(checkout(home / "api"), 'workspace = "work"\nproject = "outer"')
    inner = mark(root / "sub", '[capture]\nignore_paths = ["*.pem"]\n[briefing]\nmax_chars = 2000')
    assert label(where(inner, home)) == "work/outer marker"


def test_a_workspace_without_a_project_names_the_repository_not_the_folder(home: Path) -> None:
    mark(home / "work", 'workspace = "work"')
    root = checkout(home / "work" / "api", origin=API)
    (root / "src" / "deep").mkdir(parents=True)
    scopes = {label(where(folder, home)) for folder in (root, root / "src", root / "src" / "deep")}
    assert scopes == {"work/acme-api marker"}  # no subfolder is a project of its own
    assert where(root, home).identity_source == "origin"


def test_the_strategies_of_a_marker(home: Path) -> None:
    mark(home / "work", 'workspace = "work"\nproject_strategy = "repo-root"')
    root = checkout(home / "work" / "api-clone", origin=API)
    (root / "src").mkdir()
    assert label(where(root / "src", home)) == "work/api-clone marker"
    assert where(root / "src", home).identity == "github.com/acme/api"
    mark(home / "work", 'workspace = "work"\nproject_strategy = "basename"')
    assert label(where(root / "src", home)) == "work/src marker"


def test_outside_a_checkout_a_workspace_marker_names_the_folder(home: Path) -> None:
    mark(home / "work", 'workspace = "work"')
    (home / "work" / "Plans 2026").mkdir()
    scope = where(home / "work" / "Plans 2026", home)
    assert label(scope) == "work/plans-2026 marker"
    assert scope.identity == str(home / "work" / "Plans 2026")


def test_identity_in_a_marker_overrides_the_remote(home: Path) -> None:
    root = mark(
        checkout(home / "fork", origin="git@github.com:me/fork"), 'workspace = "w"\nidentity = "GitHub.com/Acme/API"'
    )
    scope = where(root, home)
    assert (scope.identity, scope.identity_source, scope.project) == ("github.com/acme/api", "marker", "acme-api")
    known = Projects({("w", "kept"): "github.com/acme/api"})
    assert where(root, home, projects=known).project == "kept"
    mark(root, 'workspace = "w"\nidentity = "github.com/acme/api"\nidentity_style = "host_path"')
    assert where(root, home).project == "github.com-acme-api"


def test_an_alias_in_a_marker_leads_to_the_project_that_exists(home: Path) -> None:
    root = mark(checkout(home / "api", origin=API), 'workspace = "w"\naliases = ["gone", "old-api"]')
    scope = where(root, home, projects=Projects({("w", "old-api"): "github.com/before/api"}))
    assert (scope.project, scope.aliases) == ("old-api", ("gone", "old-api"))
    both = Projects({("w", "old-api"): "", ("w", "acme-api"): "github.com/acme/api"})
    assert where(root, home, projects=both).project == "acme-api"


def test_a_marker_without_a_workspace_uses_the_usual_one(home: Path) -> None:
    root = mark(home / "x", 'project = "api"')
    scope = where(root, home)
    assert label(scope) == "default/api marker"
    assert scope.warnings


def test_a_marker_above_the_checkout_counts_below_the_home_folder_only(home: Path, tmp_path: Path) -> None:
    text = 'workspace = "work"\nproject = "above"'
    mark(home / "work", text)
    assert label(where(checkout(home / "work" / "api"), home)) == "work/above marker"
    mark(tmp_path / "srv", text)
    assert label(where(checkout(tmp_path / "srv" / "api"), home)) == "default/api git-root"
    (tmp_path / "srv" / "plain").mkdir()
    assert label(where(tmp_path / "srv" / "plain", home)) == "default/plain directory"
    assert label(where(tmp_path / "srv", home)) == "work/above marker"


def test_a_marker_in_the_main_checkout_counts_in_worktrees_elsewhere(home: Path, tmp_path: Path) -> None:
    mark(home / "work", 'workspace = "work"')
    root = checkout(home / "work" / "api")
    git(root, "worktree", "add", "-q", str(tmp_path / "wt"))
    main, linked = where(root, home), where(tmp_path / "wt", home)
    assert (main.workspace, main.project, main.identity) == (linked.workspace, linked.project, linked.identity)
    mark(root, 'workspace = "lab"\nproject = "uncommitted"')
    assert label(where(tmp_path / "wt", home)) == "lab/uncommitted marker"


@pytest.mark.parametrize("word", ["1", "true", "YES", "on"])
def test_markers_can_be_ignored(home: Path, word: str) -> None:
    mark(home, 'workspace = "mine"\n[routes.path."~/api"]\nproject = "routed"')
    root = mark(checkout(home / "api", origin=API), 'workspace = "work"\nproject = "marked"')
    assert label(where(root, home, environ={"AI_MEMORY_IGNORE_MARKER": word})) == "default/acme-api remote"
    assert label(where(root, home, environ={"AI_MEMORY_IGNORE_MARKER": "0"})) == "work/marked marker"


def test_a_broken_marker_is_a_fault_that_names_file_and_line(home: Path) -> None:
    root = mark(checkout(home / "api"), 'workspace = "work"\nproject = = 1\n')
    with pytest.raises(MarkerFault, match=r"/api/\.ai-memory\.toml, line 2: not valid TOML"):
        where(root, home)


def test_a_hostile_symlink_is_ignored_with_a_warning(home: Path, tmp_path: Path) -> None:
    mark(tmp_path / "evil", 'workspace = "evil"\nproject = "evil"')
    root = checkout(home / "api", origin=API)
    (root / ".ai-memory.toml").symlink_to(tmp_path / "evil" / ".ai-memory.toml")
    scope = where(root, home)
    assert label(scope) == "default/acme-api remote"
    assert "symlink" in scope.warnings[0]


def test_a_symlink_inside_the_checkout_is_followed(home: Path) -> None:
    root = checkout(home / "api", origin=API)
    (root / "conf").mkdir()
    (root / "conf" / "m.toml").write_text('workspace = "work"\nproject = "inside"')
    (root / ".ai-memory.toml").symlink_to("conf/m.toml")
    assert label(where(root, home)) == "work/inside marker"


# routes and the home marker


def test_routes_stand_between_markers_and_the_remote(home: Path) -> None:
    mark(
        home,
        f"""
        workspace = "mine"
        [routes.identity."https://github.com/Acme/api.git"]
        workspace = "work"
        project = "by-identity"
        [routes.path."~/code"]
        workspace = "code"
        [routes.path.{json.dumps(str(home / "code" / "client"))}]
        workspace = "client"
        project = "by-path"
        """,
    )
    api = checkout(home / "code" / "client" / "api", origin=API)
    other = checkout(home / "code" / "other", origin="git@github.com:acme/other")
    assert label(where(api, home)) == "work/by-identity route"
    assert label(where(home / "code" / "client", home)) == "client/by-path route"
    assert label(where(other, home)) == "code/acme-other route"
    assert label(where(checkout(home / "codex"), home)) == "mine/codex git-root"
    mark(api, 'workspace = "local"\nproject = "marked"')
    assert label(where(api, home)) == "local/marked marker"


def test_routes_that_disagree_choose_nothing(home: Path) -> None:
    mark(
        home,
        '[routes.identity."github.com/acme/api"]\nproject = "one"\n'
        '[routes.identity."git@github.com:acme/api"]\nproject = "two"\n'
        '[routes.path."~/x"]\nproject = "three"\n[routes.path."~/x/"]\nproject = "four"\n',
    )
    with pytest.raises(AmbiguousRoute):
        where(checkout(home / "api", origin=API), home)
    (home / "x").mkdir()
    with pytest.raises(AmbiguousRoute):
        where(home / "x", home)
    assert label(where(checkout(home / "y"), home)) == "default/y git-root"


def test_a_path_route_counts_in_worktrees_elsewhere(home: Path, tmp_path: Path) -> None:
    mark(home, '[routes.path."~/code"]\nworkspace = "code"\nproject = "routed"')
    root = checkout(home / "code" / "api")
    git(root, "worktree", "add", "-q", str(tmp_path / "wt"))
    assert label(where(tmp_path / "wt", home)) == "code/routed route"


def test_routes_of_another_marker_are_ignored(home: Path) -> None:
    root = mark(checkout(home / "api", origin=API), '[routes.path."/"]\nworkspace = "evil"\nproject = "evil"')
    scope = where(root, home)
    assert label(scope) == "default/acme-api remote"
    assert "only the marker in the home folder" in scope.warnings[0]


def test_a_bad_route_is_a_fault_that_names_its_line(home: Path) -> None:
    mark(home, '[routes.path."~/a"]\nproject = "fine"\n\n[routes.path."relative"]\nproject = "x"\n')
    with pytest.raises(MarkerFault, match="line 4: a route path is absolute"):
        where(home, home)


def test_more_than_64_routes_are_refused(home: Path) -> None:
    mark(home, "".join(f'[routes.path."/srv/{n}"]\nproject = "p{n}"\n' for n in range(65)))
    with pytest.raises(MarkerFault, match="65 routes"):
        where(home, home)


def test_a_project_in_the_home_marker_swallows_nothing(home: Path) -> None:
    mark(home, 'workspace = "mine"\nproject = "everything"')
    root = checkout(home / "api", origin=API)
    scope = where(root, home)
    assert label(scope) == "mine/acme-api remote"
    assert "ignored" in scope.warnings[0]
    assert label(where(home, home)) == "mine/scratch fallback"


def test_the_operators_home_may_be_named(home: Path, tmp_path: Path) -> None:
    mark(tmp_path / "operator", 'workspace = "theirs"')
    environ = {"AI_MEMORY_HOME": str(tmp_path / "operator")}
    assert label(where(checkout(home / "api", origin=API), home, environ=environ)) == "theirs/acme-api remote"
    assert where(tmp_path / "operator", home, environ=environ).is_guess
    assert where(home, home, environ=environ).is_guess


# remote and git root


def test_clones_and_worktrees_of_one_remote_share_a_project(home: Path, tmp_path: Path) -> None:
    one = checkout(home / "api", origin=API)
    two = checkout(tmp_path / "elsewhere", origin="git@github.com:acme/api")
    git(one, "worktree", "add", "-q", str(tmp_path / "wt"))
    scopes = [where(folder, home) for folder in (one, two, tmp_path / "wt")]
    assert {label(scope) for scope in scopes} == {"default/acme-api remote"}
    assert {scope.identity for scope in scopes} == {"github.com/acme/api"}
    assert scopes[2].root == str(tmp_path / "wt")


def test_two_repositories_in_folders_of_one_name_stay_apart(home: Path) -> None:
    one, two = checkout(home / "a" / "api"), checkout(home / "b" / "api")
    first = where(one, home)
    assert label(first) == "default/api git-root"
    assert first.identity == str(one)
    projects = Projects({("default", "api"): str(one)})
    second = where(two, home, projects=projects)
    assert second.project.startswith("api-")
    assert len(second.project) == len("api-") + 4
    assert where(one, home, projects=projects).project == "api"
    projects.rows["default", second.project] = str(two)
    assert where(two, home, projects=projects).project == second.project


def test_a_name_held_by_a_project_without_identity_is_that_project(home: Path) -> None:
    projects = Projects({("default", "acme-api"): ""})
    assert where(checkout(home / "api", origin=API), home, projects=projects).project == "acme-api"


def test_a_renamed_project_is_found_by_its_identity(home: Path) -> None:
    projects = Projects({("default", "renamed"): "github.com/acme/api"})
    assert where(checkout(home / "api", origin=API), home, projects=projects).project == "renamed"


def test_a_project_stays_when_its_repository_gets_a_remote(home: Path) -> None:
    root = checkout(home / "api")
    projects = Projects({("default", "api"): str(where(root, home).identity)})
    git(root, "remote", "add", "origin", API)
    scope = where(root, home, projects=projects)
    assert (scope.project, scope.identity) == ("api", "github.com/acme/api")


def test_worktrees_without_a_remote_share_the_main_checkout(home: Path, tmp_path: Path) -> None:
    root = checkout(home / "api")
    git(root, "worktree", "add", "-q", str(tmp_path / "other-name"))
    scope = where(tmp_path / "other-name", home)
    assert label(scope) == "default/api git-root"
    assert scope.identity == str(root)


def test_a_checkout_called_scratch_is_not_the_fallback_project(home: Path) -> None:
    scope = where(checkout(home / "scratch"), home)
    assert scope.project.startswith("scratch-")
    assert not is_reserved(scope.project)


@pytest.mark.parametrize("name", ["日本語", "..x", "-", "CON", "a" * 200])
def test_every_folder_gets_a_name(home: Path, name: str) -> None:
    assert not where(checkout(home / name), home).is_guess


# folders, nowhere, roots


def test_a_folder_outside_any_repository_is_sure(home: Path) -> None:
    (home / "Plans").mkdir()
    scope = where(home / "Plans", home)
    assert label(scope) == "default/plans directory"
    assert scope.identity == str(home / "Plans")
    assert not scope.is_guess


def test_home_root_and_what_is_gone_are_guesses(home: Path) -> None:
    for cwd in (home, home.parent, "/", home / "gone", None, "", "a\0b"):
        scope = where(cwd, home)
        assert label(scope) == "default/scratch fallback"
        assert scope.is_guess
        assert scope.why.endswith(".")


def test_a_home_folder_kept_in_git_is_still_a_guess(home: Path) -> None:
    checkout(home, origin="git@github.com:me/dotfiles")
    assert where(home, home).is_guess
    (home / "plain").mkdir()
    assert label(where(home / "plain", home)) == "default/plain directory"


def test_the_folder_that_the_process_stands_in_may_be_deleted(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = home / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert where(str(gone), home).is_guess


def test_a_symlinked_folder_is_the_folder_it_points_to(home: Path, tmp_path: Path) -> None:
    root = checkout(home / "api", origin=API)
    (tmp_path / "link").symlink_to(root)
    assert label(where(tmp_path / "link", home)) == "default/acme-api remote"
    (tmp_path / "homelink").symlink_to(home)
    assert label(where(tmp_path / "homelink" / "api", tmp_path / "homelink")) == "default/acme-api remote"
    assert where(tmp_path / "homelink", home).is_guess


def test_one_root_of_the_client_is_the_project_when_there_is_no_folder(home: Path) -> None:
    root = checkout(home / "api", origin=API)
    (root / "src").mkdir()
    offered = (root.as_uri(), str(root / "src"), "https://example.org/x", home.as_uri())
    for cwd in (None, "/", home):
        scope = where(cwd, home, roots=offered)
        assert label(scope) == "default/acme-api roots"
        assert not scope.is_guess
        assert scope.identity == "github.com/acme/api"


def test_roots_of_several_projects_are_a_guess(home: Path) -> None:
    one, two = checkout(home / "api", origin=API), checkout(home / "web")
    scope = where(None, home, roots=(str(one), str(two)))
    assert label(scope) == "default/scratch roots-ambiguous"
    assert scope.is_guess
    assert "default/acme-api, default/web" in scope.why


def test_roots_do_not_overrule_a_folder(home: Path) -> None:
    one, two = checkout(home / "api", origin=API), checkout(home / "web")
    assert label(where(two, home, roots=(str(one),))) == "default/web git-root"


def test_roots_that_say_nothing_leave_the_fallback(home: Path) -> None:
    assert label(where(None, home, roots=("untitled:x", str(home / "gone")))) == "default/scratch fallback"


@pytest.mark.parametrize("name", ["scratch", "_global", "_profile", "_profile.ann"])
def test_reserved_projects_can_be_asked_for_but_not_captured_into(home: Path, name: str) -> None:
    assert where(home, home, workspace="default", project=name).project == name
    assert is_reserved(name)
    root = mark(home / "x", f'workspace = "default"\nproject = "{name}"')
    with pytest.raises(MemoryFault):
        where(root, home)


def test_resolving_starts_no_process_and_writes_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = mark(checkout(home / "api", origin=API), 'workspace = "work"')
    before = sorted(str(path) for path in home.rglob("*"))
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("subprocess.Popen", None)
    monkeypatch.setattr(os, "posix_spawn", None)
    where(root, home)
    assert sorted(str(path) for path in home.rglob("*")) == before
