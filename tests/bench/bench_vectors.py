"""What vectors add to the ranking, what the vector leg costs, and what its first look leaves out.

Run by hand: `python tests/bench/bench_vectors.py --cache DIR [--model FOLDER] [--set DIR …] [--scale N …]`. Sets are
those of `bench_retrieval.py`. `--cache` is a folder whose `cache.db` keeps the vectors from run to run; `--model` makes
the missing ones first. Each encoder that knows a whole set gets a line: `0.8 · text / best + 0.2 · (cosine − median) /
(best − median)`, as far as the pool goes. `--scale` times the leg over made-up clusters of vectors.
"""

import argparse
import random
import statistics
import time
from pathlib import Path

from bench_retrieval import DEPTH, Query, Set, measured, plain, read_set
from measure import share

from ai_memory.config_table import Config, Embed
from ai_memory.model import Encoder, PageRef, ResolvedBy, Scope
from ai_memory.paths import DataDir
from ai_memory.providers.choose import How, choose
from ai_memory.providers.embedder import packed, unpacked
from ai_memory.search.engine import search
from ai_memory.search.vectors import nearest
from ai_memory.store import driver, index, vectors
from ai_memory.store.cache import Cache
from ai_memory.store.driver import Connection
from ai_memory.store.index import IndexedFile
from ai_memory.store.snapshot import Snapshot
from ai_memory.text.embedded import text_hash
from ai_memory.text.page import compose

TEXT_SHARE = 0.8
NEAR = 200
LEXICAL = 100


class Room:
    """A set as pages of our index, one project a group."""

    def __init__(self, one: Set) -> None:
        self.index = driver.in_memory()
        index.create(self.index)
        groups = sorted({document.group for document in one.documents})
        self.projects = {group: f"p{number}" for number, group in enumerate(groups)}
        self.ids: dict[tuple[str, str], str] = {}
        files = []
        for number, document in enumerate(one.documents):
            path, project = f"notes/{number:06}.md", self.projects[document.group]
            self.ids[project, path] = document.id
            text = compose({"title": document.title} if document.title else {}, document.text)
            files.append(IndexedFile(f"default/{project}/{path}", f"{number:040x}", text.encode(), 0))
        with driver.transaction(self.index):
            index.put_files(self.index, files, is_empty=True)

    def lexical(self, query: Query, limit: int) -> dict[PageRef, float]:
        scope = Scope("default", self.projects[query.group], ResolvedBy.FLAG)
        found = search(Snapshot(self.index), query.text, scope, limit=limit)
        return {hit.ref: hit.score for hit in found.hits}

    def near(self, query: Query, number: int, vector: bytes) -> dict[PageRef, float]:
        """Pages by their best chunk's cosine."""
        found = nearest(
            self.index,
            number,
            vector,
            conditions="p.project = ?",
            parameters=(self.projects[query.group],),
            limit=NEAR,
        )
        best: dict[int, float] = {}
        for one in found:
            best.setdefault(one.page_id, one.cosine)
        rows = self.index.execute("SELECT id, workspace, project, path FROM pages")
        refs = {row[0]: PageRef(*row[1:]) for row in rows}
        return {refs[page]: cosine for page, cosine in best.items()}

    def id_of(self, ref: PageRef) -> str:
        return self.ids[ref.project, ref.path]


def fused(text: dict[PageRef, float], near: dict[PageRef, float], text_share: float) -> list[PageRef]:
    best_text = max(text.values(), default=1.0)
    best, median = max(near.values(), default=1.0), statistics.median(near.values()) if near else 0.0
    width = best - median or 1.0

    def score(ref: PageRef) -> float:
        meaning = min(1.0, max(0.0, (near.get(ref, median) - median) / width))
        return text_share * text.get(ref, 0.0) / best_text + (1 - text_share) * meaning

    return sorted({*text, *near}, key=lambda ref: (-score(ref), ref))


def query_digest(text: str) -> bytes:
    return text_hash(f"\0{text}")


def make_missing(one: Set, cache: Cache, folder: Path) -> None:
    """Let the model read what the cache lacks."""
    choice = choose(Config(embed=Embed(provider="local", path=str(folder))))
    assert choice is not None
    model = choice.load(How(folder, {}))
    room = Room(one)
    chunks = [chunk for slab in vectors._all_chunks(room.index) for chunk in slab]
    for start in range(0, len(chunks), 32):
        part = chunks[start : start + 32]
        known = cache.vectors(model.encoder, [chunk.hash for chunk in part])
        new = [chunk for chunk in part if chunk.hash not in known]
        if new:
            made = model.embed_documents([chunk.text for chunk in new])
            cache.put(model.encoder, [(c.hash, v) for c, v in zip(new, made, strict=True)])
    for query in one.queries:
        if cache.query(model.encoder, query_digest(query.text)) is None:
            cache.put_query(model.encoder, query_digest(query.text), model.embed_query(query.text))


def compare(one: Set, cache: Cache) -> None:
    room = Room(one)
    chunks = [chunk for slab in vectors._all_chunks(room.index) for chunk in slab]

    def ours(query: Query) -> list[str]:
        return [room.id_of(ref) for ref in room.lexical(query, DEPTH)]

    lines = [("plain FTS5", plain(one.documents)), ("text alone", ours)]
    for encoder in cache.encoders():
        known = cache.vectors(encoder, [chunk.hash for chunk in chunks])
        asked = {query.text: cache.query(encoder, query_digest(query.text)) for query in one.queries}
        if None in asked.values() or any(chunk.hash not in known for chunk in chunks):
            continue
        with driver.transaction(room.index):
            vectors.put(room.index, encoder, [(chunk, known[chunk.hash]) for chunk in chunks])
        number = vectors.encoder_id(room.index, encoder)
        assert number is not None
        for name, text_share in (("alone", 0.0), ("fused", TEXT_SHARE)):
            lines.append((f"{encoder.model} {name}", _with_vectors(room, number, asked, text_share)))
    for name, find in lines:
        (first, five, ten, gain), spent_ms, _ = measured(one, find)
        print(f"{one.name:18} {name:34} {first:6.3f} {five:6.3f} {ten:6.3f} {gain:8.3f} {spent_ms:8.1f}")


def _with_vectors(room: Room, number: int, asked: dict[str, bytes | None], text_share: float):  # type: ignore[no-untyped-def]
    def find(query: Query) -> list[str]:
        vector = asked[query.text]
        assert vector is not None
        text = room.lexical(query, LEXICAL) if text_share else {}
        return [room.id_of(ref) for ref in fused(text, room.near(query, number, vector), text_share)[:DEPTH]]

    return find


def scale(count: int, dim: int = 384) -> None:
    """Times of the leg over clusters of vectors on disk, with and without sqlite-vec; and what its first look loses."""
    import tempfile

    pick = random.Random(3)
    centres = [[pick.gauss(0, 1) for _ in range(dim)] for _ in range(max(10, count // 100))]

    def around() -> bytes:
        centre = pick.choice(centres)
        return packed(value + pick.gauss(0, 0.8) for value in centre)

    with tempfile.TemporaryDirectory() as folder:
        connection = driver.connect(Path(folder) / "index.db")
        index.create(connection)
        encoder = Encoder("bench", "clusters", dim)
        with driver.transaction(connection):
            number = vectors.ensure_encoder(connection, encoder)
            for chunk in range(1, count + 1):
                vector = around()
                row = (chunk, number, chunk // 4 + 1, b"", vectors.code_of(vector), vector)
                connection.execute("INSERT INTO vectors VALUES (?, ?, ?, ?, ?, ?)", row)
        queries = [around() for _ in range(30)]
        _time(connection, number, queries, f"{count} chunks, sqlite-vec")
        _recall(connection, number, queries[:10])
        driver.HAS_EXTENSIONS = False
        _time(connection, number, queries, f"{count} chunks, Python alone")
        driver.HAS_EXTENSIONS = True


def _time(connection: Connection, number: int, queries: list[bytes], name: str) -> None:
    spent_ms, cpu_ms = [], []
    for query in queries:
        begun, cpu = time.perf_counter(), time.process_time()
        nearest(connection, number, query, limit=100)
        spent_ms.append((time.perf_counter() - begun) * 1000)
        cpu_ms.append((time.process_time() - cpu) * 1000)
    half, most, cpu_half = share(spent_ms, 0.5), share(spent_ms, 0.95), share(cpu_ms, 0.5)
    print(f"{name:34} p50 {half:7.1f}  p95 {most:7.1f}  CPU {cpu_half:7.1f} ms")


def _recall(connection: Connection, number: int, queries: list[bytes]) -> None:
    rows = [(chunk, unpacked(vector)) for chunk, vector in connection.execute("SELECT chunk_id, vector FROM vectors")]
    kept = {10: 0, 100: 0}
    for query in queries:
        asked = unpacked(query)
        scored = sorted(rows, key=lambda row: (-sum(a * b for a, b in zip(asked, row[1], strict=True)), row[0]))
        found = {near.chunk_id for near in nearest(connection, number, query, limit=100)}
        for depth in kept:
            kept[depth] += len({row[0] for row in scored[:depth]} & found)
    told = ", ".join(f"@{depth} {hits / depth / len(queries):.3f}" for depth, hits in kept.items())
    print(f"  of the truly nearest it finds: {told}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, metavar="DIR", help="folder of the cache.db")
    parser.add_argument("--model", type=Path, metavar="FOLDER", help="make what the cache lacks, by this model")
    parser.add_argument("--set", type=Path, action="append", default=[], metavar="DIR", help="may be given again")
    parser.add_argument("--scale", type=int, action="append", default=[], metavar="N", help="time it over N chunks")
    arguments = parser.parse_args()
    for folder in arguments.set:
        one, cache = read_set(folder), Cache(DataDir(arguments.cache))
        if arguments.model:
            make_missing(one, cache, arguments.model)
        compare(one, cache)
    for count in arguments.scale:
        scale(count)


if __name__ == "__main__":
    main()
