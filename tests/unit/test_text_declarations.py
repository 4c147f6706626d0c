"""Rules that a person types, told from all else that they type."""

import pytest

from ai_memory.text.declarations import LONGEST_PROMPT, declarations, identity

RULES = """
correction  Always use pnpm in this repository.
correction  Please never push straight to the main branch.
correction  Don't add comments that only repeat the code.
correction  Do not mock the database in tests.
correction  Use `httpx` instead of requests for new clients.
correction  Instead of print statements, use the logger module.
correction  The build is red again, so never merge before CI is green.
correction  use tabs, not spaces in Makefiles please
preference  I prefer small commits with a reason in them.
procedure   Remember that staging deploys run on Thursdays.
procedure   remember to bump the schema number with each table
correction  Siempre usa pnpm en este repositorio.
correction  No uses npm en este proyecto, por favor.
correction  Usa pytest en vez de unittest para pruebas.
preference  Prefiero commits pequeños con su motivo.
procedure   Recuerda que los despliegues son los jueves.
correction  Sempre use pnpm neste repositório.
correction  Não use mocks nos testes do banco.
procedure   Lembre-se de atualizar o número do esquema.
correction  Utilise toujours pnpm dans ce dépôt.
correction  N'utilise pas de mocks pour la base.
preference  Je préfère des commits petits et expliqués.
procedure   Rappelle-toi que la recette tourne le jeudi.
correction  Verwende immer pnpm in diesem Projekt.
correction  Bitte keine Mocks in den Datenbanktests verwenden.
correction  Benutze pytest statt unittest für neue Tests.
preference  Ich bevorzuge kleine Commits mit Begründung.
procedure   Merk dir, dass Staging donnerstags ausgerollt wird.
"""
NO_RULES = """
The test always fails on the second run.
It never finishes when the network is down.
Why do you always use npm here?
¿Por qué siempre usas npm en esto?
I don't know why the queue hangs there.
I don't remember which branch holds the fix.
Do you remember what we said about retries?
Remember when we broke the staging server?
It returns 3 instead of 4 for empty carts.
never mind, that was the other ticket entirely
The docs say "always use npm for this package".
> never edit generated files in this folder
    never = always if prefer else instead
| never | edit | generated | files |
Siempre falla el segundo test del carrito.
No me acuerdo de la rama con el arreglo.
O teste sempre falha na segunda execução.
Le test échoue toujours au deuxième essai.
Der Test schlägt immer beim zweiten Lauf fehl.
Ich erinnere mich nicht an den Zweig mit der Korrektur.
Never do it!
The server was never restarted after the update.
I always get an error from the payments service.
Always send the header [REDACTED:token] with the request.
"""


@pytest.mark.parametrize("line", RULES.strip().splitlines())
def test_a_rule_is_taken_to_the_letter(line: str) -> None:
    kind, statement = line.split(maxsplit=1)
    assert [(one.kind.value, one.statement) for one in declarations(f"Mend the till. {statement}")] == [
        (kind, statement)
    ]


@pytest.mark.parametrize("line", NO_RULES.strip("\n").splitlines())
def test_what_only_sounds_like_a_rule_is_none(line: str) -> None:
    assert declarations(line) == ()


def test_of_each_marker_the_first_sentence_counts() -> None:
    prompt = "Mend it.\n- Always run the linter first.\n- Always run all tests.\nI prefer short names for loops."
    assert [one.statement for one in declarations(prompt)] == [
        "Always run the linter first.",
        "I prefer short names for loops.",
    ]


@pytest.mark.parametrize(
    "pasted",
    [
        "```\nAlways use npm for packages.\n```",
        "~~~\nAlways use npm for packages.",
        '"""\nAlways use npm for packages.\n"""',
        "<brief>\nAlways use npm for packages.\n</brief>",
        "<!-- ai-memory:untrusted-history:start -->\nAlways use npm for packages.\n"
        "<!-- ai-memory:untrusted-history:end -->",
        "\n".join(f"Always use npm for package number {number}." for number in range(12)),
        "Always use npm for packages. " + "x" * LONGEST_PROMPT,
        "$ echo always use npm for packages",
    ],
    ids=["fence", "open fence", "quotes", "element", "memory's own", "long paragraph", "long prompt", "shell"],
)
def test_what_was_pasted_is_no_persons_word(pasted: str) -> None:
    assert declarations(f"Look at this:\n\n{pasted}") == ()


def test_a_rule_too_long_to_be_one_is_left_out() -> None:
    assert declarations("Always use " + "very " * 120 + "short names.") == ()


def test_one_rule_told_twice_is_one_and_another_number_another() -> None:
    assert identity("Always  use pnpm!") == identity("always use pnpm.")
    assert identity("Never revert 0a1b2c3d4e.") == identity("never revert 9f8e7d6c5b")
    assert identity("Use port 8080 instead.") != identity("Use port 9090 instead.")
