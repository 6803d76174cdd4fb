-- Jobs may be taken by workers on other machines. Null: the job is this process's own. Empty: it is offered to all
-- workers. Else the name of the worker that has it, or had it last.
ALTER TABLE job ADD COLUMN worker TEXT;

DROP INDEX job_turn;
CREATE INDEX job_turn ON job (client) WHERE state = 'queued' AND twin = 0 AND worker IS NULL;
CREATE INDEX job_offered ON job (client) WHERE state = 'queued' AND worker = '';
-- Questions that are being answered, or will be without another turn.
CREATE INDEX job_taken ON job (digest) WHERE state = 'running' OR (state = 'queued' AND worker = '');
