import { pick } from "../../scoring/contract/random-message.ts";
import { json, type Lane, recordOutcome, recordWrong, type Reply, send } from "./lane.ts";
import type { KnownRecord, Outcome, State } from "./ledger.ts";

const LIST = "/api/v2/locations/";
/** Older records are not changed any more. */
const RECENT = 40;
const CSV = { "Content-Type": "text/csv" };
const MISSING_ID = "00000000-0000-4000-8000-000000000000";

interface Change {
  record: KnownRecord;
  after: State | null;
}

/** A batch that can be undone, with the states before it. */
interface Batch {
  id: string;
  before: { record: KnownRecord; state: State | null }[];
}

type Send = [method: string, path: string, body?: unknown, headers?: Record<string, string>];

let groups = 0;

const confirmedState = (record: KnownRecord): State => record.states[0]!;

const isConfirmed = ({ id, states }: KnownRecord): boolean =>
  id !== null && states.length === 1 && states[0] !== null;

function withChange(record: KnownRecord, values: Partial<State>): Change {
  const state = confirmedState(record);
  return { record, after: { ...state, ...values, version: state.version + 1 } };
}

/**
 * Writes records of its own and knows the state that each must have. After a request with an unknown outcome the
 * record is left alone: it is in the state before or after that request.
 */
export class RecordClient {
  readonly records: KnownRecord[] = [];
  /** Labels of rejected records. */
  readonly rejected: string[] = [];
  readonly #lane: Lane;
  #labels = 0;
  #texts = 0;
  #lastBatch: Batch | null = null;

  constructor(lane: Lane) {
    this.#lane = lane;
  }

  async run(): Promise<void> {
    const { next } = this.#lane;
    const operations: [weight: number, () => Promise<void>][] = [
      [20, () => this.create()],
      [6, () => this.createSeveral()],
      [20, () => this.change()],
      [6, () => this.changeSeveral()],
      [6, () => this.delete()],
      [3, () => this.restore()],
      [4, () => this.undo()],
      [1, () => this.import()],
      [3, () => this.addNote()],
      [2, () => this.upload()],
      [8, () => this.sendInvalid()],
      [20, () => this.read()],
    ];
    const total = operations.reduce((sum, [weight]) => sum + weight, 0);
    while (!this.#lane.stopped()) {
      let draw = next() * total;
      await (operations.find(([weight]) => (draw -= weight) < 0) ?? operations[0])[1]();
      await Bun.sleep(next() * 4);
    }
  }

  async create(): Promise<void> {
    const after = this.#newState();
    const { label, description } = after;
    const hasKey = this.#lane.next() < 0.5;
    const key = hasKey ? { "Idempotency-Key": `${this.#lane.config.seed}-${label}` } : undefined;
    const sendOnce = async (): Promise<[Reply | null, Outcome]> => {
      const reply = await send(this.#lane, "POST", LIST, { label, description }, key);
      return [reply, recordOutcome(this.#lane, hasKey ? "create with a key" : "create", reply, [201])];
    };
    let [reply, outcome] = await sendOnce();
    // With a key, repeating the request until there is a reply creates one record.
    if (hasKey) while (outcome === "unknown" && !this.#lane.stopped()) [reply, outcome] = await sendOnce();
    const [change] = this.#applyCreation(reply, outcome, [after]);
    if (change && outcome === "accepted") change.record.id = json(reply!).id;
  }

  async createSeveral(): Promise<void> {
    const states = this.#newStates(2, 8);
    const body = states.map(({ label, description }) => ({ label, description }));
    const reply = await send(this.#lane, "POST", LIST, body);
    const outcome = recordOutcome(this.#lane, "create several", reply, [201]);
    const changes = this.#applyCreation(reply, outcome, states);
    if (outcome !== "accepted") return;
    const created = json(reply!) as { id: string }[];
    for (const [i, { record }] of changes.entries()) record.id = created[i].id;
  }

  async import(): Promise<void> {
    const isBackground = this.#lane.next() < 0.3;
    const states = this.#newStates(5, 19);
    const rows = states.map(({ label, description }) => `${label},${description}`);
    const path = `${LIST}import/?match=none${isBackground ? "&background=1" : ""}`;
    const reply = await send(this.#lane, "POST", path, ["label,description", ...rows, ""].join("\n"), CSV);
    const request = isBackground ? "import in background" : "import";
    this.#applyCreation(reply, recordOutcome(this.#lane, request, reply, [200, 202]), states);
    this.#lastBatch = null;
  }

  async change(): Promise<void> {
    const [record] = this.#pickRecords(1);
    if (!record) return;
    const description = this.#newText();
    const isConditional = this.#lane.next() < 0.5;
    const headers = isConditional ? { "If-Match": `"${confirmedState(record).version}"` } : undefined;
    const reply = await send(this.#lane, "PATCH", `${LIST}${record.id}/`, { description }, headers);
    this.#apply(reply, recordOutcome(this.#lane, "change", reply, [200]), [
      withChange(record, { description }),
    ]);
  }

  async changeSeveral(): Promise<void> {
    const records = this.#pickRecords(6);
    if (records.length === 0) return;
    const texts = records.map(() => this.#newText());
    const body = records.map(({ id }, i) => ({ id, description: texts[i] }));
    const reply = await send(this.#lane, "PATCH", LIST, body);
    const changes = records.map((record, i) => withChange(record, { description: texts[i] }));
    this.#apply(reply, recordOutcome(this.#lane, "change several", reply, [200]), changes);
  }

  async delete(): Promise<void> {
    const records = this.#pickRecords(this.#lane.next() < 0.5 ? 1 : 4);
    if (records.length === 0) return;
    const changes = records.map((record) => withChange(record, { alive: false }));
    const isOne = records.length === 1;
    const reply = isOne
      ? await send(this.#lane, "DELETE", `${LIST}${records[0].id}/`)
      : await send(this.#lane, "POST", `${LIST}bulk_delete/`, { ids: records.map(({ id }) => id) });
    const request = isOne ? "delete" : "delete several";
    this.#apply(reply, recordOutcome(this.#lane, request, reply, [200, 204]), changes);
  }

  async restore(): Promise<void> {
    const deleted = this.#recent(false);
    if (deleted.length === 0) return;
    const record = pick(this.#lane.next, deleted);
    const reply = await send(this.#lane, "POST", `${LIST}${record.id}/restore/`, {});
    this.#apply(reply, recordOutcome(this.#lane, "restore", reply, [200]), [
      withChange(record, { alive: true }),
    ]);
  }

  async undo(): Promise<void> {
    const batch = this.#lastBatch;
    this.#lastBatch = null;
    if (!batch || batch.before.some(({ record }) => !isConfirmed(record))) return;
    const changes = batch.before.map(({ record, state }) =>
      state === null
        ? withChange(record, { alive: false })
        : withChange(record, { description: state.description, alive: state.alive }),
    );
    const reply = await send(this.#lane, "POST", `/api/v2/batches/${batch.id}/undo/`, {});
    this.#apply(reply, recordOutcome(this.#lane, "undo", reply, [200]), changes);
    this.#lastBatch = null;
  }

  async addNote(): Promise<void> {
    const [record] = this.#pickRecords(1);
    if (!record) return;
    const content = this.#newText();
    const reply = await send(this.#lane, "POST", `${LIST}${record.id}/notes/`, { content });
    const outcome = recordOutcome(this.#lane, "add note", reply, [201]);
    if (outcome === "rejected") return;
    record.notes[outcome === "accepted" ? "confirmed" : "possible"].push(content);
  }

  async upload(): Promise<void> {
    const { next } = this.#lane;
    const [record] = this.#pickRecords(1);
    if (!record) return;
    const bytes = new Uint8Array(200 + Math.floor(next() * 20_000)).map(() => Math.floor(next() * 256));
    const file = `${this.#texts++}.bin`;
    const form = new FormData();
    form.set("file", new File([bytes], file));
    const path = `/api/v2/attachments/?app=stocks&model=location&object_id=${record.id}`;
    const reply = await send(this.#lane, "POST", path, form);
    const outcome = recordOutcome(this.#lane, "upload", reply, [201]);
    if (outcome === "rejected") return;
    const hash = new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
    record.files[outcome === "accepted" ? "confirmed" : "possible"][file] = hash;
  }

  /** Sends a request that must be rejected; the final comparison shows whether it had an effect. */
  async sendInvalid(): Promise<void> {
    const [record, other] = this.#recent();
    const label = this.#newLabel();
    this.rejected.push(label);
    const invalid: [name: string, status: number, request: Send][] = [
      ["unknown field", 400, ["POST", LIST, { label, colour: "red" }]],
      ["one of two invalid", 400, ["POST", LIST, [{ label }, { description: "x" }]]],
      ["invalid row", 400, ["POST", `${LIST}import/?match=none`, `label,place\n${label},\n,nowhere\n`, CSV]],
      ["no credentials", 401, ["POST", LIST, { label }, { Authorization: "Token x" }]],
      ["broken JSON", 400, ["POST", LIST, `{"label": "${label}"`]],
    ];
    if (record && other)
      invalid.push(
        ["wrong version", 412, ["PATCH", `${LIST}${record.id}/`, { label }, { "If-Match": '"999999"' }]],
        [
          "one of two missing",
          404,
          [
            "PATCH",
            LIST,
            [
              { id: other.id, label },
              { id: MISSING_ID, label },
            ],
          ],
        ],
      );
    const [name, status, request] = pick(this.#lane.next, invalid);
    const reply = await send(this.#lane, ...request);
    if (recordOutcome(this.#lane, `invalid: ${name}`, reply, [status]) === "accepted")
      recordWrong(this.#lane, name, "was accepted");
  }

  async read(): Promise<void> {
    const [record] = this.#pickRecords(1);
    if (!record) return;
    const fields = "fields=id,label,description,version";
    const reply = await send(this.#lane, "GET", `${LIST}${record.id}/?${fields}&response_format=flat`);
    if (recordOutcome(this.#lane, "read a record", reply, [200]) !== "accepted") return;
    const { label, description, version } = json(reply!).results;
    const expected = confirmedState(record);
    if (label !== expected.label || description !== expected.description || version !== expected.version)
      recordWrong(this.#lane, "read a record", `${reply!.text} instead of ${JSON.stringify(expected)}`);
  }

  #newLabel(): string {
    return `soak-${this.#lane.name}-${String(this.#labels++).padStart(6, "0")}`;
  }

  #newText(): string {
    const filler = "abcdefgh ".repeat(Math.floor(this.#lane.next() * 20));
    return `${this.#lane.name} text ${this.#texts++} ${filler}`.trim();
  }

  #newState(): State {
    return { label: this.#newLabel(), description: this.#newText(), alive: true, version: 1 };
  }

  #newStates(min: number, max: number): State[] {
    const length = min + Math.floor(this.#lane.next() * (max - min + 1));
    return Array.from({ length }, () => this.#newState());
  }

  #recent(alive = true): KnownRecord[] {
    return this.records
      .slice(-RECENT)
      .filter((record) => isConfirmed(record) && confirmedState(record).alive === alive);
  }

  /** Between 1 and `max` recent records, if there are any. */
  #pickRecords(max: number): KnownRecord[] {
    const { next } = this.#lane;
    const recent = this.#recent();
    const count = 1 + Math.floor(next() * max);
    const chosen = new Set<KnownRecord>();
    for (let i = 0; i < count && recent.length > 0; i++) chosen.add(pick(next, recent));
    return [...chosen];
  }

  /** Applies the outcome of a request that creates records. */
  #applyCreation(reply: Reply | null, outcome: Outcome, states: readonly State[]): Change[] {
    if (outcome === "rejected") {
      this.rejected.push(...states.map(({ label }) => label));
      return [];
    }
    const changes = states.map((after) => {
      const notes = { confirmed: [], possible: [] };
      const files = { confirmed: {}, possible: {} };
      const record: KnownRecord = { id: null, label: after.label, states: [null], group: null, notes, files };
      return { record, after };
    });
    this.records.push(...changes.map(({ record }) => record));
    this.#apply(reply, outcome, changes);
    return changes;
  }

  /** Applies the outcome of a request to all records that it changes. */
  #apply(reply: Reply | null, outcome: Outcome, changes: readonly Change[]): void {
    if (outcome === "rejected") return;
    this.#lastBatch = null;
    if (outcome === "accepted") {
      const id = reply!.headers.get("batch-id");
      if (id)
        this.#lastBatch = { id, before: changes.map(({ record }) => ({ record, state: record.states[0] })) };
      for (const { record, after } of changes) record.states = [after];
      return;
    }
    const group = this.#lane.config.number * 1_000_000 + groups++;
    for (const { record, after } of changes) {
      record.states = [record.states[0], after];
      record.group = group;
    }
  }
}
