"""What a value under a secret's name is: in connection strings, env files, lists, and in code that looks like them."""

import pytest

from ai_memory.scrub import MARK, scrub

FOUND = (
    ("Server=x;User Id=sa;Password=wifubTYOSC;", "wifubTYOSC"),
    ("Server=x;Uid=sa;Pwd=mhxjrbcter;", "mhxjrbcter"),
    ("Driver={x};UID=sa;PWD={PLJj}}gX;49};Encrypt=yes", "PLJj}}gX;49"),
    ('Server=x;Uid=sa;Password="a;b=c9";', "a;b=c9"),
    ("cache:6380,password=abcdefghij,ssl=True", "abcdefghij"),
    ("host=db user=app password=vnkjbqneu dbname=shop", "vnkjbqneu"),
    ("app:ns_w{+fEI^4UB=@tcp(db:3306)/shop", "ns_w{+fEI^4UB="),
    ("jdbc:oracle:thin:scott/QdWwDQVMJa@db:1521/orcl", "QdWwDQVMJa"),
    ("postgres://ada:p@lzz2mijl:x@db/x", "p@lzz2mijl:x"),
    ('"https:\\/\\/ada:LT02Py52Cdxf@x"', "LT02Py52Cdxf"),
    ("https://nBG4oPCW56iqCZj7kWbNwMAlt2RnvX2OUwSfVqdb@github.com/x", "nBG4oPCW56iqCZj7kWbNwMAlt2RnvX2OUwSfVqdb"),
    ("AUTH_TOKEN='*oU!CG_2y2-3d%0v$X1)'", "*oU!CG_2y2-3d%0v$X1)"),
    ("API_KEY='s%5CSh=kokMTA(II#A-y'", "s%5CSh=kokMTA(II#A-y"),
    ("DB_PASSWORD='=1*^2*(S&-a3rvB)y6a4'", "=1*^2*(S&-a3rvB)y6a4"),
    ("DB_PASSWORD = fxkhbfxhhfmk", "fxkhbfxhhfmk"),
    ("DB_PASSWORD: NaptarfphjEh", "NaptarfphjEh"),
    ("DB_PASSWORD=x9(a&b;c,d)e|f", "x9(a&b;c,d)e|f"),
    ("password: HpNMtWUFl", "HpNMtWUFl"),
    ("secret_key_base: 48ac6d345c9f917bd24a1cbd8cdd7757bb2856270d5a", "48ac6d345c9f917bd24a1cbd8cdd7757bb2856270d5a"),
    ("_auth=AqBk6hB4CXarg43Ta31fNLr9frUucAbNBgoBtYpV=", "AqBk6hB4CXarg43Ta31fNLr9frUucAbNBgoBtYpV="),
    ('{"auths":{"x":{"auth":"YWRhOnZua2picW5ldQ=="}}}', "YWRhOnZua2picW5ldQ=="),
    ("Cookie: theme=dark; sid=8eFzKOWwgl7AwNZttLAnFoZM", "8eFzKOWwgl7AwNZttLAnFoZM"),
    ("Set-Cookie: connect.sid=s%3ArZ2AFTB53Zx7ACVX; Path=/", "s%3ArZ2AFTB53Zx7ACVX"),
    ("sshpass -pFLAKxgEJc ssh x", "FLAKxgEJc"),
    ("define( 'AUTH_KEY',  'p1&R<=v5N0#Uhe:pisL+s8wi74qPbGIq~Iwg[z mDKJIs:Kx' );", "p1&R<=v5N0#Uhe:pisL"),
    ("password: 'it''s9x'", "it''s9x"),
    ('{"body": "{\\"password\\": \\"a\\\\\\"b9x\\"}"}', 'a\\\\\\"b9x'),
)


@pytest.mark.parametrize(("text", "secret"), FOUND)
def test_all_of_the_value_goes(text: str, secret: str) -> None:
    assert secret in text
    found = scrub(text)
    assert MARK in found
    assert secret not in found
    assert not [part for part in (secret[:4], secret[-4:]) if part in found]


KEPT = (
    "password = get_password()",
    "password = get_password",
    "Password: required",
    "password: string",
    "password: vnkjbqneu",
    "password: SecretStr = Field(default=None)",
    "login(user, password=user.password, token=make(x)[0])",
    "const {password: p, token: t} = e; x.password=n(1)&&t.a2",
    "if (password==other.password) {",
    '`label("Password:"),fe?Re.create(x)`',
    "Server=x;Uid=sa;Pwd=***;",
    "Server={0};Password={1};",
    'cs = "Server=x;Password=" + pw + ";"',
    "https://example.com:8080/@scope/pkg@1.2.3",
    "jdbc:sqlserver://db:1433;user=sa;x=y@z",
    "https://a-user-with-a-long-name@example.com",
    "Set-Cookie: name=value; Path=/; Max-Age=3600",
    "const cookies = {set:()=>setEverythingAtOnce99}",
    "self._auth = HTTPBasicAuth(user, secret)",
    'Authored by ann, author="Ann", {"auth": "basic"}',
    'names = ["DB_USER", "DB_PASSWORD", "DB_HOST"]',
    'raise Fault("WRONG_PASSWORD", "wrong")',
    "SECRET_KEY = settings.SECRET_KEY",
    "DB_PASSWORD: str = os.environ['DB_PASSWORD']",
    "esxi_password: @ESXI_PASSWORD",
    "AccessKeyId: XksProxyAuthenticationAccessKeyIdType",
    "PATH=$(cat x) API_TOKEN=$(gh auth token) make",
    "API_TOKEN=${TOKEN} PASSWORD=$1 run",
    "git diff --password-file x -p HEAD",
)


@pytest.mark.parametrize("text", KEPT)
def test_what_only_looks_like_it_keeps_every_byte(text: str) -> None:
    assert scrub(text) == text
