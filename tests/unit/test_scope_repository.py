"""What git's files say about a folder, compared with what git says."""

import os
import subprocess
from pathlib import Path

import pytest
from checkouts import checkout, git

from ai_memory.scope import gitconfig
from ai_memory.scope.repository import (
    Head,
    Remote,
    Repository,
    find_repository,
    head_of,
    never_checkouts,
    remote_of,
)

API = "https://github.com/acme/api.git"


def found(folder: Path) -> Repository:
    repository = find_repository(str(folder))
    assert repository is not None
    return repository


def test_a_folder_below_a_checkout_belongs_to_it(tmp_path: Path) -> None:
    root = checkout(tmp_path / "api")
    (root / "a" / "b").mkdir(parents=True)
    repository = found(root / "a" / "b")
    assert repository.root == str(root) == git(root / "a" / "b", "rev-parse", "--show-toplevel")
    assert repository.main_root == repository.place == str(root)
    assert not repository.is_linked


def test_no_repository_around_a_folder(tmp_path: Path) -> None:
    assert find_repository(str(tmp_path)) is None


def test_an_empty_git_folder_is_no_repository(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    assert find_repository(str(tmp_path)) is None


def test_a_home_folder_kept_in_git_is_no_checkout(tmp_path: Path) -> None:
    home = checkout(tmp_path / "me")
    (home / "notes").mkdir()
    assert find_repository(str(home / "notes"), never=never_checkouts(str(home))) is None
    checkout(tmp_path)
    assert find_repository(str(home / "notes"), never=never_checkouts(str(home))) is None
    inner = checkout(home / "code")
    assert find_repository(str(inner), never=never_checkouts(str(home))) is not None


def test_a_linked_worktree_leads_to_the_main_checkout(tmp_path: Path) -> None:
    root = checkout(tmp_path / "api", origin=API)
    git(root, "worktree", "add", "-q", str(tmp_path / "elsewhere" / "fix"))
    linked = found(tmp_path / "elsewhere" / "fix")
    assert linked.is_linked
    assert linked.root == str(tmp_path / "elsewhere" / "fix")
    assert linked.main_root == linked.place == str(root)
    assert linked.common_dir == str(root / ".git")
    assert remote_of(linked) == Remote("origin", "github.com/acme/api")
    assert head_of(linked) == Head("fix", git(root, "rev-parse", "fix"))


def test_worktrees_of_a_bare_repository_share_one_place(tmp_path: Path) -> None:
    source = checkout(tmp_path / "source")
    git(tmp_path, "clone", "-q", "--bare", str(source), "api.git")
    bare = tmp_path / "api.git"
    git(bare, "worktree", "add", "-q", str(tmp_path / "one"), "-b", "one")
    git(bare, "worktree", "add", "-q", str(tmp_path / "two"), "-b", "two")
    one, two = found(tmp_path / "one"), found(tmp_path / "two")
    assert one.place == two.place == found(bare).place == str(bare)
    assert one.main_root is None
    assert one.folder_name == two.folder_name == found(bare).folder_name == "api"


def test_a_bare_repository_inside_its_project_folder_is_named_after_the_folder(tmp_path: Path) -> None:
    source = checkout(tmp_path / "source")
    (tmp_path / "api").mkdir()
    git(tmp_path, "clone", "-q", "--bare", str(source), "api/.bare")
    git(tmp_path / "api" / ".bare", "worktree", "add", "-q", str(tmp_path / "api" / "fix"), "-b", "fix")
    assert found(tmp_path / "api" / "fix").folder_name == "api"


def test_a_submodule_is_a_repository_of_its_own(tmp_path: Path) -> None:
    library = checkout(tmp_path / "library")
    outer = checkout(tmp_path / "outer", origin=API)
    git(outer, "submodule", "add", "-q", str(library), "deps/lib")
    inner = found(outer / "deps" / "lib")
    assert inner.root == inner.main_root == inner.place == str(outer / "deps" / "lib")
    assert remote_of(inner) is None  # its origin is a local path
    git(outer / "deps" / "lib", "remote", "set-url", "origin", "git@github.com:acme/lib.git")
    assert remote_of(found(outer / "deps" / "lib")) == Remote("origin", "github.com/acme/lib")


def test_a_worktree_of_a_submodule_leads_to_the_submodule(tmp_path: Path) -> None:
    library = checkout(tmp_path / "library")
    outer = checkout(tmp_path / "outer")
    git(outer, "submodule", "add", "-q", str(library), "lib")
    git(outer / "lib", "worktree", "add", "-q", str(tmp_path / "wt"), "-b", "wt")
    assert found(tmp_path / "wt").place == str(outer / "lib")


def test_a_separate_git_directory_gives_all_worktrees_one_place(tmp_path: Path) -> None:
    root = tmp_path / "api"
    root.mkdir()
    git(root, "init", "-q", "--separate-git-dir", str(tmp_path / "store.git"))
    git(root, "commit", "-q", "--allow-empty", "-m", "first")
    git(root, "worktree", "add", "-q", str(tmp_path / "wt"))
    assert found(root).root == str(root)
    assert found(root).folder_name == "api"
    assert found(root).place == found(tmp_path / "wt").place


def test_the_inside_of_the_git_folder_belongs_to_the_checkout(tmp_path: Path) -> None:
    root = checkout(tmp_path / "api")
    assert found(root / ".git" / "refs").root == str(root)


def test_a_git_file_that_leads_nowhere_ends_the_search(tmp_path: Path) -> None:
    outer = checkout(tmp_path / "outer")
    (outer / "gone").mkdir()
    (outer / "gone" / ".git").write_text("gitdir: /nowhere/at/all\n")
    assert find_repository(str(outer / "gone")) is None
    (outer / "gone" / ".git").write_bytes(b"gitdir: \0\xff\n" + b"x" * 100_000)
    assert find_repository(str(outer / "gone")) is None


def test_a_symlinked_folder_belongs_to_the_checkout_it_points_into(tmp_path: Path) -> None:
    root = checkout(tmp_path / "api")
    (root / "src").mkdir()
    (tmp_path / "link").symlink_to(root / "src")
    assert found(tmp_path / "link").root == str(root)


def test_a_loop_of_symlinks_ends(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    (tmp_path / ".git").symlink_to(tmp_path / ".git")
    assert find_repository(str(tmp_path / "a")) is None


def test_a_checkout_above_64_levels_is_not_found(tmp_path: Path) -> None:
    root = checkout(tmp_path / "api")
    deep = root.joinpath(*["d"] * 70)
    deep.mkdir(parents=True)
    assert find_repository(str(deep)) is None
    assert find_repository(str(deep.parents[10])) is not None


def test_upstream_comes_before_origin(tmp_path: Path) -> None:
    root = checkout(tmp_path / "api", origin="git@github.com:me/api.git", upstream=API)
    assert remote_of(found(root)) == Remote("upstream", "github.com/acme/api")


def test_a_local_upstream_gives_way_to_origin(tmp_path: Path) -> None:
    root = checkout(tmp_path / "api", origin=API, upstream="/srv/git/api.git")
    assert remote_of(found(root)) == Remote("origin", "github.com/acme/api")


def test_no_other_remote_gives_an_identity(tmp_path: Path) -> None:
    root = checkout(tmp_path / "api")
    git(root, "remote", "add", "fork", API)
    assert remote_of(found(root)) is None


def test_an_included_config_is_never_read(tmp_path: Path) -> None:
    root = checkout(tmp_path / "api")
    (tmp_path / "evil").write_text('[remote "upstream"]\n\turl = https://github.com/evil/api\n')
    git(root, "config", "include.path", str(tmp_path / "evil"))
    assert git(root, "config", "remote.upstream.url") == "https://github.com/evil/api"
    assert remote_of(found(root)) is None


def test_a_config_above_one_mebibyte_is_not_read(tmp_path: Path) -> None:
    root = checkout(tmp_path / "api", origin=API)
    with (root / ".git" / "config").open("a") as config:
        config.write("# filler\n" * 120_000)
    assert remote_of(found(root)) is None


def test_a_repository_never_shows_the_password_of_its_remote(tmp_path: Path) -> None:
    root = checkout(tmp_path / "api", origin="https://me:hunter2@github.com/acme/api")
    repository = found(root)
    assert "hunter2" not in repr(repository) + repr(remote_of(repository))


def test_a_config_folder_per_worktree_is_understood(tmp_path: Path) -> None:
    source = checkout(tmp_path / "source")
    git(tmp_path, "clone", "-q", "--bare", str(source), "api.git")
    bare = tmp_path / "api.git"
    git(bare, "config", "extensions.worktreeConfig", "true")
    git(bare, "config", "--unset", "core.bare")
    git(bare, "config", "--worktree", "core.bare", "true")
    git(bare, "worktree", "add", "-q", str(tmp_path / "one"), "-b", "one")
    assert found(tmp_path / "one").main_root is None


def test_head_follows_loose_and_packed_refs(tmp_path: Path) -> None:
    root = checkout(tmp_path / "api")
    commit = git(root, "rev-parse", "HEAD")
    assert head_of(found(root)) == Head("main", commit)
    git(root, "switch", "-q", "-c", "feature/long.name+x")
    git(root, "pack-refs", "--all")
    assert not (root / ".git/refs/heads/feature").exists()
    assert head_of(found(root)) == Head("feature/long.name+x", commit)
    git(root, "checkout", "-q", "--detach")
    assert head_of(found(root)) == Head(None, commit)


def test_a_branch_without_commits_has_a_name_only(tmp_path: Path) -> None:
    assert head_of(found(checkout(tmp_path / "api", commit=False))) == Head("main", None)


@pytest.mark.parametrize(
    "content", ["ref: refs/heads/.invalid\n", "ref: ../../etc/passwd\n", "ref: HEAD\n", "rubbish", "ref: refs//x", "\0"]
)
def test_a_head_that_cannot_be_told_is_none(tmp_path: Path, content: str) -> None:
    root = checkout(tmp_path / "api")
    (root / ".git/HEAD").write_text(content)
    assert head_of(found(root)) == Head(None, None)


def test_a_ref_that_points_to_itself_ends(tmp_path: Path) -> None:
    root = checkout(tmp_path / "api")
    (root / ".git/refs/heads/main").write_text("ref: refs/heads/main\n")
    assert head_of(found(root)) == Head("main", None)


def test_a_pipe_instead_of_a_file_does_not_block(tmp_path: Path) -> None:
    root = checkout(tmp_path / "api", origin=API)
    (root / ".git/config").unlink()
    os.mkfifo(root / ".git/config")
    assert remote_of(found(root)) is None


CONFIG = """\
\ufeff# a comment
[core]
\tbare = false ; really
[Remote "a\\"b"] URL = "https://x/ #y" # z
\tfetch = one\\
 two
[branch.main]
\tmerge = refs/heads/main
[empty]
\tflag
\tpath = a\\tb "c  d"  \t
\tbroken = "open
\tfine = 1
"""


def test_the_config_grammar_is_read_as_git_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "config"
    valid = "\n".join(line for line in CONFIG.split("\n") if "broken" not in line)
    path.write_text(valid)
    listed = subprocess.run(["git", "config", "-z", "-f", str(path), "--list"], capture_output=True, check=True)
    theirs = [entry.partition("\n")[::2] for entry in listed.stdout.decode().split("\0") if entry]
    ours = [
        (f"{section}.{subsection}.{key}" if subsection else f"{section}.{key}", value)
        for (section, subsection, key), values in gitconfig.read_settings(valid).items()
        for value in values
    ]
    assert [(name, value or "true") for name, value in theirs] == ours


def test_a_broken_line_of_a_config_is_skipped() -> None:
    settings = gitconfig.read_settings(CONFIG)
    assert ("empty", "", "broken") not in settings
    assert gitconfig.first(settings, "empty", "", "fine") == "1"
