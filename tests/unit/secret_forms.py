"""Secrets made up at run time from the published formats of each service. Shares no pattern with the scrubber.

No value stands here in a form that a scanner could take for a live one: prefixes are joined when they are used.
"""

import base64
import json
import random
import string
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass

ALNUM = string.ascii_letters + string.digits
URL_SAFE = ALNUM + "-_"
UPPER = string.ascii_uppercase + string.digits
HEX = "0123456789abcdef"


@dataclass(frozen=True)
class Made:
    """One secret: `text` as it stands in the world, `secret` the part that must not survive."""

    kind: str
    text: str
    secret: str


class Maker:
    """Makes secrets from one seed."""

    def __init__(self, seed: int) -> None:
        self.pick = random.Random(seed)

    def of(self, signs: str, length: int) -> str:
        return "".join(self.pick.choice(signs) for _ in range(length))

    def mixed(self, signs: str, length: int) -> str:
        """As random tokens of that length are: digits and letters of both cases."""
        while True:
            found = self.of(signs, length)
            has = [any(c.isdigit() for c in found), any(c.islower() for c in found), any(c.isupper() for c in found)]
            if all(has) and found[0].isalnum() and found[-1].isalnum():
                return found

    def jwt(self) -> str:
        def part(value: object) -> str:
            return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

        claims = {"sub": self.of(ALNUM, 12), "iat": self.pick.randrange(10**9, 2 * 10**9), "admin": True}
        return f"{part({'alg': 'HS256', 'typ': 'JWT'})}.{part(claims)}.{self.of(URL_SAFE, 43)}"

    def pem(self, name: str, lines: int) -> str:
        body = "\n".join(self.of(ALNUM + "+/", 64) for _ in range(lines))
        return f"-----BEGIN {name}-----\n{body}\n{self.of(ALNUM, 21)}=\n-----END {name}-----"

    def discord(self) -> str:
        user = str(self.pick.randrange(10**17, 10**18))
        lead = base64.b64encode(user.encode()).decode().rstrip("=")
        return f"{lead}.{self.mixed(URL_SAFE, 6)}.{self.mixed(URL_SAFE, 38)}"


def _token(kind: str, lead: str, signs: str, length: int) -> Callable[[Maker], Made]:
    def make(maker: Maker) -> Made:
        text = lead + (maker.of(signs, length) if signs in (HEX, UPPER) else maker.mixed(signs, length))
        return Made(kind, text, text)

    return make


def _whole(kind: str, build: Callable[[Maker], str]) -> Callable[[Maker], Made]:
    def make(maker: Maker) -> Made:
        text = build(maker)
        return Made(kind, text, text)

    return make


def _within(kind: str, template: str, signs: str, length: int) -> Callable[[Maker], Made]:
    def make(maker: Maker) -> Made:
        secret = maker.mixed(signs, length)
        return Made(kind, template.replace("@@", secret), secret)

    return make


TOKENS: tuple[Callable[[Maker], Made], ...] = (
    _token("api-key", "sk-" + "proj-", URL_SAFE, 74),
    _token("api-key", "sk-" + "ant-api03-", URL_SAFE, 93),
    _token("api-key", "sk-" + "or-v1-", HEX, 64),
    _token("api-key", "sk-", ALNUM, 48),
    _token("stripe-key", "sk_" + "live_", ALNUM, 24),
    _token("stripe-key", "rk_" + "live_", ALNUM, 99),
    *(_token("github-token", f"gh{sign}" + "_", ALNUM, 36) for sign in "pousr"),
    _whole("github-token", lambda m: "github" + f"_pat_{m.mixed(ALNUM, 22)}_{m.mixed(ALNUM, 59)}"),
    _token("gitlab-token", "glpat" + "-", URL_SAFE, 20),
    _token("aws-key", "AK" + "IA", UPPER, 16),
    _token("aws-key", "AS" + "IA", UPPER, 16),
    _token("google-key", "AI" + "za", URL_SAFE, 35),
    _token("google-token", "ya29" + ".", URL_SAFE, 120),
    _token("google-token", "1" + "//0", URL_SAFE, 60),
    _token("google-secret", "GOCSPX" + "-", URL_SAFE, 28),
    _token("meta-token", "EA" + "A", ALNUM, 120),
    _whole("telegram-token", lambda m: f"{m.pick.randrange(10**8, 10**10)}:AA{m.mixed(URL_SAFE, 33)}"),
    _whole("pit-token", lambda m: "pit" + f"-{uuid.UUID(int=m.pick.getrandbits(128), version=4)}"),
    _whole("slack-token", lambda m: "xox" + f"b-{m.of('123456789', 12)}-{m.of('123456789', 12)}-{m.mixed(ALNUM, 24)}"),
    _whole("slack-token", lambda m: "xapp" + f"-1-A{m.of(UPPER, 10)}-{m.of('123456789', 13)}-{m.of(HEX, 64)}"),
    _whole("jwt", Maker.jwt),
    _token("npm-token", "npm" + "_", ALNUM, 36),
    _token("pypi-token", "pypi-" + "AgEIcHlwaS5vcmc", URL_SAFE, 150),
    _token("huggingface-token", "hf" + "_", ALNUM, 34),
    _whole("sendgrid-key", lambda m: "S" + f"G.{m.mixed(URL_SAFE, 22)}.{m.mixed(URL_SAFE, 43)}"),
    _whole("discord-token", Maker.discord),
    _whole("private-key", lambda m: m.pem("RSA PRIVATE " + "KEY", 24)),
    _whole("private-key", lambda m: m.pem("OPENSSH PRIVATE " + "KEY", 6)),
    _whole("private-key", lambda m: m.pem("PRIVATE " + "KEY", 3)),
    _whole("private-key", lambda m: m.pem("PGP PRIVATE " + "KEY BLOCK", 20)),
)
"""Secrets that their own shape gives away."""

PLACED: tuple[Callable[[Maker], Made], ...] = (
    _within("bearer-token", "Authorization: " + "Bearer @@", URL_SAFE, 40),
    _within("bearer-token", "authorization: " + "bearer\n  @@", URL_SAFE, 64),
    _within("basic-auth", "Authorization: " + "Basic @@", ALNUM, 28),
    _within("url-password", "https" + "://deploy:@@@git.example.org/x.git", ALNUM, 20),
    _within("url-password", "postgresql" + "+psycopg://app:@@@db:5432/shop?sslmode=require", URL_SAFE + "!*", 14),
    _within("url-password", "mongodb" + "+srv://root:@@@cluster0.mongodb.net", ALNUM, 10),
    _within("url-password", "redis" + "://:@@@cache:6379/0", ALNUM, 24),
    _within("auth-header", "X-Api-Key: @@", ALNUM, 32),
    _within("auth-header", '-H "Private-Token: @@"', URL_SAFE, 20),
    _within("auth-header", "x-amz-security-token: @@", ALNUM + "/+", 200),
    _within("secret", "export ANTHROPIC_API_KEY=@@", URL_SAFE, 40),
    _within("secret", "MISTRAL_API_KEY: @@", ALNUM, 32),
    _within("secret", "SESSION_SECRET=@@", ALNUM, 12),
    _within("secret", "aws_secret_access_key = @@", ALNUM + "/+", 40),
    _within("secret", "DJANGO_SECRET_KEY = 'django-@@'", URL_SAFE, 50),
    _within("secret", "AccountKey=@@==;EndpointSuffix=core.windows.net", ALNUM + "+/", 86),
    _within("secret", "SharedAccessKeyName=Root;SharedAccessKey=@@=", ALNUM + "+/", 43),
    _within("secret", '"client_secret": "@@"', URL_SAFE, 32),
    _within("secret", "clientSecret: '@@',", ALNUM, 40),
    _within("auth-header", "  api-key: @@", ALNUM, 32),
    _within("secret", '{\\"access_token\\": \\"@@\\"}', URL_SAFE, 40),
    _within("secret", "HASH_SALT=@@", ALNUM, 16),
    _within("password", "password=@@", ALNUM, 10),
    _within("password", "PASSWORD: @@", ALNUM, 9),
    _within("password", '"password": "@@"', ALNUM + "!#%", 12),
    _within("password", "Server=tcp:x;User ID=sa;Password=@@;Encrypt=True", ALNUM, 14),
    _within("password", "Server=db;Uid=root;Pwd=@@;", ALNUM, 10),
    _within("password", "db_passwd: '@@'", ALNUM, 8),
    _within("password", 'passphrase = "@@"', ALNUM + " ", 24),
    _within("password", "export PGPASSWORD=@@", ALNUM, 11),
    _within("cli-password", "mysqldump --password @@ shop", ALNUM, 12),
    _within("cli-password", "curl -sS -u ann:@@ https://example.org", ALNUM, 12),
    _within("azure-sas", "https://a.blob.core.windows.net/c?sv=2022&sig=@@%3D", ALNUM, 43),
    _within("slack-webhook", "https://hooks.slack.com/services/T01/B02/@@", ALNUM, 24),
    _within("discord-webhook", "https://discord.com/api/webhooks/123456789012345678/@@", URL_SAFE, 68),
    _within("secret-path", "cat ~/.ssh/@@", ALNUM, 10),
)
"""Secrets that only their place gives away."""

SETTINGS = (
    "{}",
    "please use {} for the upload, thanks",
    '{{"note": "{}", "n": 1}}',
    "key:\n  nested: {}\n",
    "+{}\n-old line",
    "see `{}`.",
    "<a>{}</a>",
    "| a | {} | b |",
    "first\r\n{}\r\nlast",
    "\x1b[32m{}\x1b[0m",
    "naïve — „{}“ ✓",
)
"""Texts around a secret."""


def positives(rounds: int, seed: int = 11) -> Iterator[tuple[Made, str]]:
    """(secret, text that holds it), every kind in every setting, `rounds` times."""
    maker = Maker(seed)
    for _ in range(rounds):
        for make in (*TOKENS, *PLACED):
            for setting in SETTINGS:
                made = make(maker)
                yield made, setting.format(made.text)
