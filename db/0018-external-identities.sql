-- Who signs in by a directory (ldap) or a provider (oidc), and as which account. Times are milliseconds since
-- 1970-01-01 UTC.
CREATE TABLE external_identity (
  rid INTEGER PRIMARY KEY,
  provider TEXT NOT NULL CHECK (provider IN ('ldap', 'oidc')),
  -- Address of the provider, which a subject is unique at; empty for the directory.
  issuer TEXT NOT NULL,
  -- What stays the same whatever somebody's name becomes, and is never another's.
  subject TEXT NOT NULL CHECK (subject <> ''),
  -- What people know it by, such as a DN.
  label TEXT NOT NULL,
  user_rid INTEGER NOT NULL REFERENCES user_account (rid) ON DELETE CASCADE,
  created INTEGER NOT NULL,
  last_used INTEGER,
  UNIQUE (provider, issuer, subject),
  UNIQUE (user_rid, provider)
) STRICT;
