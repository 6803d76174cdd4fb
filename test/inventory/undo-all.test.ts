import { expect, setDefaultTimeout, test } from "bun:test";
import type { InventorySample } from "../../src/inventory/index.ts";
import SAMPLE_DATA from "../../src/sample/inventory.json";
import { openBoxes } from "./boxes.ts";
import { type Answered, type Lab, openLab } from "./harness.ts";
import { type Random, seeded } from "./random.ts";
import { Bench, KINDS, type Operation, PEOPLE, type Row } from "./random-operations.ts";

/** Undoes random operations of several people in reverse order, and compares all tables with the beginning. */

setDefaultTimeout(600_000);

const OPERATIONS = 120;
/** Besides history and audit log: what no batch writes, such as groups, what follows from other tables, and numbers of codes, which are never used again, because labels may have been printed. */
const LEFT_OUT =
  /^(record_batch|record_change|audit|idempotent_answer|code_counter|import_file|attachment_content|stocktake_scan|api_token|user_group|sqlite_.*|record_text(_.*)?|planner_.*)$/;
const UNDO_CHANGES = new Set(["version", "modified", "modified_by", "deleted_date", "deleted_by"]);

interface Batch {
  id: string;
  as: string;
}

/** The rows of a table that count, by what identifies them. */
function dump(lab: Lab): Map<string, Map<string, Row>> {
  const query = (text: string) => lab.database.query(text).all() as Row[];
  const tables = query("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name");
  return new Map(
    tables
      .map(({ name }) => String(name))
      .filter((name) => !LEFT_OUT.test(name))
      .map((name) => {
        const kept = query(`SELECT * FROM ${name}`).map((row) =>
          Object.fromEntries(Object.entries(row).filter(([column]) => !UNDO_CHANGES.has(column))),
        );
        const isVersioned = kept.length > 0 && "deleted" in kept[0] && "rid" in kept[0];
        return [name, new Map(kept.map((row) => [isVersioned ? String(row.rid) : JSON.stringify(row), row]))];
      }),
  );
}

/** The differences of the tables from before. Records created since may exist if they are deleted. */
function differences(before: ReturnType<typeof dump>, lab: Lab): unknown[] {
  return [...dump(lab)].flatMap(([table, now]) => {
    const then = before.get(table)!;
    return [...new Set([...then.keys(), ...now.keys()])].flatMap((key) => {
      const [was, is] = [then.get(key), now.get(key)];
      if (Bun.deepEquals(was, is) || (!was && is?.deleted === 1)) return [];
      const changed = Object.keys({ ...was, ...is }).filter((name) => was?.[name] !== is?.[name]);
      const of = (row: Row | undefined) =>
        row && Object.fromEntries(changed.map((name) => [name, row[name]]));
      return [
        {
          table,
          name: (is ?? was)?.name ?? (is ?? was)?.label,
          rid: (is ?? was)?.rid,
          was: of(was),
          is: of(is),
        },
      ];
    });
  });
}

interface Run {
  failure: unknown;
  log: string[];
  kinds: Map<string, number>;
  /** Steps of the plan that were taken. */
  steps: number[];
}

/** Which operations to do, and whether undoing in between takes any batch or only the newest. */
interface Plan {
  seed: number;
  /** Numbers of steps; each makes the same choices in the same state. */
  steps: Iterable<number>;
  order: "any" | "newest";
  isEmpty: boolean;
}

class Runner {
  readonly log: string[] = [];
  readonly kinds = new Map<string, number>();
  /** All batches, or those that are in effect. */
  readonly batches: Batch[] = [];
  done = 0;
  archive: Uint8Array | undefined;

  constructor(
    readonly lab: Lab,
    readonly plan: Plan,
  ) {}

  async send({ method, path, body, headers, as = "admin" }: Operation): Promise<Answered> {
    this.lab.clock.set(this.lab.clock.now() + 1000);
    const [pathname, query] = path.split("?");
    const address = `${pathname}/${query === undefined ? "" : `?${query}`}`;
    const isFile = body instanceof FormData || body instanceof Uint8Array;
    const answer = isFile
      ? await this.lab.bytes(method, address, { as, body: body as FormData })
      : await this.lab.ask(method, address, { as, body, ...(headers ? { headers } : {}) });
    const text = "text" in answer ? answer.text : new TextDecoder().decode(answer.bytes);
    const sent = isFile ? "(file)" : JSON.stringify(body);
    this.log.push(
      `${as} ${method} ${path} ${sent} → ${answer.status}${answer.status >= 400 ? ` ${text}` : ""}`,
    );
    const fields = { status: answer.status, headers: answer.headers, text };
    return Object.assign(fields, { body: "body" in answer ? answer.body : {} });
  }

  /** One operation or undo, with choices that depend on its number alone. */
  async step(number: number): Promise<void> {
    const random = seeded(this.plan.seed * 100_003 + number);
    const bench = new Bench(this.lab, random);
    if (this.batches.length > 0 && random.chance(0.12)) return this.undoSome(random);
    const kind = number === 0 && this.plan.isEmpty ? "sample" : random.pick(Object.keys(KINDS));
    const operation = kind === "sample" ? { method: "POST" as const, path: "sample" } : KINDS[kind](bench);
    if (!operation) return;
    const as = operation.as ?? (kind === "sample" ? "admin" : random.pick(["admin", ...PEOPLE]));
    const body =
      kind === "archive" ? await this.fetchArchive(operation.body as string[], as) : operation.body;
    const answer = await this.send({ ...operation, body, as });
    if (answer.status >= 500) throw new Error(answer.text);
    const id = answer.headers.get("batch-id");
    if (answer.status >= 300 || id === null) return;
    this.done++;
    this.batches.push({ id, as });
    this.kinds.set(kind, (this.kinds.get(kind) ?? 0) + 1);
  }

  /** As these records were when an archive was first asked for. */
  async fetchArchive(ids: readonly string[], as: string): Promise<Uint8Array> {
    const path = `stocks/consumables/?id=${ids.join()}&format=eln`;
    return (this.archive ??= (await this.lab.bytes("GET", path, { as })).bytes);
  }

  /** Undoes a batch, and perhaps that, and so on. */
  async undoSome(random: Random): Promise<void> {
    const { batches } = this;
    const isNewest = this.plan.order === "newest";
    const at = isNewest ? batches.length - 1 : Math.max(0, batches.length - 1 - random.below(8));
    const batch = batches[at];
    const answer = await this.undo(batch);
    if (answer.status !== 200) {
      if (isNewest) throw new Error(`Undoing the newest change: ${answer.text}`);
      return;
    }
    const id = answer.headers.get("batch-id");
    if (isNewest) batches.pop();
    // Null where there was nothing to undo: equal values had been written.
    if (id === null) return;
    const undone = { id, as: batch.as };
    if (!isNewest) return void batches.push(undone);
    if (!random.chance(0.4)) return;
    // In effect again, by another batch.
    const redone = await this.undo(undone);
    if (redone.status !== 200) throw new Error(`Undoing an undo: ${redone.text}`);
    batches.push(batch);
  }

  /** By its author or else, where that one no longer may, by an administrator. */
  async undo({ id, as }: Batch): Promise<Answered> {
    const path = `batches/${id}/undo`;
    const answer = await this.send({ method: "POST", path, body: {}, as });
    const isRefused = answer.status === 403 || answer.status === 404 || /Only (the|an) /.test(answer.text);
    return isRefused && as !== "admin" ? this.send({ method: "POST", path, body: {} }) : answer;
  }

  async undoAll(): Promise<void> {
    for (const batch of this.batches.toReversed()) {
      const answer = await this.undo(batch);
      if (answer.status !== 200) throw new Error(`Undoing in reverse order: ${answer.text}`);
    }
  }
}

async function run(plan: Plan): Promise<Run> {
  const loadable = SAMPLE_DATA as InventorySample;
  const lab = plan.isEmpty ? await openLab({ sample: {}, loadable }) : await openBoxes();
  const runner = new Runner(lab, plan);
  const before = dump(lab);
  const steps: number[] = [];
  let failure: unknown;
  try {
    for (const step of plan.steps) {
      if (runner.done === OPERATIONS) break;
      steps.push(step);
      await runner.step(step);
    }
    await runner.undoAll();
    const found = differences(before, lab);
    if (found.length > 0) failure = found;
  } catch (error) {
    failure = (error as Error).message;
  }
  lab.database.close();
  return { failure, steps, log: runner.log, kinds: runner.kinds };
}

/** Leaves out steps, many at first, as long as it still fails. */
async function shrink(plan: Plan, failed: Run): Promise<Run> {
  let best = failed;
  for (let size = Math.ceil(best.steps.length / 2); size >= 1; size = Math.floor(size / 2))
    for (let from = 0; from < best.steps.length;) {
      const tried = await run({ ...plan, steps: best.steps.toSpliced(from, size) });
      if (tried.failure === undefined) from += size;
      else best = tried;
    }
  return best;
}

const SEEDS = Number(process.env.UNDO_SEEDS ?? 3);
const seen = new Map<string, number>();

test.each(Array.from({ length: SEEDS }, (_, i) => i + Number(process.env.UNDO_FROM ?? 1)))(
  "undoing 120 random operations in reverse order restores every table, seed %i",
  async (seed) => {
    const steps = Array.from({ length: OPERATIONS * 10 }, (_, i) => i);
    const plan: Plan = { seed, steps, order: seed % 2 === 0 ? "any" : "newest", isEmpty: seed % 3 === 0 };
    const found = await run(plan);
    if (found.failure !== undefined) {
      const { log, failure } = await shrink(plan, found);
      throw new Error(`${log.join("\n")}\n${JSON.stringify(failure, null, 1).slice(0, 4000)}`);
    }
    const { kinds } = found;
    expect(Array.from(kinds.values()).reduce((a, b) => a + b)).toBe(OPERATIONS);
    for (const [kind, count] of kinds) seen.set(kind, (seen.get(kind) ?? 0) + count);
  },
);

test("the operations of all seeds include every kind", () => {
  const missing = [...Object.keys(KINDS), "sample"].filter((kind) => !seen.has(kind));
  expect(missing.filter((kind) => kind !== "scan")).toEqual([]);
});
