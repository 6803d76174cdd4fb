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

/** Days before an expiry from which stock is running out. */
export const EXPIRING_DAYS = 30;

export const EXPIRING: StockView = {
  title: `Expiring in ${EXPIRING_DAYS} days`,
  filters: { expiry__gte: "today", expiry__lte: `${EXPIRING_DAYS}d` },
  ordering: "expiry",
};

export const LOW: StockView = {
  title: "Below minimum",
  filters: { below_minimum: "true" },
  // The emptiest first.
  ordering: "amount,name",
};

export const EXPIRED: StockView = {
  title: "Expired",
  filters: { expiry__lt: "today" },
  ordering: "expiry",
};

/** The records that are running out, unless other tubes of their product last. */
export const RUNNING_OUT = [LOW, EXPIRED, EXPIRING];

export const TAKEN_OUT: StockView = {
  title: "Taken out",
  filters: { taken_out: "true" },
  ordering: "due_back",
};

export const OVERDUE: StockView = {
  title: "Overdue",
  filters: { due_back__lt: "now" },
  ordering: "due_back",
};

export const OWN_STOCK: StockView = { title: "Mine", filters: { mine: "true" }, ordering: "-modified" };

export const STOCK_VIEWS = [EXPIRING, LOW, TAKEN_OUT, OVERDUE, OWN_STOCK];
