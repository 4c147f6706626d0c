"""The hook's own light spellings say what platformdirs, scope and store say."""

import importlib
import json
import os
import subprocess
from pathlib import Path

import platformdirs
import pytest
from hook_runs import Desk

from ai_memory import hook_event, hook_places
from ai_memory.capture.spooled import parse_event
from ai_memory.paths import DataDir, find_data_dir
from ai_memory.scope.markers import nearest_markers
from ai_memory.store.outbox import Outbox, directory_key, directory_names, open_name
from ai_memory.text.fences import INJECTED_MARK, MARK


@pytest.mark.parametrize(
    "environ",
    [
        {},
        {"XDG_DATA_HOME": "/x/data"},
        {"XDG_DATA_HOME": "/x/data/"},
        {"XDG_DATA_HOME": "relative"},
        {"XDG_DATA_HOME": ""},
    ],
)
@pytest.mark.parametrize("module", ["unix", "macos"])
def test_the_default_data_dir_is_that_of_platformdirs(
    module: str, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch, scratch_home: Path
) -> None:
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    kinds = importlib.import_module(f"platformdirs.{module}")
    theirs = (kinds.Unix if module == "unix" else kinds.MacOS)("ai-memory", appauthor=False).user_data_dir
    platform = {"unix": "linux", "macos": "darwin"}[module]
    assert hook_places.default_data_dir(os.environ, platform, str(scratch_home)) == theirs


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"LOCALAPPDATA": "C:\\Users\\ann\\AppData\\Local"}, "C:\\Users\\ann\\AppData\\Local\\ai-memory"),
        ({}, "C:\\Users\\ann\\AppData\\Local\\ai-memory"),
        ({"LOCALAPPDATA": "D:/Local/", "XDG_DATA_HOME": "/x"}, "D:\\Local\\ai-memory"),
        ({"LOCALAPPDATA": "C:\\L", "WIN_PD_OVERRIDE_LOCAL_APPDATA": "E:\\Data"}, "E:\\Data\\ai-memory"),
    ],
)
def test_on_windows_it_is_the_local_application_data(environ: dict[str, str], expected: str) -> None:
    assert hook_places.default_data_dir(environ, "win32", "C:\\Users\\ann") == expected


@pytest.mark.parametrize("home", ["", "relative", None])
def test_hook_and_command_line_find_the_same_data_dir(home: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    if home is not None:
        monkeypatch.setenv("HOME", home)
    mine = hook_places.find_data_dir("", os.environ)
    if home == "":  # expanduser, and so platformdirs, make of it what the system says
        assert mine.endswith("/ai-memory")
        return
    assert mine == str(find_data_dir(None, os.environ).root) == platformdirs.user_data_dir("ai-memory", appauthor=False)


@pytest.mark.parametrize(("flag", "variable"), [("", "~/mem"), ("/a/../b", "/c"), ("rel", ""), ("~/x", "/c")])
def test_named_data_dirs_are_the_same(flag: str, variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if variable:
        monkeypatch.setenv("AI_MEMORY_DATA_DIR", variable)
    assert hook_places.find_data_dir(flag, os.environ) == str(find_data_dir(flag or None, os.environ).root)


@pytest.mark.parametrize("name", ["plain", "Großes Büro", "e\u0301", "日本語", "a\udcff"])
def test_keys_of_directories_are_those_of_the_store(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    (tmp_path / "link").symlink_to(folder)
    real = os.path.realpath(tmp_path / "link")
    assert hook_places.directory_key(real) == directory_key(str(tmp_path / "link")) == directory_key(str(folder))


def git(folder: Path, *words: str) -> None:
    settings = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *settings, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def folders(scratch_home: Path, tmp_path: Path) -> dict[str, Path]:
    """Checkouts of every kind that real git makes, in the home folder and outside it."""
    shop = scratch_home / "work" / "shop"
    outside = tmp_path / "outside"
    for folder in (shop / "src" / "deep", outside / "in", scratch_home / "plain" / "below", tmp_path / "none" / "x"):
        folder.mkdir(parents=True)
    for folder in (shop, outside):
        git(folder, "init")
        git(folder, "commit", "--allow-empty", "-m", "x")
    git(shop, "worktree", "add", str(tmp_path / "tree"))
    git(shop, "worktree", "add", str(scratch_home / "work" / "near"))
    (tmp_path / "link").symlink_to(shop / "src")
    (scratch_home / "empty-git" / ".git").mkdir(parents=True)
    return {
        "root": shop,
        "below": shop / "src" / "deep",
        "worktree": tmp_path / "tree",
        "near worktree": scratch_home / "work" / "near",
        "outside": outside / "in",
        "home": scratch_home,
        "plain": scratch_home / "plain" / "below",
        "none": tmp_path / "none" / "x",
        "link": tmp_path / "link" / "deep",
        "empty .git": scratch_home / "empty-git",
        "above home": scratch_home.parent,
    }


def test_the_hook_looks_for_markers_where_scope_does(folders: dict[str, Path], scratch_home: Path) -> None:
    places = {place for folder in folders.values() for place in (folder, *folder.parents)}
    for place in places:
        if os.access(place, os.W_OK) and place.is_relative_to("/tmp") and place != Path("/tmp"):
            (place / ".ai-memory.toml").write_text('workspace = "w"\n')
    for name, folder in folders.items():
        theirs = [source.path for source in nearest_markers(str(folder), str(scratch_home))]
        mine = hook_places.Surroundings(str(folder), str(scratch_home)).markers()
        assert [path for path in mine if Path(path).exists()] == theirs, name


def test_keys_lead_from_a_folder_to_its_checkout_and_the_common_git_directory(folders: dict[str, Path]) -> None:
    shop = folders["root"]
    keys = hook_places.Surroundings(str(folders["below"]), "/nowhere").keys()
    way = [shop / "src" / "deep", shop / "src", shop, shop / ".git"]
    assert keys == [directory_key(str(place)) for place in way]
    tree = hook_places.Surroundings(str(folders["worktree"]), "/nowhere").keys()
    assert tree == [directory_key(str(place)) for place in (folders["worktree"], shop / ".git")]


def test_the_home_folder_is_no_place_for_what_lies_below_it(folders: dict[str, Path], scratch_home: Path) -> None:
    around = hook_places.Surroundings(str(folders["plain"]), str(scratch_home))
    assert around.folders == [str(folders["plain"]), str(folders["plain"].parent)]
    assert hook_places.Surroundings(str(scratch_home), str(scratch_home)).folders == [str(scratch_home)]


def test_dotfiles_kept_in_git_make_the_home_folder_no_checkout(scratch_home: Path) -> None:
    git(scratch_home, "init")
    (scratch_home / "x").mkdir()
    assert hook_places.Surroundings(str(scratch_home / "x"), str(scratch_home)).root == ""


def test_the_hook_knows_the_marker_of_injected_text() -> None:
    assert hook_event.INJECTED == MARK
    assert MARK in INJECTED_MARK


@pytest.mark.parametrize(
    "raw",
    [
        "019AD0F0-e000-7000-8000-00000000000a",
        "019ad0f0e0007000800000000000000a",
        "deadbeef_deadbeef_deadbeef_dead0",
        "0x" + "ab" * 15,
        "１" * 32,
        "{019ad0f0-e000-7000-8000-00000000000a}",
        "urn:uuid:019ad0f0-e000-7000-8000-00000000000a",
        "0-1-9ad0f0e0007000800000000000000a",
        "a\0b",
        " padded ",
        "lone \ud800 surrogate",
        "café",
    ],
)
def test_hook_and_drain_know_a_session_by_one_id(tmp_path: Path, raw: str) -> None:
    """And only what is a UUID as it stands is kept: no two ids become one."""
    desk = Desk(tmp_path)
    Outbox(DataDir(desk.data)).put(open_name("a" * 32), "text")
    Outbox(DataDir(desk.data)).put(*directory_names("a" * 32, [str(desk.checkout)]), "")
    payload = desk.payload("SessionStart", session_id=raw, source="startup")
    desk.run("session-start", json.dumps(payload).encode())
    (claim,) = Outbox(DataDir(desk.data)).claims()
    (name,) = (path.name for path in (desk.data / "spool").glob("*.json") if b"claimed" in path.read_bytes())
    assert parse_event(name, (desk.data / "spool" / name).read_bytes()).session == claim.session
    is_uuid = raw.lower().replace("-", "") == "019ad0f0e0007000800000000000000a" and raw.count("-") in (0, 4)
    assert (claim.session == "019ad0f0-e000-7000-8000-00000000000a") == is_uuid
