"""Secrets are taken out of text, whatever stands around them, and nothing else is."""

import hashlib
import random
import re
import string
import time
import uuid

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from secret_formats import FORMATS, Maker
from secret_places import cases

from ai_memory.scrub import DENSE, HEADERS, MARK, TOKENS, cut_middle, scrub, strip_controls, strip_private
from ai_memory.scrub_flags import FLAGS
from ai_memory.scrub_named import kind_of

ALNUM = string.ascii_letters + string.digits

LABELS = {
    "github": "github-token",
    "gitlab": "gitlab-token",
    "npm": "npm-token",
    "pypi": "pypi-token",
    "aws-key": "aws-key",
    "openai": "api-key",
    "anthropic": "api-key",
    "huggingface": "huggingface-token",
    "stripe": "stripe-key",
    "meta": "meta-token",
    "telegram": "telegram-token",
    "pit": "pit-token",
    "slack": "slack-token",
    "slack-webhook": "slack-webhook",
    "discord": "discord-token",
    "discord-webhook": "discord-webhook",
    "sendgrid": "sendgrid-key",
    "jwt": "jwt",
    "private-key": "private-key",
    "bearer": "bearer-token",
    "basic": "basic-auth",
    "auth-header": "auth-header",
    "url-password": "url-password",
    "cli-password": "cli-password",
    "netrc": "netrc-password",
    "secret-path": "secret-path",
}
"""Kind of a format -> the label of all or nearly all of its secrets."""


@pytest.mark.parametrize("kind", LABELS)
def test_a_label_names_the_kind(kind: str) -> None:
    found = [scrub(f"see {one.make(Maker(3)).text} there") for one in FORMATS if one.kind == kind]
    named = [text for text in found if f"{MARK}{LABELS[kind]}]" in text]
    assert len(named) * 5 >= len(found) * 3, found


PIECES = st.sampled_from(
    [
        *("password", "PASSWORD", "api_key", "token", "secret", "=", ": ", " = ", '"', "'", "\\", "\n", " ", ";", "&"),
        *("Bearer ", "://", "a:b", "@", "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "[REDACTED:"),
        *("[REDACTED:password]", "]", "<private>", "</private>", "x1Y2z3A4b5C6d7E8f9G0", "eyJhbGciOiJIUzI1NiJ9", "."),
        *("\x1b[31m", "\x9b", "é", "İ", "_", "-", "/.ssh/", "(", ")", "curl -u ", "--password ", "x-api-key", "$X"),
        *("hunter2abc", "AK" + "IAABCDEFGHIJKLMNOP", "gh" + "p_" + "a1B2" * 9, "12345678:AA", "sk-"),
    ]
)


def test_scrubbing_twice_changes_nothing_more() -> None:
    for case in list(cases(FORMATS, seed=7))[::5]:
        once = scrub(case.text)
        assert scrub(once) == once


@settings(max_examples=200)
@given(st.lists(PIECES, max_size=30).map("".join))
def test_any_mixture_is_settled_after_one_pass(text: str) -> None:
    once = scrub(strip_private(text))
    assert scrub(strip_private(once)) == once


def made_by(signs: str, length: int, seed: int) -> str:
    pick = random.Random(seed)
    return "".join(pick.choice(signs) for _ in range(length))


INNOCENT = (
    "token = get_token()",
    "password: str",
    "def login(user: str, password: str = None, token: Optional[str] = None) -> bool:",
    'const KEY = "ArrowLeft"',
    "API_KEY = os.environ['API_KEY']",
    "apiKey: process.env.API_KEY,",
    "GITHUB_TOKEN: ${{ secrets.GITHUB_TOKEN }}",
    'password="$PASSWORD"',
    "PASSWORD=<your password>",
    "password = getpass.getpass('Password: ')",
    "token=token, password=password)",
    "token: parser.next_token",
    "password = form.password.data",
    "secret = self.config.secret",
    '<input type="password" name="password" placeholder="Password">',
    "PRIMARY_KEY: id",
    "max_tokens=4096",
    "MAX_TOKEN=4096",
    "cacheKey: 'user-12345'",
    "nextPageToken = 'CAUQAA1234567890'",
    "sort(key=lambda pair: pair[1])",
    "key: value",
    "tokenizer = AutoTokenizer.from_pretrained('bert-base-uncased')",
    "type Key = string;",
    "PWD=/home/ann/shop",
    "sk-circle-fade-dot-container-wide",
    "Bearer authentication-mechanisms explained",
    "git@github.com:acme/shop.git",
    "https://example.com:8080/a@b",
    "https://user:${DB_PASSWORD}@host/x",
    "1// a comment",
    "The password is checked twice. The token: never shown.",
    "enum { TOKEN = 5, SECRET = 6 }",
    "--token <value>   the token to use",
    "--password <file>",
    "if (token === null) return;",
    "Vec<Token>: tokens.push(Token::Ident)",
    "x-request-id: 4711",
    "compass=north; bypass=enabled",
    "src/keyboard.ts: key handling for Enter and Escape",
)


@pytest.mark.parametrize("text", INNOCENT)
def test_code_and_prose_stay_as_they_are(text: str) -> None:
    assert scrub(text) == text


def test_hashes_ids_lock_files_and_images_stay_as_they_are() -> None:
    digest = hashlib.sha512(b"x").hexdigest()
    lines = [
        f'"integrity": "sha512-{made_by(ALNUM + "+/", 86, 1)}=="',
        f'checksum = "{hashlib.sha256(b"y").hexdigest()}"',
        f"{{file = 'x-1.0-py3-none-any.whl', hash = 'sha256:{hashlib.sha256(b'z').hexdigest()}'}},",
        f"commit {hashlib.sha1(b'c').hexdigest()}",
        str(uuid.UUID(int=random.Random(2).getrandbits(128), version=4)),
        f"data:image/png;base64,iVBORw0KGgo{made_by(ALNUM + '+/', 4_000, 3)}=",
        f"//# sourceMappingURL=data:application/json;base64,eyJ2ZXJzaW9uIjozLCJzb3VyY2VzIjpb{made_by(ALNUM, 900, 4)}",
        f'resolved "https://registry.example.org/a/-/a-1.2.3.tgz#{digest[:40]}"',
        f"go.sum: example.org/m v1.2.3 h1:{made_by(ALNUM + '+/', 43, 5)}=",
    ]
    text = "\n".join(lines)
    assert scrub(text) == text


LENGTH = 80_000
"""Long enough to tell: a pattern that looks through the rest of the text at each sign takes 5 s CPU (2026-12-01)."""


def scrubbing_s(text: str) -> float:
    started = time.process_time()
    scrub(strip_private(text))
    return time.process_time() - started


@pytest.mark.parametrize("filler", ["a", "-", "_", ".", "/", " ", "\n", '"', "\\", "=", ":", "A1", "aB3_", "€"])
def test_a_long_text_of_anything_is_scrubbed_in_a_moment(filler: str) -> None:
    for lead in ("", "password=", "-----BEGIN PRIVATE KEY-----", "Bearer ", "://a:", "eyJ"):
        assert scrubbing_s(lead + filler * (LENGTH // len(filler))) < 0.4, lead


HOSTILE = [
    *("key=", "token=a1", 'password="', "password: ", 'token="a1', 'key\\"=', "authorization:", "curl -u ", "curl "),
    *("-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "://a:", "<private>", "</private>", "eyJ", "sk-"),
    *("Bearer ", "x-", "x-a-", "\x1b[", "\x1b]", "1:AA", "MTabc.", "1//", "/.ssh/", "private ", "--pass ", "AK" + "IA"),
    *("secret'", "a.b-", "pass", "SG.", "?sig=", "[REDACTED:", "hooks.slack.com/services/", "ask-", "password>"),
    *("<token>a", "key,", "key value=", "machine a ", "machine a login b password ", "mysql -", "docker login -"),
    *(
        "redis-cli -",
        "--password \\\n",
        "0123456789abcdef-us",
        "a8Q~",
        "dp.st.a.",
        "tskey-a-",
        "api key: ",
        "password=$",
    ),
    *("cookie:", "cookie: a=", "curl -b ", "_auth=", "define('DB_PASSWORD', ", "['DB_PASSWORD','", "password='", "''a"),
    *(";password={", "password=x;", "Server=;Pwd=", "host=a password=", "DB_PASSWORD=(", "\nDB_PASSWORD=a(", "a,b="),
    *("jdbc:oracle:thin:a/", "@tcp(", "a:b@tcp(", "://a@", ":\\/\\/a:", "://a:b@c", '["-p","', "htpasswd -b a "),
    *("ldapsearch -w ", "smbclient -U a%", "<private a", "password=a}", "password=a]]"),
    *("-----BEGIN PRIVATE KEY-----\n1:", "key\\\\\\", "$a->", '?"key":', "a" * 52 + "JQQJ99", "x" * 14 + " "),
]
"""Beginnings of what some pattern looks for; each pattern's own literals come on top of them."""
LITERALS = sorted({*TOKENS, *(literal for _, literals, _ in (*DENSE, *FLAGS, *HEADERS) for literal in literals)})


@pytest.mark.parametrize("piece", HOSTILE)
def test_a_long_row_of_beginnings_is_scrubbed_in_linear_time(piece: str) -> None:
    assert scrubbing_s(piece * (LENGTH // len(piece))) < 1.6


def test_no_literal_of_a_pattern_costs_more_the_longer_the_text() -> None:
    slow = {one: spent for one in LITERALS if (spent := scrubbing_s(one * (LENGTH // len(one)))) > 1.6}
    assert slow == {}


@settings(max_examples=3)
@given(st.lists(st.sampled_from([*HOSTILE, *LITERALS, *"aA1=:-_.\\\"'/ \n"]), min_size=1, max_size=5).map("".join))
def test_a_long_text_of_any_pattern_of_beginnings_is_scrubbed_within_a_deadline(piece: str) -> None:
    assert scrubbing_s(piece * (250_000 // len(piece))) < 5


def test_own_patterns_redact_and_the_allow_list_spares_single_matches() -> None:
    text = "TICKET-1 user=ann password=letmein99 password=other9999"
    found = scrub(text, extra=[r"TICKET-\d+", r"user=(?P<v>\w+)"], allow=["^letmein"])
    assert found == f"{MARK}custom] user={MARK}custom] password=letmein99 password={MARK}password]"


def test_own_patterns_see_the_shortest_text() -> None:
    assert scrub("AC-1", extra=[r"AC-\d"]) == f"{MARK}custom]"


def test_patterns_that_do_not_compile_play_no_part() -> None:
    assert scrub("password=hunter22", extra=["(", "x" * 2000], allow=["["]) == f"password={MARK}password]"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a <private>b</private> c", "a  c"),
        ("a <private>b", "a "),
        ("a <PRIVATE >b</ Private> c", "a  c"),
        ("<private>a<private>b</private>c</private>d", "d"),
        ("a</private> b", "a b"),
        ("<pri<private>x</private>vate>y</private>z", ""),
        ("private matters", "private matters"),
        ("<privateer>b</privateer>", "<privateer>b</privateer>"),
        ("İ <private>x</private>İ", "İ İ"),
    ],
)
def test_private_parts_are_taken_out(text: str, left: str) -> None:
    assert strip_private(text) == left


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07x", "x"),
        ("\x1b]8;;http://e\x1b\\link", "link"),
        ("\x9b31mx", "x"),
        ("a\x00b\x08c\x7fd\x85e", "abcde"),
        ("tab\tline\nreturn\r\n", "tab\tline\nreturn\r\n"),
        ("safe\u202eevil\u2066x", "safeevilx"),
        ("a\ud800b", "a\ufffdb"),
        ("👩\u200d💻", "👩\u200d💻"),
        ("\x1bP payload \x1b\\x", "x"),
    ],
)
def test_terminal_escapes_and_controls_are_taken_out(text: str, left: str) -> None:
    assert strip_controls(text) == left
    assert scrub(text) == left


def test_a_secret_split_by_an_escape_is_found() -> None:
    token = "gh" + "p_" + made_by(string.ascii_letters + string.digits, 36, 9)
    assert scrub(f"{token[:12]}\x1b[0m{token[12:]}") == f"{MARK}github-token]"


def test_a_key_without_its_end_is_taken_out_as_far_as_it_looks_like_one() -> None:
    whole = Maker(4).pem("RSA PRIVATE " + "KEY", 10)  # joined, or a scanner finds a key here
    found = scrub(f"before\n{whole[:400]}")
    assert found == f"before\n{MARK}private-key]"


@pytest.mark.parametrize(
    ("name", "value", "kind"),
    [
        ("password", "hunter", "password"),
        ("api_key", "a1b2c3d4e5f6a7b8", "secret"),
        ("clientSecret", "Zx9mQ2pL7vB4", "secret"),
        ("file_path", "/etc/passwd", None),
        ("key", "ArrowLeft", None),
        ("max_tokens", "4096", None),
        ("password", "[REDACTED:password]", None),
        ("", "x", None),
    ],
)
def test_members_of_objects_are_judged_by_name_and_value(name: str, value: str, kind: str | None) -> None:
    assert kind_of(name, value) == kind


@settings(max_examples=200)
@given(st.text(max_size=300), st.integers(0, 400))
def test_a_cut_text_fits_and_keeps_head_and_tail(text: str, limit: int) -> None:
    short = cut_middle(text, limit)
    assert len(short.encode()) <= limit
    if len(text.encode()) <= limit:
        assert short == text
    elif limit > 100:
        note = re.search(r"\n\[… (\d+) bytes cut …\]\n", short)
        assert note
        head, tail = short[: note.start()], short[note.end() :]
        assert text.startswith(head)
        assert text.endswith(tail)
        assert int(note[1]) == len(text.encode()) - len(head.encode()) - len(tail.encode())


def test_no_label_is_taken_for_a_secret() -> None:
    for kind in {kind for kind, _ in TOKENS.values()}:
        for text in (f"{MARK}{kind}]", f"password={MARK}{kind}]", f'"token": "{MARK}{kind}]"', f"Bearer {MARK}{kind}]"):
            assert scrub(text) == text


def test_a_label_in_the_place_of_a_user_name_is_no_password() -> None:
    text = "://" + "AKIA" + "ABCDEFGHIJKLMNOP" + "@"
    assert scrub(text) == scrub(scrub(text)) == "://[REDACTED:aws-key]@"
