-- What members of a group may do with each other's records; present groups keep what they have.
ALTER TABLE user_group ADD COLUMN members_may TEXT NOT NULL DEFAULT 'view'
  CHECK (members_may IN ('view', 'use', 'change'));
ALTER TABLE user_group ADD COLUMN members_order INTEGER NOT NULL DEFAULT 0 CHECK (members_order IN (0, 1));
-- On a server without accounts. New groups take it from here.
UPDATE user_group SET members_may = 'use' WHERE rid = 1 AND NOT EXISTS (SELECT 1 FROM user_account WHERE rid <> 1);
