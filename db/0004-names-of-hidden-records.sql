-- Names of categories and field metas are unique among the records that their author may view: a constraint on all of
-- them would confirm the names of hidden ones. SQLite cannot drop a constraint, so the tables are made anew.

CREATE TABLE new_field_meta (
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
INSERT INTO new_field_meta SELECT * FROM field_meta;
DROP TABLE field_meta;
ALTER TABLE new_field_meta RENAME TO field_meta;
CREATE INDEX field_meta_name ON field_meta (deleted, name, id, public, owner, owned_by);

CREATE TABLE new_cv_category (
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
INSERT INTO new_cv_category SELECT * FROM cv_category;
DROP TABLE cv_category;
ALTER TABLE new_cv_category RENAME TO cv_category;
CREATE INDEX cv_category_name ON cv_category (deleted, name, id, public, owner, owned_by);
