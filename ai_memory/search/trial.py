"""A labelled set as an index in memory: asked through our engine, and as plain FTS5 over whole documents."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from ai_memory.model import Encoder, ResolvedBy, Scope
from ai_memory.providers.known import is_english, is_multilingual
from ai_memory.search.engine import answer, conditions
from ai_memory.search.evaluation import DEPTH, Answer, Document, Find, Question
from ai_memory.search.numbers import NEAR_CHUNKS
from ai_memory.search.prepare import terms
from ai_memory.search.request import Hit, Hits, Request
from ai_memory.search.vectors import Near, nearest
from ai_memory.store import driver, index, vectors
from ai_memory.store.snapshot import Filter, Snapshot
from ai_memory.text.grams import quoted
from ai_memory.text.page import compose

LookUp = Callable[[Sequence[bytes]], dict[bytes, bytes]]
"""Hashes of texts → the vectors that are known of them."""


class Trial:
    """The documents as pages, one project a group. Paths that we make up tell nothing about the text."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self._projects = {group: f"p{number}" for number, group in enumerate(sorted({one.group for one in documents}))}
        self._ids: dict[tuple[str, str], str] = {}
        connection = driver.in_memory()
        index.create(connection)
        with driver.transaction(connection):
            index.put_files(
                connection, [self._file(number, one) for number, one in enumerate(documents)], is_empty=True
            )
        self._snapshot = Snapshot(connection)
        self._encoder_id: int | None = None
        self._encoder = ""
        self._look_up_query: Callable[[str], bytes | None] = lambda _: None
        self.chunks = self._snapshot.counts().chunks

    def _file(self, number: int, one: Document) -> index.IndexedFile:
        project, path = self._projects[one.group], one.path or f"notes/{number:06}.md"
        self._ids[project, path] = one.id
        text = compose({"title": one.title, **one.meta} if one.title else one.meta, one.text)
        content = text.encode("utf-8", "replace")
        return index.IndexedFile(f"default/{project}/{path}", f"{number:040x}", content, 0)

    def learn(self, encoder: Encoder, look_up: LookUp, look_up_query: Callable[[str], bytes | None]) -> int:
        """Take the vectors of the passages, and ask by those of questions from now on; gives how many there are."""
        connection = self._snapshot.index
        with driver.transaction(connection):
            count = vectors.restore(connection, encoder, look_up)
        self._encoder_id = vectors.encoder_id(connection, encoder)
        self._look_up_query = look_up_query
        self._encoder = encoder.model
        return count

    def texts(self) -> list[str]:
        """What an encoder reads of the passages, each text once."""
        return list(vectors.texts(self._snapshot.index))

    def ask(self, question: Question, *, may_abstain: bool, group: str | None = None) -> Hits:
        """What the engine says; with `group`, of that group's documents instead of the question's own."""
        project = self._projects.get(question.group if group is None else group)
        if project is None:
            return Hits(())
        scopes = (Scope("default", project, ResolvedBy.FLAG),)
        wanted = Filter(valid_at_us=question.as_of_us)
        request = Request((question.text,), scopes, wanted, limit=DEPTH, may_abstain=may_abstain)
        asked = replace(
            request,
            near=self._near(question.text, scopes, wanted),
            near_is_multilingual=is_multilingual(self._encoder),
            near_is_english=is_english(self._encoder),
        )
        return answer(self._snapshot, asked)

    def _near(self, text: str, scopes: Sequence[Scope], wanted: Filter) -> Sequence[Near]:
        vector = None if self._encoder_id is None else self._look_up_query(text)
        if self._encoder_id is None or vector is None:
            return ()
        told, given = conditions(wanted, scopes)
        return nearest(
            self._snapshot.index, self._encoder_id, vector, conditions=told, parameters=given, limit=NEAR_CHUNKS
        )

    def find(self, *, may_abstain: bool) -> Find:
        """The engine as `evaluate` asks it."""

        def find(question: Question) -> Answer:
            hits = self.ask(question, may_abstain=may_abstain).hits
            size = sum(len(f"{hit.title} {hit.heading} {hit.snippet}".encode()) for hit in hits)
            return Answer(self.ids(hits), size)

        return find

    def ids(self, hits: Sequence[Hit]) -> tuple[str, ...]:
        """Of the documents that were found."""
        return tuple(self._ids[hit.ref.project, hit.ref.path] for hit in hits)


def plain(documents: Sequence[Document]) -> Find:
    """Plain FTS5: one table a group, a row a document, the question's words joined by OR, all weights 1."""
    tables: dict[str, driver.Connection] = {}
    for one in documents:
        if one.group not in tables:
            tables[one.group] = driver.in_memory()
            tables[one.group].execute(
                "CREATE VIRTUAL TABLE d USING fts5 (id UNINDEXED, title, body, tokenize='porter unicode61')"
            )
        tables[one.group].execute("INSERT INTO d VALUES (?, ?, ?)", (one.id, one.title, one.text))

    def find(question: Question) -> Answer:
        asked = " OR ".join(map(quoted, terms(question.text)))
        if not asked or question.group not in tables:
            return Answer(())
        sql = "SELECT id FROM d WHERE d MATCH ? ORDER BY bm25(d, 0, 1, 1), id LIMIT ?"
        return Answer(tuple(row[0] for row in tables[question.group].execute(sql, (asked, DEPTH))))

    return find
