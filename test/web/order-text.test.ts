import { expect, test } from "bun:test";
import { formatMoney, formatTotal, toOrderText } from "../../src/web/inventory/order-text.ts";

const line = { name: "Ligase", supplier: "NEB", catalogue_number: "M0202S", quantity: 2 };

test.each([
  [74, "EUR", "€\u00A074.00"],
  [1074.5, "USD", "$\u00A01,074.50"],
  [12.5, "CHF", "CHF\u00A012.50"],
  [0.5, "", "0.50"],
  [null, "EUR", ""],
])("%p in %p is printed as %p", (value, currency, text) => {
  expect(formatMoney(value, currency)).toBe(text);
});

test("totals are by currency, and leave out lines without a price", () => {
  const lines = [
    { ...line, price: 37, currency: "EUR" },
    { ...line, price: 5, currency: "GBP" },
    { ...line, price: null, currency: "EUR" },
  ];
  expect(formatTotal(lines)).toBe("€\u00A074.00 + £\u00A010.00");
  expect(toOrderText(lines.slice(0, 1))).toBe("2 × Ligase, M0202S\n\nTotal at the last prices: €\u00A074.00");
});
