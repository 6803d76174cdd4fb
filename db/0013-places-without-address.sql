-- A room can be entered before anybody looks up the address of its building.
DROP INDEX place_address;
ALTER TABLE place ADD COLUMN optional_address INTEGER REFERENCES address (rid);
UPDATE place SET optional_address = address;
ALTER TABLE place DROP COLUMN address;
ALTER TABLE place RENAME COLUMN optional_address TO address;
CREATE INDEX place_address ON place (address);
