"""A git config file read as text: sections, keys, values. `include` and `includeIf` are never followed.

*Source*: git-config(1), "CONFIGURATION FILE". A line that git would refuse is skipped: a checkout of a broken config
still has a place.
"""

import re
from collections.abc import Iterator

Settings = dict[tuple[str, str, str], list[str]]
"""(section, subsection, key) → values in file order; section and key are lower case."""

_HEADER = re.compile(r'\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\\n]|\\.)*)")?\s*\]')
_KEY = re.compile(r"([A-Za-z][A-Za-z0-9-]*)\s*(=?)\s*")
_ESCAPES = {"n": "\n", "t": "\t", "b": "\b", '"': '"', "\\": "\\"}


def read_settings(text: str) -> Settings:
    """Every setting of the file's text, without following includes."""
    settings: Settings = {}
    section, subsection = "", ""
    for line in _logical_lines(text.removeprefix("\ufeff")):
        rest = line.lstrip()
        while header := _HEADER.match(rest):
            section, dot, old_style = header[1].lower().partition(".")
            subsection = re.sub(r"\\(.)", r"\1", header[2]) if header[2] is not None else old_style if dot else ""
            rest = rest[header.end() :].lstrip()
        if (found := _KEY.match(rest)) and section:
            value = _value(rest[found.end() :]) if found[2] else "true"
            if value is not None:
                settings.setdefault((section, subsection, found[1].lower()), []).append(value)
    return settings


def first(settings: Settings, section: str, subsection: str, key: str) -> str | None:
    """The first value: git fetches from the first `url`."""
    values = settings.get((section, subsection, key))
    return values[0] if values else None


def is_true(settings: Settings, section: str, key: str) -> bool:
    """The last value is one of git's words for true."""
    values = settings.get((section, "", key), ["false"])
    return values[-1].lower() in ("true", "yes", "on", "1")


def _logical_lines(text: str) -> Iterator[str]:
    """Lines with those joined that end in an odd number of backslashes."""
    held = ""
    for line in text.split("\n"):
        whole = held + line.removesuffix("\r")
        if (len(whole) - len(whole.rstrip("\\"))) % 2 == 1:
            held = whole[:-1]
            continue
        held = ""
        yield whole
    if held:
        yield held


def _value(raw: str) -> str | None:
    """The value with quotes, escapes and comments resolved; None when a quote stays open or an escape is unknown."""
    out: list[str] = []
    kept = 0  # length up to which blanks count
    is_quoted = False
    characters = iter(raw)
    for character in characters:
        if character == '"':
            is_quoted = not is_quoted
            kept = len(out)
            continue
        if character == "\\":
            escaped = _ESCAPES.get(next(characters, ""))
            if escaped is None:
                return None
            out.append(escaped)
            kept = len(out)
            continue
        if character in "#;" and not is_quoted:
            break
        out.append(character)
        if is_quoted or not character.isspace():
            kept = len(out)
    return None if is_quoted else "".join(out[:kept])
