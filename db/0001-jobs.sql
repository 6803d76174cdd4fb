-- Scoring. Times are milliseconds since 1970-01-01 UTC.

-- The protein collections. Their content lies beside the database, in corpora/<hash>.labc.
CREATE TABLE corpus (
  hash TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  sequences INTEGER NOT NULL,
  residues INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  added INTEGER NOT NULL,
  -- 1 for the one that jobs are scored against.
  active INTEGER NOT NULL DEFAULT 0 CHECK (active IN (0, 1))
) STRICT;

CREATE UNIQUE INDEX corpus_active ON corpus (active) WHERE active = 1;

-- What was computed, once for all jobs that ask the same of the same corpus by the same method.
CREATE TABLE result (
  rid INTEGER PRIMARY KEY,
  -- SHA-256 of query, scoring model and patterns.
  digest TEXT NOT NULL,
  corpus TEXT NOT NULL,
  method TEXT NOT NULL,
  prediction TEXT NOT NULL CHECK (json_valid(prediction)),
  computed INTEGER NOT NULL,
  UNIQUE (digest, corpus, method)
) STRICT;

CREATE TABLE job (
  rid INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'finished', 'failed')),
  request TEXT NOT NULL CHECK (json_valid(request)),
  digest TEXT NOT NULL,
  submitted INTEGER NOT NULL,
  started INTEGER,
  ended INTEGER,
  -- Leases that ended with the death of the worker or of the whole process, the present one included.
  attempts INTEGER NOT NULL DEFAULT 0,
  -- How often the whole process ended while the job ran: that is rarely the job's fault, and counted apart.
  interruptions INTEGER NOT NULL DEFAULT 0,
  -- While running: until when the worker may take.
  deadline INTEGER,
  result INTEGER REFERENCES result (rid),
  failure TEXT,
  CHECK ((state = 'running') = (deadline IS NOT NULL)),
  CHECK ((state = 'finished') = (result IS NOT NULL)),
  CHECK ((state = 'failed') = (failure IS NOT NULL)),
  CHECK ((state IN ('finished', 'failed')) = (ended IS NOT NULL))
) STRICT;

-- Ends in the row id, so that the oldest of a state comes first.
CREATE INDEX job_state ON job (state);
CREATE INDEX job_question ON job (digest) WHERE state = 'queued';
CREATE INDEX job_result ON job (result) WHERE result IS NOT NULL;
