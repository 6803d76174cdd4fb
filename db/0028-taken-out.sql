-- Who has stock that was taken out, since when, and when it is due back. Its slot stays reserved.
ALTER TABLE consumable ADD COLUMN taken_out_by INTEGER REFERENCES user_account (rid);
ALTER TABLE consumable ADD COLUMN taken_out_at INTEGER;
ALTER TABLE consumable ADD COLUMN due_back INTEGER;
ALTER TABLE consumable ADD COLUMN taken_out INTEGER NOT NULL GENERATED ALWAYS AS (taken_out_by IS NOT NULL) VIRTUAL;
CREATE INDEX consumable_due_back ON consumable (due_back) WHERE due_back IS NOT NULL;

ALTER TABLE specimen ADD COLUMN taken_out_by INTEGER REFERENCES user_account (rid);
ALTER TABLE specimen ADD COLUMN taken_out_at INTEGER;
ALTER TABLE specimen ADD COLUMN due_back INTEGER;
ALTER TABLE specimen ADD COLUMN taken_out INTEGER NOT NULL GENERATED ALWAYS AS (taken_out_by IS NOT NULL) VIRTUAL;
CREATE INDEX specimen_due_back ON specimen (due_back) WHERE due_back IS NOT NULL;
