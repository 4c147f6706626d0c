"""Spans of time that a question names, and words that only look like one."""

from datetime import UTC, datetime

import pytest

from ai_memory.search.intent import recalls_a_session
from ai_memory.search.when import named_span


def us(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1_000_000)


def span(query: str, today: str) -> tuple[str, str] | None:
    found = named_span(query, us(f"{today}T12:34:56"))
    if found is None:
        return None
    begins, ends = (datetime.fromtimestamp(at / 1_000_000, UTC) for at in found)
    return begins.strftime("%Y-%m-%d"), ends.strftime("%Y-%m-%d")


@pytest.mark.parametrize(
    ("query", "today", "found"),
    [
        ("what changed yesterday", "2026-03-01", ("2026-02-28", "2026-03-01")),
        ("yesterday", "2024-03-01", ("2024-02-29", "2024-03-01")),
        ("the day before yesterday", "2026-01-01", ("2025-12-30", "2025-12-31")),
        ("today", "2026-12-31", ("2026-12-31", "2027-01-01")),
        ("last week", "2026-11-30", ("2026-11-23", "2026-11-30")),  # a Monday
        ("last week", "2026-11-29", ("2026-11-16", "2026-11-23")),  # a Sunday
        ("this week", "2026-11-29", ("2026-11-23", "2026-11-30")),
        ("last week", "2026-01-01", ("2025-12-22", "2025-12-29")),
        ("last month", "2026-03-31", ("2026-02-01", "2026-03-01")),
        ("last month", "2026-01-15", ("2025-12-01", "2026-01-01")),
        ("this month", "2024-02-29", ("2024-02-01", "2024-03-01")),
        ("in may", "2026-11-30", ("2026-05-01", "2026-06-01")),
        ("in December", "2026-11-30", ("2025-12-01", "2026-01-01")),
        ("in november", "2026-11-30", ("2026-11-01", "2026-12-01")),
        ("last november", "2026-11-30", ("2025-11-01", "2025-12-01")),
        ("in feb 2024", "2026-11-30", ("2024-02-01", "2024-03-01")),
        ("Sept 2025", "2026-11-30", ("2025-09-01", "2025-10-01")),
        ("since May", "2026-11-30", ("2026-05-01", "2026-12-01")),
        ("2026-05-03", "2026-11-30", ("2026-05-03", "2026-05-04")),
        ("2024-02-29", "2026-11-30", ("2024-02-29", "2024-03-01")),
        ("2026-12", "2026-11-30", ("2026-12-01", "2027-01-01")),
        ("3 days ago", "2026-03-02", ("2026-02-27", "2026-02-28")),
        ("a week ago", "2026-11-30", ("2026-11-20", "2026-11-27")),
        ("two months ago", "2026-11-30", ("2026-09-16", "2026-10-17")),
        ("gestern", "2026-11-30", ("2026-11-29", "2026-11-30")),
        ("letzte Woche", "2026-11-30", ("2026-11-23", "2026-11-30")),
        ("qu'avons-nous fait hier", "2026-11-30", ("2026-11-29", "2026-11-30")),
        ("hier soir", "2026-11-30", ("2026-11-29", "2026-11-30")),
        ("la semaine dernière", "2026-11-30", ("2026-11-23", "2026-11-30")),
        ("ayer", "2026-11-30", ("2026-11-29", "2026-11-30")),
        ("el mes pasado", "2026-11-30", ("2026-10-01", "2026-11-01")),
        ("ontem", "2026-11-30", ("2026-11-29", "2026-11-30")),
        ("semana passada", "2026-11-30", ("2026-11-23", "2026-11-30")),
        ("昨天的决定", "2026-11-30", ("2026-11-29", "2026-11-30")),
        ("上周", "2026-11-30", ("2026-11-23", "2026-11-30")),
        ("先月の作業", "2026-11-30", ("2026-10-01", "2026-11-01")),
        ("昨日", "2026-11-30", ("2026-11-29", "2026-11-30")),
    ],
)
def test_a_named_time_is_a_span_of_days(query: str, today: str, found: tuple[str, str]) -> None:
    assert span(query, today) == found


@pytest.mark.parametrize(
    "query",
    [
        *("may the queue be empty", "it may march on", "retry budget", "2026-02-30", "2026-13-01", "0000-01-01"),
        *(
            "ISO-2026-05",
            "Wie funktioniert das hier?",
            "hier steht es",
            "decimal",
            "a day in the life",
            "9999 days ago",
        ),
        *("the week", "month", "日", "v2026-05x", "junction", "from marble"),
    ],
)
def test_what_only_looks_like_a_time_is_none(query: str) -> None:
    assert span(query, "2026-11-30") is None


@pytest.mark.parametrize("query", ["9999-12", "9999-12-31", "999 months ago", "in may 0001"])
def test_the_ends_of_the_calendar_are_no_fault(query: str) -> None:
    named_span(query, us("2026-11-30T00:00:00"))


@pytest.mark.parametrize(
    "query",
    [
        *("what did we decide about retries", "last time", "how did we fix it", "the previous session", "yesterday"),
        *("o que fizemos ontem", "como decidimos as filas", "na última sessão", "o que discutimos na semana passada"),
        *("¿qué decidimos sobre la cola?", "la última vez", "la sesión anterior", "¿cómo hicimos la migración?"),
        *("was haben wir entschieden", "wie haben wir das gelöst", "letzte Woche", "in der vorigen Sitzung", "gestern"),
        *("qu'avons-nous décidé", "la dernière fois", "ce que nous avons fait hier", "la session précédente"),
        *("上次我们做了什么", "之前的决定", "昨天", "我们决定了什么"),
        *("前回の決定", "昨日の作業", "先週", "以前の設定"),
    ],
)
def test_a_question_about_an_earlier_session_is_known_in_seven_languages(query: str) -> None:
    assert recalls_a_session(query)


@pytest.mark.parametrize(
    "query",
    [
        *("how is the lock held", "last page of the list", "the previous version column", "session token expiry"),
        *("ordem das filas", "sessão do usuário", "tamanho da fila"),
        *("la cola de reintentos", "sesión de usuario"),
        *(
            "welche Tests haben wir",
            "wie funktioniert das hier",
            "hier steht die Konfiguration",
            "die Sitzung läuft ab",
        ),
        *("la session utilisateur", "fichier de configuration"),
        *("锁的顺序", "会话超时", "ロックの順序", "セッションの期限"),
    ],
)
def test_a_question_about_how_things_are_is_none(query: str) -> None:
    assert not recalls_a_session(query)
