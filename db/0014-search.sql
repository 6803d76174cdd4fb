-- Trigrams of texts that one search of everything looks into.
CREATE VIRTUAL TABLE sample_fts USING fts5 (name, description, content = '', contentless_delete = 1, tokenize = 'trigram case_sensitive 1');

INSERT INTO sample_fts (rowid, name, description) SELECT rid, name_fold, fold(description) FROM sample;

CREATE TRIGGER sample_trigrams_insert AFTER INSERT ON sample BEGIN
  INSERT INTO sample_fts (rowid, name, description) VALUES (new.rid, new.name_fold, fold(new.description));
END;

CREATE TRIGGER sample_trigrams_update AFTER UPDATE OF name, description ON sample
WHEN new.name <> old.name OR new.description <> old.description BEGIN
  UPDATE sample_fts SET name = new.name_fold, description = fold(new.description) WHERE rowid = new.rid;
END;

CREATE TRIGGER sample_trigrams_delete AFTER DELETE ON sample BEGIN
  DELETE FROM sample_fts WHERE rowid = old.rid;
END;

CREATE VIRTUAL TABLE dataset_fts USING fts5 (name, description, content = '', contentless_delete = 1, tokenize = 'trigram case_sensitive 1');

INSERT INTO dataset_fts (rowid, name, description) SELECT rid, name_fold, fold(description) FROM dataset;

CREATE TRIGGER dataset_trigrams_insert AFTER INSERT ON dataset BEGIN
  INSERT INTO dataset_fts (rowid, name, description) VALUES (new.rid, new.name_fold, fold(new.description));
END;

CREATE TRIGGER dataset_trigrams_update AFTER UPDATE OF name, description ON dataset
WHEN new.name <> old.name OR new.description <> old.description BEGIN
  UPDATE dataset_fts SET name = new.name_fold, description = fold(new.description) WHERE rowid = new.rid;
END;

CREATE TRIGGER dataset_trigrams_delete AFTER DELETE ON dataset BEGIN
  DELETE FROM dataset_fts WHERE rowid = old.rid;
END;

CREATE VIRTUAL TABLE datafile_fts USING fts5 (name, description, content = '', contentless_delete = 1, tokenize = 'trigram case_sensitive 1');

INSERT INTO datafile_fts (rowid, name, description) SELECT rid, name_fold, fold(description) FROM datafile;

CREATE TRIGGER datafile_trigrams_insert AFTER INSERT ON datafile BEGIN
  INSERT INTO datafile_fts (rowid, name, description) VALUES (new.rid, new.name_fold, fold(new.description));
END;

CREATE TRIGGER datafile_trigrams_update AFTER UPDATE OF name, description ON datafile
WHEN new.name <> old.name OR new.description <> old.description BEGIN
  UPDATE datafile_fts SET name = new.name_fold, description = fold(new.description) WHERE rowid = new.rid;
END;

CREATE TRIGGER datafile_trigrams_delete AFTER DELETE ON datafile BEGIN
  DELETE FROM datafile_fts WHERE rowid = old.rid;
END;

CREATE VIRTUAL TABLE datafile_copy_fts USING fts5 (name, description, content = '', contentless_delete = 1, tokenize = 'trigram case_sensitive 1');

INSERT INTO datafile_copy_fts (rowid, name, description) SELECT rid, name_fold, fold(description) FROM datafile_copy;

CREATE TRIGGER datafile_copy_trigrams_insert AFTER INSERT ON datafile_copy BEGIN
  INSERT INTO datafile_copy_fts (rowid, name, description) VALUES (new.rid, new.name_fold, fold(new.description));
END;

CREATE TRIGGER datafile_copy_trigrams_update AFTER UPDATE OF name, description ON datafile_copy
WHEN new.name <> old.name OR new.description <> old.description BEGIN
  UPDATE datafile_copy_fts SET name = new.name_fold, description = fold(new.description) WHERE rowid = new.rid;
END;

CREATE TRIGGER datafile_copy_trigrams_delete AFTER DELETE ON datafile_copy BEGIN
  DELETE FROM datafile_copy_fts WHERE rowid = old.rid;
END;

CREATE VIRTUAL TABLE assay_fts USING fts5 (name, description, content = '', contentless_delete = 1, tokenize = 'trigram case_sensitive 1');

INSERT INTO assay_fts (rowid, name, description) SELECT rid, name_fold, fold(description) FROM assay;

CREATE TRIGGER assay_trigrams_insert AFTER INSERT ON assay BEGIN
  INSERT INTO assay_fts (rowid, name, description) VALUES (new.rid, new.name_fold, fold(new.description));
END;

CREATE TRIGGER assay_trigrams_update AFTER UPDATE OF name, description ON assay
WHEN new.name <> old.name OR new.description <> old.description BEGIN
  UPDATE assay_fts SET name = new.name_fold, description = fold(new.description) WHERE rowid = new.rid;
END;

CREATE TRIGGER assay_trigrams_delete AFTER DELETE ON assay BEGIN
  DELETE FROM assay_fts WHERE rowid = old.rid;
END;

CREATE VIRTUAL TABLE experiment_fts USING fts5 (name, description, content = '', contentless_delete = 1, tokenize = 'trigram case_sensitive 1');

INSERT INTO experiment_fts (rowid, name, description) SELECT rid, name_fold, fold(description) FROM experiment;

CREATE TRIGGER experiment_trigrams_insert AFTER INSERT ON experiment BEGIN
  INSERT INTO experiment_fts (rowid, name, description) VALUES (new.rid, new.name_fold, fold(new.description));
END;

CREATE TRIGGER experiment_trigrams_update AFTER UPDATE OF name, description ON experiment
WHEN new.name <> old.name OR new.description <> old.description BEGIN
  UPDATE experiment_fts SET name = new.name_fold, description = fold(new.description) WHERE rowid = new.rid;
END;

CREATE TRIGGER experiment_trigrams_delete AFTER DELETE ON experiment BEGIN
  DELETE FROM experiment_fts WHERE rowid = old.rid;
END;

CREATE VIRTUAL TABLE project_fts USING fts5 (name, description, content = '', contentless_delete = 1, tokenize = 'trigram case_sensitive 1');

INSERT INTO project_fts (rowid, name, description) SELECT rid, name_fold, fold(description) FROM project;

CREATE TRIGGER project_trigrams_insert AFTER INSERT ON project BEGIN
  INSERT INTO project_fts (rowid, name, description) VALUES (new.rid, new.name_fold, fold(new.description));
END;

CREATE TRIGGER project_trigrams_update AFTER UPDATE OF name, description ON project
WHEN new.name <> old.name OR new.description <> old.description BEGIN
  UPDATE project_fts SET name = new.name_fold, description = fold(new.description) WHERE rowid = new.rid;
END;

CREATE TRIGGER project_trigrams_delete AFTER DELETE ON project BEGIN
  DELETE FROM project_fts WHERE rowid = old.rid;
END;

CREATE VIRTUAL TABLE note_fts USING fts5 (content, content = '', contentless_delete = 1, tokenize = 'trigram case_sensitive 1');

INSERT INTO note_fts (rowid, content) SELECT rid, fold(content) FROM note;

CREATE TRIGGER note_trigrams_insert AFTER INSERT ON note BEGIN
  INSERT INTO note_fts (rowid, content) VALUES (new.rid, fold(new.content));
END;

CREATE TRIGGER note_trigrams_update AFTER UPDATE OF content ON note WHEN new.content <> old.content BEGIN
  UPDATE note_fts SET content = fold(new.content) WHERE rowid = new.rid;
END;

CREATE TRIGGER note_trigrams_delete AFTER DELETE ON note BEGIN
  DELETE FROM note_fts WHERE rowid = old.rid;
END;

CREATE VIRTUAL TABLE attachment_fts USING fts5 (name, content = '', contentless_delete = 1, tokenize = 'trigram case_sensitive 1');

INSERT INTO attachment_fts (rowid, name) SELECT rid, fold(name) FROM attachment;

CREATE TRIGGER attachment_trigrams_insert AFTER INSERT ON attachment BEGIN
  INSERT INTO attachment_fts (rowid, name) VALUES (new.rid, fold(new.name));
END;

CREATE TRIGGER attachment_trigrams_update AFTER UPDATE OF name ON attachment WHEN new.name <> old.name BEGIN
  UPDATE attachment_fts SET name = fold(new.name) WHERE rowid = new.rid;
END;

CREATE TRIGGER attachment_trigrams_delete AFTER DELETE ON attachment BEGIN
  DELETE FROM attachment_fts WHERE rowid = old.rid;
END;
