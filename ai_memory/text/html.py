"""Where raw HTML begins and ends in markdown, as far as it decides what is code.

*Source*: CommonMark 0.31, sections 4.6 and 6.6. Quantifiers are possessive, so that no input is read twice.
"""

import re

_ATTRIBUTE = r"(?:\s++[A-Za-z_:][A-Za-z0-9:._-]*+(?:\s*+=\s*+(?:[^\"'=<>`\x00-\x20]++|'[^']*+'|\"[^\"]*+\"))?+)"
_OPEN_TAG = rf"<[A-Za-z][A-Za-z0-9-]*+{_ATTRIBUTE}*+\s*+/?>"
_CLOSE_TAG = r"</[A-Za-z][A-Za-z0-9-]*+\s*+>"
_OPEN_OR_CLOSE_LINE = re.compile(rf"(?:{_OPEN_TAG}|{_CLOSE_TAG})\s*+\Z")
_TAG = re.compile(rf"{_OPEN_TAG}|{_CLOSE_TAG}")
_AUTOLINK = re.compile(
    r"<(?:[A-Za-z][A-Za-z0-9+.-]{1,31}:[^<>\x00-\x20]*+"
    r"|[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]++@[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
    r"(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*+)>"
)
_TEXT_START = re.compile(r"<(?:script|pre|style|textarea)(?=[\s>]|\Z)", re.IGNORECASE | re.ASCII)
_TEXT_END = re.compile(r"</(?:script|pre|style|textarea)>", re.IGNORECASE | re.ASCII)
_BLOCK_START = re.compile(
    "</?(?:address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|"
    "dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|"
    "main|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|"
    r"title|tr|track|ul)(?=\s|/?>|\Z)",
    re.IGNORECASE | re.ASCII,
)
_LONGEST_TAG = 2048
"""Characters of one inline tag that are looked at; keeps many unfinished tags linear."""
_INLINE_ENDS = (("<!--", "-->"), ("<?", "?>"), ("<![CDATA[", "]]>"), ("<!", ">"))


def html_block_start(rest: str) -> int:
    """Which of the seven kinds of HTML block begins with this line, 0 for none."""
    if rest.startswith("<!--"):
        return 2
    if rest.startswith("<?"):
        return 3
    if rest.startswith("<![CDATA["):
        return 5
    if rest.startswith("<!"):
        return 4 if rest[2:3].isascii() and rest[2:3].isalpha() else 0
    if _TEXT_START.match(rest):
        return 1
    if _BLOCK_START.match(rest):
        return 6
    return 7 if _OPEN_OR_CLOSE_LINE.match(rest) else 0


def html_block_end(kind: int, line: str) -> bool:
    """The line ends an HTML block of that kind; kinds 6 and 7 end at a blank line instead."""
    if kind == 1:
        return _TEXT_END.search(line) is not None
    return kind < 6 and ("-->", "?>", ">", "]]>")[kind - 2] in line


class InlineHtml:
    """Ends of the tags, comments and autolinks of one text. Remembers which endings do not come any more."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._gone: set[str] = set()

    def end(self, at: int) -> int:
        """Offset behind the HTML or autolink that begins with the `<` at `at`, or -1."""
        text = self._text
        following = text[at + 1 : at + 2]
        if following not in ("!", "?"):
            found = _AUTOLINK.match(text, at) or _TAG.match(text, at, at + _LONGEST_TAG)
            return found.end() if found else -1
        for opener, closer in _INLINE_ENDS:
            if text.startswith(opener, at):
                return self._closed(at, opener, closer)
        return -1

    def _closed(self, at: int, opener: str, closer: str) -> int:
        text = self._text
        if opener == "<!--":
            for whole in ("<!-->", "<!--->"):
                if text.startswith(whole, at):
                    return at + len(whole)
        if opener == "<!" and not (text[at + 2 : at + 3].isascii() and text[at + 2 : at + 3].isalpha()):
            return -1
        if closer in self._gone:
            return -1
        end = text.find(closer, at + len(opener))
        if end < 0:
            self._gone.add(closer)
            return -1
        return end + len(closer)
