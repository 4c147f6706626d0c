"""What secrets stand in: prose, JSON, diffs, logs … Around each made-up secret a text that has its published form."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from secret_formats import Format, Made, Maker

PIECE = 8
"""Characters of a secret in a row that may not survive; of a shorter secret all of it."""
LABEL = re.compile(r"\[REDACTED:[a-z-]+\]")
"""What stands in a secret's place; it may spell the prefix of one."""
CAP_BYTES = 2_048
"""The cap of an excerpt, as `docs/limits.md` has it."""


@dataclass(frozen=True)
class Case:
    """One secret in one surrounding. `secret`: as it is spelt there."""

    kind: str
    place: str
    text: str
    secret: str
    is_cut: bool = False
    """Whether the text is longer than the cap of an excerpt, with the secret where the cut will be."""
    is_open: bool = False
    """A word where prose and code have words too (`password: vnkjbqneu`): nobody can tell, it is counted apart."""

    def survives_in(self, text: str) -> bool:
        """Whether the text still holds the secret, or enough of it to be worth something."""
        size = min(PIECE, len(self.secret))
        text = LABEL.sub("", text)
        return any(self.secret[at : at + size] in text for at in range(len(self.secret) - size + 1))


def _as_it_is(text: str) -> str:
    return text


def _in_json(text: str) -> str:
    return json.dumps(text)[1:-1]


def _in_single_quotes(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'", "\\'")


def _in_yaml_quotes(text: str) -> str:
    return text.replace("'", "''")


def _in_shell_quotes(text: str) -> str:
    for sign in '\\"$`':
        text = text.replace(sign, f"\\{sign}")
    return text


def _in_dotenv(text: str) -> str:
    return text.replace("\n", "\\n")


YAML_INDICATORS = "-?:,[]{}#&*!|>'\"%@`"
"""Signs with which a plain scalar of YAML cannot begin."""
QUOTES = "'\"`"


def _nested(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _snake(words: Sequence[str]) -> str:
    return "_".join(words)


def _upper(words: Sequence[str]) -> str:
    return "_".join(words).upper()


def _kebab(words: Sequence[str]) -> str:
    return "-".join(words)


def _camel(words: Sequence[str]) -> str:
    return words[0] + "".join(word.title() for word in words[1:])


@dataclass(frozen=True)
class Place:
    """One surrounding: around a text, and around a name with its value. An empty template: there is no such form."""

    name: str
    around_text: str
    around_pair: str
    spelt: Callable[[Sequence[str]], str] = _snake
    encoded: Callable[[str], str] = _as_it_is
    takes_lines: bool = True
    forbids: str = ""
    """Signs that a value cannot hold there, since nothing quotes or escapes it."""
    is_plain: bool = False
    """Whether a word after a name can be a word of prose or code there."""

    def put(self, made: Made) -> Case | None:
        """The secret in this surrounding; None where it has no place for one like this."""
        if "\n" in made.text and not self.takes_lines:
            return None
        template = self.around_pair if made.name else self.around_text
        if not template or (made.name and set(made.text) & set(self.forbids)):
            return None
        if made.name and self.name == "YAML" and made.text[0] in YAML_INDICATORS:
            return None
        text = template.replace("§name", self.spelt(made.name) if made.name else "")
        text = text.replace("§value", self.encoded(made.text))
        is_open = self.is_plain and made.is_word
        return Case(made.kind, self.name, text, self.encoded(made.secret), is_open=is_open)


_PLACES: Sequence[Place] = (
    Place(
        "prose",
        "Please use §value for the upload, thanks.",
        "Please set §name=§value and restart.",
        forbids=QUOTES + "\\",
    ),
    Place(
        "end of a sentence",
        "It answered §value. Then it failed.",
        "It wants the §name: §value\nThen it works.",
        " ".join,
        forbids=QUOTES,
        is_plain=True,
    ),
    Place("markdown", "- run `§value` first\n- then wait", "- `§name`: `§value`\n- then wait", forbids="`"),
    Place("JSON", '{"n": 1, "note": "§value"}', '{"n": 1, "§name": "§value"}', _camel, _in_json),
    Place(
        "JSON in JSON",
        _nested({"body": '{"note": "§value", "n": 1}'}),
        _nested({"body": '{"§name": "§value", "n": 1}'}),
        encoded=lambda text: _in_json(_in_json(text)),
    ),
    Place(
        "JSON in JSON in JSON",
        _nested({"out": _nested({"body": '{"note": "§value"}'})}),
        _nested({"out": _nested({"body": '{"§name": "§value"}'})}),
        _camel,
        lambda text: _in_json(_in_json(_in_json(text))),
    ),
    Place(
        "YAML", "app:\n  note: §value\n  n: 1\n", "app:\n  §name: §value\n  n: 1\n", takes_lines=False, is_plain=True
    ),
    Place(
        "YAML, quoted",
        "- name: NOTE\n  note: '§value'\n",
        "app:\n  §name: '§value'\n",
        _kebab,
        _in_yaml_quotes,
        takes_lines=False,
    ),
    Place(
        "YAML, block",
        "app:\n  note: |\n    §value\n  n: 1\n",
        "",
        encoded=lambda text: text.replace("\n", "\n    "),
    ),
    Place(
        ".env",
        "N=1\nNOTE=§value\nM=2\n",
        "N=1\n§name=§value\nM=2\n",
        _upper,
        _in_dotenv,
        forbids=QUOTES + "#\\",
    ),
    Place(
        "shell export",
        'export NOTE="§value" N=1\n',
        'export §name="§value" N=1\n',
        _upper,
        _in_shell_quotes,
    ),
    Place(
        "ini",
        "[app]\nnote = §value\n",
        "[app]\n§name = §value\nn = 1\n",
        takes_lines=False,
        forbids=QUOTES + ";#",
        is_plain=True,
    ),
    Place(
        "code",
        "app = App('§value', 3)",
        "app = App(§name='§value', retries=3)",
        encoded=_in_single_quotes,
        takes_lines=False,
    ),
    Place("code, object", 'const app = {note: "§value"};', 'const app = {§name: "§value", n: 1};', _camel, _in_json),
    Place(
        "diff, added",
        "@@ -1,2 +1,2 @@\n-note = 1\n+§value\n n = 1\n",
        '@@ -1,2 +1,2 @@\n-§name: "x"\n+§name: "§value"\n n = 1\n',
        encoded=lambda text: text.replace("\n", "\n+"),
        forbids='"\\',
    ),
    Place(
        "diff, removed",
        "@@ -1,2 +1,1 @@\n-§value\n n = 1\n",
        "@@ -1,2 +1,1 @@\n-§name=§value\n n = 1\n",
        _upper,
        lambda text: text.replace("\n", "\n-"),
        forbids=QUOTES + "#\\",
    ),
    Place(
        "log line",
        "2026-11-30T12:00:00.123Z INFO shop.api [req-17] got §value in 3 ms\n",
        "2026-11-30T12:00:00.123Z INFO shop.api [req-17] §name=§value took=3ms\n",
        takes_lines=False,
        forbids=QUOTES + "\\",
    ),
    Place("table", "| n | note |\n|---|---|\n| 1 | §value |\n", "", takes_lines=False),
    Place("table of a shell", "n   note                 when\n1   §value   today\n", "", takes_lines=False),
    Place("HTML", "<p>see <b>§value</b></p>", "", takes_lines=False),
    Place(
        "in colours",
        "\x1b[32m§value\x1b[0m\n",
        "\x1b[1m§name\x1b[0m=\x1b[32m§value\x1b[0m\n",
        _upper,
        forbids=QUOTES + "\\",
    ),
    Place("line by itself", "first\r\n§value\r\nlast", "first\r\n§name=§value\r\nlast", _upper, forbids=QUOTES + "\\"),
)


def _in_url(made: Made) -> Case | None:
    """As a parameter. What is a URL or a header by itself does not go into one."""
    if made.name:
        value = quote(made.secret, safe="")
        return Case(made.kind, "URL", f"GET https://example.org/v1?n=1&{_snake(made.name)}={value}&m=2 200", value)
    if made.text != made.secret or quote(made.text, safe=":=/") != made.text:
        return None
    return Case(made.kind, "URL", f"see https://example.org/v1?n=1&q={made.text}&m=2", made.text)


def _over_a_line_end(made: Made) -> Case | None:
    """Where the format allows a line end: folded headers, values on the next line, continued commands, blocks."""
    if made.name:
        text = f'{{\n  "{_snake(made.name)}":\n    "{_in_json(made.text)}",\n  "n": 1\n}}'
        return Case(made.kind, "over a line end", text, _in_json(made.secret))
    if "\n" in made.text:
        return Case(made.kind, "over a line end", made.text.replace("\n", "\r\n"), made.secret.replace("\n", "\r\n"))
    before = made.text.partition(made.secret)[0]
    if before.endswith((": ", "earer ", "asic ")) and "'" not in before:
        return Case(made.kind, "over a line end", f"{before[:-1]}\r\n {made.secret}\r\n", made.secret)
    if " -" in before and before.endswith(" ") and "'" not in before:
        return Case(made.kind, "over a line end", f"{before[:-1]} \\\n    {made.secret} \\\n    x", made.secret)
    return None


def _at_a_cut(made: Made, maker: Maker) -> Case:
    """In a long text, where the head of its excerpt ends or the tail begins, or nearly."""
    text = f'{_snake(made.name)} = "{_in_json(made.text)}"' if made.name else made.text
    secret = _in_json(made.secret) if made.name else made.secret
    head = CAP_BYTES * 2 // 3 - 20 - maker.pick.randrange(max(24, len(text)))
    tail = CAP_BYTES // 3 - maker.pick.randrange(max(24, len(text)))
    long, short = maker.pick.choice((6_000, 90_000)), max(8, maker.pick.choice((head, tail)))
    before, after = (short, long) if short == head else (long, short)
    text = f"{_filler(before)}\n{text}\n{_filler(after)}"
    return Case(made.kind, "next to a cut", text, secret, is_cut=True)


def _filler(length: int) -> str:
    return ("nothing to see here, " * (length // 21 + 1))[:length]


def cases(formats: Sequence[Format], *, rounds: int = 1, seed: int = 11) -> Iterator[Case]:
    """Every format in every surrounding that has a place for it, a new secret each time."""
    maker = Maker(seed)
    for _ in range(rounds):
        for one in formats:
            put = [place.put for place in _PLACES]
            found = [place(one.make(maker)) for place in (*put, _in_url, _over_a_line_end)]
            yield from (case for case in found if case is not None)
            yield _at_a_cut(one.make(maker), maker)
