"""Tables of the disposable index. Change anything here or in what fills it: raise `paths.INDEX_SCHEMA`."""

TABLES = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    # How many chunks there are: each query asks, and counting 100,000 costs it more than ranking them.
    "INSERT INTO meta (key, value) VALUES ('chunks', '0')",
    """CREATE TABLE projects (
        workspace TEXT NOT NULL, name TEXT NOT NULL, uid TEXT NOT NULL, identity TEXT, identity_source TEXT,
        aliases TEXT NOT NULL, former_names TEXT NOT NULL, created_at_us INTEGER NOT NULL, private INTEGER NOT NULL,
        PRIMARY KEY (workspace, name)
    ) WITHOUT ROWID""",
    """CREATE TABLE pages (
        id INTEGER PRIMARY KEY, workspace TEXT NOT NULL, project TEXT NOT NULL, path TEXT NOT NULL,
        version TEXT NOT NULL, title TEXT NOT NULL, kind TEXT NOT NULL, tier TEXT NOT NULL, pinned INTEGER NOT NULL,
        expires_at_us INTEGER, updated_at_us INTEGER NOT NULL, valid_from_us INTEGER, valid_to_us INTEGER,
        superseded INTEGER NOT NULL, frontmatter TEXT NOT NULL, text TEXT NOT NULL,
        body_start INTEGER NOT NULL, fault TEXT NOT NULL, UNIQUE (workspace, project, path)
    )""",
    # Newest first in the very order of the lists, everywhere and in one project: ten pages are found without a sort.
    "CREATE INDEX pages_newest ON pages (updated_at_us DESC, workspace, project, path)",
    "CREATE INDEX pages_newest_here ON pages (workspace, project, updated_at_us DESC, path)",
    # Titles alone, for whoever compares all of them: the rows themselves hold the texts, 30 MB for 10,000 pages.
    "CREATE INDEX pages_titles ON pages (workspace, project, path, title)",
    # What a page may be called by: a query that is its title, path, version or id finds it without reading the others.
    "CREATE INDEX pages_title ON pages (title COLLATE NOCASE)",
    "CREATE INDEX pages_path ON pages (path)",
    "CREATE INDEX pages_version ON pages (version)",
    """CREATE INDEX pages_id ON pages (json_extract(frontmatter, '$.id'))
        WHERE json_extract(frontmatter, '$.id') IS NOT NULL""",
    "CREATE TABLE tags (tag TEXT NOT NULL, page_id INTEGER NOT NULL, PRIMARY KEY (tag, page_id)) WITHOUT ROWID",
    "CREATE INDEX tags_page ON tags (page_id)",
    """CREATE TABLE entities (
        name TEXT NOT NULL, page_id INTEGER NOT NULL, PRIMARY KEY (name, page_id)
    ) WITHOUT ROWID""",
    "CREATE INDEX entities_page ON entities (page_id)",
    """CREATE TABLE chunks (
        id INTEGER PRIMARY KEY, page_id INTEGER NOT NULL, ord INTEGER NOT NULL, start_line INTEGER NOT NULL,
        end_line INTEGER NOT NULL, title TEXT NOT NULL, words TEXT NOT NULL, heading TEXT NOT NULL, body TEXT NOT NULL,
        grams TEXT NOT NULL
    )""",
    "CREATE INDEX chunks_page ON chunks (page_id)",
    """CREATE VIRTUAL TABLE chunks_fts USING fts5 (
        title, words, heading, body, grams, content='chunks', content_rowid='id',
        tokenize='porter unicode61 remove_diacritics 2'
    )""",
    # Words are gathered up to 16 MB before they are written: a rebuild's batch makes one segment, not five.
    "INSERT INTO chunks_fts (chunks_fts, rank) VALUES ('hashsize', 16777216)",
    """CREATE TABLE links (
        source_id INTEGER NOT NULL, workspace TEXT NOT NULL, project TEXT NOT NULL, path TEXT NOT NULL,
        kind TEXT NOT NULL, PRIMARY KEY (source_id, workspace, project, path, kind)
    ) WITHOUT ROWID""",
    "CREATE INDEX links_target ON links (workspace, project, path, kind)",
    # Looks at the work tree: what was not taken, and what was missing once (decision A6).
    "CREATE TABLE vanished (git_path TEXT PRIMARY KEY, first_seen_us INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TABLE looks (folder TEXT PRIMARY KEY, changed_ns INTEGER NOT NULL) WITHOUT ROWID",
    # What made vectors, and the vectors: float32, little-endian, of length 1. They go with their chunk.
    """CREATE TABLE encoders (
        id INTEGER PRIMARY KEY, provider TEXT NOT NULL, model TEXT NOT NULL, dim INTEGER NOT NULL,
        document_prefix TEXT NOT NULL, UNIQUE (provider, model, dim, document_prefix)
    )""",
    """CREATE TABLE vectors (
        chunk_id INTEGER NOT NULL, encoder_id INTEGER NOT NULL, page_id INTEGER NOT NULL, text_hash BLOB NOT NULL,
        code BLOB NOT NULL, vector BLOB NOT NULL, UNIQUE (chunk_id, encoder_id)
    )""",
    # A search over many reads this index alone: 48 bytes of signs a chunk instead of 1,536 of numbers.
    "CREATE INDEX vectors_codes ON vectors (encoder_id, page_id, chunk_id, code)",
    "CREATE INDEX vectors_page ON vectors (page_id)",
    """CREATE TRIGGER chunk_gone AFTER DELETE ON chunks BEGIN
        DELETE FROM vectors WHERE chunk_id = old.id;
    END""",
)
"""Rows are written in the order of git paths by a rebuild; nothing that a person sees may depend on `id`."""
