import {
  addNoteToConsumable,
  consumeConsumable,
  createConsumable,
  createLocation,
  createPlace,
  deleteConsumable,
  getFreeSlotsInLocation,
  getHistoryOfConsumable,
  getLocation,
  listConsumables,
  listNotesOfConsumable,
  moveRecordsIntoLocation,
  restoreConsumable,
  searchAllLists,
  updateConsumablesInBulk,
  updateLocation,
} from "./hey-inventory";
import { client as inventory } from "./hey-inventory/client.gen";
import { findProteins, getScoringJob, getScoringResult, submitScoringJob } from "./hey-scoring";
import { client as scoring } from "./hey-scoring/client.gen";
import { waitFor } from "../../test/wait";
import { expectData, idOf } from "./answers";

/** Tasks with the client of @hey-api/openapi-ts. */

export async function runTasks(fetch: (request: Request) => Promise<Response>, token: string) {
  for (const client of [inventory, scoring])
    client.setConfig({
      baseUrl: "http://labd",
      fetch: fetch as typeof globalThis.fetch,
      headers: { Authorization: `Token ${token}` },
    });
  const done: Record<string, unknown> = {};

  // 1 to 3: create, read, change.
  const place = idOf(expectData(await createPlace({ body: { room: "Cold room" } })));
  const grid = { place, grid_rows: 9, grid_columns: 9 };
  const box = idOf(expectData(await createLocation({ body: { label: "Box A", ...grid } })));
  const ofBox = { path: { id: box } };
  done.fields = expectData(await getLocation({ ...ofBox, query: { fields: ["label"] } }));
  const renamed = expectData(await updateLocation({ ...ofBox, body: { label: "Box 1" } }));
  done.renamed = "label" in renamed && renamed.label;

  // 4 and 5: several records at once; filters with lookups.
  const tubes = ["Buffer A", "Buffer B", "Primer"].map((name, i) => ({
    name,
    location: box,
    position: `A${i + 1}`,
    amount: 10,
  }));
  const created = expectData(await createConsumable({ body: tubes }));
  const listed = expectData(
    await listConsumables({
      query: { other_filters: { name__icontains: "buffer" }, ordering: ["-name"] },
    }),
  );
  done.buffers = "results" in listed && listed.results.map((record) => "name" in record && record.name);

  // 6: preview and confirm a change of all records that a filter selects.
  const buffers = { name__startswith: "Buffer" };
  const preview = expectData(
    await updateConsumablesInBulk({
      query: { other_filters: buffers, dry_run: true },
      body: { description: "checked" },
    }),
  );
  if (!("confirm" in preview)) throw new Error("The answer is not a preview.");
  const { confirm } = preview;
  done.changed = preview.count;
  await updateConsumablesInBulk({
    query: { other_filters: buffers, confirm },
    body: { description: "checked" },
  }).then(expectData);

  // 7 to 9: stock, slots, moves.
  if (!Array.isArray(created)) throw new Error("The answer is not several records.");
  const tube = idOf(created[0]);
  const ofTube = { path: { id: tube } };
  const consumed = expectData(await consumeConsumable({ ...ofTube, body: { amount: 2.5 } }));
  done.amount = "amount" in consumed && consumed.amount;
  const slots = expectData(await getFreeSlotsInLocation({ ...ofBox }));
  done.next = slots.next?.position;
  expectData(
    await moveRecordsIntoLocation({
      ...ofBox,
      body: { records: [tube], positions: ["C3"] },
    }),
  );

  // 10 to 12: notes, history, restoration.
  expectData(await addNoteToConsumable({ ...ofTube, body: { content: "Clear." } }));
  const notes = expectData(await listNotesOfConsumable({ ...ofTube }));
  done.notes = "results" in notes && notes.total;
  const history = expectData(await getHistoryOfConsumable({ ...ofTube }));
  done.changes = history.results.length;
  await deleteConsumable({ ...ofTube });
  const restored = expectData(await restoreConsumable({ ...ofTube, body: {} }));
  done.restored = idOf(restored) === tube;

  // 13: search of all lists.
  const search = expectData(await searchAllLists({ query: { q: "Primer" } }));
  done.found = search.groups.flatMap(({ results }) => results.map(({ name }) => name));

  return { ...done, ...(await scoreProtein()) };
}

async function scoreProtein() {
  // 14 and 15.
  const proteins = expectData(await findProteins({ query: { query: "TP53" } }));
  const protein = proteins.results[0].accession;
  const job = expectData(
    await submitScoringJob({ body: { accession: "P04637", patterns: ["F...W..[LIV]"] } }),
  );
  const ofJob = { path: { id: job.id } };
  await waitFor(async () => expectData(await getScoringJob({ ...ofJob })).state === "finished");
  const result = expectData(await getScoringResult({ ...ofJob }));
  const verdicts = result.patterns[0].matches.map(({ start, verdict }) => `${start} ${verdict}`);
  return { protein, verdicts };
}
