import type { StockLeft } from "../../inventory/api/route-orders.ts";

/** Orders as people send them to suppliers. */

/** One product of an order. */
export interface OrderLine {
  name: string;
  supplier: string;
  catalogue_number: string;
  quantity: number;
  price: number | null;
  currency: string;
}

/** `€ 74.00`; empty without a price, and the number alone without a currency. */
export function formatMoney(value: number | null, currency: string): string {
  if (value === null) return "";
  if (currency === "") return value.toLocaleString("en", { minimumFractionDigits: 2 });
  const money = { style: "currency", currency } as const;
  // A space that does not break, as in `CHF 74.00`.
  return value.toLocaleString("en", money).replace(/^([^\d\s]+)\s*(?=\d)/, "$1\u00A0");
}

/** The sums of all prices, by currency: `€ 423.00`. Lines without a price are left out. */
export function formatTotal(lines: readonly OrderLine[]): string {
  const priced = lines.filter(({ price }) => price !== null);
  const sums = Map.groupBy(priced, ({ currency }) => currency);
  return [...sums]
    .map(([currency, of]) =>
      formatMoney(
        of.reduce((sum, { price, quantity }) => sum + price! * quantity, 0),
        currency,
      ),
    )
    .join(" + ");
}

/** An order in plain text, one product a line. */
export const toOrderText = (lines: readonly OrderLine[]): string =>
  [
    ...lines.map(({ name, catalogue_number, quantity }) =>
      [`${quantity} × ${name}`, catalogue_number].filter((word) => word !== "").join(", "),
    ),
    ...(formatTotal(lines) === "" ? [] : ["", `Total at the last prices: ${formatTotal(lines)}`]),
  ].join("\n");

const COLUMNS = ["supplier", "catalogue_number", "name", "quantity", "price", "currency"] as const;

/** An order in CSV (RFC 4180). Cells that spreadsheets would run as formulas begin with an apostrophe. */
export const toOrderCsv = (lines: readonly OrderLine[]): string =>
  [COLUMNS.join(","), ...lines.map((line) => COLUMNS.map((name) => toCell(line[name])).join(","))]
    .map((row) => `${row}\r\n`)
    .join("");

const toCell = (value: string | number | null): string => {
  const text = String(value ?? "");
  const safe = typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

/** The part of a request that names what a row orders. */
export const toItem = ({ order, segment, id }: Pick<StockLeft, "order" | "segment" | "id">) =>
  order ? { order: order.id } : segment === "stocks/products" ? { product: id } : { consumable: id };
