-- Key with which a client submitted a job, until the job expires: a repeated submission returns the same job.
ALTER TABLE job ADD COLUMN idempotency_key TEXT CHECK (idempotency_key IS NULL OR state <> 'expired');

CREATE UNIQUE INDEX job_idempotency_key ON job (client, idempotency_key) WHERE idempotency_key IS NOT NULL;
