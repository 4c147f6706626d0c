"""Secrets that only their name gives away: `password=…`, `"api_key": "…"`, `export DB_TOKEN=…`, `Pwd=…;`.

A name alone proves little: `token = get_token()`, `password: str`, `KEY = "ArrowLeft"` are code. So the value is
looked at as well, the more sceptically the weaker the name. Part of `ai_memory.scrub`, loaded by it when a name occurs.
"""

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_MARK = "[REDACTED:"

_NAME = (
    r"(?P<word>pass(?:word|wd|phrase|code)?|pwd|secret|token|credentials?|key(?:[ _-]?id)?|pepper|salt)"
    r"(?P<pair>(?:\\{0,7}[\"'])?(?:,\s{0,12}+|\s{1,12}+)(?:\\{0,7}[\"'])?value)?"
    r"(?:\\{0,7}[\"'`])?\]?[ \t]{0,8}+(?P<sep>:=|=>|==?|:|>)(?P<gap>\s{0,16}+)"
    r"(?:[bruf]{1,2}+(?=[\"']))?(?P<quote>\\{0,7}[\"'`])?"
)
"""A name's last word, the separator, and what stands before the value. `pair`: name and value are members of their
own, as in `{"name": "DB_PASSWORD", "value": "…"}`; the separator `>`: the name is an element of XML."""
_BARE = r"[^\s\"'`,;&|<>()\\]++"
_NAME_CHARS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."
_MAX_NAME = 64
_MAX_ELEMENT = 4_096
_MAX_PROBE = 200
"""Characters of a value that are looked at; all of it is taken."""

_WORDS = frozenset(
    """
    str string bool boolean int integer number none null nil true false undefined optional required any bytes object
    void type unknown never self this default value text hidden visible disabled enabled invalid missing empty unset
    password passwd passphrase secret token key username user name email example placeholder redacted changed todo
    secretstr passwordfield charfield public private auth authentication basic bearer oauth identifier keyword literal
    """.split()  # noqa: SIM905 a list of words reads better than a list of quotes
)
_ENDINGS = (
    *("password", "passwd", "passphrase", "passcode", "pass", "pwd", "secret", "token", "credential", "credentials"),
    *("key", "keyid", "key_id", "key-id", "pepper", "salt"),
)
_VARIABLES = (
    *("password", "passwd", "pass", "pwd", "secret", "token", "credential", "salt"),
    *("privatekey", "publickey", "secretkey", "apikey", "key"),
)
"""How the name of a variable ends that holds a secret: as a value it is not the secret itself."""
_PASSES = ("password", "passwd", "passphrase", "passcode", "pass", "pwd")
_PLAIN = frozenset(
    """
    primary foreign public publishable cache sort partition storage hot range row column col map dict hash index group
    lookup unique object entity parent child page continuation cancel cancellation sync max min num eos bos pad unk sep
    cls mask stop syntax next prev start end first last string ident i18n translation locale message label query route
    react item data field json sub compose config setting settings change action request idempotency marker cursor
    """.split()  # noqa: SIM905
)
"""Words before `key` or `token` that make it no secret: `cache_key`, `nextPageToken`."""
_QUALIFIED = frozenset(
    """
    api app application access secret private signing encryption auth account master license service shared server
    client deploy consumer subscription write admin root session cookie jwt hmac aes webhook integration
    instrumentation
    """.split()  # noqa: SIM905
)
"""Words before a lower-case `key` that make it a secret. A bare `key` is none."""


def scrub_named(text: str, redact: "Callable[[str, str], str]") -> str:
    """The text with the values of secret names replaced."""
    kept: list[str] = []
    at = bare_end = 0
    low = text.lower()
    is_aligned = len(low) == len(text)  # then no letter changed its place, and the search starts at letters
    names = re.compile(_NAME, 0 if is_aligned else re.IGNORECASE)
    for match in names.finditer(low if is_aligned else text):
        if match.start() < at:
            continue
        start = match.end()
        if match["sep"] == ">":
            end = _end_of_element(text, match)
        elif match["quote"]:
            end = _end_of_quoted(text, start, match["quote"])
        else:
            end = bare_end = bare_end if start < bare_end else _end_of_bare(text, start)
        kind = _judge(text, match, end) if start < end else None
        if kind is None:
            continue
        kept += [text[at:start], redact(kind, text[start:end])]
        at = end
    if not at:
        return text
    kept.append(text[at:])
    return "".join(kept)


def kind_of(name: str, value: str) -> str | None:
    """What kind of secret a member of an object is, by its name and its text value; None when it is none."""
    name = name[-_MAX_NAME:]
    if not name.lower().endswith(_ENDINGS) or value.startswith(_MARK):
        return None
    return _kind(name, value, is_quoted=True, sep=":", gap="", after="")


def _judge(text: str, match: "re.Match[str]", end: int) -> str | None:
    """Kind of the secret that stands between the match and `end`, or None."""
    before = text[max(0, match.start() - _MAX_NAME) : match.start()]
    name = before[len(before.rstrip(_NAME_CHARS)) :]
    if before.endswith(_MARK + name) or match["gap"].count("\n") > 1:
        return None
    lead = before[: len(before) - len(name)]
    if match["sep"] == ":" and ((not match["gap"] and lead.endswith(":")) or lead.rstrip("\"' ").endswith("?")):
        return None  # a part of a name with colons, the middle of `a ? "b" : "c"`
    name = _whole_name(lead, name + text[match.start() : match.end("word")])
    start = match.end()
    probe = text[start : min(end, start + _MAX_PROBE)]
    if probe.startswith((":", "=")) or (probe.startswith(_MARK) and text.find("]", start, end) == end - 1):
        return None
    is_quoted = bool(match["quote"]) or match["sep"] == ">"
    if not is_quoted:
        if _is_argument(match):
            return None
        probe = probe.rstrip("}]") if "${" not in probe else probe
        if probe.isdecimal() and text[match.end("word")] in '"\\':
            return None  # a number of JSON
    sep, gap = ("=", "") if match["pair"] else (match["sep"], match["gap"])
    return _kind(name, probe, is_quoted=is_quoted, sep=sep, gap=gap, after=text[end : end + 1])


def _is_argument(match: "re.Match[str]") -> bool:
    return bool(match["pair"]) and (match["sep"] == "=" or "," in match["pair"])


def _whole_name(lead: str, name: str) -> str:
    """The name with the word before a lone `key` or `salt`, as prose writes it: `API key: …`."""
    if lead.endswith(" ") and name.lower().startswith(("key", "salt", "pepper")):
        word = lead[:-1]
        return f"{word[len(word.rstrip(_NAME_CHARS)) :]}_{name.replace(' ', '_')}"
    return name.replace(" ", "_")


def _end_of_element(text: str, match: "re.Match[str]") -> int:
    """Index of `</` behind the text of an element that has the name; the start of the value when it is none."""
    start = match.end()
    name = text[max(0, match.start() - _MAX_NAME) : match.start()].rstrip(_NAME_CHARS)
    end = text.find("<", start, start + _MAX_ELEMENT)
    return end if end >= 0 and name.endswith("<") and text.startswith("</", end) and not match["quote"] else start


def _end_of_quoted(text: str, start: int, quote: str) -> int:
    """Index of the closing quote, or of the line's end when there is none."""
    at = text.find(quote, start)
    while at > 0 and len(quote) == 1 and _is_escaped(text, at, start):
        at = text.find(quote, at + 1)
    line = text.find("\n", start, at if at >= 0 else len(text))
    if line >= 0:
        return line
    return at if at >= 0 else len(text)


def _is_escaped(text: str, at: int, start: int) -> bool:
    slashes = at
    while slashes > start and text[slashes - 1] == "\\":
        slashes -= 1
    return (at - slashes) % 2 == 1


def _end_of_bare(text: str, start: int) -> int:
    match = re.compile(_BARE).match(text, start)
    if match is None:
        return start
    end = match.end()
    while end > start and text[end - 1] in ".!?:":
        end -= 1
    return end


def _kind(name: str, value: str, *, is_quoted: bool, sep: str, gap: str, after: str) -> str | None:
    plain = name.lower().replace("-", "_")
    if _is_placeholder(value) or (not is_quoted and _is_code(value, after)):
        return None
    if plain.endswith(_PASSES):
        return "password" if _is_password(name, value, is_quoted=is_quoted, gap=gap, sep=sep, after=after) else None
    is_constant = name.replace("-", "_").isupper() and len(name) > 3
    qualifier = _qualifier(name)
    if plain.endswith(("salt", "pepper")):
        return "secret" if (is_constant or qualifier) and _is_secret(plain, value, is_quoted=is_quoted) else None
    if plain.endswith(("key", "key_id", "keyid")) and not is_constant and qualifier not in _QUALIFIED:
        return None
    if qualifier in _PLAIN:
        return None
    if is_constant and "_" in name and sep == "=" and not gap and not is_quoted:  # a line of an env file
        return "secret" if len(value) >= 4 and not _is_path(value) else None
    return "secret" if _is_secret(plain, value, is_quoted=is_quoted) else None


def _qualifier(name: str) -> str:
    """The word before `key` or `token`: `api` of `api-key`, `apiKey`, `MY_API_KEY_ID`."""
    snake = name
    if not name.isupper():
        snake = "".join(f"_{sign}" if sign.isupper() else sign for sign in name)
    snake = snake.lower().replace("-", "_").replace(".", "_")
    for ending in ("_id", "id", "key", "token", "secret", "salt", "pepper"):
        snake = snake.removesuffix(ending)
    return snake.rstrip("_").rpartition("_")[2]


def _is_password(name: str, value: str, *, is_quoted: bool, gap: str, sep: str, after: str) -> bool:
    plain = name.lower().replace("-", "_")
    if len(value) < 4 or _is_number(value):
        return False
    if _is_path(value) and (not is_quoted or "//" in value or _is_wordy(value) or plain.endswith("pwd")):
        return False
    if plain.endswith("pass") and plain not in ("pass", "dbpass", "userpass", "mypass") and not plain.endswith("_pass"):
        is_hump = name.endswith("Pass") and name[-5:-4].islower()  # `smtpPass`, but neither bypass nor compass
        return is_hump and _has_digit_and_letter(value) and not _is_wordy(value)
    if is_quoted:
        if plain.endswith("pass") and value.isalpha() and value.islower():
            return False  # `on_pass: "next"`
        return plain.endswith("passphrase") or not (any(sign.isspace() for sign in value) or _is_label(value))
    if sep == "==" or (sep != "=" and _is_label(value)):
        return False
    if _is_identifier(value.replace("-", "_").replace(".", "_")):  # an identifier or words: only `name=value` tells
        return sep == "=" and not gap and after not in (")", ",", ";") and "." not in value and "_" not in value
    return plain != "pass" or _has_digit_and_letter(value)


def _is_secret(name: str, value: str, *, is_quoted: bool) -> bool:
    if len(value) < 8 or any(sign.isspace() for sign in value):
        return False
    if _is_number(value) or _is_path(value) or value.startswith(("[", "(", "^", "/[")) or len(set(value)) <= 3:
        return False
    if any(sign in "(){}" for sign in value):
        return False
    is_wordy = _is_wordy(value)
    if name.endswith(("secret", "secret_key", "secretkey", "private_key", "signing_key", "credential", "credentials")):
        if not is_wordy and is_quoted and not _names_a_secret(value):
            return True
        is_typed = len(value) >= 10 and (is_quoted or not value.isidentifier())
        if is_typed and _has_digit_and_letter(value) and not value.isalnum() and not _names_a_secret(value):
            return True
    return (not is_wordy and _has_digit_and_letter(value)) or _is_scrambled(value)


def _is_placeholder(value: str) -> bool:
    low = value.lower()
    if low.strip("\"'`()[]{}<>.:;*!?") in _WORDS or not low.strip("*x.-_•#"):
        return True
    if low.startswith(("${", "{{", "<", "%(", "%s", "{", "#{", "@", "process.env", "os.environ", "env.", "secrets.")):
        return True
    if "===" in value or ".$" in value:
        return True
    if low.startswith("$") and low[1:2].isalpha() and low[1:].replace("_", "a").isalpha():
        return True
    if low.startswith(("your-", "your_", "my-", "insert-", "insert_", "replace-", "replace_", "changeme-")):
        return True
    return _names_a_secret(value) and not any(sign.isdigit() for sign in value)


def _names_a_secret(value: str) -> bool:
    """Whether it says what should stand there: `mypassword`, `challengePassword`, `test-secret`, `passwordformail`."""
    low = value.lower()
    return low.endswith(_ENDINGS) or "password" in low or "passwd" in low


def _is_label(value: str) -> bool:
    """A text of a form in some language: `Passwort`, `Palavra-passe`, `Hasło`, `Пароль`."""
    letters = value.replace("-", "").rstrip(":.…*")
    if not letters.isascii():
        return not any(sign.isdigit() for sign in letters)
    return letters.isalpha() and letters[:1].isupper() and letters[1:].islower()


def _is_code(value: str, after: str) -> bool:
    """A call, an index, a member, a generic type: what a program computes, not what a person typed."""
    if after == "(":
        return True
    value = value.rstrip("}])")
    if value.startswith(("self.", "this.", "&", "*", "!", "$(", "[", "new", "await")) and not value[-1:].isdigit():
        return True
    if "?." in value or "}=" in value or (value.endswith("=") and len(value) < 16 and _is_identifier(value[:-1])):
        return True
    head = re.match(r"[A-Za-z_$][\w$]*+(?:(?:\.|::?|->)[A-Za-z_$][\w$]*+)*+", value)
    if head is None:
        return False
    rest = value[head.end() :]
    if rest:
        return rest.startswith("[") or (value.startswith("$") and rest[0] in "-.:")
    if value.startswith("$") or _is_variable(value) or "PrivateKey" in value:
        return True
    is_member = "." in value or "::" in value or "->" in value
    return is_member and not _is_scrambled(value) and (len(value) < 10 or _is_wordy(value))


def _is_identifier(value: str) -> bool:
    return value.replace("_", "a").isalpha() and value.isascii()


def _is_variable(value: str) -> bool:
    """Whether it is named as a secret is: `oldPassword2`, `s3_access_key_id`, `SecretKeyType`; but not `Monkey17`."""
    stem = value.rstrip("0123456789$")
    for suffix in ("_id", "Id", "Type", "Types", "s"):
        stem = stem.removesuffix(suffix)
    low = stem.lower()
    ending = next((one for one in _VARIABLES if low.endswith(one)), "")
    at = len(stem) - len(ending)
    return bool(ending) and (at == 0 or stem[at - 1] == "_" or (stem[at].isupper() and not stem[at - 1].isupper()))


def _is_number(value: str) -> bool:
    """A number or a version; of digits alone only a long one, since people take those for passwords."""
    if value.isdecimal():
        return len(value) > 12
    if value.startswith(("0x", "0X")):
        return len(value) <= 18 and not value[2:].strip("0123456789abcdefABCDEF")
    return value[:1].isdecimal() and not value.strip("0123456789.-")


def _is_path(value: str) -> bool:
    if value.startswith("/"):
        return not _is_scrambled(value)  # base 64 begins with it now and then
    return value.startswith(("~", "./", "../", "file:", "http://", "https://")) or value[1:3] in (":\\", ":/")


def _is_wordy(value: str) -> bool:
    """Words, perhaps numbered, joined by punctuation: `user-session-v2`, `Enter.value`."""
    word = re.compile(
        r"[A-Z]{0,3}[a-z]{2,14}+(?:[A-Z]{1,2}[a-z]{1,14}+){0,5}+\d{0,4}+|[A-Z]{2,14}+\d{0,3}+|v?\d{1,4}+|[A-Za-z]"
    )
    parts = [part for part in re.split(r"[^A-Za-z0-9]++", value) if part]
    return all(word.fullmatch(part) for part in parts)


def _is_scrambled(value: str) -> bool:
    turns = sum(1 for a, b in zip(value, value[1:], strict=False) if _class(a) != _class(b))  # noqa: RUF007
    return len(value) >= 16 and turns * 3 >= len(value) and any(sign.isdigit() for sign in value)


def _class(sign: str) -> int:
    return 0 if sign.isdigit() else 1 if sign.isupper() else 2


def _has_digit_and_letter(value: str) -> bool:
    return any(sign.isdigit() for sign in value) and any(sign.isalpha() for sign in value)
