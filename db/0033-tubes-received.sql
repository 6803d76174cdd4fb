-- Tubes of an order that have come: a delivery may come in parts.
ALTER TABLE stock_order ADD COLUMN tubes_received INTEGER NOT NULL DEFAULT 0;
