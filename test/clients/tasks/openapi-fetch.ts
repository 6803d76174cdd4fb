import createClient from "openapi-fetch";
import type { paths as InventoryPaths } from "./inventory";
import type { paths as ScoringPaths } from "./scoring";
import { waitFor } from "../../test/wait";
import { expectData, idOf } from "./answers";

/** Tasks with openapi-fetch and the types of openapi-typescript, as docs/rest.md shows them. */

export async function runTasks(fetch: (request: Request) => Promise<Response>, token: string) {
  const options = {
    baseUrl: "http://labd",
    fetch,
    headers: { Authorization: `Token ${token}` },
    // `other_filters` is an object whose members become parameters.
    querySerializer: { object: { style: "form", explode: true } } as const,
  };
  const inventory = createClient<InventoryPaths, "application/json">(options);
  const scoring = createClient<ScoringPaths, "application/json">(options);
  const done: Record<string, unknown> = {};

  // 1 to 3: create, read, change.
  const place = idOf(expectData(await inventory.POST("/api/v2/places", { body: { room: "Cold room" } })));
  const grid = { place, grid_rows: 9, grid_columns: 9 };
  const box = idOf(
    expectData(await inventory.POST("/api/v2/locations", { body: { label: "Box A", ...grid } })),
  );
  const ofBox = { path: { id: box } };
  done.fields = expectData(
    await inventory.GET("/api/v2/locations/{id}", { params: { ...ofBox, query: { fields: ["label"] } } }),
  );
  const renamed = expectData(
    await inventory.PATCH("/api/v2/locations/{id}", { params: ofBox, body: { label: "Box 1" } }),
  );
  done.renamed = "label" in renamed && renamed.label;

  // 4 and 5: several records at once; filters with lookups.
  const tubes = ["Buffer A", "Buffer B", "Primer"].map((name, i) => ({
    name,
    location: box,
    position: `A${i + 1}`,
    amount: 10,
  }));
  const created = expectData(await inventory.POST("/api/v2/stocks/consumables", { body: tubes }));
  const listed = expectData(
    await inventory.GET("/api/v2/stocks/consumables", {
      params: { query: { other_filters: { name__icontains: "buffer" }, ordering: ["-name"] } },
    }),
  );
  done.buffers = "results" in listed && listed.results.map((record) => "name" in record && record.name);

  // 6: preview and confirm a change of all records that a filter selects.
  const buffers = { name__startswith: "Buffer" };
  const preview = expectData(
    await inventory.PATCH("/api/v2/stocks/consumables", {
      params: { query: { other_filters: buffers, dry_run: true } },
      body: { description: "checked" },
    }),
  );
  if (!("confirm" in preview)) throw new Error("The answer is not a preview.");
  const { confirm } = preview;
  done.changed = preview.count;
  await inventory
    .PATCH("/api/v2/stocks/consumables", {
      params: { query: { other_filters: buffers, confirm } },
      body: { description: "checked" },
    })
    .then(expectData);

  // 7 to 9: stock, slots, moves.
  if (!Array.isArray(created)) throw new Error("The answer is not several records.");
  const tube = idOf(created[0]);
  const ofTube = { path: { id: tube } };
  const consumed = expectData(
    await inventory.POST("/api/v2/stocks/consumables/{id}/consume", {
      params: ofTube,
      body: { amount: 2.5 },
    }),
  );
  done.amount = "amount" in consumed && consumed.amount;
  const slots = expectData(await inventory.GET("/api/v2/locations/{id}/free_slots", { params: ofBox }));
  done.next = slots.next?.position;
  expectData(
    await inventory.POST("/api/v2/locations/{id}/free_slots", {
      params: ofBox,
      body: { records: [tube], positions: ["C3"] },
    }),
  );

  // 10 to 12: notes, history, restoration.
  expectData(
    await inventory.POST("/api/v2/stocks/consumables/{id}/notes", {
      params: ofTube,
      body: { content: "Clear." },
    }),
  );
  const notes = expectData(await inventory.GET("/api/v2/stocks/consumables/{id}/notes", { params: ofTube }));
  done.notes = "results" in notes && notes.total;
  const history = expectData(
    await inventory.GET("/api/v2/stocks/consumables/{id}/history", { params: ofTube }),
  );
  done.changes = history.results.length;
  await inventory.DELETE("/api/v2/stocks/consumables/{id}", { params: ofTube });
  const restored = expectData(
    await inventory.POST("/api/v2/stocks/consumables/{id}/restore", { params: ofTube, body: {} }),
  );
  done.restored = idOf(restored) === tube;

  // 13: search of all lists.
  const search = expectData(await inventory.GET("/api/v2/search", { params: { query: { q: "Primer" } } }));
  done.found = search.groups.flatMap(({ results }) => results.map(({ name }) => name));

  return { ...done, ...(await scoreProtein(scoring)) };
}

async function scoreProtein(scoring: ReturnType<typeof createClient<ScoringPaths, "application/json">>) {
  // 14 and 15.
  const proteins = expectData(
    await scoring.GET("/api/scoring/proteins", { params: { query: { query: "TP53" } } }),
  );
  const protein = proteins.results[0].accession;
  const job = expectData(
    await scoring.POST("/api/scoring/jobs", { body: { accession: "P04637", patterns: ["F...W..[LIV]"] } }),
  );
  const ofJob = { path: { id: job.id } };
  await waitFor(
    async () =>
      expectData(await scoring.GET("/api/scoring/jobs/{id}", { params: ofJob })).state === "finished",
  );
  const result = expectData(await scoring.GET("/api/scoring/jobs/{id}/result", { params: ofJob }));
  const verdicts = result.patterns[0].matches.map(({ start, verdict }) => `${start} ${verdict}`);
  return { protein, verdicts };
}
