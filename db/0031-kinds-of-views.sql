-- Views of imports have the mapping of a sheet, by the same headers.
ALTER TABLE saved_view ADD COLUMN kind TEXT NOT NULL DEFAULT 'list';
