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
  state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'finished', 'failed', 'cancelled', 'expired')),
  -- Who asked: a user or a network address. Clients take turns.
  client TEXT NOT NULL,
  -- Null once the job has expired.
  request TEXT CHECK (json_valid(request)),
  digest TEXT NOT NULL,
  -- 1 where an earlier job of the same client asks the same and has not ended: this one waits for its answer.
  twin INTEGER NOT NULL DEFAULT 0 CHECK (twin IN (0, 1)),
  submitted INTEGER NOT NULL,
  started INTEGER,
  ended INTEGER,
  -- When an ended job becomes `expired`; null where it is kept for ever.
  expires INTEGER,
  -- Leases that ended with the death of the worker or of the whole process, the present one included.
  attempts INTEGER NOT NULL DEFAULT 0,
  -- How often the whole process ended while the job ran: that is rarely the job's fault, and counted apart.
  interruptions INTEGER NOT NULL DEFAULT 0,
  -- While running: until when the worker may take.
  deadline INTEGER,
  result INTEGER REFERENCES result (rid),
  -- Why an ended job has no prediction.
  failure TEXT,
  CHECK ((state = 'running') = (deadline IS NOT NULL)),
  CHECK ((state = 'finished') = (result IS NOT NULL)),
  CHECK ((state IN ('failed', 'cancelled', 'expired')) = (failure IS NOT NULL)),
  CHECK ((state IN ('queued', 'running')) = (ended IS NULL)),
  CHECK ((state = 'expired') = (request IS NULL)),
  CHECK (expires IS NULL OR state IN ('finished', 'failed', 'cancelled')),
  CHECK (twin = 0 OR state = 'queued')
) STRICT;

CREATE INDEX job_state ON job (state);
-- In the order of the turns: by client, then the oldest, for the row id is the end of every index.
CREATE INDEX job_turn ON job (client) WHERE state = 'queued' AND twin = 0;
CREATE INDEX job_question ON job (digest) WHERE state IN ('queued', 'running');
CREATE INDEX job_result ON job (result) WHERE result IS NOT NULL;
CREATE INDEX job_expiry ON job (expires) WHERE expires IS NOT NULL;

-- How many jobs wait, per client: kept by the triggers below, so that neither a submission nor a question about the
-- place in the queue has to count them.
CREATE TABLE queue (
  client TEXT PRIMARY KEY,
  waiting INTEGER NOT NULL,
  -- Those that will take a worker's time: twins do not.
  turns INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TRIGGER job_queued AFTER INSERT ON job WHEN new.state = 'queued'
BEGIN
  INSERT INTO queue (client, waiting, turns) VALUES (new.client, 1, 1 - new.twin)
  ON CONFLICT DO UPDATE SET waiting = waiting + 1, turns = turns + excluded.turns;
END;

CREATE TRIGGER job_requeued AFTER UPDATE OF state ON job WHEN new.state = 'queued' AND old.state <> 'queued'
BEGIN
  INSERT INTO queue (client, waiting, turns) VALUES (new.client, 1, 1 - new.twin)
  ON CONFLICT DO UPDATE SET waiting = waiting + 1, turns = turns + excluded.turns;
END;

CREATE TRIGGER job_left AFTER UPDATE OF state ON job WHEN old.state = 'queued' AND new.state <> 'queued'
BEGIN
  UPDATE queue SET waiting = waiting - 1, turns = turns - 1 + old.twin WHERE client = old.client;
  DELETE FROM queue WHERE client = old.client AND waiting = 0;
END;

CREATE TRIGGER job_promoted AFTER UPDATE OF twin ON job WHEN old.state = 'queued' AND new.state = 'queued'
BEGIN
  UPDATE queue SET turns = turns + old.twin - new.twin WHERE client = old.client;
END;

-- A table of motif classes that was imported: at most one, layered over the classes that the program brings along.
CREATE TABLE motif_table (
  rid INTEGER PRIMARY KEY CHECK (rid = 1),
  -- SHA-256 of the file.
  hash TEXT NOT NULL,
  name TEXT NOT NULL,
  -- What the file says of itself.
  version TEXT,
  published TEXT,
  imported INTEGER NOT NULL
) STRICT;

CREATE TABLE motif_class (
  name TEXT PRIMARY KEY,
  accession TEXT,
  expression TEXT NOT NULL,
  description TEXT NOT NULL,
  citation TEXT NOT NULL
) STRICT;
