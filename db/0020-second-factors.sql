-- Second factors of accounts: codes by time (RFC 6238) of an app, and recovery codes. Times are milliseconds since
-- 1970-01-01 UTC.
CREATE TABLE second_factor (
  user_rid INTEGER PRIMARY KEY REFERENCES user_account (rid) ON DELETE CASCADE,
  -- What the app has, encrypted by a key that lies beside the database and is in no backup.
  secret BLOB NOT NULL,
  -- When a code has shown that the app has it; until then it counts for nothing.
  confirmed INTEGER,
  -- Of the last code that was good: no code of this step or before is good again.
  last_step INTEGER NOT NULL DEFAULT 0,
  -- Wrong codes in a row that came with the right password.
  failures INTEGER NOT NULL DEFAULT 0
) STRICT;

-- Those that were not used. The SHA-256 is kept.
CREATE TABLE recovery_code (
  sha256 TEXT PRIMARY KEY,
  user_rid INTEGER NOT NULL REFERENCES user_account (rid) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX recovery_code_user ON recovery_code (user_rid);

-- 1 where another service vouched for the person, by whatever factors it asks for: no password was asked for here.
ALTER TABLE session ADD COLUMN vouched INTEGER NOT NULL DEFAULT 0 CHECK (vouched IN (0, 1));
