"""A marker is hostile: bounded, checked, and never fatal where it does not matter."""

import os
from pathlib import Path

import pytest
from checkouts import checkout, git

from ai_memory.scope.markers import MarkerFault, Source, nearest_markers, parse_marker, read_marker
from ai_memory.scope.policy import CapturePolicy, capture_policy, pattern_fault, policy_at

AT = "/x/.ai-memory.toml"


def policy(text: str) -> CapturePolicy:
    return capture_policy(parse_marker(text, path=AT))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('a = 1\nworkspace = "Work"', "line 2: not a workspace name: 'Work'"),
        ("workspace = 3", "line 1: `workspace` must be a string"),
        ('workspace = "../etc"', "line 1: not a workspace name"),
        ('workspace = "w"\nproject = "a/b"', "line 2: not a project name"),
        ('workspace = "w"\nproject = "scratch"', "line 2: `scratch` is a reserved project"),
        ('project_strategy = "magic"', "line 1: `project_strategy` must be one of repo-root, basename"),
        ('identity_style = "x"', "`identity_style` must be one of"),
        ('identity = "https://me:pw@host/../x"', "not an identity"),
        ('identity = "/srv/other"', "not an identity"),
        ('aliases = "old"', "`aliases` must be a list"),
        ('aliases = [\n"ok",\n"NOT OK"]', "line 1: not a project name: 'NOT OK'"),
        (f"aliases = {[f'a{n}' for n in range(17)]}", "17 names, at most 16"),
        ("x = [", "not valid TOML"),
        ("x = " + "[" * 5000, "not valid TOML"),
        ("x = 1\nx = 2", "line 2: not valid TOML"),
    ],
)
def test_a_marker_that_names_badly_is_a_fault_with_its_line(text: str, message: str) -> None:
    with pytest.raises(MarkerFault) as caught:
        parse_marker(text, path=AT)
    assert caught.value.message.startswith(AT)
    assert message in caught.value.message


def test_unknown_keys_and_server_only_warn() -> None:
    marker = parse_marker('workspace = "w"\ncolour = "red"\nserver = "office"\n', path=AT)
    assert marker.workspace == "w"
    assert len(marker.warnings) == 2


def test_the_fitting_name_is_in_the_hint() -> None:
    with pytest.raises(MarkerFault) as caught:
        parse_marker('project = "My API"', path=AT)
    assert caught.value.hint == "write 'my-api'"


def test_a_byte_order_mark_and_crlf_are_fine(tmp_path: Path) -> None:
    path = tmp_path / ".ai-memory.toml"
    path.write_bytes(b'\xef\xbb\xbfworkspace = "w"\r\nproject = "p"\r\n')
    marker = read_marker(str(path), home="/nowhere")
    assert marker is not None
    assert (marker.workspace, marker.project) == ("w", "p")


def test_a_marker_above_64_kib_is_a_fault(tmp_path: Path) -> None:
    path = tmp_path / ".ai-memory.toml"
    path.write_text("#" * (64 << 10))
    assert read_marker(str(path), home="/nowhere") is not None
    path.write_text("#" * ((64 << 10) + 1))
    with pytest.raises(MarkerFault, match="64 KiB"):
        read_marker(str(path), home="/nowhere")


def test_what_is_no_regular_file_is_no_marker(tmp_path: Path) -> None:
    path = tmp_path / ".ai-memory.toml"
    assert read_marker(str(path), home="/nowhere") is None
    path.mkdir()
    assert read_marker(str(path), home="/nowhere") is None
    path.rmdir()
    os.mkfifo(path)
    assert read_marker(str(path), home="/nowhere") is None


def test_a_marker_that_is_not_utf8_is_a_fault(tmp_path: Path) -> None:
    path = tmp_path / ".ai-memory.toml"
    path.write_bytes(b'workspace = "\xff"')
    with pytest.raises(MarkerFault, match="UTF-8"):
        read_marker(str(path), home="/nowhere")


def test_the_home_marker_may_be_a_symlink_within_the_home_folder(tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    (tmp_path / "dotfiles" / "m.toml").write_text('[routes.path."~/x"]\nproject = "x"')
    (tmp_path / ".ai-memory.toml").symlink_to("dotfiles/m.toml")
    marker = read_marker(str(tmp_path / ".ai-memory.toml"), home=str(tmp_path))
    assert marker is not None
    assert marker.routes


def test_the_sources_of_a_folder_are_listed_nearest_first(tmp_path: Path) -> None:
    home = tmp_path / "me"
    root = checkout(home / "work" / "api")
    (root / "src").mkdir()
    for folder in (root / "src", root, home / "work", home, tmp_path):
        (folder / ".ai-memory.toml").write_text('workspace = "w"\n')
    sources = nearest_markers(str(root / "src"), str(home))
    assert [source.path for source in sources] == [
        str(folder / ".ai-memory.toml") for folder in (root / "src", root, home / "work", home)
    ]
    status = (root / ".ai-memory.toml").stat()
    assert sources[1] == Source(str(root / ".ai-memory.toml"), status.st_size, status.st_mtime_ns)


def test_the_sources_of_a_worktree_go_on_at_the_main_checkout(tmp_path: Path) -> None:
    home = tmp_path / "me"
    root = checkout(home / "api")
    git(root, "worktree", "add", "-q", str(tmp_path / "wt"))
    (root / ".ai-memory.toml").write_text("[capture]\n")
    assert [source.path for source in nearest_markers(str(tmp_path / "wt"), str(home))] == [
        str(root / ".ai-memory.toml")
    ]


def test_a_policy_is_read_whole() -> None:
    asked = policy(
        """
        drop_subagent_captures = "yes"
        [capture]
        ignore_paths = ["secrets/**", "*.pem", "~/private/?"]
        prompts = false
        assistant = "excerpt"
        [briefing]
        inject_on_session_start = 1
        max_chars = 90000
        [recall]
        default_global = "on"
        [handoff]
        claim_on_session_start = "off"
        create_on_session_end = true
        """
    )
    assert asked == CapturePolicy(
        ignore_paths=("secrets/**", "*.pem", "~/private/?"),
        prompts=False,
        assistant="excerpt",
        drop_subagent_captures=True,
        inject_brief_on_session_start=True,
        briefing_max_chars=8000,
        default_global_recall=True,
        claim_handoff_on_session_start=False,
        create_handoff_on_session_end=True,
    )


def test_a_marker_that_says_nothing_asks_for_nothing() -> None:
    assert policy('workspace = "w"') == CapturePolicy()


@pytest.mark.parametrize(
    "capture",
    [
        'ignore_paths = "*.pem"',
        'ignore_paths = ["ok", 3]',
        'ignore_paths = ["ok", ""]',
        'ignore_paths = ["[ab].pem"]',
        f"ignore_paths = {['x'] * 129}",
        f'ignore_paths = ["{"x" * 1025}"]',
        'ignore_path = ["*.pem"]',
        'prompts = "perhaps"',
        'assistant = "all"',
    ],
)
def test_one_bad_entry_voids_the_capture_policy(capture: str) -> None:
    asked = policy(f"[capture]\n{capture}")
    assert not asked.is_valid
    assert asked.problems[0].startswith(AT)
    assert asked.ignore_paths == ()


def test_capture_that_is_no_table_voids_the_policy() -> None:
    assert not policy('capture = "off"').is_valid


def test_a_bad_briefing_only_warns() -> None:
    asked = policy('[briefing]\nmax_chars = "many"\ncolour = 1\n[recall]\ndefault_global = "perhaps"')
    assert asked.is_valid
    assert len(asked.warnings) == 3


@pytest.mark.parametrize("pattern", ["*", "**", "a/**/b", "src/?.py", "~/x", "/abs/x", "häuser/*", "x.**", "a" * 1024])
def test_plain_globs_are_patterns(pattern: str) -> None:
    assert pattern_fault(pattern) is None


@pytest.mark.parametrize("pattern", ["", "!x", "a\\b", "{a,b}", "***", "~ann/x", "~", "../x", "a/../b", "a\nb", None])
def test_everything_else_is_none(pattern: object) -> None:
    assert pattern_fault(pattern)


def test_a_broken_marker_is_an_invalid_policy_and_no_fault(tmp_path: Path) -> None:
    path = tmp_path / ".ai-memory.toml"
    assert policy_at(str(path), home="/nowhere") == CapturePolicy()
    path.write_text("broken [")
    assert not policy_at(str(path), home="/nowhere").is_valid
