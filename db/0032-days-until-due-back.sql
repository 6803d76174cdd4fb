-- Days after which stock of a group that was taken out is due back. New groups take it from the first one.
ALTER TABLE user_group ADD COLUMN due_back_days INTEGER NOT NULL DEFAULT 1 CHECK (due_back_days BETWEEN 1 AND 365);
