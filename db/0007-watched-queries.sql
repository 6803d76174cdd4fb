-- Queries that are scored again once another corpus is in use.
CREATE TABLE watched_query (
  rid INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  -- The user, as the client of a job.
  owner TEXT NOT NULL,
  digest TEXT NOT NULL,
  -- As that of a job.
  request TEXT NOT NULL CHECK (json_valid(request)),
  created INTEGER NOT NULL,
  -- The job with the latest result, which does not expire.
  job INTEGER NOT NULL REFERENCES job (rid),
  -- Hash of the corpus that the query was last scored against, also if that failed or was cancelled.
  corpus TEXT NOT NULL,
  -- The job that scores it again.
  rerun INTEGER REFERENCES job (rid),
  -- Why there is no result from the corpus.
  failure TEXT,
  UNIQUE (owner, digest)
) STRICT;

CREATE INDEX watched_query_corpus ON watched_query (corpus);

CREATE INDEX watched_query_rerun ON watched_query (rerun) WHERE rerun IS NOT NULL;

CREATE TABLE verdict_change (
  rid INTEGER PRIMARY KEY,
  query INTEGER NOT NULL REFERENCES watched_query (rid) ON DELETE CASCADE,
  found INTEGER NOT NULL,
  -- The results before and after, with matches whose verdicts changed.
  comparison TEXT NOT NULL CHECK (json_valid(comparison))
) STRICT;

CREATE INDEX verdict_change_query ON verdict_change (query);
