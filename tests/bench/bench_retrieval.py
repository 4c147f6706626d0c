"""What `search` finds on labelled sets, beside plain FTS5 over whole documents in the same run.

Run by hand: `python tests/bench/bench_retrieval.py --set DIR [--set DIR …] [--misses N]`. A set is a folder with
`corpus.jsonl` (`id, group, title, text`) and `queries.jsonl` (`id, group, text, gold: {document id: grade}`); a query
looks in its group only. Our line goes through the index's own tables, the chunks, and `search.engine`. The plain line
is one FTS5 row a document, the same terms joined by OR, all weights 1.
"""

import argparse
import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ai_memory.model import ResolvedBy, Scope
from ai_memory.search.engine import search
from ai_memory.search.prepare import terms
from ai_memory.store import driver, index
from ai_memory.store.driver import Connection
from ai_memory.store.index import IndexedFile
from ai_memory.store.snapshot import Snapshot
from ai_memory.text.page import compose

DEPTH = 10


@dataclass(frozen=True)
class Document:
    id: str
    group: str
    title: str
    text: str


@dataclass(frozen=True)
class Query:
    group: str
    text: str
    gold: Mapping[str, float]


@dataclass(frozen=True)
class Set:
    name: str
    documents: list[Document]
    queries: list[Query]


Find = Callable[[Query], list[str]]
"""The ids that a query finds, best first."""


def read_set(folder: Path) -> Set:
    def rows(name: str) -> list[dict[str, object]]:
        return [json.loads(line) for line in (folder / name).read_text("utf-8").splitlines() if line.strip()]

    documents = [
        Document(str(row["id"]), str(row.get("group", "")), str(row.get("title", "")), str(row["text"]))
        for row in rows("corpus.jsonl")
    ]
    queries = [Query(str(row.get("group", "")), str(row["text"]), row["gold"]) for row in rows("queries.jsonl")]  # type: ignore[arg-type]
    return Set(folder.name, documents, queries)


def ours(documents: list[Document]) -> Find:
    """The documents as pages of our index, one project a group. The paths tell nothing about the text."""
    connection = driver.in_memory()
    index.create(connection)
    projects = {group: f"p{number}" for number, group in enumerate(sorted({one.group for one in documents}))}
    ids: dict[tuple[str, str], str] = {}
    files = []
    for number, one in enumerate(documents):
        path = f"notes/{number:06}.md"
        ids[projects[one.group], path] = one.id
        text = compose({"title": one.title} if one.title else {}, one.text)
        files.append(IndexedFile(f"default/{projects[one.group]}/{path}", f"{number:040x}", text.encode(), 0))
    with driver.transaction(connection):
        index.put_files(connection, files, is_empty=True)
    snapshot = Snapshot(connection)

    def find(query: Query) -> list[str]:
        scope = Scope("default", projects[query.group], ResolvedBy.FLAG)
        return [ids[hit.ref.project, hit.ref.path] for hit in search(snapshot, query.text, scope, limit=DEPTH).hits]

    return find


def plain(documents: list[Document]) -> Find:
    """One FTS5 table a group, a row a document."""
    tables: dict[str, Connection] = {}
    for one in documents:
        if one.group not in tables:
            tables[one.group] = driver.in_memory()
            tables[one.group].execute(
                "CREATE VIRTUAL TABLE d USING fts5 (id UNINDEXED, title, body, tokenize='porter unicode61')"
            )
        tables[one.group].execute("INSERT INTO d VALUES (?, ?, ?)", (one.id, one.title, one.text))

    def find(query: Query) -> list[str]:
        expression = " OR ".join('"' + term.replace('"', '""') + '"' for term in terms(query.text))
        if not expression:
            return []
        sql = "SELECT id FROM d WHERE d MATCH ? ORDER BY bm25(d, 0, 1, 1), id LIMIT ?"
        return [row[0] for row in tables[query.group].execute(sql, (expression, DEPTH))]

    return find


def any_at(found: list[str], gold: Mapping[str, float], depth: int) -> float:
    return float(any(one in gold for one in found[:depth]))


def ndcg(found: list[str], gold: Mapping[str, float]) -> float:
    """Normalised discounted gain of the first ten, with the grades as linear gains."""
    gained = sum(gold.get(one, 0) / math.log2(place + 2) for place, one in enumerate(found[:DEPTH]))
    best = sorted(gold.values(), reverse=True)[:DEPTH]
    most = sum(grade / math.log2(place + 2) for place, grade in enumerate(best))
    return gained / most if most else 0.0


def measured(one: Set, find: Find) -> tuple[list[float], float, list[Query]]:
    """([any@1, any@5, any@10, nDCG@10], milliseconds a query, the queries whose gold is not among the first five)."""
    begun = time.process_time()
    found = [find(query) for query in one.queries]
    spent_ms = (time.process_time() - begun) * 1000 / len(one.queries)
    pairs = list(zip(found, one.queries, strict=True))
    sums = [sum(any_at(ids, query.gold, depth) for ids, query in pairs) for depth in (1, 5, 10)]
    sums.append(sum(ndcg(ids, query.gold) for ids, query in pairs))
    missed = [query for ids, query in pairs if not any_at(ids, query.gold, 5)]
    return [total / len(pairs) for total in sums], spent_ms, missed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", type=Path, action="append", required=True, metavar="DIR", help="may be given again")
    parser.add_argument("--misses", type=int, default=0, metavar="N", help="show N queries that ours misses at 5")
    arguments = parser.parse_args()
    print(f"{'set':24} {'leg':6} {'any@1':>6} {'any@5':>6} {'any@10':>6} {'nDCG@10':>8} {'ms/query':>9}  queries")
    totals: dict[str, list[float]] = {"plain": [0.0] * 4, "ours": [0.0] * 4}
    for folder in arguments.set:
        one = read_set(folder)
        for name, make in (("plain", plain), ("ours", ours)):
            figures, spent_ms, missed = measured(one, make(one.documents))
            totals[name] = [total + figure for total, figure in zip(totals[name], figures, strict=True)]
            print(_line(one.name, name, figures), f"{spent_ms:9.2f}  {len(one.queries)}")
        for query in missed[: arguments.misses]:
            print(f"    missed: {query.text[:100]}")
    if len(arguments.set) > 1:
        for name, figures in totals.items():
            print(_line("mean of the sets", name, [figure / len(arguments.set) for figure in figures]))


def _line(name: str, leg: str, figures: list[float]) -> str:
    first, five, ten, gain = figures
    return f"{name:24} {leg:6} {first:6.3f} {five:6.3f} {ten:6.3f} {gain:8.3f}"


if __name__ == "__main__":
    main()
