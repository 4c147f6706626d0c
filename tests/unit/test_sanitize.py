"""The sanitiser makes `Sanitized` values: private parts, then secrets, then the cut."""

from secret_forms import ALNUM, Maker

from ai_memory.text.sanitize import cap, sanitize


def test_private_parts_and_secrets_go() -> None:
    token = "gh" + "p_" + Maker(1).mixed(ALNUM, 36)
    assert sanitize(f"a <private>b</private>{token}") == "a [REDACTED:github-token]"


def test_it_takes_the_patterns_of_the_configuration() -> None:
    assert sanitize("ACME-1 ACME-2", extra=[r"ACME-\d"], allow=["2"]) == "[REDACTED:custom] ACME-2"


def test_it_is_idempotent() -> None:
    once = sanitize("password=hunter22 <private>x")
    assert sanitize(once) == once


def test_the_cut_counts_bytes_and_keeps_letters_whole() -> None:
    short = cap(sanitize("é" * 1_000), 200)
    assert len(short.encode()) <= 200
    assert short.startswith("é")
    assert short.endswith("é")
    assert "bytes cut" in short
    assert cap(short, 200) == short


def test_a_tiny_limit_leaves_the_head() -> None:
    assert cap(sanitize("abcdef"), 3) == "abc"
    assert cap(sanitize("ééé"), 3) == "é"
    assert cap(sanitize("abc"), 0) == ""
