-- Computations of the families of proteins. Families are in files; a build that is queued or running continues after a
-- restart with those that are missing.
CREATE TABLE proteome_build (
  rid INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  -- SHA-256 of the corpus, and its name then.
  corpus TEXT NOT NULL,
  corpus_name TEXT NOT NULL,
  -- Null for all.
  organism TEXT,
  -- Accessions, entry names or genes, one per line; null for all.
  proteins TEXT,
  username TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'finished', 'failed', 'cancelled')),
  submitted INTEGER NOT NULL,
  ended INTEGER,
  -- The outcome: numbers of families, or the reason of a failure.
  stored INTEGER,
  carried INTEGER,
  failure TEXT,
  CHECK ((state IN ('queued', 'running')) = (ended IS NULL)),
  CHECK ((state = 'failed') = (failure IS NOT NULL))
) STRICT;
