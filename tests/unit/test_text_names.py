"""Names that are safe on every disk."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_memory.errors import MemoryFault
from ai_memory.text.limits import TooLarge
from ai_memory.text.names import (
    BadName,
    by_key,
    check_name,
    check_page_path,
    check_read_path,
    default_kind,
    is_page_path,
    is_reserved_project,
    path_key,
    slug,
)


@pytest.mark.parametrize(
    ("given_path", "expected"),
    [
        ("notes/first", "notes/first.md"),
        ("notes/first.md", "notes/first.md"),
        ("notes/first.MD", "notes/first.md"),
        ("notes/v1.2", "notes/v1.2.md"),
        ("notes/cafe\u0301.md", "notes/caf\u00e9.md"),
        ("README", "README.md"),
        ("日本/語.md", "日本/語.md"),
        ("notes/console.md", "notes/console.md"),
        ("notes/log-2026-09.md", "notes/log-2026-09.md"),
        ("_rules/a.md", "_rules/a.md"),
    ],
)
def test_a_good_path_is_normalised(given_path: str, expected: str) -> None:
    assert check_page_path(given_path) == expected


@pytest.mark.parametrize(
    "path",
    [
        "",
        " ",
        "/a.md",
        "a//b.md",
        "a/",
        "../a.md",
        "a/../b.md",
        "./a.md",
        "a/./b",
        ".md",
        "a/.md",
        ".hidden/a",
        "a\\b",
        "C:/a.md",
        "c:a",
        "con.md",
        "CON",
        "notes/Nul.txt.md",
        "aux/a.md",
        "com1.md",
        "LPT9.x.md",
        "com¹.md",
        "con .md",
        "conin$.md",
        "a /b.md",
        " a.md",
        "a .md",
        "a./b.md",
        "a..md",
        "a<b.md",
        'a"b.md',
        "a|b.md",
        "a?.md",
        "a*.md",
        "a\x00b.md",
        "a\nb.md",
        "a\x7fb.md",
        "a\u202eb.md",
        "a\u200bb.md",
        "\ufeffa.md",
        "a\ud800.md",
        "a\u2028b.md",
        ".git/config",
        ".GIT/x.md",
        "a/.Git/x.md",
        ".g\u200cit/x.md",
        "git~1/x.md",
        "GIT~1/a.md",
        "notes~1.md",
        "_meta.md",
        "_META",
        "x/_meta.md",
        "_pending/a.md",
        "_Pending/a.md",
        "log.md",
        "log-2026-09.md",
        "bootstrap.md",
    ],
)
def test_a_path_that_some_disk_or_git_cannot_keep_is_refused(path: str) -> None:
    with pytest.raises(BadName) as refusal:
        check_page_path(path)
    assert "\n" not in refusal.value.message
    assert refusal.value.hint


def test_long_paths_and_segments_name_their_limit() -> None:
    check_page_path("a" * 197 + ".md")
    with pytest.raises(TooLarge, match="201 bytes, at most 200"):
        check_page_path("a" * 198 + ".md")
    with pytest.raises(TooLarge, match="at most 512"):
        check_page_path("/".join(["a" * 99] * 6))


@given(st.text(max_size=60))
def test_whatever_is_accepted_is_safe_and_stays_as_it_is(path: str) -> None:
    try:
        good = check_page_path(path)
    except MemoryFault:
        return
    assert check_page_path(good) == good
    assert check_read_path(good) == good
    assert is_page_path(good)
    assert unicodedata.is_normalized("NFC", good)
    assert good.endswith(".md")
    assert not good.startswith("/")
    for segment in good.split("/"):
        assert not segment.startswith(".")
        assert not set(segment) & set('<>:"|?*\\')
        assert segment == segment.strip()


def test_a_page_with_an_odd_name_can_be_read_but_never_one_outside() -> None:
    assert check_read_path("notes/What: now?.md") == "notes/What: now?.md"
    for path in ("../a", "/etc/passwd", ".git/x", "a/../../b", "a\\b"):
        with pytest.raises(BadName):
            check_read_path(path)


def test_our_own_files_are_no_pages() -> None:
    assert is_page_path("notes/a.md")
    for path in ("_meta.md", "_pending/a.md", ".obsidian/a.md", "a/.trash/b.md", "a.txt", ".md", "bootstrap.md"):
        assert not is_page_path(path)


@pytest.mark.parametrize(
    "name", ["a", "api", "acme-api", "0x", "a.b_c-d", "scratch", "_global", "_profile", "_profile.bo"]
)
def test_good_project_names(name: str) -> None:
    assert check_name(name) == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        ".git",
        "A",
        "ü",
        "-a",
        "_x",
        "a/b",
        "a b",
        "a.",
        "a.lock",
        "a.git",
        "con",
        "nul.x",
        "com1",
        "a\n",
        "_profile.",
        "_profile.A",
        "_global.x",
        "_profile.a.lock",
    ],
)
def test_bad_project_names(name: str) -> None:
    with pytest.raises(BadName):
        check_name(name)


def test_workspaces_have_no_reserved_names_and_names_end_at_100() -> None:
    with pytest.raises(BadName, match="workspace"):
        check_name("_global", what="workspace")
    check_name("a" * 100)
    with pytest.raises(TooLarge, match="101 characters, at most 100"):
        check_name("a" * 101)


def test_reserved_projects_are_known() -> None:
    assert all(map(is_reserved_project, ("_global", "_profile", "_profile.bo", "scratch")))
    assert not is_reserved_project("api")


@pytest.mark.parametrize(
    ("one", "other"),
    [("Notes/A.md", "notes/a.md"), ("caf\u00e9.md", "CAFE\u0301.md"), ("straße.md", "STRASSE.md"), ("ΣΑΣ", "σας")],
)
def test_paths_that_a_folding_disk_takes_for_one_share_a_key(one: str, other: str) -> None:
    assert path_key(one) == path_key(other)


@given(st.lists(st.text(st.sampled_from("aAbK.éÉßſ\u0301\u212a"), min_size=1, max_size=4), min_size=1))
def test_names_by_their_keys_are_the_same_one_by_one_and_at_once(segments: list[str]) -> None:
    assert by_key("/".join(segments)) == {path_key(name): name for name in segments}
    plain = [name.encode("ascii", "replace").decode() for name in segments]
    assert by_key("/".join(plain)) == {path_key(name): name for name in plain}


@given(st.text(max_size=40))
def test_a_key_is_its_own_key_whatever_case_and_form(path: str) -> None:
    key = path_key(path)
    assert path_key(key) == key
    for form in ("NFC", "NFD"):
        assert path_key(unicodedata.normalize(form, path)) == key


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Use WAL, not rollback!", "use-wal-not-rollback"),
        ("Café Ünï", "cafe-uni"),
        ("日本語 テスト", "日本語-テスト"),
        ("Йод", "йод"),
        ("", "page"),
        ("!!!", "page"),
        ("con", "con-page"),
        ("a" * 100, "a" * 48),
        ("word " * 20, "word-word-word-word-word-word-word-word-word"),
    ],
)
def test_slugs(title: str, expected: str) -> None:
    assert slug(title) == expected


@given(st.text(max_size=80), st.integers(min_value=8, max_value=60))
def test_every_slug_is_a_good_file_name(title: str, limit: int) -> None:
    stem = slug(title, limit)
    assert 0 < len(stem) <= limit
    assert check_page_path(f"notes/{stem}") == f"notes/{stem}.md"


def test_the_folder_gives_the_kind() -> None:
    assert default_kind("decisions/a.md") == "decision"
    assert default_kind("_slots/me/a.md") == "slot"
    assert default_kind("handoffs/2026-11/x.md") == "handoff"
    assert default_kind("decisions") == default_kind("runbooks/a.md") == "note"
