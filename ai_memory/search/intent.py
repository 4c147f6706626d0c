"""Whether a query asks what was done in an earlier session, in seven languages."""

import re

from ai_memory.search.when import FRENCH_YESTERDAY

_PHRASES = r"""
last (?:time|session)|previously|previous session|earlier (?:today|session)|yesterday|last (?:week|month|night)
when (?:did|was) (?:we|i|it)|did (?:we|i)|have (?:we|i)|how did (?:we|i)|what did (?:we|i)|where did (?:we|i)
why did (?:we|i)|we (?:discussed|decided|tried|worked on|left off)|i (?:told|asked) you|left off|pick up where
da última vez|última sessão|sessão anterior|sessão passada|ontem|semana passada|mês passado|anteriormente
(?:o que|como|quando|onde|por que) (?:nós )?(?:fizemos|decidimos|tentamos|combinamos|discutimos)
la última vez|última sesión|sesión anterior|sesión pasada|ayer|semana pasada|mes pasado
(?:qué|cómo|cuándo|dónde|por qué) (?:hicimos|decidimos|probamos|acordamos|discutimos)
letztes mal|letzte[nr]? (?:sitzung|session|woche|monat)|vorige[nr]? (?:sitzung|session)|gestern
hatten wir|(?:was|wie|wann|wo|warum|wieso|weshalb|wofür|wogegen) haben wir|haben wir .*(?:ge\w+t|ge\w+en|entschieden)
la dernière fois|dernière session|session précédente|semaine dernière|mois dernier|précédemment
avons-nous|a-t-on|qu'avons-nous|nous avons (?:décidé|discuté|essayé|fait)
"""

_ANYWHERE = (
    "上次",
    "上一次",
    "之前",
    "昨天",
    "上周",
    "上个月",
    "我们做了",
    "我们决定",
    "上回",
    "前回",
    "昨日",
    "先週",
    "先月",
    "以前の",
    "この前",
    "前のセッション",
)
"""Chinese and Japanese write no blanks, so these count wherever they stand."""

_WORDS = re.compile(rf"(?<!\w)(?:{'|'.join(_PHRASES.split(chr(10))[1:-1])}|{FRENCH_YESTERDAY})(?!\w)", re.IGNORECASE)


def recalls_a_session(query: str) -> bool:
    """Whether the query is about what happened earlier, so that pages of sessions are what it wants."""
    return _WORDS.search(query) is not None or any(phrase in query for phrase in _ANYWHERE)
