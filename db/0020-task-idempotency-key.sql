-- Key with which a client started a task, and the hash of the request: repeating it returns the task.
ALTER TABLE task ADD COLUMN idempotency_key TEXT;
ALTER TABLE task ADD COLUMN request_digest TEXT CHECK ((request_digest IS NULL) = (idempotency_key IS NULL));

CREATE UNIQUE INDEX task_idempotency_key ON task (client, kind, idempotency_key) WHERE idempotency_key IS NOT NULL;
