-- A prediction as Zstandard of its JSON text, a ninth to a quarter of the bytes: they are written twice (log, then file), and
-- writing them was most of what the server's thread did for a job. Where it is there, prediction is the word null; results
-- from before stay as they are until they expire.
ALTER TABLE result ADD COLUMN packed BLOB;
