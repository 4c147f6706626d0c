"""What vectors add to the ranking, what the vector leg costs, and what its first look leaves out.

Run by hand: `python tests/bench/bench_vectors.py --cache DIR [--model FOLDER] [--set DIR …] [--scale N …]`. Sets are
those of `bench_retrieval.py`. `--cache` is a folder whose `cache.db` keeps the vectors from run to run; `--model` makes
the missing ones first. Each encoder that knows a whole set gets two lines: the engine as it ships, with the gate and
without, beside plain FTS5 and the engine without vectors. `--scale` times the leg over made-up clusters of vectors.
"""

import argparse
import random
import time
from pathlib import Path

from measure import share

from ai_memory.config_table import Config, Embed
from ai_memory.model import Encoder
from ai_memory.paths import DataDir
from ai_memory.providers.choose import How, choose
from ai_memory.providers.embedder import packed, unpacked
from ai_memory.providers.known import known
from ai_memory.search.evaluation import Find, LabelledSet, evaluate, read_set
from ai_memory.search.trial import Trial, plain
from ai_memory.search.trial_vectors import teach
from ai_memory.search.vectors import nearest
from ai_memory.store import driver, index, vectors
from ai_memory.store.cache import Cache
from ai_memory.store.driver import Connection
from ai_memory.text.embedded import query_hash

SHOWN = ("any@1", "any@5", "any@10", "ndcg@10", "mrr@10", "unanswered")


def compare(one: LabelledSet, cache: Cache) -> None:
    trial = Trial(one.documents)
    _line(one, "plain FTS5", plain(one.documents))
    _line(one, "text, no gate", trial.find(may_abstain=False))
    _line(one, "text", trial.find(may_abstain=True))
    for encoder in cache.encoders():
        prefix = known(encoder.model).query_prefix
        asked = {one.text: cache.query(encoder, query_hash(prefix, one.text)) for one in one.questions}
        if None in asked.values():
            continue
        taught = Trial(one.documents)
        with cache.looking_up(encoder) as look_up:
            count = taught.learn(encoder, look_up, asked.get)
        if count < taught.chunks:
            continue
        _line(one, f"{encoder.model}, no gate", taught.find(may_abstain=False))
        _line(one, encoder.model, taught.find(may_abstain=True))


def _line(one: LabelledSet, name: str, find: Find) -> None:
    figures = evaluate(find, one.questions)
    print(f"| {one.name} | {name} | " + " | ".join(f"{figures[key]:.3f}" for key in SHOWN) + " |", flush=True)


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
    if arguments.set and arguments.cache is None:
        parser.error("--set needs --cache DIR, where the vectors are")
    print("| set | ranking | " + " | ".join(SHOWN) + " |")
    for folder in arguments.set:
        one, cache = read_set(folder), Cache(DataDir(arguments.cache))
        if arguments.model:
            choice = choose(Config(embed=Embed(provider="local", path=str(arguments.model))))
            assert choice is not None
            teach(Trial(one.documents), one.questions, cache, choice, How(arguments.model, {}), lambda: None)
        compare(one, cache)
    for count in arguments.scale:
        scale(count)


if __name__ == "__main__":
    main()
