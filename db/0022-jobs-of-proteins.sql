-- Jobs of an owner by the beginning of their query, for the results of a protein.
CREATE INDEX job_protein ON job (coalesce(owner, client), upper(substr(json_extract(request, '$.query'), 1, 32)))
WHERE request IS NOT NULL;
