-- The living values of annotations as filters and orderings compare them: one row for each item of a list.
CREATE TABLE annotation_value (
  -- 1024 times the row of the annotation, plus the place in its list.
  rid INTEGER PRIMARY KEY,
  object_kind TEXT NOT NULL,
  object_rid INTEGER NOT NULL,
  annotation_type INTEGER NOT NULL,
  -- Null for amounts and references; JSON for other objects.
  text TEXT,
  fold TEXT,
  -- Also of amounts; of days, microseconds since 1970-01-01 UTC; 0 and 1 for false and true.
  number REAL,
  -- Id of the unit of an amount.
  unit TEXT,
  -- Id of the record that the value refers to.
  reference TEXT
) STRICT;

-- What annotation_value holds, without the folded text, computed from the annotations. Reads of the past use it, too.
CREATE VIEW annotation_item AS
SELECT
  a.rid * 1024 + i.key AS rid,
  a.object_kind AS object_kind,
  a.object_rid AS object_rid,
  a.annotation_type AS annotation_type,
  CASE
    WHEN i.type IN ('true', 'false') THEN i.type
    WHEN i.type <> 'object' THEN CAST(i.value AS TEXT)
    WHEN json_type(i.value, '$.unit.id') = 'text' OR json_type(i.value, '$.resource') = 'text' THEN NULL
    ELSE i.value
  END AS text,
  CASE i.type
    WHEN 'integer' THEN CAST(i.value AS REAL)
    WHEN 'real' THEN CAST(i.value AS REAL)
    WHEN 'true' THEN 1.0
    WHEN 'false' THEN 0.0
    WHEN 'text' THEN iif(i.value GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]', unixepoch(i.value) * 1000000.0, NULL)
    WHEN 'object' THEN iif(json_type(i.value, '$.unit.id') = 'text', CAST(i.value ->> '$.value' AS REAL), NULL)
  END AS number,
  CASE i.type WHEN 'object' THEN iif(json_type(i.value, '$.unit.id') = 'text', i.value ->> '$.unit.id', NULL) END AS unit,
  CASE i.type WHEN 'object' THEN iif(json_type(i.value, '$.resource') = 'text', i.value ->> '$.id', NULL) END AS reference,
  a.rid AS annotation
FROM annotation AS a, json_each(CASE json_type(a.value) WHEN 'array' THEN a.value ELSE json_array(json(a.value)) END) AS i
WHERE a.deleted = 0 AND i.key < 1024;

CREATE VIRTUAL TABLE annotation_value_fts USING fts5 (text, content = '', contentless_delete = 1, tokenize = 'trigram case_sensitive 1');

CREATE TRIGGER annotation_value_trigrams_insert AFTER INSERT ON annotation_value WHEN new.fold IS NOT NULL BEGIN
  INSERT INTO annotation_value_fts (rowid, text) VALUES (new.rid, new.fold);
END;

CREATE TRIGGER annotation_value_trigrams_delete AFTER DELETE ON annotation_value WHEN old.fold IS NOT NULL BEGIN
  DELETE FROM annotation_value_fts WHERE rowid = old.rid;
END;

INSERT INTO annotation_value (rid, object_kind, object_rid, annotation_type, text, fold, number, unit, reference)
SELECT rid, object_kind, object_rid, annotation_type, text, fold(text), number, unit, reference FROM annotation_item;

CREATE INDEX annotation_value_record ON annotation_value (object_kind, annotation_type, object_rid);
CREATE INDEX annotation_value_text ON annotation_value (object_kind, annotation_type, text, object_rid) WHERE text IS NOT NULL;
CREATE INDEX annotation_value_fold ON annotation_value (object_kind, annotation_type, fold, object_rid) WHERE fold IS NOT NULL;
CREATE INDEX annotation_value_number ON annotation_value (object_kind, annotation_type, number, object_rid, unit) WHERE number IS NOT NULL;
CREATE INDEX annotation_value_reference ON annotation_value (object_kind, annotation_type, reference, object_rid) WHERE reference IS NOT NULL;

CREATE TRIGGER annotation_value_insert AFTER INSERT ON annotation WHEN new.deleted = 0 BEGIN
  INSERT INTO annotation_value (rid, object_kind, object_rid, annotation_type, text, fold, number, unit, reference)
  SELECT rid, object_kind, object_rid, annotation_type, text, fold(text), number, unit, reference
  FROM annotation_item WHERE annotation = new.rid;
END;

CREATE TRIGGER annotation_value_update AFTER UPDATE OF value, deleted, annotation_type ON annotation
WHEN new.value <> old.value OR new.deleted <> old.deleted OR new.annotation_type <> old.annotation_type BEGIN
  DELETE FROM annotation_value WHERE rid BETWEEN old.rid * 1024 AND old.rid * 1024 + 1023;
  INSERT INTO annotation_value (rid, object_kind, object_rid, annotation_type, text, fold, number, unit, reference)
  SELECT rid, object_kind, object_rid, annotation_type, text, fold(text), number, unit, reference
  FROM annotation_item WHERE annotation = new.rid;
END;

CREATE TRIGGER annotation_value_delete AFTER DELETE ON annotation BEGIN
  DELETE FROM annotation_value WHERE rid BETWEEN old.rid * 1024 AND old.rid * 1024 + 1023;
END;
