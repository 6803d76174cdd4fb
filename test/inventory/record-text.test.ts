import { expect, setDefaultTimeout, test } from "bun:test";
import type { Resource } from "../../src/inventory/model/resource.ts";
import { RecordText } from "../../src/inventory/records/record-text.ts";
import { Statements } from "../../src/inventory/records/statements.ts";
import { DECLARED } from "../../src/inventory/resources/index.ts";
import { openBoxes } from "./boxes.ts";
import { type Lab, openLab } from "./harness.ts";
import { type Random, seeded } from "./random.ts";
import { Bench, KINDS, type Operation, PEOPLE } from "./random-operations.ts";
import { textIndexErrors } from "./text-index.ts";

setDefaultTimeout(300_000);

/** Removes a deleted record for good, with its annotations, notes and files. */
const purge = (bench: Bench): Operation | undefined => {
  const [table, list] = bench.random.pick([
    ["consumable", "stocks/consumables"],
    ["specimen", "stocks/specimen"],
    ["project", "core/projects"],
  ]);
  const id = bench.drawId(table, "deleted = 1");
  return id === null ? undefined : { method: "POST", path: `${list}/${id}/purge`, body: {}, as: "admin" };
};

const OPERATIONS: typeof KINDS = { ...KINDS, purge };
const done = new Set<string>();

/** Sends requests of random kinds, and undoes some of them. */
class RandomWrites {
  readonly log: string[] = [];
  readonly #bench: Bench;
  readonly #batches: string[] = [];

  constructor(
    private readonly lab: Lab,
    private readonly random: Random,
  ) {
    this.#bench = new Bench(lab, random);
  }

  async write(): Promise<void> {
    const { random } = this;
    const isUndo = this.#batches.length > 0 && random.chance(0.15);
    const kind = isUndo ? "undo" : random.pick(Object.keys(OPERATIONS));
    // An archive is made of the answer of another request.
    if (kind === "archive") return;
    const operation = isUndo
      ? ({ method: "POST", path: `batches/${random.pick(this.#batches.slice(-8))}/undo`, body: {} } as const)
      : OPERATIONS[kind](this.#bench);
    if (!operation) return;
    const { status, headers } = await this.#send(operation);
    if (status >= 300) return;
    done.add(kind);
    this.#batches.push(...[headers.get("batch-id") ?? []].flat());
  }

  async #send({ method, path, body, headers, as = this.random.pick(["admin", ...PEOPLE]) }: Operation) {
    const address = path.includes("?") ? path.replace("?", "/?") : `${path}/`;
    const isFile = body instanceof FormData || body instanceof Uint8Array;
    const answer = isFile
      ? await this.lab.bytes(method, address, { as, body: body as FormData })
      : await this.lab.ask(method, address, { as, body, ...(headers ? { headers } : {}) });
    this.log.push(
      `${as} ${method} ${address} ${isFile ? "(file)" : JSON.stringify(body)} → ${answer.status}`,
    );
    return answer;
  }
}

test.each([1, 2, 3, 4])(
  "contains the texts of all records after random operations, seed %i",
  async (seed) => {
    const lab = await openBoxes();
    const writes = new RandomWrites(lab, seeded(seed));
    for (let i = 0; i < 25; i++) {
      for (let j = 0; j < 10; j++) await writes.write();
      expect({ log: writes.log.slice(-10), errors: textIndexErrors(lab.database) }).toMatchObject({
        errors: [],
      });
    }
    lab.database.close();
  },
);

test("the operations of all seeds include every kind that writes texts", () => {
  const missing = ["undo", ...Object.keys(OPERATIONS)].filter((kind) => !done.has(kind));
  expect(missing.filter((kind) => kind !== "archive")).toEqual([]);
});

/** All declarations, with a field of one resource changed. */
const withField = (name: string, field: string, searchable: true | undefined): Resource[] => {
  const resource = DECLARED.get(name)!;
  const fields = { ...resource.fields, [field]: Object.assign({}, resource.fields[field], { searchable }) };
  return [...new Map(DECLARED).set(name, { ...resource, fields }).values()];
};

test("adding or removing a searchable field of a declaration rebuilds the index of its table", async () => {
  const lab = await openLab();
  const statements = new Statements(lab.database);
  const more = withField("consumable", "position", true);
  const less = withField("consumable", "description", undefined);
  for (const declared of [more, less, [...DECLARED.values()]]) {
    new RecordText(statements, declared, DECLARED.annotationValue!).update();
    expect(textIndexErrors(lab.database, declared)).toEqual([]);
  }
  lab.database.close();
});

test("a failure while the index is rebuilt changes nothing", async () => {
  const lab = await openLab();
  const statements = new Statements(lab.database);
  const sources = () => lab.database.query("SELECT * FROM record_text_source ORDER BY source").all();
  const before = sources();
  const declared = withField("consumable", "position", true);
  const lost = { ...DECLARED.get("project")!, name: "lost", table: "lost" };
  const failing = new RecordText(statements, [...declared, lost], DECLARED.annotationValue!);
  expect(() => failing.update()).toThrow("no such table");
  expect(sources()).toEqual(before);
  expect(textIndexErrors(lab.database)).toEqual([]);
  lab.database.close();
});
