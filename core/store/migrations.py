"""The schema as an ordered list of steps. Each step and its record are one transaction.

A step, once released, never changes: a new need is a new step at the end.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from sqlite_utils import Database

from core.store.turns import fill_words

_FIRST = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

-- what the person added: a folder or a single file
CREATE TABLE root (
    id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, is_folder INTEGER NOT NULL, added TEXT NOT NULL);

-- what the person removed although it lies under a root: never read until it is added again by itself
CREATE TABLE excluded (path TEXT PRIMARY KEY) WITHOUT ROWID;

-- one row a file on disk; documents hang on it (one, or many for a collection such as JSON Lines).
-- `complete` is 1 once every document of this content is stored; `strikes` counts reads that killed the child.
CREATE TABLE file (
    id INTEGER PRIMARY KEY, root_id INTEGER NOT NULL REFERENCES root(id) ON DELETE CASCADE,
    path TEXT NOT NULL UNIQUE, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, hash TEXT NOT NULL,
    state TEXT NOT NULL, reason TEXT NOT NULL DEFAULT '', complete INTEGER NOT NULL DEFAULT 0,
    strikes INTEGER NOT NULL DEFAULT 0, seconds REAL NOT NULL DEFAULT 0, read_at TEXT NOT NULL DEFAULT '');

CREATE TABLE document (
    id INTEGER PRIMARY KEY, file_id INTEGER NOT NULL REFERENCES file(id) ON DELETE CASCADE,
    path TEXT NOT NULL, external_id TEXT NOT NULL DEFAULT '', hash TEXT NOT NULL,
    title TEXT NOT NULL DEFAULT '', author TEXT NOT NULL DEFAULT '', media_type TEXT NOT NULL DEFAULT '',
    language TEXT NOT NULL DEFAULT '', created TEXT NOT NULL DEFAULT '', modified TEXT NOT NULL DEFAULT '',
    state TEXT NOT NULL, reason TEXT NOT NULL DEFAULT '', reader TEXT NOT NULL DEFAULT '',
    pages INTEGER NOT NULL DEFAULT 0, characters INTEGER NOT NULL DEFAULT 0,
    passages INTEGER NOT NULL DEFAULT 0, warnings TEXT NOT NULL DEFAULT '[]',
    size INTEGER NOT NULL DEFAULT 0, seconds REAL NOT NULL DEFAULT 0,
    UNIQUE (path, external_id));
CREATE INDEX document_file ON document (file_id);
CREATE INDEX document_state ON document (state);

-- zlib-compressed text; pages and blocks as JSON (core.base.wire form), compressed too
CREATE TABLE document_text (
    document_id INTEGER PRIMARY KEY REFERENCES document(id) ON DELETE CASCADE,
    text BLOB NOT NULL, pages BLOB NOT NULL, blocks BLOB NOT NULL);

CREATE TABLE tag (
    document_id INTEGER NOT NULL REFERENCES document(id) ON DELETE CASCADE, tag TEXT NOT NULL,
    PRIMARY KEY (document_id, tag)) WITHOUT ROWID;

-- `hash` names what the encoder sees (heading path and text), so equal passages are encoded once.
-- Ids are never used again (AUTOINCREMENT): an old snapshot must not find a new passage under an old id.
CREATE TABLE passage (
    id INTEGER PRIMARY KEY AUTOINCREMENT, document_id INTEGER NOT NULL REFERENCES document(id) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL, text TEXT NOT NULL, start INTEGER NOT NULL, "end" INTEGER NOT NULL,
    first_page INTEGER, last_page INTEGER, heading_path TEXT NOT NULL DEFAULT '[]',
    language TEXT NOT NULL DEFAULT '', hash TEXT NOT NULL, UNIQUE (document_id, ordinal));
CREATE INDEX passage_hash ON passage (hash);

-- the dense vector of an encoded input, float32 little-endian, unit length: the truth from which index files are made
CREATE TABLE vector (
    encoder TEXT NOT NULL, hash TEXT NOT NULL, data BLOB NOT NULL, PRIMARY KEY (encoder, hash)) WITHOUT ROWID;

-- an immutable part of an index: `passage_ids` int64 by ordinal, `lengths` float32 (terms per passage) by ordinal
CREATE TABLE segment (
    id INTEGER PRIMARY KEY AUTOINCREMENT, encoder TEXT NOT NULL, passages INTEGER NOT NULL,
    passage_ids BLOB NOT NULL, lengths BLOB NOT NULL, created TEXT NOT NULL);

-- impact postings: `ordinals` uint32 ascending, `weights` float32 (bm25: term frequency)
CREATE TABLE posting (
    segment_id INTEGER NOT NULL REFERENCES segment(id) ON DELETE CASCADE, channel TEXT NOT NULL,
    term TEXT NOT NULL, count INTEGER NOT NULL, ordinals BLOB NOT NULL, weights BLOB NOT NULL,
    PRIMARY KEY (segment_id, channel, term)) WITHOUT ROWID;

-- passages taken out of search although a segment still lists them; written in the transaction that deletes them
CREATE TABLE tombstone (passage_id INTEGER PRIMARY KEY);

-- `model` names the folder of the autoencoder under models/
CREATE TABLE concept (
    model TEXT NOT NULL, latent INTEGER NOT NULL, label TEXT NOT NULL, terms TEXT NOT NULL,
    passages INTEGER NOT NULL, examples TEXT NOT NULL, idf REAL NOT NULL, PRIMARY KEY (model, latent)) WITHOUT ROWID;

CREATE TABLE job (
    id INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, arguments TEXT NOT NULL, state TEXT NOT NULL,
    started TEXT NOT NULL, ended TEXT NOT NULL DEFAULT '', outcome TEXT NOT NULL DEFAULT '{}');

CREATE TABLE conversation (
    id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT NOT NULL DEFAULT '', created TEXT NOT NULL, changed TEXT NOT NULL);
CREATE TABLE turn (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    conversation_id INTEGER NOT NULL REFERENCES conversation(id) ON DELETE CASCADE,
    question TEXT NOT NULL, search_text TEXT NOT NULL DEFAULT '', answer TEXT NOT NULL, asked TEXT NOT NULL);
"""


_LIVING = """
-- what identifies the folder itself (device and inode): an empty mount point is not the drive that was there
ALTER TABLE root ADD COLUMN stamp TEXT NOT NULL DEFAULT '';
ALTER TABLE document ADD COLUMN ocr_pages TEXT NOT NULL DEFAULT '[]';

-- a copy has no text and no passages of its own: it shares those of the document that it is a copy of
ALTER TABLE document ADD COLUMN copy_of INTEGER REFERENCES document(id);
-- versions of one another carry the same number; NULL for a document that resembles no other
ALTER TABLE document ADD COLUMN family INTEGER;
CREATE INDEX document_copy ON document (copy_of);
CREATE INDEX document_hash ON document (hash);
CREATE INDEX document_family ON document (family);
CREATE INDEX file_hash ON file (hash);

-- MinHash of a document's words, and its bands for finding what resembles it
CREATE TABLE signature (document_id INTEGER PRIMARY KEY REFERENCES document(id) ON DELETE CASCADE, data BLOB NOT NULL);
CREATE TABLE band (
    band INTEGER NOT NULL, key INTEGER NOT NULL, document_id INTEGER NOT NULL REFERENCES document(id) ON DELETE CASCADE,
    PRIMARY KEY (band, key, document_id)) WITHOUT ROWID;
CREATE INDEX band_document ON band (document_id);
"""


_PLACES = """
-- where a passage stands in formats with places of their own: a sheet and its cells, a slide, a line
ALTER TABLE passage ADD COLUMN place TEXT NOT NULL DEFAULT '';

-- for lists of documents sorted by column
CREATE INDEX document_states ON document (state, path, external_id);
CREATE INDEX document_pages ON document (pages, path, external_id);
CREATE INDEX document_passages ON document (passages, path, external_id);
CREATE INDEX document_seconds ON document (seconds, path, external_id);
CREATE INDEX document_type ON document (media_type, path, external_id);
CREATE INDEX document_reader ON document (reader, path, external_id)
"""


_VECTORS = """
-- as a table with row ids: a vector in the tree of the key itself takes a page of its own, more than twice the room
ALTER TABLE vector RENAME TO vector_before;
CREATE TABLE vector (encoder TEXT NOT NULL, hash TEXT NOT NULL, data BLOB NOT NULL, PRIMARY KEY (encoder, hash));
INSERT INTO vector SELECT encoder, hash, data FROM vector_before;
DROP TABLE vector_before
"""


_NAMES = r"""
-- for the list of documents sorted by the names of their files
CREATE INDEX document_names ON document (
    replace(replace(path, '\', '/'),
        rtrim(replace(path, '\', '/'), replace(replace(path, '\', '/'), '/', '')), '') COLLATE NOCASE,
    path, external_id)
"""


_REPRESENTATIONS = """
-- what else an encoder made of an encoded input (kind: lexical), packed as core.store.representations tells
CREATE TABLE representation (
    encoder TEXT NOT NULL, hash TEXT NOT NULL, kind TEXT NOT NULL, data BLOB NOT NULL,
    PRIMARY KEY (encoder, hash, kind))
"""


_JUDGEMENTS = """
-- what the person showed or said of passages (kind: opened, liked, disliked, pinned, judged). `hash` is the passage's,
-- by which it is found again under another id; `gain` is 2 (answers), 1 (in part) or 0 (does not)
CREATE TABLE judgement (
    id INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, question TEXT NOT NULL, passage_id INTEGER NOT NULL,
    hash TEXT NOT NULL, gain INTEGER NOT NULL, made TEXT NOT NULL, UNIQUE (kind, question, hash));
CREATE INDEX judgement_passage ON judgement (passage_id);
CREATE INDEX judgement_hash ON judgement (hash)
"""


_CONCEPTS = """
ALTER TABLE concept ADD COLUMN quality REAL NOT NULL DEFAULT -1;
ALTER TABLE concept ADD COLUMN named_by TEXT NOT NULL DEFAULT 'terms';

-- what the person says of concepts: a name of their own, hidden, put together with another; carried to the latents of
-- the next model that mean the same
CREATE TABLE concept_mark (
    model TEXT NOT NULL, latent INTEGER NOT NULL, name TEXT NOT NULL DEFAULT '', hidden INTEGER NOT NULL DEFAULT 0,
    merged_into INTEGER, made TEXT NOT NULL, PRIMARY KEY (model, latent));

-- saved ways of looking: the concepts of `model` that count more or less, or must be there
CREATE TABLE lens (
    id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE COLLATE NOCASE, model TEXT NOT NULL,
    boosts TEXT NOT NULL, required TEXT NOT NULL, made TEXT NOT NULL)
"""


_CONVERSATIONS = """
-- a conversation is a tree of exchanges: `parent` is the one before, `leaf` the end of the branch that is shown.
-- `words` is what an exchange is searched by: question and answer without case and accents; the index holds them, too,
-- so that a search need not pass over the answers
ALTER TABLE conversation ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;
ALTER TABLE conversation ADD COLUMN leaf INTEGER;
ALTER TABLE turn ADD COLUMN parent INTEGER REFERENCES turn(id) ON DELETE CASCADE;
ALTER TABLE turn ADD COLUMN words TEXT NOT NULL DEFAULT '';
CREATE INDEX turn_words ON turn (conversation_id, words);
CREATE INDEX turn_parent ON turn (parent);
UPDATE turn SET parent = (
    SELECT max(b.id) FROM turn b WHERE b.conversation_id = turn.conversation_id AND b.id < turn.id);
UPDATE conversation SET leaf = (SELECT max(id) FROM turn WHERE conversation_id = conversation.id)
"""


def _run(script: str) -> Callable[[Database], None]:
    def step(db: Database) -> None:
        for statement in script.split(";\n"):
            if statement.strip():
                db.execute(statement)

    return step


def _conversations(db: Database) -> None:
    _run(_CONVERSATIONS)(db)
    fill_words(db)


STEPS: tuple[tuple[str, Callable[[Database], None]], ...] = (
    ("0001-first", _run(_FIRST)),
    ("0002-living", _run(_LIVING)),
    ("0003-places", _run(_PLACES)),
    ("0004-vectors", _run(_VECTORS)),
    ("0005-names", _run(_NAMES)),
    ("0006-representations", _run(_REPRESENTATIONS)),
    ("0007-judgements", _run(_JUDGEMENTS)),
    ("0008-concepts", _run(_CONCEPTS)),
    ("0009-conversations", _conversations),
)


def applied(db: Database) -> list[str]:
    """Names of the steps this database has had, in order."""
    if "migration" not in db.table_names():
        return []
    return [row[0] for row in db.execute("SELECT name FROM migration ORDER BY rowid").fetchall()]


def migrate(db: Database) -> list[str]:
    """Apply the missing steps and return their names. Each step is all or nothing."""
    if "migration" not in db.table_names():
        db.execute("CREATE TABLE IF NOT EXISTS migration (name TEXT PRIMARY KEY, applied TEXT NOT NULL)")
    done = set(applied(db))
    fresh = []
    for name, step in STEPS:
        if name in done:
            continue
        db.execute("BEGIN IMMEDIATE")
        try:
            if name in applied(db):  # by another process, while this one waited
                db.execute("ROLLBACK")
                continue
            step(db)
            now = datetime.now(UTC).isoformat(timespec="seconds")
            db.execute("INSERT INTO migration (name, applied) VALUES (?, ?)", (name, now))
            db.execute("COMMIT")
        except BaseException:
            if db.conn.in_transaction:  # a full disk has ended it already
                db.execute("ROLLBACK")
            raise
        fresh.append(name)
    return fresh
