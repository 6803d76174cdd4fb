import { day, type Field, type FieldForm, flag, integer, number, reference, text } from "../model/field.ts";
import type { Resource } from "../model/resource.ts";

/** What is known of stock: how much is left, where it came from, until when it is good. */

/** The part of forms that has it, and a hint if its name does not say enough. */
const inForm = (group: NonNullable<FieldForm["group"]>, hint = ""): { form: FieldForm } => ({
  form: { group, hint },
});
const STOCK = inForm("Stock");
const SUPPLIER = inForm("Supplier");

const amount = (): Field => number("Amount, in the given unit.", { dependent: true, ...STOCK });
const unit = (): Field =>
  reference("term", "Unit of the amount: a term of a category of units.", { imports: "unit", ...STOCK });
const minimum = (): Field =>
  number("Amount below which stock is low, in the same unit.", {
    dependent: true,
    ...inForm("Stock", "Stock is low below this amount."),
  });
const belowMinimum = (): Field =>
  flag("Whether the amount is below the minimum.", false, { shown: "extra", write: "never" });
const supplier = (): Field => text("Supplier.", { example: "Metabion", ...SUPPLIER });
const lot = (): Field => text("Lot or batch number.", SUPPLIER);
const received = (): Field => day("Day of receipt.", STOCK);
const expiry = (): Field => day("Day of expiry.", STOCK);
const thaws = (): Field =>
  integer("How often it was frozen and thawed.", {
    form: { group: "Stock", label: "Freeze–thaw cycles", hint: "" },
  });
const aliquotOf = (name: string): Field =>
  reference(name, `The ${name} that this is an aliquot of.`, { outlived: true, ...STOCK });

/** Fields of consumables besides amount and unit. */
export const consumableStock = (): Record<string, Field> => ({
  minimum_amount: minimum(),
  below_minimum: belowMinimum(),
  supplier: supplier(),
  catalogue_number: text("Catalogue number of the supplier.", SUPPLIER),
  lot: lot(),
  price: number("Price, in the given currency.", SUPPLIER),
  currency: text("Currency of the price, by its code.", {
    example: "EUR",
    pattern: { expression: /^[A-Z]{3}$/, rule: "a currency code such as EUR" },
    ...inForm("Supplier", "By its code, such as EUR."),
  }),
  received: received(),
  opened: day("Day of first use.", STOCK),
  expiry: expiry(),
  freeze_thaw_count: thaws(),
  aliquot_of: aliquotOf("consumable"),
});

export const specimenStock = (): Record<string, Field> => ({
  amount: amount(),
  unit: unit(),
  minimum_amount: minimum(),
  below_minimum: belowMinimum(),
  supplier: supplier(),
  lot: lot(),
  received: received(),
  expiry: expiry(),
  freeze_thaw_count: thaws(),
  aliquot_of: aliquotOf("specimen"),
});

export const amountFields = (): Record<string, Field> => ({ amount: amount(), unit: unit() });

/** Whether records have an amount that can be consumed. */
export const hasStock = ({ fields }: Resource): boolean => "freeze_thaw_count" in fields;

const NOT_NEGATIVE = ["amount", "minimum_amount", "price", "freeze_thaw_count"];

/** Errors of amounts and counts below 0. */
export const stockErrors = (record: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(
    NOT_NEGATIVE.filter((name) => Number(record[name] ?? 0) < 0).map((name) => [
      name,
      "Ensure this value is greater than or equal to 0.",
    ]),
  );
