-- The inventory. Times are microseconds since 1970-01-01 UTC, for the interface shows six decimals and records may
-- come from systems that have them. Columns *_fold hold the text as it is compared where case does not matter; the
-- program writes them, for SQLite's own lower() knows ASCII only. The columns from `created` to `version` are the
-- same in every table: who made, changed and deleted a record, who owns it and who may see it.
CREATE TABLE address (
  rid INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  name_fold TEXT NOT NULL,
  organisation TEXT NOT NULL DEFAULT '',
  street TEXT NOT NULL DEFAULT '',
  postcode TEXT NOT NULL DEFAULT '',
  city TEXT NOT NULL DEFAULT '',
  region TEXT NOT NULL DEFAULT '',
  country TEXT NOT NULL DEFAULT '',
  created INTEGER NOT NULL,
  modified INTEGER NOT NULL,
  created_by INTEGER NOT NULL REFERENCES user_account (rid),
  modified_by INTEGER NOT NULL REFERENCES user_account (rid),
  owner INTEGER NOT NULL REFERENCES user_account (rid),
  owned_by INTEGER NOT NULL REFERENCES user_group (rid),
  public INTEGER NOT NULL DEFAULT 0 CHECK (public IN (0, 1)),
  deleted INTEGER NOT NULL DEFAULT 0 CHECK (deleted IN (0, 1)),
  deleted_date INTEGER,
  deleted_by INTEGER REFERENCES user_account (rid),
  version INTEGER NOT NULL DEFAULT 1
) STRICT;
CREATE INDEX address_name ON address (deleted, name, rid, public, owner, owned_by);
CREATE INDEX address_name_fold ON address (name_fold);

CREATE TABLE place (
  rid INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  building TEXT NOT NULL DEFAULT '',
  room TEXT NOT NULL,
  name TEXT NOT NULL GENERATED ALWAYS AS (trim(building || ' ' || room)) STORED,
  building_fold TEXT NOT NULL,
  room_fold TEXT NOT NULL,
  address INTEGER NOT NULL REFERENCES address (rid),
  description TEXT NOT NULL DEFAULT '',
  created INTEGER NOT NULL,
  modified INTEGER NOT NULL,
  created_by INTEGER NOT NULL REFERENCES user_account (rid),
  modified_by INTEGER NOT NULL REFERENCES user_account (rid),
  owner INTEGER NOT NULL REFERENCES user_account (rid),
  owned_by INTEGER NOT NULL REFERENCES user_group (rid),
  public INTEGER NOT NULL DEFAULT 0 CHECK (public IN (0, 1)),
  deleted INTEGER NOT NULL DEFAULT 0 CHECK (deleted IN (0, 1)),
  deleted_date INTEGER,
  deleted_by INTEGER REFERENCES user_account (rid),
  version INTEGER NOT NULL DEFAULT 1
) STRICT;
CREATE INDEX place_building ON place (deleted, building, room, id, public, owner, owned_by);
CREATE INDEX place_name ON place (name);
CREATE INDEX place_address ON place (address);

CREATE TABLE equipment (
  rid INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  name_fold TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  code TEXT NOT NULL DEFAULT '',
  model_type TEXT NOT NULL DEFAULT '',
  barcode TEXT NOT NULL DEFAULT '',
  place INTEGER REFERENCES place (rid),
  created INTEGER NOT NULL,
  modified INTEGER NOT NULL,
  created_by INTEGER NOT NULL REFERENCES user_account (rid),
  modified_by INTEGER NOT NULL REFERENCES user_account (rid),
  owner INTEGER NOT NULL REFERENCES user_account (rid),
  owned_by INTEGER NOT NULL REFERENCES user_group (rid),
  public INTEGER NOT NULL DEFAULT 0 CHECK (public IN (0, 1)),
  deleted INTEGER NOT NULL DEFAULT 0 CHECK (deleted IN (0, 1)),
  deleted_date INTEGER,
  deleted_by INTEGER REFERENCES user_account (rid),
  version INTEGER NOT NULL DEFAULT 1
) STRICT;
CREATE INDEX equipment_name ON equipment (deleted, name, id, public, owner, owned_by);
CREATE INDEX equipment_name_fold ON equipment (name_fold);
CREATE INDEX equipment_place ON equipment (place);

CREATE TABLE location (
  rid INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  label TEXT NOT NULL,
  label_fold TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  barcode TEXT NOT NULL DEFAULT '',
  equipment INTEGER REFERENCES equipment (rid),
  place INTEGER REFERENCES place (rid),
  parent INTEGER REFERENCES location (rid),
  created INTEGER NOT NULL,
  modified INTEGER NOT NULL,
  created_by INTEGER NOT NULL REFERENCES user_account (rid),
  modified_by INTEGER NOT NULL REFERENCES user_account (rid),
  owner INTEGER NOT NULL REFERENCES user_account (rid),
  owned_by INTEGER NOT NULL REFERENCES user_group (rid),
  public INTEGER NOT NULL DEFAULT 0 CHECK (public IN (0, 1)),
  deleted INTEGER NOT NULL DEFAULT 0 CHECK (deleted IN (0, 1)),
  deleted_date INTEGER,
  deleted_by INTEGER REFERENCES user_account (rid),
  version INTEGER NOT NULL DEFAULT 1
) STRICT;
CREATE INDEX location_label ON location (deleted, label, id, public, owner, owned_by);
CREATE INDEX location_visible ON location (deleted, public, owner, owned_by);
CREATE INDEX location_label_fold ON location (label_fold);
CREATE INDEX location_equipment ON location (equipment);
CREATE INDEX location_place ON location (place);
CREATE INDEX location_parent ON location (parent);

CREATE TABLE field_meta (
  rid INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL UNIQUE,
  name_fold TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  created INTEGER NOT NULL,
  modified INTEGER NOT NULL,
  created_by INTEGER NOT NULL REFERENCES user_account (rid),
  modified_by INTEGER NOT NULL REFERENCES user_account (rid),
  owner INTEGER NOT NULL REFERENCES user_account (rid),
  owned_by INTEGER NOT NULL REFERENCES user_group (rid),
  public INTEGER NOT NULL DEFAULT 0 CHECK (public IN (0, 1)),
  deleted INTEGER NOT NULL DEFAULT 0 CHECK (deleted IN (0, 1)),
  deleted_date INTEGER,
  deleted_by INTEGER REFERENCES user_account (rid),
  version INTEGER NOT NULL DEFAULT 1
) STRICT;
CREATE INDEX field_meta_name ON field_meta (deleted, name, id, public, owner, owned_by);

CREATE TABLE cv_category (
  rid INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL UNIQUE,
  name_fold TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  -- The terms of a category are words to choose from, or units of numbers.
  kind TEXT NOT NULL CHECK (kind IN ('term', 'unit')),
  created INTEGER NOT NULL,
  modified INTEGER NOT NULL,
  created_by INTEGER NOT NULL REFERENCES user_account (rid),
  modified_by INTEGER NOT NULL REFERENCES user_account (rid),
  owner INTEGER NOT NULL REFERENCES user_account (rid),
  owned_by INTEGER NOT NULL REFERENCES user_group (rid),
  public INTEGER NOT NULL DEFAULT 0 CHECK (public IN (0, 1)),
  deleted INTEGER NOT NULL DEFAULT 0 CHECK (deleted IN (0, 1)),
  deleted_date INTEGER,
  deleted_by INTEGER REFERENCES user_account (rid),
  version INTEGER NOT NULL DEFAULT 1
) STRICT;
CREATE INDEX cv_category_name ON cv_category (deleted, name, id, public, owner, owned_by);

CREATE TABLE vocabulary_term (
  rid INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  name_fold TEXT NOT NULL,
  category INTEGER NOT NULL REFERENCES cv_category (rid),
  label TEXT NOT NULL DEFAULT '',
  label_fold TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  -- Accession in an ontology.
  dbxref_id TEXT NOT NULL DEFAULT '',
  position INTEGER NOT NULL DEFAULT 0,
  created INTEGER NOT NULL,
  modified INTEGER NOT NULL,
  created_by INTEGER NOT NULL REFERENCES user_account (rid),
  modified_by INTEGER NOT NULL REFERENCES user_account (rid),
  owner INTEGER NOT NULL REFERENCES user_account (rid),
  owned_by INTEGER NOT NULL REFERENCES user_group (rid),
  public INTEGER NOT NULL DEFAULT 0 CHECK (public IN (0, 1)),
  deleted INTEGER NOT NULL DEFAULT 0 CHECK (deleted IN (0, 1)),
  deleted_date INTEGER,
  deleted_by INTEGER REFERENCES user_account (rid),
  version INTEGER NOT NULL DEFAULT 1
) STRICT;
CREATE INDEX vocabulary_term_name ON vocabulary_term (deleted, name, id, public, owner, owned_by);
CREATE INDEX vocabulary_term_category ON vocabulary_term (category, position);

-- Annotation types and custom property types: one table, because they are one thing with two uses.
CREATE TABLE field_type (
  rid INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL CHECK (kind IN ('annotation', 'customproperty')),
  name TEXT NOT NULL,
  name_fold TEXT NOT NULL,
  choice_label TEXT NOT NULL DEFAULT '',
  description TEXT NOT NULL DEFAULT '',
  description_fold TEXT NOT NULL,
  type TEXT NOT NULL,
  label TEXT NOT NULL DEFAULT '',
  help_text TEXT NOT NULL DEFAULT '',
  default_value TEXT NOT NULL DEFAULT '',
  has_default INTEGER NOT NULL DEFAULT 0 CHECK (has_default IN (0, 1)),
  multiple INTEGER NOT NULL DEFAULT 0 CHECK (multiple IN (0, 1)),
  is_protocol_parameter INTEGER NOT NULL DEFAULT 0 CHECK (is_protocol_parameter IN (0, 1)),
  autocomplete TEXT NOT NULL DEFAULT '',
  searchable INTEGER NOT NULL DEFAULT 1 CHECK (searchable IN (0, 1)),
  readonly INTEGER NOT NULL DEFAULT 0 CHECK (readonly IN (0, 1)),
  sortable INTEGER NOT NULL DEFAULT 1 CHECK (sortable IN (0, 1)),
  cv_category INTEGER REFERENCES cv_category (rid),
  unit_category INTEGER REFERENCES cv_category (rid),
  mandatory INTEGER NOT NULL DEFAULT 0 CHECK (mandatory IN (0, 1)),
  validations TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(validations)),
  visibility TEXT NOT NULL DEFAULT 'ALWAYS',
  edit_visibility TEXT NOT NULL DEFAULT 'ALWAYS',
  list_visibility TEXT NOT NULL DEFAULT 'ALWAYS',
  value_choices TEXT CHECK (value_choices IS NULL OR json_valid(value_choices)),
  choices_value TEXT NOT NULL DEFAULT 'id',
  choices_label TEXT NOT NULL DEFAULT 'name',
  -- Where type is OBJECT: the list whose records are the choices, such as equipment.
  choices_target TEXT NOT NULL DEFAULT '',
  preferred_view_widget TEXT NOT NULL,
  preferred_edit_widget TEXT NOT NULL,
  preferred_list_widget TEXT NOT NULL,
  field_meta INTEGER NOT NULL REFERENCES field_meta (rid),
  model_name TEXT NOT NULL DEFAULT '',
  model_type TEXT NOT NULL DEFAULT '',
  created INTEGER NOT NULL,
  modified INTEGER NOT NULL,
  created_by INTEGER NOT NULL REFERENCES user_account (rid),
  modified_by INTEGER NOT NULL REFERENCES user_account (rid),
  owner INTEGER NOT NULL REFERENCES user_account (rid),
  owned_by INTEGER NOT NULL REFERENCES user_group (rid),
  public INTEGER NOT NULL DEFAULT 0 CHECK (public IN (0, 1)),
  deleted INTEGER NOT NULL DEFAULT 0 CHECK (deleted IN (0, 1)),
  deleted_date INTEGER,
  deleted_by INTEGER REFERENCES user_account (rid),
  version INTEGER NOT NULL DEFAULT 1
) STRICT;
CREATE INDEX field_type_name ON field_type (kind, deleted, name, id, public, owner, owned_by);
CREATE INDEX field_type_visible ON field_type (kind, deleted, public, owner, owned_by);
CREATE INDEX field_type_name_fold ON field_type (kind, name_fold);
CREATE INDEX field_type_type ON field_type (kind, type, name);
CREATE INDEX field_type_cv_category ON field_type (cv_category);
CREATE INDEX field_type_field_meta ON field_type (field_meta);

-- Texts by their trigrams, for what looks inside them: the folded text of some columns under the row number. The
-- triggers keep them; fold() is a function of the program, so that nothing else writes these tables by mistake.
CREATE VIRTUAL TABLE place_fts USING fts5 (building, room, name, description, content = '', contentless_delete = 1, tokenize = 'trigram case_sensitive 1');
CREATE TRIGGER place_trigrams_insert AFTER INSERT ON place BEGIN
  INSERT INTO place_fts (rowid, building, room, name, description) VALUES (new.rid, new.building_fold, new.room_fold, fold(new.name), fold(new.description));
END;
CREATE TRIGGER place_trigrams_update AFTER UPDATE OF building, room, description ON place
WHEN new.building <> old.building OR new.room <> old.room OR new.description <> old.description BEGIN
  UPDATE place_fts SET building = new.building_fold, room = new.room_fold, name = fold(new.name), description = fold(new.description) WHERE rowid = new.rid;
END;
CREATE TRIGGER place_trigrams_delete AFTER DELETE ON place BEGIN
  DELETE FROM place_fts WHERE rowid = old.rid;
END;
CREATE VIRTUAL TABLE equipment_fts USING fts5 (name, description, content = '', contentless_delete = 1, tokenize = 'trigram case_sensitive 1');
CREATE TRIGGER equipment_trigrams_insert AFTER INSERT ON equipment BEGIN
  INSERT INTO equipment_fts (rowid, name, description) VALUES (new.rid, new.name_fold, fold(new.description));
END;
CREATE TRIGGER equipment_trigrams_update AFTER UPDATE OF name, description ON equipment
WHEN new.name <> old.name OR new.description <> old.description BEGIN
  UPDATE equipment_fts SET name = new.name_fold, description = fold(new.description) WHERE rowid = new.rid;
END;
CREATE TRIGGER equipment_trigrams_delete AFTER DELETE ON equipment BEGIN
  DELETE FROM equipment_fts WHERE rowid = old.rid;
END;
CREATE VIRTUAL TABLE location_fts USING fts5 (label, description, content = '', contentless_delete = 1, tokenize = 'trigram case_sensitive 1');
CREATE TRIGGER location_trigrams_insert AFTER INSERT ON location BEGIN
  INSERT INTO location_fts (rowid, label, description) VALUES (new.rid, new.label_fold, fold(new.description));
END;
CREATE TRIGGER location_trigrams_update AFTER UPDATE OF label, description ON location
WHEN new.label <> old.label OR new.description <> old.description BEGIN
  UPDATE location_fts SET label = new.label_fold, description = fold(new.description) WHERE rowid = new.rid;
END;
CREATE TRIGGER location_trigrams_delete AFTER DELETE ON location BEGIN
  DELETE FROM location_fts WHERE rowid = old.rid;
END;
CREATE VIRTUAL TABLE vocabulary_term_fts USING fts5 (name, label, description, content = '', contentless_delete = 1, tokenize = 'trigram case_sensitive 1');
CREATE TRIGGER vocabulary_term_trigrams_insert AFTER INSERT ON vocabulary_term BEGIN
  INSERT INTO vocabulary_term_fts (rowid, name, label, description) VALUES (new.rid, new.name_fold, new.label_fold, fold(new.description));
END;
CREATE TRIGGER vocabulary_term_trigrams_update AFTER UPDATE OF name, label, description ON vocabulary_term
WHEN new.name <> old.name OR new.label <> old.label OR new.description <> old.description BEGIN
  UPDATE vocabulary_term_fts SET name = new.name_fold, label = new.label_fold, description = fold(new.description) WHERE rowid = new.rid;
END;
CREATE TRIGGER vocabulary_term_trigrams_delete AFTER DELETE ON vocabulary_term BEGIN
  DELETE FROM vocabulary_term_fts WHERE rowid = old.rid;
END;
CREATE VIRTUAL TABLE field_type_fts USING fts5 (name, description, content = '', contentless_delete = 1, tokenize = 'trigram case_sensitive 1');
CREATE TRIGGER field_type_trigrams_insert AFTER INSERT ON field_type BEGIN
  INSERT INTO field_type_fts (rowid, name, description) VALUES (new.rid, new.name_fold, new.description_fold);
END;
CREATE TRIGGER field_type_trigrams_update AFTER UPDATE OF name, description ON field_type
WHEN new.name <> old.name OR new.description <> old.description BEGIN
  UPDATE field_type_fts SET name = new.name_fold, description = new.description_fold WHERE rowid = new.rid;
END;
CREATE TRIGGER field_type_trigrams_delete AFTER DELETE ON field_type BEGIN
  DELETE FROM field_type_fts WHERE rowid = old.rid;
END;

-- Rights that one user or one group has on one record besides those of its owner.
CREATE TABLE object_permission (
  rid INTEGER PRIMARY KEY,
  object_kind TEXT NOT NULL,
  object_rid INTEGER NOT NULL,
  user_rid INTEGER REFERENCES user_account (rid) ON DELETE CASCADE,
  group_rid INTEGER REFERENCES user_group (rid) ON DELETE CASCADE,
  can_view INTEGER NOT NULL DEFAULT 1 CHECK (can_view IN (0, 1)),
  can_change INTEGER NOT NULL DEFAULT 0 CHECK (can_change IN (0, 1)),
  can_delete INTEGER NOT NULL DEFAULT 0 CHECK (can_delete IN (0, 1)),
  CHECK ((user_rid IS NULL) <> (group_rid IS NULL))
) STRICT;
CREATE UNIQUE INDEX object_permission_user ON object_permission (object_kind, object_rid, user_rid) WHERE user_rid IS NOT NULL;
CREATE UNIQUE INDEX object_permission_group ON object_permission (object_kind, object_rid, group_rid) WHERE group_rid IS NOT NULL;
CREATE INDEX object_permission_object ON object_permission (object_kind, object_rid);

-- What was done to records. Every transaction that writes records is one batch, numbered in the order of commits.
CREATE TABLE record_batch (
  rid INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  at INTEGER NOT NULL,
  kind TEXT NOT NULL,
  user_rid INTEGER NOT NULL REFERENCES user_account (rid),
  -- Row of api_token, where one was used; not a reference, for what a token did outlives it.
  token_rid INTEGER,
  undoes INTEGER REFERENCES record_batch (rid)
) STRICT;
CREATE INDEX record_batch_at ON record_batch (at);
CREATE INDEX record_batch_undoes ON record_batch (undoes) WHERE undoes IS NOT NULL;

-- One row per write of one record: the version that it made, the whole record by field name after it, and of the
-- values before it those that changed. Numbers are never used twice: the row of a purge, the last word on a record
-- that is gone, stands under its negative row number.
CREATE TABLE record_change (
  seq INTEGER PRIMARY KEY,
  batch INTEGER NOT NULL REFERENCES record_batch (rid),
  object_kind TEXT NOT NULL,
  object_rid INTEGER NOT NULL,
  op TEXT NOT NULL CHECK (op IN ('create', 'update', 'delete', 'restore', 'purge')),
  version INTEGER NOT NULL,
  before TEXT CHECK (before IS NULL OR json_valid(before)),
  after TEXT CHECK (after IS NULL OR json_valid(after))
) STRICT;
CREATE INDEX record_change_object ON record_change (object_kind, object_rid, batch);
CREATE INDEX record_change_batch ON record_change (batch);

-- Answers to requests with an Idempotency-Key, to be given again. Times are microseconds.
CREATE TABLE idempotent_answer (
  user_rid INTEGER NOT NULL REFERENCES user_account (rid) ON DELETE CASCADE,
  key TEXT NOT NULL,
  -- SHA-256 of method, address and body.
  request TEXT NOT NULL,
  at INTEGER NOT NULL,
  status INTEGER NOT NULL,
  headers TEXT NOT NULL,
  body TEXT,
  PRIMARY KEY (user_rid, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotent_answer_at ON idempotent_answer (at);

-- The field meta of types that name none.
INSERT INTO field_meta (rid, id, name, name_fold, description, created, modified, created_by, modified_by, owner, owned_by, public)
VALUES (1, '00000000-0000-4000-8000-000000000003', 'default', 'default', 'Of types that name no other', 0, 0, 1, 1, 1, 1, 1);
INSERT INTO record_batch (rid, id, at, kind, user_rid) VALUES (1, '00000000-0000-4000-8000-000000000004', 0, 'sample', 1);
INSERT INTO record_change (seq, batch, object_kind, object_rid, op, version, after)
SELECT 1, 1, 'field_meta', rid, 'create', version, json_object('id', id, 'name', name, 'description', description,
  'created', created, 'modified', modified, 'created_by', created_by, 'modified_by', modified_by, 'owner', owner,
  'owned_by', owned_by, 'public', public, 'deleted', deleted, 'deleted_date', deleted_date, 'deleted_by', deleted_by,
  'version', version) FROM field_meta;
