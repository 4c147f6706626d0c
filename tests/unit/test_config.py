"""The configuration: where a value comes from, and what is refused."""

import ast
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

import ai_memory
from ai_memory.config import SETTINGS, Config, Loaded, Origin, combine, find_setting, load, parse_value
from ai_memory.config_table import DROPPED, RESERVED_ENVIRONMENT
from ai_memory.errors import MemoryFault, NotFound, StoreFault
from ai_memory.scope.hook_policy import HOOK_SETTINGS
from ai_memory.settings import Kind, Setting


def of(text: str = "", environ: Mapping[str, str] | None = None, **flags: object) -> Loaded:
    named = {key.replace("__", "."): value for key, value in flags.items()}
    return combine(text, environ or {}, named, name="config.toml")


def fault(text: str) -> MemoryFault:
    with pytest.raises(MemoryFault) as caught:
        of(text)
    return caught.value


def test_nothing_set_gives_the_defaults(tmp_path: Path) -> None:
    loaded = load(tmp_path / "config.toml", {})
    assert loaded.config == Config()
    assert set(loaded.origins.values()) == {Origin.DEFAULT}
    assert (loaded.config.sessions.idle_end_after_hours, loaded.config.capture.assistant) == (24, "off")
    assert not (tmp_path / "config.toml").exists()


def test_flags_beat_environment_beats_file_beats_default() -> None:
    text = "[sessions]\nidle_end_after_hours = 1\n[hook_spool]\nmax_files = 200\n[handoff]\nexpire_after_days = 3\n"
    environ = {"AI_MEMORY_SESSIONS__IDLE_END_AFTER_HOURS": "10", "AI_MEMORY_HOOK_SPOOL__MAX_FILES": "2000"}
    loaded = of(text, environ, sessions__idle_end_after_hours=100)
    config = loaded.config
    assert config.sessions.idle_end_after_hours == 100
    assert config.hook_spool.max_files == 2000
    assert config.handoff.expire_after_days == 3
    assert config.log_level == "info"
    shown = [
        loaded.origins[key].value
        for key in ("sessions.idle_end_after_hours", "hook_spool.max_files", "handoff.expire_after_days", "log_level")
    ]
    assert shown == ["flag", "env", "file", "default"]


def test_every_setting_has_a_default_that_it_takes_itself() -> None:
    for one in SETTINGS:
        if one.default is not None:
            assert one.checked(one.default) == one.default
            assert one.from_text(one.default_text) == one.default
        assert one.description.endswith(".")
        assert one.values
        assert one.default_text


def test_stopwords_have_three_states() -> None:
    assert of().config.search.fts.stopwords is None
    assert of("[search.fts]\nstopwords = []").config.search.fts.stopwords == ()
    assert of('search.fts.stopwords = ["der", "die"]').config.search.fts.stopwords == ("der", "die")
    assert of("", {"AI_MEMORY_SEARCH__FTS__STOPWORDS": ""}).config.search.fts.stopwords == ()


def test_an_unknown_key_names_file_line_and_the_nearest_one() -> None:
    found = fault("# note\n[sessions]\nidle_end_after_hour = 3\n")
    assert found.message == "config.toml, line 3: unknown setting `sessions.idle_end_after_hour`"
    assert found.hint == "the nearest setting is sessions.idle_end_after_hours"
    assert fault("capture_assistant = true").hint == "the nearest setting is capture.assistant"
    assert fault("[zzz]\n").message == "config.toml, line 1: unknown setting `zzz`"


@pytest.mark.parametrize(
    "text",
    [
        'bind = "127.0.0.1:49374"',
        'server_url = "http://x"',
        "tcp_keepalive_secs = 5",
        "[auth]\nbearer_token = 'x'",
        "[auth]",
        "[auto_scope]\nmode = 'x'",
        "hook_rate_per_sec = 1",
        "[hook_spool]\nmax_attempts = 8",
        "cors_allow_origins = []",
    ],
)
def test_keys_of_a_server_are_refused_with_the_reason(text: str) -> None:
    found = fault(text)
    assert re.match(r"config\.toml, line [12]: `.*` has no place here: ai-memory runs no server", found.message)
    assert found.hint == "remove the line"
    assert "x" not in found.hint


def test_no_setting_is_dropped_at_once() -> None:
    assert not {one.key for one in SETTINGS} & set(DROPPED)
    assert not {one.environment for one in SETTINGS} & RESERVED_ENVIRONMENT


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[capture]\nprompts = 1", "line 2: capture.prompts takes true or false, not 1"),
        ("[capture]\nassistant = true", "line 2: capture.assistant takes one of off, excerpt, not True"),
        ("[sessions]\nidle_end_after_hours = 9000", "takes a whole number from 0 to 8760, not 9000"),
        ("[sessions]\nidle_end_after_hours = true", "takes a whole number"),
        ("[sessions]\nidle_end_after_hours = 1.5", "takes a whole number"),
        ("[ingest]\ndrop_events = ['session-end']", "'session-end' is none of them"),
        ("[ingest]\ndrop_tool_names = 'Bash'", "takes a list of words"),
        ("[ingest]\ndrop_tool_names = ['']", "takes a list of words"),
        (f"[ingest]\ndrop_tool_names = {['x'] * 65}", "at most 64 of 128 characters"),
        (f"[ingest]\ndrop_tool_names = ['{'x' * 129}']", "at most 64 of 128 characters"),
        ("[sanitize]\nextra_patterns = ['ok', '(']", "'(' is none: missing"),
        ("[sanitize]\nallowlist = ['(a+)+b']", "'(a+)+b' is refused: it repeats what repeats itself"),
        ("capture = 3", "line 1: `capture` is a table of settings"),
        ("[[capture]]\nprompts = true", "line 1: `capture` is a table of settings"),
        ('"capture.prompts" = false', "unknown setting `capture.prompts`"),
        ("a = 1\nb = = 2", "line 2: not valid TOML: Invalid value"),
        ("log_level = 'loud'", "line 1: log_level takes one of info, warning, error, not 'loud'"),
        ("[capture]\nprompts = true\nprompts = false", "not valid TOML"),
    ],
)
def test_a_bad_value_names_the_place_and_what_would_fit(text: str, message: str) -> None:
    found = fault(text)
    assert found.message.startswith("config.toml, line ")
    assert message in found.message


def test_a_number_that_clamps_is_moved_into_its_range() -> None:
    length = Setting("page.length", Kind.NUMBER, 4000, "Length.", lowest=1500, highest=8000, clamps=True)
    assert length.checked(20_000) == 8000
    assert length.from_text("1") == 1500
    assert length.checked(2000) == 2000


def reads_of(file: Path) -> set[str]:
    """Keys that a file reads: the end of `config.a.b`, and every text that could be a key."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute):
            _, mark, key = f".{ast.unparse(node)}".rpartition(".config.")
            found |= {key.removesuffix("_")} if mark else set()  # `lambda_`
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value)
    return found


PACKAGE = Path(ai_memory.__file__).parent
READERS = [file for file in sorted(PACKAGE.rglob("*.py")) if file.name not in ("config_table.py", "settings.py")]


def test_every_setting_is_read_somewhere() -> None:
    read = set().union(*map(reads_of, READERS))
    assert {one.key for one in SETTINGS} - read == set()
    assert "hook_spool.max_age" not in read


def test_what_is_compiled_for_hooks_is_read_by_them() -> None:
    assert set(HOOK_SETTINGS) - reads_of(PACKAGE / "hook_policy.py") == set()


def test_reading_a_setting_is_told_from_other_words(tmp_path: Path) -> None:
    file = tmp_path / "reader.py"
    file.write_text("def f(loaded, rules):\n    rules.max_days\n    return loaded.config.capture.prompts, 'a.b'\n")
    assert reads_of(file) == {"capture", "capture.prompts", "a.b"}


def test_unknown_variables_warn_and_never_fail() -> None:
    environ = {
        "AI_MEMORY_NONSENSE": "1",
        "AI_MEMORY_CAPTURE__PROMPT": "no",
        "AI_MEMORY_AUTH_TOKEN": "secret",
        "AI_MEMORY_BIND": "0.0.0.0",
        "HOME": "/home/me",
        **dict.fromkeys(RESERVED_ENVIRONMENT, "off"),
    }
    loaded = of("", environ)
    assert loaded.config == Config()
    assert len(loaded.warnings) == 4
    assert (
        "AI_MEMORY_AUTH_TOKEN is ignored: ai-memory runs no server, nothing listens on a port, so nobody logs in"
        in (loaded.warnings)
    )
    assert "AI_MEMORY_CAPTURE__PROMPT is ignored: the nearest setting is capture.prompts" in loaded.warnings
    assert "secret" not in " ".join(loaded.warnings)


def test_a_bad_variable_is_a_fault_for_people_and_a_warning_for_hooks() -> None:
    environ = {"AI_MEMORY_CAPTURE__PROMPTS": "perhaps"}
    with pytest.raises(MemoryFault, match="AI_MEMORY_CAPTURE__PROMPTS takes true or false, not 'perhaps'"):
        of("", environ)
    loaded = combine("", environ, {}, name="c", strict_environ=False)
    assert loaded.config == Config()
    assert loaded.warnings


def test_values_typed_by_a_person() -> None:
    for word, value in (("on", True), ("YES", True), ("0", False), ("off", False)):
        assert parse_value("capture.prompts", word) is value
    assert parse_value("ingest.drop_tool_names", "Bash, Read,") == ("Bash", "Read")
    assert parse_value("ingest.drop_tool_names", '["a,b", "c"]') == ("a,b", "c")
    assert parse_value("sanitize.extra_patterns", r"acme-[0-9]{2,8}") == (r"acme-[0-9]{2,8}",)
    assert parse_value("sanitize.extra_patterns", "[a-f]{32}") == ("[a-f]{32}",)
    assert parse_value("sanitize.extra_patterns", "") == ()
    assert parse_value("hook_spool.max_files", "1000") == 1000
    for text in ("1e3", "", "９", "10 000", "-1"):
        with pytest.raises(MemoryFault, match=r"hook_spool\.max_files takes a whole number"):
            parse_value("hook_spool.max_files", text)


def test_a_key_that_is_no_setting_is_not_found() -> None:
    with pytest.raises(NotFound) as caught:
        find_setting("capture.prompt")
    assert caught.value.hint == "the nearest setting is capture.prompts"
    with pytest.raises(NotFound, match="no server"):
        of("", None, bind="x")


def test_a_file_with_a_byte_order_mark_and_crlf_is_read(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(b"\xef\xbb\xbf[capture]\r\nprompts = false\r\n")
    assert load(path, {}).config.capture.prompts is False


def test_a_file_that_cannot_be_read_is_a_fault(tmp_path: Path) -> None:
    with pytest.raises(StoreFault, match="cannot be read"):
        load(tmp_path, {})
    path = tmp_path / "config.toml"
    path.write_bytes(b"a = '\xff'")
    with pytest.raises(MemoryFault, match="UTF-8"):
        load(path, {})
    path.write_bytes(b"#" * ((1 << 20) + 1))
    with pytest.raises(MemoryFault, match="larger than 1 MiB"):
        load(path, {})
    path.write_text("x = = 1")
    with pytest.raises(MemoryFault, match=rf"{re.escape(str(path))}, line 1"):
        load(path, {})
