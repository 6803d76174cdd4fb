-- A prediction as it is sent, in parts that are compressed one by one, so that a long one is never in memory as a whole.
-- New rows of result have neither text nor packed bytes.
CREATE TABLE result_part (
  result INTEGER NOT NULL REFERENCES result (rid) ON DELETE CASCADE,
  form TEXT NOT NULL CHECK (form IN ('json', 'xml')),
  -- From 0.
  part INTEGER NOT NULL,
  -- Compressed by Zstandard.
  bytes BLOB NOT NULL,
  PRIMARY KEY (result, form, part)
) STRICT;
