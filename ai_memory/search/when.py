"""The span of time that a query names: yesterday, last week, in May, 3 days ago, 2026-05-03. UTC, half open."""

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta

Span = tuple[int, int]
"""µs of the first instant, and of the first one past the end."""

_MONTHS = tuple("january february march april may june july august september october november december".split())  # noqa: SIM905
_MONTH = "|".join(f"{name}|{name[:3]}" for name in _MONTHS) + "|sept"
FRENCH_YESTERDAY = (
    r"hier(?= (?:soir|matin|midi|après-midi))|(?<=d')hier"
    r"|hier(?=.*(?<!\w)(?:nous|on|avons|avez|a-t-on|fait|était|étaient|les?)(?!\w))"
    r"|(?<!\w)(?:qu'|nous|on|avons|avez|a-t-on|fait|était|étaient|quoi)(?!\w).{0,200}?(?<!\w)hier"
)
"""`hier` is yesterday in French and here in German: it counts beside a word that only French has."""
_NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7}


def named_span(query: str, now_us: int) -> Span | None:
    """What the query names, seen from `now_us`; None where it names no time. The first form that fits counts."""
    today = datetime.fromtimestamp(now_us / 1_000_000, UTC).date()
    for pattern, read in _FORMS:
        found = pattern.search(query)
        if found is not None:
            try:
                begins, ends = read(found, today)
                return _us(begins), _us(ends)
            except (ValueError, OverflowError):  # the 31st of a month of 30 days, a year before the calendar
                continue
    for word, span in _WITHOUT_BLANKS:
        if word in query:
            begins, ends = span(today)
            return _us(begins), _us(ends)
    return None


def _us(day: date) -> int:
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()) * 1_000_000


def _days(begins: date, count: int) -> tuple[date, date]:
    return begins, begins + timedelta(days=count)


def _month(year: int, month: int) -> tuple[date, date]:
    begins = date(year, month, 1)
    return begins, (begins + timedelta(days=32)).replace(day=1)


def _last_month(today: date) -> tuple[date, date]:
    ends = today.replace(day=1)
    return (ends - timedelta(days=1)).replace(day=1), ends


def _named_month(found: re.Match[str], today: date) -> tuple[date, date]:
    month = tuple(name[:3] for name in _MONTHS).index(found["month"].lower()[:3]) + 1
    before = found["before"].lower()
    is_past = month > today.month or (before == "last" and month == today.month)
    begins, ends = _month(int(found["year"]) if found["year"] else today.year - is_past, month)
    return begins, today + timedelta(1) if before == "since" else ends


def _dated_month(found: re.Match[str], _: date) -> tuple[date, date]:
    return _month(int(found["year"]), tuple(name[:3] for name in _MONTHS).index(found["month"].lower()[:3]) + 1)


def _ago(found: re.Match[str], today: date) -> tuple[date, date]:
    count = _NUMBERS.get(found["count"].lower()) or int(found["count"])
    match found["unit"].lower():
        case "day":
            return _days(today - timedelta(days=count), 1)
        case "week":
            return _days(today - timedelta(days=7 * count + 3), 7)
        case _:
            return _days(today - timedelta(days=30 * count + 15), 31)


def _iso(found: re.Match[str], _: date) -> tuple[date, date]:
    year, month, day = int(found["year"]), int(found["month"]), found["day"]
    return _days(date(year, month, int(day)), 1) if day else _month(year, month)


def _week(today: date, back: int) -> tuple[date, date]:
    return _days(today - timedelta(days=today.weekday() + 7 * back), 7)


def _form(
    words: str, read: Callable[[re.Match[str], date], tuple[date, date]]
) -> tuple[re.Pattern[str], Callable[[re.Match[str], date], tuple[date, date]]]:
    return re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE), read


_FORMS = (
    _form(r"(?<!-)(?P<year>\d{4})-(?P<month>\d{2})(?:-(?P<day>\d{2}))?", _iso),
    _form(
        r"day before yesterday|vorgestern|avant-hier|anteayer|anteontem",
        lambda _, today: _days(today - timedelta(2), 1),
    ),
    _form(
        rf"yesterday|last night|gestern|{FRENCH_YESTERDAY}|ayer|ontem", lambda _, today: _days(today - timedelta(1), 1)
    ),
    _form(r"today|this morning|heute|aujourd'hui|hoy|hoje", lambda _, today: _days(today, 1)),
    _form(
        r"last week|letzte woche|la semaine dernière|semaine dernière|semana pasada|semana passada",
        lambda _, today: _week(today, 1),
    ),
    _form(r"this week|diese woche|cette semaine|esta semana", lambda _, today: _week(today, 0)),
    _form(
        r"last month|letzten monat|le mois dernier|mois dernier|mes pasado|mês passado",
        lambda _, today: _last_month(today),
    ),
    _form(r"this month|diesen monat|ce mois|este mes|este mês", lambda _, today: _month(today.year, today.month)),
    _form(rf"(?P<count>\d{{1,3}}|{'|'.join(_NUMBERS)}) (?P<unit>day|week|month)s? ago", _ago),
    _form(rf"(?P<before>in|during|since|last|from) (?P<month>{_MONTH})(?:,? (?P<year>\d{{4}}))?", _named_month),
    _form(rf"(?P<month>{_MONTH}),? (?P<year>\d{{4}})", _dated_month),
)

_WITHOUT_BLANKS: tuple[tuple[str, Callable[[date], tuple[date, date]]], ...] = (
    ("前天", lambda today: _days(today - timedelta(2), 1)),
    ("昨天", lambda today: _days(today - timedelta(1), 1)),
    ("昨日", lambda today: _days(today - timedelta(1), 1)),
    ("今天", lambda today: _days(today, 1)),
    ("今日", lambda today: _days(today, 1)),
    ("上周", lambda today: _week(today, 1)),
    ("先週", lambda today: _week(today, 1)),
    ("上个月", _last_month),
    ("先月", _last_month),
)
