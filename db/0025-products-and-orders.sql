-- What laboratories buy: tubes and lots of one product belong together, and are ordered before they run out.
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

ALTER TABLE consumable ADD COLUMN product INTEGER REFERENCES product (rid);

-- Records that are empty or low by their status count, too.
DROP INDEX consumable_below_minimum;
ALTER TABLE consumable DROP COLUMN below_minimum;
ALTER TABLE consumable ADD COLUMN below_minimum INTEGER NOT NULL GENERATED ALWAYS AS
  (status IN ('EMPTY', 'LOW') OR coalesce(amount = 0, 0) OR coalesce(amount < minimum_amount, 0)) VIRTUAL;
CREATE INDEX consumable_below_minimum ON consumable (below_minimum, rid);

DROP INDEX specimen_below_minimum;
ALTER TABLE specimen DROP COLUMN below_minimum;
ALTER TABLE specimen ADD COLUMN below_minimum INTEGER NOT NULL GENERATED ALWAYS AS
  (status IN ('EMPTY', 'LOW') OR coalesce(amount = 0, 0) OR coalesce(amount < minimum_amount, 0)) VIRTUAL;
CREATE INDEX specimen_below_minimum ON specimen (below_minimum, rid);

-- Sums over the tubes of products read nothing but this index.
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
) STRICT;

CREATE INDEX stock_order_state ON stock_order (state, deleted, created);
CREATE INDEX stock_order_product ON stock_order (product);
CREATE INDEX stock_order_consumable ON stock_order (consumable);
CREATE INDEX stock_order_name_fold ON stock_order (name_fold);
