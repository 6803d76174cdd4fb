-- Files of records that were accepted to be imported and are not yet, and what became of them. A file is gone once it
-- is through. Times are milliseconds since 1970-01-01 UTC.
CREATE TABLE import_file (
  rid INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  user_rid INTEGER NOT NULL REFERENCES user_account (rid),
  -- What was asked for, and on whose behalf, as JSON.
  request TEXT NOT NULL,
  created INTEGER NOT NULL,
  -- How often it was begun; what ends the process again and again is given up.
  attempts INTEGER NOT NULL DEFAULT 0,
  file BLOB,
  -- What it came to, as JSON; null as long as it has not ended.
  outcome TEXT,
  CHECK ((file IS NULL) = (outcome IS NOT NULL))
) STRICT;
CREATE INDEX import_file_waiting ON import_file (rid) WHERE outcome IS NULL;
CREATE INDEX import_file_created ON import_file (created);
CREATE INDEX import_file_user ON import_file (user_rid, created);
