-- The secret before the present one, by which deliveries are signed, too, until receivers have the new one. Milliseconds
-- since 1970-01-01 UTC.
ALTER TABLE webhook ADD COLUMN former_secret TEXT;
ALTER TABLE webhook ADD COLUMN former_until INTEGER;
