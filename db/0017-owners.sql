-- Who may change a job that nobody signed in started: SHA-256 of a secret. Null for the account of the client.
ALTER TABLE job ADD COLUMN owner TEXT;

-- The structure model as the API shows it, so that the file is parsed once; null of former versions until it is shown.
ALTER TABLE job_model ADD COLUMN description TEXT CHECK (json_valid(description));

-- A search of one caller; equal ones share the computation, which is in files.
CREATE TABLE proteome_search (
  id TEXT PRIMARY KEY,
  -- Identifies the computation.
  computation TEXT NOT NULL,
  client TEXT NOT NULL,
  owner TEXT,
  cancelled INTEGER NOT NULL DEFAULT 0 CHECK (cancelled IN (0, 1))
) STRICT;

CREATE INDEX proteome_search_computation ON proteome_search (computation);

CREATE INDEX proteome_search_client ON proteome_search (client);

-- The anonymous client whose job computed the result, and the bytes that it takes; null for accounts.
ALTER TABLE result ADD COLUMN client TEXT;

ALTER TABLE result ADD COLUMN bytes INTEGER;

-- Bytes that are stored for anonymous clients: requests and results of jobs, and structure models.
CREATE TABLE anonymous_storage (
  client TEXT PRIMARY KEY,
  jobs INTEGER NOT NULL DEFAULT 0,
  models INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

INSERT INTO anonymous_storage (client, jobs, models)
  SELECT client, sum(octet_length(request)), coalesce(sum(octet_length(content)), 0) FROM job LEFT JOIN job_model ON job = rid
  WHERE request IS NOT NULL AND client NOT LIKE 'user %' AND client <> 'labd' GROUP BY client;

CREATE TRIGGER job_stored AFTER INSERT ON job WHEN new.client NOT LIKE 'user %' AND new.client <> 'labd'
BEGIN
  INSERT INTO anonymous_storage (client, jobs) VALUES (new.client, octet_length(new.request))
  ON CONFLICT DO UPDATE SET jobs = jobs + excluded.jobs;
END;

CREATE TRIGGER job_removed AFTER UPDATE OF request ON job WHEN new.request IS NULL AND old.request IS NOT NULL AND old.client NOT LIKE 'user %' AND old.client <> 'labd'
BEGIN
  UPDATE anonymous_storage SET jobs = jobs - octet_length(old.request) WHERE client = old.client;
END;

CREATE TRIGGER result_stored AFTER UPDATE OF bytes ON result
BEGIN
  UPDATE anonymous_storage SET jobs = jobs + new.bytes WHERE client = new.client;
END;

CREATE TRIGGER result_removed AFTER DELETE ON result WHEN old.bytes IS NOT NULL
BEGIN
  UPDATE anonymous_storage SET jobs = jobs - old.bytes WHERE client = old.client;
END;

CREATE TRIGGER job_model_stored AFTER INSERT ON job_model
BEGIN
  UPDATE anonymous_storage SET models = models + octet_length(new.content)
  WHERE client = (SELECT client FROM job WHERE rid = new.job);
END;

CREATE TRIGGER job_model_replaced AFTER UPDATE OF content ON job_model
BEGIN
  UPDATE anonymous_storage SET models = models + octet_length(new.content) - octet_length(old.content)
  WHERE client = (SELECT client FROM job WHERE rid = new.job);
END;

CREATE TRIGGER job_model_removed AFTER DELETE ON job_model
BEGIN
  UPDATE anonymous_storage SET models = models - octet_length(old.content)
  WHERE client = (SELECT client FROM job WHERE rid = old.job);
END;
