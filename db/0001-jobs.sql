-- Scoring jobs. Times are milliseconds since 1970-01-01 UTC.
CREATE TABLE job (
  rid INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'finished', 'failed')),
  request TEXT NOT NULL CHECK (json_valid(request)),
  submitted INTEGER NOT NULL,
  started INTEGER,
  ended INTEGER,
  attempts INTEGER NOT NULL DEFAULT 0,
  -- While running: until when the worker may take; past it the job counts as abandoned.
  deadline INTEGER,
  stage TEXT,
  fraction REAL,
  prediction TEXT CHECK (prediction IS NULL OR json_valid(prediction)),
  failure TEXT
) STRICT;

CREATE INDEX job_queue ON job (rid) WHERE state = 'queued';
CREATE INDEX job_running ON job (deadline) WHERE state = 'running';
