-- What is counted while somebody types, or opens a room, is in one index, so that the records themselves are not read:
-- the folded name, which is looked at where what was typed is too short for trigrams; and what a location lies in.
DROP INDEX location_label;
CREATE INDEX location_label ON location (deleted, label, id, public, owner, owned_by, label_fold);
DROP INDEX location_place;
CREATE INDEX location_place ON location (place, parent, equipment, deleted, public, owner, owned_by);
DROP INDEX location_equipment;
CREATE INDEX location_equipment ON location (equipment, parent, deleted, public, owner, owned_by);
DROP INDEX consumable_name;
CREATE INDEX consumable_name ON consumable (deleted, name, id, public, owner, owned_by, name_fold);
DROP INDEX specimen_name;
CREATE INDEX specimen_name ON specimen (deleted, name, id, public, owner, owned_by, name_fold);
