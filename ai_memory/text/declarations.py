"""What a person tells an agent to keep to, found in what they typed: remember, always, never, don't, instead, prefer.

English, Spanish, Portuguese, French and German. Each marker counts only where it orders: `always use pnpm`, not
`the test always fails`. What is quoted, pasted, code, or a question says nothing of what the person wants.
*Source*: the shortcut of pi-memory, which had to learn that a task brief is full of imperatives that nobody declared.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from ai_memory.scrub import MARK
from ai_memory.text.facts import FactKind
from ai_memory.text.fences import without_fences
from ai_memory.text.stems import stems

LEAST_CHARS = 12
MOST_CHARS = 500
LEAST_WORDS = 3
"""Words that say something."""
MOST_OF_TURN = 16
"""Declarations of one session that are kept at once."""
LONGEST_PROMPT = 4_000
"""Characters. What is longer was pasted or written by a program: none of it is taken for a person's rule."""
LONGEST_PARAGRAPH = 8
"""Lines that are no list: more were pasted."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """One sentence as it stands in the prompt."""

    kind: FactKind
    statement: str


_START = r"(?:^|[,;:–—(]\s*|\b(?:{words})\s+)"
"""Where an order may begin: at the start of a clause, or after a word that leads to one."""
_EN = _START.format(words="please|and|but|so|also|then|you|we|i|should|must|to")
_ES = _START.format(words="por favor|y|pero|que|debes|debe|hay que|tienes que")
_PT = _START.format(words="por favor|e|mas|que|deve|você deve|tem que")
_FR = _START.format(words="s'il te plaît|merci de|et|mais|il faut|tu dois|on")
_DE = _START.format(words="bitte|und|aber|du sollst|sollst du|wir|ich")
_USE = "use|do|write|run|call|put|make|go with|choose|pick|try|keep|take|say|name|return|import|install"

_CORRECTIONS = (
    # English
    _EN
    + r"(?:always|never)\s+(?!(?:is|was|are|were|been|had|has|got|get|see|mind|again|ever)\b)"
    + r"(?!\w+(?:ed|[^aeious']s)\b)\w",
    _EN
    + r"(?:don['’]?t|do not)\s+(?:ever\s+)?"
    + r"(?!(?:know|remember|think|believe|worry|bother|mind|care|understand|see|get|have|need|want|like|feel)\b)\w",
    rf"\b(?:{_USE})\b.{{1,200}}?\binstead\b",
    r"\binstead of\b.{1,200}?,\s*(?:please\s+)?" + rf"(?:{_USE})\b",
    r"\buse\s.{1,80}?(?:,|\band\b)\s*not\s",
    # Spanish
    _ES + r"(?:siempre|nunca|jamás)\s+(?!(?:es|está|fue|falla\w*|da|sale|tarda|pasa|ha|había)\b)\w",
    _ES
    + r"no\s+(?:uses|usen|hagas|toques|pongas|escribas|borres|cambies|metas|añadas|ejecutes|instales|envíes|subas"
    + r"|crees|modifiques|olvides)\b",
    r"\b(?:usa|usen|utiliza|pon|escribe|haz|ejecuta|llama)\b.{1,200}?\ben (?:vez|lugar) de\b",
    r"\ben (?:vez|lugar) de\b.{1,200}?,?\s(?:usa|utiliza|pon|escribe|haz|ejecuta)\b",
    # Portuguese
    _PT + r"(?:sempre|nunca|jamais)\s+(?!(?:é|está|foi|falha\w*|dá|sai|demora|tem|há)\b)\w",
    _PT
    + r"não\s+(?:use|uses|usem|faça|coloque|ponha|escreva|apague|mude|altere|toque|adicione|execute|instale|envie"
    + r"|suba|crie|modifique|esqueça)\b",
    r"\b(?:use|usa|utilize|escreva|faça|execute|coloque)\b.{1,200}?\b(?:em vez|ao invés) d[eoa]s?\b",
    # French
    _FR + r"(?:toujours|jamais)\s+\w",
    r"(?:^|[,;:–—(]\s*)\w{3,}(?:e|ez|s)\s+toujours\s+\w",
    _FR + r"(?:ne\s+|n['’])\w+(?:ez|es|e|s)\s+(?:pas|jamais|plus|aucun\w*)\b",
    r"\b(?:utilise|utilisez|emploie|prends|prenez|mets|mettez|écris|écrivez)\b.{1,200}?\b(?:plutôt que|au lieu d)",
    # German
    _DE + r"(?:immer|niemals|nie)\s+(?!(?:wieder|mehr|noch|wenn)\b)\w",
    r"(?:^|[,;:–—(]\s*|\bbitte\s+)(?:\w{3,}e|nimm|schreib|mach|lass|gib|lies|setz|leg|push|fass|ruf|führ)\s+"
    r"(?:\w+\s+){0,3}?(?:immer|niemals|nie|nicht|kein\w{0,2})\b",
    r"(?:^|\bbitte\s+)(?:nicht|kein\w{0,2})\s+\w",
    r"\b(?:verwende|benutze|nimm|nutze|schreib\w?|ruf\w?)\b.{1,200}?\b(?:statt|anstatt|stattdessen|anstelle)\b",
    r"\b(?:statt|anstatt|anstelle)\b.{1,200}?\b(?:verwende\w?|benutze\w?|nimm|nutze\w?)\b",
)
_PREFERENCES = (
    r"(?:^|[,;:]\s*|\b(?:please|i|we|i['’]d|we['’]d|would|and)\s+)(?:really\s+|strongly\s+)?prefer\s+\w",
    r"\b(?:prefiero|preferimos|prefiera|prefiro|preferiria)\s+\w",
    r"\b(?:je|nous|on)\s+(?:préfère|préférons|préférerais)\s+\w|(?:^|[,;:]\s*)(?:préfère|préférez)\s+\w",
    r"\b(?:ich|wir)\s+(?:bevorzuge|bevorzugen)\s+\w|\b(?:bevorzuge|bevorzugt)\s+\w|^(?:bitte\s+)?lieber\s+\w",
)
_REMEMBERED = (
    _EN + r"remember(?:\s+(?:that|to))?:?\s+(?!(?:when|how|what|if|where|why|whether|last|me|the time)\b)[\w`]",
    _ES + r"(?:recuerda|recuerden|acuérdate|acordaos)(?:\s+(?:que|de))?\s+(?!(?:cuando|cómo|qué|si)\b)[\w`]",
    _PT + r"(?:lembra|lembre)(?:-te|-se)?(?:\s+(?:que|de))?\s+(?!(?:quando|como|se)\b)[\w`]",
    _FR + r"(?:rappelle-toi|rappelez-vous|souviens-toi|souvenez-vous|retiens|retenez|n['’]oublie(?:z)? pas)\s+[\w`]",
    _DE + r"(?:merke?\s+dir|merkt\s+euch|denke?\s+daran|erinnere\s+dich|vergiss\s+nicht)\b",
)
_MARKERS = ((FactKind.CORRECTION, _CORRECTIONS), (FactKind.PREFERENCE, _PREFERENCES), (FactKind.PROCEDURE, _REMEMBERED))
_FORGETTING = (
    r"\b(?:don['’]?t|do not|can['’]?t|cannot|didn['’]?t)\s+(?:even\s+)?(?:remember|recall)\b|\bnever\s?mind\b"
    r"|\bno (?:me acuerdo|recuerdo)\b|\bno te acuerdes\b|\bnão (?:me )?lembro\b|\bne me (?:souviens|rappelle) pas\b"
    r"|\berinnere mich nicht\b|\bweiß nicht mehr\b"
)

_CODE_BLOCK = re.compile(r"^[ \t>]*(```|~~~).*?(?:^[ \t>]*\1[^\n]*$|\Z)", re.MULTILINE | re.DOTALL)
_BLOCK_QUOTE = re.compile(r'"""(?:.*?)(?:"""|\Z)', re.DOTALL)
_ELEMENT = re.compile(r"<([A-Za-z][\w-]{0,63})(?:\s[^<>]{0,500})?>.*?</\1>", re.DOTALL)
_ASIDE = re.compile(r"\t| {4}|\s*(?:>|\||\$ |#!|[+-]{3} |@@ |at \S+ ?\()")
"""How a line begins that is code, a quotation, a table, a shell's or a diff's."""
_BULLET = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s+")
_ENDS = re.compile(r"(?<=[.!?…])\s+(?=\S)|(?<=[.!?…][\"'”’)])\s+|(?<=[。！？])")
_QUOTED = re.compile(
    r"`[^`\n]{1,400}`|\"[^\"\n]{1,400}\"|“[^”\n]{1,400}”|«[^»\n]{1,400}»|„[^“”\n]{1,400}[“”]|(?<!\w)'[^'\n]{1,400}'(?!\w)"
)
_ID = re.compile(r"\b(?=[0-9a-f-]*\d)[0-9a-f]{8}[0-9a-f-]*\b")


def declarations(prompt: str) -> tuple[Declaration, ...]:
    """The first sentence of each sort of marker, to the letter, in the order of the prompt; each sentence once.

    Empty for a prompt that declares nothing, and for one too long to have been typed.
    """
    typed = without_fences(prompt)
    if len(typed) > LONGEST_PROMPT:
        return ()
    found: dict[str, Declaration] = {}
    taken: set[re.Pattern[str]] = set()
    for sentence in _sentences(typed):
        for kind, marker in _markers():
            if marker in taken or not marker.search(_QUOTED.sub(_blank, sentence)):
                continue
            taken.add(marker)
            if _is_told(sentence):
                found.setdefault(sentence, Declaration(kind, sentence))
            break
    return tuple(found.values())


def identity(statement: str) -> str:
    """Equal for one rule told twice: case, blanks, end marks and ids of eight hex digits or more do not count.

    Numbers do: `use port 8080` and `use port 9090` are two rules, the later one most likely a correction.
    """
    flat = " ".join(unicodedata.normalize("NFC", statement).casefold().split()).rstrip(" .!…。！")
    return _ID.sub("#", flat)


@cache
def _markers() -> tuple[tuple[FactKind, re.Pattern[str]], ...]:
    """Compiled with the first prompt, and not where a drain has none."""
    return tuple((kind, re.compile(one, re.IGNORECASE)) for kind, ones in _MARKERS for one in ones)


@cache
def _forgetting() -> re.Pattern[str]:
    return re.compile(_FORGETTING, re.IGNORECASE)


def _is_told(sentence: str) -> bool:
    """Whether the sentence may stand by itself."""
    if not LEAST_CHARS <= len(sentence) <= MOST_CHARS or MARK in sentence:
        return False
    if any(mark in sentence for mark in "?¿？") or _forgetting().search(sentence):
        return False
    return len(stems(sentence, letters=LEAST_CHARS)) >= LEAST_WORDS


def _sentences(typed: str) -> Iterator[str]:
    """What the person said in their own words, sentence by sentence."""
    for pattern in (_CODE_BLOCK, _BLOCK_QUOTE, _ELEMENT):
        typed = pattern.sub("\n\n", typed)
    for paragraph in re.split(r"\n\s*\n", typed):
        lines = [line for line in paragraph.splitlines() if line.strip() and not _ASIDE.match(line)]
        if sum(not _BULLET.match(line) for line in lines) > LONGEST_PARAGRAPH:
            continue
        for line in lines:
            yield from (part.strip() for part in _ENDS.split(_BULLET.sub("", line, count=1)) if part.strip())


def _blank(quoted: re.Match[str]) -> str:
    """As long as what was quoted, and no marker: a letter, so that what stands before it still leads to a word."""
    return "x" * len(quoted[0])
