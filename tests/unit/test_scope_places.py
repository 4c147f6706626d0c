"""Paths as strings: Windows and macOS rules, tested anywhere."""

import pytest

from ai_memory.scope import places
from ai_memory.scope.routes import expand


@pytest.mark.parametrize(
    ("written", "cleaned"),
    [
        ("C:\\Users\\Me\\api\\", "C:\\Users\\Me\\api"),
        ("\\\\?\\C:\\Users\\Me\\api", "C:\\Users\\Me\\api"),
        ("\\\\?\\UNC\\server\\share\\api", "\\\\server\\share\\api"),
        ("C:/Users/Me/x/../api", "C:\\Users\\Me\\api"),
        ("/c/Users/Me/api", "c:\\Users\\Me\\api"),
        ("/c", "c:\\"),
    ],
)
def test_windows_paths_are_cleaned(written: str, cleaned: str) -> None:
    assert places.clean(written, "win32") == cleaned


def test_posix_paths_are_cleaned() -> None:
    assert places.clean("//srv//a/./b/../c/", "linux") == "/srv/a/c"
    assert places.clean("/c/Users", "linux") == "/c/Users"


def test_keys_fold_where_the_system_folds() -> None:
    assert places.key("C:\\Users\\ME\\Api", "win32") == "c:/users/me/api"
    assert places.is_same("/Users/Me/Cafe\u0301", "/users/me/CAFÉ", "darwin")
    assert not places.is_same("/Users/Me", "/users/me", "linux")
    assert places.is_same("/srv/Cafe\u0301", "/srv/Café", "linux")


def test_within_is_told_on_a_path_boundary() -> None:
    assert places.is_within("C:\\Code\\api\\src", "c:/code/api", "win32")
    assert not places.is_within("/code/api2", "/code/api", "linux")
    assert places.is_within("/code/api", "/code/api/", "linux")
    assert places.is_within("/code", "/", "linux")
    assert places.is_within("C:\\x", "C:\\", "win32")
    assert not places.is_within("D:\\x", "C:\\", "win32")


@pytest.mark.parametrize(
    ("path", "platform"), [("/", "linux"), ("C:\\", "win32"), ("C:/", "win32"), ("\\\\server\\share\\", "win32")]
)
def test_roots_have_no_parent(path: str, platform: str) -> None:
    assert places.is_root(path, platform)
    assert len(places.ancestry(path, platform)) == 1
    assert places.folder_name(path, platform) in ("", "share")


def test_the_way_up_is_bounded() -> None:
    assert places.ancestry("C:\\a\\b", "win32") == ("C:\\a\\b", "C:\\a", "C:\\")
    assert places.ancestry("/a/b", "linux") == ("/a/b", "/a", "/")
    assert len(places.ancestry("/x" * 500, "linux")) == places.MAX_LEVELS


def test_absolute_paths() -> None:
    assert places.is_absolute("C:\\x", "win32")
    assert places.is_absolute("\\\\server\\share\\x", "win32")
    assert not places.is_absolute("C:x", "win32")
    assert not places.is_absolute("\\x", "win32")
    assert not places.is_absolute("x", "linux")


@pytest.mark.parametrize(
    ("uri", "platform", "path"),
    [
        ("file:///srv/my%20api", "linux", "/srv/my api"),
        ("file://localhost/srv/api", "linux", "/srv/api"),
        ("file:/srv/api", "linux", "/srv/api"),
        ("file://server/share", "linux", None),
        ("file:///C:/code/api", "win32", "C:/code/api"),
        ("file:///c%3A/code", "win32", "c:/code"),
        ("/srv/api", "linux", "/srv/api"),
        ("C:\\code", "win32", "C:\\code"),
        ("https://example.org/", "linux", None),
    ],
)
def test_roots_of_a_client_become_paths(uri: str, platform: str, path: str | None) -> None:
    assert places.from_uri(uri, platform) == path


def test_a_tilde_is_the_home_folder() -> None:
    assert expand("~/work", "/home/me", "linux") == "/home/me/work"
    assert expand("~", "C:\\Users\\Me", "win32") == "C:\\Users\\Me"
    assert expand("~ann/work", "/home/me", "linux") == "~ann/work"
