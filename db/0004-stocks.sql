-- Projects, experiments, assays, consumables, specimens; what is said about records in annotations and notes. Columns
-- that every table has are told of in 0003-inventory.sql.
CREATE TABLE project (
  rid INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
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
CREATE INDEX project_name ON project (deleted, name, id, public, owner, owned_by);
CREATE INDEX project_visible ON project (deleted, public, owner, owned_by);
CREATE INDEX project_name_fold ON project (name_fold);

CREATE TABLE experiment (
  rid INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  name_fold TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  status TEXT NOT NULL DEFAULT '',
  project INTEGER REFERENCES project (rid),
  is_frozen INTEGER NOT NULL DEFAULT 0 CHECK (is_frozen IN (0, 1)),
  start_date INTEGER,
  completed_date INTEGER,
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
CREATE INDEX experiment_name ON experiment (deleted, name, id, public, owner, owned_by);
CREATE INDEX experiment_visible ON experiment (deleted, public, owner, owned_by);
CREATE INDEX experiment_name_fold ON experiment (name_fold);
CREATE INDEX experiment_project ON experiment (project);

CREATE TABLE assay (
  rid INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  name_fold TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  model_type TEXT NOT NULL DEFAULT '',
  state TEXT NOT NULL DEFAULT '',
  experiment INTEGER REFERENCES experiment (rid),
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
CREATE INDEX assay_name ON assay (deleted, name, id, public, owner, owned_by);
CREATE INDEX assay_visible ON assay (deleted, public, owner, owned_by);
CREATE INDEX assay_name_fold ON assay (name_fold);
CREATE INDEX assay_model_type ON assay (model_type, name);
CREATE INDEX assay_experiment ON assay (experiment);

CREATE TABLE consumable (
  rid INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  name_fold TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  model_type TEXT NOT NULL DEFAULT '',
  status TEXT NOT NULL DEFAULT '',
  barcode TEXT NOT NULL DEFAULT '',
  location INTEGER REFERENCES location (rid),
  amount REAL,
  unit INTEGER REFERENCES vocabulary_term (rid),
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
CREATE INDEX consumable_name ON consumable (deleted, name, id, public, owner, owned_by);
CREATE INDEX consumable_visible ON consumable (deleted, public, owner, owned_by);
CREATE INDEX consumable_name_fold ON consumable (name_fold);
CREATE INDEX consumable_model_type ON consumable (model_type, name);
CREATE INDEX consumable_location ON consumable (location);
CREATE INDEX consumable_unit ON consumable (unit);

CREATE TABLE specimen (
  rid INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  name_fold TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  model_type TEXT NOT NULL DEFAULT '',
  status TEXT NOT NULL DEFAULT '',
  barcode TEXT NOT NULL DEFAULT '',
  location INTEGER REFERENCES location (rid),
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
CREATE INDEX specimen_name ON specimen (deleted, name, id, public, owner, owned_by);
CREATE INDEX specimen_visible ON specimen (deleted, public, owner, owned_by);
CREATE INDEX specimen_name_fold ON specimen (name_fold);
CREATE INDEX specimen_model_type ON specimen (model_type, name);
CREATE INDEX specimen_location ON specimen (location);

-- What is said about a record, of any resource: object_kind is the name of the resource. Whoever may view the record may
-- read it, whoever may change the record may write it.
CREATE TABLE annotation (
  rid INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  object_kind TEXT NOT NULL,
  object_rid INTEGER NOT NULL,
  annotation_type INTEGER NOT NULL REFERENCES field_type (rid),
  value TEXT NOT NULL CHECK (json_valid(value)),
  created INTEGER NOT NULL,
  modified INTEGER NOT NULL,
  created_by INTEGER NOT NULL REFERENCES user_account (rid),
  modified_by INTEGER NOT NULL REFERENCES user_account (rid)
) STRICT;
CREATE INDEX annotation_object ON annotation (object_kind, object_rid, rid);
CREATE INDEX annotation_type ON annotation (annotation_type);

CREATE TABLE note (
  rid INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  object_kind TEXT NOT NULL,
  object_rid INTEGER NOT NULL,
  content TEXT NOT NULL,
  created INTEGER NOT NULL,
  modified INTEGER NOT NULL,
  created_by INTEGER NOT NULL REFERENCES user_account (rid),
  modified_by INTEGER NOT NULL REFERENCES user_account (rid)
) STRICT;
CREATE INDEX note_object ON note (object_kind, object_rid, rid);

CREATE TABLE attachment (
  rid INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  object_kind TEXT NOT NULL,
  object_rid INTEGER NOT NULL,
  name TEXT NOT NULL,
  media_type TEXT NOT NULL,
  size INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  created INTEGER NOT NULL,
  created_by INTEGER NOT NULL REFERENCES user_account (rid),
  -- Last, so that the other columns are read without it.
  content BLOB NOT NULL
) STRICT;
CREATE INDEX attachment_object ON attachment (object_kind, object_rid, rid);
