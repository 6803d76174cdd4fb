import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { E7, labd, scratch, serve } from "./labd.ts";
import { waitFor } from "../wait.ts";

/** The server is killed while it scores a batch; nobody asks for the batch meanwhile, as after a closed tab. */

const PROTEINS = 300;
const KILLS = Number(process.env.LABD_KILLS ?? 5);

interface Batch {
  id: string;
  state: string;
  jobs: Record<"total" | "waiting" | "queued" | "running" | "finished" | "failed", number>;
}
interface Item {
  name: string;
  job: string;
  state: string;
}

test(`a batch completes although the server is killed ${KILLS} times, and scores every job once`, async () => {
  using place = scratch();
  await labd(["corpus", "add", "--sample"], { env: { LABD_DATA_DIR: place.directory } });
  const start = () => serve(place.directory, ["--workers", "2", "--log", "off"]);
  const name = (i: number): string => `protein ${i}`;
  const body = {
    proteins: Array.from({ length: PROTEINS }, (_, i) => ({
      identifier: name(i),
      querySequence: `${E7.slice(i % 40)}${"ACDEFGHIKL".slice(i % 10)}`,
    })),
    patterns: ["L.C.E", "[ST]P"],
  };
  let server = await start();
  const get = async <Value>(path: string): Promise<Value> =>
    (await (await fetch(`${server.url}/api/scoring/batches/${path}`)).json()) as Value;
  const accepted = await fetch(`${server.url}/api/scoring/batches`, {
    method: "POST",
    headers: { "Content-Type": "application/json", "Owner-Key": "a-key-of-the-test-itself" },
    body: JSON.stringify(body),
  });
  expect(accepted.status).toBe(202);
  const { id } = (await accepted.json()) as Batch;

  for (let kill = 0; kill < KILLS; kill++) {
    // The first kill comes at once; each later one when some more jobs are finished.
    const enough = kill === 0 ? 0 : Math.min(PROTEINS, (await get<Batch>(id)).jobs.finished + 5 * kill);
    await waitFor(async () => (await get<Batch>(id)).jobs.finished >= enough);
    await server.end("SIGKILL");
    server = await start();
  }

  const batch = await waitFor(async () => {
    const read = await get<Batch>(id);
    return read.state !== "running" && read;
  });
  expect(batch.state).toBe("finished");
  expect(batch.jobs).toEqual({
    total: PROTEINS,
    waiting: 0,
    queued: 0,
    running: 0,
    finished: PROTEINS,
    failed: 0,
  });
  const { items } = await get<{ items: Item[] }>(`${id}/items`);
  expect(items.map(({ name, state }) => `${name} ${state}`)).toEqual(
    body.proteins.map(({ identifier }) => `${identifier} finished`),
  );
  expect(new Set(items.map(({ job }) => job)).size).toBe(PROTEINS);
  await server.end("SIGTERM");

  const database = new Database(join(place.directory, "labd.sqlite"), { readonly: true });
  expect(
    database
      .query(
        "SELECT count(*) AS jobs, count(DISTINCT json_extract(request, '$.identifier')) AS proteins FROM job",
      )
      .get(),
  ).toEqual({
    jobs: PROTEINS,
    proteins: PROTEINS,
  });
  expect(database.query("PRAGMA integrity_check").all()).toEqual([{ integrity_check: "ok" }]);
  database.close();
}, 300_000);
