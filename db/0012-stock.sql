-- What laboratories record of their stock: where it came from, until when it is good, and how much is left.
ALTER TABLE consumable ADD COLUMN minimum_amount REAL;
ALTER TABLE consumable ADD COLUMN below_minimum INTEGER NOT NULL GENERATED ALWAYS AS
  (amount IS NOT NULL AND minimum_amount IS NOT NULL AND amount < minimum_amount) VIRTUAL;
ALTER TABLE consumable ADD COLUMN supplier TEXT NOT NULL DEFAULT '';
ALTER TABLE consumable ADD COLUMN catalogue_number TEXT NOT NULL DEFAULT '';
ALTER TABLE consumable ADD COLUMN lot TEXT NOT NULL DEFAULT '';
ALTER TABLE consumable ADD COLUMN price REAL;
ALTER TABLE consumable ADD COLUMN currency TEXT NOT NULL DEFAULT '';
ALTER TABLE consumable ADD COLUMN received INTEGER;
ALTER TABLE consumable ADD COLUMN opened INTEGER;
ALTER TABLE consumable ADD COLUMN expiry INTEGER;
ALTER TABLE consumable ADD COLUMN freeze_thaw_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE consumable ADD COLUMN aliquot_of INTEGER REFERENCES consumable (rid);
CREATE INDEX consumable_expiry ON consumable (expiry);
CREATE INDEX consumable_aliquot_of ON consumable (aliquot_of);

ALTER TABLE specimen ADD COLUMN amount REAL;
ALTER TABLE specimen ADD COLUMN unit INTEGER REFERENCES vocabulary_term (rid);
ALTER TABLE specimen ADD COLUMN minimum_amount REAL;
ALTER TABLE specimen ADD COLUMN below_minimum INTEGER NOT NULL GENERATED ALWAYS AS
  (amount IS NOT NULL AND minimum_amount IS NOT NULL AND amount < minimum_amount) VIRTUAL;
ALTER TABLE specimen ADD COLUMN supplier TEXT NOT NULL DEFAULT '';
ALTER TABLE specimen ADD COLUMN lot TEXT NOT NULL DEFAULT '';
ALTER TABLE specimen ADD COLUMN received INTEGER;
ALTER TABLE specimen ADD COLUMN expiry INTEGER;
ALTER TABLE specimen ADD COLUMN freeze_thaw_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE specimen ADD COLUMN aliquot_of INTEGER REFERENCES specimen (rid);
CREATE INDEX specimen_expiry ON specimen (expiry);
CREATE INDEX specimen_unit ON specimen (unit);
CREATE INDEX specimen_aliquot_of ON specimen (aliquot_of);
