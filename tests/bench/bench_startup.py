"""Starting a command: `ai-memory --version` beside a bare interpreter, `search` beside a Typer hello-world.

Run by hand: `python tests/bench/bench_startup.py [--rounds N] [--pages N]`. CPU time of whole child processes, minima
of interleaved runs. Also lists the packages that each command imports.
"""

import argparse
import subprocess
import sys

import measure
from measure import Row

HELLO = """\
import typer
app = typer.Typer(rich_markup_mode=None, add_completion=False, pretty_exceptions_enable=False)
@app.command()
def hello(name: str = "you") -> None:
    print(f"hello {name}")
app()
"""
LAUNCHER = "import sys; from ai_memory.__main__ import main; sys.exit(main())"
LISTING = LAUNCHER.replace(
    "sys.exit(main())",
    "main(sys.argv[1:]); print(*{n.partition('.')[0] for n in sys.modules} - set(sys.stdlib_module_names),"
    " file=sys.stderr)",
)


def imported(words: list[str], environ: dict[str, str], cwd: str) -> str:
    """Packages from outside the standard library that the command imports."""
    done = subprocess.run(
        [sys.executable, "-c", LISTING, *words], env=environ, cwd=cwd, capture_output=True, text=True, check=True
    )
    names = done.stderr.strip().splitlines()[-1].split()
    return ", ".join(sorted(name for name in names if not name.startswith(("_", "ai_memory"))))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--pages", type=int, default=10_000, help="pages of the wiki that is searched")
    arguments = parser.parse_args()
    with measure.scratch() as root:
        measure.fill(root, arguments.pages)
        measure.memory(root).reindex()
        hello = root / "hello.py"
        hello.write_text(HELLO)
        environ, cwd = measure.environment(root), str(root / "home")
        place = ["--workspace", measure.SCOPE[0], "--project", measure.SCOPE[1]]
        query = measure.Writer(23).query()
        python = sys.executable
        cases = {
            "pass": [python, "-c", "pass"],
            "--version": [python, "-c", LAUNCHER, "--version"],
            "hello": [python, str(hello)],
            "--help": [python, "-c", LAUNCHER, "--help"],
            "search": [python, "-c", LAUNCHER, "search", *place, *query.split()],
        }
        best = dict.fromkeys(cases, float("inf"))
        for _ in range(arguments.rounds):
            for name, words in cases.items():
                best[name] = min(best[name], measure.cpu_ms(words, environ, cwd=cwd))
        lists = {
            name: imported(words, environ, cwd)
            for name, words in {"--version": ["--version"], "search": ["search", *place, query]}.items()
        }
    measure.report(
        [
            Row("`python -c pass`", best["pass"], "ms"),
            Row("`ai-memory --version`", best["--version"], "ms"),
            Row("`--version` beside `python -c pass`", best["--version"] / best["pass"], "×", 1.5),
            Row("Typer hello-world", best["hello"], "ms"),
            Row("`ai-memory --help`", best["--help"], "ms"),
            Row(f"`ai-memory search`, {arguments.pages:,} pages", best["search"], "ms"),
            Row("`search` beside the Typer hello-world", best["search"] / best["hello"], "×", 1.5),
        ]
    )
    print()
    for name, names in lists.items():
        print(f"imported by `{name}`: {names or 'nothing from outside'}")


if __name__ == "__main__":
    main()
