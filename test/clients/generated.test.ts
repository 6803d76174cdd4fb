import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@hey-api/openapi-ts";
import openapiTypes, { astToString, type OpenAPI3 } from "openapi-typescript";
import { type App, open } from "../../src/app/open.ts";
import { resolveConfig } from "../../src/config.ts";
import PROTEINS from "../../src/sample/proteins.fasta" with { type: "text" };

/**
 * Clients that openapi-typescript and @hey-api/openapi-ts generate from parts of the OpenAPI document: they compile
 * strictly, and do the tasks of tasks/ without casts.
 */

setDefaultTimeout(300_000);

const ROOT = join(import.meta.dir, "../..");
const generated = join(ROOT, "test-artefacts/clients");
const directories: string[] = [];
const apps: App[] = [];

/** A service with the sample proteins and an administrator, called without a port. */
async function openService() {
  const data_dir = mkdtempSync(join(tmpdir(), "labd-clients-"));
  directories.push(data_dir);
  const flags = { data_dir, backup_hours: "0", log: "off", workers: "1" };
  const app = await open(resolveConfig({ flags, environment: {} }).config);
  apps.push(app);
  await app.accounts.addUser({ username: "ada", superuser: true });
  await app.scoring.corpora.add({ name: "sample", bytes: new Response(PROTEINS).body! });
  const fetch = (request: Request): Promise<Response> => Promise.resolve(app.answer(request));
  return { fetch, token: app.accounts.addToken("ada", "test") };
}

beforeAll(async () => {
  const { fetch } = await openService();
  rmSync(generated, { recursive: true, force: true });
  mkdirSync(generated, { recursive: true });
  cpSync(join(import.meta.dir, "tasks"), generated, { recursive: true });
  for (const part of ["inventory", "scoring"]) {
    const document = (await (
      await fetch(new Request(`http://labd/docs/json?part=${part}`))
    ).json()) as OpenAPI3;
    writeFileSync(join(generated, `${part}.d.ts`), astToString(await openapiTypes(document)));
    await createClient({
      input: document as never,
      output: join(generated, `hey-${part}`),
      plugins: ["@hey-api/client-fetch", "@hey-api/sdk"],
      logs: { level: "silent" },
    });
  }
});
afterAll(async () => {
  for (const app of apps) await app.close();
  for (const directory of directories) rmSync(directory, { recursive: true });
});

test("generated clients and the tasks compile strictly", async () => {
  writeFileSync(
    join(generated, "tsconfig.json"),
    JSON.stringify({
      extends: "../../tsconfig.json",
      // Neither generator knows the rule.
      compilerOptions: { exactOptionalPropertyTypes: false },
      include: ["**/*.ts"],
      exclude: [],
    }),
  );
  const check = Bun.spawn([process.execPath, "check", "--no-script", "-p", generated], {
    cwd: ROOT,
    stdout: "pipe",
    stderr: "pipe",
  });
  expect([await new Response(check.stdout).text(), await check.exited]).toEqual([expect.any(String), 0]);
});

/** Results of the tasks. */
const DONE = {
  amount: 7.5,
  buffers: ["Buffer B", "Buffer A"],
  changed: 2,
  changes: 5,
  fields: { label: "Box A" },
  found: ["Primer"],
  next: "A4",
  notes: 1,
  protein: "P04637",
  renamed: "Box 1",
  restored: true,
  verdicts: ["19 likely functional"],
};

for (const client of ["openapi-fetch", "hey-api"])
  test(`the tasks with ${client} get what the server says`, async () => {
    const { runTasks } = (await import(join(generated, `${client}.ts`))) as {
      runTasks(fetch: (request: Request) => Promise<Response>, token: string): Promise<object>;
    };
    const { fetch, token } = await openService();
    expect(await runTasks(fetch, token)).toEqual(DONE);
  });
