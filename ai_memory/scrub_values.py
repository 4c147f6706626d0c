"""What a value of a secret name is: a secret, or code, a placeholder, a word, a path, a number.

No entropy is measured. Part of `ai_memory.scrub_named`, standard library only.
"""

import re

_MARK = "[REDACTED:"
_NAME_SIGNS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.$"
_PLACEHOLDER = (
    r"\$\{|\{\{|<[^<>]*+>|<[a-z_-]*+$|%\([a-z_]++\)|%s|#\{|\{[^{}]*+\}$|\{[a-z_][\w.]*+\}"
    r"|\{[a-z_ ]*+$|@[a-z_./-]*+$|@\w+_\w*+$|@\{|\$[a-z_]\w*+$|\$\([a-z]"
    r"|\$[a-z_]\w*+(?:->|\[|\.|::)"
)
"""How a text begins, or is, in whose place the value comes later."""
_PLACEHOLDER_SIGNS = frozenset("${<%#@")
"""With which all of these begin: to compile a pattern costs a hook more than it finds."""

_WORDS = frozenset(
    """
    str string bool boolean int integer number none null nil true false undefined optional required any bytes object
    void type unknown never self this default value text hidden visible disabled enabled invalid missing empty unset
    password passwd passphrase secret token key username user name email example placeholder redacted changed todo
    secretstr passwordfield charfield public private auth authentication basic bearer oauth identifier keyword literal
    """.split()  # noqa: SIM905 a list of words reads better than a list of quotes
)
ENDINGS = (
    *("password", "passwd", "passphrase", "passcode", "pass", "pwd", "secret", "token", "credential", "credentials"),
    *("key", "keyid", "key_id", "key-id", "key_base", "pepper", "salt"),
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


def kind_of(name: str, value: str, *, is_quoted: bool, sep: str, gap: str, after: str) -> str | None:
    """What kind of secret a value is under that name, or None. `after`: the sign that follows it."""
    plain = name.lower().replace("-", "_")
    if is_placeholder(value) or (not is_quoted and _is_code(value, after)):
        return None
    is_constant = name.replace("-", "_").isupper() and (len(name) > 3 or (sep == "=" and not gap and _is_made(value)))
    if plain.endswith(_PASSES):
        if is_constant and not is_quoted and "_" in name and sep in ("=", ":") and after in (*"\n\r\"'`<\\", ""):
            return "password" if len(value) >= 4 and not (_is_path(value) or _is_number(value)) else None
        return "password" if _is_password(name, value, is_quoted=is_quoted, gap=gap, sep=sep, after=after) else None
    qualifier = _qualifier(name)
    is_named = is_constant and "_" in name and qualifier not in _PLAIN
    is_drawn = (len(value) >= 10 and _is_irregular(value)) or _is_jumbled(value)
    if is_named and is_drawn and after not in ("(", "["):
        return "secret"
    if is_named and sep == "=" and not gap and not is_quoted:  # a line of an env file
        return "secret" if len(value) >= 4 and not _is_path(value) else None
    if plain.endswith(("salt", "pepper")):
        return "secret" if (is_constant or qualifier) and _is_secret(plain, value, is_quoted=is_quoted) else None
    if plain.endswith(("key", "key_id", "keyid", "key_base")) and not is_constant and qualifier not in _QUALIFIED:
        return None
    if qualifier in _PLAIN:
        return None
    return "secret" if _is_secret(plain, value, is_quoted=is_quoted) else None


def kind_of_argument(name: str, value: str, *, is_pair: bool) -> str | None:
    """What kind of secret the argument behind the name of a constant is: `define('DB_PASSWORD', '…')`.

    `is_pair`: the two belong together, so a word can be the value and need not be the next name of a list.
    """
    if value.isupper() or (_is_wordy(value) and not is_pair):
        return None
    return kind_of(name, value, is_quoted=True, sep=",", gap="", after="")


def kind_of_word(name: str, value: str) -> str | None:
    """What kind of secret a value without quotes is that holds signs of code; it must not read like code."""
    if is_placeholder(value) or _is_wordy(value) or _is_computed(value) or value.startswith(_MARK):
        return None
    return kind_of(name, value, is_quoted=True, sep="=", gap="", after="")


def _qualifier(name: str) -> str:
    """The word before `key` or `token`: `api` of `api-key`, `apiKey`, `MY_API_KEY_ID`."""
    snake = name
    if not name.isupper():
        snake = "".join(f"_{sign}" if sign.isupper() else sign for sign in name)
    snake = snake.lower().replace("-", "_").replace(".", "_")
    for ending in ("_base", "_id", "id", "key", "token", "secret", "salt", "pepper"):
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
        return is_hump and (_has_digit_and_letter(value) or _is_irregular(value)) and not _is_wordy(value)
    if is_quoted:
        if plain.endswith("pass") and value.isalpha() and value.islower():
            return False  # `on_pass: "next"`
        return plain.endswith("passphrase") or not (any(sign.isspace() for sign in value) or _is_label(value))
    if sep == "==" or (sep != "=" and _is_label(value)):
        return False
    if _is_irregular(value):
        return after not in ("(", "[")
    if _is_identifier(value.replace("-", "_").replace(".", "_")):  # an identifier or words: only `name=value` tells
        return sep == "=" and not gap and after not in (")", ",", ";") and "." not in value and "_" not in value
    return plain != "pass" or _has_digit_and_letter(value)


def _is_secret(name: str, value: str, *, is_quoted: bool) -> bool:
    if len(value) < 8 or (any(sign.isspace() for sign in value) and not _is_drawn(value)):
        return False
    if _is_number(value) or _is_path(value) or _is_pattern(value) or len(set(value)) <= 3:
        return False
    is_wordy = _is_wordy(value)
    if name.endswith(("secret", "secret_key", "secretkey", "private_key", "signing_key", "credential", "credentials")):
        if not is_wordy and is_quoted and not _names_a_secret(value):
            return True
        is_typed = len(value) >= 10 and (is_quoted or not value.isidentifier())
        if is_typed and _has_digit_and_letter(value) and not value.isalnum() and not _names_a_secret(value):
            return True
    if len(value) >= 20 and _is_irregular(value, most=3):
        return True
    return (not is_wordy and _has_digit_and_letter(value)) or _is_scrambled(value)


def is_placeholder(value: str) -> bool:
    """Whether it stands for a value: `${X}`, `<your password>`, `***`, `string`, `changeme-…`."""
    low = value.lower()
    if low.strip("\"'`()[]{}<>.:;*!?") in _WORDS or not low.strip("*x.-_•#"):
        return True
    if low.startswith(("process.env", "os.environ", "env.", "secrets.")):
        return True
    if low[:1] in _PLACEHOLDER_SIGNS and re.match(_PLACEHOLDER, low):
        return True
    if "===" in value:
        return True
    if low.startswith(("your-", "your_", "my-", "insert-", "insert_", "replace-", "replace_", "changeme-")):
        return True
    return _names_a_secret(value) and not any(sign.isdigit() for sign in value)


def _names_a_secret(value: str) -> bool:
    """Whether it says what should stand there: `mypassword`, `challengePassword`, `test-secret`, `passwordformail`."""
    low = value.lower()
    return low.endswith(ENDINGS) or "password" in low or "passwd" in low


def _is_label(value: str) -> bool:
    """A text of a form in some language: `Passwort`, `Palavra-passe`, `Hasło`, `Пароль`."""
    letters = value.replace("-", "").rstrip(":.…*")
    if not letters.isascii():
        return not any(sign.isdigit() for sign in letters)
    return letters.isalpha() and letters[:1].isupper() and letters[1:].islower()


def _is_code(value: str, after: str) -> bool:
    """A call, an index, a member, a generic type: what a program computes, not what a person typed."""
    if after == "(" or value.startswith("{") or (".$" in value and re.search(r"\.\$[A-Za-z_{(]", value)):
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


def _is_computed(value: str) -> bool:
    """Whether a value with brackets or operators reads like code: a call, an index, names joined by operators."""
    bare = value.lstrip("([{!").rstrip(")]}=+")
    if value.endswith((",", ";", "{", "(", "[")) or value.startswith("<") or not bare.strip(_NAME_SIGNS):
        return True
    if any(sign in value for sign in ("=>", "&&", "||", "==", "->", "::", "?.", "${", "{{", "$(", "</", "/>")):
        return True
    is_balanced = all(value.count(one) == value.count(other) for one, other in ("()", "[]", "{}"))
    if not is_balanced or re.search(r"[)\]][A-Za-z0-9_]", value):
        return False
    return re.search(r"[A-Za-z_][\w.]*+[(\[]", value) is not None


def _is_pattern(value: str) -> bool:
    """Whether it is a regular expression, a template, or a call."""
    if _is_drawn(value) and "\\" not in value:
        return False
    if value.startswith(("^", "/[")) or (value.startswith(("[", "(")) and value[-1] in ")]*+?$"):
        return True
    if not _is_drawn(value, least=16) and re.search(r"%[sd]|\{\}|\.[*+]|\{\{|\}\}", value):
        return True
    if any(sign in value for sign in ("[^", "(?", "\\d", "\\w", "\\s", "${")):
        return True
    return re.search(r"\{[A-Za-z_][\w.]*+\}|\{\d\}|^[A-Za-z_][\w.]*+\(.*\)$|^\$\(", value) is not None


def _is_irregular(value: str, *, most: int = 4) -> bool:
    """Letters of both cases in no order of words: `HpNMtWUFl`, but neither `SecretStr` nor `fromURL`.

    `most`: letters between two changes of case, on the whole.
    """
    if len(value) < 8 or not value.isalpha() or not value.isascii() or _is_wordy(value):
        return False
    return sum(1 for a, b in zip(value, value[1:], strict=False) if a.islower() != b.islower()) * most >= len(value)  # noqa: RUF007


def _is_jumbled(value: str) -> bool:
    """Letters of both cases among signs that no text puts together: `c$*WPFNc!veNf`."""
    if len(value) < 12 or value.islower() or value.isupper() or any(sign.isspace() for sign in value):
        return False
    return len(set(value) & set("!#$%&*+=?@^~")) >= 3 and not _is_pattern(value) and not _is_wordy(value)


def _is_made(value: str) -> bool:
    """Long, of digits and letters, and no words: what stands behind a bare `KEY=`."""
    return len(value) >= 12 and value.isalnum() and _has_digit_and_letter(value) and not _is_wordy(value)


def _is_drawn(value: str, *, least: int = 32) -> bool:
    """Drawn from all signs of a keyboard: no text has so many different ones."""
    signs = {sign for sign in value if not sign.isalnum()}
    return len(value) >= least and len(signs) * 4 >= least and sum(map(str.isdecimal, value)) >= 3


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
        r"[A-Z]{0,3}[a-z]{2,14}+(?:[A-Z]{1,2}[a-z]{1,14}+){0,9}+\d{0,4}+|[A-Z]{2,14}+\d{0,3}+|v?\d{1,4}+|[A-Za-z]"
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
