-- A structure model belongs to an owner's protein, so that every job of its sequence has it, also later ones.
CREATE TABLE protein_model (
  rid INTEGER PRIMARY KEY,
  -- Key of the owner, as of a job.
  owner TEXT NOT NULL,
  -- Residues of the protein, in upper case.
  sequence TEXT NOT NULL,
  -- The submitter, as of a job.
  client TEXT NOT NULL,
  name TEXT NOT NULL,
  -- The mmCIF or PDB file, compressed by Zstandard.
  content BLOB NOT NULL,
  added INTEGER NOT NULL,
  -- A StructureModel as JSON; null if a former version stored it.
  description TEXT CHECK (json_valid(description)),
  UNIQUE (owner, sequence)
) STRICT;

-- Of several models of one protein the last one.
INSERT OR IGNORE INTO protein_model (owner, sequence, client, name, content, added, description)
SELECT coalesce(owner, client), upper(json_extract(request, '$.query')), client, name, content, added, description
FROM job_model JOIN job ON rid = job WHERE request IS NOT NULL ORDER BY added DESC;

DROP TABLE job_model;

UPDATE anonymous_storage SET models = coalesce(
  (SELECT sum(octet_length(content)) FROM protein_model WHERE protein_model.client = anonymous_storage.client), 0);

CREATE TRIGGER protein_model_stored AFTER INSERT ON protein_model WHEN new.client NOT LIKE 'user %' AND new.client <> 'labd'
BEGIN
  INSERT INTO anonymous_storage (client, models) VALUES (new.client, octet_length(new.content))
  ON CONFLICT DO UPDATE SET models = models + excluded.models;
END;

CREATE TRIGGER protein_model_removed AFTER DELETE ON protein_model
BEGIN
  UPDATE anonymous_storage SET models = models - octet_length(old.content) WHERE client = old.client;
END;
