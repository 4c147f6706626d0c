"""Of made-up secrets of every known format, in every surrounding, none is left; texts without one keep every byte."""

import pytest
from secret_chosen import ALL, CHOSEN
from secret_formats import Maker
from secret_places import CAP_BYTES, Case, cases

from ai_memory.hook_event import EXCERPT_BYTES, Cleaner
from ai_memory.hook_policy import Policy
from ai_memory.text.sanitize import sanitize

CASES = list(cases(ALL, seed=23))
SOME = [case for case in CASES[::7] if not case.is_open]
TOLD = {made.kind for made in (one.make(Maker(1)) for one in CHOSEN)}
"""Kinds of which only a name or a place tells: some read like words or like code."""


def cleaned(case: Case) -> str:
    return Cleaner(Policy(), []).text(case.text, EXCERPT_BYTES) if case.is_cut else sanitize(case.text)


def test_no_secret_whose_own_form_gives_it_away_is_left() -> None:
    left = [
        (case.kind, case.place, case.text) for case in SOME if case.kind not in TOLD and case.survives_in(cleaned(case))
    ]
    assert left == []


def test_of_secrets_that_people_chose_fewer_than_two_in_a_hundred_are_left() -> None:
    chosen = [case for case in SOME if case.kind in TOLD]
    assert len(chosen) >= 500
    left = [(case.kind, case.place, case.text) for case in chosen if case.survives_in(cleaned(case))]
    assert len(left) * 50 < len(chosen), left


def test_every_case_holds_its_secret_and_is_made_anew_each_time() -> None:
    assert [case for case in CASES if case.secret not in case.text] == []
    texts = [case.text for case in CASES]
    assert len(set(texts)) == len(texts)
    assert [case.text for case in cases(ALL, seed=23)] == texts
    assert CAP_BYTES == EXCERPT_BYTES


def test_a_part_of_a_secret_counts_as_left() -> None:
    case = Case("x", "y", "", "0123456789abcdefgh")
    assert case.survives_in("… 23456789abcdef …")
    assert not case.survives_in("0123456")
    assert not Case("x", "y", "", "gitlab-token").survives_in("[REDACTED:gitlab-token]")


def test_a_checksum_of_a_forge_is_that_of_its_token() -> None:
    assert Maker(1).checked("", 36) != Maker(2).checked("", 36)
    assert len(Maker(1).checked("x_", 36)) == 38


KEPT = (
    "password = os.environ['DB_PASSWORD']",
    'password = "string"',
    '{"type": "object", "properties": {"password": {"type": "string", "minLength": 8}}}',
    '{"password": "string", "token": "string"}',
    "interface Login {\n  password: string;\n  token?: Token;\n  privateKey: x25519.X25519PrivateKey\n}",
    "def connect(*, password: SecretStr, private_key: Ed25519PrivateKey | None = None) -> Client: ...",
    '"global.password": "Passwort", "login.password": "Wachtwoord", "password": "Palavra-passe"',
    'const Password = "Contraseña"; const PassWord = "Hasło"; password: "पासवर्ड"',
    "password:\n  other: Mot de passe\n",
    "ru:\n  password: Пароль\n  new_password: Новый-пароль\n",
    "subjectToken: auth0AccessToken,\n refreshToken: oldRefreshToken2,",
    'forgotPassword: forgotPassword$1, password: password2, CHALLENGE_PASSWORD: "challengePassword"',
    "const {identification: e, password:t}=this.signin",
    'x = "reset_password"===e?"reset_password":"signup"',
    "arn:aws:secretsmanager:us-west-2:123456789012:secret:MyTestDatabaseSecret-a1b2c3",
    '"ChangeToken": "abcd12f2-46da-4fdb-b8d5-fbd4c466928f"',
    "my $pwd = $ftp->pwd; bind($dn, password => $this->{bindpasswd})",
    "    readonly STENCIL_PASS_DEPTH_PASS: 0x0B96;",
    "'Test2::Event::Pass' => '1.302103',",
    'vocab = {"password":2376,"Ġpassword":37531}',
    "LANGSMITH_API_KEY=_credentials_api_key,",
    "set_cache(key='auth_token', value=token_b64)",
    "The --username and --password options are passed on.",
    '_SK_START = b"-----BEGIN OPENSSH PRIVATE ' + 'KEY-----"\n_SK_END = b"-----END OPENSSH PRIVATE KEY-----"',
    'token = r"[-!#$%&*+.^_`|~0-9a-zA-Z]+"',
    "https://a:b@example.org/ and https://abc:xyz@example.org/",
    "<password>${db.password}</password><token>string</token>",
    '<dt>password</dt><label for="password">Password:</label>',
    "mysql -u root -p shop; docker login -u ann registry.example.org",
    "export PATH=$PATH:/opt/bin KEYMAP=de TOKENIZERS_PARALLELISM=false",
    "machine learning; the machine is down",
    r"re.compile(r'^https://[a-z-]+\.on\.aws\Z') or /^gpg\.ssh\.default/ or console\\.aws\\.amazon\\.com",
    "npm_config_cache=/tmp/x pypi-publish sk-circle-fade-dot hf_transfer",
)


@pytest.mark.parametrize("text", KEPT)
def test_what_only_speaks_of_secrets_keeps_every_byte(text: str) -> None:
    assert sanitize(text) == text


def test_hashes_ids_and_encoded_bytes_keep_every_byte() -> None:
    maker = Maker(41)
    signs = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    lines = [f"{maker.of('0123456789abcdef', size)}  lib/a.py" for size in (32, 40, 64, 128) for _ in range(50)]
    lines += [f'"id": "{maker.uuid()}", "integrity": "sha512-{maker.of(signs, 86)}=="' for _ in range(100)]
    lines += [f"100644 blob {maker.of('0123456789abcdef', 40)}\tsrc/a.ts" for _ in range(100)]
    lines += [f"data:image/png;base64,iVBORw0KGgo{maker.of(signs, 3_000)}=" for _ in range(10)]
    text = "\n".join(lines)
    assert sanitize(text) == text
