"""Link destinations in the text of a paragraph or heading, read past code spans, escapes and HTML.

*Source*: CommonMark 0.31 section 6; `[[page]]` as wikis write it. markdown-it-py is the oracle of the tests.
"""

import re
from bisect import bisect_left
from enum import Enum
from typing import NamedTuple

from ai_memory.text.html import InlineHtml


class Form(Enum):
    """How a link is written."""

    WIKI = "wiki"
    MARKDOWN = "markdown"


class Target(NamedTuple):
    """The text that a link points to, and where it stands."""

    form: Form
    start: int
    end: int
    text: str
    is_bracketed: bool
    """A markdown destination in `<>`; the offsets are those of the text inside."""


class Inline(NamedTuple):
    """What one text holds."""

    code: list[tuple[int, int]]
    """Start and end offset of each code span, backticks included."""
    targets: list[Target]


_SPECIAL = re.compile(r"[\\`<\[\]]")
_RUN = re.compile(r"`+")
_WIKI = re.compile(r"\[\[([^\[\]|\n\\`<>]{1,512}+)(?:\\?\|(?:[^\[\]\n`]|`[^`\n\[\]]*+`){0,1024}+)?+\]\]")
_PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
_BRACKETED = re.compile(r"<((?:[^<>\\\n]|\\.){0,2048}+)>")
_BARE = re.compile(r"(?:[^\\()\x00-\x20\x7f]|\\[!-/:-@\[-`{-~]|\\(?![!-/:-@\[-`{-~]))++")
_TITLE = re.compile(r"\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+'|\((?:[^()\\]|\\.)*+\)", re.DOTALL)
_BLANKS = re.compile(r"[ \t\n]*+")
_DEFINITION = re.compile(r" {0,3}\[(?!\^)((?:[^\[\]\\\n]|\\.){1,999}+)\]:[ \t]*+(?:<([^<>\\\n]*+)>|([^\s<]\S*+))")
_MAX_PARENTHESES = 32
_MAX_DESTINATION = 2048
_MAX_FAILED = 1000
"""Destinations in one text that are begun in vain: then it is no text for people, and no more are tried."""


def scan_inline(text: str) -> Inline:
    """Code spans and link targets of one paragraph or heading, in order. Linear."""
    return _Reader(text).read()


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.code: list[tuple[int, int]] = []
        self.targets: list[Target] = []
        self.openers: list[bool] = []
        """Open square brackets, True for those of an image."""
        self.failed = 0
        self.dead = 0
        """So many of the first openers cannot begin a link any more: links hold no links."""
        self.html: InlineHtml | None = None
        self.runs: dict[int, list[int]] | None = None

    def read(self) -> Inline:
        text = self.text
        at = self._read_definitions()
        while found := _SPECIAL.search(text, at):
            at = found.start()
            character = text[at]
            if character == "[":
                at = self._open(at)
            elif character == "]":
                at = self._close(at)
            elif character == "`":
                at = self._code(at)
            elif character == "<":
                at = self._tag(at)
            else:
                at += 2 if text[at + 1 : at + 2] in _PUNCTUATION else 1
        return Inline(self.code, self.targets)

    def _read_definitions(self) -> int:
        """`[label]: target` lines stand at the beginning of a paragraph."""
        at = 0
        while found := _DEFINITION.match(self.text, at):
            group = 3 if found[2] is None else 2
            self.targets.append(
                Target(Form.MARKDOWN, found.start(group), found.end(group), found[group], is_bracketed=group == 2)
            )
            end = self.text.find("\n", found.end())
            at = len(self.text) if end < 0 else end + 1
        return at

    def _open(self, at: int) -> int:
        if self.text.startswith("[[", at) and (found := _WIKI.match(self.text, at)):
            self.targets.append(Target(Form.WIKI, found.start(1), found.end(1), found[1], is_bracketed=False))
            return found.end()
        is_image = at > 0 and self.text[at - 1] == "!" and not _is_escaped(self.text, at - 1)
        self.openers.append(is_image)
        return at + 1

    def _close(self, at: int) -> int:
        if not self.openers:
            return at + 1
        is_image = self.openers.pop()
        is_dead = len(self.openers) < self.dead
        self.dead = min(self.dead, len(self.openers))
        if (is_dead and not is_image) or self.text[at + 1 : at + 2] != "(":
            return at + 1
        end, target = _destination(self.text, at + 2) if self.failed < _MAX_FAILED else (-1, None)
        if end < 0:
            self.failed += 1
            return at + 1
        if not is_image:
            self.dead = len(self.openers)
            if target is not None:
                self.targets.append(target)
        return end

    def _code(self, at: int) -> int:
        run = _RUN.match(self.text, at)
        after = run.end() if run else at + 1
        if self.runs is None:
            self.runs = {}
            for one in _RUN.finditer(self.text):
                self.runs.setdefault(one.end() - one.start(), []).append(one.start())
        ends = self.runs.get(after - at, [])
        place = bisect_left(ends, after)
        if place == len(ends):
            return after
        end = ends[place] + after - at
        self.code.append((at, end))
        return end

    def _tag(self, at: int) -> int:
        if self.html is None:
            self.html = InlineHtml(self.text)
        end = self.html.end(at)
        return at + 1 if end < 0 else end


def _destination(text: str, at: int) -> tuple[int, Target | None]:
    """End of `destination "title")` and its target, None when it is empty; -1 when it is no link."""
    start = _end(_BLANKS.match(text, at))
    target: Target | None = None
    if found := _BRACKETED.match(text, start):
        target = Target(Form.MARKDOWN, start + 1, found.end() - 1, found[1], is_bracketed=True)
        at = found.end()
    elif text[start : start + 1] == "<":
        return -1, None
    else:
        at = _bare_end(text, start)
        if at < 0:
            return -1, None
        if at > start:
            target = Target(Form.MARKDOWN, start, at, text[start:at], is_bracketed=False)
    blanks = _end(_BLANKS.match(text, at))
    if blanks > at and (title := _TITLE.match(text, blanks)):
        blanks = _end(_BLANKS.match(text, title.end()))
    return (blanks + 1, target) if text[blanks : blanks + 1] == ")" else (-1, None)


def _bare_end(text: str, at: int) -> int:
    """End of a destination without `<>`: no blanks, parentheses in pairs; -1 when they are not."""
    depth = 0
    last = at + _MAX_DESTINATION
    while at < last:
        if found := _BARE.match(text, at, last):
            at = found.end()
        character = text[at : at + 1]
        if character == "(":
            depth += 1
            if depth > _MAX_PARENTHESES:
                return -1
        elif character == ")" and depth:
            depth -= 1
        else:
            return -1 if depth else at
        at += 1
    return -1


def _is_escaped(text: str, at: int) -> bool:
    backslashes = 0
    while at - backslashes > 0 and text[at - backslashes - 1] == "\\":
        backslashes += 1
    return backslashes % 2 == 1


def _end(found: re.Match[str] | None) -> int:
    return found.end() if found else -1
