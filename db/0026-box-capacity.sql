-- The boxes that fit into a location, such as a rack.
ALTER TABLE location ADD COLUMN box_capacity INTEGER;
