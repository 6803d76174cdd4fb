-- Work that takes longer than a request: who started it, what it is, and how it ended.
CREATE TABLE task (
  rid INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  -- Such as backup or batch.
  kind TEXT NOT NULL,
  -- For people: the name of a corpus or the size of a batch.
  subject TEXT NOT NULL,
  -- As of a job: the submitter, and the key of an owner without an account.
  client TEXT NOT NULL,
  owner TEXT,
  state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'finished', 'failed', 'cancelled')),
  created INTEGER NOT NULL,
  started INTEGER,
  ended INTEGER,
  -- The outcome, or the reason of a failure.
  message TEXT NOT NULL DEFAULT '',
  result TEXT NOT NULL DEFAULT 'null' CHECK (json_valid(result)),
  -- What to do, for a task that continues after a restart.
  request TEXT NOT NULL DEFAULT 'null' CHECK (json_valid(request)),
  -- Identifies the computation that equal tasks share.
  shared TEXT,
  CHECK ((state IN ('queued', 'running')) = (ended IS NULL))
) STRICT;

CREATE INDEX task_kind ON task (kind, client);

CREATE INDEX task_owner ON task (coalesce(owner, client));

CREATE INDEX task_shared ON task (shared) WHERE shared IS NOT NULL;

CREATE INDEX task_unfinished ON task (kind) WHERE ended IS NULL;

INSERT INTO task (id, kind, subject, client, state, created, ended, message, result, request)
  SELECT id, 'family-build', corpus_name, 'user ' || username, state, submitted, ended, coalesce(failure, ''),
    json_object('stored', stored, 'carried', carried),
    json_object('corpus', corpus, 'organism', organism, 'proteins', proteins)
  FROM proteome_build ORDER BY rid;

DROP TABLE proteome_build;

-- Times were not stored; a search without a result is run again when somebody asks for it.
INSERT OR IGNORE INTO task (id, kind, subject, client, owner, state, created, ended, shared)
  SELECT id, 'proteome-search', '', client, owner, iif(cancelled, 'cancelled', 'finished'), unixepoch() * 1000,
    unixepoch() * 1000, computation
  FROM proteome_search ORDER BY rowid;

DROP TABLE proteome_search;

-- Jobs are listed as tasks of their owners. The beginning of a key is enough to find them: keys are random, so whole
-- ones make an index of many pages, and RunJob slower.
CREATE INDEX job_owner ON job (substr(coalesce(owner, client), 1, 8));

-- Jobs of a batch, in their order.
CREATE TABLE batch_item (
  rid INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task (rid) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  -- The protein, and its line in a list.
  name TEXT NOT NULL,
  line INTEGER,
  -- Number of its group of patterns in the request of the task, from 0.
  patterns INTEGER NOT NULL,
  -- The job, once it is submitted.
  job INTEGER REFERENCES job (rid),
  -- Why there is no job.
  failure TEXT,
  -- Residues until then.
  query TEXT,
  UNIQUE (task, position),
  CHECK ((job IS NOT NULL) + (failure IS NOT NULL) + (query IS NOT NULL) = 1)
) STRICT;
