-- What a scanner reads is looked for in every list that has barcodes.
CREATE INDEX location_barcode ON location (barcode);
CREATE INDEX equipment_barcode ON equipment (barcode);
CREATE INDEX consumable_barcode ON consumable (barcode);
CREATE INDEX specimen_barcode ON specimen (barcode);

-- What was found in a location when somebody looked. Columns that every table has are told of in 0003-inventory.sql.
CREATE TABLE stocktake (
  rid INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  name_fold TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  -- Id of the location, and no reference: that it was counted once must not keep it from being deleted.
  location TEXT NOT NULL,
  state TEXT NOT NULL DEFAULT 'OPEN',
  -- What it came to, as JSON, once it was applied.
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

-- What was scanned, each code once, from any number of devices.
CREATE TABLE stocktake_scan (
  stocktake INTEGER NOT NULL REFERENCES stocktake (rid) ON DELETE CASCADE,
  code TEXT NOT NULL,
  -- The record that it meant to who scanned it; null where it meant none, or several.
  object_kind TEXT,
  object_rid INTEGER,
  -- The location in which it was scanned, where that is known more closely than the whole.
  place INTEGER REFERENCES location (rid) ON DELETE SET NULL,
  at INTEGER NOT NULL,
  user_rid INTEGER NOT NULL REFERENCES user_account (rid),
  PRIMARY KEY (stocktake, code)
) STRICT, WITHOUT ROWID;
CREATE INDEX stocktake_scan_place ON stocktake_scan (place) WHERE place IS NOT NULL;
