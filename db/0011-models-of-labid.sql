-- Models of LabID's command line client that labd had not: samples, studies, protocols, runs, datasets and their files.

ALTER TABLE equipment ADD COLUMN instrument_model INTEGER REFERENCES instrument_model (rid);

CREATE INDEX equipment_instrument_model ON equipment (instrument_model) WHERE instrument_model IS NOT NULL;

-- Twenty columns at once: adding each would read the whole schema again.
CREATE TABLE former_assay AS SELECT * FROM assay;

DROP TABLE assay;

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

INSERT INTO assay (rid, id, name, name_fold, description, model_type, state, experiment, multiplexed, created, modified, created_by, modified_by, owner, owned_by, public, deleted, deleted_date, deleted_by, version)
SELECT rid, id, name, name_fold, description, model_type, state, experiment, multiplexed, created, modified, created_by, modified_by, owner, owned_by, public, deleted, deleted_date, deleted_by, version FROM former_assay;

DROP TABLE former_assay;

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
