import { Database } from "bun:sqlite";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { labd } from "../../executable/labd.ts";
import type { Account, KnownJob, KnownRecord, State } from "./ledger.ts";

/** Holds a server against what its clients know. Everything that is found goes to `faults`, in words. */

export interface Place {
  url: string;
  token: string;
  directory: string;
  faults: string[];
}

export interface Checked {
  records: number;
  unknown: number;
  refused: number;
  jobs: Record<string, number>;
  predictions: number;
  tokens: number;
}

interface Found extends State {
  id: string;
}

const MANY = 100;

async function get(place: Place, path: string): Promise<Response> {
  return fetch(place.url + path, { headers: { Authorization: `Token ${place.token}` } });
}

/** All records of the test, living and deleted. */
async function allRecords(place: Place): Promise<Found[]> {
  const found: Found[] = [];
  for (const alive of [true, false]) {
    const path = `/api/v2/locations/?label__startswith=soak-&fields=id,label,description,version&page_size=max&response_format=flat&deleted=${!alive}`;
    const { results } = (await (await get(place, path)).json()) as { results: Omit<Found, "alive">[] };
    for (const one of results) found.push({ ...one, alive });
  }
  return found;
}

const same = (state: State | null, found: Found | undefined): boolean =>
  state === null || found === undefined
    ? state === null && found === undefined
    : state.label === found.label &&
      state.description === found.description &&
      state.alive === found.alive &&
      state.version === found.version;

export async function checkRecords(place: Place, accounts: readonly Account[]): Promise<Partial<Checked>> {
  const { faults } = place;
  const found = await allRecords(place);
  const byLabel = Map.groupBy(found, ({ label }) => label);
  const known = accounts.flatMap(({ records }) => records);
  const labels = new Set(known.map(({ label }) => label));
  const groups = new Map<number, { record: KnownRecord; fits: boolean[] }[]>();
  for (const record of known) {
    const there = byLabel.get(record.label) ?? [];
    if (there.length > 1) faults.push(`${record.label} is there ${there.length} times`);
    if (record.id !== null && there[0] && there[0].id !== record.id)
      faults.push(`${record.label} has another id than was answered`);
    const fits = record.states.map((state) => same(state, there[0]));
    if (!fits.includes(true))
      faults.push(
        `${record.label}: expected ${JSON.stringify(record.states)}, found ${JSON.stringify(there[0])}`,
      );
    if (record.group !== null && record.states.length > 1)
      groups.set(record.group, [...(groups.get(record.group) ?? []), { record, fits }]);
  }
  // All or nothing.
  for (const members of groups.values())
    if (![0, 1].some((which) => members.every(({ fits }) => fits[which])))
      faults.push(`done in part: ${members.map(({ record }) => record.label).join(", ")}`);
  const refused = new Set(accounts.flatMap((account) => account.refused));
  for (const { label } of found) {
    if (refused.has(label)) faults.push(`${label} was refused and is there`);
    else if (!labels.has(label)) faults.push(`${label} is there, and nobody asked for it`);
  }
  await checkParts(place, known);
  return { records: known.length, unknown: groups.size, refused: refused.size };
}

/** Notes and files of records. */
async function checkParts(place: Place, known: readonly KnownRecord[]): Promise<void> {
  const { faults } = place;
  for (const { id, label, notes, files, states } of known) {
    const isGone = states.some((state) => !state?.alive);
    const hasNotes = notes.sure.length + notes.perhaps.length > 0;
    const hasFiles = Object.keys({ ...files.sure, ...files.perhaps }).length > 0;
    if (id === null || isGone) continue;
    if (hasNotes) {
      const { results } = (await (await get(place, `/api/v2/locations/${id}/notes/`)).json()) as {
        results: { content: string }[];
      };
      const contents = results.map(({ content }) => content);
      for (const content of notes.sure)
        if (contents.filter((one) => one === content).length !== 1)
          faults.push(`${label}: a note is not there once`);
      for (const content of contents)
        if (!notes.sure.includes(content) && !notes.perhaps.includes(content))
          faults.push(`${label}: a note of nobody's`);
    }
    if (hasFiles) {
      const path = `/api/v2/attachments/?app=stocks&model=location&object_id=${id}`;
      const list = (await (await get(place, path)).json()) as { id: string; name: string }[];
      const names = list.map(({ name }) => name);
      for (const name of Object.keys(files.sure))
        if (names.filter((one) => one === name).length !== 1)
          faults.push(`${label}: ${name} is not there once`);
      for (const { id: file, name } of list) {
        const wanted = files.sure[name] ?? files.perhaps[name];
        const bytes = await (await get(place, `/api/v2/attachments/${file}/`)).bytes();
        const hash = new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
        if (hash !== wanted) faults.push(`${label}: ${name} has other bytes`);
      }
    }
  }
}

/** Every accepted job has ended once, with the prediction that `labd score` gives on the corpus that the job names. */
export async function checkJobs(
  place: Place,
  accounts: readonly Account[],
  calm: string,
): Promise<Partial<Checked>> {
  const { faults } = place;
  const jobs = accounts.flatMap((account) => account.jobs);
  const states: Record<string, number> = {};
  const tables = new Map<string, { job: KnownJob; corpus: string; table: string }>();
  const isOver = new Set<string>();
  for (const job of jobs) {
    let state = "";
    for (let i = 0; i < 6000; i++) {
      ({ state } = (await (await get(place, `/api/scoring/jobs/${job.id}`)).json()) as { state: string });
      if (state !== "queued" && state !== "running") break;
      await Bun.sleep(50);
    }
    states[state] = (states[state] ?? 0) + 1;
    const allowed =
      job.cancelled === "no"
        ? ["finished"]
        : job.cancelled === "yes"
          ? ["cancelled"]
          : ["finished", "cancelled"];
    if (!allowed.includes(state)) faults.push(`job ${job.id} is ${state}, called off: ${job.cancelled}`);
    if (state !== "finished") continue;
    const path = `/api/scoring/jobs/${job.id}/result?format=`;
    const table = await (await get(place, `${path}tsv`)).text();
    if (job.seen !== null && job.seen !== table) faults.push(`the result of ${job.id} has changed`);
    const { corpus } = (await (await get(place, `${path}json`)).json()) as {
      corpus: { name: string } | null;
    };
    tables.set(job.id, { job, corpus: corpus?.name ?? "", table });
    isOver.add(job.id);
  }
  const database = new Database(join(place.directory, "labd.sqlite"), { readonly: true });
  const stored = new Set(
    (database.query("SELECT id FROM job").all() as { id: string }[]).map(({ id }) => id),
  );
  for (const { id } of jobs) if (!stored.has(id)) faults.push(`job ${id} is not stored`);
  if (new Set(jobs.map(({ id }) => id)).size !== jobs.length) faults.push("two jobs have one identifier");
  database.close();
  const env = { LABD_DATA_DIR: calm };
  for (const [corpus, ofCorpus] of Map.groupBy(tables.values(), (one) => one.corpus))
    for (const [pattern, asked] of Map.groupBy(ofCorpus, ({ job }) => job.pattern)) {
      await labd(["corpus", "use", corpus], { env });
      const queries = new Map(asked.map(({ job }) => [job.sequence, job.id]));
      const fasta = join(calm, "queries.fa");
      writeFileSync(fasta, [...queries].map(([sequence, id]) => `>${id}\n${sequence}\n`).join(""));
      const scored = await labd(["score", "--fasta", fasta, "--pattern", pattern], { env });
      if (scored.code !== 0) faults.push(`labd score: ${scored.stderr}`);
      const lines = Map.groupBy(scored.stdout.split("\n").slice(1), (line) => line.split("\t")[0]);
      for (const { job, table } of asked) {
        const strip = (all: string[]): string => all.map((line) => line.replace(/^[^\t]*/, "")).join("\n");
        const wanted = strip(lines.get(queries.get(job.sequence)!) ?? []);
        const given = strip(table.split("\n").slice(1).filter(Boolean));
        if (given !== wanted) faults.push(`job ${job.id} (${corpus}): ${given} instead of ${wanted}`);
      }
    }
  return { jobs: states, predictions: tables.size };
}

/** Tokens work, failed sign-ins are in the audit log, which is whole; the database is, and nothing worries the doctor. */
export async function checkRest(place: Place, accounts: readonly Account[]): Promise<Partial<Checked>> {
  const { faults, directory, url } = place;
  const tokens = accounts.flatMap((account) => account.tokens);
  for (const token of tokens) {
    const { status } = await fetch(`${url}/api/v2/tokens/`, { headers: { Authorization: `Token ${token}` } });
    if (status !== 200) faults.push(`a token that was given is answered by ${status}`);
  }
  const env = { LABD_DATA_DIR: directory };
  const verified = await labd(["audit", "verify"], { env });
  if (verified.code !== 0) faults.push(`labd audit verify: ${verified.stdout}${verified.stderr}`);
  // Names of nobody are not noted; how many were refused is.
  const exported = await labd(["audit", "export", "--action", "sign_in"], { env });
  const refusals = exported.stdout.split("\n").filter((line) => line.includes('"outcome":"refused"')).length;
  const [sure, perhaps] = (["sure", "perhaps"] as const).map((which) =>
    accounts.reduce(
      (sum, { failedSignIns }) =>
        sum + Object.values(failedSignIns).reduce((count, one) => count + one[which], 0),
      0,
    ),
  );
  if (refusals < sure || refusals > sure + perhaps)
    faults.push(
      `the audit log has ${refusals} refused sign-ins; ${sure} were answered, ${perhaps} perhaps done`,
    );
  const doctor = await labd(["doctor", "--format", "json"], { env });
  if (doctor.code > 1) faults.push(`labd doctor: ${doctor.stdout}`);
  const database = new Database(join(directory, "labd.sqlite"), { readonly: true });
  const [integrity] = database.query("PRAGMA integrity_check").all() as { integrity_check: string }[];
  if (integrity.integrity_check !== "ok") faults.push(`integrity_check: ${integrity.integrity_check}`);
  const foreign = database.query("PRAGMA foreign_key_check").all();
  if (foreign.length > 0) faults.push(`foreign_key_check: ${JSON.stringify(foreign.slice(0, 5))}`);
  // Each version of a record is in the history once.
  const torn = database
    .query(
      `SELECT l.label, l.version, count(DISTINCT c.version) AS noted, count(*) AS rows FROM location AS l
       LEFT JOIN record_change AS c ON c.object_rid = l.rid AND c.object_kind = 'location'
       WHERE l.label LIKE 'soak-%' GROUP BY l.rid HAVING noted <> l.version OR rows <> l.version LIMIT ${MANY}`,
    )
    .all();
  if (torn.length > 0) faults.push(`history: ${JSON.stringify(torn.slice(0, 5))}`);
  database.close();
  return { tokens: tokens.length };
}
