-- Lists that somebody wants to see again, by what their addresses ask for. Columns that every table has are told of in
-- 0003-inventory.sql.
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
) STRICT;
CREATE INDEX saved_view_list ON saved_view (deleted, list, name, id, public, owner, owned_by);
CREATE INDEX saved_view_name_fold ON saved_view (name_fold);
