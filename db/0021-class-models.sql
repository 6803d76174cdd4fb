-- Models of motif classes, learned from imported instances. Those no longer in use stay for jobs that were accepted with them.
CREATE TABLE class_model (
  rid INTEGER PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,
  corpus TEXT NOT NULL,
  method TEXT NOT NULL,
  name TEXT NOT NULL,
  expression TEXT NOT NULL,
  model TEXT NOT NULL,
  used INTEGER NOT NULL CHECK (used IN (0, 1))
) STRICT;
CREATE INDEX class_model_used ON class_model (corpus, method) WHERE used = 1;

-- The last learning: a hash of its inputs, and a report for each class with instances as JSON.
CREATE TABLE class_learning (
  rid INTEGER PRIMARY KEY CHECK (rid = 1),
  inputs TEXT NOT NULL,
  learned INTEGER NOT NULL,
  reports TEXT NOT NULL
) STRICT;
