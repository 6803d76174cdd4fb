-- Secrets of webhooks are encrypted by the key that lies beside the database and is in no backup, as those of second
-- factors are: base64. Those that begin with whsec_ are of before and not encrypted yet; the next start does it.
ALTER TABLE webhook RENAME COLUMN secret TO sealed_secret;
ALTER TABLE webhook RENAME COLUMN former_secret TO former_sealed_secret;
