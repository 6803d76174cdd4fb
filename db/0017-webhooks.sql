-- Webhooks: who is told of what, how far each has come, and what was sent. Times are milliseconds since 1970-01-01 UTC.
CREATE TABLE webhook (
  rid INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  user_rid INTEGER NOT NULL REFERENCES user_account (rid) ON DELETE CASCADE,
  url TEXT NOT NULL,
  -- The key of the signatures: it has to be kept as it is, for both sides compute with it.
  secret TEXT NOT NULL,
  -- Names of events, a list.
  events TEXT NOT NULL CHECK (json_valid(events)),
  -- 1 where events of jobs are among them.
  jobs INTEGER NOT NULL CHECK (jobs IN (0, 1)),
  -- Segment of one list of records, and a query_expression on it.
  resource TEXT,
  expression TEXT,
  state TEXT NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'failing')),
  created INTEGER NOT NULL,
  -- The last rows of record_change and of job_end that were looked at.
  record_cursor INTEGER NOT NULL,
  job_cursor INTEGER NOT NULL
) STRICT;
CREATE INDEX webhook_user ON webhook (user_rid);

CREATE TABLE webhook_delivery (
  rid INTEGER PRIMARY KEY,
  -- Made of the webhook and of what happened, so that what is collected again after a power cut has it again.
  id TEXT NOT NULL UNIQUE,
  webhook INTEGER NOT NULL REFERENCES webhook (rid) ON DELETE CASCADE,
  event TEXT NOT NULL,
  -- Where it happened: a row of record_change or of job.
  source TEXT NOT NULL CHECK (source IN ('record', 'job', 'ping')),
  seq INTEGER NOT NULL,
  -- The body, the same for every attempt.
  payload TEXT NOT NULL CHECK (json_valid(payload)),
  state TEXT NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'delivered', 'failed', 'withheld')),
  created INTEGER NOT NULL,
  -- When the next attempt may be made.
  due INTEGER NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  attempted INTEGER,
  -- Of the last attempt: status of the answer and its first bytes, or why there was none.
  status INTEGER,
  answer TEXT,
  error TEXT
) STRICT;
CREATE INDEX webhook_delivery_pending ON webhook_delivery (webhook, rid) WHERE state = 'pending';
CREATE INDEX webhook_delivery_webhook ON webhook_delivery (webhook, rid);

-- The ends of jobs in the order of commits. Kept by triggers, in the transaction of the end, and only while a webhook
-- asks for them.
CREATE TABLE job_end (
  seq INTEGER PRIMARY KEY,
  job INTEGER NOT NULL,
  state TEXT NOT NULL
) STRICT;

CREATE TRIGGER job_ended AFTER UPDATE OF state ON job
WHEN new.state IN ('finished', 'failed', 'cancelled') AND old.state IN ('queued', 'running')
  AND EXISTS (SELECT 1 FROM webhook WHERE jobs = 1)
BEGIN
  INSERT INTO job_end (job, state) VALUES (new.rid, new.state);
END;

CREATE TRIGGER job_ended_at_once AFTER INSERT ON job
WHEN new.state = 'finished' AND EXISTS (SELECT 1 FROM webhook WHERE jobs = 1)
BEGIN
  INSERT INTO job_end (job, state) VALUES (new.rid, new.state);
END;
