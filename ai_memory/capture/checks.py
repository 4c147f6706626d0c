"""Test runs among the commands of a session, and how they came out where the output shows it."""

import re
from dataclasses import dataclass

_RUNNERS = re.compile(
    r"""(?:^|[;&|(\n])\s{0,20}(?:\w{1,64}=\S{0,200}\s+){0,8}
    (?:(?:sudo|time|env|xvfb-run|timeout\s+\S{1,9}|(?:uv|poetry|pdm|hatch|rye|pipenv)\s+run|bundle\s+exec
        |npx|bunx|(?:pnpm|yarn)(?!\s+(?:run\s+)?test)|(?:\S{0,200}/)?python[\d.]{0,5}\s+-m)\s+){0,4}
    (?:\S{0,200}/)?(?:
        (?:pytest|unittest|nose2|tox|nox|jest|vitest|mocha|ava|rspec|phpunit|ctest|bats|busted|prove)(?![\w.-])
      | (?:cargo|go|swift|dotnet|mix|deno|bun|zig\ build|stack|cabal|sbt|lein|dart|flutter)\s+(?:\+\w+\s+)?test\b
      | cargo\s+nextest\b
      | (?:npm|pnpm|yarn)\s+(?:run\s+)?(?:-\w+\s+){0,4}test\b
      | (?:playwright\s+test|cypress\s+run|rake\s+(?:test|spec))\b
      | (?:mvn|mvnw|gradle|gradlew)\s[^;&|\n]{0,200}?\b(?:test|verify|check)\b
      | make\s+(?:[^\s;&|]{1,100}\s+){0,8}?(?:test|check)(?![\w-])
    )""",
    re.VERBOSE,
)
"""A test runner where a command may begin: not `cat pytest.ini`, not `pip install pytest`. Every repeat is bounded."""

_COUNTED = re.compile(r"\b(\d+)\s+(passed|failed|failing|passing|errors?|skipped|failures?|ignored)\b", re.IGNORECASE)
_UNITTEST = re.compile(r"^(?:OK|FAILED)\b(?: \(([^)]*)\))?\s*$", re.MULTILINE)
_RAN = re.compile(r"^Ran (\d+) tests? in", re.MULTILINE)
_GO = re.compile(r"^(?:--- FAIL|FAIL|ok)\b", re.MULTILINE)
_WORDS = {"failing": "failed", "failure": "failed", "failures": "failed", "passing": "passed", "error": "errors"}


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a test run ended. `passed` None: the output does not tell."""

    passed: bool | None
    counts: str = ""
    """`2 failed, 31 passed`, or empty."""

    def __str__(self) -> str:
        if self.counts:
            return self.counts
        return {True: "passed", False: "failed", None: "outcome not visible"}[self.passed]


def is_test_run(command: str) -> bool:
    """Whether the command runs tests."""
    return _RUNNERS.search(command) is not None


def outcome(output: str, *, tool_outcome: str) -> Outcome:
    """How the run came out: from the numbers it printed, else from the tool's own success or error."""
    counts = _counted(output)
    if counts:
        failed = any(number and word in ("failed", "errors") for word, number in counts.items())
        order = ("failed", "errors", "passed", "skipped", "ignored")
        text = ", ".join(f"{counts[word]} {word}" for word in order if counts.get(word))
        return Outcome(passed=not failed and tool_outcome != "error", counts=text)
    verdict = _UNITTEST.search(output)
    ran = _RAN.search(output)
    if verdict and ran:
        passed = verdict[0].startswith("OK")
        tests = f"{ran[1]} {'passed' if passed and not verdict[1] else 'run'}"
        return Outcome(passed=passed, counts=f"{tests}, {verdict[1]}" if verdict[1] else tests)
    lines = _GO.findall(output)
    if lines:
        return Outcome(passed=not any("FAIL" in line for line in lines) and tool_outcome != "error")
    return Outcome({"success": True, "error": False}.get(tool_outcome))


def _counted(output: str) -> dict[str, int]:
    """Numbers of the last line that has any, summed over `cargo test`'s several result lines."""
    results = [line for line in output.splitlines() if _COUNTED.search(line)]
    cargo = [line for line in results if line.startswith("test result:")]
    counts: dict[str, int] = {}
    for line in cargo or _summary_lines(results):
        for number, word in _COUNTED.findall(line):
            plain = _WORDS.get(word.lower(), word.lower())
            counts[plain] = counts.get(plain, 0) + int(number)
    return counts


def _summary_lines(results: list[str]) -> list[str]:
    """The closing lines: jest and mocha spread theirs over up to three, pytest writes one."""
    if not results:
        return []
    if len(_COUNTED.findall(results[-1])) > 1 or " in " in results[-1]:
        tests = [line for line in results if line.lstrip().startswith("Tests:")]
        return tests[-1:] or results[-1:]
    tests = [line for line in results if line.lstrip().startswith(("Tests:", "Tests "))]
    return tests[-1:] or results[-2:]
