-- Reminders follow what each reader may view, and are of products, over all their tubes, or of records without one.
ALTER TABLE reminder RENAME TO former_reminder;

CREATE TABLE reminder (
  -- Never reused, so that stock that is due again is a new event.
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  reader INTEGER NOT NULL REFERENCES user_account (rid) ON DELETE CASCADE,
  resource TEXT NOT NULL,
  record INTEGER NOT NULL,
  reason TEXT NOT NULL CHECK (reason IN ('below_minimum', 'expired', 'expiring')),
  -- Milliseconds.
  since INTEGER NOT NULL,
  UNIQUE (reader, resource, reason, record)
) STRICT;

-- What readers have been told is not new. The next scan forgets what is not theirs.
INSERT INTO reminder (seq, reader, resource, record, reason, since)
WITH seen (reader, seq) AS (
  SELECT reader, min(seq) FROM (
    SELECT user_rid AS reader, seen AS seq FROM reminder_digest
    UNION ALL
    SELECT user_rid, reminder_cursor FROM webhook WHERE events LIKE '%"reminder"%'
  ) GROUP BY reader
),
told (reader, resource, record, reason, since) AS (
  SELECT seen.reader, iif(c.product IS NULL, r.resource, 'product'), coalesce(c.product, r.record), r.reason, min(r.since)
  FROM seen JOIN former_reminder AS r ON r.seq <= seen.seq
  LEFT JOIN consumable AS c ON r.resource = 'consumable' AND c.rid = r.record
  GROUP BY 1, 2, 3, 4
)
-- Before all cursors.
SELECT -row_number() OVER (), * FROM told;

UPDATE sqlite_sequence SET seq = coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'former_reminder'), 0) WHERE name = 'reminder';
INSERT INTO sqlite_sequence (name, seq) SELECT 'reminder', seq FROM sqlite_sequence AS s WHERE name = 'former_reminder'
AND NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'reminder');

DROP TABLE former_reminder;
