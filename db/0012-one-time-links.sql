-- Links that are good for one use: to make the first administrator (user_rid is null), and to set a password. The
-- SHA-256 of the key in the link is kept. Times are milliseconds since 1970-01-01 UTC.
CREATE TABLE one_time_link (
  sha256 TEXT PRIMARY KEY,
  user_rid INTEGER REFERENCES user_account (rid) ON DELETE CASCADE,
  created INTEGER NOT NULL,
  expires INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX one_time_link_user ON one_time_link (user_rid);

-- What the browser called itself, so that people can tell their sessions apart.
ALTER TABLE session ADD COLUMN agent TEXT NOT NULL DEFAULT '';
