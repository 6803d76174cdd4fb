-- LabID's client reads whether the samples of an assay are measured together.
ALTER TABLE assay ADD COLUMN multiplexed INTEGER NOT NULL DEFAULT 0 CHECK (multiplexed IN (0, 1));
