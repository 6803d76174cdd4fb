import { pick } from "../../scoring/contract/random-message.ts";
import type { KnownRecord, State } from "./ledger.ts";
import { type Answer, json, judge, type Lane, send, wrong } from "./wire.ts";

/**
 * A client that writes records of its own, one request after the other, and knows for each what it has to be. After a
 * request whose outcome is not known the record is left alone: it is in the state before or in that after.
 */

const LIST = "/api/v2/locations/";
/** Records that a lane goes on changing; older ones stay as they are. */
const IN_USE = 40;

interface Batch {
  id: string;
  /** The records with their states before. */
  before: { record: KnownRecord; state: State | null }[];
}

export interface RecordLane {
  records: KnownRecord[];
  refused: string[];
}

let groups = 0;

export async function writeRecords(lane: Lane, kept: RecordLane): Promise<void> {
  const { next, config, name } = lane;
  const { records, refused } = kept;
  let made = 0;
  let texts = 0;
  let last: Batch | null = null;

  const newLabel = (): string => `soak-${name}-${String(made++).padStart(6, "0")}`;
  const newText = (): string =>
    `${name} text ${texts++} ${"abcdefgh ".repeat(Math.floor(next() * 20))}`.trim();
  const sure = (record: KnownRecord): State => record.states[0]!;
  const isUsable = (record: KnownRecord): boolean =>
    record.id !== null && record.states.length === 1 && record.states[0] !== null;
  const usable = (alive = true): KnownRecord[] =>
    records.slice(-IN_USE).filter((record) => isUsable(record) && sure(record).alive === alive);
  const some = (most: number): KnownRecord[] => {
    const from = usable();
    const count = 1 + Math.floor(next() * most);
    const chosen = new Set<KnownRecord>();
    for (let i = 0; i < count && from.length > 0; i++) chosen.add(pick(next, from));
    return [...chosen];
  };
  const blank = (label: string, id: string | null, states: (State | null)[]): KnownRecord => {
    const parts = { notes: { sure: [], perhaps: [] }, files: { sure: {}, perhaps: {} } };
    const record: KnownRecord = { id, label, states, group: null, ...parts };
    records.push(record);
    return record;
  };

  /** Notes what a write has come to for all records that it is about. */
  const settle = (
    answer: Answer | null,
    outcome: string,
    changes: { record: KnownRecord; after: State | null }[],
  ): void => {
    if (outcome === "accepted") {
      const id = answer!.headers.get("batch-id");
      last = id ? { id, before: changes.map(({ record }) => ({ record, state: record.states[0] })) } : null;
      for (const { record, after } of changes) record.states = [after];
    } else if (outcome === "unknown" || outcome === "wrong") {
      const group = config.number * 1_000_000 + groups++;
      last = null;
      for (const { record, after } of changes) {
        record.states = [record.states[0], after];
        record.group = group;
      }
    }
  };

  const changed = (record: KnownRecord, values: Partial<State>): { record: KnownRecord; after: State } => {
    const state = sure(record);
    return { record, after: { ...state, ...values, version: state.version + 1 } };
  };

  const create = async (): Promise<void> => {
    const state = { label: newLabel(), description: newText(), alive: true, version: 1 };
    const { label, description } = state;
    const key = next() < 0.5 ? { "Idempotency-Key": `${config.seed}-${label}` } : undefined;
    const record = blank(label, null, [null]);
    for (;;) {
      const answer = await send(lane, "POST", LIST, { label, description }, key);
      const outcome = judge(lane, key ? "create with a key" : "create", answer, [201]);
      // With a key it is asked again until there is an answer, and has to be done once.
      if (outcome === "unknown" && key && !lane.stopped()) continue;
      if (outcome === "refused") {
        refused.push(label);
        records.splice(records.indexOf(record), 1);
        return;
      }
      settle(answer, outcome, [{ record, after: state }]);
      if (outcome === "accepted") record.id = json(answer!).id;
      return;
    }
  };

  const createMany = async (): Promise<void> => {
    const states = Array.from({ length: 2 + Math.floor(next() * 7) }, () => ({
      label: newLabel(),
      description: newText(),
      alive: true,
      version: 1,
    }));
    const body = states.map(({ label, description }) => ({ label, description }));
    const answer = await send(lane, "POST", LIST, body);
    const outcome = judge(lane, "create several", answer, [201]);
    if (outcome === "refused") return void refused.push(...body.map(({ label }) => label));
    const changes = states.map((after) => ({ record: blank(after.label, null, [null]), after }));
    settle(answer, outcome, changes);
    if (outcome === "accepted") {
      const ids = json(answer!) as { id: string }[];
      for (const [i, { record }] of changes.entries()) record.id = ids[i].id;
    }
  };

  const patch = async (): Promise<void> => {
    const [record] = some(1);
    if (!record) return;
    const description = newText();
    const isMatched = next() < 0.5;
    const headers = isMatched ? { "If-Match": `"${sure(record).version}"` } : undefined;
    const answer = await send(lane, "PATCH", `${LIST}${record.id}/`, { description }, headers);
    settle(answer, judge(lane, "change", answer, [200]), [changed(record, { description })]);
  };

  const patchMany = async (): Promise<void> => {
    const chosen = some(6);
    if (chosen.length === 0) return;
    const changes = chosen.map((record) => changed(record, { description: newText() }));
    const body = changes.map(({ record, after }) => ({ id: record.id, description: after.description }));
    const answer = await send(lane, "PATCH", LIST, body);
    settle(answer, judge(lane, "change several", answer, [200]), changes);
  };

  const remove = async (): Promise<void> => {
    const chosen = some(next() < 0.5 ? 1 : 4);
    if (chosen.length === 0) return;
    const changes = chosen.map((record) => changed(record, { alive: false }));
    const isOne = chosen.length === 1;
    const answer = isOne
      ? await send(lane, "DELETE", `${LIST}${chosen[0].id}/`)
      : await send(lane, "POST", `${LIST}bulk_delete/`, { ids: chosen.map(({ id }) => id) });
    settle(answer, judge(lane, isOne ? "delete" : "delete several", answer, [200, 204]), changes);
  };

  const restore = async (): Promise<void> => {
    const gone = usable(false);
    if (gone.length === 0) return;
    const record = pick(next, gone);
    const answer = await send(lane, "POST", `${LIST}${record.id}/restore/`, {});
    settle(answer, judge(lane, "restore", answer, [200]), [changed(record, { alive: true })]);
  };

  const undo = async (): Promise<void> => {
    const batch = last;
    last = null;
    if (!batch || batch.before.some(({ record }) => !isUsable(record))) return;
    const changes = batch.before.map(({ record, state }) =>
      state === null
        ? changed(record, { alive: false })
        : changed(record, { description: state.description, alive: state.alive }),
    );
    const answer = await send(lane, "POST", `/api/v2/batches/${batch.id}/undo/`, {});
    settle(answer, judge(lane, "undo", answer, [200]), changes);
    last = null;
  };

  const importRows = async (): Promise<void> => {
    const isBackground = next() < 0.3;
    const states = Array.from({ length: 5 + Math.floor(next() * 15) }, () => ({
      label: newLabel(),
      description: newText(),
      alive: true,
      version: 1,
    }));
    const rows = states.map(({ label, description }) => `${label},${description}`);
    const path = `${LIST}import/?match=none${isBackground ? "&background=1" : ""}`;
    const file = ["label,description", ...rows, ""].join("\n");
    const answer = await send(lane, "POST", path, file, { "Content-Type": "text/csv" });
    const outcome = judge(lane, isBackground ? "import, later" : "import", answer, [200, 202]);
    if (outcome === "refused") return void refused.push(...states.map(({ label }) => label));
    settle(
      answer,
      outcome,
      states.map((after) => ({ record: blank(after.label, null, [null]), after })),
    );
    last = null;
  };

  const note = async (): Promise<void> => {
    const [record] = some(1);
    if (!record) return;
    const content = newText();
    const answer = await send(lane, "POST", `${LIST}${record.id}/notes/`, { content });
    const outcome = judge(lane, "note", answer, [201]);
    if (outcome === "accepted") record.notes.sure.push(content);
    else if (outcome !== "refused") record.notes.perhaps.push(content);
  };

  const attach = async (): Promise<void> => {
    const [record] = some(1);
    if (!record) return;
    const bytes = new Uint8Array(200 + Math.floor(next() * 20_000)).map(() => Math.floor(next() * 256));
    const file = `${texts++}.bin`;
    const form = new FormData();
    form.set("file", new File([bytes], file));
    const path = `/api/v2/attachments/?app=stocks&model=location&object_id=${record.id}`;
    const answer = await send(lane, "POST", path, form);
    const outcome = judge(lane, "upload", answer, [201]);
    const hash = new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
    if (outcome === "accepted") record.files.sure[file] = hash;
    else if (outcome !== "refused") record.files.perhaps[file] = hash;
  };

  /** What has to be refused; that it did nothing is seen at the end. */
  const refuse = async (): Promise<void> => {
    const [record, other] = usable();
    const label = newLabel();
    refused.push(label);
    const id = "00000000-0000-4000-8000-000000000000";
    const kinds: (() => Promise<[string, Answer | null, number]>)[] = [
      async () => ["an unknown field", await send(lane, "POST", LIST, { label, colour: "red" }), 400],
      async () => [
        "one wrong of two",
        await send(lane, "POST", LIST, [{ label }, { description: "x" }]),
        400,
      ],
      async () => [
        "a wrong row",
        await send(lane, "POST", `${LIST}import/?match=none`, `label,place\n${label},\n,nowhere\n`, {
          "Content-Type": "text/csv",
        }),
        400,
      ],
      async () => [
        "no credentials",
        await send(lane, "POST", LIST, { label }, { Authorization: "Token x" }),
        401,
      ],
      async () => ["broken JSON", await send(lane, "POST", LIST, `{"label": "${label}"`), 400],
    ];
    if (record && other)
      kinds.push(
        async () => [
          "another version",
          await send(lane, "PATCH", `${LIST}${record.id}/`, { label }, { "If-Match": '"999999"' }),
          412,
        ],
        async () => [
          "one of two is none",
          await send(lane, "PATCH", LIST, [
            { id: other.id, label },
            { id, label },
          ]),
          404,
        ],
      );
    const [what, answer, status] = await pick(next, kinds)();
    if (judge(lane, `refused: ${what}`, answer, [status]) === "accepted") wrong(lane, what, "was accepted");
  };

  const look = async (): Promise<void> => {
    const [record] = some(1);
    if (!record) return;
    const fields = "fields=id,label,description,version";
    const answer = await send(lane, "GET", `${LIST}${record.id}/?${fields}&response_format=flat`);
    if (judge(lane, "read the own", answer, [200]) !== "accepted") return;
    const { label, description, version } = json(answer!).results;
    const wanted = sure(record);
    if (label !== wanted.label || description !== wanted.description || version !== wanted.version)
      wrong(lane, "read the own", `${answer!.text} instead of ${JSON.stringify(wanted)}`);
  };

  const work: [number, () => Promise<void>][] = [
    [20, create],
    [6, createMany],
    [20, patch],
    [6, patchMany],
    [6, remove],
    [3, restore],
    [4, undo],
    [1, importRows],
    [3, note],
    [2, attach],
    [8, refuse],
    [20, look],
  ];
  const whole = work.reduce((sum, [weight]) => sum + weight, 0);
  while (!lane.stopped()) {
    let lot = next() * whole;
    await (work.find(([weight]) => (lot -= weight) < 0) ?? work[0])[1]();
    await Bun.sleep(next() * 4);
  }
}
