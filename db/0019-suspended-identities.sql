-- When the directory was found to have its owner no longer, or no longer in a group that may sign in: the account is
-- disabled until it has. Null where nobody or somebody else has disabled it. Milliseconds since 1970-01-01 UTC.
ALTER TABLE external_identity ADD COLUMN suspended INTEGER;
