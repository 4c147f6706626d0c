"""What the memory holds: the wiki's repository, `state.db`, the index, vectors; and the library that reads them."""

from collections.abc import Iterator
from importlib.util import find_spec
from shlex import quote

from ai_memory.clock import rfc3339
from ai_memory.diagnosis.finding import Finding, Repair, Severity
from ai_memory.diagnosis.ground import Ground
from ai_memory.errors import MemoryFault, StoreFault
from ai_memory.providers.choose import Choice, choose
from ai_memory.store import audit, born, checkup, driver, vectors
from ai_memory.store.head import read_head
from ai_memory.text.times import DAY_US

MOST_FILES = 2_000
"""That many are read in a tenth of a second; a whole wiki is for `git fsck`."""
MOST_DATABASE_BYTES = 512 << 20
"""A check of so much takes a second or two."""
UNSAVED_US = 30 * DAY_US
"""A memory so old holds what nobody would want to tell agents again."""
FAULTS_SHOWN = 5
_BROKEN, _WARNING, _NOTE = Severity.BROKEN, Severity.WARNING, Severity.NOTE


def wiki(ground: Ground) -> Iterator[Finding]:
    """Whether it can be written, and whether what it says last can be read."""
    memory = ground.memory
    if not memory.exists:
        return
    hindrance = memory.hindrance()
    if hindrance is not None:
        yield Finding("wiki-blocked", _BROKEN, hindrance.message.rstrip("."), hindrance.hint)
    fsck = f"git -C {quote(str(memory.data_dir.wiki))} fsck; then fetch what is missing from a clone or a backup"
    try:
        seen = checkup.read_objects(memory.data_dir.git, most=MOST_FILES)
    except StoreFault as broken:
        yield Finding("wiki-damaged", _BROKEN, f"the wiki is damaged: {broken.message.rstrip('.')}", fsck)
        return
    for fault in seen.faults[:FAULTS_SHOWN]:
        yield Finding("wiki-damaged", _BROKEN, f"the wiki is damaged: {fault.rstrip('.')}", fsck)
    if len(seen.faults) > FAULTS_SHOWN:
        more = len(seen.faults) - FAULTS_SHOWN
        yield Finding("wiki-damaged", _BROKEN, f"{more} more objects of the wiki are damaged", fsck)


def state(ground: Ground) -> Iterator[Finding]:
    """Whether `state.db` is whole, and of a version that this program knows."""
    path = ground.memory.data_dir.state
    if not path.exists():
        return
    size_bytes = path.stat().st_size
    if size_bytes > MOST_DATABASE_BYTES:
        sentence = f"state.db has {size_bytes >> 20} MiB and was not read whole"
        yield Finding("state-large", _NOTE, sentence, f"sqlite3 {quote(str(path))} 'PRAGMA quick_check'")
        return
    try:
        with ground.memory.state_reading() as connection:
            faults = checkup.database_faults(connection) if connection is not None else []
    except StoreFault as broken:
        yield Finding("state-damaged", _BROKEN, broken.message.rstrip("."), broken.hint)
        return
    for fault in faults:
        sentence = f"state.db is damaged: {fault}"
        yield Finding("state-damaged", _BROKEN, sentence, "ai-memory salvage")


def backup(ground: Ground) -> Iterator[Finding]:
    """Whether a copy is known to be whole that is not much older than the memory itself."""
    memory = ground.memory
    month_ago = ground.now_us - UNSAVED_US
    made_at = born.since(memory.data_dir, "wiki")
    if made_at is None or made_at > rfc3339(month_ago):
        return
    with memory.state_reading() as connection:
        last = audit.last_verified(connection) if connection is not None else None
    if last is None:
        sentence = f"there is no backup that was tried, and the memory is here since {made_at[:10]}"
        yield Finding("backup-none", _NOTE, sentence, "ai-memory backup --verify")
    elif last.at_us < month_ago:
        sentence = f"the last backup that was tried is of {rfc3339(last.at_us)[:10]}"
        yield Finding("backup-old", _NOTE, sentence, "ai-memory backup --verify")


def index(ground: Ground) -> Iterator[Finding]:
    """Whether it has followed the wiki, and which pages it could not read."""
    memory = ground.memory
    if not memory.exists:
        return
    with memory.reading() as snapshot:
        indexed = snapshot.head
        faults = snapshot.faults() if snapshot.counts().faulty_pages else []
    if indexed != read_head(memory.data_dir.git):
        fix = "ai-memory reindex"
        yield Finding("index-behind", _WARNING, "the index is behind the wiki", fix, repair=Repair.REBUILD)
    if faults:
        ref, fault = faults[0]
        sentence = (
            f"{len(faults)} pages cannot be read in full, the first {ref.workspace}/{ref.project}:{ref.path}"
            f" ({fault[:120]})"
        )
        yield Finding("pages-faulty", _WARNING, sentence, "ai-memory pages --all marks them; mend them by hand")


def sqlite(ground: Ground) -> Iterator[Finding]:
    """Whether the library can do what is asked of it."""
    del ground
    if find_spec("sqlite_vec") is not None and not driver.HAS_EXTENSIONS:
        sentence = (
            f"SQLite {driver.SQLITE_VERSION} ({driver.DRIVER_NAME}) takes no extension: vectors are searched slower"
        )
        yield Finding("sqlite-extension", _NOTE, sentence, "pip install pysqlite3 in the program's environment")


def embedder(ground: Ground) -> Iterator[Finding]:
    """Whether the embedder that is configured can be had, and how many vectors there are."""
    memory = ground.memory
    try:
        choice = choose(ground.config)
    except MemoryFault as fault:
        yield Finding("embedder-unusable", _WARNING, f"no vectors can be made: {fault.message.rstrip('.')}", fault.hint)
        return
    if choice is None or not memory.exists:
        return
    yield from _missing(ground, choice)


def _missing(ground: Ground, choice: Choice) -> Iterator[Finding]:
    with ground.memory.reading() as snapshot:
        rows = vectors.encoders(snapshot.index)
        own = next((row for row in rows if choice.made(row.encoder)), None)
        missing = vectors.missing(snapshot.index, own.id if own else None)
        chunks = snapshot.counts().chunks
    made = own.vectors if own else 0
    if missing:
        sentence = f"{made} of {chunks} parts of pages have a vector of {choice.provider} {choice.model}"
        yield Finding("vectors-missing", _NOTE, sentence, "ai-memory embed --all")
    former = sum(row.vectors for row in rows) - made
    if former:
        yield Finding("vectors-former", _NOTE, f"{former} vectors are of former encoders", "ai-memory embed --prune")
