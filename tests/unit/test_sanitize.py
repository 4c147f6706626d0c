"""The sanitiser makes `Sanitized` values: private parts, then secrets, then the cut."""

from collections.abc import Iterator

import pytest
from secret_formats import FORMATS, Maker
from secret_places import cases

from ai_memory.text import sanitize as sanitising
from ai_memory.text.sanitize import cap, sanitize, sanitize_together

HALVES = (
    *("", "bearer ", "password:", '"api_key": "', "x-api-key =", "authorization: basic", "--token", "curl -u me", "<"),
    *("https://me:", "</private>", "<private", "private>", "-----BEGIN PRIVATE", "MT", "sk", "\x1b]0;", "/.ssh/", "İ "),
)
"""Texts that would have a secret in what follows if they reached so far, or would hide one."""


def test_private_parts_and_secrets_go() -> None:
    token = "gh" + "p_" + Maker(1).checked("", 36)
    assert sanitize(f"a <private>b</private>{token}") == "a [REDACTED:github-token]"


def test_it_takes_the_patterns_of_the_configuration() -> None:
    assert sanitize("ACME-1 ACME-2", extra=[r"ACME-\d"], allow=["2"]) == "[REDACTED:custom] ACME-2"


def test_it_is_idempotent() -> None:
    once = sanitize("password=hunter22 <private>x")
    assert sanitize(once) == once


def neighbours() -> Iterator[tuple[str, ...]]:
    for number, case in enumerate(list(cases(FORMATS))[::5]):
        half = HALVES[number % len(HALVES)]
        cut = 1 + number % len(case.secret)
        yield half, case.text
        yield "ls -la", half, case.secret, "done"
        yield case.secret[:cut], case.secret[cut:], half
        yield half, case.text[:cut], "\n", case.text[cut:]


def test_texts_that_are_sanitised_together_come_out_as_each_by_itself() -> None:
    for texts in neighbours():
        assert sanitize_together(texts) == [sanitize(text) for text in texts], texts


def test_texts_without_a_secret_cost_one_look_together(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[str] = []
    real = sanitising.scrub
    monkeypatch.setattr(sanitising, "scrub", lambda text, **how: looks.append(text) or real(text, **how))
    assert sanitize_together(["ls -la", "total 4", "", "naïve ✓"]) == ["ls -la", "total 4", "", "naïve ✓"]
    assert len(looks) == 1


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
