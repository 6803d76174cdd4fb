-- What was done to accounts, rights and the service itself, each entry bound to the one before by its hash. Time is
-- milliseconds since 1970-01-01 UTC. Texts and no references: an entry outlives what it tells of.
CREATE TABLE audit (
  seq INTEGER PRIMARY KEY,
  time INTEGER NOT NULL,
  actor TEXT,
  via TEXT NOT NULL,
  -- Id of the row of api_token.
  token TEXT,
  address TEXT,
  request TEXT,
  action TEXT NOT NULL,
  subject_kind TEXT,
  subject_id TEXT,
  outcome TEXT NOT NULL CHECK (outcome IN ('done', 'refused', 'throttled')),
  detail TEXT NOT NULL CHECK (json_valid(detail)),
  hash TEXT NOT NULL CHECK (length(hash) = 64)
) STRICT;

CREATE TRIGGER audit_no_update BEFORE UPDATE ON audit BEGIN
  SELECT RAISE(ABORT, 'the audit log only grows');
END;
CREATE TRIGGER audit_no_delete BEFORE DELETE ON audit BEGIN
  SELECT RAISE(ABORT, 'the audit log only grows');
END;
-- Else INSERT OR REPLACE could take the place of an entry: it fires no trigger for what it deletes.
CREATE TRIGGER audit_only_after_last BEFORE INSERT ON audit
WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM audit) BEGIN
  SELECT RAISE(ABORT, 'the audit log only grows');
END;
