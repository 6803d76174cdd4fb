-- What belongs to a record has a history like the record itself: annotations, notes, files, given rights; and
-- memberships of groups. What is deleted stays, with when and by whom, and every write counts in `version`.

-- A change of such a part names the record that it belongs to, by whose rights it is told.
ALTER TABLE record_change ADD COLUMN host_kind TEXT;
ALTER TABLE record_change ADD COLUMN host_rid INTEGER;
CREATE INDEX record_change_host ON record_change (host_kind, host_rid, seq) WHERE host_kind IS NOT NULL;

ALTER TABLE annotation ADD COLUMN deleted INTEGER NOT NULL DEFAULT 0 CHECK (deleted IN (0, 1));
ALTER TABLE annotation ADD COLUMN deleted_date INTEGER;
ALTER TABLE annotation ADD COLUMN deleted_by INTEGER REFERENCES user_account (rid);
ALTER TABLE annotation ADD COLUMN version INTEGER NOT NULL DEFAULT 1;

ALTER TABLE note ADD COLUMN deleted INTEGER NOT NULL DEFAULT 0 CHECK (deleted IN (0, 1));
ALTER TABLE note ADD COLUMN deleted_date INTEGER;
ALTER TABLE note ADD COLUMN deleted_by INTEGER REFERENCES user_account (rid);
ALTER TABLE note ADD COLUMN version INTEGER NOT NULL DEFAULT 1;

-- The bytes of files, each once: versions name them by their SHA-256, and they stay while any version does.
CREATE TABLE attachment_content (
  rid INTEGER PRIMARY KEY,
  sha256 TEXT NOT NULL UNIQUE,
  content BLOB NOT NULL
) STRICT;
INSERT OR IGNORE INTO attachment_content (sha256, content) SELECT sha256, content FROM attachment;
ALTER TABLE attachment DROP COLUMN content;
ALTER TABLE attachment ADD COLUMN modified INTEGER NOT NULL DEFAULT 0;
ALTER TABLE attachment ADD COLUMN modified_by INTEGER REFERENCES user_account (rid);
ALTER TABLE attachment ADD COLUMN deleted INTEGER NOT NULL DEFAULT 0 CHECK (deleted IN (0, 1));
ALTER TABLE attachment ADD COLUMN deleted_date INTEGER;
ALTER TABLE attachment ADD COLUMN deleted_by INTEGER REFERENCES user_account (rid);
ALTER TABLE attachment ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
CREATE INDEX attachment_sha256 ON attachment (sha256);
UPDATE attachment SET modified = created, modified_by = created_by;

-- A right that was taken is a deleted row, and lives again when it is given again.
ALTER TABLE object_permission ADD COLUMN id TEXT;
ALTER TABLE object_permission ADD COLUMN created INTEGER NOT NULL DEFAULT 0;
ALTER TABLE object_permission ADD COLUMN modified INTEGER NOT NULL DEFAULT 0;
ALTER TABLE object_permission ADD COLUMN created_by INTEGER REFERENCES user_account (rid);
ALTER TABLE object_permission ADD COLUMN modified_by INTEGER REFERENCES user_account (rid);
ALTER TABLE object_permission ADD COLUMN deleted INTEGER NOT NULL DEFAULT 0 CHECK (deleted IN (0, 1));
ALTER TABLE object_permission ADD COLUMN deleted_date INTEGER;
ALTER TABLE object_permission ADD COLUMN deleted_by INTEGER REFERENCES user_account (rid);
ALTER TABLE object_permission ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
UPDATE object_permission SET created_by = 1, modified_by = 1, id = lower(hex(randomblob(4)) || '-' || hex(randomblob(2))
  || '-4' || substr(hex(randomblob(2)), 2) || '-a' || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)));
CREATE UNIQUE INDEX object_permission_id ON object_permission (id);

-- Memberships that are and that were. The table `membership`, which whoever asks for rights reads, holds those that are,
-- and is kept by the triggers below.
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

INSERT INTO membership_record (id, user_rid, group_rid, created, modified, created_by, modified_by)
SELECT lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-a'
  || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6))), user_rid, group_rid, u.joined, u.joined, 1, 1
FROM membership JOIN user_account AS u ON u.rid = user_rid WHERE user_rid <> 1;

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

-- Names of the groups for whose records a value of a type must be given, as JSON.
ALTER TABLE field_type ADD COLUMN mandatory_owned_by TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(mandatory_owned_by));
UPDATE record_change SET after = json_set(after, '$.mandatory_owned_by', '[]')
WHERE object_kind IN ('annotation_type', 'custom_property_type') AND after IS NOT NULL;

-- What there was already has its first version in one batch, no earlier than any other.
INSERT INTO record_batch (id, at, kind, user_rid)
SELECT '00000000-0000-4000-8000-000000000005', (SELECT coalesce(max(at), 0) FROM record_batch), 'import', 1
WHERE EXISTS (SELECT 1 FROM annotation) OR EXISTS (SELECT 1 FROM note) OR EXISTS (SELECT 1 FROM attachment)
  OR EXISTS (SELECT 1 FROM object_permission) OR EXISTS (SELECT 1 FROM membership_record);
INSERT INTO record_change (batch, object_kind, object_rid, op, version, after, host_kind, host_rid)
SELECT b.rid, 'annotation', t.rid, 'create', 1, json_object('id', t.id, 'object_kind', object_kind, 'object_rid', object_rid,
  'annotation_type', annotation_type, 'value', value, 'created', created, 'modified', modified, 'created_by', created_by,
  'modified_by', modified_by, 'deleted', 0, 'deleted_date', NULL, 'deleted_by', NULL, 'version', 1), object_kind, object_rid
FROM annotation AS t JOIN record_batch AS b ON b.id = '00000000-0000-4000-8000-000000000005' ORDER BY t.rid;
INSERT INTO record_change (batch, object_kind, object_rid, op, version, after, host_kind, host_rid)
SELECT b.rid, 'note', t.rid, 'create', 1, json_object('id', t.id, 'object_kind', object_kind, 'object_rid', object_rid,
  'content', content, 'created', created, 'modified', modified, 'created_by', created_by, 'modified_by', modified_by,
  'deleted', 0, 'deleted_date', NULL, 'deleted_by', NULL, 'version', 1), object_kind, object_rid
FROM note AS t JOIN record_batch AS b ON b.id = '00000000-0000-4000-8000-000000000005' ORDER BY t.rid;
INSERT INTO record_change (batch, object_kind, object_rid, op, version, after, host_kind, host_rid)
SELECT b.rid, 'attachment', t.rid, 'create', 1, json_object('id', t.id, 'object_kind', object_kind, 'object_rid', object_rid,
  'name', name, 'media_type', media_type, 'size', size, 'sha256', sha256, 'created', created, 'modified', modified,
  'created_by', created_by, 'modified_by', modified_by, 'deleted', 0, 'deleted_date', NULL, 'deleted_by', NULL,
  'version', 1), object_kind, object_rid
FROM attachment AS t JOIN record_batch AS b ON b.id = '00000000-0000-4000-8000-000000000005' ORDER BY t.rid;
INSERT INTO record_change (batch, object_kind, object_rid, op, version, after, host_kind, host_rid)
SELECT b.rid, 'grant', t.rid, 'create', 1, json_object('id', t.id, 'object_kind', object_kind, 'object_rid', object_rid,
  'user', t.user_rid, 'group', t.group_rid, 'view', can_view, 'change', can_change, 'delete', can_delete,
  'created', created, 'modified', modified, 'created_by', created_by, 'modified_by', modified_by,
  'deleted', 0, 'deleted_date', NULL, 'deleted_by', NULL, 'version', 1), object_kind, object_rid
FROM object_permission AS t JOIN record_batch AS b ON b.id = '00000000-0000-4000-8000-000000000005' ORDER BY t.rid;
INSERT INTO record_change (batch, object_kind, object_rid, op, version, after, host_kind, host_rid)
SELECT b.rid, 'membership', t.rid, 'create', 1, json_object('id', t.id, 'user', t.user_rid, 'group', t.group_rid,
  'created', created, 'modified', modified, 'created_by', created_by, 'modified_by', modified_by,
  'deleted', 0, 'deleted_date', NULL, 'deleted_by', NULL, 'version', 1), 'group', t.group_rid
FROM membership_record AS t JOIN record_batch AS b ON b.id = '00000000-0000-4000-8000-000000000005' ORDER BY t.rid;

-- Accounts that are made without the interface (`labd user add`) join their group in the first batch of all.
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
