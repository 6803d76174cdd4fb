-- What the migrations add up to; a test holds it. Written by: SCHEMA=write bun test test/shell/sqlite.test.ts

CREATE TABLE migration (name TEXT PRIMARY KEY, checksum TEXT NOT NULL, applied INTEGER NOT NULL) STRICT;

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
  state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'finished', 'failed')),
  request TEXT NOT NULL CHECK (json_valid(request)),
  digest TEXT NOT NULL,
  submitted INTEGER NOT NULL,
  started INTEGER,
  ended INTEGER,
  -- Leases that ended with the death of the worker or of the whole process, the present one included.
  attempts INTEGER NOT NULL DEFAULT 0,
  -- While running: until when the worker may take.
  deadline INTEGER,
  result INTEGER REFERENCES result (rid),
  failure TEXT,
  CHECK ((state = 'running') = (deadline IS NOT NULL)),
  CHECK ((state = 'finished') = (result IS NOT NULL)),
  CHECK ((state = 'failed') = (failure IS NOT NULL)),
  CHECK ((state IN ('finished', 'failed')) = (ended IS NOT NULL))
) STRICT;

CREATE INDEX job_state ON job (state);

CREATE INDEX job_result ON job (result) WHERE result IS NOT NULL;

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
  last_login INTEGER,
  primary_group INTEGER NOT NULL REFERENCES user_group (rid)
) STRICT;

CREATE TABLE membership (
  user_rid INTEGER NOT NULL REFERENCES user_account (rid) ON DELETE CASCADE,
  group_rid INTEGER NOT NULL REFERENCES user_group (rid) ON DELETE CASCADE,
  PRIMARY KEY (user_rid, group_rid)
) STRICT, WITHOUT ROWID;

CREATE TABLE api_token (
  rid INTEGER PRIMARY KEY,
  user_rid INTEGER NOT NULL REFERENCES user_account (rid) ON DELETE CASCADE,
  name TEXT NOT NULL,
  -- The first characters, so that its owner can tell tokens apart; the token itself is not kept.
  prefix TEXT NOT NULL,
  sha256 TEXT NOT NULL UNIQUE,
  created INTEGER NOT NULL,
  expires INTEGER,
  revoked INTEGER
) STRICT;
