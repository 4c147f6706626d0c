"""The words of a shell's commands, without their quotes. Part of the hook, loaded where `ignore_paths` are set.

POSIX quoting: https://pubs.opengroup.org/onlinepubs/9799919799/utilities/V3_chap02.html section 2.2. Nothing is
evaluated: a word for which the shell would put something else is marked.
"""

MAX_CHARS = 65_536
_ENDS = "|;&\n("


class Word:
    """One word. `raw` has its backslashes still: on Windows they stand between folders."""

    __slots__ = ("is_pieced", "is_untold", "raw", "text")

    def __init__(self, text: str = "", *, is_untold: bool = False) -> None:
        self.text = self.raw = text
        self.is_untold = is_untold
        """The shell puts something else for it: a variable, a glob, braces."""
        self.is_pieced = False
        """Quotes or escapes stand inside it."""

    def grow(self, sign: str, raw: str) -> None:
        self.text += sign
        self.raw += raw


def commands_of(text: str) -> "tuple[list[list[Word]], bool]":
    """(the words of each simple command, also of those in substitutions; whether all of the text was read)."""
    reader = _Reader(text[:MAX_CHARS])
    reader.read()
    if reader.is_torn():  # an apostrophe of prose, a quote that a here-document holds: then quotes tell nothing
        reader = _Reader(text[:MAX_CHARS].replace('"', " ").replace("'", " "))
        reader.read()
    return reader.commands, len(text) <= MAX_CHARS


class _Reader:
    """Goes over a text sign by sign."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._word: Word | None = None
        self._outer: list[tuple[str, str]] = []
        """Of the substitutions in which the reader is, what ends each and the quote around it."""
        self.quote = ""
        self.commands: list[list[Word]] = [[]]

    def read(self) -> None:
        while self._at < len(self._text):
            sign = self._text[self._at]
            self._at += 1
            if self.quote == "'":
                self._in_single(sign)
            elif sign == "\\":
                self._escape()
            elif sign == "`" or (sign == ")" and not self.quote):
                self._leave(sign)
            elif sign == "$":
                self._dollar()
            elif self.quote:
                self._in_double(sign)
            else:
                self._plain(sign)
        self._end_command()

    def is_torn(self) -> bool:
        """Whether a quote, or a substitution within one, was never closed."""
        return bool(self.quote) or any(quote for _, quote in self._outer)

    def _in_single(self, sign: str) -> None:
        if sign == "'":
            self.quote = ""
        else:
            self._grow(sign)

    def _in_double(self, sign: str) -> None:
        if sign == '"':
            self.quote = ""
        else:
            self._grow(sign)

    def _escape(self) -> None:
        following = self._text[self._at : self._at + 1]
        self._at += 1
        if following == "\n":
            return
        if self.quote and following not in ('"', "$", "`", "\\"):
            self._grow("\\")
            self._at -= 1
            return
        self._grow(following, f"\\{following}")
        self._open().is_pieced = True

    def _dollar(self) -> None:
        if self._text.startswith("(", self._at):
            self._at += 1
            self._enter(")")
        else:
            self._grow("$")
            self._open().is_untold = True

    def _enter(self, end: str) -> None:
        """A substitution begins: what it runs is a command of its own."""
        self._end_command()
        self._outer.append((end, self.quote))
        self.quote = ""

    def _leave(self, sign: str) -> None:
        """A substitution ends, or, with a backtick, another one begins."""
        if not self.quote and self._outer and self._outer[-1][0] == sign:
            self._end_command()
            self.quote = self._outer.pop()[1]
        elif sign == "`":
            self._enter(sign)
        else:
            self._end_command()

    def _plain(self, sign: str) -> None:
        if sign in "'\"":
            self.quote = sign
            self._open().is_pieced = True
        elif sign in _ENDS:
            self._end_command()
        elif sign.isspace():
            self._end_word()
        elif sign in "<>":
            self._end_word()
            self._grow(sign)
            self._end_word()
        elif sign == "#" and self._word is None:
            end = self._text.find("\n", self._at)
            self._at = end if end >= 0 else len(self._text)
        else:
            self._grow(sign)
            if sign in "*?[" or (sign == "{" and self._is_expansion()):
                self._open().is_untold = True

    def _is_expansion(self) -> bool:
        """Whether a brace begins `{a,b}` or `{1..3}`: not `{}`, not a block."""
        return self._at < len(self._text) and not self._text[self._at].isspace() and self._text[self._at] != "}"

    def _open(self) -> Word:
        if self._word is None:
            self._word = Word()
        return self._word

    def _grow(self, sign: str, raw: str = "") -> None:
        self._open().grow(sign, raw or sign)

    def _end_word(self) -> None:
        if self._word is not None:
            self.commands[-1].append(self._word)
            self._word = None

    def _end_command(self) -> None:
        self._end_word()
        if self.commands[-1]:
            self.commands.append([])
