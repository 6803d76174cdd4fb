-- When the owner of a session last showed who it is (milliseconds since 1970-01-01 UTC; 0: that is not known), and what
-- the provider that vouches for it calls it (sid of OpenID Connect).
ALTER TABLE session ADD COLUMN confirmed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE session ADD COLUMN provider_session TEXT;

-- Logout tokens that were taken, by the SHA-256 of their jti, until they would be refused for their age: none counts twice.
CREATE TABLE logout_token (
  sha256 TEXT PRIMARY KEY,
  until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
