-- Consumables and specimens are looked for by parts of their names and descriptions more than anything else: the index
-- of trigrams that 0003-inventory.sql tells of.
CREATE VIRTUAL TABLE consumable_fts USING fts5 (name, description, content = '', contentless_delete = 1, tokenize = 'trigram case_sensitive 1');
INSERT INTO consumable_fts (rowid, name, description) SELECT rid, name_fold, fold(description) FROM consumable;
CREATE TRIGGER consumable_trigrams_insert AFTER INSERT ON consumable BEGIN
  INSERT INTO consumable_fts (rowid, name, description) VALUES (new.rid, new.name_fold, fold(new.description));
END;
CREATE TRIGGER consumable_trigrams_update AFTER UPDATE OF name, description ON consumable
WHEN new.name <> old.name OR new.description <> old.description BEGIN
  UPDATE consumable_fts SET name = new.name_fold, description = fold(new.description) WHERE rowid = new.rid;
END;
CREATE TRIGGER consumable_trigrams_delete AFTER DELETE ON consumable BEGIN
  DELETE FROM consumable_fts WHERE rowid = old.rid;
END;
CREATE VIRTUAL TABLE specimen_fts USING fts5 (name, description, content = '', contentless_delete = 1, tokenize = 'trigram case_sensitive 1');
INSERT INTO specimen_fts (rowid, name, description) SELECT rid, name_fold, fold(description) FROM specimen;
CREATE TRIGGER specimen_trigrams_insert AFTER INSERT ON specimen BEGIN
  INSERT INTO specimen_fts (rowid, name, description) VALUES (new.rid, new.name_fold, fold(new.description));
END;
CREATE TRIGGER specimen_trigrams_update AFTER UPDATE OF name, description ON specimen
WHEN new.name <> old.name OR new.description <> old.description BEGIN
  UPDATE specimen_fts SET name = new.name_fold, description = fold(new.description) WHERE rowid = new.rid;
END;
CREATE TRIGGER specimen_trigrams_delete AFTER DELETE ON specimen BEGIN
  DELETE FROM specimen_fts WHERE rowid = old.rid;
END;
