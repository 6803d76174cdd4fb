-- People, groups and the tokens by which clients sign in. Times are milliseconds since 1970-01-01 UTC.
CREATE TABLE user_group (
  rid INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL UNIQUE,
  description TEXT NOT NULL DEFAULT ''
) STRICT;

CREATE TABLE user_account (
  rid INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  username TEXT NOT NULL UNIQUE,
  full_name TEXT NOT NULL DEFAULT '',
  email TEXT NOT NULL DEFAULT '',
  -- argon2id; null where the account has no password of its own.
  password_hash TEXT,
  is_active INTEGER NOT NULL DEFAULT 1 CHECK (is_active IN (0, 1)),
  is_staff INTEGER NOT NULL DEFAULT 0 CHECK (is_staff IN (0, 1)),
  is_superuser INTEGER NOT NULL DEFAULT 0 CHECK (is_superuser IN (0, 1)),
  date_joined INTEGER NOT NULL,
  -- In the unit of the inventory's tables.
  joined INTEGER GENERATED ALWAYS AS (date_joined * 1000) VIRTUAL,
  last_login INTEGER,
  primary_group INTEGER NOT NULL REFERENCES user_group (rid)
) STRICT;

CREATE TABLE membership (
  user_rid INTEGER NOT NULL REFERENCES user_account (rid) ON DELETE CASCADE,
  group_rid INTEGER NOT NULL REFERENCES user_group (rid) ON DELETE CASCADE,
  PRIMARY KEY (user_rid, group_rid)
) STRICT, WITHOUT ROWID;
CREATE INDEX membership_group ON membership (group_rid);

CREATE TABLE api_token (
  rid INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  user_rid INTEGER NOT NULL REFERENCES user_account (rid) ON DELETE CASCADE,
  name TEXT NOT NULL,
  -- The first characters, so that its owner can tell tokens apart; the token itself is not kept.
  prefix TEXT NOT NULL,
  sha256 TEXT NOT NULL UNIQUE,
  scope TEXT NOT NULL DEFAULT 'write' CHECK (scope IN ('read', 'write')),
  created INTEGER NOT NULL,
  expires INTEGER,
  -- To the minute.
  last_used INTEGER,
  revoked INTEGER
) STRICT;
CREATE INDEX api_token_user ON api_token (user_rid);

-- Browsers that are signed in: a cookie holds the value whose SHA-256 is kept here.
CREATE TABLE session (
  sha256 TEXT PRIMARY KEY,
  user_rid INTEGER NOT NULL REFERENCES user_account (rid) ON DELETE CASCADE,
  created INTEGER NOT NULL,
  last_used INTEGER NOT NULL,
  expires INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX session_user ON session (user_rid);
CREATE INDEX session_expires ON session (expires);

-- The group and the account under which the records that the program brings along are kept. Nobody signs in as it.
INSERT INTO user_group (rid, id, name, description)
VALUES (1, '00000000-0000-4000-8000-000000000001', 'SYSTEM_GROUP', 'Owns the records that every installation has');
INSERT INTO user_account (rid, id, username, full_name, is_active, date_joined, primary_group)
VALUES (1, '00000000-0000-4000-8000-000000000002', 'system', 'labd', 0, 0, 1);
INSERT INTO membership (user_rid, group_rid) VALUES (1, 1);
