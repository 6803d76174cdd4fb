-- Reminders of stock that expires or runs out: the records that are due, and the people who get them by e-mail.
CREATE TABLE reminder (
  -- Never reused, so that a record that is due again is a new event.
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  resource TEXT NOT NULL,
  record INTEGER NOT NULL,
  reason TEXT NOT NULL CHECK (reason IN ('expiring', 'below_minimum')),
  -- Milliseconds.
  since INTEGER NOT NULL,
  UNIQUE (resource, reason, record)
) STRICT;

-- A row for each person who gets reminders by e-mail.
CREATE TABLE reminder_digest (
  user_rid INTEGER PRIMARY KEY REFERENCES user_account (rid) ON DELETE CASCADE,
  -- The last reminder that an e-mail contained.
  seen INTEGER NOT NULL DEFAULT 0,
  -- Earliest time of the next e-mail, in milliseconds. Moved on before one is sent, so that no crash repeats it.
  due INTEGER NOT NULL,
  sent INTEGER,
  -- The failure of the last e-mail.
  error TEXT
) STRICT;

CREATE INDEX consumable_below_minimum ON consumable (below_minimum, rid);
CREATE INDEX specimen_below_minimum ON specimen (below_minimum, rid);

ALTER TABLE webhook ADD COLUMN reminder_cursor INTEGER NOT NULL DEFAULT 0;

CREATE TABLE former_webhook_delivery AS SELECT * FROM webhook_delivery;

DROP TABLE webhook_delivery;

CREATE TABLE webhook_delivery (
  rid INTEGER PRIMARY KEY,
  -- Derived from the webhook and the event, so that an event collected again after a power cut gets the same id.
  id TEXT NOT NULL UNIQUE,
  webhook INTEGER NOT NULL REFERENCES webhook (rid) ON DELETE CASCADE,
  event TEXT NOT NULL,
  -- Source of the event: a row of record_change, of job_end or of reminder.
  source TEXT NOT NULL CHECK (source IN ('record', 'job', 'reminder', 'ping')),
  seq INTEGER NOT NULL,
  -- Request body, identical for every attempt.
  payload TEXT NOT NULL CHECK (json_valid(payload)),
  state TEXT NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'delivered', 'failed', 'withheld')),
  created INTEGER NOT NULL,
  -- Earliest time of the next attempt.
  due INTEGER NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  attempted INTEGER,
  -- Last attempt: response status and first bytes, or the error.
  status INTEGER,
  answer TEXT,
  error TEXT
) STRICT;

INSERT INTO webhook_delivery SELECT * FROM former_webhook_delivery;

DROP TABLE former_webhook_delivery;

CREATE INDEX webhook_delivery_pending ON webhook_delivery (webhook, rid) WHERE state = 'pending';

CREATE INDEX webhook_delivery_webhook ON webhook_delivery (webhook, rid);
