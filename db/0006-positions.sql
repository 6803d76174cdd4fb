-- Locations may have a grid of slots or a capacity, and what is stored in them a position.
ALTER TABLE location ADD COLUMN grid_rows INTEGER CHECK (grid_rows > 0);
ALTER TABLE location ADD COLUMN grid_columns INTEGER CHECK (grid_columns > 0);
ALTER TABLE location ADD COLUMN numbering TEXT NOT NULL DEFAULT 'A1';
ALTER TABLE location ADD COLUMN capacity INTEGER CHECK (capacity > 0);
ALTER TABLE consumable ADD COLUMN position TEXT NOT NULL DEFAULT '';
ALTER TABLE specimen ADD COLUMN position TEXT NOT NULL DEFAULT '';

-- Occupied slots. Triggers follow the records, so that two of them, also of different lists, cannot be in one slot.
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
