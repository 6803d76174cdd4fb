-- A structure model that somebody supplied for the query of a job. It is deleted when the job expires.
CREATE TABLE job_model (
  job INTEGER PRIMARY KEY REFERENCES job (rid) ON DELETE CASCADE,
  name TEXT NOT NULL,
  -- The mmCIF or PDB file, compressed by Zstandard.
  content BLOB NOT NULL,
  added INTEGER NOT NULL
) STRICT;
