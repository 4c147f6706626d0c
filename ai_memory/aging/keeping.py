"""What is left of a page that is cut down: a line of summary, and the words by which it is still found.

*Source*: the facts on extractive tier-down, 5.2. The whole text stays in git.
"""

import re
from collections.abc import Iterable, Iterator

MOST_TOKENS = 48
SHORTEST, LONGEST = 2, 128
LONGEST_SPAN = 120
SUMMARY_BYTES = 500
HEADING = "## Retained facts"
FOOTER = (
    "This page was cut down when it grew cold. `ai-memory history` lists its earlier versions,"
    " `ai-memory archive restore` brings the whole page back."
)
_EDGES = ".,;:!?()[]{}<>\"'`*"

_URL = re.compile(r"https?://[^\s<>\"'`)\]]{1,200}")
_PATH = re.compile(r"(?<![\w/.])(?:[\w.@~-]{1,64}/){1,12}[\w.@-]{1,64}\.[A-Za-z0-9]{1,8}(?![\w/])")
_FILE = re.compile(
    r"(?<![\w/.-])[\w-]{1,64}(?:\.[\w-]{1,32}){0,3}\."
    r"(?:py|pyi|rs|go|ts|tsx|js|jsx|mjs|cjs|java|kt|rb|php|c|h|cc|cpp|hpp|cs|swift|scala|sh|bash|zsh|fish|ps1|sql|html|css"
    r"|scss|vue|svelte|md|rst|txt|json|jsonc|toml|yaml|yml|ini|cfg|conf|env|lock|xml|proto|tf|gradle|csv)(?![\w/-])"
)
_CODE = re.compile(r"(?<!\w)(?:E\d{2,4}|HTTP \d{3})(?!\w)")
_SPAN = re.compile(r"(?<!`)`([^`\n]{1,120})`(?!`)")
_UPPER = re.compile(r"(?<!\w)[A-Z][A-Z0-9]{1,40}(?:_[A-Z0-9]{1,40}){1,6}(?!\w)")
_NAME = re.compile(
    r"(?<!\w)(?:[a-z][a-z0-9]{0,40}(?:_[a-z0-9]{1,40}){1,6}|[A-Za-z][a-z0-9]{1,40}(?:[A-Z][a-z0-9]{1,40}){1,6})(?!\w)"
)


def tokens(text: str) -> tuple[str, ...]:
    """Words that a search may ask for: addresses, paths, codes, names in code. Kind by kind, each in its order."""
    kept: dict[str, None] = {}
    for word in _mined(text):
        trimmed = word.strip(_EDGES)
        if SHORTEST <= len(trimmed) <= LONGEST and "`" not in trimmed:
            kept.setdefault(trimmed)
        if len(kept) >= MOST_TOKENS:
            break
    return tuple(kept)


def _mined(text: str) -> Iterator[str]:
    for pattern in (_URL, _PATH, _FILE, _CODE, _SPAN, _UPPER, _NAME):
        for found in pattern.finditer(text):
            yield found[found.lastindex or 0]


def summary(body: str, *, given: str = "") -> str:
    """One line of at most 500 bytes: what the page says of itself, else its first paragraph that is no heading."""
    line = " ".join(given.split()) or _first_paragraph(body)
    raw = line.encode("utf-8")
    if len(raw) <= SUMMARY_BYTES:
        return line
    return raw[: SUMMARY_BYTES - 3].decode("utf-8", "ignore").rstrip() + "…"


def _first_paragraph(body: str) -> str:
    paragraph: list[str] = []
    for line in body.splitlines():
        plain = line.strip()
        if plain.startswith(("#", "```", "~~~", "---", "|", "<!--")) or not plain:
            if paragraph:
                break
            continue
        paragraph.append(plain)
    return " ".join(paragraph)


def cut_down(body: str, *, title: str, given: str = "", more: Iterable[str] = ()) -> str:
    """The body that is left. `more`: words of other pages that this one stands for from now on."""
    found = dict.fromkeys((*tokens(body), *more))
    lines = [f"# {title}", ""]
    line = summary(body, given=given)
    if line and line != title:
        lines += [line, ""]
    if found:
        lines += [HEADING, "", *(f"- `{word}`" for word in found), ""]
    return "\n".join([*lines, FOOTER, ""])
