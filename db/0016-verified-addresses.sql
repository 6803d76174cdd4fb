-- E-mails go to verified addresses only. Those of existing accounts are unverified until their owner opens a link, or the
-- directory or provider of the account names them at a sign-in or check.
ALTER TABLE user_account ADD COLUMN verified_email TEXT NOT NULL DEFAULT '';

-- The address that a link verifies; null for links that set a password.
ALTER TABLE one_time_link ADD COLUMN email TEXT;

-- The unverified address to which a link was sent instead of a reminder.
ALTER TABLE reminder_digest ADD COLUMN asked TEXT NOT NULL DEFAULT '';
