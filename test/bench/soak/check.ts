import { Database } from "bun:sqlite";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { labd } from "../../executable/labd.ts";
import type { ClientReport, KnownJob, KnownRecord, State } from "./ledger.ts";

/** Compares a server with the reports of its clients. Every difference is added to `failures`. */

export interface Target {
  url: string;
  token: string;
  directory: string;
  failures: string[];
}

export interface Checked {
  records: number;
  unknownRequests: number;
  rejected: number;
  jobs: Record<string, number>;
  predictions: number;
  tokens: number;
}

interface StoredRecord extends State {
  id: string;
}

const get = (target: Target, path: string): Promise<Response> =>
  fetch(target.url + path, { headers: { Authorization: `Token ${target.token}` } });

const getJson = async <T>(target: Target, path: string): Promise<T> =>
  (await (await get(target, path)).json()) as T;

const countItem = <T>(list: readonly T[], item: T): number => list.filter((other) => other === item).length;

/** All records of the test, deleted ones included. */
async function listRecords(target: Target): Promise<StoredRecord[]> {
  const stored: StoredRecord[] = [];
  for (const alive of [true, false]) {
    const path = `/api/v2/locations/?label__startswith=soak-&fields=id,label,description,version&page_size=max&response_format=flat&deleted=${!alive}`;
    const { results } = await getJson<{ results: Omit<StoredRecord, "alive">[] }>(target, path);
    for (const record of results) stored.push({ ...record, alive });
  }
  return stored;
}

const isEqual = (state: State | null, stored: StoredRecord | undefined): boolean =>
  state === null || stored === undefined
    ? state === null && stored === undefined
    : state.label === stored.label &&
      state.description === stored.description &&
      state.alive === stored.alive &&
      state.version === stored.version;

export async function checkRecords(
  target: Target,
  reports: readonly ClientReport[],
): Promise<Partial<Checked>> {
  const { failures } = target;
  const stored = await listRecords(target);
  const byLabel = Map.groupBy(stored, ({ label }) => label);
  const known = reports.flatMap(({ records }) => records);
  const matches = new Map(
    known.map((record) => [record, matchStates(target, record, byLabel.get(record.label) ?? [])]),
  );
  // A request changes all of its records or none.
  const uncertain = known.filter(({ group, states }) => group !== null && states.length > 1);
  const groups = Map.groupBy(uncertain, ({ group }) => group);
  for (const members of groups.values())
    if (![0, 1].some((state) => members.every((record) => matches.get(record)![state])))
      failures.push(`partly executed: ${members.map(({ label }) => label).join(", ")}`);
  const rejected = new Set(reports.flatMap((report) => report.rejected));
  const labels = new Set(known.map(({ label }) => label));
  for (const { label } of stored) {
    if (rejected.has(label)) failures.push(`${label} was rejected but exists`);
    else if (!labels.has(label)) failures.push(`${label} exists but no client created it`);
  }
  for (const record of known)
    if (record.id !== null && record.states.every((state) => state?.alive)) {
      await checkNotes(target, record);
      await checkFiles(target, record);
    }
  return { records: known.length, unknownRequests: groups.size, rejected: rejected.size };
}

/** @returns for each possible state whether the record has it */
function matchStates({ failures }: Target, record: KnownRecord, stored: readonly StoredRecord[]): boolean[] {
  const { id, label, states } = record;
  const [first] = stored;
  if (stored.length > 1) failures.push(`${label} exists ${stored.length} times`);
  if (id !== null && first && first.id !== id) failures.push(`${label} has another id than in the reply`);
  const matches = states.map((state) => isEqual(state, first));
  if (!matches.includes(true))
    failures.push(`${label}: expected ${JSON.stringify(states)}, found ${JSON.stringify(first)}`);
  return matches;
}

async function checkNotes(target: Target, { id, label, notes }: KnownRecord): Promise<void> {
  const { confirmed, possible } = notes;
  if (confirmed.length + possible.length === 0) return;
  const path = `/api/v2/locations/${id}/notes/`;
  const { results } = await getJson<{ results: { content: string }[] }>(target, path);
  const contents = results.map(({ content }) => content);
  for (const content of confirmed) {
    const count = countItem(contents, content);
    if (count !== 1) target.failures.push(`${label}: a note exists ${count} times`);
  }
  for (const content of contents)
    if (!confirmed.includes(content) && !possible.includes(content))
      target.failures.push(`${label}: a note that no client wrote`);
}

async function checkFiles(target: Target, { id, label, files }: KnownRecord): Promise<void> {
  const hashes = { ...files.possible, ...files.confirmed };
  if (Object.keys(hashes).length === 0) return;
  const path = `/api/v2/attachments/?app=stocks&model=location&object_id=${id}`;
  const stored = await getJson<{ id: string; name: string }[]>(target, path);
  const names = stored.map(({ name }) => name);
  for (const name of Object.keys(files.confirmed)) {
    const count = countItem(names, name);
    if (count !== 1) target.failures.push(`${label}: ${name} exists ${count} times`);
  }
  for (const { id: file, name } of stored) {
    const bytes = await (await get(target, `/api/v2/attachments/${file}/`)).bytes();
    const hash = new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
    if (hash !== hashes[name]) target.failures.push(`${label}: ${name} has other bytes`);
  }
}

/** A finished job with the corpus and table of its result. */
interface FinishedJob {
  job: KnownJob;
  corpus: string;
  table: string;
}

/**
 * Checks that every accepted job ended once, with the prediction that `labd score` computes for the corpus that the
 * job names. @param reference a data directory with the same corpora
 */
export async function checkJobs(
  target: Target,
  reports: readonly ClientReport[],
  reference: string,
): Promise<Partial<Checked>> {
  const jobs = reports.flatMap((report) => report.jobs);
  const states: Record<string, number> = {};
  const finished: FinishedJob[] = [];
  for (const job of jobs) {
    const state = await waitForEnd(target, job);
    states[state] = (states[state] ?? 0) + 1;
    const expected = { no: ["finished"], yes: ["cancelled"], possibly: ["finished", "cancelled"] };
    if (!expected[job.cancelled].includes(state))
      target.failures.push(`job ${job.id} is ${state}; cancelled: ${job.cancelled}`);
    if (state === "finished") finished.push(await fetchFinished(target, job));
  }
  checkStored(target, jobs);
  for (const [corpus, ofCorpus] of Map.groupBy(finished, (one) => one.corpus)) {
    await labd(["corpus", "use", corpus], { env: { LABD_DATA_DIR: reference } });
    for (const [pattern, ofPattern] of Map.groupBy(ofCorpus, ({ job }) => job.pattern))
      await comparePredictions(target, ofPattern, pattern, reference);
  }
  return { jobs: states, predictions: finished.length };
}

async function waitForEnd(target: Target, { id }: KnownJob): Promise<string> {
  let state = "";
  for (let i = 0; i < 6000; i++) {
    ({ state } = await getJson<{ state: string }>(target, `/api/scoring/jobs/${id}`));
    if (state !== "queued" && state !== "running") break;
    await Bun.sleep(50);
  }
  return state;
}

async function fetchFinished(target: Target, job: KnownJob): Promise<FinishedJob> {
  const path = `/api/scoring/jobs/${job.id}/result?format=`;
  const table = await (await get(target, `${path}tsv`)).text();
  if (job.result !== null && job.result !== table) target.failures.push(`the result of ${job.id} changed`);
  const { corpus } = await getJson<{ corpus: { name: string } | null }>(target, `${path}json`);
  return { job, corpus: corpus?.name ?? "", table };
}

function checkStored({ directory, failures }: Target, jobs: readonly KnownJob[]): void {
  using database = new Database(join(directory, "labd.sqlite"), { readonly: true });
  const rows = database.query("SELECT id FROM job").all() as { id: string }[];
  const stored = new Set(rows.map(({ id }) => id));
  for (const { id } of jobs) if (!stored.has(id)) failures.push(`job ${id} is not stored`);
  if (new Set(jobs.map(({ id }) => id)).size !== jobs.length) failures.push("two jobs have the same id");
}

/** Compares results of one pattern on one corpus with those of `labd score`. */
async function comparePredictions(
  { failures }: Target,
  finished: readonly FinishedJob[],
  pattern: string,
  reference: string,
): Promise<void> {
  const queries = new Map(finished.map(({ job }) => [job.sequence, job.id]));
  const fasta = join(reference, "queries.fa");
  writeFileSync(fasta, [...queries].map(([sequence, id]) => `>${id}\n${sequence}\n`).join(""));
  const env = { LABD_DATA_DIR: reference };
  const scored = await labd(["score", "--fasta", fasta, "--pattern", pattern], { env });
  if (scored.code !== 0) failures.push(`labd score: ${scored.stderr}`);
  const rowsByProtein = Map.groupBy(scored.stdout.split("\n").slice(1), (row) => row.split("\t")[0]);
  /** Without the first column, the query's name. */
  const strip = (rows: string[]): string => rows.map((row) => row.replace(/^[^\t]*/, "")).join("\n");
  for (const { job, corpus, table } of finished) {
    const expected = strip(rowsByProtein.get(queries.get(job.sequence)!) ?? []);
    const received = strip(table.split("\n").slice(1).filter(Boolean));
    if (received !== expected) failures.push(`job ${job.id} (${corpus}): ${received} instead of ${expected}`);
  }
}

/** Checks that tokens work, that the audit log is intact and has the failed sign-ins, and that the database is consistent. */
export async function checkIntegrity(
  target: Target,
  reports: readonly ClientReport[],
): Promise<Partial<Checked>> {
  const { failures, directory, url } = target;
  const tokens = reports.flatMap((report) => report.tokens);
  for (const token of tokens) {
    const { status } = await fetch(`${url}/api/v2/tokens/`, { headers: { Authorization: `Token ${token}` } });
    if (status !== 200) failures.push(`an issued token returns ${status}`);
  }
  const env = { LABD_DATA_DIR: directory };
  const verified = await labd(["audit", "verify"], { env });
  if (verified.code !== 0) failures.push(`labd audit verify: ${verified.stdout}${verified.stderr}`);
  const exported = await labd(["audit", "export", "--action", "sign_in"], { env });
  const refused = exported.stdout.split("\n").filter((line) => line.includes('"outcome":"refused"')).length;
  const sum = (which: "confirmed" | "possible"): number =>
    reports.reduce((total, { failedSignIns }) => total + failedSignIns[which], 0);
  const [confirmed, possible] = [sum("confirmed"), sum("possible")];
  if (refused < confirmed || refused > confirmed + possible)
    failures.push(
      `the audit log has ${refused} failed sign-ins instead of ${confirmed} to ${confirmed + possible}`,
    );
  const doctor = await labd(["doctor", "--format", "json"], { env });
  if (doctor.code > 1) failures.push(`labd doctor: ${doctor.stdout}`);
  checkDatabase(target);
  return { tokens: tokens.length };
}

function checkDatabase({ directory, failures }: Target): void {
  using database = new Database(join(directory, "labd.sqlite"), { readonly: true });
  const queries = {
    "PRAGMA integrity_check": "SELECT * FROM pragma_integrity_check WHERE integrity_check <> 'ok'",
    "PRAGMA foreign_key_check": "SELECT * FROM pragma_foreign_key_check",
    "Versions missing from the history": `
      SELECT l.label, l.version, count(DISTINCT c.version) AS versions, count(*) AS entries FROM location AS l
      LEFT JOIN record_change AS c ON c.object_rid = l.rid AND c.object_kind = 'location'
      WHERE l.label LIKE 'soak-%' GROUP BY l.rid HAVING versions <> l.version OR entries <> l.version`,
  };
  for (const [name, query] of Object.entries(queries)) {
    const rows = database.query(`${query} LIMIT 5`).all();
    if (rows.length > 0) failures.push(`${name}: ${JSON.stringify(rows)}`);
  }
}
