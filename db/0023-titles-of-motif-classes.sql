-- Names of imported motif classes for people; tables that earlier versions imported lack them.
ALTER TABLE motif_class ADD COLUMN title TEXT NOT NULL DEFAULT '';
