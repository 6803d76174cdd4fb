import { AmbiguousCode, NotFound } from "./errors.ts";
import { toPlain } from "./records.ts";
import type { Sender } from "./send.ts";

/** The record of a code. */
export interface Found {
  /** Its list, such as `stocks/consumables`. */
  segment: string;
  id: string;
  name: string;
  /** Path of its location. */
  where?: string | null;
}

/** Stock after a change. */
export interface StockRecord {
  id: string;
  name: string;
  /** Amount left, in `unit__name`. */
  amount: number | null;
  unit__name: string | null;
  location__label: string | null;
  position: string;
  [field: string]: unknown;
}

/** Stock that is running out. */
export interface RunningOut {
  state: "empty" | "low" | "expired" | "expiring";
  segment: string;
  id: string;
  name: string;
  /** Number of tubes. */
  tubes: number;
  /** Amount left, in `unit`; null if it is unknown. */
  left: number | null;
  minimum: number | null;
  unit: string;
  /** Day of expiry. */
  expiry: string | null;
  [field: string]: unknown;
}

const STOCK: ReadonlySet<string> = new Set(["stocks/consumables", "stocks/specimen"]);
const AMOUNT = /^\s*([+-]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:[eE][+-]?\d+)?)\s*(.*?)\s*$/;

/** Number and unit of an amount such as 20 or `20 µL`. */
function readAmount(amount: number | string): { amount: number; unit?: string } {
  if (typeof amount === "number") return { amount };
  const [, number, unit = ""] = AMOUNT.exec(amount) ?? [];
  if (number === undefined)
    throw new TypeError(`"${amount}" is not an amount. Give a number, or a text such as "20 µL".`);
  return { amount: Number(number.replace(",", ".")), ...(unit === "" ? {} : { unit }) };
}

/** Stock: finding by code, using, taking out, running out. A code is a barcode, an id, or the URL of a label. */
export class Stock {
  readonly #sender: Sender;

  /** @internal */
  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /** The record with this code. @throws NotFound, AmbiguousCode */
  async find(code: string): Promise<Found> {
    const { results } = await this.#sender.json<{ results: Found[] }>("GET", "/api/v2/scan/", {
      query: { code },
    });
    const [found, ...others] = results;
    if (found === undefined)
      throw new NotFound(`No record that you may view has the code "${code}".`, "not_found", 404);
    if (others.length > 0)
      throw new AmbiguousCode(
        `Several records have the code "${code}": ${results.map(({ name, id }) => `${name} (${id})`).join(", ")}. Give the id of one.`,
      );
    return found;
  }

  async #use(code: string, action: string, json: object): Promise<StockRecord> {
    const { segment, id, name } = await this.find(code);
    if (!STOCK.has(segment))
      throw new NotFound(`${name} (${code}) is in ${segment}, which is no stock.`, "not_found", 404);
    const query = { fields: ["*", "location__label", "unit__name"] };
    const path = `/api/v2/${segment}/${id}/${action}/`;
    return toPlain(await this.#sender.json<object>("POST", path, { query, json, isRepeatable: true }));
  }

  /**
   * Takes an amount out of a consumable or specimen. Repeated after a lost connection, it counts once.
   * @param amount a number in the unit of the record, or with another unit of the same kind: `20 µL`
   * @throws InvalidRequest if less is left, or the unit measures something else
   */
  consume(code: string, amount: number | string): Promise<StockRecord> {
    return this.#use(code, "consume", readAmount(amount));
  }

  /** Adds an amount; `lot`, `received` and `expiry` (days) are set if they are given. */
  refill(
    code: string,
    amount: number | string,
    values: { lot?: string; received?: string; expiry?: string } = {},
  ): Promise<StockRecord> {
    return this.#use(code, "refill", { ...readAmount(amount), ...values });
  }

  /** Makes `count` aliquots with `amount` each, in free slots of `location` (id). */
  async aliquots(
    code: string,
    count: number,
    amount?: number | string,
    values: { location?: string } = {},
  ): Promise<{ id: string; name: string }[]> {
    const { segment, id } = await this.find(code);
    const json = { count, ...(amount === undefined ? {} : readAmount(amount)), ...values };
    return this.#sender.json("POST", `/api/v2/${segment}/${id}/aliquots/`, { json, isRepeatable: true });
  }

  /** Counts a cycle of freezing and thawing. */
  thaw(code: string): Promise<StockRecord> {
    return this.#use(code, "thaw", {});
  }

  /** Notes that you have it, until `dueBack`, by default for 24 hours. Its slot stays reserved. */
  takeOut(code: string, dueBack?: Date): Promise<StockRecord> {
    return this.#use(code, "take_out", dueBack ? { due_back: dueBack.toISOString() } : {});
  }

  /** Notes that it is back, in another `location` (id) and `position` if they are given. */
  putBack(code: string, place: { location?: string; position?: string } = {}): Promise<StockRecord> {
    return this.#use(code, "put_back", place);
  }

  /** Records of all lists by name, barcode or words, at most `limit` of each list. */
  async search(query: string, limit = 5): Promise<(Omit<Found, "segment"> & { list: string })[]> {
    const { groups } = await this.#sender.json<{ groups: { list: string; results: Found[] }[] }>(
      "GET",
      "/api/v2/search/",
      {
        query: { q: query, limit },
      },
    );
    return groups.flatMap(({ list, results }) => results.map((one) => ({ list, ...one })));
  }

  /** Stock that is empty, low, expired, or expiring within 30 days. */
  async runningOut(): Promise<RunningOut[]> {
    const path = "/api/v2/stocks/products/running_out/";
    return (await this.#sender.json<{ results: RunningOut[] }>("GET", path)).results;
  }
}
