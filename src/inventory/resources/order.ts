import { day, integer, reference, text } from "../model/field.ts";
import { nameField, ownedResource } from "../model/resource.ts";
import { purchaseFields, stockErrors } from "./stock.ts";

/** Fields that only ordering and receiving change. */
const STEPS = ["state", "ordered", "ordered_by", "tubes_received", "received", "received_by"];

/** Fields that ordering and receiving set; those who may order take back what they did. */
export const ORDERED_FIELDS = new Set([...STEPS, "product", "quantity", "price", "account", "arrives"]);

/** An order of one product: requested, then ordered from the supplier, then received. */
export const order = ownedResource({
  name: "order",
  segment: "stocks/orders",
  model: "stocks.order",
  summary: "Orders of products: requested, ordered and received.",
  table: "stock_order",
  descriptionFields: [],
  fields: {
    name: nameField("Name of the product.", { example: "T4 DNA ligase", searchable: true }),
    state: text("REQUESTED, ORDERED or RECEIVED.", {
      choices: ["REQUESTED", "ORDERED", "RECEIVED"],
      initial: "REQUESTED",
      blank: false,
      form: { omitted: true, shownIn: "head" },
    }),
    product: reference("product", "The product.", { outlived: true }),
    consumable: reference("consumable", "The consumable to replace, without a product.", {
      outlived: true,
    }),
    ...purchaseFields(),
    quantity: integer("Number of tubes.", { initial: 1 }),
    account: text("Account that pays.", { form: { column: false } }),
    ordered: day("Day of the order.", { form: { omitted: true } }),
    ordered_by: reference("user", "Who ordered.", { form: { omitted: true, column: false } }),
    arrives: day("Expected day of arrival.", { form: { column: false } }),
    tubes_received: integer("Tubes that have come.", { form: { omitted: true, column: false } }),
    received: day("Day of receipt.", { form: { omitted: true, column: false } }),
    received_by: reference("user", "Who received the delivery.", { form: { omitted: true, column: false } }),
  },
  rules(record, _given, previous) {
    const before = previous ?? { state: "REQUESTED", tubes_received: 0 };
    const changed = STEPS.find((name) => (record[name] ?? null) !== (before[name] ?? null));
    return {
      ...stockErrors(record),
      ...(Number(record.quantity) >= 1 ? {} : { quantity: "Expected a whole number from 1." }),
      ...(changed
        ? {
            [changed]:
              "Only ordering and receiving change this: POST stocks/orders/place/ and <id>/receive/.",
          }
        : {}),
    };
  },
});
