import {
  computed,
  day,
  type Field,
  type FieldForm,
  flag,
  instant,
  integer,
  number,
  printInstant,
  reference,
  Shape,
  text,
} from "../model/field.ts";
import type { Resource } from "../model/resource.ts";

/** Fields of stock: the amount that is left, the supplier, the day of expiry. */

/** Forms have it under Stock, and the card of the stock shows it. */
const stockForm = (form: FieldForm = {}): { form: FieldForm } => ({
  form: { group: "Stock", hint: "", shownIn: "stock", ...form },
});
/** Forms have it under Supplier, and lists only where it is chosen. */
const supplierForm = (form: FieldForm = {}): { form: FieldForm } => ({
  form: { group: "Supplier", hint: "", column: false, ...form },
});

const amount = (): Field =>
  number("Amount, in the given unit.", {
    dependent: true,
    synonyms: "vol,volume,quantity,qty,amt,amount left,mass,weight,size,remaining",
    ...stockForm({ suffix: "unit", look: "amount", summary: true }),
  });
const unit = (): Field =>
  reference("term", "Unit of the amount: a term of a category of units.", {
    imports: "unit",
    synonyms: "units,uom,unit of measure",
    ...stockForm(),
  });
const minimum = (): Field =>
  number("Amount below which stock is low, in the same unit.", {
    dependent: true,
    synonyms: "minimum,min,min amount,minimum stock,reorder point,reorder level,low below",
    ...stockForm({ hint: "Stock is low below this amount.", suffix: "unit", column: false }),
  });
const belowMinimum = (): Field =>
  flag("Whether this record alone is empty or low; `running_out/` judges all tubes of a product.", false, {
    shown: "extra",
    write: "never",
    ...stockForm(),
  });
const supplier = (): Field =>
  text("Supplier.", {
    example: "Metabion",
    searchable: true,
    synonyms: "ordered from,vendor,manufacturer,company,brand,bought from,provider,source",
    ...supplierForm({ summary: true }),
  });
const lot = (): Field =>
  text("Lot or batch number.", {
    searchable: true,
    synonyms: "lot no,lot id,batch no,batch,lot batch,charge",
    ...supplierForm({ shownIn: "stock", summary: true }),
  });
const received = (): Field =>
  day("Day of receipt.", {
    synonyms: "date received,received on,received date,arrived,arrival,delivered,delivery date",
    ...stockForm({ column: false }),
  });
const expiry = (): Field =>
  day("Day of expiry.", {
    synonyms:
      "exp date,expiry date,expiration date,expires,expires on,expiration,exp,use by,best before,valid until",
    ...stockForm({ look: "expiry", summary: true }),
  });
const thaws = (): Field =>
  integer("Number of times that the stock was frozen and thawed.", {
    synonyms: "freeze thaws,freeze thaw,ft cycles,thaws,thaw count",
    ...stockForm({ label: "Freeze–thaw cycles", beside: "expiry", column: false }),
  });
const aliquotSource = (name: string): Field =>
  reference(name, `The ${name} that this is an aliquot of.`, {
    outlived: true,
    form: { group: "Stock", hint: "", shownIn: "lineage", column: false, summary: true },
  });

const HIDDEN = { shown: "extra", forClients: true, form: { shownIn: "none" } } as const;
const nullableTime = { write: "optional", nullable: true, initial: null, dependent: true } as const;

/** Who has stock that was taken out of its location. */
const takenOut = (): Record<string, Field> => ({
  taken_out: flag("Whether it is taken out.", false, { write: "never", ...HIDDEN }),
  taken_out_by: reference("user", "The person who has it.", HIDDEN),
  taken_out_at: instant("When it was taken out.", { ...nullableTime, shown: "internal" }),
  taken_out_since: computed("When it was taken out.", {
    ...HIDDEN,
    select: "t.taken_out_at",
    shape: Shape.Union([Shape.String({ format: "date-time" }), Shape.Null()]),
    compute: ({ taken_out_since: at }) => (at === null ? null : printInstant(Number(at))),
  }),
  due_back: instant("When it is due back.", { ...nullableTime, ...HIDDEN }),
});

const catalogueNumber = (): Field =>
  text("Catalogue number of the supplier.", {
    searchable: true,
    synonyms:
      "cat no,catalog no,cat,catalog,catalogue,cat id,article no,art no,product no,product code,order no,reference no,ref,sku,item no,part no",
    ...supplierForm({ beside: "supplier" }),
  });

/** Price and currency. */
const priceFields = (): Record<string, Field> => ({
  price: number("Price, in the given currency.", {
    synonyms: "cost,unit price,list price",
    ...supplierForm({ suffix: "currency" }),
  }),
  currency: text("Currency of the price, by its code.", {
    example: "EUR",
    pattern: { expression: /^[A-Z]{3}$/, rule: "a currency code such as EUR" },
    ...supplierForm({ hint: "Currency code, such as EUR." }),
  }),
});

/** Where a product is bought, and for how much. */
export const purchaseFields = (): Record<string, Field> => ({
  supplier: supplier(),
  catalogue_number: catalogueNumber(),
  ...priceFields(),
});

const ANIMALS = ["CNIDARIA", "FISH", "PLANARIA"];
const FROZEN = ["ANTIBODY", "ENZYME", "OLIGO", "VIRUS"];
const BOUGHT = ["ANTIBODY", "EMGRID", "ENZYME", "OLIGO", "SLIDE"];
const PERISHABLE = ["ANTIBODY", "ENZYME"];

/** Types of records whose forms ask for a field. Forms of types that are not here, such as new ones, ask for all. */
const TYPES: Readonly<Record<string, readonly string[]>> = {
  minimum_amount: [...BOUGHT, "VIRUS"],
  supplier: [...BOUGHT, ...ANIMALS, "VIRUS"],
  catalogue_number: BOUGHT,
  lot: [...BOUGHT, "VIRUS"],
  price: BOUGHT,
  currency: BOUGHT,
  product: BOUGHT,
  received: [...BOUGHT, ...ANIMALS, "VIRUS"],
  opened: PERISHABLE,
  expiry: PERISHABLE,
  freeze_thaw_count: FROZEN,
  aliquot_of: FROZEN,
};

/** Fields whose forms ask for what the type of the record has. */
const askedByType = (fields: Record<string, Field>): Record<string, Field> => {
  for (const [name, types] of Object.entries(TYPES))
    if (fields[name]) fields[name].form = { ...fields[name].form, types };
  return fields;
};

/** Fields of consumables besides amount and unit. */
export const consumableStock = (): Record<string, Field> =>
  askedByType({
    minimum_amount: minimum(),
    below_minimum: belowMinimum(),
    supplier: supplier(),
    catalogue_number: catalogueNumber(),
    lot: lot(),
    ...priceFields(),
    product: reference(
      "product",
      "The product that this is a tube or lot of.",
      supplierForm({ label: "Product", hint: "Tubes and lots of one product are counted together." }),
    ),
    received: received(),
    opened: day("Day of first use.", {
      synonyms: "date opened,opened on,open date,first use",
      ...stockForm({ beside: "received", column: false }),
    }),
    expiry: expiry(),
    freeze_thaw_count: thaws(),
    aliquot_of: aliquotSource("consumable"),
    ...takenOut(),
  });

export const specimenStock = (): Record<string, Field> =>
  askedByType({
    amount: amount(),
    unit: unit(),
    minimum_amount: minimum(),
    below_minimum: belowMinimum(),
    supplier: supplier(),
    lot: lot(),
    received: received(),
    expiry: expiry(),
    freeze_thaw_count: thaws(),
    aliquot_of: aliquotSource("specimen"),
    ...takenOut(),
  });

export const amountFields = (): Record<string, Field> => ({ amount: amount(), unit: unit() });

/** Fields that using stock changes; those who may use it take back what they did. */
export const USED_FIELDS = new Set(
  "amount status freeze_thaw_count location position taken_out_by taken_out_at due_back".split(" "),
);

/** Values of stock that nobody has taken out. */
export const PUT_BACK = { taken_out_by: null, taken_out_at: null, due_back: null };

const NON_NEGATIVE_FIELDS = ["amount", "minimum_amount", "full_amount", "price", "freeze_thaw_count"];

/** Errors of amounts and counts below 0. */
export const stockErrors = (record: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(
    NON_NEGATIVE_FIELDS.filter((name) => Number(record[name] ?? 0) < 0).map((name) => [
      name,
      "Ensure this value is greater than or equal to 0.",
    ]),
  );

/** Stock that is moved to another place is put back there. Returns errors by field. */
export const stockRules: NonNullable<Resource["rules"]> = (record, given, previous) => {
  const isMoved = ["location", "position"].some((name) => record[name] !== previous?.[name]);
  const isPutBack = previous && isMoved && record.location !== null && !given.has("taken_out_by");
  if (isPutBack || record.taken_out_by === null) Object.assign(record, PUT_BACK);
  return stockErrors(record);
};
