/**
 * Stock that needs attention, and that of the reader: views of the lists of stock, panels of the dashboard, and reasons
 * for reminders. Pages bundle this file, so it imports nothing.
 */

export interface StockView {
  title: string;
  /** Filters of the lists, as their pages and the REST API take them. */
  filters: Record<string, string>;
  ordering: string;
}

export const EXPIRING: StockView = {
  title: "Expiring in 30 days",
  filters: { expiry__gte: "today", expiry__lte: "30d" },
  ordering: "expiry",
};

export const LOW: StockView = {
  title: "Below minimum",
  filters: { below_minimum: "true" },
  // The emptiest first.
  ordering: "amount,name",
};

export const OWN_STOCK: StockView = { title: "Mine", filters: { mine: "true" }, ordering: "-modified" };

export const STOCK_VIEWS = [EXPIRING, LOW, OWN_STOCK];
