"""Secrets that only their name gives away: `password=…`, `"api_key": "…"`, `export DB_TOKEN=…`, `Pwd=…;`.

A name alone proves little: `token = get_token()`, `password: str`, `KEY = "ArrowLeft"` are code. So `scrub_values`
looks at the value as well, the more sceptically the weaker the name. Part of `ai_memory.scrub`, loaded by it when a
name occurs.
"""

import re

from ai_memory import scrub_values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_MARK = "[REDACTED:"

_NAME = (
    r"(?P<word>pass(?:word|wd|phrase|code)?|pwd|secret|token|credentials?|key(?:[ _-]?(?:id|base))?|pepper|salt)"
    r"(?P<pair>(?:\\{0,7}[\"'])?(?:,\s{0,12}+|\s{1,12}+)(?:\\{0,7}[\"'])?value)?"
    r"(?:\\{0,7}[\"'`])?\]?[ \t]{0,8}+(?P<sep>:=|=>|==?|:|>|,)(?P<gap>\s{0,16}+)"
    r"(?:[bruf]{1,2}+(?=[\"']))?(?P<quote>\\{0,7}[\"'`])?"
)
"""A name's last word, the separator, and what stands before the value. `pair`: name and value are members of their
own, as in `{"name": "DB_PASSWORD", "value": "…"}`; the separator `>`: the name is an element of XML; the comma: name
and value are two arguments, `define('DB_PASSWORD', '…')`."""
_BARE = r"[^\s\"'`,;&|<>()\\]++"
_MORE = r"(?:[^\s\"'`\\<>,;&|]|[<>,;&|](?![\s\"'`/]|$|[A-Za-z_.-]{1,40}+=))++"
_WORD = r"[^\s\"'`]++"
_LINE_LEAD = r"[ \t]*+(?:[-+>#*]|//)?[ \t]*+(?:(?:export|setx?|env|arg)[ \t]++)?(?:\$env:)?"
"""What may stand before the name on a line that does nothing but give it a value."""
_CONNECTED = r"(?:[^;\s\"'`<]|`(?![\s\"']|$)|<(?!/)){1,512}+"
_CONNECTION = (
    r"(?i)(?<![a-z0-9_])(?:server|data source|host|database|initial catalog|user id|uid|user|username|driver|provider"
    r"|dsn|databasename|datasource|encrypt|sslmode|ssl|abortconnect)\s?="
)
_KEYWORDS = r"(?:host|hostaddr|port|dbname|user|sslmode)=[^\s;\"'(),]{1,64} $"
"""Members of a connection string: with semicolons between, and of libpq's, with blanks, right before the password."""
_PAIRING = r"(?:define|setdefault|env|Env|get)\(\s{0,8}\\{0,7}[\"']$"
"""What takes the name of a constant and its value, or what it is without one."""
_BEHIND_EMPTY = ("", *" \t\r\n'\",;)]}")
"""What may follow two quotes with nothing between them."""
_NEAR = 160
"""Characters before and behind a value in which another member of a connection string shows that it stands in one."""
_NAME_CHARS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."
_MAX_NAME = 64
_MAX_ELEMENT = 4_096
_MAX_PROBE = 200
"""Characters of a value that are looked at; all of it is taken."""


def scrub_named(text: str, redact: "Callable[[str, str], str]") -> str:
    """The text with the values of secret names replaced."""
    kept: list[str] = []
    at = 0
    low = text.lower()
    is_aligned = len(low) == len(text)  # then no letter changed its place, and the search starts at letters
    names = re.compile(_NAME, 0 if is_aligned else re.IGNORECASE)
    ends = _Ends(text)
    for match in names.finditer(low if is_aligned else text):
        if match.start() < at:
            continue
        found = _connected(text, match) or _found(text, match, ends)
        if found is None:
            continue
        kind, start, end = found
        kept += [text[at:start], redact(kind, text[start:end])]
        at = end
    if not at:
        return text
    kept.append(text[at:])
    return "".join(kept)


def kind_of(name: str, value: str) -> str | None:
    """What kind of secret a member of an object is, by its name and its text value; None when it is none."""
    name = name[-_MAX_NAME:]
    if not name.lower().endswith(scrub_values.ENDINGS) or value.startswith(_MARK):
        return None
    return scrub_values.kind_of(name, value, is_quoted=True, sep=":", gap="", after="")


class _Ends:
    """Where values without quotes end; each stretch of text is looked at once, however many names stand in it."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._bare = self._word = 0

    def bare(self, start: int) -> int:
        """Up to what could be punctuation of code."""
        if start >= self._bare:
            self._bare = _end_of(_BARE, self._text, start)
            while self._bare > start and self._text[self._bare - 1] in ".!?:":
                self._bare -= 1
        return self._bare

    def word(self, start: int) -> int:
        """Up to a blank or a quote."""
        if start >= self._word:
            self._word = _end_of(_WORD, self._text, start)
        return self._word


def _found(text: str, match: "re.Match[str]", ends: _Ends) -> tuple[str, int, int] | None:
    """Kind, start and end of the secret that this name has, or None."""
    start = match.end()
    if match["sep"] == ">":
        end = _end_of_element(text, match)
    elif match["quote"] == "'" and text.startswith("'", start) and text[start + 1 : start + 2] not in _BEHIND_EMPTY:
        start += 1  # in a single-quoted string of YAML or SQL
        line = text.find("\n", start)
        end = text.find("''", start, line if line >= 0 else len(text))
    elif match["quote"]:
        end = _end_of_quoted(text, start, match["quote"])
    elif match["sep"] == ",":
        return None
    else:
        end = ends.bare(start)
    kind = _judge(text, match, start, end) if start < end else None
    if kind is None:
        end = ends.word(start)
        kind = _judge_word(text, match, end) if not match["quote"] else None
    elif not match["quote"] and match["sep"] != ">":
        end = _end_of_typed(text, start, end)
    return (kind, start, end) if kind else None


def _judge(text: str, match: "re.Match[str]", start: int, end: int) -> str | None:
    """Kind of the secret of that name that stands between `start` and `end`, or None."""
    name, lead = _name_of(text, match)
    if not name:
        return None
    if match["sep"] == ":" and ((not match["gap"] and lead.endswith(":")) or lead.rstrip("\"' ").endswith("?")):
        return None  # a part of a name with colons, the middle of `a ? "b" : "c"`
    if match["quote"] and not match["gap"] and lead.endswith(match["quote"]) and text[match.end("word")] in ":=":
        return None  # the quote ends a text that ends with the name: `"password:" + x`
    probe = text[start : min(end, start + _MAX_PROBE)]
    if probe.startswith(_MARK) and text.find("]", start, end) == end - 1:
        return None
    is_quoted = bool(match["quote"]) or match["sep"] == ">"
    if not is_quoted:
        if probe.startswith((":", "=")) or _is_argument(match):
            return None
        probe = probe.rstrip("}]") if "${" not in probe else probe
        if probe.isdecimal() and text[match.end("word")] in '"\\':
            return "password" if 7 <= len(probe) <= 12 and "passw" in match["word"] else None  # a number of JSON
    if match["sep"] == "," and not match["pair"]:
        is_named = text[match.end("word")] in "\"'\\" and name.isupper() and "_" in name
        is_pair = re.search(_PAIRING, lead) or (lead[-2:-1] == "[" and text.startswith("]", end + 1))
        return scrub_values.kind_of_argument(name, probe, is_pair=bool(is_pair)) if is_named else None
    sep, gap = ("=", "") if match["pair"] else (match["sep"], match["gap"])
    return scrub_values.kind_of(name, probe, is_quoted=is_quoted, sep=sep, gap=gap, after=text[end : end + 1])


def _judge_word(text: str, match: "re.Match[str]", end: int) -> str | None:
    """Kind of a secret that holds signs of code, as passwords do: where only a name and it stand on a line, or
    `name=value` between blanks."""
    start = match.end()
    if match["sep"] not in ("=", ":") or match["pair"] or not 6 <= end - start <= 128 or "\n" in match["gap"]:
        return None
    if text[end : end + 1] in ('"', "'", "`"):
        return None
    name, lead = _name_of(text, match)
    line = text.rfind("\n", max(0, match.start() - 2 * _MAX_NAME), match.start()) + 1
    is_line = (line or match.start() <= 2 * _MAX_NAME) and text[end : end + 2].strip(" \t\r")[:1] in ("", "\n")
    if is_line and name and re.fullmatch("(?i)" + _LINE_LEAD, text[line : match.end("word") - len(name)]):
        return scrub_values.kind_of_word(name, text[start:end])
    if match["sep"] == "=" and not match["gap"] and name and lead[-1:] in ("", " ", "\t", "\n"):
        return scrub_values.kind_of_word(name, text[start:end])
    return None


def _name_of(text: str, match: "re.Match[str]") -> tuple[str, str]:
    """The whole name and what stands before it; no name where it is a part of a label, or its value is lines away."""
    before = text[max(0, match.start() - _MAX_NAME) : match.start()]
    name = before[len(before.rstrip(_NAME_CHARS)) :]
    if before.endswith(_MARK + name) or match["gap"].count("\n") > 1:
        return "", before
    lead = before[: len(before) - len(name)]
    return _whole_name(lead, name + text[match.start() : match.end("word")]), lead


def _is_argument(match: "re.Match[str]") -> bool:
    return bool(match["pair"]) and (match["sep"] == "=" or "," in match["pair"])


def _whole_name(lead: str, name: str) -> str:
    """The name with the word before a lone `key` or `salt`, as prose writes it: `API key: …`."""
    if lead.endswith(" ") and name.lower().startswith(("key", "salt", "pepper")):
        word = lead[:-1]
        return f"{word[len(word.rstrip(_NAME_CHARS)) :]}_{name.replace(' ', '_')}"
    return name.replace(" ", "_")


def _connected(text: str, match: "re.Match[str]") -> tuple[str, int, int] | None:
    """Kind, start and end of the password of a connection string (`Server=…;Uid=…;Pwd=…`), or None.

    Any word can be one there, and in braces any sign.
    """
    if match["word"] not in ("password", "pwd") or match["sep"] != "=" or match["pair"] or match["quote"]:
        return None
    start = match.end()
    before = text[max(0, match.start() - _NEAR) : match.start()]
    joint = before.rstrip(" ")[-1:]
    is_spaced = before.endswith(" ") and re.search(_KEYWORDS, before) is not None
    if joint not in (";", "") and not is_spaced and not (joint == "," and re.search(r":\d{2,5},", before)):
        return None
    if text.startswith("{", start):
        start, end = start + 1, _end_of_braces(text, start + 1)
    elif is_spaced:
        end = _end_of(r"\S{1,512}+", text, start)
        while end > start and text[end - 1] in "\"'`;,.)\\":
            end -= 1
    else:
        end = _end_of(_CONNECTED, text, start)
        if joint == ",":
            end = min(end, text.find(",", start, end) % (end + 1))
        while end > start and text[end - 1] == "\\":
            end -= 1
    value = text[start:end]
    if len(value) < 3 or _MARK in value or scrub_values.is_placeholder(value) or value.isdecimal():
        return None
    is_connection = re.search(_CONNECTION, before) or re.search(_CONNECTION, text[end : end + _NEAR])
    return ("password", start, end) if is_connection else None


def _end_of_braces(text: str, start: int) -> int:
    """Index of the brace that ends a value, where a doubled one is part of it; the start when nothing ends it."""
    at = text.find("}", start, start + 512)
    while at >= 0 and text.startswith("}}", at):
        at = text.find("}", at + 2, start + 512)
    return max(at, start)


def _end_of_element(text: str, match: "re.Match[str]") -> int:
    """Index of `</` behind the text of an element that has the name; the start of the value when it is none."""
    start = match.end()
    name = text[max(0, match.start() - _MAX_NAME) : match.start()].rstrip(_NAME_CHARS)
    end = text.find("<", start, start + _MAX_ELEMENT)
    return end if end >= 0 and name.endswith("<") and text.startswith("</", end) and not match["quote"] else start


def _end_of_quoted(text: str, start: int, quote: str) -> int:
    """Index of the closing quote, or of the line's end when there is none."""
    sign = quote[-1]
    line = text.find("\n", start)
    end_of_line = line if line >= 0 else len(text)
    first = at = text.find(sign, start, end_of_line)
    while at > 0 and not _closes(text, at, start, quote):
        is_doubled = len(quote) == 1 and at > start and text.startswith(sign * 2, at)  # as SQL and YAML write one
        at = text.find(sign, at + (2 if is_doubled else 1), end_of_line)
    if at < 0 <= first and len(quote) == 1:
        return first  # a backslash before it is a part of the value
    return at - len(quote) + 1 if at >= 0 else end_of_line


def _closes(text: str, at: int, start: int, quote: str) -> bool:
    """Whether the quote at that place ends a value that began with `quote`.

    Behind n - 1 backslashes, as in JSON in JSON, a backslash of the value is n of them, and a quote of it n more.
    """
    slashes = at
    while slashes > start and text[slashes - 1] == "\\":
        slashes -= 1
    if (at - slashes) % (2 * len(quote)) != len(quote) - 1:
        return False
    return not (len(quote) == 1 and at > start and text.startswith(quote * 2, at))


def _end_of_typed(text: str, start: int, end: int) -> int:
    """Where a value ends that is a secret: with the signs that would be punctuation if it was code."""
    if text[end : end + 1] in _BEHIND_EMPTY[:5]:
        return end
    more = _end_of(_MORE, text, end)
    value = text[start:more]
    while value[-1:] in (")", "]", "}") and value.count("([{"[")]}".index(value[-1])]) < value.count(value[-1]):
        value = value[:-1]
    while len(value) > end - start and value[-1] in ".!?:":
        value = value[:-1]
    return max(end, start + len(value))


def _end_of(pattern: str, text: str, start: int) -> int:
    match = re.compile(pattern).match(text, start)
    return match.end() if match else start
