-- Schema after all migrations. Written by: SCHEMA=write bun test test/migrations.test.ts

CREATE TABLE migration (name TEXT PRIMARY KEY, checksum TEXT NOT NULL, applied INTEGER NOT NULL) STRICT;

CREATE TABLE corpus (
  hash TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  sequences INTEGER NOT NULL,
  residues INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  added INTEGER NOT NULL,
  -- 1 for the corpus that jobs are scored against.
  active INTEGER NOT NULL DEFAULT 0 CHECK (active IN (0, 1))
) STRICT;

CREATE UNIQUE INDEX corpus_active ON corpus (active) WHERE active = 1;

CREATE TABLE result (
  rid INTEGER PRIMARY KEY,
  -- SHA-256 of the query, the scoring model and the patterns.
  digest TEXT NOT NULL,
  corpus TEXT NOT NULL,
  method TEXT NOT NULL,
  prediction TEXT NOT NULL CHECK (json_valid(prediction)),
  computed INTEGER NOT NULL,
  packed BLOB, client TEXT, bytes INTEGER,
  UNIQUE (digest, corpus, method)
) STRICT;

CREATE TABLE job (
  rid INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'finished', 'failed', 'cancelled', 'expired')),
  -- The submitter: a user or a network address. The scheduler is fair between clients.
  client TEXT NOT NULL,
  -- Null after the job has expired.
  request TEXT CHECK (json_valid(request)),
  digest TEXT NOT NULL,
  -- 1 if an earlier unfinished job of the same client is identical: this job waits for its result.
  twin INTEGER NOT NULL DEFAULT 0 CHECK (twin IN (0, 1)),
  submitted INTEGER NOT NULL,
  started INTEGER,
  ended INTEGER,
  -- Time at which an ended job becomes `expired`; null keeps it forever.
  expires INTEGER,
  -- Leases that ended because the worker or the process died, including the current lease.
  attempts INTEGER NOT NULL DEFAULT 0,
  -- How often the whole process ended while the job ran. Rarely the job's fault, so counted separately.
  interruptions INTEGER NOT NULL DEFAULT 0,
  -- Time limit of the running attempt.
  deadline INTEGER,
  result INTEGER REFERENCES result (rid),
  -- Reason why an ended job has no prediction.
  failure TEXT,
  worker TEXT, idempotency_key TEXT CHECK (idempotency_key IS NULL OR state <> 'expired'), owner TEXT,
  CHECK ((state = 'running') = (deadline IS NOT NULL)),
  CHECK ((state = 'finished') = (result IS NOT NULL)),
  CHECK ((state IN ('failed', 'cancelled', 'expired')) = (failure IS NOT NULL)),
  CHECK ((state IN ('queued', 'running')) = (ended IS NULL)),
  CHECK ((state = 'expired') = (request IS NULL)),
  CHECK (expires IS NULL OR state IN ('finished', 'failed', 'cancelled')),
  CHECK (twin = 0 OR state = 'queued')
) STRICT;

CREATE INDEX job_state ON job (state);

CREATE INDEX job_question ON job (digest) WHERE state IN ('queued', 'running');

CREATE INDEX job_result ON job (result) WHERE result IS NOT NULL;

CREATE INDEX job_expiry ON job (expires) WHERE expires IS NOT NULL;

CREATE TABLE queue (
  client TEXT PRIMARY KEY,
  waiting INTEGER NOT NULL,
  -- Jobs that need a worker: duplicates do not.
  turns INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TRIGGER job_queued AFTER INSERT ON job WHEN new.state = 'queued'
BEGIN
  INSERT INTO queue (client, waiting, turns) VALUES (new.client, 1, 1 - new.twin)
  ON CONFLICT DO UPDATE SET waiting = waiting + 1, turns = turns + excluded.turns;
END;

CREATE TRIGGER job_requeued AFTER UPDATE OF state ON job WHEN new.state = 'queued' AND old.state <> 'queued'
BEGIN
  INSERT INTO queue (client, waiting, turns) VALUES (new.client, 1, 1 - new.twin)
  ON CONFLICT DO UPDATE SET waiting = waiting + 1, turns = turns + excluded.turns;
END;

CREATE TRIGGER job_left AFTER UPDATE OF state ON job WHEN old.state = 'queued' AND new.state <> 'queued'
BEGIN
  UPDATE queue SET waiting = waiting - 1, turns = turns - 1 + old.twin WHERE client = old.client;
  DELETE FROM queue WHERE client = old.client AND waiting = 0;
END;

CREATE TRIGGER job_promoted AFTER UPDATE OF twin ON job WHEN old.state = 'queued' AND new.state = 'queued'
BEGIN
  UPDATE queue SET turns = turns + old.twin - new.twin WHERE client = old.client;
END;

CREATE TABLE motif_table (
  rid INTEGER PRIMARY KEY CHECK (rid = 1),
  -- SHA-256 of the file.
  hash TEXT NOT NULL,
  name TEXT NOT NULL,
  -- Metadata from the file's header.
  version TEXT,
  published TEXT,
  imported INTEGER NOT NULL
) STRICT;

CREATE TABLE motif_class (
  name TEXT PRIMARY KEY,
  accession TEXT,
  expression TEXT NOT NULL,
  description TEXT NOT NULL,
  citation TEXT NOT NULL
, title TEXT NOT NULL DEFAULT '') STRICT;

CREATE TABLE user_group (
  rid INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL UNIQUE,
  description TEXT NOT NULL DEFAULT ''
, members_may TEXT NOT NULL DEFAULT 'view'
  CHECK (members_may IN ('view', 'use', 'change')), members_order INTEGER NOT NULL DEFAULT 0 CHECK (members_order IN (0, 1)), due_back_days INTEGER NOT NULL DEFAULT 1 CHECK (due_back_days BETWEEN 1 AND 365)) STRICT;

CREATE TABLE user_account (
  rid INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  username TEXT NOT NULL UNIQUE,
  full_name TEXT NOT NULL DEFAULT '',
  email TEXT NOT NULL DEFAULT '',
  -- argon2id hash; null if the account has no local password.
  password_hash TEXT,
  is_active INTEGER NOT NULL DEFAULT 1 CHECK (is_active IN (0, 1)),
  is_staff INTEGER NOT NULL DEFAULT 0 CHECK (is_staff IN (0, 1)),
  is_superuser INTEGER NOT NULL DEFAULT 0 CHECK (is_superuser IN (0, 1)),
  date_joined INTEGER NOT NULL,
  -- Microseconds, as in the inventory's tables.
  joined INTEGER GENERATED ALWAYS AS (date_joined * 1000) VIRTUAL,
  last_login INTEGER,
  primary_group INTEGER NOT NULL REFERENCES user_group (rid)
, verified_email TEXT NOT NULL DEFAULT '') STRICT;

CREATE TABLE membership (
  user_rid INTEGER NOT NULL REFERENCES user_account (rid) ON DELETE CASCADE,
  group_rid INTEGER NOT NULL REFERENCES user_group (rid) ON DELETE CASCADE,
  PRIMARY KEY (user_rid, group_rid)
) STRICT, WITHOUT ROWID;

CREATE INDEX membership_group ON membership (group_rid);

CREATE TABLE api_token (
  rid INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  user_rid INTEGER NOT NULL REFERENCES user_account (rid) ON DELETE CASCADE,
  name TEXT NOT NULL,
  -- First characters of the token, so that its owner can tell tokens apart. The token itself is not stored.
  prefix TEXT NOT NULL,
  sha256 TEXT NOT NULL UNIQUE,
  scope TEXT NOT NULL DEFAULT 'write' CHECK (scope IN ('read', 'write')),
  created INTEGER NOT NULL,
  expires INTEGER,
  -- Precise to the minute.
  last_used INTEGER,
  revoked INTEGER
) STRICT;

CREATE INDEX api_token_user ON api_token (user_rid);

CREATE TABLE session (
  sha256 TEXT PRIMARY KEY,
  user_rid INTEGER NOT NULL REFERENCES user_account (rid) ON DELETE CASCADE,
  created INTEGER NOT NULL,
  last_used INTEGER NOT NULL,
  expires INTEGER NOT NULL,
  agent TEXT NOT NULL DEFAULT '',
  vouched INTEGER NOT NULL DEFAULT 0 CHECK (vouched IN (0, 1)),
  confirmed INTEGER NOT NULL DEFAULT 0,
  provider_session TEXT
) STRICT, WITHOUT ROWID;

CREATE INDEX session_user ON session (user_rid);

CREATE INDEX session_expires ON session (expires);

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
, address INTEGER REFERENCES address (rid)) STRICT;

CREATE INDEX place_building ON place (deleted, building, room, id, public, owner, owned_by);

CREATE INDEX place_name ON place (name);

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
, instrument_model INTEGER REFERENCES instrument_model (rid)) STRICT;

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
, grid_rows INTEGER CHECK (grid_rows > 0), grid_columns INTEGER CHECK (grid_columns > 0), numbering TEXT NOT NULL DEFAULT 'A1', capacity INTEGER CHECK (capacity > 0), box_capacity INTEGER) STRICT;

CREATE INDEX location_visible ON location (deleted, public, owner, owned_by);

CREATE INDEX location_label_fold ON location (label_fold);

CREATE INDEX location_parent ON location (parent);

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
  -- For type OBJECT: the resource whose records are the choices, such as equipment.
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
  version INTEGER NOT NULL DEFAULT 1,
  mandatory_owned_by TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(mandatory_owned_by))
) STRICT;

CREATE INDEX field_type_name ON field_type (kind, deleted, name, id, public, owner, owned_by);

CREATE INDEX field_type_visible ON field_type (kind, deleted, public, owner, owned_by);

CREATE INDEX field_type_name_fold ON field_type (kind, name_fold);

CREATE INDEX field_type_type ON field_type (kind, type, name);

CREATE INDEX field_type_cv_category ON field_type (cv_category);

CREATE INDEX field_type_field_meta ON field_type (field_meta);

CREATE TABLE object_permission (
  rid INTEGER PRIMARY KEY,
  object_kind TEXT NOT NULL,
  object_rid INTEGER NOT NULL,
  user_rid INTEGER REFERENCES user_account (rid) ON DELETE CASCADE,
  group_rid INTEGER REFERENCES user_group (rid) ON DELETE CASCADE,
  can_view INTEGER NOT NULL DEFAULT 1 CHECK (can_view IN (0, 1)),
  can_change INTEGER NOT NULL DEFAULT 0 CHECK (can_change IN (0, 1)),
  can_delete INTEGER NOT NULL DEFAULT 0 CHECK (can_delete IN (0, 1)),
  id TEXT,
  created INTEGER NOT NULL DEFAULT 0,
  modified INTEGER NOT NULL DEFAULT 0,
  created_by INTEGER REFERENCES user_account (rid),
  modified_by INTEGER REFERENCES user_account (rid),
  deleted INTEGER NOT NULL DEFAULT 0 CHECK (deleted IN (0, 1)),
  deleted_date INTEGER,
  deleted_by INTEGER REFERENCES user_account (rid),
  version INTEGER NOT NULL DEFAULT 1,
  CHECK ((user_rid IS NULL) <> (group_rid IS NULL))
) STRICT;

CREATE UNIQUE INDEX object_permission_user ON object_permission (object_kind, object_rid, user_rid) WHERE user_rid IS NOT NULL;

CREATE UNIQUE INDEX object_permission_group ON object_permission (object_kind, object_rid, group_rid) WHERE group_rid IS NOT NULL;

CREATE INDEX object_permission_object ON object_permission (object_kind, object_rid);

CREATE TABLE record_batch (
  rid INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  at INTEGER NOT NULL,
  kind TEXT NOT NULL,
  user_rid INTEGER NOT NULL REFERENCES user_account (rid),
  -- Row of api_token, if one was used. Not a foreign key: the batch outlives its token.
  token_rid INTEGER,
  undoes INTEGER REFERENCES record_batch (rid)
) STRICT;

CREATE INDEX record_batch_at ON record_batch (at);

CREATE INDEX record_batch_undoes ON record_batch (undoes) WHERE undoes IS NOT NULL;

CREATE TABLE record_change (
  seq INTEGER PRIMARY KEY,
  batch INTEGER NOT NULL REFERENCES record_batch (rid),
  object_kind TEXT NOT NULL,
  object_rid INTEGER NOT NULL,
  op TEXT NOT NULL CHECK (op IN ('create', 'update', 'delete', 'restore', 'purge')),
  version INTEGER NOT NULL,
  before TEXT CHECK (before IS NULL OR json_valid(before)),
  after TEXT CHECK (after IS NULL OR json_valid(after)),
  host_kind TEXT,
  host_rid INTEGER
) STRICT;

CREATE INDEX record_change_object ON record_change (object_kind, object_rid, batch);

CREATE INDEX record_change_batch ON record_change (batch);

CREATE TABLE idempotent_answer (
  user_rid INTEGER NOT NULL REFERENCES user_account (rid) ON DELETE CASCADE,
  key TEXT NOT NULL,
  -- SHA-256 of the method, URL and body.
  request TEXT NOT NULL,
  at INTEGER NOT NULL,
  status INTEGER NOT NULL,
  headers TEXT NOT NULL,
  body TEXT,
  PRIMARY KEY (user_rid, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX idempotent_answer_at ON idempotent_answer (at);

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
, position TEXT NOT NULL DEFAULT '', minimum_amount REAL, supplier TEXT NOT NULL DEFAULT '', catalogue_number TEXT NOT NULL DEFAULT '', lot TEXT NOT NULL DEFAULT '', price REAL, currency TEXT NOT NULL DEFAULT '', received INTEGER, opened INTEGER, expiry INTEGER, freeze_thaw_count INTEGER NOT NULL DEFAULT 0, aliquot_of INTEGER REFERENCES consumable (rid), product INTEGER REFERENCES product (rid), below_minimum INTEGER NOT NULL GENERATED ALWAYS AS
  (status IN ('EMPTY', 'LOW') OR coalesce(amount = 0, 0) OR coalesce(amount < minimum_amount, 0)) VIRTUAL, taken_out_by INTEGER REFERENCES user_account (rid), taken_out_at INTEGER, due_back INTEGER, taken_out INTEGER NOT NULL GENERATED ALWAYS AS (taken_out_by IS NOT NULL) VIRTUAL) STRICT;

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
, position TEXT NOT NULL DEFAULT '', amount REAL, unit INTEGER REFERENCES vocabulary_term (rid), minimum_amount REAL, supplier TEXT NOT NULL DEFAULT '', lot TEXT NOT NULL DEFAULT '', received INTEGER, expiry INTEGER, freeze_thaw_count INTEGER NOT NULL DEFAULT 0, aliquot_of INTEGER REFERENCES specimen (rid), below_minimum INTEGER NOT NULL GENERATED ALWAYS AS
  (status IN ('EMPTY', 'LOW') OR coalesce(amount = 0, 0) OR coalesce(amount < minimum_amount, 0)) VIRTUAL, taken_out_by INTEGER REFERENCES user_account (rid), taken_out_at INTEGER, due_back INTEGER, taken_out INTEGER NOT NULL GENERATED ALWAYS AS (taken_out_by IS NOT NULL) VIRTUAL) STRICT;

CREATE INDEX specimen_visible ON specimen (deleted, public, owner, owned_by);

CREATE INDEX specimen_name_fold ON specimen (name_fold);

CREATE INDEX specimen_model_type ON specimen (model_type, name);

CREATE INDEX specimen_location ON specimen (location);

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
  modified_by INTEGER NOT NULL REFERENCES user_account (rid),
  deleted INTEGER NOT NULL DEFAULT 0 CHECK (deleted IN (0, 1)),
  deleted_date INTEGER,
  deleted_by INTEGER REFERENCES user_account (rid),
  version INTEGER NOT NULL DEFAULT 1
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
  modified_by INTEGER NOT NULL REFERENCES user_account (rid),
  deleted INTEGER NOT NULL DEFAULT 0 CHECK (deleted IN (0, 1)),
  deleted_date INTEGER,
  deleted_by INTEGER REFERENCES user_account (rid),
  version INTEGER NOT NULL DEFAULT 1
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
  modified INTEGER NOT NULL DEFAULT 0,
  modified_by INTEGER REFERENCES user_account (rid),
  deleted INTEGER NOT NULL DEFAULT 0 CHECK (deleted IN (0, 1)),
  deleted_date INTEGER,
  deleted_by INTEGER REFERENCES user_account (rid),
  version INTEGER NOT NULL DEFAULT 1
) STRICT;

CREATE INDEX attachment_object ON attachment (object_kind, object_rid, rid);

CREATE INDEX record_change_host ON record_change (host_kind, host_rid, seq) WHERE host_kind IS NOT NULL;

CREATE TABLE attachment_content (
  rid INTEGER PRIMARY KEY,
  sha256 TEXT NOT NULL UNIQUE,
  content BLOB NOT NULL
) STRICT;

CREATE INDEX attachment_sha256 ON attachment (sha256);

CREATE UNIQUE INDEX object_permission_id ON object_permission (id);

CREATE TABLE membership_record (
  rid INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  user_rid INTEGER NOT NULL REFERENCES user_account (rid) ON DELETE CASCADE,
  group_rid INTEGER NOT NULL REFERENCES user_group (rid) ON DELETE CASCADE,
  created INTEGER NOT NULL,
  modified INTEGER NOT NULL,
  created_by INTEGER NOT NULL REFERENCES user_account (rid),
  modified_by INTEGER NOT NULL REFERENCES user_account (rid),
  deleted INTEGER NOT NULL DEFAULT 0 CHECK (deleted IN (0, 1)),
  deleted_date INTEGER,
  deleted_by INTEGER REFERENCES user_account (rid),
  version INTEGER NOT NULL DEFAULT 1,
  UNIQUE (user_rid, group_rid)
) STRICT;

CREATE INDEX membership_record_group ON membership_record (group_rid);

CREATE TRIGGER membership_record_added AFTER INSERT ON membership_record WHEN new.deleted = 0
BEGIN
  INSERT OR IGNORE INTO membership (user_rid, group_rid) VALUES (new.user_rid, new.group_rid);
END;

CREATE TRIGGER membership_record_lives AFTER UPDATE OF deleted ON membership_record WHEN new.deleted = 0
BEGIN
  INSERT OR IGNORE INTO membership (user_rid, group_rid) VALUES (new.user_rid, new.group_rid);
END;

CREATE TRIGGER membership_record_ends AFTER UPDATE OF deleted ON membership_record WHEN new.deleted = 1
BEGIN
  DELETE FROM membership WHERE user_rid = new.user_rid AND group_rid = new.group_rid;
END;

CREATE TRIGGER membership_joined AFTER INSERT ON membership
WHEN NOT EXISTS (SELECT 1 FROM membership_record WHERE user_rid = new.user_rid AND group_rid = new.group_rid AND deleted = 0)
BEGIN
  INSERT INTO membership_record (id, user_rid, group_rid, created, modified, created_by, modified_by)
  SELECT lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-a'
    || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6))), rid, new.group_rid, joined, joined, 1, 1
  FROM user_account WHERE rid = new.user_rid;
  INSERT INTO record_change (batch, object_kind, object_rid, op, version, after, host_kind, host_rid)
  SELECT 1, 'membership', rid, 'create', version, json_object('id', id, 'user', user_rid, 'group', group_rid,
    'created', created, 'modified', modified, 'created_by', created_by, 'modified_by', modified_by,
    'deleted', 0, 'deleted_date', NULL, 'deleted_by', NULL, 'version', version), 'group', group_rid
  FROM membership_record WHERE user_rid = new.user_rid AND group_rid = new.group_rid;
END;

CREATE TABLE import_file (
  rid INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  user_rid INTEGER NOT NULL REFERENCES user_account (rid),
  -- The import's options and its owner, as JSON.
  request TEXT NOT NULL,
  created INTEGER NOT NULL,
  -- Number of starts. An import that ends the process repeatedly is abandoned.
  attempts INTEGER NOT NULL DEFAULT 0,
  file BLOB,
  -- Outcome as JSON; null until the import has ended.
  outcome TEXT,
  CHECK ((file IS NULL) = (outcome IS NOT NULL))
) STRICT;

CREATE INDEX import_file_waiting ON import_file (rid) WHERE outcome IS NULL;

CREATE INDEX import_file_created ON import_file (created);

CREATE INDEX import_file_user ON import_file (user_rid, created);

CREATE TABLE saved_view (
  rid INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  name_fold TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  list TEXT NOT NULL,
  query TEXT NOT NULL DEFAULT '',
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
, kind TEXT NOT NULL DEFAULT 'list') STRICT;

CREATE INDEX saved_view_list ON saved_view (deleted, list, name, id, public, owner, owned_by);

CREATE INDEX saved_view_name_fold ON saved_view (name_fold);

CREATE INDEX location_barcode ON location (barcode);

CREATE INDEX equipment_barcode ON equipment (barcode);

CREATE INDEX consumable_barcode ON consumable (barcode);

CREATE INDEX specimen_barcode ON specimen (barcode);

CREATE TABLE stocktake (
  rid INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  name_fold TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  -- Id of the location. Not a foreign key: a past count must not prevent its deletion.
  location TEXT NOT NULL,
  state TEXT NOT NULL DEFAULT 'OPEN',
  -- Outcome as JSON, after the stocktake was applied.
  report TEXT,
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

CREATE INDEX stocktake_location ON stocktake (location, created);

CREATE INDEX stocktake_created ON stocktake (deleted, created, id, public, owner, owned_by);

CREATE INDEX stocktake_name_fold ON stocktake (name_fold);

CREATE TABLE stocktake_scan (
  stocktake INTEGER NOT NULL REFERENCES stocktake (rid) ON DELETE CASCADE,
  code TEXT NOT NULL,
  -- The record that the code identified for the user who scanned it; null for no match or several.
  object_kind TEXT,
  object_rid INTEGER,
  -- The location in which the code was scanned, if narrower than the stocktake's location.
  place INTEGER REFERENCES location (rid) ON DELETE SET NULL,
  at INTEGER NOT NULL,
  user_rid INTEGER NOT NULL REFERENCES user_account (rid),
  PRIMARY KEY (stocktake, code)
) STRICT, WITHOUT ROWID;

CREATE INDEX stocktake_scan_place ON stocktake_scan (place) WHERE place IS NOT NULL;

CREATE TABLE one_time_link (
  sha256 TEXT PRIMARY KEY,
  user_rid INTEGER REFERENCES user_account (rid) ON DELETE CASCADE,
  created INTEGER NOT NULL,
  expires INTEGER NOT NULL
, email TEXT) STRICT, WITHOUT ROWID;

CREATE INDEX one_time_link_user ON one_time_link (user_rid);

CREATE TABLE audit (
  seq INTEGER PRIMARY KEY,
  time INTEGER NOT NULL,
  actor TEXT,
  via TEXT NOT NULL,
  -- Id of the api_token row.
  token TEXT,
  address TEXT,
  request TEXT,
  action TEXT NOT NULL,
  subject_kind TEXT,
  subject_id TEXT,
  outcome TEXT NOT NULL CHECK (outcome IN ('done', 'refused', 'throttled')),
  detail TEXT NOT NULL CHECK (json_valid(detail)),
  hash TEXT NOT NULL CHECK (length(hash) = 64)
) STRICT;

CREATE TRIGGER audit_no_update BEFORE UPDATE ON audit BEGIN
  SELECT RAISE(ABORT, 'the audit log only grows');
END;

CREATE TRIGGER audit_no_delete BEFORE DELETE ON audit BEGIN
  SELECT RAISE(ABORT, 'the audit log only grows');
END;

CREATE TRIGGER audit_only_after_last BEFORE INSERT ON audit
WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM audit) BEGIN
  SELECT RAISE(ABORT, 'the audit log only grows');
END;

CREATE INDEX location_label ON location (deleted, label, id, public, owner, owned_by, label_fold);

CREATE INDEX location_place ON location (place, parent, equipment, deleted, public, owner, owned_by);

CREATE INDEX location_equipment ON location (equipment, parent, deleted, public, owner, owned_by);

CREATE INDEX consumable_name ON consumable (deleted, name, id, public, owner, owned_by, name_fold);

CREATE INDEX specimen_name ON specimen (deleted, name, id, public, owner, owned_by, name_fold);

CREATE TABLE webhook (
  rid INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  user_rid INTEGER NOT NULL REFERENCES user_account (rid) ON DELETE CASCADE,
  url TEXT NOT NULL,
  -- Signing key, encrypted. Both sides compute signatures with it, so a hash is not enough.
  sealed_secret TEXT NOT NULL,
  -- JSON list of event names.
  events TEXT NOT NULL CHECK (json_valid(events)),
  -- 1 if the list contains job events.
  jobs INTEGER NOT NULL CHECK (jobs IN (0, 1)),
  -- Path of one resource, and a query_expression on its records.
  resource TEXT,
  expression TEXT,
  state TEXT NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'failing')),
  created INTEGER NOT NULL,
  -- Last processed rows of record_change and job_end.
  record_cursor INTEGER NOT NULL,
  job_cursor INTEGER NOT NULL,
  former_sealed_secret TEXT,
  former_until INTEGER
, reminder_cursor INTEGER NOT NULL DEFAULT 0) STRICT;

CREATE INDEX webhook_user ON webhook (user_rid);

CREATE TABLE job_end (
  seq INTEGER PRIMARY KEY,
  job INTEGER NOT NULL,
  state TEXT NOT NULL
) STRICT;

CREATE TRIGGER job_ended AFTER UPDATE OF state ON job
WHEN new.state IN ('finished', 'failed', 'cancelled') AND old.state IN ('queued', 'running')
  AND EXISTS (SELECT 1 FROM webhook WHERE jobs = 1)
BEGIN
  INSERT INTO job_end (job, state) VALUES (new.rid, new.state);
END;

CREATE TRIGGER job_ended_at_once AFTER INSERT ON job
WHEN new.state = 'finished' AND EXISTS (SELECT 1 FROM webhook WHERE jobs = 1)
BEGIN
  INSERT INTO job_end (job, state) VALUES (new.rid, new.state);
END;

CREATE TABLE external_identity (
  rid INTEGER PRIMARY KEY,
  provider TEXT NOT NULL CHECK (provider IN ('ldap', 'oidc')),
  -- Issuer URL, within which a subject is unique; empty for LDAP.
  issuer TEXT NOT NULL,
  -- Stable identifier that the provider never reassigns.
  subject TEXT NOT NULL CHECK (subject <> ''),
  -- Human-readable name, such as a DN.
  label TEXT NOT NULL,
  user_rid INTEGER NOT NULL REFERENCES user_account (rid) ON DELETE CASCADE,
  created INTEGER NOT NULL,
  last_used INTEGER,
  suspended INTEGER,
  UNIQUE (provider, issuer, subject),
  UNIQUE (user_rid, provider)
) STRICT;

CREATE TABLE second_factor (
  user_rid INTEGER PRIMARY KEY REFERENCES user_account (rid) ON DELETE CASCADE,
  -- TOTP secret, encrypted with a key that is stored beside the database and never backed up.
  secret BLOB NOT NULL,
  -- Time of the first valid code; the second factor is inactive until then.
  confirmed INTEGER,
  -- Time step of the last accepted code. Codes of this step or earlier are rejected.
  last_step INTEGER NOT NULL DEFAULT 0,
  -- Consecutive wrong codes entered with the right password.
  failures INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE recovery_code (
  sha256 TEXT PRIMARY KEY,
  user_rid INTEGER NOT NULL REFERENCES user_account (rid) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE INDEX recovery_code_user ON recovery_code (user_rid);

CREATE INDEX job_turn ON job (client) WHERE state = 'queued' AND twin = 0 AND worker IS NULL;

CREATE INDEX job_offered ON job (client) WHERE state = 'queued' AND worker = '';

CREATE INDEX job_taken ON job (digest) WHERE state = 'running' OR (state = 'queued' AND worker = '');

CREATE TABLE logout_token (
  sha256 TEXT PRIMARY KEY,
  until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX job_idempotency_key ON job (client, idempotency_key) WHERE idempotency_key IS NOT NULL;

CREATE TABLE result_part (
  result INTEGER NOT NULL REFERENCES result (rid) ON DELETE CASCADE,
  form TEXT NOT NULL CHECK (form IN ('json', 'xml')),
  -- From 0.
  part INTEGER NOT NULL,
  -- Compressed by Zstandard.
  bytes BLOB NOT NULL,
  PRIMARY KEY (result, form, part)
) STRICT;

CREATE TABLE "field_meta" (
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

CREATE INDEX field_meta_name ON field_meta (deleted, name, id, public, owner, owned_by);

CREATE TABLE "cv_category" (
  rid INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  name_fold TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  -- The terms of a category are either choices or units of measurement.
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

CREATE TABLE slot (
  location INTEGER NOT NULL,
  position TEXT NOT NULL,
  object_kind TEXT NOT NULL,
  object_rid INTEGER NOT NULL,
  PRIMARY KEY (location, position)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX slot_object ON slot (object_kind, object_rid);

CREATE TRIGGER consumable_slot_insert AFTER INSERT ON consumable
WHEN new.position <> '' AND new.location IS NOT NULL AND new.deleted = 0 BEGIN
  INSERT INTO slot VALUES (new.location, new.position, 'consumable', new.rid);
END;

CREATE TRIGGER consumable_slot_update AFTER UPDATE OF location, position, deleted ON consumable
WHEN new.location IS NOT old.location OR new.position <> old.position OR new.deleted <> old.deleted BEGIN
  DELETE FROM slot WHERE object_kind = 'consumable' AND object_rid = new.rid;
  INSERT INTO slot SELECT new.location, new.position, 'consumable', new.rid
  WHERE new.position <> '' AND new.location IS NOT NULL AND new.deleted = 0;
END;

CREATE TRIGGER consumable_slot_delete AFTER DELETE ON consumable BEGIN
  DELETE FROM slot WHERE object_kind = 'consumable' AND object_rid = old.rid;
END;

CREATE TRIGGER specimen_slot_insert AFTER INSERT ON specimen
WHEN new.position <> '' AND new.location IS NOT NULL AND new.deleted = 0 BEGIN
  INSERT INTO slot VALUES (new.location, new.position, 'specimen', new.rid);
END;

CREATE TRIGGER specimen_slot_update AFTER UPDATE OF location, position, deleted ON specimen
WHEN new.location IS NOT old.location OR new.position <> old.position OR new.deleted <> old.deleted BEGIN
  DELETE FROM slot WHERE object_kind = 'specimen' AND object_rid = new.rid;
  INSERT INTO slot SELECT new.location, new.position, 'specimen', new.rid
  WHERE new.position <> '' AND new.location IS NOT NULL AND new.deleted = 0;
END;

CREATE TRIGGER specimen_slot_delete AFTER DELETE ON specimen BEGIN
  DELETE FROM slot WHERE object_kind = 'specimen' AND object_rid = old.rid;
END;

CREATE TABLE watched_query (
  rid INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  -- The user, as the client of a job.
  owner TEXT NOT NULL,
  digest TEXT NOT NULL,
  -- As that of a job.
  request TEXT NOT NULL CHECK (json_valid(request)),
  created INTEGER NOT NULL,
  -- The job with the latest result, which does not expire.
  job INTEGER NOT NULL REFERENCES job (rid),
  -- Hash of the corpus that the query was last scored against, also if that failed or was cancelled.
  corpus TEXT NOT NULL,
  -- The job that scores it again.
  rerun INTEGER REFERENCES job (rid),
  -- Why there is no result from the corpus.
  failure TEXT,
  UNIQUE (owner, digest)
) STRICT;

CREATE INDEX watched_query_corpus ON watched_query (corpus);

CREATE INDEX watched_query_rerun ON watched_query (rerun) WHERE rerun IS NOT NULL;

CREATE TABLE verdict_change (
  rid INTEGER PRIMARY KEY,
  query INTEGER NOT NULL REFERENCES watched_query (rid) ON DELETE CASCADE,
  found INTEGER NOT NULL,
  -- The results before and after, with matches whose verdicts changed.
  comparison TEXT NOT NULL CHECK (json_valid(comparison))
) STRICT;

CREATE INDEX verdict_change_query ON verdict_change (query);

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

CREATE INDEX equipment_instrument_model ON equipment (instrument_model) WHERE instrument_model IS NOT NULL;

CREATE TABLE assay (
  rid INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  name_fold TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  model_type TEXT NOT NULL DEFAULT '',
  state TEXT NOT NULL DEFAULT '',
  experiment INTEGER REFERENCES experiment (rid),
  multiplexed INTEGER NOT NULL DEFAULT 0 CHECK (multiplexed IN (0, 1)),
  technology TEXT NOT NULL DEFAULT '',
  platform TEXT NOT NULL DEFAULT '',
  instrument_run INTEGER REFERENCES instrument_run (rid),
  instrument_model INTEGER REFERENCES instrument_model (rid),
  instrument INTEGER REFERENCES equipment (rid),
  run_dir TEXT NOT NULL DEFAULT '',
  flowcell TEXT NOT NULL DEFAULT '',
  flowcell_version TEXT NOT NULL DEFAULT '',
  lane TEXT NOT NULL DEFAULT '',
  runtype TEXT,
  runmode TEXT NOT NULL DEFAULT '',
  readlength TEXT NOT NULL DEFAULT '',
  chemistry TEXT NOT NULL DEFAULT '',
  demultiplexed INTEGER NOT NULL DEFAULT 0 CHECK (demultiplexed IN (0, 1)),
  live_base_calling TEXT NOT NULL DEFAULT 'None',
  live_read_mapping INTEGER NOT NULL DEFAULT 0 CHECK (live_read_mapping IN (0, 1)),
  ref_genome TEXT NOT NULL DEFAULT '',
  adaptive_mode TEXT NOT NULL DEFAULT 'None',
  adaptive_mode_details TEXT NOT NULL DEFAULT '',
  info TEXT NOT NULL DEFAULT '',
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

CREATE INDEX assay_instrument_run ON assay (instrument_run) WHERE instrument_run IS NOT NULL;

CREATE INDEX assay_instrument_model ON assay (instrument_model) WHERE instrument_model IS NOT NULL;

CREATE INDEX assay_instrument ON assay (instrument) WHERE instrument IS NOT NULL;

CREATE TABLE storage_volume (
  rid INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  name_fold TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  model_type TEXT NOT NULL DEFAULT '',
  uri TEXT NOT NULL DEFAULT '',
  is_archive INTEGER NOT NULL DEFAULT 0 CHECK (is_archive IN (0, 1)),
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

CREATE INDEX storage_volume_name ON storage_volume (deleted, name, id, public, owner, owned_by);

CREATE INDEX storage_volume_name_fold ON storage_volume (name_fold);

CREATE TABLE instrument_model (
  rid INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  name_fold TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  technology TEXT NOT NULL DEFAULT '',
  platform TEXT NOT NULL DEFAULT '',
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

CREATE INDEX instrument_model_name ON instrument_model (deleted, name, id, public, owner, owned_by);

CREATE INDEX instrument_model_name_fold ON instrument_model (name_fold);

CREATE TABLE instrument_run (
  rid INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  name_fold TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  instrument INTEGER REFERENCES equipment (rid),
  start_datetime INTEGER,
  end_datetime INTEGER,
  producer TEXT NOT NULL DEFAULT '',
  responsible_person INTEGER REFERENCES user_account (rid),
  managed INTEGER NOT NULL DEFAULT 0 CHECK (managed IN (0, 1)),
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

CREATE INDEX instrument_run_name ON instrument_run (deleted, name, id, public, owner, owned_by);

CREATE INDEX instrument_run_name_fold ON instrument_run (name_fold);

CREATE INDEX instrument_run_instrument ON instrument_run (instrument);

CREATE TABLE study (
  rid INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  name_fold TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  project INTEGER REFERENCES project (rid),
  design TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(design)),
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

CREATE INDEX study_name ON study (deleted, name, id, public, owner, owned_by);

CREATE INDEX study_name_fold ON study (name_fold);

CREATE INDEX study_project ON study (project);

CREATE TABLE protocol (
  rid INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  name_fold TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  summary TEXT NOT NULL DEFAULT '',
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

CREATE INDEX protocol_name ON protocol (deleted, name, id, public, owner, owned_by);

CREATE INDEX protocol_name_fold ON protocol (name_fold);

CREATE TABLE workflow (
  rid INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  name_fold TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  summary TEXT NOT NULL DEFAULT '',
  model_type TEXT NOT NULL DEFAULT '',
  uri TEXT NOT NULL DEFAULT '',
  workflow_version TEXT NOT NULL DEFAULT '',
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

CREATE INDEX workflow_name ON workflow (deleted, name, id, public, owner, owned_by);

CREATE INDEX workflow_name_fold ON workflow (name_fold);

CREATE TABLE sample (
  rid INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  name_fold TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  model_type TEXT NOT NULL DEFAULT '',
  status TEXT NOT NULL DEFAULT '',
  sample_type TEXT NOT NULL DEFAULT '',
  application TEXT NOT NULL DEFAULT '',
  provider_sample_name TEXT NOT NULL DEFAULT '',
  provider_sample_id TEXT NOT NULL DEFAULT '',
  barcode TEXT NOT NULL DEFAULT '',
  specimen INTEGER REFERENCES specimen (rid),
  parents TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(parents)),
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

CREATE INDEX sample_name ON sample (deleted, name, id, public, owner, owned_by);

CREATE INDEX sample_name_fold ON sample (name_fold);

CREATE INDEX sample_barcode ON sample (barcode);

CREATE INDEX sample_specimen ON sample (specimen);

CREATE INDEX sample_location ON sample (location);

CREATE TABLE dataset_collection (
  rid INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  name_fold TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  is_raw INTEGER NOT NULL DEFAULT 0 CHECK (is_raw IN (0, 1)),
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

CREATE INDEX dataset_collection_name ON dataset_collection (deleted, name, id, public, owner, owned_by);

CREATE INDEX dataset_collection_name_fold ON dataset_collection (name_fold);

CREATE TABLE dataset (
  rid INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  name_fold TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  dataset_type TEXT NOT NULL DEFAULT '',
  qc TEXT NOT NULL DEFAULT '',
  is_raw INTEGER NOT NULL DEFAULT 0 CHECK (is_raw IN (0, 1)),
  is_managed INTEGER NOT NULL DEFAULT 0 CHECK (is_managed IN (0, 1)),
  assay INTEGER REFERENCES assay (rid),
  studies TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(studies)),
  samples TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(samples)),
  collections TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(collections)),
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

CREATE INDEX dataset_name ON dataset (deleted, name, id, public, owner, owned_by);

CREATE INDEX dataset_name_fold ON dataset (name_fold);

CREATE INDEX dataset_assay ON dataset (assay);

CREATE TABLE datafile (
  rid INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  name_fold TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  dataset INTEGER REFERENCES dataset (rid),
  uri TEXT NOT NULL DEFAULT '',
  filetype TEXT NOT NULL DEFAULT '',
  mime_type TEXT NOT NULL DEFAULT '',
  readtype TEXT NOT NULL DEFAULT '',
  md5sum TEXT NOT NULL DEFAULT '',
  byte INTEGER NOT NULL DEFAULT 0,
  is_folder INTEGER NOT NULL DEFAULT 0 CHECK (is_folder IN (0, 1)),
  is_managed INTEGER NOT NULL DEFAULT 0 CHECK (is_managed IN (0, 1)),
  status TEXT NOT NULL DEFAULT '',
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

CREATE INDEX datafile_name ON datafile (deleted, name, id, public, owner, owned_by);

CREATE INDEX datafile_name_fold ON datafile (name_fold);

CREATE INDEX datafile_dataset ON datafile (dataset);

CREATE TABLE datafile_copy (
  rid INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  name_fold TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  datafile INTEGER REFERENCES datafile (rid),
  storage_volume INTEGER REFERENCES storage_volume (rid),
  uri TEXT NOT NULL,
  shortname TEXT NOT NULL DEFAULT '',
  is_primary_copy INTEGER NOT NULL DEFAULT 0 CHECK (is_primary_copy IN (0, 1)),
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

CREATE INDEX datafile_copy_name ON datafile_copy (deleted, name, id, public, owner, owned_by);

CREATE INDEX datafile_copy_name_fold ON datafile_copy (name_fold);

CREATE INDEX datafile_copy_datafile ON datafile_copy (datafile);

CREATE INDEX datafile_copy_storage_volume ON datafile_copy (storage_volume);

CREATE TABLE dropbox (
  rid INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  name_fold TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  path TEXT NOT NULL,
  user_group INTEGER REFERENCES user_group (rid),
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

CREATE INDEX dropbox_name ON dropbox (deleted, name, id, public, owner, owned_by);

CREATE INDEX dropbox_name_fold ON dropbox (name_fold);

CREATE TABLE archive (
  rid INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  name_fold TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  uri TEXT NOT NULL DEFAULT '',
  storage_volume INTEGER REFERENCES storage_volume (rid),
  collection INTEGER REFERENCES dataset_collection (rid),
  md5sum TEXT NOT NULL DEFAULT '',
  byte INTEGER NOT NULL DEFAULT 0,
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

CREATE INDEX archive_name ON archive (deleted, name, id, public, owner, owned_by);

CREATE INDEX archive_name_fold ON archive (name_fold);

CREATE INDEX archive_storage_volume ON archive (storage_volume);

CREATE INDEX archive_collection ON archive (collection);

CREATE INDEX consumable_expiry ON consumable (expiry);

CREATE INDEX consumable_aliquot_of ON consumable (aliquot_of);

CREATE INDEX specimen_expiry ON specimen (expiry);

CREATE INDEX specimen_unit ON specimen (unit);

CREATE INDEX specimen_aliquot_of ON specimen (aliquot_of);

CREATE INDEX place_address ON place (address);

CREATE TABLE sqlite_sequence(name,seq);

CREATE TABLE reminder_digest (
  user_rid INTEGER PRIMARY KEY REFERENCES user_account (rid) ON DELETE CASCADE,
  -- The last reminder that an e-mail contained.
  seen INTEGER NOT NULL DEFAULT 0,
  -- Earliest time of the next e-mail, in milliseconds. Moved on before one is sent, so that no crash repeats it.
  due INTEGER NOT NULL,
  sent INTEGER,
  -- The failure of the last e-mail.
  error TEXT
, asked TEXT NOT NULL DEFAULT '') STRICT;

CREATE TABLE webhook_delivery (
  rid INTEGER PRIMARY KEY,
  -- Derived from the webhook and the event, so that an event collected again after a power cut gets the same id.
  id TEXT NOT NULL UNIQUE,
  webhook INTEGER NOT NULL REFERENCES webhook (rid) ON DELETE CASCADE,
  event TEXT NOT NULL,
  -- Source of the event: a row of record_change, of job_end or of reminder.
  source TEXT NOT NULL CHECK (source IN ('record', 'job', 'reminder', 'ping')),
  seq INTEGER NOT NULL,
  -- Request body, identical for every attempt.
  payload TEXT NOT NULL CHECK (json_valid(payload)),
  state TEXT NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'delivered', 'failed', 'withheld')),
  created INTEGER NOT NULL,
  -- Earliest time of the next attempt.
  due INTEGER NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  attempted INTEGER,
  -- Last attempt: response status and first bytes, or the error.
  status INTEGER,
  answer TEXT,
  error TEXT
) STRICT;

CREATE INDEX webhook_delivery_pending ON webhook_delivery (webhook, rid) WHERE state = 'pending';

CREATE INDEX webhook_delivery_webhook ON webhook_delivery (webhook, rid);

CREATE TABLE anonymous_storage (
  client TEXT PRIMARY KEY,
  jobs INTEGER NOT NULL DEFAULT 0,
  models INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

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

CREATE TABLE task (
  rid INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  -- Such as backup or batch.
  kind TEXT NOT NULL,
  -- For people: the name of a corpus or the size of a batch.
  subject TEXT NOT NULL,
  -- As of a job: the submitter, and the key of an owner without an account.
  client TEXT NOT NULL,
  owner TEXT,
  state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'finished', 'failed', 'cancelled')),
  created INTEGER NOT NULL,
  started INTEGER,
  ended INTEGER,
  -- The outcome, or the reason of a failure.
  message TEXT NOT NULL DEFAULT '',
  result TEXT NOT NULL DEFAULT 'null' CHECK (json_valid(result)),
  -- What to do, for a task that continues after a restart.
  request TEXT NOT NULL DEFAULT 'null' CHECK (json_valid(request)),
  -- Identifies the computation that equal tasks share.
  shared TEXT, idempotency_key TEXT, request_digest TEXT CHECK ((request_digest IS NULL) = (idempotency_key IS NULL)),
  CHECK ((state IN ('queued', 'running')) = (ended IS NULL))
) STRICT;

CREATE INDEX task_kind ON task (kind, client);

CREATE INDEX task_owner ON task (coalesce(owner, client));

CREATE INDEX task_shared ON task (shared) WHERE shared IS NOT NULL;

CREATE INDEX task_unfinished ON task (kind) WHERE ended IS NULL;

CREATE INDEX job_owner ON job (substr(coalesce(owner, client), 1, 8));

CREATE TABLE batch_item (
  rid INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task (rid) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  -- The protein, and its line in a list.
  name TEXT NOT NULL,
  line INTEGER,
  -- Number of its group of patterns in the request of the task, from 0.
  patterns INTEGER NOT NULL,
  -- The job, once it is submitted.
  job INTEGER REFERENCES job (rid),
  -- Why there is no job.
  failure TEXT,
  -- Residues until then.
  query TEXT,
  UNIQUE (task, position),
  CHECK ((job IS NOT NULL) + (failure IS NOT NULL) + (query IS NOT NULL) = 1)
) STRICT;

CREATE TABLE record_text_source (
  source TEXT PRIMARY KEY,
  texts TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX task_idempotency_key ON task (client, kind, idempotency_key) WHERE idempotency_key IS NOT NULL;

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

CREATE TABLE class_learning (
  rid INTEGER PRIMARY KEY CHECK (rid = 1),
  inputs TEXT NOT NULL,
  learned INTEGER NOT NULL,
  reports TEXT NOT NULL
) STRICT;

CREATE INDEX job_protein ON job (coalesce(owner, client), upper(substr(json_extract(request, '$.query'), 1, 32)))
WHERE request IS NOT NULL;

CREATE TABLE product (
  rid INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  name_fold TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  model_type TEXT NOT NULL DEFAULT '',
  supplier TEXT NOT NULL DEFAULT '',
  catalogue_number TEXT NOT NULL DEFAULT '',
  price REAL,
  currency TEXT NOT NULL DEFAULT '',
  unit INTEGER REFERENCES vocabulary_term (rid),
  -- Over all tubes; without a unit, numbers of tubes.
  minimum_amount REAL,
  full_amount REAL,
  hazards TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(hazards)),
  hazard_statements TEXT NOT NULL DEFAULT '',
  safety_sheet TEXT NOT NULL DEFAULT '',
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

CREATE INDEX product_name ON product (deleted, name, id, public, owner, owned_by);

CREATE INDEX product_name_fold ON product (name_fold);

CREATE INDEX product_catalogue_number ON product (catalogue_number);

CREATE INDEX product_unit ON product (unit);

CREATE INDEX consumable_below_minimum ON consumable (below_minimum, rid);

CREATE INDEX specimen_below_minimum ON specimen (below_minimum, rid);

CREATE INDEX consumable_product ON consumable
  (product, unit, deleted, amount, status, below_minimum, expiry, received, modified, public, owner, owned_by)
  WHERE product IS NOT NULL;

CREATE TABLE stock_order (
  rid INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  name_fold TEXT NOT NULL,
  product INTEGER REFERENCES product (rid),
  -- The record to replace, if it has no product.
  consumable INTEGER REFERENCES consumable (rid),
  supplier TEXT NOT NULL DEFAULT '',
  catalogue_number TEXT NOT NULL DEFAULT '',
  quantity INTEGER NOT NULL DEFAULT 1,
  price REAL,
  currency TEXT NOT NULL DEFAULT '',
  account TEXT NOT NULL DEFAULT '',
  state TEXT NOT NULL DEFAULT 'REQUESTED' CHECK (state IN ('REQUESTED', 'ORDERED', 'RECEIVED')),
  ordered INTEGER,
  ordered_by INTEGER REFERENCES user_account (rid),
  arrives INTEGER,
  received INTEGER,
  received_by INTEGER REFERENCES user_account (rid),
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
, tubes_received INTEGER NOT NULL DEFAULT 0) STRICT;

CREATE INDEX stock_order_state ON stock_order (state, deleted, created);

CREATE INDEX stock_order_product ON stock_order (product);

CREATE INDEX stock_order_consumable ON stock_order (consumable);

CREATE INDEX stock_order_name_fold ON stock_order (name_fold);

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

CREATE TRIGGER protein_model_stored AFTER INSERT ON protein_model WHEN new.client NOT LIKE 'user %' AND new.client <> 'labd'
BEGIN
  INSERT INTO anonymous_storage (client, models) VALUES (new.client, octet_length(new.content))
  ON CONFLICT DO UPDATE SET models = models + excluded.models;
END;

CREATE TRIGGER protein_model_removed AFTER DELETE ON protein_model
BEGIN
  UPDATE anonymous_storage SET models = models - octet_length(old.content) WHERE client = old.client;
END;

CREATE INDEX consumable_due_back ON consumable (due_back) WHERE due_back IS NOT NULL;

CREATE INDEX specimen_due_back ON specimen (due_back) WHERE due_back IS NOT NULL;

CREATE TABLE reminder (
  -- Never reused, so that stock that is due again is a new event.
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  reader INTEGER NOT NULL REFERENCES user_account (rid) ON DELETE CASCADE,
  resource TEXT NOT NULL,
  record INTEGER NOT NULL,
  reason TEXT NOT NULL CHECK (reason IN ('below_minimum', 'expired', 'expiring')),
  -- Milliseconds.
  since INTEGER NOT NULL,
  UNIQUE (reader, resource, reason, record)
) STRICT;

CREATE TABLE code_pattern (
  rid INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  pattern TEXT NOT NULL,
  pattern_fold TEXT NOT NULL,
  list TEXT NOT NULL,
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

CREATE UNIQUE INDEX code_pattern_list ON code_pattern (list, model_type) WHERE deleted = 0;

CREATE TABLE code_counter (pattern TEXT PRIMARY KEY, last INTEGER NOT NULL) STRICT, WITHOUT ROWID;
