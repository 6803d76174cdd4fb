-- Patterns by which new records of a list, or of one type in it, get their codes.
CREATE TABLE code_pattern (
  rid INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  pattern TEXT NOT NULL,
  pattern_fold TEXT NOT NULL,
  list TEXT NOT NULL,
  model_type TEXT NOT NULL DEFAULT '',
  created INTEGER NOT NULL,
  modified INTEGER NOT NULL,
  created_by INTEGER NOT NULL REFERENCES user_account (rid),
  modified_by INTEGER NOT NULL REFERENCES user_account (rid),
  owner INTEGER NOT NULL REFERENCES user_account (rid),
  owned_by INTEGER NOT NULL REFERENCES user_group (rid),
  public INTEGER NOT NULL DEFAULT 0 CHECK (public IN (0, 1)),
  deleted INTEGER NOT NULL DEFAULT 0 CHECK (deleted IN (0, 1)),
  deleted_date INTEGER,
  deleted_by INTEGER REFERENCES user_account (rid),
  version INTEGER NOT NULL DEFAULT 1
) STRICT;
CREATE UNIQUE INDEX code_pattern_list ON code_pattern (list, model_type) WHERE deleted = 0;

-- The last number that a pattern gave: numbers are not used again.
CREATE TABLE code_counter (pattern TEXT PRIMARY KEY, last INTEGER NOT NULL) STRICT, WITHOUT ROWID;
